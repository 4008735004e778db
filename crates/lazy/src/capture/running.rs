//! Graphs recorded again: node by node, or, where they call routines and so run at once, by the plan of a run before.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError, TryLockError};

use smallvec::SmallVec;

use super::{Graph, Of, Place, Source, Step, general, is_here, is_on, record_call};
use crate::array::{Array, Storage};
use crate::budget;
use crate::dims;
use crate::error::{Error, Result};
use crate::memory::Piece;
use crate::planned;
use crate::planned::plan::{self, Plan};
use crate::value::{Kind, Node, Value};
use crate::{machine, schedule, trace};

/// So many runs are noted down, until one of them makes a plan.
const MOST_TRIES: u32 = 3;

/// The plan of a graph, for arguments that are given up or not.
#[derive(Debug, Default)]
pub struct Planning {
    plan: Option<(SmallVec<[bool; 8]>, Plan)>,
    tries: u32,
}

type Storages = SmallVec<[Arc<Storage>; 8]>;

impl Graph {
    /// Records it again of other arguments, which are as those that it was captured with: the results. None where it writes to an array that
    /// is both an argument and known to the function otherwise.
    pub fn replay(&self, args: &[Array]) -> Result<Option<Vec<Array>>> {
        self.replay_giving_up(args, &[])
    }

    /// The same, where some arguments are given up: whoever uses them afterwards is told so, and their memory may be used again.
    pub fn replay_giving_up(&self, args: &[Array], given_up: &[bool]) -> Result<Option<Vec<Array>>> {
        let Some(mut storages) = self.storages(args)? else {
            return Ok(None);
        };
        // A captured function records what it is given; nothing is there to be given up.
        let given_up = if is_on() { &[] } else { given_up };
        let taken = self.take_over(args, &mut storages, given_up)?;
        if self.is_routine
            && !is_here()
            && !trace::is_on()
            && let Some(results) = self.planned(&storages, &taken)?
        {
            return Ok(Some(results));
        }
        let leaves: Vec<Value> = storages.iter().map(Storage::value).collect();
        let Some(made) = self.record(leaves, false)? else { return Ok(None) };
        Ok(Some(self.finish(&storages, &|place| made.at(self, place), false)))
    }

    /// The same of arguments of other sizes, if it holds for these. None, too, where the function has to be asked.
    pub fn replay_of_other_sizes(&self, args: &[Array]) -> Result<Option<Vec<Array>>> {
        let Some(storages) = self.storages(args)? else { return Ok(None) };
        let leaves: Vec<Value> = storages.iter().map(Storage::value).collect();
        let Some(made) = self.record(leaves, true)? else { return Ok(None) };
        let fits = |(leaf, place): &(usize, Place)| made.at(self, *place).shape == made.leaves[*leaf].shape;
        if !self.written.iter().all(fits) {
            return Ok(None);
        }
        Ok(Some(self.finish(&storages, &|place| made.at(self, place), true)))
    }

    /// The storages that it begins with; none where one that it writes to is met twice.
    fn storages(&self, args: &[Array]) -> Result<Option<Storages>> {
        let storage = |leaf: &Source| match leaf {
            Source::Argument(at) => args.get(*at).map(|arg| arg.storage.clone()),
            Source::Fixed(storage) => Some(storage.clone()),
        };
        let storages: Option<Storages> = self.leaves.iter().map(storage).collect();
        let storages = storages.ok_or_else(|| Error::Internal("a graph with too few arguments".into()))?;
        let is_again = |(at, one): (usize, &Arc<Storage>)| storages[..at].iter().any(|other| Arc::ptr_eq(one, other));
        let met_twice = !self.written.is_empty() && storages.iter().enumerate().any(is_again);
        Ok((!met_twice).then_some(storages))
    }

    /// Takes the values of arguments that are given up: which leaves they are. They have storages of their own from here on.
    fn take_over(&self, args: &[Array], storages: &mut Storages, given_up: &[bool]) -> Result<SmallVec<[bool; 8]>> {
        let mut taken: SmallVec<[bool; 8]> = SmallVec::from_elem(false, storages.len());
        if !given_up.contains(&true) {
            return Ok(taken);
        }
        let is_given = |at: usize| given_up.get(at).copied().unwrap_or(false);
        let kept = (args.iter().enumerate())
            .filter(|(at, _)| !is_given(*at))
            .map(|(_, arg)| &arg.storage);
        let known = self.leaves.iter().filter_map(|leaf| match leaf {
            Source::Fixed(storage) => Some(storage),
            Source::Argument(_) => None,
        });
        let needed: HashSet<*const Storage> = kept.chain(known).map(Arc::as_ptr).collect();
        for (at, arg) in args.iter().enumerate().filter(|(at, _)| is_given(*at)) {
            if needed.contains(&Arc::as_ptr(&arg.storage)) {
                return Err(Error::Value(format!(
                    "array {at} is given up, and its memory is that of another argument, or of an array that the function knows by a global name"
                )));
            }
            if arg.read_only {
                return Err(Error::Value(format!("array {at} is given up, and it is read-only")));
            }
            if dims::size(&arg.shape) != dims::size(&arg.storage.now().shape) {
                return Err(Error::Value(format!(
                    "array {at} is given up, and it is a part of another array, whose other elements would be gone, too: pass a copy"
                )));
            }
        }
        let leaves: HashMap<*const Storage, usize> = storages
            .iter()
            .enumerate()
            .rev()
            .map(|(leaf, of)| (Arc::as_ptr(of), leaf))
            .collect();
        let mut gone: HashSet<*const Storage> = HashSet::new();
        for (_, arg) in args.iter().enumerate().filter(|(at, _)| is_given(*at)) {
            // Another array of the same storage went before, or the function does not look at it.
            let storage = Arc::as_ptr(&arg.storage);
            if !gone.insert(storage) {
                continue;
            }
            let own = arg.storage.given_up();
            if let Some(&leaf) = leaves.get(&storage) {
                storages[leaf] = own;
                taken[leaf] = true;
            }
        }
        Ok(taken)
    }

    /// Runs the plan that there is, or notes down a run. None where it has to be recorded.
    fn planned(&self, storages: &Storages, taken: &[bool]) -> Result<Option<Vec<Array>>> {
        let mut planning = match self.planning.try_lock() {
            Ok(planning) => planning,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            // Another thread runs it.
            Err(TryLockError::WouldBlock) => return Ok(None),
        };
        if planning.plan.is_none() && planning.tries >= MOST_TRIES {
            return Ok(None);
        }
        // Results that are arguments need these in the end.
        let mut given_up: SmallVec<[bool; 8]> = SmallVec::from_slice(taken);
        for (_, of) in &self.results {
            if let Of::Leaf(leaf) = of {
                given_up[*leaf] = false;
            }
        }
        let leaves: Vec<Value> = storages.iter().map(Storage::value).collect();
        if leaves.iter().any(|leaf| leaf.device != machine::CPU) {
            return Ok(None);
        }
        let pieces = plan::stored(&leaves)?;
        let constants: Vec<Option<Piece>> = self.constants.iter().map(|constant| constant.piece()).collect();
        let values = match &mut planning.plan {
            Some((known, plan)) if *known == given_up => {
                drop(leaves);
                let free = storages.iter().zip(&given_up).filter(|(_, given_up)| **given_up);
                // Nobody else has what was given up.
                free.for_each(|(storage, _)| drop(storage.given_up()));
                match plan.run(&pieces, &constants)? {
                    Some(values) => values,
                    None if given_up.contains(&true) => self.again(&pieces, storages, &given_up)?,
                    None => return Ok(None),
                }
            }
            Some(_) => return Ok(None),
            None if !pieces.iter().all(plan::lies_well) => return Ok(None),
            None => {
                planning.tries += 1;
                let (values, plan) = self.noted(leaves, &pieces, &constants, &given_up)?;
                planning.plan = plan.map(|plan| (given_up, plan));
                values
            }
        };
        let wanted: HashMap<Place, &Value> = self.wanted().zip(&values).collect();
        let at = |place: Place| match wanted.get(&place) {
            Some(value) => Value::clone(value),
            // Whoever asks has named it before.
            None => Node::fill(weft_ir::Scalar::Bool, dims::Dims::new(), [0; 2]),
        };
        Ok(Some(self.finish(storages, &at, false)))
    }

    /// What it gives, when the plan does not take the memory of arguments that were given up.
    fn again(&self, pieces: &[Piece], storages: &Storages, given_up: &[bool]) -> Result<Vec<Value>> {
        let leaf = |((piece, storage), (given_up, like)): ((&Piece, &Arc<Storage>), (&bool, &Value))| match given_up {
            true => Node::stored(like.elem, like.shape.clone(), piece.clone()),
            false => Storage::value(storage),
        };
        let leaves = pieces
            .iter()
            .zip(storages)
            .zip(given_up.iter().zip(&self.likes))
            .map(leaf)
            .collect();
        let made = self
            .record(leaves, false)?
            .ok_or_else(|| Error::Internal("a graph was not recorded".into()))?;
        Ok(self.wanted().map(|place| made.at(self, place)).collect())
    }

    /// Values whose storages are the graph's results.
    fn wanted(&self) -> impl Iterator<Item = Place> + '_ {
        self.written
            .iter()
            .map(|(_, place)| *place)
            .chain(self.new.iter().map(|(_, place)| *place))
    }

    /// Computes all that it gives, and makes a plan of what was done for that.
    fn noted(
        &self,
        leaves: Vec<Value>,
        pieces: &[Piece],
        constants: &[Option<Piece>],
        given_up: &[bool],
    ) -> Result<(Vec<Value>, Option<Plan>)> {
        planned::begin(pieces, constants);
        let done = self.record(leaves, false).and_then(|made| {
            let made = made.ok_or_else(|| Error::Internal("a graph was not recorded".into()))?;
            let values: Vec<Value> = self.wanted().map(|place| made.at(self, place)).collect();
            // What nobody else refers to is not stored.
            drop(made);
            schedule::compute(&values)?;
            Ok(values)
        });
        let notes = planned::end();
        let values = done?;
        let plan = notes.and_then(|notes| Plan::of(notes, &values, given_up));
        Ok((values, plan))
    }

    /// Makes its nodes again. None where it does not hold for the arguments.
    fn record(&self, leaves: Vec<Value>, other_sizes: bool) -> Result<Option<Made>> {
        let mut made = Made {
            leaves,
            values: Vec::with_capacity(self.steps.len()),
        };
        for step in &self.steps {
            match step {
                Step::Node {
                    device,
                    elem,
                    shape,
                    kind,
                    operands,
                } => {
                    let mut operands = operands.iter().map(|place| made.at(self, *place));
                    let kind = kind.of(&mut operands).ok_or_else(|| Error::Internal("a node of too few".into()))?;
                    let counts: Option<fn(&Value) -> Result<()>> = match kind {
                        Kind::Map { .. } => Some(budget::keep),
                        Kind::Fold { .. } => Some(budget::keep_fold),
                        // Updates count when their storages have let go of what was before.
                        _ => None,
                    };
                    let shape = match other_sizes {
                        false => dims::copy(shape),
                        true => match general::shape_of(&kind, shape.len()) {
                            Some(shape) => shape,
                            None => return Ok(None),
                        },
                    };
                    let node = Node::pending_on(*device, *elem, shape, kind);
                    if let Some(keep) = counts {
                        keep(&node)?;
                    }
                    made.values.push(node);
                }
                Step::Call { call, operands, results } => {
                    let operands: Vec<Value> = operands.iter().map(|place| made.at(self, *place)).collect();
                    let given = match is_here() {
                        // A captured function calls this one.
                        true => record_call(call.clone(), operands, results),
                        false => Some(call.clone().call(&operands)?),
                    };
                    let given = given.ok_or_else(|| Error::Internal("nothing is captured".into()))?;
                    let expected = given
                        .iter()
                        .map(|value| (value.elem, &value.shape))
                        .eq(results.iter().map(|(elem, shape, _)| (*elem, shape)));
                    if !expected {
                        return Err(Error::Internal("a call gives another shape than when it was captured".into()));
                    }
                    made.values.extend(given);
                }
            }
        }
        Ok(Some(made))
    }

    /// Gives storages their values: the results.
    fn finish(&self, storages: &Storages, at: &dyn Fn(Place) -> Value, other_sizes: bool) -> Vec<Array> {
        for (leaf, place) in &self.written {
            Storage::set(&storages[*leaf], at(*place));
        }
        let new: SmallVec<[Arc<Storage>; 4]> = self.new.iter().map(|(storage, place)| storage.with(at(*place))).collect();
        if is_on() {
            new.iter().for_each(super::made);
        }
        let result = |(array, of): &(Array, Of)| {
            let storage = match of {
                Of::Leaf(leaf) => storages[*leaf].clone(),
                Of::New(at) => new[*at].clone(),
                Of::Fixed(storage) => storage.clone(),
            };
            match other_sizes {
                false => array.of_storage(storage),
                true => array.all_of(storage),
            }
        };
        self.results.iter().map(result).collect()
    }

    /// How many kernels and calls it comes down to, if it has a plan.
    pub fn planned_steps(&self) -> Option<usize> {
        let planning = self.planning.lock().unwrap_or_else(PoisonError::into_inner);
        planning.plan.as_ref().map(|(_, plan)| plan.steps())
    }
}

/// The values of a graph that is recorded.
struct Made {
    leaves: Vec<Value>,
    values: Vec<Value>,
}

impl Made {
    fn at(&self, graph: &Graph, place: Place) -> Value {
        match place {
            Place::Leaf(at) => self.leaves[at].clone(),
            Place::Made(at) => self.values[at].clone(),
            Place::Constant(at) => graph.constants[at].clone(),
        }
    }
}

/// Nobody waits for a plan that another thread runs.
pub type Lock = Mutex<Planning>;
