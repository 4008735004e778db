//! Python source to typed IR: parsing, name resolution, type inference, lowering, diagnostics.

mod builtins;
mod compiler;
mod diag;
pub mod env;
mod fold;
mod items;
mod library;
mod lower;
mod names;
mod numba;
mod options;
mod parallel;
mod parse;
mod paths;
mod prune;
mod rewrite;
mod share;
pub mod signature;
mod stop;
mod types;
pub mod ufuncs;
mod unset;
mod value;
mod wide;

use std::collections::HashSet;
use std::rc::Rc;

use compiler::Compiler;
pub use diag::{Diagnostic, DiagnosticKind, Label};
pub use env::*;
pub use items::{Items, TupleClass, TupleMaker};
pub use options::{Bounds, Decorated, Dialect, Options, Role};
pub use signature::Signature;
use stop::Stop;
use types::Ty;
pub use wide::first_wide;

/// A module whose entry is the function, and the type of what it returns.
#[derive(Clone, Debug)]
pub struct Compiled {
    pub module: weft_ir::Module,
    /// Weak where the result is a Python number.
    pub result: ArgType,
    /// The type of every assignment and `return` of the user's functions, in the order of compilation.
    pub types: Vec<Inferred>,
    /// A function in it asked to run in checked mode.
    pub checked: bool,
    /// The sources of Weft's own libraries, whose lines say nothing to users.
    pub library: HashSet<weft_ir::SourceId>,
}

/// What was inferred at one place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inferred {
    pub span: weft_ir::Span,
    /// The variable's name; empty for a `return`.
    pub name: String,
    /// As messages name it: `float32`, `int`, `2-d array of float64`.
    pub ty: String,
}

/// Compiles `function` for arguments of the types `args`, one for each parameter.
pub fn compile(function: &FunctionSource, args: &[ArgType], options: Options) -> Result<Compiled, Box<Diagnostic>> {
    let mut compiler = Compiler::new(options);
    let given = |arg: &ArgType| match options.narrow() {
        false => Ty::from_arg(arg),
        true => Ty::from_arg(&arg.narrowed()),
    };
    let types: Vec<Ty> = args.iter().map(given).collect();
    let compiled = compiler.entry(&Rc::new(function.clone()), &types);
    let sources = compiler.sources.list.clone();
    let fail = |mut diag: Box<Diagnostic>| {
        diag.sources = sources.clone();
        diag
    };
    match compiled {
        Ok((entry, ty)) => match ty.to_arg() {
            Some(result) => {
                let (types, library) = (std::mem::take(&mut compiler.types), std::mem::take(&mut compiler.sources.library));
                let (checked, recursive) = (compiler.checked, compiler.has_recursion());
                let module = compiler.finish(entry);
                if recursive && let Err(error) = weft_ir::verify::verify(&module) {
                    // Its types were found in rounds that relied on each other: code must never be made of what they disagree on.
                    let message = format!("the types of functions that call each other do not settle: {error}");
                    let diag = Diagnostic::new(DiagnosticKind::Typing, whole(), message);
                    return Err(fail(Box::new(
                        diag.help("declare them with signatures, or make their results of one type"),
                    )));
                }
                Ok(Compiled {
                    module,
                    result,
                    types,
                    checked,
                    library,
                })
            }
            None => {
                let message = format!("'{}' returns {ty}, which has no value outside compiled code", function.name);
                let diag = Diagnostic::new(DiagnosticKind::Typing, whole(), message);
                Err(fail(Box::new(diag)))
            }
        },
        Err(Stop::Error(diag)) => Err(fail(diag)),
        Err(Stop::Pending(pending)) => Err(fail(Box::new(pending.diagnostic()))),
    }
}

/// The derivative of a function of the elementary library, by the name that its IR has, by one of its arguments: a module whose entry takes the
/// arguments and what the function gives for them.
pub fn derivative(name: &str, by: usize, float64: bool) -> Option<weft_ir::Module> {
    let text = weft_math::derivative(name, by)?;
    let function = library::math::function(text.name)?;
    let scalar = if text.is_narrow {
        weft_ir::Scalar::F32
    } else {
        weft_ir::Scalar::F64
    };
    let options = Options {
        role: Role::Device,
        dialect: Dialect::NumPy,
        parallel: false,
        fastmath: false,
        contract: false,
        python_errors: false,
        checked: false,
        bounds: Bounds::default(),
        float64,
        for_numba: false,
    };
    let types = vec![ArgType::Strong(scalar); text.arity];
    compile(&function, &types, options).ok().map(|compiled| compiled.module)
}

/// The start of the first source.
fn whole() -> weft_ir::Span {
    weft_ir::Span {
        source: weft_ir::SourceId(0),
        start: 0,
        end: 0,
    }
}
