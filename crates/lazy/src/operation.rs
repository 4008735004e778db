//! Operations of elements: a ufunc's loop for some types, a cast, a choice. Each exists once per process and has a number.

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::{PoisonError, RwLock};

use smallvec::SmallVec;
use weft_front::{ArgType, ufuncs};
use weft_ir::{FuncId, Function, Module, Op, Scalar, StmtKind};
use weft_tile::TileLoop;

use crate::single::Single;
use crate::value::MOST_OPERATIONS;

#[derive(Debug)]
pub struct Operation {
    /// Which one it is, in keys of kernels.
    pub number: u32,
    pub what: What,
    pub operands: SmallVec<[Scalar; 3]>,
    pub result: Scalar,
    /// How much of a kernel it takes.
    pub cost: u32,
    /// Its loop, if it is one that was compiled with Weft.
    pub tile: Option<TileLoop>,
    /// Else it is compiled when it is first run.
    pub single: Single,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum What {
    /// NumPy's ufunc of the name, and which of its results.
    Ufunc {
        name: &'static str,
        part: Option<u8>,
    },
    Cast,
    /// `where(condition, a, b)`
    Select,
    /// A user's function, by its number.
    Function(u32),
}

/// A user's function of numbers: the module's entry.
#[derive(Debug)]
pub struct Users {
    pub name: String,
    pub module: Module,
    cost: u32,
}

/// Threads that compile ask for them without the host language's lock, under which forks happen.
static USERS: weft_forks::Mutex<Vec<&'static Users>> = weft_forks::Mutex::new(Vec::new());

/// The function with a number.
pub fn users(id: u32) -> &'static Users {
    static NONE: Users = Users {
        name: String::new(),
        module: Module {
            sources: Vec::new(),
            constants: Vec::new(),
            functions: Vec::new(),
            entry: FuncId(0),
        },
        cost: 0,
    };
    USERS.lock().get(id as usize).copied().unwrap_or(&NONE)
}

/// The operation that a function of numbers is, the entry of its module, in which some functions are Weft's own. A function that is the
/// same as one before is that one: programs that define it again and again are no worse off than others.
pub fn function(
    name: &str,
    module: &Module,
    is_own: &dyn Fn(&Function) -> bool,
    operands: &[Scalar],
    result: Scalar,
) -> &'static Operation {
    let find = |known: &[&'static Users]| known.iter().rposition(|users| users.name == name && users.module == *module);
    let id = {
        let mut known = USERS.lock();
        find(&known).unwrap_or_else(|| {
            known.push(Box::leak(Box::new(Users {
                name: name.into(),
                module: module.clone(),
                cost: cost(module, is_own),
            })));
            known.len() - 1
        })
    };
    intern(What::Function(id as u32), SmallVec::from_slice(operands), result)
}

/// What a function takes of a kernel: its statements, calls of Weft's own functions as those of other kernels, and as much as one may take if
/// it has a loop.
fn cost(module: &Module, is_own: &dyn Fn(&Function) -> bool) -> u32 {
    let mut count = 0u32;
    let mut loops = false;
    for function in module.functions.iter().filter(|function| !is_own(function)) {
        function.body.walk(&mut |kind| match kind {
            StmtKind::Let(_, Op::Call(callee, _)) if is_own(module.function(*callee)) => count += COST_OF_FUNCTION,
            StmtKind::Loop(_) | StmtKind::For { .. } => loops = true,
            StmtKind::Let(_, Op::Const(_) | Op::Get(_)) | StmtKind::Set(..) | StmtKind::Return(_) => {}
            _ => count += 1,
        });
    }
    if loops { MOST_OPERATIONS } else { count.clamp(1, MOST_OPERATIONS) }
}

/// What is compiled takes as much of a kernel as so many operations of one instruction.
const COST_OF_FUNCTION: u32 = 6;

type Key = (What, SmallVec<[Scalar; 3]>, Scalar);

static KNOWN: RwLock<Option<HashMap<Key, &'static Operation>>> = RwLock::new(None);

/// The operation of some types. Operations are kept for good: there are only so many.
fn intern(what: What, operands: SmallVec<[Scalar; 3]>, result: Scalar) -> &'static Operation {
    let key = (what, operands, result);
    if let Some(found) = KNOWN
        .read()
        .unwrap_or_else(PoisonError::into_inner)
        .as_ref()
        .and_then(|known| known.get(&key))
    {
        return found;
    }
    let mut known = KNOWN.write().unwrap_or_else(PoisonError::into_inner);
    let known = known.get_or_insert_default();
    let number = known.len() as u32;
    known.entry(key).or_insert_with_key(|(what, operands, result)| {
        let tile = match what {
            What::Ufunc { name, part: None } => weft_tile::find(name, operands)
                .filter(|(_, gives)| gives == result)
                .map(|(run, _)| run),
            What::Ufunc { name, part: Some(part) } => weft_tile::find_pair(name, operands)
                .map(|pair| pair[usize::from(*part)])
                .filter(|(_, gives)| gives == result)
                .map(|(run, _)| run),
            What::Cast => Some(weft_tile::cast(operands[0], *result)),
            What::Select => Some(weft_tile::select(*result)),
            What::Function(_) => None,
        };
        Box::leak(Box::new(Operation {
            number,
            what: *what,
            operands: operands.clone(),
            result: *result,
            cost: match what {
                What::Function(id) => users(*id).cost,
                _ if tile.is_some() => 1,
                _ => COST_OF_FUNCTION,
            },
            tile,
            single: Single::default(),
        }))
    })
}

pub fn cast(from: Scalar, to: Scalar) -> &'static Operation {
    intern(What::Cast, SmallVec::from_slice(&[from]), to)
}

pub fn select(elem: Scalar) -> &'static Operation {
    intern(What::Select, SmallVec::from_slice(&[Scalar::Bool, elem, elem]), elem)
}

/// A ufunc of operands of some types: what these are converted to, and an operation for each of its results.
#[derive(Debug)]
pub struct Resolved {
    pub operands: SmallVec<[Scalar; 3]>,
    pub operations: SmallVec<[&'static Operation; 2]>,
}

/// The types of a ufunc's operands, each with whether it is weak: a byte of each, from the last one on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Given(u64);

impl Given {
    /// None of more operands than ufuncs have.
    pub fn of(types: impl ExactSizeIterator<Item = (Scalar, bool)>) -> Option<Given> {
        const { assert!(Scalar::ALL.len() < 128) };
        let byte = |(scalar, weak): (Scalar, bool)| (scalar as u64) << 1 | u64::from(weak);
        (types.len() < 8).then(|| Given(types.fold(1, |all, ty| all << 8 | byte(ty))))
    }
}

type Known = HashMap<(&'static str, Given), Option<&'static Resolved>>;

static RESOLVED: RwLock<Option<Known>> = RwLock::new(None);

/// Entries of a thread's own table, which is asked first.
const NEAR: usize = 256;

type Near = [Option<(&'static str, Given, Option<&'static Resolved>)>; NEAR];

thread_local! {
    static NEAREST: RefCell<Box<Near>> = RefCell::new(Box::new([const { None }; NEAR]));
}

/// The loop of a ufunc that NumPy takes for these operands; none where it raises `TypeError`.
pub fn resolve<T>(name: &'static str, types: T) -> Option<&'static Resolved>
where
    T: ExactSizeIterator<Item = (Scalar, bool)> + Clone,
{
    let given = Given::of(types.clone())?;
    let start = name.as_ptr() as usize ^ (name.as_ptr() as usize >> 4);
    let mixed = given.0.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 48;
    let place = (start ^ mixed as usize) % NEAR;
    NEAREST.with_borrow_mut(|near| match &near[place] {
        Some((known, types, resolved)) if std::ptr::eq(*known, name) && *types == given => *resolved,
        _ => {
            let resolved = looked_up(name, given, types);
            near[place] = Some((name, given, resolved));
            resolved
        }
    })
}

fn looked_up(name: &'static str, given: Given, types: impl Iterator<Item = (Scalar, bool)>) -> Option<&'static Resolved> {
    let key = (name, given);
    if let Some(found) = RESOLVED
        .read()
        .unwrap_or_else(PoisonError::into_inner)
        .as_ref()
        .and_then(|known| known.get(&key))
    {
        return *found;
    }
    let types: Vec<ArgType> = types
        .map(|(scalar, weak)| if weak { ArgType::Weak(scalar) } else { ArgType::Strong(scalar) })
        .collect();
    let resolved = ufuncs::resolve(name, &types).map(|found| {
        let operands: SmallVec<[Scalar; 3]> = SmallVec::from_vec(found.operands);
        let many = found.results.len() > 1;
        let operation = |(part, result): (usize, &Scalar)| {
            let part = many.then_some(part as u8);
            intern(What::Ufunc { name, part }, operands.clone(), *result)
        };
        let operations = found.results.iter().enumerate().map(operation).collect();
        &*Box::leak(Box::new(Resolved { operands, operations }))
    });
    let mut known = RESOLVED.write().unwrap_or_else(PoisonError::into_inner);
    *known.get_or_insert_default().entry(key).or_insert(resolved)
}

/// The operation of a ufunc, or of one of its results, that takes operands of just these types.
pub fn named(name: &str, part: Option<u8>, operands: &[Scalar]) -> Option<&'static Operation> {
    let resolved = resolve(ufunc_name(name)?, operands.iter().map(|&elem| (elem, false)))?;
    let many = resolved.operations.len() > 1;
    if many != part.is_some() || resolved.operands.as_slice() != operands {
        return None;
    }
    resolved.operations.get(usize::from(part.unwrap_or(0))).copied()
}

/// A ufunc's name as it stands in keys, if there is a ufunc of that name.
pub fn ufunc_name(name: &str) -> Option<&'static str> {
    static NAMES: RwLock<Vec<&'static str>> = RwLock::new(Vec::new());
    let known = |names: &[&'static str]| names.iter().copied().find(|known| *known == name);
    if let Some(found) = known(&NAMES.read().unwrap_or_else(PoisonError::into_inner)) {
        return Some(found);
    }
    ufuncs::arity(name)?;
    let mut names = NAMES.write().unwrap_or_else(PoisonError::into_inner);
    if let Some(found) = known(&names) {
        return Some(found);
    }
    let kept: &'static str = Box::leak(name.into());
    names.push(kept);
    Some(kept)
}
