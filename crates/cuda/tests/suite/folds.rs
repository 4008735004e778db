//! Folds of every kind, and extents that the fixed order cuts at different places: what each form leaves is what the interpreter leaves.

use std::sync::Arc;

use weft_array::Kind;
use weft_ir::interp::Options;
use weft_ir::testing::{Array, Expected, TestLaunch, TestLine, TestValue, interpret};
use weft_ir::{BinOp, Const, Layout, Module, Scalar, eval, text};
use weft_runtime::fold::Form;
use weft_runtime::{CompileError, Device, Executable};

use super::array;
use super::launch::run;

/// A fold and a launch of it.
pub struct Case {
    name: String,
    module: Module,
    line: TestLine,
    /// Points that a thread goes through where it has a point of the loop to itself.
    inner: u64,
    /// May its inner index spaces have kernels of their own?
    stages: bool,
}

/// Types, operators, and what joins an element to what there is so far.
const REDUCTIONS: [(Scalar, &str, &str); 13] = [
    (Scalar::F32, "add fixed", "add"),
    (Scalar::F64, "add fixed", "add"),
    (Scalar::F16, "add fixed", "add"),
    (Scalar::BF16, "add fixed", "add"),
    (Scalar::F32, "mul fixed", "mul"),
    (Scalar::I32, "add fixed", "add"),
    (Scalar::I64, "add", "add"),
    (Scalar::I16, "xor fixed", "xor"),
    (Scalar::F32, "max fixed", "max"),
    (Scalar::F16, "min fixed", "min"),
    (Scalar::I32, "max", "max"),
    (Scalar::Bool, "or fixed", "or"),
    (Scalar::Bool, "and fixed", "and"),
];

/// Points, and inner points.
const EXTENTS: [(u64, u64); 12] = [
    (0, 5),
    (1, 0),
    (3, 1),
    (3, 31),
    (1000, 33),
    (5, 64),
    (2, 2048),
    (3, 2049),
    (130, 300),
    (1, 20_000),
    (3, 40_000),
    (1, 100_000),
];

const LAYOUTS: [Layout; 3] = [Layout::C, Layout::F, Layout::Any];

pub fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for (turn, (scalar, op, joins)) in REDUCTIONS.into_iter().enumerate() {
        for (at, extents) in EXTENTS.into_iter().enumerate() {
            let layout = LAYOUTS[(turn + at) % LAYOUTS.len()];
            cases.push(along_rows(scalar, (op, joins), layout, extents));
        }
    }
    for (at, (points, inner)) in EXTENTS.into_iter().enumerate() {
        let layout = LAYOUTS[at % LAYOUTS.len()];
        cases.push(case("moments", MOMENTS, layout, (points, inner), [Scalar::F32, Scalar::F64], true));
        cases.push(case(
            "first_max",
            FIRST_MAX,
            layout,
            (points, inner.max(1)),
            [Scalar::I64, Scalar::F32],
            false,
        ));
        cases.push(case(
            "deviation",
            DEVIATION,
            layout,
            (points, inner),
            [Scalar::F32, Scalar::F32],
            true,
        ));
        cases.push(case(
            "softened",
            SOFTENED,
            layout,
            (points, inner),
            [Scalar::F32, Scalar::F32],
            true,
        ));
        cases.push(case(
            "in_place",
            IN_PLACE,
            layout,
            (points, inner.max(1)),
            [Scalar::F32, Scalar::F32],
            false,
        ));
    }
    for (outer, inner) in [([2, 3], [5, 7]), ([1, 2], [70, 100]), ([3, 1], [40, 3000]), ([2, 2], [3, 5000])] {
        for layout in LAYOUTS {
            cases.push(tables(layout, outer, inner));
        }
    }
    for kernel in array::kernels(Kind::Loop) {
        let launch = (kernel.outer, 3 * kernel.inner);
        cases.push(made(kernel.name, kernel.module, launch, kernel.args, true));
    }
    cases
}

/// What differs in a form, or by the rule, for each case. Threads go through so many inner points at the most.
pub fn faults(
    device: &dyn Device,
    most_turns: u64,
    compile: impl Fn(Module, Option<Form>) -> Result<Arc<dyn Executable>, CompileError>,
) -> Vec<String> {
    let mut faults = Vec::new();
    for Case {
        name,
        module,
        line,
        inner,
        stages,
    } in cases()
    {
        let oracle = interpret(&module, &line, Options::default()).unwrap();
        oracle.result.unwrap();
        let forms = [
            None,
            Some(Form::Threads),
            Some(Form::Blocks),
            Some(Form::Columns),
            Some(Form::Stages),
        ];
        for form in forms {
            if form == Some(Form::Threads) && inner > most_turns {
                continue;
            }
            let exe = match compile(module.clone(), form) {
                Ok(exe) => exe,
                Err(error) => {
                    faults.push(format!("{name} {form:?}: {error:?}"));
                    continue;
                }
            };
            let ran = run(device, &*exe, &module, &line);
            // Threads without a point go along with another one's, which must not write then.
            let writes = ["first_max", "softened", "in_place", "shares"]
                .iter()
                .any(|kernel| name.starts_with(kernel));
            let columns = !writes && device.limits().threads_per_block >= 512;
            if (!stages && form == Some(Form::Stages)) || (!columns && form == Some(Form::Columns)) {
                if ran.ended.is_ok() && line.launch != TestLaunch::Loop(vec![0]) {
                    faults.push(format!("{name} {form:?}: not refused"));
                }
                continue;
            }
            if let Err(error) = ran.ended {
                // Of float64 and 64-bit integers.
                let lacks = !device.limits().float64 && error.to_string().starts_with("this GPU has no ");
                if lacks {
                    continue;
                }
                faults.push(format!("{name} {form:?}: {error:?}"));
                continue;
            }
            let differs = ran
                .args
                .iter()
                .zip(&oracle.args)
                .find_map(|(ours, theirs)| difference(ours, theirs));
            faults.extend(differs.map(|what| format!("{name} {form:?}: {what}")));
        }
    }
    faults
}

fn difference(ours: &TestValue, theirs: &TestValue) -> Option<String> {
    if ours.matches(theirs, false) {
        return None;
    }
    let (TestValue::Array(ours), TestValue::Array(theirs)) = (ours, theirs) else {
        return Some(format!("{ours:?}, expected {theirs:?}"));
    };
    let mut pairs = ours.data.iter().zip(&theirs.data).enumerate();
    pairs.find_map(|(at, (a, b))| (a != b).then(|| format!("element {at} is {a:?}, expected {b:?}")))
}

fn case(name: &str, source: &str, layout: Layout, (points, inner): (u64, u64), [elem, result]: [Scalar; 2], stages: bool) -> Case {
    let source = source
        .replace("LAYOUT", layout.name())
        .replace("ELEM", elem.name())
        .replace("RESULT", result.name());
    let module = text::parse(&source).unwrap_or_else(|error| panic!("{error}:\n{source}"));
    let arrays = [
        (elem, vec![points, inner], layout),
        (result, vec![points], Layout::C),
        (result, vec![points], Layout::C),
    ];
    let (name, launch) = (format!("{name} {elem} {layout:?} {points} x {inner}"), vec![points]);
    made(name, module, (launch, 3 * inner), arrays.into_iter().map(array).collect(), stages)
}

fn made(name: String, module: Module, (extents, inner): (Vec<u64>, u64), mut args: Vec<TestValue>, stages: bool) -> Case {
    args.truncate(module.entry_function().params.len() - extents.len());
    Case {
        name,
        line: TestLine {
            line: 0,
            func: module.entry,
            launch: TestLaunch::Loop(extents),
            args,
            expected: Expected::default(),
        },
        module,
        inner,
        stages,
    }
}

/// Numbers whose sums round.
fn array((elem, shape, layout): (Scalar, Vec<u64>, Layout)) -> TestValue {
    let number = |at: u64| (at.wrapping_mul(7919) % 1009) as f64 - 400.0;
    let value = |at: u64| match elem {
        Scalar::Bool => Const::Bool(!number(at).rem_euclid(3.0).is_sign_negative() && at % 97 != 3),
        _ if elem.is_float() => eval::cast(Const::f64(number(at) / 7.0), elem).unwrap(),
        _ => eval::cast(Const::f64(number(at)), elem).unwrap(),
    };
    let data = (0..shape.iter().product()).map(value).collect();
    TestValue::Array(Array { elem, shape, layout, data })
}

fn near_one(value: &mut Const) {
    let thousandth = eval::binary(BinOp::Div, *value, Const::f32(30_000.0));
    *value = eval::binary(BinOp::Add, thousandth.unwrap(), Const::f32(1.0)).unwrap();
}

fn along_rows(scalar: Scalar, (op, joins): (&str, &str), layout: Layout, extents: (u64, u64)) -> Case {
    let first = match (scalar, op) {
        (Scalar::Bool, "and fixed") => "true",
        (Scalar::Bool, _) => "false",
        (_, "mul fixed") => "1.0",
        _ if scalar.is_float() => "0.5",
        _ => "3",
    };
    let source = format!(
        "entry loop<1> @rows(%0 i: i64, %1 x: view<ELEM, 2, LAYOUT, global, ro>, %2 out: view<ELEM, 1, C, global>) {{
  local $0 all: ELEM
  %3: ELEM = {first}
  set $0 = %3
  %4: i64 = dim %1, 1
  parfor (%5 j: i64) in (%4) reduce($0 {op}) {{
    %6: ELEM = load %1[%0, %5]
    %7: ELEM = get $0
    %8: ELEM = {joins} %7, %6
    set $0 = %8
  }}
  %9: ELEM = get $0
  store %2[%0] = %9
}}
"
    );
    let mut case = case(&format!("rows {op}"), &source, layout, extents, [scalar, scalar], true);
    if let ("mul", TestValue::Array(x)) = (joins, &mut case.line.args[0]) {
        x.data.iter_mut().for_each(near_one);
    }
    case
}

/// The sum and the sum of squares, together; more states than one, of types of their own.
const MOMENTS: &str = "
entry loop<1> @moments(%0 i: i64, %1 x: view<ELEM, 2, LAYOUT, global, ro>, %2 mean: view<RESULT, 1, C, global>, %3 m2: view<RESULT, 1, C, global>) {
  local $0 sum: ELEM
  local $1 squares: RESULT
  local $2 count: i32
  %4: ELEM = 0.0
  set $0 = %4
  %5: RESULT = 1.5
  set $1 = %5
  %6: i32 = 0
  set $2 = %6
  %7: i64 = dim %1, 1
  parfor (%8 j: i64) in (%7) reduce($0 add fixed, $1 add fixed, $2 add fixed) {
    %9: ELEM = load %1[%0, %8]
    %10: ELEM = get $0
    %11: ELEM = add %10, %9
    set $0 = %11
    %12: RESULT = cast %9
    %13: RESULT = mul %12, %12
    %14: RESULT = get $1
    %15: RESULT = add %14, %13
    set $1 = %15
    %16: bool = gt %9, %4
    if %16 {
      %17: i32 = get $2
      %18: i32 = 1
      %19: i32 = add %17, %18
      set $2 = %19
    }
  }
  %20: ELEM = get $0
  %21: RESULT = cast %20
  %22: i32 = get $2
  %23: RESULT = cast %22
  %24: RESULT = add %21, %23
  store %2[%0] = %24
  %25: RESULT = get $1
  store %3[%0] = %25
}
";

/// The largest element, then the first place that has it; what comes before reads, and the second index space writes as well.
const FIRST_MAX: &str = "
entry loop<1> @first_max(%0 i: i64, %1 x: view<ELEM, 2, LAYOUT, global>, %2 out: view<RESULT, 1, C, global>) {
  local $0 most: ELEM
  local $1 place: i64
  %3: i64 = 0
  %4: ELEM = load %1[%0, %3]
  set $0 = %4
  %5: i64 = dim %1, 1
  set $1 = %5
  parfor (%6 j: i64) in (%5) reduce($0 max fixed) {
    %7: ELEM = load %1[%0, %6]
    %8: ELEM = get $0
    %9: ELEM = max %8, %7
    set $0 = %9
  }
  %10: ELEM = get $0
  parfor (%11 j: i64) in (%5) reduce($1 min fixed) {
    %12: ELEM = load %1[%0, %11]
    %13: bool = eq %12, %10
    if %13 {
      %14: i64 = get $1
      %15: i64 = min %14, %11
      set $1 = %15
    }
    %16: ELEM = neg %12
    store %1[%0, %11] = %16
  }
  %17: i64 = get $1
  %18: RESULT = cast %17
  store %2[%0] = %18
}
";

/// One sum that depends on another, and a factor that a loop makes.
const DEVIATION: &str = "
entry loop<1> @deviation(%0 i: i64, %1 x: view<ELEM, 2, LAYOUT, global, ro>, %2 out: view<RESULT, 1, C, global>) {
  local $0 sum: ELEM
  local $1 factor: ELEM
  %3: ELEM = 0.0
  %4: ELEM = 1.25
  set $0 = %3
  set $1 = %4
  %5: i64 = 0
  %6: i64 = 3
  %7: i64 = 1
  for %8 i: i64 = %5 to %6 step %7 {
    %9: ELEM = get $1
    %10: ELEM = mul %9, %4
    set $1 = %10
  }
  %11: i64 = dim %1, 1
  parfor (%12 j: i64) in (%11) reduce($0 add fixed) {
    %13: ELEM = load %1[%0, %12]
    %14: ELEM = get $0
    %15: ELEM = add %14, %13
    set $0 = %15
  }
  %16: ELEM = get $0
  %17: i64 = max %11, %7
  %18: ELEM = cast %17
  %19: ELEM = div %16, %18
  set $0 = %3
  parfor (%20 j: i64) in (%11) reduce($0 add fixed) {
    %21: ELEM = load %1[%0, %20]
    %22: ELEM = sub %21, %19
    %23: ELEM = get $1
    %24: ELEM = mul %22, %23
    %25: ELEM = get $0
    %26: ELEM = add %25, %24
    set $0 = %26
  }
  %27: ELEM = get $0
  store %2[%0] = %27
}
";

/// What is broadcast back along the row, without a read between the index spaces; points that end early.
const SOFTENED: &str = "
entry loop<1> @softened(%0 i: i64, %1 x: view<ELEM, 2, LAYOUT, global>) {
  local $0 most: ELEM
  local $1 sum: ELEM
  %2: ELEM = -1000.0
  %3: ELEM = 0.0
  set $0 = %2
  set $1 = %3
  %4: i64 = dim %1, 1
  parfor (%5 j: i64) in (%4) reduce($0 max fixed) {
    %6: ELEM = load %1[%0, %5]
    %7: ELEM = get $0
    %8: ELEM = max %7, %6
    set $0 = %8
  }
  %9: ELEM = get $0
  parfor (%10 j: i64) in (%4) reduce($1 add fixed) {
    %11: ELEM = load %1[%0, %10]
    %12: bool = lt %11, %3
    if %12 {
      continue
    }
    %13: ELEM = sub %9, %11
    store %1[%0, %10] = %13
    %14: ELEM = get $1
    %15: ELEM = add %14, %13
    set $1 = %15
  }
  %16: ELEM = get $1
  parfor (%17 j: i64) in (%4) {
    %18: ELEM = load %1[%0, %17]
    %19: ELEM = add %18, %16
    store %1[%0, %17] = %19
  }
}
";

/// The epilogue reads what the points wrote: the code before them cannot be done again.
const IN_PLACE: &str = "
entry loop<1> @in_place(%0 i: i64, %1 x: view<ELEM, 2, LAYOUT, global>, %2 out: view<RESULT, 1, C, global>) {
  local $0 sum: ELEM
  %3: i64 = 0
  %4: ELEM = load %1[%0, %3]
  set $0 = %4
  %5: i64 = dim %1, 1
  parfor (%6 j: i64) in (%5) reduce($0 add fixed) {
    %7: ELEM = load %1[%0, %6]
    %8: ELEM = get $0
    %9: ELEM = add %8, %7
    set $0 = %9
    %10: ELEM = add %7, %4
    store %1[%0, %6] = %10
  }
  %11: ELEM = get $0
  %12: ELEM = load %1[%0, %3]
  %13: ELEM = add %11, %12
  store %2[%0] = %13
}
";

/// Over two axes of four.
fn tables(layout: Layout, outer: [u64; 2], inner: [u64; 2]) -> Case {
    let source = "
entry loop<2> @tables(%0 i: i64, %1 j: i64, %2 x: view<f32, 4, LAYOUT, global, ro>, %3 out: view<f32, 2, C, global>) {
  local $0 sum: f32
  local $1 least: f32
  %4: f32 = 0.0
  set $0 = %4
  set $1 = %4
  %5: i64 = dim %2, 2
  %6: i64 = dim %2, 3
  parfor (%7 k: i64, %8 l: i64) in (%5, %6) reduce($0 add fixed, $1 min fixed) {
    %9: f32 = load %2[%0, %1, %7, %8]
    %10: f32 = get $0
    %11: f32 = add %10, %9
    set $0 = %11
    %12: f32 = get $1
    %13: f32 = min %12, %9
    set $1 = %13
  }
  %14: f32 = get $0
  %15: f32 = get $1
  %16: f32 = add %14, %15
  store %3[%0, %1] = %16
}
";
    let module = text::parse(&source.replace("LAYOUT", layout.name())).unwrap();
    let arrays = [
        (Scalar::F32, [outer, inner].concat(), layout),
        (Scalar::F32, outer.to_vec(), Layout::C),
    ];
    let name = format!("tables {layout:?} {outer:?} x {inner:?}");
    made(
        name,
        module,
        (outer.to_vec(), inner.iter().product()),
        arrays.into_iter().map(array).collect(),
        true,
    )
}

/// The sum of all elements, in an element of the result: raises where it is negative, and prints it.
pub const TOTAL: &str = "
entry loop<1> @total(%0 i: i64, %1 x: view<i64, 1, C, global, ro>, %2 out: view<i64, 1, C, global>) {
  local $0 sum: i64
  %3: i64 = 0
  set $0 = %3
  %4: i64 = dim %1, 0
  parfor (%5 j: i64) in (%4) reduce($0 add fixed) {
    %6: i64 = load %1[%5]
    %7: i64 = get $0
    %8: i64 = add %7, %6
    set $0 = %8
  }
  %9: i64 = get $0
  %10: bool = lt %9, %3
  if %10 {
    raise value \"negative\"
  }
  print \"total \", %9
  store %2[%0] = %9
}
";

/// The same without a word.
pub fn quiet_total() -> String {
    let lines = TOTAL.lines().filter(|line| !line.contains("print"));
    let text = lines.collect::<Vec<_>>().join("\n");
    text.replace("  if %10 {\n    raise value \"negative\"\n  }\n", "")
}
