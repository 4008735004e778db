//! Ufuncs: the loop kernel around a scalar function.
//!
//! The loop runs over a [`Plan`](crate::Plan)'s axes. Each operand is a view of just the axes it moves along, so a broadcast operand is
//! loaded with fewer indices: uniform for the gang when the lane axis is not among them.

use std::fmt;

use weft_ir::{Builder, FuncId, FuncKind, Function, Label, Layout, Module, Op, Scalar, Space, StmtKind, Type, Value, ViewType};

use crate::expr::{Expr, Nodes};
use crate::loops::{Emit, load, store};
use crate::scalar::ScalarFn;

/// How the loop reads or writes one operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Access {
    pub elem: Scalar,
    /// Bit `i`: the operand moves along loop axis `i`.
    pub axes: u32,
    pub layout: Layout,
}

/// A scalar function that cannot be a ufunc.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UfuncError {
    /// The entry is no device function of scalars giving a scalar.
    NotScalar(String),
    /// Another number of operands than the function has parameters.
    Operands { expected: usize, given: usize },
}

impl fmt::Display for UfuncError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            UfuncError::NotScalar(what) => write!(f, "a vectorized function takes and returns scalars, not {what}"),
            UfuncError::Operands { expected, given } => write!(f, "the function takes {expected} arguments, {given} given"),
        }
    }
}

impl std::error::Error for UfuncError {}

/// Wraps the module's entry, a `Device` function of scalars, in a `Loop` of `rank` axes that becomes the entry.
///
/// The loop's parameters after its indices: a view per input, the output's view, and with `mask` a bool view: points where it is false
/// are left as they are. Elements are cast to the function's parameter types and its result to the output's.
pub fn ufunc_loop(mut module: Module, rank: u8, inputs: &[Access], output: Access, mask: Option<Access>) -> Result<Module, UfuncError> {
    let signature = scalar_signature(&module, inputs.len())?;
    let scalar = module.entry;
    let mut func = Function::new(
        format!("{}_loop", module.entry_function().name),
        FuncKind::Loop { rank, reductions: vec![] },
    );
    func.origin = module.entry_function().origin.clone();
    func.flags = module.entry_function().flags;
    let indices: Vec<Value> = (0..rank).map(|axis| func.new_param(Type::I64, format!("i{axis}"))).collect();
    let views: Vec<Value> = inputs
        .iter()
        .enumerate()
        .map(|(n, access)| func.new_param(Type::View(view(*access, false)), format!("in{n}")))
        .collect();
    let out = func.new_param(Type::View(view(output, true)), "out");
    let where_ = mask.map(|access| (func.new_param(Type::View(view(access, false)), "where"), access));

    let elements = elements(scalar, &signature, &views, inputs, output.elem);
    let mut looped = Looped {
        builder: Builder::new(func),
        indices: &indices,
    };
    match where_ {
        None => point(&mut looped, &elements, inputs, (out, output)),
        Some((mask, access)) => {
            let cond = looped.load(mask, access);
            looped.open();
            point(&mut looped, &elements, inputs, (out, output));
            let then = looped.close();
            looped.builder.push(StmtKind::If {
                cond,
                then,
                other: Default::default(),
            });
        }
    }
    module.functions.push(looped.builder.finish());
    module.entry = FuncId(module.functions.len() as u32 - 1);
    Ok(module)
}

/// Parameter scalars and, last, the result's scalar.
fn scalar_signature(module: &Module, given: usize) -> Result<Vec<Scalar>, UfuncError> {
    let entry = module.entry_function();
    if entry.params.len() != given {
        return Err(UfuncError::Operands {
            expected: entry.params.len(),
            given,
        });
    }
    entry
        .params
        .iter()
        .map(|&param| entry.ty(param))
        .chain([&entry.result])
        .map(|ty| ty.scalar().ok_or_else(|| UfuncError::NotScalar(ty.to_string())))
        .collect()
}

fn view(access: Access, writable: bool) -> ViewType {
    ViewType {
        elem: access.elem,
        rank: access.axes.count_ones() as u8,
        layout: access.layout,
        space: Space::Global,
        writable,
    }
}

/// Loads, calls, stores: one point of the index space.
fn point(looped: &mut Looped<'_>, elements: &Expr, inputs: &[Access], (out, output): (Value, Access)) {
    let value = elements.element(looped, &mut |looped, input| {
        let (view, _) = elements.leaves[input];
        looped.load(view, inputs[input])
    });
    let at = looped.at(output.axes);
    store(&mut looped.builder, (out, view(output, true)), &at, value);
}

/// The elements of the result: the scalar function of the inputs', all converted where their types differ.
fn elements(scalar: FuncId, signature: &[Scalar], views: &[Value], inputs: &[Access], result: Scalar) -> Expr {
    let mut nodes = Nodes::default();
    let args: Vec<Expr> = (views.iter().zip(inputs).zip(signature))
        .map(|((&value, &access), &param)| nodes.cast(&Expr::leaf((value, view(access, false))), param))
        .collect();
    let (params, gives) = (&signature[..views.len()], signature[views.len()]);
    let function = ScalarFn::of_op(params, gives, |args| Op::Call(scalar, args));
    let called = nodes.map(function, gives, &args, &[]);
    nodes.cast(&called, result)
}

/// A `Loop` function being written.
struct Looped<'a> {
    builder: Builder,
    indices: &'a [Value],
}

impl Looped<'_> {
    /// The point of the axes that an operand moves along.
    fn at(&self, axes: u32) -> Vec<Value> {
        let moves = |(axis, _): &(usize, &Value)| axes & (1 << axis) != 0;
        self.indices.iter().enumerate().filter(moves).map(|(_, &index)| index).collect()
    }

    fn load(&mut self, of: Value, access: Access) -> Value {
        let at = self.at(access.axes);
        load(&mut self.builder, (of, view(access, false)), &at)
    }
}

impl Emit for Looped<'_> {
    fn builder(&mut self) -> &mut Builder {
        &mut self.builder
    }

    /// The scalar function is called, which takes no labels.
    fn label(&mut self) -> Label {
        Label(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `device @twice(x: f32) -> f32` as a module.
    fn twice() -> Module {
        let mut func = Function::new("twice", FuncKind::Device);
        func.result = Scalar::F32.into();
        let x = func.new_param(Scalar::F32.into(), "x");
        let mut builder = Builder::new(func);
        let sum = builder.binary(weft_ir::BinOp::Add, x, x);
        builder.push(StmtKind::Return(Some(sum)));
        Module {
            sources: vec![],
            constants: vec![],
            functions: vec![builder.finish()],
            entry: FuncId(0),
        }
    }

    fn access(elem: Scalar, axes: u32) -> Access {
        Access {
            elem,
            axes,
            layout: Layout::C,
        }
    }

    #[test]
    fn the_loop_casts_and_masks() {
        let mask = access(Scalar::Bool, 0b10);
        let module = ufunc_loop(twice(), 2, &[access(Scalar::I32, 0b01)], access(Scalar::F64, 0b11), Some(mask)).unwrap();
        insta::assert_snapshot!(weft_ir::text::print(&module));
    }

    #[test]
    fn the_number_of_operands_is_checked() {
        let error = ufunc_loop(twice(), 1, &[], access(Scalar::F32, 1), None).unwrap_err();
        assert_eq!(error.to_string(), "the function takes 1 arguments, 0 given");
    }
}
