//! Every operation of a warp, on types of every size and in blocks of many shapes, against the interpreter: through the device's subgroups,
//! as far as their lanes reach, and through shared memory behind them.
//!
//! The subgroups of Mesa's driver for the CPU are as wide as its vectors are told to be, so that the tests run again in processes of their
//! own for other widths. A block that is one subgroup takes the way of a device whose subgroups are warps.

#![allow(clippy::unwrap_used, clippy::panic)] // A test that cannot go on stops.

#[path = "../../cuda/tests/suite/mod.rs"]
mod suite;

mod common;

use std::process::Command;
use std::sync::Arc;

use common::own_gpu;
use suite::launch::run;
use weft_gpu::GpuDevice;
use weft_gpu::emit::Facts;
use weft_ir::interp::Options;
use weft_ir::testing::{TestLine, interpret, lines};
use weft_ir::{Module, text};
use weft_runtime::{CompileOptions, Device};

/// The bits of a vector of Mesa's driver for the CPU.
const WIDTH: &str = "LP_NATIVE_VECTOR_WIDTH";
/// What a process with another width is to find.
const EXPECTED: &str = "WEFT_TEST_GROUP";

/// Blocks of less than a subgroup, of one, of parts of one, and of several warps.
const BLOCKS: [[u32; 3]; 8] = [
    [1, 1, 1],
    [7, 1, 1],
    [2, 2, 2],
    [1, 16, 1],
    [5, 3, 1],
    [32, 1, 1],
    [5, 3, 3],
    [11, 9, 1],
];
const GRID: u32 = 2;
const TYPES: [&str; 7] = ["u8", "i16", "i32", "i64", "bf16", "f32", "f64"];

/// The number of a thread in its block, `%11`, and in the grid, `%13`.
const PLACE: &str = "
  %3: i64 = thread_idx.x
  %4: i64 = thread_idx.y
  %5: i64 = thread_idx.z
  %6: i64 = block_dim.x
  %7: i64 = block_dim.y
  %8: i64 = mul %5, %7
  %9: i64 = add %8, %4
  %10: i64 = mul %9, %6
  %11: i64 = add %10, %3
  %60: i64 = block_dim.z
  %61: i64 = mul %6, %7
  %62: i64 = mul %61, %60
  %63: i64 = block_idx.x
  %12: i64 = mul %63, %62
  %13: i64 = add %12, %11";

/// Shuffles by distances known at run time and before, and matches.
fn values_kernel(ty: &str) -> String {
    format!(
        "entry kernel @values(%0 x: view<{ty}, 1, C, global>, %1 out: view<{ty}, 2, C, global>, %2 lanes: view<u32, 2, C, global>) {{{PLACE}
  %14: u32 = 4294967295
  %15: {ty} = load %0[%13]
  %16: i64 = 5
  %17: i64 = mul %11, %16
  %18: i32 = cast %17
  %19: i32 = 1
  %20: i32 = 4
  %21: i32 = 16
  %30: i64 = 0
  %31: i64 = 1
  %32: i64 = 2
  %33: i64 = 3
  %34: i64 = 4
  %36: i64 = 6
  %40: {ty} = warp shuffle_idx %14, %15, %18
  store %1[%30, %13] = %40
  %41: {ty} = warp shuffle_up %14, %15, %18
  store %1[%31, %13] = %41
  %42: {ty} = warp shuffle_down %14, %15, %20
  store %1[%32, %13] = %42
  %43: {ty} = warp shuffle_xor %14, %15, %19
  store %1[%33, %13] = %43
  %44: {ty} = warp shuffle_xor %14, %15, %20
  store %1[%34, %13] = %44
  %45: {ty} = warp shuffle_xor %14, %15, %21
  store %1[%16, %13] = %45
  %46: {ty} = warp shuffle_idx %14, %15, %20
  store %1[%36, %13] = %46
  %50: u32 = warp match_any %14, %15
  store %2[%30, %13] = %50
  %51: u32 = warp match_all %14, %15
  store %2[%31, %13] = %51
}}"
    )
}

/// Votes of whole warps, of lanes that go different ways, of those left when some have ended, and what a warp sees of its own writes.
fn votes_kernel() -> String {
    format!(
        "entry kernel @votes(%0 x: view<i32, 1, C, global>, %1 out: view<u32, 2, C, global>, %2 passed: view<i64, 1, C, global>) {{{PLACE}
  array 0 tile: i64[128] shared
  %14: u32 = 4294967295
  %15: i32 = load %0[%13]
  %16: i32 = 0
  %17: bool = gt %15, %16
  %30: i64 = 0
  %31: i64 = 1
  %32: i64 = 2
  %33: i64 = 3
  %34: i64 = 4
  %35: i64 = 5
  %36: i64 = 6
  %37: i64 = 7
  %40: bool = warp all %14, %17
  %41: bool = warp any %14, %17
  %42: bool = warp equal %14, %17
  %43: u32 = warp ballot %14, %17
  %44: u32 = cast %40
  %45: u32 = cast %41
  %46: u32 = cast %42
  store %1[%30, %13] = %43
  store %1[%31, %13] = %44
  store %1[%32, %13] = %45
  store %1[%33, %13] = %46
  %47: i32 = cast %11
  %48: i32 = 1
  %49: i32 = and %47, %48
  %50: bool = eq %49, %48
  if %50 {{
    %51: u32 = 2863311530
    %52: u32 = warp ballot %51, %17
    store %1[%34, %13] = %52
    %54: u32 = warp match_any %51, %15
    store %1[%35, %13] = %54
  }} else {{
    %56: u32 = 1431655765
    %57: bool = warp any %56, %17
    %58: u32 = cast %57
    store %1[%34, %13] = %58
  }}
  %70: view<i64, 1, C, shared> = array 0
  store %70[%11] = %13
  sync_warp %14
  %71: i64 = lane_id
  %72: i64 = sub %11, %71
  %73: i64 = load %70[%72]
  store %2[%13] = %73
  %74: i32 = barrier_reduce count %17
  %75: u32 = cast %74
  store %1[%36, %13] = %75
  %76: i32 = 2
  %77: bool = ge %15, %76
  if %77 {{
    return
  }}
  %78: u32 = warp ballot %14, %17
  store %1[%37, %13] = %78
}}"
    )
}

fn list(len: u32, item: impl Fn(u32) -> String) -> String {
    let items: Vec<String> = (0..len).map(item).collect();
    format!("[{}]", items.join(", "))
}

/// A few different values, of which many threads have the same. The wide ones differ in either half.
fn values(ty: &str, threads: u32) -> String {
    list(threads, |thread| {
        let n = u64::from(thread * 7 % 5);
        match ty {
            "i64" => format!("{}", n % 2 + (n << 33)),
            "bf16" | "f32" => format!("{n}.5"),
            "f64" => format!("{n}.1"),
            _ => n.to_string(),
        }
    })
}

fn launch([x, y, z]: [u32; 3]) -> String {
    format!("[{GRID}, ({x}, {y}, {z})]")
}

/// A kernel, and the line that runs it.
fn parsed(kernel: &str, line: &str) -> (Module, TestLine) {
    let source = format!("; run: {line}\n{kernel}\n");
    let module = text::parse(&source).unwrap_or_else(|error| panic!("{error}\n{source}"));
    let line = lines(&source, &module)
        .unwrap_or_else(|error| panic!("{error}\n{source}"))
        .remove(0);
    (module, line)
}

fn check(device: &GpuDevice, kernel: &str, line: &str, what: &str) {
    let (module, line) = parsed(kernel, line);
    let oracle = interpret(&module, &line, Options::default()).unwrap();
    oracle.result.as_ref().unwrap();
    let exe = device
        .compile_for(Arc::new(module.clone()), CompileOptions::default(), Facts::ALL)
        .unwrap();
    let ran = run(device, &*exe, &module, &line);
    ran.ended.unwrap();
    for (at, (ours, theirs)) in ran.args.iter().zip(&oracle.args).enumerate() {
        assert!(
            ours.matches(theirs, false),
            "{what}: argument {at} is {ours:?} instead of {theirs:?}"
        );
    }
}

#[test]
fn warps_do_together_what_they_should() {
    let device = &*own_gpu();
    if let Ok(expected) = std::env::var(EXPECTED) {
        assert_eq!(device.features().unwrap().group.to_string(), expected);
    }
    for block in BLOCKS {
        let per_block: u32 = block.iter().product();
        let (launch, n) = (launch(block), GRID * per_block);
        for ty in TYPES {
            let line = format!("values{launch}({}, zeros(7, {n}), zeros(2, {n}))", values(ty, n));
            check(device, &values_kernel(ty), &line, &format!("{ty} in blocks of {block:?}"));
        }
        let votes = list(n, |thread| (thread * 7 % 4).to_string());
        let line = format!("votes{launch}({votes}, zeros(8, {n}), zeros({n}))");
        check(device, &votes_kernel(), &line, &format!("votes in blocks of {block:?}"));
    }
}

/// Told to be as wide as warps, the driver says that it is, and it is not: it must not be believed.
#[test]
fn subgroups_of_other_widths() {
    if !own_gpu().info().software {
        return;
    }
    for (bits, group) in [(128, 4), (256, 8), (512, 16), (1024, 1)] {
        let output = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "warps_do_together_what_they_should"])
            .env(WIDTH, bits.to_string())
            .env(EXPECTED, group.to_string())
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success() && said.contains("1 passed"), "{bits} bits: {said}");
    }
}
