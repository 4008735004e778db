//! Whether registers fit the types of an instruction: of their size, floats where floats are due. Loads, stores and conversions take wider ones.

use super::function::{Decoder, Register, Result};
use super::mods::Mods;
use crate::ptx::syntax::{Operand, Ty};

/// What an operand must be.
#[derive(Clone, Copy)]
enum Due {
    Exactly(Ty),
    /// Or wider.
    AtLeast(Ty),
    /// Bits, and nothing that has a meaning.
    Untyped(Ty),
    /// Others look after it.
    Anything,
}

impl Due {
    /// A number written in the instruction: whole ones for integers and bits, floats for floats, singles by their bits for bits, too.
    fn number_fits(self, operand: &Operand) -> bool {
        let (Due::Exactly(ty) | Due::AtLeast(ty)) = self else { return true };
        match operand {
            Operand::Int(_) => !ty.float(),
            Operand::Float(_) => matches!(ty, Ty::F32 | Ty::F64),
            Operand::F32(_) => matches!(ty, Ty::F32 | Ty::F64 | Ty::B32),
            Operand::F64(_) => matches!(ty, Ty::F32 | Ty::F64 | Ty::B64),
            _ => true,
        }
    }

    fn fits(self, register: Ty) -> bool {
        let (due, wider) = match self {
            Due::Exactly(ty) => (ty, false),
            Due::AtLeast(ty) => (ty, true),
            Due::Untyped(ty) => return register.bits() && register.bytes() == ty.bytes(),
            Due::Anything => return true,
        };
        if due == Ty::Pred || register == Ty::Pred {
            return due == register;
        }
        let same = due.bytes() == register.bytes();
        let size = same || wider && due.bytes() < register.bytes();
        // Bits go with everything, packed floats with bits alone.
        if due.packed() || matches!(due, Ty::F16 | Ty::BF16) {
            return same && (register.bits() || register == due);
        }
        let class = match (due.float(), register.float(), register.bits()) {
            (_, _, true) => true,
            (true, float, _) => float && same,
            (false, float, _) => !float || due.bits(),
        };
        size && class
    }
}

/// Types that operands must have, in their order; the last counts for all that follow.
fn due(opcode: &str, types: &[Ty], wide: bool) -> Vec<Due> {
    use Due::{Anything, AtLeast, Exactly, Untyped};
    let Some(first) = types.first().copied() else {
        // Barriers have numbers of 32 bits.
        return vec![if matches!(opcode, "bar" | "barrier") {
            Exactly(Ty::U32)
        } else {
            Anything
        }];
    };
    let second = types.get(1).copied();
    match (opcode, second) {
        ("mul", _) if wide => vec![Exactly(first.twice()), Exactly(first)],
        ("mad", _) if wide => vec![Exactly(first.twice()), Exactly(first), Exactly(first), Exactly(first.twice())],
        ("add" | "sub", Some(short)) => vec![Exactly(first), Exactly(short), Exactly(first)],
        ("fma", Some(short)) => vec![Exactly(first), Exactly(short), Exactly(short), Exactly(first)],
        ("shl" | "shr", _) => vec![Exactly(first), Exactly(first), Exactly(Ty::U32)],
        ("bfe", _) => vec![Exactly(first), Exactly(first), Exactly(Ty::U32)],
        ("bfi", _) => vec![Exactly(first), Exactly(first), Exactly(first), Exactly(Ty::U32)],
        ("clz" | "popc" | "bfind", _) => vec![Exactly(Ty::U32), Exactly(first)],
        ("shf", _) => vec![Exactly(first), Exactly(first), Exactly(first), Exactly(Ty::U32)],
        ("setp" | "testp", _) => vec![Anything, Exactly(first), Exactly(first), Anything],
        ("set", Some(second)) => vec![Exactly(first), Exactly(second), Exactly(second), Anything],
        ("slct", Some(second)) => vec![Exactly(first), Exactly(first), Exactly(first), Exactly(second)],
        ("selp", _) => vec![Exactly(first), Exactly(first), Exactly(first), Anything],
        ("cvt", Some(second)) => vec![AtLeast(first), AtLeast(second)],
        ("ld" | "ldu", _) => vec![AtLeast(first), Anything],
        ("st", _) => vec![Anything, AtLeast(first)],
        ("atom", _) => vec![Exactly(first), Anything, Exactly(first)],
        ("red", _) => vec![Anything, Exactly(first)],
        ("cvta", _) => vec![Exactly(first)],
        ("shfl", _) => vec![Exactly(first), Exactly(first), Exactly(Ty::U32)],
        ("match", _) => vec![Exactly(Ty::U32), Exactly(first), Exactly(Ty::U32)],
        ("redux", _) => vec![Exactly(first), Exactly(first), Exactly(Ty::U32)],
        ("mma", _) => vec![Exactly(Ty::F32), Exactly(Ty::B32), Exactly(Ty::B32), Exactly(Ty::F32)],
        ("ldmatrix", _) => vec![Exactly(Ty::B32), Anything],
        // To TensorFloat-32, which has no type of registers.
        ("cvt", None) => vec![Untyped(Ty::B32), Exactly(first)],
        ("vote", _) if first == Ty::B32 => vec![Exactly(Ty::U32), Anything, Exactly(Ty::U32)],
        ("vote", _) => vec![Anything, Anything, Exactly(Ty::U32)],
        ("bar" | "barrier", _) => vec![Anything],
        ("dp4a" | "dp2a", _) => vec![Exactly(Ty::U32)],
        _ if second.is_some() => vec![Anything],
        _ => vec![Exactly(first)],
    }
}

/// Bytes that a special register may be read in.
fn special_size(name: &str) -> Option<&'static [u32]> {
    let base = name.split('.').next().unwrap_or(name);
    Some(match base {
        "%clock64" | "%globaltimer" => &[8],
        // They had 16 bits once.
        "%tid" | "%ntid" | "%ctaid" | "%nctaid" => &[2, 4],
        "%gridid" => &[4, 8],
        _ if name.starts_with('%') => &[4],
        _ => return None,
    })
}

impl Decoder<'_> {
    /// Complains of a register that does not fit.
    pub(super) fn fit(&self, mods: &Mods<'_>, operands: &[Operand]) -> Result<()> {
        let mut types: Vec<Ty> = mods.parts().filter_map(Ty::parse).collect();
        if mods.opcode == "mov" && operands.iter().any(|o| matches!(o, Operand::Vector(_))) {
            return Ok(());
        }
        // Of `.v4.b32` each element.
        types.truncate(2);
        let wide = mods.parts().any(|part| part == "wide");
        let due = due(mods.opcode, &types, wide);
        for (index, operand) in operands.iter().enumerate() {
            let Some(due) = due.get(index).or(due.last()) else { continue };
            let items = match operand {
                Operand::Vector(items) => items.as_slice(),
                single => std::slice::from_ref(single),
            };
            if !self.alike(items) {
                return self.error("registers of different types in a vector");
            }
            for item in items {
                self.fits(*due, item)?;
            }
        }
        Ok(())
    }

    /// Whether the registers of a vector are of one size and kind.
    fn alike(&self, items: &[Operand]) -> bool {
        let mut kinds = items.iter().filter_map(|item| match item {
            Operand::Name(name) => match self.register(name) {
                Some(Register::Row(_, ty)) => Some((ty.bytes(), ty.float())),
                _ => None,
            },
            _ => None,
        });
        let first = kinds.next();
        kinds.all(|kind| Some(kind) == first)
    }

    /// Registers that a larger one is put together of.
    pub(super) fn fit_pieces(&self, pieces: &[Operand], bits: u8) -> Result<()> {
        let due = match bits {
            // Bytes lie in registers of 16 bits, which is the least there is.
            8 => return Ok(()),
            16 => Due::Exactly(Ty::B16),
            _ => Due::Exactly(Ty::B32),
        };
        pieces.iter().try_for_each(|piece| self.fits(due, piece))
    }

    /// The register that pieces make.
    pub(super) fn fit_whole(&self, whole: &Operand, ty: Ty) -> Result<()> {
        self.fits(Due::Exactly(ty), whole)
    }

    fn fits(&self, due: Due, operand: &Operand) -> Result<()> {
        let name = match operand {
            Operand::Name(name) => name,
            // `d|p`: the predicate is looked after elsewhere.
            Operand::Pair(first, _) => return self.fits(due, first),
            number if !due.number_fits(number) => return self.error("arguments mismatch: a number of another type"),
            _ => return Ok(()),
        };
        let register = match self.register(name) {
            Some(Register::Row(_, ty)) => ty,
            Some(Register::Pred(_)) => Ty::Pred,
            None => match special_size(name) {
                Some(bytes) if matches!(due, Due::Exactly(ty) if ty.float() || !bytes.contains(&ty.bytes())) => {
                    return self.error(format!("arguments mismatch: {name} has another size"));
                }
                _ => return Ok(()),
            },
        };
        if due.fits(register) {
            return Ok(());
        }
        self.error(format!("arguments mismatch: {name} is of type {register:?}").to_lowercase())
    }
}
