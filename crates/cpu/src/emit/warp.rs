//! Warp operations: what the lanes of a warp do together. In kernels that ask for it a gang is exactly a warp, so that votes are bits of
//! masks, shuffles are permutations of a register, and a meeting of lanes is nothing at all: they are in step.

use weft_ir::{Scalar, Value, WARP, WarpOp};

use super::func::Fx;
use super::gang::Mask;
use super::values::{Num, Res, elem};
use super::writer::{Elem, Operand, Ty};

/// All lanes of a warp, as a `u32`.
const ALL: Operand = Operand::Int(0xffff_ffff);
/// Distances that the usual reductions and scans shuffle by: each is a permutation known when the code is written.
const USUAL: [u32; 5] = [16, 8, 4, 2, 1];

/// From which lane a shuffle takes its value.
#[derive(Clone, Copy, Debug)]
enum Shuffle {
    Idx,
    Up,
    Down,
    Xor,
}

#[derive(Clone, Copy, Debug)]
enum Vote {
    All,
    Any,
    Equal,
    Ballot,
}

impl Fx<'_, '_> {
    pub fn warp(&mut self, op: WarpOp, mask: Value, value: Value, lane: Option<Value>) -> Res<Num> {
        if self.gang.lanes != WARP {
            return self.internal("an operation of a warp in a gang that is none");
        }
        let (s, mask, value) = (self.scalar(value)?, self.num(mask)?, self.num(value)?);
        let group = self.group(mask);
        let shuffle = match op {
            WarpOp::ShuffleIdx => Shuffle::Idx,
            WarpOp::ShuffleUp => Shuffle::Up,
            WarpOp::ShuffleDown => Shuffle::Down,
            WarpOp::ShuffleXor => Shuffle::Xor,
            WarpOp::All => return Ok(self.vote(Vote::All, group, value)),
            WarpOp::Any => return Ok(self.vote(Vote::Any, group, value)),
            WarpOp::Equal => return Ok(self.vote(Vote::Equal, group, value)),
            WarpOp::Ballot => return Ok(self.vote(Vote::Ballot, group, value)),
            WarpOp::MatchAny => return Ok(self.matching(false, group, s, value)),
            WarpOp::MatchAll => return Ok(self.matching(true, group, s, value)),
        };
        let Some(lane) = lane else {
            return self.internal("a shuffle without a lane");
        };
        let lane = self.num(lane)?;
        Ok(self.shuffle(shuffle, group, s, value, lane))
    }

    /// The lanes that are on, as an `i32`.
    pub fn active_mask(&mut self) -> Operand {
        match self.gang.mask {
            Mask::Full => ALL,
            Mask::Lanes(_) => {
                let bits = self.bits_now();
                self.lane_bits(bits)
            }
        }
    }

    /// A condition's lanes as the bits of a word.
    fn lane_bits(&mut self, bits: Operand) -> Operand {
        match bits {
            Operand::Bool(true) => ALL,
            Operand::Bool(false) => Operand::Int(0),
            _ => {
                let ty = self.gang.bits_ty();
                self.w.inst(format_args!("bitcast {} to i32", bits.typed(ty)))
            }
        }
    }

    /// The same of a condition that may be poison in lanes that are off, which in one word would spread to all.
    fn vote_bits(&mut self, condition: Operand) -> Operand {
        let frozen = self.frozen_lanes(condition, self.gang.bits_ty());
        self.lane_bits(frozen)
    }

    fn frozen_lanes(&mut self, op: Operand, ty: Ty) -> Operand {
        if op.is_const() || self.gang.mask == Mask::Full {
            return op;
        }
        self.w.inst(format_args!("freeze {}", op.typed(ty)))
    }

    /// The lanes that take part, by lane if their masks differ.
    fn group(&mut self, mask: Num) -> Num {
        let active = Num::Uniform(self.active_mask());
        if is_all(mask) {
            return active;
        }
        if is_all(active) {
            return mask;
        }
        let ty = self.gang.join_ty(&[mask], Elem::I32);
        let (active, mask) = (self.take(active, ty), self.take(mask, ty));
        let both = self.plain("and", ty, active, mask);
        self.wrap(both, ty)
    }

    fn vote(&mut self, vote: Vote, group: Num, value: Num) -> Num {
        let bits = match value {
            Num::Uniform(op) if op.is_const() => self.lane_bits(op),
            Num::Uniform(c) => self.select_op(Ty::I32, c, ALL, Operand::Int(0)),
            _ => {
                let lanes = self.take(value, self.gang.bits_ty());
                self.vote_bits(lanes)
            }
        };
        let ty = self.gang.join_ty(&[group], Elem::I32);
        let (group, bits) = (self.take(group, ty), self.take(Num::Uniform(bits), ty));
        let ballot = self.plain("and", ty, bits, group);
        let zero = Operand::Int(0);
        let compare = |fx: &mut Self, name: &str, to: Operand| fx.plain(&format!("icmp {name}"), ty, ballot, to);
        let answer = match vote {
            Vote::All => compare(self, "eq", group),
            Vote::Any => compare(self, "ne", zero),
            Vote::Equal => {
                let (all, none) = (compare(self, "eq", group), compare(self, "eq", zero));
                self.plain("or", ty.with(Elem::I1), all, none)
            }
            Vote::Ballot => ballot,
        };
        self.wrap(answer, ty)
    }

    // ---- matches ----

    /// The lanes that are alike; `whole`: all of the group, or none.
    fn matching(&mut self, whole: bool, group: Num, s: Scalar, value: Num) -> Num {
        if value.is_uniform() {
            return group;
        }
        let (values, ty) = self.comparable(s, value);
        if let (true, Num::Uniform(group)) = (whole, group) {
            let first = self.lowest(group);
            let same = self.same_as_lane(values, ty, first);
            let same = self.lane_bits(same);
            let here = self.plain("and", Ty::I32, same, group);
            let all = self.plain("icmp eq", Ty::I32, here, group);
            return Num::Uniform(self.select_op(Ty::I32, all, group, Operand::Int(0)));
        }
        let same = self.lanes_alike(values, ty);
        let word = self.gang.vector_ty(Elem::I32);
        let group = self.take(group, word);
        let alike = self.plain("and", word, same, group);
        if !whole {
            return Num::Varying(alike);
        }
        let all = self.plain("icmp eq", word, alike, group);
        Num::Varying(self.select_op(word, all, group, Operand::Int(0)))
    }

    /// The lanes' values as integers to compare.
    fn comparable(&mut self, s: Scalar, value: Num) -> (Operand, Ty) {
        let ty = self.gang.vector_ty(elem(s));
        let values = self.take(value, ty);
        let values = self.frozen_lanes(values, ty);
        let int = ty.with(if s.bits() == 64 { Elem::I64 } else { Elem::I32 });
        let values = if ty.elem.is_float() {
            self.convert("bitcast", values, ty, int)
        } else {
            values
        };
        (values, if ty.elem.is_float() { int } else { ty })
    }

    /// The number of the lowest lane of a group; some lane if it is empty.
    fn lowest(&mut self, group: Operand) -> Operand {
        self.cx.declare("declare i32 @llvm.cttz.i32(i32, i1)".into());
        let at = self
            .w
            .inst(format_args!("call i32 @llvm.cttz.i32({}, i1 false)", group.typed(Ty::I32)));
        self.plain("and", Ty::I32, at, Operand::Int(31))
    }

    fn same_as_lane(&mut self, values: Operand, ty: Ty, lane: Operand) -> Operand {
        let one = self
            .w
            .inst(format_args!("extractelement {}, {}", values.typed(ty), lane.typed(Ty::I32)));
        let all = self.splat(one, ty);
        self.plain("icmp eq", ty, values, all)
    }

    /// By lane: the lanes with its value. One turn of a loop for each value there is.
    fn lanes_alike(&mut self, values: Operand, ty: Ty) -> Operand {
        let word = self.gang.vector_ty(Elem::I32);
        let active = self.active_mask();
        let (rest, result) = (self.w.alloca(Ty::I32), self.w.alloca(word));
        self.w.store(Ty::I32, active, rest);
        self.w.store(word, Operand::Int(0), result);
        let (head, turn, done) = (self.w.label(), self.w.label(), self.w.label());
        self.w.place(head);
        let left = self.w.load(Ty::I32, rest);
        let more = self.plain("icmp ne", Ty::I32, left, Operand::Int(0));
        self.w.cond_br(more, turn, done);
        self.w.place(turn);
        let first = self.lowest(left);
        let same = self.same_as_lane(values, ty, first);
        let bits = self.lane_bits(same);
        let (all, before) = (self.splat(bits, word), self.w.load(word, result));
        let after = self.select_op(word, same, all, before);
        self.w.store(word, after, result);
        let others = self.plain("xor", Ty::I32, bits, Operand::Int(-1));
        let left = self.plain("and", Ty::I32, left, others);
        self.w.store(Ty::I32, left, rest);
        self.w.br(head);
        self.w.place(done);
        self.w.load(word, result)
    }

    // ---- shuffles ----

    /// A lane whose source takes no part keeps its value, but where all read one lane.
    fn shuffle(&mut self, op: Shuffle, group: Num, s: Scalar, value: Num, lane: Num) -> Num {
        if value.is_uniform() {
            return value;
        }
        let ty = self.gang.vector_ty(elem(s));
        let x = self.take(value, ty);
        match (op, lane) {
            (Shuffle::Idx, Num::Uniform(lane)) => Num::Uniform(self.lane_value(x, ty, lane)),
            (_, Num::Uniform(by)) => match by.int() {
                Some(by) => Num::Varying(self.shuffle_by(op, group, x, ty, by as u32 % WARP)),
                None => Num::Varying(self.shuffle_by_any(op, group, x, ty, by)),
            },
            _ => {
                let from = self.source_lanes(op, lane);
                Num::Varying(self.permuted(group, x, ty, from))
            }
        }
    }

    /// One lane's value, for all.
    fn lane_value(&mut self, x: Operand, ty: Ty, lane: Operand) -> Operand {
        let x = self.frozen_lanes(x, ty);
        let lane = self.plain("and", Ty::I32, lane, Operand::Int(31));
        self.w.inst(format_args!("extractelement {}, {}", x.typed(ty), lane.typed(Ty::I32)))
    }

    /// By a distance that is known now.
    fn shuffle_by(&mut self, op: Shuffle, group: Num, x: Operand, ty: Ty, by: u32) -> Operand {
        if by == 0 {
            return x;
        }
        let source = |own: u32| match op {
            Shuffle::Idx => by,
            Shuffle::Up => own.checked_sub(by).unwrap_or(own),
            Shuffle::Down if own + by < WARP => own + by,
            Shuffle::Down => own,
            Shuffle::Xor => own ^ by,
        };
        let lanes: Vec<String> = (0..WARP).map(|own| format!("i32 {}", source(own))).collect();
        let order = format!("<{}>", lanes.join(", "));
        let shuffled = self.reordered(x, ty, &order);
        match group {
            _ if is_all(group) => shuffled,
            Num::Uniform(group) => {
                let bits = self.gang.bits_ty();
                let group = self.w.inst(format_args!("bitcast {} to {bits}", group.typed(Ty::I32)));
                let taken = self.reordered(group, bits, &order);
                self.select_op(ty, taken, shuffled, x)
            }
            _ => {
                let word = self.gang.vector_ty(Elem::I32);
                let (group, from) = (
                    self.take(group, word),
                    self.w.inst(format_args!("add {word} {order}, zeroinitializer")),
                );
                let taken = self.has_lane(group, from);
                self.select_op(ty, taken, shuffled, x)
            }
        }
    }

    fn reordered(&mut self, x: Operand, ty: Ty, order: &str) -> Operand {
        let word = self.gang.vector_ty(Elem::I32);
        self.w
            .inst(format_args!("shufflevector {}, {ty} poison, {word} {order}", x.typed(ty)))
    }

    /// By a distance that is the same in all lanes: a way of its own for each of the usual ones.
    fn shuffle_by_any(&mut self, op: Shuffle, group: Num, x: Operand, ty: Ty, by: Operand) -> Operand {
        let result = self.w.alloca(ty);
        let (any, done) = (self.w.label(), self.w.label());
        let ways: Vec<_> = USUAL.iter().map(|by| (*by, self.w.label())).collect();
        let cases: Vec<String> = ways.iter().map(|(by, label)| format!("i32 {by}, label %{label}")).collect();
        self.w
            .end(format_args!("switch {}, label %{any} [ {} ]", by.typed(Ty::I32), cases.join(" ")));
        for (by, label) in ways {
            self.w.place(label);
            let shuffled = self.shuffle_by(op, group, x, ty, by);
            self.w.store(ty, shuffled, result);
            self.w.br(done);
        }
        self.w.place(any);
        let from = self.source_lanes(op, Num::Uniform(by));
        let shuffled = self.permuted(group, x, ty, from);
        self.w.store(ty, shuffled, result);
        self.w.place(done);
        self.w.load(ty, result)
    }

    /// The numbers of the lanes, 0 to 31.
    fn lane_numbers(&mut self) -> Operand {
        let (word, wide) = (self.gang.vector_ty(Elem::I32), self.gang.vector_ty(Elem::I64));
        let steps = self.lane_steps(1);
        self.convert("trunc", steps, wide, word)
    }

    /// The lane that each lane reads.
    fn source_lanes(&mut self, op: Shuffle, lane: Num) -> Operand {
        let word = self.gang.vector_ty(Elem::I32);
        let lane = self.take(lane, word);
        let lane = self.frozen_lanes(lane, word);
        let by = self.plain("and", word, lane, Operand::Int(31));
        let own = self.lane_numbers();
        let from = match op {
            Shuffle::Idx => return by,
            Shuffle::Xor => return self.plain("xor", word, own, by),
            Shuffle::Up => self.plain("sub", word, own, by),
            Shuffle::Down => self.plain("add", word, own, by),
        };
        let inside = self.plain("icmp ult", word, from, Operand::Int(WARP.into()));
        self.select_op(word, inside, from, own)
    }

    /// Is the lane with this number in the group?
    fn has_lane(&mut self, group: Operand, lane: Operand) -> Operand {
        let word = self.gang.vector_ty(Elem::I32);
        let bit = self.plain("lshr", word, group, lane);
        let bit = self.plain("and", word, bit, Operand::Int(1));
        self.plain("icmp ne", word, bit, Operand::Int(0))
    }

    /// Each lane's value from the lane it reads, through memory.
    fn permuted(&mut self, group: Num, x: Operand, ty: Ty, from: Operand) -> Operand {
        let word = self.gang.vector_ty(Elem::I32);
        let from = if is_all(group) {
            from
        } else {
            let (group, own) = (self.take(group, word), self.lane_numbers());
            let taken = self.has_lane(group, from);
            self.select_op(word, taken, from, own)
        };
        let slot = self.w.alloca(ty);
        self.w.store(ty, x, slot);
        let many = self.gang.vector_ty(Elem::Ptr);
        let ptrs = self.w.inst(format_args!(
            "getelementptr {}, {}, {}",
            Ty::scalar(ty.elem),
            slot.typed(Ty::PTR),
            from.typed(word)
        ));
        let bits = self.gang.bits_ty();
        let name = format!("llvm.masked.gather.{}.{}", ty.suffix(), many.suffix());
        self.cx.declare(format!("declare {ty} @{name}({many}, {bits}, {ty})"));
        let align = ty.elem.bits() / 8;
        self.w.inst(format_args!(
            "call {ty} @{name}({many} align {align} {}, {}, {ty} poison)",
            ptrs.of(many),
            Operand::Bool(true).typed(bits)
        ))
    }

    // ---- barriers that count ----

    /// In how many of the lanes that are on a condition holds, as an `i32`.
    pub fn count_lanes(&mut self, condition: Operand) -> Operand {
        let bits = self.gang.bits_ty();
        let condition = self.frozen_lanes(condition, bits);
        let on = self.bits_now();
        let both = match on {
            Operand::Bool(true) => condition,
            _ => self.plain("and", bits, condition, on),
        };
        let lanes = bits.lanes;
        let word = self.w.inst(format_args!("bitcast {} to i{lanes}", both.typed(bits)));
        let word = if lanes == 64 {
            word
        } else {
            self.w.inst(format_args!("zext i{lanes} {} to i64", word.of(Ty::I64)))
        };
        let count = self.call("ctpop", Ty::I64, &[word]);
        self.convert("trunc", count, Ty::I64, Ty::I32)
    }
}

fn is_all(mask: Num) -> bool {
    matches!(mask, Num::Uniform(op) if op.int().is_some_and(|v| v as u32 == u32::MAX))
}
