//! `GPU_DEVICE`, in a process of its own: the environment belongs to all threads.

use gpu_core::{Device, ENVIRONMENT, Error, Kind};

#[test]
fn the_environment_chooses_the_device() {
    let with = |name: Option<&str>| {
        // SAFETY: this is the only test of its process, and nothing else reads the environment meanwhile.
        unsafe {
            match name {
                Some(name) => std::env::set_var(ENVIRONMENT, name),
                None => std::env::remove_var(ENVIRONMENT),
            }
        }
        Device::from_env()
    };
    let simulator = with(Some("simulator")).unwrap();
    assert_eq!((simulator.kind(), simulator.why()), (Kind::Simulator, "GPU_DEVICE=simulator"));
    assert_eq!(with(Some("cpu")).unwrap().kind(), Kind::Cpu);
    assert!(matches!(with(Some("tpu")), Err(Error::UnknownDevice { .. })));
    assert!(matches!(
        with(Some("cuda:99")),
        Err(Error::NoDriver { .. } | Error::NoSuchDevice { asked: 99, .. })
    ));
    assert_eq!(
        Device::best().why(),
        with(None).unwrap().why(),
        "`best` does not look, `from_env` falls back to it"
    );
    assert_eq!(with(Some("")).unwrap(), Device::best());
}
