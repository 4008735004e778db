//! Two-stage reductions: loops with reductions, for devices that run kernels only: two kernels, whose order of combining depends on the
//! extents and on nothing else, so that every run gives the same bits. The first, *parts*, leaves partial results; the second, *whole*,
//! combines them in one block. `free` has the order that suits the device best, `fixed` the one that all devices have.

mod fixed;
mod free;

use weft_ir::order::Stage;
use weft_ir::{
    ArrayDecl, ArrayId, BinOp, Block, Builder, CmpOp, FuncId, FuncKind, Function, Geometry, Index, Label, Layout, Local, Module, Op, Part,
    ReduceOp, Reduction, Scalar, Space, StmtKind, Type, Value, ViewType,
};

use crate::inline;

/// Threads of each block of either kernel: what every device has.
pub const THREADS: u32 = 128;

/// The kernels of a loop with reductions.
#[derive(Clone, Debug)]
pub struct Reduced {
    /// Its parameters: those of the loop behind the indices, the extents (`i64`), and for each reduction a writable view of as many
    /// elements as there are partial results.
    pub parts: Module,
    /// Its parameters: how many partial results there are and how many of them a chunk has (`i64`), and the views. Leaves the result in the
    /// first element of each.
    pub whole: Module,
    /// What there is to launch for an index space of these extents.
    pub stage: fn(&[u64]) -> Stage,
}

/// Nothing if the module's entry is no loop with reductions.
pub fn split(module: &Module) -> Option<Reduced> {
    let entry = module.entry_function();
    let FuncKind::Loop { rank, reductions } = &entry.kind else {
        return None;
    };
    let scalar = |r: &Reduction| Some((r.op, entry.local_ty(r.local).scalar()?));
    let scalars: Vec<_> = reductions.iter().map(scalar).collect::<Option<_>>()?;
    if scalars.is_empty() {
        return None;
    }
    let fixed = reductions[0].fixed;
    let (rank, loops) = (usize::from(*rank), reductions.as_slice());
    let mut parts = module.clone();
    // Others may launch the loop itself.
    parts.functions.push(match fixed {
        true => fixed::first(entry, rank, loops),
        false => free::first(entry, rank, loops),
    });
    parts.entry = FuncId(module.functions.len() as u32);
    let whole = Module {
        sources: module.sources.clone(),
        constants: Vec::new(),
        functions: vec![match fixed {
            true => fixed::second(entry, &scalars),
            false => free::second(entry, &scalars),
        }],
        entry: FuncId(0),
    };
    let stage: fn(&[u64]) -> Stage = if fixed { fixed::stage } else { free::stage };
    Some(Reduced { parts, whole, stage })
}

/// A kernel that goes through the points of a loop: its extents are parameters.
fn kernel_of(function: &Function, rank: usize, reductions: &[Reduction]) -> (Builder, Vec<Value>, Vec<Total>) {
    let mut kernel = Function {
        kind: FuncKind::Kernel,
        params: function.params[rank..].to_vec(),
        body: Block::default(),
        ..function.clone()
    };
    kernel.flags.max_threads = THREADS;
    let extents: Vec<Value> = (0..rank).map(|axis| kernel.new_param(Type::I64, format!("n{axis}"))).collect();
    let mut b = Builder::new(kernel);
    let totals: Vec<Total> = reductions.iter().map(|r| Total::new(&mut b, *r)).collect();
    totals.iter().for_each(|total| total.start(&mut b));
    (b, extents, totals)
}

/// A kernel of one block that combines partial results.
fn kernel_of_partials(function: &Function, scalars: &[(ReduceOp, Scalar)]) -> (Builder, [Value; 2], Vec<Total>) {
    let mut kernel = Function::new(format!("{}.whole", function.name), FuncKind::Kernel);
    kernel.flags.fastmath = function.flags.fastmath;
    kernel.flags.max_threads = THREADS;
    let counts = [kernel.new_param(Type::I64, "partials"), kernel.new_param(Type::I64, "chunk")];
    let locals = scalars
        .iter()
        .map(|(op, scalar)| Reduction::free(kernel.new_local(Type::Scalar(*scalar), op.name()), *op));
    let reductions: Vec<Reduction> = locals.collect();
    let mut b = Builder::new(kernel);
    let totals: Vec<Total> = reductions.into_iter().map(|r| Total::new(&mut b, r)).collect();
    totals.iter().for_each(|total| total.start(&mut b));
    (b, counts, totals)
}

/// The loop's own body, at the point that its indices now are.
fn run_body(b: &mut Builder, function: &Function) {
    let label = Label(inline::label_count(&function.body));
    let mut body = function.body.clone();
    leave_instead_of_return(&mut body, label);
    b.push(StmtKind::Scope(label, body));
}

/// A reduction of a kernel: the thread's own part, and where the block's goes.
struct Total {
    local: Local,
    op: ReduceOp,
    scalar: Scalar,
    out: Value,
}

impl Total {
    fn new(b: &mut Builder, Reduction { local, op, .. }: Reduction) -> Total {
        let scalar = b.func.local_ty(local).scalar().unwrap_or(Scalar::I64);
        let ty = Type::View(view(scalar, Space::Global));
        let out = b.func.new_param(ty, format!("{}_{}", op.name(), local.0));
        Total { local, op, scalar, out }
    }

    /// The verifier has seen that there is an identity.
    fn start(&self, b: &mut Builder) {
        if let Some(identity) = self.op.identity(self.scalar) {
            let value = b.constant(identity);
            b.set(self.local, value);
        }
    }

    fn add(&self, b: &mut Builder, value: Value) {
        let sum = b.get(self.local);
        let sum = b.binary(self.op.binary(), sum, value);
        b.set(self.local, sum);
    }
}

/// One array of shared memory per type.
#[derive(Default)]
struct SharedArrays(Vec<(Scalar, ArrayId)>);

impl SharedArrays {
    /// The array of a type, of one element a thread, and whether it was used before.
    fn of(&mut self, b: &mut Builder, elem: Scalar) -> (Value, bool) {
        let known = self.0.iter().find(|(scalar, _)| *scalar == elem);
        let (id, used) = match known {
            Some((_, id)) => (*id, true),
            None => {
                let id = b.func.new_array(ArrayDecl {
                    name: "parts".into(),
                    elem,
                    shape: vec![u64::from(THREADS)],
                    space: Space::Shared,
                });
                self.0.push((elem, id));
                (id, false)
            }
        };
        let ty = Type::View(view(elem, Space::Shared));
        (b.emit(ty, Op::Array(id)), used)
    }
}

/// Adds what the thread `away` has to what the own one has, for threads whose `number` is below.
fn halve(b: &mut Builder, op: ReduceOp, shared: Value, (thread, number): (Value, Value), away: u32) {
    b.push(StmtKind::Barrier);
    when_below(b, number, away, |b| {
        let away = b.i64(i64::from(away));
        let other = b.binary(BinOp::Add, thread, away);
        let (own, theirs) = (load(b, shared, thread), load(b, shared, other));
        let sum = b.binary(op.binary(), own, theirs);
        store(b, shared, thread, sum);
    });
}

fn when_below(b: &mut Builder, number: Value, count: u32, then: impl FnOnce(&mut Builder)) {
    let count = b.i64(i64::from(count));
    let cond = b.compare(CmpOp::Lt, number, count);
    when(b, cond, then);
}

fn when(b: &mut Builder, cond: Value, then: impl FnOnce(&mut Builder)) {
    b.open();
    then(b);
    let then = b.close();
    let other = Block::default();
    b.push(StmtKind::If { cond, then, other });
}

fn geometry(b: &mut Builder, what: Geometry) -> Value {
    b.emit(Type::I64, Op::Geometry(what))
}

fn view(elem: Scalar, space: Space) -> ViewType {
    ViewType {
        elem,
        rank: 1,
        layout: Layout::C,
        space,
        writable: true,
    }
}

fn load(b: &mut Builder, view: Value, at: Value) -> Value {
    let elem = b.func.ty(view).view().map_or(Scalar::I64, |view| view.elem);
    let indices = vec![Index { value: at, wrap: false }];
    let part = Part::Whole;
    b.emit(elem, Op::Load { view, indices, part })
}

fn store(b: &mut Builder, view: Value, at: Value, value: Value) {
    b.push(StmtKind::Store {
        view,
        indices: vec![Index { value: at, wrap: false }],
        value,
        part: Part::Whole,
    });
}

fn leave_instead_of_return(block: &mut Block, label: Label) {
    for stmt in &mut block.0 {
        if let StmtKind::Return(_) = stmt.kind {
            stmt.kind = StmtKind::Leave(label);
        }
        stmt.kind.blocks_mut().for_each(|inner| leave_instead_of_return(inner, label));
    }
}
