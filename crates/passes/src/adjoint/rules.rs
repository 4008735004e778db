//! Derivatives of operations: by which factor a cotangent of the result reaches each operand, and what that factor is made of.

use std::collections::HashMap;

use weft_ir::{BinOp, Block, Builder, CmpOp, Const, FuncId, Module, Op, Scalar, StmtKind, Type, UnOp, Value};

use super::link;
use super::tree::Tree;

/// What a cotangent is multiplied by on its way from a result to an operand.
#[derive(Clone, Debug, PartialEq)]
pub enum Factor {
    One,
    MinusOne,
    /// The cotangent in the operand's type.
    Cast,
    Times(Value),
    Over(Value),
    /// `-result / b`.
    Quotient {
        result: Value,
        b: Value,
    },
    /// `0.5 / result`.
    Root(Value),
    /// The sign of the operand, 0 at 0.
    Sign(Value),
    When(Value),
    Unless(Value),
    /// All of it where the first is chosen of the two, half of it where they are equal.
    Chosen {
        mine: Value,
        other: Value,
        max: bool,
    },
    /// Minus how often the divisor is in the dividend: `-floor(a / b)`, `-trunc(a / b)`.
    Floored {
        a: Value,
        b: Value,
    },
    Truncated {
        a: Value,
        b: Value,
    },
    /// 1 where the two have the same sign, else -1.
    SameSign {
        a: Value,
        result: Value,
    },
    /// What a function of the module gives for these values.
    Of {
        rule: FuncId,
        args: Vec<Value>,
    },
    /// Bits: whoever makes a float of them again is refused.
    Bits,
    /// There is no derivative, and the reason.
    Refused(String),
}

impl Factor {
    /// The values of the primal that it is made of.
    pub fn needs(&self) -> Vec<Value> {
        match self {
            Factor::One | Factor::MinusOne | Factor::Cast | Factor::Bits | Factor::Refused(_) => Vec::new(),
            Factor::Times(v) | Factor::Over(v) | Factor::Root(v) | Factor::Sign(v) | Factor::When(v) | Factor::Unless(v) => vec![*v],
            Factor::Quotient { result, b } => vec![*result, *b],
            Factor::Chosen { mine, other, .. } => vec![*mine, *other],
            Factor::Floored { a, b } | Factor::Truncated { a, b } => vec![*a, *b],
            Factor::SameSign { a, result } => vec![*a, *result],
            Factor::Of { args, .. } => args.clone(),
        }
    }

    /// The cotangent `g` times the factor, in the type `to` of the operand; `of` gives values of the primal.
    pub fn apply(&self, b: &mut Builder, g: Value, to: Scalar, of: &dyn Fn(Value) -> Value) -> Value {
        let from = b.ty(g).scalar().unwrap_or(to);
        match self {
            Factor::One | Factor::Bits | Factor::Refused(_) => g,
            Factor::Cast => b.cast(g, to),
            Factor::MinusOne => b.unary(UnOp::Neg, g),
            Factor::Times(v) => b.binary(BinOp::Mul, g, of(*v)),
            Factor::Over(v) => b.binary(BinOp::Div, g, of(*v)),
            Factor::Quotient { result, b: divisor } => {
                let share = b.binary(BinOp::Div, g, of(*divisor));
                let share = b.binary(BinOp::Mul, share, of(*result));
                b.unary(UnOp::Neg, share)
            }
            Factor::Root(result) => {
                let half = number(b, from, 0.5);
                let half = b.binary(BinOp::Mul, half, g);
                b.binary(BinOp::Div, half, of(*result))
            }
            Factor::Sign(v) => {
                let (v, zero, minus) = (of(*v), number(b, from, 0.0), b.unary(UnOp::Neg, g));
                let (above, below) = (b.compare(CmpOp::Gt, v, zero), b.compare(CmpOp::Lt, v, zero));
                let rest = b.select(below, minus, zero);
                b.select(above, g, rest)
            }
            Factor::When(c) => {
                let zero = number(b, from, 0.0);
                b.select(of(*c), g, zero)
            }
            Factor::Unless(c) => {
                let zero = number(b, from, 0.0);
                b.select(of(*c), zero, g)
            }
            Factor::Chosen { mine, other, max } => {
                let (mine, other) = (of(*mine), of(*other));
                let (zero, half) = (number(b, from, 0.0), number(b, from, 0.5));
                let half = b.binary(BinOp::Mul, g, half);
                let better = b.compare(if *max { CmpOp::Gt } else { CmpOp::Lt }, mine, other);
                let same = b.compare(CmpOp::Eq, mine, other);
                // A NaN is what the result is.
                let nan = b.unary(UnOp::IsNan, mine);
                let better = b.binary(BinOp::Or, better, nan);
                let rest = b.select(same, half, zero);
                b.select(better, g, rest)
            }
            // Not the quotient rounded: 1.0 / 0.1 is 10, and 0.1 is in 1.0 nine times.
            Factor::Floored { a, b: divisor } => {
                let whole = b.binary(BinOp::FloorDiv, of(*a), of(*divisor));
                whole_times(b, whole, g)
            }
            Factor::Truncated { a, b: divisor } => {
                let (a, divisor) = (of(*a), of(*divisor));
                let rest = b.binary(BinOp::Rem, a, divisor);
                let multiple = b.binary(BinOp::Sub, a, rest);
                let whole = b.binary(BinOp::Div, multiple, divisor);
                let whole = b.unary(UnOp::Rint, whole);
                whole_times(b, whole, g)
            }
            Factor::SameSign { a, result } => {
                let minus = b.unary(UnOp::Neg, g);
                let (x, y) = (b.unary(UnOp::SignBit, of(*a)), b.unary(UnOp::SignBit, of(*result)));
                let same = b.compare(CmpOp::Eq, x, y);
                b.select(same, g, minus)
            }
            Factor::Of { rule, args } => {
                let args = args.iter().map(|arg| of(*arg)).collect();
                let factor = b.emit(from, Op::Call(*rule, args));
                b.binary(BinOp::Mul, g, factor)
            }
        }
    }
}

/// `-whole * g`, of a number that the divisor is in the dividend so many times.
fn whole_times(b: &mut Builder, whole: Value, g: Value) -> Value {
    let share = b.binary(BinOp::Mul, whole, g);
    b.unary(UnOp::Neg, share)
}

/// A float of a type.
pub fn number(b: &mut Builder, scalar: Scalar, value: f64) -> Value {
    let wide = match scalar {
        Scalar::F32 => return b.constant(Const::f32(value as f32)),
        Scalar::F64 => return b.constant(Const::f64(value)),
        _ => b.constant(Const::f32(value as f32)),
    };
    b.cast(wide, scalar)
}

/// A function that has a rule: what its derivatives by each argument are called with.
#[derive(Clone, Debug)]
pub struct Rule {
    pub by: Vec<Derivative>,
}

#[derive(Clone, Debug)]
pub struct Derivative {
    pub func: FuncId,
    /// Which of its parameters (the arguments, then the result) it looks at.
    pub uses: Vec<bool>,
}

/// The rules that calls in a function are derived by: functions of the module, or brought in from the library.
pub struct Book {
    pub by_function: HashMap<FuncId, Rule>,
}

/// Gives the module whose entry is the derivative of a library's function by one argument.
pub type Library<'a> = dyn Fn(&str, usize) -> Option<Module> + 'a;

/// In place of an argument's number: the function itself, in a text that may be looked into.
pub const PLAIN: usize = usize::MAX;

/// Gives functions of the library whose texts work on bits, and that have no rule, texts that call others.
pub fn make_plain(module: &mut Module, library: &Library<'_>) {
    for at in 0..module.functions.len() {
        if !is_of_library(module, at) {
            continue;
        }
        let Some(plain) = library(&module.functions[at].name, PLAIN) else {
            continue;
        };
        let func = link::bring(module, plain);
        let old = &mut module.functions[at];
        old.locals.clear();
        old.arrays.clear();
        old.body = Block::default();
        let mut b = Builder::new(old.clone());
        let (params, result) = (b.func.params.clone(), b.func.result.clone());
        let value = b.emit(result, Op::Call(func, params));
        b.push(StmtKind::Return(Some(value)));
        module.functions[at] = b.finish();
    }
}

impl Book {
    /// Finds the functions of a module that have rules, and brings these into it.
    pub fn of(module: &mut Module, library: &Library<'_>) -> Book {
        let mut book = Book {
            by_function: HashMap::new(),
        };
        for at in 0..module.functions.len() {
            let func = &module.functions[at];
            let real = |ty: &Type| ty.scalar().is_some_and(|s| matches!(s, Scalar::F32 | Scalar::F64));
            let params: Vec<Type> = func.params.iter().map(|p| func.ty(*p).clone()).collect();
            if !real(&func.result) || !params.iter().all(real) || !is_of_library(module, at) {
                continue;
            }
            let name = func.name.clone();
            let modules: Option<Vec<Module>> = (0..params.len()).map(|i| library(&name, i)).collect();
            let Some(modules) = modules else { continue };
            let by = modules
                .into_iter()
                .map(|rule| {
                    let entry = rule.entry_function();
                    let uses = entry.params.iter().map(|param| reads(entry, *param)).collect();
                    Derivative {
                        func: link::bring(module, rule),
                        uses,
                    }
                })
                .collect();
            book.by_function.insert(FuncId(at as u32), Rule { by });
        }
        book
    }

    /// Is a call of the function derived by its rule?
    pub fn stays(&self, func: FuncId) -> bool {
        self.by_function.contains_key(&func)
    }
}

/// A text of Weft's own elementary functions, or of nobody's.
fn is_of_library(module: &Module, at: usize) -> bool {
    let mut own = true;
    for stmt in &module.functions[at].body.0 {
        let source = module.sources.get(stmt.span.source.0 as usize);
        own &= source.is_none_or(|source| source.file.contains(" math>/"));
    }
    own
}

fn reads(func: &weft_ir::Function, param: Value) -> bool {
    func.body.any(&mut |kind| {
        let mut found = false;
        kind.operands(&mut |value| found |= value == param);
        found
    })
}

/// The operands that a result depends on, each with its factor.
pub fn edges(tree: &Tree, book: &Book, value: Value, op: &Op) -> Vec<(Value, Factor)> {
    let is_float = |v: Value| tree.ty(v).scalar().is_some_and(Scalar::is_float);
    let result_float = is_float(value);
    let all = |factor: Factor| {
        let mut found = Vec::new();
        op.operands(&mut |v| {
            if tree.ty(v).scalar().is_some() {
                found.push((v, factor.clone()));
            }
        });
        found
    };
    let refused = |why: &str| all(Factor::Refused(why.into()));
    match op {
        Op::Const(_) | Op::Get(_) | Op::Dim(..) | Op::Load { .. } | Op::Slice { .. } | Op::Transpose(..) | Op::PartView(..) => Vec::new(),
        Op::Reshape(..) | Op::Alloc { .. } | Op::Array(_) | Op::ConstArray(_) | Op::Geometry(_) | Op::DynamicShared => Vec::new(),
        Op::Apart(..) | Op::ActiveMask | Op::OutOfStack | Op::BarrierReduce(..) | Op::ThreadState(_) | Op::Compare(..) => Vec::new(),
        Op::Unary(op, a) => match (op, result_float) {
            (UnOp::Neg, true) => vec![(*a, Factor::MinusOne)],
            (UnOp::Abs, true) => vec![(*a, Factor::Sign(*a))],
            (UnOp::Sqrt, true) => vec![(*a, Factor::Root(value))],
            (UnOp::Neg | UnOp::Not | UnOp::BitReverse | UnOp::Abs, false) => all(Factor::Bits),
            _ => Vec::new(),
        },
        Op::Binary(op, a, b) if result_float => match op {
            BinOp::Add => vec![(*a, Factor::One), (*b, Factor::One)],
            BinOp::Sub => vec![(*a, Factor::One), (*b, Factor::MinusOne)],
            BinOp::Mul => vec![(*a, Factor::Times(*b)), (*b, Factor::Times(*a))],
            BinOp::Div => vec![(*a, Factor::Over(*b)), (*b, Factor::Quotient { result: value, b: *b })],
            BinOp::FloorDiv => Vec::new(),
            BinOp::Mod => vec![(*a, Factor::One), (*b, Factor::Floored { a: *a, b: *b })],
            BinOp::Rem => vec![(*a, Factor::One), (*b, Factor::Truncated { a: *a, b: *b })],
            BinOp::Min | BinOp::Max => {
                let max = *op == BinOp::Max;
                let side = |mine, other| (mine, Factor::Chosen { mine, other, max });
                vec![side(*a, *b), side(*b, *a)]
            }
            BinOp::CopySign => vec![(*a, Factor::SameSign { a: *a, result: value })],
            BinOp::IntPow | BinOp::And | BinOp::Or | BinOp::Xor | BinOp::Shl | BinOp::Shr => Vec::new(),
        },
        Op::Binary(..) if tree.ty(value).scalar().is_some_and(Scalar::is_int) => all(Factor::Bits),
        Op::Binary(..) => Vec::new(),
        Op::Select(c, a, b) => match tree.ty(value).scalar() {
            Some(scalar) if scalar.is_float() => vec![(*a, Factor::When(*c)), (*b, Factor::Unless(*c))],
            Some(_) => vec![(*a, Factor::Bits), (*b, Factor::Bits)],
            None => Vec::new(),
        },
        Op::Fma(a, b, c) => vec![(*a, Factor::Times(*b)), (*b, Factor::Times(*a)), (*c, Factor::One)],
        Op::Cast(a) => match (is_float(*a), result_float) {
            (true, true) => vec![(*a, Factor::Cast)],
            (false, false) => all(Factor::Bits),
            _ => Vec::new(),
        },
        Op::Bitcast(a) => match result_float {
            true => vec![(*a, Factor::Refused("a float is made of bits that were taken from another".into()))],
            false => vec![(*a, Factor::Bits)],
        },
        Op::Complex(..) | Op::Re(_) | Op::Im(_) | Op::Tuple(_) | Op::Item(..) => refused("a complex number or a tuple"),
        Op::Call(func, args) => match book.by_function.get(func) {
            Some(rule) => args
                .iter()
                .zip(&rule.by)
                .map(|(arg, derivative)| {
                    let given: Vec<Value> = args.iter().copied().chain([value]).collect();
                    // What the rule does not look at may be anything of its type.
                    let args = given.iter().zip(&derivative.uses).map(|(v, uses)| if *uses { *v } else { *arg });
                    (
                        *arg,
                        Factor::Of {
                            rule: derivative.func,
                            args: args.collect(),
                        },
                    )
                })
                .collect(),
            None => refused("a function that calls itself"),
        },
        Op::Atomic { .. } => refused("what an atomic operation gives back"),
        Op::Warp { .. } => refused("what lanes of a warp exchange"),
        Op::Routine { .. } => Vec::new(),
        Op::Libm { .. } => refused("a function of the C library"),
    }
}
