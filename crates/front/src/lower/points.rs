//! Loops over all points of a shape, in C order: `np.ndindex`, `np.ndenumerate` and an array's `flat`.

use ruff_python_ast::StmtFor;
use ruff_text_size::Ranged;
use weft_array::Leaf;
use weft_array::loops::point;
use weft_ir::{BinOp, Label, Span, Value};

use super::Lower;
use crate::stop::Res;
use crate::types::Num;
use crate::value::Val;

/// What such a loop goes over.
#[derive(Clone)]
pub struct Points {
    pub extents: Vec<Value>,
    /// The array whose elements are given; without one they are the positions alone.
    pub array: Option<Leaf>,
    /// Positions are given as well as elements.
    pub numbered: bool,
}

impl Lower<'_> {
    /// A nest of loops, which costs no division: `continue` is the innermost loop's, `break` leaves a scope around all.
    pub fn points_loop(&mut self, s: &StmtFor, points: &Points, break_to: Option<Label>) -> Res<()> {
        let span = self.span(s.iter.range());
        let exit = break_to.unwrap_or_else(|| self.blocks.fresh_label());
        self.open_block();
        self.in_order(&points.extents, &mut |l, vars| {
            let element = l.point_element(points, vars, span)?;
            l.nested_body(s, element, exit)?;
            l.b.span = l.span(s.range());
            Ok(())
        })?;
        let nest = self.close_block();
        match break_to {
            Some(_) => self.splice(nest),
            None => {
                self.push_scope(exit, nest);
            }
        }
        Ok(())
    }

    /// What the loop's target is at a point.
    pub fn point_element(&mut self, points: &Points, at: &[Value], span: Span) -> Res<Val> {
        let position = || Val::Tuple(at.iter().map(|&v| Val::Num(v, Num::INT)).collect());
        let Some((view, ty)) = points.array else {
            return Ok(position());
        };
        self.b.span = span;
        let element = self.load(view, ty, point(at, ty.rank));
        Ok(match points.numbered {
            true => Val::tuple(vec![position(), element]),
            false => element,
        })
    }

    /// The point that comes after `number` others, for loops that count: `zip(a.flat, b.flat)`.
    pub fn numbered_point(&mut self, points: &Points, number: Value, span: Span) -> Res<Val> {
        let mut left = number;
        let mut at = Vec::with_capacity(points.extents.len());
        for &extent in points.extents.iter().skip(1).rev() {
            at.push(self.b.binary(BinOp::Mod, left, extent));
            left = self.b.binary(BinOp::FloorDiv, left, extent);
        }
        at.push(left);
        at.reverse();
        at.truncate(points.extents.len());
        for &v in &at {
            self.facts.mark_nonneg(v);
        }
        self.point_element(points, &at, span)
    }
}
