//! A module on a GPU before it is compiled: what all its compiled forms share.

use std::sync::Arc;

use weft_ir::Module;

use crate::{CompileOptions, Signature, ViewParam};

/// How code is compiled. `F` is what a device's code may rely on.
#[derive(Clone, Copy, Debug)]
pub struct Settings<F> {
    pub options: CompileOptions,
    /// Facts that code is made for; others are not looked for.
    pub most: F,
}

#[derive(Debug)]
pub struct Prepared<F> {
    /// As the front end made it.
    pub module: Arc<Module>,
    /// After the device's passes.
    pub lowered: Module,
    pub settings: Settings<F>,
    pub signature: Signature,
    /// Views among the parameters; their slots count a loop's extents.
    pub views: Vec<ViewParam>,
    /// Slots of `int64`s among them, counted alike.
    pub ints: Vec<u32>,
}
