//! Finding and choosing devices.

mod common;

use common::{on_cuda, on_each};
use gpu_core::{Device, Error, Kind};

#[test]
fn best_is_cuda_or_says_why_not() {
    let best = Device::best();
    match Device::cuda(0) {
        Ok(cuda) => assert!(best == cuda && best.why().contains("CUDA"), "{}", best.why()),
        Err(error) => {
            assert_eq!(best.kind(), Kind::Cpu);
            assert_eq!(best.why(), format!("no CUDA device: {error}"));
        }
    }
}

#[test]
fn handles_to_one_device_are_equal() {
    assert_eq!(Device::cpu(), Device::cpu());
    let simulator = Device::simulator();
    assert_eq!(simulator, simulator.clone());
    assert_ne!(simulator, Device::simulator(), "each simulator has its own memory");
    assert_ne!(simulator, Device::cpu());
    on_cuda("handles_to_one_device_are_equal", |device| assert_eq!(*device, Device::cuda(0).unwrap()));
}

#[test]
fn devices_have_names_to_choose_them_by() {
    assert_eq!(Device::by_name("cpu").unwrap(), Device::cpu());
    assert_eq!(Device::by_name("simulator").unwrap().kind(), Kind::Simulator);
    for unknown in
        ["", "gpu", "cuda:", "cuda:x", "cuda:-1", "cuda:+0", "cuda:00", "cuda: 0", "cuda:-0", "CPU"]
    {
        match Device::by_name(unknown) {
            Err(Error::UnknownDevice { asked }) => assert_eq!(asked, unknown),
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn what_is_not_there_is_an_error() {
    match (Device::cuda(1_000_000), Device::all_cuda()) {
        (Err(Error::NoSuchDevice { asked: 1_000_000, count }), Ok(all)) => assert_eq!(all.len(), count),
        (Err(Error::NoDriver { why }), Err(Error::NoDriver { .. })) => {
            assert!(!why.is_empty());
            let text = Device::cuda(0).unwrap_err().to_string();
            assert_eq!(text, format!("there is no CUDA driver: {why}"));
            assert!(matches!(Device::by_name("cuda"), Err(Error::NoDriver { .. })));
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn only_cuda_has_cuda_properties() {
    for device in [Device::cpu(), Device::simulator()] {
        assert!(matches!(device.properties(), Err(Error::Unsupported { .. })));
        assert_eq!(device.multiprocessors(), None);
        let error = device.kernel_resources(&common::FILL_INDEX).unwrap_err();
        assert!(matches!(error, Error::Unsupported { .. }), "{error}");
    }
    on_cuda("only_cuda_has_cuda_properties", |device| {
        let properties = device.properties().unwrap();
        assert_eq!(properties.name, device.name());
        assert_eq!((properties.warp_size, properties.max_threads_per_block), (32, 1024));
        assert!(properties.capability.arch() >= 70 && properties.driver_version.0 >= 11_000);
        assert!(properties.multiprocessors > 0 && properties.total_memory > 1 << 30);
        assert_eq!(device.multiprocessors(), Some(properties.multiprocessors));
        assert!(properties.shared_per_block >= 48 << 10);
        assert!(properties.shared_per_block_optin >= properties.shared_per_block);
        assert_eq!((properties.uuid.len(), properties.constant_memory), (36, 64 << 10));
        assert!(properties.l2_cache > 0 && properties.max_grid == [0x7fff_ffff, 0xffff, 0xffff]);
        let (free, total) = device.memory_info().unwrap();
        assert!(0 < free && free <= total && total <= properties.total_memory);
    });
}

#[test]
fn every_device_names_itself() {
    on_each("every_device_names_itself", |device| {
        assert!(!device.name().is_empty() && !device.why().is_empty());
        assert!(!format!("{device} {device:?}").is_empty());
        assert_eq!(device.as_simulator().is_some(), device.kind() == Kind::Simulator);
        device.synchronize().unwrap();
    });
}
