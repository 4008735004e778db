//! Operations as Python text: what kernels of lazy arrays are compiled from, and how they are shown.

use std::fmt::Write;
use std::rc::Rc;

use weft_front::{ArgType, Bounds, Dialect, Environment, FunctionSource, Object, Options, Role};
use weft_ir::{Module, Scalar, Source};

use crate::error::{Error, Result};
use crate::operation::{self, Operation, What};
use crate::program::{Program, Slot};

/// An operation of operands that are written so.
pub fn expression(operation: &Operation, args: &[String]) -> String {
    match operation.what {
        What::Ufunc { name, part } => {
            let part = part.map_or(String::new(), |part| format!("[{part}]"));
            format!("np.{name}({}){part}", args.join(", "))
        }
        What::Cast => cast(operation.operands[0], operation.result, &args[0]),
        What::Select => format!("np.where({})", args.join(", ")),
        What::Function(id) => format!("{}({})", operation::users(id).name, args.join(", ")),
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

fn type_name(scalar: Scalar) -> String {
    match scalar {
        Scalar::Bool => "np.bool_".into(),
        Scalar::BF16 => "weft.bfloat16".into(),
        other => format!("np.{}", other.numpy_name()),
    }
}

/// The types of a program's parameters: its operands in memory, then its numbers.
pub fn operands(program: &Program) -> Vec<Scalar> {
    let loads = program.loads.iter().map(|load| load.elem);
    loads.chain(program.constants.iter().map(|(elem, _)| *elem)).collect()
}

/// A program as a function of an element of each operand, and of its numbers.
pub fn of_program(program: &Program) -> String {
    let name = |slot: &Slot| match slot {
        Slot::Load(at) => format!("x{at}"),
        Slot::Constant(at) => format!("c{at}"),
        Slot::Iota(at) => format!("i{at}"),
        Slot::Step(at) => format!("t{at}"),
    };
    let loads = (0..program.loads.len()).map(|at| format!("x{at}"));
    let params: Vec<String> = loads.chain((0..program.constants.len()).map(|at| format!("c{at}"))).collect();
    let mut text = format!("def fused({}):\n", params.join(", "));
    for (at, step) in program.steps.iter().enumerate() {
        let args: Vec<String> = step.args.iter().map(name).collect();
        let _ = writeln!(text, "    t{at} = {}", expression(step.operation, &args));
    }
    let result = program.result.as_ref().map_or_else(String::new, name);
    let _ = writeln!(text, "    return {result}");
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
    let text = format!("def {name}_({}):\n    return {}\n", names.join(", "), expression(operation, &names));
    compile(&format!("{name}_"), text, &operation.operands)
}

/// A module whose entry is a function of numbers, from its text.
pub fn compile(name: &str, text: String, operands: &[Scalar]) -> Result<Module> {
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
    weft_front::compile(&function, &types, OPTIONS)
        .map(|compiled| compiled.module)
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
struct Names;

impl Environment for Names {
    fn lookup(&self, name: &str) -> Option<Object> {
        match name {
            "np" => Some(Object::Module("numpy".into())),
            "weft" => Some(Object::Module("weft".into())),
            _ => None,
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
