//! Test files: modules in text form with lines that run them.
//!
//! Every device runs the same files. A line is one of
//!
//! ```text
//! ; run: add(1, 2) == 3
//! ; run: divmod(-7.0, 2.0) == (-4.0, 1.0)
//! ; run: sine(1.0) ~= 0.8414709848078965
//! ; run: saxpy[2, 4](2.0, [1.0, 2.0], [0.0, 1.0]) where y == [2.0, 5.0]
//! ; run: total[over (2, 3)]([[1, 2, 3], [4, 5, 6]]) == (21,)
//! ; run: divide(1, 0) raises zero_division "division by zero"
//! ; run: hello() prints "hello 1\n"
//! ; check: race[1, 2]([0]) fails "data race"
//! ```
//!
//! `k[blocks, threads]` launches a kernel (each an int or a tuple), `l[over extents]` a loop function, whose result is the tuple of its
//! reductions. Arguments are literals of the parameters' types; arrays are nested lists, or `zeros(2, 3)`. `where` compares array
//! parameters, by name, after the run. `==` compares bits, except that every NaN equals every other; `~=` compares to within a relative
//! error of 1e-5 (`f32`) or 1e-12 (`f64`). A `check` line is for the interpreter's checked mode only and gives a part of its message.

mod array;
mod interpret;
mod line;

pub use array::{Array, Placed, TestValue};
pub use interpret::{Interpreted, interpret};
pub use line::lines;

use crate::module::{ErrorKind, FuncId};

/// One line of a test file.
#[derive(Clone, Debug, PartialEq)]
pub struct TestLine {
    /// In the file, from 1.
    pub line: u32,
    pub func: FuncId,
    pub launch: TestLaunch,
    pub args: Vec<TestValue>,
    pub expected: Expected,
}

#[derive(Clone, Debug, PartialEq)]
pub enum TestLaunch {
    Call,
    /// `dynamic`: bytes of dynamic shared memory.
    Grid {
        grid: [u32; 3],
        block: [u32; 3],
        dynamic: u32,
    },
    Loop(Vec<u64>),
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Expected {
    pub result: Option<TestValue>,
    /// Compare floats to within the tolerance instead of bits.
    pub about: bool,
    /// What array parameters hold afterwards, by the parameter's position in `args`.
    pub arrays: Vec<(usize, TestValue)>,
    pub output: Option<String>,
    pub raises: Option<(ErrorKind, String)>,
    /// A `check` line: part of the message the checked mode ends with.
    pub fails: Option<String>,
}
