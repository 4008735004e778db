//! Random structured functions mean the same before and after the passes, indices that count from the end included.

#![allow(clippy::unwrap_used, clippy::panic)]

use weft_ir::interp::Options;
use weft_ir::testing::{Interpreted, interpret, lines};
use weft_ir::text::print;
use weft_ir::verify::verify;
use weft_ir::{
    BinOp, Block, Builder, CmpOp, Const, FuncId, FuncKind, Function, Index, Label, Layout, Local, Module, Op, Part, PrintItem, ReduceOp,
    Reduction, Scalar, Space, Spread, StmtKind, Type, Value, ViewType,
};
use weft_passes::{PassError, cleanup, contract, halves, inline, legalize, nonneg, outline, structure};

const FUNCTIONS: u64 = 120;

#[test]
fn random_functions_keep_their_meaning() {
    let mut finished = 0;
    for seed in 0..FUNCTIONS {
        let module = random_module(seed);
        verify(&module).unwrap_or_else(|error| panic!("seed {seed}: {error}\n{}", print(&module)));
        finished += check(seed, &module);
    }
    assert!(finished > FUNCTIONS, "only {finished} runs came to their end");
}

type Pass = fn(&mut Module) -> Result<(), PassError>;

const PASSES: &[(&str, Pass)] = &[
    ("legalize", legalize::run),
    ("contract", contract::run),
    ("inline", inline::run),
    ("structure", structure::run),
    ("halves", halves::run),
    ("cleanup", cleanup::run),
    ("nonneg", nonneg::run),
    ("outline", outline::run),
];

/// Runs the function before and after each pass; gives how many runs came to their end.
fn check(seed: u64, module: &Module) -> u64 {
    let arguments = ["0, 3", "-2, 2", "5, -1", "1, 1"];
    let before = arguments.map(|args| run(module, args));
    let mut lowered = module.clone();
    for (name, pass) in PASSES {
        let previous = lowered.clone();
        let context = |lowered: &Module| format!("seed {seed}, {name}:\n{}\nbecame\n{}", print(&previous), print(lowered));
        pass(&mut lowered).unwrap_or_else(|error| panic!("{error}\n{}", context(&lowered)));
        verify(&lowered).unwrap_or_else(|error| panic!("{error}\n{}", context(&lowered)));
        for (args, before) in arguments.iter().zip(&before) {
            let after = run(&lowered, args);
            assert!(
                agree(before, &after),
                "f({args}): {after:?} instead of {before:?}\n{}",
                context(&lowered)
            );
        }
    }
    before.iter().map(|run| u64::from(run.result.is_ok())).sum()
}

fn run(module: &Module, args: &str) -> Interpreted {
    let line = format!("; run: f({args}, [10, 20, 30, 40, 50, 60, 70])");
    interpret(module, &lines(&line, module).unwrap()[0], Options::default()).unwrap()
}

fn agree(before: &Interpreted, after: &Interpreted) -> bool {
    match (&before.result, &after.result) {
        (Ok(a), Ok(b)) => a.matches(b, false) && before.args[2].matches(&after.args[2], false) && before.output == after.output,
        (Err(a), Err(b)) => a.fault == b.fault && before.output == after.output,
        _ => false,
    }
}

/// Numbers from a linear congruential generator.
struct Random(u64);

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) % n
    }

    fn pick<T: Copy>(&mut self, items: &[T]) -> T {
        items[self.below(items.len() as u64) as usize]
    }
}

fn random_module(seed: u64) -> Module {
    let mut random = Random(seed.wrapping_mul(0x9e3779b97f4a7c15) + 1);
    let mut functions = vec![Generator::function("f", FuncKind::Host, &mut random, Some(FuncId(1)))];
    functions.push(Generator::function("g", FuncKind::Device, &mut random, None));
    Module {
        sources: Vec::new(),
        constants: Vec::new(),
        functions,
        entry: FuncId(0),
    }
}

struct Generator<'r> {
    random: &'r mut Random,
    b: Builder,
    callee: Option<FuncId>,
    array: Value,
    /// Integers in sight, by block.
    ints: Vec<Vec<Value>>,
    locals: Vec<Local>,
    labels: Vec<Label>,
    next_label: u32,
    in_loop: bool,
    in_points: bool,
}

impl Generator<'_> {
    /// `f(i64, i64, view) -> i64`: locals set, some statements, a sum of locals returned.
    fn function(name: &str, kind: FuncKind, random: &mut Random, callee: Option<FuncId>) -> Function {
        let mut func = Function::new(name, kind);
        func.result = Type::I64;
        let ints = vec![func.new_param(Type::I64, "p"), func.new_param(Type::I64, "q")];
        let view = ViewType {
            elem: Scalar::I64,
            rank: 1,
            layout: Layout::C,
            space: Space::Global,
            writable: true,
        };
        let array = func.new_param(view.into(), "a");
        let locals = (0..4).map(|i| func.new_local(Type::I64, format!("x{i}"))).collect();
        let mut generator = Generator {
            random,
            b: Builder::new(func),
            callee,
            array,
            ints: vec![ints],
            locals,
            labels: Vec::new(),
            next_label: 0,
            in_loop: false,
            in_points: false,
        };
        for i in 0..4 {
            let value = generator.random.pick(&generator.ints[0]);
            let local = generator.locals[i];
            generator.b.set(local, value);
        }
        let ended = generator.statements(3);
        if !ended {
            let (x, y) = (generator.read(), generator.read());
            let sum = generator.b.binary(BinOp::Add, x, y);
            generator.b.push(StmtKind::Return(Some(sum)));
        }
        generator.b.finish()
    }

    fn statements(&mut self, depth: u32) -> bool {
        for _ in 0..2 + self.random.below(5) {
            if self.statement(depth) {
                return true;
            }
        }
        false
    }

    /// Gives whether control ends with the statement.
    fn statement(&mut self, depth: u32) -> bool {
        match self.random.below(if depth == 0 { 8 } else { 16 }) {
            0..3 => self.set(),
            3 => self.store(),
            4 => self.print(),
            5 => self.call(),
            6 => return self.random.below(3) == 0 && self.exit(),
            7 => {
                let value = self.int();
                self.remember(value);
            }
            8..12 => return self.branch(depth - 1),
            12 | 13 => self.count(depth - 1),
            14 => self.scope(depth - 1),
            _ => self.points(depth - 1),
        }
        false
    }

    fn remember(&mut self, value: Value) {
        self.ints.last_mut().unwrap().push(value);
    }

    fn read(&mut self) -> Value {
        let local = self.random.pick(&self.locals);
        self.b.get(local)
    }

    fn int(&mut self) -> Value {
        match self.random.below(9) {
            0 | 1 => {
                let constant = self.random.below(5) as i64 - 1;
                self.b.i64(constant)
            }
            2 => self.b.emit(Type::I64, Op::Dim(self.array, 0)),
            3 | 4 => self.read(),
            5 | 6 => {
                let seen: Vec<Value> = self.ints.iter().flatten().copied().collect();
                self.random.pick(&seen)
            }
            7 => {
                let (cond, a, b) = (self.condition(), self.int(), self.int());
                self.b.select(cond, a, b)
            }
            _ => {
                let ops = [
                    BinOp::Add,
                    BinOp::Sub,
                    BinOp::Sub,
                    BinOp::Mul,
                    BinOp::FloorDiv,
                    BinOp::Mod,
                    BinOp::Min,
                    BinOp::Max,
                ];
                let (op, a, b) = (self.random.pick(&ops), self.int(), self.int());
                self.b.binary(op, a, b)
            }
        }
    }

    fn condition(&mut self) -> Value {
        let op = self
            .random
            .pick(&[CmpOp::Lt, CmpOp::Le, CmpOp::Gt, CmpOp::Ge, CmpOp::Eq, CmpOp::Ne]);
        let (a, b) = (self.int(), self.int());
        let first = self.b.compare(op, a, b);
        if self.random.below(4) > 0 {
            return first;
        }
        let second = self.condition();
        let op = self.random.pick(&[BinOp::And, BinOp::Or]);
        self.b.binary(op, first, second)
    }

    /// An index, often one that is inside the array, counted from either end.
    fn index(&mut self) -> Index {
        let mut value = self.int();
        if self.random.below(4) > 0 {
            let length = self.b.emit(Type::I64, Op::Dim(self.array, 0));
            value = self.b.binary(BinOp::Rem, value, length);
        }
        Index { value, wrap: true }
    }

    fn set(&mut self) {
        let value = if self.random.below(3) == 0 {
            let index = self.index();
            let load = Op::Load {
                view: self.array,
                indices: vec![index],
                part: Part::Whole,
            };
            self.b.emit(Type::I64, load)
        } else {
            self.int()
        };
        let local = self.random.pick(&self.locals);
        self.b.set(local, value);
    }

    fn store(&mut self) {
        let (index, value) = (self.index(), self.int());
        self.b.push(StmtKind::Store {
            view: self.array,
            indices: vec![index],
            value,
            part: Part::Whole,
        });
    }

    fn print(&mut self) {
        let value = self.int();
        self.b.push(StmtKind::Print(vec![PrintItem::Value(value)]));
    }

    fn call(&mut self) {
        if let Some(callee) = self.callee {
            let args = vec![self.int(), self.int(), self.array];
            let value = self.b.emit(Type::I64, Op::Call(callee, args));
            self.remember(value);
        }
    }

    fn exit(&mut self) -> bool {
        match self.random.below(4) {
            0 if !self.in_points => {
                let value = self.int();
                self.b.push(StmtKind::Return(Some(value)));
            }
            1 if !self.labels.is_empty() => {
                let label = self.random.pick(&self.labels);
                self.b.push(StmtKind::Leave(label));
            }
            2 if self.in_loop => self.b.push(StmtKind::Break),
            3 if self.in_loop || self.in_points => self.b.push(StmtKind::Continue),
            _ => return false,
        }
        true
    }

    fn block(&mut self, depth: u32, with: &[Value]) -> (Block, bool) {
        self.b.open();
        self.ints.push(with.to_vec());
        let ended = self.statements(depth);
        self.ints.pop();
        (self.b.close(), ended)
    }

    fn branch(&mut self, depth: u32) -> bool {
        let cond = self.condition();
        let (then, a) = self.block(depth, &[]);
        let (other, b) = if self.random.below(2) == 0 {
            self.block(depth, &[])
        } else {
            (Block::default(), false)
        };
        self.b.push(StmtKind::If { cond, then, other });
        a && b
    }

    /// A `for` of a few rounds, upwards or downwards, sometimes as far as an argument says.
    fn count(&mut self, depth: u32) {
        let four = self.b.i64(4);
        let start = self.random.below(6) as i64 - 1;
        let start = self.b.i64(start);
        let stop = self.int();
        let stop = self.b.binary(BinOp::Min, stop, four);
        let minus_four = self.b.i64(-4);
        let stop = self.b.binary(BinOp::Max, stop, minus_four);
        let step = self.random.pick(&[1, 1, 2, -1]);
        let step = self.b.constant(Const::i64(step));
        let var = self.b.func.new_value(Type::I64);
        let outer = std::mem::replace(&mut self.in_loop, true);
        let (body, _) = self.block(depth, &[var]);
        self.in_loop = outer;
        self.b.push(StmtKind::For {
            var,
            start,
            stop,
            step,
            body,
        });
    }

    fn scope(&mut self, depth: u32) {
        let label = Label(self.next_label);
        self.next_label += 1;
        self.labels.push(label);
        let (body, _) = self.block(depth, &[]);
        self.labels.pop();
        self.b.push(StmtKind::Scope(label, body));
    }

    /// A sum over a few points, whose body sees a private copy of the other locals.
    fn points(&mut self, depth: u32) {
        if self.in_points || self.b.func.kind != FuncKind::Host {
            return;
        }
        let extent = self.random.below(4) as i64;
        let extent = self.b.i64(extent);
        let var = self.b.func.new_value(Type::I64);
        let reduced = self.locals.pop().unwrap();
        let labels = std::mem::take(&mut self.labels);
        let in_loop = std::mem::replace(&mut self.in_loop, false);
        self.in_points = true;
        self.b.open();
        self.ints.push(vec![var]);
        let (sum, term) = (self.b.get(reduced), self.int());
        let sum = self.b.binary(BinOp::Add, sum, term);
        self.b.set(reduced, sum);
        self.statements(depth);
        self.ints.pop();
        let body = self.b.close();
        self.in_points = false;
        self.in_loop = in_loop;
        self.labels = labels;
        self.locals.push(reduced);
        self.b.push(StmtKind::ParFor {
            vars: vec![var],
            extents: vec![extent],
            reductions: vec![Reduction::free(reduced, ReduceOp::Add)],
            spread: Spread::Lanes,
            body,
        });
    }
}
