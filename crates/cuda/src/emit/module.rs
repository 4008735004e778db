//! The module being written: its arrays, declarations and helper functions, the tables of sites.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use weft_ir::{ConstId, Module, Space, Span};

use super::calls::Stack;
use super::helpers::Helper;
use super::lines::Lines;
use super::writer::{Memory, Operand};
use super::{Emitted, ErrorSite, Facts, Param, PrintSite};
use crate::target::Target;

/// What constant memory holds.
const CONSTANT_BYTES: usize = 64 << 10;

pub struct ModuleCx<'m> {
    pub module: &'m Module,
    pub target: Target,
    pub facts: Facts,
    pub mailbox: bool,
    pub grid_sync: bool,
    /// Points of a loop that a thread takes at a time.
    pub points: u32,
    pub dynamic_shared: bool,
    /// Bytes of each shared array.
    shared: Vec<u64>,
    constants: BTreeSet<u32>,
    constant_memory: Memory,
    declares: BTreeSet<String>,
    helpers: BTreeMap<String, String>,
    /// Functions that are called, by number.
    pub called: BTreeMap<u32, String>,
    pub stack: Stack,
    /// Where instructions come from, if that is asked for.
    lines: Option<Lines>,
}

/// The entry function's text and how it is called.
pub struct Entry {
    pub name: String,
    pub text: String,
    pub params: Vec<Param>,
    pub error_sites: Vec<ErrorSite>,
    pub print_sites: Vec<PrintSite>,
}

impl<'m> ModuleCx<'m> {
    pub fn new(module: &'m Module, target: Target, facts: Facts, lines: bool) -> ModuleCx<'m> {
        let bytes: usize = module.constants.iter().map(|c| c.bytes.len().next_multiple_of(16)).sum();
        ModuleCx {
            module,
            target,
            facts,
            mailbox: false,
            grid_sync: false,
            points: 1,
            dynamic_shared: false,
            shared: Vec::new(),
            constants: BTreeSet::new(),
            constant_memory: if bytes > CONSTANT_BYTES { Memory::Global } else { Memory::Constant },
            declares: BTreeSet::new(),
            helpers: BTreeMap::new(),
            called: BTreeMap::new(),
            stack: Stack::of(module),
            lines: lines.then(Lines::default),
        }
    }

    /// Where the elements of a view lie.
    pub const fn memory(&self, space: Space) -> Memory {
        match space {
            Space::Global => Memory::Global,
            Space::Shared => Memory::Shared,
            Space::Local => Memory::Generic,
            Space::Constant => self.constant_memory,
        }
    }

    /// The number of the metadata that say where a span is.
    pub fn location(&mut self, span: Span) -> Option<u32> {
        self.lines.as_mut()?.at(self.module, span)
    }

    /// What the definition of the entry ends in.
    pub fn entry_location(&self) -> String {
        self.lines.as_ref().map_or(String::new(), Lines::of_function)
    }

    pub fn declare(&mut self, text: String) {
        self.declares.insert(text);
    }

    pub fn shared_array(&mut self, bytes: u64) -> Operand {
        self.shared.push(bytes);
        Operand::shared_array(self.shared.len() as u32 - 1)
    }

    pub fn constant(&mut self, id: ConstId) -> Operand {
        self.constants.insert(id.0);
        Operand::const_array(id.0, self.constant_memory)
    }

    pub fn helper(&mut self, helper: &Helper) {
        if self.helpers.insert(helper.name.clone(), helper.text.clone()).is_none() {
            self.declares.extend(helper.declares.iter().cloned());
        }
    }

    pub fn finish(self, entry: Entry) -> Emitted {
        let mut text = String::with_capacity(entry.text.len() + 1024);
        for (i, bytes) in self.shared.iter().enumerate() {
            let _ = writeln!(
                text,
                "@weft$shared{i} = internal addrspace(3) global [{bytes} x i8] poison, align 16"
            );
        }
        if self.dynamic_shared {
            text.push_str("@weft$dynamic = external addrspace(3) global [0 x i8], align 16\n");
        }
        for id in &self.constants {
            let array = &self.module.constants[*id as usize];
            let space = self.constant_memory.number();
            let _ = write!(
                text,
                "@weft$const{id} = internal addrspace({space}) constant [{} x i8] c\"",
                array.bytes.len()
            );
            for byte in &array.bytes {
                let _ = write!(text, "\\{byte:02X}");
            }
            text.push_str("\", align 16\n");
        }
        text.push_str(&entry.text);
        for function in self.called.values().chain(self.helpers.values()) {
            text.push_str(function);
        }
        for declare in &self.declares {
            text.push_str(declare);
            text.push('\n');
        }
        text.push_str("!0 = !{!\"branch_weights\", i32 1, i32 2000}\n!1 = !{}\n");
        if self.points > 1 {
            text.push_str("!2 = distinct !{!2, !3}\n!3 = !{!\"llvm.loop.unroll.disable\"}\n");
        }
        if let Some(lines) = &self.lines {
            lines.write(self.module, &entry.name, &mut text);
        }
        Emitted {
            text,
            entry: entry.name,
            params: entry.params,
            mailbox: self.mailbox,
            shared_bytes: self.shared.iter().map(|bytes| bytes.next_multiple_of(16)).sum(),
            dynamic_shared: self.dynamic_shared,
            grid_sync: self.grid_sync,
            points: self.points,
            stack_bytes: self.stack.bytes,
            error_sites: entry.error_sites,
            print_sites: entry.print_sites,
        }
    }
}
