//! Every loop gives what the front end and the interpreter say that NumPy's function of the name gives: the same bits, on every level of the
//! machine's instructions.

mod common;

use std::rc::Rc;

use common::{Given, Random, bytes, results, same, values};
use weft_front::{ArgType, Bounds, Dialect, Environment, FunctionSource, Object, Options, Role};
use weft_ir::interp::{Machine, RtValue};
use weft_ir::{BinOp, Const, Scalar, Source, eval};
use weft_tile::{TileLoop, find, find_pair};

// `bhil` are signed integers of 8 to 64 bits, capitals unsigned ones, `eEfd` floats of 16 (E: bfloat16) to 64 bits, `FD` complex numbers.
const ALL: &str = "?bBhHiIlLeEfdFD";
const NUMBERS: &str = "bBhHiIlLeEfdFD";
const REALS: &str = "bBhHiIlLeEfd";
const INTS: &str = "bBhHiIlL";
const FLOATS: &str = "eEfd";
const INEXACT: &str = "eEfdFD";

/// The loops of one operand: all that NumPy has for these names, but that `sqrt`, `sign` and `absolute` of complex numbers are compiled.
const UNARY: &[(&str, &str)] = &[
    ("negative positive", NUMBERS),
    ("sign", REALS),
    ("square reciprocal conj conjugate", NUMBERS),
    ("invert bitwise_not", "?bBhHiIlL"),
    ("bitwise_count", INTS),
    ("abs absolute floor ceil trunc", "?bBhHiIlLeEfd"),
    ("rint", INEXACT),
    ("sqrt fabs deg2rad rad2deg degrees radians spacing signbit", FLOATS),
    ("isnan isinf isfinite logical_not real imag", ALL),
];

/// The loops of two operands, but that powers of floats and complex numbers are compiled.
const BINARY: &[(&str, &str)] = &[
    ("add multiply maximum minimum fmax fmin", ALL),
    ("subtract", NUMBERS),
    ("power gcd lcm left_shift right_shift", INTS),
    ("floor_divide remainder mod fmod", REALS),
    ("divide true_divide", INEXACT),
    ("bitwise_and bitwise_or bitwise_xor", "?bBhHiIlL"),
    ("copysign nextafter heaviside", FLOATS),
    ("equal not_equal less less_equal greater greater_equal", ALL),
    ("logical_and logical_or logical_xor", ALL),
];

fn letter(s: Scalar) -> char {
    let at = Scalar::ALL.iter().position(|&other| other == s).expect("a scalar");
    "?bhilBHILeEfdFD".chars().nth(at).expect("a letter")
}

struct Names;

impl Environment for Names {
    fn lookup(&self, name: &str) -> Option<Object> {
        (name == "np").then(|| Object::Module("numpy".into()))
    }
}

/// What `np.NAME` gives of numbers of these types, or a part of it, as a module, and the type of that.
fn compiled(name: &str, part: &str, operands: &[Scalar]) -> Option<(weft_ir::Module, Scalar)> {
    let parameters = ["a", "b"][..operands.len()].join(", ");
    let function = FunctionSource {
        name: "f".into(),
        key: 1,
        source: Source {
            file: "meaning.py".into(),
            first_line: 1,
            text: format!("def f({parameters}):\n    return np.{name}({parameters}){part}\n"),
        },
        defaults: Vec::new(),
        decorated: None,
        env: Rc::new(Names),
    };
    let options = Options {
        role: Role::Host,
        dialect: Dialect::NumPy,
        parallel: false,
        fastmath: false,
        contract: false,
        python_errors: false,
        checked: false,
        bounds: Bounds::default(),
        float64: true,
        for_numba: false,
    };
    let types: Vec<ArgType> = operands.iter().map(|&s| ArgType::Strong(s)).collect();
    let compiled = weft_front::compile(&function, &types, options).ok()?;
    match compiled.result {
        ArgType::Strong(result) => Some((compiled.module, result)),
        _ => None,
    }
}

fn interpreted(module: &weft_ir::Module, operands: &[Vec<Const>]) -> Vec<Const> {
    let mut machine = Machine::new(module, weft_ir::interp::Options::default()).expect("a module");
    let mut call = |i: usize| {
        let args: Vec<RtValue> = operands.iter().map(|values| RtValue::Scalar(values[i])).collect();
        machine.call(&args).expect("a result").scalar().expect("a number")
    };
    (0..operands[0].len()).map(&mut call).collect()
}

/// All values of one operand, or all pairs.
fn arranged(operands: &[Scalar]) -> Vec<Vec<Const>> {
    match *operands {
        [s] => vec![values(s)],
        [a, b] => {
            let (a, b) = (values(a), values(b));
            let pairs: Vec<_> = a.iter().flat_map(|&x| b.iter().map(move |&y| (x, y))).collect();
            vec![pairs.iter().map(|p| p.0).collect(), pairs.iter().map(|p| p.1).collect()]
        }
        _ => Vec::new(),
    }
}

/// What is wrong with a loop, if anything.
fn check(name: &str, operands: &[Scalar]) -> Result<(), String> {
    let found = find(name, operands).ok_or(format!("{name} of {operands:?} has no loop"))?;
    check_loop(found, name, "", operands)
}

fn check_loop((found, result): (TileLoop, Scalar), name: &str, part: &str, operands: &[Scalar]) -> Result<(), String> {
    let what = format!("{name}{part} of {operands:?}");
    let (module, expected) = compiled(name, part, operands).ok_or(format!("{what} is unknown to the front end"))?;
    if result != expected {
        return Err(format!("{what} gives {result}, not {expected}"));
    }
    let values = arranged(operands);
    let expected = interpreted(&module, &values);
    let laid: Vec<Vec<u8>> = values.iter().map(|v| bytes(v)).collect();
    let given: Vec<Given<'_>> = laid.iter().map(|b| Given::Run(b)).collect();
    for (level, &run) in found.levels().iter().enumerate() {
        let got = results(run, &given, result, expected.len());
        for (i, (&got, &expected)) in got.iter().zip(&expected).enumerate() {
            if !same(got, expected) {
                let operands: Vec<Const> = values.iter().map(|v| v[i]).collect();
                return Err(format!("{what}: {operands:?} gives {got:?}, not {expected:?}, on level {level}"));
            }
        }
    }
    steps(found, &values, &expected, result).map_err(|e| format!("{what}: {e}"))
}

/// Operands that are one element, and short runs.
fn steps(found: TileLoop, values: &[Vec<Const>], expected: &[Const], result: Scalar) -> Result<(), String> {
    let whole = if values.len() == 1 {
        1
    } else {
        (expected.len() as f64).sqrt() as usize
    };
    for &run in found.levels() {
        for n in [0, 1, 2, 7, 300, 1000] {
            for steps in 0..1 << values.len() {
                let elements: Vec<Vec<u8>> = values.iter().map(|v| bytes(&v[whole / 2..(whole / 2 + n).min(v.len())])).collect();
                let ones: Vec<Vec<u8>> = values.iter().map(|v| v[whole / 2].to_bytes()).collect();
                let given: Vec<Given<'_>> = (0..values.len())
                    .map(|k| {
                        if steps >> k & 1 == 1 {
                            Given::One(&ones[k])
                        } else {
                            Given::Run(&elements[k])
                        }
                    })
                    .collect();
                let n = if steps + 1 == 1 << values.len() {
                    n
                } else {
                    n.min(expected.len() - whole / 2)
                };
                let got = results(run, &given, result, n);
                let plain: Vec<Vec<u8>> = given
                    .iter()
                    .map(|g| match g {
                        Given::Run(b) => b.to_vec(),
                        Given::One(b) => b.repeat(n),
                    })
                    .collect();
                let plain: Vec<Given<'_>> = plain.iter().map(|b| Given::Run(b)).collect();
                let wanted = results(found.levels()[0], &plain, result, n);
                if !got.iter().zip(&wanted).all(|(&a, &b)| same(a, b)) {
                    return Err(format!("{given:?} of {n} differ"));
                }
            }
        }
    }
    Ok(())
}

fn check_all(rows: &[(&str, &str)], count: usize) {
    let mut wrong = Vec::new();
    for (name, letters) in rows.iter().flat_map(|(names, letters)| names.split(' ').map(move |n| (n, letters))) {
        for s in Scalar::ALL {
            let operands = vec![s; count];
            if letters.contains(letter(s)) {
                wrong.extend(check(name, &operands).err());
            } else if find(name, &operands).is_some() {
                wrong.push(format!("{name} of {s} has a loop, but is not in the table"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn functions_of_one_operand() {
    check_all(UNARY, 1);
}

#[test]
fn functions_of_two_operands() {
    check_all(BINARY, 2);
}

#[test]
fn functions_with_two_results() {
    for (name, letters, count) in [("divmod", REALS, 2), ("modf", FLOATS, 1), ("frexp", FLOATS, 1)] {
        for s in Scalar::ALL {
            let operands = vec![s; count];
            let found = find_pair(name, &operands);
            assert_eq!(found.is_some(), letters.contains(letter(s)), "{name} of {s}");
            for (found, part) in found.into_iter().flatten().zip(["[0]", "[1]"]) {
                assert_eq!(check_loop(found, name, part, &operands), Ok(()));
            }
        }
    }
}

#[test]
fn mixed_comparisons_are_by_value() {
    for name in ["equal", "not_equal", "less", "less_equal", "greater", "greater_equal"] {
        assert_eq!(check(name, &[Scalar::I64, Scalar::U64]), Ok(()));
        assert_eq!(check(name, &[Scalar::U64, Scalar::I64]), Ok(()));
        assert!(find(name, &[Scalar::I32, Scalar::I64]).is_none());
    }
}

/// All pairs of narrow integers, and many of wide ones whose quotients lie beside whole numbers.
#[test]
fn integers_divide_exactly() {
    let operations = [("floor_divide", BinOp::FloorDiv), ("remainder", BinOp::Mod), ("fmod", BinOp::Rem)];
    for s in Scalar::ALL.into_iter().filter(|s| s.is_int()) {
        let (a, b): (Vec<Const>, Vec<Const>) = dividends(s)
            .into_iter()
            .map(|(a, b)| (Const::Int(s, s.wrap(a)), Const::Int(s, s.wrap(b))))
            .unzip();
        let (left, right) = (bytes(&a), bytes(&b));
        for (name, op) in operations {
            let (found, result) = find(name, &[s; 2]).expect("a loop");
            for &run in found.levels() {
                let got = results(run, &[Given::Run(&left), Given::Run(&right)], result, a.len());
                for ((&a, &b), &got) in a.iter().zip(&b).zip(&got) {
                    assert_eq!(Some(got), eval::binary(op, a, b), "{name} of {a:?} and {b:?}");
                }
            }
        }
    }
}

fn dividends(s: Scalar) -> Vec<(i64, i64)> {
    if s.size() == 1 {
        return (0..1 << 16).map(|i| (i & 0xff, i >> 8)).collect();
    }
    let mut random = Random::new();
    let mut pair = |i: i64| {
        let divisor = s.wrap((random.bits() >> (64 - s.bits() + random.bits() as u32 % s.bits())) as i64);
        let multiple = s.wrap(random.bits() as i64).checked_div(divisor).unwrap_or(0).wrapping_mul(divisor);
        (
            multiple.wrapping_add(i % 3 - 1),
            if i % 2 == 0 { divisor } else { divisor.wrapping_neg() },
        )
    };
    (0..50_000).map(&mut pair).collect()
}

#[test]
fn other_names_of_ufuncs_are_known() {
    for (name, other) in [
        ("power", "pow"),
        ("invert", "bitwise_invert"),
        ("left_shift", "bitwise_left_shift"),
        ("right_shift", "bitwise_right_shift"),
    ] {
        for count in [1, 2] {
            let [a, b] = [name, other].map(|n| find(n, &vec![Scalar::I32; count]).map(|(_, result)| result));
            assert_eq!(a, b);
        }
    }
    assert!(find("sin", &[Scalar::F64]).is_none());
}
