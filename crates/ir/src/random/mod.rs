//! Fuzzing: random modules with inputs, for comparing devices with the interpreter.
//!
//! A case is a function of its seed. Every module verifies, every run ends, and what it computes is determined: indices stay in range,
//! threads write only what is theirs or commute atomically, barriers stand in uniform control flow, and no float's bits are looked at
//! where it may be a NaN. Everything else is fair: divergent branches and loops, early exits, integer overflow, shifts and casts out of
//! range, division by zero, infinities.

mod damage;
mod device;
mod expr;
mod host;
mod kernel;
mod rng;
mod shrink;
mod stmt;
mod view;

pub use damage::damage;
pub use shrink::shrink;

use crate::builder::Builder;
use crate::interp::{Fault, Options};
use crate::module::{ConstArray, FuncId, FuncKind, Function, Local, Module, Value};
use crate::op::{BinOp, Const, Op};
use crate::testing::{Array, Expected, Interpreted, TestLaunch, TestLine, TestValue, interpret};
use crate::types::{Layout, Scalar, Space, Type, ViewType};
use rng::Rng;

/// A module and how to run it.
#[derive(Clone, Debug)]
pub struct Case {
    pub module: Module,
    /// Expects nothing but the exception the run ends with, if it does: all else is for the interpreter to say.
    pub line: TestLine,
}

/// A kernel over a small grid, with barriers, shared and local arrays, atomics, and device functions.
pub fn kernel(seed: u64) -> Case {
    kernel::generate(Rng::new(seed), false)
}

/// A kernel whose threads go astray: some end before barriers that others come to, and lanes of a warp meet where other threads never come.
/// Not for checked mode, which refuses the former.
pub fn stray_kernel(seed: u64) -> Case {
    kernel::generate(Rng::new(seed), true)
}

/// A host function with sequential code, index spaces and reductions.
pub fn host(seed: u64) -> Case {
    host::generate(Rng::new(seed))
}

/// The types random code computes with.
const SCALARS: [Scalar; 13] = [
    Scalar::Bool,
    Scalar::I8,
    Scalar::I16,
    Scalar::I32,
    Scalar::I64,
    Scalar::U8,
    Scalar::U16,
    Scalar::U32,
    Scalar::U64,
    Scalar::F16,
    Scalar::BF16,
    Scalar::F32,
    Scalar::F64,
];

/// Those and complex numbers, which are rarer.
const ALL: [Scalar; 17] = [
    Scalar::Bool,
    Scalar::I8,
    Scalar::I16,
    Scalar::I32,
    Scalar::I64,
    Scalar::U8,
    Scalar::U16,
    Scalar::U32,
    Scalar::U64,
    Scalar::F16,
    Scalar::BF16,
    Scalar::F32,
    Scalar::F64,
    Scalar::F32,
    Scalar::F64,
    Scalar::C64,
    Scalar::C128,
];

/// An array code may index anywhere, with the shape it will have.
#[derive(Clone, Debug)]
struct Reach {
    view: Value,
    elem: Scalar,
    shape: Vec<u64>,
    /// May be written here: it belongs to the thread alone.
    private: bool,
}

/// A length that a value holds.
#[derive(Clone, Copy, Debug)]
struct Known {
    length: u64,
    value: Value,
    /// The array and the axis that have it.
    of: Option<(Value, usize)>,
}

/// A function that can be called.
#[derive(Clone, Debug)]
struct Callee {
    id: FuncId,
    params: Vec<Scalar>,
    result: Scalar,
}

/// What the statements of one function draw from.
struct Gen {
    rng: Rng,
    b: Builder,
    /// Scalars in scope.
    pool: Vec<(Value, Scalar)>,
    locals: Vec<(Local, Scalar)>,
    tuples: Vec<(Local, Vec<Scalar>)>,
    constants: Vec<ConstArray>,
    arrays: Vec<Reach>,
    /// Lengths that are known outside of all loops: of axes of arrays, and others.
    lengths: Vec<Known>,
    callees: Vec<Callee>,
    /// The few types this function computes with: more would leave little to combine.
    types: Vec<Scalar>,
    /// A checksum of what was computed, so that nothing goes unseen.
    digest: Option<Local>,
    /// Each thread's number, if there are threads: neighbours differ by 1.
    lane: Option<Value>,
    /// Arrays with one element per thread, and the thread's own index in them.
    own: Vec<Reach>,
    own_index: Option<Value>,
    /// Arrays that are changed by this operation only, and never read before a barrier.
    counters: Vec<(Reach, crate::AtomicOp)>,
    /// Statements that may still be made.
    budget: u32,
    /// How deep expressions may still nest.
    nesting: u32,
    next_label: u32,
}

impl Gen {
    fn new(mut rng: Rng, func: Function) -> Gen {
        let budget = 20 + (rng.peek() % 40) as u32;
        let mut types = vec![Scalar::I64, rng.pick(&[Scalar::F32, Scalar::F64])];
        types.extend((0..rng.below(4)).map(|_| rng.pick(&ALL)));
        Gen {
            rng,
            b: Builder::new(func),
            pool: Vec::new(),
            locals: Vec::new(),
            tuples: Vec::new(),
            constants: Vec::new(),
            arrays: Vec::new(),
            lengths: Vec::new(),
            callees: Vec::new(),
            types,
            digest: None,
            lane: None,
            own: Vec::new(),
            own_index: None,
            counters: Vec::new(),
            budget,
            nesting: 3,
            next_label: 0,
        }
    }

    fn param(&mut self, ty: impl Into<Type>, name: String) -> Value {
        self.b.func.new_param(ty.into(), name)
    }

    /// A scalar parameter and its argument.
    fn scalar_param(&mut self, args: &mut Vec<TestValue>) {
        let scalar = self.any_type();
        let value = self.param(scalar, format!("s{}", args.len()));
        self.pool.push((value, scalar));
        let c = self.random_const(scalar);
        args.push(TestValue::Scalar(c));
    }

    /// An array parameter of random rank, layout and contents, at least one element along each axis.
    fn input_param(&mut self, args: &mut Vec<TestValue>) {
        let elem = self.any_type();
        let rank = 1 + self.rng.below(2) as usize;
        let shape: Vec<u64> = (0..rank).map(|_| 1 + self.rng.below(if rank == 1 { 70 } else { 9 })).collect();
        self.input_of(elem, shape, args);
    }

    fn input_of(&mut self, elem: Scalar, shape: Vec<u64>, args: &mut Vec<TestValue>) {
        let view = self.array_param(elem, shape.clone(), false, args);
        self.arrays.push(Reach {
            view,
            elem,
            shape,
            private: false,
        });
    }

    fn array_param(&mut self, elem: Scalar, shape: Vec<u64>, writable: bool, args: &mut Vec<TestValue>) -> Value {
        let layout = self.rng.pick(&[Layout::C, Layout::C, Layout::F, Layout::Row, Layout::Any]);
        let ty = ViewType {
            elem,
            rank: shape.len() as u8,
            layout,
            space: Space::Global,
            writable,
        };
        let view = self.param(ty, format!("a{}", args.len()));
        let count: u64 = shape.iter().product();
        let data = (0..count).map(|_| self.random_const(elem)).collect();
        args.push(TestValue::Array(Array { elem, shape, layout, data }));
        view
    }

    /// Locals of several types, all set, and the checksum.
    fn make_locals(&mut self) {
        let digest = self.b.func.new_local(Scalar::I64.into(), "digest");
        let start = self.i64(17);
        self.b.set(digest, start);
        self.digest = Some(digest);
        for i in 0..3 + self.rng.below(4) {
            let scalar = self.any_type();
            let local = self.b.func.new_local(scalar.into(), format!("v{i}"));
            let value = if self.rng.chance(60) {
                self.load(scalar)
            } else {
                self.expr(scalar)
            };
            self.b.set(local, value);
            self.locals.push((local, scalar));
        }
        if self.rng.chance(30) {
            self.make_tuple();
        }
    }

    /// A local that holds a tuple.
    fn make_tuple(&mut self) {
        let types: Vec<Scalar> = (0..1 + self.rng.below(3)).map(|_| self.any_type()).collect();
        let ty = Type::Tuple(types.iter().map(|s| Type::Scalar(*s)).collect());
        let local = self.b.func.new_local(ty, format!("t{}", self.tuples.len()));
        self.tuples.push((local, types));
        self.set_tuple();
    }

    fn set_tuple(&mut self) {
        if self.tuples.is_empty() {
            return;
        }
        let (local, types) = self.rng.pick(&self.tuples.clone());
        let items = types.iter().map(|s| self.value(*s)).collect();
        let ty = self.b.func.local_ty(local).clone();
        let tuple = self.b.emit(ty, Op::Tuple(items));
        self.b.set(local, tuple);
    }

    /// An item of a tuple joins the values in scope.
    fn read_tuple(&mut self) {
        if self.tuples.is_empty() {
            return;
        }
        let (local, types) = self.rng.pick(&self.tuples.clone());
        let tuple = self.b.get(local);
        let i = self.rng.below(types.len() as u64) as usize;
        let value = self.b.emit(types[i], Op::Item(tuple, i as u32));
        self.pool.push((value, types[i]));
    }

    /// Mixes the bits of a value into the checksum; all NaNs count as one.
    fn note(&mut self, value: Value) {
        let (Some(digest), Some(scalar)) = (self.digest, self.b.func.ty(value).scalar()) else {
            return;
        };
        let bits = match scalar {
            float if float.is_float() => {
                let clean = self.not_nan(value);
                let word = match scalar.size() {
                    2 => Scalar::I16,
                    4 => Scalar::I32,
                    _ => Scalar::I64,
                };
                self.b.emit(word, Op::Bitcast(clean))
            }
            _ => value,
        };
        let bits = self.b.cast(bits, Scalar::I64);
        let old = self.b.get(digest);
        let factor = self.i64(31);
        let scaled = self.b.binary(BinOp::Mul, old, factor);
        let mixed = self.b.binary(BinOp::Add, scaled, bits);
        self.b.set(digest, mixed);
    }

    fn any_type(&mut self) -> Scalar {
        self.rng.pick(&self.types)
    }

    fn i64(&mut self, v: i64) -> Value {
        self.b.i64(v)
    }

    fn constant(&mut self, c: Const) -> Value {
        self.b.constant(c)
    }
}

/// Puts the exception a case ends with into what its line expects.
fn with_exception(mut case: Case) -> Case {
    let run = interpret(&case.module, &case.line, Options::default());
    if let Ok(Interpreted { result: Err(trap), .. }) = run
        && let Fault::Raised { kind, message } = trap.fault
    {
        case.line.expected.raises = Some((kind, message));
    }
    case
}

fn case(functions: Vec<Function>, constants: Vec<ConstArray>, launch: TestLaunch, args: Vec<TestValue>) -> Case {
    let entry = FuncId(functions.len() as u32 - 1);
    Case {
        module: Module {
            sources: Vec::new(),
            constants,
            functions,
            entry,
        },
        line: TestLine {
            line: 0,
            func: entry,
            launch,
            args,
            expected: Expected::default(),
        },
    }
}

fn function(name: impl Into<String>, kind: FuncKind) -> Function {
    Function::new(name, kind)
}
