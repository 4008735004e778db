//! What the front end asks of the host language: the functions' source and what their free names mean.

use std::fmt;
use std::rc::Rc;

use weft_ir::{Scalar, Source};

use crate::Decorated;
use crate::items::{Items, TupleMaker};

/// Resolves the free names of one function: closure cells first, then globals, then builtins.
pub trait Environment {
    fn lookup(&self, name: &str) -> Option<Object>;

    /// What `module.name` is, for an `Object::Module` this environment gave: `attribute("math", "pi")` is a float,
    /// `attribute("numpy", "float32")` a dtype, `attribute("numpy", "sin")` the known function `numpy.sin`.
    fn attribute(&self, module: &str, name: &str) -> Option<Object> {
        let _ = (module, name);
        None
    }

    /// The object that an argument is.
    fn argument(&self, key: u64) -> Option<Object> {
        let _ = key;
        None
    }
}

/// A function to compile or to call: its text and the world its names live in.
#[derive(Clone)]
pub struct FunctionSource {
    pub name: String,
    /// Identity of the function object. As all keys here it is a number that means one object as long as the compilation lasts:
    /// never an address, which a later object may have when an earlier one is gone.
    pub key: u64,
    pub source: Source,
    /// Default values by parameter name, already evaluated.
    pub defaults: Vec<(String, Object)>,
    /// What its own decorator asked for; `None` for a plain function, which is compiled as its caller is.
    pub decorated: Option<Rc<Decorated>>,
    pub env: Rc<dyn Environment>,
}

/// What a free name or an attribute of a module stands for. Everything is frozen at compile time.
#[derive(Clone, Debug)]
pub enum Object {
    None,
    Bool(bool),
    /// A Python int: weak. Held wide enough for every `int64` and `uint64`.
    Int(i128),
    /// A Python float: weak.
    Float(f64),
    /// A Python complex: weak.
    Complex(f64, f64),
    /// A NumPy scalar: strong. Real and imaginary part of its value; integers in the third field.
    Strong(Scalar, f64, f64, i128),
    Str(String),
    Tuple(Items<Object>),
    /// The class of a named tuple.
    TupleClass(Rc<TupleMaker>),
    /// A dtype or scalar type: `np.float32`, `weft.numba.float32`, `np.dtype('f4')`.
    Dtype(Scalar),
    /// A NumPy array, frozen as a constant (C order).
    Array {
        /// Identity of the array; two objects with one key are one array.
        key: u64,
        elem: Scalar,
        shape: Vec<u64>,
        bytes: Rc<Vec<u8>>,
    },
    /// A module the front end knows, by its canonical path: `math`, `cmath`, `numpy`, `weft`, `weft.cuda`, `weft.cuda.atomic`.
    Module(String),
    /// A function the front end knows, by its canonical path: `math.sin`, `numpy.zeros`, `builtins.range`, `weft.cuda.grid`, `weft.prange`.
    Known(String),
    /// A class of enumerated constants: `enum.Enum` or one made from it.
    Enum(Rc<EnumClass>),
    /// A constant of such a class that is no number or string itself.
    Member(Rc<EnumMember>),
    /// A class of exceptions: the number that the host language knows it by, and its name.
    Exception(u32, String),
    /// Another function compiled by Weft, or a plain Python function that is callable from kernels.
    Function(Rc<FunctionSource>),
    /// Anything else: its key, and its Python type's name for messages.
    Other(u64, String),
}

/// An enumeration: its name, and its members by theirs, aliases among them.
#[derive(Debug)]
pub struct EnumClass {
    /// Identity of the class.
    pub key: u64,
    pub name: String,
    pub members: Vec<(String, Rc<EnumMember>)>,
}

#[derive(Debug)]
pub struct EnumMember {
    /// Identity of the member's object.
    pub key: u64,
    /// As it is shown: `Color.red`.
    pub path: String,
    pub name: String,
    pub value: Object,
    /// The number or string that it is itself, as members of `IntEnum` are.
    pub itself: Option<Object>,
}

/// The type of an argument as the caller passes it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ArgType {
    /// A Python bool, int, float or complex: `Weak(Bool | I64 | F64 | C128)`; on a device without float64 also `F32` and `C64`.
    Weak(Scalar),
    /// A NumPy scalar, or a scalar of an explicit signature.
    Strong(Scalar),
    Array(weft_ir::ViewType),
    Tuple(Items<ArgType>),
    /// What code is compiled for, to which it is a constant: a function, or a member of an enumeration that is no number. Its key,
    /// and how it is shown. The function's environment knows it.
    Object {
        key: u64,
        shown: String,
    },
    None,
}

impl ArgType {
    /// As a device without float64 takes it: Python's floats are float32 there, and its complex numbers complex64.
    pub fn narrowed(&self) -> ArgType {
        match self {
            ArgType::Weak(Scalar::F64) => ArgType::Weak(Scalar::F32),
            ArgType::Weak(Scalar::C128) => ArgType::Weak(Scalar::C64),
            ArgType::Tuple(items) => ArgType::Tuple(items.map(ArgType::narrowed)),
            other => other.clone(),
        }
    }

    /// The same with Python's numbers for NumPy's, of whatever width: what Numba gives its callers.
    pub fn weakened(&self) -> ArgType {
        match self {
            ArgType::Strong(scalar) => ArgType::Weak(*scalar),
            ArgType::Tuple(items) => ArgType::Tuple(items.map(ArgType::weakened)),
            other => other.clone(),
        }
    }
}

impl fmt::Debug for FunctionSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "FunctionSource({:?})", self.name)
    }
}
