//! What operations are made of, as text: each kind of field is written and read here.

use std::fmt::{self, Write};

use super::cursor::{Parsed, Parser};
use super::lex::Token;
use super::literal;
use crate::module::{ArrayId, ConstId, FuncId, Local, Module, Reduction, Value};
use crate::op::{AtomicOp, Axis, AxisSlice, BarrierOp, BinOp, CmpOp, Const, Geometry, Index, Part, UnOp, WarpOp};

/// A field of an operation.
pub(super) trait Field: Sized {
    fn write(&self, out: &mut String, module: &Module) -> fmt::Result;

    fn read(p: &mut Parser) -> Parsed<Self>;

    /// What it is where the text leaves it out, if the text may.
    fn absent() -> Option<Self> {
        None
    }

    fn is_absent(&self) -> bool {
        false
    }

    /// Is the word an operation's name that such a field stands for?
    fn is_name(_word: &str) -> bool {
        false
    }
}

/// A field, to be written as part of a larger text.
pub(super) struct Shown<'a, T>(pub &'a T, pub &'a Module);

impl<T: Field> fmt::Display for Shown<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = String::new();
        self.0.write(&mut text, self.1)?;
        f.write_str(&text)
    }
}

/// Items with commas between them; what closes the list follows.
impl<T: Field> Field for Vec<T> {
    fn write(&self, out: &mut String, module: &Module) -> fmt::Result {
        for (i, item) in self.iter().enumerate() {
            out.push_str(if i > 0 { ", " } else { "" });
            item.write(out, module)?;
        }
        Ok(())
    }

    fn read(p: &mut Parser) -> Parsed<Self> {
        let mut items = Vec::new();
        while !matches!(p.peek(), Token::Punct(")" | "]")) {
            items.push(T::read(p)?);
            if !p.eat(",") {
                break;
            }
        }
        Ok(items)
    }
}

impl<T: Field> Field for Option<T> {
    fn write(&self, out: &mut String, module: &Module) -> fmt::Result {
        self.iter().try_for_each(|field| field.write(out, module))
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
impl Field for bool {
    fn write(&self, _out: &mut String, _module: &Module) -> fmt::Result {
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
        impl Field for $ty {
            fn write(&self, out: &mut String, _module: &Module) -> fmt::Result {
                write!(out, "{self}")
            }

            fn read(p: &mut Parser) -> Parsed<Self> {
                p.number()
            }
        }
    )*};
}

numbers!(u8, u32);

impl Field for Value {
    fn write(&self, out: &mut String, _module: &Module) -> fmt::Result {
        write!(out, "%{}", self.0)
    }

    fn read(p: &mut Parser) -> Parsed<Self> {
        p.value()
    }
}

impl Field for Local {
    fn write(&self, out: &mut String, _module: &Module) -> fmt::Result {
        write!(out, "${}", self.0)
    }

    fn read(p: &mut Parser) -> Parsed<Self> {
        p.local()
    }
}

impl Field for ArrayId {
    fn write(&self, out: &mut String, module: &Module) -> fmt::Result {
        self.0.write(out, module)
    }

    fn read(p: &mut Parser) -> Parsed<Self> {
        p.number().map(ArrayId)
    }
}

impl Field for ConstId {
    fn write(&self, out: &mut String, module: &Module) -> fmt::Result {
        self.0.write(out, module)
    }

    fn read(p: &mut Parser) -> Parsed<Self> {
        p.number().map(ConstId)
    }
}

/// By its name, or by its number where names are not unique.
impl Field for FuncId {
    fn write(&self, out: &mut String, module: &Module) -> fmt::Result {
        let named = |name: &str| module.functions.iter().filter(|f| f.name == name).count();
        match module.functions.get(self.index()) {
            Some(function) if named(&function.name) == 1 => write!(out, "@{}", literal::name(&function.name)),
            _ => write!(out, "@{}", self.0),
        }
    }

    fn read(p: &mut Parser) -> Parsed<Self> {
        p.func()
    }
}

impl Field for Const {
    fn write(&self, out: &mut String, _module: &Module) -> fmt::Result {
        write!(out, "{} {}", self.scalar(), literal::constant(*self))
    }

    fn read(p: &mut Parser) -> Parsed<Self> {
        let scalar = p.scalar()?;
        p.constant(scalar)
    }
}

impl Field for Reduction {
    fn write(&self, out: &mut String, _module: &Module) -> fmt::Result {
        write!(out, "${} {}", self.local.0, self.op.name())
    }

    fn read(p: &mut Parser) -> Parsed<Self> {
        p.reduction()
    }
}

/// `?` marks one that may be negative.
impl Field for Index {
    fn write(&self, out: &mut String, _module: &Module) -> fmt::Result {
        write!(out, "%{}{}", self.value.0, if self.wrap { "?" } else { "" })
    }

    fn read(p: &mut Parser) -> Parsed<Self> {
        let value = p.value()?;
        let wrap = p.eat("?");
        Ok(Index { value, wrap })
    }
}

/// `%3?`, `%3 len %4 step %5`, `..`, `new`
impl Field for AxisSlice {
    fn write(&self, out: &mut String, module: &Module) -> fmt::Result {
        match self {
            AxisSlice::At(index) => index.write(out, module),
            AxisSlice::Range { start, len, step } => write!(out, "%{} len %{} step %{}", start.0, len.0, step.0),
            AxisSlice::Full => out.write_str(".."),
            AxisSlice::New => out.write_str("new"),
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
impl Field for Part {
    fn write(&self, out: &mut String, _module: &Module) -> fmt::Result {
        out.write_str(match self {
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

/// Operators, by their names.
macro_rules! operators {
    ($($ty:ident: $what:literal,)*) => {$(
        impl Field for $ty {
            fn write(&self, out: &mut String, _module: &Module) -> fmt::Result {
                out.write_str(self.name())
            }

            fn read(p: &mut Parser) -> Parsed<Self> {
                let word = p.word()?;
                match $ty::from_name(&word) {
                    Some(op) => Ok(op),
                    None => p.error(format!("`{word}` is no {}", $what)),
                }
            }

            fn is_name(word: &str) -> bool {
                $ty::from_name(word).is_some()
            }
        }
    )*};
}

operators! {
    UnOp: "operation",
    BinOp: "operation",
    CmpOp: "comparison",
    AtomicOp: "atomic operation",
    WarpOp: "operation of a warp",
    BarrierOp: "operation of a barrier",
}

/// `thread_idx.x`, `lane_id`
impl Field for Geometry {
    fn write(&self, out: &mut String, _module: &Module) -> fmt::Result {
        out.push_str(self.base_name());
        self.axis().map_or(Ok(()), |axis| write!(out, ".{}", axis.name()))
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

    fn is_name(word: &str) -> bool {
        let along = Geometry::of_axis(Axis::X).into_iter();
        along.chain([Geometry::LaneId]).any(|g| g.base_name() == word)
    }
}
