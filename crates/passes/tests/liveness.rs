//! Liveness of locals around every kind of region.

#![allow(clippy::unwrap_used, clippy::panic)]

use weft_ir::text::parse;
use weft_ir::{Function, StmtKind};
use weft_passes::liveness::{Liveness, LocalSet};
use weft_passes::numbering::{Numbered, Numbering};

/// One line for each region of the function, in pre-order: its kind, what is live behind it, and at its head if it is a loop.
fn describe(text: &str) -> String {
    let module = parse(text).unwrap_or_else(|error| panic!("{error}:\n{text}"));
    let func = module.entry_function();
    let live = Liveness::of(func);
    let mut out = format!("entry {}\n", names(func, live.entry()));
    regions(func, Numbering::of(&func.body).body(), &live, &mut out);
    out
}

fn regions(func: &Function, block: Numbered<'_>, live: &Liveness, out: &mut String) {
    for node in block.iter() {
        let (id, stmt) = (node.id, node.stmt);
        let (name, is_loop) = match stmt.kind {
            StmtKind::If { .. } => ("if", false),
            StmtKind::Scope(..) => ("scope", false),
            StmtKind::Loop(_) => ("loop", true),
            StmtKind::For { .. } => ("for", true),
            StmtKind::ParFor { .. } => ("parfor", true),
            _ => continue,
        };
        *out += &format!("{} {name} after {}", id.0, names(func, live.after(id)));
        if is_loop {
            *out += &format!(" head {}", names(func, live.head(id)));
        }
        out.push('\n');
        for inner in node.blocks() {
            regions(func, inner, live, out);
        }
    }
}

fn names(func: &Function, locals: &LocalSet) -> String {
    let names: Vec<_> = locals.iter().map(|local| func.locals[local.index()].name.as_str()).collect();
    format!("[{}]", names.join(" "))
}

#[test]
fn sides_of_an_if_and_what_follows() {
    let text = "
host @f(%0 c: bool) {
  local $0 a: bool
  local $1 b: bool
  local $2 d: bool
  set $0 = %0
  if %0 {
    set $1 = %0
    if %0 {
      set $2 = %0
    }
  } else {
    %1: bool = get $2
    set $1 = %1
  }
  %2: bool = get $0
  %3: bool = get $1
  print %2, %3
}";
    assert_eq!(describe(text), "entry [d]\n1 if after [a b]\n3 if after [a b]\n");
}

#[test]
fn loops_keep_what_the_next_iteration_reads() {
    let text = "
host @f(%0 n: i64, %1 c: bool) {
  local $0 sum: i64
  local $1 fresh: i64
  local $2 last: i64
  set $0 = %0
  loop {
    set $1 = %0
    for %2 i: i64 = %0 to %0 step %0 {
      %3: i64 = get $0
      %4: i64 = get $1
      %5: i64 = add %3, %4
      set $0 = %5
      if %1 {
        continue
      }
      set $2 = %5
    }
    if %1 {
      break
    }
    set $0 = %0
  }
  %6: i64 = get $2
  print %6
}";
    assert_eq!(
        describe(text),
        "entry [last]\n1 loop after [last] head [sum last]\n3 for after [last] head [sum fresh last]\n8 if after [sum fresh]\n11 if after [last]\n"
    );
}

#[test]
fn leaving_a_scope_reads_what_follows_it() {
    let text = "
host @f(%0 c: bool) {
  local $0 result: bool
  local $1 other: bool
  scope ^0 {
    if %0 {
      set $0 = %0
      leave ^0
    }
    %1: bool = get $1
    scope ^1 {
      if %1 {
        return
      }
      leave ^0
    }
    set $0 = %1
  }
  %2: bool = get $0
  print %2
}";
    assert_eq!(
        describe(text),
        "entry [result other]\n0 scope after [result]\n1 if after [result other]\n5 scope after []\n6 if after [result]\n"
    );
}

#[test]
fn reductions_are_read_where_the_function_ends() {
    let text = "
loop<1> @f(%0 i: i64, %1 c: bool) reduce($0 add) {
  local $0 sum: i64
  local $1 t: i64
  if %1 {
    return
  }
  set $1 = %0
  if %1 {
    %2: i64 = get $1
    set $0 = %2
  }
}";
    assert_eq!(describe(text), "entry [sum]\n0 if after [sum]\n3 if after [sum]\n");
}

#[test]
fn points_of_a_parallel_loop_keep_their_locals_to_themselves() {
    let text = "
host @f(%0 n: i64) {
  local $0 sum: i64
  local $1 before: i64
  local $2 own: i64
  parfor (%1 i: i64) in (%0) reduce($0 add) {
    %2: i64 = get $1
    set $2 = %2
    %3: i64 = get $2
    set $0 = %3
  }
  %4: i64 = get $0
  print %4
}";
    assert_eq!(describe(text), "entry [sum before]\n0 parfor after [sum] head [before]\n");
}
