//! What a reduction joins, and how: its operator, the type of what it holds, and what it starts from.

use weft_ir::{Builder, Const, Function, Local, ReduceOp, Reduction, Scalar, Span, Value};

use crate::error::PassError;

#[derive(Clone, Copy, Debug)]
pub struct Join {
    pub local: Local,
    pub scalar: Scalar,
    op: ReduceOp,
    identity: Const,
}

impl Join {
    pub fn of(func: &Function, reduction: Reduction, span: Span) -> Result<Join, PassError> {
        let Reduction { local, op, .. } = reduction;
        let defect = |what| PassError::defect(span, format!("a reduction by {} of {what}", op.name()));
        let scalar = func.local_ty(local).scalar().ok_or_else(|| defect("no scalar"))?;
        let identity = op.identity(scalar).ok_or_else(|| defect("a type that it has no identity for"))?;
        Ok(Join {
            local,
            scalar,
            op,
            identity,
        })
    }

    pub fn all(func: &Function, reductions: &[Reduction], span: Span) -> Result<Vec<Join>, PassError> {
        reductions.iter().map(|r| Join::of(func, *r, span)).collect()
    }

    pub fn name(&self) -> &'static str {
        self.op.name()
    }

    pub fn identity(&self, b: &mut Builder) -> Value {
        b.constant(self.identity)
    }

    /// Starts a local from the identity.
    pub fn clear(&self, b: &mut Builder, local: Local) {
        let identity = self.identity(b);
        b.set(local, identity);
    }

    /// `x op y`. Some back ends are given no arithmetic of 16-bit floats any more.
    pub fn join(&self, b: &mut Builder, x: Value, y: Value) -> Value {
        if !self.scalar.is_half() {
            return b.binary(self.op.binary(), x, y);
        }
        let (x, y) = (b.cast(x, Scalar::F32), b.cast(y, Scalar::F32));
        let both = b.binary(self.op.binary(), x, y);
        b.cast(both, self.scalar)
    }

    /// `local = local op value`
    pub fn add(&self, b: &mut Builder, local: Local, value: Value) {
        let so_far = b.get(local);
        let both = self.join(b, so_far, value);
        b.set(local, both);
    }
}
