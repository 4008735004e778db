//! Array expressions as data: nodes whose types are known when they are made, computed in one loop where their result is needed.

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
    /// A function of scalars of other nodes' elements.
    Map {
        id: u32,
        function: Rc<ScalarFn>,
        args: Vec<Rc<Node>>,
    },
    Cast {
        id: u32,
        to: Scalar,
        of: Rc<Node>,
    },
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

/// An argument of a function of scalars.
#[derive(Clone, Debug)]
pub enum Arg {
    Expr(Expr),
    /// A value of the code around.
    Given(Value),
}

/// Numbers the nodes of a function's expressions: nodes with one number are one node.
#[derive(Debug, Default)]
pub struct Nodes {
    next: u32,
}

impl Nodes {
    fn id(&mut self) -> u32 {
        self.next += 1;
        self.next
    }

    /// A function of the elements of expressions that are broadcast against each other; its result is an `elem`.
    pub fn map(&mut self, function: ScalarFn, elem: Scalar, args: &[Arg]) -> Expr {
        let mut leaves = Vec::new();
        let mut rank = 0;
        let mut nodes = Vec::with_capacity(args.len());
        for arg in args {
            nodes.push(match arg {
                Arg::Given(value) => Rc::new(Node::Given(*value)),
                Arg::Expr(expr) => {
                    rank = rank.max(expr.rank);
                    expr.leaves.iter().for_each(|leaf| add(&mut leaves, *leaf));
                    expr.root.clone()
                }
            });
        }
        let root = Rc::new(Node::Map {
            id: self.id(),
            function: Rc::new(function),
            args: nodes,
        });
        Expr { elem, rank, leaves, root }
    }

    /// The elements converted.
    pub fn cast(&mut self, expr: &Expr, to: Scalar) -> Expr {
        if expr.elem == to {
            return expr.clone();
        }
        let (id, of) = (self.id(), expr.root.clone());
        Expr {
            elem: to,
            root: Rc::new(Node::Cast { id, to, of }),
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

    /// The array, where the expression is nothing else.
    pub fn as_leaf(&self) -> Option<Leaf> {
        match *self.root {
            Node::Leaf(leaf) => Some(leaf),
            _ => None,
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
            Node::Map { id, .. } | Node::Cast { id, .. } if self.done.contains_key(id) => self.done[id],
            Node::Map { id, function, args } => {
                let args: Vec<Value> = args.iter().map(|arg| self.node(arg)).collect();
                let value = self.e.apply(function, &args);
                self.done.insert(*id, value);
                value
            }
            Node::Cast { id, to, of } => {
                let of = self.node(of);
                let value = self.e.builder().emit(*to, Op::Cast(of));
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
            Node::Map { id, .. } | Node::Cast { id, .. } if self.done.contains_key(id) => self.done[id].clone(),
            Node::Map { id, function, args } => {
                let args = args.iter().map(|arg| self.node(arg)).collect();
                let made = Node::Map {
                    id: self.nodes.id(),
                    function: function.clone(),
                    args,
                };
                self.keep(*id, made)
            }
            Node::Cast { id, to, of } => {
                let (of, to) = (self.node(of), *to);
                let made = Node::Cast {
                    id: self.nodes.id(),
                    to,
                    of,
                };
                self.keep(*id, made)
            }
        }
    }

    fn keep(&mut self, id: u32, made: Node) -> Rc<Node> {
        let made = Rc::new(made);
        self.done.insert(id, made.clone());
        made
    }
}
