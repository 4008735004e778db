//! Numbers for statements, by which analyses are asked.
//!
//! Statements are numbered from 0 in pre-order: a statement comes before those in its blocks, an `If`'s `then` before its `other`. A
//! consumer that walks the function carries a [`Numbered`] block instead of a block and may walk it as often as it likes:
//!
//! ```text
//! let numbering = Numbering::of(&func.body);
//! emit(numbering.body());
//!
//! fn emit(block: Numbered) {
//!     for node in block.iter() {
//!         for inner in node.blocks() { emit(inner) }   // then, other; or the body
//!     }
//! }
//! ```
//!
//! What every statement holds is counted once, so that no walk has to look into what it passes by.

use weft_ir::{Block, Stmt};

/// A statement's place in its function's pre-order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct StmtId(pub u32);

/// The numbers of a function's statements.
#[derive(Clone, Debug)]
pub struct Numbering<'a> {
    body: &'a Block,
    /// By number: the statement and all those nested in it.
    sizes: Vec<u32>,
}

impl<'a> Numbering<'a> {
    pub fn of(body: &'a Block) -> Numbering<'a> {
        let mut sizes = Vec::new();
        count(body, &mut sizes);
        Numbering { body, sizes }
    }

    pub fn body(&self) -> Numbered<'_> {
        Numbered {
            block: self.body,
            first: StmtId(0),
            sizes: &self.sizes,
        }
    }
}

fn count(block: &Block, sizes: &mut Vec<u32>) {
    for stmt in &block.0 {
        let at = sizes.len();
        sizes.push(0);
        stmt.kind.blocks().for_each(|inner| count(inner, sizes));
        sizes[at] = (sizes.len() - at) as u32;
    }
}

/// A block and the number of its first statement.
#[derive(Clone, Copy, Debug)]
pub struct Numbered<'a> {
    pub block: &'a Block,
    first: StmtId,
    sizes: &'a [u32],
}

impl<'a> Numbered<'a> {
    /// The block's own statements, in order.
    pub fn iter(self) -> impl Iterator<Item = Node<'a>> {
        let (mut next, sizes) = (self.first.0, self.sizes);
        self.block.0.iter().map(move |stmt| {
            let id = StmtId(next);
            next += sizes[id.0 as usize];
            Node { id, stmt, sizes }
        })
    }

    /// How many statements the block holds, nested ones included.
    pub fn size(self) -> usize {
        self.iter().map(Node::size).sum()
    }

    pub fn is_empty(self) -> bool {
        self.block.0.is_empty()
    }
}

/// A statement and its number.
#[derive(Clone, Copy, Debug)]
pub struct Node<'a> {
    pub id: StmtId,
    pub stmt: &'a Stmt,
    sizes: &'a [u32],
}

impl<'a> Node<'a> {
    /// The blocks directly inside: an `If` gives `then` and `other`, a loop or scope its body.
    pub fn blocks(self) -> impl Iterator<Item = Numbered<'a>> {
        let mut skipped = 0;
        self.stmt.kind.blocks().map(move |block| {
            let inner = self.inside(block, skipped);
            skipped += inner.size();
            inner
        })
    }

    /// The body of this loop or scope.
    pub fn body(self, body: &'a Block) -> Numbered<'a> {
        self.inside(body, 0)
    }

    /// The sides of this `If`.
    pub fn sides(self, then: &'a Block, other: &'a Block) -> [Numbered<'a>; 2] {
        let then = self.inside(then, 0);
        [then, self.inside(other, then.size())]
    }

    /// The block of this statement before which so many of its statements come.
    fn inside(self, block: &'a Block, skipped: usize) -> Numbered<'a> {
        Numbered {
            block,
            first: StmtId(self.id.0 + 1 + skipped as u32),
            sizes: self.sizes,
        }
    }

    /// The statement and all those nested in it.
    pub fn size(self) -> usize {
        self.sizes[self.id.0 as usize] as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_are_numbered_before_those_inside() {
        let text = "
host @f(%0 c: bool, %1 n: i64) {
  if %0 {
    loop {
      break
    }
    barrier
  } else {
    scope ^0 {
      leave ^0
    }
  }
  for %2: i64 = %1 to %1 step %1 {
    if %0 {
      return
    } else {
      continue
    }
  }
  barrier
}
";
        let module = weft_ir::text::parse(text).unwrap_or_else(|error| panic!("{error}"));
        let numbering = Numbering::of(&module.entry_function().body);
        let (mut ids, mut sizes) = (Vec::new(), Vec::new());
        visit(numbering.body(), &mut |node| {
            ids.push(node.id.0);
            sizes.push(node.size());
        });
        assert_eq!(ids, Vec::from_iter(0..11));
        assert_eq!(sizes, [6, 2, 1, 1, 2, 1, 4, 3, 1, 1, 1]);
        assert_eq!(numbering.body().size(), 11);
    }

    fn visit(block: Numbered<'_>, see: &mut dyn FnMut(Node<'_>)) {
        for node in block.iter() {
            see(node);
            node.blocks().for_each(|inner| visit(inner, see));
        }
    }
}
