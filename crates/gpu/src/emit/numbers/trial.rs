//! A kernel that tries operations on rows of operands, for tests and to find out what a device does.

use naga::{
    AddressSpace, ArraySize, Binding, BuiltIn, GlobalVariable, Handle, Module, ResourceBinding, Scalar as Register, Span, StorageAccess,
    Type, TypeInner,
};
use weft_ir::{Const, Scalar, eval};

use super::body::{Body, Val};
use super::{Number, Numbers, register};
use crate::features::Features;

/// Threads of a block.
pub const BLOCK: u32 = 64;

/// An operation and what it is done to.
#[derive(Clone, Debug)]
pub struct Trial {
    pub number: Number,
    /// Of each operand its values, as many for all.
    pub operands: Vec<Vec<Const>>,
    pub form: Form,
}

/// How operands stand in the code, where drivers may make something of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Form {
    #[default]
    Loaded,
    /// This one is a literal: its first value, which is finite, for all rows.
    Literal(usize),
    /// The second is the first.
    Twice,
}

impl Trial {
    pub fn new(number: Number, operands: Vec<Vec<Const>>) -> Trial {
        let form = Form::Loaded;
        Trial { number, operands, form }
    }

    /// Two operands of which the second, or the first, is a literal.
    pub fn with_literal(number: Number, place: usize, rows: &[Const], literal: Const) -> Trial {
        let mut operands = vec![rows.to_vec(); 2];
        operands[place] = vec![literal; rows.len()];
        Trial {
            number,
            operands,
            form: Form::Literal(place),
        }
    }

    pub fn twice(number: Number, rows: &[Const]) -> Trial {
        Trial {
            number,
            operands: vec![rows.to_vec(); 2],
            form: Form::Twice,
        }
    }

    pub fn rows(&self) -> usize {
        self.operands.first().map_or(0, Vec::len)
    }

    /// What the operation means, by the IR's own arithmetic.
    pub fn expected(&self, row: usize) -> Option<Const> {
        let args: Vec<Const> = self.operands.iter().map(|column| column[row]).collect();
        let [one, two, three] = [0, 1, 2].map(|i| args.get(i).copied());
        match self.number {
            Number::Unary(op, _) => eval::unary(op, one?),
            Number::Binary(op, ..) => eval::binary(op, one?, two?),
            Number::Compare(op, _) => eval::compare(op, one?, two?).map(Const::Bool),
            Number::Fma(_) => eval::fma(one?, two?, three?),
            Number::Cast { to, .. } => eval::cast(one?, to),
            Number::Bitcast { to, .. } => eval::bitcast(one?, to),
            Number::Atomic(op, _) => match three {
                Some(new) => eval::atomic(op, one?, new, two),
                None => eval::atomic(op, one?, two?, None),
            },
        }
    }
}

/// A value as its register's bits.
pub fn word(c: Const) -> u64 {
    let bits = match c {
        Const::Bool(b) => b.into(),
        Const::Int(_, v) => v as u64,
        Const::F16(b) | Const::BF16(b) => b.into(),
        Const::F32(b) | Const::C64(b, _) => b.into(),
        Const::F64(b) | Const::C128(b, _) => b,
    };
    if register(c.scalar()).width == 8 {
        bits
    } else {
        bits & 0xffff_ffff
    }
}

/// What the kernel reads: the operands one after the other, two `u32` for each value.
pub fn input(trials: &[Trial]) -> Vec<u32> {
    let values = trials.iter().flat_map(|trial| trial.operands.iter().flatten());
    values.map(|&c| word(c)).flat_map(|w| [w as u32, (w >> 32) as u32]).collect()
}

/// What it has written, as registers' bits: of each operation its results.
pub fn output(trials: &[Trial], words: &[u32]) -> Vec<Vec<u64>> {
    let mut pairs = words.chunks_exact(2).map(|pair| u64::from(pair[0]) | u64::from(pair[1]) << 32);
    trials.iter().map(|trial| pairs.by_ref().take(trial.rows()).collect()).collect()
}

/// The kernel: thread `i` does row `i` of each trial. Bindings 0 and 1 of group 0 are input and output. Nothing where an operation is not
/// defined.
pub fn module(features: &Features, trials: &[Trial]) -> Option<Module> {
    let mut module = Module::default();
    let (input, output) = bindings(&mut module);
    let mut numbers = Numbers::default();
    let mut body = Body::new(&mut numbers, &mut module, features, &[], None);
    let thread = body.entry_vector(Binding::BuiltIn(BuiltIn::GlobalInvocationId));
    let (mut read, mut written) = (0, 0);
    for trial in trials {
        let rows = trial.rows() as u32;
        let end = body.u32(rows);
        let inside = body.lt(thread, end);
        let mut known = true;
        body.when(inside, |b| {
            known = try_one(b, trial, thread, (input, read), (output, written)).is_some()
        });
        if !known {
            return None;
        }
        read += 2 * rows * trial.operands.len() as u32;
        written += 2 * rows;
    }
    let function = body.finish(None);
    module.entry_points.push(crate::emit::entry_point(function, [BLOCK, 1, 1]));
    Some(module)
}

/// Bindings 0 and 1 of group 0, words to read and to write.
pub fn bindings(module: &mut Module) -> (Handle<GlobalVariable>, Handle<GlobalVariable>) {
    let word = Type {
        name: None,
        inner: TypeInner::Scalar(Register::U32),
    };
    let word = module.types.insert(word, Span::default());
    let words = Type {
        name: None,
        inner: TypeInner::Array {
            base: word,
            size: ArraySize::Dynamic,
            stride: 4,
        },
    };
    let words = module.types.insert(words, Span::default());
    let input = binding(module, words, 0, StorageAccess::LOAD);
    let output = binding(module, words, 1, StorageAccess::LOAD | StorageAccess::STORE);
    (input, output)
}

fn binding(module: &mut Module, ty: Handle<Type>, binding: u32, access: StorageAccess) -> Handle<GlobalVariable> {
    let variable = GlobalVariable {
        name: None,
        space: AddressSpace::Storage { access },
        binding: Some(ResourceBinding { group: 0, binding }),
        ty,
        init: None,
        memory_decorations: naga::MemoryDecorations::empty(),
    };
    module.global_variables.append(variable, Span::default())
}

type Place = (Handle<GlobalVariable>, u32);

fn try_one(b: &mut Body, trial: &Trial, row: Val, (input, read): Place, (output, written): Place) -> Option<Val> {
    let two = b.u32(2);
    let row = b.mul(row, two);
    let stride = 2 * trial.rows() as u32;
    let mut args = Vec::new();
    for (n, scalar) in (0..).zip(trial.number.operands()) {
        let first = at(b, row, read + n * stride);
        let second = at(b, row, read + n * stride + 1);
        let (low, high) = (b.load(input, first), b.load(input, second));
        args.push(unpacked(b, scalar, low, high));
    }
    match trial.form {
        Form::Loaded => {}
        Form::Literal(n) => *args.get_mut(n)? = literal(b, *trial.operands.get(n)?.first()?),
        Form::Twice => *args.get_mut(1)? = *args.first()?,
    }
    let result = b.number(trial.number, &args)?;
    let (low, high) = packed(b, result);
    for (n, half) in (0..).zip([low, high]) {
        let at = at(b, row, written + n);
        b.store(output, at, half);
    }
    Some(result)
}

fn literal(b: &mut Body, c: Const) -> Val {
    let ty = register(c.scalar());
    match c {
        Const::F32(bits) => b.float(ty, f32::from_bits(bits).into()),
        Const::F64(bits) => b.float(ty, f64::from_bits(bits)),
        _ => b.int(ty, word(c) as i64),
    }
}

fn at(b: &mut Body, row: Val, offset: u32) -> Val {
    let offset = b.u32(offset);
    b.add(row, offset)
}

fn unpacked(b: &mut Body, scalar: Scalar, low: Val, high: Val) -> Val {
    let ty = register(scalar);
    if ty == Register::BOOL {
        return b.is_some(low);
    }
    let bits = if ty.width == 8 { super::bits::joined(b, high, low) } else { low };
    b.reinterpret(bits, ty.kind)
}

fn packed(b: &mut Body, x: Val) -> (Val, Val) {
    let zero = b.u32(0);
    if x.ty == Register::BOOL {
        return (b.convert(x, Register::U32), zero);
    }
    let bits = b.bits(x);
    if x.ty.width == 8 {
        let (high, low) = super::bits::halves(b, bits);
        return (low, high);
    }
    (bits, zero)
}
