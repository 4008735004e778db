//! Side effects: which views among a function's parameters it may write to, and whether other threads may while it runs.

use std::collections::HashSet;

use weft_ir::{Effect, Function, Op, StmtKind, Value};

use crate::origins::{Origin, Origins};

/// The parameters that are views and that stores or atomics may reach.
pub fn parameters(f: &Function) -> HashSet<Value> {
    let origins = Origins::find(f);
    let mut written = HashSet::new();
    let mut write = |view: &Value| {
        written.extend(origins.of(*view).into_iter().filter_map(|origin| match origin {
            Origin::Param(param) => Some(param),
            Origin::Array(_) | Origin::Constants | Origin::Dynamic => None,
        }));
    };
    f.body.walk(&mut |kind| match kind {
        StmtKind::Store { view, .. } | StmtKind::Let(_, Op::Atomic { view, .. }) => write(view),
        // What is called may write to whatever it is given.
        StmtKind::Let(_, Op::Call(_, args)) => args.iter().for_each(&mut write),
        _ => {}
    });
    written
}

/// May a thread see what others write while it runs? Only where something orders their accesses.
pub fn threads_meet(f: &Function) -> bool {
    f.body.any(&mut |kind| {
        matches!(
            kind.effect(),
            Effect::Barrier | Effect::Grid | Effect::Warp | Effect::Fence | Effect::Atomic | Effect::Call
        )
    })
}

#[cfg(test)]
mod tests {
    use weft_ir::text;

    use super::*;

    /// Two views that change places round a loop, one that is only read, and an array.
    const SWAPPED: &str = "
entry kernel @f(%0 a: view<f32, 1, C, global>, %1 b: view<f32, 1, C, global>, %2 c: view<f32, 1, C, global>, %3 n: i64) {
  array 0 tile: f32[64] shared
  local $0 from: view<f32, 1, C, global>
  local $1 to: view<f32, 1, C, global>
  %4: view<f32, 1, C, shared> = array 0
  %5: i64 = 0
  %6: i64 = 1
  set $0 = %0
  set $1 = %1
  for %7: i64 = %5 to %3 step %6 {
    %8: view<f32, 1, C, global> = get $0
    %9: view<f32, 1, C, global> = get $1
    %10: f32 = load %2[%7]
    store %4[%7] = %10
    store %9[%7] = %10
    set $0 = %9
    set $1 = %8
  }
}
";

    fn of(source: &str) -> (HashSet<Value>, bool) {
        let module = text::parse(source).unwrap_or_else(|error| unreachable!("{error:?}"));
        let f = module.entry_function();
        (parameters(f), threads_meet(f))
    }

    #[test]
    fn stores_reach_the_parameters_that_locals_may_hold() {
        let (written, meet) = of(SWAPPED);
        assert_eq!(written, HashSet::from([Value(0), Value(1)]));
        assert!(!meet);
    }

    #[test]
    fn threads_meet_at_barriers() {
        let (written, meet) = of(&SWAPPED.replace("store %9[%7] = %10", "barrier"));
        assert_eq!(written, HashSet::new());
        assert!(meet);
    }
}
