//! Text to operations: what stands on the right of `%v = …`.

use super::cursor::{Parsed, Parser};
use super::lex::Token;
use crate::module::{ArrayId, ConstId, Value};
use crate::op::{AtomicOp, Axis, AxisSlice, BarrierOp, BinOp, CmpOp, Geometry, Index, Op, Part, UnOp, WarpOp};
use crate::types::Scalar;

impl Parser {
    /// An operation whose result has the scalar type `ty`, if it has one.
    pub(super) fn op(&mut self, ty: Option<Scalar>) -> Parsed<Op> {
        if let Some(scalar) = ty
            && self.at_literal()
        {
            return self.constant(scalar).map(Op::Const);
        }
        let word = self.word()?;
        if let Some(op) = UnOp::from_name(&word) {
            return Ok(Op::Unary(op, self.value()?));
        }
        if let Some(op) = BinOp::from_name(&word) {
            let (a, b) = self.pair()?;
            return Ok(Op::Binary(op, a, b));
        }
        if let Some(op) = CmpOp::from_name(&word) {
            let (a, b) = self.pair()?;
            return Ok(Op::Compare(op, a, b));
        }
        match self.scalar_op(&word)? {
            Some(op) => Ok(op),
            None => self.memory_op(&word),
        }
    }

    fn at_literal(&self) -> bool {
        match self.peek() {
            Token::Number(_) | Token::Punct("-" | "(") => true,
            Token::Ident(word) => matches!(word.as_str(), "true" | "false" | "nan" | "inf"),
            _ => false,
        }
    }

    fn pair(&mut self) -> Parsed<(Value, Value)> {
        let a = self.value()?;
        self.expect(",")?;
        Ok((a, self.value()?))
    }

    fn triple(&mut self) -> Parsed<(Value, Value, Value)> {
        let (a, b) = self.pair()?;
        self.expect(",")?;
        Ok((a, b, self.value()?))
    }

    /// A value, a comma and a small number.
    fn numbered_value<T: std::str::FromStr>(&mut self) -> Parsed<(Value, T)> {
        let a = self.value()?;
        self.expect(",")?;
        Ok((a, self.number()?))
    }

    fn scalar_op(&mut self, word: &str) -> Parsed<Option<Op>> {
        Ok(Some(match word {
            "const" => {
                let scalar = self.scalar()?;
                Op::Const(self.constant(scalar)?)
            }
            "get" => Op::Get(self.local()?),
            "select" => {
                let (cond, a, b) = self.triple()?;
                Op::Select(cond, a, b)
            }
            "fma" => {
                let (a, b, c) = self.triple()?;
                Op::Fma(a, b, c)
            }
            "cast" => Op::Cast(self.value()?),
            "bitcast" => Op::Bitcast(self.value()?),
            "complex" => {
                let (re, im) = self.pair()?;
                Op::Complex(re, im)
            }
            "re" => Op::Re(self.value()?),
            "im" => Op::Im(self.value()?),
            "tuple" => {
                self.expect("(")?;
                Op::Tuple(self.list(")", Parser::value)?)
            }
            "item" => {
                let (a, i) = self.numbered_value()?;
                Op::Item(a, i)
            }
            "call" => {
                let func = self.func()?;
                self.expect("(")?;
                Op::Call(func, self.list(")", Parser::value)?)
            }
            _ => return Ok(None),
        }))
    }

    fn memory_op(&mut self, word: &str) -> Parsed<Op> {
        match word {
            "dim" => {
                let (a, axis) = self.numbered_value()?;
                Ok(Op::Dim(a, axis))
            }
            "apart" => {
                let (a, b) = self.pair()?;
                Ok(Op::Apart(a, b))
            }
            "load" => {
                let (view, indices, part) = self.access()?;
                Ok(Op::Load { view, indices, part })
            }
            "slice" => {
                let view = self.value()?;
                self.expect("[")?;
                let axes = self.list("]", Parser::axis_slice)?;
                Ok(Op::Slice { view, axes })
            }
            "transpose" => {
                let view = self.value()?;
                self.expect("[")?;
                Ok(Op::Transpose(view, self.list("]", Parser::number)?))
            }
            "reshape" => {
                let view = self.value()?;
                self.expect("[")?;
                Ok(Op::Reshape(view, self.list("]", Parser::value)?))
            }
            "part" => {
                let view = self.value()?;
                self.expect(".")?;
                Ok(Op::PartView(view, self.part()?))
            }
            "alloc" => {
                let zeroed = self.eat_word("zeroed");
                self.expect("[")?;
                let shape = self.list("]", Parser::value)?;
                Ok(Op::Alloc { shape, zeroed })
            }
            "array" => Ok(Op::Array(ArrayId(self.number()?))),
            "const_array" => Ok(Op::ConstArray(ConstId(self.number()?))),
            "atomic" => self.atomic(),
            "warp" => self.warp(),
            "active_mask" => Ok(Op::ActiveMask),
            "barrier_reduce" => {
                let word = self.word()?;
                match BarrierOp::from_name(&word) {
                    Some(op) => Ok(Op::BarrierReduce(op, self.value()?)),
                    None => self.error(format!("no barrier gives `{word}`")),
                }
            }
            "dynamic_shared" => Ok(Op::DynamicShared),
            "out_of_stack" => Ok(Op::OutOfStack),
            _ => self.geometry(word).map(Op::Geometry),
        }
    }

    fn index(&mut self) -> Parsed<Index> {
        let value = self.value()?;
        Ok(Index {
            value,
            wrap: self.eat("?"),
        })
    }

    /// `%view[%i, %j?].re`
    pub(super) fn access(&mut self) -> Parsed<(Value, Vec<Index>, Part)> {
        let view = self.value()?;
        self.expect("[")?;
        let indices = self.list("]", Parser::index)?;
        let part = if self.eat(".") { self.part()? } else { Part::Whole };
        Ok((view, indices, part))
    }

    fn part(&mut self) -> Parsed<Part> {
        if self.eat_word("re") {
            Ok(Part::Re)
        } else if self.eat_word("im") {
            Ok(Part::Im)
        } else {
            self.error("`re` or `im` is expected here")
        }
    }

    fn axis_slice(&mut self) -> Parsed<AxisSlice> {
        if self.eat("..") {
            return Ok(AxisSlice::Full);
        }
        if self.eat_word("new") {
            return Ok(AxisSlice::New);
        }
        let index = self.index()?;
        if index.wrap || !self.eat_word("len") {
            return Ok(AxisSlice::At(index));
        }
        let len = self.value()?;
        if !self.eat_word("step") {
            return self.error("`step` is expected here");
        }
        let step = self.value()?;
        Ok(AxisSlice::Range {
            start: index.value,
            len,
            step,
        })
    }

    fn atomic(&mut self) -> Parsed<Op> {
        let word = self.word()?;
        let Some(op) = AtomicOp::from_name(&word) else {
            return self.error(format!("`{word}` is no atomic operation"));
        };
        let (view, indices, part) = self.access()?;
        if part != Part::Whole {
            return self.error("an atomic operation takes a whole element");
        }
        self.expect(",")?;
        let value = self.value()?;
        let expected = if self.eat_word("expected") { Some(self.value()?) } else { None };
        Ok(Op::Atomic {
            op,
            view,
            indices,
            value,
            expected,
        })
    }

    /// `warp shuffle_down %mask, %value, %lane`
    fn warp(&mut self) -> Parsed<Op> {
        let word = self.word()?;
        let Some(op) = WarpOp::from_name(&word) else {
            return self.error(format!("`{word}` is no operation of a warp"));
        };
        let (mask, value) = self.pair()?;
        let lane = if self.eat(",") { Some(self.value()?) } else { None };
        Ok(Op::Warp { op, mask, value, lane })
    }

    fn geometry(&mut self, word: &str) -> Parsed<Geometry> {
        let with_axis: fn(Axis) -> Geometry = match word {
            "thread_idx" => Geometry::ThreadIdx,
            "block_idx" => Geometry::BlockIdx,
            "block_dim" => Geometry::BlockDim,
            "grid_dim" => Geometry::GridDim,
            "lane_id" => return Ok(Geometry::LaneId),
            _ => return self.error(format!("`{word}` is no operation")),
        };
        self.expect(".")?;
        let axis = self.word()?;
        match Axis::from_name(&axis) {
            Some(axis) => Ok(with_axis(axis)),
            None => self.error("an axis is `x`, `y` or `z`"),
        }
    }
}
