//! Reverse-mode differentiation: of a function, a function that gives the gradients of its arguments.
//!
//! The adjoint takes the primal's arguments, a shadow for each array that has a derivative, and the cotangents of the results. It computes
//! again what it needs of the primal, writes to none of the primal's arrays, and goes backwards: shadows are added to, those of arrays that
//! the primal writes are read as cotangents and zeroed where it overwrites. See `docs/architecture/adjoint.md`.

mod activity;
mod emit;
mod forward;
mod hoist;
mod independent;
mod link;
mod own;
mod plan;
mod roots;
mod rules;
mod scoped;
mod tree;

use std::collections::{BTreeSet, HashSet};
use std::mem;

use weft_ir::{FuncKind, Function, Module, Scalar, Span, Type, Value};

use crate::{PassError, cleanup, inline, legalize, recursion, structure};
use activity::{Activity, Asked};
pub use emit::{Cotangent, Derive};
use independent::Lanes;
use own::Own;
use plan::Trouble;
use roots::Roots;
use rules::Book;
pub use rules::Library;
use tree::{NodeKind, TOP, Tree};

/// What the names of parameters end with that the primal writes to: no other argument may share memory with them.
pub const WRITTEN: &str = " (written)";

/// What is asked of an adjoint.
#[allow(missing_debug_implementations, reason = "it holds a function")]
pub struct Request<'a> {
    /// Of each parameter, with complex numbers and tuples as their parts.
    pub params: Vec<Derive>,
    /// Of each result, likewise.
    pub results: Vec<Cotangent>,
    /// Parameters and results (by number) that are imaginary parts.
    pub imaginary_params: HashSet<usize>,
    pub imaginary_results: HashSet<usize>,
    /// The derivatives of functions of the library.
    pub library: &'a Library<'a>,
}

/// Index spaces that are gone through in turn before it is given up.
const MOST_SEQUENTIAL: usize = 256;

/// The module whose entry is the adjoint of the module's entry.
pub fn run(module: &Module, request: &Request<'_>) -> Result<Module, PassError> {
    adjoint(module, request, false)
}

/// Of a scalar function of real numbers, `(x1, …, xn, g)` to the gradient of one parameter.
pub fn pullback(module: &Module, param: usize, library: &Library<'_>) -> Result<Module, PassError> {
    let entry = module.entry_function();
    let float = |ty: &Type| ty.scalar().is_some_and(Scalar::is_float);
    if !float(&entry.result) || !entry.params.get(param).is_some_and(|p| float(entry.ty(*p))) {
        return Err(PassError::new(
            Span::NONE,
            format!(
                "`{}` has no derivative by its parameter {param}: both have to be real floats",
                entry.name
            ),
        ));
    }
    let params = (0..entry.params.len()).map(|at| if at == param { Derive::Return } else { Derive::None });
    let request = Request {
        params: params.collect(),
        results: vec![Cotangent::Scalar(entry.result.scalar().unwrap_or(Scalar::F64))],
        imaginary_params: HashSet::new(),
        imaginary_results: HashSet::new(),
        library,
    };
    adjoint(module, &request, true)
}

fn adjoint(module: &Module, request: &Request<'_>, single: bool) -> Result<Module, PassError> {
    let mut module = module.clone();
    recursion::check(&module)?;
    rules::make_plain(&mut module, request.library);
    legalize::run(&mut module)?;
    let book = Book::of(&mut module, request.library);
    let stay: Vec<bool> = (0..module.functions.len() as u32)
        .map(|id| book.stays(weft_ir::FuncId(id)))
        .collect();
    let name = module.entry_function().name.clone();
    inline::entry_but(&mut module, stay)?;
    structure::run(&mut module)?;
    cleanup::run(&mut module)?;
    let mut func = mem::replace(
        &mut module.functions[module.entry.index()],
        Function::new(name.clone(), FuncKind::Device),
    );
    hoist::run(&mut func);
    let made = of_function(&func, &book, request, single)?;
    let entry = module.entry.index();
    module.functions[entry] = made;
    inline::drop_unreached(&mut module);
    if let Err(error) = weft_ir::verify::verify(&module) {
        return Err(PassError::defect(Span::NONE, error));
    }
    cleanup::run(&mut module)?;
    Ok(module)
}

fn of_function(func: &Function, book: &Book, request: &Request<'_>, single: bool) -> Result<Function, PassError> {
    let mut sequential = Vec::new();
    let (mut lanes, mut never) = (Lanes::new(), BTreeSet::new());
    loop {
        let mut tree = Tree::build(func, &sequential, &lanes)?;
        let mut roots = Roots::find(&tree);
        // What is stored may itself have been loaded.
        while forward::run(&mut tree, &roots) > 0 {
            roots = Roots::find(&tree);
        }
        let asked = asked(&tree, request)?;
        let activity = Activity::find(&tree, &roots, book, &asked)?;
        activity.check(&tree, &roots, book)?;
        let found = independent::find(&tree, &roots, &activity, &never);
        if !found.is_empty() {
            lanes.extend(found);
            continue;
        }
        let own = Own::find(&tree, &roots, &activity);
        let plan = match plan::plan(&mut tree, &roots, &activity, book, &own) {
            Ok(plan) => plan,
            Err(Trouble::Refused(error)) => return Err(error),
            Err(Trouble::Sequential(number)) if lanes.remove(&number).is_some() => {
                never.insert(number);
                continue;
            }
            Err(Trouble::Sequential(number)) if sequential.len() < MOST_SEQUENTIAL && !sequential.contains(&number) => {
                sequential.push(number);
                continue;
            }
            Err(Trouble::Sequential(_)) => return Err(PassError::defect(Span::NONE, "an index space that is no loop")),
        };
        let imaginary = request
            .imaginary_params
            .iter()
            .filter_map(|at| tree.func.params.get(*at).copied())
            .collect();
        let parts = emit::Parts {
            tree: &tree,
            roots: &roots,
            activity: &activity,
            book,
            plan: &plan,
            own: &own,
            params: &request.params,
            results: &request.results,
            single,
            imaginary: &imaginary,
            imaginary_results: &request.imaginary_results,
        };
        return emit::function(parts, format!("{}.grad", func.name));
    }
}

fn asked(tree: &Tree, request: &Request<'_>) -> Result<Asked, PassError> {
    let params: Vec<Value> = tree.func.params.clone();
    if params.len() != request.params.len() {
        return Err(PassError::defect(
            Span::NONE,
            "parameters and what is asked of them differ in number",
        ));
    }
    let wanted = params
        .into_iter()
        .zip(&request.params)
        .filter(|(_, derive)| **derive != Derive::None);
    let results = match tree.frame(TOP).body.last().map(|id| &tree.node(*id).kind) {
        Some(NodeKind::Result(values)) => values.clone(),
        _ => Vec::new(),
    };
    let given = results
        .into_iter()
        .zip(&request.results)
        .filter(|(_, cotangent)| matches!(cotangent, Cotangent::One | Cotangent::Scalar(_) | Cotangent::View(_)));
    Ok(Asked {
        params: wanted.map(|(param, _)| param).collect(),
        results: given.map(|(value, _)| value).collect(),
    })
}
