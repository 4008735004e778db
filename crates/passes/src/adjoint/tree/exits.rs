//! Ways out of loops and blocks before their end, as they stand in the primal.

use weft_ir::{Block, Label, Stmt, StmtKind};

/// Which ways out of a loop's turn there are.
#[derive(Clone, Copy, Default)]
pub struct Exits {
    pub stops: bool,
    pub skips: bool,
}

impl Exits {
    pub fn of(body: &Block, endless: bool) -> Exits {
        let mut exits = Exits {
            stops: endless,
            skips: false,
        };
        let mut labels = Vec::new();
        find_exits(body, 0, &mut labels, &mut exits);
        exits
    }
}

fn find_exits(block: &Block, depth: usize, labels: &mut Vec<Label>, exits: &mut Exits) {
    for stmt in &block.0 {
        match &stmt.kind {
            StmtKind::Break if depth == 0 => exits.stops = true,
            StmtKind::Continue if depth == 0 => exits.skips = true,
            StmtKind::Return(_) => exits.stops = true,
            StmtKind::Leave(label) if !labels.contains(label) => exits.stops = true,
            StmtKind::Scope(label, body) => {
                labels.push(*label);
                find_exits(body, depth, labels, exits);
                labels.pop();
            }
            kind => {
                let deeper = matches!(kind, StmtKind::Loop(_) | StmtKind::For { .. } | StmtKind::ParFor { .. });
                for inner in kind.blocks() {
                    find_exits(inner, depth + usize::from(deeper), labels, exits);
                }
            }
        }
    }
}

/// Does a block end with an exit?
pub fn exits_at_end(block: &Block) -> bool {
    matches!(
        block.0.last().map(|stmt| &stmt.kind),
        Some(StmtKind::Break | StmtKind::Continue | StmtKind::Return(_) | StmtKind::Leave(_))
    )
}

/// A block and what stands behind it, which is never come to where the block raises.
pub fn followed(block: &Block, rest: &[Stmt]) -> Vec<Stmt> {
    match block.0.last().map(|stmt| &stmt.kind) {
        Some(StmtKind::Raise { .. }) => block.0.clone(),
        _ => block.0.iter().chain(rest).cloned().collect(),
    }
}
