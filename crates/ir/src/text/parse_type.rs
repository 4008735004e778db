//! Text to types and constants.

use super::cursor::{Parsed, Parser};
use super::lex::Token;
use super::literal;
use crate::op::Const;
use crate::types::{Layout, Scalar, Space, Type, ViewType};

impl Parser {
    pub(crate) fn scalar(&mut self) -> Parsed<Scalar> {
        let word = self.word()?;
        match Scalar::from_name(&word) {
            Some(scalar) => Ok(scalar),
            None => {
                self.back();
                self.error(format!("`{word}` is no scalar type"))
            }
        }
    }

    pub(super) fn space(&mut self) -> Parsed<Space> {
        let word = self.word()?;
        match [Space::Global, Space::Shared, Space::Local, Space::Constant]
            .into_iter()
            .find(|s| s.name() == word)
        {
            Some(space) => Ok(space),
            None => self.error(format!("`{word}` is no memory space")),
        }
    }

    fn layout(&mut self) -> Parsed<Layout> {
        let word = self.word()?;
        match [Layout::C, Layout::F, Layout::Row, Layout::Any]
            .into_iter()
            .find(|l| l.name() == word)
        {
            Some(layout) => Ok(layout),
            None => self.error(format!("`{word}` is no layout")),
        }
    }

    pub(crate) fn ty(&mut self) -> Parsed<Type> {
        if self.eat("(") {
            return self.deeper(|p| Ok(Type::Tuple(p.list(")", Parser::ty)?)));
        }
        if self.eat_word("view") {
            return self.view_type().map(Type::View);
        }
        self.scalar().map(Type::Scalar)
    }

    fn view_type(&mut self) -> Parsed<ViewType> {
        self.expect("<")?;
        let elem = self.scalar()?;
        self.expect(",")?;
        let rank = self.number()?;
        self.expect(",")?;
        let layout = self.layout()?;
        self.expect(",")?;
        let space = self.space()?;
        let writable = !self.eat(",");
        if !writable {
            self.expect_word("ro")?;
        }
        self.expect(">")?;
        Ok(ViewType {
            elem,
            rank,
            layout,
            space,
            writable,
        })
    }

    /// A constant of a known type.
    pub(crate) fn constant(&mut self, scalar: Scalar) -> Parsed<Const> {
        let constant = match scalar {
            Scalar::C64 | Scalar::C128 => return self.complex_constant(scalar),
            Scalar::Bool => match self.peek() {
                Token::Ident(word) => word.parse().ok().map(Const::Bool),
                _ => None,
            },
            float if float.is_float() => return self.float_constant(scalar),
            int => match self.peek() {
                Token::Number(text) => literal::parse_int(text).map(|v| Const::Int(int, v)),
                _ => None,
            },
        };
        match constant {
            Some(constant) => {
                self.skip();
                Ok(constant)
            }
            None => self.error(format!("a constant of type {scalar} is expected here")),
        }
    }

    fn float_constant(&mut self, scalar: Scalar) -> Parsed<Const> {
        let negative = self.eat("-");
        let text = match self.peek() {
            Token::Number(text) if !negative => text.clone(),
            Token::Ident(text) if negative => format!("-{text}"),
            Token::Ident(text) => text.clone(),
            _ => String::new(),
        };
        let constant = match scalar {
            Scalar::F16 | Scalar::BF16 => literal::parse_small(scalar, &text),
            Scalar::F32 => literal::parse_f32(&text).map(Const::F32),
            _ => literal::parse_f64(&text).map(Const::F64),
        };
        match constant {
            Some(constant) => {
                self.skip();
                Ok(constant)
            }
            None => self.error(format!("a constant of type {scalar} is expected here")),
        }
    }

    fn complex_constant(&mut self, scalar: Scalar) -> Parsed<Const> {
        self.expect("(")?;
        let re = self.float_constant(scalar.part())?;
        self.expect(",")?;
        let im = self.float_constant(scalar.part())?;
        self.expect(")")?;
        match (re, im) {
            (Const::F32(re), Const::F32(im)) => Ok(Const::C64(re, im)),
            (Const::F64(re), Const::F64(im)) => Ok(Const::C128(re, im)),
            _ => self.error("the parts of a complex constant are floats"),
        }
    }
}
