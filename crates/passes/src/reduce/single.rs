//! A loop with reductions as a fold of one point: the loop's points are its inner ones, and its epilogue leaves each result in an array of
//! one element.

use weft_ir::{Block, Builder, FuncId, FuncKind, Function, Label, Module, Span, Spread, Stmt, StmtKind, Type, Value};

use crate::elements::Elements;
use crate::error::PassError;
use crate::inline::label_count;
use crate::join::Join;

/// Its parameters: the index, those of the loop behind the indices, the extents (`i64`), and a writable view for each reduction. Nothing if
/// the module's entry is no loop with reductions.
pub fn fold(module: &Module) -> Result<Option<Module>, PassError> {
    let entry = module.entry_function();
    let FuncKind::Loop { rank, reductions } = &entry.kind else {
        return Ok(None);
    };
    if reductions.is_empty() {
        return Ok(None);
    }
    let (indices, params) = entry.params.split_at(usize::from(*rank));
    let mut made = Function {
        kind: FuncKind::Loop {
            rank: 1,
            reductions: Vec::new(),
        },
        params: Vec::new(),
        body: Block::default(),
        ..entry.clone()
    };
    made.new_param(Type::I64, "point");
    made.params.extend(params);
    let extents = (0..indices.len()).map(|axis| made.new_param(Type::I64, format!("n{axis}")));
    let (mut extents, mut vars): (Vec<Value>, _) = (extents.collect(), indices.to_vec());
    let joins = Join::all(entry, reductions, Span::NONE)?;
    let outs = joins.iter().map(|join| Elements::of_param(&mut made, join.scalar, join.name()));
    let outs: Vec<Elements> = outs.collect();

    let mut b = Builder::new(made);
    if vars.is_empty() {
        vars.push(b.func.new_value(Type::I64));
        extents.push(b.i64(1));
    }
    joins.iter().for_each(|join| join.clear(&mut b, join.local));
    let label = Label(label_count(&entry.body));
    let mut body = entry.body.clone();
    leave_instead_of_return(&mut body, label);
    b.open();
    b.push(StmtKind::Scope(label, body));
    let body = b.close();
    b.push(StmtKind::ParFor {
        vars,
        extents,
        reductions: reductions.clone(),
        spread: Spread::Gangs,
        body,
    });
    let zero = b.i64(0);
    for (join, out) in joins.iter().zip(outs) {
        let total = b.get(join.local);
        out.store(&mut b, zero, total);
    }
    // Others may launch the loop itself.
    let mut module = module.clone();
    module.functions.push(b.finish());
    module.entry = FuncId(module.functions.len() as u32 - 1);
    Ok(Some(module))
}

fn leave_instead_of_return(block: &mut Block, label: Label) {
    for Stmt { kind, .. } in &mut block.0 {
        if let StmtKind::Return(_) = kind {
            *kind = StmtKind::Leave(label);
        }
        kind.blocks_mut().for_each(|inner| leave_instead_of_return(inner, label));
    }
}
