//! Streams, events and graphs of the double's devices.

#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;

use common::*;
use weft_cuda::Platform;
use weft_cuda::driver::Choice;
use weft_runtime::{Buffer, CallOptions, Device, DeviceId, Event, Executable, Place, RunError, Stream, StreamOptions};

/// Tests take turns: a device that captures on any stream cannot be waited for.
fn stream() -> Arc<dyn Stream> {
    let nonblocking = StreamOptions {
        nonblocking: true,
        priority: -1,
    };
    device(0).new_stream(nonblocking).unwrap()
}

fn add(exe: &dyn Executable, buffer: &dyn Buffer, by: i64, stream: &dyn Stream) {
    let [a, b, c] = line(buffer, 8);
    launch_on(exe, grid(b.div_ceil(64) as u32, 64), &[a, b, c, by as u64], stream).unwrap();
}

#[test]
fn streams_wait_for_each_others_events() {
    let _one_at_a_time = failing("");
    let exe = kernel(ADD);
    let (first, second) = (stream(), stream());
    let event = device(0).new_event(false).unwrap();
    for _ in 0..10 {
        let buffer = upload(device(0), &[0; 1000]);
        device(0).synchronize().unwrap();
        (0..5).for_each(|_| add(&*exe, &*buffer, 1, &*first));
        first.record(&*event).unwrap();
        second.wait(&*event).unwrap();
        let copy = device(0).allocate(8000, Some(&second)).unwrap();
        let place = |buffer: &dyn Buffer| Place::Device(DeviceId::cuda(0), buffer.address());
        second.copy(place(&*copy), place(&*buffer), 8000).unwrap();
        assert_eq!(download(&*copy), [5; 1000]);
        event.synchronize().unwrap();
        assert!(event.is_done().unwrap());
        first.synchronize().unwrap();
        assert!(first.is_done().unwrap() && second.is_done().unwrap());
    }
    assert_ne!(first.raw_handle(), second.raw_handle());
}

#[test]
fn events_measure_time() {
    let _one_at_a_time = failing("");
    let stream = stream();
    let events: Vec<Arc<dyn Event>> = (0..3).map(|_| device(0).new_event(true).unwrap()).collect();
    assert!(events[0].elapsed_ms(&*events[1]).unwrap_err().to_string().contains("not recorded"));
    let (exe, buffer) = (kernel(ADD), upload(device(0), &[0; 100]));
    device(0).synchronize().unwrap();
    stream.record(&*events[0]).unwrap();
    add(&*exe, &*buffer, 1, &*stream);
    stream.record(&*events[1]).unwrap();
    events[1].synchronize().unwrap();
    assert!(events[0].elapsed_ms(&*events[1]).unwrap() >= 0.0);
    let untimed = device(0).new_event(false).unwrap();
    stream.record(&*untimed).unwrap();
    stream.synchronize().unwrap();
    assert!(events[0].elapsed_ms(&*untimed).unwrap_err().to_string().contains("without timing"));
    let foreign = device(1).new_event(true).unwrap();
    assert!(stream.record(&*foreign).unwrap_err().to_string().contains("an event of cuda:1"));
    // One that was never recorded is done.
    foreign.synchronize().unwrap();
    stream.wait(&*foreign).unwrap();
}

#[test]
fn callbacks_run_in_order() {
    let _one_at_a_time = failing("");
    let stream = stream();
    let seen = Arc::new(AtomicU32::new(0));
    for digit in 1..=3 {
        let seen = seen.clone();
        let callback = move || {
            seen.store(seen.load(Ordering::SeqCst) * 10 + digit, Ordering::SeqCst);
        };
        stream.add_callback(Box::new(callback)).unwrap();
    }
    stream.synchronize().unwrap();
    assert_eq!(seen.load(Ordering::SeqCst), 123);
}

#[test]
fn graphs_replay_what_was_captured() {
    let _one_at_a_time = failing("");
    let exe = kernel(ADD);
    let (capturing, other) = (stream(), stream());
    let (buffer, copy) = (upload(device(0), &[0; 100]), upload(device(0), &[0; 100]));
    device(0).synchronize().unwrap();
    let place = |buffer: &dyn Buffer| Place::Device(DeviceId::cuda(0), buffer.address());
    capturing.begin_capture().unwrap();
    assert!(capturing.is_capturing().unwrap() && !other.is_capturing().unwrap());
    add(&*exe, &*buffer, 3, &*capturing);
    add(&*exe, &*buffer, 4, &*capturing);
    capturing.copy(place(&*copy), place(&*buffer), 800).unwrap();
    assert!(capturing.add_callback(Box::new(|| ())).is_err());
    assert!(
        device(0)
            .allocate(8, Some(&capturing))
            .unwrap_err()
            .to_string()
            .contains("while it captures")
    );
    let graph = capturing.end_capture().unwrap();
    assert_eq!((graph.steps(), graph.device()), (3, DeviceId::cuda(0)));
    assert_eq!(download(&*buffer), [0; 100]);
    graph.launch(&*capturing).unwrap();
    capturing.synchronize().unwrap();
    graph.launch(&*other).unwrap();
    graph.launch(&*other).unwrap();
    other.synchronize().unwrap();
    assert_eq!((download(&*buffer), download(&*copy)), (vec![21; 100], vec![21; 100]));
    // The graph keeps the code it runs.
    drop(exe);
    graph.launch(&*other).unwrap();
    other.synchronize().unwrap();
    assert_eq!(download(&*copy), [28; 100]);
}

#[test]
fn captures_begin_and_end_once() {
    let _one_at_a_time = failing("");
    let stream = stream();
    assert!(stream.end_capture().is_err());
    stream.begin_capture().unwrap();
    assert!(stream.begin_capture().unwrap_err().to_string().contains("captures already"));
    assert_eq!(stream.end_capture().unwrap().steps(), 0);
    let default = device(0).default_stream().unwrap();
    assert!(default.begin_capture().unwrap_err().to_string().contains("default stream"));
}

#[test]
fn errors_of_graphs_arrive_at_the_stream_they_ran_on() {
    let _one_at_a_time = failing("");
    let source = "
entry kernel @picky(%0 x: view<i64, 1, C, global>) {
  %1: i64 = 0
  %2: i64 = load %0[%1]
  print \"x is \", %2
  %3: bool = lt %2, %1
  if %3 {
    raise value \"negative\"
  }
}
";
    let gpu = device(1);
    let exe = kernel_on(gpu, source);
    let make = || gpu.new_stream(StreamOptions::default()).unwrap();
    let (capturing, other) = (make(), make());
    let x = upload(gpu, &[4]);
    gpu.synchronize().unwrap();
    capturing.begin_capture().unwrap();
    launch_on(&*exe, grid(1, 1), &line(&*x, 8), &*capturing).unwrap();
    let graph = capturing.end_capture().unwrap();
    graph.launch(&*other).unwrap();
    other.synchronize().unwrap();
    assert_eq!(gpu.take_output(), "x is 4\n");
    x.write(0, &(-1i64).to_le_bytes()).unwrap();
    gpu.synchronize().unwrap();
    graph.launch(&*other).unwrap();
    capturing.synchronize().unwrap();
    assert!(matches!(other.synchronize(), Err(RunError::Raised(_))));
    assert_eq!(gpu.take_output(), "x is -1\n");
    // Host arrays are no part of a graph.
    let mut host = [1i64];
    let (view, array) = host_line(&mut host, 0, true);
    capturing.begin_capture().unwrap();
    let options = CallOptions {
        stream: Some(&*capturing),
        host_arrays: &[array],
        ..CallOptions::default()
    };
    let error = exe.run(grid(1, 1), &view, &mut [], &options).unwrap_err();
    assert!(error.to_string().contains("cannot be captured"), "{error}");
    capturing.end_capture().unwrap();
}

#[test]
fn streams_of_others_are_used_as_they_are() {
    let _one_at_a_time = failing("");
    let own = stream();
    let external = device(0).external_stream(own.raw_handle()).unwrap();
    assert_eq!(external.raw_handle(), own.raw_handle());
    let buffer = upload(device(0), &[1; 10]);
    device(0).synchronize().unwrap();
    add(&*kernel(ADD), &*buffer, 1, &*external);
    drop(external);
    own.synchronize().unwrap();
    assert_eq!(download(&*buffer), [2; 10]);
    assert_eq!(device(0).external_stream(0).unwrap().raw_handle(), 0);
}

/// Another library's stream outlives every use of it here.
#[test]
fn streams_of_others_are_left_to_them() {
    let _one_at_a_time = failing("");
    let others = Platform::open(&Choice::Path(double())).unwrap();
    let theirs = others.devices[0].new_stream(StreamOptions::default()).unwrap();
    let buffer = upload(device(0), &[1; 10]);
    for _ in 0..2 {
        let external = device(0).external_stream(theirs.raw_handle()).unwrap();
        add(&*kernel(ADD), &*buffer, 1, &*external);
        external.begin_capture().unwrap();
        drop(external);
        // The capture that nobody can end any more has ended with it, the stream has not.
        assert!(!theirs.is_capturing().unwrap());
        theirs.synchronize().unwrap();
    }
    device(0).synchronize().unwrap();
    assert_eq!(download(&*buffer), [3; 10]);
}

/// The driver's handle of the default stream of whoever uses it.
const PER_THREAD: u64 = 2;

/// Keeps a stream from going on until the result is dropped.
fn hold(stream: &dyn Stream) -> mpsc::Sender<()> {
    let (held, until) = mpsc::channel::<()>();
    stream.add_callback(Box::new(move || _ = until.recv())).unwrap();
    held
}

/// Work on a buffer, which the stream comes to when what is returned is dropped.
fn add_later(exe: &dyn Executable, buffer: &dyn Buffer, stream: &Arc<dyn Stream>) -> mpsc::Sender<()> {
    let held = hold(&**stream);
    add(exe, buffer, 1, &**stream);
    buffer.used_on(Some(stream));
    held
}

const PICKY: &str = "
entry kernel @picky(%0 x: view<i64, 1, C, global>) {
  %1: i64 = 0
  %2: i64 = load %0[%1]
  grid_barrier
  %3: bool = lt %2, %1
  if %3 {
    raise value \"negative\"
  }
}
";

#[test]
fn each_thread_has_a_default_stream_of_its_own() {
    let _one_at_a_time = failing("");
    let gpu = device(0);
    let (exe, picky) = (kernel(ADD), kernel(PICKY));
    let (good, bad) = (upload(gpu, &[1]), upload(gpu, &[-1]));
    gpu.synchronize().unwrap();
    let own = gpu.external_stream(PER_THREAD).unwrap();
    let event = gpu.new_event(false).unwrap();
    let held = hold(&*own);
    launch_on(&*picky, grid(1, 1), &line(&*bad, 8), &*own).unwrap();
    own.record(&*event).unwrap();
    thread::scope(|scope| {
        let other = scope.spawn(|| {
            // Neither that thread's work nor its errors are this one's, though they have kernels and a handle in common.
            launch_on(&*picky, grid(1, 1), &line(&*good, 8), &*own).unwrap();
            own.synchronize().unwrap();
            assert!(!event.is_done().unwrap());
        });
        other.join().unwrap();
    });
    assert!(!own.is_done().unwrap());
    drop(held);
    assert!(matches!(own.synchronize(), Err(RunError::Raised(_))));
    assert!(event.is_done().unwrap());
    own.begin_capture().unwrap();
    add(&*exe, &*good, 1, &*own);
    let steps_of_another = thread::scope(|scope| {
        let other = scope.spawn(|| {
            assert!(!own.is_capturing().unwrap());
            own.begin_capture().unwrap();
            own.end_capture().unwrap().steps()
        });
        other.join().unwrap()
    });
    let graph = own.end_capture().unwrap();
    assert_eq!((graph.steps(), steps_of_another), (1, 0));
    graph.launch(&*own).unwrap();
    own.synchronize().unwrap();
    assert_eq!(download(&*good), [2]);
}

/// What another thread drops is freed behind the work of the thread that used it.
#[test]
fn memory_of_a_thread_s_own_stream_is_freed_behind_its_work() {
    let _one_at_a_time = failing("");
    let gpu = device(0);
    let exe = kernel(ADD);
    let own = gpu.external_stream(PER_THREAD).unwrap();
    let buffers: Vec<_> = [Some(&own), None].map(|stream| gpu.allocate(80, stream).unwrap()).into();
    gpu.synchronize().unwrap();
    let held = hold(&*own);
    for buffer in &buffers {
        add(&*exe, &**buffer, 1, &*own);
        buffer.used_on(Some(&own));
    }
    thread::spawn(move || drop(buffers)).join().unwrap();
    drop(held);
    own.synchronize().unwrap();
    gpu.synchronize().unwrap();
}

/// Threads come and go while a buffer lives: the work that they leave is waited for, though nobody keeps their streams.
#[test]
fn memory_is_freed_behind_the_work_of_threads_that_have_ended() {
    let _one_at_a_time = failing("");
    let gpu = device(0);
    let exe = kernel(ADD);
    let (owner, user) = (stream(), stream());
    for of in [None, Some(&owner)] {
        let buffer = gpu.allocate(80, of).unwrap();
        gpu.synchronize().unwrap();
        let one = || add_later(&*exe, &*buffer, &gpu.external_stream(PER_THREAD).unwrap());
        let held = thread::scope(|scope| scope.spawn(one).join().unwrap());
        drop(add_later(&*exe, &*buffer, &user));
        drop(buffer);
        drop(held);
        gpu.synchronize().unwrap();
    }
}

/// What threads that have ended left is waited for at once, however many they were and however many buffers they used.
#[test]
fn buffers_do_not_keep_the_streams_of_threads_that_have_ended() {
    let none = failing("");
    let gpu = device(0);
    let buffers = [None, Some(&stream())].map(|of| gpu.allocate(80, of).unwrap());
    for _ in 0..20 {
        let one = || {
            let own = gpu.external_stream(PER_THREAD).unwrap();
            buffers.iter().for_each(|buffer| buffer.used_on(Some(&own)));
        };
        thread::scope(|scope| scope.spawn(one).join().unwrap());
    }
    gpu.synchronize().unwrap();
    drop(none);
    let _fails = failing("cuStreamWaitEvent=1@6");
    buffers.iter().for_each(|buffer| buffer.read(0, &mut [0; 80]).unwrap());
}

/// Of another GPU's thread it is that GPU's default stream that comes behind its work.
#[test]
fn memory_is_freed_behind_the_work_of_ended_threads_on_other_devices() {
    let _one_at_a_time = failing("");
    let (gpu, other) = (device(0), device(1));
    other.enable_peer(DeviceId::cuda(0)).unwrap();
    let exe = kernel_on(other, ADD);
    let buffer = gpu.allocate(80, None).unwrap();
    gpu.synchronize().unwrap();
    let one = || add_later(&*exe, &*buffer, &other.external_stream(PER_THREAD).unwrap());
    let held = thread::scope(|scope| scope.spawn(one).join().unwrap());
    buffer.used_on(Some(&stream()));
    let released = thread::spawn(move || {
        thread::sleep(std::time::Duration::from_millis(100));
        drop(held);
    });
    drop(buffer);
    gpu.synchronize().unwrap();
    other.synchronize().unwrap();
    released.join().unwrap();
}

/// The default stream waits for no non-blocking one, nor that for it: memory of one that the other uses is freed behind both.
#[test]
fn memory_of_nonblocking_streams_is_freed_behind_the_default_stream() {
    let _one_at_a_time = failing("");
    let gpu = device(0);
    let (exe, own) = (kernel(ADD), stream());
    let default = gpu.default_stream().unwrap();
    let buffer = gpu.allocate(80, Some(&own)).unwrap();
    own.synchronize().unwrap();
    let held = hold(&*default);
    add(&*exe, &*buffer, 1, &*default);
    buffer.used_on(None);
    drop(buffer);
    drop(held);
    gpu.synchronize().unwrap();
}

#[test]
fn what_is_dropped_during_a_capture_is_given_back_after_it() {
    let _one_at_a_time = failing("");
    let gpu = device(0);
    let capturing = stream();
    let exe = kernel(ADD);
    let buffer = gpu.allocate(80, Some(&capturing)).unwrap();
    let used = gpu.memory_stats().unwrap().used;
    capturing.fill(buffer.address(), 0, 80).unwrap();
    capturing.begin_capture().unwrap();
    drop(gpu.allocate_host(100, weft_runtime::HostMemory::Pinned).unwrap());
    launch(&*exe, grid(1, 1), &[0, 0, 8, 1]).unwrap();
    drop((buffer, exe));
    assert_eq!(gpu.memory_stats().unwrap().used, used);
    assert_eq!(capturing.end_capture().unwrap().steps(), 0);
    assert_eq!(gpu.memory_stats().unwrap().used, used - 80);
}
