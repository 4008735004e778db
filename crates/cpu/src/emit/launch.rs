//! Launches of index spaces from host code: through the runtime, or in place where they are short; their results are combined into locals.

use weft_ir::order::ONE_CHUNK;
use weft_ir::{FuncId, FuncKind, Function, Local, Op, ReduceOp, Reduction, Scalar, Spread, StmtKind, Value};

use super::combine::{identity, is_sum};
use super::func::Fx;
use super::values::{Num, Res, Val};
use super::writer::{Label, Operand, Ty};

/// Least points of a chunk where each is little work.
const LONG_GRAIN: i64 = 1 << 14;

/// Where the context counts short runs: behind its first two words.
const TURNS_AT: i64 = 16;

/// Statements of a point with which its loop is inlined where it is run in place: a fill, a copy, one operation. A longer one takes longer
/// than the call, and LLVM longer for two copies of it.
const INLINED: usize = 3;

/// How many short runs there are between two that the runtime does.
const TURNS: i64 = 4096;

/// The most axes of an index space that may be run in place.
const MOST_AXES: usize = 5;

impl Fx<'_, '_> {
    /// Runs a `Loop` function through the runtime and combines its results into locals.
    pub fn launch(&mut self, func: FuncId, extents: &[Value], args: &[Value], results: &[Local], spread: Spread) -> Res<()> {
        let module = self.cx.module;
        let target = module.function(func);
        let FuncKind::Loop { reductions, .. } = &target.kind else {
            return self.internal("a launch of what is no loop");
        };
        let body = self.cx.loop_symbol(func, spread);
        let mut block = self.argument_block(extents, args)?;
        let (partial, combine) = self.result_block(&body, reductions, |r| target.local_ty(r.local).scalar())?;
        self.cx.symbol("weft_launch");
        self.cx
            .declare("declare i32 @weft_launch(ptr, ptr, ptr, ptr, ptr, i64, i64, i32, i64)".to_owned());
        let (rank, slots) = (extents.len(), reductions.len());
        // Where the order is fixed, so is the size of the chunks; the sign says it.
        let grain = match reductions.iter().any(|r| r.fixed) {
            true => -grain(target, spread),
            false => grain(target, spread),
        };
        let code = self.w.alloca(Ty::I32);
        let done = match shortest(target, spread) {
            Some(most) if rank <= MOST_AXES => {
                let inlined = is_inlined(target);
                let done = self.run_if_short(&body, extents, block, (partial, &combine, slots), (most, code, inlined))?;
                if inlined {
                    // With a block of the runtime's own, that of the inlined body is never written.
                    block = self.argument_block(extents, args)?;
                }
                Some(done)
            }
            _ => None,
        };
        let spread = spread as i32;
        let failed = self.w.inst(format_args!(
            "call i32 @weft_launch(ptr %ctx, ptr @{body}, ptr {combine}, {}, {}, i64 {rank}, i64 {slots}, i32 {spread}, i64 {grain})",
            block.typed(Ty::PTR),
            partial.typed(Ty::PTR)
        ));
        let failed = match done {
            Some(done) => {
                self.w.store(Ty::I32, failed, code);
                self.w.br(done);
                self.w.place(done);
                self.w.load(Ty::I32, code)
            }
            None => failed,
        };
        self.leave_if_failed(failed);
        self.take_results(results, reductions, partial)
    }

    /// A few points are run here, as the runtime would run them: in one chunk, on this thread. Gives where control goes on; the code written
    /// next is for more points.
    fn run_if_short(
        &mut self,
        body: &str,
        extents: &[Value],
        args: Operand,
        (partial, combine, slots): (Operand, &str, usize),
        (most, code, inlined): (i64, Operand, bool),
    ) -> Res<Label> {
        let (short, some, long, done) = (self.w.label(), self.w.label(), self.w.label(), self.w.label());
        let mut lengths = Vec::with_capacity(extents.len());
        for extent in extents {
            match self.num(*extent)? {
                Num::Uniform(n) => lengths.push(n),
                _ => return self.internal("an index space of varying extents"),
            }
        }
        // No length is negative, and the product of so few short ones fits.
        let either = lengths.iter().copied().reduce(|a, b| self.plain("or", Ty::I64, a, b));
        let points = lengths.iter().copied().reduce(|a, b| self.mul_scalar(a, b));
        let (either, points) = (either.unwrap_or(Operand::Int(1)), points.unwrap_or(Operand::Int(1)));
        let each = self.w.inst(format_args!("icmp ult {}, {}", either.typed(Ty::I64), 2 * most));
        let all = self.w.inst(format_args!("icmp ule {}, {most}", points.typed(Ty::I64)));
        let few = self.plain("and", Ty::BOOL, each, all);
        // Now and then the runtime is asked to run it, which asks the host whether to stop.
        let turns = self.w.offset(Operand::Arg("ctx"), Operand::Int(TURNS_AT));
        let turn = self.w.load(Ty::I32, turns);
        let next = self.w.inst(format_args!("add {}, 1", turn.typed(Ty::I32)));
        self.w.store(Ty::I32, next, turns);
        let due = self.w.inst(format_args!("and {}, {}", next.typed(Ty::I32), TURNS - 1));
        let quiet = self.w.inst(format_args!("icmp ne {}, 0", due.typed(Ty::I32)));
        let here = self.plain("and", Ty::BOOL, few, quiet);
        self.w.cond_br(here, short, long);
        self.w.place(short);
        self.w.store(Ty::I32, Operand::Int(0), code);
        let any = self.w.inst(format_args!("icmp ne {}, 0", points.typed(Ty::I64)));
        self.w.cond_br(any, some, done);
        self.w.place(some);
        let rows = match lengths.split_last() {
            Some((_, outer)) if !outer.is_empty() => outer.iter().copied().reduce(|a, b| self.mul_scalar(a, b)),
            _ => Some(points),
        };
        let rows = rows.unwrap_or(points);
        let own = match slots {
            0 => Operand::Null,
            _ => self.w.entry_inst(format_args!("alloca [{slots} x i64]")),
        };
        let inlined = if inlined { " alwaysinline" } else { "" };
        let failed = self.w.inst(format_args!(
            "call i32 @{body}(ptr %ctx, {}, {}, i64 0, {}){inlined}",
            args.typed(Ty::PTR),
            own.typed(Ty::PTR),
            rows.typed(Ty::I64)
        ));
        self.w.store(Ty::I32, failed, code);
        if slots > 0 {
            self.w.line(format_args!(
                "call void {combine}({}, {})",
                partial.typed(Ty::PTR),
                own.typed(Ty::PTR)
            ));
        }
        self.w.br(done);
        self.w.place(long);
        Ok(done)
    }

    /// Slots holding the identities, and the function that combines two such blocks.
    fn result_block(
        &mut self,
        body: &str,
        reductions: &[Reduction],
        scalar: impl Fn(&Reduction) -> Option<Scalar>,
    ) -> Res<(Operand, String)> {
        if reductions.is_empty() {
            return Ok((Operand::Null, "null".to_owned()));
        }
        let mut kinds = Vec::new();
        for r in reductions {
            match scalar(r) {
                Some(s) if is_sum(*r, s) => kinds.push((r.op, Scalar::F64)),
                Some(s) if !s.is_complex() => kinds.push((r.op, s)),
                _ => return self.internal("a reduction of what is no real number"),
            }
        }
        let block = self.w.entry_inst(format_args!("alloca [{} x i64]", kinds.len()));
        for (i, (op, s)) in kinds.iter().enumerate() {
            self.store_slot(identity(*op, *s), *s, block, i)?;
        }
        let name = format!("{body}.combine");
        if self.cx.helper(&name) {
            combine_function(self, &name, &kinds)?;
        }
        Ok((block, format!("@{name}")))
    }

    fn take_results(&mut self, results: &[Local], reductions: &[Reduction], block: Operand) -> Res<()> {
        for (i, (local, r)) in results.iter().zip(reductions).enumerate() {
            let s = self.local_scalar(*local)?;
            let slot = self.slots[local.index()].clone();
            let old = self.read_number(&slot);
            let held = if is_sum(*r, s) { Scalar::F64 } else { s };
            let new = self.read_slot_number(block, i, held);
            let old = self.cast(s, held, old);
            let total = self.combine(r.op.binary(), held, old, new)?;
            let total = self.cast(held, s, total);
            self.set_local(*local, &Val::Num(total), false)?;
        }
        Ok(())
    }
}

/// `void (ptr into, ptr from)`: `into = into op from`, slot by slot.
fn combine_function(fx: &mut Fx<'_, '_>, name: &str, kinds: &[(ReduceOp, Scalar)]) -> Res<()> {
    let outer = std::mem::take(&mut fx.w);
    let written = kinds.iter().enumerate().try_for_each(|(i, (op, s))| {
        let a = fx.read_slot_number(Operand::Arg("into"), i, *s);
        let b = fx.read_slot_number(Operand::Arg("from"), i, *s);
        let joined = fx.combine(op.binary(), *s, a, b)?;
        fx.store_slot(joined, *s, Operand::Arg("into"), i)
    });
    let inner = std::mem::replace(&mut fx.w, outer);
    written?;
    let text = format!(
        "define internal void @{name}(ptr %into, ptr %from) alwaysinline #0 {{\nentry:\n{}  ret void\n}}\n",
        inner.body
    );
    fx.cx.push_function(&text);
    Ok(())
}

/// Least points of a chunk of a reduction: enough to make up for what a chunk costs.
fn grain(body: &Function, spread: Spread) -> i64 {
    let loops = body.body.any(&mut |kind| matches!(kind, StmtKind::Loop(_) | StmtKind::For { .. }));
    match (spread, loops) {
        (Spread::Threads, _) => 1,
        (_, true) => 64,
        (_, false) => LONG_GRAIN,
    }
}

/// Is a point so little work that the call of its loop would cost more? Of one axis, without results.
fn is_inlined(body: &Function) -> bool {
    let FuncKind::Loop { rank: 1, reductions } = &body.kind else {
        return false;
    };
    let mut operations = 0;
    body.body
        .walk(&mut |kind| operations += usize::from(!matches!(kind, StmtKind::Let(_, Op::Const(_) | Op::Get(_)))));
    reductions.is_empty() && operations <= INLINED
}

/// Up to how many points an index space is run where it stands, without the runtime: those of a statement or two. Not where a point is a loop.
fn shortest(body: &Function, spread: Spread) -> Option<i64> {
    let short = match (spread, grain(body, spread)) {
        (Spread::Lanes, LONG_GRAIN) => 1024,
        (Spread::Gangs, LONG_GRAIN) => 512,
        _ => return None,
    };
    match &body.kind {
        FuncKind::Loop { rank, reductions } if *rank > 1 && reductions.iter().any(|r| body.is_ordered(*r)) => Some(short.min(ONE_CHUNK)),
        _ => Some(short),
    }
}
