//! The entry function: its parameters.

use weft_ir::{FuncKind, Function, Module, Type, Value};

use super::{EmitError, Emitted, Request, ViewParam, written};

pub fn emit(module: &Module, _request: &Request) -> Result<Emitted, EmitError> {
    Err(EmitError::Internal(format!("{} is not written yet", module.entry_function().name)))
}

/// The entry's parameters that come from the argument block, with their slots.
fn slots(f: &Function) -> impl Iterator<Item = (u32, Value)> {
    let rank = match f.kind {
        FuncKind::Loop { rank, .. } => usize::from(rank),
        _ => 0,
    };
    let mut slot = rank as u32;
    f.params[rank..].iter().map(move |value| {
        let here = slot;
        slot += f.ty(*value).slots() as u32;
        (here, *value)
    })
}

/// The views among the entry's parameters.
pub fn view_params(module: &Module) -> Vec<ViewParam> {
    let f = module.entry_function();
    let written = written::parameters(f);
    let view = |(slot, value)| {
        let written = written.contains(&value);
        f.ty(value).view().map(|ty| ViewParam { slot, ty, written })
    };
    slots(f).filter_map(view).collect()
}

/// The slots of `int64`s among the entry's parameters.
pub fn int_params(module: &Module) -> Vec<u32> {
    let f = module.entry_function();
    let ints = slots(f).filter(|(_, value)| *f.ty(*value) == Type::I64);
    ints.map(|(slot, _)| slot).collect()
}
