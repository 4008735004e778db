//! Deferred array expressions as data: element-wise nodes, typed when they are made, fused into one loop where the result is needed.

use std::collections::HashMap;
use std::rc::Rc;

use weft_ir::{Op, Scalar, Value, ViewType};

use crate::loops::Emit;
use crate::scalar::ScalarFn;

/// An array that an expression reads.
pub type Leaf = (Value, ViewType);

/// What an element of an expression is.
#[derive(Debug)]
enum Node {
    /// An array's own element.
    Leaf(Leaf),
    /// What is the same for all elements: a value of the code around.
    Given(Value),
    /// What is computed of other nodes' elements.
    Computed { id: u32, what: Computation, args: Vec<Rc<Node>> },
}

#[derive(Clone, Debug)]
enum Computation {
    Map(Rc<ScalarFn>),
    /// Of one argument.
    Cast(Scalar),
}

/// An array expression.
#[derive(Clone, Debug)]
pub struct Expr {
    /// The type of its elements.
    pub elem: Scalar,
    /// How many axes it has: as many as the array with most.
    pub rank: u8,
    /// The arrays it reads, each once.
    pub leaves: Vec<Leaf>,
    root: Rc<Node>,
}

/// Numbers the nodes of a function's expressions: nodes with one number are one node.
#[derive(Debug, Default)]
pub struct Nodes {
    next: u32,
}

impl Nodes {
    fn node(&mut self, what: Computation, args: Vec<Rc<Node>>) -> Rc<Node> {
        self.next += 1;
        Rc::new(Node::Computed { id: self.next, what, args })
    }

    /// A function of the elements of expressions that are broadcast against each other and, behind them, of values of the code around.
    /// Its result is an `elem`.
    pub fn map(&mut self, function: ScalarFn, elem: Scalar, exprs: &[Expr], given: &[Value]) -> Expr {
        let mut leaves = Vec::new();
        exprs.iter().flat_map(|expr| &expr.leaves).for_each(|leaf| add(&mut leaves, *leaf));
        let given = given.iter().map(|value| Rc::new(Node::Given(*value)));
        let args = exprs.iter().map(|expr| expr.root.clone()).chain(given).collect();
        Expr {
            elem,
            rank: exprs.iter().map(|expr| expr.rank).max().unwrap_or(0),
            leaves,
            root: self.node(Computation::Map(Rc::new(function)), args),
        }
    }

    /// The elements converted.
    pub fn cast(&mut self, expr: &Expr, to: Scalar) -> Expr {
        if expr.elem == to {
            return expr.clone();
        }
        Expr {
            elem: to,
            root: self.node(Computation::Cast(to), vec![expr.root.clone()]),
            ..expr.clone()
        }
    }

    /// The same expression of other arrays, one for each of its leaves.
    pub fn of_leaves(&mut self, expr: &Expr, leaves: &[Leaf]) -> Expr {
        let mut swap = Swap {
            nodes: self,
            from: &expr.leaves,
            to: leaves,
            done: HashMap::new(),
        };
        let root = swap.node(&expr.root);
        let mut distinct = Vec::new();
        leaves.iter().for_each(|leaf| add(&mut distinct, *leaf));
        Expr {
            leaves: distinct,
            root,
            ..*expr
        }
    }
}

impl Expr {
    /// An array's elements.
    pub fn leaf(leaf: Leaf) -> Expr {
        Expr {
            elem: leaf.1.elem,
            rank: leaf.1.rank,
            leaves: vec![leaf],
            root: Rc::new(Node::Leaf(leaf)),
        }
    }

    /// One value in place of every element.
    pub fn given(value: Value, elem: Scalar) -> Expr {
        Expr {
            elem,
            rank: 0,
            leaves: Vec::new(),
            root: Rc::new(Node::Given(value)),
        }
    }

    /// What was applied last, if it was recorded from statements.
    pub fn function(&self) -> Option<&ScalarFn> {
        match &*self.root {
            Node::Computed {
                what: Computation::Map(function),
                ..
            } => Some(function),
            Node::Computed { .. } | Node::Leaf(_) | Node::Given(_) => None,
        }
    }

    /// Writes what an element is. `read` gives the element of the leaf at a place among the leaves.
    pub fn element<E: Emit + ?Sized>(&self, e: &mut E, read: &mut dyn FnMut(&mut E, usize) -> Value) -> Value {
        let loaded = (0..self.leaves.len()).map(|leaf| read(e, leaf)).collect();
        let mut elements = Elements {
            e,
            leaves: &self.leaves,
            loaded,
            done: HashMap::new(),
        };
        elements.node(&self.root)
    }
}

fn add(leaves: &mut Vec<Leaf>, leaf: Leaf) {
    if !leaves.contains(&leaf) {
        leaves.push(leaf);
    }
}

/// One element being written: each node once.
struct Elements<'a, E: Emit + ?Sized> {
    e: &'a mut E,
    leaves: &'a [Leaf],
    loaded: Vec<Value>,
    done: HashMap<u32, Value>,
}

impl<E: Emit + ?Sized> Elements<'_, E> {
    fn node(&mut self, node: &Node) -> Value {
        match node {
            Node::Given(value) => *value,
            Node::Leaf(leaf) => self.leaf(*leaf),
            Node::Computed { id, what, args } => {
                if let Some(value) = self.done.get(id) {
                    return *value;
                }
                let args: Vec<Value> = args.iter().map(|arg| self.node(arg)).collect();
                let value = match what {
                    Computation::Map(function) => self.e.apply(function, &args),
                    Computation::Cast(to) => self.e.builder().emit(*to, Op::Cast(args[0])),
                };
                self.done.insert(*id, value);
                value
            }
        }
    }

    /// The leaves of an expression are those of its nodes.
    fn leaf(&self, leaf: Leaf) -> Value {
        let at = self.leaves.iter().position(|l| *l == leaf);
        self.loaded[at.unwrap_or_default()]
    }
}

/// An expression being made again of other leaves.
struct Swap<'a> {
    nodes: &'a mut Nodes,
    from: &'a [Leaf],
    to: &'a [Leaf],
    done: HashMap<u32, Rc<Node>>,
}

impl Swap<'_> {
    fn node(&mut self, node: &Rc<Node>) -> Rc<Node> {
        match &**node {
            Node::Given(_) => node.clone(),
            Node::Leaf(leaf) => match self.from.iter().position(|l| l == leaf) {
                Some(at) => Rc::new(Node::Leaf(self.to[at])),
                None => node.clone(),
            },
            Node::Computed { id, what, args } => {
                if let Some(made) = self.done.get(id) {
                    return made.clone();
                }
                let args = args.iter().map(|arg| self.node(arg)).collect();
                let made = self.nodes.node(what.clone(), args);
                self.done.insert(*id, made.clone());
                made
            }
        }
    }
}
