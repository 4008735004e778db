// Calls of the C interface, with pointers to locals.
#![allow(unsafe_code, clippy::undocumented_unsafe_blocks)]
//! Devices, memory, streams, events, graphs, failures on request.

mod support;

use std::ffi::c_void;
use std::sync::atomic::{AtomicU32, Ordering};

use support::*;

/// A kernel that adds its second parameter (passed as a pointer-sized number) to `count` elements of the first, slowly.
fn adder() -> String {
    kernel(
        2,
        "  cvt.u32.u64 %r10, %rd1;\n  mul.wide.u32 %rd10, %r0, 4;\n  add.s64 %rd11, %rd0, %rd10;\n  mov.u32 %r11, 0;
         $L_slow:\n  add.u32 %r11, %r11, 1;\n  setp.lt.u32 %p1, %r11, 2000;\n  @%p1 bra $L_slow;
           ld.global.u32 %r12, [%rd11];\n  add.u32 %r12, %r12, %r10;\n  st.global.u32 [%rd11], %r12;\n  ret;",
    )
}

#[test]
fn devices_say_what_they_are() {
    let _gpu = Gpu::new();
    unsafe {
        let mut value = 0;
        assert_eq!((cuDeviceGetCount(&mut value), value), (0, 2));
        assert_eq!((cuDriverGetVersion(&mut value), value), (0, 13000));
        assert_eq!((cuDeviceGetAttribute(&mut value, 75, 1), value), (0, 9));
        assert_eq!((cuDeviceGetAttribute(&mut value, 10, 0), value), (0, 32));
        assert_eq!((cuDeviceGetAttribute(&mut value, 97, 0), value), (0, 227 << 10));
        assert_eq!(cuDeviceGet(&mut value, 2), 101);
        let mut name = [0; 64];
        assert_eq!(cuDeviceGetName(name.as_mut_ptr(), 64, 0), 0);
        assert_eq!(std::ffi::CStr::from_ptr(name.as_ptr()), c"Weft CUDA double");
        let (mut a, mut b) = ([0; 16], [0; 16]);
        assert_eq!((cuDeviceGetUuid_v2(&mut a, 0), cuDeviceGetUuid_v2(&mut b, 1)), (0, 0));
        assert_ne!(a, b);
        let mut text = std::ptr::null();
        assert_eq!(cuGetErrorName(2, &mut text), 0);
        assert_eq!(std::ffi::CStr::from_ptr(text), c"CUDA_ERROR_OUT_OF_MEMORY");
        assert_eq!(cuGetErrorString(700, &mut text), 0);
        assert_eq!(std::ffi::CStr::from_ptr(text), c"an illegal memory access was encountered");
        assert_eq!(cuGetErrorName(12345, &mut text), 1);
        let mut function: *const c_void = std::ptr::null();
        let mut status = 7;
        assert_eq!(cuGetProcAddress_v2(c"cuMemAlloc".as_ptr(), &mut function, 12000, 0, &mut status), 0);
        assert_eq!((function, status), (cuMemAlloc_v2 as *const c_void, 0));
        assert_eq!(
            cuGetProcAddress_v2(c"cuNothing".as_ptr(), &mut function, 12000, 0, &mut status),
            500
        );
        assert_eq!(status, 1);
    }
}

#[test]
fn contexts_follow_the_thread() {
    let gpu = Gpu::new();
    unsafe {
        let (mut other, mut handle, mut device) = (0, 0, 0);
        assert_eq!(cuDevicePrimaryCtxRetain(&mut other, 1), 0);
        assert_eq!(cuCtxPushCurrent_v2(other), 0);
        assert_eq!((cuCtxGetDevice(&mut device), device), (0, 1));
        assert_eq!((cuCtxPopCurrent_v2(&mut handle), handle), (0, other));
        assert_eq!((cuCtxGetCurrent(&mut handle), handle), (0, gpu.context));
        std::thread::spawn(|| {
            let mut address = 0;
            assert_eq!(cuMemAlloc_v2(&mut address, 4), 201);
        })
        .join()
        .unwrap();
        assert_eq!(cuDevicePrimaryCtxRelease_v2(1), 0);
        assert_eq!(cuCtxSetCurrent(other), 201, "it has ended");
        let (mut flags, mut active) = (0, 7);
        assert_eq!((cuDevicePrimaryCtxGetState(1, &mut flags, &mut active), active), (0, 0));
    }
}

#[test]
fn memory_is_counted_and_runs_out() {
    let _gpu = Gpu::new();
    unsafe {
        let (mut free, mut total, mut a, mut b) = (0, 0, 0, 0);
        assert_eq!(cuMemGetInfo_v2(&mut free, &mut total), 0);
        assert_eq!((free, total), (1 << 30, 1 << 30));
        assert_eq!(cuMemAlloc_v2(&mut a, 700 << 20), 0);
        assert_eq!(cuMemAlloc_v2(&mut b, 400 << 20), 2);
        assert_eq!(cuMemFree_v2(a), 0);
        assert_eq!(cuMemFree_v2(a), 1, "freed twice");
        assert_eq!(cuMemFree_v2(0), 0);
        // What a pool keeps is not free until it is trimmed.
        let mut pool = 0;
        assert_eq!(cuDeviceGetDefaultMemPool(&mut pool, 0), 0);
        let mut keep = u64::MAX;
        assert_eq!(cuMemPoolSetAttribute(pool, 4, (&raw mut keep).cast()), 0);
        assert_eq!(cuMemAllocAsync(&mut a, 700 << 20, 0), 0);
        assert_eq!(cuMemFreeAsync(a, 0), 0);
        assert_eq!(cuStreamSynchronize(0), 0);
        assert_eq!(cuMemAlloc_v2(&mut b, 400 << 20), 2);
        let (mut reserved, mut used) = (0u64, 1u64);
        assert_eq!(cuMemPoolGetAttribute(pool, 5, (&raw mut reserved).cast()), 0);
        assert_eq!(cuMemPoolGetAttribute(pool, 7, (&raw mut used).cast()), 0);
        assert_eq!((reserved, used), (700 << 20, 0));
        assert_eq!(cuMemPoolTrimTo(pool, 0), 0);
        assert_eq!(cuMemAlloc_v2(&mut b, 400 << 20), 0);
        assert_eq!(cuMemFree_v2(b), 0);
        keep = 0;
        assert_eq!(cuMemPoolSetAttribute(pool, 4, (&raw mut keep).cast()), 0);
    }
}

#[test]
fn copies_and_fills() {
    let gpu = Gpu::new();
    let data: Vec<u32> = (0..100).collect();
    let a = gpu.upload(&data);
    let b = gpu.alloc(400);
    unsafe {
        assert_eq!(cuMemcpyDtoD_v2(b, a + 40, 200), 0);
        assert_eq!(cuMemsetD32_v2(b + 200, 9, 25), 0);
        assert_eq!(cuMemsetD16_v2(b + 300, 0x0102, 50), 0);
        let got: Vec<u32> = gpu.download(b, 100);
        assert!(
            (0..50).all(|i| got[i] == i as u32 + 10) && got[50..75].iter().all(|v| *v == 9) && got[75..].iter().all(|v| *v == 0x0102_0102)
        );
        assert_eq!(cuMemcpyDtoD_v2(b, a, 404), 1, "beyond the end");
        assert_eq!(
            cuMemcpyHtoD_v2(data.as_ptr() as u64, data.as_ptr().cast(), 4),
            1,
            "no device address"
        );
        assert_eq!(cuMemcpyHtoD_v2(a, b as *const c_void, 400), 0, "a device address the driver knows");
        let mut host = 0;
        assert_eq!(cuMemHostAlloc(&mut host, 400, 2), 0);
        assert_eq!(cuMemcpyDtoHAsync_v2(host as *mut c_void, a, 400, 0), 0);
        assert_eq!(cuStreamSynchronize(0), 0);
        let pinned = std::slice::from_raw_parts(host as *const u32, 100);
        assert_eq!(pinned[..50], got[..50]);
        let mut device = 0;
        assert_eq!(
            (cuMemHostGetDevicePointer_v2(&mut device, host as *mut c_void, 0), device),
            (0, host)
        );
        assert_eq!(cuMemFreeHost(host as *mut c_void), 0);
        let (mut kind, mut ordinal, mut start, mut base, mut size) = (0u32, 0i32, 0u64, 0, 0);
        assert_eq!(cuPointerGetAttribute((&raw mut kind).cast(), 2, a + 8), 0);
        assert_eq!(cuPointerGetAttribute((&raw mut ordinal).cast(), 9, a + 8), 0);
        assert_eq!(cuPointerGetAttribute((&raw mut start).cast(), 11, a + 8), 0);
        assert_eq!((kind, ordinal, start), (2, 0, a));
        assert_eq!(cuPointerGetAttribute((&raw mut kind).cast(), 2, data.as_ptr() as u64), 1);
        assert_eq!((cuMemGetAddressRange_v2(&mut base, &mut size, a + 8), base, size), (0, a, 400));
    }
}

#[test]
fn registered_memory_is_reached_by_kernels() {
    let gpu = Gpu::new();
    let k = gpu.kernel(&adder());
    let mut data = vec![5u32; 64];
    let at = data.as_mut_ptr();
    unsafe {
        assert_eq!(cuMemHostRegister_v2(at.cast(), 256, 0), 0);
        assert_eq!(cuMemHostRegister_v2(at.cast(), 256, 0), 712);
        let mut seen = 0;
        assert_eq!(cuMemHostGetDevicePointer_v2(&mut seen, at.cast(), 0), 0);
        gpu.run(k, 1, 64, &[seen, 3]);
        assert_eq!(cuMemHostUnregister(at.cast()), 0);
        assert_eq!(cuMemHostUnregister(at.cast()), 713);
    }
    assert!(data.iter().all(|v| *v == 8));
}

#[test]
fn streams_keep_their_order_and_events_order_streams() {
    let gpu = Gpu::new();
    let k = gpu.kernel(&adder());
    let data = gpu.upload(&[0u32; 64]);
    let (a, b) = (gpu.stream(1), gpu.stream(1));
    let (before, after) = (gpu.event(), gpu.event());
    let mut out = vec![0u32; 64];
    unsafe {
        assert_eq!(cuStreamSynchronize(0), 0);
        assert_eq!(cuEventRecord(before, a), 0);
        for _ in 0..10 {
            assert_eq!(gpu.launch_on(a, k, [1, 1, 1], [64, 1, 1], 0, &[data, 1]), 0);
        }
        assert_eq!(cuEventRecord(after, a), 0);
        assert_eq!(cuStreamWaitEvent(b, after, 0), 0);
        assert_eq!(cuMemcpyDtoHAsync_v2(out.as_mut_ptr().cast(), data, 256, b), 0);
        assert_eq!(cuStreamSynchronize(b), 0);
        assert!(out.iter().all(|v| *v == 10));
        assert_eq!(cuEventQuery(after), 0);
        let mut milliseconds = -1.0;
        assert_eq!(cuEventElapsedTime(&mut milliseconds, before, after), 0);
        assert!(milliseconds > 0.0);
        let untimed = &mut 0;
        assert_eq!(cuEventCreate(untimed, 2), 0);
        assert_eq!(cuEventElapsedTime(&mut milliseconds, before, *untimed), 400);
        assert_eq!(cuStreamDestroy_v2(a), 0);
        assert_eq!(cuStreamSynchronize(a), 400);
    }
}

#[test]
fn the_legacy_stream_waits_for_blocking_ones() {
    let gpu = Gpu::new();
    let k = gpu.kernel(&adder());
    let data = gpu.upload(&[0u32; 64]);
    let stream = gpu.stream(0);
    for _ in 0..5 {
        assert_eq!(gpu.launch_on(stream, k, [1, 1, 1], [64, 1, 1], 0, &[data, 1]), 0);
        assert_eq!(gpu.launch_on(0, k, [1, 1, 1], [64, 1, 1], 0, &[data, 10]), 0);
        assert_eq!(gpu.launch_on(2, k, [1, 1, 1], [64, 1, 1], 0, &[data, 100]), 0);
        // As if by the legacy stream, which comes after all of them.
        assert_eq!(gpu.launch_on(1, k, [1, 1, 1], [64, 1, 1], 0, &[data, 1000]), 0);
    }
    assert!(gpu.download::<u32>(data, 64).iter().all(|v| *v == 5555));
}

static CALLED: AtomicU32 = AtomicU32::new(0);

unsafe extern "C" fn count(data: *mut c_void) {
    CALLED.fetch_add(data as u32, Ordering::SeqCst);
}

#[test]
fn host_functions_run_in_order() {
    let gpu = Gpu::new();
    let stream = gpu.stream(0);
    CALLED.store(0, Ordering::SeqCst);
    unsafe {
        assert_eq!(cuLaunchHostFunc(stream, Some(count), 5 as *mut c_void), 0);
        assert_eq!(cuLaunchHostFunc(stream, Some(count), 6 as *mut c_void), 0);
        assert_eq!(cuStreamSynchronize(stream), 0);
    }
    assert_eq!(CALLED.load(Ordering::SeqCst), 11);
}

#[test]
fn graphs_are_captured_over_streams_and_replayed() {
    let gpu = Gpu::new();
    let k = gpu.kernel(&adder());
    let (x, y) = (gpu.upload(&[0u32; 64]), gpu.upload(&[0u32; 64]));
    let (a, b) = (gpu.stream(1), gpu.stream(1));
    let (fork, join) = (gpu.event(), gpu.event());
    unsafe {
        let mut status = 9;
        assert_eq!(cuStreamBeginCapture_v2(a, 1), 0);
        assert_eq!((cuStreamIsCapturing(a, &mut status), status), (0, 1));
        assert_eq!(gpu.launch_on(a, k, [1, 1, 1], [64, 1, 1], 0, &[x, 1]), 0);
        assert_eq!(cuEventRecord(fork, a), 0);
        assert_eq!(cuStreamWaitEvent(b, fork, 0), 0);
        assert_eq!(gpu.launch_on(b, k, [1, 1, 1], [64, 1, 1], 0, &[y, 7]), 0);
        assert_eq!(cuEventRecord(join, b), 0);
        assert_eq!(gpu.launch_on(a, k, [1, 1, 1], [64, 1, 1], 0, &[x, 2]), 0);
        assert_eq!(cuStreamWaitEvent(a, join, 0), 0);
        assert_eq!(cuMemcpyDtoDAsync_v2(x, y, 4, a), 0);
        let mut graph = 0;
        assert_eq!(cuStreamEndCapture(a, &mut graph), 0);
        let (mut exec, mut nodes) = (0, 0);
        assert_eq!((cuGraphGetNodes(graph, std::ptr::null_mut(), &mut nodes), nodes), (0, 4));
        assert_eq!(cuGraphInstantiateWithFlags(&mut exec, graph, 0), 0);
        assert_eq!(gpu.download::<u32>(x, 64), [0; 64], "nothing has run yet");
        for _ in 0..3 {
            assert_eq!(cuGraphLaunch(exec, a), 0);
        }
        assert_eq!(cuStreamSynchronize(a), 0);
        let got: Vec<u32> = gpu.download(x, 64);
        assert_eq!((got[0], got[1]), (21, 9));
        assert_eq!(cuGraphExecDestroy(exec), 0);
        assert_eq!(cuGraphDestroy(graph), 0);
        assert_eq!(cuGraphLaunch(exec, a), 400);
    }
}

#[test]
fn captures_that_go_wrong() {
    let gpu = Gpu::new();
    let k = gpu.kernel(&adder());
    let x = gpu.upload(&[0u32; 64]);
    let (a, b) = (gpu.stream(0), gpu.stream(0));
    let fork = gpu.event();
    let mut graph = 0;
    unsafe {
        assert_eq!(cuStreamEndCapture(a, &mut graph), 401);
        assert_eq!(cuStreamBeginCapture_v2(0, 0), 900);
        assert_eq!(cuStreamBeginCapture_v2(a, 0), 0);
        assert_eq!(cuStreamSynchronize(a), 900);
        assert_eq!(gpu.launch_on(a, k, [1, 1, 1], [64, 1, 1], 0, &[x, 1]), 901);
        assert_eq!(cuStreamEndCapture(a, &mut graph), 901);
        // Work of a stream that joined but did not come back.
        assert_eq!(cuStreamBeginCapture_v2(a, 0), 0);
        assert_eq!(cuEventRecord(fork, a), 0);
        assert_eq!(cuStreamWaitEvent(b, fork, 0), 0);
        assert_eq!(gpu.launch_on(b, k, [1, 1, 1], [64, 1, 1], 0, &[x, 1]), 0);
        assert_eq!(cuStreamEndCapture(b, &mut graph), 903);
        assert_eq!(cuStreamEndCapture(a, &mut graph), 904);
        // The legacy stream would have to wait for a capture.
        assert_eq!(cuStreamBeginCapture_v2(a, 0), 0);
        assert_eq!(gpu.launch(k, 1, 64, &[x, 1]), 906);
        assert_eq!(cuStreamEndCapture(a, &mut graph), 901);
        assert_eq!(cuCtxSynchronize(), 0);
    }
}

#[test]
fn peers() {
    let gpu = Gpu::new();
    let k = gpu.kernel(&adder());
    unsafe {
        let (mut other, mut can, mut there) = (0, 0, 0);
        assert_eq!((cuDeviceCanAccessPeer(&mut can, 0, 1), can), (0, 1));
        assert_eq!(cuDevicePrimaryCtxRetain(&mut other, 1), 0);
        assert_eq!(cuCtxSetCurrent(other), 0);
        assert_eq!(cuMemAlloc_v2(&mut there, 256), 0);
        assert_eq!(cuMemsetD32_v2(there, 1, 64), 0);
        assert_eq!(cuCtxSetCurrent(gpu.context), 0);
        let here = gpu.alloc(256);
        assert_eq!(cuMemcpyPeerAsync(here, gpu.context, there, other, 256, 0), 0);
        gpu.run(k, 1, 64, &[here, 1]);
        assert_eq!(gpu.download::<u32>(here, 64), [2; 64]);
        assert_eq!(cuCtxEnablePeerAccess(other, 0), 0);
        assert_eq!(cuCtxEnablePeerAccess(other, 0), 704);
        gpu.run(k, 1, 64, &[there, 5]);
        assert_eq!(cuCtxDisablePeerAccess(other), 0);
        let (code, report) = gpu.fails(k, 1, 64, &[there, 5]);
        assert!(code == 700 && report.contains("no peer access"), "{report}");
        assert_eq!(cuDevicePrimaryCtxRelease_v2(1), 0);
    }
}

#[test]
fn calls_fail_on_request() {
    let gpu = Gpu::new();
    let mut address = 0;
    gpu.fail("cuMemAlloc_v2=2@2,cuStreamCreate=999,cuCtxSynchronize=719@2+");
    unsafe {
        assert_eq!([0; 3].map(|_: i32| cuMemAlloc_v2(&mut address, 64)), [0, 2, 0]);
        let mut stream = 0;
        assert_eq!([0; 2].map(|_: i32| cuStreamCreate(&mut stream, 0)), [999; 2]);
        assert_eq!([0; 3].map(|_: i32| cuCtxSynchronize()), [0, 719, 719]);
        gpu.fail("");
        assert_eq!(cuStreamCreate(&mut stream, 0), 0);
    }
}

#[test]
fn occupancy_and_attributes() {
    let gpu = Gpu::new();
    let k = gpu.kernel(&kernel(1, "  .shared .align 4 .b8 s[1000];\n  ret;"));
    unsafe {
        let (mut value, mut grid, mut block) = (0, 0, 0);
        assert_eq!((cuFuncGetAttribute(&mut value, 0, k), value), (0, 1024));
        assert_eq!((cuFuncGetAttribute(&mut value, 1, k), value), (0, 1000));
        assert_eq!((cuFuncGetAttribute(&mut value, 5, k), value), (0, 80));
        assert_eq!((cuFuncGetAttribute(&mut value, 6, k), value), (0, 90));
        assert_eq!(
            (cuOccupancyMaxActiveBlocksPerMultiprocessor(&mut value, k, 128, 0), value > 0),
            (0, true)
        );
        assert_eq!(
            (cuOccupancyMaxActiveBlocksPerMultiprocessor(&mut value, k, 128, 200 << 10), value),
            (0, 1)
        );
        assert_eq!(cuOccupancyMaxPotentialBlockSize(&mut grid, &mut block, k, None, 0, 0), 0);
        assert!((32..=1024).contains(&block) && block % 32 == 0 && grid > 0);
    }
}
