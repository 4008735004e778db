//! What can be wrong with a module, each fault with its meaning.

use std::fmt;

use crate::module::{ArrayId, ConstId, FuncId, Function, Label, Local, Span, Value};
use crate::types::Type;

/// A fault and the place it was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerifyError {
    /// The function's name; empty for faults of the module itself.
    pub function: String,
    pub span: Span,
    pub fault: Fault,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The value is not in the function's table.
    UnknownValue(Value),
    /// The value is used before its definition or outside the block that defines it.
    NotInScope(Value),
    /// The value is defined a second time.
    Redefined(Value),
    /// The local is not in the function's table.
    UnknownLocal(Local),
    /// The array is not in the function's table.
    UnknownArray(ArrayId),
    /// The constant array is not in the module.
    UnknownConst(ConstId),
    /// The function is not in the module.
    UnknownFunction(FuncId),
    /// A value does not have the type its place requires.
    Mismatch {
        place: String,
        expected: Type,
        found: Type,
    },
    /// The operation or reduction is not defined for values of this type.
    Operand {
        op: String,
        found: Type,
    },
    /// A view does not have as many axes as the access has indices, or an axis or item number is out of range.
    Rank {
        op: &'static str,
        expected: usize,
        found: usize,
    },
    /// A call, launch or loop has the wrong number of operands.
    Count {
        op: &'static str,
        expected: usize,
        found: usize,
    },
    /// A view's result type claims what the operation does not give: element type, space, layout or the right to write.
    ViewResult {
        op: &'static str,
        found: Type,
    },
    /// A write through a read-only view.
    ReadOnly(Value),
    /// An integer constant does not fit its type.
    ConstRange,
    /// `transpose` needs every axis exactly once.
    Permutation,
    /// `cas` takes an expected value, the other atomic operations do not.
    Expected,
    /// A statement follows `break`, `continue`, `return`, `leave` or `raise` in the same block.
    DeadCode,
    /// `break` or `continue` stands in no loop it may end. A `parfor` point may `continue` but not `break`.
    OutsideLoop(&'static str),
    /// `leave` names a scope that is not open here.
    NotOpen(Label),
    /// The label names two scopes.
    LabelReused(Label),
    /// The statement or operation is not allowed in this kind of function, or not inside `parfor`.
    NotAllowed(&'static str),
    /// The function cannot be called or launched this way: only device functions are called (host functions from host functions),
    /// only loop functions are launched.
    NotCallable(FuncId),
    /// The called function needs threads (barrier, geometry, shared memory), the caller has none.
    NeedsThreads(FuncId),
    /// The launched function allocates or launches itself, and is launched as lanes.
    NeedsPoints(FuncId),
    /// The function reaches itself through calls.
    Recursion(FuncId),
    NoStack,
    /// A kernel or loop function has a result type.
    HasResult,
    /// Some reductions of an index space have a fixed order, others not.
    Orders,
    /// A loop function's first parameters are its indices, of type i64.
    LoopIndices,
    /// A shuffle without a lane, or another operation of a warp with one.
    Lane,
    /// The function has a result, but control can reach its end.
    MissingReturn,
    /// A function's array is neither shared nor local, or too large to address.
    BadArray(String),
    /// A constant array's bytes do not fit its shape.
    BadConstArray(usize),
}

impl VerifyError {
    pub(super) fn new(function: &Function, span: Span, fault: Fault) -> VerifyError {
        VerifyError {
            function: function.name.clone(),
            span,
            fault,
        }
    }

    pub(super) fn in_module(fault: Fault) -> VerifyError {
        VerifyError {
            function: String::new(),
            span: Span::NONE,
            fault,
        }
    }
}

impl fmt::Display for VerifyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.function.is_empty() {
            write!(f, "@{}: ", self.function)?;
        }
        self.fault.fmt(f)
    }
}

impl std::error::Error for VerifyError {}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fault::UnknownValue(v) => write!(f, "there is no value %{}", v.0),
            Fault::NotInScope(v) => write!(f, "%{} is not defined here", v.0),
            Fault::Redefined(v) => write!(f, "%{} is defined twice", v.0),
            Fault::UnknownLocal(l) => write!(f, "there is no local ${}", l.0),
            Fault::UnknownArray(a) => write!(f, "there is no array {}", a.0),
            Fault::UnknownConst(c) => write!(f, "there is no constant array {}", c.0),
            Fault::UnknownFunction(id) => write!(f, "there is no function @{}", id.0),
            Fault::Mismatch { place, expected, found } => write!(f, "{place} must be {expected}, not {found}"),
            Fault::Operand { op, found } => write!(f, "{op} is not defined for {found}"),
            Fault::Rank { op, expected, found } => write!(f, "{op} needs {expected} axes, not {found}"),
            Fault::Count { op, expected, found } => write!(f, "{op} takes {expected} operands, not {found}"),
            Fault::ViewResult { op, found } => write!(f, "{op} cannot give {found}"),
            Fault::ReadOnly(v) => write!(f, "%{} may not be written", v.0),
            Fault::ConstRange => f.write_str("the constant does not fit its type"),
            Fault::Permutation => f.write_str("transpose needs every axis exactly once"),
            Fault::Expected => f.write_str("only cas takes an expected value"),
            Fault::Lane => f.write_str("a shuffle takes a lane, and nothing else of a warp does"),
            Fault::DeadCode => f.write_str("code after the end of a block is never reached"),
            Fault::OutsideLoop(what) => write!(f, "{what} outside a loop"),
            Fault::NotOpen(l) => write!(f, "scope ^{} is not open here", l.0),
            Fault::LabelReused(l) => write!(f, "^{} names two scopes", l.0),
            Fault::NotAllowed(what) => write!(f, "{what} is not allowed here"),
            Fault::NotCallable(id) => write!(f, "function {} cannot be called or launched from here", id.0),
            Fault::NeedsPoints(id) => write!(f, "function {} allocates or launches, and cannot run as lanes", id.0),
            Fault::NeedsThreads(id) => write!(f, "function {} needs the threads of a kernel", id.0),
            Fault::Recursion(id) => write!(f, "function {} reaches itself and is none that is called", id.0),
            Fault::NoStack => f.write_str("only functions that are called may ask for the stack that is left"),
            Fault::Orders => f.write_str("reductions of one index space with and without a fixed order"),
            Fault::HasResult => f.write_str("a kernel or loop function has no result"),
            Fault::LoopIndices => f.write_str("the first parameters of a loop function are i64 indices"),
            Fault::MissingReturn => f.write_str("the function can end without returning its result"),
            Fault::BadArray(name) => write!(f, "array {name:?} is neither shared nor local, or too large"),
            Fault::BadConstArray(i) => write!(f, "constant array {i} does not have as many bytes as its shape needs"),
        }
    }
}
