//! NumPy's functions as `weft_library` has them: its modules, parsed once per thread, and name resolution in them.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use ruff_python_ast::{Expr, Number, Stmt, StmtFunctionDef, UnaryOp};
use ruff_python_parser::parse_module;
use ruff_text_size::Ranged;
use weft_ir::Source;
use weft_library::{FILES, Policy};

use super::{FILE, LIBRARY, RARE, TEXT};
use crate::{Environment, FunctionSource, Items, Object, Options, Role, builtins};

/// Bits of a key that number the functions of a file.
const FILE_SHIFT: u32 = 32;

/// A module of texts.
struct Module {
    /// By name: its own functions and constants, and what it imports.
    names: HashMap<String, Named>,
}

enum Named {
    Function(Rc<FunctionSource>),
    Object(Object),
    /// Of another module, by its number.
    Imported(usize, String),
}

thread_local! {
    static MODULES: RefCell<HashMap<usize, Rc<Module>>> = RefCell::new(HashMap::new());
}

/// NumPy's function of that name, if it is a text.
pub fn function(name: &str) -> Option<Rc<FunctionSource>> {
    let row = weft_library::find(name)?;
    helper(row.file, name)
}

/// A definition of a file.
pub fn helper(file: &str, name: &str) -> Option<Rc<FunctionSource>> {
    match named(weft_library::file(file)?, name)? {
        Object::Function(function) => Some(function),
        _ => None,
    }
}

/// The options that a text is compiled with for a caller.
pub fn options(key: u64, caller: Options) -> Options {
    let at = (key & !(LIBRARY | TEXT | RARE)) >> FILE_SHIFT;
    let policy = FILES.get(at as usize).map_or(Policy::AS_WRITTEN, |file| file.policy);
    Options {
        role: Role::Device,
        contract: policy.contract,
        fastmath: policy.fastmath,
        python_errors: policy.python_errors,
        ..caller.of_library()
    }
}

fn named(file: usize, name: &str) -> Option<Object> {
    match module(file).names.get(name)? {
        Named::Function(function) => Some(Object::Function(function.clone())),
        Named::Object(object) => Some(object.clone()),
        Named::Imported(from, name) => named(*from, name),
    }
}

fn module(file: usize) -> Rc<Module> {
    if let Some(known) = MODULES.with(|modules| modules.borrow().get(&file).cloned()) {
        return known;
    }
    let made = Rc::new(read(file));
    MODULES.with(|modules| modules.borrow_mut().insert(file, made.clone()));
    made
}

/// Reads a module. That all parse is a test of the library.
fn read(file: usize) -> Module {
    let mut names = HashMap::new();
    let text = FILES[file].text();
    let text = &*text;
    let Ok(parsed) = parse_module(text) else { return Module { names } };
    for (number, stmt) in parsed.into_syntax().body.iter().enumerate() {
        match stmt {
            Stmt::FunctionDef(def) => {
                names.insert(def.name.to_string(), Named::Function(definition(file, number, text, def)));
            }
            Stmt::Import(import) => {
                for alias in &import.names {
                    let path = alias.name.to_string();
                    let name = alias.asname.as_ref().map_or(path.clone(), ToString::to_string);
                    names.insert(name, Named::Object(Object::Module(path)));
                }
            }
            Stmt::ImportFrom(import) => {
                let from = import.module.as_ref().map(ToString::to_string).unwrap_or_default();
                for alias in &import.names {
                    let name = alias.name.to_string();
                    let what = match weft_library::file(&from).filter(|_| import.level == 1) {
                        Some(other) => Named::Imported(other, name.clone()),
                        None => Named::Object(Object::Known(format!("{from}.{name}"))),
                    };
                    names.insert(name, what);
                }
            }
            Stmt::Assign(assign) => {
                if let ([Expr::Name(name)], Some(value)) = (assign.targets.as_slice(), constant(&assign.value)) {
                    names.insert(name.id.to_string(), Named::Object(value));
                }
            }
            _ => {}
        }
    }
    Module { names }
}

fn definition(file: usize, number: usize, text: &str, def: &StmtFunctionDef) -> Rc<FunctionSource> {
    let (start, end) = (def.range().start().to_usize(), def.range().end().to_usize());
    let params = def.parameters.iter_non_variadic_params();
    let kind = if weft_library::is_rare(&def.name) { TEXT | RARE } else { TEXT };
    let default = |param: &ruff_python_ast::ParameterWithDefault| {
        let value = constant(param.default.as_deref()?)?;
        Some((param.parameter.name.to_string(), value))
    };
    Rc::new(FunctionSource {
        name: def.name.to_string(),
        key: LIBRARY | kind | (file as u64) << FILE_SHIFT | number as u64,
        source: Source {
            file: format!("{FILE} library>/{}.py", FILES[file].name),
            first_line: text[..start].matches('\n').count() as u32 + 1,
            text: text[start..end].to_owned(),
        },
        defaults: params.filter_map(default).collect(),
        decorated: None,
        env: Rc::new(Names(file)),
    })
}

/// What is written out: a number, a string, `None`, a tuple of such, or a name of NumPy's.
fn constant(e: &Expr) -> Option<Object> {
    Some(match e {
        Expr::NoneLiteral(_) => Object::None,
        Expr::BooleanLiteral(b) => Object::Bool(b.value),
        Expr::StringLiteral(s) => Object::Str(s.value.to_str().to_owned()),
        Expr::NumberLiteral(n) => match &n.value {
            Number::Int(i) => Object::Int(i.as_i64()?.into()),
            Number::Float(f) => Object::Float(*f),
            Number::Complex { real, imag } => Object::Complex(*real, *imag),
        },
        Expr::UnaryOp(u) if u.op == UnaryOp::USub => match constant(&u.operand)? {
            Object::Int(i) => Object::Int(-i),
            Object::Float(f) => Object::Float(-f),
            _ => return None,
        },
        Expr::Tuple(t) => Object::Tuple(Items::from(t.elts.iter().map(constant).collect::<Option<Vec<_>>>()?)),
        Expr::Attribute(a) if a.value.as_name_expr().is_some_and(|name| name.id.as_str() == "np") => {
            Object::Known(format!("numpy.{}", a.attr))
        }
        _ => return None,
    })
}

/// What names mean in a module.
struct Names(usize);

impl Environment for Names {
    fn lookup(&self, name: &str) -> Option<Object> {
        if let Some(object) = named(self.0, name) {
            return Some(object);
        }
        let path = format!("builtins.{name}");
        builtins::find(&path).map(|_| Object::Known(path))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows and defs are the same, every default is a constant, and every public one says what it does and shows it.
    #[test]
    fn every_row_is_a_definition_that_parses() {
        for (i, file) in FILES.iter().enumerate() {
            let parsed = parse_module(&file.text()).unwrap_or_else(|e| panic!("{}: {e}", file.name));
            for stmt in &parsed.syntax().body {
                let Stmt::FunctionDef(def) = stmt else { continue };
                let name = def.name.as_str();
                let defaults = def.parameters.iter_non_variadic_params().filter(|p| p.default.is_some()).count();
                let Some(Object::Function(made)) = named(i, name) else {
                    panic!("{name} is not found")
                };
                assert_eq!(made.defaults.len(), defaults, "{}.{name}: a default that is no constant", file.name);
                let row = weft_library::rows()
                    .iter()
                    .chain(weft_library::random_rows())
                    .find(|row| row.definition() == name && row.file == file.name);
                assert_eq!(row.is_none(), name.starts_with('_'), "{}.{name}: its row", file.name);
                assert!(
                    row.is_none() || made.source.text.contains(">>> "),
                    "{}.{name}: an example",
                    file.name
                );
            }
        }
        for row in weft_library::rows() {
            assert!(helper(row.file, row.definition()).is_some(), "{}.{}", row.file, row.name);
            assert!(
                row.method.is_none_or(|text| helper(row.file, text.text).is_some()),
                "the method {}",
                row.name
            );
            assert_eq!(weft_library::find(row.name), Some(row), "{}: two rows", row.name);
        }
        for row in weft_library::random_rows() {
            assert!(helper(row.file, row.name).is_some(), "random.{}", row.name);
            assert_eq!(weft_library::random(row.name), Some(row), "random.{}: two rows", row.name);
        }
        for draw in weft_library::draws() {
            assert!(
                helper(draw.row.file, draw.definition).is_some(),
                "{}: no such text",
                draw.definition
            );
            assert_eq!(weft_library::draw(draw.row.name), Some(draw), "{}: two rows", draw.definition);
        }
    }
}
