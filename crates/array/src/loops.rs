//! Loop nests over all points of a shape, and the loads and stores of elements in them.

use weft_ir::{Block, Builder, Index, Label, Op, Part, Reduction, Spread, StmtKind, Type, Value};

use crate::expr::Leaf;
use crate::scalar::ScalarFn;

/// What writes a loop: a [`Builder`] and what its owner knows beside it.
pub trait Emit {
    fn builder(&mut self) -> &mut Builder;

    fn open(&mut self) {
        self.builder().open();
    }

    fn close(&mut self) -> Block {
        self.builder().close()
    }

    /// The index of an axis: a value never negative.
    fn index(&mut self) -> Value {
        self.builder().func.new_value(Type::I64)
    }

    /// A label that no block of the function has.
    fn label(&mut self) -> Label;

    fn apply(&mut self, function: &ScalarFn, args: &[Value]) -> Value {
        let labels: Vec<Label> = (0..function.labels()).map(|_| self.label()).collect();
        function.apply(self.builder(), args, &labels)
    }
}

/// How the points of a shape are gone through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Walk {
    /// One after the other, in C order.
    InOrder,
    Spread(Spread),
}

/// What is written at a point, from its indices.
pub type AtPoint<'a, E, Stop> = dyn FnMut(&mut E, &[Value]) -> Result<(), Stop> + 'a;

/// Runs `body` at every point of a shape.
pub fn at_every_point<E: Emit + ?Sized, Stop>(
    e: &mut E,
    walk: Walk,
    extents: &[Value],
    reductions: Vec<Reduction>,
    body: &mut AtPoint<'_, E, Stop>,
) -> Result<(), Stop> {
    let spread = match walk {
        Walk::Spread(spread) if !extents.is_empty() => spread,
        _ => return in_order(e, extents, body),
    };
    let vars: Vec<Value> = extents.iter().map(|_| e.index()).collect();
    e.open();
    let written = body(e, &vars);
    let block = e.close();
    written?;
    e.builder().push(StmtKind::ParFor {
        vars,
        extents: extents.to_vec(),
        reductions,
        spread,
        body: block,
    });
    Ok(())
}

/// Runs `body` at every point of a shape, in C order.
fn in_order<E: Emit + ?Sized, Stop>(e: &mut E, extents: &[Value], body: &mut AtPoint<'_, E, Stop>) -> Result<(), Stop> {
    let vars: Vec<Value> = extents.iter().map(|_| e.index()).collect();
    let (start, step) = (e.builder().i64(0), e.builder().i64(1));
    extents.iter().for_each(|_| e.open());
    let written = body(e, &vars);
    for (&var, &stop) in vars.iter().zip(extents).rev() {
        let body = e.close();
        e.builder().push(StmtKind::For {
            var,
            start,
            stop,
            step,
            body,
        });
    }
    written
}

/// Stores a value at a point of a view that has as many axes or fewer: the last ones.
pub fn store(b: &mut Builder, (view, ty): Leaf, at: &[Value], value: Value) {
    b.push(StmtKind::Store {
        view,
        indices: point(at, ty.rank),
        value,
        part: Part::Whole,
    });
}

/// Reads an element at a point of a shape that has as many axes or more.
pub fn load(b: &mut Builder, (view, ty): Leaf, at: &[Value]) -> Value {
    let (indices, part) = (point(at, ty.rank), Part::Whole);
    b.emit(ty.elem, Op::Load { view, indices, part })
}

/// The last `rank` indices of a point.
pub fn point(at: &[Value], rank: u8) -> Vec<Index> {
    let index = |&value: &Value| Index { value, wrap: false };
    at[at.len() - usize::from(rank)..].iter().map(index).collect()
}
