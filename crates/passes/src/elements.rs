//! Elements of arrays that passes make for themselves: chains, partial results.

use weft_ir::{ArrayDecl, ArrayId, Builder, Function, Index, Layout, Op, Part, Scalar, Space, StmtKind, Type, Value, ViewType};

/// A C-contiguous, writable array, and its elements' type.
#[derive(Clone, Copy, Debug)]
pub struct Elements {
    view: Value,
    elem: Scalar,
}

impl Elements {
    /// A new parameter: an array in memory of the device.
    pub fn of_param(func: &mut Function, elem: Scalar, name: &str) -> Elements {
        let view = func.new_param(ty(elem, 1, Space::Global), name);
        Elements { view, elem }
    }

    /// The same, of two axes.
    pub fn of_table_param(func: &mut Function, elem: Scalar, name: &str) -> Elements {
        let view = func.new_param(ty(elem, 2, Space::Global), name);
        Elements { view, elem }
    }

    /// A new array of the function's.
    pub fn of_array(b: &mut Builder, name: &str, elem: Scalar, count: u64, space: Space) -> Elements {
        let id = b.func.new_array(ArrayDecl {
            name: name.into(),
            elem,
            shape: vec![count],
            space,
        });
        Elements::again(b, id)
    }

    /// An array of the function's that was made before.
    pub fn again(b: &mut Builder, id: ArrayId) -> Elements {
        let ArrayDecl { elem, space, .. } = b.func.arrays[id.index()];
        let view = b.emit(ty(elem, 1, space), Op::Array(id));
        Elements { view, elem }
    }

    /// A fresh array of a host function's.
    pub fn of_alloc(b: &mut Builder, elem: Scalar, count: Value) -> Elements {
        let alloc = Op::Alloc {
            zeroed: false,
            shape: vec![count],
        };
        let view = b.emit(ty(elem, 1, Space::Global), alloc);
        Elements { view, elem }
    }

    pub fn load(self, b: &mut Builder, at: Value) -> Value {
        self.load_at(b, &[at])
    }

    pub fn load_at(self, b: &mut Builder, at: &[Value]) -> Value {
        let load = Op::Load {
            view: self.view,
            indices: indices(at),
            part: Part::Whole,
        };
        b.emit(self.elem, load)
    }

    pub fn store(self, b: &mut Builder, at: Value, value: Value) {
        self.store_at(b, &[at], value);
    }

    pub fn store_at(self, b: &mut Builder, at: &[Value], value: Value) {
        b.push(StmtKind::Store {
            view: self.view,
            indices: indices(at),
            value,
            part: Part::Whole,
        });
    }
}

fn indices(at: &[Value]) -> Vec<Index> {
    at.iter().map(|&value| Index { value, wrap: false }).collect()
}

fn ty(elem: Scalar, rank: u8, space: Space) -> Type {
    Type::View(ViewType {
        elem,
        rank,
        layout: Layout::C,
        space,
        writable: true,
    })
}
