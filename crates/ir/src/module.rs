//! Modules, functions, statements: the structure that holds operations.
//!
//! Values are defined once, by a `Let`, a parameter or a loop's index, and may be used in the rest of the block that defines them and
//! in the blocks nested there. Locals are mutable and live as long as their function. There are no phis.

use crate::op::{Index, Op, Part};
pub use crate::table::ReduceOp;
use crate::table::{Effect, Field, define, rule, statements};
use crate::types::{Scalar, Space, Type};

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(pub u32);
        impl $name {
            pub const fn index(self) -> usize { self.0 as usize }
        }
    )*};
}

ids! {
    /// A value of a function.
    Value;
    /// A mutable local of a function.
    Local;
    /// A function of a module.
    FuncId;
    /// A shared or local array of a function.
    ArrayId;
    /// A constant array of a module.
    ConstId;
    /// A source text of a module.
    SourceId;
    /// A block that can be left, unique in its function.
    Label;
}

/// What has a number in its function, besides values.
#[derive(Debug)]
pub enum Id<'a> {
    Local(&'a mut Local),
    Array(&'a mut ArrayId),
    Label(&'a mut Label),
}

/// A piece of source text: bytes `start..end` of a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Span {
    pub source: SourceId,
    pub start: u32,
    pub end: u32,
}

impl Span {
    /// For code no user wrote.
    pub const NONE: Span = Span {
        source: SourceId(u32::MAX),
        start: 0,
        end: 0,
    };
}

/// Source text of a function, as it stands in its file.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Source {
    pub file: String,
    /// Line number of the text's first line in the file, from 1.
    pub first_line: u32,
    pub text: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Module {
    pub sources: Vec<Source>,
    pub constants: Vec<ConstArray>,
    pub functions: Vec<Function>,
    /// The function that is called or launched from outside.
    pub entry: FuncId,
}

/// C-contiguous read-only data.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ConstArray {
    pub elem: Scalar,
    pub shape: Vec<u64>,
    pub bytes: Vec<u8>,
}

/// What a function is to its callers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FuncKind {
    /// Called from the host, runs once, may allocate and return values.
    Host,
    /// Called from other functions.
    Device,
    /// Launched over a grid of blocks of threads; returns nothing.
    Kernel,
    /// Run once for every point of an index space. The first `rank` parameters are the point's indices (`i64`), the rest are
    /// the same for all points. Neighbours along the last axis are lanes. Made by the `outline` pass and the ufunc builder.
    Loop { rank: u8, reductions: Vec<Reduction> },
}

/// A local that starts as the operator's identity in every lane and whose final values are combined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reduction {
    pub local: Local,
    pub op: ReduceOp,
    /// Combined in the order of [`crate::order`]; else in any order, another on each device. All reductions of an index space are alike.
    pub fixed: bool,
}

impl Reduction {
    /// In any order.
    pub fn free(local: Local, op: ReduceOp) -> Reduction {
        let fixed = false;
        Reduction { local, op, fixed }
    }

    /// In the order that the extents fix.
    pub fn fixed(local: Local, op: ReduceOp) -> Reduction {
        let fixed = true;
        Reduction { local, op, fixed }
    }

    /// Does the result depend on the order?
    pub fn rounds(self, scalar: Scalar) -> bool {
        matches!(self.op, ReduceOp::Add | ReduceOp::Mul) && (scalar.is_float() || scalar.is_complex())
    }
}

impl Function {
    /// Has a reduction the fixed order, and does that show in its result?
    pub fn is_ordered(&self, reduction: Reduction) -> bool {
        let scalar = self.local_ty(reduction.local).scalar();
        reduction.fixed && scalar.is_some_and(|scalar| reduction.rounds(scalar))
    }
}

/// What the points of an index space are spread over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Spread {
    /// Neighbours are lanes; on the calling thread.
    Lanes,
    /// Neighbours are lanes, their gangs on all threads.
    Gangs,
    /// On all threads, one point after the other on each: points that allocate, or run index spaces of their own. What a point
    /// allocates ends with it.
    Threads,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Function {
    pub name: String,
    pub kind: FuncKind,
    pub params: Vec<Value>,
    pub result: Type,
    pub values: Vec<ValueData>,
    pub locals: Vec<LocalData>,
    pub arrays: Vec<ArrayDecl>,
    pub body: Block,
    pub origin: Origin,
    pub flags: Flags,
}

/// Where a function comes from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Origin {
    #[default]
    User,
    /// A text of Weft's library, and which: what it raises is shown where the user's function called it.
    Library(String),
}

impl Origin {
    pub const fn is_library(&self) -> bool {
        match self {
            Origin::User => false,
            Origin::Library(_) => true,
        }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flags {
    /// The `contract` pass may fuse a product into an addition.
    pub contract: bool,
    /// Reassociation, no NaN or infinity, reciprocals.
    pub fastmath: bool,
    /// Written for Numba's rules of numbers, by which its types were found. Says nothing to passes and devices.
    pub numba: bool,
    /// Seldom called, and then better not part of its caller: plain arithmetic on real scalars, which may be done for lanes that are off too.
    pub rare: bool,
    /// What a loop stores is more than the caches hold, and nobody reads it soon.
    pub streams: bool,
    /// It runs on one thread of a CPU, and nothing else writes to its memory meanwhile: its atomic operations are plain ones there.
    pub one_thread: bool,
    /// A kernel's launch bounds; 0 where none are given. No block has more threads than this.
    pub max_threads: u32,
    /// Blocks that one multiprocessor should have room for.
    pub min_blocks: u32,
    /// Registers a thread may use.
    pub max_registers: u32,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ValueData {
    pub ty: Type,
    /// The name in the source, for parameters and messages.
    pub name: Option<String>,
    /// Computed as written though its function has `fastmath`: it was inlined from one that has not.
    pub exact: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LocalData {
    pub name: String,
    pub ty: Type,
}

/// `cuda.shared.array` or `cuda.local.array`: a C-contiguous array of fixed shape.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArrayDecl {
    pub name: String,
    pub elem: Scalar,
    pub shape: Vec<u64>,
    /// `Shared` or `Local`.
    pub space: Space,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Block(pub Vec<Stmt>);

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stmt {
    pub kind: StmtKind,
    pub span: Span,
}

statements!(define);

/// Who has to see memory accesses in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FenceScope {
    Block,
    Device,
    /// The host and other devices too.
    System,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ErrorKind {
    Assertion,
    ZeroDivision,
    Index,
    Value,
    Overflow,
    Memory,
    /// A matrix that has no inverse, or the like.
    LinAlg,
    /// An exception of any other class, by the number that the host language knows the class by.
    Host(u32),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PrintItem {
    Text(String),
    Value(Value),
    /// A complex number whose parts were split by the `legalize` pass: real, imaginary.
    Complex(Value, Value),
}

impl Module {
    pub fn function(&self, id: FuncId) -> &Function {
        &self.functions[id.index()]
    }

    pub fn entry_function(&self) -> &Function {
        self.function(self.entry)
    }
}

impl Function {
    pub fn new(name: impl Into<String>, kind: FuncKind) -> Function {
        Function {
            name: name.into(),
            kind,
            params: Vec::new(),
            result: Type::unit(),
            values: Vec::new(),
            locals: Vec::new(),
            arrays: Vec::new(),
            body: Block::default(),
            origin: Origin::User,
            flags: Flags::default(),
        }
    }

    pub fn ty(&self, value: Value) -> &Type {
        &self.values[value.index()].ty
    }

    pub fn local_ty(&self, local: Local) -> &Type {
        &self.locals[local.index()].ty
    }

    /// A fresh value of a type; the caller defines it with a `Let`, as a parameter or as a loop's index.
    pub fn new_value(&mut self, ty: Type) -> Value {
        self.values.push(ValueData {
            ty,
            name: None,
            exact: false,
        });
        Value(self.values.len() as u32 - 1)
    }

    pub fn new_param(&mut self, ty: Type, name: impl Into<String>) -> Value {
        self.values.push(ValueData {
            ty,
            name: Some(name.into()),
            exact: false,
        });
        let value = Value(self.values.len() as u32 - 1);
        self.params.push(value);
        value
    }

    pub fn new_local(&mut self, ty: Type, name: impl Into<String>) -> Local {
        self.locals.push(LocalData { name: name.into(), ty });
        Local(self.locals.len() as u32 - 1)
    }

    pub fn new_array(&mut self, decl: ArrayDecl) -> ArrayId {
        self.arrays.push(decl);
        ArrayId(self.arrays.len() as u32 - 1)
    }
}
