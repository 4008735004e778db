//! Drivers and devices that Weft does not use, and one that lacks memory pools. Each runs in a process of its own, which this program
//! starts with the environment that makes the double so.

#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use std::process::Command;

use common::*;
use weft_cuda::Platform;
use weft_cuda::driver::Choice;
use weft_runtime::{Device, RunError};

/// Runs one of the tests marked `ignore` below, with an environment.
fn with(environment: &[(&str, &str)], test: &str) {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args(["--exact", test, "--ignored", "--nocapture"])
        .envs(environment.iter().copied());
    let output = command.output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && text.contains("1 passed"), "{environment:?}: {text}");
}

fn open() -> Result<Platform, String> {
    Platform::open(&Choice::Path(double()))
}

fn one_line(why: &str, words: &[&str]) {
    assert!(!why.contains('\n') && words.iter().all(|word| why.contains(word)), "{why}");
}

#[test]
fn unusable_drivers_are_said_in_a_line() {
    with(&[("WEFT_DOUBLE_DRIVER", "10020")], "old_driver");
    with(&[("WEFT_DOUBLE_FAIL", "cuInit=3")], "broken_driver");
    with(&[("WEFT_DOUBLE_FAIL", "cuInit=100")], "no_device");
    with(&[("WEFT_DOUBLE_DEVICES", "0")], "none_listed");
    with(&[("WEFT_DOUBLE_CC", "6.1")], "old_device");
    with(&[("WEFT_CUDA_DRIVER", "none")], "turned_off");
    with(
        &[("WEFT_CUDA_DRIVER", "double"), ("WEFT_CUDA_DOUBLE", double().to_str().unwrap())],
        "the_double_by_name",
    );
    with(&[("WEFT_CUDA_DRIVER", "double")], "the_double_beside_this_program");
}

#[test]
fn devices_without_pools_have_one_of_ours() {
    with(&[("WEFT_DOUBLE_FAIL", "cuMemPoolCreate=801")], "own_pool");
}

#[test]
#[ignore = "run by another test"]
fn old_driver() {
    one_line(&open().unwrap_err(), &["too old", "CUDA 10.2", "11.0"]);
}

#[test]
#[ignore = "run by another test"]
fn broken_driver() {
    one_line(&open().unwrap_err(), &["cannot be used", "cuInit", "CUDA_ERROR_NOT_INITIALIZED"]);
}

#[test]
#[ignore = "run by another test"]
fn no_device() {
    one_line(&open().unwrap_err(), &["cuInit", "CUDA_ERROR_NO_DEVICE"]);
}

#[test]
#[ignore = "run by another test"]
fn none_listed() {
    assert!(open().is_err() || open().unwrap().devices.is_empty());
}

#[test]
#[ignore = "run by another test"]
fn old_device() {
    let platform = open().unwrap();
    assert!(platform.devices.is_empty());
    assert_eq!(platform.unsupported.len(), 2);
    one_line(&platform.unsupported[1], &["cuda:1", "6.1", "7.0"]);
}

#[test]
#[ignore = "run by another test"]
fn turned_off() {
    one_line(&weft_cuda::status().unwrap_err(), &["turned off"]);
    assert!(weft_cuda::devices().is_empty());
}

#[test]
#[ignore = "run by another test"]
fn the_double_by_name() {
    let lines = weft_cuda::status().unwrap();
    assert!(lines.len() == 3 && lines[1].starts_with("cuda:0: "), "{lines:?}");
    assert_eq!(weft_cuda::devices().len(), 2);
}

#[test]
#[ignore = "run by another test"]
fn the_double_beside_this_program() {
    assert_eq!(weft_cuda::devices().len(), 2);
}

#[test]
#[ignore = "run by another test"]
fn own_pool() {
    let gpu = device(0);
    let exe = kernel(ADD);
    let buffer = upload(gpu, &[1, 2, 3]);
    let [a, b, c] = line(&*buffer, 8);
    launch(&*exe, grid(1, 4), &[a, b, c, 1]).unwrap();
    assert_eq!(download(&*buffer), [2, 3, 4]);
    let stats = gpu.memory_stats().unwrap();
    assert_eq!((stats.used, stats.reserved), (24, 512));
    let address = buffer.address();
    drop(buffer);
    // The block is used again, in whole.
    let again = gpu.allocate(512, None).unwrap();
    assert_eq!(again.address(), address);
    assert_eq!(gpu.memory_stats().unwrap().reserved, 512);
    drop(again);
    gpu.free_all().unwrap();
    assert_eq!(gpu.memory_stats().unwrap().reserved, 0);
    let error = gpu.allocate(1 << 40, None).unwrap_err();
    assert!(matches!(error, RunError::OutOfMemory(_)), "{error:?}");
}
