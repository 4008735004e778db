//! Every row of the tables of operations and statements, and every operator: what it asks of the machine, or that it is refused. Snapshots
//! show the lines.

#![allow(clippy::unwrap_used)]

mod machine;

use std::collections::BTreeSet;
use std::fmt::Write;

use machine::written;
use weft_ir::text::parse;
use weft_ir::verify::verify;
use weft_ir::{AtomicOp, BarrierOp, BinOp, CmpOp, Module, Op, Scalar, StmtKind, UnOp, WarpOp};
use weft_thread::{EmitError, Sizes};

/// Nothing is known of lengths and arguments.
const WIDE: Sizes = Sizes {
    narrow: false,
    small: false,
    limit: 1 << 31,
};

/// What a row of the tables is in a kernel, with what reads its result where it asks for nothing itself. Every operand is a parameter of the
/// kernel below; results are `%r`, `%r2`.
const ROWS: &[&str] = &[
    "%r: f64 = 1.5  set $0 = %r",
    "%r: f64 = get $0",
    "%r: view<f64, 1, C, global> = get $1",
    "%r: f64 = sqrt %a",
    "%r: f64 = div %a, %b",
    "%r: bool = lt %a, %b",
    "%r: f64 = select %yes, %a, %b",
    "%r: view<f64, 1, C, global> = select %yes, %x, %x2",
    "%r: f64 = fma %a, %b, %c",
    "%r: f32 = cast %a",
    "%r: i64 = bitcast %a",
    "%r: (f64, i64) = tuple(%a, %n)  %r2: f64 = item %r, 0  set $0 = %r2",
    "%r: i64 = dim %x, 0  store %i[%n] = %r",
    "%r: f64 = load %x[%n]",
    "%r: f64 = load %x[%n?]",
    "%r: f64 = load %z[%n].re",
    "%r: f64 = load %z[%n].im",
    "%r: f64 = load %f[%n, %m?]",
    "%r: f64 = load %any[%n?, %m]",
    "%r: view<f64, 2, any, global> = slice %x[%n len %m step %k, new]  %r2: f64 = load %r[%n, %m]",
    "%r: view<f64, 1, any, global> = slice %any[.., %n?]  %r2: f64 = load %r[%m]",
    "%r: view<f64, 2, any, global> = transpose %any[1, 0]  %r2: f64 = load %r[%n, %m]",
    "%r: view<f64, 1, any, global> = part %z.im  %r2: f64 = load %r[%n]",
    "%r: view<f64, 2, C, global> = reshape %x[%n, %m]  %r2: f64 = load %r[%k, %k]",
    "%r: view<i64, 1, C, shared> = array 0",
    "%r: view<f32, 1, C, const, ro> = const_array 0",
    "%r: f64 = call @twice(%a)  set $0 = %r",
    "%r: i64 = atomic add %i[%n], %m",
    "%r: i64 = atomic cas %i[%n?], %m expected %k",
    "%r: i64 = block_idx.y",
    "%r: i64 = warp shuffle_up %mask, %n, %lane",
    "%r: u32 = warp ballot %mask, %yes",
    "%r: u32 = active_mask",
    "%r: bool = barrier_reduce or %yes",
    "%r: view<i64, 1, C, shared> = dynamic_shared",
    "set $0 = %a",
    "set $1 = %x",
    "if %yes { barrier } else { fence device }",
    "loop { if %yes { break } continue }",
    "for %r: i64 = %n to %m step %k { fence block }",
    "scope ^0 { leave ^0 }",
    "return",
    "store %x[%n] = %a",
    "store %z[%n?].im = %a",
    "barrier",
    "grid_barrier",
    "sync_warp %mask",
    "%r: view<f32, 3, C, local> = array 1  %r2: view<f16, 2, C, shared> = array 2  mma f16 %r, %r2, %r2 right_transposed",
    "fence system",
    "sleep %mask",
    "raise value \"no\"",
    "print \"n is \", %n, \" of \", %a",
];

/// What no kernel has once the passes are through, or never had: the walk refuses it.
const REFUSED: &[(&str, &str)] = &[
    ("%r: c128 = complex %a, %b", "an operation the passes should have removed: Complex"),
    ("%r: c128 = load %z[%n]  %r2: f64 = re %r", "an access to a whole complex element"),
    ("%r: bool = apart %x, %x2", "an operation the passes should have removed: Apart"),
];

/// Rows that no kernel may have: the verifier sees to that.
const NEVER: &[&str] = &[
    "alloc",
    "routine",
    "thread_state",
    "libm",
    "out_of_stack",
    "parfor",
    "launch",
    "re",
    "im",
];

/// A kernel of one statement, whose parameters are every operand of the rows above.
fn kernel(stmt: &str) -> Module {
    let params = [
        ("a", "f64"),
        ("b", "f64"),
        ("c", "f64"),
        ("n", "i64"),
        ("m", "i64"),
        ("k", "i64"),
        ("yes", "bool"),
        ("mask", "u32"),
        ("lane", "i32"),
        ("x2", "view<f64, 1, C, global>"),
        ("x", "view<f64, 1, C, global>"),
        ("z", "view<c128, 1, C, global>"),
        ("f", "view<f64, 2, F, global>"),
        ("any", "view<f64, 2, any, global>"),
        ("i", "view<i64, 1, C, global>"),
    ];
    let mut text = String::from("const 0: f32[2] = [1.0, 2.0]\n\nentry kernel @k(");
    let mut stmt = format!("{stmt} ");
    for (number, (name, ty)) in params.iter().enumerate() {
        let comma = if number == 0 { "" } else { ", " };
        write!(text, "{comma}%{number} {name}: {ty}").unwrap();
        stmt = numbered(&stmt, name, number);
    }
    let stmt = numbered(&numbered(&stmt, "r", params.len()), "r2", params.len() + 1);
    write!(
        text,
        ") {{\n  local $0 sum: f64\n  local $1 window: view<f64, 1, C, global>\n  array 0 tile: i64[4] shared\n  array 1 sums: f32[1, 2, 4] local\n  array 2 half: f16[16, 24] shared\n  {stmt}\n}}\n\n\
         device @twice(%0: f64) -> f64 {{\n  return %0\n}}\n"
    )
    .unwrap();
    let module = parse(&text).unwrap_or_else(|error| unreachable!("{error} in\n{text}"));
    verify(&module).unwrap_or_else(|error| unreachable!("{error} in\n{text}"));
    module
}

/// The text with the number of a value instead of its name.
fn numbered(text: &str, name: &str, number: usize) -> String {
    [" ", ",", ":", "]", "[", ".", "?", ")"].iter().fold(text.to_owned(), |text, end| {
        text.replace(&format!("%{name}{end}"), &format!("%{number}{end}"))
    })
}

/// What a statement asks for behind the parameters and the variables.
fn asked(stmt: &str) -> Result<String, EmitError> {
    let before = written(&kernel(""), WIDE)?;
    let all = written(&kernel(stmt), WIDE)?;
    Ok(all.strip_prefix(&before).unwrap().to_owned())
}

#[test]
fn every_row_asks_the_machine_for_what_it_is() {
    let (mut ops, mut stmts, mut text) = (BTreeSet::new(), BTreeSet::new(), String::new());
    for row in ROWS {
        see(&kernel(row), &mut ops, &mut stmts);
        writeln!(text, "{row}").unwrap();
        asked(row).unwrap().lines().for_each(|line| writeln!(text, "    {line}").unwrap());
    }
    insta::assert_snapshot!(text);
    for (row, _) in REFUSED {
        see(&kernel(row), &mut ops, &mut stmts);
    }
    assert_eq!(unseen(Op::FORMS, &ops), [""; 0], "operations that this test does not have");
    assert_eq!(unseen(StmtKind::FORMS, &stmts), [""; 0], "statements that this test does not have");
}

/// Notes the rows of a module.
fn see(module: &Module, ops: &mut BTreeSet<usize>, stmts: &mut BTreeSet<usize>) {
    module.entry_function().body.walk(&mut |kind| {
        stmts.insert(kind.row());
        if let StmtKind::Let(_, op) = kind {
            ops.insert(op.row());
        }
    });
}

/// The names of the rows that were not seen, but for those that no kernel has.
fn unseen(forms: &[&'static str], seen: &BTreeSet<usize>) -> Vec<&'static str> {
    let unseen = forms.iter().enumerate().filter(|(row, _)| !seen.contains(row));
    let names = unseen.map(|(_, form)| form.split(['{', ' ', '(']).next().unwrap_or(form));
    names.filter(|name| !NEVER.contains(name)).collect()
}

#[test]
fn what_the_passes_remove_is_refused() {
    for (row, why) in REFUSED {
        let error = asked(row).unwrap_err();
        let (EmitError::Internal(message) | EmitError::Unsupported { message, .. }) = &error;
        assert!(message.contains(why), "{row}: {error:?}");
    }
}

/// The one line that a kernel of these parameters writes for an operation on all of them.
fn line_of(params: &[&str], gives: Scalar, op: &str) -> String {
    let list: Vec<String> = params.iter().enumerate().map(|(i, ty)| format!("%{i}: {ty}")).collect();
    let text = |body: &str| format!("kernel @f({}) {{ {body} }}", list.join(", "));
    let of = |body: &str| {
        let module = parse(&text(body)).unwrap_or_else(|error| unreachable!("{error} in {body}"));
        verify(&module).unwrap_or_else(|error| unreachable!("{error} in {body}"));
        written(&module, WIDE).unwrap()
    };
    let all = of(&format!("%{}: {gives} = {op}", params.len()));
    let line = all.strip_prefix(&of("")).unwrap();
    assert_eq!(line.lines().count(), 1, "{op}: {line}");
    let (_, line) = line.trim_end().split_once(": ").unwrap();
    line.to_owned()
}

/// Arguments in registers have no range, so that nothing is known that would make another operation of one.
#[test]
fn every_operator_of_values_is_asked_for_by_name_and_type() {
    for s in Scalar::ALL.iter().filter(|s| !s.is_complex()) {
        let ty = s.to_string();
        for op in UnOp::ALL.iter().filter(|op| op.takes(*s)) {
            let (gives, name) = (op.gives(*s), op.name());
            let wanted = match (op, s) {
                (UnOp::Neg, Scalar::I64) => "i64 = sub 0_i64, r1, wraps".to_owned(),
                _ => format!("{gives} = {name} {s} r1"),
            };
            assert_eq!(line_of(&[&ty], gives, &format!("{name} %0")), wanted);
        }
        for op in BinOp::ALL.iter().filter(|op| op.takes(*s)) {
            let (gives, name) = (op.gives(*s), op.name());
            let wanted = match (op, s) {
                (BinOp::Sub, Scalar::I64) => "i64 = sub r1, r2, wraps".to_owned(),
                _ => format!("{gives} = {name} {s} r1, r2"),
            };
            assert_eq!(line_of(&[&ty, &ty], gives, &format!("{name} %0, %1")), wanted);
        }
        for op in CmpOp::ALL.iter().filter(|op| op.takes(*s)) {
            let name = op.name();
            let line = line_of(&[&ty, &ty], Scalar::Bool, &format!("{name} %0, %1"));
            assert_eq!(line, format!("bool = {name} {s} r1, r2"));
        }
    }
}

#[test]
fn every_operator_of_threads_and_memory_is_asked_for_by_name() {
    for s in Scalar::ALL.iter().filter(|s| !s.is_complex()) {
        let ty = s.to_string();
        for op in AtomicOp::ALL.iter().filter(|op| op.takes(*s)) {
            let (gives, name) = (op.gives(*s), op.name());
            let (expected, wanted) = if *op == AtomicOp::Cas {
                (" expected %0", " expected r1")
            } else {
                ("", "")
            };
            let line = line_of(
                &[&ty, &format!("view<{ty}, 0, C, global>")],
                gives,
                &format!("atomic {name} %1[], %0{expected}"),
            );
            assert_eq!(line, format!("{gives} = atomic {name} p1[], r1{wanted}"));
        }
        for op in WarpOp::ALL.iter().filter(|op| op.takes(*s)) {
            let (gives, name) = (op.gives(*s), op.name());
            let (lane, wanted) = if op.is_shuffle() { (", %2", ", r3") } else { ("", "") };
            let line = line_of(&[&ty, "u32", "i32"], gives, &format!("warp {name} %1, %0{lane}"));
            assert_eq!(line, format!("{gives} = warp {name} r2, r1{wanted}"));
        }
        for op in BarrierOp::ALL.iter().filter(|op| op.takes(*s)) {
            let (gives, name) = (op.gives(*s), op.name());
            assert_eq!(
                line_of(&[&ty], gives, &format!("barrier_reduce {name} %0")),
                format!("{gives} = barrier_reduce {name} r1")
            );
        }
    }
}
