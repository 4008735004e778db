//! Test case reduction: makes a failing case small enough to read.

use std::cell::Cell;

use super::Case;
use crate::eval;
use crate::interp::{Fault, Options};
use crate::module::{Block, Function, StmtKind, ValueData};
use crate::op::{Const, Op};
use crate::testing::interpret;

/// One way to make a function smaller at one statement.
#[derive(Clone, Copy)]
enum Edit {
    Remove,
    /// An `If` or scope gives way to its (first) body, an `If` to its `else`.
    First,
    Second,
    /// A scalar becomes a constant.
    Constant(i64),
}

const EDITS: [Edit; 5] = [Edit::Remove, Edit::First, Edit::Second, Edit::Constant(0), Edit::Constant(1)];

/// Takes statements away, one after the other, as long as `fails` holds of what is left. `fails` is only asked about cases that verify
/// and whose run ends soon and shows no fault of its own: whose checked run, if that of the case shows none. (Threads that go astray do.)
pub fn shrink(mut case: Case, mut fails: impl FnMut(&Case) -> bool) -> Case {
    let checked = is_sound(&case, true);
    loop {
        let before = case.module.clone();
        for edit in EDITS {
            for func in (0..case.module.functions.len()).rev() {
                let mut at = 0;
                while let Some(smaller) = edited(&case, func, edit, at) {
                    if smaller.module != case.module && is_sound(&smaller, checked) && fails(&smaller) {
                        case = smaller;
                    } else {
                        at += 1;
                    }
                }
            }
        }
        if case.module == before {
            return case;
        }
    }
}

thread_local! {
    /// How often the interpreter may still ask whether to go on: a loop whose counter was taken away never ends.
    static PATIENCE: Cell<u32> = const { Cell::new(0) };
}

fn out_of_patience() -> bool {
    PATIENCE.with(|left| {
        left.set(left.get().saturating_sub(1));
        left.get() == 0
    })
}

fn is_sound(case: &Case, checked: bool) -> bool {
    PATIENCE.with(|left| left.set(20));
    let options = Options {
        checked,
        interrupted: Some(out_of_patience),
        ..Options::default()
    };
    match interpret(&case.module, &case.line, options).map(|run| run.result) {
        Ok(Ok(_)) => true,
        Ok(Err(trap)) => matches!(trap.fault, Fault::Raised { .. }),
        Err(_) => false,
    }
}

/// The case with statement number `at` of a function edited, or nothing if there are not so many.
fn edited(case: &Case, func: usize, edit: Edit, mut at: usize) -> Option<Case> {
    let mut case = case.clone();
    let Function { body, values, .. } = &mut case.module.functions[func];
    edit_block(body, values, edit, &mut at).then_some(case)
}

fn edit_block(block: &mut Block, values: &[ValueData], edit: Edit, left: &mut usize) -> bool {
    for i in 0..block.0.len() {
        if *left == 0 {
            apply(block, i, values, edit);
            return true;
        }
        *left -= 1;
        let mut nested = block.0[i].kind.blocks_mut();
        if nested.any(|inner| edit_block(inner, values, edit, left)) {
            return true;
        }
    }
    false
}

fn apply(block: &mut Block, i: usize, values: &[ValueData], edit: Edit) {
    match (edit, &mut block.0[i].kind) {
        (Edit::Remove, _) => {
            block.0.remove(i);
        }
        (Edit::First, StmtKind::If { then: body, .. } | StmtKind::Scope(_, body)) | (Edit::Second, StmtKind::If { other: body, .. }) => {
            let body = std::mem::take(body);
            block.0.splice(i..=i, body.0);
        }
        (Edit::Constant(c), StmtKind::Let(value, op)) if !matches!(op, Op::Const(_)) => {
            let scalar = values[value.index()].ty.scalar();
            if let Some(constant) = scalar.and_then(|s| eval::cast(Const::i64(c), s)) {
                *op = Op::Const(constant);
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::super::kernel;
    use super::*;
    use crate::text::print;

    #[test]
    fn only_what_makes_it_fail_is_left() {
        let seed = (0..).find(|seed| print(&kernel(*seed).module).contains("barrier")).unwrap();
        let small = shrink(kernel(seed), |case| print(&case.module).contains("barrier"));
        let statements = &small.module.functions[small.line.func.index()].body.0;
        assert!(statements.len() <= 2, "{}", print(&small.module));
    }
}
