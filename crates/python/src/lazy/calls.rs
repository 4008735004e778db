//! Lazy arrays as arguments of compiled functions and kernels: computed before the call, and the function's own where it writes to them.

use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use pyo3::IntoPyObjectExt;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use smallvec::SmallVec;
use weft_ir::{Function, Module, Op, Scalar, StmtKind, Value};
use weft_lazy::lent::{self, Lent};
use weft_lazy::{Array, Block, Dims, Node, Piece, Storage, Strides, machine};
use weft_runtime::{Buffer, DeviceId, RunError, Stream};

use super::{NdArray, compute_as_asked, error, exchange, taping};
use crate::array::{Memory, layout};
use crate::bind::Args;
use crate::core::Code;
use crate::foreign::Foreign;
use crate::numpy::RawView;
use crate::{errors, key};

/// Appends an array, whose address is not known yet.
pub fn bind(py: Python<'_>, array: &Array, name: &dyn Fn() -> String, args: &mut Args) -> PyResult<()> {
    let (offset, strides) = array.strides();
    let align = if array.elem.is_complex() { array.elem.part() } else { array.elem }.size() as i64;
    let apart = array.shape.iter().zip(&strides).any(|(&n, stride)| n > 1 && stride % align != 0);
    if array.size() > 0 && (offset % align != 0 || apart) {
        let name = name();
        return Err(errors::typing(
            py,
            format!("argument {name} is an array whose elements are not aligned in memory; pass {name}.copy()"),
        ));
    }
    if array.device() != machine::CPU {
        // Its memory is known when it is computed; where that is decides where a kernel runs.
        let device = machine::device(array.device()).map_err(|e| error(py, e))?;
        args.memories
            .push(Py::new(py, Memory::of(Box::new(Foreign::new(&device, 0, 0)), device.clone()))?);
    }
    let signed = |numbers: &mut dyn Iterator<Item = isize>| numbers.collect::<SmallVec<[isize; 4]>>();
    let shape = signed(&mut array.shape.iter().map(|&n| n as isize));
    let steps = signed(&mut strides.iter().map(|&s| s as isize));
    let layout = layout(&shape, &steps, array.elem.size() as isize);
    args.key.push(key::array(array.elem, array.rank(), layout, !array.read_only));
    args.expect_lazy(array, !array.read_only);
    args.slots.push(0);
    args.slots.extend_from_slice(&array.shape);
    args.slots.extend(strides.iter().map(|&s| s as u64));
    Ok(())
}

/// A NumPy array of a lazy one's elements, which was asked for.
pub fn to_numpy<'py>(py: Python<'py>, array: &Array) -> PyResult<Bound<'py, PyAny>> {
    compute_as_asked(py, &[array.base()])?;
    exchange::_to_numpy(py, &NdArray { array: array.clone() }, true)
}

/// The memory of lazy arrays that a call was given.
#[derive(Debug)]
pub struct Settled {
    memory: SmallVec<[(Array, Piece); 4]>,
    /// Those that it writes to are nobody else's to write to meanwhile.
    _written: Lent,
}

impl Settled {
    /// A stream uses the arrays that are on its device, after the work that computes them.
    pub fn follow(&self, stream: &Arc<dyn Stream>) -> Result<(), RunError> {
        self.here(stream).for_each(|piece| piece.block.buffer().used_on(Some(stream)));
        self.meet(stream, true)
    }

    /// What is computed of the arrays from here on waits for the stream.
    pub fn leave(&self, stream: &Arc<dyn Stream>) -> Result<(), RunError> {
        self.meet(stream, false)
    }

    fn here<'a>(&'a self, stream: &'a Arc<dyn Stream>) -> impl Iterator<Item = &'a Piece> {
        let pieces = self.memory.iter().map(|(_, piece)| piece);
        pieces.filter(|piece| piece.block.device() != machine::CPU && piece.block.buffer().device() == stream.device())
    }

    /// Of the device's own stream and another one, one waits for what the other was given.
    fn meet(&self, stream: &Arc<dyn Stream>, comes: bool) -> Result<(), RunError> {
        let Some(piece) = self.here(stream).next() else { return Ok(()) };
        if stream.is_capturing()? {
            return Ok(());
        }
        let device = machine::device(piece.block.device()).map_err(|error| RunError::Invalid(error.to_string()))?;
        let own = device.default_stream()?;
        let (first, then) = if comes { (&own, stream) } else { (stream, &own) };
        let mark = device.new_event(false)?;
        first.record(&*mark)?;
        then.wait(&*mark)
    }

    /// Where the first element of an array is.
    fn address(&self, array: &Array) -> Option<u64> {
        Some(self.piece(array)?.address().wrapping_add_signed(array.strides().0))
    }

    fn piece(&self, array: &Array) -> Option<&Piece> {
        let same = |(known, _): &&(Array, Piece)| Arc::ptr_eq(&known.storage, &array.storage);
        self.memory.iter().find(same).map(|(_, piece)| piece)
    }
}

/// Refuses lazy arrays of other devices, also of those whose memory this one could address: their memory is freed in the order of their own
/// device's work, which knows nothing of the launch.
pub fn refuse_elsewhere(py: Python<'_>, args: &Args, device: DeviceId) -> PyResult<()> {
    for (array, _) in args.lazy().filter(|(array, _)| array.device() != machine::CPU) {
        let home = machine::device(array.device()).map_err(|e| error(py, e))?.id();
        if home != device {
            let device = device.to_string();
            return Err(errors::launch(
                py,
                format!("an argument is an array on {home}, and the launch is on {device}: pass x.to({device:?})"),
            ));
        }
    }
    Ok(())
}

/// Computes the lazy arrays among the arguments and says where they are. What the code writes to is made such that nobody else has it.
pub fn settle(py: Python<'_>, args: &mut Args, code: &Code) -> PyResult<Option<Settled>> {
    if !args.has_lazy() {
        return Ok(None);
    }
    let arrays: SmallVec<[(Array, usize, bool); 4]> = (args.lazy())
        .map(|(array, slot)| (array.clone(), slot, !array.read_only && code.writes(slot)))
        .collect();
    let uses: SmallVec<[(&Array, bool); 4]> = arrays.iter().map(|(array, _, writes)| (array, *writes)).collect();
    let settled = settled(py, &uses)?;
    for (array, slot, _) in &arrays {
        if let Some(address) = settled.address(array) {
            args.slots[*slot] = address;
        }
    }
    Ok(Some(settled))
}

/// Computes arrays, each with whether it is written to, and makes those that are such that nobody else has them.
fn settled(py: Python<'_>, arrays: &[(&Array, bool)]) -> PyResult<Settled> {
    for (array, _) in arrays {
        taping::refuse_followed(py, array)?;
    }
    let written = arrays.iter().filter(|(_, writes)| *writes);
    let mut settled = Settled {
        _written: lend(py, &written.map(|(array, _)| array.storage.clone()).collect())?,
        memory: SmallVec::new(),
    };
    {
        // Held no longer than this: memory that is held by another value is copied before it is written to.
        let values: Vec<weft_lazy::Value> = arrays.iter().map(|(array, _)| array.base()).collect();
        if !values.iter().all(|value| value.is_stored()) {
            compute_as_asked(py, &values)?;
        }
    }
    // Those that are written to first: others may be views of them.
    for now in [true, false] {
        for &(array, writes) in arrays {
            if settled.piece(array).is_some() || writes != now {
                continue;
            }
            let piece = if writes { owned(py, array)? } else { as_it_is(py, array)? };
            settled.memory.push((array.clone(), piece));
        }
    }
    Ok(settled)
}

/// Calls a function with the addresses of arrays' first elements, for code that Weft did not compile to write there: the arrays are computed,
/// and have memory that is nobody else's. The function must not use them otherwise.
#[pyfunction]
pub fn _in_place<'py>(py: Python<'py>, arrays: Vec<Bound<'py, NdArray>>, call: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    if arrays.iter().any(|array| array.get().array.read_only) {
        return Err(PyValueError::new_err("an array is read-only"));
    }
    let uses: Vec<(&Array, bool)> = arrays.iter().map(|array| (&array.get().array, true)).collect();
    let settled = settled(py, &uses)?;
    let addresses: Vec<u64> = uses.iter().map(|(array, _)| settled.address(array).unwrap_or(0)).collect();
    call.call1((addresses,))
}

/// How long one sleeps who waits for a call of another thread.
const NAP: Duration = Duration::from_micros(50);

/// Waits until no call of another thread writes to any of these.
fn lend(py: Python<'_>, storages: &SmallVec<[Arc<Storage>; 2]>) -> PyResult<Lent> {
    loop {
        if let Some(lent) = lent::lend(storages.clone()) {
            return Ok(lent);
        }
        nap(py)?;
    }
}

/// Waits until no call of another thread writes to the array, whose elements are about to be replaced.
pub fn wait_for_calls(py: Python<'_>, array: &Array) -> PyResult<()> {
    while lent::is_lent(&array.storage) {
        nap(py)?;
    }
    Ok(())
}

fn nap(py: Python<'_>) -> PyResult<()> {
    py.detach(|| thread::sleep(NAP));
    py.check_signals()
}

/// Memory that nobody else has. Another thread may have recorded a write since the array was computed.
fn owned(py: Python<'_>, array: &Array) -> PyResult<Piece> {
    loop {
        match array.own_memory().map_err(|e| error(py, e))? {
            Some(piece) => return Ok(piece),
            None => compute_as_asked(py, &[array.base()])?,
        }
    }
}

fn as_it_is(py: Python<'_>, array: &Array) -> PyResult<Piece> {
    let value = array.base();
    if !value.is_stored() {
        compute_as_asked(py, std::slice::from_ref(&value))?;
    }
    value
        .piece()
        .ok_or_else(|| errors::internal(py, "an argument was not computed".into()))
}

/// What a call with lazy arrays among its arguments returns.
pub struct Returned {
    args: Settled,
    /// Memory that the call made, and the array that all others of it are views of.
    made: Vec<(Arc<Block>, OnceCell<Array>)>,
}

impl Returned {
    pub fn new(made: Vec<Box<dyn Buffer>>, args: Settled) -> Returned {
        let made = made.into_iter().map(|buffer| (Block::of(buffer, None), OnceCell::new())).collect();
        Returned { args, made }
    }

    /// The array of a view: of new memory, or a view of an argument; none where it is of something else.
    pub fn array<'py>(&self, py: Python<'py>, raw: &RawView) -> PyResult<Option<Bound<'py, PyAny>>> {
        let shape: Dims = raw.shape.iter().map(|&n| n as u64).collect();
        let Some((low, high)) = raw.bounds() else {
            let empty = Array::of(Node::fill(raw.elem, shape, [0; 2]));
            return NdArray { array: empty }.into_bound_py_any(py).map(Some);
        };
        let strides: Strides = raw.strides.iter().map(|&s| s as i64).collect();
        let within = |start: u64, bytes: u64| start <= low && high <= start + bytes;
        let view = |of: &Array, start: u64| {
            let offset = raw.data.wrapping_sub(start) as i64 - of.strides().0;
            of.strided(raw.elem, &shape, &strides, offset).map_err(|e| error(py, e))
        };
        for (block, array) in &self.made {
            if within(block.address(), block.bytes() as u64) {
                let all = array.get_or_init(|| whole(block, raw, &shape, &strides));
                let array = match all.elem == raw.elem && all.shape == shape && weft_lazy::is_dense(&shape, &strides, raw.elem.size()) {
                    true => all.clone(),
                    false => view(all, block.address())?,
                };
                return NdArray { array }.into_bound_py_any(py).map(Some);
            }
        }
        for (of, piece) in &self.args.memory {
            let bytes = of.base().size() * of.base().elem.size() as u64;
            if within(piece.address(), bytes) {
                let mut array = view(of, piece.address())?;
                array.read_only = !raw.writable;
                return NdArray { array }.into_bound_py_any(py).map(Some);
            }
        }
        Ok(None)
    }
}

/// All of a block: in the shape of the view that is asked for first, if that is all of it.
fn whole(block: &Arc<Block>, raw: &RawView, shape: &Dims, strides: &Strides) -> Array {
    let bytes = block.bytes() as u64;
    let piece = Piece::whole(block.clone());
    let item = raw.elem.size();
    let fits = raw.data == block.address() && weft_lazy::bytes(shape, item) == Some(bytes);
    match fits && weft_lazy::is_dense(shape, strides, item) {
        true => Array::of(Node::stored(raw.elem, shape.clone(), piece)),
        false => Array::of(Node::stored(Scalar::U8, [bytes].as_slice().into(), piece)),
    }
}

/// Of each parameter of a module's entry: may an array in it be written to, by the entry or what it calls?
pub fn writes(module: &Module) -> Vec<bool> {
    let reaches: Vec<Reaches> = module.functions.iter().map(Reaches::of).collect();
    let mut written: Vec<BTreeSet<usize>> = vec![BTreeSet::new(); module.functions.len()];
    loop {
        let before: usize = written.iter().map(BTreeSet::len).sum();
        for (at, func) in module.functions.iter().enumerate() {
            let found = reaches[at].written(func, &written);
            written[at].extend(found);
        }
        if written.iter().map(BTreeSet::len).sum::<usize>() == before {
            let entry = &written[module.entry.index()];
            return (0..module.entry_function().params.len())
                .map(|param| entry.contains(&param))
                .collect();
        }
    }
}

/// Which parameters each value and local of a function may be a part of, by whatever way.
struct Reaches {
    values: Vec<BTreeSet<usize>>,
    locals: Vec<BTreeSet<usize>>,
}

impl Reaches {
    fn of(func: &Function) -> Reaches {
        let mut reaches = Reaches {
            values: vec![BTreeSet::new(); func.values.len()],
            locals: vec![BTreeSet::new(); func.locals.len()],
        };
        for (at, param) in func.params.iter().enumerate() {
            reaches.values[param.index()].insert(at);
        }
        // Locals carry views round loops.
        while reaches.grow(func) {}
        reaches
    }

    fn grow(&mut self, func: &Function) -> bool {
        let mut grown = false;
        func.body.walk(&mut |kind| match kind {
            StmtKind::Let(value, op) if func.ty(*value).scalar().is_none() => {
                let mut from: BTreeSet<usize> = BTreeSet::new();
                if let Op::Get(local) = op {
                    from.extend(&self.locals[local.index()]);
                }
                op.operands(&mut |operand| from.extend(&self.values[operand.index()]));
                self.values[value.index()].extend(from);
            }
            StmtKind::Set(local, value) => {
                let from = self.values[value.index()].clone();
                let known = &mut self.locals[local.index()];
                let before = known.len();
                known.extend(from);
                grown |= known.len() > before;
            }
            _ => {}
        });
        grown
    }

    /// The parameters that are written to, if those of other functions are.
    fn written(&self, func: &Function, others: &[BTreeSet<usize>]) -> BTreeSet<usize> {
        let mut found = BTreeSet::new();
        let mut write = |view: &Value| found.extend(&self.values[view.index()]);
        func.body.walk(&mut |kind| match kind {
            StmtKind::Store { view, .. } | StmtKind::Let(_, Op::Atomic { view, .. }) => write(view),
            StmtKind::Let(_, Op::Call(callee, args)) => {
                let given = args.iter().enumerate();
                given
                    .filter(|(at, _)| others[callee.index()].contains(at))
                    .for_each(|(_, arg)| write(arg));
            }
            // What passes makes of loops; devices are given modules before that.
            StmtKind::Launch { args, .. } => args.iter().for_each(&mut write),
            _ => {}
        });
        found
    }
}
