//! Operations as Python text: what kernels of lazy arrays are compiled from, and how they are shown.

use std::fmt::Write;
use std::rc::Rc;

use weft_front::{ArgType, Bounds, Dialect, Environment, FunctionSource, Object, Options, Role};
use weft_ir::{Module, Scalar, Source};

use crate::error::{Error, Result};
use crate::link;
use crate::operation::{self, Operation, What};
use crate::program::{Program, Slot};

/// An operation of operands that are written so: `shown` to users, who know their functions by their names, or to be compiled.
fn expression(operation: &Operation, args: &[String], shown: bool) -> String {
    match operation.what {
        What::Ufunc { name, part } => {
            let part = part.map_or(String::new(), |part| format!("[{part}]"));
            format!("np.{name}({}){part}", args.join(", "))
        }
        What::Cast => cast(operation.operands[0], operation.result, &args[0]),
        What::Select => format!("np.where({})", args.join(", ")),
        What::Function(id) if shown => format!("{}({})", operation::users(id).name, args.join(", ")),
        What::Function(id) => format!("{}({})", link::name(id), args.join(", ")),
    }
}

/// A conversion; complex numbers that become others lose their imaginary parts, but for truths.
fn cast(from: Scalar, to: Scalar, arg: &str) -> String {
    match (from.is_complex(), to) {
        (true, Scalar::Bool) => format!("{arg} != 0"),
        (true, to) if !to.is_complex() => format!("{}({arg}.real)", type_name(to)),
        _ => format!("{}({arg})", type_name(to)),
    }
}

pub fn type_name(scalar: Scalar) -> String {
    match scalar {
        Scalar::Bool => "np.bool_".into(),
        Scalar::BF16 => "weft.bfloat16".into(),
        other => format!("np.{}", other.numpy_name()),
    }
}

/// A program as a function of an element of each operand, and of its numbers: how it is shown.
pub fn of_program(program: &Program) -> String {
    let loads = (0..program.loads.len()).map(|at| format!("x{at}"));
    let params: Vec<String> = loads.chain((0..program.constants.len()).map(|at| format!("c{at}"))).collect();
    format!(
        "def fused({}):\n{}    return {}\n",
        params.join(", "),
        steps(program, true),
        result(program)
    )
}

/// A program as a function for loops: of an element of each operand in memory, of its numbers, and of what its iotas take. That is, for each,
/// the point's index if it moves along an axis; the first index, and the step between indices; start and step, of complex ones their parts.
///
/// Without 64-bit integers (`int64`) an index is computed in 32 bits, which wrap: arrays are shorter than that there, whatever the steps are.
pub fn of_loop(program: &Program, moves: &[bool], ends: Ends, int64: bool) -> (String, Vec<Scalar>) {
    let mut params: Vec<String> = (0..program.loads.len()).map(|at| format!("x{at}")).collect();
    params.extend((0..program.constants.len()).map(|at| format!("c{at}")));
    let loads = program.loads.iter().map(|load| load.elem);
    let mut types: Vec<Scalar> = loads.chain(program.constants.iter().map(|(elem, _)| *elem)).collect();
    let mut lines = String::new();
    for (at, (iota, moves)) in program.iotas.iter().zip(moves).enumerate() {
        let indices = if *moves { &["k", "f", "b"][..] } else { &["f", "b"] };
        let counted = counted(iota.elem);
        let numbers = if iota.elem.is_complex() {
            &["s", "sj", "d", "dj"][..]
        } else {
            &["s", "d"]
        };
        params.extend(indices.iter().chain(numbers).map(|name| format!("{name}{at}")));
        types.extend(indices.iter().map(|_| Scalar::I64).chain(numbers.iter().map(|_| counted)));
        let whole = |name: &str| {
            if int64 {
                format!("{name}{at}")
            } else {
                format!("np.int32({name}{at})")
            }
        };
        let index = if *moves {
            format!("{} + {} * {}", whole("f"), whole("k"), whole("b"))
        } else {
            whole("f")
        };
        let (counted, elem) = (type_name(counted), type_name(iota.elem));
        let _ = writeln!(lines, "    n{at} = {counted}({index})");
        let _ = match iota.elem.is_complex() {
            true => writeln!(lines, "    i{at} = {elem}(complex(s{at} + n{at} * d{at}, sj{at} + n{at} * dj{at}))"),
            false => writeln!(lines, "    i{at} = {elem}(s{at} + n{at} * d{at})"),
        };
    }
    let result = result(program);
    let end = match ends {
        Ends::Result => format!("    return {result}\n"),
        Ends::NumberOr(worst) => {
            format!("    nan = np.isnan({result})\n    return np.where(nan, {worst}, {result}), np.logical_not(nan)\n")
        }
    };
    (
        format!("def fused({}):\n{lines}{}{end}", params.join(", "), steps(program, false)),
        types,
    )
}

/// What such a function gives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ends {
    Result,
    /// The result, or what stands for NaN, and whether it was a number.
    NumberOr(String),
}

/// What an iota's numbers are: 16-bit floats are counted in float32, complex ones by their parts.
pub fn counted(elem: Scalar) -> Scalar {
    if elem.is_half() { Scalar::F32 } else { elem.part() }
}

/// A number of a type, of Python's text.
pub fn number(elem: Scalar, text: &str) -> String {
    format!("{}({text})", type_name(elem))
}

fn name(slot: &Slot) -> String {
    match slot {
        Slot::Load(at) => format!("x{at}"),
        Slot::Constant(at) => format!("c{at}"),
        Slot::Iota(at) => format!("i{at}"),
        Slot::Step(at) => format!("t{at}"),
    }
}

fn result(program: &Program) -> String {
    program.result.as_ref().map_or_else(String::new, name)
}

fn steps(program: &Program, shown: bool) -> String {
    let mut text = String::new();
    for (at, step) in program.steps.iter().enumerate() {
        let args: Vec<String> = step.args.iter().map(name).collect();
        let _ = writeln!(text, "    t{at} = {}", expression(step.operation, &args, shown));
    }
    text
}

/// A module whose entry is the operation as a function of numbers.
pub fn of_operation(operation: &Operation) -> Result<Module> {
    let names: Vec<String> = (0..operation.operands.len()).map(|at| format!("x{at}")).collect();
    let name = match operation.what {
        What::Ufunc { name, .. } => name,
        What::Cast => "cast",
        What::Select => "select",
        What::Function(id) => return Ok(operation::users(id).module.clone()),
    };
    let text = format!(
        "def {name}_({}):\n    return {}\n",
        names.join(", "),
        expression(operation, &names, false)
    );
    compile(&format!("{name}_"), text, &operation.operands)
}

/// A module whose entry is a function of numbers, from its text.
pub fn compile(name: &str, text: String, operands: &[Scalar]) -> Result<Module> {
    compile_for(name, text, operands, true)
}

/// The same for a device with float64 or without it.
pub fn compile_for(name: &str, text: String, operands: &[Scalar], float64: bool) -> Result<Module> {
    let function = FunctionSource {
        name: name.into(),
        key: 1,
        source: Source {
            file: "<lazy arrays>".into(),
            text,
            first_line: 1,
        },
        defaults: Vec::new(),
        decorated: None,
        env: Rc::new(Names),
    };
    let types: Vec<ArgType> = operands.iter().map(|&scalar| ArgType::Strong(scalar)).collect();
    let options = Options { float64, ..OPTIONS };
    weft_front::compile(&function, &types, options)
        .map(|compiled| link::linked(compiled.module))
        .map_err(Error::Front)
}

const OPTIONS: Options = Options {
    role: Role::Ufunc,
    dialect: Dialect::NumPy,
    parallel: false,
    fastmath: false,
    contract: false,
    python_errors: false,
    checked: false,
    bounds: Bounds {
        max_threads: 0,
        min_blocks: 0,
        max_registers: 0,
    },
    float64: true,
    for_numba: false,
};

/// What the texts may name.
pub struct Names;

impl Environment for Names {
    fn lookup(&self, name: &str) -> Option<Object> {
        match name {
            "np" => Some(Object::Module("numpy".into())),
            "weft" => Some(Object::Module("weft".into())),
            "complex" => Some(Object::Known("builtins.complex".into())),
            name => link::stub(name).map(|stub| Object::Function(Rc::new(stub))),
        }
    }

    fn attribute(&self, module: &str, name: &str) -> Option<Object> {
        match (module, name) {
            ("weft", "bfloat16") => Some(Object::Dtype(Scalar::BF16)),
            ("numpy", "bool_") => Some(Object::Dtype(Scalar::Bool)),
            ("numpy", name) => Some(match Scalar::from_numpy_name(name) {
                Some(scalar) => Object::Dtype(scalar),
                None => Object::Known(format!("numpy.{name}")),
            }),
            _ => None,
        }
    }
}
