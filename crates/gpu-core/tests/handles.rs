//! The driver's bare handles, given and taken.

mod common;

use std::ptr;

use common::{fill_index, on_cuda};
use gpu_core::interop::{
    buffer_from_raw, buffer_into_raw, device_from_raw_context, raw_context, raw_pointer, raw_pointer_mut,
    raw_stream, stream_from_raw, view_from_raw, view_mut_from_raw,
};
use gpu_core::{Device, Error};

#[test]
fn other_devices_have_none() {
    fn refused<T>(result: Result<T, Error>) {
        match result {
            Err(Error::Unsupported { what, device }) => assert!(!what.is_empty() && !device.is_empty()),
            Err(other) => panic!("{other}"),
            Ok(_) => panic!("there is no handle to give"),
        }
    }
    for device in [Device::cpu(), Device::simulator()] {
        let mut buffer = device.upload(&[1_u32, 2]).unwrap();
        refused(raw_context(&device));
        refused(raw_stream(&device.default_stream()));
        refused(raw_pointer(&buffer));
        refused(raw_pointer_mut(&mut buffer));
        // SAFETY: they are refused.
        unsafe {
            refused(stream_from_raw(&device, ptr::null_mut()));
            refused(view_from_raw::<u32>(&device, 0, 0));
            refused(view_mut_from_raw::<u32>(&device, 0, 0));
            refused(buffer_from_raw::<u32>(&device, 0, 0));
        }
        refused(buffer_into_raw(buffer));
    }
}

#[test]
fn without_a_driver_no_context_has_a_device() {
    if Device::cuda(0).is_err() {
        // SAFETY: without a driver nobody looks at it.
        let found = unsafe { device_from_raw_context(ptr::null_mut()) };
        assert!(matches!(found, Err(Error::NoDriver { .. } | Error::Cuda(_))), "{found:?}");
    }
}

#[test]
fn the_context_leads_back_to_its_device() {
    on_cuda("the_context_leads_back_to_its_device", |device| {
        let context = raw_context(device).unwrap();
        assert!(!context.is_null());
        // On a thread that has no context yet, and still has none afterwards.
        let address = context.expose_provenance();
        let found = std::thread::spawn(move || {
            // SAFETY: primary contexts live until the process ends.
            let found = unsafe { device_from_raw_context(ptr::with_exposed_provenance_mut(address)) };
            let mut current = ptr::dangling_mut();
            assert_eq!(cuda_shim::cuCtxGetCurrent(&mut current).code(), Ok(()));
            (found, current.is_null())
        });
        let (found, none) = found.join().unwrap();
        assert_eq!(found.unwrap(), *device);
        assert!(none, "the thread's context stays what it was");
    });
}

#[test]
fn streams_and_memory_are_given_and_taken() {
    on_cuda("streams_and_memory_are_given_and_taken", |device| {
        assert!(raw_stream(&device.default_stream()).unwrap().is_null());
        let stream = device.stream().unwrap();
        let raw = raw_stream(&stream).unwrap();
        assert!(!raw.is_null());
        let mut buffer = device.zeroed::<u32>(1000).unwrap();
        let address = raw_pointer_mut(&mut buffer).unwrap();
        assert_eq!(address, raw_pointer(&buffer).unwrap());
        {
            // SAFETY: the stream lives, and the buffer has the elements, which nothing else uses.
            let (borrowed, view) = unsafe {
                (stream_from_raw(device, raw).unwrap(), view_mut_from_raw(device, address, 1000).unwrap())
            };
            fill_index(&borrowed, view, 128).unwrap();
        }
        stream.synchronize().expect("a borrowed stream is not destroyed");
        let expected: Vec<u32> = (0..1000).collect();
        let mut read = vec![0; 10];
        // SAFETY: the elements are the buffer's.
        unsafe { view_from_raw::<u32>(device, address + 40, 10) }.unwrap().copy_to(&mut read).unwrap();
        assert_eq!(read, expected[10..20]);
        let (address, len) = buffer_into_raw(buffer).unwrap();
        // SAFETY: they are what the buffer gave up.
        let buffer = unsafe { buffer_from_raw::<u32>(device, address, len) }.unwrap();
        assert_eq!(buffer.to_vec().unwrap(), expected);
        let (address, len) = buffer_into_raw(device.alloc::<u32>(0).unwrap()).unwrap();
        assert_eq!((address, len), (0, 0));
        // SAFETY: no bytes have no memory.
        let empty = unsafe { buffer_from_raw::<u32>(device, address, len) }.unwrap();
        assert!(empty.to_vec().unwrap().is_empty());
    });
}
