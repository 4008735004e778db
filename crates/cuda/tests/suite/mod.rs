//! The kernels that tests compile: those of `.weft` files, functions of `.weft` files wrapped in a kernel, and kernels in Python.

#![allow(dead_code)] // Each test uses a part.

pub mod array;
pub mod folds;
pub mod launch;
pub mod python;

use std::fs;
use std::path::{Path, PathBuf};

use weft_ir::testing::TestLine;
use weft_ir::{Builder, FuncId, FuncKind, Function, Layout, Module, Op, Scalar, Space, StmtKind, Type, ViewType, testing, text};
use weft_passes::reduce::{self, Fold};

/// A module whose entry a GPU can run.
#[derive(Clone, Debug)]
pub struct Case {
    pub name: String,
    pub module: Module,
}

/// A file of IR text, its module and its run lines.
#[derive(Debug)]
pub struct File {
    pub name: String,
    pub module: Module,
    pub lines: Vec<TestLine>,
}

const FOLDERS: [&str; 4] = [
    "../ir/tests/run",
    "../passes/tests/run",
    "../cpu/tests/kernels",
    "../cuda/tests/kernels",
];

pub fn path(folder: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(folder)
}

/// The files of a folder with an extension, in order.
pub fn files(folder: &str, extension: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(path(folder)).unwrap();
    let mut found: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    found.retain(|path| path.extension().is_some_and(|e| e == extension));
    found.sort();
    found
}

pub fn weft_files() -> Vec<File> {
    let mut found = Vec::new();
    for path in FOLDERS.iter().flat_map(|folder| files(folder, "weft")) {
        let source = fs::read_to_string(&path).unwrap();
        let module = text::parse(&source).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        let lines = testing::lines(&source, &module).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        found.push(File { name, module, lines });
    }
    found
}

/// The functions of the files that a GPU can run: kernels and loops, folds in every form, or all others.
fn weft_cases(kernels: bool) -> Vec<Case> {
    let mut cases = Vec::new();
    for file in weft_files() {
        for id in (0..file.module.functions.len() as u32).map(FuncId) {
            let function = file.module.function(id);
            let is_kernel = matches!(function.kind, FuncKind::Kernel | FuncKind::Loop { .. });
            if let Some(module) = as_entry(&file.module, id).filter(|_| is_kernel == kernels) {
                let name = format!("{}/{}", file.name, function.name);
                cases.extend(forms(&name, module));
            }
        }
    }
    cases
}

/// A module's kernels, in every form that there is of it.
fn forms(name: &str, module: Module) -> Vec<Case> {
    let single = reduce::single(&module).unwrap();
    let may_stop = single.is_some();
    let module = single.unwrap_or(module);
    let Some(fold) = Fold::find(&module, may_stop) else {
        let name = name.to_owned();
        return vec![Case { name, module }];
    };
    let case = |what: &str, module| Case {
        name: format!("{name}.{what}"),
        module,
    };
    let mut cases = vec![case("block", fold.block().unwrap()), case("threads", module)];
    cases.extend(fold.columns().unwrap().map(|columns| case("columns", columns)));
    for phase in 0..fold.phases() {
        let Some((parts, whole)) = fold.stages(phase).unwrap() else { break };
        cases.push(case(&format!("parts{phase}"), parts));
        cases.extend(whole.map(|whole| case(&format!("whole{phase}"), whole)));
    }
    cases
}

/// Kernels and loops, in IR and in Python.
pub fn kernels() -> Vec<Case> {
    let mut cases = weft_cases(true);
    cases.extend(python::cases());
    cases
}

/// Other functions of the files, each in a kernel of its own.
pub fn functions() -> Vec<Case> {
    weft_cases(false)
}

/// The module with a function as its entry, if a GPU can run it.
pub fn as_entry(module: &Module, id: FuncId) -> Option<Module> {
    let mut module = Module {
        entry: id,
        ..module.clone()
    };
    let function = module.function(id).clone();
    match &function.kind {
        FuncKind::Kernel | FuncKind::Loop { .. } => Some(module),
        FuncKind::Host | FuncKind::Device => {
            if !runs_on_a_gpu(&module, id) {
                return None;
            }
            module.functions[id.index()].kind = FuncKind::Device;
            module.functions.push(wrapped(&function, id)?);
            module.entry = FuncId(module.functions.len() as u32 - 1);
            Some(module)
        }
    }
}

/// Does a function that the entry reaches call itself? Such ones ask for the stack that is left.
#[allow(dead_code)] // Not all tests ask.
pub fn calls_itself(module: &Module) -> bool {
    let (mut seen, mut todo) = (vec![false; module.functions.len()], vec![module.entry]);
    let mut asks = false;
    while let Some(id) = todo.pop() {
        if std::mem::replace(&mut seen[id.index()], true) {
            continue;
        }
        module.function(id).body.walk(&mut |kind| match kind {
            StmtKind::Let(_, Op::OutOfStack) => asks = true,
            StmtKind::Let(_, Op::Call(callee, _)) => todo.push(*callee),
            _ => {}
        });
    }
    asks
}

/// Neither the function nor what it calls makes arrays, starts parallel loops or calls itself.
fn runs_on_a_gpu(module: &Module, id: FuncId) -> bool {
    let mut fine = true;
    let mut calls = Vec::new();
    module.function(id).body.walk(&mut |kind| match kind {
        StmtKind::ParFor { .. } | StmtKind::Launch { .. } => fine = false,
        StmtKind::Let(_, Op::Alloc { .. } | Op::OutOfStack | Op::Apart(..) | Op::ThreadState(_) | Op::Libm { .. }) => fine = false,
        StmtKind::Let(_, Op::Call(callee, _)) => calls.push(*callee),
        _ => {}
    });
    fine && calls.iter().all(|callee| *callee == id || runs_on_a_gpu(module, *callee))
}

/// A kernel of one thread that calls the function and stores the scalars it gives, each in an array of its own.
fn wrapped(function: &Function, id: FuncId) -> Option<Function> {
    let mut b = Builder::new(Function::new(format!("call_{}", function.name), FuncKind::Kernel));
    b.func.origin = function.origin.clone();
    b.func.flags = function.flags;
    let args = function
        .params
        .iter()
        .map(|p| {
            b.func
                .new_param(function.ty(*p).clone(), function.values[p.index()].name.clone().unwrap_or_default())
        })
        .collect();
    let result = b.emit(function.result.clone(), Op::Call(id, args));
    let mut values = Vec::new();
    match &function.result {
        Type::Tuple(items) => {
            for (i, item) in items.iter().enumerate() {
                values.push(b.emit(item.clone(), Op::Item(result, i as u32)));
            }
        }
        _ => values.push(result),
    }
    for value in values {
        let elem = b.ty(value).scalar()?;
        let out = b.func.new_param(Type::View(result_view(elem)), "out");
        let zero = b.i64(0);
        let index = weft_ir::Index { value: zero, wrap: false };
        b.push(StmtKind::Store {
            view: out,
            indices: vec![index],
            value,
            part: weft_ir::Part::Whole,
        });
    }
    Some(b.finish())
}

fn result_view(elem: Scalar) -> ViewType {
    ViewType {
        elem,
        rank: 1,
        layout: Layout::C,
        space: Space::Global,
        writable: true,
    }
}
