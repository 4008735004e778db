// Calls of the C interface, with pointers to locals.
#![allow(unsafe_code, clippy::undocumented_unsafe_blocks)]
//! Whole kernels as LLVM writes them, from load to result.

mod support;

use support::*;

#[test]
fn saxpy() {
    let gpu = Gpu::new();
    let k = gpu.kernel(&kernel(
        2,
        "  setp.ge.s32 %p1, %r0, 1000;
           @%p1 bra $L_end;
           mul.wide.s32 %rd10, %r0, 4;
           cvta.to.global.u64 %rd0, %rd0;
           add.s64 %rd11, %rd0, %rd10;
           add.s64 %rd12, %rd1, %rd10;
           ld.global.f32 %r10, [%rd11];
           ld.global.f32 %r11, [%rd12];
           fma.rn.f32 %r12, %r10, 0f40000000, %r11;
           st.global.f32 [%rd12], %r12;
         $L_end:
           ret;",
    ));
    let x: Vec<f32> = (0..1000).map(|i| i as f32).collect();
    let y: Vec<f32> = (0..1000).map(|i| 0.5 * i as f32).collect();
    let (dx, dy) = (gpu.upload(&x), gpu.upload(&y));
    gpu.run(k, 8, 128, &[dx, dy]);
    let got: Vec<f32> = gpu.download(dy, 1000);
    assert!(got.iter().enumerate().all(|(i, v)| *v == 2.5 * i as f32), "{got:?}");
}

#[test]
fn a_transpose_through_shared_memory() {
    let gpu = Gpu::new();
    let k = gpu.kernel(&kernel(
        2,
        "  .shared .align 4 .b8 tile[4224];
           mov.u32 %r4, %tid.y;
           mad.lo.s32 %r5, %r4, 32, %r3;
           mul.wide.u32 %rd2, %r5, 4;
           add.s64 %rd3, %rd0, %rd2;
           ld.global.b32 %r6, [%rd3];
           mov.b64 %rd4, tile;
           mad.lo.s32 %r7, %r4, 33, %r3;
           mul.wide.u32 %rd5, %r7, 4;
           add.s64 %rd6, %rd4, %rd5;
           st.shared.b32 [%rd6], %r6;
           bar.sync 0;
           mad.lo.s32 %r8, %r3, 33, %r4;
           mul.wide.u32 %rd7, %r8, 4;
           add.s64 %rd8, %rd4, %rd7;
           ld.shared.b32 %r9, [%rd8];
           add.s64 %rd9, %rd1, %rd2;
           st.global.b32 [%rd9], %r9;
           ret;",
    ));
    let x: Vec<u32> = (0..1024).collect();
    let (dx, dy) = (gpu.upload(&x), gpu.alloc(4096));
    assert_eq!(gpu.launch_on(0, k, [1, 1, 1], [32, 32, 1], 0, &[dx, dy]), 0);
    assert_eq!(unsafe { cuCtxSynchronize() }, 0, "{}", gpu.report());
    let got: Vec<u32> = gpu.download(dy, 1024);
    assert!((0..1024).all(|i| got[i] == (i as u32 % 32) * 32 + i as u32 / 32), "{got:?}");
}

#[test]
fn out_of_bounds_is_explained_and_sticks() {
    let gpu = Gpu::new();
    let k = gpu.kernel(&kernel(
        1,
        "  mul.wide.u32 %rd2, %r0, 4;\n  add.s64 %rd3, %rd0, %rd2;\n  st.global.b32 [%rd3], %r0;\n  ret;",
    ));
    let d = gpu.alloc(4 * 40);
    let (code, report) = gpu.fails(k, 1, 64, &[d]);
    assert_eq!(code, 700);
    for part in [
        "kernel k",
        "PTX line 17",
        "thread (40, 0, 0)",
        "block (0, 0, 0)",
        "write of 4 bytes",
        "0 bytes after device memory of 160 bytes",
    ] {
        assert!(report.contains(part), "{part}: {report}");
    }
    let mut address = 0;
    assert_eq!(unsafe { cuMemAlloc_v2(&mut address, 4) }, 700);
}

/// What a block declares hides the same names outside until it ends: registers of other types too, as LLVM's own blocks have them.
#[test]
fn names_of_nested_blocks() {
    let gpu = Gpu::new();
    let k = gpu.kernel(&kernel(
        1,
        "  .reg .b32 tmp;
           mov.b32 tmp, 7;
           mov.b32 %r5, 65543;
           { .reg .b16 tmp; .reg .b16 low; mov.b32 {tmp, low}, %r5; cvt.u32.u16 %r6, tmp; bra $L_a; mov.b32 %r6, 0; $L_a: }
           { .reg .b32 tmp; mov.b64 {%r7, tmp}, %rd0; mov.b32 tmp, 9; bra $L_a; mov.b32 %r6, 0; $L_a: }
           add.s32 %r6, %r6, tmp;
           st.global.b32 [%rd0], %r6;
           ret;",
    ));
    let out = gpu.alloc(4);
    gpu.run(k, 1, 1, &[out]);
    assert_eq!(gpu.download::<u32>(out, 1), [14]);
}
