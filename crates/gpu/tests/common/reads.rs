//! What of a module may take subnormal floats for zeros, on a device of which nothing is relied on but sums and products.

use naga::valid::FunctionInfo;
use naga::{Arena, BinaryOperator as B, Expression, Function, Handle, Literal, MathFunction, Module, Scalar, ScalarKind, UnaryOperator};
use weft_gpu::emit::Emitted;

/// Functions that compare floats themselves, of which none is subnormal or makes a difference by being it, by how their names start.
const COMPARING: [&str; 7] = [
    "weft_div_f",
    "weft_sqrt_f",
    "weft_fma_f",
    "weft_cast_f32_",
    "weft_cast_f64_",
    "weft_floordiv_f",
    "weft_atomic",
];
/// Functions that convert between floats.
const CONVERTING: [&str; 2] = ["weft_cast_f32_f64", "weft_cast_f64_f32"];

/// The float operations of a module that are neither known to keep subnormals on every device nor where they are dealt with.
pub fn faults(emitted: &Emitted) -> Vec<String> {
    let Emitted { module, info, .. } = emitted;
    let mut found = Vec::new();
    for (handle, function) in module.functions.iter() {
        faults_in(module, function, &info[handle], &mut found);
    }
    faults_in(module, &module.entry_points[0].function, info.get_entry_point(0), &mut found);
    found
}

fn faults_in(module: &Module, function: &Function, info: &FunctionInfo, found: &mut Vec<String>) {
    let name = function.name.as_deref().unwrap_or("the entry");
    let is_one_of = |names: &[&str]| names.iter().any(|start| name.starts_with(start));
    let is_float = |handle: Handle<Expression>| {
        let scalar: Option<Scalar> = info[handle].ty.inner_with(&module.types).scalar();
        scalar.is_some_and(|scalar| scalar.kind == ScalarKind::Float)
    };
    let all: &Arena<Expression> = &function.expressions;
    for (_, expression) in all.iter() {
        let allowed = match *expression {
            Expression::Binary { op, left, .. } if is_float(left) => match op {
                B::Add | B::Subtract | B::Multiply => true,
                // Quotients of numbers between 1 and 2.
                B::Divide => is_one_of(&["weft_div_f", "weft_sqrt_f"]),
                _ => is_one_of(&COMPARING) || beside_normal(function, expression),
            },
            Expression::Unary { expr, op } if is_float(expr) => op != UnaryOperator::Negate,
            Expression::Math { fun, arg, .. } if is_float(arg) => fun == MathFunction::Sqrt && is_one_of(&["weft_sqrt_f"]),
            Expression::As {
                expr,
                kind: ScalarKind::Float,
                convert: Some(_),
            } if is_float(expr) => is_one_of(&CONVERTING),
            // To integers: what is not 1 gives 0.
            _ => true,
        };
        if !allowed {
            found.push(format!("{name}: {expression:?}"));
        }
    }
}

/// Is one side of a comparison known to be neither zero nor subnormal?
fn beside_normal(function: &Function, expression: &Expression) -> bool {
    let Expression::Binary { left, right, .. } = expression else {
        return false;
    };
    let literal = |at: Handle<Expression>| match function.expressions[at] {
        Expression::Literal(literal) => Some(literal),
        _ => None,
    };
    [left, right]
        .into_iter()
        .any(|&side| match (literal(side), &function.expressions[side]) {
            (Some(Literal::F32(x)), _) => x.is_normal(),
            (Some(Literal::F64(x)), _) => x.is_normal(),
            // What is not finite is written as its bits.
            (_, &Expression::As { expr, convert: None, .. }) => match literal(expr) {
                Some(Literal::U32(bits)) => !f32::from_bits(bits).is_finite(),
                Some(Literal::U64(bits)) => !f64::from_bits(bits).is_finite(),
                _ => false,
            },
            _ => false,
        })
}
