//! Control flow, loops over points, and arithmetic in 32 bits: what the walk asks for and in which order, as snapshots.

#![allow(clippy::unwrap_used)]

mod machine;

use machine::written;
use weft_ir::text::{parse, print};
use weft_ir::verify::verify;
use weft_thread::{EmitError, Sizes};

const WIDE: Sizes = Sizes {
    narrow: false,
    small: false,
    limit: 1 << 31,
};
/// All lengths and scalar arguments are small.
const NARROW: Sizes = Sizes {
    narrow: true,
    small: true,
    limit: 1 << 31,
};

fn try_code(text: &str, sizes: Sizes) -> Result<String, EmitError> {
    let module = parse(text).unwrap_or_else(|error| unreachable!("{error} in\n{text}"));
    verify(&module).unwrap_or_else(|error| unreachable!("{error} in\n{text}"));
    Ok(format!("{}\n{}", print(&module), written(&module, sizes)?))
}

/// The module, and the code below it.
fn code(text: &str, sizes: Sizes) -> String {
    try_code(text, sizes).unwrap()
}

#[test]
fn operands_come_before_what_uses_them() {
    insta::assert_snapshot!(code(
        "kernel @f(%0 x: view<f64, 1, C, global>, %1 n: i64) {
           local $0 sum: f64
           %2: f64 = load %0[%1]
           set $0 = %2
           %3: f64 = get $0
           %4: f64 = mul %3, %2
           store %0[%1?] = %4
         }",
        WIDE
    ));
}

#[test]
fn an_index_that_is_checked_raises_before_the_access() {
    insta::assert_snapshot!(code(
        "kernel @f(%0 x: view<i64, 2, C, global>, %1 at: i64) {
           %2: i64 = 0
           %3: i64 = dim %0, 0
           %4: bool = ge %1, %3
           if %4 {
             raise index \"out of bounds\"
           } else {
             print \"at \", %1
           }
           %5: i64 = load %0[%1?, %2]
         }",
        WIDE
    ));
}

#[test]
fn nested_loops_break_continue_leave_and_return() {
    insta::assert_snapshot!(code(
        "kernel @f(%0 n: i64, %1 yes: bool, %2 no: bool) {
           scope ^0 {
             for %3: i64 = %0 to %0 step %0 {
               loop {
                 if %1 {
                   break
                 }
                 if %2 {
                   continue
                 } else {
                   leave ^0
                 }
                 scope ^1 {
                   return
                 }
               }
               continue
             }
             barrier
           }
           return
         }",
        WIDE
    ));
}

#[test]
fn loops_count_up_down_and_either_way() {
    insta::assert_snapshot!(code(
        "kernel @f(%0 n: i64) {
           %1: i64 = 0
           %2: i64 = 1
           %3: i64 = -1
           for %4: i64 = %1 to %0 step %2 {
             fence block
           }
           for %5: i64 = %0 to %1 step %3 {
             fence device
           }
           for %6: i64 = %1 to %2 step %0 {
             fence system
           }
         }",
        WIDE
    ));
}

#[test]
fn small_numbers_are_computed_in_32_bits() {
    insta::assert_snapshot!(code(
        "kernel @f(%0 x: view<f32, 1, C, global>, %1 n: i64) {
           %2: i64 = block_idx.x
           %3: i64 = block_dim.x
           %4: i64 = mul %2, %3
           %5: i64 = thread_idx.x
           %6: i64 = add %4, %5
           %7: i64 = 2
           %8: i64 = mul %5, %7
           %9: i64 = floor_div %8, %3
           %10: i64 = 0
           %11: i64 = 1
           %12: bool = lt %6, %1
           for %13: i64 = %10 to %5 step %11 {
             %14: f32 = load %0[%13]
           }
           %15: i64 = mul %1, %1
           %16: f32 = load %0[%15]
         }",
        NARROW
    ));
}

const POINTS: &str = "loop<2> @f(%0: i64, %1: i64, %2 x: view<f64, 2, F, global>, %3 a: f64) {
   store %2[%0, %1] = %3
 }";

#[test]
fn each_thread_takes_points_a_stride_apart() {
    insta::assert_snapshot!(code(POINTS, WIDE));
}

#[test]
fn points_of_small_index_spaces_are_counted_in_32_bits() {
    insta::assert_snapshot!(code(POINTS, NARROW));
}

#[test]
fn entries_that_are_for_others_are_refused() {
    let error = try_code("loop<1> @f(%0: i64) reduce($0 add) { local $0 sum: f64 }", WIDE).unwrap_err();
    assert!(
        matches!(&error, EmitError::Unsupported { message, .. } if message.contains("a reduction")),
        "{error:?}"
    );
    let error = try_code("host @f() { }", WIDE).unwrap_err();
    assert!(
        matches!(&error, EmitError::Internal(message) if message.contains("Host")),
        "{error:?}"
    );
}
