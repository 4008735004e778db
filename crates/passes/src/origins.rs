//! Alias analysis: what memory each view may be a part of: a parameter's, an array's, the constants' or the dynamic shared memory. By way
//! of values and locals; calls that are left give numbers only.

use std::collections::{BTreeSet, HashMap};

use weft_ir::{ArrayId, Function, Local, Op, StmtKind, Value};

/// Where a view comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Origin {
    Param(Value),
    Array(ArrayId),
    /// Any of the module's constant arrays.
    Constants,
    /// The dynamic shared memory.
    Dynamic,
}

/// The origins of all views of a function; there are several where a local or a `Select` may be one of several.
#[derive(Debug, Default)]
pub struct Origins {
    pub values: HashMap<Value, BTreeSet<Origin>>,
    pub locals: HashMap<Local, BTreeSet<Origin>>,
}

impl Origins {
    pub fn find(f: &Function) -> Origins {
        let mut origins = Origins::default();
        for param in f.params.iter().filter(|p| f.ty(**p).view().is_some()) {
            origins.values.insert(*param, BTreeSet::from([Origin::Param(*param)]));
        }
        // Locals carry views round loops.
        while origins.grow(f) {}
        origins
    }

    pub fn of(&self, view: Value) -> BTreeSet<Origin> {
        self.values.get(&view).cloned().unwrap_or_default()
    }

    /// Walks the function once; has anything been learnt of a local?
    fn grow(&mut self, f: &Function) -> bool {
        let mut grown = false;
        f.body.walk(&mut |kind| match kind {
            StmtKind::Let(value, op) => {
                let found = match op {
                    Op::Slice { view, .. } | Op::Transpose(view, _) | Op::PartView(view, _) | Op::Reshape(view, _) => self.of(*view),
                    Op::Select(_, a, b) => &self.of(*a) | &self.of(*b),
                    Op::Get(local) => self.locals.get(local).cloned().unwrap_or_default(),
                    Op::Array(id) => BTreeSet::from([Origin::Array(*id)]),
                    Op::ConstArray(_) => BTreeSet::from([Origin::Constants]),
                    Op::DynamicShared => BTreeSet::from([Origin::Dynamic]),
                    // They give no views, or fresh ones, or numbers: tuples and calls, where this is asked.
                    Op::Const(_)
                    | Op::Unary(..)
                    | Op::Binary(..)
                    | Op::Compare(..)
                    | Op::Fma(..)
                    | Op::Cast(_)
                    | Op::Bitcast(_)
                    | Op::Complex(..)
                    | Op::Re(_)
                    | Op::Im(_)
                    | Op::Tuple(_)
                    | Op::Item(..)
                    | Op::Call(..)
                    | Op::Dim(..)
                    | Op::Load { .. }
                    | Op::Alloc { .. }
                    | Op::Atomic { .. }
                    | Op::Geometry(_)
                    | Op::Warp { .. }
                    | Op::ActiveMask
                    | Op::BarrierReduce(..)
                    | Op::Apart(..)
                    | Op::Routine { .. }
                    | Op::ThreadState(_)
                    | Op::Libm { .. }
                    | Op::OutOfStack => return,
                };
                if !found.is_empty() {
                    self.values.insert(*value, found);
                }
            }
            StmtKind::Set(local, value) => {
                let found = self.of(*value);
                if found.is_empty() {
                    return;
                }
                let known = self.locals.entry(*local).or_default();
                let before = known.len();
                known.extend(found);
                grown |= known.len() > before;
            }
            _ => {}
        });
        grown
    }
}

#[cfg(test)]
mod tests {
    use weft_ir::text;

    use super::*;

    const CHOSEN: &str = "
entry kernel @f(%0 a: view<f32, 1, C, global>, %1 b: view<f32, 1, C, global>, %2 cond: bool) {
  array 0 one: f32[64] shared
  array 1 other: f32[64] shared
  local $0 tile: view<f32, 1, C, shared>
  %3: view<f32, 1, C, global> = select %2, %0, %1
  %4: view<f32, 1, C, shared> = array 0
  %5: view<f32, 1, C, shared> = array 1
  set $0 = %4
  if %2 {
    set $0 = %5
  }
  %6: view<f32, 1, C, shared> = get $0
}
";

    #[test]
    fn what_is_one_of_several_has_the_origins_of_all() {
        let module = text::parse(CHOSEN).unwrap_or_else(|error| unreachable!("{error:?}"));
        let origins = Origins::find(module.entry_function());
        let params = BTreeSet::from([Origin::Param(Value(0)), Origin::Param(Value(1))]);
        let arrays = BTreeSet::from([Origin::Array(ArrayId(0)), Origin::Array(ArrayId(1))]);
        assert_eq!(origins.of(Value(3)), params);
        assert_eq!(origins.of(Value(4)), BTreeSet::from([Origin::Array(ArrayId(0))]));
        assert_eq!((origins.of(Value(6)), &origins.locals[&Local(0)]), (arrays.clone(), &arrays));
        assert_eq!(origins.of(Value(2)), BTreeSet::new());
    }
}
