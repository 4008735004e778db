//! Which views among a function's parameters it may write to.

use std::collections::{HashMap, HashSet};

use weft_ir::{Function, Local, Op, StmtKind, Value};
use weft_passes::operands::walk;

/// What a view may be a part of: parameters, by way of values and locals.
#[derive(Default)]
struct Roots {
    values: HashMap<Value, HashSet<Value>>,
    locals: HashMap<Local, HashSet<Value>>,
}

/// The parameters that are views and that stores or atomics may reach.
pub fn parameters(f: &Function) -> HashSet<Value> {
    let mut roots = Roots::default();
    for param in f.params.iter().filter(|p| f.ty(**p).view().is_some()) {
        roots.values.insert(*param, HashSet::from([*param]));
    }
    // Locals carry views round loops.
    while roots.grow(f) {}
    let mut written = HashSet::new();
    walk(&f.body, &mut |kind| match kind {
        StmtKind::Store { view, .. } | StmtKind::Let(_, Op::Atomic { view, .. }) => written.extend(roots.of(*view)),
        _ => {}
    });
    written
}

impl Roots {
    fn of(&self, view: Value) -> HashSet<Value> {
        self.values.get(&view).cloned().unwrap_or_default()
    }

    /// Walks the function once; has anything been learnt of a local?
    fn grow(&mut self, f: &Function) -> bool {
        let mut grown = false;
        walk(&f.body, &mut |kind| match kind {
            StmtKind::Let(value, op) => {
                let found = match op {
                    Op::Slice { view, .. } | Op::Transpose(view, _) | Op::Reshape(view, _) => self.of(*view),
                    Op::Select(_, a, b) => &self.of(*a) | &self.of(*b),
                    Op::Get(local) => self.locals.get(local).cloned().unwrap_or_default(),
                    _ => return,
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
