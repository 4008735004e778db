//! PTX as it is written: the parser's result.

/// A scalar type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Ty {
    Pred,
    B8,
    B16,
    B32,
    B64,
    B128,
    U8,
    U16,
    U32,
    U64,
    S8,
    S16,
    S32,
    S64,
    F16,
    F16x2,
    BF16,
    BF16x2,
    F32,
    F32x2,
    F64,
    U16x2,
    S16x2,
}

impl Ty {
    pub fn parse(name: &str) -> Option<Ty> {
        Some(match name {
            "pred" => Ty::Pred,
            "b8" => Ty::B8,
            "b16" => Ty::B16,
            "b32" => Ty::B32,
            "b64" => Ty::B64,
            "b128" => Ty::B128,
            "u8" => Ty::U8,
            "u16" => Ty::U16,
            "u32" => Ty::U32,
            "u64" => Ty::U64,
            "s8" => Ty::S8,
            "s16" => Ty::S16,
            "s32" => Ty::S32,
            "s64" => Ty::S64,
            "f16" => Ty::F16,
            "f16x2" => Ty::F16x2,
            "bf16" => Ty::BF16,
            "bf16x2" => Ty::BF16x2,
            "f32" => Ty::F32,
            "f32x2" => Ty::F32x2,
            "u16x2" => Ty::U16x2,
            "s16x2" => Ty::S16x2,
            "f64" => Ty::F64,
            _ => return None,
        })
    }

    /// Size in bytes; a predicate has none.
    pub fn bytes(self) -> u32 {
        match self {
            Ty::Pred => 0,
            Ty::B8 | Ty::U8 | Ty::S8 => 1,
            Ty::B16 | Ty::U16 | Ty::S16 | Ty::F16 | Ty::BF16 => 2,
            Ty::B32 | Ty::U32 | Ty::S32 | Ty::F32 | Ty::F16x2 | Ty::BF16x2 | Ty::U16x2 | Ty::S16x2 => 4,
            Ty::B64 | Ty::U64 | Ty::S64 | Ty::F64 | Ty::F32x2 => 8,
            Ty::B128 => 16,
        }
    }

    pub fn signed(self) -> bool {
        matches!(self, Ty::S8 | Ty::S16 | Ty::S32 | Ty::S64)
    }

    /// Two values in a register.
    pub fn packed(self) -> bool {
        matches!(self, Ty::F16x2 | Ty::BF16x2 | Ty::F32x2 | Ty::U16x2 | Ty::S16x2)
    }

    /// Without a meaning but its size.
    pub fn bits(self) -> bool {
        matches!(self, Ty::B8 | Ty::B16 | Ty::B32 | Ty::B64 | Ty::B128)
    }

    /// The integer twice as wide.
    pub fn twice(self) -> Ty {
        match self {
            Ty::U16 => Ty::U32,
            Ty::S16 => Ty::S32,
            Ty::U32 => Ty::U64,
            Ty::S32 => Ty::S64,
            other => other,
        }
    }

    pub fn float(self) -> bool {
        matches!(self, Ty::F16 | Ty::F16x2 | Ty::BF16 | Ty::BF16x2 | Ty::F32 | Ty::F32x2 | Ty::F64)
    }
}

/// Where a variable lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Space {
    Generic,
    Global,
    Shared,
    Local,
    Const,
    Param,
}

#[derive(Clone, Debug)]
pub struct Source {
    pub version: (u32, u32),
    /// The number of the target: 90 of `sm_90a`.
    pub target: u32,
    pub variables: Vec<Variable>,
    pub functions: Vec<Function>,
}

#[derive(Clone, Debug)]
pub struct Variable {
    pub name: String,
    pub space: Space,
    pub align: u32,
    pub bytes: u64,
    /// An extern array without a size: dynamic shared memory.
    pub unsized_: bool,
    pub external: bool,
    pub init: Vec<u8>,
    pub relocations: Vec<Relocation>,
    pub line: u32,
}

/// An address among a variable's initial values.
#[derive(Clone, Debug)]
pub struct Relocation {
    pub at: u64,
    pub bytes: u32,
    pub symbol: String,
    pub addend: i64,
    pub generic: bool,
}

#[derive(Clone, Debug)]
pub struct Param {
    pub name: String,
    pub bytes: u32,
    pub align: u32,
    /// Where it lies in the parameter block.
    pub offset: u32,
}

#[derive(Clone, Debug, Default)]
pub struct Bounds {
    pub max_threads: Option<[u32; 3]>,
    pub required_threads: Option<[u32; 3]>,
    pub min_blocks: Option<u32>,
    pub max_registers: Option<u32>,
}

#[derive(Clone, Debug)]
pub struct Function {
    pub name: String,
    pub entry: bool,
    pub results: Vec<Param>,
    pub params: Vec<Param>,
    pub param_bytes: u32,
    pub bounds: Bounds,
    pub body: Option<Body>,
    pub line: u32,
}

#[derive(Clone, Debug, Default)]
pub struct Body {
    pub statements: Vec<Statement>,
    /// How many registers all its blocks declare.
    pub registers: usize,
}

#[derive(Clone, Debug)]
pub enum Statement {
    /// A nested block begins: the names declared in it end with it.
    Open,
    Close,
    Registers(Vec<String>, Ty),
    Variable(Variable),
    Label(String),
    Targets(String, Vec<String>),
    Instruction(Instruction),
}

#[derive(Clone, Debug)]
pub struct Instruction {
    pub guard: Option<(String, bool)>,
    pub mnemonic: String,
    pub operands: Vec<Operand>,
    pub line: u32,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Operand {
    /// A register, variable, label or function.
    Name(String),
    /// `name + offset`
    Offset(String, i64),
    /// `!%p`
    Not(String),
    Int(i128),
    Float(f64),
    F32(u32),
    F64(u64),
    /// `[name + offset]`, or an absolute address.
    Address(Option<String>, i64),
    /// `{a, b}`
    Vector(Vec<Operand>),
    /// `d|p`
    Pair(Box<Operand>, Box<Operand>),
    /// `(a, b)` in a call.
    List(Vec<Operand>),
}
