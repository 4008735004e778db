//! Profiles of the double's devices, timed by its CUPTI and by events.

#![allow(clippy::unwrap_used, clippy::panic, unsafe_code)]

mod common;

use std::ffi::c_void;
use std::ptr;
use std::sync::Arc;

use common::*;
use weft_runtime::profile::{self, Activity, Recorded, Row, Session};
use weft_runtime::{Buffer, Device, DeviceId, DeviceKind, Executable, Place, Stream, StreamOptions};

/// Plans of failures with which events time the work, and what the profile says of it.
const REFUSALS: [(&str, &str); 4] = [
    ("cuptiSubscribe=39", "another profiler is attached"),
    ("cuptiActivityEnable=35", "CUPTI_ERROR_INSUFFICIENT_PRIVILEGES"),
    (
        "cuptiActivityRegisterCallbacks=999",
        "cuptiActivityRegisterCallbacks gave CUPTI_ERROR_UNKNOWN",
    ),
    ("cuptiGetTimestamp=15", "CUPTI_ERROR_NOT_INITIALIZED"),
];

fn stream() -> Arc<dyn Stream> {
    let nonblocking = StreamOptions {
        nonblocking: true,
        priority: 0,
    };
    device(0).new_stream(nonblocking).unwrap()
}

fn add(exe: &dyn Executable, buffer: &dyn Buffer, stream: &dyn Stream) {
    let [a, b, c] = line(buffer, 8);
    launch_on(exe, grid(b.div_ceil(64) as u32, 64), &[a, b, c, 1], stream).unwrap();
}

fn timer(recorded: &Recorded) -> &str {
    let [(DeviceKind::Cuda, timer)] = &*recorded.timers else {
        panic!("{recorded:?}")
    };
    timer
}

fn of<'a>(recorded: &'a Recorded, stream: &dyn Stream) -> Vec<&'a Row> {
    let own = recorded.rows.iter().filter(|row| row.stream == stream.raw_handle());
    own.collect()
}

/// Rows lie one behind the other within a time of the host. CUPTI's clock is compared to ours within some microseconds; that of events by
/// waiting for one, which takes long on a busy machine.
fn check_times(rows: &[&Row], timer: &str, begin: u64, end: u64) {
    let slack = if timer.starts_with("CUPTI") { 1_000_000 } else { 50_000_000 };
    assert!(rows.iter().all(|row| row.duration_ns > 0));
    let end_of = |row: &Row| row.start_ns + row.duration_ns;
    assert!(rows.windows(2).all(|pair| end_of(pair[0]) <= pair[1].start_ns + 1000));
    let (first, last) = (rows[0], rows[rows.len() - 1]);
    assert!(first.start_ns + slack >= begin && end_of(last) <= end + slack, "{rows:?}");
}

/// An array of zeros that is there: the streams of these tests do not wait for uploads.
fn zeros(index: u32, count: usize) -> Box<dyn Buffer> {
    let buffer = upload(device(index as usize), &vec![0; count]);
    device(index as usize).synchronize().unwrap();
    buffer
}

/// A piece of each of several kinds of work, recorded.
fn record_everything() {
    let exe = kernel(ADD);
    let stream = stream();
    let begin = profile::now_ns();
    let session = Session::start();
    let buffer = device(0).allocate(800, Some(&stream)).unwrap();
    buffer.write(0, &[0; 800]).unwrap();
    add(&*exe, &*buffer, &*stream);
    add(&*exe, &*buffer, &*stream);
    stream.fill(buffer.address(), 0, 400).unwrap();
    let values = download(&*buffer);
    let end = profile::now_ns();
    let recorded = session.stop();
    assert_eq!((values[0], values[99], recorded.missing), (0, 2, 0));
    let own = of(&recorded, &*stream);
    let kinds: Vec<Activity> = own.iter().map(|row| row.what).collect();
    use Activity::*;
    assert_eq!(kinds, [CopyToDevice, Kernel, Kernel, Fill, CopyToHost]);
    assert_eq!((own[1].name.as_str(), own[1].device), ("add", DeviceId::cuda(0)));
    assert_eq!(own.iter().map(|row| row.bytes).collect::<Vec<_>>(), [800, 0, 0, 400, 800]);
    check_times(&own, timer(&recorded), begin, end);
    let compile = recorded.rows.iter().find(|row| row.what == Compile && row.name == "add").unwrap();
    assert!(compile.duration_ns > 0 && compile.start_ns < own[1].start_ns);
}

#[test]
fn profiles_have_a_row_for_everything() {
    let _one_at_a_time = failing("");
    record_everything();
    for (plan, _) in REFUSALS {
        set_failures(plan);
        record_everything();
    }
}

#[test]
fn a_profile_says_what_timed_it() {
    let _one_at_a_time = failing("");
    let (exe, buffer, stream) = (kernel(ADD), zeros(0, 100), stream());
    let profiled = || {
        let session = Session::start();
        add(&*exe, &*buffer, &*stream);
        let recorded = session.stop();
        assert_eq!(of(&recorded, &*stream).len(), 1);
        timer(&recorded).to_string()
    };
    for (plan, why) in REFUSALS {
        set_failures(plan);
        let timer = profiled();
        assert!(
            timer.starts_with("CUDA events (") && timer.contains(why) && !timer.contains('\n'),
            "{timer}"
        );
        // Whatever was begun was ended.
        set_failures("");
        let timer = profiled();
        assert!(timer.starts_with("CUPTI (") && timer.ends_with(", interface 130000)"), "{timer}");
    }
    let idle = Session::start().stop();
    assert!(idle.timers.is_empty() && idle.rows.is_empty());
}

type Listener = unsafe extern "C" fn(*mut c_void, u32, u32, *const c_void);
type Subscribe = unsafe extern "C" fn(*mut u64, Listener, *mut c_void) -> u32;
type Unsubscribe = unsafe extern "C" fn(u64) -> u32;

unsafe extern "C" fn ignore(_: *mut c_void, _: u32, _: u32, _: *const c_void) {}

#[test]
fn other_profilers_are_let_be_and_come_in_afterwards() {
    let _one_at_a_time = failing("");
    let (exe, buffer, stream) = (kernel(ADD), zeros(0, 100), stream());
    // SAFETY: the double's library, which is loaded.
    let library = unsafe { libloading::Library::new(double()).unwrap() };
    // SAFETY: the types are those of CUPTI's documentation for these names.
    let (subscribe, unsubscribe) = unsafe {
        let subscribe: libloading::Symbol<'_, Subscribe> = library.get(b"cuptiSubscribe").unwrap();
        let unsubscribe: libloading::Symbol<'_, Unsubscribe> = library.get(b"cuptiUnsubscribe").unwrap();
        (subscribe, unsubscribe)
    };
    let mut handle = 0;
    // SAFETY: writes the handle.
    let mut attach = || unsafe { subscribe(&mut handle, ignore, ptr::null_mut()) };
    for ours in [false, true, false] {
        let session = Session::start();
        if !ours {
            assert_eq!(attach(), 0);
        }
        add(&*exe, &*buffer, &*stream);
        if ours {
            assert_eq!(attach(), 39);
        } else {
            // SAFETY: the double has one handle.
            assert_eq!(unsafe { unsubscribe(0x5_0b5c) }, 0);
        }
        let recorded = session.stop();
        assert_eq!(timer(&recorded).starts_with("CUPTI"), ours);
        assert_eq!((of(&recorded, &*stream).len(), recorded.missing), (1, 0));
    }
}

#[test]
fn records_that_are_lost_are_told() {
    let _one_at_a_time = failing("");
    let (exe, buffer, stream) = (kernel(ADD), zeros(0, 100), stream());
    let session = Session::start();
    set_failures("cuptiActivityRecord=1@2");
    (0..4).for_each(|_| add(&*exe, &*buffer, &*stream));
    let recorded = session.stop();
    assert_eq!((of(&recorded, &*stream).len(), recorded.missing), (3, 1));
    // Of a copy in several parts one that is lost is not passed over.
    let session = Session::start();
    let large = device(0).allocate(9 << 20, Some(&stream)).unwrap();
    large.write(0, &vec![1; 9 << 20]).unwrap();
    set_failures("cuptiActivityRecord=1@2");
    large.write(0, &vec![2; 9 << 20]).unwrap();
    let recorded = session.stop();
    assert_eq!(recorded.missing, 1);
    assert_eq!(recorded.rows.iter().map(|row| row.bytes).collect::<Vec<_>>(), [9 << 20]);
}

#[test]
fn more_records_than_a_buffer_holds_on_several_streams() {
    let _one_at_a_time = failing("");
    let exe = kernel(ADD);
    let streams = [stream(), stream(), stream()];
    let buffers: Vec<_> = streams.iter().map(|_| zeros(0, 32)).collect();
    let begin = profile::now_ns();
    let session = Session::start();
    for _ in 0..2000 {
        for (stream, buffer) in streams.iter().zip(&buffers) {
            add(&*exe, &**buffer, &**stream);
        }
    }
    let recorded = session.stop();
    assert!(timer(&recorded).starts_with("CUPTI"));
    assert_eq!(recorded.missing, 0);
    for (stream, buffer) in streams.iter().zip(&buffers) {
        let own = of(&recorded, &**stream);
        assert_eq!(own.len(), 2000);
        check_times(&own, timer(&recorded), begin, profile::now_ns());
        assert_eq!(download(&**buffer)[0], 2000);
    }
}

#[test]
fn sessions_overlap_and_threads_launch_meanwhile() {
    let _one_at_a_time = failing("");
    let exe = kernel(ADD);
    let outer = Session::start();
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                let (buffer, stream) = (zeros(0, 100), stream());
                for _ in 0..5 {
                    let inner = Session::start();
                    (0..20).for_each(|_| add(&*exe, &*buffer, &*stream));
                    assert_eq!(of(&inner.stop(), &*stream).len(), 20);
                }
            });
        }
    });
    let recorded = outer.stop();
    assert_eq!(recorded.rows.iter().filter(|row| row.what == Activity::Kernel).count(), 300);
    assert_eq!((recorded.timers.len(), recorded.missing), (1, 0));
}

#[test]
fn graphs_and_peers_have_rows() {
    let _one_at_a_time = failing("");
    let (exe, stream) = (kernel(ADD), stream());
    let buffer = zeros(0, 100);
    let there = zeros(1, 100);
    add(&*exe, &*buffer, &*stream);
    stream.begin_capture().unwrap();
    (0..3).for_each(|_| add(&*exe, &*buffer, &*stream));
    let graph = stream.end_capture().unwrap();
    // With records of graphs, with those of their nodes, and with events.
    for plan in ["", "cuptiActivityEnable=21@5", "cuptiSubscribe=39"] {
        set_failures(plan);
        let session = Session::start();
        graph.launch(&*stream).unwrap();
        let place = |device: u32, buffer: &dyn Buffer| Place::Device(DeviceId::cuda(device), buffer.address());
        stream.copy(place(1, &*there), place(0, &*buffer), 800).unwrap();
        let recorded = session.stop();
        let own: Vec<_> = of(&recorded, &*stream).into_iter().map(|row| (row.what, row.bytes)).collect();
        assert_eq!(
            (own, recorded.missing),
            (vec![(Activity::Graph, 0), (Activity::CopyToPeer, 800)], 0)
        );
        assert_eq!(timer(&recorded).starts_with("CUPTI"), plan != "cuptiSubscribe=39");
    }
    assert_eq!(download(&*there), [10; 100]);
}

#[test]
fn work_that_fails_has_no_row_and_a_capture_is_not_waited_for() {
    let _one_at_a_time = failing("");
    let (exe, buffer, stream) = (kernel(ADD), zeros(0, 100), stream());
    let session = Session::start();
    set_failures("cuLaunchKernel=1");
    let [a, b, c] = line(&*buffer, 8);
    assert!(launch_on(&*exe, grid(2, 64), &[a, b, c, 1], &*stream).is_err());
    set_failures("");
    let capturing = self::stream();
    capturing.begin_capture().unwrap();
    add(&*exe, &*buffer, &*capturing);
    add(&*exe, &*buffer, &*stream);
    stream.synchronize().unwrap();
    let recorded = session.stop();
    assert_eq!(capturing.end_capture().unwrap().steps(), 1);
    assert_eq!((of(&recorded, &*stream).len(), recorded.missing), (1, 0));
    assert!(of(&recorded, &*capturing).is_empty());
}
