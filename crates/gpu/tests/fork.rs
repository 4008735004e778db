//! A forked child: the driver does not work there, and says so. Alone in its process.

#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::panic, unsafe_code)]

mod common;

use common::*;
use weft_runtime::{Device, Executable, RunError};

/// Runs in the child; an error is what went wrong.
fn in_child(exe: &dyn Executable, buffer: Box<dyn weft_runtime::Buffer>) -> bool {
    let forked = |error: RunError| error == RunError::Forked(gpu().id()) && error.to_string().contains("spawn");
    let launched = launch(exe, grid(1, 1), &[buffer.address(), 1, 8, 1]).map(|_| ());
    let waited = gpu().synchronize();
    let made = gpu().allocate(8, None).map(|_| ());
    let read = buffer.read(0, &mut [0; 8]);
    let stream = gpu().default_stream().unwrap().synchronize();
    drop(buffer);
    [launched, waited, made, read, stream]
        .into_iter()
        .all(|result| result.is_err_and(forked))
}

#[test]
fn a_forked_child_is_told_why_it_cannot_use_the_device() {
    let exe = kernel(ADD);
    let buffer = upload(gpu(), &[1]);
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
