//! Liveness of locals: which ones may be read, before they are set again, after a region or at the head of a loop.
//!
//! A gang asks this to know whether a `Set` under a mask must keep the other lanes' old values. Everything said here is about one lane:
//! `after` is the set at the point where control goes on behind the statement, whichever way it got there. A lane that has left for good
//! by `Return` reads nothing any more but the reductions of a `Loop` function, which count as read at every end of the function.

use std::collections::{HashMap, HashSet};

use weft_ir::{Block, FuncKind, Function, Label, Local, Op, Reduction, StmtKind};

use crate::numbering::{Node, Numbered, Numbering, StmtId};

/// A set of a function's locals.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LocalSet(Vec<u64>);

impl LocalSet {
    pub fn contains(&self, local: Local) -> bool {
        self.0
            .get(local.index() / 64)
            .is_some_and(|word| word >> (local.index() % 64) & 1 == 1)
    }

    pub fn insert(&mut self, local: Local) {
        let word = local.index() / 64;
        if self.0.len() <= word {
            self.0.resize(word + 1, 0);
        }
        self.0[word] |= 1 << (local.index() % 64);
    }

    pub fn remove(&mut self, local: Local) {
        if let Some(word) = self.0.get_mut(local.index() / 64) {
            *word &= !(1 << (local.index() % 64));
        }
    }

    pub fn union(&mut self, other: &LocalSet) {
        if self.0.len() < other.0.len() {
            self.0.resize(other.0.len(), 0);
        }
        for (word, more) in self.0.iter_mut().zip(&other.0) {
            *word |= more;
        }
    }

    pub fn iter(&self) -> impl Iterator<Item = Local> + '_ {
        let bits = |word: &u64| {
            (0..64).filter({
                let word = *word;
                move |bit| word >> bit & 1 == 1
            })
        };
        self.0
            .iter()
            .enumerate()
            .flat_map(move |(i, word)| bits(word).map(move |bit| Local(i as u32 * 64 + bit)))
    }
}

impl FromIterator<Local> for LocalSet {
    fn from_iter<I: IntoIterator<Item = Local>>(locals: I) -> LocalSet {
        let mut set = LocalSet::default();
        locals.into_iter().for_each(|local| set.insert(local));
        set
    }
}

/// The live locals around every `If`, `Loop`, `For`, `ParFor` and `Scope` of a function.
#[derive(Clone, Debug, Default)]
pub struct Liveness {
    entry: LocalSet,
    after: HashMap<StmtId, LocalSet>,
    head: HashMap<StmtId, LocalSet>,
    other: HashMap<StmtId, LocalSet>,
    dead_sets: HashSet<StmtId>,
    none: LocalSet,
}

impl Liveness {
    pub fn of(func: &Function) -> Liveness {
        let at_end = match &func.kind {
            FuncKind::Loop { reductions, .. } => locals_of(reductions),
            _ => LocalSet::default(),
        };
        let mut analysis = Analysis::new(at_end.clone(), true);
        let entry = analysis.block(Numbering::of(&func.body).body(), at_end);
        Liveness { entry, ..analysis.live }
    }

    /// Locals live where the function starts: those that some path reads without having set them.
    pub fn entry(&self) -> &LocalSet {
        &self.entry
    }

    /// Locals live behind the region-forming statement `id`. Empty for other statements.
    pub fn after(&self, id: StmtId) -> &LocalSet {
        self.after.get(&id).unwrap_or(&self.none)
    }

    /// Is `id` a `Set` that nothing reads?
    pub fn is_dead_set(&self, id: StmtId) -> bool {
        self.dead_sets.contains(&id)
    }

    /// Locals live at the start of the other side of the `If` `id`.
    pub fn other(&self, id: StmtId) -> &LocalSet {
        self.other.get(&id).unwrap_or(&self.none)
    }

    /// Locals live at the start of an iteration of the loop `id`, where a `For` still may find itself done. For a `ParFor`: at the start of
    /// its body.
    pub fn head(&self, id: StmtId) -> &LocalSet {
        self.head.get(&id).unwrap_or(&self.none)
    }
}

/// The locals that the body of a parallel loop may read before it sets them. `at_end`, its reductions, are read where a point ends.
pub fn live_into(body: &Block, at_end: &LocalSet) -> LocalSet {
    let numbering = Numbering::of(body);
    Analysis::new(at_end.clone(), false).body(numbering.body(), at_end.clone(), LocalSet::default())
}

fn locals_of(reductions: &[Reduction]) -> LocalSet {
    reductions.iter().map(|reduction| reduction.local).collect()
}

/// What is live where `Break` and `Continue` of the innermost loop lead.
#[derive(Clone, Default)]
struct Exits {
    on_break: LocalSet,
    on_continue: LocalSet,
}

/// A backward walk. Liveness is a union of paths, bit by bit, so the least solution of a loop's equation `head = body(head)` is `body(∅)`:
/// one walk of the body finds the head and a second one, with the head known, records what lies inside.
struct Analysis {
    live: Liveness,
    record: bool,
    at_end: LocalSet,
    exits: Exits,
    labels: HashMap<Label, LocalSet>,
}

impl Analysis {
    fn new(at_end: LocalSet, record: bool) -> Analysis {
        Analysis {
            live: Liveness::default(),
            record,
            at_end,
            exits: Exits::default(),
            labels: HashMap::new(),
        }
    }

    /// What is live before a block, given what is live behind it.
    fn block(&mut self, block: Numbered<'_>, mut live: LocalSet) -> LocalSet {
        let nodes: Vec<_> = block.iter().collect();
        for node in nodes.into_iter().rev() {
            if self.record && node.blocks().next().is_some() {
                self.live.after.insert(node.id, live.clone());
            }
            live = self.stmt(node, live);
        }
        live
    }

    fn stmt(&mut self, node: Node<'_>, mut live: LocalSet) -> LocalSet {
        let id = node.id;
        match &node.stmt.kind {
            StmtKind::Let(_, Op::Get(local)) => live.insert(*local),
            StmtKind::Set(local, _) => {
                if self.record && !live.contains(*local) {
                    self.live.dead_sets.insert(id);
                }
                live.remove(*local);
            }
            StmtKind::If { then, other, .. } => {
                let [then, other] = node.sides(then, other);
                let before = self.block(then, live.clone());
                live = self.block(other, live);
                if self.record {
                    self.live.other.insert(id, live.clone());
                }
                live.union(&before);
            }
            StmtKind::Loop(body) => live = self.looping(id, node.body(body), LocalSet::default(), live),
            StmtKind::For { body, .. } => live = self.looping(id, node.body(body), live.clone(), live),
            StmtKind::ParFor { reductions, body, .. } => {
                let reduced = locals_of(reductions);
                let before = self.points(id, node.body(body), &reduced);
                live.union(&before);
                live.union(&reduced);
            }
            StmtKind::Launch { results, .. } => results.iter().for_each(|local| live.insert(*local)),
            StmtKind::Scope(label, body) => {
                self.labels.insert(*label, live.clone());
                live = self.block(node.body(body), live);
            }
            StmtKind::Leave(label) => live = self.labels.get(label).cloned().unwrap_or_default(),
            StmtKind::Break => live = self.exits.on_break.clone(),
            StmtKind::Continue => live = self.exits.on_continue.clone(),
            StmtKind::Return(_) => live = self.at_end.clone(),
            StmtKind::Raise { .. } => live = LocalSet::default(),
            StmtKind::Let(..)
            | StmtKind::Store { .. }
            | StmtKind::Barrier
            | StmtKind::GridBarrier
            | StmtKind::SyncWarp(_)
            | StmtKind::Mma { .. }
            | StmtKind::Fence(_)
            | StmtKind::Sleep(_)
            | StmtKind::Print(_) => {}
        }
        live
    }

    /// A sequential loop. `at_test` is what its head reads whatever the body does: what is live behind the loop, if the head may end it.
    fn looping(&mut self, id: StmtId, body: Numbered<'_>, at_test: LocalSet, after: LocalSet) -> LocalSet {
        let record = std::mem::replace(&mut self.record, false);
        let mut head = self.body(body, at_test.clone(), after.clone());
        head.union(&at_test);
        self.record = record;
        if record {
            self.body(body, head.clone(), after);
            self.live.head.insert(id, head.clone());
        }
        head
    }

    fn points(&mut self, id: StmtId, body: Numbered<'_>, reduced: &LocalSet) -> LocalSet {
        let before = self.body(body, reduced.clone(), LocalSet::default());
        if self.record {
            self.live.head.insert(id, before.clone());
        }
        before
    }

    fn body(&mut self, body: Numbered<'_>, head: LocalSet, after: LocalSet) -> LocalSet {
        let inner = Exits {
            on_break: after,
            on_continue: head.clone(),
        };
        let outer = std::mem::replace(&mut self.exits, inner);
        let before = self.block(body, head);
        self.exits = outer;
        before
    }
}
