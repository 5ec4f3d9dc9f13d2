//! A fault in a kernel ends its CUDA context. The one test of this process, since the context is the process's.

mod common;

use common::{on_cuda, say, store_outside};
use gpu_core::{Device, Error};

#[test]
fn a_fault_poisons_the_device_and_is_named_ever_after() {
    on_cuda("a_fault_poisons_the_device_and_is_named_ever_after", |device| {
        let stream = device.stream().unwrap();
        let before = device.upload(&[1_u32, 2, 3]).unwrap();
        let event = stream.record().unwrap();
        event.synchronize().unwrap();
        // SAFETY: it writes to an address that no allocation has: the fault is what is tested.
        unsafe { store_outside(&stream) }.unwrap();
        let first = match stream.synchronize() {
            Err(Error::Cuda(failure)) => failure,
            other => panic!("{other:?}"),
        };
        say(&format!("  {first}"));
        assert!(first.sticky && first.code == 700 && first.name == "CUDA_ERROR_ILLEGAL_ADDRESS", "{first:?}");
        let launched = first.launch.as_deref().expect("the last launch is known");
        assert_eq!((launched.kernel, launched.config.block), ("store_late", [1, 1, 1]));

        let poisoned = |error: Error| match error {
            Error::Poisoned { first: again } => assert_eq!(again.to_string(), first.to_string()),
            other => panic!("{other:?}"),
        };
        let mut target = [9_u32; 3];
        poisoned(before.copy_to(&mut target).unwrap_err());
        assert_eq!(target, [9; 3]);
        poisoned(before.to_vec().unwrap_err());
        poisoned(device.alloc::<u8>(1).unwrap_err());
        poisoned(device.pinned::<u8>(1).unwrap_err());
        poisoned(device.synchronize().unwrap_err());
        poisoned(device.stream().unwrap_err());
        poisoned(stream.record().unwrap_err());
        poisoned(stream.is_done().unwrap_err());
        poisoned(event.is_done().unwrap_err());
        poisoned(device.memory_info().unwrap_err());
        // SAFETY: it is refused.
        poisoned(unsafe { store_outside(&stream) }.unwrap_err());
        poisoned(Device::cuda(0).unwrap().synchronize().unwrap_err());
        // Destructors go on, and the other backends too.
        drop((before, event, stream));
        assert_eq!(Device::cpu().upload(&[1]).unwrap().to_vec().unwrap(), [1]);
    });
}
