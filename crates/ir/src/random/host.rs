//! Random host functions: sequential code, index spaces with reductions, a tuple of scalars as result.

use super::rng::Rng;
use super::stmt::{Place, Return};
use super::{Case, Gen, Known, Reach, case, device, function, with_exception};
use crate::module::{Block, ErrorKind, FuncKind, PrintItem, ReduceOp, Reduction, Spread, StmtKind, Value};
use crate::op::{BinOp, Const, Index, Op, Part};
use crate::testing::{TestLaunch, TestValue};
use crate::types::{Scalar, Type};

pub(super) fn generate(mut rng: Rng) -> Case {
    let (mut functions, callees) = device::generate(&mut rng);
    let mut g = Gen::new(rng, function("h", FuncKind::Host));
    g.types.extend(callees.iter().map(|c| c.result));
    g.callees = callees;
    let mut args = Vec::new();
    for _ in 0..1 + g.rng.below(4) {
        g.scalar_param(&mut args);
    }
    for _ in 0..1 + g.rng.below(3) {
        g.input_param(&mut args);
    }
    if g.rng.chance(30) {
        g.long_param(&mut args);
    }
    let len = 1 + g.rng.below(90);
    for _ in 0..1 + g.rng.below(2) {
        let elem = g.any_type();
        let view = g.array_param(elem, vec![len], true, &mut args);
        g.own.push(Reach {
            view,
            elem,
            shape: vec![len],
            private: true,
        });
    }
    // What takes the checksums of the points.
    let sums = g.array_param(Scalar::I64, vec![len], true, &mut args);
    if g.rng.chance(30) {
        g.constant_array();
    }
    for _ in 0..2 {
        let length = g.rng.below(70);
        let value = g.param(Scalar::I64, "n".to_owned());
        args.push(TestValue::Scalar(Const::i64(length as i64)));
        g.lengths.push(Known { length, value, of: None });
    }
    g.know_lengths();
    g.make_locals();
    for _ in 0..1 + g.rng.below(3) {
        g.stmts(Place::new(Return::Never));
        g.print();
        g.par_for(len, sums);
        g.budget += 6;
    }
    g.stmts(Place::new(Return::Never));
    let mut shown: Vec<_> = g.locals.clone();
    shown.extend(g.digest.map(|local| (local, Scalar::I64)));
    let items = shown.iter().map(|(local, _)| g.b.get(*local)).collect();
    let ty = Type::Tuple(shown.iter().map(|(_, s)| Type::Scalar(*s)).collect());
    let result = g.b.emit(ty.clone(), Op::Tuple(items));
    g.b.push(StmtKind::Return(Some(result)));
    g.b.func.result = ty;
    let constants = g.constants;
    functions.push(g.b.finish());
    with_exception(case(functions, constants, TestLaunch::Call, args))
}

/// Reductions that have one result, for a type: where the order is not fixed, those to which it does not matter.
fn exact(scalar: Scalar, fixed: bool) -> Vec<ReduceOp> {
    if scalar == Scalar::Bool {
        vec![ReduceOp::And, ReduceOp::Or, ReduceOp::Xor]
    } else if scalar.is_complex() {
        if fixed { vec![ReduceOp::Add] } else { Vec::new() }
    } else if scalar.is_float() {
        if fixed {
            vec![ReduceOp::Add, ReduceOp::Mul, ReduceOp::Min, ReduceOp::Max]
        } else {
            Vec::new()
        }
    } else {
        ReduceOp::ALL.to_vec()
    }
}

impl Gen {
    /// An array with an axis that is worth lanes of its own.
    fn long_param(&mut self, args: &mut Vec<TestValue>) {
        let elem = self.any_type();
        let mut shape = vec![64 + self.rng.below(100)];
        if self.rng.chance(50) {
            shape.insert(self.rng.below(2) as usize, 1 + self.rng.below(3));
        }
        self.input_of(elem, shape, args);
    }

    /// Sometimes a line of output, sometimes an error if a condition holds.
    fn print(&mut self) {
        if self.rng.chance(20) {
            let items = (0..self.rng.below(3)).map(|_| {
                let scalar = self.any_type();
                PrintItem::Value(self.value(scalar))
            });
            let mut items: Vec<PrintItem> = items.collect();
            items.insert(0, PrintItem::Text("so far ".into()));
            self.b.push(StmtKind::Print(items));
        }
        if self.rng.chance(10) {
            let cond = self.condition();
            let message = "an error".to_owned();
            let kind = self.rng.pick(ErrorKind::ALL);
            let then = self.block(|g| g.b.push(StmtKind::Raise { kind, message }));
            self.b.push(StmtKind::If {
                cond,
                then,
                other: Block::default(),
            });
        }
    }

    /// An index space of one axis, or of two axes with as many points; each point has elements of its own.
    fn par_for(&mut self, len: u64, sums: Value) {
        let rows = if self.rng.chance(40) {
            (1..=len).filter(|r| len.is_multiple_of(*r)).nth(1)
        } else {
            None
        };
        let extents: Vec<u64> = rows.map_or(vec![len], |rows| vec![rows, len / rows]);
        let extent_values = extents.iter().map(|n| self.b.i64(*n as i64)).collect();
        let vars: Vec<_> = extents.iter().map(|_| self.b.func.new_value(Scalar::I64.into())).collect();
        let (locals, reductions) = self.split_locals();
        let spread = self.rng.pick(&[Spread::Lanes, Spread::Gangs, Spread::Gangs, Spread::Threads]);
        let all = std::mem::replace(&mut self.locals, locals);
        let body = self.block(|g| {
            let own = match vars[..] {
                [i, j] => {
                    let width = g.i64(extents[1] as i64);
                    let first = g.b.binary(BinOp::Mul, i, width);
                    g.b.binary(BinOp::Add, first, j)
                }
                _ => vars[0],
            };
            g.pool.extend(vars.iter().map(|v| (*v, Scalar::I64)));
            g.lane = vars.last().copied();
            g.own_index = Some(own);
            g.budget += 5;
            g.stmts(Place::new(Return::Never));
            g.fold(spread, len);
            g.fold(spread, len);
            g.reduce(&reductions);
            g.show(own, sums);
            g.lane = None;
            g.own_index = None;
        });
        self.locals = all;
        self.b.push(StmtKind::ParFor {
            vars,
            extents: extent_values,
            reductions,
            spread,
            body,
        });
    }

    /// Sometimes an index space of a point's own, which only reduces: mostly a short one, sometimes of more than one block of the fixed
    /// order, sometimes as long as an axis of an array, whose elements it reads.
    fn fold(&mut self, outer: Spread, len: u64) {
        if self.rng.chance(75) {
            return;
        }
        let columns = match self.rng.below(16) {
            0 => 2040 + self.rng.below(20),
            1 => 17_000 / (1 + self.rng.below(4)),
            _ => self.rng.below(70),
        };
        let mut extents = vec![columns.min(20_000 / len)];
        let row = match self.arrays.is_empty() || self.rng.chance(40) {
            true => None,
            false => Some(self.rng.pick(&self.arrays.clone())),
        };
        let axis = row.as_ref().map_or(0, |row| self.rng.below(row.shape.len() as u64) as usize);
        let mut known = match &row {
            Some(row) => {
                extents = vec![row.shape[axis]];
                self.lengths.iter().copied().find(|known| known.of == Some((row.view, axis)))
            }
            None => Some(self.rng.pick(&self.lengths.clone())),
        };
        known = known.filter(|_| self.rng.chance(60));
        if let Some(known) = known {
            extents = vec![known.length];
        }
        if self.rng.chance(30) {
            extents.insert(0, self.rng.below(1 + 4000 / len / (extents[0] + 1)));
        }
        let mut extent_values: Vec<Value> = extents.iter().map(|n| self.b.i64(*n as i64)).collect();
        if let (Some(known), Some(last)) = (known, extent_values.last_mut()) {
            *last = known.value;
        }
        let vars: Vec<_> = extents.iter().map(|_| self.b.func.new_value(Scalar::I64.into())).collect();
        let (locals, reductions) = self.split_locals();
        let all = std::mem::replace(&mut self.locals, locals);
        let (own, lane) = (self.own_index.take(), self.lane.take());
        let body = self.block(|g| {
            g.pool.extend(vars.iter().map(|v| (*v, Scalar::I64)));
            if let (Some(row), Some(last)) = (&row, vars.last()) {
                g.element_along(row, axis, *last);
            }
            g.compute();
            g.reduce(&reductions);
        });
        (self.own_index, self.lane) = (own, lane);
        self.locals = all;
        let spread = match outer {
            Spread::Threads => self.rng.pick(&[Spread::Lanes, Spread::Gangs]),
            Spread::Lanes | Spread::Gangs => Spread::Lanes,
        };
        self.b.push(StmtKind::ParFor {
            vars,
            extents: extent_values,
            reductions,
            spread,
            body,
        });
    }

    /// Takes the lengths of the arrays' axes outside of all loops.
    fn know_lengths(&mut self) {
        for array in self.arrays.clone() {
            for (axis, &length) in array.shape.iter().enumerate() {
                let value = self.b.emit(Scalar::I64, Op::Dim(array.view, axis as u8));
                let of = Some((array.view, axis));
                self.lengths.push(Known { length, value, of });
            }
        }
    }

    /// Reads an array's element `at` along an axis, at the start of the others.
    fn element_along(&mut self, array: &Reach, axis: usize, at: Value) {
        let start = self.i64(0);
        let index = |n| Index {
            value: if n == axis { at } else { start },
            wrap: false,
        };
        let indices = (0..array.shape.len()).map(index).collect();
        let (view, part) = (array.view, Part::Whole);
        let value = self.b.emit(array.elem, Op::Load { view, indices, part });
        self.pool.push((value, array.elem));
        self.note(value);
    }

    /// Some locals become reductions, which the body only adds to; the others are private to a point.
    fn split_locals(&mut self) -> (Vec<(crate::Local, Scalar)>, Vec<Reduction>) {
        let (mut private, mut reductions) = (Vec::new(), Vec::new());
        let fixed = self.rng.chance(50);
        for (local, scalar) in self.locals.clone() {
            let ops = exact(scalar, fixed);
            if !ops.is_empty() && self.rng.chance(40) {
                let op = self.rng.pick(&ops);
                reductions.push(Reduction { local, op, fixed });
            } else {
                private.push((local, scalar));
            }
        }
        (private, reductions)
    }

    /// Each reduction takes a contribution, some of them not at every point.
    fn reduce(&mut self, reductions: &[Reduction]) {
        for reduction in reductions {
            let Some(scalar) = self.b.func.local_ty(reduction.local).scalar() else {
                continue;
            };
            let add = |g: &mut Gen| {
                let value = g.value(scalar);
                let sum = g.b.get(reduction.local);
                let next = g.b.binary(reduction.op.binary(), sum, value);
                g.b.set(reduction.local, next);
            };
            if self.rng.chance(50) {
                add(self);
                continue;
            }
            let cond = self.condition();
            let then = self.block(add);
            self.b.push(StmtKind::If {
                cond,
                then,
                other: Block::default(),
            });
        }
    }

    /// Leaves something in the point's own element of each array.
    fn show(&mut self, own: Value, sums: Value) {
        if let Some(digest) = self.digest {
            let value = self.b.get(digest);
            self.b.push(StmtKind::Store {
                view: sums,
                indices: vec![Index { value: own, wrap: false }],
                value,
                part: Part::Whole,
            });
        }
        for array in self.own.clone() {
            let value = self.value(array.elem);
            self.b.push(StmtKind::Store {
                view: array.view,
                indices: vec![Index { value: own, wrap: false }],
                value,
                part: Part::Whole,
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::SCALARS;
    use super::*;

    #[test]
    fn identities_change_nothing() {
        for scalar in SCALARS {
            for op in ReduceOp::ALL {
                let Some(identity) = op.identity(scalar) else { continue };
                let mut g = Gen::new(Rng::new(7), function("f", FuncKind::Host));
                for _ in 0..50 {
                    let value = g.random_const(scalar);
                    let combined = crate::eval::binary(op.binary(), identity, value).unwrap();
                    assert!(TestValue::Scalar(combined).matches(&TestValue::Scalar(value), false));
                }
            }
        }
    }
}
