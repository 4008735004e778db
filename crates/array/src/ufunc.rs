//! Ufuncs: the loop kernel around a scalar function.
//!
//! The loop runs over a [`Plan`](crate::Plan)'s axes. Each operand is a view of just the axes it moves along, so a broadcast operand is
//! loaded with fewer indices: uniform for the gang when the lane axis is not among them.

use std::fmt;

use weft_ir::{FuncId, Layout, Module, Scalar, Space, StmtKind, Value, ViewType};

use crate::kernel::{Input, Kind, Stores, Writer};

/// How the loop reads or writes one operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Access {
    pub elem: Scalar,
    /// Bit `i`: the operand moves along loop axis `i`.
    pub axes: u32,
    pub layout: Layout,
}

impl Access {
    pub fn view(self, writable: bool) -> ViewType {
        ViewType {
            elem: self.elem,
            rank: self.axes.count_ones() as u8,
            layout: self.layout,
            space: Space::Global,
            writable,
        }
    }

    /// The point of the axes that the operand moves along.
    pub fn at(self, indices: &[Value]) -> Vec<Value> {
        let moves = |(axis, _): &(usize, &Value)| self.axes & (1 << axis) != 0;
        indices.iter().enumerate().filter(moves).map(|(_, &index)| index).collect()
    }
}

/// A scalar function that cannot be a ufunc.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UfuncError {
    /// The entry is no device function of scalars giving a scalar.
    NotScalar(String),
    /// Another number of operands than the function has parameters.
    Operands { expected: usize, given: usize },
    /// Another number of outputs, or of what is folded to, than the function has results.
    Results { expected: usize, given: usize },
}

impl fmt::Display for UfuncError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            UfuncError::NotScalar(what) => write!(f, "a vectorized function takes and returns scalars, not {what}"),
            UfuncError::Operands { expected, given } => write!(f, "the function takes {expected} arguments, {given} given"),
            UfuncError::Results { expected, given } => write!(f, "the function has {expected} results, {given} wanted"),
        }
    }
}

impl std::error::Error for UfuncError {}

/// Wraps the module's entry, a `Device` function of scalars, in a `Loop` of `rank` axes that becomes the entry.
///
/// The loop's parameters after its indices: a view per input, the output's view, and with `mask` a bool view: points where it is false
/// are left as they are. Elements are cast to the function's parameter types and its result to the output's.
pub fn ufunc_loop(module: Module, rank: u8, inputs: &[Access], output: Access, mask: Option<Access>) -> Result<Module, UfuncError> {
    let inputs: Vec<Input> = inputs.iter().map(|&access| access.into()).collect();
    map_loop(module, rank, &inputs, &[output], mask)
}

/// The same of any inputs, with an output for each result of the function, which gives a tuple if these are not one.
pub fn map_loop(module: Module, rank: u8, inputs: &[Input], outputs: &[Access], mask: Option<Access>) -> Result<Module, UfuncError> {
    let stores = Stores {
        function: module.entry,
        inputs,
        outputs,
    };
    let name = format!("{}_loop", module.entry_function().name);
    let mut writer = Writer::new(&module, module.entry, name, Kind::Loop, rank);
    let indices = writer.axes.clone();
    let bound = writer.bind(&module, &stores, 0)?;
    match mask {
        None => writer.store(&bound, &indices, &[]),
        Some(access) => {
            let view = writer.view(access, false, "where".to_string());
            let cond = writer.load((view, access), &indices);
            writer.b.open();
            writer.store(&bound, &indices, &[]);
            let then = writer.b.close();
            writer.b.push(StmtKind::If {
                cond,
                then,
                other: Default::default(),
            });
        }
    }
    Ok(writer.finish(module))
}

/// Parameter scalars of a function of scalars, and those of its results.
pub fn scalar_signature(module: &Module, function: FuncId) -> Result<(Vec<Scalar>, Vec<Scalar>), UfuncError> {
    let entry = module.function(function);
    let scalar = |ty: &weft_ir::Type| ty.scalar().ok_or_else(|| UfuncError::NotScalar(ty.to_string()));
    let params = entry.params.iter().map(|&param| scalar(entry.ty(param)));
    let results = match &entry.result {
        weft_ir::Type::Tuple(items) if !items.is_empty() => items.iter().map(scalar).collect(),
        ty => scalar(ty).map(|one| vec![one]),
    };
    Ok((params.collect::<Result<_, _>>()?, results?))
}

#[cfg(test)]
mod tests {
    use weft_ir::{Builder, FuncKind, Function};

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
