//! Folds over rows of which memory lies along the points: sums and extremes of the columns of a C array.
//!
//! A lane that goes through its column alone comes to another page with every row. Here the points of a *panel*, neighbours by the
//! thousand, go through the rows together: all of them take a few rows of one chain, whose sums so far they keep in an array, before any takes
//! those of the next. Memory is then read as it lies, in as many streams as a chain takes rows at once, which hardware fetches ahead by
//! itself. Threads share the panels. (Sums of the columns of 4000 x 1000 float32 from memory, written in C: column by column with prefetch
//! 0.85 ms, so 0.47, with one sum a column instead of 32 chains 0.40; in the third-level cache 0.48, 0.29 and 0.23.)

use weft_ir::order::CHAINS;
use weft_ir::{BinOp, Block, Builder, CmpOp, Effect, Function, Op, Reduction, Span, Spread, StmtKind, Type, Value};

use crate::duplicate;
use crate::elements::Elements;
use crate::error::PassError;
use crate::join::Join;
use crate::nest::ordered::each_block;
use crate::nest::privatize;
use crate::statements::{append, counted, nested, shifted, when};

/// Bytes of a panel's sums in one chain: rows of about a page, and chains that fit the second-level cache.
const PANEL: u64 = 4096;
/// Points whose sums fill whole lines of the cache, of one byte each.
const LINE: i64 = 64;
/// Rows that a chain takes at once: streams that hardware follows.
const STREAMS: i64 = 4;
/// Fewer rows, or points, are not worth it: they stay in the first-level cache.
const LEAST_ROWS: i64 = 64;
const LEAST_POINTS: i64 = 256;
/// Threads share the panels, which are narrower then: so many of all points, and not below so many points.
const SHARES: i64 = 8;
const LEAST_SHARED_POINTS: i64 = 128;
/// What a row does is written once for every stream.
const MOST_STATEMENTS: usize = 48;

const NO_POINTS: &str = "a fold over no axes";

/// An index space whose points each reduce one index space of one axis.
pub struct Fold {
    vars: Vec<Value>,
    extents: Vec<Value>,
    /// What a point does before the rows, without effects.
    before: Block,
    row: Value,
    rows: Value,
    reductions: Vec<Reduction>,
    at_row: Block,
    /// What it does behind them.
    after: Block,
    /// The rows are one block of the fixed order, and there are some.
    one_block: bool,
    on_threads: bool,
}

/// A reduction on its way, of all points of a panel.
struct Sums {
    join: Join,
    /// Element `chain * points + point`.
    chains: Elements,
    chunk: Elements,
    total: Elements,
}

impl Fold {
    /// Takes such an index space apart, if that is what it is, and what stands before the rows' end only computes.
    pub fn of(kind: StmtKind, one_block: bool) -> Option<Fold> {
        let StmtKind::ParFor {
            vars,
            extents,
            reductions: of_points,
            spread: spread @ (Spread::Lanes | Spread::Gangs),
            body: Block(mut before),
        } = kind
        else {
            return None;
        };
        let place = before.iter().position(|stmt| matches!(stmt.kind, StmtKind::ParFor { .. }))?;
        let after = Block(before.split_off(place + 1));
        let Some(StmtKind::ParFor {
            vars: rows,
            extents: lengths,
            reductions,
            body: at_row,
            ..
        }) = before.pop().map(|stmt| stmt.kind)
        else {
            return None;
        };
        let (&[row], &[rows]) = (rows.as_slice(), lengths.as_slice()) else {
            return None;
        };
        let fold = Fold {
            vars,
            extents,
            before: Block(before),
            row,
            rows,
            reductions,
            at_row,
            after,
            one_block,
            on_threads: spread == Spread::Gangs,
        };
        (of_points.is_empty() && fold.is_simple()).then_some(fold)
    }

    /// What computes the number of rows, of all that stands before them, if it is the same for all points; in one block for those of a panel.
    fn length(&self) -> Option<Block> {
        let same = if self.one_block { self.vars.len().saturating_sub(1) } else { 0 };
        let mut differs = self.vars[same..].to_vec();
        let mut same = Vec::new();
        for stmt in &self.before.0 {
            match &stmt.kind {
                StmtKind::Let(_, op) if op.effect() == Effect::Pure && !reads(&stmt.kind, &differs) => same.push(stmt.clone()),
                kind => kind.definitions(&mut |value| differs.push(value)),
            }
        }
        (!differs.contains(&self.rows)).then_some(Block(same))
    }

    fn is_simple(&self) -> bool {
        let reduces = !self.reductions.is_empty() && !self.vars.is_empty();
        let is_last = !self.after.any(&mut |kind| matches!(kind, StmtKind::ParFor { .. }));
        let is_small = statements(&self.before) + statements(&self.at_row) <= MOST_STATEMENTS;
        reduces && self.length().is_some() && is_last && is_small && only_computes(&self.before) && only_computes(&self.at_row)
    }

    /// Has each of its reductions what chains without rows hold?
    pub fn combines(&self, func: &Function, span: Span) -> bool {
        Join::all(func, &self.reductions, span).is_ok()
    }

    /// Are there enough points, and enough rows where they are not a block?
    pub fn is_worth_it(&self, b: &mut Builder) -> Result<Value, PassError> {
        let Some(&points) = self.extents.last() else {
            return Err(PassError::defect(b.span, NO_POINTS));
        };
        let enough = b.i64(LEAST_POINTS);
        let many = b.compare(CmpOp::Ge, points, enough);
        if self.one_block {
            return Ok(many);
        }
        let rows = self.number_of_rows(b);
        let least = b.i64(LEAST_ROWS);
        let long = b.compare(CmpOp::Ge, rows, least);
        Ok(b.binary(BinOp::And, long, many))
    }

    /// Writes the fold, which is worth it.
    pub fn write(mut self, b: &mut Builder) -> Result<(), PassError> {
        let joins = Join::all(&b.func, &self.reductions, b.span)?;
        let widest = joins.iter().map(|join| join.scalar.size()).max().unwrap_or(1);
        let (Some((&var, outer)), Some((&points, lengths))) = (self.vars.split_last(), self.extents.split_last()) else {
            return Err(PassError::defect(b.span, NO_POINTS));
        };
        privatize(&mut b.func, &mut self.at_row, &self.reductions, b.span);
        let size = panel_size(b, points, widest, self.on_threads);
        let first = b.func.new_value(Type::I64);
        let fold = |b: &mut Builder, rows: Value, sums: &[Sums]| {
            let end = b.binary(BinOp::Add, first, size);
            let end = b.binary(BinOp::Min, end, points);
            let panel = Panel {
                points: &self,
                rows,
                var,
                first,
                count: b.binary(BinOp::Sub, end, first),
                size,
                sums,
            };
            panel.fold(b);
            panel.each(b, |b, at| {
                b.push(StmtKind::Let(var, Op::Binary(BinOp::Add, first, at)));
                append(b, self.before.clone());
                sums.iter().for_each(|sum| sum.finish(b, at));
                append(b, self.after.clone());
            });
        };
        let sums = |b: &mut Builder| -> Vec<Sums> { joins.iter().map(|join| Sums::make(b, *join, size)).collect() };
        if self.on_threads {
            self.panels_on_threads(b, (first, size, points), |b, rows| {
                let sums = sums(b);
                fold(b, rows, &sums);
            });
            return Ok(());
        }
        let (sums, zero) = (sums(b), b.i64(0));
        nested(b, outer, lengths, |b| {
            let rows = self.number_of_rows(b);
            counted(b, first, [zero, points, size], |b| fold(b, rows, &sums));
        });
        Ok(())
    }

    /// Every panel, each on one thread. `first` is the first of its points.
    fn panels_on_threads(&self, b: &mut Builder, (first, size, points): (Value, Value, Value), fold: impl FnOnce(&mut Builder, Value)) {
        let panel = b.func.new_value(Type::I64);
        let one = b.i64(1);
        let others = b.binary(BinOp::Sub, size, one);
        let rounded = b.binary(BinOp::Add, points, others);
        let panels = b.binary(BinOp::FloorDiv, rounded, size);
        let (mut vars, mut extents) = (self.vars.clone(), self.extents.clone());
        vars.pop();
        extents.pop();
        b.open();
        b.push(StmtKind::Let(first, Op::Binary(BinOp::Mul, panel, size)));
        let rows = self.number_of_rows(b);
        fold(b, rows);
        let body = b.close();
        b.push(StmtKind::ParFor {
            vars: [vars, vec![panel]].concat(),
            extents: [extents, vec![panels]].concat(),
            reductions: Vec::new(),
            spread: Spread::Threads,
            body,
        });
    }

    fn number_of_rows(&self, b: &mut Builder) -> Value {
        let rows = b.func.new_local(Type::I64, "");
        b.open();
        append(b, self.length().unwrap_or_default());
        b.set(rows, self.rows);
        let length = b.close();
        append_copy(b, length);
        b.get(rows)
    }
}

/// Neighbouring points.
struct Panel<'a> {
    points: &'a Fold,
    rows: Value,
    /// The index of a point, and the first one's.
    var: Value,
    first: Value,
    count: Value,
    /// How far chains lie apart.
    size: Value,
    sums: &'a [Sums],
}

impl Panel<'_> {
    /// Something of every point, with lanes along them.
    fn each(&self, b: &mut Builder, what: impl FnOnce(&mut Builder, Value)) {
        let at = b.func.new_value(Type::I64);
        b.open();
        what(b, at);
        let body = b.close();
        b.push(StmtKind::ParFor {
            vars: vec![at],
            extents: vec![self.count],
            reductions: Vec::new(),
            spread: Spread::Lanes,
            body,
        });
    }

    /// Leaves in `total` what the rows are reduced to.
    fn fold(&self, b: &mut Builder) {
        if self.points.one_block {
            let all = [b.i64(0), self.rows];
            return self.block(b, all, all);
        }
        each_block(b, self.rows, |b, block, chunk| self.block(b, block, chunk), |_| {});
    }

    /// The rows of a block, which starts at the first chain, in those of a chunk.
    fn block(&self, b: &mut Builder, block: [Value; 2], chunk: [Value; 2]) {
        self.chains(b, block);
        self.join_chains(b, block);
        self.end_block(b, block, chunk);
    }

    /// The rows of the chains of a block, some of each at once.
    fn chains(&self, b: &mut Builder, [start, stop]: [Value; 2]) {
        let [one, chains, step] = [1, CHAINS as i64, CHAINS as i64 * STREAMS].map(|n| b.i64(n));
        let [group, head] = [(); 2].map(|()| b.func.new_value(Type::I64));
        let second = b.binary(BinOp::Add, start, chains);
        counted(b, group, [start, stop, step], |b| {
            let end = b.binary(BinOp::Add, group, chains);
            let end = b.binary(BinOp::Min, end, stop);
            counted(b, head, [group, end, one], |b| self.rows_of_chain(b, head, second, stop));
        });
    }

    /// Every 32nd row from one on, so many of them as there are. Before the row `second` they are the first ones of their chain. No loop goes
    /// through them: then the few points are run where they stand.
    fn rows_of_chain(&self, b: &mut Builder, head: Value, second: Value, stop: Value) {
        let last = b.i64(CHAINS as i64 - 1);
        let chain = b.binary(BinOp::And, head, last);
        let place = b.binary(BinOp::Mul, chain, self.size);
        let is_first = b.compare(CmpOp::Lt, head, second);
        self.each(b, |b, at| {
            b.open();
            b.push(StmtKind::Let(self.var, Op::Binary(BinOp::Add, self.first, at)));
            append(b, self.points.before.clone());
            let place = b.binary(BinOp::Add, place, at);
            for sum in self.sums {
                let (identity, so_far) = (sum.join.identity(b), sum.chains.load(b, place));
                let so_far = b.select(is_first, identity, so_far);
                b.set(sum.join.local, so_far);
            }
            for row in 0..STREAMS {
                let ahead = b.i64(row * CHAINS as i64);
                b.open();
                b.push(StmtKind::Let(self.points.row, Op::Binary(BinOp::Add, head, ahead)));
                let is_there = b.compare(CmpOp::Lt, self.points.row, stop);
                when(b, is_there, |b| append(b, self.points.at_row.clone()));
                let at_row = b.close();
                append_copy(b, at_row);
            }
            for sum in self.sums {
                let next = b.get(sum.join.local);
                sum.chains.store(b, place, next);
            }
            let rows = b.close();
            append_copy(b, rows);
        });
    }

    /// The first half of the chains with the second, then the first quarter with the second of what is left, until there are two: four at
    /// once. Chains without rows hold nothing before.
    fn join_chains(&self, b: &mut Builder, [start, stop]: [Value; 2]) {
        let length = b.binary(BinOp::Sub, stop, start);
        let [zero, one, all, chain] = [b.i64(0), b.i64(1), b.i64(CHAINS as i64), b.func.new_value(Type::I64)];
        let join_quarters = |b: &mut Builder, quarter| {
            let mut chains = vec![chain];
            for _ in 0..3 {
                let next = b.binary(BinOp::Add, chains[chains.len() - 1], quarter);
                chains.push(next);
            }
            let places = chains.iter().map(|chain| self.place(b, *chain, length)).collect::<Vec<_>>();
            self.each(b, |b, at| {
                for sum in self.sums {
                    let quarters = places.iter().map(|place| sum.load(b, *place, at)).collect::<Vec<_>>();
                    let even = sum.join.join(b, quarters[0], quarters[2]);
                    let odd = sum.join.join(b, quarters[1], quarters[3]);
                    let joined = sum.join.join(b, even, odd);
                    let place = b.binary(BinOp::Add, places[0].0, at);
                    sum.chains.store(b, place, joined);
                }
            });
        };
        shifted(b, all, 2, |b, quarter| {
            counted(b, chain, [zero, quarter, one], |b| join_quarters(b, quarter));
        });
    }

    /// Where a chain's sums begin, and whether it has rows.
    fn place(&self, b: &mut Builder, chain: Value, length: Value) -> (Value, Value) {
        let has_rows = b.compare(CmpOp::Lt, chain, length);
        (b.binary(BinOp::Mul, chain, self.size), has_rows)
    }

    /// The last two chains, behind the blocks before it in its chunk, and the chunk behind those before it: `end_block`, `end_chunk` and the
    /// clearing between them in `nest::ordered`, of all points at once. Both have to give the same bits.
    fn end_block(&self, b: &mut Builder, [start, stop]: [Value; 2], [chunk_start, chunk_end]: [Value; 2]) {
        let [zero, one, all] = [0, 1, CHAINS as i64].map(|n| b.i64(n));
        let is_first = b.compare(CmpOp::Eq, start, chunk_start);
        let is_last = b.compare(CmpOp::Eq, stop, chunk_end);
        let is_first_chunk = b.compare(CmpOp::Eq, chunk_start, zero);
        let places = [zero, one].map(|chain| self.place(b, chain, all));
        self.each(b, |b, at| {
            for sum in self.sums {
                let [x, y] = places.map(|place| sum.load(b, place, at));
                let block = sum.join.join(b, x, y);
                let identity = sum.join.identity(b);
                let (chunk, total) = (sum.chunk.load(b, at), sum.total.load(b, at));
                let chunk = b.select(is_first, identity, chunk);
                let chunk = sum.join.join(b, chunk, block);
                sum.chunk.store(b, at, chunk);
                let before = b.select(is_first_chunk, identity, total);
                let after = sum.join.join(b, before, chunk);
                let total = b.select(is_last, after, total);
                sum.total.store(b, at, total);
            }
        });
    }
}

impl Sums {
    fn make(b: &mut Builder, join: Join, points: Value) -> Sums {
        let chains = b.i64(CHAINS as i64);
        let count = b.binary(BinOp::Mul, chains, points);
        Sums {
            join,
            chains: Elements::of_alloc(b, join.scalar, count),
            chunk: Elements::of_alloc(b, join.scalar, points),
            total: Elements::of_alloc(b, join.scalar, points),
        }
    }

    /// What a chain holds, the identity if it has no rows.
    fn load(&self, b: &mut Builder, (row, has_rows): (Value, Value), at: Value) -> Value {
        let place = b.binary(BinOp::Add, row, at);
        let (held, identity) = (self.chains.load(b, place), self.join.identity(b));
        b.select(has_rows, held, identity)
    }

    /// Leaves the result in the point's local, with what that held before.
    fn finish(&self, b: &mut Builder, at: Value) {
        let (before, total) = (b.get(self.join.local), self.total.load(b, at));
        let all = self.join.join(b, before, total);
        b.set(self.join.local, all);
    }
}

/// With values of its own. There are no labels in what only computes.
fn append_copy(b: &mut Builder, mut block: Block) {
    duplicate::rename(&mut b.func, &mut block, &mut 0);
    append(b, block);
}

/// Can a block be gone through once more, or in another order, without that showing?
fn only_computes(block: &Block) -> bool {
    !block.any(&mut |kind| match kind {
        StmtKind::Let(_, op) => !matches!(op.effect(), Effect::Pure | Effect::Get | Effect::Load),
        StmtKind::Set(..) | StmtKind::If { .. } => false,
        _ => true,
    })
}

fn statements(block: &Block) -> usize {
    let mut count = 0;
    block.walk(&mut |_| count += 1);
    count
}

fn reads(kind: &StmtKind, values: &[Value]) -> bool {
    let mut found = false;
    kind.operands(&mut |value| found |= values.contains(&value));
    found
}

/// How many points a panel has: full, or all of them and as many more as make chains start on a line of the cache. Of panels that threads
/// share, a part of them.
fn panel_size(b: &mut Builder, points: Value, widest: usize, shared: bool) -> Value {
    let [line, not_in_line] = [LINE - 1, !(LINE - 1)].map(|n| b.i64(n));
    let wanted = if shared {
        let [shares, least] = [SHARES, LEAST_SHARED_POINTS].map(|n| b.i64(n));
        let share = b.binary(BinOp::FloorDiv, points, shares);
        b.binary(BinOp::Max, share, least)
    } else {
        points
    };
    let lines = b.binary(BinOp::Add, wanted, line);
    let lines = b.binary(BinOp::And, lines, not_in_line);
    let full = b.i64((PANEL / widest as u64) as i64);
    b.binary(BinOp::Min, lines, full)
}
