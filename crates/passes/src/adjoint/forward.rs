//! Loads of what was just stored take the value that was stored: an element of an array that a thread writes and reads again is then like a
//! local, and nobody asks for what memory held.

use weft_ir::{Op, StmtKind, Value};

use super::own::{Numbers, meets_between};
use super::roots::Roots;
use super::tree::{NodeId, NodeKind, Tree};

/// Replaces such loads; gives how many there were.
pub fn run(tree: &mut Tree, roots: &Roots) -> usize {
    let found = find(tree, roots);
    for (load, value) in &found {
        if let NodeKind::Let(_, op) = &mut tree.nodes[*load].kind {
            // A conversion to the type that it has.
            *op = Op::Cast(*value);
        }
    }
    found.len()
}

fn find(tree: &Tree, roots: &Roots) -> Vec<(NodeId, Value)> {
    let mut numbers = Numbers::new(tree);
    let mut found = Vec::new();
    for (id, node) in tree.nodes.iter().enumerate() {
        let NodeKind::Let(_, Op::Load { view, indices, part }) = &node.kind else {
            continue;
        };
        // The last that wrote to the memory before, in the order of the program.
        let mut last: Option<NodeId> = None;
        let mut sure = true;
        for root in roots.of(*view) {
            for writer in roots.writers.get(&root).into_iter().flatten() {
                let order = tree.node(*writer).order;
                if order < node.order && last.is_none_or(|last| tree.node(last).order < order) {
                    last = Some(*writer);
                }
            }
            sure &= root != super::roots::Root::Unknown;
        }
        let Some(last) = last.filter(|_| sure) else { continue };
        let store = tree.node(last);
        let NodeKind::Plain(StmtKind::Store {
            view: to,
            indices: at,
            part: whole,
            value,
        }) = &store.kind
        else {
            continue;
        };
        let same = to == view
            && whole == part
            && store.frame == node.frame
            && encloses(tree, store.block, node.block)
            && at.len() == indices.len()
            && at
                .iter()
                .zip(indices)
                .all(|(a, b)| a.wrap == b.wrap && numbers.of(a.value) == numbers.of(b.value))
            && !meets_between(tree, store.order, node.order)
            && tree.ty(*value).scalar().is_some();
        if same {
            found.push((id, *value));
        }
    }
    found
}

fn encloses(tree: &Tree, outer: usize, inner: usize) -> bool {
    let mut at = inner;
    loop {
        if at == outer {
            return true;
        }
        if at == 0 {
            return false;
        }
        at = tree.blocks[at];
    }
}
