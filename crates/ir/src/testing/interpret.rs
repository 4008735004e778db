//! Test lines on the interpreter.

use std::sync::Arc;

use super::array::{Array, Placed, TestValue};
use super::{TestLaunch, TestLine};
use crate::interp::{BufferId, Machine, Options, RtValue, Trap, View};
use crate::module::Module;
use crate::types::{Layout, Type};
use crate::verify::VerifyError;

/// What a run left.
#[derive(Clone, Debug, PartialEq)]
pub struct Interpreted {
    /// The result, or why there is none.
    pub result: Result<TestValue, Box<Trap>>,
    /// The arguments as they are afterwards.
    pub args: Vec<TestValue>,
    pub output: String,
}

/// Runs one line's function on the interpreter.
pub fn interpret(module: &Module, line: &TestLine, options: Options) -> Result<Interpreted, VerifyError> {
    let mut module = module.clone();
    module.entry = line.func;
    let mut machine = Machine::new(&module, options)?;
    let mut placed = Vec::new();
    let args: Vec<RtValue> = line.args.iter().map(|arg| place(&mut machine, arg, &mut placed)).collect();
    let result = match &line.launch {
        TestLaunch::Call => machine.call(&args),
        TestLaunch::Grid { grid, block, dynamic } => machine.launch(*block, *grid, *dynamic, &args).map(|()| RtValue::unit()),
        TestLaunch::Loop(extents) => {
            let extents: Vec<i64> = extents.iter().map(|len| *len as i64).collect();
            machine.run_loop(&extents, &args).map(|sums| RtValue::Tuple(sums.into()))
        }
    };
    let function = module.entry_function();
    let mut placed = placed.into_iter();
    Ok(Interpreted {
        result: result.and_then(|value| read(&machine, &value, &function.result)),
        args: line.args.iter().map(|arg| read_back(&machine, arg, &mut placed)).collect(),
        output: machine.output().to_owned(),
    })
}

type InMemory = (BufferId, Placed);

fn place(machine: &mut Machine<'_>, value: &TestValue, placed: &mut Vec<InMemory>) -> RtValue {
    match value {
        TestValue::Scalar(c) => RtValue::Scalar(*c),
        TestValue::Tuple(items) => RtValue::Tuple(items.iter().map(|item| place(machine, item, placed)).collect()),
        TestValue::Array(array) => {
            let at = array.place();
            let buffer = machine.buffer(at.bytes.clone());
            let view = View {
                buffer,
                offset: at.offset,
                shape: array.shape.iter().map(|len| *len as i64).collect(),
                strides: at.strides.clone(),
                name: None,
            };
            placed.push((buffer, at));
            RtValue::View(Arc::new(view))
        }
    }
}

fn read_back(machine: &Machine<'_>, value: &TestValue, placed: &mut impl Iterator<Item = InMemory>) -> TestValue {
    match value {
        TestValue::Scalar(c) => TestValue::Scalar(*c),
        TestValue::Tuple(items) => TestValue::Tuple(items.iter().map(|item| read_back(machine, item, placed)).collect()),
        TestValue::Array(array) => TestValue::Array(match placed.next() {
            Some((buffer, at)) => array.read_back(&Placed {
                bytes: machine.bytes(buffer).to_vec(),
                ..at
            }),
            None => array.clone(),
        }),
    }
}

fn read(machine: &Machine<'_>, value: &RtValue, ty: &Type) -> Result<TestValue, Box<Trap>> {
    Ok(match (value, ty) {
        (RtValue::Scalar(c), _) => TestValue::Scalar(*c),
        (RtValue::View(view), Type::View(ty)) => TestValue::Array(Array {
            elem: ty.elem,
            shape: view.shape.iter().map(|len| *len as u64).collect(),
            layout: Layout::C,
            data: machine.elements(ty.elem, view)?,
        }),
        (RtValue::Tuple(items), Type::Tuple(types)) => {
            // A loop function's reductions are more items than its result type has; all are scalars.
            let types = types.iter().chain(std::iter::repeat(&Type::BOOL));
            TestValue::Tuple(
                items
                    .iter()
                    .zip(types)
                    .map(|(item, ty)| read(machine, item, ty))
                    .collect::<Result<_, _>>()?,
            )
        }
        _ => TestValue::Tuple(Vec::new()),
    })
}
