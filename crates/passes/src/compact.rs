//! Compaction: after a pass, values, locals and arrays nobody mentions are gone and the rest are numbered in the order they appear.

use weft_ir::{FuncKind, Function, Id, Rename, Value};

const UNSEEN: u32 = u32::MAX;

/// Drops a function's unmentioned values, locals and arrays and closes the gaps. Parameters stay whether they are used or not.
pub fn function(func: &mut Function) {
    let mut renumber = Renumber {
        values: vec![UNSEEN; func.values.len()],
        value_order: Vec::new(),
        locals: vec![UNSEEN; func.locals.len()],
        local_order: Vec::new(),
        arrays: vec![UNSEEN; func.arrays.len()],
        array_order: Vec::new(),
    };
    for param in &mut func.params {
        renumber.operand(param);
    }
    if let FuncKind::Loop { reductions, .. } = &mut func.kind {
        for reduction in reductions {
            renumber.id(Id::Local(&mut reduction.local));
        }
    }
    func.body.rename(&mut renumber);
    func.values = renumber.value_order.iter().map(|v| func.values[*v].clone()).collect();
    func.arrays = renumber.array_order.iter().map(|a| func.arrays[*a].clone()).collect();
    func.locals = renumber.local_order.iter().map(|l| func.locals[*l].clone()).collect();
}

struct Renumber {
    values: Vec<u32>,
    value_order: Vec<usize>,
    locals: Vec<u32>,
    local_order: Vec<usize>,
    arrays: Vec<u32>,
    array_order: Vec<usize>,
}

impl Rename for Renumber {
    fn operand(&mut self, value: &mut Value) {
        value.0 = number(&mut self.values, &mut self.value_order, value.index());
    }

    fn id(&mut self, id: Id<'_>) {
        match id {
            Id::Local(local) => local.0 = number(&mut self.locals, &mut self.local_order, local.index()),
            Id::Array(array) => array.0 = number(&mut self.arrays, &mut self.array_order, array.index()),
            Id::Label(_) => {}
        }
    }
}

fn number(map: &mut [u32], order: &mut Vec<usize>, old: usize) -> u32 {
    if map[old] == UNSEEN {
        map[old] = order.len() as u32;
        order.push(old);
    }
    map[old]
}
