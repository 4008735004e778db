//! Uniformity: which values and locals are the same in all lanes of a gang, which ones step from lane to lane, and where control diverges.
//!
//! The lanes of a gang run in lockstep. A jump under a condition that differs between lanes parks them at its target until the others come
//! there. A `Set` made while lanes are parked where its local may still be read has to keep their old values; it *blends*, and its local
//! differs between lanes. Each depends on the others, so it is computed as one least fixpoint.

mod ops;
mod walk;

use std::collections::{HashMap, HashSet};

use weft_ir::{Axis, FuncId, Function, Module, Space, Type};

use crate::alone::is_alone;
use crate::numbering::StmtId;
use walk::Walk;

/// What is wrong with a barrier under a condition that is not the same for all threads of a block.
pub const DIVERGENT_BARRIER: &str =
    "a barrier that not all threads of a block may reach: the condition it stands under differs between threads";

/// How a value relates to the lanes, from knowing most to knowing least.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Class {
    /// Never computed.
    #[default]
    Unset,
    /// The same in all threads of a block.
    Block,
    /// The same in all lanes of a gang.
    Gang,
    /// `i64`: each lane holds the one before's value plus this step, which is not 0.
    Affine(i64),
    Varying,
}

impl Class {
    pub const fn is_uniform(self) -> bool {
        matches!(self, Class::Unset | Class::Block | Class::Gang)
    }

    /// The class of something that may be of either.
    pub fn join(self, other: Class) -> Class {
        match (self, other) {
            (Class::Unset, c) | (c, Class::Unset) => c,
            (Class::Block, Class::Block) => Class::Block,
            (a, b) if a.is_uniform() && b.is_uniform() => Class::Gang,
            (Class::Affine(s), Class::Affine(t)) if s == t => self,
            _ => Class::Varying,
        }
    }

    /// The class of what is computed from both, lane by lane.
    fn with(self, other: Class) -> Class {
        match self.join(other) {
            _ if self == Class::Unset || other == Class::Unset => Class::Unset,
            Class::Affine(_) => Class::Varying,
            joined => joined,
        }
    }

    fn stepping(step: i64) -> Class {
        if step == 0 { Class::Gang } else { Class::Affine(step) }
    }
}

/// What the lanes of a function are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lanes {
    /// There is one only.
    Single,
    /// Threads along an axis of the block.
    Threads(Axis),
    /// The threads of a warp. They lie along an axis, or else along several: then no index is a step from lane to lane.
    Warp(Option<Axis>),
    /// Neighbours along the last axis of a `Loop` function's index space.
    Points,
    /// Those of the caller: each parameter has a value a lane.
    Callers,
}

/// What is known of an `If`, a loop or a scope.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    /// Lanes may arrive behind it while others still run inside. (Not for `If`.)
    pub waits: bool,
    /// A loop some lanes may `Break` from while others run on.
    pub breaks: bool,
    /// A loop some lanes may `Continue` while others run on in the same iteration.
    pub next_waits: bool,
    /// Lanes may jump past its end while others do not.
    pub lossy: bool,
    /// Some gangs of a block may leave it, or an iteration of it, by a jump that others do not take.
    pub uneven: bool,
}

#[derive(Clone, Debug, Default)]
pub struct Uniformity {
    pub values: Vec<Class>,
    pub locals: Vec<Class>,
    pub facts: HashMap<StmtId, Facts>,
    /// `Set`s that keep the old value in lanes that are off.
    pub blends: HashSet<StmtId>,
    /// Some lanes may return while others run on.
    pub returns: bool,
    /// Some gangs of a block may return while others run on.
    pub uneven_returns: bool,
}

impl Uniformity {
    pub fn facts_of(&self, id: StmtId) -> Facts {
        self.facts.get(&id).copied().unwrap_or_default()
    }
}

/// Which functions of a module may give lanes different results where their arguments are the same.
#[derive(Clone, Debug, Default)]
pub struct Calls(Vec<bool>);

impl Calls {
    /// Of functions that are called alone: those that change memory or say something, and those that read arrays of the thread's own.
    /// What is called otherwise gives what its arguments are.
    pub fn of(module: &Module) -> Calls {
        let effects = crate::calls::effects(module);
        let differs = |(func, has_effects): (&Function, bool)| {
            let own = |ty: &Type| matches!(ty, Type::View(v) if v.space == Space::Local);
            is_alone(func) && (has_effects || func.params.iter().any(|param| own(func.ty(*param))))
        };
        Calls(module.functions.iter().zip(effects).map(differs).collect())
    }

    /// Do calls of a function by lanes give each its own? Of one that nothing is known of, yes.
    pub fn differ(&self, func: FuncId) -> bool {
        self.0.get(func.index()).copied().unwrap_or(true)
    }
}

/// Analyses a function without complex values or nested tuples.
pub fn analyze(func: &Function, lanes: Lanes, calls: &Calls) -> Uniformity {
    if lanes == Lanes::Single {
        return Uniformity {
            values: vec![Class::Block; func.values.len()],
            locals: vec![Class::Block; func.locals.len()],
            ..Uniformity::default()
        };
    }
    Walk::new(func, lanes, calls).fixpoint()
}

#[cfg(test)]
mod tests {
    use super::*;
    use weft_ir::text::parse;

    fn of(source: &str) -> Uniformity {
        let module = parse(source).unwrap();
        analyze(module.entry_function(), Lanes::Threads(Axis::X), &Calls::default())
    }

    #[test]
    fn steps_survive_additions_and_constant_factors() {
        let info = of("
entry kernel @k(%0 n: i64) {
  local $0 i: i64
  %1: i64 = thread_idx.x
  %2: i64 = 3
  %3: i64 = mul %1, %2
  %4: i64 = add %3, %0
  set $0 = %4
  %5: i64 = get $0
  %6: i64 = sub %4, %5
  %7: i64 = mul %1, %0
  %8: i64 = thread_idx.y
}
");
        assert_eq!(
            info.values[3..=8],
            [
                Class::Affine(3),
                Class::Affine(3),
                Class::Affine(3),
                Class::Gang,
                Class::Varying,
                Class::Gang
            ]
        );
        assert_eq!(info.locals, [Class::Affine(3)]);
    }

    #[test]
    fn only_what_waiting_lanes_read_blends() {
        let info = of("
entry kernel @k(%0 n: i64, %1 x: view<i64, 1, C, global>) {
  local $0 count: i64
  local $1 result: i64
  %2: i64 = thread_idx.x
  %3: i64 = load %1[%2]
  %4: i64 = 0
  %5: i64 = 1
  set $0 = %4
  set $1 = %4
  loop {
    %6: i64 = get $0
    %7: bool = gt %6, %3
    if %7 {
      set $1 = %6
      break
    }
    %8: i64 = add %6, %5
    set $0 = %8
  }
  %9: i64 = get $1
  store %1[%2] = %9
}
");
        assert_eq!(
            info.locals,
            [Class::Block.join(Class::Gang), Class::Varying],
            "the counter is not read behind the loop, the result is"
        );
        assert_eq!(info.blends.len(), 1);
        assert!(info.facts.values().any(|f| f.breaks && f.waits && !f.lossy));
    }

    #[test]
    fn what_all_threads_of_a_block_decide_alike_ends_all_of_them() {
        let ending = |cond: &str| {
            of(&format!(
                "
entry kernel @k(%0 n: i64) {{
  %1: i64 = thread_idx.y
  %2: i64 = 0
  %3: bool = lt {cond}, %2
  if %3 {{
    return
  }}
  barrier
}}
"
            ))
        };
        assert!(!ending("%0").uneven_returns);
        assert!(ending("%1").uneven_returns && !ending("%1").returns);
    }

    #[test]
    fn a_side_keeps_what_the_other_side_reads() {
        let info = of("
entry kernel @k(%0 x: view<i64, 1, C, global>) {
  local $0 t: i64
  %1: i64 = thread_idx.x
  %2: i64 = load %0[%1]
  %3: i64 = 0
  %4: bool = lt %2, %3
  set $0 = %3
  if %4 {
    set $0 = %2
  } else {
    %5: i64 = get $0
    store %0[%1] = %5
  }
}
");
        assert_eq!(info.blends.len(), 1);
        assert_eq!(info.locals, [Class::Varying]);
    }
}
