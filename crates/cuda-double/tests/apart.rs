// Calls of the C interface, with pointers to locals.
#![allow(unsafe_code, clippy::undocumented_unsafe_blocks)]
//! Host memory that devices have another address for: the driver gives it, the host's own is refused in kernels.

mod support;

use support::*;

const ADD_ONE: &str = "  ld.global.u32 %r10, [%rd0];\n  add.u32 %r10, %r10, 1;\n  st.global.u32 [%rd0], %r10;\n  ret;";

fn on_device(host: u64) -> u64 {
    let mut address = 0;
    assert_eq!(unsafe { cuMemHostGetDevicePointer_v2(&mut address, host as *mut _, 0) }, 0);
    address
}

fn attribute(number: u32, address: u64) -> u64 {
    let mut value = 0u64;
    assert_eq!(unsafe { cuPointerGetAttribute((&raw mut value).cast(), number, address) }, 0);
    value
}

#[test]
fn write_combined_and_registered_memory_have_two_addresses() {
    let gpu = Gpu::new();
    let k = gpu.kernel(&kernel(1, ADD_ONE));
    let (mut combined, mut registered) = (0u64, vec![7u32; 1024]);
    unsafe {
        assert_eq!(cuMemHostAlloc(&mut combined, 4096, 4), 0);
        assert_eq!(cuMemHostRegister_v2(registered.as_mut_ptr().cast(), 4096, 0), 0);
        (combined as *mut u32).write(7);
    }
    for host in [combined, registered.as_ptr() as u64] {
        let device = on_device(host);
        assert_ne!(device, host);
        assert_eq!(on_device(host + 8), device + 8);
        assert_eq!((attribute(3, host), attribute(4, device)), (device, host));
        gpu.run(k, 1, 1, &[device]);
        assert_eq!(unsafe { (host as *const u32).read_volatile() }, 8);
        // Copies know both.
        assert_eq!(gpu.download::<u32>(device, 1), [8]);
    }
    let (code, report) = gpu.fails(k, 1, 1, &[combined]);
    assert!(code == 700 && report.contains("another address"), "{code} {report}");
}

#[test]
fn plain_pinned_memory_has_one_address_and_freed_memory_none() {
    let gpu = Gpu::new();
    let k = gpu.kernel(&kernel(1, ADD_ONE));
    let (mut plain, mut combined) = (0u64, 0u64);
    unsafe {
        assert_eq!(cuMemHostAlloc(&mut plain, 64, 2), 0);
        assert_eq!(cuMemHostAlloc(&mut combined, 64, 4), 0);
        (plain as *mut u32).write(1);
    }
    assert_eq!(on_device(plain), plain);
    gpu.run(k, 1, 1, &[plain]);
    let device = on_device(combined);
    assert_eq!(unsafe { cuMemFreeHost(combined as *mut _) }, 0);
    let (code, report) = gpu.fails(k, 1, 1, &[device]);
    assert!(code == 700 && report.contains("use after free"), "{code} {report}");
}
