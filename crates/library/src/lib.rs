//! NumPy's functions of whole arrays, written once, in NumPy's own vocabulary and the kernel language.
//!
//! Each file is a Python module on one subject. What it imports is what it sees: `numpy`, other files here (`from .shapes import moveaxis`)
//! and `weft.language`, the few words that only these texts know: parameters that are constants (`axis: Static = 0`), loops that are
//! written out (`for i in unrolled(range(a.ndim))`), refusals (`refuse("there is no axis 2")`), axes counted from the front (`axis_of`).
//! A branch on what is known when a function is compiled is decided then, so that one text serves all types and ranks.
//!
//! A function of NumPy is one `def` under its own name and one row of [`table`]. Whatever a text refuses or raises is shown at the
//! user's line.

use std::borrow::Cow;
use std::path::Path;

mod draws;
mod python;
mod table;

pub use draws::{Draw, draw, draws};
pub use python::{random, random_rows};
pub use table::{Method, Row, find, rows};

/// How the functions of a file are compiled, whoever calls them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Policy {
    /// Products fuse into sums.
    pub contract: bool,
    /// Sums may be reordered, and there are no NaN.
    pub fastmath: bool,
    /// Division by zero raises.
    pub python_errors: bool,
}

impl Policy {
    /// Every operation is done as it is written, as NumPy does it.
    pub const AS_WRITTEN: Policy = Policy {
        contract: false,
        fastmath: false,
        python_errors: false,
    };
}

/// A module of texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct File {
    /// Its name in imports.
    pub name: &'static str,
    built_in: &'static str,
    pub policy: Policy,
}

macro_rules! files {
    ($($name:literal: $policy:expr,)*) => {
        /// All modules.
        pub static FILES: &[File] = &[$(File {
            name: $name,
            built_in: include_str!(concat!($name, ".py")),
            policy: $policy,
        }),*];
    };
}

files! {
    "axes": Policy::AS_WRITTEN,
    "buckets": Policy::AS_WRITTEN,
    "comparing": Policy::AS_WRITTEN,
    "cumulative": Policy::AS_WRITTEN,
    "digits": Policy::AS_WRITTEN,
    "fourier": Policy::AS_WRITTEN,
    "histograms": Policy::AS_WRITTEN,
    "indexing": Policy::AS_WRITTEN,
    "joining": Policy::AS_WRITTEN,
    "linalg": Policy::AS_WRITTEN,
    "matrices": Policy::AS_WRITTEN,
    "nans": Policy::AS_WRITTEN,
    "numpy_random": Policy::AS_WRITTEN,
    "numpy_random_counts": Policy::AS_WRITTEN,
    "numpy_random_orders": Policy::AS_WRITTEN,
    "polynomials": Policy::AS_WRITTEN,
    "python_random": Policy::AS_WRITTEN,
    "quantiles": Policy::AS_WRITTEN,
    "random_bits": Policy::AS_WRITTEN,
    "random_counts": Policy::AS_WRITTEN,
    "random_floats": Policy::AS_WRITTEN,
    "random_gamma": Policy::AS_WRITTEN,
    "random_orders": Policy::AS_WRITTEN,
    "reductions": Policy::AS_WRITTEN,
    "searching": Policy::AS_WRITTEN,
    "sets": Policy::AS_WRITTEN,
    "shapes": Policy::AS_WRITTEN,
    "signals": Policy::AS_WRITTEN,
    "sorting": Policy::AS_WRITTEN,
    "statistics": Policy::AS_WRITTEN,
    "twister": Policy::AS_WRITTEN,
    "windows": Policy::AS_WRITTEN,
}

impl File {
    /// The module's text. In a build for development the file in the folder that `WEFT_LIBRARY` names comes before the one that was built
    /// in: who writes texts need not build.
    pub fn text(&self) -> Cow<'static, str> {
        if cfg!(debug_assertions)
            && let Some(folder) = std::env::var_os("WEFT_LIBRARY")
            && let Ok(text) = std::fs::read_to_string(Path::new(&folder).join(self.name).with_extension("py"))
        {
            return Cow::Owned(text);
        }
        Cow::Borrowed(self.built_in)
    }
}

/// Is a definition, by its name, a function that is seldom called? It stays one of its own on the CPU, beside its small callers.
pub fn is_rare(name: &str) -> bool {
    name.starts_with("_rare_")
}

/// A module's number among [`FILES`].
pub fn file(name: &str) -> Option<usize> {
    FILES.iter().position(|file| file.name == name)
}
