//! Which storage each view may lie in, and what the cells of each storage are.
//!
//! A storage is one variable of naga's: the binding of a class of views, shared or local arrays, the constants, the dynamic shared memory.
//! Its cells are of one type, chosen so that the accesses it sees cost least.

use std::collections::{BTreeSet, HashMap};

use weft_ir::{AtomicOp, Function, Local, Op, Scalar, Space, StmtKind, Value};
use weft_passes::origins::{Origin, Origins};

use super::operand::Ty;
use super::{ClassUse, Request};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct StorageId(pub u32);

impl StorageId {
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// What a storage is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Home {
    Class(u32),
    /// Arrays of a function, one behind the other.
    Arrays(Space),
    Constants,
    Dynamic,
}

/// What one access of a variable means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cell {
    pub ty: Ty,
    pub atomic: bool,
    /// A cell holds one part of an element, however small. Else cells are memory, and a part is some of a cell or some cells.
    pub widened: bool,
}

#[derive(Clone, Debug)]
pub struct Storage {
    pub home: Home,
    pub cell: Cell,
    pub uses: ClassUse,
    /// Cells of arrays.
    pub cells: u64,
}

/// The storages of a function.
#[derive(Debug, Default)]
pub struct Storages {
    pub list: Vec<Storage>,
    /// Where each array starts in its storage, in parts.
    pub arrays: Vec<(StorageId, u64)>,
    pub constants: Option<StorageId>,
    pub dynamic: Option<StorageId>,
    pub classes: Vec<StorageId>,
    /// Where the views of locals may lie.
    pub locals: HashMap<Local, Vec<StorageId>>,
}

/// Something views may be parts of, numbered: classes first, then arrays, then the constants and the dynamic shared memory.
type Node = usize;

/// What is done to the elements of a node.
#[derive(Clone, Debug, Default)]
struct Accesses {
    loaded: BTreeSet<Scalar>,
    stored: BTreeSet<Scalar>,
    /// By whether float atomics of hardware will do.
    atomics: BTreeSet<Scalar>,
    adds_only: bool,
}

struct Nodes<'f> {
    f: &'f Function,
    classes: usize,
    /// The class of each view parameter.
    class_of: HashMap<Value, Node>,
    origins: Origins,
}

impl<'f> Nodes<'f> {
    fn of(&self, origins: &BTreeSet<Origin>) -> BTreeSet<Node> {
        origins.iter().filter_map(|origin| self.node(*origin)).collect()
    }

    fn node(&self, origin: Origin) -> Option<Node> {
        Some(match origin {
            Origin::Param(param) => *self.class_of.get(&param)?,
            Origin::Array(id) => self.classes + id.index(),
            Origin::Constants => self.constants(),
            Origin::Dynamic => self.dynamic(),
        })
    }

    fn constants(&self) -> Node {
        self.classes + self.f.arrays.len()
    }

    fn dynamic(&self) -> Node {
        self.constants() + 1
    }

    fn accesses(&self) -> Vec<Accesses> {
        let mut all = vec![
            Accesses {
                adds_only: true,
                ..Accesses::default()
            };
            self.dynamic() + 1
        ];
        let part = |view: &Value| self.f.ty(*view).view().map(|v| v.elem.part());
        self.f.body.walk(&mut |kind| {
            let Some((view, access)) = access(kind) else {
                return;
            };
            let Some(part) = part(&view) else {
                return;
            };
            for node in self.of(&self.origins.of(view)) {
                let seen = &mut all[node];
                match access {
                    Access::Load => _ = seen.loaded.insert(part),
                    Access::Store => _ = seen.stored.insert(part),
                    Access::Atomic(op) => {
                        seen.atomics.insert(part);
                        seen.adds_only &= matches!(op, AtomicOp::Add | AtomicOp::Sub | AtomicOp::Exch);
                    }
                }
            }
        });
        all
    }
}

/// What a statement does to an element.
enum Access {
    Load,
    Store,
    Atomic(AtomicOp),
}

/// The view whose element a statement reads or changes.
fn access(kind: &StmtKind) -> Option<(Value, Access)> {
    match kind {
        StmtKind::Let(_, op) => access_of_operation(op),
        StmtKind::Store { view, .. } => Some((*view, Access::Store)),
        StmtKind::Set(..) | StmtKind::Return(_) | StmtKind::Raise { .. } | StmtKind::Print(_) | StmtKind::Sleep(_) => None,
        StmtKind::If { .. } | StmtKind::Loop(_) | StmtKind::For { .. } | StmtKind::Scope(..) => None,
        StmtKind::Leave(_) | StmtKind::Break | StmtKind::Continue => None,
        StmtKind::Barrier | StmtKind::GridBarrier | StmtKind::SyncWarp(_) | StmtKind::Mma { .. } | StmtKind::Fence(_) => None,
        StmtKind::ParFor { .. } | StmtKind::Launch { .. } => None,
    }
}

fn access_of_operation(op: &Op) -> Option<(Value, Access)> {
    match op {
        Op::Load { view, .. } => Some((*view, Access::Load)),
        Op::Atomic { view, op, .. } => Some((*view, Access::Atomic(*op))),
        Op::Const(_) | Op::Get(_) | Op::Unary(..) | Op::Binary(..) | Op::Compare(..) | Op::Select(..) | Op::Fma(..) => None,
        Op::Cast(_) | Op::Bitcast(_) | Op::Complex(..) | Op::Re(_) | Op::Im(_) | Op::Tuple(_) | Op::Item(..) | Op::Call(..) => None,
        Op::Dim(..) | Op::Slice { .. } | Op::Transpose(..) | Op::PartView(..) | Op::Reshape(..) => None,
        Op::Alloc { .. } | Op::Array(_) | Op::ConstArray(_) | Op::DynamicShared | Op::Apart(..) | Op::Routine { .. } => None,
        Op::ThreadState(_) | Op::Libm { .. } => None,
        Op::Geometry(_) | Op::Warp { .. } | Op::ActiveMask | Op::BarrierReduce(..) | Op::OutOfStack => None,
    }
}

impl Accesses {
    fn parts(&self) -> BTreeSet<Scalar> {
        &(&self.loaded | &self.stored) | &self.atomics
    }

    fn merge(&mut self, other: &Accesses) {
        self.loaded.extend(&other.loaded);
        self.stored.extend(&other.stored);
        self.atomics.extend(&other.atomics);
        self.adds_only &= other.adds_only;
    }

    fn uses(&self) -> ClassUse {
        let atomic = !self.atomics.is_empty();
        ClassUse {
            read: atomic || !self.loaded.is_empty(),
            written: atomic || !self.stored.is_empty(),
        }
    }

    /// Cells that are memory as it is.
    fn cell(&self, home: Home, request: &Request) -> Cell {
        let parts = self.parts();
        let only = if parts.len() == 1 { parts.first().copied() } else { None };
        let plain = |ty| Cell {
            ty,
            atomic: false,
            widened: false,
        };
        let atomic = |ty| Cell {
            ty,
            atomic: true,
            widened: false,
        };
        let sizes: BTreeSet<usize> = parts.iter().map(|s| s.size()).collect();
        if self.atomics.iter().any(|s| s.size() == 8) {
            return atomic(if only == Some(Scalar::I64) { Ty::I64 } else { Ty::U64 });
        }
        if !self.atomics.is_empty() || self.stored.iter().any(|s| s.size() < 4) {
            return atomic(match only {
                Some(Scalar::I32) => Ty::I32,
                Some(Scalar::F32) if self.adds_only && request.features.float_atomics && matches!(home, Home::Class(_)) => Ty::F32,
                _ => Ty::U32,
            });
        }
        match (only, sizes.first()) {
            (Some(s), _) if s.size() >= 4 => plain(Ty::of(s)),
            (None, Some(8)) if request.features.int64 => plain(Ty::U64),
            _ => plain(Ty::U32),
        }
    }

    /// Cells that hold one part each: all parts are of one type.
    fn wide_cell(&self, part: Scalar, home: Home, request: &Request) -> Cell {
        let local = home == Home::Arrays(Space::Local);
        let cell = if local { Cell::default() } else { self.cell(home, request) };
        let ty = if cell.atomic && part.size() >= 4 {
            cell.ty
        } else {
            Ty::in_memory(part)
        };
        Cell {
            ty,
            atomic: !self.atomics.is_empty() && !local,
            widened: true,
        }
    }
}

impl Default for Cell {
    fn default() -> Cell {
        Cell {
            ty: Ty::U32,
            atomic: false,
            widened: false,
        }
    }
}

/// Finds the storages of a function whose view parameters are of the request's classes.
pub fn find(f: &Function, request: &Request) -> Storages {
    let classes = request.classes.iter().map(|class| *class as usize + 1).max().unwrap_or(0);
    let views = f.params.iter().filter(|p| f.ty(**p).view().is_some());
    let class_of = views.zip(request.classes).map(|(param, class)| (*param, *class as usize));
    let nodes = Nodes {
        f,
        classes,
        class_of: class_of.collect(),
        origins: Origins::find(f),
    };
    build(&nodes, request)
}

fn build(nodes: &Nodes, request: &Request) -> Storages {
    let accesses = nodes.accesses();
    let mut made = Storages::default();
    let mut of_node: HashMap<Node, StorageId> = HashMap::new();
    let add = |made: &mut Storages, storage: Storage| {
        made.list.push(storage);
        StorageId(made.list.len() as u32 - 1)
    };
    for (class, seen) in accesses.iter().take(nodes.classes).enumerate() {
        let home = Home::Class(class as u32);
        let id = add(&mut made, memory(home, seen, request));
        made.classes.push(id);
        of_node.insert(class, id);
    }
    for (node, home) in [(nodes.constants(), Home::Constants), (nodes.dynamic(), Home::Dynamic)] {
        let id = add(&mut made, memory(home, &accesses[node], request));
        of_node.insert(node, id);
        match home {
            Home::Constants => made.constants = Some(id),
            _ => made.dynamic = Some(id),
        }
    }
    arrays(nodes, request, &accesses, &mut made, &mut of_node);
    for (local, origins) in &nodes.origins.locals {
        let found = nodes.of(origins);
        let ids: BTreeSet<StorageId> = found.iter().filter_map(|node| of_node.get(node).copied()).collect();
        made.locals.insert(*local, ids.into_iter().collect());
    }
    made
}

fn memory(home: Home, seen: &Accesses, request: &Request) -> Storage {
    let cell = match home {
        Home::Constants => Cell::default(),
        _ => seen.cell(home, request),
    };
    Storage {
        home,
        cell,
        uses: seen.uses(),
        cells: 0,
    }
}

/// Arrays that one view may lie in share a storage.
fn arrays(nodes: &Nodes, request: &Request, accesses: &[Accesses], made: &mut Storages, of_node: &mut HashMap<Node, StorageId>) {
    let f = nodes.f;
    let mut group: Vec<usize> = (0..f.arrays.len()).collect();
    for set in nodes.origins.values.values().chain(nodes.origins.locals.values()) {
        let mut members = set.iter().filter_map(|origin| match origin {
            Origin::Array(id) => Some(id.index()),
            Origin::Param(_) | Origin::Constants | Origin::Dynamic => None,
        });
        let Some(first) = members.next() else {
            continue;
        };
        for other in members {
            let (a, b) = (group[first], group[other]);
            group.iter_mut().filter(|g| **g == b).for_each(|g| *g = a);
        }
    }
    let packs = wide_bytes(f) > u64::from(request.features.shared_bytes).saturating_sub(request.shared_bytes.into());
    made.arrays = vec![(StorageId(0), 0); f.arrays.len()];
    let mut storages: HashMap<usize, StorageId> = HashMap::new();
    for (i, decl) in f.arrays.iter().enumerate() {
        let members = (0..f.arrays.len()).filter(|j| group[*j] == group[i]);
        let id = *storages.entry(group[i]).or_insert_with(|| {
            let mut seen = Accesses {
                adds_only: true,
                ..Accesses::default()
            };
            members.for_each(|j| seen.merge(&accesses[nodes.classes + j]));
            let home = Home::Arrays(decl.space);
            let part = decl.elem.part();
            let cell = if packs && decl.space == Space::Shared && part.size() < 4 {
                seen.cell(home, request)
            } else {
                seen.wide_cell(part, home, request)
            };
            made.list.push(Storage {
                home,
                cell,
                uses: seen.uses(),
                cells: 0,
            });
            StorageId(made.list.len() as u32 - 1)
        });
        of_node.insert(nodes.classes + i, id);
        let storage = &mut made.list[id.index()];
        let part = decl.elem.part().size() as u64;
        let parts = decl.shape.iter().product::<u64>() * (decl.elem.size() as u64 / part);
        let cell_bytes = u64::from(storage.cell.ty.bytes());
        if storage.cell.widened {
            made.arrays[i] = (id, storage.cells);
            storage.cells += parts.max(1);
        } else {
            made.arrays[i] = (id, storage.cells * cell_bytes / part);
            storage.cells += (parts * part).div_ceil(cell_bytes).max(1);
        }
    }
}

/// Bytes of shared arrays if small elements take a cell each.
fn wide_bytes(f: &Function) -> u64 {
    let shared = f.arrays.iter().filter(|decl| decl.space == Space::Shared);
    let bytes = shared.map(|decl| {
        decl.shape
            .iter()
            .fold(decl.elem.size().max(4) as u64, |n, axis| n.saturating_mul(*axis))
    });
    bytes.fold(0, u64::saturating_add)
}
