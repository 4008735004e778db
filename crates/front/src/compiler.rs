//! One compilation: the module being made, and what it is made of.

mod calls;

use std::collections::HashMap;
use std::rc::Rc;

use weft_ir::{ConstArray, ConstId, FuncId, FuncKind, Function, Module, Scalar, Source, SourceId};

pub use calls::Callee;
use calls::Calls;

use crate::lower::{self, Job};
use crate::parse::{ParamKind, Parsed, parse};
use crate::stop::Res;
use crate::types::Ty;
use crate::{FunctionSource, Inferred, Options, Role};

/// How deep expressions, blocks and calls may be nested, all together: lowering walks them by recursion.
pub const DEEPEST: usize = 400;

/// Keys of functions inside others have this bit set, those of the host and the library have not.
const INNER: u64 = 1 << 62;

/// What tells a function inside another one from others: the key of that one, where it stands in the text, and its defaults, which are
/// constants to its code.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Place {
    pub around: u64,
    pub at: u32,
    pub defaults: Vec<String>,
}

pub struct Compiler {
    /// What the entry becomes.
    pub role: Role,
    /// A function asked to run in checked mode.
    pub checked: bool,
    options: Options,
    pub sources: Vec<Source>,
    /// What was inferred in the user's functions.
    pub types: Vec<Inferred>,
    source_ids: HashMap<(String, u32, String), SourceId>,
    constants: Vec<ConstArray>,
    /// By the arrays' keys.
    constant_ids: HashMap<u64, ConstId>,
    /// Those that are nobody's array, by what they hold.
    made: HashMap<ConstArray, ConstId>,
    functions: Vec<Function>,
    calls: Calls,
    /// The functions found inside others, by the function and their place in its text: their keys, and by these their syntax.
    inner: HashMap<Place, u64>,
    trees: Vec<Rc<Parsed>>,
    /// How deep what is being lowered now is nested.
    pub depth: usize,
}

impl Compiler {
    pub fn new(options: Options) -> Compiler {
        Compiler {
            role: options.role,
            checked: false,
            options,
            sources: Vec::new(),
            types: Vec::new(),
            source_ids: HashMap::new(),
            constants: Vec::new(),
            constant_ids: HashMap::new(),
            made: HashMap::new(),
            functions: Vec::new(),
            calls: Calls::default(),
            inner: HashMap::new(),
            trees: Vec::new(),
            depth: 0,
        }
    }

    pub fn kind_of(&self, id: FuncId) -> Option<&FuncKind> {
        self.functions.get(id.index()).map(|f| &f.kind)
    }

    pub fn source_id(&mut self, source: &Source) -> SourceId {
        let key = (source.file.clone(), source.first_line, source.text.clone());
        let next = SourceId(self.sources.len() as u32);
        let id = *self.source_ids.entry(key).or_insert(next);
        if id == next {
            self.sources.push(source.clone());
        }
        id
    }

    /// The key of a function inside another one at a place, whose syntax is made where it is met first.
    pub fn inner_key(&mut self, place: Place, tree: impl FnOnce() -> Parsed) -> u64 {
        if let Some(key) = self.inner.get(&place) {
            return *key;
        }
        let key = INNER | self.trees.len() as u64;
        self.trees.push(Rc::new(tree()));
        self.inner.insert(place, key);
        key
    }

    /// The variables around it that a function inside another one reads.
    pub fn captured_names(&self, key: u64) -> Vec<String> {
        let tree = self.trees.get((key & !INNER) as usize).filter(|_| key & INNER != 0);
        let params = tree.iter().flat_map(|tree| &tree.params);
        params
            .filter(|param| param.kind == ParamKind::Captured)
            .map(|param| param.name.clone())
            .collect()
    }

    /// A function's syntax, and the number its spans carry.
    pub fn tree(&mut self, function: &FunctionSource) -> Res<(Rc<Parsed>, SourceId)> {
        let source = self.source_id(&function.source);
        let tree = match function.key & INNER {
            0 => parse(function, source)?,
            _ => self.trees[(function.key & !INNER) as usize].clone(),
        };
        Ok((tree, source))
    }

    /// The module's copy of an array with a key.
    pub fn constant(&mut self, key: u64, elem: Scalar, shape: &[u64], bytes: &[u8]) -> ConstId {
        if let Some(id) = self.constant_ids.get(&key) {
            return *id;
        }
        let (shape, bytes) = (shape.to_vec(), bytes.to_vec());
        let id = self.add_constant(ConstArray { elem, shape, bytes });
        self.constant_ids.insert(key, id);
        id
    }

    /// The constant array that is one zero of a type, of so many axes.
    pub fn one_zero(&mut self, elem: Scalar, rank: usize) -> ConstId {
        let (shape, bytes) = (vec![1; rank], vec![0; elem.size()]);
        self.made(ConstArray { elem, shape, bytes })
    }

    /// The items of a tuple as an array of one axis.
    pub fn table(&mut self, elem: Scalar, bytes: Vec<u8>) -> ConstId {
        let shape = vec![(bytes.len() / elem.size()) as u64];
        self.made(ConstArray { elem, shape, bytes })
    }

    fn made(&mut self, array: ConstArray) -> ConstId {
        if let Some(id) = self.made.get(&array) {
            return *id;
        }
        let id = self.add_constant(array.clone());
        self.made.insert(array, id);
        id
    }

    fn add_constant(&mut self, array: ConstArray) -> ConstId {
        self.constants.push(array);
        ConstId(self.constants.len() as u32 - 1)
    }

    /// The entry function, compiled as the role asks.
    pub fn entry(&mut self, function: &Rc<FunctionSource>, args: &[Ty]) -> Res<(FuncId, Ty)> {
        let kind = match self.role {
            Role::Host => FuncKind::Host,
            Role::Kernel => FuncKind::Kernel,
            Role::Device => FuncKind::Device,
        };
        let (made, ty) = self.specialise(function, lower::Args::Entry(args), kind, false, self.options)?;
        Ok((self.add(made, None), ty))
    }

    fn specialise(
        &mut self,
        function: &Rc<FunctionSource>,
        args: lower::Args<'_>,
        kind: FuncKind,
        in_parallel: bool,
        options: Options,
    ) -> Res<(Function, Ty)> {
        self.checked |= options.checked;
        let job = Job {
            function: function.clone(),
            args,
            kind,
            in_parallel,
            options,
            frame: self.calls.depth().checked_sub(1),
        };
        lower::function(self, &job)
    }

    /// A function's number, which may have been given out before it was there.
    fn add(&mut self, function: Function, id: Option<FuncId>) -> FuncId {
        let id = id.unwrap_or_else(|| self.new_id(&function.name));
        self.functions[id.index()] = function;
        id
    }

    /// A function that is not compiled yet: what calls it runs where it will.
    fn new_id(&mut self, name: &str) -> FuncId {
        let kind = match self.role {
            Role::Host => FuncKind::Host,
            Role::Kernel | Role::Device => FuncKind::Device,
        };
        self.functions.push(Function::new(name, kind));
        FuncId(self.functions.len() as u32 - 1)
    }

    /// Does a function of the module call itself?
    pub fn has_recursion(&self) -> bool {
        self.calls.has_recursion()
    }

    /// The finished module, with the functions that only provisional types asked for left out.
    pub fn finish(self, entry: FuncId) -> Module {
        let module = Module {
            sources: self.sources,
            constants: self.constants,
            functions: self.functions,
            entry,
        };
        crate::prune::prune(module)
    }
}
