//! Folds on devices that are not the CPU: kernels of passes over the elements, which the program computes as it goes. The order of sums is that
//! of the CPU.

use weft_array::{Access, FoldKernel, FoldState, Input, Kind, Pass, State, Stores, fold_loop};
use weft_ir::{BinOp, Builder, CmpOp, Const, FuncId, FuncKind, Function, Module, Op, ReduceOp, Scalar, StmtKind, Type, Value, eval};
use weft_runtime::{CallOptions, Launch};

use crate::compiled::{self, Job, Key};
use crate::error::{Error, Result};
use crate::program::Program;
use crate::text::{self, Ends};
use crate::tiles::Target;
use crate::value::{Fold, FoldKind};
use crate::{devices, form, hosted, machine};

/// Queues a fold's kernel; by which tier it is done.
pub fn run(program: &Program, fold: &Fold, target: &Target) -> Result<&'static str> {
    devices::check(program, target.device())?;
    if program.extents.is_empty() {
        return devices::run(program, target);
    }
    let axes = 0..program.extents.len();
    let (folded, outer): (Vec<usize>, Vec<usize>) = axes.partition(|axis| fold.axes & (1 << axis) != 0);
    let lengths = |axes: &[usize]| axes.iter().map(|&axis| program.extents[axis]).collect::<Vec<u64>>();
    let (inner, outer) = (lengths(&folded), lengths(&outer));
    if outer.contains(&0) {
        return Ok("compiled");
    }
    let element = program.result.map(|slot| program.elem(slot));
    let how = element.and_then(|elem| How::of(fold.what, elem));
    let aligned = compiled::is_aligned(program, target);
    let (Some(how), Some((form, operands)), true) = (how, form::whole(program), aligned) else {
        return hosted::fold(program, fold, target).map(|()| "host");
    };
    let result = form::operand(&outer, &target.strides, target.elem.size());
    let key = Key {
        device: target.device(),
        rank: program.extents.len() as u8,
        form,
        output: Access {
            elem: target.elem,
            axes: result.axes,
            layout: result.layout,
        },
        fold: Some((fold.what, fold.axes)),
        streams: false,
    };
    let Some(code) = compiled::code(&key, None, || job(&key, program, how, folded))? else {
        return hosted::fold(program, fold, target).map(|()| "host");
    };
    let mut slots: form::Slots = inner.iter().copied().collect();
    let given = form::slots(program, &key.form, &operands);
    (0..how.passes()).for_each(|_| slots.extend(given.iter().copied()));
    form::view(&mut slots, target.address, Some(&result));
    let outer = if outer.is_empty() { vec![1] } else { outer };
    code.run(Launch::Loop(outer), &slots, &mut [], &CallOptions::default())?;
    Ok("compiled")
}

/// In which way elements are folded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum How {
    /// To one state.
    To(State, Const),
    /// To the greatest or least number, and whether there was one.
    Numbers(State, Const),
    /// To the greatest or least, then to the least place where it is.
    Place(State, Const),
}

impl How {
    /// None where the states of kernels do not do: the extremes of complex numbers.
    fn of(what: FoldKind, elem: Scalar) -> Option<How> {
        let extreme = |op: ReduceOp, elem: Scalar| {
            // 16-bit floats are compared as float32, which is exact.
            let scalar = if elem.is_half() { Scalar::F32 } else { elem };
            Some((State { scalar, op }, op.identity(scalar)?))
        };
        let (name, compute) = match what {
            FoldKind::ArgMax => return extreme(ReduceOp::Max, elem).map(|(state, first)| How::Place(state, first)),
            FoldKind::ArgMin => return extreme(ReduceOp::Min, elem).map(|(state, first)| How::Place(state, first)),
            FoldKind::Ufunc(name, compute) => (name, compute),
        };
        let to = |op: ReduceOp, first: Const| Some(How::To(State { scalar: compute, op }, first));
        let number = |n: i64| eval::cast(Const::i64(n), compute);
        let is_bool = compute == Scalar::Bool;
        match name {
            "add" | "logical_or" | "maximum" | "fmax" if is_bool => to(ReduceOp::Or, Const::Bool(false)),
            "multiply" | "logical_and" | "minimum" | "fmin" if is_bool => to(ReduceOp::And, Const::Bool(true)),
            "logical_xor" if is_bool => to(ReduceOp::Xor, Const::Bool(false)),
            "add" => to(ReduceOp::Add, number(0)?),
            "multiply" => to(ReduceOp::Mul, number(1)?),
            "fmax" if compute.is_float() => extreme(ReduceOp::Max, compute).map(|(state, first)| How::Numbers(state, first)),
            "fmin" if compute.is_float() => extreme(ReduceOp::Min, compute).map(|(state, first)| How::Numbers(state, first)),
            "maximum" | "fmax" => extreme(ReduceOp::Max, compute).map(|(state, first)| How::To(state, first)),
            "minimum" | "fmin" => extreme(ReduceOp::Min, compute).map(|(state, first)| How::To(state, first)),
            "bitwise_and" => to(ReduceOp::And, ReduceOp::And.identity(compute)?),
            "bitwise_or" => to(ReduceOp::Or, ReduceOp::Or.identity(compute)?),
            "bitwise_xor" => to(ReduceOp::Xor, ReduceOp::Xor.identity(compute)?),
            _ => None,
        }
    }

    fn passes(self) -> usize {
        if matches!(self, How::Place(..)) { 2 } else { 1 }
    }

    fn ends(self) -> Ends {
        match self {
            How::Numbers(state, _) => Ends::NumberOr(text::number(
                state.scalar,
                if state.op == ReduceOp::Max { "-np.inf" } else { "np.inf" },
            )),
            _ => Ends::Result,
        }
    }
}

fn job(key: &Key, program: &Program, how: How, folded: Vec<usize>) -> Job {
    let (text, types) = text::of_loop(program, &key.form.moves(), how.ends(), machine::has_int64(key.device));
    let inputs = key.form.inputs(&types);
    let (rank, output) = (usize::from(key.rank), key.output);
    let kernel = move |mut module: Module| {
        let element = module.entry;
        let result = add(&mut module, result_of(how));
        let truth = |op| FoldState {
            state: State { scalar: Scalar::Bool, op },
            first: Const::Bool(false),
        };
        let states = match how {
            How::To(state, first) | How::Place(state, first) => vec![FoldState { state, first }],
            How::Numbers(state, first) => vec![FoldState { state, first }, truth(ReduceOp::Or)],
        };
        let mut passes = vec![Pass {
            function: element,
            inputs: &inputs,
            states: &states,
        }];
        let mut with_index = inputs.clone();
        let least = [FoldState {
            state: State {
                scalar: Scalar::I64,
                op: ReduceOp::Min,
            },
            first: Const::i64(i64::MAX),
        }];
        if let (How::Place(state, _), Some(&axis)) = (how, folded.first()) {
            let function = place_of(&module, element, state.scalar);
            let function = add(&mut module, function);
            with_index.push(Input::Index(axis));
            passes.push(Pass {
                function,
                inputs: &with_index,
                states: &least,
            });
        }
        let kernel = FoldKernel {
            kind: Kind::Loop,
            rank,
            folded: &folded,
            passes: &passes,
            point: Some(Stores {
                function: result,
                inputs: &[],
                outputs: &[output],
            }),
            all: None,
        };
        fold_loop(module, &kernel).map_err(|error| Error::Internal(error.to_string()))
    };
    Job {
        text,
        types,
        kernel: Box::new(kernel),
    }
}

fn add(module: &mut Module, function: Function) -> FuncId {
    module.functions.push(function);
    FuncId(module.functions.len() as u32 - 1)
}

fn function(name: &str, params: &[Scalar], result: Scalar, body: impl FnOnce(&mut Builder, &[Value]) -> Value) -> Function {
    let mut function = Function::new(name, FuncKind::Device);
    function.result = result.into();
    let given: Vec<Value> = (params.iter().enumerate())
        .map(|(at, &scalar)| function.new_param(scalar.into(), format!("x{at}")))
        .collect();
    let mut b = Builder::new(function);
    let value = body(&mut b, &given);
    b.push(StmtKind::Return(Some(value)));
    b.finish()
}

/// What is stored, of what was folded to.
fn result_of(how: How) -> Function {
    match how {
        How::To(State { scalar, .. }, _) => function("result", &[scalar], scalar, |_, given| given[0]),
        How::Numbers(State { scalar, .. }, _) => function("result", &[scalar, Scalar::Bool], scalar, |b, given| {
            let nan = b.constant(eval::cast(Const::f64(f64::NAN), scalar).unwrap_or(Const::f64(f64::NAN)));
            b.select(given[1], given[0], nan)
        }),
        How::Place(State { scalar, .. }, _) => function("result", &[scalar, Scalar::I64], Scalar::I64, |_, given| given[1]),
    }
}

/// A point's place where its element is the greatest, or NaN, and else one behind all: of the element's inputs, the place and the greatest.
fn place_of(module: &Module, element: FuncId, scalar: Scalar) -> Function {
    let of = module.function(element);
    let mut params: Vec<Scalar> = of.params.iter().filter_map(|&param| of.ty(param).scalar()).collect();
    let count = params.len();
    let own: Option<Scalar> = of.result.scalar();
    params.extend([Scalar::I64, scalar]);
    function("place", &params, Scalar::I64, |b, given| {
        let call = Op::Call(element, given[..count].to_vec());
        let x = b.emit(Type::Scalar(own.unwrap_or(scalar)), call);
        let x = b.cast(x, scalar);
        let mut hit = b.compare(CmpOp::Eq, x, given[count + 1]);
        if scalar.is_float() {
            let nan = b.compare(CmpOp::Ne, x, x);
            hit = b.binary(BinOp::Or, hit, nan);
        }
        let behind = b.i64(i64::MAX);
        b.select(hit, given[count], behind)
    })
}
