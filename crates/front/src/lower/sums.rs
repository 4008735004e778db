//! Plain loops that only sum up: `for k in range(n): t += a[k] * b[k]`. Where sums may be reordered (`fastmath`) they need not be a chain of
//! additions, and run as the lanes of a parallel loop do, on the calling thread.

use ruff_python_ast::visitor::{self, Visitor};
use ruff_python_ast::{Expr, Operator, Stmt, StmtFor};

use super::Lower;
use crate::builtins::Applied;
use crate::types::Ty;

impl Lower<'_> {
    /// Does every statement of the loop add to a number, or multiply it, and is there nothing else that iterations could do to each other?
    pub fn only_sums(&self, s: &StmtFor) -> bool {
        let Expr::Name(index) = &*s.target else { return false };
        self.unit.options.fastmath
            && self.in_host()
            && !self.in_lanes()
            && s.orelse.is_empty()
            && !s.body.is_empty()
            && s.body.iter().all(|stmt| self.is_sum(stmt, &index.id))
            && !self.needs_order(s)
            && s.body.iter().all(|stmt| self.is_reduction(s, stmt))
    }

    fn is_sum(&self, stmt: &Stmt, index: &str) -> bool {
        let Stmt::AugAssign(sum) = stmt else { return false };
        let (Expr::Name(name), Operator::Add | Operator::Sub | Operator::Mult) = (&*sum.target, sum.op) else {
            return false;
        };
        let number = matches!(self.type_before(&name.id), Some(Ty::Num(num)) if num.scalar.is_float() && !num.scalar.is_half());
        number && name.id.as_str() != index && self.is_plain(&sum.value)
    }

    fn is_reduction(&self, s: &StmtFor, stmt: &Stmt) -> bool {
        let Stmt::AugAssign(sum) = stmt else { return false };
        matches!(&*sum.target, Expr::Name(name) if self.accumulates(s, &name.id))
    }

    /// Arithmetic on numbers and elements, with functions of numbers at the most.
    fn is_plain(&self, e: &Expr) -> bool {
        let mut plain = Plain { lower: self, holds: true };
        plain.visit_expr(e);
        plain.holds
    }
}

struct Plain<'l, 'c> {
    lower: &'l Lower<'c>,
    holds: bool,
}

impl Visitor<'_> for Plain<'_, '_> {
    fn visit_expr(&mut self, e: &Expr) {
        self.holds &= match e {
            Expr::Name(_) | Expr::NumberLiteral(_) | Expr::BinOp(_) | Expr::UnaryOp(_) | Expr::Subscript(_) | Expr::Tuple(_) => true,
            Expr::Attribute(_) | Expr::If(_) | Expr::Compare(_) => true,
            Expr::Call(call) => {
                let known = self.lower.known_function(&call.func);
                known.is_some_and(|function| function.applied != Applied::Whole)
            }
            _ => false,
        };
        if self.holds {
            visitor::walk_expr(self, e);
        }
    }
}
