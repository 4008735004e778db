// Calls of the C interface, with pointers to locals.
#![allow(unsafe_code, clippy::undocumented_unsafe_blocks)]
//! What threads do together: divergence, warps, barriers, atomics, grids.

mod support;

use support::*;

/// A kernel that leaves `%r40` of each thread in its place of the one array.
fn each(body: &str) -> String {
    kernel(
        1,
        &format!("{body}\n$L_out:\n  mul.wide.u32 %rd50, %r0, 4;\n  add.s64 %rd51, %rd0, %rd50;\n  st.global.u32 [%rd51], %r40;\n  ret;"),
    )
}

fn results(body: &str, grid: u32, block: u32) -> Vec<u32> {
    let gpu = Gpu::new();
    let k = gpu.kernel(&each(body));
    let count = (grid * block) as usize;
    let out = gpu.alloc(4 * count);
    gpu.run(k, grid, block, &[out]);
    gpu.download(out, count)
}

#[test]
fn branches_and_loops_that_differ_by_lane() {
    // The number of Collatz steps.
    let got = results(
        "  add.u32 %r10, %r0, 1;\n  mov.u32 %r40, 0;
         $L_loop:
           setp.eq.u32 %p1, %r10, 1;
           @%p1 bra $L_out;
           and.b32 %r11, %r10, 1;
           setp.eq.u32 %p2, %r11, 1;
           @%p2 bra $L_odd;
           shr.u32 %r10, %r10, 1;
           bra.uni $L_next;
         $L_odd:
           mad.lo.u32 %r10, %r10, 3, 1;
         $L_next:
           add.u32 %r40, %r40, 1;
           bra.uni $L_loop;",
        3,
        70,
    );
    let steps =
        |n: u32| std::iter::successors(Some(n), |n| (*n != 1).then(|| if n % 2 == 0 { n / 2 } else { 3 * n + 1 })).count() as u32 - 1;
    assert!(got.iter().enumerate().all(|(i, v)| *v == steps(i as u32 + 1)), "{got:?}");
}

#[test]
fn lanes_meet_again_after_a_branch() {
    let got = results(
        "  and.b32 %r10, %r0, 1;\n  setp.eq.u32 %p1, %r10, 0;\n  @%p1 bra $L_even;\n  mov.u32 %r11, 1;\n  bra.uni $L_join;
         $L_even:\n  mov.u32 %r11, 2;
         $L_join:\n  activemask.b32 %r40;",
        1,
        40,
    );
    assert!(got[..32].iter().all(|m| *m == u32::MAX) && got[32..].iter().all(|m| *m == 0xff));
}

#[test]
fn shuffles_votes_and_reductions() {
    let sum = results(
        "  mov.u32 %r40, %r0;
           shfl.sync.bfly.b32 %r11, %r40, 16, 31, -1;\n  add.u32 %r40, %r40, %r11;
           shfl.sync.bfly.b32 %r11, %r40, 8, 31, -1;\n  add.u32 %r40, %r40, %r11;
           shfl.sync.bfly.b32 %r11, %r40, 4, 31, -1;\n  add.u32 %r40, %r40, %r11;
           shfl.sync.bfly.b32 %r11, %r40, 2, 31, -1;\n  add.u32 %r40, %r40, %r11;
           shfl.sync.bfly.b32 %r11, %r40, 1, 31, -1;\n  add.u32 %r40, %r40, %r11;",
        1,
        64,
    );
    assert!(sum[..32].iter().all(|s| *s == 496) && sum[32..].iter().all(|s| *s == 1520));
    let up = results(
        "  shfl.sync.up.b32 %r10|%p1, %r0, 3, 0, -1;\n  selp.u32 %r40, %r10, 999, %p1;",
        1,
        32,
    );
    assert!((0..32).all(|i| up[i] == if i < 3 { 999 } else { i as u32 - 3 }));
    let votes = results(
        "  setp.lt.u32 %p1, %r0, 5;
           vote.sync.ballot.b32 %r10, %p1, -1;\n  vote.sync.any.pred %p2, %p1, -1;\n  vote.sync.all.pred %p3, %p1, -1;\n  vote.sync.uni.pred %p4, !%p1, -1;
           selp.u32 %r11, 0x100, 0, %p2;\n  selp.u32 %r12, 0x200, 0, %p3;\n  selp.u32 %r13, 0x400, 0, %p4;
           or.b32 %r40, %r10, %r11;\n  or.b32 %r40, %r40, %r12;\n  or.b32 %r40, %r40, %r13;",
        1,
        32,
    );
    assert!(votes.iter().all(|v| *v == 0x11f));
    let redux = results(
        "  mov.b32 %r9, -1;\n  sub.s32 %r10, %r0, 7;\n  redux.sync.min.s32 %r40, %r10, %r9;",
        1,
        32,
    );
    assert!(redux.iter().all(|v| *v as i32 == -7));
    let matches = results("  and.b32 %r10, %r0, 3;\n  match.any.sync.b32 %r40, %r10, -1;", 1, 32);
    assert!((0..32).all(|i| matches[i] == 0x1111_1111 << (i % 4)));
    let all = results("  match.all.sync.b32 %r10|%p1, %r2, -1;\n  selp.u32 %r40, %r10, 0, %p1;", 1, 20);
    assert!(all.iter().all(|v| *v == 0xf_ffff));
}

#[test]
fn lanes_wait_for_their_mask_wherever_they_come_from() {
    // The upper half takes a longer way to the same vote; each half has a mask of its own on the second.
    let got = results(
        "  setp.lt.u32 %p1, %r0, 16;\n  @%p1 bra $L_short;
           mov.u32 %r10, 0;
         $L_spin:\n  add.u32 %r10, %r10, 1;\n  setp.lt.u32 %p2, %r10, %r0;\n  @%p2 bra $L_spin;
           vote.sync.ballot.b32 %r40, %p1, -1;\n  bra.uni $L_out;
         $L_short:\n  vote.sync.ballot.b32 %r40, %p1, -1;",
        1,
        32,
    );
    assert!(got.iter().all(|v| *v == 0xffff), "{got:x?}");
    let halves = results(
        "  setp.lt.u32 %p1, %r0, 16;\n  selp.b32 %r10, 0xffff, 0xffff0000, %p1;\n  and.b32 %r11, %r0, 1;\n  setp.eq.u32 %p2, %r11, 0;
           vote.sync.ballot.b32 %r40, %p2, %r10;",
        1,
        32,
    );
    assert!((0..32).all(|i| halves[i] == if i < 16 { 0x5555 } else { 0x5555_0000 }));
}

#[test]
fn threads_that_left_are_not_waited_for() {
    let got = results(
        "  .shared .align 4 .b8 s[4];\n  setp.ge.u32 %p1, %r0, 50;\n  @%p1 ret;\n  mov.u32 %r40, 7;\n  bar.sync 0;\n  vote.sync.ballot.b32 %r40, 1, -1;\n  bar.sync 0;",
        1,
        96,
    );
    assert!(got[..32].iter().all(|v| *v == u32::MAX) && got[32..50].iter().all(|v| *v == 0x3_ffff));
}

#[test]
fn barriers_reduce() {
    let got = results(
        "  and.b32 %r10, %r0, 3;\n  setp.eq.u32 %p1, %r10, 0;
           bar.red.popc.u32 %r11, 0, %p1;\n  bar.red.and.pred %p2, 0, %p1;\n  bar.red.or.pred %p3, 0, %p1;
           selp.u32 %r12, 1000, 0, %p2;\n  selp.u32 %r13, 2000, 0, %p3;\n  add.u32 %r40, %r11, %r12;\n  add.u32 %r40, %r40, %r13;",
        2,
        128,
    );
    assert!(got.iter().all(|v| *v == 2032), "{got:?}");
}

#[test]
fn named_barriers_pass_data_between_warps() {
    // The first warp produces, the second consumes; neither waits for the third.
    let got = results(
        "  .shared .align 4 .b8 s[128];
           mov.b64 %rd10, s;\n  and.b32 %r10, %r3, 31;\n  mul.wide.u32 %rd11, %r10, 4;\n  add.s64 %rd10, %rd10, %rd11;\n  mov.u32 %r40, 5;
           setp.ge.u32 %p1, %r3, 64;\n  @%p1 bra $L_out;
           setp.ge.u32 %p2, %r3, 32;\n  @%p2 bra $L_consumer;
           mul.lo.u32 %r11, %r3, 3;\n  st.shared.u32 [%rd10], %r11;\n  barrier.arrive 1, 64;\n  bra.uni $L_out;
         $L_consumer:\n  barrier.sync 1, 64;\n  ld.shared.u32 %r40, [%rd10];",
        1,
        96,
    );
    assert!((32..64).all(|i| got[i] == 3 * (i as u32 - 32)), "{got:?}");
    assert!(got[64..].iter().all(|v| *v == 5));
}

#[test]
fn warps_may_exchange_through_shared_memory() {
    let got = results(
        "  .shared .align 4 .b8 s[128];
           mov.b64 %rd10, s;\n  mul.wide.u32 %rd11, %r0, 4;\n  add.s64 %rd11, %rd10, %rd11;\n  st.shared.u32 [%rd11], %r0;\n  bar.warp.sync -1;
           xor.b32 %r10, %r0, 31;\n  mul.wide.u32 %rd12, %r10, 4;\n  add.s64 %rd12, %rd10, %rd12;\n  ld.shared.u32 %r40, [%rd12];",
        1,
        32,
    );
    assert!((0..32).all(|i| got[i] == 31 - i as u32));
}

#[test]
fn a_lock_that_lanes_of_one_warp_contend_for() {
    let gpu = Gpu::new();
    let k = gpu.kernel(&kernel(
        2,
        "$L_try:
           atom.acquire.gpu.global.cas.b32 %r10, [%rd0], 0, 1;
           setp.ne.u32 %p1, %r10, 0;
           @%p1 bra $L_try;
           ld.global.u32 %r11, [%rd1];
           add.u32 %r11, %r11, 1;
           st.global.u32 [%rd1], %r11;
           fence.acq_rel.gpu;
           st.release.gpu.global.u32 [%rd0], 0;
           ret;",
    ));
    let (lock, count) = (gpu.upload(&[0u32]), gpu.upload(&[0u32]));
    gpu.run(k, 4, 64, &[lock, count]);
    assert_eq!(gpu.download::<u32>(count, 1), [256]);
}

#[test]
fn a_lock_in_shared_memory_is_no_race() {
    let got = results(
        "  .shared .align 4 .b8 s[8];
           mov.b64 %rd10, s;\n  setp.ne.u32 %p1, %r3, 0;\n  @%p1 bra $L_ready;\n  st.shared.u32 [%rd10], 0;\n  st.shared.u32 [%rd10+4], 0;
         $L_ready:\n  bar.sync 0;
         $L_try:
           atom.shared.cas.b32 %r10, [%rd10], 0, 1;
           setp.ne.u32 %p1, %r10, 0;
           @%p1 bra $L_try;
           membar.cta;
           ld.shared.u32 %r11, [%rd10+4];
           add.u32 %r11, %r11, 1;
           st.shared.u32 [%rd10+4], %r11;
           membar.cta;
           atom.shared.exch.b32 %r10, [%rd10], 0;
           bar.sync 0;
           ld.shared.u32 %r40, [%rd10+4];",
        1,
        64,
    );
    assert!(got.iter().all(|v| *v == 64), "{got:?}");
}

#[test]
fn atomics_of_every_kind() {
    let gpu = Gpu::new();
    let k = gpu.kernel(&kernel(
        1,
        "  cvt.rn.f32.u32 %r20, %r0;
           cvt.rn.f64.u32 %rd20, %r0;
           atom.global.add.u32 %r10, [%rd0], %r0;
           red.global.add.u64 [%rd0+8], 3;
           atom.global.max.s32 %r10, [%rd0+16], %r0;
           atom.global.min.u32 %r10, [%rd0+20], %r0;
           red.global.or.b32 [%rd0+24], %r0;
           red.relaxed.sys.global.and.b32 [%rd0+28], %r0;
           atom.global.xor.b32 %r10, [%rd0+32], %r0;
           atom.global.add.f32 %r10, [%rd0+36], %r20;
           atom.global.add.f64 %rd10, [%rd0+40], %rd20;
           atom.global.inc.u32 %r10, [%rd0+48], 9;
           atom.global.dec.u32 %r10, [%rd0+52], 9;
           mov.b16 %h1, 0x3c00;
           atom.global.add.noftz.f16 %h2, [%rd0+56], %h1;
           mov.b32 %r21, 0x3f803f80;
           atom.global.add.noftz.bf16x2 %r22, [%rd0+60], %r21;
           ret;",
    ));
    let mut start = [0u32; 16];
    (start[5], start[7]) = (77, 0xffff_ffff);
    let out = gpu.upload(&start);
    gpu.run(k, 3, 32, &[out]);
    let got: Vec<u32> = gpu.download(out, 16);
    let n = 96u32;
    let xor = (0..n).fold(0, |a, b| a ^ b);
    assert_eq!(got[0], n * (n - 1) / 2);
    assert_eq!(got[2], 3 * n);
    assert_eq!(&got[4..9], &[95, 0, 127, 0, xor]);
    assert_eq!(f32::from_bits(got[9]), 4560.0);
    assert_eq!(f64::from_bits(u64::from(got[10]) | u64::from(got[11]) << 32), 4560.0);
    assert_eq!(got[12], n % 10);
    assert_eq!(got[13], (10 - n % 10) % 10);
    assert_eq!(got[14], u32::from(half::f16::from_f32(96.0).to_bits()));
    assert_eq!(got[15], u32::from(half::bf16::from_f32(96.0).to_bits()) * 0x1_0001);
}

#[test]
fn a_grid_that_meets() {
    // Each block adds its number to all others' slots after a barrier of the grid: needs all blocks at once.
    let gpu = Gpu::new();
    let k = gpu.kernel(&kernel(
        2,
        "  mov.u32 %r20, %nctaid.x;
           bar.sync 0;
           setp.ne.u32 %p1, %r3, 0;
           @%p1 bra $L_wait;
           fence.acq_rel.gpu;
           atom.acq_rel.gpu.global.add.u32 %r10, [%rd0], 1;
         $L_spin:
           ld.acquire.gpu.global.u32 %r11, [%rd0];
           setp.lt.u32 %p2, %r11, %r20;
           @%p2 bra $L_spin;
         $L_wait:
           bar.sync 0;
           ld.acquire.gpu.global.u32 %r12, [%rd0];
           mul.wide.u32 %rd10, %r0, 4;
           add.s64 %rd11, %rd1, %rd10;
           st.global.u32 [%rd11], %r12;
           ret;",
    ));
    let (count, out) = (gpu.upload(&[0u32]), gpu.alloc(4 * 40 * 64));
    let args = [count, out];
    let pointers: Vec<*const std::ffi::c_void> = args.iter().map(|a| std::ptr::from_ref(a).cast()).collect();
    assert_eq!(
        unsafe { cuLaunchCooperativeKernel(k, 40, 1, 1, 64, 1, 1, 0, 0, pointers.as_ptr()) },
        0
    );
    assert_eq!(unsafe { cuCtxSynchronize() }, 0, "{}", gpu.report());
    assert!(gpu.download::<u32>(out, 40 * 64).iter().all(|v| *v == 40));
    assert_eq!(
        unsafe { cuLaunchCooperativeKernel(k, 4000, 1, 1, 64, 1, 1, 0, 0, pointers.as_ptr()) },
        720
    );
}

#[test]
fn calls_recursion_and_tables() {
    let gpu = Gpu::new();
    let text = format!(
        "{HEADER}
        .visible .func (.param .b32 r) fib(.param .b32 n)
        {{
          .reg .pred %p<3>; .reg .b32 %r<9>;
          ld.param.b32 %r1, [n];
          setp.lt.s32 %p1, %r1, 2;
          @%p1 bra $L_small;
          add.s32 %r2, %r1, -1;
          {{ .param .b32 param0; .param .b32 retval0;
            st.param.b32 [param0], %r2;
            call.uni (retval0), fib, (param0);
            ld.param.b32 %r3, [retval0]; }}
          add.s32 %r4, %r1, -2;
          {{ .param .b32 param0; .param .b32 retval0;
            st.param.b32 [param0], %r4;
            call.uni (retval0), fib, (param0);
            ld.param.b32 %r5, [retval0]; }}
          add.s32 %r1, %r3, %r5;
        $L_small:
          st.param.b32 [r], %r1;
          ret;
        }}
        .func (.param .b32 r) square(.param .b32 n)
        {{ .reg .b32 %r<3>; ld.param.b32 %r1, [n]; mul.lo.s32 %r1, %r1, %r1; st.param.b32 [r], %r1; ret; }}
        .global .align 8 .u64 functions[2] = {{fib, square}};
        .visible .entry k(.param .u64 out)
        {{
          .reg .pred %p<3>; .reg .b32 %r<9>; .reg .b64 %rd<9>;
          .local .align 4 .b8 depot[16];
          .reg .b64 %SP; .reg .b64 %SPL;
          mov.b64 %SPL, depot;
          cvta.local.u64 %SP, %SPL;
          ld.param.u64 %rd1, [out];
          mov.u32 %r1, %tid.x;
          and.b32 %r2, %r1, 1;
          mul.wide.u32 %rd2, %r2, 8;
          mov.u64 %rd3, functions;
          add.s64 %rd3, %rd3, %rd2;
          ld.global.u64 %rd4, [%rd3];
          {{ .param .b32 param0; .param .b32 retval0;
            prototype : .callprototype (.param .b32 _) _ (.param .b32 _);
            st.param.b32 [param0], %r1;
            call (retval0), %rd4, (param0), prototype;
            ld.param.b32 %r3, [retval0]; }}
          and.b32 %r4, %r1, 3;
          $L_brx: .branchtargets $L_a, $L_b, $L_a, $L_c;
          brx.idx %r4, $L_brx;
        $L_a: st.u32 [%SP+4], %r3; bra.uni $L_end;
        $L_b: add.s32 %r3, %r3, 1000; st.u32 [%SP+4], %r3; bra.uni $L_end;
        $L_c: st.local.u32 [%SPL+4], 5;
        $L_end:
          ld.local.u32 %r5, [depot+4];
          mul.wide.u32 %rd5, %r1, 4;
          add.s64 %rd6, %rd1, %rd5;
          st.global.u32 [%rd6], %r5;
          ret;
        }}"
    );
    let k = gpu.kernel(&text);
    let out = gpu.alloc(4 * 16);
    // Nobody can say beforehand how much stack this takes.
    const STACK_SIZE: u32 = 0;
    assert_eq!(unsafe { cuCtxSetLimit(STACK_SIZE, 4096) }, 0);
    gpu.run(k, 1, 16, &[out]);
    let got: Vec<u32> = gpu.download(out, 16);
    let fib = |n: u32| (0..n).fold((0, 1), |(a, b), _| (b, a + b)).0;
    let want = |i: u32| {
        let f = if i.is_multiple_of(2) { fib(i) } else { i * i };
        match i % 4 {
            1 => f + 1000,
            3 => 5,
            _ => f,
        }
    };
    assert!((0..16).all(|i| got[i as usize] == want(i)), "{got:?}");
}

#[test]
fn special_registers() {
    let gpu = Gpu::new();
    let k = gpu.kernel(&kernel(
        1,
        "  mov.u32 %r10, %tid.y;\n  mov.u32 %r11, %ntid.y;\n  mov.u32 %r12, %ctaid.z;\n  mov.u32 %r13, %laneid;\n  mov.u32 %r14, %lanemask_lt;
           mov.u32 %r15, %warpid;\n  mov.u32 %r16, %nctaid.z;\n  mov.u32 %r17, %tid.z;\n  mov.u32 %r18, %lanemask_ge;\n  mov.u32 %r19, %dynamic_smem_size;
           mov.u64 %rd10, %clock64;\n  mov.u64 %rd11, %globaltimer;\n  mov.u32 %r20, %clock;
           setp.ne.u32 %p1, %r3, 2;\n  setp.ne.or.u32 %p1, %r10, 3, %p1;\n  setp.ne.or.u32 %p1, %r17, 1, %p1;\n  setp.ne.or.u32 %p1, %r12, 1, %p1;\n  @%p1 ret;
           st.global.v4.u32 [%rd0], {%r11, %r12, %r13, %r14};\n  st.global.v4.u32 [%rd0+16], {%r15, %r16, %r18, %r19};\n  ret;",
    ));
    let out = gpu.alloc(32);
    assert_eq!(gpu.launch_on(0, k, [1, 1, 2], [5, 7, 2], 64, &[out]), 0);
    let got: Vec<u32> = gpu.download(out, 8);
    // Thread (2, 3, 1) of 5 by 7 by 2 is number 52: lane 20 of warp 1.
    assert_eq!(got, [7, 1, 20, (1 << 20) - 1, 1, 2, !((1 << 20) - 1), 64]);
}

#[test]
fn dynamic_shared_memory_and_variables() {
    let gpu = Gpu::new();
    let body = kernel(
        1,
        "  mov.b64 %rd10, dyn;\n  mul.wide.u32 %rd11, %r0, 4;\n  add.s64 %rd12, %rd10, %rd11;
           mov.b64 %rd14, table;\n  and.b32 %r10, %r0, 3;\n  mul.wide.u32 %rd15, %r10, 2;\n  add.s64 %rd15, %rd14, %rd15;\n  ld.const.s16 %r11, [%rd15];
           st.shared.u32 [%rd12], %r11;\n  cvta.shared.u64 %rd12, %rd12;\n  ld.u32 %r12, [%rd12];
           ld.global.u32 %r13, [counter];\n  add.u32 %r12, %r12, %r13;
           add.s64 %rd13, %rd0, %rd11;\n  st.global.u32 [%rd13], %r12;\n  ret;",
    );
    let text = body.replace(
        ".visible .entry",
        ".extern .shared .align 16 .b8 dyn[];\n.const .align 2 .b16 table[4] = {1, -2, 3, 4};\n.visible .global .u32 counter = 100;\n.visible .entry",
    );
    let module = gpu.load(&text);
    let k = gpu.function(module, "k");
    let (mut address, mut bytes) = (0, 0);
    assert_eq!(
        unsafe { cuModuleGetGlobal_v2(&mut address, &mut bytes, module, c"counter".as_ptr()) },
        0
    );
    assert_eq!(bytes, 4);
    assert_eq!(unsafe { cuMemsetD32_v2(address, 200, 1) }, 0);
    let out = gpu.alloc(256);
    assert_eq!(
        gpu.launch_on(0, k, [1, 1, 1], [64, 1, 1], 49 << 10, &[out]),
        1,
        "over 48 KiB needs the attribute"
    );
    assert_eq!(unsafe { cuFuncSetAttribute(k, 8, 100 << 10) }, 0);
    assert_eq!(gpu.launch_on(0, k, [1, 1, 1], [64, 1, 1], 100 << 10, &[out]), 0);
    let got: Vec<i32> = gpu.download(out, 64);
    assert!((0..64).all(|i| got[i] == 200 + [1, -2, 3, 4][i % 4]), "{got:?}");
}
