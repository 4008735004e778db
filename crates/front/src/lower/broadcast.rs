//! Broadcasting: the common shape of an expression's arrays, and views stretched to it.

use weft_array::Leaf;
use weft_array::loops::{point, store};
use weft_ir::{AxisSlice, BinOp, CmpOp, ErrorKind, Layout, Local, Op, Space, Span, StmtKind, TOO_BIG, Value, ViewType};

use super::Lower;
use super::lazy::fresh_type;
use crate::stop::Res;
use crate::types::join_views;

/// Emits a loop over leaves that have one shape.
type MakeLoop<'a, L> = dyn FnMut(&mut L, &[Leaf]) -> Res<()> + 'a;

/// The common shape of an expression's leaves.
pub struct Aligned {
    pub shape: Vec<Value>,
    stretch: Stretch,
}

/// Must leaves be stretched to the common shape?
#[derive(Clone, Copy)]
enum Stretch {
    Never,
    /// Some axis is known to broadcast.
    Always,
    /// Unless this is true when the program runs: that all lengths are equal.
    Unless(Value),
}

impl Lower<'_> {
    /// The common shape of the leaves: `target`'s if given, else what they broadcast to. Raises where they do not fit.
    pub fn align(&mut self, leaves: &[Leaf], target: Option<&[Value]>, span: Span) -> Res<Aligned> {
        let shapes: Vec<Vec<Value>> = leaves.iter().map(|(v, ty)| self.shape_of(*v, *ty)).collect();
        let rank = shapes.iter().map(Vec::len).max().unwrap_or(0);
        let mut shape: Vec<Option<Value>> = match target {
            Some(target) if rank > target.len() => {
                let message = format!("a {rank}-d value cannot be stored into a {}-d array", target.len());
                return Err(self.typing(span, message));
            }
            Some(target) => target.iter().copied().map(Some).collect(),
            None => vec![None; rank],
        };
        let mut stretch = Stretch::Never;
        for dims in &shapes {
            let offset = shape.len() - dims.len();
            for (axis, &n) in dims.iter().enumerate() {
                let common = &mut shape[offset + axis];
                match *common {
                    None => *common = Some(n),
                    Some(m) => *common = Some(self.common_length(m, n, target.is_some(), &mut stretch)?),
                }
            }
        }
        let shape = shape.into_iter().flatten().collect();
        Ok(Aligned { shape, stretch })
    }

    /// The length that two lengths of an axis broadcast to: the first one if it is `fixed`.
    fn common_length(&mut self, m: Value, n: Value, fixed: bool, stretch: &mut Stretch) -> Res<Value> {
        if m == n || (self.facts.is_one(m) && self.facts.is_one(n)) {
            return Ok(m);
        }
        if self.facts.is_one(n) {
            *stretch = Stretch::Always;
            return Ok(m);
        }
        if self.facts.is_one(m) && !fixed {
            *stretch = Stretch::Always;
            return Ok(n);
        }
        let same = self.b.compare(CmpOp::Eq, m, n);
        let common = self.broadcast_axis(m, n, same, fixed)?;
        *stretch = match *stretch {
            Stretch::Never => Stretch::Unless(same),
            Stretch::Always => Stretch::Always,
            Stretch::Unless(so_far) => Stretch::Unless(self.b.binary(BinOp::And, so_far, same)),
        };
        Ok(common)
    }

    fn broadcast_axis(&mut self, m: Value, n: Value, same: Value, fixed: bool) -> Res<Value> {
        let one = self.b.i64(1);
        let n_one = self.b.compare(CmpOp::Eq, n, one);
        let mut fits = self.b.binary(BinOp::Or, same, n_one);
        let mut common = m;
        if !fixed {
            let m_one = self.b.compare(CmpOp::Eq, m, one);
            fits = self.b.binary(BinOp::Or, fits, m_one);
            common = self.b.select(m_one, n, m);
            self.facts.mark_nonneg(common);
        }
        let misfit = self.not(fits);
        self.raise_if(misfit, ErrorKind::Value, "operands could not be broadcast together")?;
        Ok(common)
    }

    pub fn raise_if(&mut self, cond: Value, kind: ErrorKind, message: &str) -> Res<()> {
        let message = message.to_owned();
        self.emit_if(cond, |l| {
            l.b.push(StmtKind::Raise { kind, message });
            Ok(())
        })
    }

    /// A read-only view of an array in a shape of as many axes or more, whose lengths are the array's or take the place of 1. Raises where
    /// they do not fit.
    pub fn broadcast_to(&mut self, view: Value, ty: ViewType, shape: &[Value]) -> Res<Leaf> {
        let mut axes = vec![AxisSlice::New; shape.len() - usize::from(ty.rank)];
        let (mut view, mut ty) = (view, ty);
        if !axes.is_empty() {
            axes.resize(shape.len(), AxisSlice::Full);
            (view, ty) = self.slice(view, ty, axes);
        }
        for (axis, &wanted) in shape.iter().enumerate() {
            let n = self.dim(view, axis as u8);
            if n == wanted || self.facts.is_one(n) {
                continue;
            }
            let one = self.b.i64(1);
            let (same, single) = (self.b.compare(CmpOp::Eq, n, wanted), self.b.compare(CmpOp::Eq, n, one));
            let fits = self.b.binary(BinOp::Or, same, single);
            let misfit = self.not(fits);
            self.raise_if(misfit, ErrorKind::Value, "cannot broadcast an array to this shape")?;
        }
        self.checked_size(ty.elem, shape, TOO_BIG)?;
        let (view, ty) = self.stretch(view, ty, shape);
        let read_only = ViewType { writable: false, ..ty };
        Ok((self.relax_view(view, ty, read_only), read_only))
    }

    /// A view stretched to a shape: axes of length 1 get stride 0.
    fn stretch(&mut self, view: Value, ty: ViewType, shape: &[Value]) -> Leaf {
        let dims = self.shape_of(view, ty);
        let shape = &shape[shape.len() - dims.len()..];
        if dims == shape {
            return (view, ty);
        }
        let axes: Vec<AxisSlice> = dims.iter().zip(shape).map(|(&n, &len)| self.stretched_axis(n, len)).collect();
        let stretched = ViewType {
            layout: match self.slice_layout(ty.layout, &axes) {
                Layout::C => Layout::Row,
                other => other,
            },
            writable: false,
            ..ty
        };
        let value = self.b.emit(stretched, Op::Slice { view, axes });
        self.arrays.derived(value, view);
        (value, stretched)
    }

    fn stretched_axis(&mut self, n: Value, len: Value) -> AxisSlice {
        if n == len {
            return AxisSlice::Full;
        }
        let zero = self.b.i64(0);
        let step = if self.facts.is_one(n) {
            zero
        } else {
            let one = self.b.i64(1);
            let single = self.b.compare(CmpOp::Eq, n, one);
            self.b.select(single, zero, one)
        };
        AxisSlice::Range { start: zero, len, step }
    }

    /// Emits `make` for leaves of one shape. Where only the run can tell whether they must be stretched, the host stretches into copies and
    /// `make` is emitted once; elsewhere there is no memory for copies and it is emitted twice.
    pub fn with_leaves(&mut self, leaves: &[Leaf], aligned: &Aligned, make: &mut MakeLoop<'_, Self>) -> Res<()> {
        let cond = match aligned.stretch {
            Stretch::Never => return make(self, leaves),
            Stretch::Always => return self.with_stretched(leaves, aligned, make),
            Stretch::Unless(equal) => equal,
        };
        let copied = leaves.iter().all(|(_, ty)| ty.space == Space::Global);
        if self.in_host() && copied {
            let leaves = self.stretched_unless(cond, leaves, aligned)?;
            return make(self, &leaves);
        }
        self.open_block();
        make(self, leaves)?;
        let then = self.close_block();
        self.open_block();
        self.with_stretched(leaves, aligned, make)?;
        let other = self.close_block();
        self.b.push(StmtKind::If { cond, then, other });
        Ok(())
    }

    /// The leaves if `equal`, else stretched copies of those that may need it.
    fn stretched_unless(&mut self, equal: Value, leaves: &[Leaf], aligned: &Aligned) -> Res<Vec<Leaf>> {
        let mut held: Vec<(Leaf, Vec<Value>, Local)> = Vec::new();
        for &(view, ty) in leaves {
            let shape = aligned.shape[aligned.shape.len() - ty.rank as usize..].to_vec();
            if self.shape_of(view, ty) == shape {
                continue;
            }
            let either = join_views(ty, copy_type(ty)).unwrap_or(ty);
            let local = self.b.func.new_local(either.into(), "");
            held.push(((view, ty), shape, local));
        }
        self.open_block();
        for ((view, ty), _, local) in &held {
            let held = self.b.func.local_ty(*local).view().unwrap_or(*ty);
            let view = self.relax_view(*view, *ty, held);
            self.b.set(*local, view);
        }
        let then = self.close_block();
        self.open_block();
        for (leaf, shape, local) in &held {
            self.stretched_copy(*leaf, shape, *local)?;
        }
        let other = self.close_block();
        self.b.push(StmtKind::If { cond: equal, then, other });
        let mut result = leaves.to_vec();
        for (leaf, shape, local) in held {
            let value = self.b.get(local);
            self.arrays.shapes.insert(value, shape);
            let ty = self.b.func.local_ty(local).view().unwrap_or(leaf.1);
            result.iter_mut().filter(|l| **l == leaf).for_each(|l| *l = (value, ty));
        }
        Ok(result)
    }

    /// Copies a stretched leaf, element by element: cheap code for a rare case. The copy lies as the leaf does where code may rely on that.
    fn stretched_copy(&mut self, (view, ty): Leaf, shape: &[Value], local: Local) -> Res<()> {
        let (from, from_ty) = self.stretch(view, ty, shape);
        let copy_ty = copy_type(ty);
        let (mut lengths, mut order) = (shape.to_vec(), (0..ty.rank).collect::<Vec<_>>());
        if copy_ty.layout == Layout::F {
            lengths.reverse();
            order.reverse();
        }
        let memory = self.alloc(ty.elem, &lengths, false, self.b.span)?;
        let copy = match copy_ty.layout {
            Layout::F => self.b.emit(copy_ty, Op::Transpose(memory, order)),
            _ => memory,
        };
        self.in_order(shape, &mut |l, vars| {
            let element = l.load(from, from_ty, point(vars, ty.rank));
            let value = l.number_as(&element, ty.elem, l.b.span)?;
            store(&mut l.b, (copy, copy_ty), vars, value);
            Ok(())
        })?;
        let held = self.b.func.local_ty(local).view().unwrap_or(ty);
        let copy = self.relax_view(copy, copy_ty, held);
        self.b.set(local, copy);
        Ok(())
    }

    fn with_stretched(&mut self, leaves: &[Leaf], aligned: &Aligned, make: &mut MakeLoop<'_, Self>) -> Res<()> {
        let stretched: Vec<Leaf> = leaves.iter().map(|(v, ty)| self.stretch(*v, *ty, &aligned.shape)).collect();
        make(self, &stretched)
    }
}

/// The type of a copy in fresh memory: in Fortran's order if the view is, else in C's.
fn copy_type(ty: ViewType) -> ViewType {
    let layout = match ty.layout {
        Layout::F => Layout::F,
        Layout::C | Layout::Row | Layout::Any => Layout::C,
    };
    ViewType {
        layout,
        ..fresh_type(ty.elem, ty.rank)
    }
}
