// Calls of the C interface, with pointers to locals.
#![allow(unsafe_code, clippy::undocumented_unsafe_blocks)]
//! How many instructions a second: run by hand with `--ignored --nocapture`.

mod support;

use std::time::Instant;

use support::*;

#[test]
#[ignore = "a measurement"]
fn instructions_per_second() {
    let gpu = Gpu::new();
    // Fewer for a profiler.
    let blocks = std::env::var("BLOCKS").map_or(32, |b| b.parse().unwrap());
    let arithmetic = "  ld.param.u64 %rd0, [p0];\n  mov.u32 %r11, 0;\n  cvt.rn.f32.u32 %r20, %r0;
         $L_loop:
           mul.rn.f32 %r21, %r20, 0f3F000000;
           fma.rn.f32 %r20, %r20, %r21, %r20;
           add.rn.f32 %r20, %r20, 0fBF800000;
           xor.b32 %r12, %r11, %r0;
           add.u32 %r11, %r11, 1;
           setp.lt.u32 %p1, %r11, 2000;
           @%p1 bra $L_loop;
           ret;";
    let memory = "  mul.wide.u32 %rd10, %r0, 4;\n  add.s64 %rd11, %rd0, %rd10;\n  mov.u32 %r11, 0;
         $L_loop:
           ld.global.u32 %r12, [%rd11];
           add.u32 %r12, %r12, 1;
           st.global.u32 [%rd11], %r12;
           add.u32 %r11, %r11, 1;
           setp.lt.u32 %p1, %r11, 1000;
           @%p1 bra $L_loop;
           ret;";
    let shared = "  .shared .align 4 .b8 s[1024];\n  mov.b64 %rd10, s;\n  mul.wide.u32 %rd11, %r3, 4;\n  add.s64 %rd11, %rd10, %rd11;\n  mov.u32 %r11, 0;
         $L_loop:
           st.shared.u32 [%rd11], %r11;
           ld.shared.u32 %r12, [%rd11];
           bar.sync 0;
           add.u32 %r11, %r11, 1;
           setp.lt.u32 %p1, %r11, 500;
           @%p1 bra $L_loop;
           ret;";
    for (name, body, per_thread) in [
        ("arithmetic", arithmetic, 14000.0),
        ("global memory", memory, 6000.0),
        ("shared memory and barriers", shared, 3000.0),
    ] {
        let k = gpu.kernel(&kernel(1, body));
        let out = gpu.alloc(4 * 256 * 32);
        let start = Instant::now();
        gpu.run(k, blocks, 256, &[out]);
        let count = f64::from(blocks) * 256.0 * per_thread;
        println!(
            "{name}: {:.0} million instructions a second",
            count / start.elapsed().as_secs_f64() / 1e6
        );
    }

    let small = gpu.kernel(&kernel(1, "  st.global.u32 [%rd0], 1;\n  ret;"));
    let out = gpu.alloc(4);
    gpu.run(small, 1, 256, &[out]);
    let start = Instant::now();
    for _ in 0..1000 {
        gpu.run(small, 1, 256, &[out]);
    }
    println!("launch and wait: {:.1} microseconds", start.elapsed().as_secs_f64() * 1e3);
}
