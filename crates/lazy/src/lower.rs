//! Lowering: from a node to the program that computes it. Walks back from the node to what is stored, with a map from the points of the index
//! space to each node's axes, so that views cost nothing. What has to be stored before comes back as a list of nodes.

use std::sync::Arc;

use smallvec::{SmallVec, smallvec};

use crate::dims::{self, AxisMap};
use crate::error::{Error, Result};
use crate::memory::Piece;
use crate::program::{Iota, Load, Program, Slot, Step};
use crate::value::{Kind, Node, Value};

/// More steps than this are no one's kernel: nodes read through many different maps were computed once for each.
const MOST_STEPS: usize = 128;
/// Operations that are computed again for a second map rather than stored.
const CHEAP: u32 = 8;

/// What became of the attempt.
#[derive(Debug)]
pub enum Lowered {
    Ready(Program),
    /// These have to be stored first.
    Needs(SmallVec<[Value; 4]>),
}

/// The program that computes a node's elements at the points of its shape. The node itself may be pending or stored; `kept` says that what
/// the program computes will be stored as the node's own.
pub fn lower(root: &Value, kept: bool) -> Result<Lowered> {
    let mut lowering = Lowering {
        rank: root.shape.len(),
        program: Program {
            extents: root.shape.clone(),
            ..Program::default()
        },
        seen: SmallVec::new(),
        needs: SmallVec::new(),
        passed: SmallVec::new(),
        kept: kept.then_some(root),
    };
    let slot = lowering.slot(root, dims::identity(root.shape.len()))?;
    if lowering.program.steps.len() > MOST_STEPS {
        lowering.needs = operands_of(root);
    }
    if !lowering.needs.is_empty() {
        return Ok(Lowered::Needs(lowering.needs));
    }
    for node in lowering.passed {
        node.pass();
    }
    lowering.program.result = Some(slot);
    Ok(Lowered::Ready(lowering.program))
}

/// The pending operands of a node, so that something smaller is computed first.
fn operands_of(node: &Value) -> SmallVec<[Value; 4]> {
    let mut found = SmallVec::new();
    let mut add = |value: &Value| {
        if !value.is_stored() && value.look(|kind| !matches!(kind, Kind::Fill(_)), |_| false) == Some(true) {
            found.push(value.clone());
        }
    };
    match node.kind() {
        Some(Kind::Map { args, .. }) => args.iter().for_each(&mut add),
        Some(Kind::View { of, .. } | Kind::Reshape(of) | Kind::Strided { of, .. }) => add(&of),
        _ => {}
    }
    found
}

struct Lowering<'a> {
    rank: usize,
    program: Program,
    /// What was lowered, through which map.
    seen: SmallVec<[(*const Node, AxisMap, Slot); 16]>,
    needs: SmallVec<[Value; 4]>,
    /// Others than this kernel refer to them, too.
    passed: SmallVec<[Value; 8]>,
    /// What the program is for.
    kept: Option<&'a Value>,
}

/// What a node is, as far as lowering has to know.
enum Found {
    Piece(Piece),
    Kind(Kind),
}

impl Lowering<'_> {
    fn slot(&mut self, node: &Value, map: AxisMap) -> Result<Slot> {
        let id = Arc::as_ptr(node);
        let mut other_map = false;
        for (seen, through, slot) in self.seen.iter().rev() {
            if *seen == id {
                if *through == map {
                    return Ok(*slot);
                }
                other_map = true;
            }
        }
        let found = node.look(|kind| Found::Kind(kind.clone()), |piece| Found::Piece(piece.clone()));
        let slot = match found.ok_or_else(|| Error::Internal("a value was taken while it is computed".into()))? {
            Found::Piece(piece) => self.load(node, piece, &map),
            Found::Kind(kind) => self.pending(node, kind, &map, other_map)?,
        };
        self.seen.push((id, map, slot));
        Ok(slot)
    }

    fn pending(&mut self, node: &Value, kind: Kind, map: &AxisMap, other_map: bool) -> Result<Slot> {
        let is_root = self.kept.is_some_and(|root| Arc::ptr_eq(node, root));
        match kind {
            Kind::Fill(bits) => {
                Ok(self.program.constant((node.elem, bits)))
            }
            Kind::Iota(numbers) => {
                let axis = map[0];
                self.program.iotas.push(Iota {
                    elem: node.elem,
                    start: numbers.start,
                    step: numbers.step,
                    along: axis.along,
                    first: axis.start,
                    by: axis.step,
                });
                Ok(Slot::Iota(self.program.iotas.len() as u16 - 1))
            }
            Kind::Map { operation, args } => {
                let costly = other_map && node.costs() > CHEAP;
                if !is_root && (node.is_full() || costly || (node.was_passed() && node.costs() > 1)) {
                    return self.need(node);
                }
                if !is_root && Arc::strong_count(node) > 2 {
                    self.passed.push(node.clone());
                }
                let mut slots = smallvec![];
                for arg in &args {
                    let map = match arg.shape == node.shape {
                        true => map.clone(),
                        false => dims::compose(map, &dims::broadcast(&arg.shape, &node.shape)),
                    };
                    slots.push(self.slot(arg, map)?);
                }
                self.program.steps.push(Step { operation, args: slots });
                Ok(Slot::Step(self.program.steps.len() as u16 - 1))
            }
            Kind::View { of, map: view } => self.slot(&of, dims::compose(map, &view)),
            Kind::Reshape(of) => self.reshape(node, &of, map),
            Kind::Strided { of, offset, strides } => match of.piece() {
                Some(piece) => {
                    let (further, strides) = dims::through(map, &strides, self.rank);
                    Ok(self.program.loaded(Load {
                        elem: node.elem,
                        piece,
                        offset: offset + further,
                        strides,
                    }))
                }
                None => self.need(&of),
            },
            Kind::Update { .. } | Kind::Fold { .. } | Kind::Moved(_) => self.need(node),
        }
    }

    /// The same memory in another shape, or, where axes of length 1 are all that differs, the same node through another map.
    fn reshape(&mut self, node: &Value, of: &Value, map: &AxisMap) -> Result<Slot> {
        if let Some(piece) = of.piece() {
            return Ok(self.load(node, piece, map));
        }
        let long = |shape: &[u64]| shape.iter().copied().filter(|n| *n != 1).collect::<SmallVec<[u64; 4]>>();
        if long(&of.shape) != long(&node.shape) {
            return self.need(of);
        }
        let mut places = (node.shape.iter().enumerate()).filter(|(_, n)| **n != 1).map(|(axis, _)| axis);
        let inner = (of.shape.iter())
            .map(|&n| match n {
                1 => dims::Axis {
                    start: 0,
                    step: 0,
                    along: None,
                },
                _ => dims::Axis {
                    start: 0,
                    step: 1,
                    along: places.next().map(|axis| axis as u8),
                },
            })
            .collect::<AxisMap>();
        self.slot(of, dims::compose(map, &inner))
    }

    fn load(&mut self, node: &Node, piece: Piece, map: &AxisMap) -> Slot {
        let (offset, strides) = dims::through(map, &dims::dense(&node.shape, node.elem.size()), self.rank);
        self.program.loaded(Load {
            elem: node.elem,
            piece,
            offset,
            strides,
        })
    }

    /// It is stored first; the slot says nothing.
    fn need(&mut self, node: &Value) -> Result<Slot> {
        if !self.needs.iter().any(|known| Arc::ptr_eq(known, node)) {
            self.needs.push(node.clone());
        }
        Ok(Slot::Constant(0))
    }
}
