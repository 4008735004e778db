//! Linking: texts call users' functions by numbers. They are compiled with stubs of these, in whose places the functions' modules are put.

use std::rc::Rc;

use weft_front::FunctionSource;
use weft_ir::{Block, ConstId, Function, Module, Op, Source, SourceId, Span, StmtKind};

use crate::operation;
use crate::text::{self, Names};

const PREFIX: &str = "users_";

/// What a user's function is called in texts.
pub fn name(id: u32) -> String {
    format!("{PREFIX}{id}")
}

fn number(name: &str) -> Option<u32> {
    name.strip_prefix(PREFIX)?.parse().ok()
}

/// A function of a name like this with its parameters and its result's type, which is compiled in the user's place.
pub fn stub(name: &str) -> Option<FunctionSource> {
    let id = number(name)?;
    let entry = operation::users(id)
        .module
        .functions
        .get(operation::users(id).module.entry.index())?;
    let result = text::type_name(entry.result.scalar()?);
    let params: Vec<String> = (0..entry.params.len()).map(|at| format!("x{at}")).collect();
    Some(FunctionSource {
        name: name.into(),
        // The text that calls it has the first number.
        key: u64::from(id) + 2,
        source: Source {
            file: "<lazy arrays>".into(),
            text: format!("def {name}({}):\n    return {result}(0)\n", params.join(", ")),
            first_line: 1,
        },
        defaults: Vec::new(),
        decorated: None,
        env: Rc::new(Names),
    })
}

/// The module with users' functions in the places of their stubs.
pub fn linked(mut module: Module) -> Module {
    for at in 0..module.functions.len() {
        if let Some(id) = number(&module.functions[at].name) {
            put(&mut module, at, &operation::users(id).module);
        }
    }
    module
}

/// Appends what a module has, and puts its entry in the place of a function.
fn put(into: &mut Module, at: usize, module: &Module) {
    let moves = Moves {
        source: into.sources.len() as u32,
        constant: into.constants.len() as u32,
        function: into.functions.len() as u32,
    };
    into.sources.extend(module.sources.iter().cloned());
    into.constants.extend(module.constants.iter().cloned());
    let moved = |function: &Function| {
        let mut function = function.clone();
        moves.block(&mut function.body);
        function
    };
    into.functions.extend(module.functions.iter().map(moved));
    into.functions[at] = moved(module.entry_function());
}

/// By how much numbers of a module move.
#[derive(Clone, Copy, Debug)]
struct Moves {
    source: u32,
    constant: u32,
    function: u32,
}

impl Moves {
    fn block(self, block: &mut Block) {
        for stmt in &mut block.0 {
            if stmt.span != Span::NONE {
                stmt.span.source = SourceId(stmt.span.source.0 + self.source);
            }
            match &mut stmt.kind {
                StmtKind::Let(_, Op::Call(callee, _)) => callee.0 += self.function,
                StmtKind::Let(_, Op::ConstArray(id)) => *id = ConstId(id.0 + self.constant),
                StmtKind::Launch { func, .. } => func.0 += self.function,
                _ => {}
            }
            stmt.kind.blocks_mut().for_each(|inner| self.block(inner));
        }
    }
}
