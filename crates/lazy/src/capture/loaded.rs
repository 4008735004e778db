//! Graphs of files, which know no more of their arguments than types and shapes: these may lie in any way.

use std::sync::Arc;

use super::{Graph, Of, Source};
use crate::array::Array;
use crate::error::{Error, Result};
use crate::memory::needed;

impl Graph {
    /// Records it of arrays that lie in whatever way. ValueError where they are not of the types and shapes that it was captured for, or
    /// where it writes to one of them, or gives a view of it, and that cannot be.
    pub fn replay_anyhow(&self, args: &[Array]) -> Result<Vec<Array>> {
        self.check(args)?;
        let read: Vec<Array> = args.iter().map(|arg| Array::of(arg.read())).collect();
        let results = self
            .replay(&read)?
            .ok_or_else(|| Error::Internal("a graph of a file knows an array twice".into()))?;
        for (leaf, _) in &self.written {
            if let Source::Argument(at) = self.leaves[*leaf] {
                args[at].write(&read[at].read())?;
            }
        }
        let given = |array: Array| match read.iter().position(|arg| Arc::ptr_eq(&arg.storage, &array.storage)) {
            Some(at) => array.of_storage(args[at].storage.clone()),
            None => array,
        };
        Ok(results.into_iter().map(given).collect())
    }

    fn check(&self, args: &[Array]) -> Result<()> {
        if args.len() != self.leaves.len() {
            let count = self.leaves.len();
            return Err(Error::Value(format!("the graph takes {count} arrays, not {}", args.len())));
        }
        for (leaf, like) in self.leaves.iter().zip(&self.likes) {
            let Source::Argument(at) = *leaf else { continue };
            let arg = &args[at];
            let is_alike = arg.elem == like.elem && arg.shape == like.shape && arg.device() == like.device;
            if !is_alike {
                let shown = |elem: weft_ir::Scalar, shape: &[u64], device: u8| {
                    format!(
                        "{} of {} on {}",
                        elem.numpy_name(),
                        crate::record::shown(shape),
                        crate::machine::name(device)
                    )
                };
                return Err(Error::Value(format!(
                    "array {at} is a {}, and the graph was captured for a {}",
                    shown(arg.elem, &arg.shape, arg.device()),
                    shown(like.elem, &like.shape, like.device)
                )));
            }
        }
        for at in self.written.iter().filter_map(|(leaf, _)| self.argument(*leaf)) {
            args[at].check_writeable()?;
            let others = args.iter().enumerate().filter(|(other, _)| *other != at);
            if others
                .map(|(_, other)| other)
                .any(|other| Arc::ptr_eq(&other.storage, &args[at].storage))
            {
                return Err(Error::Value(format!(
                    "the graph writes to array {at}, which shares its memory with another one"
                )));
            }
        }
        for (_, of) in &self.results {
            if let Of::Leaf(leaf) = of
                && let Some(at) = self.argument(*leaf)
                && !(args[at].is_whole() && args[at].base().shape == args[at].shape && args[at].base().elem == args[at].elem)
            {
                return Err(Error::Value(format!(
                    "the graph gives a view of array {at}, which has to lie by itself, in C's order: pass a copy"
                )));
            }
        }
        Ok(())
    }

    fn argument(&self, leaf: usize) -> Option<usize> {
        match self.leaves[leaf] {
            Source::Argument(at) => Some(at),
            Source::Fixed(_) => None,
        }
    }

    /// Types, shapes and devices of the arguments, in their order, if all are told apart; else none.
    pub fn arguments(&self) -> usize {
        self.leaves.iter().filter(|leaf| matches!(leaf, Source::Argument(_))).count()
    }

    pub fn writes(&self) -> bool {
        !self.written.is_empty()
    }
}

/// Bytes of an array that could be: more are no array's.
pub fn could_be(shape: &[u64], elem: weft_ir::Scalar) -> bool {
    const MOST: u64 = 1 << 48;
    let long = |&n: &u64| n.max(1);
    let product = shape
        .iter()
        .map(long)
        .try_fold(1u64, |all, n| all.checked_mul(n).filter(|&all| all <= MOST));
    product.is_some() && needed(shape, elem).is_ok_and(|bytes| bytes <= MOST)
}
