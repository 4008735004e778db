//! Control flow of a finished body, for walks that ask what is known of each variable: what is known where jumps lead,
//! and where ways meet.

use std::collections::HashMap;

use weft_ir::{Label, StmtKind};

/// What is known of a variable at a point of the walk.
pub trait Fact: Clone {
    /// What is known if control came one of two ways.
    fn or(&self, other: &Self) -> Self;
}

/// What is known of each variable; `None` where control never comes.
pub type State<F> = Option<Vec<F>>;

/// Where two ways meet.
pub fn join<F: Fact>(a: State<F>, b: State<F>) -> State<F> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.iter().zip(&b).map(|(x, y)| x.or(y)).collect()),
        (one, None) | (None, one) => one,
    }
}

/// What is known at the jumps out of what is being walked.
pub struct Paths<F> {
    /// At the `break`s and `continue`s of each open loop.
    loops: Vec<(State<F>, State<F>)>,
    leaves: HashMap<Label, State<F>>,
}

impl<F: Fact> Paths<F> {
    pub fn new() -> Paths<F> {
        Paths {
            loops: Vec::new(),
            leaves: HashMap::new(),
        }
    }

    /// Behind a statement that holds no other: nowhere, if it jumps.
    pub fn behind(&mut self, kind: &StmtKind, state: State<F>) -> State<F> {
        let target = match kind {
            StmtKind::Break => self.loops.last_mut().map(|(breaks, _)| breaks),
            StmtKind::Continue => self.loops.last_mut().map(|(_, continues)| continues),
            StmtKind::Leave(label) => Some(self.leaves.entry(*label).or_default()),
            StmtKind::Return(_) | StmtKind::Raise { .. } => None,
            _ => return state,
        };
        if let Some(target) = target {
            *target = join(target.take(), state);
        }
        None
    }

    /// Behind a scope whose body ends so.
    pub fn behind_scope(&mut self, label: Label, end: State<F>) -> State<F> {
        join(end, self.leaves.remove(&label).flatten())
    }

    /// The body of a loop follows.
    pub fn open_loop(&mut self) {
        self.loops.push((None, None));
    }

    /// The body of the innermost loop ends so: what is known at the end of its iterations, and at its `break`s.
    pub fn close_loop(&mut self, end: State<F>) -> (State<F>, State<F>) {
        let (breaks, continues) = self.loops.pop().unwrap_or_default();
        (join(end, continues), breaks)
    }
}
