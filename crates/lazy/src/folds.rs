//! Folds: the elements that a program gives at the points of an index space, combined along some of its axes.

use crate::error::{Error, Result};
use crate::program::Program;
use crate::tiles::Target;
use crate::value::Fold;

pub fn run(_program: &Program, _fold: &Fold, _target: &Target) -> Result<()> {
    Err(Error::Internal("folds".into()))
}
