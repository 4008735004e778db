//! A device that is lost is an error once, and then another one is opened in its place.

#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use common::*;
use weft_runtime::{Device, RunError};

#[test]
fn a_lost_device_is_an_error_once() {
    let device = own_gpu();
    let before = upload(&*device, &[1, 2, 3]);
    assert_eq!(download(&*before), [1, 2, 3]);
    let stream = device.default_stream().unwrap();
    let event = device.new_event(true).unwrap();
    stream.record(&*event).unwrap();
    stream.begin_capture().unwrap_err();
    device.lose().unwrap();
    let error = device.synchronize().unwrap_err();
    assert!(
        matches!(&error, RunError::DeviceLost(lost) if lost.device == device.id()),
        "{error:?}"
    );
    // Its memory is gone, and says so.
    let error = before.read(0, &mut [0; 8]).unwrap_err();
    assert!(error.to_string().contains("lost with the device"), "{error}");
    let error = before.write(0, &[0; 8]).unwrap_err();
    assert!(error.to_string().contains("lost with the device"), "{error}");
    // New work is taken.
    let after = upload(&*device, &[4, 5, 6]);
    assert_ne!(after.address(), before.address());
    assert_eq!(download(&*after), [4, 5, 6]);
    stream.record(&*event).unwrap();
    event.synchronize().unwrap();
    device.synchronize().unwrap();
    drop(before);
    assert_eq!(download(&*after), [4, 5, 6]);
}

#[test]
fn whoever_calls_first_is_told() {
    let device = own_gpu();
    let array = upload(&*device, &[1]);
    device.lose().unwrap();
    let error = array.read(0, &mut [0; 8]).unwrap_err();
    assert!(matches!(error, RunError::DeviceLost(_)), "{error:?}");
    device.synchronize().unwrap();
    device.allocate(100, None).unwrap();
}
