//! Every atomic operation on every type, in every kind of memory, leaves and gives back what the interpreter says; and what many threads
//! do at once adds up.

#![allow(clippy::unwrap_used, clippy::panic)] // A test that cannot go on stops.

#[path = "../../cuda/tests/suite/mod.rs"]
mod suite;

use std::sync::Arc;

use suite::launch::run;
use weft_gpu::emit::Facts;
use weft_ir::interp::Options;
use weft_ir::testing::{Array, Expected, TestLaunch, TestLine, TestValue, interpret};
use weft_ir::{Const, Layout, Scalar, text};
use weft_runtime::CompileOptions;

/// Elements that are changed.
const CELLS: u64 = 4;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Memory {
    Global,
    Shared,
    Local,
    Dynamic,
}

const OPS: [&str; 13] = [
    "add", "sub", "min", "max", "and", "or", "xor", "exch", "nan_min", "nan_max", "inc", "dec", "cas",
];

fn ops(s: Scalar) -> impl Iterator<Item = &'static str> {
    OPS.into_iter().filter(move |op| fits(op, s))
}

fn fits(op: &str, s: Scalar) -> bool {
    match op {
        "and" | "or" | "xor" => s.is_int(),
        "inc" | "dec" => s.is_int() && !s.is_signed(),
        "nan_min" | "nan_max" => s.is_float(),
        _ => s.is_int() || s.is_float(),
    }
}

fn values(s: Scalar) -> Vec<Const> {
    let ints = [0, 1, -1, 5, 127, -128, 40_000, i64::MIN, 77, i64::MAX, 3, 3];
    let floats = [0.5, -2.25, f64::NAN, 1e30, -0.0, 3.0, f64::INFINITY, 0.0, 3.0, -7.5, 1.0, 1.0];
    match s {
        Scalar::F32 => floats.iter().map(|v| Const::f32(*v as f32)).collect(),
        Scalar::F64 => floats.iter().map(|v| Const::f64(*v)).collect(),
        _ => ints.iter().map(|v| Const::Int(s, s.wrap(*v))).collect(),
    }
}

fn array(s: Scalar, data: Vec<Const>) -> TestValue {
    TestValue::Array(Array {
        elem: s,
        shape: vec![data.len() as u64],
        layout: Layout::C,
        data,
    })
}

/// One thread that does all the operations one after the other, each with all values, on elements that are brought to the memory and back.
fn source(s: Scalar, memory: Memory, count: usize) -> String {
    let space = match memory {
        Memory::Global => "global",
        Memory::Shared | Memory::Dynamic => "shared",
        Memory::Local => "local",
    };
    let declared = match memory {
        Memory::Shared | Memory::Local => format!("  array 0 m: {s}[{CELLS}] {space}\n"),
        _ => String::new(),
    };
    let made = match memory {
        Memory::Shared | Memory::Local => "array 0",
        Memory::Dynamic => "dynamic_shared",
        Memory::Global => "transpose %0[0]",
    };
    let mut text = format!(
        "entry kernel @k(%0 x: view<{s}, 1, C, global>, %1 v: view<{s}, 1, C, global, ro>, %2 old: view<{s}, 1, C, global>) {{
{declared}  %3: view<{s}, 1, C, {space}> = {made}
  %4: i64 = 0
  %5: i64 = 1
  %6: i64 = {CELLS}
  %7: i64 = {count}
  %8: i64 = {mask}
  for %9: i64 = %4 to %6 step %5 {{
    %10: {s} = load %0[%9]
    store %3[%9] = %10
  }}
",
        mask = CELLS - 1
    );
    let mut next = 11;
    for (at, op) in ops(s).enumerate() {
        let [i, cell, value, odd, is_odd, now, expected, old, start, place] = std::array::from_fn(|n| next + n);
        next += 10;
        let atomic = match op {
            "cas" => format!("atomic cas %3[%{cell}], %{value} expected %{expected}"),
            _ => format!("atomic {op} %3[%{cell}], %{value}"),
        };
        text += &format!(
            "  for %{i}: i64 = %4 to %7 step %5 {{
    %{cell}: i64 = and %{i}, %8
    %{value}: {s} = load %1[%{i}]
    %{odd}: i64 = and %{i}, %5
    %{is_odd}: bool = eq %{odd}, %5
    %{now}: {s} = load %3[%{cell}]
    %{expected}: {s} = select %{is_odd}, %{now}, %{value}
    %{old}: {s} = {atomic}
    %{start}: i64 = {before}
    %{place}: i64 = add %{start}, %{i}
    store %2[%{place}] = %{old}
  }}
",
            before = at * count
        );
    }
    let last = next + 1;
    text + &format!(
        "  for %{next}: i64 = %4 to %6 step %5 {{
    %{last}: {s} = load %3[%{next}]
    store %0[%{next}] = %{last}
  }}
}}
"
    )
}

#[test]
fn all_operations_on_all_types() {
    let device = &*weft_gpu::devices()[0];
    for s in Scalar::ALL
        .into_iter()
        .filter(|s| s.is_int() || matches!(s, Scalar::F32 | Scalar::F64))
    {
        for memory in [Memory::Global, Memory::Shared, Memory::Local, Memory::Dynamic] {
            let values = values(s);
            let module = text::parse(&source(s, memory, values.len())).unwrap();
            let results = values.iter().cycle().take(values.len() * ops(s).count());
            let line = TestLine {
                line: 0,
                func: module.entry,
                launch: TestLaunch::Grid {
                    grid: [1; 3],
                    block: [1; 3],
                    dynamic: 64,
                },
                args: vec![
                    array(s, values[2..6].to_vec()),
                    array(s, values.clone()),
                    array(s, results.copied().collect()),
                ],
                expected: Expected::default(),
            };
            let facts = if memory == Memory::Shared { Facts::default() } else { Facts::ALL };
            let exe = device
                .compile_for(Arc::new(module.clone()), CompileOptions::default(), facts)
                .unwrap();
            let ran = run(device, &*exe, &module, &line);
            ran.ended.unwrap();
            let oracle = interpret(&module, &line, Options::default()).unwrap();
            for (ours, theirs) in ran.args.iter().zip(&oracle.args) {
                assert!(ours.matches(theirs, false), "{s} in {memory:?}: {ours:?}\nexpected {theirs:?}");
            }
        }
    }
}

/// Many threads on few elements; results that do not hang on their order.
#[test]
fn all_at_once() {
    let device = &*weft_gpu::devices()[0];
    for s in [Scalar::U8, Scalar::I16, Scalar::I32, Scalar::I64, Scalar::F32, Scalar::F64] {
        let source = format!(
            "entry kernel @k(%0 x: view<{s}, 1, C, global>, %1 out: view<bool, 1, C, global>) {{
  %2: i64 = thread_idx.x
  %3: i64 = block_idx.x
  %4: i64 = block_dim.x
  %5: i64 = mul %3, %4
  %6: i64 = add %5, %2
  %7: i64 = 3
  %8: i64 = mod %6, %7
  %9: {s} = 1{dot}
  %10: {s} = atomic add %0[%8], %9
  %11: i64 = 2
  %12: i64 = mod %6, %11
  %13: bool = eq %12, %8
  store %1[%6] = %13
}}
",
            dot = if s.is_float() { ".0" } else { "" }
        );
        let module = text::parse(&source).unwrap();
        let line = TestLine {
            line: 0,
            func: module.entry,
            launch: TestLaunch::Grid {
                grid: [7, 1, 1],
                block: [50, 1, 1],
                dynamic: 0,
            },
            args: vec![
                array(s, values(s)[..1].iter().cycle().take(3).copied().collect()),
                array(Scalar::Bool, vec![Const::Bool(true); 350]),
            ],
            expected: Expected::default(),
        };
        let exe = device
            .compile_for(Arc::new(module.clone()), CompileOptions::default(), Facts::ALL)
            .unwrap();
        let ran = run(device, &*exe, &module, &line);
        let oracle = interpret(&module, &line, Options::default()).unwrap();
        for (ours, theirs) in ran.args.iter().zip(&oracle.args) {
            assert!(ours.matches(theirs, false), "{s}: {ours:?}, expected {theirs:?}");
        }
    }
}
