//! Shadows, the arrays that gradients are added to: of parameters and of the views made of them, and how they are added to.

use weft_ir::{AxisSlice, BinOp, Index, Layout, Op, Part, Space, Span, StmtKind, Type, Value, ViewType};

use super::super::roots::Root;
use super::Emitter;

impl Emitter<'_> {
    /// The type of a shadow of a view.
    pub(super) fn shadow_ty(&self, view: Value) -> Type {
        let Some(ty) = self.tree.ty(view).view() else {
            return self.tree.ty(view).clone();
        };
        let roots = self.parts.roots.of(view);
        let alike = roots
            .iter()
            .all(|root| !matches!(root, Root::Param(_)) || self.alike.contains(root));
        let layout = if alike { ty.layout } else { Layout::Any };
        Type::View(ViewType {
            layout,
            writable: true,
            ..ty
        })
    }

    /// The shadow of a view, here.
    pub(super) fn shadow(&mut self, view: Value) -> Value {
        if let Some(found) = self.shadows.get(view) {
            return found;
        }
        if let Some(local) = self.shadows_spilled.get(&view).copied() {
            let got = self.b.get(local);
            self.shadows.insert(view, got);
            return got;
        }
        let span = self.tree.defs.get(&view).map_or(Span::NONE, |node| self.tree.node(*node).span);
        let Some(op) = self.tree.op(view).cloned() else {
            return self.fail(span, "derivatives pass through an array that has no array among the adjoints");
        };
        let ty = self.shadow_ty(view);
        let made = match op {
            Op::Slice { view: of, axes } => {
                let shadow = self.shadow(of);
                let axes = axes.iter().map(|axis| self.axis(axis)).collect();
                self.b.emit(ty, Op::Slice { view: shadow, axes })
            }
            Op::Transpose(of, perm) => {
                let shadow = self.shadow(of);
                self.b.emit(ty, Op::Transpose(shadow, perm))
            }
            Op::PartView(of, part) => {
                let shadow = self.shadow(of);
                self.b.emit(ty, Op::PartView(shadow, part))
            }
            Op::Reshape(of, shape) => {
                let shadow = self.shadow(of);
                if self.b.ty(shadow).view().is_some_and(|view| view.layout == Layout::Any) {
                    return self.fail(
                        span,
                        "the array is reshaped here: the array of its adjoint has to lie in memory as it does",
                    );
                }
                let shape = shape.iter().map(|len| self.value(*len)).collect();
                self.b.emit(ty, Op::Reshape(shadow, shape))
            }
            Op::Select(cond, a, b) => {
                let (cond, a, b) = (self.value(cond), self.shadow(a), self.shadow(b));
                self.b.emit(ty, Op::Select(cond, a, b))
            }
            Op::Array(id) => {
                let Some(shadow) = self.tapes.array_shadows.get(&id).copied() else {
                    return self.fail(span, "a defect of Weft: an array has no shadow");
                };
                self.b.emit(ty, Op::Array(shadow))
            }
            _ => return self.fail(span, "a defect of Weft: the way back misses a shadow"),
        };
        self.shadows.insert(view, made);
        made
    }

    pub(super) fn axis(&mut self, axis: &AxisSlice) -> AxisSlice {
        match axis {
            AxisSlice::At(index) => AxisSlice::At(Index {
                value: self.value(index.value),
                wrap: index.wrap,
            }),
            AxisSlice::Range { start, len, step } => AxisSlice::Range {
                start: self.value(*start),
                len: self.value(*len),
                step: self.value(*step),
            },
            AxisSlice::Full => AxisSlice::Full,
            AxisSlice::New => AxisSlice::New,
        }
    }

    /// A parameter's shadow, with a layout that its views can have.
    pub(super) fn shadow_param(&mut self, param: Value, view: ViewType, shadow: Value) {
        let given = self.b.ty(shadow).view().unwrap_or(view);
        let mut of = shadow;
        if given.layout == view.layout || view.layout == Layout::Any {
            self.alike.insert(Root::Param(param));
        }
        if given.layout != view.layout && given.layout != Layout::Any {
            let ty = ViewType {
                layout: Layout::Any,
                ..given
            };
            let axes = vec![AxisSlice::Full; usize::from(given.rank)];
            of = self.b.emit(ty, Op::Slice { view: shadow, axes });
        }
        self.shadows.insert(param, of);
    }

    /// Copies of parameters that replays write to.
    pub(super) fn copy_params(&mut self) {
        let copies: Vec<Root> = self.parts.plan.copies.iter().copied().collect();
        for root in copies {
            let Root::Param(param) = root else { continue };
            let Some(view) = self.tree.ty(param).view() else { continue };
            let from = self.value(param);
            let shape: Vec<Value> = (0..view.rank).map(|axis| self.b.emit(Type::I64, Op::Dim(from, axis))).collect();
            let fresh = ViewType {
                layout: Layout::C,
                space: Space::Global,
                writable: true,
                ..view
            };
            let copy = match view.layout {
                Layout::F => {
                    let turned: Vec<Value> = shape.iter().rev().copied().collect();
                    let made = self.b.emit(
                        fresh,
                        Op::Alloc {
                            zeroed: false,
                            shape: turned,
                        },
                    );
                    let perm = (0..view.rank).rev().collect();
                    self.b.emit(ViewType { writable: true, ..view }, Op::Transpose(made, perm))
                }
                Layout::C => self.b.emit(
                    fresh,
                    Op::Alloc {
                        zeroed: false,
                        shape: shape.clone(),
                    },
                ),
                Layout::Row | Layout::Any => {
                    let made = self.b.emit(
                        fresh,
                        Op::Alloc {
                            zeroed: false,
                            shape: shape.clone(),
                        },
                    );
                    let axes = vec![AxisSlice::Full; usize::from(view.rank)];
                    self.b.emit(ViewType { writable: true, ..view }, Op::Slice { view: made, axes })
                }
            };
            let parts = if view.elem.is_complex() {
                vec![Part::Re, Part::Im]
            } else {
                vec![Part::Whole]
            };
            self.each_element(&shape, |e, at| {
                for part in &parts {
                    let elem = if view.elem.is_complex() { view.elem.part() } else { view.elem };
                    let value = e.b.emit(
                        elem,
                        Op::Load {
                            view: from,
                            indices: at.clone(),
                            part: *part,
                        },
                    );
                    e.b.push(StmtKind::Store {
                        view: copy,
                        indices: at.clone(),
                        part: *part,
                        value,
                    });
                }
            });
            self.values.insert(param, copy);
        }
    }

    /// Loops over all indices of a shape.
    pub(super) fn each_element(&mut self, shape: &[Value], what: impl FnOnce(&mut Self, Vec<Index>)) {
        let (start, step) = (self.b.i64(0), self.b.i64(1));
        let vars: Vec<Value> = shape.iter().map(|_| self.b.func.new_value(Type::I64)).collect();
        shape.iter().for_each(|_| self.open());
        what(
            self,
            vars.iter()
                .map(|value| Index {
                    value: *value,
                    wrap: false,
                })
                .collect(),
        );
        for (var, stop) in vars.iter().zip(shape).rev() {
            let body = self.close();
            self.b.push(StmtKind::For {
                var: *var,
                start,
                stop: *stop,
                step,
                body,
            });
        }
    }

    /// Adds to an element: plainly, or in an atomic step.
    pub(super) fn add_to(&mut self, view: Value, indices: Vec<Index>, part: Part, value: Value, plain: bool) {
        let ty = self.b.ty(value);
        if plain {
            let old = self.b.emit(
                ty,
                Op::Load {
                    view,
                    indices: indices.clone(),
                    part,
                },
            );
            let op = if part == Part::Im { BinOp::Sub } else { BinOp::Add };
            let new = self.b.binary(op, old, value);
            self.b.push(StmtKind::Store {
                view,
                indices,
                part,
                value: new,
            });
            return;
        }
        let (mut view, mut op) = (view, weft_ir::AtomicOp::Add);
        if part != Part::Whole {
            let Some(of) = self.b.ty(view).view() else { return };
            let ty = ViewType {
                elem: of.elem.part(),
                layout: Layout::Any,
                ..of
            };
            view = self.b.emit(ty, Op::PartView(view, part));
            if part == Part::Im {
                op = weft_ir::AtomicOp::Sub;
            }
        }
        self.b.emit(
            ty,
            Op::Atomic {
                op,
                view,
                indices,
                value,
                expected: None,
            },
        );
    }
}
