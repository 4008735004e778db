//! NumPy's ufunc type resolution as data: the typed loops that each ufunc has, in NumPy's order.
//!
//! A call takes the first loop to whose types all its operands convert safely. Python's numbers take any type of their kind or a higher one
//! if the kind of some strong operand is no lower; else they are NumPy's defaults. This holds for all 106 ufuncs; the sweeps say so.

use weft_ir::Scalar;

use crate::types::{Num, promote, rank_of_kind};

/// Ufuncs that have the same loops. Where a ufunc stands in several rows, these follow each other.
pub struct Family {
    names: &'static str,
    loops: Loops,
    computes: Computes,
    gives: Gives,
    /// Refuses operands that are all bools, though they would convert.
    no_bools: bool,
}

/// The types of the operands, by NumPy's letters.
#[derive(Clone, Copy)]
enum Loops {
    Alike(&'static str),
    /// Of two kinds.
    Pairs(&'static [(char, char)]),
}

/// The type that the operands are converted to.
#[derive(Clone, Copy)]
enum Computes {
    Loop,
    Double,
}

/// The types of the results, by the type that is computed in.
#[derive(Clone, Copy)]
enum Gives {
    Same,
    Twice,
    /// What a complex number's parts are.
    Part,
    WithInt,
    Byte,
    Bool,
}

const fn family(names: &'static str, loops: &'static str) -> Family {
    Family {
        names,
        loops: Loops::Alike(loops),
        computes: Computes::Loop,
        gives: Gives::Same,
        no_bools: false,
    }
}

const fn pairs(names: &'static str, loops: &'static [(char, char)]) -> Family {
    Family {
        loops: Loops::Pairs(loops),
        ..family(names, "")
    }
}

impl Family {
    const fn gives(self, gives: Gives) -> Family {
        Family { gives, ..self }
    }

    const fn in_double(self) -> Family {
        Family {
            computes: Computes::Double,
            ..self
        }
    }

    const fn without_bools(self) -> Family {
        Family { no_bools: true, ..self }
    }

    fn has(&self, name: &str) -> bool {
        self.names.split(' ').any(|n| n == name)
    }
}

// `bhil` are signed integers of 8 to 64 bits, capitals unsigned ones, `efd` floats of 16 to 64 bits, `FD` complex numbers.
const ALL: &str = "?bBhHiIlLefdFD";
const NUMBERS: &str = "bBhHiIlLefdFD";
const REALS: &str = "bBhHiIlLefd";
const INTS: &str = "bBhHiIlL";
const FLOATS: &str = "efd";
const INEXACT: &str = "efdFD";

#[rustfmt::skip]
const FAMILIES: &[Family] = &[
    family("add multiply maximum minimum fmax fmin", ALL),
    family("subtract negative positive sign", NUMBERS).without_bools(),
    family("square reciprocal conj conjugate power pow", NUMBERS),
    family("floor_divide remainder mod fmod", REALS),
    family("divmod", REALS).gives(Gives::Twice),
    // Quotients of integers are float64, however small these are.
    family("divide true_divide", "lL").in_double(),
    family("divide true_divide", INEXACT),
    family("float_power", "dD"),
    family("bitwise_and bitwise_or bitwise_xor invert bitwise_not bitwise_invert", "?bBhHiIlL"),
    family("left_shift right_shift bitwise_left_shift bitwise_right_shift", INTS),
    family("gcd lcm", INTS).without_bools(),
    family("bitwise_count", INTS).gives(Gives::Byte),
    family("abs absolute", ALL).gives(Gives::Part),
    family("floor ceil trunc", "?bBhHiIlLefd"),
    family("rint sqrt exp exp2 expm1 log log2 log10 log1p", INEXACT),
    family("sin cos tan arcsin arccos arctan asin acos atan", INEXACT),
    family("sinh cosh tanh arcsinh arccosh arctanh asinh acosh atanh", INEXACT),
    family("cbrt fabs deg2rad rad2deg degrees radians spacing", FLOATS),
    family("arctan2 atan2 hypot copysign nextafter heaviside logaddexp logaddexp2", FLOATS),
    family("modf", FLOATS).gives(Gives::Twice),
    family("frexp", FLOATS).gives(Gives::WithInt),
    family("signbit", FLOATS).gives(Gives::Bool),
    pairs("ldexp", &[('e', 'i'), ('f', 'i'), ('e', 'l'), ('f', 'l'), ('d', 'i'), ('d', 'l')]),
];

/// The types a ufunc computes in: those its operands are converted to, and those of its results.
#[derive(Debug, PartialEq)]
pub struct Loop {
    pub operands: Vec<Scalar>,
    pub results: Vec<Scalar>,
}

/// A ufunc: its rows of the table.
#[derive(Clone, Copy)]
pub struct Ufunc(&'static [Family]);

/// NumPy's ufunc of a name.
pub fn find(name: &str) -> Option<Ufunc> {
    let first = FAMILIES.iter().position(|f| f.has(name))?;
    let rows = FAMILIES[first..].iter().take_while(|f| f.has(name)).count();
    Some(Ufunc(&FAMILIES[first..first + rows]))
}

impl Ufunc {
    /// Does it have two results?
    pub fn is_pair(self) -> bool {
        self.0.iter().any(|f| matches!(f.gives, Gives::Twice | Gives::WithInt))
    }

    /// The loop that NumPy takes for operands of these types; none where it raises `TypeError`.
    pub fn resolve(self, operands: &[Num]) -> Option<Loop> {
        // bfloat16 goes through float16's loops, unless it meets what takes both to float32.
        let both = operands.iter().filter(|n| !n.weak).map(|n| n.scalar).reduce(promote);
        let narrow = both == Some(Scalar::BF16);
        let known: Vec<Num> = operands
            .iter()
            .map(|n| match n.scalar {
                Scalar::BF16 => Num::strong(if narrow { Scalar::F16 } else { Scalar::F32 }),
                _ => *n,
            })
            .collect();
        let mut found = self.first_loop(&settled(&known))?;
        if narrow {
            for scalar in found.operands.iter_mut().chain(&mut found.results) {
                if *scalar == Scalar::F16 {
                    *scalar = Scalar::BF16;
                }
            }
        }
        Some(found)
    }

    /// The loop that Numba takes: the first of NumPy's that is not of 16 bits, where an integer beside floats goes as any float.
    pub fn resolve_for_numba(self, operands: &[Num]) -> Option<Loop> {
        let of_pairs = self.0.iter().any(|f| matches!(f.loops, Loops::Pairs(_)));
        if of_pairs || operands.iter().any(|n| n.scalar.is_half()) {
            return self.resolve(operands);
        }
        let inexact = |s: Scalar| s.is_float() || s.is_complex();
        let mixed = operands.iter().any(|n| n.scalar.is_int()) && operands.iter().any(|n| inexact(n.scalar));
        let fits = |n: &Num, to: Scalar| (mixed && n.scalar.is_int() && inexact(to)) || converts(n.scalar, to);
        // Numba has no special quotient of integers.
        let families = self.0.iter().filter(|f| matches!(f.computes, Computes::Loop));
        families
            .filter_map(|family| {
                let mut loops = family.operands(operands.len());
                let found = loops.find(|to| !to.iter().any(|s| s.is_half()) && operands.iter().zip(to).all(|(n, to)| fits(n, *to)))?;
                Some(family.typed(found))
            })
            .next()
    }

    fn first_loop(self, operands: &[Num]) -> Option<Loop> {
        for family in self.0 {
            if family.no_bools && operands.iter().all(|n| n.scalar == Scalar::Bool) {
                return None;
            }
            let mut loops = family.operands(operands.len());
            if let Some(found) = loops.find(|to| operands.iter().zip(to).all(|(n, to)| takes(*n, *to))) {
                return Some(family.typed(found));
            }
        }
        None
    }
}

/// Weak numbers of a higher kind than all strong ones become NumPy's defaults.
fn settled(operands: &[Num]) -> Vec<Num> {
    let strong = || operands.iter().filter(|n| !n.weak);
    let kind = strong().map(|n| rank_of_kind(n.scalar)).max();
    let settle = |n: &Num| match kind {
        Some(kind) if n.weak && rank_of_kind(n.scalar) <= kind => *n,
        Some(2) if n.weak && strong().all(|s| converts(s.scalar, Scalar::C64)) => Num::strong(Scalar::C64),
        _ => Num::strong(n.scalar),
    };
    operands.iter().map(settle).collect()
}

impl Family {
    /// The types of each loop's operands, of which there are so many.
    fn operands(&self, count: usize) -> impl Iterator<Item = Vec<Scalar>> {
        let (alike, pairs) = match self.loops {
            Loops::Alike(letters) => (letters, &[][..]),
            Loops::Pairs(pairs) => ("", if count == 2 { pairs } else { &[] }),
        };
        let alike = alike.chars().map(move |letter| vec![scalar(letter); count]);
        alike.chain(pairs.iter().map(|&(a, b)| vec![scalar(a), scalar(b)]))
    }

    /// The loop of operands of these types.
    fn typed(&self, mut operands: Vec<Scalar>) -> Loop {
        if let Computes::Double = self.computes {
            operands.fill(Scalar::F64);
        }
        // Results follow the first operand.
        let computed = operands.first().copied().unwrap_or(Scalar::F64);
        Loop {
            operands,
            results: match self.gives {
                Gives::Same => vec![computed],
                Gives::Twice => vec![computed; 2],
                Gives::Part if computed.is_complex() => vec![computed.part()],
                Gives::Part => vec![computed],
                Gives::WithInt => vec![computed, Scalar::I32],
                Gives::Byte => vec![Scalar::U8],
                Gives::Bool => vec![Scalar::Bool],
            },
        }
    }
}

/// Can a number stand where a loop wants `to`?
fn takes(n: Num, to: Scalar) -> bool {
    if n.weak {
        rank_of_kind(n.scalar) <= rank_of_kind(to)
    } else {
        converts(n.scalar, to)
    }
}

/// NumPy's safe casts: those that lose nothing, and 64-bit integers to float64.
fn converts(from: Scalar, to: Scalar) -> bool {
    promote(from, to) == to
}

fn scalar(letter: char) -> Scalar {
    match letter {
        '?' => Scalar::Bool,
        'b' => Scalar::I8,
        'B' => Scalar::U8,
        'h' => Scalar::I16,
        'H' => Scalar::U16,
        'i' => Scalar::I32,
        'I' => Scalar::U32,
        'l' => Scalar::I64,
        'L' => Scalar::U64,
        'e' => Scalar::F16,
        'f' => Scalar::F32,
        'F' => Scalar::C64,
        'D' => Scalar::C128,
        _ => Scalar::F64,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rows_of_a_ufunc_follow_each_other() {
        for name in FAMILIES.iter().flat_map(|f| f.names.split(' ')) {
            let rows = FAMILIES.iter().filter(|f| f.has(name)).count();
            assert_eq!(find(name).map(|u| u.0.len()), Some(rows), "{name}");
        }
    }
}
