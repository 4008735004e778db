//! Folds: the elements at the points of an index space combined, of a whole shape or, along some of its axes, for every point of the others.
//!
//! What the lanes and threads of a device lie along, and in which order elements are combined, is said where `ParFor` is taken apart
//! (`weft_passes`), not here.

use weft_ir::{Local, ReduceOp, Reduction, Scalar, Value};

use crate::loops::{Emit, Walk, at_every_point};

/// What elements are combined to; a fold may have several.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct State {
    pub scalar: Scalar,
    pub op: ReduceOp,
}

impl State {
    /// As a reduction in the order that the extents fix.
    fn reduction(self, local: Local) -> Reduction {
        Reduction::fixed(local, self.op)
    }

    /// Does the order of the elements show in the result?
    pub fn has_order(self) -> bool {
        self.reduction(Local(0)).rounds(self.scalar)
    }
}

/// An index space, and how its points are gone through.
#[derive(Clone, Copy, Debug)]
pub struct Space<'a> {
    pub walk: Walk,
    pub extents: &'a [Value],
}

/// What gives values at a point: elements, from its indices.
pub type Elements<'a, E, Stop> = dyn FnMut(&mut E, &[Value]) -> Result<Vec<Value>, Stop> + 'a;

/// A fold that has started: its states are locals.
#[derive(Clone, Debug)]
pub struct Fold {
    reductions: Vec<Reduction>,
}

impl Fold {
    pub fn start<E: Emit + ?Sized>(e: &mut E, states: &[State], first: &[Value]) -> Fold {
        let mut reductions = Vec::with_capacity(states.len());
        for (state, &first) in states.iter().zip(first) {
            let local = e.builder().func.new_local(state.scalar.into(), "");
            e.builder().set(local, first);
            reductions.push(state.reduction(local));
        }
        Fold { reductions }
    }

    /// Combines what `elements` gives at the points of a space, one value for each state.
    pub fn combine<E: Emit + ?Sized, Stop>(&self, e: &mut E, space: Space<'_>, elements: &mut Elements<'_, E, Stop>) -> Result<(), Stop> {
        at_every_point(e, space.walk, space.extents, self.reductions.clone(), &mut |e, at| {
            let values = elements(e, at)?;
            for (reduction, value) in self.reductions.iter().zip(values) {
                let so_far = e.builder().get(reduction.local);
                let next = e.builder().binary(reduction.op.binary(), so_far, value);
                e.builder().set(reduction.local, next);
            }
            Ok(())
        })
    }

    pub fn results<E: Emit + ?Sized>(&self, e: &mut E) -> Vec<Value> {
        self.reductions.iter().map(|reduction| e.builder().get(reduction.local)).collect()
    }
}

/// The axes of a shape that are folded; the others are those of the result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Axes {
    /// For each axis of the shape: is it folded?
    folded: Vec<bool>,
}

impl Axes {
    pub fn new(rank: usize, folded: &[usize]) -> Axes {
        Axes {
            folded: (0..rank).map(|axis| folded.contains(&axis)).collect(),
        }
    }

    /// What belongs to the axes of the result, and to those that are folded.
    pub fn split<T: Copy>(&self, all: &[T]) -> (Vec<T>, Vec<T>) {
        let of = |which: bool| {
            self.folded
                .iter()
                .zip(all)
                .filter(|(is, _)| **is == which)
                .map(|(_, each)| *each)
                .collect()
        };
        (of(false), of(true))
    }

    /// The point of the shape at a point of the result and one of the folded axes.
    pub fn join(&self, outer: &[Value], inner: &[Value]) -> Vec<Value> {
        let (mut outer, mut inner) = (outer.iter(), inner.iter());
        let next = |folded: &bool| if *folded { inner.next() } else { outer.next() };
        self.folded.iter().filter_map(next).copied().collect()
    }
}

/// What is done with the results at a point of the outer space.
pub type Epilogue<'a, E, Stop> = dyn FnMut(&mut E, &[Value], &[Value]) -> Result<(), Stop> + 'a;

/// A fold along some axes of a shape.
#[derive(Clone, Copy, Debug)]
pub struct AlongAxes<'a> {
    pub axes: &'a Axes,
    pub outer: Space<'a>,
    pub inner: Space<'a>,
    pub states: &'a [State],
}

/// Folds along axes: `start` gives the values that states start from at each point of the other axes, `elements` those at the points of the
/// whole shape, and `epilogue` is given what they are combined to.
pub fn fold_axes<E: Emit + ?Sized, Stop>(
    e: &mut E,
    along: &AlongAxes<'_>,
    start: &mut dyn FnMut(&mut E) -> Vec<Value>,
    elements: &mut Elements<'_, E, Stop>,
    epilogue: &mut Epilogue<'_, E, Stop>,
) -> Result<(), Stop> {
    at_every_point(e, along.outer.walk, along.outer.extents, Vec::new(), &mut |e, outer| {
        let first = start(e);
        let fold = Fold::start(e, along.states, &first);
        fold.combine(e, along.inner, &mut |e, inner| elements(e, &along.axes.join(outer, inner)))?;
        let results = fold.results(e);
        epilogue(e, outer, &results)
    })
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use weft_ir::interp::{Machine, Options};
    use weft_ir::{Builder, FuncId, FuncKind, Function, Label, Layout, Module, Op, Space as Memory, Spread, StmtKind, Type, ViewType};

    use super::*;
    use crate::loops::{load, store};

    struct Writer(Builder);

    impl Emit for Writer {
        fn builder(&mut self) -> &mut Builder {
            &mut self.0
        }

        fn label(&mut self) -> Label {
            Label(0)
        }
    }

    fn view(rank: u8, writable: bool) -> ViewType {
        ViewType {
            elem: Scalar::I64,
            rank,
            layout: Layout::C,
            space: Memory::Global,
            writable,
        }
    }

    /// `f(a, sums, greatest)`: along some axes of an array of three.
    fn module(folded: &[usize], walk: Walk) -> Module {
        let axes = Axes::new(3, folded);
        let result = view((3 - folded.len()) as u8, true);
        let mut func = Function::new("f", FuncKind::Host);
        let array = (func.new_param(Type::View(view(3, false)), "a"), view(3, false));
        let outs = ["sums", "greatest"].map(|name| (func.new_param(Type::View(result), name), result));
        let mut writer = Writer(Builder::new(func));
        let e = &mut writer;
        let extents: Vec<Value> = (0..3).map(|axis| e.0.emit(Type::I64, Op::Dim(array.0, axis))).collect();
        let (outer, inner) = axes.split(&extents);
        let states = [ReduceOp::Add, ReduceOp::Max].map(|op| State { scalar: Scalar::I64, op });
        let along = AlongAxes {
            axes: &axes,
            outer: Space { walk, extents: &outer },
            inner: Space { walk, extents: &inner },
            states: &states,
        };
        let written: Result<(), Infallible> = fold_axes(
            e,
            &along,
            &mut |e| [0, i64::MIN].map(|n| e.0.i64(n)).to_vec(),
            &mut |e, at| {
                let x = load(&mut e.0, array, at);
                Ok(vec![x, x])
            },
            &mut |e, at, results| {
                outs.iter().zip(results).for_each(|(&out, &value)| store(&mut e.0, out, at, value));
                Ok(())
            },
        );
        assert!(written.is_ok());
        e.0.push(StmtKind::Return(None));
        Module {
            sources: vec![],
            constants: vec![],
            functions: vec![writer.0.finish()],
            entry: FuncId(0),
        }
    }

    /// What the function makes of an array of the shape, element by element 0, 1, 2, ...
    fn results(folded: &[usize], walk: Walk, shape: [i64; 3]) -> [Vec<i64>; 2] {
        let module = module(folded, walk);
        let mut machine = Machine::new(&module, Options::default()).unwrap();
        let left: Vec<i64> = (0..3).filter(|axis| !folded.contains(axis)).map(|axis| shape[axis]).collect();
        let place = |machine: &mut Machine<'_>, shape: &[i64], count: i64| {
            let bytes = (0..count).flat_map(i64::to_ne_bytes).collect();
            let buffer = machine.buffer(bytes);
            (buffer, machine.view(buffer, Scalar::I64, shape))
        };
        let many = left.iter().product();
        let (_, a) = place(&mut machine, &shape, shape.iter().product());
        let (sums, s) = place(&mut machine, &left, many);
        let (greatest, g) = place(&mut machine, &left, many);
        machine.call(&[a, s, g]).unwrap();
        [sums, greatest].map(|buffer| {
            let chunks = machine.bytes(buffer).chunks_exact(8);
            chunks.map(|bytes| i64::from_ne_bytes(bytes.try_into().unwrap())).collect()
        })
    }

    fn expected(folded: &[usize], shape: [i64; 3]) -> [Vec<i64>; 2] {
        let kept: Vec<usize> = (0..3).filter(|axis| !folded.contains(axis)).collect();
        let many = kept.iter().map(|&axis| shape[axis]).product::<i64>() as usize;
        let (mut sums, mut greatest) = (vec![0; many], vec![i64::MIN; many]);
        for n in 0..shape.iter().product() {
            let at = [n / (shape[1] * shape[2]), n / shape[2] % shape[1], n % shape[2]];
            let place = kept.iter().fold(0, |place, &axis| place * shape[axis] + at[axis]) as usize;
            sums[place] += n;
            greatest[place] = greatest[place].max(n);
        }
        [sums, greatest]
    }

    #[test]
    fn any_axes_are_folded_to_several_states() {
        for folded in [&[0][..], &[1], &[2], &[0, 1], &[2, 0], &[1, 2], &[0, 1, 2]] {
            for walk in [Walk::InOrder, Walk::Spread(Spread::Lanes)] {
                for shape in [[2, 3, 4], [5, 1, 2], [3, 0, 2], [0, 2, 1]] {
                    assert_eq!(
                        results(folded, walk, shape),
                        expected(folded, shape),
                        "along {folded:?} of {shape:?}, {walk:?}"
                    );
                }
            }
        }
    }

    #[test]
    fn the_order_shows_where_sums_round() {
        let shows = |scalar, op| State { scalar, op }.has_order();
        assert!(shows(Scalar::F32, ReduceOp::Add) && shows(Scalar::C64, ReduceOp::Mul));
        assert!(!shows(Scalar::I32, ReduceOp::Add) && !shows(Scalar::F64, ReduceOp::Max));
    }

    #[test]
    fn axes_are_taken_apart_and_joined() {
        let axes = Axes::new(4, &[2, 0]);
        assert_eq!(axes.split(&[10, 11, 12, 13]), (vec![11, 13], vec![10, 12]));
        let (outer, inner) = ([Value(1), Value(3)], [Value(0), Value(2)]);
        assert_eq!(axes.join(&outer, &inner), [Value(0), Value(1), Value(2), Value(3)]);
    }
}
