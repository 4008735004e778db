//! What the emitter writes, where it matters for speed: no work for lanes that need none.

#![allow(clippy::unwrap_used, clippy::panic)]

use std::fs;
use std::path::Path;

use weft_cpu::CpuDevice;
use weft_cpu::emit::{Emitted, Target, Variant, emit, width};
use weft_ir::{Axis, FuncKind, Module, text};

fn lowered(source: &str) -> Module {
    let mut module = text::parse(source).unwrap();
    weft_passes::lower_for_cpu(&mut module).unwrap();
    module
}

fn emitted(module: &Module, target: &Target, full: bool) -> Emitted {
    let entry = module.entry_function();
    let variant = match entry.kind {
        FuncKind::Kernel => Variant::Kernel {
            axis: Some(Axis::X),
            width: width::choose(entry, target),
            full,
        },
        _ => Variant::Plain,
    };
    emit(module, target, &variant).unwrap()
}

/// A machine with AVX2, whatever this one is.
fn avx2() -> Target {
    Target {
        vector_bits: 256,
        mask_registers: false,
        gathers: true,
        ..CpuDevice.target()
    }
}

fn avx512() -> Target {
    Target {
        vector_bits: 512,
        mask_registers: true,
        gathers: true,
        ..CpuDevice.target()
    }
}

fn file(name: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/kernels").join(name)).unwrap()
}

#[test]
fn the_escape_loop_counts_once_and_blends_only_results() {
    let module = lowered(&file("mandelbrot.weft"));
    for (target, lanes) in [(avx2(), 16), (avx512(), 32)] {
        let text = emitted(&module, &target, true).text;
        assert!(text.contains(&format!("fma.v{lanes}f64")), "{lanes} lanes");
        let blends: Vec<&str> = text.lines().filter(|line| line.contains(" = select ")).collect();
        assert!(
            !blends.iter().any(|line| line.contains("x double>")),
            "z needs no blending: {blends:?}"
        );
        assert!(text.contains("add nsw i64"), "the counter is a scalar");
        assert_eq!(
            text.matches(" = fcmp oge ").count(),
            2,
            "the body is written for whole gangs and for others, no more"
        );
        assert!(text.contains("store <"), "whole gangs store without a mask");
    }
}

const SAXPY: &str = "
entry kernel @saxpy(%0 a: f32, %1 x: view<f32, 1, C, global, ro>, %2 y: view<f32, 1, C, global>) {
  %3: i64 = thread_idx.x
  %4: i64 = block_idx.x
  %5: i64 = block_dim.x
  %6: i64 = mul %4, %5
  %7: i64 = add %6, %3
  %8: i64 = dim %1, 0
  %9: bool = ge %7, %8
  if %9 {
    return
  }
  %10: f32 = load %1[%7]
  %11: f32 = load %2[%7]
  %12: f32 = mul %0, %10
  %13: f32 = add %12, %11
  store %2[%7] = %13
}
";

#[test]
fn neighbours_are_loaded_as_vectors() {
    let text = emitted(&lowered(SAXPY), &avx2(), true).text;
    assert!(text.contains("load <32 x float>"), "plain loads for whole gangs");
    assert!(text.contains("masked.load.v32f32"), "masked ones for the last");
    assert!(!text.contains("masked.gather") && !text.contains("masked.scatter"));
}

/// Reads through an array of indices and writes at a stride that only the run knows.
const SHUFFLED: &str = "
entry kernel @shuffled(%0 x: view<f64, 1, C, global, ro>, %1 at: view<i64, 1, C, global, ro>, %2 out: view<f64, 1, any, global>) {
  %3: i64 = thread_idx.x
  %4: i64 = dim %1, 0
  %5: bool = ge %3, %4
  if %5 {
    return
  }
  %6: i64 = load %1[%3]
  %7: f64 = load %0[%6]
  store %2[%3] = %7
}
";

#[test]
fn lanes_at_a_stride_are_stored_one_by_one() {
    let text = emitted(&lowered(SHUFFLED), &avx512(), true).text;
    assert_eq!(text.matches("store double").count(), 32, "a whole gang's");
    assert_eq!(text.matches("call void @llvm.masked.scatter").count(), 1, "the last gang's");
    assert_eq!(text.matches(" = call <32 x double> @llvm.masked.gather").count(), 2, "of any lanes");
}

#[test]
fn where_gathers_are_slow_there_are_none() {
    let target = Target {
        gathers: false,
        ..avx512()
    };
    let text = emitted(&lowered(SHUFFLED), &target, true).text;
    assert!(!text.contains("masked.gather") && !text.contains("masked.scatter"), "{text}");
    // 32 of a whole gang; of the last gang, whose lanes are on in part, one in a loop over its lanes, and what it then stores.
    assert_eq!(text.matches(" = load double").count(), 34, "{text}");
}

#[test]
fn loops_over_what_takes_lines_for_every_lane_are_not_unrolled() {
    let source = |index: &str| {
        format!(
            "
entry kernel @k(%0 x: view<f64, 2, C, global, ro>, %1 out: view<f64, 1, C, global>) {{
  local $0: f64
  %2: i64 = thread_idx.x
  %3: i64 = 0
  %4: i64 = 32
  %5: i64 = 1
  %6: f64 = 0.0
  set $0 = %6
  for %7: i64 = %3 to %4 step %5 {{
    %8: f64 = load %0[{index}]
    %9: f64 = get $0
    %10: f64 = add %9, %8
    set $0 = %10
  }}
  %11: f64 = get $0
  store %1[%2] = %11
}}
"
        )
    };
    let unrolled = |index: &str| {
        emitted(&lowered(&source(index)), &avx512(), true)
            .text
            .contains("llvm.loop.unroll.full")
    };
    assert!(unrolled("%7, %2"));
    assert!(!unrolled("%2, %7"), "lanes along rows take a line each, and more");
}

#[test]
fn uniform_values_stay_scalars() {
    let source = "
entry kernel @k(%0 x: view<f64, 1, C, global, ro>, %1 out: view<f64, 1, C, global>) {
  %2: i64 = thread_idx.x
  %3: i64 = block_idx.x
  %4: f64 = load %0[%3]
  %5: f64 = mul %4, %4
  store %1[%2] = %5
}
";
    let text = emitted(&lowered(source), &avx2(), true).text;
    assert!(text.contains("fmul double"), "{text}");
    assert!(!text.contains("fmul <"), "{text}");
}

#[test]
fn a_barrier_that_not_all_threads_reach_is_refused() {
    let source = "
entry kernel @k(%0 x: view<f64, 1, C, global>) {
  %1: i64 = thread_idx.x
  %2: i64 = 3
  %3: bool = lt %1, %2
  if %3 {
    barrier
  }
  barrier
}
";
    let module = lowered(source);
    let variant = Variant::Kernel {
        axis: Some(Axis::X),
        width: 8,
        full: true,
    };
    let error = emit(&module, &avx2(), &variant).unwrap_err();
    assert!(format!("{error:?}").contains("barrier"), "{error:?}");
}

#[test]
fn neighbouring_complex_elements_move_whole() {
    let text = emitted(&lowered(&file("complex.weft")), &avx2(), true).text;
    assert!(
        text.contains("load <32 x double>") && text.contains("store <32 x double>"),
        "{text}"
    );
    assert!(!text.contains("masked.gather") && !text.contains("masked.scatter"), "{text}");
}

/// A kernel over neighbours with `long` multiplications, which `inner` stands around.
fn neighbours(long: usize, inner: [&str; 2]) -> String {
    let mut text = String::from(
        "
entry kernel @k(%0 x: view<f32, 1, C, global, ro>, %1 out: view<f32, 1, C, global>) {
  %2: i64 = thread_idx.x
  %3: i64 = 0
  %4: i64 = 9
  %5: i64 = 1
",
    );
    text += inner[0];
    text += "  %7: f32 = load %0[%2]\n";
    for i in 0..long {
        text += &format!("  %{}: f32 = mul %{}, %7\n", i + 8, i + 7);
    }
    text + &format!("  store %1[%2] = %{}\n{}}}\n", long + 7, inner[1])
}

#[test]
fn long_straight_code_fetches_what_later_gangs_load() {
    let straight = ["  %6: i64 = 0\n", ""];
    let prefetches = |source: String| {
        emitted(&lowered(&source), &avx512(), true)
            .text
            .matches("call void @llvm.prefetch")
            .count()
    };
    assert_eq!(prefetches(neighbours(40, straight)), 4, "64 lanes are four lines");
    assert_eq!(prefetches(neighbours(3, straight)), 0, "the core is ahead by itself");
    let looped = ["  for %6: i64 = %3 to %4 step %5 {\n", "  }\n"];
    assert_eq!(prefetches(neighbours(40, looped)), 0, "the next load is the loop's");
}

#[test]
fn loops_from_row_to_row_fetch_rows_ahead() {
    let loop_of = |stop: &str, loads: &str| {
        format!(
            "
entry loop<1> @k(%0 j: i64, %1 a: view<f32, 2, C, global, ro>, %2 b: view<f32, 2, C, global, ro>, %3 out: view<f32, 1, C, global>, %4 n: i64) {{
  local $0 s: f32
  %5: f32 = 0.0
  set $0 = %5
  %6: i64 = 0
  %7: i64 = 1
  %8: i64 = 5
  for %9: i64 = %6 to {stop} step %7 {{
{loads}
    %11: f32 = get $0
    %12: f32 = add %11, %10
    set $0 = %12
  }}
  %13: f32 = get $0
  store %3[%0] = %13
}}
"
        )
    };
    let prefetches = |source: String| {
        let text = emitted(&lowered(&source), &avx512(), true).text;
        text.matches("call void @llvm.prefetch").count()
    };
    let column = "    %10: f32 = load %1[%9, %0]";
    assert_eq!(prefetches(loop_of("%4", column)), 4, "whole gangs, each of four lines");
    assert_eq!(prefetches(loop_of("%8", column)), 0, "unrolled");
    let row = "    %10: f32 = load %1[%0, %9]";
    assert_eq!(prefetches(loop_of("%4", row)), 0, "each lane has a row of its own");
    let product = "    %14: f32 = load %2[%6, %9]\n    %15: f32 = load %1[%9, %0]\n    %10: f32 = mul %14, %15";
    assert_eq!(
        prefetches(loop_of("%4", product)),
        0,
        "the other array's elements are in nearer caches"
    );
}

#[test]
fn maxima_of_lanes_are_one_instruction_and_a_check() {
    let source = "
entry loop<1> @k(%0 i: i64, %1 x: view<f32, 1, C, global, ro>) reduce($0 max fixed) {
  local $0 m: f32
  %2: f32 = load %1[%0]
  %3: f32 = get $0
  %4: f32 = max %3, %2
  set $0 = %4
}
";
    let text = emitted(&lowered(source), &avx512(), true).text;
    assert!(text.contains("call <64 x float> @llvm.arithmetic.fence"), "{text}");
}

#[test]
fn rows_start_where_stores_are_aligned() {
    let squares = |stored: &str| {
        let source = format!(
            "
entry loop<2> @k(%0 i: i64, %1 j: i64, %2 x: view<f32, 2, C, global, ro>, %3 out: view<f32, 2, {stored}, global>) {{
  %4: f32 = load %2[%0, %1]
  %5: f32 = mul %4, %4
  store %3[%0, %1] = %5
}}
"
        );
        emitted(&lowered(&source), &avx512(), true).text
    };
    let rows = squares("C");
    assert!(
        rows.contains("ptrtoint") && rows.matches("fmul <64 x float>").count() == 2,
        "{rows}"
    );
    assert!(!squares("any").contains("ptrtoint"), "no neighbours");
    let sums = "
entry loop<1> @k(%0 i: i64, %1 x: view<f32, 1, C, global, ro>, %2 out: view<f32, 1, C, global>) reduce($0 add) {
  local $0 s: f32
  %3: f32 = load %1[%0]
  store %2[%0] = %3
  %4: f32 = get $0
  %5: f32 = add %4, %3
  set $0 = %5
}
";
    let sums = emitted(&lowered(sums), &avx512(), true).text;
    assert!(!sums.contains("ptrtoint"), "sums depend on where gangs start");
}

#[test]
fn loops_of_one_operation_are_inlined_where_they_run_in_place() {
    let host = |point: &str| {
        let module = lowered(&format!(
            "entry host @main(%0 x: view<f64, 1, C, global>) {{\n  %1: i64 = dim %0, 0\n  parfor (%2: i64) in (%1) {{\n{point}  }}\n}}\n"
        ));
        emitted(&module, &avx512(), true).text
    };
    let inlined = |text: &str| {
        text.lines()
            .any(|line| line.contains("call i32 @weft.") && line.ends_with("alwaysinline"))
    };
    assert!(inlined(&host("    %3: f64 = 0.5\n    store %0[%2] = %3\n")));
    let long: String = (4..10).map(|n| format!("    %{n}: f64 = add %{}, %3\n", n - 1)).collect();
    assert!(!inlined(&host(&format!(
        "    %3: f64 = load %0[%2]\n{long}    store %0[%2] = %9\n"
    ))));
}

const ADD: &str = "kernel @add(%0 out: view<f32, 1, C, global>, %1 x: view<f32, 1, C, global>) FLAGS {
  %2: i64 = thread_idx.x
  %3: f32 = load %1[%2]
  %4: i64 = 0
  %5: f32 = atomic add %0[PLACE], %3
  return
}";

#[test]
fn lanes_that_add_to_one_element_are_added_up_before() {
    let text = emitted(&lowered(&ADD.replace("PLACE", "%4").replace("FLAGS ", "")), &avx2(), true).text;
    assert_eq!(text.matches("atomicrmw fadd").count(), 1, "{text}");
}

#[test]
fn lanes_on_one_thread_add_to_elements_of_their_own_in_one_vector() {
    let text = emitted(&lowered(&ADD.replace("PLACE", "%2").replace("FLAGS", "one_thread")), &avx2(), true).text;
    assert!(!text.contains("atomicrmw") && text.contains("store <32 x float>"), "{text}");
    let text = emitted(&lowered(&ADD.replace("PLACE", "%2").replace("FLAGS ", "")), &avx2(), true).text;
    assert!(text.contains("atomicrmw fadd"), "other threads may add there, too: {text}");
}

#[test]
fn lanes_lie_along_the_axis_that_memory_lies_along() {
    let kernel = |first: &str, second: &str| {
        format!(
            "kernel @f(%0 v: view<f32, 2, C, global>) {{
  %1: i64 = thread_idx.{first}
  %2: i64 = thread_idx.{second}
  %3: f32 = load %0[%1, %2]
  store %0[%1, %2] = %3
  return
}}"
        )
    };
    let axis = |text: &str| weft_passes::distances::lane_axis(lowered(text).entry_function());
    assert_eq!(axis(&kernel("x", "y")), Axis::Y);
    assert_eq!(axis(&kernel("y", "x")), Axis::X);
}
