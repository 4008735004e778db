//! Elements of arrays of one axis that passes make for themselves: chains, partial results.

use weft_ir::{ArrayDecl, ArrayId, Builder, Function, Index, Layout, Op, Part, Scalar, Space, StmtKind, Type, Value, ViewType};

/// A C-contiguous, writable array of one axis, and its elements' type.
#[derive(Clone, Copy, Debug)]
pub struct Elements {
    view: Value,
    elem: Scalar,
}

impl Elements {
    /// A new parameter: an array in memory of the device.
    pub fn of_param(func: &mut Function, elem: Scalar, name: &str) -> Elements {
        let view = func.new_param(ty(elem, Space::Global), name);
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
        let view = b.emit(ty(elem, space), Op::Array(id));
        Elements { view, elem }
    }

    /// A fresh array of a host function's.
    pub fn of_alloc(b: &mut Builder, elem: Scalar, count: Value) -> Elements {
        let alloc = Op::Alloc {
            zeroed: false,
            shape: vec![count],
        };
        let view = b.emit(ty(elem, Space::Global), alloc);
        Elements { view, elem }
    }

    pub fn load(self, b: &mut Builder, at: Value) -> Value {
        let load = Op::Load {
            view: self.view,
            indices: vec![Index { value: at, wrap: false }],
            part: Part::Whole,
        };
        b.emit(self.elem, load)
    }

    pub fn store(self, b: &mut Builder, at: Value, value: Value) {
        b.push(StmtKind::Store {
            view: self.view,
            indices: vec![Index { value: at, wrap: false }],
            value,
            part: Part::Whole,
        });
    }
}

fn ty(elem: Scalar, space: Space) -> Type {
    Type::View(ViewType {
        elem,
        rank: 1,
        layout: Layout::C,
        space,
        writable: true,
    })
}
