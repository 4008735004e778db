//! A forked child: the driver does not work there, and says so. Alone in its process.

#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::panic, unsafe_code)]

mod common;

use common::*;
use weft_runtime::{CallOptions, Device, DeviceId, Executable, RunError};

/// Runs in the child; an error is what went wrong.
fn in_child(exe: &dyn Executable, buffer: Box<dyn weft_runtime::Buffer>) -> bool {
    let forked = |error: RunError| error == RunError::Forked(DeviceId::cuda(0)) && error.to_string().contains("spawn");
    let launched = launch(exe, grid(1, 1), &[buffer.address(), 1, 8, 1]).map(|_| ());
    let (view, array) = host_line(&mut [1i64], 0, true);
    let options = CallOptions {
        host_arrays: &[array],
        ..CallOptions::default()
    };
    let with_host_array = exe.run(grid(1, 1), &[view[0], view[1], view[2], 1], &mut [], &options).map(|_| ());
    let waited = device(0).synchronize();
    let made = device(0).allocate(8, None).map(|_| ());
    let read = buffer.read(0, &mut [0; 8]);
    let stream = device(0).default_stream().unwrap().synchronize();
    drop(buffer);
    [launched, with_host_array, waited, made, read, stream]
        .into_iter()
        .all(|result| result.is_err_and(forked))
}

#[test]
fn a_forked_child_is_told_why_it_cannot_use_the_device() {
    let exe = kernel(ADD);
    let buffer = upload(device(0), &[1]);
    // SAFETY: the child takes no lock that another thread of the parent may hold, and ends without cleaning up.
    let child = unsafe { libc::fork() };
    if child == 0 {
        let code = i32::from(!in_child(&*exe, buffer));
        // SAFETY: ends the process at once.
        unsafe { libc::_exit(code) };
    }
    let mut status = 0;
    // SAFETY: waits for the child made above.
    assert_eq!(unsafe { libc::waitpid(child, &mut status, 0) }, child);
    assert_eq!(status, 0);
    // The parent goes on.
    launch(&*exe, grid(1, 1), &[buffer.address(), 1, 8, 1]).unwrap();
    assert_eq!(download(&*buffer), [2]);
}
