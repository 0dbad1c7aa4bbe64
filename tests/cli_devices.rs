//! `cuzk devices` through the real binary, with no driver and with a fake one.

mod common;
#[path = "gpu/fake.rs"]
mod fake;

use common::{finish, Place};
use serde_json::Value;

#[test]
fn without_a_driver_the_cpu_is_listed_and_the_reason_given() {
    let place = Place::new();
    let mut command = place.command(["devices"]);
    command.env("CUZK_LIBCUDA", "/nonexistent/libcuda.so.1");
    let finished = finish(command, b"");
    let text = finished.ok();
    assert!(text.starts_with("cpu ("), "{text}");
    assert!(text.contains("CUDA: no driver library: tried /nonexistent/libcuda.so.1"), "{text}");
}

#[test]
fn the_drivers_devices_are_listed() {
    let place = Place::new();
    let library = fake::fake(&place.path(""), &[]);
    for args in [&["devices"][..], &["devices", "--json"]] {
        let mut command = place.command(args);
        command.env("CUZK_LIBCUDA", &library);
        let finished = finish(command, b"");
        let text = finished.ok();
        assert!(text.contains("Fake H200") && text.contains("Fake 4090"), "{text}");
        if args.len() > 1 {
            let object: Value = serde_json::from_str(text).unwrap();
            assert_eq!(object["cuda"]["devices"].as_array().map(Vec::len), Some(2), "{text}");
        }
    }
}

#[test]
fn a_device_that_cannot_prove_is_an_error_and_not_the_cpu() {
    let place = Place::new();
    std::fs::copy(common::repository("samples/2KiB.json"), place.path("c1.json")).unwrap();
    place.run("prove c1.json --device cuda:0 --params .").fails(5, "no CUDA kernels that prove");
}

#[test]
fn a_driver_that_fails_is_a_reason_and_no_crash() {
    let place = Place::new();
    let library = fake::fake(&place.path(""), &["-DNOT_A_DRIVER"]);
    let mut command = place.command(["devices"]);
    command.env("CUZK_LIBCUDA", &library);
    assert!(finish(command, b"").ok().contains("it has no cuInit"));
}
