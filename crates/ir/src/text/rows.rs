//! Operations and statements as text, by the forms of their tables.

use std::fmt;

use super::cursor::{Parsed, Parser};
use super::fields::Text;
use super::form::{Reading, Writing};
use super::lex::Token;
use super::literal;
use super::print::Printer;
use crate::module::{
    ArrayId, Block, ConstId, ErrorKind, FenceScope, FuncId, Label, Local, PrintItem, Reduction, Span, Spread, Stmt, StmtKind, Value,
};
use crate::op::{AtomicOp, AxisSlice, BarrierOp, BinOp, CmpOp, Const, Geometry, Index, Libm, Op, Part, Routine, ThreadState, UnOp, WarpOp};
use crate::table::{operations, rule, statements};
use crate::types::Scalar;

/// A variant by the form of its row.
trait Row: Sized {
    fn write_row(&self, to: &mut Printer<'_>) -> fmt::Result;

    /// The row whose form the next token starts, if there is one.
    fn read_row(p: &mut Parser) -> Parsed<Option<Self>>;
}

macro_rules! text {
    ($(#[$about:meta])* $table:ident: $(
        $(#[$doc:meta])*
        $row:ident $(($($a:ident: $a_ty:ty $(as $a_rule:ident)?),*))? $({ $($b:ident: $b_ty:ty $(as $b_rule:ident)?),* })?
            $(-> $gives:ident $($called:literal)?)?
            = $form:literal, $effect:ident $(, only $place:ident $thing:literal)? $(, check $check:ident($($arg:ident),*))?;
    )*) => {
        #[allow(unused_mut)] // some have no fields
        impl Row for $table {
            fn write_row(&self, to: &mut Printer<'_>) -> fmt::Result {
                match self {
                    $($table::$row $(($($a),*))? $({ $($b),* })? => {
                        let mut form = Writing::new($form, to)?;
                        $($(form.field($a, rule!($($a_rule)?).is_operand())?;)*)?
                        $($(form.field($b, rule!($($b_rule)?).is_operand())?;)*)?
                        form.end()
                    })*
                }
            }

            fn read_row(p: &mut Parser) -> Parsed<Option<Self>> {
                $(if let Some(mut form) = Reading::new($form, &[$($(<$a_ty>::starts),*)? $($(<$b_ty>::starts),*)?], p) {
                    let row = $table::$row
                        $(($(form.field::<$a_ty>(rule!($($a_rule)?).is_operand())?),*))?
                        $({ $($b: form.field::<$b_ty>(rule!($($b_rule)?).is_operand())?),* })?;
                    form.end()?;
                    return Ok(Some(row));
                })*
                Ok(None)
            }
        }
    };
}

operations!(text);
statements!(text);

/// A constant of the type of the value that it defines needs no name.
impl Text for Op {
    fn write(&self, to: &mut Printer<'_>) -> fmt::Result {
        match self {
            Op::Const(c) if to.defined == Some(c.scalar()) => fmt::Write::write_str(to, &literal::constant(*c)),
            _ => self.write_row(to),
        }
    }

    fn read(p: &mut Parser) -> Parsed<Self> {
        match p.defined {
            Some(scalar) if p.at_literal() => p.constant(scalar).map(Op::Const),
            _ => p.row("operation"),
        }
    }
}

impl Printer<'_> {
    pub(super) fn stmt(&mut self, stmt: &Stmt) -> fmt::Result {
        self.span = stmt.span;
        stmt.kind.write_row(self)?;
        self.end_head()
    }
}

impl Parser {
    pub(super) fn stmt(&mut self) -> Parsed<Stmt> {
        let outer = self.span.take();
        let kind = self.row("statement")?;
        let span = self.end_head()?;
        self.span = outer;
        Ok(Stmt { kind, span })
    }

    fn row<T: Row>(&mut self, what: &str) -> Parsed<T> {
        if let Some(row) = T::read_row(self)? {
            return Ok(row);
        }
        let word = self.word()?;
        self.back();
        self.error(format!("`{word}` is no {what}"))
    }

    fn at_literal(&self) -> bool {
        match self.peek() {
            Token::Number(_) | Token::Punct("-" | "(") => true,
            Token::Ident(word) => matches!(word.as_str(), "true" | "false" | "nan" | "inf"),
            _ => false,
        }
    }

    /// The span of a statement, which stands before its first block or at its end, and so is read once.
    pub(super) fn end_head(&mut self) -> Parsed<Span> {
        if self.span.is_none() {
            self.span = Some(self.read_span()?);
        }
        Ok(self.span.unwrap_or(Span::NONE))
    }
}
