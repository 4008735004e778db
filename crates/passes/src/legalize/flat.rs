//! What the parts of a type are.

use weft_ir::Type;

/// Is the type a scalar or view that legal code may hold?
pub fn is_flat(ty: &Type) -> bool {
    match ty {
        Type::Scalar(s) => !s.is_complex(),
        Type::View(_) => true,
        Type::Tuple(_) => false,
    }
}

/// The legal types that a value of a type is made of, in the order of its slots.
pub fn flatten(ty: &Type) -> Vec<Type> {
    match ty {
        Type::Scalar(s) if s.is_complex() => vec![s.part().into(); 2],
        Type::Tuple(items) => items.iter().flat_map(flatten).collect(),
        one => vec![one.clone()],
    }
}
