//! Copies of a function that were compiled for constants and differ in nothing but these become one, which is given them when it is called.
//!
//! That a constant decides what code a function becomes shows in the code alone: its type, a shape, a branch left out. Copies with the same
//! statements had no use for theirs but as numbers.

use std::collections::HashMap;
use std::collections::hash_map::DefaultHasher;
use std::fmt::{self, Write};
use std::hash::Hasher;
use std::mem;

use weft_ir::{Block, Const, FuncId, Function, Op, Rename, Stmt, StmtKind, Value, eval};

/// What calls of a function become: calls of another one, which takes these after the arguments.
type Moved = HashMap<FuncId, (FuncId, Vec<Const>)>;

/// Functions that are the same but for constants, each with its own.
type Alike = Vec<(FuncId, Vec<Const>)>;

/// Each of `copies` is all that one function became for different constants, in the order they were made. The functions that are called by no
/// one any more stay.
pub fn share(functions: &mut Vec<Function>, mut copies: Vec<Vec<FuncId>>) {
    copies.retain(|group| group.len() > 1);
    // Callees were finished first: their copies are one before those of their callers are compared.
    copies.sort_by_key(|group| group.first().copied());
    let mut moved = Moved::new();
    for group in &copies {
        group.iter().for_each(|id| redirect(&mut functions[id.index()], &moved));
        for alike in alike(functions, group) {
            let shared = one(functions, &alike, FuncId(functions.len() as u32), &mut moved);
            functions.push(shared);
        }
    }
    if !moved.is_empty() {
        functions.iter_mut().for_each(|function| redirect(function, &moved));
    }
}

/// All sets of more than one of the functions that are alike.
fn alike(functions: &[Function], group: &[FuncId]) -> Vec<Alike> {
    let mut sets: Vec<(Function, Alike)> = Vec::new();
    let mut by_hash: HashMap<u64, Vec<usize>> = HashMap::new();
    for &id in group {
        let mut outline = functions[id.index()].clone();
        let mut constants = Vec::new();
        take_constants(&mut outline.body, &mut constants);
        let known = by_hash.entry(hash(&outline)).or_default();
        match known.iter().find(|at| sets[**at].0 == outline) {
            Some(at) => sets[*at].1.push((id, constants)),
            None => {
                known.push(sets.len());
                sets.push((outline, vec![(id, constants)]));
            }
        }
    }
    sets.into_iter().map(|(_, set)| set).filter(|set| set.len() > 1).collect()
}

/// Leaves zeros where constants are.
fn take_constants(block: &mut Block, into: &mut Vec<Const>) {
    for stmt in &mut block.0 {
        if let StmtKind::Let(_, Op::Const(constant)) = &mut stmt.kind {
            into.push(mem::replace(constant, eval::zero(constant.scalar())));
        }
        stmt.kind.blocks_mut().for_each(|inner| take_constants(inner, into));
    }
}

fn hash(function: &Function) -> u64 {
    struct Written(DefaultHasher);
    impl Write for Written {
        fn write_str(&mut self, text: &str) -> fmt::Result {
            self.0.write(text.as_bytes());
            Ok(())
        }
    }
    let mut written = Written(DefaultHasher::new());
    // It cannot fail, and functions of one hash are compared.
    let _ = write!(written, "{function:?}");
    written.0.finish()
}

/// One function for all of a set, whose number will be `id`. Constants that differ between them are parameters; those that are the same as
/// each other in every function are one.
fn one(functions: &[Function], set: &[(FuncId, Vec<Const>)], id: FuncId, moved: &mut Moved) -> Function {
    let mut shared = functions[set[0].0.index()].clone();
    let mut defined = Vec::new();
    shared.body.walk(&mut |kind| {
        if let StmtKind::Let(value, Op::Const(_)) = kind {
            defined.push(*value);
        }
    });
    let mut params: HashMap<Vec<Const>, Value> = HashMap::new();
    let mut given: Vec<usize> = Vec::new();
    let mut replaced = Replaced::default();
    for (at, value) in defined.into_iter().enumerate() {
        let column: Vec<Const> = set.iter().map(|(_, constants)| constants[at]).collect();
        if column.iter().all(|constant| *constant == column[0]) {
            continue;
        }
        let param = *params.entry(column).or_insert_with(|| {
            given.push(at);
            shared.values[value.index()].name = Some("constant".to_owned());
            shared.params.push(value);
            value
        });
        replaced.0.insert(value, param);
    }
    replaced.drop_definitions(&mut shared.body);
    shared.body.rename(&mut replaced);
    for (old, constants) in set {
        moved.insert(*old, (id, given.iter().map(|at| constants[*at]).collect()));
    }
    shared
}

/// Values that parameters stand for now.
#[derive(Default)]
struct Replaced(HashMap<Value, Value>);

impl Replaced {
    fn drop_definitions(&self, block: &mut Block) {
        block
            .0
            .retain(|stmt| !matches!(&stmt.kind, StmtKind::Let(value, _) if self.0.contains_key(value)));
        for stmt in &mut block.0 {
            stmt.kind.blocks_mut().for_each(|inner| self.drop_definitions(inner));
        }
    }
}

impl Rename for Replaced {
    fn operand(&mut self, value: &mut Value) {
        *value = *self.0.get(value).unwrap_or(value);
    }

    fn id(&mut self, _: weft_ir::Id<'_>) {}
}

/// Makes calls of functions that moved calls of those they became.
fn redirect(function: &mut Function, moved: &Moved) {
    let calls_one = |kind: &StmtKind| matches!(kind, StmtKind::Let(_, Op::Call(callee, _)) if moved.contains_key(callee));
    if function.body.any(&mut |kind| calls_one(kind)) {
        let mut body = mem::take(&mut function.body);
        redirect_in(&mut body, function, moved);
        function.body = body;
    }
}

fn redirect_in(block: &mut Block, function: &mut Function, moved: &Moved) {
    for mut stmt in mem::take(&mut block.0) {
        if let StmtKind::Let(_, Op::Call(callee, args)) = &mut stmt.kind
            && let Some((to, constants)) = moved.get(callee)
        {
            *callee = *to;
            for constant in constants {
                let value = function.new_value(constant.scalar().into());
                let kind = StmtKind::Let(value, Op::Const(*constant));
                block.0.push(Stmt { kind, span: stmt.span });
                args.push(value);
            }
        }
        stmt.kind.blocks_mut().for_each(|inner| redirect_in(inner, function, moved));
        block.0.push(stmt);
    }
}
