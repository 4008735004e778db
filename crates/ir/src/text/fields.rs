//! What operations and statements are made of, as text: each kind of field is written and read here.

use std::fmt::{self, Write};

use super::cursor::{Parsed, Parser};
use super::lex::Token;
use super::literal;
use super::print::Printer;
use crate::module::{ArrayId, ConstId, FenceScope, FuncId, Local, ReduceOp, Reduction, Value};
use crate::op::{
    AtomicOp, Axis, AxisSlice, BarrierOp, BinOp, CmpOp, Const, Geometry, Index, Libm, Part, Routine, ThreadState, UnOp, WarpOp,
};
use crate::types::Scalar;

/// A field of an operation or statement.
pub(super) trait Text: Sized {
    fn write(&self, to: &mut Printer<'_>) -> fmt::Result;

    fn read(p: &mut Parser) -> Parsed<Self>;

    /// Where the statement defines it.
    fn write_definition(&self, to: &mut Printer<'_>) -> fmt::Result {
        self.write(to)
    }

    fn read_definition(p: &mut Parser) -> Parsed<Self> {
        Self::read(p)
    }

    /// Items with commas between them; what closes the list follows.
    fn write_list(list: &[Self], to: &mut Printer<'_>) -> fmt::Result {
        join(list, to, Self::write)
    }

    fn read_list(p: &mut Parser) -> Parsed<Vec<Self>> {
        list(p, Self::read)
    }

    /// What it is where the text leaves it out, together with the text before it.
    fn absent() -> Option<Self> {
        None
    }

    fn is_absent(&self) -> bool {
        false
    }

    /// Does the next token start such a field? Asked of those that a form starts with.
    fn starts(_p: &Parser) -> bool {
        false
    }
}

pub(super) fn join<T>(list: &[T], to: &mut Printer<'_>, write: impl Fn(&T, &mut Printer<'_>) -> fmt::Result) -> fmt::Result {
    for (i, item) in list.iter().enumerate() {
        to.write_str(if i > 0 { ", " } else { "" })?;
        write(item, to)?;
    }
    Ok(())
}

pub(super) fn list<T>(p: &mut Parser, read: impl Fn(&mut Parser) -> Parsed<T>) -> Parsed<Vec<T>> {
    let mut items = Vec::new();
    while !matches!(p.peek(), Token::Punct(")" | "]")) {
        items.push(read(p)?);
        if !p.eat(",") {
            break;
        }
    }
    Ok(items)
}

impl<T: Text> Text for Vec<T> {
    fn write(&self, to: &mut Printer<'_>) -> fmt::Result {
        T::write_list(self, to)
    }

    fn read(p: &mut Parser) -> Parsed<Self> {
        T::read_list(p)
    }

    fn write_definition(&self, to: &mut Printer<'_>) -> fmt::Result {
        join(self, to, T::write_definition)
    }

    fn read_definition(p: &mut Parser) -> Parsed<Self> {
        list(p, T::read_definition)
    }
}

impl<T: Text> Text for Option<T> {
    fn write(&self, to: &mut Printer<'_>) -> fmt::Result {
        self.iter().try_for_each(|field| field.write(to))
    }

    fn read(p: &mut Parser) -> Parsed<Self> {
        T::read(p).map(Some)
    }

    fn absent() -> Option<Self> {
        Some(None)
    }

    fn is_absent(&self) -> bool {
        self.is_none()
    }
}

/// A flag: the text before it says it all.
impl Text for bool {
    fn write(&self, _to: &mut Printer<'_>) -> fmt::Result {
        Ok(())
    }

    fn read(_p: &mut Parser) -> Parsed<Self> {
        Ok(true)
    }

    fn absent() -> Option<Self> {
        Some(false)
    }

    fn is_absent(&self) -> bool {
        !self
    }
}

macro_rules! numbers {
    ($($ty:ty),*) => {$(
        impl Text for $ty {
            fn write(&self, to: &mut Printer<'_>) -> fmt::Result {
                write!(to, "{self}")
            }

            fn read(p: &mut Parser) -> Parsed<Self> {
                p.number()
            }
        }
    )*};
}

numbers!(u8, u32);

impl Text for Value {
    fn write(&self, to: &mut Printer<'_>) -> fmt::Result {
        write!(to, "%{}", self.0)
    }

    fn read(p: &mut Parser) -> Parsed<Self> {
        p.value()
    }

    /// With its name and type.
    fn write_definition(&self, to: &mut Printer<'_>) -> fmt::Result {
        to.define(*self)
    }

    fn read_definition(p: &mut Parser) -> Parsed<Self> {
        p.define()
    }

    fn starts(p: &Parser) -> bool {
        matches!(p.peek(), Token::Value(_))
    }
}

impl Text for Local {
    fn write(&self, to: &mut Printer<'_>) -> fmt::Result {
        write!(to, "${}", self.0)
    }

    fn read(p: &mut Parser) -> Parsed<Self> {
        p.local()
    }

    /// Only a launch has a list of them, behind its word.
    fn write_list(list: &[Self], to: &mut Printer<'_>) -> fmt::Result {
        bracketed(" into (", list, to)
    }

    fn read_list(p: &mut Parser) -> Parsed<Vec<Self>> {
        read_bracketed("into", p)
    }
}

/// A list of its own word, which no list has without items.
fn bracketed<T: Text>(open: &str, items: &[T], to: &mut Printer<'_>) -> fmt::Result {
    if items.is_empty() {
        return Ok(());
    }
    to.write_str(open)?;
    join(items, to, T::write)?;
    to.write_str(")")
}

fn read_bracketed<T: Text>(word: &str, p: &mut Parser) -> Parsed<Vec<T>> {
    if !p.eat_word(word) {
        return Ok(Vec::new());
    }
    p.expect("(")?;
    p.list(")", T::read)
}

impl Text for ArrayId {
    fn write(&self, to: &mut Printer<'_>) -> fmt::Result {
        self.0.write(to)
    }

    fn read(p: &mut Parser) -> Parsed<Self> {
        p.number().map(ArrayId)
    }
}

impl Text for ConstId {
    fn write(&self, to: &mut Printer<'_>) -> fmt::Result {
        self.0.write(to)
    }

    fn read(p: &mut Parser) -> Parsed<Self> {
        p.number().map(ConstId)
    }
}

/// By its name, or by its number where names are not unique.
impl Text for FuncId {
    fn write(&self, to: &mut Printer<'_>) -> fmt::Result {
        let named = |name: &str| to.module.functions.iter().filter(|f| f.name == name).count();
        match to.module.functions.get(self.index()) {
            Some(function) if named(&function.name) == 1 => write!(to, "@{}", literal::name(&function.name)),
            _ => write!(to, "@{}", self.0),
        }
    }

    fn read(p: &mut Parser) -> Parsed<Self> {
        p.func()
    }
}

impl Text for Scalar {
    fn write(&self, to: &mut Printer<'_>) -> fmt::Result {
        to.write_str(self.name())
    }

    fn read(p: &mut Parser) -> Parsed<Self> {
        p.scalar()
    }
}

impl Text for Const {
    fn write(&self, to: &mut Printer<'_>) -> fmt::Result {
        write!(to, "{} {}", self.scalar(), literal::constant(*self))
    }

    fn read(p: &mut Parser) -> Parsed<Self> {
        let scalar = p.scalar()?;
        p.constant(scalar)
    }
}

impl Text for Reduction {
    fn write(&self, to: &mut Printer<'_>) -> fmt::Result {
        let order = if self.fixed { " fixed" } else { "" };
        write!(to, "${} {}{order}", self.local.0, self.op.name())
    }

    fn read(p: &mut Parser) -> Parsed<Self> {
        let local = p.local()?;
        let op = p.word()?;
        match ReduceOp::from_name(&op) {
            Some(op) if p.eat_word("fixed") => Ok(Reduction::fixed(local, op)),
            Some(op) => Ok(Reduction::free(local, op)),
            None => p.error(format!("{op} is no reduction")),
        }
    }

    fn write_list(list: &[Self], to: &mut Printer<'_>) -> fmt::Result {
        bracketed(" reduce(", list, to)
    }

    fn read_list(p: &mut Parser) -> Parsed<Vec<Self>> {
        read_bracketed("reduce", p)
    }
}

/// `?` marks one that may be negative.
impl Text for Index {
    fn write(&self, to: &mut Printer<'_>) -> fmt::Result {
        write!(to, "%{}{}", self.value.0, if self.wrap { "?" } else { "" })
    }

    fn read(p: &mut Parser) -> Parsed<Self> {
        let value = p.value()?;
        let wrap = p.eat("?");
        Ok(Index { value, wrap })
    }
}

/// `%3?`, `%3 len %4 step %5`, `..`, `new`
impl Text for AxisSlice {
    fn write(&self, to: &mut Printer<'_>) -> fmt::Result {
        match self {
            AxisSlice::At(index) => index.write(to),
            AxisSlice::Range { start, len, step } => write!(to, "%{} len %{} step %{}", start.0, len.0, step.0),
            AxisSlice::Full => to.write_str(".."),
            AxisSlice::New => to.write_str("new"),
        }
    }

    fn read(p: &mut Parser) -> Parsed<Self> {
        if p.eat("..") {
            return Ok(AxisSlice::Full);
        }
        if p.eat_word("new") {
            return Ok(AxisSlice::New);
        }
        let index = Index::read(p)?;
        if index.wrap || !p.eat_word("len") {
            return Ok(AxisSlice::At(index));
        }
        let (start, len) = (index.value, p.value()?);
        p.expect_word("step")?;
        let step = p.value()?;
        Ok(AxisSlice::Range { start, len, step })
    }
}

/// `.re`, `.im` or nothing.
impl Text for Part {
    fn write(&self, to: &mut Printer<'_>) -> fmt::Result {
        to.write_str(match self {
            Part::Whole => "",
            Part::Re => ".re",
            Part::Im => ".im",
        })
    }

    fn read(p: &mut Parser) -> Parsed<Self> {
        if !p.eat(".") {
            Ok(Part::Whole)
        } else if p.eat_word("re") {
            Ok(Part::Re)
        } else if p.eat_word("im") {
            Ok(Part::Im)
        } else {
            p.error("`re` or `im` is expected here")
        }
    }
}

/// Operators and the like, by their names.
macro_rules! named {
    ($($ty:ident: $what:literal,)*) => {$(
        impl Text for $ty {
            fn write(&self, to: &mut Printer<'_>) -> fmt::Result {
                to.write_str(self.name())
            }

            fn read(p: &mut Parser) -> Parsed<Self> {
                let word = p.word()?;
                match $ty::from_name(&word) {
                    Some(op) => Ok(op),
                    None => p.error(format!("`{word}` is no {}", $what)),
                }
            }

            fn starts(p: &Parser) -> bool {
                matches!(p.peek(), Token::Ident(word) if $ty::from_name(word).is_some())
            }
        }
    )*};
}

named! {
    UnOp: "operation",
    BinOp: "operation",
    CmpOp: "comparison",
    AtomicOp: "atomic operation",
    WarpOp: "operation of a warp",
    BarrierOp: "operation of a barrier",
    FenceScope: "scope of a fence",
    Routine: "routine",
    ThreadState: "state of a thread",
    Libm: "function of the C library",
}

/// `thread_idx.x`, `lane_id`
impl Text for Geometry {
    fn write(&self, to: &mut Printer<'_>) -> fmt::Result {
        to.write_str(self.base_name())?;
        self.axis().map_or(Ok(()), |axis| write!(to, ".{}", axis.name()))
    }

    fn read(p: &mut Parser) -> Parsed<Self> {
        let word = p.word()?;
        if word == Geometry::LaneId.base_name() {
            return Ok(Geometry::LaneId);
        }
        p.expect(".")?;
        let axis = p.word()?;
        let named = |axis| Geometry::of_axis(axis).into_iter().find(|g| g.base_name() == word);
        match Axis::from_name(&axis).map(named) {
            Some(Some(geometry)) => Ok(geometry),
            Some(None) => p.error(format!("`{word}` is no operation")),
            None => p.error("an axis is `x`, `y` or `z`"),
        }
    }

    fn starts(p: &Parser) -> bool {
        let Token::Ident(word) = p.peek() else { return false };
        let along = Geometry::of_axis(Axis::X).into_iter();
        along.chain([Geometry::LaneId]).any(|g| g.base_name() == word)
    }
}
