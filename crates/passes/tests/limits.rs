//! Programs that would grow without end are refused, and deep or long ones do not exhaust the stack.

#![allow(clippy::unwrap_used, clippy::panic)]

use std::fmt::Write;

use weft_ir::text::{parse, print};
use weft_passes::{inline, lower_for_cpu};

/// `f0` calls `f1` twice, which calls `f2` twice, and so on.
#[test]
fn calls_that_multiply_are_refused() {
    let mut text = String::from("entry host @f0(%0 x: i64) -> i64 {\n  %1: i64 = call @f1(%0)\n  return %1\n}\n");
    for i in 1..40 {
        let next = i + 1;
        write!(text, "\ndevice @f{i}(%0 x: i64) -> i64 {{\n  %1: i64 = call @f{next}(%0)\n").unwrap();
        writeln!(text, "  %2: i64 = call @f{next}(%1)\n  return %2\n}}").unwrap();
    }
    text += "\ndevice @f40(%0 x: i64) -> i64 {\n  %1: i64 = add %0, %0\n  return %1\n}\n";
    let error = inline::run(&mut parse(&text).unwrap()).unwrap_err();
    assert!(error.message.contains("too large once `f"), "{error}");
}

#[test]
fn a_long_row_of_early_exits_is_nested_only_so_deep() {
    let mut text = String::from("entry host @f(%0 x: i64) -> i64 {\n  %1: i64 = call @table(%0)\n  return %1\n}\n");
    text += "\ndevice @table(%0 x: i64) -> i64 {\n";
    for i in 0..3000 {
        let (key, found) = (2 * i + 1, 2 * i + 2);
        write!(text, "  %{key}: i64 = {i}\n  %{found}: bool = eq %0, %{key}\n").unwrap();
        writeln!(text, "  if %{found} {{\n    return %{key}\n  }}").unwrap();
    }
    text += "  return %0\n}\n";
    let mut module = parse(&text).unwrap();
    lower_for_cpu(&mut module).unwrap();
    let deepest = print(&module)
        .lines()
        .map(|line| line.len() - line.trim_start().len())
        .max()
        .unwrap();
    assert!(deepest < 2 * 100, "blocks are nested {} deep", deepest / 2);
}
