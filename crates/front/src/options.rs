//! What decorators ask for, and what of it a function keeps when others call it.

use crate::Signature;

/// What the decorator asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Options {
    pub role: Role,
    /// The rules of numbers it is written for.
    pub dialect: Dialect,
    /// `prange` and array expressions spread over threads.
    pub parallel: bool,
    pub fastmath: bool,
    /// Products fuse into sums.
    pub contract: bool,
    /// Division by zero raises (Numba's `error_model='python'`).
    pub python_errors: bool,
    /// It runs in checked mode.
    pub checked: bool,
    /// Of a kernel.
    pub bounds: Bounds,
    /// The device computes in float64. Elsewhere weak floats are float32, and weak complex numbers complex64; Numba's are never weak.
    pub float64: bool,
    /// Of a text of the library: a function in Numba's dialect calls it.
    pub for_numba: bool,
}

/// Whose rules of numbers a function is compiled by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Dialect {
    /// NumPy 2's: Python's numbers are weak.
    NumPy,
    /// Numba's: Python's numbers are int64 and float64, and arithmetic on scalars is done in 64 bits.
    Numba,
}

/// What a kernel's launches keep to, and what the code may take; 0 where nothing is asked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Bounds {
    /// Threads of a block, at the most.
    pub max_threads: u32,
    /// Blocks that one multiprocessor should have room for.
    pub min_blocks: u32,
    /// Registers of a thread.
    pub max_registers: u32,
}

/// Which kind of IR function the entry becomes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    /// `jit`: a `Host` function.
    Host,
    /// `cuda.jit`: a `Kernel`; may not return a value.
    Kernel,
    /// `cuda.jit(device=True)`: a `Device` function.
    Device,
    /// `vectorize`: a `Device` function of numbers, which arrays are given to element by element.
    Ufunc,
}

/// What a decorator left of its wishes at a function that others call.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Decorated {
    pub options: Options,
    /// The argument types it was declared for; none if it takes any.
    pub signatures: Vec<Signature>,
}

impl Options {
    /// What a function is compiled with that is called from one compiled with `self`: its own options, or its caller's if it has none.
    ///
    /// The error model of a function of the host says nothing in code where nothing is raised for a number: kernels, and `vectorize`.
    pub fn of_callee(self, decorated: Option<&Decorated>, entry: Role) -> Options {
        let Some(own) = decorated.map(|d| d.options) else {
            return Options {
                bounds: Bounds::default(),
                ..self
            };
        };
        let foreign = entry != Role::Host && own.role == Role::Host;
        Options {
            role: Role::Device,
            bounds: Bounds::default(),
            python_errors: if foreign { self.python_errors } else { own.python_errors },
            float64: self.float64,
            ..own
        }
    }

    /// What the math library is compiled with: it is the same whoever calls it.
    pub fn of_library(self) -> Options {
        Options {
            role: Role::Device,
            dialect: Dialect::NumPy,
            parallel: self.parallel,
            fastmath: false,
            contract: false,
            python_errors: false,
            checked: false,
            bounds: Bounds::default(),
            float64: self.float64,
            for_numba: self.for_numba || self.dialect == Dialect::Numba,
        }
    }

    /// Whether weak floats are float32.
    pub fn narrow(self) -> bool {
        !self.float64 && self.dialect == Dialect::NumPy
    }
}
