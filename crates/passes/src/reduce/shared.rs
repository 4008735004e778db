//! Shared memory, by which the threads of a block join what each has.

use weft_ir::{ArrayDecl, ArrayId, BinOp, Builder, CmpOp, Scalar, Space, StmtKind, Value};

use super::THREADS;
use super::kernel::Place;
use crate::elements::Elements;
use crate::join::Join;
use crate::statements::when;

/// One array per type, of one element a thread.
pub struct Shared {
    threads: u32,
    arrays: Vec<(Scalar, ArrayId)>,
}

impl Default for Shared {
    fn default() -> Shared {
        Shared::of(THREADS)
    }
}

impl Shared {
    /// Of blocks of so many threads.
    pub fn of(threads: u32) -> Shared {
        Shared {
            threads,
            arrays: Vec::new(),
        }
    }

    /// Puts what each thread's local holds beside the others', once nobody reads what was there before. Who reads it waits first.
    pub fn put(&mut self, b: &mut Builder, join: &Join, thread: Value) -> Elements {
        let array = self.array(b, join.scalar);
        b.push(StmtKind::Barrier);
        let own = b.get(join.local);
        array.store(b, thread, own);
        array
    }

    fn array(&mut self, b: &mut Builder, elem: Scalar) -> Elements {
        if let Some((_, id)) = self.arrays.iter().find(|(scalar, _)| *scalar == elem) {
            return Elements::again(b, *id);
        }
        let id = b.func.new_array(ArrayDecl {
            name: "parts".into(),
            elem,
            shape: vec![u64::from(self.threads)],
            space: Space::Shared,
        });
        self.arrays.push((elem, id));
        Elements::again(b, id)
    }
}

/// Joins what `width` neighbours have as a tree, the first half with the second; `number` is a thread's among them. All may read it then.
pub fn tree(b: &mut Builder, join: &Join, array: Elements, place: Place, of: (Value, u64)) {
    tree_apart(b, join, array, place, of, 1);
}

/// The same of threads that are so far apart.
pub fn tree_apart(b: &mut Builder, join: &Join, array: Elements, place: Place, (number, width): (Value, u64), apart: u64) {
    let mut half = width / 2;
    while half > 0 {
        b.push(StmtKind::Barrier);
        let (count, away) = (b.i64(half as i64), b.i64((half * apart) as i64));
        let (below, other) = (b.compare(CmpOp::Lt, number, count), b.binary(BinOp::Add, place.thread, away));
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
