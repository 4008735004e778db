//! Mailboxes, where a kernel leaves errors and lines of print for the host (the layout is in `docs/architecture/runtime.md`): what the
//! host reads there.

use std::fmt::Write;
use std::sync::Arc;

use weft_ir::{ErrorKind, Function, Module, PrintItem, Scalar, Span, Value, repr};

use crate::{Raised, RunError, slots};

/// Offsets of the fields.
pub const STATE: u64 = 0;
pub const SITE: u64 = 4;
pub const THREAD: u64 = 8;
pub const TAKEN: u64 = 32;
pub const CAPACITY: u64 = 40;
pub const DROPPED: u64 = 48;
pub const RING: u64 = 64;

/// The states: a thread writes the record, the record is whole.
pub const WRITING: u32 = 1;
pub const WRITTEN: u32 = 2;

/// Slots of the ring of a kernel that prints: half a megabyte.
pub const RING_SLOTS: u64 = 64 << 10;

/// What a `Raise` of the source says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ErrorSite {
    pub kind: ErrorKind,
    pub message: String,
    pub span: Span,
}

/// A `print` of the source: its items one after the other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PrintSite {
    pub items: Vec<PrintPart>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PrintPart {
    Text(String),
    /// The next slot (for a complex number, the next two) as this type.
    Value(Scalar),
}

impl PrintSite {
    /// What a `print` of a function says, and the numbers it prints in the order of their slots. Nothing where one is no real scalar:
    /// complex numbers are in two parts by now.
    pub fn of(function: &Function, items: &[PrintItem]) -> Option<(PrintSite, Vec<(Value, Scalar)>)> {
        let real = |v: Value| function.ty(v).scalar().filter(|s| !s.is_complex());
        let (mut parts, mut numbers) = (Vec::new(), Vec::new());
        for item in items {
            match item {
                PrintItem::Text(text) => parts.push(PrintPart::Text(text.clone())),
                PrintItem::Value(v) => {
                    let s = real(*v)?;
                    parts.push(PrintPart::Value(s));
                    numbers.push((*v, s));
                }
                PrintItem::Complex(re, im) => {
                    let s = real(*re)?;
                    parts.push(PrintPart::Value(if s == Scalar::F32 { Scalar::C64 } else { Scalar::C128 }));
                    numbers.extend([(*re, s), (*im, s)]);
                }
            }
        }
        Some((PrintSite { items: parts }, numbers))
    }

    /// The line that a print of these slots is.
    pub fn line(&self, values: &mut impl Iterator<Item = u64>, text: &mut String) {
        for part in &self.items {
            match part {
                PrintPart::Text(words) => text.push_str(words),
                PrintPart::Value(scalar) => text.push_str(&repr::python(slots::read(*scalar, values))),
            }
        }
        text.push('\n');
    }
}

/// A mailbox's memory, word by word.
pub trait Words {
    fn u32(&self, offset: u64) -> u32;
    fn u64(&self, offset: u64) -> u64;
}

/// A copy of a mailbox; beyond its end are zeros.
impl Words for [u8] {
    fn u32(&self, offset: u64) -> u32 {
        let word = self.get(offset as usize..).and_then(|rest| rest.first_chunk());
        word.map_or(0, |word| u32::from_le_bytes(*word))
    }

    fn u64(&self, offset: u64) -> u64 {
        let word = self.get(offset as usize..).and_then(|rest| rest.first_chunk());
        word.map_or(0, |word| u64::from_le_bytes(*word))
    }
}

/// What the sites of a module mean.
#[derive(Debug)]
pub struct Sites {
    pub module: Arc<Module>,
    pub errors: Vec<ErrorSite>,
    pub prints: Vec<PrintSite>,
}

impl Sites {
    /// Slots that the ring of a mailbox needs.
    pub fn ring_slots(&self) -> u64 {
        if self.prints.is_empty() { 0 } else { RING_SLOTS }
    }

    /// The lines that are whole behind the first `read` slots of the ring.
    pub fn lines(&self, memory: &(impl Words + ?Sized), read: &mut u64, text: &mut String) {
        let ring_slots = self.ring_slots();
        while *read < ring_slots {
            let head = memory.u64(RING + 8 * *read);
            let (length, site) = (head & 0xffff_ffff, (head >> 32) as usize);
            if length == 0 || *read + length > ring_slots {
                return;
            }
            let first = *read + 1;
            let mut values = (first..first + length - 1).map(|slot| memory.u64(RING + 8 * slot));
            if let Some(site) = self.prints.get(site) {
                site.line(&mut values, text);
            }
            *read += length;
        }
    }

    /// Says how many lines did not fit, if there were any.
    pub fn dropped(&self, memory: &(impl Words + ?Sized), text: &mut String) {
        let dropped = memory.u64(DROPPED);
        if dropped > 0 {
            let bytes = 8 * self.ring_slots();
            let _ = writeln!(text, "[{dropped} lines of print did not fit into the buffer of {bytes} bytes]");
        }
    }

    /// The error of the record, if it is whole.
    pub fn error(&self, memory: &(impl Words + ?Sized)) -> Option<RunError> {
        if memory.u32(STATE) != WRITTEN {
            return None;
        }
        let site = memory.u32(SITE) as usize;
        let place = std::array::from_fn(|i| i64::from(memory.u32(THREAD + 4 * i as u64)));
        let Some(site) = self.errors.get(site) else {
            return Some(RunError::Invalid(format!(
                "compiled code raised at site {site}, which it does not have"
            )));
        };
        let raised = Raised {
            kind: site.kind,
            message: site.message.clone(),
            span: site.span,
            thread: Some(place),
            output: String::new(),
            module: Some(self.module.clone()),
        };
        Some(raised.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sites() -> Sites {
        Sites {
            module: Arc::new(Module {
                sources: vec![],
                constants: vec![],
                functions: vec![],
                entry: weft_ir::FuncId(0),
            }),
            errors: vec![ErrorSite {
                kind: ErrorKind::Value,
                message: "no".into(),
                span: Span::NONE,
            }],
            prints: vec![PrintSite {
                items: vec![PrintPart::Text("x = ".into()), PrintPart::Value(Scalar::I32)],
            }],
        }
    }

    fn put(memory: &mut [u8], offset: u64, value: u64) {
        memory[offset as usize..][..8].copy_from_slice(&value.to_le_bytes());
    }

    #[test]
    fn lines_are_read_once_and_up_to_the_first_that_is_not_whole() {
        let mut memory = vec![0; RING as usize + 64];
        put(&mut memory, RING, 2);
        put(&mut memory, RING + 8, -7i64 as u64);
        let (mut read, mut text) = (0, String::new());
        sites().lines(&memory[..], &mut read, &mut text);
        assert_eq!((read, text.as_str()), (2, "x = -7\n"));
        put(&mut memory, RING + 16, 2);
        put(&mut memory, RING + 24, 8);
        sites().lines(&memory[..], &mut read, &mut text);
        assert_eq!((read, text.as_str()), (4, "x = -7\nx = 8\n"));
    }

    #[test]
    fn a_record_is_an_error_when_it_is_whole() {
        let mut memory = vec![0; RING as usize];
        put(&mut memory, STATE, u64::from(WRITING));
        put(&mut memory, THREAD, 3);
        assert_eq!(sites().error(&memory[..]), None);
        put(&mut memory, STATE, u64::from(WRITTEN));
        let Some(RunError::Raised(raised)) = sites().error(&memory[..]) else {
            unreachable!("no error");
        };
        assert_eq!((raised.message.as_str(), raised.thread), ("no", Some([3, 0, 0, 0, 0, 0])));
    }
}
