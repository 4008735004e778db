//! Loads, stores, atomics, addresses, fences.

use super::function::{Decoder, Place, Register, Result};
use super::int;
use super::mods::Mods;
use crate::exec::inst::{Access, Address, Atomic, AtomicOp, AtomicType, Op, Width, window};
use crate::exec::lanes::{Lanewise, Slot, lanewise};
use crate::ptx::syntax::{Operand, Space, Ty};

pub(super) fn space(part: &str) -> Option<Space> {
    Some(match part {
        "global" => Space::Global,
        "shared" | "shared::cta" => Space::Shared,
        "local" => Space::Local,
        "const" => Space::Const,
        "param" | "param::entry" | "param::func" => Space::Param,
        _ => return None,
    })
}

/// How strongly an access is ordered.
#[derive(Clone, Copy, PartialEq)]
enum Order {
    Weak,
    Relaxed,
    Fencing,
}

fn order(mods: &mut Mods<'_>) -> Order {
    let order = mods.find(|part| match part {
        "weak" => Some(Order::Weak),
        "relaxed" | "volatile" | "mmio" => Some(Order::Relaxed),
        "acquire" | "release" | "acq_rel" | "sc" => Some(Order::Fencing),
        _ => None,
    });
    // `.mmio.relaxed` is two words.
    if order == Some(Order::Relaxed) {
        mods.take("relaxed");
    }
    order.unwrap_or(Order::Weak)
}

/// What a load or a store moves, and how.
#[derive(Clone, Copy)]
struct Transfer {
    count: usize,
    ty: Ty,
    space: Space,
    order: Order,
}

impl Transfer {
    fn access(self, address: Address, width: Width, values: [Slot; 4]) -> Access {
        Access {
            address,
            width,
            count: self.count as u8,
            values,
            strong: self.order != Order::Weak,
            fence: self.order == Order::Fencing,
        }
    }
}

fn scope(mods: &mut Mods<'_>) {
    _ = mods.find(|part| matches!(part, "cta" | "cluster" | "gpu" | "sys").then_some(()));
}

/// Hints about caches change nothing here.
fn cache_hints(mods: &mut Mods<'_>) {
    while mods
        .find(|part| {
            let hint = matches!(part, "ca" | "cg" | "cs" | "lu" | "cv" | "wb" | "wt" | "nc")
                || part.starts_with("L1::")
                || part.starts_with("L2::");
            (hint && part != "L2::cache_hint").then_some(())
        })
        .is_some()
    {}
}

/// Where an access goes, once names are looked up.
pub(super) enum Target {
    KernelParam(u32),
    /// In the lane's frame, with so many bytes left of the variable.
    Frame(u32, u32),
    Memory(Address),
}

impl Decoder<'_> {
    pub(super) fn memory(&mut self, mods: &mut Mods<'_>, operands: &[Operand]) -> Result<()> {
        match mods.opcode {
            "ld" | "ldu" => self.transfer(mods, operands, Self::load),
            "st" => self.transfer(mods, operands, Self::store),
            "atom" | "red" => self.atomic(mods, operands),
            "cvta" => self.cvta(mods, operands),
            "isspacep" => {
                let space = mods.find(space).ok_or_else(|| mods.error("expected a state space"))?;
                self.count(operands, 2)?;
                let (to, address) = (self.to_pred(&operands[0])?, self.source(&operands[1], Ty::B64)?);
                if let Some(to) = to {
                    self.push(Op::InSpace { space, to, address });
                }
                Ok(())
            }
            "membar" => {
                let level = mods.find(|part| matches!(part, "cta" | "gl" | "sys").then_some(()));
                level.ok_or_else(|| mods.error("expected a level"))?;
                self.push(Op::Fence);
                Ok(())
            }
            "fence" => {
                order(mods);
                scope(mods);
                self.push(Op::Fence);
                Ok(())
            }
            // Prefetches and the like change nothing that can be seen.
            _ => {
                mods.find(space);
                while mods
                    .find(|part| (part.starts_with('L') || part.starts_with("evict")).then_some(()))
                    .is_some()
                {}
                self.push(Op::Nothing);
                Ok(())
            }
        }
    }

    pub(super) fn target(&mut self, operand: &Operand, space: Space) -> Result<Target> {
        let Operand::Address(name, offset) = operand else {
            return self.error("expected an address in brackets");
        };
        let address = |base: Slot, offset: i64, bytes: u32| {
            let narrow = bytes == 4 && matches!(space, Space::Shared | Space::Local);
            Target::Memory(Address {
                base,
                offset,
                space,
                narrow,
            })
        };
        let Some(name) = name else {
            let zero = self.linker.constant(0);
            return Ok(address(zero, *offset, 8));
        };
        if let Some(Register::Row(row, ty)) = self.register(name) {
            if ty.float() {
                return self.error(format!("{name} is a float, no address"));
            }
            return Ok(address(Slot::register(row), *offset, ty.bytes()));
        }
        match (self.place(name), space) {
            (Some(Place::KernelParam(at)), Space::Param) => Ok(Target::KernelParam(at.wrapping_add_signed(*offset as i32))),
            (Some(Place::FrameParam { offset: at, bytes }), Space::Param) => self.in_frame_at(at, bytes, *offset),
            (Some(Place::Local { offset: at, bytes }), Space::Local) => self.in_frame_at(at, bytes, *offset),
            _ => {
                let base = self.source(&Operand::Name(name.clone()), Ty::B64)?;
                Ok(address(base, *offset, 8))
            }
        }
    }

    /// A place in a variable of the frame, and how much of the variable is left there.
    fn in_frame_at(&self, start: u32, bytes: u32, offset: i64) -> Result<Target> {
        match u32::try_from(offset).ok().filter(|offset| *offset < bytes) {
            Some(offset) => Ok(Target::Frame(start + offset, bytes - offset)),
            None => self.error(format!("offset {offset} is outside of a variable of {bytes} bytes")),
        }
    }

    fn within(&self, room: u32, count: usize, ty: Ty) -> Result<()> {
        if count as u32 * ty.bytes() <= room {
            return Ok(());
        }
        self.error("the access reaches beyond its variable")
    }

    /// The registers of a load or store, and the type each has.
    fn values(&mut self, operand: &Operand, count: usize, ty: Ty, write: bool) -> Result<([Slot; 4], u32)> {
        let single = [operand.clone()];
        let items = match operand {
            Operand::Vector(items) => items.as_slice(),
            _ => &single,
        };
        if items.len() != count {
            return self.error(format!("expected a vector of {count}"));
        }
        let (mut slots, mut bytes) = ([self.linker.constant(0); 4], 8);
        for (slot, item) in slots.iter_mut().zip(items) {
            if write {
                (*slot, bytes) = self.destination(item)?;
            } else {
                *slot = self.source(item, ty)?;
            }
        }
        Ok((slots, bytes))
    }

    fn vector(mods: &mut Mods<'_>) -> Option<usize> {
        mods.find(|part| match part {
            "v2" => Some(2),
            "v4" => Some(4),
            "v8" => Some(8),
            _ => None,
        })
    }

    /// A load or a store, which `transfer` does for vectors of up to four.
    fn transfer(
        &mut self,
        mods: &mut Mods<'_>,
        operands: &[Operand],
        transfer: impl Fn(&mut Self, &[Operand], Transfer) -> Result<()>,
    ) -> Result<()> {
        let order = order(mods);
        scope(mods);
        let space = mods.find(space).unwrap_or(Space::Generic);
        cache_hints(mods);
        let count = Self::vector(mods).unwrap_or(1);
        let ty = mods.ty()?;
        self.count(operands, 2)?;
        let what = |count| Transfer { count, ty, space, order };
        if count == 8 {
            return self.halves(operands, |d, o| transfer(d, o, what(4)));
        }
        transfer(self, operands, what(count))
    }

    /// A vector of eight is two of four.
    fn halves(&mut self, operands: &[Operand], mut each: impl FnMut(&mut Self, &[Operand]) -> Result<()>) -> Result<()> {
        let (mut vector, mut address) = (None, None);
        for operand in operands {
            match operand {
                Operand::Vector(items) if items.len() == 8 => vector = Some(items.clone()),
                Operand::Address(base, offset) => address = Some((base.clone(), *offset)),
                _ => {}
            }
        }
        let (Some(items), Some((base, offset))) = (vector, address) else {
            return self.error("expected a vector of 8");
        };
        let vector_first = matches!(operands[0], Operand::Vector(_));
        for (index, part) in items.chunks(4).enumerate() {
            let part = Operand::Vector(part.to_vec());
            let at = Operand::Address(base.clone(), offset + 16 * index as i64);
            each(self, &if vector_first { [part, at] } else { [at, part] })?;
        }
        Ok(())
    }

    fn load(&mut self, operands: &[Operand], what: Transfer) -> Result<()> {
        let Transfer { count, ty, space, .. } = what;
        if matches!(ty, Ty::B128 | Ty::Pred) {
            return self.error("this type cannot be loaded");
        }
        let (values, register) = self.values(&operands[0], count, ty, true)?;
        let width = Width {
            bytes: ty.bytes() as u8,
            signed: ty.signed(),
            register: register as u8,
        };
        let op = match self.target(&operands[1], space)? {
            Target::KernelParam(offset) => Op::LoadParam {
                offset,
                width,
                count: count as u8,
                to: values,
            },
            Target::Frame(offset, room) => {
                self.within(room, count, ty)?;
                Op::LoadFrame {
                    offset,
                    width,
                    count: count as u8,
                    to: values,
                }
            }
            Target::Memory(address) => Op::Load(what.access(address, width, values)),
        };
        self.push(op);
        Ok(())
    }

    fn store(&mut self, operands: &[Operand], what: Transfer) -> Result<()> {
        let Transfer { count, ty, space, .. } = what;
        if matches!(ty, Ty::B128 | Ty::Pred) {
            return self.error("this type cannot be stored");
        }
        if space == Space::Const {
            return self.error("constant memory cannot be written");
        }
        let (values, _) = self.values(&operands[1], count, ty, false)?;
        let width = Width {
            bytes: ty.bytes() as u8,
            signed: false,
            register: 8,
        };
        let op = match self.target(&operands[0], space)? {
            Target::KernelParam(_) => return self.error("kernel parameters cannot be written"),
            Target::Memory(_) if space == Space::Param => return self.error("expected a parameter of a call by its name"),
            Target::Frame(offset, room) => {
                self.within(room, count, ty)?;
                Op::StoreFrame {
                    offset,
                    width,
                    count: count as u8,
                    from: values,
                }
            }
            Target::Memory(address) => Op::Store(what.access(address, width, values)),
        };
        self.push(op);
        Ok(())
    }

    /// `cp.async` is done at once: what must wait for it has its result already.
    pub(super) fn copy_async(&mut self, mods: &mut Mods<'_>, operands: &[Operand]) -> Result<()> {
        if !mods.take("async") {
            return Err(mods.error("expected .async"));
        }
        if mods.take("commit_group") || mods.take("wait_all") {
            self.count(operands, 0)?;
            return Ok(());
        }
        if mods.take("wait_group") {
            self.count(operands, 1)?;
            return Ok(());
        }
        let whole = mods.take("cg");
        if !whole && !mods.take("ca") {
            return Err(mods.error("expected .ca or .cg"));
        }
        if !mods.take("shared") && !mods.take("shared::cta") || !mods.take("global") {
            return Err(mods.error("expected .shared.global"));
        }
        cache_hints(mods);
        let [to, from, Operand::Int(size @ (4 | 8 | 16)), rest @ ..] = operands else {
            return self.error("expected two addresses and 4, 8 or 16 bytes");
        };
        if whole && *size != 16 {
            return self.error("copies past the first cache are of 16 bytes");
        }
        if !rest.is_empty() && rest != [Operand::Int(*size)] {
            return self.error("copies of fewer bytes than are filled are not supported");
        }
        let count = *size as usize / 4;
        let width = Width {
            bytes: 4,
            signed: false,
            register: 8,
        };
        let values = [(); 4].map(|()| self.temporary());
        for (operand, space) in [(from, Space::Global), (to, Space::Shared)] {
            let what = Transfer {
                count,
                ty: Ty::B32,
                space,
                order: Order::Weak,
            };
            let Target::Memory(address) = self.target(operand, space)? else {
                return self.error("expected an address");
            };
            let access = what.access(address, width, values);
            self.push(if space == Space::Global {
                Op::Load(access)
            } else {
                Op::Store(access)
            });
        }
        Ok(())
    }

    fn atomic(&mut self, mods: &mut Mods<'_>, operands: &[Operand]) -> Result<()> {
        let fence = order(mods) == Order::Fencing;
        scope(mods);
        let space = mods.find(space).unwrap_or(Space::Generic);
        let op = mods.find(|part| {
            Some(match part {
                "add" => AtomicOp::Add,
                "and" => AtomicOp::And,
                "or" => AtomicOp::Or,
                "xor" => AtomicOp::Xor,
                "exch" => AtomicOp::Exchange,
                "cas" => AtomicOp::Cas,
                "min" => AtomicOp::Min,
                "max" => AtomicOp::Max,
                "inc" => AtomicOp::Inc,
                "dec" => AtomicOp::Dec,
                _ => return None,
            })
        });
        let op = op.ok_or_else(|| mods.error("unknown operation"))?;
        let no_ftz = mods.take("noftz");
        let ty = mods.ty()?;
        let kind = match ty {
            Ty::B32 | Ty::U32 | Ty::B64 | Ty::U64 => AtomicType::Bits,
            Ty::B16 if matches!(op, AtomicOp::Cas | AtomicOp::Exchange) => AtomicType::Bits,
            Ty::S32 | Ty::S64 => AtomicType::Signed,
            Ty::F16 if no_ftz => AtomicType::F16,
            Ty::F16x2 if no_ftz => AtomicType::F16x2,
            Ty::BF16 if no_ftz => AtomicType::BF16,
            Ty::BF16x2 if no_ftz => AtomicType::BF16x2,
            Ty::F32 => AtomicType::F32,
            Ty::F64 => AtomicType::F64,
            _ => return Err(mods.error("unsupported type")),
        };
        if kind != AtomicType::Bits && kind != AtomicType::Signed && op != AtomicOp::Add {
            return Err(mods.error("floats can only be added"));
        }
        if matches!(op, AtomicOp::Inc | AtomicOp::Dec) && ty != Ty::U32 {
            return Err(mods.error("expected .u32"));
        }
        let result = usize::from(mods.opcode == "atom");
        self.count(operands, result + if op == AtomicOp::Cas { 3 } else { 2 })?;
        let to = if result == 1 {
            Some(self.destination(&operands[0])?.0)
        } else {
            None
        };
        let address = match self.target(&operands[result], space)? {
            Target::Memory(address) if !matches!(space, Space::Const | Space::Param | Space::Local) => address,
            _ => return self.error("atomics are for global and shared memory"),
        };
        let value = self.source(&operands[result + 1], ty)?;
        let swap = match operands.get(result + 2) {
            Some(operand) => self.source(operand, ty)?,
            None => value,
        };
        self.push(Op::Atomic(Atomic {
            address,
            op,
            ty: kind,
            bytes: ty.bytes() as u8,
            to,
            value,
            swap,
            fence,
        }));
        Ok(())
    }

    /// Between an address of a state space and a generic one. Global, constant and parameter addresses are generic already.
    fn cvta(&mut self, mods: &mut Mods<'_>, operands: &[Operand]) -> Result<()> {
        let back = mods.take("to");
        let space = mods.find(space).ok_or_else(|| mods.error("expected a state space"))?;
        if mods.ty()? != Ty::U64 {
            return Err(mods.error("only 64-bit addresses are supported"));
        }
        self.count(operands, 2)?;
        let (to, _) = self.destination(&operands[0])?;
        let from = self.source(&operands[1], Ty::B64)?;
        let start = match space {
            Space::Shared => window::SHARED,
            Space::Local => window::LOCAL,
            _ => 0,
        };
        let by = self.linker.constant(if back { start.wrapping_neg() } else { start });
        let run: int::Run = lanewise!(a: u64, b: u64 => a.wrapping_add(b));
        self.push(Op::Lanes(Lanewise {
            run,
            to,
            from: [from, by, from],
            mode: 0,
        }));
        Ok(())
    }
}
