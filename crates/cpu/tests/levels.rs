//! Code for every level of vector extensions compiles, whether this machine could run it or not.

#![allow(clippy::unwrap_used, clippy::panic)]
#![cfg(target_arch = "x86_64")]

use std::sync::Arc;

use weft_cpu::CpuDevice;
use weft_ir::{Module, random, text};
use weft_runtime::{CompileOptions, Inspect};

const SAXPY: &str = "
entry kernel @saxpy(%0 a: f32, %1 x: view<f32, 1, C, global, ro>, %2 y: view<f32, 1, C, global>) {
  %3: i64 = thread_idx.x
  %4: i64 = dim %1, 0
  %5: bool = lt %3, %4
  if %5 {
    %6: f32 = load %1[%3]
    %7: f32 = load %2[%3]
    %8: f32 = fma %0, %6, %7
    store %2[%3] = %8
  }
}
";

fn assembly(module: Module, level: &str) -> String {
    let target = CpuDevice.target_of_level(level).unwrap();
    let exe = CpuDevice.compile_for(Arc::new(module), CompileOptions::default(), target).unwrap();
    exe.inspect(Inspect::Asm).unwrap()
}

#[test]
fn a_level_is_used_and_not_exceeded() {
    let cases = [
        ("sse2", "xmm", "ymm"),
        ("sse4", "xmm", "ymm"),
        ("avx2", "ymm", "zmm"),
        ("avx512", "zmm", "none of it"),
    ];
    for (level, has, lacks) in cases {
        let code = assembly(text::parse(SAXPY).unwrap(), level);
        assert!(code.contains(has) && !code.contains(lacks), "{level}:\n{code}");
    }
    assert!(CpuDevice.target_of_level("mmx").is_none());
}

#[test]
fn random_kernels_compile_for_every_level() {
    for seed in 0..24 {
        for level in ["sse2", "avx512"] {
            let case = random::kernel(seed);
            let mut module = case.module;
            module.entry = case.line.func;
            let code = assembly(module, level);
            assert!(code.contains("ret"), "seed {seed}, {level}");
        }
    }
}
