//! Arrays: a storage, as NumPy's buffers are, and where an array's elements lie in it. Every view of a storage sees what is written to it.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};

use smallvec::SmallVec;
use weft_ir::Scalar;

use crate::budget;
use crate::capture;
use crate::dims::{self, Axis, AxisMap, Dims, Strides};
use crate::error::{Error, Result};
use crate::memory::{Block, Piece, needed};
use crate::order::Order;
use crate::record;
use crate::schedule;
use crate::tape;
use crate::value::{Kind, Node, Region, Value};

/// Storages that were made.
static MADE: AtomicU64 = AtomicU64::new(0);

/// What NumPy calls a buffer: it has an identity and a current value.
#[derive(Debug)]
pub struct Storage {
    /// How many had been made before it.
    number: u64,
    /// The type of its elements as they were made; views may have another one.
    elem: Scalar,
    device: u8,
    current: Mutex<Value>,
    /// Memory whose address others were told, who hold no more than an array of this storage.
    told: OnceLock<Mutex<Vec<Arc<Block>>>>,
    /// The value that is that of no other storage, if a tape asked for one.
    own: Mutex<Weak<Node>>,
    /// What gradients came to for its value.
    gradient: OnceLock<Mutex<Option<Arc<Storage>>>>,
}

#[derive(Clone, Debug)]
pub struct Array {
    pub elem: Scalar,
    pub shape: Dims,
    pub storage: Arc<Storage>,
    view: View,
    /// Not to be written to: a broadcast view, or one that was asked to be so.
    pub read_only: bool,
    /// Made with its storage, and no view of another array's: NumPy's OWNDATA.
    pub own: bool,
}

/// Where an array's elements are among its storage's.
#[derive(Clone, Debug)]
enum View {
    /// All of them, in order.
    Whole,
    /// By axes of the storage in some shape.
    Axes(Box<Axes>),
    /// By bytes.
    Strided(Box<Places>),
}

#[derive(Clone, Debug)]
struct Axes {
    base: Dims,
    map: AxisMap,
}

#[derive(Clone, Debug)]
struct Places {
    offset: i64,
    strides: Strides,
}

/// The same as others see it.
#[derive(Clone, Debug)]
pub enum Lying {
    Whole,
    Axes(Dims, AxisMap),
    Strided(i64, Strides),
}

/// One part of a basic index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Index {
    At(i64),
    Slice {
        start: Option<i64>,
        stop: Option<i64>,
        step: Option<i64>,
    },
    NewAxis,
    Ellipsis,
}

impl Storage {
    fn new(elem: Scalar, value: Value) -> Arc<Storage> {
        Arc::new(Storage {
            number: MADE.fetch_add(1, Ordering::Relaxed),
            elem,
            device: value.device,
            current: Mutex::new(value),
            told: OnceLock::new(),
            own: Mutex::new(Weak::new()),
            gradient: OnceLock::new(),
        })
    }

    /// Keeps memory as long as the storage is there, as it is: what somebody holds is not written to.
    pub fn keep(&self, block: &Arc<Block>) {
        let mut told = self.told.get_or_init(Mutex::default).lock().unwrap_or_else(PoisonError::into_inner);
        if !told.iter().any(|known| Arc::ptr_eq(known, block)) {
            told.push(block.clone());
        }
    }

    /// What gradients came to for its value, if anybody asked for them.
    pub fn gradient(&self) -> Option<Arc<Storage>> {
        self.gradient.get()?.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn set_gradient(&self, gradient: Option<Arc<Storage>>) {
        let place = self.gradient.get_or_init(Mutex::default);
        let _before = std::mem::replace(&mut *place.lock().unwrap_or_else(PoisonError::into_inner), gradient);
    }

    /// Adds a cotangent of its value.
    pub fn add_to_gradient(&self, cotangent: &Array) -> Result<()> {
        let sum = match self.gradient() {
            None => cotangent.read(),
            Some(before) => {
                let operands = [before.now(), cotangent.read()].map(record::Operand::Value);
                let sum = record::ufunc("add", &operands, None)?.pop();
                sum.ok_or_else(|| Error::Internal("a sum without a result".into()))?
            }
        };
        self.set_gradient(Some(Storage::new(sum.elem, sum)));
        Ok(())
    }

    /// Its value as a node that is the value of no other storage: all tapes, on whatever threads, follow the same.
    pub fn own_value(self: &Arc<Storage>, value: &Value) -> Value {
        let own = self.own.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = own.upgrade()
            && Arc::ptr_eq(&known, value)
        {
            return known;
        }
        drop(own);
        self.other_value(value)
    }

    /// The same elements as a new value, which it has from here on.
    pub fn other_value(self: &Arc<Storage>, value: &Value) -> Value {
        let leaf = tape::another(value);
        Storage::set(self, leaf.clone());
        *self.own.lock().unwrap_or_else(PoisonError::into_inner) = Arc::downgrade(&leaf);
        leaf
    }

    /// How many storages there have been.
    pub fn count() -> u64 {
        MADE.load(Ordering::Relaxed)
    }

    /// How many had been made before it.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// Where its elements are.
    pub fn device(&self) -> u8 {
        self.device
    }

    /// The type of its elements as they were made.
    pub fn elem(&self) -> Scalar {
        self.elem
    }

    /// A storage of elements that were made in a type.
    pub fn made_as(elem: Scalar, value: Value) -> Arc<Storage> {
        Storage::new(elem, value)
    }

    /// A storage of its own for its value, which nobody finds here any more.
    pub fn given_up(&self) -> Arc<Storage> {
        let mut current = self.current.lock().unwrap_or_else(PoisonError::into_inner);
        let nothing = Node::pending_on(current.device, current.elem, current.shape.clone(), Kind::StandIn);
        static GONE: OnceLock<Arc<Error>> = OnceLock::new();
        let gone = "this array was given up to a captured function (donate=), and its memory is used otherwise";
        nothing.fail(GONE.get_or_init(|| Arc::new(Error::Value(gone.into()))).clone());
        let value = std::mem::replace(&mut *current, nothing);
        drop(current);
        Storage::new(self.elem, value)
    }

    /// Another storage of the same kind.
    pub fn with(&self, value: Value) -> Arc<Storage> {
        Storage::new(self.elem, value)
    }

    /// Its value, captured or not.
    pub fn now(&self) -> Value {
        self.current.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Its value; where a function is captured that did not make it, what stands for it.
    #[allow(clippy::self_named_constructors, reason = "it takes the reference that captures know storages by")]
    pub fn value(this: &Arc<Storage>) -> Value {
        if tape::is_on() {
            tape::read(this);
        }
        if capture::is_on()
            && let Some(value) = capture::stand_in(this)
        {
            return value;
        }
        this.now()
    }

    /// Replaces its value.
    pub fn set(this: &Arc<Storage>, value: Value) {
        if capture::is_on() && capture::stand_in(this).is_some() {
            return capture::replace(this, value);
        }
        let _before = std::mem::replace(&mut *this.current.lock().unwrap_or_else(PoisonError::into_inner), value);
    }
}

impl Array {
    /// A new storage of a value.
    pub fn of(value: Value) -> Array {
        let (elem, shape) = (value.elem, dims::copy(&value.shape));
        let storage = Storage::new(elem, value);
        if capture::is_on() {
            capture::made(&storage);
        }
        Array {
            elem,
            shape,
            storage,
            view: View::Whole,
            read_only: false,
            own: true,
        }
    }

    /// A new storage of a value that was computed in an order, with its axes where they belong.
    pub fn of_ordered(value: Value, order: Option<&[u8]>) -> Array {
        let array = Array::of(value);
        match order {
            None => array,
            order => Array {
                own: true,
                ..array.out_of_order(order)
            },
        }
    }

    /// Where its elements are among its storage's.
    pub fn lying(&self) -> Lying {
        match &self.view {
            View::Whole => Lying::Whole,
            View::Axes(axes) => Lying::Axes(axes.base.clone(), axes.map.clone()),
            View::Strided(places) => Lying::Strided(places.offset, places.strides.clone()),
        }
    }

    /// A view of a storage, which holds what the view shows.
    pub fn lies(storage: Arc<Storage>, elem: Scalar, shape: Dims, lying: Lying) -> Array {
        let view = match lying {
            Lying::Whole => View::Whole,
            Lying::Axes(base, map) => View::Axes(Box::new(Axes { base, map })),
            Lying::Strided(offset, strides) => View::Strided(Box::new(Places { offset, strides })),
        };
        Array {
            elem,
            shape,
            storage,
            view,
            read_only: false,
            own: false,
        }
    }

    /// The same view of another storage.
    pub fn of_storage(&self, storage: Arc<Storage>) -> Array {
        Array { storage, ..self.clone() }
    }

    /// All of another storage, of whatever shape, with axes turned as this array's are.
    pub fn all_of(&self, storage: Arc<Storage>) -> Array {
        let shape = dims::copy(&Storage::value(&storage).shape);
        let whole = Array {
            storage,
            shape,
            view: View::Whole,
            ..self.clone()
        };
        Array {
            own: self.own,
            ..whole.out_of_order(self.turn().as_deref())
        }
    }

    /// The order in which the axes of a whole storage are turned. None of other views.
    pub fn turn(&self) -> Option<Order> {
        match &self.view {
            View::Whole => Some((0..self.rank() as u8).collect()),
            View::Axes(axes) => dims::turn(&axes.map).filter(|turn| turn.len() == self.rank()),
            View::Strided(_) => None,
        }
    }

    /// Appends its types, its shape and where it lies in its storage.
    pub fn describe(&self, into: &mut Vec<u64>) {
        let base = self.current();
        let sizes = |into: &mut Vec<u64>, shape: &[u64]| {
            into.push(shape.len() as u64);
            into.extend_from_slice(shape);
        };
        into.extend([
            self.elem as u64,
            self.storage.elem as u64,
            u64::from(self.device()),
            u64::from(self.read_only),
            u64::from(self.own),
        ]);
        sizes(into, &base.shape);
        sizes(into, &self.shape);
        match &self.view {
            View::Whole => into.push(0),
            View::Axes(axes) => {
                into.push(1);
                sizes(into, &axes.base);
                into.push(axes.map.len() as u64);
                for axis in &axes.map {
                    into.extend([axis.start as u64, axis.step as u64, axis.along.map_or(u64::MAX, u64::from)]);
                }
            }
            View::Strided(places) => {
                into.extend([2, places.offset as u64]);
                into.extend(places.strides.iter().map(|&stride| stride as u64));
            }
        }
    }

    pub fn rank(&self) -> usize {
        self.shape.len()
    }

    pub fn size(&self) -> u64 {
        dims::size(&self.shape).unwrap_or(u64::MAX)
    }

    /// Where its elements are: a number of `machine`'s.
    pub fn device(&self) -> u8 {
        self.storage.device
    }

    fn current(&self) -> Value {
        Storage::value(&self.storage)
    }

    /// The value of the whole storage, as it lies in memory.
    pub fn base(&self) -> Value {
        self.current()
    }

    /// Its elements as they are now.
    pub fn read(&self) -> Value {
        let current = self.current();
        match &self.view {
            View::Whole => record::reshaped(&current, &self.shape),
            View::Axes(axes) => {
                let of = record::reshaped(&current, &axes.base);
                let map = Box::new(axes.map.clone());
                Node::pending(self.elem, dims::copy(&self.shape), Kind::View { of, map })
            }
            View::Strided(places) => {
                let kind = Kind::Strided {
                    of: current,
                    offset: places.offset,
                    strides: Box::new(places.strides.clone()),
                };
                Node::pending(self.elem, dims::copy(&self.shape), kind)
            }
        }
    }

    /// Refuses to be assigned to.
    pub fn check_writeable(&self) -> Result<()> {
        match self.read_only {
            true => Err(Error::Value("assignment destination is read-only".into())),
            false => Ok(()),
        }
    }

    /// Replaces its elements: the value is converted to its type and broadcast to its shape.
    pub fn write(&self, value: &Value) -> Result<()> {
        self.check_writeable()?;
        if tape::is_on() && tape::leaves_shapes(&self.storage, value) {
            let what =
                "weft.vmap calls a function once for all elements of a batch, and this one writes to an array from outside: return it";
            return Err(Error::Value(what.into()));
        }
        let value = record::beside(value, self.device())?;
        let value = record::broadcast_into(&value, &self.shape)?;
        let value = record::cast(&value, self.elem);
        if capture::is_on()
            && let Some(current) = capture::stand_in(&self.storage)
        {
            if let Some(next) = self.updated(&current, value) {
                capture::replace(&self.storage, next);
            }
            return Ok(());
        }
        let mut current = self.storage.current.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(next) = self.updated(&current, value) else { return Ok(()) };
        let before = std::mem::replace(&mut *current, next.clone());
        // The lock is open when this is dropped: it may be Python's, and run code.
        drop(current);
        drop(before);
        budget::keep_update(&next)
    }

    /// Are its elements those of another array, at the same places and in the same order?
    pub fn is_at(&self, other: &Array) -> bool {
        Arc::ptr_eq(&self.storage, &other.storage)
            && self.elem == other.elem
            && self.shape == other.shape
            && self.strides() == other.strides()
    }

    /// The value of its storage when its elements are replaced; none where it has no elements.
    fn updated(&self, current: &Value, value: Value) -> Option<Value> {
        match self.view {
            View::Whole if value.elem == current.elem => Some(record::reshaped(&value, &current.shape)),
            _ if self.size() == 0 => None,
            _ => {
                let (offset, strides) = self.strides();
                let region = Region {
                    shape: dims::copy(&self.shape),
                    offset,
                    strides,
                };
                let kind = Kind::Update {
                    base: current.clone(),
                    region: Box::new(region),
                    value,
                };
                Some(Node::pending(current.elem, current.shape.clone(), kind))
            }
        }
    }

    /// The offset of its first element in the storage and its strides, in bytes.
    pub fn strides(&self) -> (i64, Strides) {
        let item = self.storage.elem.size();
        match &self.view {
            View::Whole => (0, dims::dense(&self.shape, self.elem.size())),
            View::Axes(axes) => dims::through(&axes.map, &dims::dense(&axes.base, item), self.rank()),
            View::Strided(places) => (places.offset, places.strides.clone()),
        }
    }

    /// Memory of its whole storage for one who writes to it himself; none where it has to be computed first. Nobody else has it: what was
    /// recorded keeps what it read.
    pub fn own_memory(&self) -> Result<Option<Piece>> {
        // What was there is dropped when the lock is open.
        let _before;
        let mut current = self.storage.current.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(mut piece) = current.piece() else {
            return Ok(None);
        };
        if Arc::strong_count(&current) > 1 || !piece.is_own(2) {
            let bytes = needed(&current.shape, current.elem)?;
            piece = schedule::copied(&piece, bytes)?;
        }
        let new = Node::stored(current.elem, current.shape.clone(), piece.clone());
        _before = std::mem::replace(&mut *current, new);
        Ok(Some(piece))
    }

    pub fn is_whole(&self) -> bool {
        matches!(self.view, View::Whole)
    }

    /// A view: `map` says where its axes lie among this array's.
    fn remapped(&self, map: &[Axis], shape: Dims) -> Array {
        // Axes may have been put back in order.
        let by_axes = |base: &Dims, map: AxisMap| match *base == shape && map == dims::identity(shape.len()) {
            true => View::Whole,
            false => View::Axes(Box::new(Axes {
                base: dims::copy(base),
                map,
            })),
        };
        let view = match &self.view {
            View::Whole => by_axes(&self.shape, SmallVec::from_slice(map)),
            View::Axes(axes) => by_axes(&axes.base, dims::compose(map, &axes.map)),
            View::Strided(places) => {
                let (further, strides) = dims::through(map, &places.strides, shape.len());
                View::Strided(Box::new(Places {
                    offset: places.offset + further,
                    strides,
                }))
            }
        };
        Array {
            shape,
            view,
            own: false,
            ..self.clone()
        }
    }

    /// Replaces what gradients came to: of all of its storage.
    pub fn set_gradient(&self, gradient: Option<&Array>) -> Result<()> {
        let Some(gradient) = gradient else {
            self.storage.set_gradient(None);
            return Ok(());
        };
        if gradient.shape != self.shape || gradient.elem != self.elem || !self.is_whole() {
            return Err(Error::Value(
                "a gradient has the shape and the dtype of its array, which is no view".into(),
            ));
        }
        let value = record::reshaped(&gradient.read(), &self.storage.now().shape);
        self.storage.set_gradient(Some(Storage::new(self.elem, value)));
        Ok(())
    }

    /// What is seen of it through a map of its axes.
    pub fn through(&self, map: &[Axis], shape: Dims) -> Array {
        self.remapped(map, shape)
    }

    pub fn permuted(&self, axes: &[usize]) -> Result<Array> {
        if axes.len() != self.rank() || (0..self.rank()).any(|axis| !axes.contains(&axis)) {
            return Err(Error::Value("axes don't match array".into()));
        }
        Ok(self.in_order(&axes.iter().map(|&axis| axis as u8).collect::<Order>()))
    }

    /// With axes in the order of a result's memory, and as many as it has.
    pub fn in_order(&self, order: &[u8]) -> Array {
        let missing = order.len() - self.rank();
        let mut map = dims::identity(self.rank());
        let mut shape: Dims = SmallVec::from_elem(1, order.len());
        for (new, &old) in order.iter().enumerate() {
            if let Some(own) = usize::from(old).checked_sub(missing) {
                map[own].along = Some(new as u8);
                shape[new] = self.shape[own];
            }
        }
        self.remapped(&map, shape)
    }

    /// Its elements as they are now, with axes in the order of a result's memory, if that is not C's.
    pub fn read_in(&self, order: Option<&[u8]>) -> Value {
        match order {
            Some(order) if self.rank() > 0 => self.in_order(order).read(),
            _ => self.read(),
        }
    }

    /// What was computed in an order, with its axes where they belong.
    pub fn out_of_order(self, order: Option<&[u8]>) -> Array {
        let Some(order) = order else { return self };
        let mut map = dims::identity(self.rank());
        let mut shape = dims::copy(&self.shape);
        for (old, &new) in order.iter().enumerate() {
            map[old].along = Some(new);
            shape[new as usize] = self.shape[old];
        }
        self.remapped(&map, shape)
    }

    /// Read-only, as NumPy's.
    pub fn broadcast(&self, to: &[u64]) -> Result<Array> {
        capture::sized();
        record::check_broadcast(&self.shape, to)?;
        let map = dims::broadcast(&self.shape, to);
        let mut view = self.remapped(&map, Dims::from_slice(to));
        view.read_only = true;
        Ok(view)
    }

    /// The elements in C order in another shape: a view where no element has to move, as NumPy decides it.
    pub fn reshape(&self, to: &[u64]) -> Result<Array> {
        capture::sized();
        if dims::size(to) != dims::size(&self.shape) {
            let shown = record::shown(to);
            return Err(Error::Value(format!(
                "cannot reshape array of size {} into shape {shown}",
                self.size()
            )));
        }
        match self.reshaped_view(to) {
            Some(view) => Ok(view),
            None => {
                let moved = record::reshaped(&self.read(), to);
                budget::keep(&moved)?;
                Ok(Array::of(moved))
            }
        }
    }

    /// Only where it is a view.
    pub fn reshaped_view(&self, to: &[u64]) -> Option<Array> {
        let shape = Dims::from_slice(to);
        if self.is_whole() {
            return Some(Array {
                shape,
                own: false,
                ..self.clone()
            });
        }
        if self.size() == 0 {
            let strides = dims::dense(to, self.elem.size());
            return Some(self.strided_as(self.elem, shape, self.strides().0, strides));
        }
        if let Some(map) = dims::with_other_units(&self.shape, to) {
            return Some(self.remapped(&map, shape));
        }
        let (offset, strides) = self.strides();
        let strides = dims::reshaped(&self.shape, &strides, to)?;
        Some(self.strided_as(self.elem, shape, offset, strides))
    }

    fn strided_as(&self, elem: Scalar, shape: Dims, offset: i64, strides: Strides) -> Array {
        Array {
            elem,
            shape,
            view: View::Strided(Box::new(Places { offset, strides })),
            own: false,
            ..self.clone()
        }
    }

    /// A view of the storage's bytes by an offset from this array's first element and strides, checked to stay inside of the storage.
    pub fn strided(&self, elem: Scalar, shape: &[u64], strides: &[i64], offset: i64) -> Result<Array> {
        capture::sized();
        let first = self.strides().0.checked_add(offset);
        let bytes = self.current().size().checked_mul(self.storage.elem.size() as u64);
        match first {
            Some(first) if dims::lie_within(first, shape, strides, elem.size(), bytes.unwrap_or(0)) => {
                Ok(self.strided_as(elem, Dims::from_slice(shape), first, Strides::from_slice(strides)))
            }
            _ => Err(Error::Value("the view would reach outside of the array's memory".into())),
        }
    }

    /// NumPy's basic indexing.
    pub fn index(&self, key: &[Index]) -> Result<Array> {
        let mut map = AxisMap::new();
        let mut shape = Dims::new();
        let is_all = |part: &Index| match part {
            Index::At(_) => false,
            // Python's slices without a start or stop have the least and the greatest.
            Index::Slice { start, stop, step } => start.unwrap_or(0) == 0 && stop.unwrap_or(i64::MAX) == i64::MAX && step.unwrap_or(1) == 1,
            Index::NewAxis | Index::Ellipsis => true,
        };
        if !key.iter().all(is_all) {
            capture::sized();
        }
        let taken = key.iter().filter(|part| matches!(part, Index::At(_) | Index::Slice { .. })).count();
        if taken > self.rank() {
            return Err(Error::Index(format!(
                "too many indices for array: array is {}-dimensional, but {taken} were indexed",
                self.rank()
            )));
        }
        let whole = |map: &mut AxisMap, shape: &mut Dims, count: usize| {
            for _ in 0..count {
                map.push(Axis {
                    start: 0,
                    step: 1,
                    along: Some(shape.len() as u8),
                });
                shape.push(self.shape[map.len() - 1]);
            }
        };
        let mut dots = false;
        for part in key {
            match *part {
                Index::NewAxis => shape.push(1),
                Index::Ellipsis if dots => return Err(Error::Index("an index can only have a single ellipsis ('...')".into())),
                Index::Ellipsis => {
                    dots = true;
                    whole(&mut map, &mut shape, self.rank() - taken);
                }
                Index::At(at) => {
                    let axis = map.len();
                    let start = position(at, axis, self.shape[axis])?;
                    map.push(Axis {
                        start,
                        step: 0,
                        along: None,
                    });
                }
                Index::Slice { start, stop, step } => {
                    let axis = map.len();
                    let (start, step, count) = slice(start, stop, step, self.shape[axis])?;
                    map.push(Axis {
                        start,
                        step,
                        along: Some(shape.len() as u8),
                    });
                    shape.push(count);
                }
            }
            if shape.len() > record::MOST_AXES {
                return Err(Error::Index(format!(
                    "number of dimensions must be within [0, {}], indexing result would have {}",
                    record::MOST_AXES,
                    shape.len()
                )));
            }
        }
        let rest = self.rank() - map.len();
        whole(&mut map, &mut shape, rest);
        if shape == self.shape && map == dims::identity(self.rank()) {
            return Ok(Array {
                own: false,
                ..self.clone()
            });
        }
        Ok(self.remapped(&map, shape))
    }
}

fn position(at: i64, axis: usize, length: u64) -> Result<i64> {
    let length = length as i64;
    let wrapped = if at < 0 { at.saturating_add(length) } else { at };
    match (0..length).contains(&wrapped) {
        true => Ok(wrapped),
        false => Err(Error::Index(format!(
            "index {at} is out of bounds for axis {axis} with size {length}"
        ))),
    }
}

/// The first index, the step and the number of indices of a slice of so many elements: `slice.indices` of Python.
fn slice(start: Option<i64>, stop: Option<i64>, step: Option<i64>, length: u64) -> Result<(i64, i64, u64)> {
    let step = step.unwrap_or(1);
    if step == 0 {
        return Err(Error::Value("slice step cannot be zero".into()));
    }
    let length = length as i64;
    let (least, most) = if step > 0 { (0, length) } else { (-1, length - 1) };
    let settle = |at: Option<i64>, default: i64| match at {
        None => default,
        Some(at) if at < 0 => at.saturating_add(length).max(least),
        Some(at) => at.min(most),
    };
    let (start, stop) = match step > 0 {
        true => (settle(start, least), settle(stop, most)),
        false => (settle(start, most), settle(stop, least)),
    };
    let span = if step > 0 { stop - start } else { start - stop };
    let count = if span <= 0 {
        0
    } else {
        (span as u64 - 1) / step.unsigned_abs() + 1
    };
    // Where nothing is taken nothing is addressed.
    Ok(if count == 0 { (0, 1, 0) } else { (start, step, count) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slices_are_those_of_python() {
        assert_eq!(slice(None, None, None, 5).unwrap(), (0, 1, 5));
        assert_eq!(slice(None, None, Some(-1), 5).unwrap(), (4, -1, 5));
        assert_eq!(slice(Some(-3), Some(100), Some(2), 5).unwrap(), (2, 2, 2));
        assert_eq!(slice(Some(4), Some(1), None, 5).unwrap(), (0, 1, 0));
        assert_eq!(slice(Some(i64::MIN), Some(i64::MAX), Some(i64::MAX), 5).unwrap(), (0, i64::MAX, 1));
        assert_eq!(slice(Some(i64::MAX), Some(i64::MIN), Some(i64::MIN), 5).unwrap(), (4, i64::MIN, 1));
        assert!(slice(None, None, Some(0), 5).is_err());
    }
}
