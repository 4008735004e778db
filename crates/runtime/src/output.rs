//! Output: what kernels printed and waits collected, until someone takes it.

use std::mem;
use std::sync::atomic::{AtomicBool, Ordering};

use weft_forks::Mutex;

/// Text that is collected by several threads and taken once. Asking where there is none takes no lock.
#[derive(Debug, Default)]
pub struct Output {
    text: Mutex<String>,
    is_any: AtomicBool,
}

impl Output {
    pub const fn new() -> Output {
        Output {
            text: Mutex::new(String::new()),
            is_any: AtomicBool::new(false),
        }
    }

    pub fn push(&self, text: &str) {
        if !text.is_empty() {
            self.text.lock().push_str(text);
            self.is_any.store(true, Ordering::Release);
        }
    }

    pub fn take(&self) -> String {
        if !self.is_any.swap(false, Ordering::Acquire) {
            return String::new();
        }
        mem::take(&mut *self.text.lock())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_taken_once() {
        let output = Output::default();
        output.push("one ");
        output.push("");
        output.push("two");
        assert_eq!([output.take(), output.take()], ["one two", ""]);
    }
}
