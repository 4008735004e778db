//! The CUDA driver: found when it is first needed, its functions, its errors.
//!
//! Which library: `WEFT_CUDA_DRIVER` names it. Unset it is the system's; `none` is no driver; `double` is the stand-in that Weft's tests run
//! on (`libweft_cuda_double.so`, beside this program's own library or where `WEFT_CUDA_DOUBLE` says); anything else is a path.

#![allow(unsafe_code)]

mod calls;
mod context;
pub mod cupti;
mod load;
mod memory;
pub mod table;

use std::ffi::{CStr, c_char};
use std::ops::Deref;
use std::path::PathBuf;

use libloading::Library;
use weft_forks as forks;
use weft_runtime::DriverError;

pub use calls::{FunctionAttribute, KernelLaunch, Refused, Relaxed};
pub use context::{Attribute, Context, Entered, Name, codes};
pub use load::Choice;
pub use memory::PoolAttribute;
use table::{Code, Table};

use crate::pins::Pins;

/// The oldest driver that has all of what is called without asking (NVIDIA's 450).
const OLDEST: i32 = 11000;

/// A loaded driver that has answered `cuInit`.
#[derive(Debug)]
pub struct Driver {
    table: Table,
    /// The newest CUDA it serves: 12040 for 12.4.
    pub version: u32,
    /// What `forks::count` was when it was started.
    forks: u32,
    pub path: PathBuf,
    /// Memory of others that is page-locked.
    pub pins: Pins,
    /// Keeps the functions of `table` where they are.
    _library: Library,
}

impl Driver {
    /// Loads and starts the driver; the error is one line that says what is wrong.
    pub fn open(choice: &Choice) -> Result<Driver, String> {
        let (library, path) = choice.load()?;
        let unusable = |why: String| format!("the CUDA driver {} cannot be used: {why}", path.display());
        let table = Table::of(&library).map_err(unusable)?;
        let mut driver = Driver {
            table,
            version: 0,
            forks: 0,
            path: path.clone(),
            pins: Pins::default(),
            _library: library,
        };
        // SAFETY: the only function that may be called before the others.
        unsafe { driver.init(0) }.map_err(|failure| unusable(driver.describe(failure).to_string()))?;
        let mut version = 0;
        // SAFETY: writes the version.
        unsafe { driver.driver_get_version(&mut version) }.map_err(|failure| unusable(driver.describe(failure).to_string()))?;
        if version < OLDEST {
            return Err(format!(
                "the CUDA driver {} is too old: it serves CUDA {}, Weft needs {} (driver 450) or newer",
                path.display(),
                version_text(version as u32),
                version_text(OLDEST as u32)
            ));
        }
        driver.version = version as u32;
        driver.forks = forks::watch();
        Ok(driver)
    }

    /// A failure in the driver's own words.
    pub fn describe(&self, failure: Failure) -> DriverError {
        if failure.code == codes::MISSING {
            return DriverError {
                call: failure.call,
                code: failure.code,
                name: "missing".into(),
                text: format!("the driver (CUDA {}) has no such function; update it", version_text(self.version)),
            };
        }
        let mut name = std::ptr::null();
        let mut text = std::ptr::null();
        // SAFETY: both write a pointer to a text that stays, or null.
        let _ = unsafe { self.get_error_name(failure.code, &mut name) };
        // SAFETY: as above.
        let _ = unsafe { self.get_error_string(failure.code, &mut text) };
        DriverError {
            call: failure.call,
            code: failure.code,
            name: text_at(name).unwrap_or_else(|| "unknown error".into()),
            text: text_at(text).unwrap_or_else(|| "the driver has no words for it".into()),
        }
    }
}

impl Deref for Driver {
    type Target = Table;

    fn deref(&self) -> &Table {
        &self.table
    }
}

/// `12.4` for 12040.
pub fn version_text(version: u32) -> String {
    format!("{}.{}", version / 1000, version % 1000 / 10)
}

fn text_at(text: *const c_char) -> Option<String> {
    if text.is_null() {
        return None;
    }
    // SAFETY: the driver's texts end with a zero and stay where they are.
    Some(unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned())
}

/// A call that did not succeed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Failure {
    pub call: &'static str,
    pub code: Code,
}

impl Failure {
    #[inline]
    fn check(call: &'static str, code: Code) -> Result<(), Failure> {
        if code == 0 { Ok(()) } else { Err(Failure { call, code }) }
    }

    fn missing(call: &'static str) -> Failure {
        Failure {
            call,
            code: codes::MISSING,
        }
    }

    /// Is it about a capture under way?
    pub fn is_of_capture(self) -> bool {
        codes::OF_CAPTURES.contains(&self.code)
    }

    pub fn is_implicit_capture(self) -> bool {
        self.code == codes::CAPTURE_IMPLICIT
    }

    pub fn is_invalidated_capture(self) -> bool {
        self.code == codes::CAPTURE_INVALIDATED
    }

    /// Does the driver refuse all further work of this process?
    pub fn is_fatal(self) -> bool {
        codes::FATAL.contains(&self.code)
    }
}
