//! The warning that a kernel computes in float32 what it computes in float64 elsewhere.

use std::ffi::CString;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use pyo3::prelude::*;
use weft_front::{ArgType, Compiled, FunctionSource, Options};
use weft_runtime::Device;

use crate::errors;

/// Whether a function's users have been told.
#[derive(Debug, Default)]
pub struct Precision {
    told: AtomicBool,
}

impl Precision {
    /// Says it once, if the function compiled for these types computes in float64 where there is one: with the first line that does.
    /// `here` is the function as this device computes it.
    #[cold]
    pub fn warn(
        &self,
        py: Python<'_>,
        function: &FunctionSource,
        types: &[ArgType],
        options: Options,
        device: &Arc<dyn Device>,
        here: &Compiled,
    ) -> PyResult<()> {
        // What asks for float64 even here will be refused.
        if self.told.load(Ordering::Relaxed) || weft_front::first_wide(here).is_some() {
            return Ok(());
        }
        let wide = Options { float64: true, ..options };
        let Ok(elsewhere) = weft_front::compile(function, types, wide) else {
            return Ok(());
        };
        let Some(span) = weft_front::first_wide(&elsewhere) else {
            return Ok(());
        };
        self.told.store(true, Ordering::Relaxed);
        let message = format!(
            "{} has no float64: Python's floats, and what {} makes of them, are float32 there",
            device.id(),
            function.name
        );
        let text = errors::at(message, span, &elsewhere.module.sources);
        let category = py.import("weft.errors")?.getattr("PrecisionWarning")?;
        PyErr::warn(py, &category, &CString::new(text.replace('\0', " "))?, 1)
    }
}
