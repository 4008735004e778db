//! A mnemonic taken apart: the opcode and its modifiers, each of which somebody must ask for.

use crate::ptx::PtxError;
use crate::ptx::syntax::Ty;

#[derive(Debug)]
pub struct Mods<'a> {
    pub whole: &'a str,
    pub opcode: &'a str,
    rest: Vec<&'a str>,
    pub line: u32,
}

impl<'a> Mods<'a> {
    pub fn new(whole: &'a str, line: u32) -> Mods<'a> {
        let mut parts = whole.split('.');
        Mods {
            whole,
            opcode: parts.next().unwrap_or(""),
            rest: parts.collect(),
            line,
        }
    }

    /// All modifiers and types, in their order.
    pub fn parts(&self) -> impl Iterator<Item = &'a str> {
        self.whole.split('.').skip(1)
    }

    pub fn error(&self, message: impl Into<String>) -> PtxError {
        PtxError::new(self.line, format!("{}: {}", self.whole, message.into()))
    }

    /// Whether a modifier is there; it counts as understood.
    pub fn take(&mut self, name: &str) -> bool {
        let found = self.rest.iter().position(|part| *part == name);
        if let Some(index) = found {
            self.rest.remove(index);
        }
        found.is_some()
    }

    /// The first modifier that `meaning` knows.
    pub fn find<T>(&mut self, meaning: impl Fn(&str) -> Option<T>) -> Option<T> {
        let (index, value) = self.rest.iter().enumerate().find_map(|(i, part)| meaning(part).map(|v| (i, v)))?;
        self.rest.remove(index);
        Some(value)
    }

    /// The first type among what is left.
    pub fn ty(&mut self) -> Result<Ty, PtxError> {
        self.find(Ty::parse).ok_or_else(|| self.error("expected a type"))
    }

    /// Complains of a modifier nobody asked for.
    pub fn finish(&self) -> Result<(), PtxError> {
        match self.rest.first() {
            Some(part) => Err(self.error(format!("unknown modifier .{part}"))),
            None => Ok(()),
        }
    }
}
