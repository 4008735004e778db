//! What loops of the host become in adjoints: index spaces on the lanes of one thread where their turns are independent, and sums of what all
//! turns read.

#![allow(clippy::unwrap_used)]

use std::collections::HashSet;

use weft_ir::verify::verify;
use weft_ir::{Type, ViewType, text};
use weft_passes::adjoint::{self, Derive, Request};

/// The text of the adjoint by all arrays.
fn adjoint_of(program: &str) -> String {
    let module = text::parse(program).unwrap();
    let entry = module.entry_function();
    let shadow = |ty: &Type| {
        ty.view()
            .map_or(Derive::None, |view| Derive::Shadow(ViewType { writable: true, ..view }))
    };
    let request = Request {
        params: entry.params.iter().map(|param| shadow(entry.ty(*param))).collect(),
        results: Vec::new(),
        imaginary_params: HashSet::new(),
        imaginary_results: HashSet::new(),
        library: &|_, _| None,
    };
    let made = adjoint::run(&module, &request).unwrap();
    verify(&made).unwrap();
    text::print(&made)
}

#[test]
fn stencils_add_to_neighbours_in_lanes() {
    let made = adjoint_of(include_str!("/tmp/w/inner.ir"));
    println!("{made}");
}
