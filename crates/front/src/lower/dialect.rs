//! Type promotion by dialect: which type numbers meet in. The only place that asks whose rules these are.

use weft_ir::{Kind, Scalar, Span};

use super::Lower;
use crate::builtins::loops::{Loop, Ufunc};
use crate::stop::Res;
use crate::types::{self, Num, Ty};
use crate::value::Val;
use crate::{Dialect, numba};

impl Lower<'_> {
    /// Whether these are Numba's rules of numbers.
    pub fn numba(&self) -> bool {
        self.unit.options.dialect == Dialect::Numba
    }

    /// Whether these are Numba's rules for scalars: not for elements of arrays, nor inside NumPy's functions.
    pub fn numba_scalars(&self) -> bool {
        self.numba() && !self.of_elements
    }

    fn by_numba(&self, a: Num, b: Num, scalars: fn(Scalar, Scalar) -> Scalar) -> Num {
        let rule = if self.of_elements { numba::elements } else { scalars };
        Num::strong(rule(a.scalar, b.scalar))
    }

    /// The type that arithmetic on two numbers is done in.
    pub fn unify(&self, a: Num, b: Num) -> Num {
        match self.unit.options.dialect {
            Dialect::NumPy => types::unify(a, b),
            Dialect::Numba => self.by_numba(a, b, numba::arithmetic),
        }
    }

    /// An index of an atomic operation. Numba cuts floats off there: in its unions a signed and an unsigned integer become one.
    pub fn atomic_index(&mut self, val: &Val, span: Span) -> Res<Val> {
        let is_float = val.num().is_some_and(|num| num.scalar.kind() == Kind::Float);
        if !(self.numba() && is_float) {
            return Ok(val.clone());
        }
        Ok(Val::Num(self.number_as(val, Scalar::I64, span)?, Num::strong(Scalar::I64)))
    }

    /// The float that integers which meet in `num` are divided in.
    pub fn quotient_of_integers(&self, a: Num, b: Num, num: Num) -> Num {
        if self.numba() && self.of_elements {
            let floats = types::promote(numba::float_of(a.scalar), numba::float_of(b.scalar));
            return Num::strong(floats);
        }
        self.sized(num.with(Scalar::F64))
    }

    /// The type of a power.
    pub fn unify_power(&self, base: Num, exponent: Num) -> Num {
        match self.unit.options.dialect {
            Dialect::NumPy => types::unify(base, exponent),
            Dialect::Numba => self.by_numba(base, exponent, numba::power),
        }
    }

    /// The type of a shift.
    pub fn unify_shift(&self, a: Num, b: Num) -> Num {
        match self.unit.options.dialect {
            Dialect::NumPy => types::unify(a, b),
            Dialect::Numba => self.by_numba(a, b, numba::shift),
        }
    }

    /// A number's type as an operand of an operator of one.
    pub fn operand(&self, num: Num) -> Num {
        match self.unit.options.dialect {
            Dialect::NumPy => num,
            Dialect::Numba if !self.of_elements => Num::strong(numba::widened(num.scalar)),
            Dialect::Numba if num.scalar == Scalar::Bool => Num::strong(Scalar::I8),
            Dialect::Numba => num,
        }
    }

    /// The type that a variable has which is assigned numbers of both; `min`, `max` and conditional expressions give it, too.
    pub fn join_numbers(&self, a: Num, b: Num) -> Num {
        match self.unit.options.dialect {
            Dialect::NumPy => types::unify(a, b),
            Dialect::Numba => numba_join(a, b),
        }
    }

    /// The type a variable takes that is assigned both; `None` if there is none.
    pub fn join(&self, a: &Ty, b: &Ty) -> Option<Ty> {
        match self.unit.options.dialect {
            Dialect::NumPy => types::join(a, b, types::unify),
            Dialect::Numba => types::join(a, b, numba_join),
        }
    }

    /// The loop that a ufunc of NumPy's takes for operands of these types; none where it refuses them.
    pub fn loop_of(&self, ufunc: Ufunc, operands: &[Num]) -> Option<Loop> {
        match self.unit.options.dialect {
            Dialect::NumPy => ufunc.resolve(operands),
            Dialect::Numba => ufunc.resolve_for_numba(operands),
        }
    }

    /// A type as it is shown: Numba's Python numbers are int64 and float64.
    pub fn shown(&self, ty: &Ty) -> String {
        if self.numba() { strong(ty).to_string() } else { ty.to_string() }
    }

    /// Runs `step` by the rules for elements of arrays, which NumPy's functions follow for scalars, too.
    pub fn by_elements<T>(&mut self, step: impl FnOnce(&mut Self) -> T) -> T {
        let outer = std::mem::replace(&mut self.of_elements, true);
        let result = step(self);
        self.of_elements = outer;
        result
    }
}

fn strong(ty: &Ty) -> Ty {
    match ty {
        Ty::Num(num) => Ty::Num(Num::strong(num.scalar)),
        Ty::Tuple(items) => Ty::Tuple(items.map(strong)),
        _ => ty.clone(),
    }
}

/// Variables of Numba unify by width, as NumPy's strong numbers do.
fn numba_join(a: Num, b: Num) -> Num {
    if a == b {
        a
    } else {
        Num::strong(types::promote(a.scalar, b.scalar))
    }
}
