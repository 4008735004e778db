//! Expressions: dispatch, names, literals, `and`/`or`, conditional expressions.

use ruff_python_ast::{
    BoolOp, ConversionFlag, Expr, ExprBoolOp, ExprIf, ExprNumberLiteral, FStringValue, InterpolatedStringElement, Number as PyNumber,
};
use ruff_text_size::Ranged;
use weft_ir::{BinOp, Block, Op, Scalar, Span, StmtKind};

use super::Lower;
use super::number::Truth;
use super::vars::Slot;
use crate::compiler::DEEPEST;
use crate::diag::{Diagnostic, DiagnosticKind};
use crate::stop::Res;
use crate::types::{Num, Ty};
use crate::value::{Lit, Number, Val};
use crate::{Items, Object, builtins, fold};

/// A side of `and`, `or` or a conditional expression up to this many operations is computed without a branch.
const CHEAP: usize = 10;

/// `and` and `or` of more operands than this are halved.
const LONG_CHAIN: usize = 16;

/// How deep tuples may be nested, and how many items they may have in all.
const DEEPEST_TUPLE: usize = 64;
const LONGEST_TUPLE: usize = 1 << 14;

impl Lower<'_> {
    pub fn expr(&mut self, e: &Expr) -> Res<Val> {
        let outer = self.b.span;
        self.b.span = self.span(e.range());
        let val = self.deeper(|l| {
            let val = l.expr_inner(e)?;
            let val = l.sized_value(val);
            l.refuse_huge_tuple(&val)?;
            Ok(val)
        });
        self.b.span = outer;
        val
    }

    /// A step that recursion takes further into the program: an expression in an expression, a block in a block, a function called by a
    /// function. It is refused where the stack would become too deep.
    pub fn deeper<T>(&mut self, step: impl FnOnce(&mut Self) -> Res<T>) -> Res<T> {
        if self.cx.depth >= DEEPEST {
            let message = format!("what is compiled here is nested more than {DEEPEST} deep, functions that call functions included");
            let diag = Diagnostic::new(DiagnosticKind::Unsupported, self.b.span, message);
            return Err(diag.help("give a part of it a name, in a statement of its own").into());
        }
        self.cx.depth += 1;
        let done = step(self);
        self.cx.depth -= 1;
        done
    }

    fn refuse_huge_tuple(&self, val: &Val) -> Res<()> {
        let Val::Tuple(items) = val else { return Ok(()) };
        let mut room = LONGEST_TUPLE;
        if fits(items, DEEPEST_TUPLE, &mut room) {
            return Ok(());
        }
        let message = format!("a tuple may be nested {DEEPEST_TUPLE} deep and have {LONGEST_TUPLE} items in all");
        let diag = Diagnostic::new(DiagnosticKind::Unsupported, self.b.span, message);
        Err(diag.help("use an array").into())
    }

    fn expr_inner(&mut self, e: &Expr) -> Res<Val> {
        let span = self.b.span;
        if self.numba()
            && let Some(number) = written_out(e, DEEPEST)
        {
            return Ok(Val::Lit(self.typed(number)));
        }
        match e {
            Expr::Name(name) => self.name(&name.id, span),
            Expr::NumberLiteral(n) => Ok(Val::Lit(self.number_literal(n)?)),
            Expr::BooleanLiteral(b) => Ok(Val::Lit(Lit::bool(b.value))),
            Expr::NoneLiteral(_) => Ok(Val::None),
            Expr::EllipsisLiteral(_) => Ok(Val::Ellipsis),
            Expr::StringLiteral(s) => Ok(Val::Str(s.value.to_str().to_owned())),
            Expr::Tuple(t) => Ok(Val::tuple(self.items(&t.elts)?)),
            // A list that is not kept is as good as a tuple: shapes, small tables.
            Expr::List(t) => Ok(Val::Tuple(Items::list(self.items(&t.elts)?))),
            Expr::FString(f) => self.formatted(&f.value, span),
            Expr::BinOp(e) => {
                let a = self.expr(&e.left)?;
                let b = self.expr(&e.right)?;
                let result = self.binary(e.op, &a, &b, span);
                result.map_err(|stop| self.explain(stop, &[&e.left, &e.right]))
            }
            Expr::UnaryOp(e) => {
                let a = self.expr(&e.operand)?;
                self.unary(e.op, &a, span)
            }
            Expr::BoolOp(e) => self.bool_op(e),
            Expr::Compare(e) => self.comparison(e),
            Expr::If(e) => self.conditional(e),
            Expr::Call(e) => self.call(e),
            Expr::Lambda(e) => self.lambda(e),
            Expr::Attribute(e) => self.attribute_of(e, span),
            Expr::Subscript(e) => self.subscript(e),
            Expr::Named(e) => {
                let val = self.expr(&e.value)?;
                self.assign_target(&e.target, val.clone())?;
                Ok(val)
            }
            _ => Err(self.unsupported_syntax(e, span)),
        }
    }

    fn unsupported_syntax(&self, e: &Expr, span: Span) -> crate::stop::Stop {
        let what = match e {
            Expr::ListComp(_) | Expr::SetComp(_) | Expr::DictComp(_) | Expr::Generator(_) => "a comprehension",
            Expr::Dict(_) | Expr::Set(_) => "a dict or set",
            Expr::TString(_) => "a template string",
            Expr::BytesLiteral(_) => "a bytes literal",
            Expr::Await(_) | Expr::Yield(_) | Expr::YieldFrom(_) => "a generator or coroutine",
            Expr::Starred(_) => "a starred expression here",
            _ => "this expression",
        };
        let help = match e {
            Expr::ListComp(_) | Expr::Generator(_) => "write a loop that stores into an array",
            _ => return self.unsupported(span, format!("{what} cannot be compiled")),
        };
        let diag = Diagnostic::new(DiagnosticKind::Unsupported, span, format!("{what} cannot be compiled"));
        diag.help(help).into()
    }

    /// `f"x = {x}"`, for `print`; numbers are written as `print` writes them.
    fn formatted(&mut self, f: &FStringValue, span: Span) -> Res<Val> {
        let mut pieces = Vec::new();
        for element in f.elements() {
            match element {
                InterpolatedStringElement::Literal(text) => pieces.push(Val::Str(text.value.to_string())),
                InterpolatedStringElement::Interpolation(i) => {
                    if i.format_spec.is_some() || i.conversion != ConversionFlag::None || i.debug_text.is_some() {
                        let diag = Diagnostic::new(DiagnosticKind::Unsupported, span, "a format specification cannot be compiled");
                        return Err(diag.help("write the value alone: {x}").into());
                    }
                    pieces.push(self.expr(&i.expression)?);
                }
            }
        }
        if let Some(text) = pieces
            .iter()
            .map(|p| if let Val::Str(s) = p { Some(s.as_str()) } else { None })
            .collect()
        {
            return Ok(Val::Str(text));
        }
        Ok(Val::Format(pieces))
    }

    pub fn items(&mut self, elts: &[Expr]) -> Res<Vec<Val>> {
        let mut items = Vec::with_capacity(elts.len());
        for e in elts {
            if let Expr::Starred(starred) = e {
                let span = self.span(starred.range());
                match self.expr(&starred.value)? {
                    Val::Tuple(more) => items.extend(more),
                    other => return Err(self.typing(span, format!("only a tuple can be spread, and this is {}", other.ty()))),
                }
            } else {
                let val = self.expr(e)?;
                items.push(self.materialise(val)?);
            }
        }
        Ok(items)
    }

    fn number_literal(&self, n: &ExprNumberLiteral) -> Res<Lit> {
        let too_long = || {
            self.error(
                DiagnosticKind::Value,
                n.range,
                "this integer does not fit 127 bits, the most that a constant has",
            )
        };
        Ok(self.typed(number_of(n).ok_or_else(too_long)?))
    }

    pub fn name(&mut self, name: &str, span: Span) -> Res<Val> {
        if self.is_local(name) {
            return self.read(name, span);
        }
        match self.unit.function.env.lookup(name) {
            Some(object) => self.object(&object, span),
            None => {
                let message = format!("name '{name}' is not defined");
                Err(Diagnostic::new(DiagnosticKind::Name, span, message).into())
            }
        }
    }

    /// A frozen object of the host language.
    pub fn object(&mut self, object: &Object, span: Span) -> Res<Val> {
        Ok(match object {
            Object::None => Val::None,
            Object::Bool(b) => Val::Lit(Lit::bool(*b)),
            Object::Int(i) => Val::Lit(self.typed(Lit::int(*i))),
            Object::Float(f) => self.sized_value(Val::Lit(Lit::float(*f))),
            Object::Complex(re, im) => self.sized_value(Val::Lit(Lit {
                num: Num::COMPLEX,
                value: Number::Complex(*re, *im),
            })),
            Object::Strong(s, re, im, int) => Val::Lit(strong_lit(*s, *re, *im, *int)),
            Object::Str(s) => Val::Str(s.clone()),
            Object::Tuple(items) => Val::Tuple(items.with(items.iter().map(|o| self.object(o, span)).collect::<Res<_>>()?)),
            Object::TupleClass(maker) => Val::TupleClass(maker.clone()),
            Object::Dtype(s) => Val::Dtype(*s),
            Object::Array { key, elem, shape, bytes } => {
                let id = self.cx.constants.array(*key, *elem, shape, bytes);
                self.constant_array(id, *elem, shape)
            }
            // A module nobody here knows is the user's own: its attributes are asked of the environment.
            Object::Module(path) => Val::Path(builtins::canonical(path)),
            Object::Known(path) => {
                let path = builtins::canonical(path);
                self.resolve(&path, span)?
            }
            Object::Enum(class) => Val::Enum(class.clone()),
            Object::Member(member) => Val::Member(member.clone()),
            Object::Exception(number, name) => Val::Exception(*number, name.clone()),
            Object::Function(f) => Val::Function(f.clone()),
            Object::Other(key, t) => Val::Other(*key, t.clone()),
        })
    }

    pub fn constant_array(&mut self, id: weft_ir::ConstId, elem: Scalar, shape: &[u64]) -> Val {
        let view = weft_ir::ViewType {
            elem,
            rank: shape.len() as u8,
            layout: weft_ir::Layout::C,
            space: weft_ir::Space::Constant,
            writable: false,
        };
        let val = Val::View(self.b.emit(view, Op::ConstArray(id)), view);
        self.arrays.note_given(&val);
        val
    }

    // ---- and, or, if-else ----

    /// A condition of `if`, `while`, `assert`: only its truth matters, so operands of `and` and `or` may be of any types.
    pub fn condition(&mut self, e: &Expr) -> Res<Truth> {
        let outer = self.b.span;
        self.b.span = self.span(e.range());
        let truth = self.condition_inner(e);
        self.b.span = outer;
        truth
    }

    fn condition_inner(&mut self, e: &Expr) -> Res<Truth> {
        match e {
            Expr::BoolOp(e) => {
                let and = e.op == BoolOp::And;
                let kept = self.kept_by_chain(&e.values);
                self.condition_chain(and, &e.values, kept.as_ref())
            }
            Expr::UnaryOp(u) if u.op == ruff_python_ast::UnaryOp::Not => Ok(match self.condition(&u.operand)? {
                Truth::Known(b) => Truth::Known(!b),
                Truth::Value(v) => Truth::Value(self.not(v)),
            }),
            _ => {
                let val = self.expr(e)?;
                self.truth(&val, self.b.span)
            }
        }
    }

    fn condition_chain(&mut self, and: bool, values: &[Expr], kept: Option<&Slot>) -> Res<Truth> {
        let span = self.b.span;
        let (first, rest) = match values {
            [] => return Ok(Truth::Known(and)),
            [only] => return self.condition(only),
            _ => values.split_at(first_part(values.len())),
        };
        match self.condition_chain(and, first, kept)? {
            Truth::Known(b) if b == and => self.condition_chain(and, rest, kept),
            Truth::Known(b) => Ok(Truth::Known(b)),
            Truth::Value(v) => {
                let first = Val::Num(v, Num::BOOL);
                let val = self.short_circuit(and, first, span, kept, |l| {
                    Ok(match l.condition_chain(and, rest, kept)? {
                        Truth::Known(b) => Val::Lit(Lit::bool(b)),
                        Truth::Value(v) => Val::Num(v, Num::BOOL),
                    })
                })?;
                self.truth(&val, span)
            }
        }
    }

    fn bool_op(&mut self, e: &ExprBoolOp) -> Res<Val> {
        let and = e.op == BoolOp::And;
        let kept = self.kept_by_chain(&e.values);
        self.bool_chain(and, &e.values, kept.as_ref())
    }

    /// One local for all branches of a long chain: what the work of back ends and of LLVM grows with is branches times locals.
    fn kept_by_chain(&mut self, values: &[Expr]) -> Option<Slot> {
        (values.len() > LONG_CHAIN).then(|| self.temporary(&Ty::Num(Num::BOOL)))
    }

    fn bool_chain(&mut self, and: bool, values: &[Expr], kept: Option<&Slot>) -> Res<Val> {
        let span = self.b.span;
        let (first, rest) = match values {
            [] => return Ok(Val::Lit(Lit::bool(and))),
            [only] => return self.expr(only),
            _ => values.split_at(first_part(values.len())),
        };
        let val = self.bool_chain(and, first, kept)?;
        let val = self.materialise(val)?;
        match self.truth(&val, span)? {
            Truth::Known(b) if b == and => self.bool_chain(and, rest, kept),
            Truth::Known(_) => Ok(val),
            Truth::Value(_) => self.short_circuit(and, val, span, kept, |l| l.bool_chain(and, rest, kept)),
        }
    }

    /// `first and second` or `first or second`, where `first`'s truth is not known. A bool may be `kept` in a local that is there.
    pub fn short_circuit(
        &mut self,
        and: bool,
        first: Val,
        span: Span,
        kept: Option<&Slot>,
        second: impl FnOnce(&mut Self) -> Res<Val>,
    ) -> Res<Val> {
        let cond = self.truth_value(&first, span)?;
        let Some((block, other)) = self.side(second)? else {
            return Ok(first);
        };
        let both_bool = |a: &Val, b: &Val| is_bool(a) && is_bool(b);
        if both_bool(&first, &other) && cheap(&block) {
            self.splice(block);
            let weak = first.num().is_some_and(|n| n.weak) && other.num().is_some_and(|n| n.weak);
            let num = Num {
                scalar: Scalar::Bool,
                weak,
            };
            let other = self.number_as(&other, Scalar::Bool, span)?;
            let op = if and { BinOp::And } else { BinOp::Or };
            return Ok(Val::Num(self.b.binary(op, cond, other), num));
        }
        let as_it_is = (Block::default(), first);
        let (then, other) = if and {
            ((block, other), as_it_is)
        } else {
            (as_it_is, (block, other))
        };
        self.choose(cond, then, other, span, kept)
    }

    fn conditional(&mut self, e: &ExprIf) -> Res<Val> {
        let span = self.b.span;
        match self.condition(&e.test)? {
            Truth::Known(true) => self.expr(&e.body),
            Truth::Known(false) => self.expr(&e.orelse),
            Truth::Value(cond) => {
                let sides = (self.side_of(&e.body)?, self.side_of(&e.orelse)?);
                match sides {
                    (Some(then), Some(other)) => self.choose(cond, then, other, span, None),
                    (Some((_, known)), None) | (None, Some((_, known))) => Ok(known),
                    (None, None) => Err(self.kept_failure(span)),
                }
            }
        }
    }

    /// The value of one of two blocks: a select if both are cheap numbers, else a branch that sets a local.
    fn choose(&mut self, cond: weft_ir::Value, then: (Block, Val), other: (Block, Val), span: Span, kept: Option<&Slot>) -> Res<Val> {
        let (a, b) = (then.1.ty(), other.1.ty());
        let Some(ty) = self.join(&a, &b) else {
            return Err(self.typing(span, format!("one side gives {a} and the other {b}")));
        };
        if let Ty::Num(num) = ty
            && cheap(&then.0)
            && cheap(&other.0)
        {
            self.splice(then.0);
            self.splice(other.0);
            let (x, y) = self.unified(&then.1, &other.1, num, span)?;
            let value = self.b.select(cond, x, y);
            if self.facts.is_nonneg(x) && self.facts.is_nonneg(y) {
                self.facts.mark_nonneg(value);
            }
            return Ok(Val::Num(value, num));
        }
        let temporary = match (kept, &ty) {
            (Some(kept), Ty::Num(num)) if num.scalar == Scalar::Bool => kept.clone(),
            _ => self.temporary(&ty),
        };
        let mut sides = Vec::new();
        for (block, val) in [then, other] {
            self.open_block();
            self.splice(block);
            self.set_temporary(&temporary, &val, &ty, span)?;
            sides.push(self.close_block());
        }
        let other = sides.pop().unwrap_or_default();
        let then = sides.pop().unwrap_or_default();
        self.b.push(StmtKind::If { cond, then, other });
        self.get_temporary(&temporary, &ty, span)
    }

    /// Appends a block's statements to the open one.
    pub fn splice(&mut self, block: Block) {
        let outer = self.b.span;
        for stmt in block.0 {
            self.b.span = stmt.span;
            self.b.push(stmt.kind);
        }
        self.b.span = outer;
    }
}

/// Is a tuple nested no deeper than `depth`, with no more than `room` items in all?
fn fits(items: &[Val], depth: usize, room: &mut usize) -> bool {
    items.iter().all(|item| {
        let Some(left) = room.checked_sub(1) else { return false };
        *room = left;
        match item {
            Val::Tuple(items) => depth > 1 && fits(items, depth - 1, room),
            _ => true,
        }
    })
}

/// What Python's own compiler makes of operators between numbers that are written out: another number, which has no type of Numba's before.
fn written_out(e: &Expr, room: usize) -> Option<Lit> {
    let inner = |e: &Expr| written_out(e, room.checked_sub(1)?);
    match e {
        Expr::NumberLiteral(n) => number_of(n),
        Expr::UnaryOp(e) => fold::unary(e.op, inner(&e.operand)?).ok()?,
        Expr::BinOp(e) => fold::binary(e.op, inner(&e.left)?, inner(&e.right)?).ok()?,
        _ => None,
    }
}

/// A number as it is written; none that is longer than constants can be.
fn number_of(n: &ExprNumberLiteral) -> Option<Lit> {
    Some(match &n.value {
        PyNumber::Int(i) => Lit::int(i.as_u64().map(i128::from).or_else(|| long_integer(&i.to_string()))?),
        PyNumber::Float(f) => Lit::float(*f),
        PyNumber::Complex { real, imag } => Lit {
            num: Num::COMPLEX,
            value: Number::Complex(*real, *imag),
        },
    })
}

/// An integer beyond 64 bits, as it is written, if it fits 127.
fn long_integer(text: &str) -> Option<i128> {
    let radix = match text.as_bytes() {
        [b'0', b'x' | b'X', ..] => 16,
        [b'0', b'o' | b'O', ..] => 8,
        [b'0', b'b' | b'B', ..] => 2,
        _ => 10,
    };
    let digits = if radix == 10 { text } else { &text[2..] };
    i128::from_str_radix(&digits.replace('_', ""), radix).ok()
}

pub fn strong_lit(s: Scalar, re: f64, im: f64, int: i128) -> Lit {
    let value = match s {
        Scalar::Bool => Number::Bool(int != 0 || re != 0.0),
        // What float16 and bfloat16 hold is exact here: it was one of them.
        Scalar::F16 | Scalar::BF16 => Number::Float(re),
        Scalar::F32 => Number::Float(f64::from(re as f32)),
        Scalar::F64 => Number::Float(re),
        Scalar::C64 | Scalar::C128 => Number::Complex(re, im),
        _ => Number::Int(int),
    };
    Lit {
        num: Num::strong(s),
        value,
    }
}

/// How many operands of `and` or `or` are evaluated before a branch over the others. Each branch stands in the one before; in a long chain
/// they are halved, so that thousands nest no deeper than a dozen.
fn first_part(operands: usize) -> usize {
    if operands > LONG_CHAIN { operands / 2 } else { 1 }
}

fn is_bool(v: &Val) -> bool {
    v.num().is_some_and(|n| n.scalar == Scalar::Bool)
}

/// Can the block run where Python would not run it: no effects, no accesses, little work?
fn cheap(block: &Block) -> bool {
    let pure = |op: &Op| match op {
        Op::Const(_) | Op::Get(_) | Op::Unary(..) | Op::Compare(..) | Op::Select(..) | Op::Cast(_) => true,
        Op::Binary(op, ..) => !matches!(op, BinOp::FloorDiv | BinOp::Mod | BinOp::IntPow | BinOp::Rem | BinOp::Div),
        Op::Complex(..) | Op::Re(_) | Op::Im(_) | Op::Item(..) | Op::Dim(..) | Op::Geometry(_) => true,
        _ => false,
    };
    block.0.len() <= CHEAP && block.0.iter().all(|s| matches!(&s.kind, StmtKind::Let(_, op) if pure(op)))
}
