//! Faults: what can go wrong while a kernel runs, in words.

use std::fmt;

/// The driver's error code for it, and the explanation.
#[derive(Clone, Debug)]
pub struct Fault {
    pub code: u32,
    pub message: String,
}

pub const ASSERT: u32 = 710;
pub const ILLEGAL_ADDRESS: u32 = 700;
pub const LAUNCH_TIMEOUT: u32 = 702;
pub const HARDWARE_STACK: u32 = 714;
pub const ILLEGAL_INSTRUCTION: u32 = 715;
pub const MISALIGNED: u32 = 716;
pub const LAUNCH_FAILED: u32 = 719;

impl Fault {
    pub fn new(code: u32, message: impl Into<String>) -> Fault {
        Fault {
            code,
            message: message.into(),
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}
