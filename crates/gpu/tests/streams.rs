//! Streams, events, graphs and threads.

#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use common::*;
use weft_runtime::profile::{Activity, Session};
use weft_runtime::{Buffer, Device, Executable, Place, Stream, StreamOptions};

fn stream() -> Arc<dyn Stream> {
    gpu().new_stream(StreamOptions::default()).unwrap()
}

fn add(exe: &dyn Executable, buffer: &dyn Buffer, by: i64, stream: &dyn Stream) {
    let [a, b, c] = line(buffer, 8);
    launch_on(exe, grid(b.div_ceil(64) as u32, 64), &[a, b, c, by as u64], stream).unwrap();
}

fn place(buffer: &dyn Buffer) -> Place {
    Place::Device(buffer.device(), buffer.address())
}

#[test]
fn streams_share_a_queue_in_order() {
    let exe = kernel(ADD);
    let (first, second) = (stream(), stream());
    let event = gpu().new_event(false).unwrap();
    assert!(event.is_done().unwrap());
    for _ in 0..10 {
        let buffer = upload(gpu(), &[0; 1000]);
        (0..5).for_each(|_| add(&*exe, &*buffer, 1, &*first));
        first.record(&*event).unwrap();
        second.wait(&*event).unwrap();
        let copy = gpu().allocate(8000, Some(&second)).unwrap();
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
fn uploads_between_launches_keep_their_place() {
    let exe = kernel(ADD);
    let stream = stream();
    let buffer = upload(gpu(), &[0; 100]);
    let big = upload(gpu(), &vec![0; 10_000]);
    for round in 0..20i64 {
        add(&*exe, &*buffer, 1, &*stream);
        buffer.write(0, &round.to_le_bytes()).unwrap();
        add(&*exe, &*buffer, 100, &*stream);
        add(&*exe, &*big, 1, &*stream);
        let values: Vec<u8> = (0..10_000i64).flat_map(|v| (v + round).to_le_bytes()).collect();
        big.write(0, &values).unwrap();
        add(&*exe, &*big, 1, &*stream);
        let seen = download(&*buffer);
        assert_eq!((seen[0], seen[1]), (round + 100, 101 * (round + 1)));
        assert_eq!(download(&*big)[9999], 9999 + round + 1);
    }
}

#[test]
fn many_launches_are_many_batches() {
    let exe = kernel(ADD);
    let buffer = upload(gpu(), &[0; 64]);
    let stream = stream();
    for _ in 0..3000 {
        add(&*exe, &*buffer, 1, &*stream);
    }
    assert_eq!(download(&*buffer), [3000; 64]);
}

#[test]
fn what_is_left_alone_is_done_all_the_same() {
    let exe = kernel(ADD);
    let buffer = upload(gpu(), &[0; 64]);
    let stream = stream();
    gpu().synchronize().unwrap();
    add(&*exe, &*buffer, 1, &*stream);
    let event = gpu().new_event(false).unwrap();
    stream.record(&*event).unwrap();
    let start = std::time::Instant::now();
    while !event.is_done().unwrap() {
        assert!(start.elapsed().as_secs() < 60);
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
}

#[test]
fn events_measure_time() {
    let stream = stream();
    let events: Vec<_> = (0..2).map(|_| gpu().new_event(true).unwrap()).collect();
    assert!(events[0].elapsed_ms(&*events[1]).unwrap_err().to_string().contains("not recorded"));
    let (exe, buffer) = (kernel(ADD), upload(gpu(), &vec![0; 100_000]));
    gpu().synchronize().unwrap();
    let start = std::time::Instant::now();
    stream.record(&*events[0]).unwrap();
    for _ in 0..10 {
        add(&*exe, &*buffer, 1, &*stream);
    }
    stream.record(&*events[1]).unwrap();
    events[1].synchronize().unwrap();
    let most = start.elapsed().as_secs_f64() * 1000.0;
    let took = events[0].elapsed_ms(&*events[1]).unwrap();
    assert!(took > 0.0 && took <= most, "{took} of {most} ms");
    let untimed = gpu().new_event(false).unwrap();
    stream.record(&*untimed).unwrap();
    stream.synchronize().unwrap();
    assert!(events[0].elapsed_ms(&*untimed).unwrap_err().to_string().contains("without timing"));
}

#[test]
fn callbacks_run_in_order() {
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
fn a_callback_that_panics_does_not_keep_the_next_from_being_called() {
    let stream = stream();
    let seen = Arc::new(AtomicU32::new(0));
    let next = seen.clone();
    stream.add_callback(Box::new(|| panic!("as it should"))).unwrap();
    stream.add_callback(Box::new(move || next.store(1, Ordering::SeqCst))).unwrap();
    stream.synchronize().unwrap();
    assert_eq!(seen.load(Ordering::SeqCst), 1);
}

#[test]
fn graphs_replay_what_was_captured() {
    let exe = kernel(ADD);
    let (capturing, other) = (stream(), stream());
    let (buffer, copy) = (upload(gpu(), &[0; 100]), upload(gpu(), &[0; 100]));
    capturing.begin_capture().unwrap();
    assert!(capturing.is_capturing().unwrap() && !other.is_capturing().unwrap());
    add(&*exe, &*buffer, 3, &*capturing);
    add(&*exe, &*buffer, 4, &*capturing);
    capturing.copy(place(&*copy), place(&*buffer), 800).unwrap();
    capturing.fill(buffer.address(), 0, 8).unwrap();
    assert!(capturing.add_callback(Box::new(|| ())).is_err());
    let error = gpu().allocate(8, Some(&capturing)).unwrap_err();
    assert!(error.to_string().contains("while it captures"), "{error}");
    let graph = capturing.end_capture().unwrap();
    assert_eq!((graph.steps(), graph.device()), (4, gpu().id()));
    assert_eq!(download(&*buffer), [0; 100]);
    graph.launch(&*capturing).unwrap();
    graph.launch(&*other).unwrap();
    graph.launch(&*other).unwrap();
    let (last, taken) = (download(&*buffer), download(&*copy));
    assert_eq!((last[0], last[1], taken[0], taken[1]), (0, 21, 7, 21));
    assert!(gpu().default_stream().unwrap().begin_capture().is_err());
    assert!(other.end_capture().is_err());
}

#[test]
fn threads_launch_together() {
    let exe = kernel(ADD);
    std::thread::scope(|scope| {
        for thread in 0..8 {
            let exe = &exe;
            scope.spawn(move || {
                let stream = stream();
                let buffer = upload(gpu(), &vec![thread; 500 + thread as usize]);
                for round in 0..50 {
                    add(&**exe, &*buffer, 1, &*stream);
                    if round % 10 == 0 {
                        assert_eq!(download(&*buffer)[7], thread + round + 1);
                    }
                    if round % 7 == 0 {
                        drop(gpu().allocate(1 << (10 + round % 5), None).unwrap());
                    }
                }
                assert_eq!(download(&*buffer), vec![thread + 50; 500 + thread as usize]);
            });
        }
    });
}

#[test]
fn profiles_say_what_ran() {
    let exe = kernel(ADD);
    let stream = stream();
    let buffer = upload(gpu(), &vec![0; 100_000]);
    add(&*exe, &*buffer, 1, &*stream);
    gpu().synchronize().unwrap();
    let session = Session::start();
    let begin = weft_runtime::profile::now_ns();
    for _ in 0..3 {
        add(&*exe, &*buffer, 1, &*stream);
    }
    stream.fill(buffer.address(), 1, 5000).unwrap();
    assert_eq!(download(&*buffer)[99_999], 4);
    let end = weft_runtime::profile::now_ns();
    let rows = session.stop().rows;
    let mine: Vec<_> = rows.iter().filter(|row| row.stream == stream.raw_handle()).collect();
    let kernels: Vec<_> = mine.iter().filter(|row| row.what == Activity::Kernel).collect();
    assert_eq!(kernels.len(), 3, "{rows:?}");
    for row in kernels {
        assert_eq!((row.name.as_str(), row.device), ("add", gpu().id()));
        // The clocks are compared to within a fraction of a millisecond.
        assert!(
            row.start_ns + 5_000_000 >= begin && row.start_ns + row.duration_ns <= end + 5_000_000,
            "{row:?} in {begin}..{end}"
        );
        assert!(row.duration_ns > 0);
    }
    assert_eq!(mine.iter().filter(|row| row.what == Activity::Fill && row.bytes == 5000).count(), 1);
}
