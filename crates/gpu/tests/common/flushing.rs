//! A driver that takes subnormal numbers for zeros where NVIDIA's for Vulkan does, and in some places more: SPIR-V in which operands are
//! made zeros before they are compared, converted, divided or given to a function of GLSL's, and results of conversions, quotients and `fma`.

use std::collections::{HashMap, HashSet};

const HEADER: usize = 5;
const EXT_INST: u32 = 12;
const TYPE_BOOL: u32 = 20;
const TYPE_INT: u32 = 21;
const TYPE_FLOAT: u32 = 22;
const CONSTANT: u32 = 43;
const FUNCTION: u32 = 54;
const FCONVERT: u32 = 115;
const BITCAST: u32 = 124;
const FDIV: u32 = 136;
const SELECT: u32 = 169;
const IEQUAL: u32 = 170;
const COMPARISONS: std::ops::RangeInclusive<u32> = 180..=191;
const AND: u32 = 199;
/// `RoundEven`, `Trunc`, `FAbs`, `Floor`, `Ceil`, `Sqrt` and `Fma` of `GLSL.std.450`.
const MATH: [u32; 7] = [2, 3, 4, 8, 9, 31, FMA];
const FMA: u32 = 50;

/// A type of floats, integers as wide, and constants of those.
#[derive(Clone, Copy)]
struct Width {
    float: u32,
    int: u32,
    exponent: u32,
    sign: u32,
    zero: u32,
}

/// What the first look finds.
#[derive(Default)]
struct Types {
    bool: u32,
    floats: HashMap<u32, u32>,
    ints: HashMap<u32, u32>,
}

fn instructions(body: &[u32]) -> Vec<&[u32]> {
    let (mut rest, mut found) = (body, Vec::new());
    while let Some(first) = rest.first() {
        let (one, behind) = rest.split_at((first >> 16) as usize);
        found.push(one);
        rest = behind;
    }
    found
}

/// The module as such a driver would run it; `bits` are the widths of the floats it is so with.
pub fn flushing(words: &[u32], bits: &[u32]) -> Vec<u32> {
    let (header, body) = words.split_at(HEADER);
    let code = instructions(body);
    let mut types = Types::default();
    for &one in &code {
        match (one[0] & 0xffff, one) {
            (TYPE_BOOL, &[_, id]) => types.bool = id,
            (TYPE_INT, &[_, id, bits, 0]) => _ = types.ints.insert(bits, id),
            (TYPE_FLOAT, &[_, id, bits, ..]) => _ = types.floats.insert(bits, id),
            _ => {}
        }
    }
    let mut next = header[3];
    let mut out = header.to_vec();
    let start = code.iter().position(|one| one[0] & 0xffff == FUNCTION).unwrap_or(code.len());
    out.extend(code[..start].iter().copied().flatten());
    let known = bits
        .iter()
        .filter_map(|bits| Some((*bits, *types.floats.get(bits)?, *types.ints.get(bits)?)));
    let widths: Vec<Width> = known
        .map(|(bits, float, int)| {
            let mut constant = |value: u64| {
                let id = next;
                next += 1;
                out.push((3 + bits / 32) << 16 | CONSTANT);
                out.extend([int, id, value as u32]);
                out.extend((bits == 64).then_some((value >> 32) as u32));
                id
            };
            let (exponent, sign) = match bits {
                32 => (0x7f80_0000, 1 << 31),
                _ => (0x7ff0 << 48, 1 << 63),
            };
            Width {
                float,
                int,
                exponent: constant(exponent),
                sign: constant(sign),
                zero: constant(0),
            }
        })
        .collect();
    let mut flushing = Flushing {
        bool: types.bool,
        floats: HashMap::new(),
        types: widths.iter().map(|width| width.float).collect(),
        widths,
        next,
        out,
    };
    code[..start].iter().for_each(|one| flushing.note(one));
    code[start..].iter().for_each(|one| flushing.rewrite(one));
    flushing.out[3] = flushing.next;
    flushing.out
}

struct Flushing {
    bool: u32,
    widths: Vec<Width>,
    types: HashSet<u32>,
    /// Values that are floats, and their types.
    floats: HashMap<u32, u32>,
    next: u32,
    out: Vec<u32>,
}

impl Flushing {
    fn note(&mut self, one: &[u32]) {
        if let &[first, ty, id, ..] = one
            && first & 0xffff != TYPE_FLOAT
            && self.types.contains(&ty)
        {
            self.floats.insert(id, ty);
        }
    }

    fn rewrite(&mut self, one: &[u32]) {
        self.note(one);
        let op = one[0] & 0xffff;
        let mut new = one.to_vec();
        let operands = match op {
            FCONVERT => 3..4,
            EXT_INST if MATH.contains(&one[4]) => 5..one.len(),
            op if op == FDIV || COMPARISONS.contains(&op) => 3..5,
            _ => return self.out.extend(one),
        };
        for at in operands {
            if let Some(width) = self.width_of(one[at]) {
                new[at] = self.fresh();
                self.flush(one[at], new[at], width);
            }
        }
        let flushes = matches!(op, FCONVERT | FDIV) || op == EXT_INST && one[4] == FMA;
        match self.width_of(one[2]).filter(|_| flushes) {
            Some(width) => {
                new[2] = self.fresh();
                self.out.extend(&new);
                self.flush(new[2], one[2], width);
            }
            None => self.out.extend(new),
        }
    }

    fn width_of(&self, id: u32) -> Option<Width> {
        let ty = self.floats.get(&id)?;
        self.widths.iter().copied().find(|width| width.float == *ty)
    }

    fn fresh(&mut self) -> u32 {
        self.next += 1;
        self.next - 1
    }

    fn made(&mut self, op: u32, ty: u32, operands: &[u32]) -> u32 {
        let id = self.fresh();
        self.instruction(op, ty, id, operands);
        id
    }

    fn instruction(&mut self, op: u32, ty: u32, id: u32, operands: &[u32]) {
        self.out.push((operands.len() as u32 + 3) << 16 | op);
        self.out.extend([ty, id]);
        self.out.extend(operands);
    }

    /// Of a number that has no exponent only the sign is left.
    fn flush(&mut self, from: u32, to: u32, width: Width) {
        let Width {
            float,
            int,
            exponent,
            sign,
            zero,
        } = width;
        let bits = self.made(BITCAST, int, &[from]);
        let place = self.made(AND, int, &[bits, exponent]);
        let small = self.made(IEQUAL, self.bool, &[place, zero]);
        let sign = self.made(AND, int, &[bits, sign]);
        let kept = self.made(SELECT, int, &[small, sign, bits]);
        self.instruction(BITCAST, float, to, &[kept]);
    }
}
