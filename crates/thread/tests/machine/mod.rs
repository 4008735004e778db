//! A machine that writes readable lines: what the walk asks for, in the order in which it asks.
//!
//! A register is `r1`, a variable `v1`, a place `p1`; constants carry their type. A line says what a register holds, or what is done.

use std::fmt::{self, Display, Write};
use std::ops::{Deref, DerefMut};

use weft_ir::{
    ArrayId, AtomicOp, BarrierOp, BinOp, Block, CmpOp, Const, ConstId, ErrorKind, FenceScope, FuncId, Geometry, Index, Label, Local,
    Module, Part, PrintItem, Scalar, Type, UnOp, Value, ViewType, WarpOp,
};
use weft_passes::range::Range;
use weft_thread::{
    Basic, Code, Count, EmitError, Entry, Machine, Num, Numbers, Operations, Overflow, Param, Register, Sizes, Statements, Thread, Val,
    View, Views,
};

type Res<T> = Result<T, EmitError>;

/// The code of a module's entry.
pub fn written(module: &Module, sizes: Sizes) -> Res<String> {
    let mut writer = TextWriter {
        thread: Thread::new(module, sizes),
        text: String::new(),
        depth: 0,
        registers: 0,
        variables: 0,
        places: 0,
    };
    writer.entry()?;
    Ok(writer.text)
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Operand {
    Register(u32, Scalar),
    Constant(Const),
}

impl Operand {
    fn scalar(self) -> Scalar {
        match self {
            Operand::Register(_, s) => s,
            Operand::Constant(c) => c.scalar(),
        }
    }
}

impl Display for Operand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Operand::Register(number, _) => write!(f, "r{number}"),
            Operand::Constant(Const::Bool(holds)) => write!(f, "{holds}"),
            Operand::Constant(Const::Int(s, v)) => write!(f, "{v}_{s}"),
            Operand::Constant(Const::F32(bits)) => write!(f, "{:?}_f32", f32::from_bits(*bits)),
            Operand::Constant(Const::F64(bits)) => write!(f, "{:?}_f64", f64::from_bits(*bits)),
            Operand::Constant(Const::F16(bits) | Const::BF16(bits)) => write!(f, "{bits:#06x}_{}", self.scalar()),
            Operand::Constant(Const::C64(..) | Const::C128(..)) => unreachable!("the walk gives machines no complex number"),
        }
    }
}

impl Register for Operand {
    fn constant(s: Scalar, v: i64) -> Operand {
        match s {
            Scalar::Bool => Operand::truth(v != 0),
            s => Operand::Constant(Const::Int(s, if s == Scalar::I32 { i64::from(v as i32) } else { v })),
        }
    }

    fn truth(holds: bool) -> Operand {
        Operand::Constant(Const::Bool(holds))
    }

    fn float_constant(s: Scalar, bits: u64) -> Operand {
        Operand::Constant(match s {
            Scalar::F16 => Const::F16(bits as u16),
            Scalar::BF16 => Const::BF16(bits as u16),
            Scalar::F32 => Const::F32(bits as u32),
            _ => Const::F64(bits),
        })
    }

    fn known(self) -> Option<i64> {
        match self {
            Operand::Constant(Const::Int(_, v)) => Some(v),
            Operand::Constant(_) | Operand::Register(..) => None,
        }
    }

    fn is_i64(self) -> bool {
        self.scalar() == Scalar::I64
    }
}

type Number = Num<Operand>;

fn shown(n: Number) -> Operand {
    match n {
        Num::Reg(op) | Num::Short(op, _) => op,
    }
}

/// Memory of the thread's own.
#[derive(Clone, Copy, Debug)]
pub struct Variable(u32, Scalar);

#[derive(Clone, Copy, Debug)]
pub struct Text;

impl Machine for Text {
    type Operand = Operand;
    type Variable = Variable;
    type Place = String;
    type PlaceSlot = String;
    type Address = String;

    const STRIDE: Scalar = Scalar::I64;
}

struct TextWriter<'m> {
    thread: Thread<'m, Text>,
    text: String,
    depth: usize,
    registers: u32,
    variables: u32,
    places: u32,
}

impl<'m> Deref for TextWriter<'m> {
    type Target = Thread<'m, Text>;

    fn deref(&self) -> &Thread<'m, Text> {
        &self.thread
    }
}

impl<'m> DerefMut for TextWriter<'m> {
    fn deref_mut(&mut self) -> &mut Thread<'m, Text> {
        &mut self.thread
    }
}

impl<'m> TextWriter<'m> {
    fn line(&mut self, said: impl Display) {
        let depth = 2 * self.depth;
        let _ = writeln!(self.text, "{:depth$}{said}", "");
    }

    /// A line that gives a register.
    fn register(&mut self, s: Scalar, said: impl Display) -> Operand {
        self.registers += 1;
        let made = Operand::Register(self.registers, s);
        self.line(format_args!("{made}: {s} = {said}"));
        made
    }

    /// A line that gives a place.
    fn made_place(&mut self, said: impl Display) -> String {
        self.places += 1;
        let made = format!("p{}", self.places);
        self.line(format_args!("{made} = {said}"));
        made
    }

    fn inside(&mut self, head: impl Display, write: impl FnOnce(&mut Self) -> Res<()>) -> Res<()> {
        self.line(format_args!("{head} {{"));
        self.depth += 1;
        write(self)?;
        self.depth -= 1;
        self.line("}");
        Ok(())
    }
}

impl<'m> Code<'m> for TextWriter<'m> {
    type Operand = Operand;
    type Machine = Text;
    type Error = EmitError;
}

fn said(overflow: Overflow) -> &'static str {
    match overflow {
        Overflow::Wraps => "wraps",
        Overflow::Never => "never overflows",
    }
}

impl<'m> Numbers<'m> for TextWriter<'m> {
    fn widened(&mut self, x: Operand, range: Range) -> Operand {
        self.register(Scalar::I64, format_args!("widened {x}, which is in {}..={}", range.lo, range.hi))
    }

    fn halved(&mut self, x: Operand) -> Operand {
        self.register(Scalar::I32, format_args!("low half of {x}"))
    }

    fn basic(&mut self, op: Basic, overflow: Overflow, x: Operand, y: Operand) -> Operand {
        let op = match op {
            Basic::Add => "add",
            Basic::Sub => "sub",
            Basic::Mul => "mul",
        };
        self.register(x.scalar(), format_args!("{op} {x}, {y}, {}", said(overflow)))
    }

    fn short(&mut self, op: BinOp, unsigned: bool, x: Operand, y: Operand) -> Option<Operand> {
        let how = if unsigned { "unsigned" } else { "signed" };
        Some(self.register(Scalar::I32, format_args!("short {} {x}, {y}, {how}", op.name())))
    }

    fn select(&mut self, cond: Operand, x: Operand, y: Operand) -> Operand {
        self.register(x.scalar(), format_args!("select {cond}, {x}, {y}"))
    }

    fn compare(&mut self, op: CmpOp, s: Scalar, x: Operand, y: Operand) -> Res<Operand> {
        Ok(self.register(Scalar::Bool, format_args!("{} {s} {x}, {y}", op.name())))
    }

    fn compute_unary(&mut self, op: UnOp, s: Scalar, x: Operand) -> Res<Operand> {
        Ok(self.register(op.gives(s), format_args!("{} {s} {x}", op.name())))
    }

    fn compute(&mut self, op: BinOp, s: Scalar, a: Number, b: Number, count: Scalar) -> Res<Number> {
        let by = if count == s { String::new() } else { format!(" {count}") };
        let (x, y) = (self.take(a), self.take(b));
        Ok(Num::Reg(self.register(op.gives(s), format_args!("{} {s} {x},{by} {y}", op.name()))))
    }

    fn geometry(&mut self, query: Geometry) -> Number {
        let most = match query {
            Geometry::ThreadIdx(_) => 1023,
            Geometry::BlockDim(_) => 1024,
            Geometry::BlockIdx(_) | Geometry::GridDim(_) => i64::from(i32::MAX),
            Geometry::LaneId => 31,
        };
        let axis = query.axis().map_or(String::new(), |axis| format!(".{}", axis.name()));
        let op = self.register(Scalar::I32, format_args!("{}{axis}", query.base_name()));
        Num::Short(op, Range::new(0, most))
    }
}

impl<'m> Views<'m> for TextWriter<'m> {
    fn variable(&mut self, s: Scalar) -> Variable {
        self.variables += 1;
        let number = self.variables;
        self.line(format_args!("variable v{number}: {s}"));
        Variable(number, s)
    }

    fn get(&mut self, Variable(number, s): Variable) -> Operand {
        self.register(s, format_args!("get v{number}"))
    }

    fn set(&mut self, Variable(number, _): Variable, value: Operand) {
        self.line(format_args!("set v{number} = {value}"));
    }

    fn place_slot(&mut self, local: Local, ty: ViewType) -> String {
        let slot = format!("place of ${}", local.0);
        self.line(format_args!("variables for the {slot}, {ty}"));
        slot
    }

    fn get_place(&mut self, _ty: ViewType, slot: &String) -> String {
        self.made_place(format_args!("get {slot}"))
    }

    fn set_place(&mut self, slot: &String, place: &String) {
        self.line(format_args!("set {slot} = {place}"));
    }

    fn element_stride(&self, ty: ViewType) -> i64 {
        ty.elem.size() as i64
    }

    fn steps(&mut self, stride: Number, n: Number, overflow: Overflow) -> Res<Number> {
        let said = format!("{} strides of {}, {}", shown(n), shown(stride), said(overflow));
        Ok(Num::Reg(self.register(Scalar::I64, said)))
    }

    fn moved(&mut self, place: String, at: Number, stride: Number) -> String {
        self.made_place(format_args!("{place} moved by {} strides of {}", shown(at), shown(stride)))
    }

    fn part_place(&mut self, _ty: ViewType, place: &String, part: Part) -> String {
        self.made_place(format_args!("{part:?} of {place}"))
    }

    fn select_place(&mut self, cond: Operand, a: &String, b: &String) -> String {
        self.made_place(format_args!("select {cond}, {a}, {b}"))
    }

    fn is_short(&self, view: &View<Text>, _axis: Option<Number>) -> bool {
        self.has_short_lengths(view.ty)
    }

    fn index(&mut self, index: Index, length: Number) -> Res<Number> {
        let at = self.num(index.value)?;
        if !index.wrap {
            return Ok(at);
        }
        let said = format!("{} from the front of {}", shown(at), shown(length));
        Ok(Num::Reg(self.register(Scalar::I64, said)))
    }

    fn contiguous(&mut self, view: &View<Text>, axes: impl Iterator<Item = (Number, Number)>) -> String {
        let axes: Vec<String> = axes.map(|(at, length)| format!("{} of {}", shown(at), shown(length))).collect();
        format!("{}[{}]", view.place, axes.join(", "))
    }

    fn strided(&mut self, view: &View<Text>, at: &[Number]) -> String {
        let axes = at.iter().zip(&view.strides);
        let axes: Vec<String> = axes
            .map(|(at, stride)| format!("{} strides of {}", shown(*at), shown(*stride)))
            .collect();
        format!("{}[{}]", view.place, axes.join(", "))
    }

    fn imaginary(&mut self, _s: Scalar, address: String) -> String {
        format!("{address}.im")
    }

    fn load(&mut self, _view: &View<Text>, s: Scalar, address: String) -> Res<Operand> {
        Ok(self.register(s, format_args!("load {address}")))
    }

    fn store(&mut self, _view: &View<Text>, s: Scalar, address: String, value: Operand) -> Res<()> {
        self.line(format_args!("store {s} {address} = {value}"));
        Ok(())
    }
}

impl<'m> Operations<'m> for TextWriter<'m> {
    fn fma(&mut self, s: Scalar, args: [Number; 3]) -> Res<Number> {
        let [x, y, z] = args.map(|n| self.take(n));
        Ok(Num::Reg(self.register(s, format_args!("fma {x}, {y}, {z}"))))
    }

    fn cast(&mut self, a: Value, to: Scalar) -> Res<Number> {
        let (from, x) = (self.scalar(a)?, self.operand(a)?);
        Ok(Num::Reg(self.register(to, format_args!("cast {from} {x}"))))
    }

    fn bitcast(&mut self, from: Scalar, to: Scalar, a: Number) -> Res<Number> {
        let x = self.take(a);
        Ok(Num::Reg(self.register(to, format_args!("bitcast {from} {x}"))))
    }

    fn array(&mut self, id: ArrayId, ty: ViewType) -> Res<String> {
        Ok(self.made_place(format_args!("array {}, {ty}", id.0)))
    }

    fn const_array(&mut self, id: ConstId, ty: ViewType) -> Res<String> {
        Ok(self.made_place(format_args!("const_array {}, {ty}", id.0)))
    }

    fn dynamic_shared(&mut self, ty: ViewType) -> Res<View<Text>> {
        let place = self.made_place(format_args!("dynamic_shared, {ty}"));
        let length = self.register(Scalar::I64, format_args!("elements of {place}"));
        Ok(View::of(ty, place, vec![Num::Reg(length)], Vec::new()))
    }

    fn atomic(&mut self, op: AtomicOp, view: &View<Text>, indices: &[Index], value: Value, expected: Option<Value>) -> Res<Number> {
        let (s, address) = self.element(view, indices, Part::Whole)?;
        let value = self.operand(value)?;
        let expected = match expected {
            Some(expected) => format!(" expected {}", self.operand(expected)?),
            None => String::new(),
        };
        Ok(Num::Reg(self.register(
            op.gives(s),
            format_args!("atomic {} {address}, {value}{expected}", op.name()),
        )))
    }

    fn warp(&mut self, op: WarpOp, mask: Value, value: Value, lane: Option<Value>) -> Res<Number> {
        let (s, mask, value) = (self.scalar(value)?, self.operand(mask)?, self.operand(value)?);
        let lane = match lane {
            Some(lane) => format!(", {}", self.operand(lane)?),
            None => String::new(),
        };
        Ok(Num::Reg(
            self.register(op.gives(s), format_args!("warp {} {mask}, {value}{lane}", op.name())),
        ))
    }

    fn active_mask(&mut self) -> Res<Number> {
        Ok(Num::Reg(self.register(Scalar::U32, "active_mask")))
    }

    fn barrier_reduce(&mut self, op: BarrierOp, value: Value) -> Res<Number> {
        let (s, value) = (self.scalar(value)?, self.operand(value)?);
        Ok(Num::Reg(
            self.register(op.gives(s), format_args!("barrier_reduce {} {value}", op.name())),
        ))
    }

    fn call(&mut self, func: FuncId, args: &[Value]) -> Res<Val<Text>> {
        let args = args.iter().map(|arg| self.operand(*arg)).collect::<Res<Vec<_>>>()?;
        let args: Vec<String> = args.iter().map(Operand::to_string).collect();
        let callee = self.module.function(func);
        let Type::Scalar(s) = callee.result else {
            return Err(EmitError::Internal("a call that does not give one number".to_owned()));
        };
        let called = self.register(s, format_args!("call {}({})", callee.name, args.join(", ")));
        Ok(Val::Num(Num::Reg(called)))
    }

    fn out_of_stack(&mut self) -> Res<Number> {
        Ok(Num::Reg(self.register(Scalar::Bool, "out_of_stack")))
    }
}

impl<'m> Statements<'m> for TextWriter<'m> {
    fn branch(&mut self, cond: Value, then: &'m Block, other: &'m Block) -> Res<()> {
        let cond = self.operand(cond)?;
        self.inside(format_args!("if {cond}"), |w| w.block(then))?;
        self.inside("else", |w| w.block(other))
    }

    fn endless(&mut self, body: &'m Block) -> Res<()> {
        self.inside("loop", |w| w.block(body))
    }

    fn counting(&mut self, var: Value, start: Number, count: &Count<Operand>, body: &'m Block) -> Res<()> {
        let (first, step) = (self.counter(count, start), self.counter(count, count.step));
        let at = self.register(first.scalar(), format_args!("index from {first}"));
        self.define_index(var, count, at);
        let more = self.is_before(count, at)?;
        self.inside(format_args!("count if {more}"), |w| {
            w.block(body)?;
            match count.range {
                Some(_) => w.line(format_args!("step by {step}")),
                None => {
                    let (left, one) = w.left(count, at, step);
                    w.line(format_args!("step by {step} if {left} is over {one}"));
                }
            }
            Ok(())
        })
    }

    fn scope(&mut self, label: Label, body: &'m Block) -> Res<()> {
        self.inside(format_args!("scope ^{}", label.0), |w| w.block(body))
    }

    fn leave_scope(&mut self, label: Label) -> Res<()> {
        self.line(format_args!("leave ^{}", label.0));
        Ok(())
    }

    fn leave_loop(&mut self) -> Res<()> {
        self.line("leave the loop");
        Ok(())
    }

    fn next_turn(&mut self) -> Res<()> {
        self.line("next turn");
        Ok(())
    }

    fn give(&mut self, value: Value) -> Res<()> {
        let value = self.operand(value)?;
        self.line(format_args!("give {value}"));
        Ok(())
    }

    fn end_thread(&mut self) -> Res<()> {
        self.line("end of the thread");
        Ok(())
    }

    fn barrier(&mut self) {
        self.line("barrier");
    }

    fn grid_barrier(&mut self) -> Res<()> {
        self.line("grid_barrier");
        Ok(())
    }

    fn sync_warp(&mut self, mask: Value) -> Res<()> {
        let mask = self.operand(mask)?;
        self.line(format_args!("sync_warp {mask}"));
        Ok(())
    }

    fn mma(&mut self, elem: Scalar, sums: &View<Text>, factors: [&View<Text>; 2], transposed: [bool; 2]) -> Res<()> {
        let shape: Vec<_> = sums.shape.iter().map(|n| n.const_int()).collect();
        let [left, right] = factors.map(|view| &view.place);
        self.line(format_args!("mma {elem} {}{shape:?}, {left}, {right} {transposed:?}", sums.place));
        Ok(())
    }

    fn fence(&mut self, scope: FenceScope) -> Res<()> {
        self.line(format_args!("fence {}", scope.name()));
        Ok(())
    }

    fn sleep(&mut self, nanoseconds: Value) -> Res<()> {
        let time = self.operand(nanoseconds)?;
        self.line(format_args!("sleep {time}"));
        Ok(())
    }

    fn raise(&mut self, kind: ErrorKind, message: &str) -> Res<()> {
        let site = self.error_site(kind, message);
        self.line(format_args!("raise {site}: {kind:?} {message:?}"));
        Ok(())
    }

    fn print(&mut self, items: &[PrintItem]) -> Res<()> {
        let (site, numbers) = self.print_site(items)?;
        let mut values = String::new();
        for (value, s) in numbers {
            let op = self.operand(value)?;
            let _ = write!(values, " {s} {op}");
        }
        self.line(format_args!("print {site}:{values}"));
        Ok(())
    }

    fn is_positive(&mut self, n: Number) -> Operand {
        let x = self.take(n);
        self.register(Scalar::Bool, format_args!("is {x} positive?"))
    }
}

impl<'m> Entry<'m> for TextWriter<'m> {
    fn slot(&mut self, slot: u32, s: Scalar) -> Operand {
        self.register(s, format_args!("slot {slot}"))
    }

    fn param_place(&mut self, param: &Param) -> Res<String> {
        Ok(self.made_place(format_args!("view {} of the arguments, in slot {}", param.index, param.slot)))
    }

    fn param_stride(&mut self, _ty: ViewType, slot: u32) -> Number {
        Num::Reg(self.register(Scalar::I64, format_args!("stride in slot {slot}")))
    }

    fn each_point(&mut self, [first, total, stride]: [Operand; 3], indices: &'m [Value], extents: &[Number]) -> Res<()> {
        let f = self.f;
        self.inside(format_args!("points from {first} to {total} step {stride}"), |w| {
            let at = w.register(first.scalar(), "point");
            w.point(indices, extents, at);
            w.block(&f.body)
        })
    }

    fn divided(&mut self, x: Operand, by: Operand) -> (Operand, Operand) {
        let quotient = self.register(x.scalar(), format_args!("quotient of {x}, {by}"));
        (quotient, self.register(x.scalar(), format_args!("remainder of {x}, {by}")))
    }
}
