//! The state of the function being written, and what every part of the emitter asks of it.

use std::collections::{BTreeSet, HashMap};
use std::ops::{Deref, DerefMut};

use naga::{Expression, Function as NagaFunction, Handle, StorageAccess, TypeInner};
use weft_ir::{Const, Geometry, Module, Op, Scalar, Space, StmtKind, Type, Value};
use weft_thread::{Code, Sizes, Thread};

use super::control::Frame;
use super::known::Known;
use super::memory::Array;
use super::numbers::Numbers;
use super::operand::{Operand, Ty};
use super::reach::Reach;
use super::storage::Storages;
use super::values::{Naga, Num, Res};
use super::writer::Writer;
use super::{EmitError, Request, Word};

/// Bytes of a thread's local arrays: as many as CUDA's threads have.
const MOST_LOCAL_BYTES: u64 = 512 << 10;

/// What is collected beside the code.
pub struct ModuleCx<'m> {
    pub module: &'m Module,
    pub request: &'m Request<'m>,
    pub numbers: Numbers,
    pub words: Vec<Word>,
    /// Where each constant array starts.
    pub constants: Vec<u64>,
    /// Bytes of shared memory the function declares.
    pub shared_bytes: u64,
}

/// Writes the entry function.
pub struct Fx<'m> {
    pub cx: ModuleCx<'m>,
    pub thread: Thread<'m, Naga>,
    pub w: Writer,
    pub locals: Locals,
    pub known: Known,
    /// The first statement that asks for what the device has not. Only the last round's counts: what locals lie between is known then.
    pub refused: Option<EmitError>,
    /// Loops and scopes that control stands in, innermost last.
    pub frames: Vec<Frame>,
    pub memory: Memory,
    pub mailbox: MailboxCode,
    pub arguments: Arguments,
    pub place: Place,
}

/// What locals are known to lie between, and what they have been found to.
pub struct Locals {
    pub ranges: Vec<Reach>,
    pub found: Vec<Reach>,
}

/// Where arrays are.
pub struct Memory {
    pub storages: Storages,
    /// The storages' variables, as far as they have been used.
    pub homes: Vec<Option<Array>>,
    /// Do blocks look at what others write?
    pub coherent: bool,
}

/// What the code tells the host.
#[derive(Default)]
pub struct MailboxCode {
    /// What the words are read from.
    pub variable: Option<Handle<naga::GlobalVariable>>,
    /// The function that records an error.
    pub raising: Option<Handle<NagaFunction>>,
}

/// The launch's arguments, as far as they have been read.
#[derive(Default)]
pub struct Arguments {
    /// What the words are read from.
    pub variable: Option<Handle<Expression>>,
    words: HashMap<Word, Operand>,
    /// Parameters that are float64 on a device that has none, and their slots. They can be made float32.
    pub doubles: HashMap<Value, u32>,
}

/// Where the thread stands.
#[derive(Default)]
pub struct Place {
    pub numbers: HashMap<Geometry, Num>,
    /// All threads lie along the first axis.
    pub in_a_row: bool,
}

impl<'m> Deref for Fx<'m> {
    type Target = Thread<'m, Naga>;

    fn deref(&self) -> &Thread<'m, Naga> {
        &self.thread
    }
}

impl<'m> DerefMut for Fx<'m> {
    fn deref_mut(&mut self) -> &mut Thread<'m, Naga> {
        &mut self.thread
    }
}

impl<'m> Code<'m> for Fx<'m> {
    type Operand = Operand;
    type Machine = Naga;
    type Error = EmitError;

    fn why_missing(&self, value: Value) -> Option<EmitError> {
        let message = || self.no_width(&self.name_of(value), None, true);
        self.arguments.doubles.contains_key(&value).then(|| EmitError::Unsupported {
            message: message(),
            span: self.span,
        })
    }
}

impl<'m> Fx<'m> {
    pub fn new(module: &'m Module, request: &'m Request<'m>, storages: Storages, locals: Vec<Reach>) -> Fx<'m> {
        let sizes = Sizes {
            narrow: request.facts.narrow,
            small: request.facts.small,
            limit: 1 << request.facts.bits,
        };
        let mut at = 0;
        let constants = module.constants.iter().map(|array| {
            let start = at;
            at += array.bytes.len().next_multiple_of(16) as u64;
            start
        });
        Fx {
            cx: ModuleCx {
                module,
                request,
                numbers: Numbers::default(),
                words: Vec::new(),
                constants: constants.collect(),
                shared_bytes: 0,
            },
            thread: Thread::new(module, sizes),
            w: Writer::new(naga::Module::default()),
            locals: Locals {
                found: vec![Reach::Unset; locals.len()],
                ranges: locals,
            },
            known: Known::default(),
            refused: None,
            frames: Vec::new(),
            memory: Memory {
                homes: vec![None; storages.list.len()],
                storages,
                coherent: false,
            },
            mailbox: MailboxCode::default(),
            arguments: Arguments::default(),
            place: Place::default(),
        }
    }

    /// Refuses a statement that has used what the device has not.
    pub fn check_width(&mut self, kind: &StmtKind) {
        let features = self.cx.request.features;
        let (wide_float, wide_int) = (self.w.used_float64 && !features.float64, self.w.used_int64 && !features.int64);
        if self.refused.is_some() || !(wide_float || wide_int) {
            return;
        }
        let (what, elem) = self.subject(kind);
        let (message, span) = (self.no_width(&what, elem, wide_float), self.span);
        self.refused = Some(match wide_float || elem.is_some() {
            true => EmitError::Unsupported { message, span },
            false => EmitError::Wide { message, span },
        });
    }

    /// Refuses local arrays that no thread of a GPU has the memory for: drivers do not say what they take, and fail in ways of their own.
    pub fn check_local_arrays(&self) -> Res<()> {
        let local = self.f.arrays.iter().filter(|array| array.space == Space::Local);
        let bytes = local.fold(0u64, |sum, array| {
            let each = array.elem.size() as u64;
            sum.saturating_add(array.shape.iter().fold(each, |product, &n| product.saturating_mul(n)))
        });
        if bytes <= MOST_LOCAL_BYTES {
            return Ok(());
        }
        self.unsupported(format!(
            "the local arrays of a thread take {bytes} bytes, and a GPU's thread has at most {MOST_LOCAL_BYTES}: use smaller ones, a part \
             of an argument, or device='cpu'"
        ))
    }

    /// `elem` is the type of an array's elements where it is an array that is too wide.
    fn no_width(&self, what: &str, elem: Option<Scalar>, float: bool) -> String {
        let (has, narrow) = match (float, elem) {
            (true, Some(s)) if s.is_complex() => ("float64", "complex64"),
            (true, _) => ("float64", "float32"),
            (false, Some(Scalar::U64)) => ("64-bit integers", "uint32"),
            (false, _) => ("64-bit integers", "int32"),
        };
        match elem {
            Some(elem) => format!(
                "this GPU has no {has}, and {what} is an array of {}: make it one of {narrow} (a.astype(np.{narrow})), or use device='cpu'",
                elem.numpy_name()
            ),
            // To Numba all of Python's floats are float64.
            None if float && self.f.flags.numba => format!(
                "this GPU has no float64, and {what} is float64: make it float32 (np.float32(...), a.astype(np.float32)), use device='cpu', \
                 or `from weft import njit, cuda` instead of weft.numba's, whose Python floats are float32 here"
            ),
            None if float => format!(
                "this GPU has no float64, and {what} is float64: make it float32 (np.float32(...), a.astype(np.float32)), or use device='cpu'"
            ),
            None => format!(
                "this GPU has no 64-bit integers, and {what} is not known to fit 32 bits: make it int32 (np.int32(...)), or use device='cpu'"
            ),
        }
    }

    /// What a statement is about; of an access to an array of 64-bit numbers also their type.
    fn subject(&self, kind: &StmtKind) -> (String, Option<Scalar>) {
        let used_here = || ("what is used here".to_owned(), None);
        let value = match kind {
            StmtKind::Let(_, Op::Load { view, .. } | Op::Atomic { view, .. }) | StmtKind::Store { view, .. } => *view,
            StmtKind::Let(value, _) => *value,
            StmtKind::Set(local, _) => return (self.f.locals[local.index()].name.clone(), None),
            StmtKind::If { .. } | StmtKind::Loop(_) | StmtKind::For { .. } | StmtKind::Scope(..) | StmtKind::Leave(_) => {
                return used_here();
            }
            StmtKind::Break | StmtKind::Continue | StmtKind::Return(_) | StmtKind::Raise { .. } | StmtKind::Print(_) => return used_here(),
            StmtKind::Barrier
            | StmtKind::GridBarrier
            | StmtKind::SyncWarp(_)
            | StmtKind::Mma { .. }
            | StmtKind::Fence(_)
            | StmtKind::Sleep(_) => {
                return used_here();
            }
            StmtKind::ParFor { .. } | StmtKind::Launch { .. } => return used_here(),
        };
        let elem = self.f.ty(value).view().map(|view| view.elem).filter(|elem| elem.part().size() == 8);
        (self.name_of(value), elem)
    }

    fn name_of(&self, value: Value) -> String {
        let name = self.f.values[value.index()].name.clone();
        name.unwrap_or_else(|| "what is computed here".to_owned())
    }

    /// A word of the parameter block, as a `u32`. Loaded when the function starts.
    pub fn word(&mut self, word: Word) -> Operand {
        if let Some(op) = self.arguments.words.get(&word) {
            return *op;
        }
        let base = match self.arguments.variable {
            Some(base) => base,
            None => {
                let ty = self.words_type(false);
                let decorations = naga::MemoryDecorations::empty();
                self.binding(ty, StorageAccess::LOAD, 0, 0, decorations)
            }
        };
        self.arguments.variable = Some(base);
        let index = self.cx.words.len() as u32;
        self.cx.words.push(word);
        self.w.begin_early();
        let pointer = self.w.eval(Expression::AccessIndex { base, index });
        let op = self.w.load(Ty::U32, pointer);
        self.w.end_early();
        self.arguments.words.insert(word, op);
        op
    }

    /// Keeps the driver from seeing that zeros are zeros: literal ones, and those it would compute of other literals.
    pub fn hide_zeros(&mut self) {
        let has = |s: Scalar| self.f.values.iter().any(|value| value.ty == Type::Scalar(s));
        let (single, double) = (has(Scalar::F32), has(Scalar::F64));
        if self.cx.request.features.exact_zeros || !(single || double) {
            return;
        }
        let zero = self.word(Word::Zero);
        self.w.begin_early();
        let mut literals = BTreeSet::from([(Ty::F32, 0)]);
        literals.extend(double.then_some((Ty::F64, 0)));
        self.f.body.walk(&mut |kind| {
            if let StmtKind::Let(_, Op::Const(c)) = kind {
                match c {
                    Const::F32(bits) => literals.extend([(Ty::F32, u64::from(*bits))]),
                    Const::F64(bits) => literals.extend([(Ty::F64, *bits)]),
                    Const::Bool(_) | Const::Int(..) | Const::F16(_) | Const::BF16(_) | Const::C64(..) | Const::C128(..) => {}
                }
            }
        });
        let mut hidden = Vec::with_capacity(literals.len());
        for (ty, bits) in literals {
            let [low, high] = [bits, bits >> 32].map(|half| match half as u32 {
                0 => zero,
                half => self.w.binary(naga::BinaryOperator::Add, zero, Ty::U32.int(half.into())),
            });
            let literal = match ty {
                Ty::F64 => self.of_halves(ty, low, high),
                _ => self.w.bitcast(low, ty),
            };
            hidden.push((ty, bits, literal));
        }
        self.w.end_early();
        for (ty, bits, literal) in hidden {
            self.w.replace_constant(ty, bits, literal);
        }
    }

    /// `array<u32>` or `array<atomic<u32>>`.
    pub fn words_type(&mut self, atomic: bool) -> Handle<naga::Type> {
        let scalar = Ty::U32.naga();
        let base = self.w.ty(if atomic {
            TypeInner::Atomic(scalar)
        } else {
            TypeInner::Scalar(scalar)
        });
        self.w.ty(TypeInner::Array {
            base,
            size: naga::ArraySize::Dynamic,
            stride: 4,
        })
    }

    /// A slot of the argument block in a register of its type.
    pub fn word_of_slot(&mut self, slot: u32, s: Scalar) -> Operand {
        let low = self.word(Word::Low(slot));
        if s.size() < 8 {
            self.w.begin_early();
            let op = match s {
                Scalar::Bool => self.w.compare(naga::BinaryOperator::NotEqual, low, Ty::U32.int(0)),
                _ => self.w.bitcast(low, Ty::of(s)),
            };
            self.w.end_early();
            return op;
        }
        let high = self.word(Word::High(slot));
        self.w.begin_early();
        let op = self.of_halves(Ty::of(s), low, high);
        self.w.end_early();
        op
    }
}
