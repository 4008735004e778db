//! The SIMD instructions on two halves or four bytes of a word (`vadd2`, `vabsdiff4`, …), with the usual order of fields.

use super::int::Run;
use super::mods::Mods;
use crate::exec::lanes::lanewise;
use crate::ptx::PtxError;
use crate::ptx::syntax::Ty;

const KINDS: [&str; 7] = ["vadd", "vsub", "vavrg", "vabsdiff", "vmin", "vmax", "vset"];
const TESTS: [&str; 6] = ["eq", "ne", "lt", "le", "gt", "ge"];

/// All that modifies an operation, in the 32 bits an instruction has for it.
#[derive(Clone, Copy, Debug)]
struct Mode {
    kind: u32,
    /// Bits of a field.
    width: u32,
    signed_result: bool,
    signed_a: bool,
    signed_b: bool,
    saturate: bool,
    /// The third operand plus the sum of all fields' results.
    add: bool,
    test: u32,
}

impl Mode {
    fn encode(self) -> u32 {
        let flags = [self.signed_result, self.signed_a, self.signed_b, self.saturate, self.add];
        let flags = flags.iter().enumerate().fold(0, |all, (i, f)| all | u32::from(*f) << i);
        self.kind | self.width << 4 | flags << 12 | self.test << 20
    }

    fn decode(mode: u32) -> Mode {
        let flag = |bit: u32| mode >> (12 + bit) & 1 == 1;
        Mode {
            kind: mode & 0xf,
            width: mode >> 4 & 0xff,
            signed_result: flag(0),
            signed_a: flag(1),
            signed_b: flag(2),
            saturate: flag(3),
            add: flag(4),
            test: mode >> 20,
        }
    }

    fn run(self, a: u32, b: u32, c: u32) -> u32 {
        let (mut packed, mut sum) = (0, c);
        for at in (0..32).step_by(self.width as usize) {
            let value = self.one(self.field(a >> at, self.signed_a), self.field(b >> at, self.signed_b));
            packed |= (value as u32 & ((1 << self.width) - 1)) << at;
            sum = sum.wrapping_add(value as u32);
        }
        if self.add { sum } else { packed }
    }

    fn field(self, word: u32, signed: bool) -> i32 {
        let by = 32 - self.width;
        if signed {
            (word << by) as i32 >> by
        } else {
            (word << by >> by) as i32
        }
    }

    fn one(self, a: i32, b: i32) -> i32 {
        let value = match KINDS[self.kind as usize] {
            "vadd" => a + b,
            "vsub" => a - b,
            // Rounded away from zero where it is signed.
            "vavrg" => (a + b + i32::from(a + b >= 0)) >> 1,
            "vabsdiff" => (a - b).abs(),
            "vmin" => a.min(b),
            "vmax" => a.max(b),
            _ => i32::from(match TESTS[self.test as usize] {
                "eq" => a == b,
                "ne" => a != b,
                "lt" => a < b,
                "le" => a <= b,
                "gt" => a > b,
                _ => a >= b,
            }),
        };
        match (self.saturate, self.signed_result) {
            (false, _) => value,
            (true, true) => value.clamp(-(1 << (self.width - 1)), (1 << (self.width - 1)) - 1),
            (true, false) => value.clamp(0, (1 << self.width) - 1),
        }
    }
}

/// The instruction and its mode; `None` if the opcode is another's.
pub fn simd(mods: &mut Mods<'_>) -> Result<Option<(Run, u32)>, PtxError> {
    let (name, width) = match (mods.opcode.strip_suffix('2'), mods.opcode.strip_suffix('4')) {
        (Some(name), _) => (name, 16),
        (_, Some(name)) => (name, 8),
        _ => return Ok(None),
    };
    let Some(kind) = KINDS.iter().position(|k| *k == name) else {
        return Ok(None);
    };
    let set = name == "vset";
    // Comparisons have no type of the result.
    let result = if set { Ty::U32 } else { mods.ty()? };
    let (a, b) = (mods.ty()?, mods.ty()?);
    if [result, a, b].iter().any(|ty| !matches!(ty, Ty::U32 | Ty::S32)) {
        return Err(mods.error("expected .u32 or .s32"));
    }
    let test = if set {
        let found = mods.find(|part| TESTS.iter().position(|t| *t == part));
        found.ok_or_else(|| mods.error("expected a comparison"))?
    } else {
        0
    };
    let mode = Mode {
        kind: kind as u32,
        width,
        signed_result: result == Ty::S32,
        signed_a: a == Ty::S32,
        signed_b: b == Ty::S32,
        saturate: !set && mods.take("sat"),
        add: mods.take("add"),
        test: test as u32,
    };
    let run: Run = lanewise!(mode m; a: u32, b: u32, c: u32 => Mode::decode(m).run(a, b, c));
    Ok(Some((run, mode.encode())))
}
