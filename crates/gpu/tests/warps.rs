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

/// Blocks of less than a subgroup of eight lanes, of one, of parts of a warp, and of several warps.
const BLOCKS: [[u32; 3]; 5] = [[7, 1, 1], [2, 2, 2], [1, 16, 1], [5, 3, 3], [11, 9, 1]];
const GRID: u32 = 2;
const TYPES: [&str; 5] = ["u8", "i64", "bf16", "f32", "f64"];

/// The number of a thread in its block, `%11`, and in the grid, `%17`.
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
  %12: i64 = block_dim.z
  %13: i64 = mul %6, %7
  %14: i64 = mul %13, %12
  %15: i64 = block_idx.x
  %16: i64 = mul %15, %14
  %17: i64 = add %16, %11";

/// Shuffles by distances known at run time and before, and matches.
fn values_kernel(ty: &str) -> String {
    format!(
        "entry kernel @values(%0 x: view<{ty}, 1, C, global>, %1 out: view<{ty}, 2, C, global>, %2 lanes: view<u32, 2, C, global>) {{{PLACE}
  %18: u32 = 4294967295
  %19: {ty} = load %0[%17]
  %20: i64 = 5
  %21: i64 = mul %11, %20
  %22: i32 = cast %21
  %23: i32 = 1
  %24: i32 = 4
  %25: i32 = 16
  %26: i64 = 0
  %27: i64 = 1
  %28: i64 = 2
  %29: i64 = 3
  %30: i64 = 4
  %31: i64 = 6
  %32: {ty} = warp shuffle_idx %18, %19, %22
  store %1[%26, %17] = %32
  %33: {ty} = warp shuffle_up %18, %19, %22
  store %1[%27, %17] = %33
  %34: {ty} = warp shuffle_down %18, %19, %24
  store %1[%28, %17] = %34
  %35: {ty} = warp shuffle_xor %18, %19, %23
  store %1[%29, %17] = %35
  %36: {ty} = warp shuffle_xor %18, %19, %24
  store %1[%30, %17] = %36
  %37: {ty} = warp shuffle_xor %18, %19, %25
  store %1[%20, %17] = %37
  %38: {ty} = warp shuffle_idx %18, %19, %24
  store %1[%31, %17] = %38
  %39: u32 = warp match_any %18, %19
  store %2[%26, %17] = %39
  %40: u32 = warp match_all %18, %19
  store %2[%27, %17] = %40
}}"
    )
}

/// Votes of whole warps, of lanes that go different ways, of those left when some have ended, and what a warp sees of its own writes.
fn votes_kernel() -> String {
    format!(
        "entry kernel @votes(%0 x: view<i32, 1, C, global>, %1 out: view<u32, 2, C, global>, %2 passed: view<i64, 1, C, global>) {{
  array 0 tile: i64[128] shared{PLACE}
  %18: u32 = 4294967295
  %19: i32 = load %0[%17]
  %20: i32 = 0
  %21: bool = gt %19, %20
  %22: i64 = 0
  %23: i64 = 1
  %24: i64 = 2
  %25: i64 = 3
  %26: i64 = 4
  %27: i64 = 5
  %28: i64 = 6
  %29: i64 = 7
  %30: bool = warp all %18, %21
  %31: bool = warp any %18, %21
  %32: bool = warp equal %18, %21
  %33: u32 = warp ballot %18, %21
  %34: u32 = cast %30
  %35: u32 = cast %31
  %36: u32 = cast %32
  store %1[%22, %17] = %33
  store %1[%23, %17] = %34
  store %1[%24, %17] = %35
  store %1[%25, %17] = %36
  %37: i32 = cast %11
  %38: i32 = 1
  %39: i32 = and %37, %38
  %40: bool = eq %39, %38
  if %40 {{
    %41: u32 = 2863311530
    %42: u32 = warp ballot %41, %21
    store %1[%26, %17] = %42
    %43: u32 = warp match_any %41, %19
    store %1[%27, %17] = %43
  }} else {{
    %44: u32 = 1431655765
    %45: bool = warp any %44, %21
    %46: u32 = cast %45
    store %1[%26, %17] = %46
  }}
  %47: view<i64, 1, C, shared> = array 0
  store %47[%11] = %17
  sync_warp %18
  %48: i64 = lane_id
  %49: i64 = sub %11, %48
  %50: i64 = load %47[%49]
  store %2[%17] = %50
  %51: i32 = barrier_reduce count %21
  %52: u32 = cast %51
  store %1[%28, %17] = %52
  %53: i32 = 2
  %54: bool = ge %19, %53
  if %54 {{
    return
  }}
  %55: u32 = warp ballot %18, %21
  store %1[%29, %17] = %55
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
    let (mut blocks, mut types) = (&BLOCKS[..], &TYPES[..]);
    if let Ok(expected) = std::env::var(EXPECTED) {
        assert_eq!(device.features().unwrap().group.to_string(), expected);
        (blocks, types) = (&BLOCKS[1..4], &TYPES[..2]);
    }
    for &block in blocks {
        let per_block: u32 = block.iter().product();
        let (launch, n) = (launch(block), GRID * per_block);
        for ty in types {
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
    for (bits, group) in [(128, 4), (512, 16), (1024, 1)] {
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
