//! Data flow of parallel loops: what their iterations leave in the function's variables, found by walking its finished body.
//!
//! An iteration has variables of its own. Python's have not: one that an iteration does not assign holds what an earlier one left, and
//! behind the loop each holds what the last assignment left. Where that can be had it is; anything else is refused, or raises.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use weft_ir::{Block, Const, ErrorKind, Function, Local, Op, ReduceOp, Reduction, Span, Stmt, StmtKind, Type, Value};

use crate::paths::{self, Fact, Paths};
use crate::rewrite::{Guards, first_of};

/// What is known of the loops, by the places of their statements in the source.
#[derive(Clone, Debug, Default)]
pub struct Loops {
    /// Their last iteration runs by itself, in the function's own variables.
    pub ended: HashSet<u32>,
    /// Their points are chunks: a loop over some iterations each, at least one.
    pub chunked: HashSet<u32>,
}

/// Why a function cannot be compiled as it is.
pub enum Refusal {
    /// The variable is read in an iteration that cannot have assigned it.
    Carried(Local, Span),
    /// The variable is read behind the loop, and some iterations assign it.
    Left { local: Local, read: Span, of: Span },
}

/// Makes variables hold what they do in Python; gives the places of loops whose last iteration must run by itself for it.
pub fn settle(func: &mut Function, known: &Loops, error: ErrorKind) -> Result<HashSet<u32>, Refusal> {
    let mut loops = HashMap::new();
    collect(&func.body, &mut loops);
    if loops.is_empty() {
        return Ok(HashSet::new());
    }
    let mut joined = HashSet::new();
    let constants = constants(func);
    loop {
        let mut walk = Walk::new(func, known, &loops, &joined);
        walk.block(&func.body, Some(vec![Mark::default(); func.locals.len()]));
        let Walk { left, carried, surely, .. } = walk;
        if let Some((_, (local, span, _))) = carried.iter().find(|(_, (.., never))| *never) {
            return Err(Refusal::Carried(*local, *span));
        }
        let mut to_end = HashSet::new();
        let mut to_join = Vec::new();
        for (&(local, of), &read) in &left {
            let info = &loops[&of];
            if surely.contains(&(of, local)) {
                to_end.insert(info.span.start);
            } else if let Some(constant) = only_constant(&constants, info, local) {
                to_join.push((of, local, constant));
            } else {
                return Err(Refusal::Left {
                    local,
                    read,
                    of: info.span,
                });
            }
        }
        if !to_end.is_empty() {
            return Ok(to_end);
        }
        if to_join.is_empty() {
            guard(func, &carried, &loops, known, error);
            return Ok(HashSet::new());
        }
        for (of, local, constant) in to_join {
            join(func, of, local, constant);
            joined.insert((of, local));
        }
    }
}

/// A parallel loop; it is known by the first of its indices.
struct Parallel {
    span: Span,
    /// What it assigns but for reductions, and the values it assigns to each.
    assigned: BTreeMap<Local, Vec<Value>>,
}

impl Parallel {
    /// What an iteration starts with: nothing of what the loop `of` assigns.
    fn at_start(&self, of: Value, before: &[Mark]) -> Vec<Mark> {
        let mut marks = before.to_vec();
        for local in self.assigned.keys() {
            marks[local.index()] = Mark {
                open_in: Some(of),
                ..Mark::default()
            };
        }
        marks
    }

    /// Does a block assign all that the loop does? Then it is another copy of the loop's body, not one that a compiler's loop beside it has.
    fn is_assigned_by(&self, block: &Block) -> bool {
        let mut set = HashSet::new();
        block.walk(&mut |kind| {
            if let StmtKind::Set(local, _) = kind {
                set.insert(*local);
            }
        });
        !self.assigned.is_empty() && self.assigned.keys().all(|local| set.contains(local))
    }
}

fn collect(block: &Block, loops: &mut HashMap<Value, Parallel>) {
    for stmt in &block.0 {
        if let StmtKind::ParFor {
            vars, reductions, body, ..
        } = &stmt.kind
            && let Some(&of) = vars.first()
        {
            let mut assigned: BTreeMap<Local, Vec<Value>> = BTreeMap::new();
            body.walk(&mut |kind| {
                if let StmtKind::Set(local, value) = kind {
                    assigned.entry(*local).or_default().push(*value);
                }
            });
            assigned.retain(|local, _| reductions.iter().all(|r| r.local != *local));
            loops.insert(of, Parallel { span: stmt.span, assigned });
        }
        stmt.kind.blocks().for_each(|inner| collect(inner, loops));
    }
}

/// What is known of a variable at a point of the walk.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Mark {
    /// Parallel loops that have assigned it, in variables of their iterations.
    left_by: BTreeSet<Value>,
    /// The loop around assigns it, and this iteration may not have done so.
    open_in: Option<Value>,
    /// This iteration may have assigned it.
    set: bool,
}

type State = paths::State<Mark>;

struct Walk<'a> {
    func: &'a Function,
    known: &'a Loops,
    loops: &'a HashMap<Value, Parallel>,
    joined: &'a HashSet<(Value, Local)>,
    paths: Paths<Mark>,
    /// Reads behind a loop of what it assigns.
    left: BTreeMap<(Local, Value), Span>,
    /// Reads of what the iteration may not have assigned; whether it cannot have.
    carried: HashMap<Value, (Local, Span, bool)>,
    /// What every iteration of a loop assigns.
    surely: HashSet<(Value, Local)>,
    /// The loop that is walked is one over the iterations of a chunk.
    in_chunk: bool,
    /// The parallel loop whose last iteration runs by itself behind it, and its place.
    before_last: Option<(Value, u32)>,
}

impl<'a> Walk<'a> {
    fn new(func: &'a Function, known: &'a Loops, loops: &'a HashMap<Value, Parallel>, joined: &'a HashSet<(Value, Local)>) -> Walk<'a> {
        Walk {
            func,
            known,
            loops,
            joined,
            paths: Paths::new(),
            left: BTreeMap::new(),
            carried: HashMap::new(),
            surely: HashSet::new(),
            in_chunk: false,
            before_last: None,
        }
    }

    fn block(&mut self, block: &Block, mut state: State) -> State {
        for stmt in &block.0 {
            state = self.stmt(stmt, state);
        }
        state
    }

    fn stmt(&mut self, stmt: &Stmt, mut state: State) -> State {
        let in_chunk = std::mem::take(&mut self.in_chunk);
        let after = match &stmt.kind {
            StmtKind::Let(value, Op::Get(local)) => {
                if let Some(marks) = &mut state {
                    self.read(*value, *local, stmt.span, &mut marks[local.index()]);
                }
                state
            }
            StmtKind::Set(local, _) => {
                if let Some(marks) = &mut state {
                    marks[local.index()] = Mark {
                        set: true,
                        ..Mark::default()
                    };
                }
                state
            }
            StmtKind::If { then, other, .. } => {
                let a = self.block(then, state.clone());
                let b = self.block(other, state);
                paths::join(a, b)
            }
            StmtKind::Loop(body) => self.repeated(body, state).1,
            StmtKind::For { body, .. } if self.is_last(body, stmt.span) => self.last(body, state),
            StmtKind::For { body, .. } => {
                let (back, broken) = self.repeated(body, state.clone());
                let ended = paths::join(back, broken);
                if in_chunk { ended } else { paths::join(ended, state) }
            }
            StmtKind::ParFor { vars, body, .. } => self.parallel(vars, body, stmt.span, state),
            StmtKind::Scope(label, body) => {
                let end = self.block(body, state);
                self.paths.behind_scope(*label, end)
            }
            kind => self.paths.behind(kind, state),
        };
        self.in_chunk = in_chunk;
        after
    }

    fn read(&mut self, value: Value, local: Local, span: Span, mark: &mut Mark) {
        if self.func.locals[local.index()].name.is_empty() {
            return;
        }
        if mark.open_in.is_some() {
            self.carried.insert(value, (local, span, !mark.set));
            mark.open_in = None;
            return;
        }
        for of in &mark.left_by {
            self.left.entry((local, *of)).or_insert(span);
        }
    }

    /// A loop whose iterations follow each other: the state at the end of one, and at its `break`s.
    fn repeated(&mut self, body: &Block, mut entry: State) -> (State, State) {
        loop {
            self.paths.open_loop();
            let end = self.block(body, entry.clone());
            let (back, breaks) = self.paths.close_loop(end);
            let next = paths::join(entry.clone(), back.clone());
            if next == entry {
                return (back, breaks);
            }
            entry = next;
        }
    }

    fn is_last(&self, body: &Block, span: Span) -> bool {
        let of = self.before_last.filter(|(_, place)| *place == span.start);
        of.and_then(|(of, _)| self.loops.get(&of))
            .is_some_and(|info| info.is_assigned_by(body))
    }

    /// The last iteration, where it runs by itself: it sees no more of the others than they of each other.
    fn last(&mut self, body: &Block, state: State) -> State {
        let Some((of, info)) = self.before_last.take().and_then(|(of, _)| Some((of, self.loops.get(&of)?))) else {
            return state;
        };
        let state = state?;
        let entry = info.at_start(of, &state);
        self.paths.open_loop();
        let end = self.block(body, Some(entry));
        let (end, _) = self.paths.close_loop(end);
        let mut end = end?;
        for local in info.assigned.keys() {
            let mark = &mut end[local.index()];
            if mark.open_in.take().is_some() {
                *mark = mark.or(&state[local.index()]);
            }
        }
        paths::join(Some(end), Some(state))
    }

    fn parallel(&mut self, vars: &[Value], body: &Block, span: Span, state: State) -> State {
        let Some((of, info)) = vars.first().and_then(|of| Some((*of, self.loops.get(of)?))) else {
            return state;
        };
        let mut state = state?;
        if !info.assigned.is_empty() {
            self.before_last = None;
        }
        let entry = info.at_start(of, &state);
        self.paths.open_loop();
        self.in_chunk = self.known.chunked.contains(&span.start);
        let in_chunk = self.in_chunk;
        let mut end = Some(entry);
        for stmt in &body.0 {
            self.in_chunk = in_chunk;
            end = self.stmt(stmt, end);
        }
        let (end, _) = self.paths.close_loop(end);
        for local in info.assigned.keys() {
            let sure = end.as_ref().is_none_or(|marks| marks[local.index()].open_in.is_none());
            if sure {
                self.surely.insert((of, *local));
            } else {
                self.surely.remove(&(of, *local));
            }
            // A last iteration that runs by itself leaves what it assigns, if it is sure to.
            let last = sure && self.known.ended.contains(&span.start);
            if !last && !self.joined.contains(&(of, *local)) {
                state[local.index()].left_by.insert(of);
            }
        }
        if !info.assigned.is_empty() && self.known.ended.contains(&span.start) {
            self.before_last = Some((of, span.start));
        }
        Some(state)
    }
}

impl Fact for Mark {
    fn or(&self, other: &Mark) -> Mark {
        Mark {
            left_by: &self.left_by | &other.left_by,
            open_in: self.open_in.or(other.open_in),
            set: self.set || other.set,
        }
    }
}

/// The values of a function that are constants.
fn constants(func: &Function) -> HashMap<Value, Const> {
    let mut constants = HashMap::new();
    func.body.walk(&mut |kind| {
        if let StmtKind::Let(value, Op::Const(constant)) = kind {
            constants.insert(*value, *constant);
        }
    });
    constants
}

/// The constant that every assignment of the loop to a variable gives it.
fn only_constant(constants: &HashMap<Value, Const>, of: &Parallel, local: Local) -> Option<Const> {
    let mut values = of.assigned.get(&local)?.iter().map(|value| constants.get(value).copied());
    let first = values.next()??;
    values.all(|value| value == Some(first)).then_some(first)
}

/// Gives a variable a constant behind the loop if any iteration assigned it.
fn join(func: &mut Function, of: Value, local: Local, constant: Const) {
    let flag = func.new_local(Type::BOOL, "");
    let mut body = std::mem::take(&mut func.body);
    first_of(
        &mut body,
        &|stmt| matches!(&stmt.kind, StmtKind::ParFor { vars, .. } if vars.first() == Some(&of)),
        &mut |stmt| {
            let mut guards = Guards::new(func, stmt.span);
            guards.set_flag(flag, false);
            let before = guards.take();
            let mut stmt = stmt;
            note(func, &mut stmt, local, flag);
            let mut guards = Guards::new(func, stmt.span);
            let assigned = guards.flag(flag);
            let behind = guards.take();
            guards.set(local, constant);
            let then = Block(guards.take());
            let span = stmt.span;
            let kind = StmtKind::If {
                cond: assigned,
                then,
                other: Block::default(),
            };
            let behind = behind.into_iter().chain([Stmt { kind, span }]);
            before.into_iter().chain([stmt]).chain(behind).collect()
        },
    );
    func.body = body;
}

/// Sets the flag behind each assignment in a statement; loops that hold one hand it on.
fn note(func: &mut Function, stmt: &mut Stmt, local: Local, flag: Local) {
    let mut assigns = false;
    for block in stmt.kind.blocks_mut() {
        let mut noted = Vec::with_capacity(block.0.len());
        for mut inner in std::mem::take(&mut block.0) {
            note(func, &mut inner, local, flag);
            let is_it = matches!(&inner.kind, StmtKind::Set(set, _) if *set == local);
            assigns |= is_it;
            let mut guards = Guards::new(func, inner.span);
            noted.push(inner);
            if is_it {
                guards.set_flag(flag, true);
                noted.extend(guards.take());
            }
        }
        block.0 = noted;
    }
    if let StmtKind::ParFor { reductions, body, .. } = &mut stmt.kind {
        body.walk(&mut |kind| assigns |= matches!(kind, StmtKind::Set(set, _) if *set == local));
        if assigns {
            let fixed = reductions.first().is_some_and(|r| r.fixed);
            let (local, op) = (flag, ReduceOp::Or);
            reductions.push(Reduction { local, op, fixed });
        }
    }
}

/// Makes reads raise where the iteration did not assign what they read.
fn guard(
    func: &mut Function,
    carried: &HashMap<Value, (Local, Span, bool)>,
    loops: &HashMap<Value, Parallel>,
    known: &Loops,
    error: ErrorKind,
) {
    let mut flags: BTreeMap<Local, Local> = BTreeMap::new();
    let mut reads: Vec<_> = carried.iter().map(|(value, (local, ..))| (*value, *local)).collect();
    reads.sort_unstable();
    for (_, local) in &reads {
        if !flags.contains_key(local) {
            flags.insert(*local, func.new_local(Type::BOOL, ""));
        }
    }
    if flags.is_empty() {
        return;
    }
    let messages: HashMap<Local, String> = flags.keys().map(|l| (*l, unassigned_message(func, *l))).collect();
    crate::rewrite::guard_reads(func, &reads, &flags, &|local| (error, messages[&local].clone()));
    let mut body = std::mem::take(&mut func.body);
    reset(func, &mut body, &flags, loops, known);
    func.body = body;
}

fn unassigned_message(func: &Function, local: Local) -> String {
    let name = crate::rewrite::variable(func, local);
    format!("'{name}' is read in an iteration of a prange that did not assign it; iterations do not see each other's variables")
}

/// Clears the flags where iterations of parallel loops start, the last one that runs by itself among them.
fn reset(func: &mut Function, block: &mut Block, flags: &BTreeMap<Local, Local>, loops: &HashMap<Value, Parallel>, known: &Loops) {
    let mut before_last = None;
    for stmt in &mut block.0 {
        for inner in stmt.kind.blocks_mut() {
            reset(func, inner, flags, loops, known);
        }
        let span = stmt.span;
        match &mut stmt.kind {
            StmtKind::ParFor { vars, body, .. } => {
                let info = vars.first().and_then(|of| loops.get(of));
                if let Some(info) = info {
                    body.0.splice(0..0, cleared(func, span, flags, info));
                }
                if let Some(info) = info.filter(|info| !info.assigned.is_empty() && known.ended.contains(&span.start)) {
                    before_last = Some((span.start, info));
                }
            }
            StmtKind::For { body, .. } => {
                if let Some((_, info)) = before_last.filter(|(place, info)| *place == span.start && info.is_assigned_by(body)) {
                    body.0.splice(0..0, cleared(func, span, flags, info));
                }
            }
            _ => {}
        }
    }
}

/// Statements that clear the flags of what a loop assigns.
fn cleared(func: &mut Function, span: Span, flags: &BTreeMap<Local, Local>, of: &Parallel) -> Vec<Stmt> {
    let mut guards = Guards::new(func, span);
    for (local, flag) in flags {
        if of.assigned.contains_key(local) {
            guards.set_flag(*flag, false);
        }
    }
    guards.take()
}
