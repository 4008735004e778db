//! Kernels of folds: outer points at which index spaces are folded, one after the other, and what is stored of that.
//!
//! What elements are computed by are functions of scalars of one module. Devices find in such loops what can be shared
//! (`weft_passes::outline::lanes`, `weft_passes::reduce`).

use std::convert::Infallible;

use weft_ir::{BinOp, Builder, Const, FuncId, FuncKind, Function, Label, Module, Op, Scalar, Spread, StmtKind, Type, Value};

use crate::fold::{Axes, Elements, Fold, Space, State};
use crate::loops::{Emit, Walk, at_every_point, load, store};
use crate::ufunc::{Access, UfuncError, scalar_signature};

/// What a function of scalars is given at a point.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Input {
    /// An element of an operand in memory: the kernel has a view of it.
    Element(Access),
    /// The same of a view of all that lies between its elements, of which every second or so is one along the last axis.
    Every(u8, Access),
    /// The same number at every point: the kernel has it as an argument, not in memory.
    Number(Scalar),
    /// The point's index along an axis: an `int64`, which takes no argument.
    Index(usize),
}

impl From<Access> for Input {
    fn from(access: Access) -> Input {
        Input::Element(access)
    }
}

/// An input of a kernel being written.
#[derive(Clone, Copy, Debug)]
enum Given {
    Element(Value, Access),
    Every(u8, Value, Access),
    Number(Value),
    Index(usize),
}

/// What is folded to, and from what on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FoldState {
    pub state: State,
    pub first: Const,
}

/// An index space folded. The function is given the elements of the inputs and, behind them, what the passes before have folded to; it gives
/// a value for each state.
#[derive(Clone, Copy, Debug)]
pub struct Pass<'a> {
    pub function: FuncId,
    /// Their axes are those of the whole shape.
    pub inputs: &'a [Input],
    pub states: &'a [FoldState],
}

/// What is stored: the results of a function of the inputs' elements and, behind them, of what the passes have folded to.
#[derive(Clone, Copy, Debug)]
pub struct Stores<'a> {
    pub function: FuncId,
    pub inputs: &'a [Input],
    pub outputs: &'a [Access],
}

/// What the kernel's function is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A `Loop` over the outer points. If there are no outer axes it has one, along which nothing moves.
    Loop,
    /// A `Host` function, whose first parameters are the outer extents, and how its loops are spread.
    Host(Spread),
}

/// A fold along some axes of a shape, with as many passes as it takes.
#[derive(Clone, Copy, Debug)]
pub struct FoldKernel<'a> {
    pub kind: Kind,
    /// Axes of the whole shape.
    pub rank: usize,
    /// Those that are folded.
    pub folded: &'a [usize],
    pub passes: &'a [Pass<'a>],
    /// At the outer points: operands' axes are the outer ones, in their order.
    pub point: Option<Stores<'a>>,
    /// At every point of the shape, behind that: what needs the folded and the elements (a mean taken off its row).
    pub all: Option<Stores<'a>>,
}

/// Makes the kernel the module's entry. Its parameters: indices or extents of the outer axes; extents (`i64`) of the folded ones; views of
/// each pass's inputs, or numbers; of the inputs and the outputs of `point`, and of `all`.
pub fn fold_loop(module: Module, kernel: &FoldKernel<'_>) -> Result<Module, UfuncError> {
    let axes = Axes::new(kernel.rank, kernel.folded);
    let all: Vec<usize> = (0..kernel.rank).collect();
    let (outer, inner) = axes.split(&all);
    let named = kernel.passes.first().map_or(module.entry, |pass| pass.function);
    let name = format!("{}_fold", module.function(named).name);
    let loops = if kernel.kind == Kind::Loop {
        outer.len().max(1)
    } else {
        outer.len()
    };
    let mut writer = Writer::new(&module, named, name, kernel.kind, loops as u8);
    let given = writer.axes[..outer.len()].to_vec();
    let extents: Vec<Value> = inner
        .iter()
        .map(|axis| writer.b.func.new_param(Type::I64, format!("n{axis}")))
        .collect();
    let mut passes = Vec::new();
    let mut before = 0;
    for pass in kernel.passes {
        passes.push(writer.bind_pass(&module, pass, before)?);
        before += pass.states.len();
    }
    let at_point = kernel.point.map(|stores| writer.bind(&module, &stores, before)).transpose()?;
    let at_all = kernel.all.map(|stores| writer.bind(&module, &stores, before)).transpose()?;
    let spread = match kernel.kind {
        Kind::Loop => Spread::Lanes,
        Kind::Host(spread) => spread,
    };
    let body = &mut |writer: &mut Writer, outer: &[Value]| -> Result<(), Infallible> {
        let mut folded = Vec::new();
        for (pass, bound) in kernel.passes.iter().zip(&passes) {
            let results = writer.fold(pass, bound, (&axes, outer), (spread, &extents), &folded)?;
            folded.extend(results);
        }
        if let Some(bound) = &at_point {
            writer.store(bound, outer, &folded);
        }
        let Some(bound) = &at_all else { return Ok(()) };
        at_every_point(writer, Walk::Spread(spread), &extents, Vec::new(), &mut |writer, inner| {
            let at = axes.join(outer, inner);
            writer.store(bound, &at, &folded);
            Ok(())
        })
    };
    let Ok(()) = match kernel.kind {
        Kind::Loop => body(&mut writer, &given),
        Kind::Host(spread) => at_every_point(&mut writer, Walk::Spread(spread), &given, Vec::new(), body),
    };
    Ok(writer.finish(module))
}

/// Products of complex numbers have one order only, that of C.
fn walk(spread: Spread, states: &[FoldState]) -> Walk {
    let in_order = |FoldState { state, .. }: &FoldState| state.scalar.is_complex() && state.op != weft_ir::ReduceOp::Add;
    match states.iter().any(in_order) {
        true => Walk::InOrder,
        false => Walk::Spread(spread),
    }
}

/// A function of scalars, its parameters' and results' types, and the views that its arguments are loaded from and its results stored in.
#[derive(Clone, Debug)]
pub struct Bound {
    function: FuncId,
    params: Vec<Scalar>,
    results: Vec<Scalar>,
    inputs: Vec<Given>,
    outputs: Vec<(Value, Access)>,
}

/// A kernel being written.
#[derive(Debug)]
pub struct Writer {
    pub b: Builder,
    /// The indices of a `Loop`, or the outer extents that a `Host` function is given.
    pub axes: Vec<Value>,
    inputs: usize,
    outputs: usize,
}

impl Writer {
    /// Of the origin and with the flags of one of the module's functions.
    pub fn new(module: &Module, like: FuncId, name: String, kind: Kind, rank: u8) -> Writer {
        let (kind, letter) = match kind {
            Kind::Loop => (FuncKind::Loop { rank, reductions: vec![] }, 'i'),
            Kind::Host(_) => (FuncKind::Host, 'o'),
        };
        let mut func = Function::new(name, kind);
        func.origin = module.function(like).origin.clone();
        func.flags = module.function(like).flags;
        let axes = (0..rank).map(|axis| func.new_param(Type::I64, format!("{letter}{axis}"))).collect();
        Writer {
            b: Builder::new(func),
            axes,
            inputs: 0,
            outputs: 0,
        }
    }

    /// The module with the kernel as its entry.
    pub fn finish(mut self, mut module: Module) -> Module {
        if self.b.func.kind == FuncKind::Host {
            self.b.push(StmtKind::Return(None));
        }
        module.functions.push(self.b.finish());
        module.entry = FuncId(module.functions.len() as u32 - 1);
        module
    }

    pub fn view(&mut self, access: Access, writable: bool, name: String) -> Value {
        self.b.func.new_param(Type::View(access.view(writable)), name)
    }

    fn input(&mut self, input: Input) -> Given {
        if let Input::Index(axis) = input {
            return Given::Index(axis);
        }
        let name = format!("in{}", self.inputs);
        self.inputs += 1;
        match input {
            Input::Element(access) => Given::Element(self.view(access, false, name), access),
            Input::Every(step, access) => Given::Every(step, self.view(access, false, name), access),
            Input::Number(scalar) => Given::Number(self.b.func.new_param(scalar.into(), name)),
            Input::Index(axis) => Given::Index(axis),
        }
    }

    fn given(&mut self, input: Given, at: &[Value]) -> Value {
        match input {
            Given::Element(view, access) => self.load((view, access), at),
            Given::Every(step, view, access) => {
                let mut at = access.at(at);
                if let Some(last) = at.last_mut() {
                    let step = self.b.i64(i64::from(step));
                    *last = self.b.binary(BinOp::Mul, *last, step);
                }
                load(&mut self.b, (view, access.view(false)), &at)
            }
            Given::Number(value) => value,
            Given::Index(axis) => at[axis],
        }
    }

    fn output(&mut self, access: Access, only: bool) -> (Value, Access) {
        self.outputs += 1;
        let name = if only {
            "out".to_string()
        } else {
            format!("out{}", self.outputs - 1)
        };
        (self.view(access, true, name), access)
    }

    /// Makes parameters of what the function reads and stores; it is given `folded` values more.
    pub fn bind(&mut self, module: &Module, stores: &Stores<'_>, folded: usize) -> Result<Bound, UfuncError> {
        self.bind_results(module, stores, folded, stores.outputs.len())
    }

    fn bind_results(&mut self, module: &Module, stores: &Stores<'_>, folded: usize, wanted: usize) -> Result<Bound, UfuncError> {
        let (params, results) = scalar_signature(module, stores.function)?;
        fits(params.len(), stores.inputs.len() + folded, |expected, given| UfuncError::Operands {
            expected,
            given,
        })?;
        fits(results.len(), wanted, |expected, given| UfuncError::Results { expected, given })?;
        Ok(Bound {
            function: stores.function,
            params,
            results,
            inputs: stores.inputs.iter().map(|&input| self.input(input)).collect(),
            outputs: stores
                .outputs
                .iter()
                .map(|&access| self.output(access, stores.outputs.len() == 1))
                .collect(),
        })
    }

    fn bind_pass(&mut self, module: &Module, pass: &Pass<'_>, folded: usize) -> Result<Bound, UfuncError> {
        let unstored = Stores {
            function: pass.function,
            inputs: pass.inputs,
            outputs: &[],
        };
        self.bind_results(module, &unstored, folded, pass.states.len())
    }

    pub fn load(&mut self, (view, access): (Value, Access), at: &[Value]) -> Value {
        load(&mut self.b, (view, access.view(false)), &access.at(at))
    }

    /// Calls the function at a point: its results.
    fn call(&mut self, bound: &Bound, at: &[Value], folded: &[Value]) -> Vec<Value> {
        let mut args = Vec::with_capacity(bound.params.len());
        for (&input, &param) in bound.inputs.iter().zip(&bound.params) {
            let element = self.given(input, at);
            args.push(self.b.cast(element, param));
        }
        for (&value, &param) in folded.iter().zip(&bound.params[bound.inputs.len()..]) {
            args.push(self.b.cast(value, param));
        }
        let call = Op::Call(bound.function, args);
        if let [one] = bound.results.as_slice() {
            return vec![self.b.emit(*one, call)];
        }
        let scalars = bound.results.iter().map(|&scalar| Type::Scalar(scalar));
        let tuple = self.b.emit(Type::Tuple(scalars.collect()), call);
        let items = bound.results.iter().zip(0..);
        items.map(|(&scalar, item)| self.b.emit(scalar, Op::Item(tuple, item))).collect()
    }

    /// Calls the function at a point and stores its results there.
    pub fn store(&mut self, bound: &Bound, at: &[Value], folded: &[Value]) {
        let values = self.call(bound, at, folded);
        for (value, &(view, access)) in values.into_iter().zip(&bound.outputs) {
            let value = self.b.cast(value, access.elem);
            store(&mut self.b, (view, access.view(true)), &access.at(at), value);
        }
    }

    fn fold(
        &mut self,
        pass: &Pass<'_>,
        bound: &Bound,
        (axes, outer): (&Axes, &[Value]),
        (spread, extents): (Spread, &[Value]),
        before: &[Value],
    ) -> Result<Vec<Value>, Infallible> {
        let states: Vec<State> = pass.states.iter().map(|each| each.state).collect();
        let first: Vec<Value> = pass.states.iter().map(|each| self.b.constant(each.first)).collect();
        let fold = Fold::start(self, &states, &first);
        let space = Space {
            walk: walk(spread, pass.states),
            extents,
        };
        let elements: &mut Elements<'_, Writer, Infallible> = &mut |writer, inner| {
            let values = writer.call(bound, &axes.join(outer, inner), before);
            let typed = values.into_iter().zip(&states);
            Ok(typed.map(|(value, state)| writer.b.cast(value, state.scalar)).collect())
        };
        fold.combine(self, space, elements)?;
        Ok(fold.results(self))
    }
}

fn fits(expected: usize, given: usize, error: impl FnOnce(usize, usize) -> UfuncError) -> Result<(), UfuncError> {
    if expected == given { Ok(()) } else { Err(error(expected, given)) }
}

impl Emit for Writer {
    fn builder(&mut self) -> &mut Builder {
        &mut self.b
    }

    /// Functions of scalars are called, which takes no labels.
    fn label(&mut self) -> Label {
        Label(0)
    }
}

#[cfg(test)]
mod tests {
    use weft_ir::interp::{Machine, Options};
    use weft_ir::{Layout, ReduceOp, text};

    use super::*;
    use crate::ufunc::map_loop;

    /// `distance` and `share` are what the mean squared distance from the greatest element, and each one's share of it, are made of.
    fn functions() -> Module {
        let source = "
entry device @both(%0 x: f32) -> (f32, f64) {
  %1: f32 = mul %0, %0
  %2: f64 = cast %0
  %3: (f32, f64) = tuple(%1, %2)
  return %3
}

device @same(%0 x: f32) -> f32 {
  return %0
}

device @distance(%0 x: f32, %1 most: f32) -> f32 {
  %2: f32 = sub %0, %1
  return %2
}

device @share(%0 x: f32, %1 most: f32, %2 sum: f32) -> f32 {
  %3: f32 = div %0, %2
  return %3
}
";
        text::parse(source).unwrap()
    }

    fn access(elem: Scalar, axes: u32) -> Access {
        let layout = Layout::C;
        Access { elem, axes, layout }
    }

    fn state(op: ReduceOp, first: f32) -> FoldState {
        FoldState {
            state: State { scalar: Scalar::F32, op },
            first: Const::f32(first),
        }
    }

    fn shares(kind: Kind, check: &mut dyn FnMut(&FoldKernel<'_>)) {
        let x = [Input::Element(access(Scalar::F32, 0b11))];
        let most = Pass {
            function: FuncId(1),
            inputs: &x,
            states: &[state(ReduceOp::Max, f32::NEG_INFINITY)],
        };
        let distances = Pass {
            function: FuncId(2),
            inputs: &x,
            states: &[state(ReduceOp::Add, 0.0)],
        };
        let point = Stores {
            function: FuncId(2),
            inputs: &[],
            outputs: &[access(Scalar::F64, 0b1)],
        };
        let all = Stores {
            function: FuncId(3),
            inputs: &x,
            outputs: &[access(Scalar::F32, 0b11)],
        };
        check(&FoldKernel {
            kind,
            rank: 2,
            folded: &[0],
            passes: &[most, distances],
            point: Some(point),
            all: Some(all),
        });
    }

    #[test]
    fn every_result_has_an_output() {
        let outputs = [access(Scalar::F32, 0b11), access(Scalar::F32, 0b11)];
        let module = map_loop(functions(), 2, &[access(Scalar::F32, 0b10).into()], &outputs, None).unwrap();
        insta::assert_snapshot!(text::print(&module));
    }

    /// `share` of an index, a number and an element.
    #[test]
    fn numbers_and_indices_take_no_memory() {
        let inputs = [Input::Index(1), Input::Number(Scalar::F64), access(Scalar::F32, 0b10).into()];
        let module = Module {
            entry: FuncId(3),
            ..functions()
        };
        let module = map_loop(module, 2, &inputs, &[access(Scalar::F32, 0b11)], None).unwrap();
        let mut machine = Machine::new(&module, Options::default()).unwrap();
        let weights = machine.buffer([2.0f32, 4.0, 8.0].iter().flat_map(|x| x.to_ne_bytes()).collect());
        let weights = machine.view(weights, Scalar::F32, &[3]);
        let out = machine.buffer(vec![0; 24]);
        let view = machine.view(out, Scalar::F32, &[2, 3]);
        let number = weft_ir::interp::RtValue::Scalar(Const::f64(3.0));
        machine.run_loop(&[2, 3], &[number, weights, view]).map(drop).unwrap();
        let found: Vec<f32> = (machine.bytes(out).chunks_exact(4))
            .map(|b| f32::from_ne_bytes(b.try_into().unwrap()))
            .collect();
        // share(x, most, sum) is x / sum.
        assert_eq!(found, [0.0, 0.25, 0.25, 0.0, 0.25, 0.25]);
    }

    #[test]
    fn passes_take_what_was_folded_before() {
        shares(Kind::Loop, &mut |kernel| {
            let module = fold_loop(functions(), kernel).unwrap();
            insta::assert_snapshot!("loop", text::print(&module));
        });
        shares(Kind::Host(Spread::Gangs), &mut |kernel| {
            let module = fold_loop(functions(), kernel).unwrap();
            insta::assert_snapshot!("host", text::print(&module));
        });
    }

    #[test]
    fn the_interpreter_runs_both_kinds() {
        let columns = [[1.0f32, 2.0], [5.0, -2.0], [2.0, 3.0]];
        for kind in [Kind::Loop, Kind::Host(Spread::Lanes)] {
            shares(kind, &mut |kernel| {
                let module = fold_loop(functions(), kernel).unwrap();
                let mut machine = Machine::new(&module, Options::default()).unwrap();
                let bytes: Vec<u8> = columns.iter().flatten().flat_map(|x| x.to_ne_bytes()).collect();
                let place = |machine: &mut Machine<'_>, bytes: Vec<u8>, elem, shape: &[i64]| {
                    let buffer = machine.buffer(bytes);
                    (buffer, machine.view(buffer, elem, shape))
                };
                let (_, x) = place(&mut machine, bytes, Scalar::F32, &[3, 2]);
                let (means, point) = place(&mut machine, vec![0; 16], Scalar::F64, &[2]);
                let (shares, all) = place(&mut machine, vec![0; 24], Scalar::F32, &[3, 2]);
                let i64s = weft_ir::interp::RtValue::i64;
                let args = [i64s(3), x.clone(), x.clone(), point, x, all];
                match kind {
                    Kind::Loop => machine.run_loop(&[2], &args).map(drop).unwrap(),
                    Kind::Host(_) => machine.call(&[&[i64s(2)], &args[..]].concat()).map(drop).unwrap(),
                }
                let means: Vec<f64> = machine
                    .bytes(means)
                    .chunks_exact(8)
                    .map(|b| f64::from_ne_bytes(b.try_into().unwrap()))
                    .collect();
                let shares: Vec<f32> = machine
                    .bytes(shares)
                    .chunks_exact(4)
                    .map(|b| f32::from_ne_bytes(b.try_into().unwrap()))
                    .collect();
                // Greatest elements 5 and 3; distances from them -4, 0, -3 and -1, -5, 0.
                assert_eq!(means, [12.0, 9.0]);
                let expected: Vec<f32> = columns.iter().flat_map(|[a, b]| [a / -7.0, b / -6.0]).collect();
                assert_eq!(shares, expected);
            });
        }
    }

    #[test]
    fn the_number_of_states_and_operands_is_checked() {
        let pass = Pass {
            function: FuncId(0),
            inputs: &[],
            states: &[state(ReduceOp::Add, 0.0)],
        };
        let error = |pass| {
            let kernel = FoldKernel {
                kind: Kind::Loop,
                rank: 1,
                folded: &[0],
                passes: &[pass],
                point: None,
                all: None,
            };
            fold_loop(functions(), &kernel).unwrap_err().to_string()
        };
        assert_eq!(error(pass), "the function takes 1 arguments, 0 given");
        let inputs = &[access(Scalar::F32, 1).into()];
        assert_eq!(error(Pass { inputs, ..pass }), "the function has 2 results, 1 wanted");
    }
}
