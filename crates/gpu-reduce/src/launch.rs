//! The launches: the crate's only unsafe code.

use gpu_core::{Stream, View, ViewMut};
use gpu_kernels::reduce::sum_f32;
use gpu_std::memory::GlobalMut;

use crate::error::Error;
use crate::plan::Plan;
use crate::scratch::Scratch;

/// Enqueues the sum of `input`. Everything has been checked: same device, enough scratch, one element of output.
pub(crate) fn sum(
    stream: &Stream,
    input: View<'_, f32>,
    plan: Plan,
    mut output: ViewMut<'_, f32>,
    scratch: &mut Scratch,
) -> Result<(), Error> {
    let output = output.as_global_mut();
    enqueue(stream, input, plan, output, scratch)
}

/// Sums `input` on the scratch memory's stream, waits, and reads the result back.
pub(crate) fn sum_to_scratch(input: View<'_, f32>, plan: Plan, scratch: &mut Scratch) -> Result<f32, Error> {
    // SAFETY: the header has room for the result behind the ticket; nothing else uses it.
    let output = unsafe { GlobalMut::from_raw(scratch.result()) };
    let stream = scratch.stream.clone();
    enqueue(&stream, input, plan, output, scratch)?;
    let mut word = [0];
    scratch.words.slice(1..2).copy_to(&mut word)?;
    Ok(f32::from_bits(word[0] as u32))
}

fn enqueue(
    stream: &Stream,
    input: View<'_, f32>,
    plan: Plan,
    output: GlobalMut<f32>,
    scratch: &mut Scratch,
) -> Result<(), Error> {
    scratch.prepare()?;
    // SAFETY: the addresses lie in the scratch memory, which is ours and 8-byte aligned.
    let (partials, ticket) =
        unsafe { (GlobalMut::from_raw(scratch.partials()), GlobalMut::from_raw(scratch.ticket())) };
    // SAFETY: the kernel reads `input.len()` elements of the input, writes one element of the output and uses the
    // ticket and `plan.blocks` words, for which the scratch memory has room; they are zero (`prepare`, and every launch
    // leaves them so). Buffers are freed only after the work enqueued before, and the scratch memory is used on this
    // stream only.
    unsafe {
        sum_f32::launch(
            stream,
            plan.launch(),
            input.as_global(),
            input.len() as u64,
            plan.tiles_per_block,
            partials,
            ticket,
            output,
        )
    }?;
    scratch.dirty = false;
    Ok(())
}
