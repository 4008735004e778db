//! What a load reads when it is done again: who writes to its memory, and when.

use std::collections::BTreeSet;

use weft_ir::{BinOp, Const, Index, Op, Value};

use super::Class;
use crate::adjoint::roots::{Root, Roots};
use crate::adjoint::tree::{FrameId, FrameKind, NodeId, Tree};

/// Who writes to what a load reads, and when?
pub fn class(tree: &Tree, roots: &Roots, copies: &BTreeSet<Root>, node: NodeId, view: Value) -> Class {
    let mut class = Class::Initial;
    for root in roots.of(view) {
        if !roots.is_written(root) {
            continue;
        }
        let home = roots.home(tree, root);
        let writers = roots.writers.get(&root).cloned().unwrap_or_default();
        let (mut earlier, mut later) = (false, false);
        for writer in writers {
            let (w, n) = (tree.node(writer), tree.node(node));
            let apart = tree.exclude(w.block, n.block);
            earlier |= w.order < n.order && !apart;
            later |= w.order > n.order && !apart;
            let around = tree.frames_between(n.frame, home);
            let shared = around.iter().any(|frame| {
                let again = !tree.frame(*frame).kind.is_points();
                again && tree.within(w.frame, *frame) && !distinct(tree, *frame, node, writer)
            });
            earlier |= shared;
            later |= shared;
        }
        let initial = !earlier && matches!(root, Root::Param(_)) && !copies.contains(&root);
        class = class.max(match (initial, later) {
            (true, _) => Class::Initial,
            (false, false) => Class::Last,
            (false, true) => Class::Taped,
        });
    }
    class
}

/// Do two accesses touch different elements in different turns of a loop? They do where both have the loop's index, in the same place of
/// the same view.
fn distinct(tree: &Tree, frame: FrameId, load: NodeId, writer: NodeId) -> bool {
    let FrameKind::Counted { var, .. } = tree.frame(frame).kind else {
        return false;
    };
    let (Some((view, at)), Some((other, there))) = (tree.access(load), tree.access(writer)) else {
        return false;
    };
    let outside = !tree.within(tree.frame_of(view), frame) || tree.func.params.contains(&view);
    let counted = not_negative(tree, var);
    let same = |(a, b): (&Index, &Index)| a.value == var && b.value == var && (counted || !a.wrap && !b.wrap);
    view == other && outside && at.iter().zip(there).any(same)
}

/// Is an integer surely not negative?
fn not_negative(tree: &Tree, value: Value) -> bool {
    if let Some(frame) = tree.vars.get(&value) {
        return match tree.frame(*frame).kind {
            FrameKind::Counted { start, step, .. } => not_negative(tree, start) && not_negative(tree, step),
            _ => true,
        };
    }
    match tree.op(value) {
        Some(Op::Const(Const::Int(_, n))) => *n >= 0,
        Some(Op::Geometry(_) | Op::Dim(..)) => true,
        Some(Op::Binary(BinOp::Add | BinOp::Mul, a, b)) => not_negative(tree, *a) && not_negative(tree, *b),
        _ => false,
    }
}
