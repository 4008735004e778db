//! Memory of the double's devices: the pool, its limit and its end, pinned memory, copies that fail.

#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use common::*;
use std::sync::mpsc;

use weft_cuda::Platform;
use weft_cuda::driver::Choice;
use weft_runtime::{Device, DeviceId, HostMemory, Place, RunError, StreamOptions};

#[test]
fn the_pool_keeps_what_is_freed_until_told_otherwise() {
    let _calls_succeed = failing("");
    let gpu = device(1);
    let before = gpu.memory_stats().unwrap();
    let buffer = gpu.allocate(1 << 20, None).unwrap();
    let held = gpu.memory_stats().unwrap();
    assert_eq!(held.used, before.used + (1 << 20));
    assert!(
        held.peak >= held.used && held.reserved >= held.used && held.total >= held.free,
        "{held:?}"
    );
    drop(buffer);
    gpu.synchronize().unwrap();
    let freed = gpu.memory_stats().unwrap();
    assert_eq!(freed.used, before.used);
    assert!(freed.reserved >= 1 << 20, "{freed:?}");
    gpu.free_all().unwrap();
    let empty = gpu.memory_stats().unwrap();
    assert!(empty.reserved < 1 << 20 && empty.free > held.free, "{empty:?}");
}

#[test]
fn running_out_says_how_much_there_is() {
    let _calls_succeed = failing("");
    let gpu = device(0);
    let error = gpu.allocate(1 << 40, None).unwrap_err();
    let RunError::OutOfMemory(out) = &error else { panic!("{error:?}") };
    let memory = out.device.unwrap();
    assert_eq!((out.requested, memory.limit), (1 << 40, None));
    assert_eq!(memory.total, gpu.info().memory_bytes);
    let text = error.to_string();
    assert!(
        text.contains(&format!("no device memory for {} bytes", 1u64 << 40)) && text.contains("are free"),
        "{text}"
    );

    let used = gpu.memory_stats().unwrap().used;
    gpu.set_memory_limit(Some(used + 1000)).unwrap();
    let fits = gpu.allocate(1000, None).unwrap();
    let error = gpu.allocate(1, None).unwrap_err();
    assert!(
        error.to_string().contains(&format!("the limit is {} bytes", used + 1000)),
        "{error}"
    );
    assert_eq!(gpu.memory_stats().unwrap().limit, Some(used + 1000));
    drop(fits);
    gpu.allocate(1000, None).unwrap();
    gpu.set_memory_limit(None).unwrap();
    gpu.allocate(2000, None).unwrap();
}

#[test]
fn the_pool_makes_room_and_asks_again() {
    // The first try fails as if the device were full; the second succeeds.
    let _first = failing("cuMemAllocFromPoolAsync=2@1");
    let buffer = device(0).allocate(64, None).unwrap();
    buffer.write(0, &[7; 64]).unwrap();
    // Both fail.
    set_failures("cuMemAllocFromPoolAsync=2");
    let error = device(0).allocate(64, None).unwrap_err();
    assert!(matches!(error, RunError::OutOfMemory(_)), "{error:?}");
    // Another failure is told in the driver's words, and nothing is counted as used.
    let used = device(0).memory_stats().unwrap().used;
    set_failures("cuMemAllocFromPoolAsync=1");
    let error = device(0).allocate(64, None).unwrap_err();
    let RunError::Driver(failure) = &error else { panic!("{error:?}") };
    assert_eq!(
        (failure.call, failure.code, failure.name.as_str()),
        ("cuMemAllocFromPoolAsync", 1, "CUDA_ERROR_INVALID_VALUE")
    );
    assert_eq!(device(0).memory_stats().unwrap().used, used);
    set_failures("");
    let mut bytes = [0; 64];
    buffer.read(0, &mut bytes).unwrap();
    assert_eq!(bytes, [7; 64]);
}

#[test]
fn reads_and_writes_stay_inside() {
    let _calls_succeed = failing("");
    let buffer = device(0).allocate(16, None).unwrap();
    buffer.write(0, &[0; 16]).unwrap();
    buffer.write(4, &[1, 2, 3]).unwrap();
    let mut back = [9; 5];
    buffer.read(3, &mut back).unwrap();
    assert_eq!(back, [0, 1, 2, 3, 0]);
    assert!(buffer.write(14, &[1, 2, 3]).is_err());
    assert!(buffer.read(usize::MAX, &mut back).is_err());
    let empty = device(0).allocate(0, None).unwrap();
    assert_eq!(empty.bytes(), 0);
    empty.read(0, &mut []).unwrap();
}

/// Larger than all staging buffers together, and not a multiple of one.
#[test]
fn large_copies_pass_through_staging() {
    let _calls_succeed = failing("");
    let gpu = device(0);
    for bytes in [1usize, 1000, 65536, 65537, (37 << 20) + 12345] {
        let values: Vec<u8> = (0..bytes).map(|i| (i * 31 + i / 251) as u8).collect();
        let buffer = gpu.allocate(bytes, None).unwrap();
        buffer.write(0, &values).unwrap();
        let mut back = vec![0; bytes];
        buffer.read(0, &mut back).unwrap();
        assert!(back == values, "{bytes} bytes");
    }
}

#[test]
fn pinned_memory_is_copied_in_stream_order() {
    let _calls_succeed = failing("");
    let gpu = device(0);
    let stream = gpu.new_stream(StreamOptions::default()).unwrap();
    let host = gpu.allocate_host(64, HostMemory::Pinned).unwrap();
    host.write(0, &[5; 64]).unwrap();
    let buffer = gpu.allocate(64, Some(&stream)).unwrap();
    let place = Place::Device(gpu.id(), buffer.address());
    stream.copy(place, Place::Host(host.address()), 64).unwrap();
    stream.fill(buffer.address() + 32, 9, 32).unwrap();
    stream.copy(Place::Host(host.address()), place, 64).unwrap();
    stream.synchronize().unwrap();
    let mut back = [0; 64];
    host.read(0, &mut back).unwrap();
    assert_eq!((&back[..32], &back[32..]), (&[5; 32][..], &[9; 32][..]));
    // Kernels address it as it is.
    let exe = kernel(ADD);
    host.write(0, &1i64.to_le_bytes()).unwrap();
    launch(&*exe, grid(1, 1), &[host.address(), 1, 8, 41]).unwrap();
    host.read(0, &mut back[..8]).unwrap();
    assert_eq!(back[0], 42);

    let mut own = vec![1u8; 64];
    let pinned = gpu.pin(own.as_mut_ptr() as u64, 64, false).unwrap();
    stream.copy(place, Place::Host(pinned.host_address()), 64).unwrap();
    stream.synchronize().unwrap();
    drop(pinned);
    let mut back = [0; 64];
    buffer.read(0, &mut back).unwrap();
    assert_eq!(back, [1; 64]);
    let managed = gpu.allocate_host(8, HostMemory::Managed).unwrap();
    managed.write(0, &2i64.to_le_bytes()).unwrap();
    launch(&*exe, grid(1, 1), &[managed.address(), 1, 8, 3]).unwrap();
    let mut back = [0; 8];
    managed.read(0, &mut back).unwrap();
    assert_eq!(i64::from_le_bytes(back), 5);
}

#[test]
fn copies_name_the_device_they_are_for() {
    let _calls_succeed = failing("");
    let stream = device(0).default_stream().unwrap();
    let mut byte = 0u8;
    let host = Place::Host(std::ptr::from_mut(&mut byte) as u64);
    let other = device(1).allocate(8, None).unwrap();
    let place = Place::Device(other.device(), other.address());
    let error = stream.copy(host, place, 1).unwrap_err();
    assert!(error.to_string().contains("on a stream of cuda:1"), "{error}");
    assert!(stream.copy(host, host, 1).is_err());
}

/// Work that was queued before a buffer is freed is done with it, on whatever stream it runs.
#[test]
fn buffers_outlive_the_work_that_uses_them() {
    let _calls_succeed = failing("");
    let gpu = device(0);
    let exe = kernel(ADD);
    let stream = gpu
        .new_stream(StreamOptions {
            nonblocking: true,
            ..StreamOptions::default()
        })
        .unwrap();
    for round in 0..20 {
        let buffer = upload(gpu, &[round; 512]);
        let out = gpu.allocate(8 * 512, Some(&stream)).unwrap();
        gpu.synchronize().unwrap();
        let [a, b, c] = line(&*buffer, 8);
        launch_on(&*exe, grid(2, 256), &[a, b, c, 1], &*stream).unwrap();
        let (to, from) = (Place::Device(gpu.id(), out.address()), Place::Device(gpu.id(), a));
        stream.copy(to, from, 8 * 512).unwrap();
        buffer.used_on(Some(&stream));
        drop(buffer);
        assert_eq!(download(&*out), [round + 1; 512]);
    }
}

/// An array has nothing behind it that may be read, however its elements are loaded.
#[test]
fn loads_end_where_arrays_do() {
    let _calls_succeed = failing("");
    for (ty, bytes) in [
        ("u8", 1),
        ("i16", 2),
        ("f16", 2),
        ("i32", 4),
        ("f32", 4),
        ("i64", 8),
        ("f64", 8),
        ("c64", 8),
        ("c128", 16),
    ] {
        for count in 1..=9usize {
            // Value 2i + 2 is an index, 2i + 3 its element; the sums come behind them.
            let mut body: String = (0..count)
                .map(|i| format!("  %{0}: i64 = {i}\n  %{1}: {ty} = load %0[%{0}]\n", 2 * i + 2, 2 * i + 3))
                .collect();
            let mut sum = 3;
            for i in 1..count {
                let next = 2 * count + 1 + i;
                body += &format!("  %{next}: {ty} = add %{sum}, %{}\n", 2 * i + 3);
                sum = next;
            }
            let source = format!(
                "entry kernel @k(%0 x: view<{ty}, 1, C, global>, %1 out: view<{ty}, 1, C, global>) {{\n{body}  store %1[%2] = %{sum}\n}}\n"
            );
            let exe = kernel(&source);
            let (x, out) = (
                device(0).allocate(count * bytes, None).unwrap(),
                device(0).allocate(bytes, None).unwrap(),
            );
            x.write(0, &vec![0; count * bytes]).unwrap();
            let args = [x.address(), count as u64, bytes as u64, out.address(), 1, bytes as u64];
            launch(&*exe, grid(1, 1), &args).unwrap();
            let ran = device(0).synchronize();
            assert!(
                ran.is_ok(),
                "{count} of {ty}: {ran:?}\n{}",
                exe.inspect(weft_runtime::Inspect::Asm).unwrap()
            );
        }
    }
}

/// Host memory that starts at a page.
fn pages(count: usize) -> (Vec<u8>, usize) {
    let bytes = vec![1u8; (count + 1) * 4096];
    let start = bytes.as_ptr().align_offset(4096);
    (bytes, start)
}

/// What a copy from host memory brings that is queued behind work under way, when the memory is changed as soon as the copy call returns: 1
/// if the memory was read in the call, 2 if it is read later, as pinned memory is.
fn seen_by_a_copy(from: u64, bytes: usize) -> Vec<u8> {
    let gpu = device(0);
    let stream = gpu
        .new_stream(StreamOptions {
            nonblocking: true,
            priority: 0,
        })
        .unwrap();
    let to = gpu.allocate(bytes, Some(&stream)).unwrap();
    let (go, wait) = mpsc::channel::<()>();
    stream.add_callback(Box::new(move || _ = wait.recv())).unwrap();
    stream
        .copy(Place::Device(DeviceId::cuda(0), to.address()), Place::Host(from), bytes)
        .unwrap();
    weft_runtime::raw::write(from, &vec![2; bytes]);
    go.send(()).unwrap();
    stream.synchronize().unwrap();
    weft_runtime::raw::write(from, &vec![1; bytes]);
    let mut seen = vec![0; bytes];
    to.read(0, &mut seen).unwrap();
    seen
}

#[test]
fn pinned_is_what_was_pinned_as_a_whole() {
    let _calls_succeed = failing("");
    let gpu = device(0);
    let (mut memory, start) = pages(4);
    let at = memory[start..].as_mut_ptr() as u64;
    let first = gpu.pin(at, 4096, false).unwrap();
    assert_eq!(seen_by_a_copy(at, 4096), [2; 4096]);
    // Only its beginning is, then only its ends are.
    assert_eq!(seen_by_a_copy(at, 3 * 4096), [1; 3 * 4096]);
    let last = gpu.pin(at + 2 * 4096, 4096, false).unwrap();
    assert_eq!(seen_by_a_copy(at, 3 * 4096), [1; 3 * 4096]);
    drop((first, last));
    assert_eq!(seen_by_a_copy(at, 4096), [1; 4096]);
}

#[test]
fn arrays_on_one_page_are_pinned_each_for_itself() {
    let _calls_succeed = failing("");
    let (mut memory, start) = pages(3);
    let at = memory[start..].as_mut_ptr() as u64;
    let one = device(0).pin(at + 100, 200, false).unwrap();
    let two = device(1).pin(at + 300, 5000, false).unwrap();
    let same = device(0).pin(at + 100, 200, false).unwrap();
    assert_eq!(seen_by_a_copy(at + 100, 200), [2; 200]);
    // A neighbour that nobody pinned, on a page that is.
    assert_eq!(seen_by_a_copy(at + 2000 + 4096, 100), [1; 100]);
    drop(one);
    assert_eq!(seen_by_a_copy(at + 100, 200), [2; 200]);
    drop(same);
    assert_eq!(seen_by_a_copy(at + 100, 200), [1; 200]);
    drop(two);
    drop(device(1).pin(at, 3 * 4096, false).unwrap());
    assert_eq!(seen_by_a_copy(at + 300, 200), [1; 200]);
}

/// Kernels may find pages that were locked apart in places apart; copies need no address of theirs.
#[test]
fn what_is_pinned_in_pieces_is_copied_but_not_mapped() {
    let _calls_succeed = failing("");
    let gpu = device(0);
    let (mut memory, start) = pages(3);
    let at = memory[start..].as_mut_ptr() as u64;
    let first = gpu.pin(at, 4096, false).unwrap();
    let whole = gpu.pin(at, 3 * 4096, false).unwrap();
    assert_eq!(whole.host_address(), at);
    let refused = gpu.pin(at, 2 * 4096, true).unwrap_err();
    assert!(
        refused.to_string().contains("map the whole before parts of it are pinned"),
        "{refused}"
    );
    assert_ne!(gpu.pin(at, 4096, true).unwrap().address(), at);
    drop((first, whole));
    let mapped = gpu.pin(at, 3 * 4096, true).unwrap();
    assert_ne!(mapped.address(), at);
}

#[test]
fn kernels_have_their_own_addresses_for_memory_of_the_host() {
    let _calls_succeed = failing("");
    let (gpu, exe) = (device(0), kernel(ADD));
    for kind in [HostMemory::Pinned, HostMemory::WriteCombined, HostMemory::Managed] {
        let buffer = gpu.allocate_host(8, kind).unwrap();
        weft_runtime::raw::store(buffer.host_address(), 5u64);
        launch(&*exe, grid(1, 1), &[buffer.address(), 1, 8, 2]).unwrap();
        gpu.synchronize().unwrap();
        assert_eq!(weft_runtime::raw::load::<u64>(buffer.host_address()), 7);
    }
    let mut own = vec![1i64; 4];
    let pinned = gpu.pin(own.as_mut_ptr() as u64, 32, true).unwrap();
    assert_eq!(pinned.host_address(), own.as_ptr() as u64);
    launch(&*exe, grid(1, 4), &[pinned.address(), 4, 8, 2]).unwrap();
    gpu.synchronize().unwrap();
    drop(pinned);
    assert_eq!(own, [3; 4]);
}

/// A driver of its own to fail: which errors end the device for good.
#[test]
fn a_device_that_a_server_has_ended_is_lost() {
    for (code, is_lost) in [(810, true), (721, true), (911, true), (720, false), (801, false)] {
        let _fails = failing(&format!("cuCtxSynchronize={code}@1"));
        let own = Platform::open(&Choice::Path(double())).unwrap();
        let gpu = &own.devices[0];
        drop(gpu.allocate(8, None).unwrap());
        let error = gpu.synchronize().unwrap_err();
        assert_eq!(matches!(error, RunError::DeviceLost(_)), is_lost, "{code}: {error:?}");
        assert_eq!(gpu.synchronize().is_err(), is_lost, "{code}");
    }
}

/// The newer function knows instances of divided GPUs; the older one is asked where it is missing.
#[test]
fn devices_are_known_by_the_numbers_of_their_instances() {
    for missing in ["cuDeviceGetUuid=1", "cuDeviceGetUuid_v2=1"] {
        let _fails = failing(missing);
        let own = Platform::open(&Choice::Path(double())).unwrap();
        assert_eq!(own.devices.len(), 2, "{:?}", own.unsupported);
        assert!(own.devices[0].info().uuid.is_some());
    }
}

/// Blocks of a device without pools go by our streams, not by the driver's handles.
#[test]
fn devices_without_pools_keep_blocks_by_stream() {
    let _fails = failing("cuMemPoolCreate=801");
    let own = Platform::open(&Choice::Path(double())).unwrap();
    let gpu = &own.devices[0];
    let make = || {
        gpu.new_stream(StreamOptions {
            nonblocking: true,
            priority: 0,
        })
        .unwrap()
    };
    let stream = make();
    let place = |bytes, stream| gpu.allocate(bytes, Some(stream)).unwrap().address();
    let first = place(1000, &stream);
    assert_eq!(place(1000, &stream), first);
    assert_ne!(place(1000, &make()), first);
    gpu.synchronize().unwrap();
}
