//! Memory of a GPU: what is written is read, at any place and length; copies, fills, limits, statistics.

#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use common::gpu;
use weft_runtime::{Device, DeviceId, HostMemory, Place, RunError};

/// Bytes that differ from their neighbours.
fn bytes(n: usize, seed: u8) -> Vec<u8> {
    (0..n)
        .map(|i| (i as u8).wrapping_mul(31).wrapping_add(seed).wrapping_add((i >> 8) as u8))
        .collect()
}

fn place(device: &dyn Device, address: u64) -> Place {
    Place::Device(device.id(), address)
}

#[test]
fn what_is_written_is_read_at_any_place() {
    let gpu = gpu();
    for size in [1, 2, 3, 4, 5, 16, 17, 1000, 4097, 100_003] {
        let buffer = gpu.allocate(size, None).unwrap();
        let mut model = bytes(size, 7);
        buffer.write(0, &model).unwrap();
        for (offset, length) in [(0, 1), (1, 1), (1, 2), (2, 5), (3, 6), (5, 64), (8, 900), (7, 50_000), (100_000, 3)] {
            if offset + length > size {
                continue;
            }
            let piece = bytes(length, offset as u8);
            buffer.write(offset, &piece).unwrap();
            model[offset..offset + length].copy_from_slice(&piece);
            let mut read = vec![0; length];
            buffer.read(offset, &mut read).unwrap();
            assert_eq!(read, piece, "{length} at {offset} of {size}");
        }
        let mut whole = vec![0; size];
        buffer.read(0, &mut whole).unwrap();
        assert_eq!(whole, model, "{size}");
    }
}

#[test]
fn large_arrays_travel_in_parts() {
    let gpu = gpu();
    let size = (37 << 20) + 5;
    let buffer = gpu.allocate(size, None).unwrap();
    let model = bytes(size, 3);
    buffer.write(0, &model).unwrap();
    let mut read = vec![0; size - 3];
    buffer.read(3, &mut read).unwrap();
    assert!(read == model[3..]);
    buffer.write(1, &model[..size - 1]).unwrap();
    buffer.read(1, &mut read).unwrap();
    assert!(read == model[..size - 3]);
}

#[test]
fn copies_go_from_any_place_to_any_other() {
    let gpu = gpu();
    let stream = gpu.default_stream().unwrap();
    let (a, b) = (gpu.allocate(3000, None).unwrap(), gpu.allocate(3000, None).unwrap());
    let from = bytes(3000, 1);
    a.write(0, &from).unwrap();
    for (to, start, length) in [
        (0, 0, 3000),
        (0, 1, 5),
        (1, 1, 7),
        (2, 3, 100),
        (5, 1, 999),
        (8, 8, 13),
        (2999, 17, 1),
        (1001, 1, 1999),
    ] {
        let mut model = bytes(3000, 9);
        b.write(0, &model).unwrap();
        stream
            .copy(place(gpu, b.address() + to), place(gpu, a.address() + start), length)
            .unwrap();
        model[to as usize..][..length].copy_from_slice(&from[start as usize..][..length]);
        let mut read = vec![0; 3000];
        b.read(0, &mut read).unwrap();
        assert_eq!(read, model, "{length} from {start} to {to}");
    }
}

#[test]
fn copies_within_an_array_may_overlap() {
    let gpu = gpu();
    let stream = gpu.default_stream().unwrap();
    let a = gpu.allocate(1000, None).unwrap();
    for (to, from, length) in [(0, 4, 996), (3, 0, 997), (100, 101, 50), (500, 0, 500), (7, 7, 10)] {
        let mut model = bytes(1000, 2);
        a.write(0, &model).unwrap();
        stream
            .copy(place(gpu, a.address() + to), place(gpu, a.address() + from), length)
            .unwrap();
        model.copy_within(from as usize..from as usize + length, to as usize);
        let mut read = vec![0; 1000];
        a.read(0, &mut read).unwrap();
        assert_eq!(read, model, "{length} from {from} to {to}");
    }
}

#[test]
fn fills_leave_what_is_beside_them() {
    let gpu = gpu();
    let stream = gpu.default_stream().unwrap();
    let size = 3 << 20;
    let a = gpu.allocate(size, None).unwrap();
    let mut model = bytes(size, 4);
    a.write(0, &model).unwrap();
    for (at, value, length) in [
        (0, 0, 8),
        (3, 0, 2),
        (1, 7, 1),
        (5, 255, 100),
        (6, 0, 1001),
        (1000, 9, 50_000),
        (4096, 200, (2 << 20) + 3),
    ] {
        stream.fill(a.address() + at as u64, value, length).unwrap();
        model[at..at + length].fill(value);
        let mut read = vec![0; size];
        a.read(0, &mut read).unwrap();
        assert!(read == model, "{length} of {value} at {at}");
    }
}

#[test]
fn the_pool_keeps_what_was_freed() {
    let device = common::own_gpu();
    let gpu = &*device;
    let before = gpu.memory_stats().unwrap();
    let first = gpu.allocate(100_000, None).unwrap();
    let address = first.address();
    let during = gpu.memory_stats().unwrap();
    assert_eq!(during.used - before.used, 100_000);
    assert!(during.peak >= during.used && during.reserved >= during.used && during.total >= during.reserved);
    drop(first);
    assert_eq!(gpu.memory_stats().unwrap().used, before.used);
    assert_eq!(gpu.allocate(100_000, None).unwrap().address(), address);
    gpu.free_all().unwrap();
    assert_eq!(gpu.memory_stats().unwrap().reserved, before.reserved);
    assert_ne!(
        gpu.allocate(100_000, None).unwrap().address(),
        address,
        "addresses are not used twice"
    );
}

#[test]
fn the_limit_is_one_and_then_is_none() {
    let device = common::own_gpu();
    let gpu = &*device;
    let used = gpu.memory_stats().unwrap().used;
    gpu.set_memory_limit(Some(used + 1000)).unwrap();
    let kept = gpu.allocate(800, None).unwrap();
    let refused = gpu.allocate(300, None).unwrap_err();
    let RunError::OutOfMemory(error) = &refused else {
        panic!("{refused:?}");
    };
    let memory = error.device.unwrap();
    assert_eq!((error.requested, memory.used, memory.limit), (300, used + 800, Some(used + 1000)));
    drop(kept);
    gpu.allocate(300, None).unwrap();
    gpu.set_memory_limit(None).unwrap();
    gpu.allocate(3000, None).unwrap();
}

#[test]
fn more_than_there_is_is_out_of_memory() {
    let gpu = gpu();
    let wanted = 1 << 46;
    let error = gpu.allocate(wanted, None).unwrap_err();
    assert!(
        matches!(&error, RunError::OutOfMemory(error) if error.requested == wanted as u64),
        "{error:?}"
    );
    assert!(error.to_string().contains("no device memory for"), "{error}");
    // And then there still is some.
    gpu.allocate(1000, None).unwrap();
}

#[test]
fn nothing_is_an_array_too() {
    let gpu = gpu();
    let a = gpu.allocate(0, None).unwrap();
    a.write(0, &[]).unwrap();
    a.read(0, &mut []).unwrap();
    assert!(a.write(0, &[1]).is_err());
}

#[test]
fn what_is_outside_is_refused() {
    let gpu = gpu();
    let stream = gpu.default_stream().unwrap();
    let a = gpu.allocate(100, None).unwrap();
    assert!(a.read(90, &mut [0; 11]).is_err());
    assert!(a.write(101, &[]).is_err());
    let host = [0u8; 8];
    let error = stream
        .copy(place(gpu, host.as_ptr() as u64), Place::Host(host.as_ptr() as u64), 8)
        .unwrap_err();
    assert!(error.to_string().contains("no memory of the device"), "{error}");
    let error = stream
        .copy(place(gpu, a.address() + (1 << 40)), Place::Host(host.as_ptr() as u64), 8)
        .unwrap_err();
    assert!(matches!(error, RunError::Invalid(_)), "{error}");
    let other = Place::Device(DeviceId::cuda(0), 0);
    assert!(stream.copy(place(gpu, a.address()), other, 8).is_err());
}

#[test]
fn pinned_memory_is_the_hosts() {
    let gpu = gpu();
    let stream = gpu.default_stream().unwrap();
    let (host, array) = (gpu.allocate_host(64, HostMemory::Pinned).unwrap(), gpu.allocate(64, None).unwrap());
    host.write(0, &bytes(64, 5)).unwrap();
    stream.copy(place(gpu, array.address()), Place::Host(host.address()), 64).unwrap();
    host.write(0, &[0; 64]).unwrap();
    stream.copy(Place::Host(host.address()), place(gpu, array.address()), 64).unwrap();
    stream.synchronize().unwrap();
    let mut read = [0; 64];
    host.read(0, &mut read).unwrap();
    assert_eq!(read[..], bytes(64, 5));
    let error = gpu.allocate_host(64, HostMemory::Managed).unwrap_err();
    assert!(matches!(error, RunError::Unsupported(_)), "{error}");
}

/// Chunks of any length, one right behind the other.
#[test]
fn writes_leave_their_neighbours_alone() {
    let gpu = gpu();
    for round in 0..20usize {
        let buffer = gpu.allocate(1 << 12, None).unwrap();
        let mut written = Vec::new();
        for chunk in 0..8usize {
            let length = 1 + (round * 37 + chunk * 53) % 90;
            let bytes: Vec<u8> = (0..length).map(|i| (1 + chunk * 31 + i) as u8).collect();
            buffer.write(written.len(), &bytes).unwrap();
            written.extend(bytes);
        }
        let mut read = vec![0; written.len()];
        buffer.read(0, &mut read).unwrap();
        assert_eq!(read, written, "round {round}");
    }
}

#[test]
fn many_odd_writes_share_batches() {
    let gpu = gpu();
    let buffer = gpu.allocate(9001, None).unwrap();
    let mut model = bytes(9001, 0);
    buffer.write(0, &model).unwrap();
    for round in 0..300usize {
        let (offset, length) = (1 + round * 7 % 500, 3 + round * 37 % 8000);
        let piece = bytes(length, round as u8);
        buffer.write(offset, &piece).unwrap();
        model[offset..offset + length].copy_from_slice(&piece);
    }
    let mut read = vec![0; 9001];
    buffer.read(0, &mut read).unwrap();
    assert!(read == model);
}
