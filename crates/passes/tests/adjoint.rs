//! Adjoints of random modules are well formed, or refused with a reason that is no defect.

#![allow(clippy::unwrap_used, clippy::panic)]

use std::collections::HashSet;

use weft_ir::random::{self, Case};
use weft_ir::verify::verify;
use weft_ir::{FuncKind, Module, Scalar, Type, ViewType};
use weft_passes::adjoint::{self, Cotangent, Derive, Request};

const CASES: u64 = 150;

fn flat(ty: &Type, found: &mut Vec<Type>) {
    match ty {
        Type::Scalar(scalar) if scalar.is_complex() => found.extend([Type::Scalar(scalar.part()), Type::Scalar(scalar.part())]),
        Type::Tuple(items) => items.iter().for_each(|item| flat(item, found)),
        one => found.push(one.clone()),
    }
}

/// Asks for the gradients of all floats.
fn derive(module: &Module) -> Result<Module, weft_passes::PassError> {
    let entry = module.entry_function();
    let (mut params, mut results) = (Vec::new(), Vec::new());
    entry.params.iter().for_each(|param| flat(entry.ty(*param), &mut params));
    flat(&entry.result, &mut results);
    let float = |ty: &Type| ty.scalar().is_some_and(Scalar::is_float);
    let host = entry.kind != FuncKind::Kernel;
    let param = |ty: &Type| match ty {
        Type::View(view) if view.elem.is_float() => Derive::Shadow(ViewType { writable: true, ..*view }),
        ty if float(ty) && host => Derive::Return,
        _ => Derive::None,
    };
    let request = Request {
        params: params.iter().map(param).collect(),
        results: results
            .iter()
            .map(|ty| if float(ty) { Cotangent::One } else { Cotangent::None })
            .collect(),
        imaginary_params: HashSet::new(),
        imaginary_results: HashSet::new(),
        library: &|_, _| None,
    };
    adjoint::run(module, &request)
}

#[test]
fn adjoints_of_random_modules_are_well_formed() {
    let mut made = 0;
    for kind in ["kernel", "host"] {
        for seed in 0..CASES {
            let Case { module, .. } = if kind == "kernel" {
                random::kernel(seed)
            } else {
                random::host(seed)
            };
            match derive(&module) {
                Ok(adjoint) => {
                    made += 1;
                    verify(&adjoint).unwrap_or_else(|error| panic!("{kind} {seed}: {error}"));
                }
                Err(error) => assert!(!error.message.contains("defect"), "{kind} {seed}: {error}"),
            }
        }
    }
    assert!(made > 0, "every module was refused");
}
