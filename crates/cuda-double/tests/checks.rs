// Calls of the C interface, with pointers to locals.
#![allow(unsafe_code, clippy::undocumented_unsafe_blocks)]
//! What the double finds wrong with kernels and modules, and how it says so.

mod support;

use support::*;

/// The code and the report of a kernel with one pointer to 256 bytes.
fn outcome(body: &str, grid: u32, block: u32) -> (u32, String) {
    let gpu = Gpu::new();
    let k = gpu.kernel(&kernel(1, body));
    let out = gpu.alloc(256);
    gpu.fails(k, grid, block, &[out])
}

#[track_caller]
fn expect((code, report): (u32, String), want: u32, parts: &[&str]) {
    assert_eq!(code, want, "{report}");
    for part in parts {
        assert!(report.contains(part), "{part:?} is not in: {report}");
    }
}

const SHARED: &str = "  .shared .align 8 .b8 s[256];\n  mov.b64 %rd10, s;\n  mul.wide.u32 %rd11, %r3, 4;\n  add.s64 %rd11, %rd10, %rd11;\n";

#[test]
fn addresses() {
    expect(
        outcome("  ld.global.u32 %r10, [%rd0+2];\n  ret;", 1, 1),
        716,
        &["read of 4 bytes", "multiple of 4"],
    );
    expect(
        outcome("  st.global.v4.u32 [%rd0+8], {%r0, %r0, %r0, %r0};\n  ret;", 1, 1),
        716,
        &["16 bytes"],
    );
    expect(
        outcome("  ld.global.u64 %rd10, [%rd0+256];\n  ret;", 1, 1),
        700,
        &["out of bounds", "256 bytes at"],
    );
    expect(outcome("  ld.global.u64 %rd10, [%rd0+-8];\n  ret;", 1, 1), 700, &["8 bytes before"]);
    expect(
        outcome("  mov.u64 %rd10, 0;\n  atom.global.add.u32 %r10, [%rd10], 1;\n  ret;", 1, 1),
        700,
        &["atomic of 4 bytes at 0x0"],
    );
    expect(
        outcome(&format!("{SHARED}  ld.shared.u32 %r10, [%rd10+100000];\n  ret;"), 1, 1),
        700,
        &["offset 100000 of shared memory"],
    );
    expect(
        outcome(
            "  .local .align 4 .b8 l[16];\n  mov.b64 %rd10, l;\n  ld.local.u32 %r10, [%rd10+16];\n  ret;",
            1,
            1,
        ),
        700,
        &["local memory"],
    );
    expect(outcome("  trap;", 1, 1), 719, &["trap"]);
}

#[test]
fn host_pointers_on_the_device_and_freed_memory() {
    let gpu = Gpu::new();
    let k = gpu.kernel(&kernel(1, "  ld.global.u32 %r10, [%rd0];\n  ret;"));
    let local = 5u32;
    expect(gpu.fails(k, 1, 1, &[&raw const local as u64]), 700, &["a host pointer?"]);
    drop(gpu);
    let gpu = Gpu::new();
    let k = gpu.kernel(&kernel(1, "  ld.global.u32 %r10, [%rd0];\n  ret;"));
    let memory = gpu.alloc(64);
    assert_eq!(unsafe { cuMemFree_v2(memory) }, 0);
    expect(gpu.fails(k, 1, 1, &[memory]), 700, &["use after free of device memory of 64 bytes"]);
}

#[test]
fn races_in_shared_memory() {
    let read_neighbour =
        "  xor.b32 %r10, %r3, 32;\n  mul.wide.u32 %rd12, %r10, 4;\n  add.s64 %rd12, %rd10, %rd12;\n  ld.shared.u32 %r11, [%rd12];\n";
    let write = "  st.shared.u32 [%rd11], %r3;\n";
    expect(
        outcome(&format!("{SHARED}{write}{read_neighbour}  ret;"), 1, 64),
        719,
        &["data race in shared memory", "thread (32, 0, 0)", "has read"],
    );
    expect(
        outcome(&format!("{SHARED}{write}  bar.sync 0;\n{read_neighbour}{write}  ret;"), 1, 64),
        719,
        &["read of 4 bytes", "thread (0, 0, 0) has written"],
    );
    expect(
        outcome(
            &format!("{SHARED}{write}  bar.sync 0;\n{read_neighbour}  bar.sync 0;\n{write}  ret;"),
            1,
            64,
        ),
        0,
        &[],
    );
    // All threads write the same: no harm. Different values: a race, even within one instruction.
    expect(outcome(&format!("{SHARED}  st.shared.u32 [%rd10], 7;\n  ret;"), 1, 64), 0, &[]);
    expect(
        outcome(&format!("{SHARED}  st.shared.u32 [%rd10], %r3;\n  ret;"), 1, 64),
        719,
        &["has written"],
    );
    expect(
        outcome(&format!("{SHARED}  red.shared.add.u32 [%rd10], %r3;\n  ret;"), 1, 64),
        0,
        &[],
    );
    expect(
        outcome(
            &format!("{SHARED}  red.shared.add.u32 [%rd10], %r3;\n  ld.shared.u32 %r10, [%rd10];\n  ret;"),
            1,
            64,
        ),
        719,
        &["data race"],
    );
    // A shuffle does not order memory; the warp's own barrier does.
    let across =
        "  xor.b32 %r10, %r3, 1;\n  mul.wide.u32 %rd12, %r10, 4;\n  add.s64 %rd12, %rd10, %rd12;\n  ld.shared.u32 %r11, [%rd12];\n  ret;";
    expect(outcome(&format!("{SHARED}{write}  bar.warp.sync -1;\n{across}"), 1, 32), 0, &[]);
    expect(outcome(&format!("{SHARED}{write}{across}"), 1, 32), 719, &["data race"]);
}

#[test]
fn barriers_that_do_not_fit() {
    let split = "  setp.lt.u32 %p1, %r3, 40;\n  @%p1 bra $L_a;\n  bar.sync 0;\n  ret;\n$L_a:\n  bar.sync 0;\n  ret;";
    expect(outcome(split, 1, 64), 719, &["divergent barrier", "lines 20 and 17"]);
    let by_warp = split.replace("40", "32");
    expect(outcome(&by_warp, 1, 64), 719, &["divergent barrier", "warp 0", "warp 1"]);
    let missing = "  setp.lt.u32 %p1, %r3, 32;\n  @%p1 bra $L_a;\n  barrier.sync 1, 64;\n$L_a:\n  barrier.sync 0;\n  ret;";
    expect(
        outcome(missing, 1, 64),
        719,
        &["deadlock", "warp 0 lanes 0xffffffff wait at a barrier", "warp 1"],
    );
    expect(
        outcome("  mov.u32 %r10, 40;\n  barrier.sync 0, %r10;\n  ret;", 1, 64),
        719,
        &["multiple of 32"],
    );
    expect(
        outcome("  mov.u32 %r10, 16;\n  barrier.sync %r10;\n  ret;", 1, 64),
        719,
        &["no barrier 16"],
    );
    let alone = "  setp.eq.u32 %p1, %r3, 3;\n  @%p1 bra $L_a;\n  vote.sync.any.pred %p2, %p1, -1;\n  ret;\n$L_a:\n  shfl.sync.idx.b32 %r10, %r0, 0, 31, -1;\n  ret;";
    expect(outcome(alone, 1, 32), 719, &["deadlock", "member mask"]);
    expect(
        outcome("  vote.sync.any.pred %p2, 1, 1;\n  ret;", 1, 2),
        719,
        &["lane 1 is not in its member mask"],
    );
}

#[test]
fn modules_that_are_refused() {
    let gpu = Gpu::new();
    let refused = |text: &str| gpu.try_load(text).unwrap_err();
    let bad = |body: &str| refused(&kernel(0, body));
    let contains = |(code, log): (u32, String), want: u32, part: &str| assert!(code == want && log.contains(part), "{code} {log}");
    contains(bad("  frobnicate.s32 %r1, %r2;\n  ret;"), 218, "line 14");
    contains(bad("  add.frob.s32 %r1, %r2, %r3;\n  ret;"), 218, "no such form");
    contains(bad("  add.s32 %r1, %r2;\n  ret;"), 218, "expected 3 operands");
    contains(bad("  add.s32 %q1, %r2, 3;\n  ret;"), 218, "%q1");
    contains(bad("  bra $L_nowhere;"), 218, "$L_nowhere");
    contains(bad("  wgmma.fence.sync.aligned;\n  ret;"), 218, "wgmma");
    contains(bad("  cvt.f32.s32 %r1, %r2;\n  ret;"), 218, "no such form");
    contains(refused(&HEADER.replace("8.0", "9.3")), 222, "Unsupported .version 9.3");
    contains(refused(&HEADER.replace("sm_90", "sm_120")), 209, "sm_120");
    contains(
        refused(&format!("{HEADER}.const .align 4 .b8 big[70000];")),
        218,
        "too much global constant data",
    );
    contains(
        refused(&format!("{HEADER}.extern .func f();\n.visible .entry k() {{ call f; ret; }}")),
        218,
        "unresolved extern function f",
    );
    let mut module = 0;
    assert_eq!(unsafe { cuModuleLoadData(&mut module, c"\x7fELF...".as_ptr().cast()) }, 209);
    let mut function = 0;
    let loaded = gpu.load(&kernel(0, "  ret;"));
    assert_eq!(unsafe { cuModuleGetFunction(&mut function, loaded, c"missing".as_ptr()) }, 500);
}

#[test]
fn launches_that_are_refused() {
    let gpu = Gpu::new();
    let k = gpu.kernel(&kernel(0, "  ret;"));
    let launch = |grid: [u32; 3], block: [u32; 3], shared: u32| gpu.launch_on(0, k, grid, block, shared, &[]);
    assert_eq!(launch([0, 1, 1], [1, 1, 1], 0), 1);
    assert_eq!(launch([1, 65536, 1], [1, 1, 1], 0), 1);
    assert_eq!(launch([1, 1, 1], [1025, 1, 1], 0), 1);
    assert_eq!(launch([1, 1, 1], [32, 32, 2], 0), 1);
    assert_eq!(launch([1, 1, 1], [1, 1, 65], 0), 1);
    assert_eq!(launch([1, 1, 1], [1, 1, 1], 49153), 1);
    assert_eq!(launch([1, 1, 1], [32, 32, 1], 49152), 0);
    let small = gpu.kernel(&kernel(0, "  ret;").replace("k()", "k() .maxntid 64"));
    assert_eq!(gpu.launch(small, 1, 65, &[]), 1);
    let fixed = gpu.kernel(&kernel(0, "  ret;").replace("k()", "k() .reqntid 64"));
    assert_eq!(gpu.launch(fixed, 1, 32, &[]), 1);
    assert_eq!(gpu.launch(12345, 1, 32, &[]), 400);
}

#[test]
fn errors_stay_until_the_context_is_reset() {
    let gpu = Gpu::new();
    let k = gpu.kernel(&kernel(1, "  st.global.u32 [%rd0], 1;\n  ret;"));
    expect(gpu.fails(k, 1, 1, &[0]), 700, &[]);
    assert_eq!(unsafe { cuCtxSynchronize() }, 700);
    assert_eq!(gpu.launch(k, 1, 1, &[0]), 700);
    unsafe {
        assert_eq!(cuDevicePrimaryCtxReset_v2(0), 0);
        assert_eq!(cuCtxSynchronize(), 0);
    }
    let k = gpu.kernel(&kernel(1, "  st.global.u32 [%rd0], 1;\n  ret;"));
    let out = gpu.alloc(4);
    gpu.run(k, 1, 1, &[out]);
    assert_eq!(gpu.download::<u32>(out, 1), [1]);
}

/// What `ptxas` refuses, so that the driver does: see `tests/foreign/forms.py` for all forms of instructions.
#[test]
fn modules_that_the_assembler_refuses() {
    let gpu = Gpu::new();
    let refused = |text: &str, part: &str| {
        let (code, log) = gpu.try_load(text).unwrap_err();
        assert!(code == 218 && log.contains(part), "{text}\n{code} {log}");
    };
    let bad = |body: &str, part: &str| refused(&kernel(0, &format!("{body}\n  ret;")), part);
    bad("$L_a:\n  add.s32 %r1, %r2, %r3;\n$L_a:", "duplicate definition of label");
    bad("  .reg .b32 tmp;\n  .reg .b16 tmp;", "duplicate definition of variable tmp");
    bad("  bra $L_in;\n  { $L_in: add.s32 %r1, %r2, %r3; }", "unknown label $L_in");
    bad("  { .reg .b32 tmp;\n  mov.b32 tmp, 0; }\n  mov.b32 %r1, tmp;", "tmp");
    bad("  bar.sync 16;", "no barrier 16");
    bad("  bar.sync 1, 33;", "multiple of 32");
    bad("  fence.acq_rel;", "no such form");
    bad("  add.ftz.f64 %rd1, %rd2, %rd3;", "no such form");
    bad("  add.sat.ftz.f32 %r1, %r2, %r3;", "no such form");
    bad("  min.b32 %r1, %r2, %r3;", "no such form");
    bad("  cvt.sat.s64.s32 %rd1, %r2;", "illegal .sat");
    bad("  add.s32 %r1, %rd2, %r3;", "arguments mismatch");
    bad("  add.s64 %rd1, %rd2, %r3;", "arguments mismatch");
    bad("  ld.global.u64 %r1, [%rd2];", "arguments mismatch");
    bad("  .reg .f32 %f<3>;\n  add.s32 %r1, %f1, %r3;", "arguments mismatch");
    bad("  .shared .align 4 .b8 big[49153];", "too much shared data");
    assert!(gpu.try_load(&kernel(0, "  .shared .align 4 .b8 big[49152];\n  ret;")).is_ok());
    // Forms that came later than the module's version or target.
    let of = |version: &str, arch: &str, body: &str| {
        let text = kernel(0, &format!("{body}\n  ret;"));
        text.replace("8.0", version).replace("sm_90", arch)
    };
    refused(&of("6.3", "sm_75", "  tanh.approx.f32 %r1, %r2;"), "PTX 7.0");
    refused(&of("8.0", "sm_75", "  redux.sync.add.u32 %r1, %r2, -1;"), "sm_80");
    refused(&of("8.0", "sm_80", "  add.bf16 %h1, %h2, %h3;"), "sm_90");
    assert!(gpu.try_load(&of("8.0", "sm_90", "  add.bf16 %h1, %h2, %h3;")).is_ok());
    // Parameters: 4,352 bytes before PTX 8.1, 32,764 from then on.
    let with = |version: &str, bytes: u32| format!("{HEADER}.visible .entry k(.param .b8 p[{bytes}]) {{ ret; }}").replace("8.0", version);
    assert!(gpu.try_load(&with("8.0", 4352)).is_ok());
    refused(&with("8.0", 4353), "parameter space overflowed");
    assert!(gpu.try_load(&with("8.1", 32764)).is_ok());
    refused(&with("8.1", 32765), "parameter space overflowed");
}

/// Sums of singles in global memory take subnormals for zeros, those in shared memory do not.
#[test]
fn atomic_sums_of_singles_flush_in_global_memory() {
    let gpu = Gpu::new();
    let tiny = f32::from_bits(1).to_bits();
    let body = "  .shared .align 4 .b8 s[4];\n  mov.b64 %rd2, s;\n  ld.global.b32 %r4, [%rd0];\n  st.shared.b32 [%rd2], %r4;\n\
                \x20 red.shared.add.f32 [%rd2], 0f00000001;\n  red.global.add.f32 [%rd0], 0f00000001;\n  ld.shared.b32 %r5, [%rd2];\n\
                \x20 st.global.b32 [%rd0+4], %r5;\n  ret;";
    let k = gpu.kernel(&kernel(1, body));
    let cells = gpu.upload(&[tiny, 0u32]);
    gpu.run(k, 1, 1, &[cells]);
    assert_eq!(gpu.download::<u32>(cells, 2), [0, 2]);
}
