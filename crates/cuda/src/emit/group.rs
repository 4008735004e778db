//! Loops whose threads take several neighbouring points at a time, so that what lies side by side is moved in accesses of 16 bytes.
//!
//! What the points read is written first, of all of them, since LLVM makes wide accesses of neighbours in one block of code only, and since a
//! thread then has all these reads under way at once. Points are independent, so that it makes no difference.

use weft_ir::{Block, CmpOp, Effect, Function, Index, Op, Stmt, StmtKind, Type, Value};
use weft_thread::{Code as _, Entry as _, Numbers as _, Statements as _, is_contiguous};

use super::func::Fx;
use super::values::{Num, Res};
use super::writer::{Operand, Ty};

/// Bytes of the widest access.
const WIDEST: usize = 16;
/// The most points of a group, and the most statements that all of them together are written as.
const MOST: usize = 8;
const MOST_STATEMENTS: usize = 256;
/// The same where nothing is read: then there is nothing to wait for.
const MOST_WITHOUT_READS: usize = 100;

/// How the points of a loop are taken.
#[derive(Clone, Copy, Debug)]
pub struct Group<'m> {
    /// A power of two.
    pub points: usize,
    bounded: Bounded<'m>,
    /// What reads elements, and what follows.
    first: &'m [Stmt],
    rest: &'m [Stmt],
}

/// A body all of which is done at points below a bound, as kernels ask first of all: then there are no points from there on.
#[derive(Clone, Copy, Debug)]
struct Bounded<'m> {
    /// What the bound is computed by.
    before: &'m [Stmt],
    /// The comparison with the bound, and the bound.
    bound: Option<[Value; 2]>,
    body: &'m [Stmt],
}

impl<'m> Bounded<'m> {
    fn of(f: &'m Function, index: Value) -> Bounded<'m> {
        let stmts = without_end(&f.body);
        let found = stmts
            .iter()
            .position(|stmt| matches!(stmt.kind, StmtKind::If { .. }))
            .and_then(|at| {
                let (before, from) = stmts.split_at(at);
                let (StmtKind::If { cond, then, other }, rest) = (&from[0].kind, &from[1..]) else {
                    return None;
                };
                let (is_below, bound) = comparison(before, *cond, index)?;
                let (inside, outside) = if is_below { (then, other) } else { (other, then) };
                let body = match rest {
                    [] => without_end(inside),
                    // Others end before that.
                    _ if without_end(inside).is_empty() && ends(outside) && !ends(inside) => rest,
                    _ => return None,
                };
                let mut aside = without_end(outside).is_empty();
                for stmt in before {
                    aside &= matches!(&stmt.kind, StmtKind::Let(value, op) if value == cond || op.effect() == Effect::Pure);
                    let is_cond = matches!(&stmt.kind, StmtKind::Let(value, _) if value == cond);
                    stmt.kind.operands(&mut |operand| aside &= is_cond || operand != index);
                }
                // Nobody else reads the comparison, whose index there is not yet where the bound is computed.
                f.body.walk(&mut |kind| {
                    let is_guard = matches!(kind, StmtKind::If { cond: asked, .. } if std::ptr::eq(kind, &from[0].kind) && asked == cond);
                    kind.operands(&mut |operand| aside &= is_guard || operand != *cond);
                });
                aside.then_some(Bounded {
                    before,
                    bound: Some([*cond, bound]),
                    body,
                })
            });
        found.unwrap_or(Bounded {
            before: &[],
            bound: None,
            body: stmts,
        })
    }
}

/// Is it asked whether the index is below a bound, or whether it is not; and which.
fn comparison(stmts: &[Stmt], cond: Value, index: Value) -> Option<(bool, Value)> {
    stmts.iter().find_map(|stmt| match stmt.kind {
        StmtKind::Let(value, Op::Compare(op, a, b)) if value == cond => match op {
            CmpOp::Lt if a == index => Some((true, b)),
            CmpOp::Gt if b == index => Some((true, a)),
            CmpOp::Ge if a == index => Some((false, b)),
            CmpOp::Le if b == index => Some((false, a)),
            _ => None,
        },
        _ => None,
    })
}

fn ends(block: &Block) -> bool {
    matches!(block.0.last(), Some(stmt) if matches!(stmt.kind, StmtKind::Return(None)))
}

/// The statements but for a last one that ends the point, which all do.
fn without_end(block: &Block) -> &[Stmt] {
    let stmts = &block.0;
    &stmts[..stmts.len() - usize::from(ends(block))]
}

impl<'m> Group<'m> {
    /// Nothing where points are better taken one by one, as far apart as there are threads: elements that do not lie side by side, or a body
    /// that loops or is long.
    pub fn of(f: &'m Function, indices: &[Value]) -> Option<Group<'m>> {
        let [index] = indices else { return None };
        let straight = |stmt: &Stmt| matches!(&stmt.kind, StmtKind::Let(_, op) if matches!(op.effect(), Effect::Pure | Effect::Load));
        let bounded = Bounded::of(f, *index);
        let stmts = bounded.body;
        let (first, rest) = stmts.split_at(stmts.iter().position(|stmt| !straight(stmt)).unwrap_or(stmts.len()));
        let (mut looks, mut sizes, mut count) = (true, Vec::new(), 0);
        let mut look = |kind: &StmtKind| {
            count += 1;
            looks &= match kind {
                StmtKind::Let(_, op) => matches!(op.effect(), Effect::Pure | Effect::Get | Effect::Load),
                StmtKind::Set(..) | StmtKind::If { .. } | StmtKind::Store { .. } => true,
                _ => false,
            };
            if let StmtKind::Let(_, Op::Load { view, indices, .. }) | StmtKind::Store { view, indices, .. } = kind {
                looks &= is_beside(f, *index, *view, indices, &mut sizes);
            }
        };
        stmts.iter().for_each(|stmt| stmt.kind.walk(&mut look));
        let reads_element = |stmt: &Stmt| {
            let mut found = false;
            stmt.kind
                .walk(&mut |kind| found |= matches!(kind, StmtKind::Let(_, Op::Load { .. })));
            found
        };
        let smallest = sizes.into_iter().min()?;
        let mut points = (WIDEST / smallest.max(1)).min(MOST);
        let reads = first.iter().any(reads_element);
        while points * count > if reads { MOST_STATEMENTS } else { MOST_WITHOUT_READS } {
            points /= 2;
        }
        (looks && points > 1 && !rest.iter().any(reads_element)).then_some(Group {
            points,
            bounded,
            first,
            rest,
        })
    }
}

/// Is an access one of elements that lie side by side, or of one that has nothing to do with the index?
fn is_beside(f: &Function, index: Value, view: Value, indices: &[Index], sizes: &mut Vec<usize>) -> bool {
    let Type::View(ty) = f.ty(view) else { return false };
    match indices {
        [] => true,
        [at] if at.value == index => {
            sizes.push(ty.elem.size());
            is_contiguous(ty.layout) && f.params.contains(&view)
        }
        _ => false,
    }
}

impl<'m> Fx<'_, 'm> {
    /// The loop over the groups of a thread: their numbers are the first, and each further a stride on.
    pub fn each_group(&mut self, group: Group<'m>, [first, total, stride]: [Operand; 3], indices: &'m [Value], extents: &[Num]) -> Res<()> {
        let ty = first.ty;
        let total = self.bounded(group.bounded, total)?;
        let points = ty.int_const(group.points as i64);
        let [first, stride] = [first, stride].map(|n| self.w.binary("mul nuw nsw", n, points));
        let (slot, single) = (self.w.alloca(ty), self.w.alloca(ty));
        let (head, body, whole, part, next, after) = (
            self.w.label(),
            self.w.label(),
            self.w.label(),
            self.w.label(),
            self.w.label(),
            self.w.label(),
        );
        self.w.store(first, slot);
        self.w.place(head);
        let at = self.w.load(ty, slot);
        let more = self.w.compare("icmp slt", at, total);
        self.w.cond_br(more, body, after);
        self.w.place(body);
        let last = self.w.binary("add nuw nsw", at, ty.int_const(group.points as i64 - 1));
        let is_whole = self.w.compare("icmp slt", last, total);
        self.w.cond_br(is_whole, whole, part);
        self.w.place(whole);
        self.group(group, at, indices, extents)?;
        self.w.br(next);
        self.w.place(part);
        self.w.store(at, single);
        self.singly(group, single, total, indices, extents)?;
        self.w.br(next);
        self.w.place(next);
        let moved = self.w.binary("add nuw nsw", at, stride);
        self.w.store(moved, slot);
        self.w.br(head);
        self.end = after;
        Ok(())
    }

    /// How many points there are.
    fn bounded(&mut self, of: Bounded<'m>, total: Operand) -> Res<Operand> {
        let Some([cond, bound]) = of.bound else { return Ok(total) };
        let own = |stmt: &&Stmt| !matches!(stmt.kind, StmtKind::Let(value, _) if value == cond);
        of.before.iter().filter(own).try_for_each(|stmt| self.stmt(stmt))?;
        let bound = self.num(bound)?;
        let bound = self.take(bound);
        let mut least = self.w.resize(total, Ty::I64, true);
        for (condition, other) in [("icmp slt", bound), ("icmp sgt", Ty::I64.int_const(0))] {
            let keeps = self.w.compare(condition, least, other);
            least = self.w.select(keeps, least, other);
        }
        Ok(self.w.resize(least, total.ty, true))
    }

    /// All points of a group: what they read, then what they do with it.
    fn group(&mut self, group: Group<'m>, at: Operand, indices: &'m [Value], extents: &[Num]) -> Res<()> {
        let mut read = Vec::new();
        for number in 0..group.points {
            let point = match number {
                0 => at,
                _ => self.w.binary("add nuw nsw", at, at.ty.int_const(number as i64)),
            };
            self.point(indices, extents, point);
            group.first.iter().try_for_each(|stmt| self.stmt(stmt))?;
            read.push((self.vals.clone(), self.defs.clone()));
        }
        for (vals, defs) in read {
            (self.vals, self.defs) = (vals, defs);
            self.forget_locals();
            group.rest.iter().try_for_each(|stmt| self.stmt(stmt))?;
        }
        Ok(())
    }

    /// The points of a group that has not all of them, one by one.
    fn singly(&mut self, group: Group<'m>, slot: Operand, total: Operand, indices: &'m [Value], extents: &[Num]) -> Res<()> {
        let (again, one, after) = (self.w.label(), self.w.label(), self.w.label());
        self.w.place(again);
        let at = self.w.load(total.ty, slot);
        let more = self.w.compare("icmp slt", at, total);
        self.w.cond_br(more, one, after);
        self.w.place(one);
        self.point(indices, extents, at);
        self.forget_locals();
        group.first.iter().chain(group.rest).try_for_each(|stmt| self.stmt(stmt))?;
        let next = self.w.binary("add nuw nsw", at, Ty::int_const(at.ty, 1));
        self.w.store(next, slot);
        // Which runs a few times, in one thread: `!2` is a loop that is not to be unrolled.
        self.w.end(format_args!("br label %{again}, !llvm.loop !2"));
        self.w.place(after);
        Ok(())
    }
}
