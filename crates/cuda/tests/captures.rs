//! Captures on the double's devices: what they take, what they must not be disturbed by, and streams that another library captures.

#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use std::sync::Arc;

use common::foreign::Foreign;
use common::*;
use weft_runtime::{Buffer, Device, Executable, HostMemory, Place, RunError, Stream, StreamOptions};

/// Tests take turns: a device that captures on any stream cannot be waited for.
fn stream(nonblocking: bool) -> Arc<dyn Stream> {
    let options = StreamOptions { nonblocking, priority: 0 };
    device(0).new_stream(options).unwrap()
}

fn add(exe: &dyn Executable, buffer: &dyn Buffer, by: i64, stream: &dyn Stream) -> Result<(), RunError> {
    let [a, b, c] = line(buffer, 8);
    launch_on(exe, grid(1, 64), &[a, b, c, by as u64], stream).map(|_| ())
}

/// Turns an array round, one element a block.
const TURN: &str = "
entry kernel @turn(%0 out: view<i64, 1, C, global>) {
  %1: i64 = block_idx.x
  %2: i64 = grid_dim.x
  %3: i64 = 1
  %4: i64 = sub %2, %3
  %5: i64 = sub %4, %1
  %6: i64 = load %0[%5]
  grid_barrier
  store %0[%1] = %6
}
";

/// Raises if the first element is negative.
const PICKY: &str = "
entry kernel @picky(%0 x: view<i64, 1, C, global>) {
  %1: i64 = 0
  %2: i64 = load %0[%1]
  %3: bool = lt %2, %1
  if %3 {
    raise value \"negative\"
  }
}
";

#[test]
fn kernels_that_wait_for_their_grid_are_captured_on_blocking_streams() {
    let _one_at_a_time = failing("");
    let (capturing, other) = (stream(false), stream(true));
    let (exe, out) = (kernel(TURN), upload(device(0), &[0, 1, 2, 3]));
    device(0).synchronize().unwrap();
    capturing.begin_capture().unwrap();
    launch_on(&*exe, grid(4, 1), &line(&*out, 8), &*capturing).unwrap();
    let graph = capturing.end_capture().unwrap();
    assert_eq!((graph.steps(), download(&*out)), (1, vec![0, 1, 2, 3]));
    graph.launch(&*capturing).unwrap();
    capturing.synchronize().unwrap();
    assert_eq!(download(&*out), [3, 2, 1, 0]);
    for _ in 0..2 {
        graph.launch(&*other).unwrap();
    }
    other.synchronize().unwrap();
    assert_eq!(download(&*out), [3, 2, 1, 0]);
    // What it counts in is its own: another graph that has it as a step could run at the same time.
    capturing.begin_capture().unwrap();
    let refused = graph.launch(&*capturing).unwrap_err();
    assert!(refused.to_string().contains("wait for their grid"), "{refused}");
    assert_eq!(capturing.end_capture().unwrap().steps(), 0);
}

#[test]
fn what_is_dropped_while_something_captures_leaves_the_capture_alone() {
    let _one_at_a_time = failing("");
    let gpu = device(0);
    let (capturing, other, exe) = (stream(false), stream(true), kernel(ADD));
    let kept = upload(gpu, &[0; 64]);
    let dropped: Vec<Box<dyn Buffer>> = (0..3).map(|_| upload(gpu, &[0; 64])).collect();
    dropped[0].used_on(Some(&capturing));
    dropped[1].used_on(Some(&other));
    let event = gpu.new_event(false).unwrap();
    other.record(&*event).unwrap();
    gpu.synchronize().unwrap();
    let used = gpu.memory_stats().unwrap().used;
    capturing.begin_capture().unwrap();
    add(&*exe, &*kept, 1, &*capturing).unwrap();
    drop(dropped);
    drop((gpu.allocate_host(100, HostMemory::Pinned).unwrap(), event, other));
    drop(kernel(PICKY));
    // Neither does what cannot be done now, which is refused in words.
    for error in [
        add(&*exe, &*kept, 1, &*gpu.default_stream().unwrap()).unwrap_err(),
        gpu.allocate(8, None).map(|_| ()).unwrap_err(),
    ] {
        assert!(
            error.to_string().contains("waits for all blocking streams, one of which captures"),
            "{error}"
        );
    }
    assert!(gpu.synchronize().unwrap_err().to_string().contains("while a stream captures"));
    for error in [capturing.synchronize().unwrap_err(), capturing.is_done().map(|_| ()).unwrap_err()] {
        assert!(error.to_string().contains("while it captures"), "{error}");
    }
    assert!(kept.read(0, &mut [0; 8]).is_err());
    add(&*exe, &*kept, 2, &*capturing).unwrap();
    assert_eq!(gpu.memory_stats().unwrap().used, used);
    let graph = capturing.end_capture().unwrap();
    assert_eq!(graph.steps(), 2);
    assert_eq!(gpu.memory_stats().unwrap().used, used - 3 * 512);
    graph.launch(&*capturing).unwrap();
    capturing.synchronize().unwrap();
    assert_eq!(download(&*kept), [3; 64]);
}

#[test]
fn a_graph_in_a_graph_keeps_what_it_uses() {
    let _one_at_a_time = failing("");
    let gpu = device(0);
    let capturing = stream(true);
    let buffer = upload(gpu, &[-5; 64]);
    gpu.synchronize().unwrap();
    let outer = {
        let (exe, picky) = (kernel(ADD), kernel(PICKY));
        capturing.begin_capture().unwrap();
        add(&*exe, &*buffer, 3, &*capturing).unwrap();
        launch_on(&*picky, grid(1, 1), &line(&*buffer, 8), &*capturing).unwrap();
        let inner = capturing.end_capture().unwrap();
        capturing.begin_capture().unwrap();
        inner.launch(&*capturing).unwrap();
        capturing.end_capture().unwrap()
    };
    gpu.synchronize().unwrap();
    outer.launch(&*capturing).unwrap();
    assert!(matches!(capturing.synchronize(), Err(RunError::Raised(_))));
    outer.launch(&*capturing).unwrap();
    capturing.synchronize().unwrap();
    assert_eq!(download(&*buffer), [1; 64]);
}

#[test]
fn streams_that_join_a_capture_put_their_work_into_its_graph() {
    let _one_at_a_time = failing("");
    let gpu = device(0);
    let (first, second) = (stream(true), stream(true));
    let buffer = upload(gpu, &[-5; 64]);
    let (forth, back) = (gpu.new_event(false).unwrap(), gpu.new_event(false).unwrap());
    gpu.synchronize().unwrap();
    first.begin_capture().unwrap();
    first.record(&*forth).unwrap();
    second.wait(&*forth).unwrap();
    assert!(second.is_capturing().unwrap());
    assert!(forth.synchronize().unwrap_err().to_string().contains("recorded into a graph"));
    add(&*kernel(ADD), &*buffer, 3, &*second).unwrap();
    launch_on(&*kernel(PICKY), grid(1, 1), &line(&*buffer, 8), &*second).unwrap();
    launch_on(&*kernel(TURN), grid(64, 1), &line(&*buffer, 8), &*second).unwrap();
    second.record(&*back).unwrap();
    first.wait(&*back).unwrap();
    let graph = first.end_capture().unwrap();
    gpu.synchronize().unwrap();
    graph.launch(&*first).unwrap();
    assert!(matches!(first.synchronize(), Err(RunError::Raised(_))));
    graph.launch(&*first).unwrap();
    first.synchronize().unwrap();
    second.synchronize().unwrap();
    assert_eq!(download(&*buffer), [1; 64]);
}

#[test]
fn what_ended_a_capture_first_is_the_error_of_its_end() {
    let _one_at_a_time = failing("");
    let gpu = device(0);
    let (capturing, other) = (stream(true), stream(true));
    let event = gpu.new_event(false).unwrap();
    other.record(&*event).unwrap();
    capturing.begin_capture().unwrap();
    let first = capturing.wait(&*event).unwrap_err();
    assert!(first.to_string().contains("ISOLATION"), "{first}");
    let buffer = upload(gpu, &[0; 64]);
    let (later, end) = (
        add(&*kernel(ADD), &*buffer, 1, &*capturing).unwrap_err(),
        capturing.end_capture().map(|_| ()).unwrap_err(),
    );
    assert!(later.to_string().contains("ISOLATION"), "{later}");
    assert!(end.to_string().contains("ISOLATION"), "{end}");
    // The next one is none the worse for it.
    capturing.begin_capture().unwrap();
    assert_eq!(capturing.end_capture().unwrap().steps(), 0);
}

#[test]
fn captures_of_other_libraries_are_left_alone() {
    let _one_at_a_time = failing("");
    let gpu = device(0);
    let own = stream(true);
    let foreign = Foreign::new();
    let (kept, dropped) = (upload(gpu, &[0; 64]), upload(gpu, &[0; 64]));
    dropped.used_on(Some(&own));
    let exe = kernel(ADD);
    launch(&*exe, grid(1, 1), &[kept.address(), 64, 8, 0]).unwrap();
    gpu.synchronize().unwrap();
    // Nothing else may be done to the device that might wait for it, by any thread that has not said that it knows what it does.
    foreign.begin_capture(own.raw_handle(), 0);
    assert!(own.is_capturing().unwrap());
    add(&*exe, &*kept, 1, &*own).unwrap();
    for source in [PICKY, TURN] {
        let refused = launch_on(&*kernel(source), grid(1, 1), &line(&*kept, 8), &*own).unwrap_err();
        assert!(refused.to_string().contains("only Weft's own captures"), "{refused}");
    }
    assert!(gpu.allocate(8, Some(&own)).unwrap_err().to_string().contains("while it captures"));
    assert!(own.synchronize().unwrap_err().to_string().contains("while it captures"));
    drop((exe, dropped, gpu.allocate_host(100, HostMemory::Pinned).unwrap()));
    let more = upload(gpu, &[7; 64]);
    launch(&*kernel(TURN), grid(64, 1), &line(&*more, 8)).unwrap();
    let bytes = [1u8; 100_000];
    let large = gpu.allocate(100_000, None).unwrap();
    large.write(0, &bytes).unwrap();
    let graph = foreign.end_capture(own.raw_handle());
    assert_eq!(foreign.steps(graph), 1);
    gpu.synchronize().unwrap();
    foreign.launch(graph, own.raw_handle());
    own.synchronize().unwrap();
    assert_eq!(download(&*kept), [1; 64]);
}

#[test]
fn streams_end_although_kernels_have_waited_for_their_grid_on_them() {
    let _one_at_a_time = failing("");
    let gpu = device(0);
    let (exe, out) = (kernel(TURN), upload(gpu, &[0, 1, 2, 3]));
    gpu.synchronize().unwrap();
    let foreign = Foreign::new();
    for round in 0..3 {
        let one = stream(true);
        let handle = one.raw_handle();
        launch_on(&*exe, grid(4, 1), &line(&*out, 8), &*one).unwrap();
        one.synchronize().unwrap();
        assert!(foreign.is_stream(handle));
        drop(one);
        assert!(!foreign.is_stream(handle), "round {round}");
    }
    assert_eq!(download(&*out), [3, 2, 1, 0]);
}

#[test]
fn the_default_stream_has_two_names() {
    let _one_at_a_time = failing("");
    let gpu = device(0);
    let out = upload(gpu, &[-1; 64]);
    let legacy = gpu.external_stream(1).unwrap();
    launch_on(&*kernel(PICKY), grid(1, 1), &line(&*out, 8), &*legacy).unwrap();
    // What was launched under one is told under the other.
    assert!(matches!(gpu.default_stream().unwrap().synchronize(), Err(RunError::Raised(_))));
}

#[test]
fn a_stream_that_is_dropped_while_it_captures_ends_the_capture() {
    let _one_at_a_time = failing("");
    let gpu = device(0);
    let capturing = stream(false);
    let buffer = upload(gpu, &[0; 64]);
    gpu.synchronize().unwrap();
    capturing.begin_capture().unwrap();
    add(&*kernel(ADD), &*buffer, 1, &*capturing).unwrap();
    drop(capturing);
    gpu.synchronize().unwrap();
    add(&*kernel(ADD), &*buffer, 1, &*gpu.default_stream().unwrap()).unwrap();
    assert_eq!(download(&*buffer), [1; 64]);
}

#[test]
fn copies_into_graphs_and_beside_them() {
    let _one_at_a_time = failing("");
    let gpu = device(0);
    let (capturing, other) = (stream(true), stream(true));
    let (a, b) = (upload(gpu, &[1; 64]), upload(gpu, &[2; 64]));
    gpu.synchronize().unwrap();
    let place = |buffer: &dyn Buffer| Place::Device(gpu.id(), buffer.address());
    capturing.begin_capture().unwrap();
    capturing.copy(place(&*b), place(&*a), 512).unwrap();
    let values = [3i64; 64];
    other.copy(place(&*a), Place::Host(values.as_ptr() as u64), 512).unwrap();
    other.synchronize().unwrap();
    let graph = capturing.end_capture().unwrap();
    assert_eq!(graph.steps(), 1);
    graph.launch(&*other).unwrap();
    other.synchronize().unwrap();
    assert_eq!(download(&*b), [3; 64]);
}
