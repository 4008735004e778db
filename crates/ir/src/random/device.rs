//! Random device functions: scalars in, a scalar out, with early returns.

use super::rng::Rng;
use super::stmt::{Place, Return};
use super::{Callee, Gen, SCALARS, function};
use crate::module::{FuncId, FuncKind, Function, StmtKind};
use crate::types::Type;

/// A few functions, each calling only those before it.
pub(super) fn generate(rng: &mut Rng) -> (Vec<Function>, Vec<Callee>) {
    let (mut functions, mut callees) = (Vec::new(), Vec::new());
    for i in 0..rng.below(3) {
        let (function, callee) = one(Rng::new(rng.next()), FuncId(i as u32), callees.clone());
        functions.push(function);
        callees.push(callee);
    }
    (functions, callees)
}

fn one(mut rng: Rng, id: FuncId, callees: Vec<Callee>) -> (Function, Callee) {
    let result = rng.pick(&SCALARS);
    let mut gen_ = Gen::new(rng, function(format!("f{}", id.0), FuncKind::Device));
    gen_.b.func.result = Type::Scalar(result);
    gen_.callees = callees;
    gen_.budget = 8;
    let mut params = Vec::new();
    for i in 0..1 + gen_.rng.below(3) {
        let scalar = gen_.any_type();
        let value = gen_.param(scalar, format!("p{i}"));
        gen_.pool.push((value, scalar));
        params.push(scalar);
    }
    gen_.make_locals();
    gen_.stmts(Place {
        depth: 2,
        ..Place::new(Return::Value(result))
    });
    let value = gen_.expr(result);
    gen_.b.push(StmtKind::Return(Some(value)));
    (gen_.b.finish(), Callee { id, params, result })
}
