//! Steps of optimizers as routines: one call for all parameters of a type, which goes over their elements once.

#![allow(unsafe_code)] // Operands are places in memory, which the caller holds.

use std::ops::Range;
use std::sync::Arc;

use smallvec::SmallVec;
use weft_ir::Scalar;
use weft_tile::steps::{self, MOST_ARRAYS, Places, Rule};

use crate::capture::Call;
use crate::dims::{self, Dims};
use crate::error::{Error, Result};
use crate::placed::Placed;
use crate::planned::{self, Operand};
use crate::value::Value;
use crate::{machine, schedule, threads};

/// Elements that a thread computes at a time.
const UNIT: u64 = 1 << 14;

/// A step of so many parameters. Its operands are the numbers that the rule has fixed as one array, those of the step as arrays without axes,
/// and of each parameter itself, its gradient and what is kept for it; it gives of each the parameter and what is kept, in new memory or in
/// that of the operand.
#[derive(Clone, Copy, Debug)]
pub struct Steps {
    rule: Rule,
    count: usize,
}

impl Steps {
    /// By its name in graphs: that of the rule, and how many parameters there are, as `adam*3`.
    pub fn find(name: &str) -> Option<Steps> {
        let (name, count) = name.split_once('*')?;
        let rule = Rule::ALL.into_iter().find(|rule| rule.name() == name)?;
        let known: usize = count.parse().ok().filter(|count| (1..1 << 20).contains(count))?;
        (known.to_string() == count).then_some(Steps { rule, count: known })
    }

    /// How many operands are numbers; how many belong to a parameter; how many results do.
    fn forms(&self) -> (usize, usize, usize) {
        let kept = self.rule.kept();
        (1 + self.rule.numbers().1, 2 + kept, 1 + kept)
    }

    /// What is wrong with the types and shapes of operands.
    fn check(&self, operands: &[(Scalar, &Dims)]) -> std::result::Result<(), &'static str> {
        let (numbers, each, _) = self.forms();
        let Some((elem, fixed)) = operands.first().copied() else {
            return Err("takes operands");
        };
        if !matches!(elem, Scalar::F32 | Scalar::F64) || operands.iter().any(|(other, _)| *other != elem) {
            return Err("operands are all float32 or all float64");
        }
        if operands.len() != numbers + self.count * each {
            return Err("takes another number of operands");
        }
        if fixed.as_slice() != [self.rule.numbers().0 as u64] || operands[1..numbers].iter().any(|(_, shape)| !shape.is_empty()) {
            return Err("takes other numbers before the parameters");
        }
        let is_one = |of: &[(Scalar, &Dims)]| of.iter().all(|(_, shape)| *shape == of[0].1);
        match operands[numbers..].chunks(each).all(is_one) {
            true => Ok(()),
            false => Err("a parameter, its gradient and what is kept for it have one shape"),
        }
    }

    /// Goes over all elements.
    fn done(&self, operands: &[&Operand]) -> Result<()> {
        let (heads, each, gives) = self.forms();
        let reads = self.reads();
        let forms: SmallVec<[(Scalar, &Dims); 16]> = operands.iter().take(reads).map(|of| (of.elem, &of.shape)).collect();
        let is_dense = |of: &&Operand| dims::is_dense(&of.shape, &of.strides, of.elem.size());
        if operands.len() != reads + self.count * gives || self.check(&forms).is_err() || !operands.iter().all(is_dense) {
            return Err(Error::Internal("a step of other operands".into()));
        }
        let elem = operands[0].elem;
        let numbers: SmallVec<[f64; 10]> = operands[..heads].iter().flat_map(|of| read(of)).collect();
        let parameters: Vec<(Parameter, u64)> = (0..self.count)
            .map(|at| {
                let from = &operands[heads + at * each..][..each];
                let to = &operands[reads + at * gives..][..gives];
                (Parameter::of(from, to), from[0].shape.iter().product())
            })
            .collect();
        let units = parameters.iter().map(|(_, n)| n.div_ceil(UNIT)).sum();
        let elements: u64 = parameters.iter().map(|(_, n)| n).sum();
        let bytes = elements.saturating_mul((each + gives) as u64 * elem.size() as u64);
        threads::share(units, bytes, &|some| {
            for (parameter, n, part) in parts(&parameters, some) {
                let first = part.start * UNIT;
                let places = parameter.from(first * elem.size() as u64);
                let count = (part.end * UNIT).min(n) - first;
                // SAFETY: the operands are dense and of the type, as was checked, and held by the caller; results are new, or the places that the
                // operand has which they replace, and each unit is computed by one thread.
                if !unsafe { steps::step(self.rule, elem, &numbers, &places, count as usize) } {
                    return Err(Error::Internal("a step of another type".into()));
                }
            }
            Ok(())
        })
    }
}

/// The addresses of what belongs to a parameter, zeros behind them.
#[derive(Clone, Copy)]
struct Parameter {
    from: [u64; MOST_ARRAYS],
    to: [u64; MOST_ARRAYS],
}

impl Parameter {
    fn of(from: &[&Operand], to: &[&Operand]) -> Parameter {
        let addresses = |operands: &[&Operand]| {
            let mut found = [0; MOST_ARRAYS];
            found.iter_mut().zip(operands).for_each(|(place, operand)| *place = operand.address);
            found
        };
        Parameter {
            from: addresses(from),
            to: addresses(to),
        }
    }

    /// The places so many bytes behind the first ones.
    fn from(&self, bytes: u64) -> Places {
        Places {
            from: self.from.map(|address| address.wrapping_add(bytes) as *const u8),
            to: self.to.map(|address| address.wrapping_add(bytes) as *mut u8),
        }
    }
}

/// Which units of which parameters, of how many elements, some of all units are.
fn parts(parameters: &[(Parameter, u64)], some: Range<u64>) -> impl Iterator<Item = (Parameter, u64, Range<u64>)> {
    let mut before = 0;
    parameters.iter().filter_map(move |&(parameter, n)| {
        let (first, here) = (before, n.div_ceil(UNIT));
        before += here;
        let part = some.start.max(first)..some.end.min(first + here);
        (part.start < part.end).then(|| (parameter, n, part.start - first..part.end - first))
    })
}

/// The few numbers of an operand.
fn read(of: &Operand) -> SmallVec<[f64; 6]> {
    let n: u64 = of.shape.iter().product();
    let element = |at: u64| {
        let place = of.address.wrapping_add(at * of.elem.size() as u64);
        match of.elem {
            // SAFETY: the caller holds so many elements of the type.
            Scalar::F32 => f64::from(unsafe { (place as *const f32).read_unaligned() }),
            // SAFETY: the same.
            _ => unsafe { (place as *const f64).read_unaligned() },
        }
    };
    (0..n).map(element).collect()
}

impl Call for Steps {
    fn call(self: Arc<Self>, operands: &[Value]) -> Result<Vec<Value>> {
        let outputs = self.gives(operands)?;
        let missing: Vec<Value> = operands.iter().filter(|value| !lies_dense(value)).cloned().collect();
        schedule::compute(&missing)?;
        let mut places = Vec::with_capacity(operands.len() + outputs.len());
        for value in operands {
            let placed = if lies_dense(value) {
                Placed::of(value)?
            } else {
                Placed::dense(value)?
            };
            places.push((placed.operand(value), placed));
        }
        let mut made = Vec::with_capacity(outputs.len());
        for (elem, shape) in outputs {
            let (value, placed) = Placed::fresh(elem, shape)?;
            places.push((placed.operand(&value), placed));
            made.push(value);
        }
        let noted = places.iter().map(|(place, placed)| (&placed.piece, placed.offset, place.clone()));
        planned::call(self.clone(), noted.collect());
        let places: Vec<&Operand> = places.iter().map(|(place, _)| place).collect();
        self.done(&places)?;
        Ok(made)
    }

    fn reads(&self) -> usize {
        let (numbers, each, _) = self.forms();
        numbers + self.count * each
    }

    fn run(&self, operands: &[&Operand]) -> Result<()> {
        self.done(operands)
    }

    fn replaces(&self, result: usize) -> Option<usize> {
        let (numbers, each, gives) = self.forms();
        let (parameter, which) = (result / gives, result % gives);
        // The gradient is not replaced.
        Some(numbers + parameter * each + if which == 0 { 0 } else { which + 1 })
    }

    fn gives(&self, operands: &[Value]) -> Result<Vec<(Scalar, Dims)>> {
        let forms: SmallVec<[(Scalar, &Dims); 16]> = operands.iter().map(|value| (value.elem, &value.shape)).collect();
        let refused = |what: &str| Error::Type(format!("{}: {what}", self.rule.name()));
        self.check(&forms).map_err(refused)?;
        if operands.iter().any(|value| value.device != machine::CPU) {
            return Err(refused("operands are on the CPU"));
        }
        let (numbers, each, gives) = self.forms();
        let of = |parameter: &[Value]| std::iter::repeat_n((parameter[0].elem, parameter[0].shape.clone()), gives);
        Ok(operands[numbers..].chunks(each).flat_map(of).collect())
    }

    fn text(&self) -> Option<String> {
        Some(format!("{}*{}", self.rule.name(), self.count))
    }
}

/// Are the elements there, one behind the other?
fn lies_dense(value: &Value) -> bool {
    Placed::as_it_lies(value).is_some_and(|placed| dims::is_dense(&value.shape, &placed.strides, value.elem.size()))
}
