//! Shared memory, by which the threads of a block join what each has.

use weft_ir::{ArrayDecl, ArrayId, BinOp, Builder, CmpOp, Scalar, Space, StmtKind, Value};

use super::THREADS;
use super::kernel::Place;
use crate::elements::Elements;
use crate::join::Join;
use crate::statements::when;

/// One array per type, of one element a thread.
#[derive(Default)]
pub struct Shared(Vec<(Scalar, ArrayId)>);

impl Shared {
    /// Puts what each thread's local holds beside the others', once nobody reads what was there before. Who reads it waits first.
    pub fn put(&mut self, b: &mut Builder, join: &Join, thread: Value) -> Elements {
        let array = self.array(b, join.scalar);
        b.push(StmtKind::Barrier);
        let own = b.get(join.local);
        array.store(b, thread, own);
        array
    }

    fn array(&mut self, b: &mut Builder, elem: Scalar) -> Elements {
        if let Some((_, id)) = self.0.iter().find(|(scalar, _)| *scalar == elem) {
            return Elements::again(b, *id);
        }
        let id = b.func.new_array(ArrayDecl {
            name: "parts".into(),
            elem,
            shape: vec![u64::from(THREADS)],
            space: Space::Shared,
        });
        self.0.push((elem, id));
        Elements::again(b, id)
    }
}

/// Joins what `width` neighbours have as a tree, the first half with the second; `number` is a thread's among them. All may read it then.
pub fn tree(b: &mut Builder, join: &Join, array: Elements, place: Place, (number, width): (Value, u64)) {
    let mut half = width / 2;
    while half > 0 {
        b.push(StmtKind::Barrier);
        let away = b.i64(half as i64);
        let (below, other) = (b.compare(CmpOp::Lt, number, away), b.binary(BinOp::Add, place.thread, away));
        let exists = b.compare(CmpOp::Lt, other, place.threads);
        let joins = b.binary(BinOp::And, below, exists);
        when(b, joins, |b| {
            let (own, theirs) = (array.load(b, place.thread), array.load(b, other));
            let both = join.join(b, own, theirs);
            array.store(b, place.thread, both);
        });
        half /= 2;
    }
    b.push(StmtKind::Barrier);
}
