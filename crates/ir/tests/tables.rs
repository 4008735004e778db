//! Every row of the tables of operations, statements and operators: it prints, parses back, is verified, and means something.

#![allow(clippy::unwrap_used, clippy::panic)]

use std::collections::BTreeSet;

use weft_ir::text::{parse, print, strip_spans};
use weft_ir::verify::{Fault, verify};
use weft_ir::{
    AtomicOp, BarrierOp, BinOp, Block, CmpOp, Module, Op, ReduceOp, Scalar, SourceId, Span, Stmt, StmtKind, Type, UnOp, Value, WarpOp, eval,
};

/// Every row of both tables, in a module that is well formed. No operand may be the tuple `odd`.
const EVERY_ROW: &str = r#"const 0: f32[2] = [1.0, 2.0]

entry host @main(%0 odd: ((),), %1 n: i64, %2 x: view<f64, 1, C, global>, %3 z: view<c128, 1, C, global>) {
  local $0 sum: f64
  %4: f64 = 1.5
  %5: f64 = get $0
  %6: f64 = neg %4
  %7: f64 = add %4, %5
  %8: bool = lt %4, %5
  %9: f64 = select %8, %4, %5
  %10: f64 = fma %4, %5, %6
  %11: f32 = cast %4
  %12: i64 = bitcast %4
  %13: c128 = complex %4, %5
  %14: f64 = re %13
  %15: f64 = im %13
  %16: (f64, i64) = tuple(%4, %1)
  %17: i64 = item %16, 1
  %18: f64 = call @twice(%4)
  %19: i64 = dim %2, 0
  %20: f64 = load %2[%1?]
  %21: f64 = load %3[%1].im
  %22: view<f64, 2, any, global> = slice %2[%1 len %1 step %1, new]
  %23: view<f64, 1, C, global> = slice %22[.., %1?]
  %24: view<f64, 2, F, global> = transpose %22[1, 0]
  %25: view<f64, 1, any, global> = part %3.re
  %26: view<f64, 2, C, global> = reshape %2[%1, %1]
  %27: view<f64, 1, C, global> = alloc [%1]
  %28: view<f64, 2, C, global> = alloc zeroed [%1, %1]
  %29: view<f32, 1, C, const, ro> = const_array 0
  %30: bool = apart %2, %27
  %31: bool = out_of_stack
  %32: i64 = routine matmul threads (%28, %28, %28)
  %33: view<u32, 1, C, global> = thread_state numpy_words
  %34: f64 = libm pow(%4, %5)
  set $0 = %4
  if %8 {
    store %2[%1] = %4
  } else {
    store %3[%1?].re = %4
  }
  loop {
    for %35 i: i64 = %1 to %1 step %1 {
      if %8 {
        break
      }
      continue
    }
    scope ^0 {
      leave ^0
    }
    break
  }
  parfor (%36: i64, %37: i64) in (%1, %1) reduce($0 add) parallel {
    set $0 = %4
  }
  launch @points over (%1) with (%4) into ($0)
  print "sum ", %4, complex(%4, %5)
  raise host 7 "odd"
}

device @twice(%1 a: f64) -> f64 {
  unused %0 odd: ((),)
  return %1
}

loop<1> @points(%0: i64, %1 a: f64) reduce($0 add) {
  local $0 sum: f64
}

kernel @threads(%0 odd: ((),), %1 x: view<i64, 1, C, global>, %2 mask: u32, %3 lane: i32, %4 yes: bool) {
  array 0 tile: i64[4] shared
  array 1 sums: f32[1, 2, 4] local
  array 2 half: f16[16, 24] shared
  %5: view<i64, 1, C, shared> = array 0
  %6: view<i64, 1, C, shared> = dynamic_shared
  %7: i64 = thread_idx.x
  %8: i64 = atomic add %1[%7], %7
  %9: i64 = atomic cas %1[%7?], %7 expected %8
  %10: i64 = warp shuffle_up %2, %7, %3
  %11: u32 = warp ballot %2, %4
  %12: u32 = active_mask
  %13: bool = barrier_reduce or %4
  barrier
  grid_barrier
  sync_warp %2
  %14: view<f32, 3, C, local> = array 1
  %15: view<f16, 2, C, shared> = array 2
  mma f16 %14, %15, %15 right_transposed
  fence block
  sleep %2
  return
}
"#;

fn every_row() -> Module {
    let mut module = parse(EVERY_ROW).unwrap_or_else(|error| unreachable!("{error}"));
    assert_eq!(print(&module), EVERY_ROW);
    number_spans(&mut module);
    module
}

/// Calls `visit` with every statement, outer before inner.
fn each_stmt(block: &mut Block, visit: &mut dyn FnMut(&mut Stmt)) {
    for stmt in &mut block.0 {
        visit(stmt);
        stmt.kind.blocks_mut().for_each(|inner| each_stmt(inner, visit));
    }
}

/// Gives every statement a span of its own.
fn number_spans(module: &mut Module) {
    let mut start = 0;
    for function in &mut module.functions {
        each_stmt(&mut function.body, &mut |stmt| {
            start += 1;
            stmt.span = Span {
                source: SourceId(0),
                start,
                end: start,
            };
        });
    }
}

/// Every statement's span, and how many operands it has.
fn stmts(module: &Module) -> Vec<(Span, usize)> {
    let mut found = Vec::new();
    for function in &mut module.functions.clone() {
        each_stmt(&mut function.body, &mut |stmt| {
            let mut operands = 0;
            stmt.kind.operands(&mut |_| operands += 1);
            found.push((stmt.span, operands));
        });
    }
    found
}

/// The module with one statement edited.
fn edited(module: &Module, span: Span, edit: &mut dyn FnMut(&mut StmtKind)) -> Module {
    let mut module = module.clone();
    for function in &mut module.functions {
        each_stmt(&mut function.body, &mut |stmt| {
            if stmt.span == span {
                edit(&mut stmt.kind);
            }
        });
    }
    module
}

/// The module with another value in the place of an operand of one statement.
fn with_operand(module: &Module, span: Span, operand: usize, value: Value) -> Module {
    edited(module, span, &mut |kind| {
        let mut at = 0;
        kind.operands_mut(&mut |v| {
            if at == operand {
                *v = value;
            }
            at += 1;
        });
    })
}

#[test]
fn every_row_is_well_formed_and_seen_here() {
    let mut module = every_row();
    verify(&module).unwrap();
    let (mut ops, mut stmts) = (BTreeSet::new(), BTreeSet::new());
    for function in &module.functions {
        function.body.walk(&mut |kind| {
            stmts.insert(kind.row());
            if let StmtKind::Let(_, op) = kind {
                ops.insert(op.row());
            }
        });
    }
    let unseen = |forms: &[&'static str], seen: &BTreeSet<usize>| -> Vec<&str> {
        let forms = forms.iter().copied().enumerate();
        forms.filter(|(row, _)| !seen.contains(row)).map(|(_, form)| form).collect()
    };
    assert_eq!(unseen(Op::FORMS, &ops), [""; 0], "operations that this test does not have");
    assert_eq!(unseen(StmtKind::FORMS, &stmts), [""; 0], "statements that this test does not have");
    strip_spans(&mut module);
    assert_eq!(parse(&print(&module)).unwrap(), module);
}

#[test]
fn every_operand_is_verified() {
    let module = every_row();
    for (span, operands) in stmts(&module) {
        for operand in 0..operands {
            let unknown = Value(1000);
            let error = verify(&with_operand(&module, span, operand, unknown)).unwrap_err();
            assert_eq!((error.span, error.fault), (span, Fault::UnknownValue(unknown)));
            let odd = with_operand(&module, span, operand, Value(0));
            let error = verify(&odd).expect_err(&print(&odd));
            assert_eq!(error.span, span, "{error} in\n{}", print(&odd));
        }
    }
}

#[test]
fn every_result_is_verified() {
    let module = every_row();
    let odd = Type::Tuple(vec![Type::unit()]);
    for function in 0..module.functions.len() {
        let mut defined = Vec::new();
        each_stmt(&mut module.functions[function].body.clone(), &mut |stmt| {
            stmt.kind.definitions(&mut |value| defined.push((stmt.span, value)));
        });
        for (span, value) in defined {
            let mut module = module.clone();
            module.functions[function].values[value.index()].ty = odd.clone();
            let error = verify(&module).expect_err(&print(&module));
            assert_eq!(error.span, span, "{error} in\n{}", print(&module));
        }
    }
}

/// Is the module of this text, which parses back, well formed?
fn fits(text: &str) -> bool {
    let module = parse(text).unwrap_or_else(|error| unreachable!("{error} in\n{text}"));
    assert_eq!(parse(&print(&module)).as_ref(), Ok(&module), "{text}");
    verify(&module).is_ok()
}

#[test]
fn operators_of_values_are_verified_and_evaluated_as_their_rows_say() {
    for s in Scalar::ALL {
        let zero = eval::zero(s);
        for op in UnOp::ALL {
            let (takes, gives, name) = (op.takes(s), op.gives(s), op.name());
            assert_eq!(
                fits(&format!("host @f(%0: {s}) {{ %1: {gives} = {name} %0 }}")),
                takes,
                "{name} of {s}"
            );
            assert_eq!(eval::unary(*op, zero).map(|c| c.scalar()), takes.then_some(gives), "{name} of {s}");
        }
        for op in BinOp::ALL {
            let (takes, gives, name) = (op.takes(s), op.gives(s), op.name());
            assert_eq!(
                fits(&format!("host @f(%0: {s}) {{ %1: {gives} = {name} %0, %0 }}")),
                takes,
                "{name} of {s}"
            );
            assert_eq!(
                eval::binary(*op, zero, zero).map(|c| c.scalar()),
                takes.then_some(gives),
                "{name} of {s}"
            );
        }
        for op in CmpOp::ALL {
            let (takes, gives, name) = (op.takes(s), op.gives(s), op.name());
            assert_eq!(
                fits(&format!("host @f(%0: {s}) {{ %1: {gives} = {name} %0, %0 }}")),
                takes,
                "{name} of {s}"
            );
            assert_eq!(eval::compare(*op, zero, zero).is_some(), takes, "{name} of {s}");
        }
    }
}

#[test]
fn operators_of_threads_and_memory_are_verified_as_their_rows_say() {
    for s in Scalar::ALL {
        for op in AtomicOp::ALL {
            let (takes, gives, name) = (op.takes(s), op.gives(s), op.name());
            let expected = if *op == AtomicOp::Cas { "expected %0" } else { "" };
            let params = format!("%0: {s}, %1: view<{s}, 0, C, global>");
            let text = format!("kernel @f({params}) {{ %2: {gives} = atomic {name} %1[], %0 {expected} }}");
            assert_eq!(fits(&text), takes, "atomic {name} of {s}");
            let zero = eval::zero(s);
            let new = eval::atomic(*op, zero, zero, Some(zero));
            assert!(!takes || new.map(|c| c.scalar()) == Some(gives), "atomic {name} of {s}");
        }
        for op in WarpOp::ALL {
            let (takes, gives, name) = (op.takes(s), op.gives(s), op.name());
            let lane = if op.is_shuffle() { ", %2" } else { "" };
            let text = format!("kernel @f(%0: {s}, %1: u32, %2: i32) {{ %3: {gives} = warp {name} %1, %0{lane} }}");
            assert_eq!(fits(&text), takes, "warp {name} of {s}");
        }
        for op in BarrierOp::ALL {
            let (takes, gives, name) = (op.takes(s), op.gives(s), op.name());
            let text = format!("kernel @f(%0: {s}) {{ %1: {gives} = barrier_reduce {name} %0 }}");
            assert_eq!(fits(&text), takes, "barrier_reduce {name} of {s}");
        }
        for op in ReduceOp::ALL {
            let (takes, name) = (op.takes(s), op.name());
            let text = format!("loop<0> @f() reduce($0 {name}) {{ local $0: {s} }}");
            assert_eq!(fits(&text), takes, "reduce {name} of {s}");
            assert_eq!(op.binary().takes(s), takes, "reduce {name} of {s}");
        }
    }
}

#[test]
fn names_are_told_apart() {
    let of_forms = Op::FORMS.iter().filter_map(|form| form.split(['{', ' ', '(']).next());
    let mut names: Vec<&str> = of_forms.filter(|name| !name.is_empty()).collect();
    names.extend(UnOp::ALL.iter().map(|op| op.name()));
    names.extend(BinOp::ALL.iter().map(|op| op.name()));
    names.extend(CmpOp::ALL.iter().map(|op| op.name()));
    let distinct: BTreeSet<&str> = names.iter().copied().collect();
    assert_eq!(distinct.len(), names.len());
}
