//! What loops of the host become in adjoints: index spaces on the lanes of one thread where their turns are independent, and sums of what all
//! turns read.

#![allow(clippy::unwrap_used)]

use std::collections::HashSet;

use weft_ir::verify::verify;
use weft_ir::{Type, ViewType, text};
use weft_passes::adjoint::{self, Derive, Request};

/// The text of the adjoint by all arrays of floats.
fn adjoint_of(program: &str) -> String {
    let module = text::parse(program).unwrap();
    let entry = module.entry_function();
    let shadow = |ty: &Type| match ty.view() {
        Some(view) if view.elem.is_float() => Derive::Shadow(ViewType { writable: true, ..view }),
        _ => Derive::None,
    };
    let request = Request {
        params: entry.params.iter().map(|param| shadow(entry.ty(*param))).collect(),
        results: Vec::new(),
        imaginary_params: HashSet::new(),
        imaginary_results: HashSet::new(),
        library: &|_, _| None,
    };
    let made = adjoint::run(&module, &request).unwrap();
    verify(&made).unwrap();
    text::print(&made)
}

fn over_one_axis(body: &str) -> String {
    adjoint_of(&format!(
        "host @f(%0 u: view<f32, 1, C, global>, %1 v: view<f32, 1, C, global>) {{
  %2: i64 = dim %0, 0
  %3: i64 = 0
  %4: i64 = 1
  for %5: i64 = %4 to %2 step %4 {{
{body}
  }}
  return
}}"
    ))
}

#[test]
fn stencils_add_to_neighbours_in_lanes_of_one_thread() {
    let made = over_one_axis(
        "    %6: i64 = sub %5, %4
    %7: f32 = load %0[%6]
    %8: f32 = load %0[%5]
    %9: f32 = mul %7, %8
    store %1[%5] = %9",
    );
    assert!(made.contains("parfor (") && made.contains("one_thread"), "{made}");
    assert!(!made.contains("for %"), "{made}");
    assert_eq!(made.matches("atomic add").count(), 2, "{made}");
}

#[test]
fn turns_that_read_what_others_write_stay_a_loop() {
    let made = over_one_axis(
        "    %6: i64 = sub %5, %4
    %7: f32 = load %1[%6]
    %8: f32 = load %0[%5]
    %9: f32 = mul %7, %8
    store %1[%5] = %9",
    );
    assert!(!made.contains("parfor ("), "{made}");
}

#[test]
fn turns_that_may_wrap_to_one_element_stay_a_loop() {
    let made = over_one_axis(
        "    %6: i64 = sub %5, %4
    %7: f32 = load %0[%5]
    %8: f32 = mul %7, %7
    store %1[%6?] = %8",
    );
    assert!(!made.contains("parfor ("), "{made}");
}

#[test]
fn turns_whose_integers_come_round_stay_a_loop() {
    for (few, stays) in [("u8", true), ("i16", true), ("i32", false)] {
        let made = over_one_axis(&format!(
            "    %6: {few} = cast %5
    %7: i64 = cast %6
    %8: f32 = load %0[%5]
    %9: f32 = mul %8, %8
    store %1[%7] = %9"
        ));
        assert_eq!(!made.contains("parfor ("), stays, "{made}");
    }
}

#[test]
fn what_all_turns_read_is_read_and_added_to_once_and_only_if_there_are_turns() {
    let made = over_one_axis(
        "    %6: i64 = 5
    %7: f32 = load %0[%6]
    %8: f32 = load %1[%5]
    %9: f32 = mul %7, %8
    store %1[%5] = %9",
    );
    let (before, inside) = made.split_once("parfor (").unwrap();
    let guarded = before
        .lines()
        .skip_while(|line| !line.trim_start().starts_with("if "))
        .any(|line| line.contains("load %0["));
    assert!(guarded, "{made}");
    let inside = inside.split_once("\n  }").unwrap().0;
    assert!(!inside.contains("load %0[") && !inside.contains("atomic"), "{made}");
}
