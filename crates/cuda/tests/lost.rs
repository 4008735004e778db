//! A device that fails: what is said, and that nothing hangs or crashes afterwards. Alone in its process, whose device it ends.

#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use common::*;
use weft_runtime::{Device, DeviceId, Executable, RunError, StreamOptions};

#[test]
fn a_lost_device_says_which_kernel_it_was() {
    let gpu = device(0);
    let (add, other) = (kernel(ADD), kernel_on(device(1), ADD));
    let stream = gpu.new_stream(StreamOptions::default()).unwrap();
    let good = upload(gpu, &[1]);
    // An array that is not there.
    let gone = launch_on(&*add, grid(1, 1), &[0x10, 1, 8, 1], &*stream)
        .and_then(|_| stream.synchronize())
        .unwrap_err();
    let RunError::DeviceLost(lost) = &gone else { panic!("{gone:?}") };
    assert_eq!((lost.device, lost.kernel.as_deref()), (DeviceId::cuda(0), Some("add")));
    assert!(gone.to_string().contains("the kernel launched last was add"), "{gone}");
    // All that follows says the same, and dropping is quiet.
    for error in [
        gpu.allocate(8, None).map(|_| ()).unwrap_err(),
        stream.synchronize().unwrap_err(),
        gpu.synchronize().unwrap_err(),
        good.read(0, &mut [0; 8]).unwrap_err(),
        launch(&*add, grid(1, 1), &[good.address(), 1, 8, 1]).map(|_| ()).unwrap_err(),
        gpu.new_event(true).map(|_| ()).unwrap_err(),
    ] {
        assert_eq!(error, gone);
    }
    drop((stream, good, add));
    // The other device goes on.
    let buffer = upload(device(1), &[1, 2]);
    let [a, b, c] = line(&*buffer, 8);
    launch(&*other as &dyn Executable, grid(1, 2), &[a, b, c, 1]).unwrap();
    assert_eq!(download(&*buffer), [2, 3]);
}
