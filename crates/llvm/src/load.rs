//! The object loader: sections get memory in this process, symbols addresses, relocations their values.
//!
//! Objects come from our own code generator, position-independent and in the small code model, so a loader of a few relocations does. It
//! takes some tens of microseconds where ORC takes milliseconds to start and hundreds of microseconds per library.

use crate::Error;
use crate::elf::{self, Object, SHF_ALLOC, SHF_EXECINSTR, SHF_WRITE, SHN_ABS, SHN_UNDEF, SHT_NOBITS, Section};
use crate::memory::{Access, Memory, page_size};
use crate::reloc::{self, Need, STUB_BYTES, Site};

/// Compiled code in memory. Its functions must not run any more when it is dropped.
#[derive(Debug)]
pub struct Library {
    /// Held for the code that lies in it.
    _memory: Memory,
    exports: Vec<(String, usize)>,
}

impl Library {
    /// Loads an object made by [`compile()`](crate::compile()). `symbols` are the functions it may call besides memory and math ones of C.
    pub fn load(object: &[u8], symbols: &[(&str, usize)]) -> Result<Library, Error> {
        let object = elf::parse(object)?;
        let plan = Plan::new(&object)?;
        let mut memory = Memory::new(plan.bytes)?;
        let image = Image {
            base: memory.address(),
            addresses: resolve(&object, &plan, memory.address(), symbols)?,
            plan: &plan,
            object: &object,
        };
        image.fill(memory.bytes_mut())?;
        for (access, from, to) in &plan.segments {
            memory.seal(*from, *to, *access)?;
        }
        let exports = image.exports();
        Ok(Library { _memory: memory, exports })
    }

    /// The address of a function or datum the object defines.
    pub fn address(&self, name: &str) -> Option<usize> {
        self.exports.iter().find(|(known, _)| known == name).map(|(_, address)| *address)
    }
}

/// Where everything goes, as offsets into one mapping: code and stubs, then constants and address slots, then variables.
struct Plan {
    bytes: usize,
    segments: Vec<(Access, usize, usize)>,
    /// Offset of each section; `None` for those that are not loaded.
    sections: Vec<Option<usize>>,
    /// Per symbol, the offset of its slot or stub.
    slots: Vec<Option<usize>>,
    stubs: Vec<Option<usize>>,
}

impl Plan {
    fn new(object: &Object<'_>) -> Result<Plan, Error> {
        let mut plan = Plan {
            bytes: 0,
            segments: Vec::new(),
            sections: vec![None; object.sections.len()],
            slots: vec![None; object.symbols.len()],
            stubs: vec![None; object.symbols.len()],
        };
        for access in [Access::Execute, Access::Read, Access::Write] {
            let from = plan.bytes;
            for (index, section) in object.sections.iter().enumerate() {
                if access_of(section) == Some(access) {
                    let size = usize::try_from(section.size).map_err(|_| too_large())?;
                    let align = usize::try_from(section.align).map_err(|_| too_large())?;
                    plan.sections[index] = Some(plan.reserve(size, align)?);
                }
            }
            plan.reserve_links(object, access)?;
            plan.bytes = plan.bytes.next_multiple_of(page_size());
            plan.segments.push((access, from, plan.bytes));
        }
        plan.bytes = plan.bytes.max(page_size());
        Ok(plan)
    }

    /// Stubs stand behind the code, slots behind the constants.
    fn reserve_links(&mut self, object: &Object<'_>, access: Access) -> Result<(), Error> {
        for relocation in &object.relocations {
            let symbol = relocation.symbol;
            let outside = object.symbols[symbol].section == SHN_UNDEF;
            let need = reloc::need(relocation.kind);
            let jumps = need == Need::Stub && outside;
            if access == Access::Execute && jumps && self.stubs[symbol].is_none() {
                self.stubs[symbol] = Some(self.reserve(STUB_BYTES, 8)?);
            }
            if access == Access::Read && (jumps || need == Need::Slot) && self.slots[symbol].is_none() {
                self.slots[symbol] = Some(self.reserve(8, 8)?);
            }
        }
        Ok(())
    }

    fn reserve(&mut self, size: usize, align: usize) -> Result<usize, Error> {
        let align = if align.is_power_of_two() && align <= page_size() {
            align
        } else {
            return Err(too_large());
        };
        let start = self.bytes.next_multiple_of(align);
        self.bytes = start.checked_add(size).filter(|&end| end < 1 << 31).ok_or_else(too_large)?;
        Ok(start)
    }
}

fn too_large() -> Error {
    Error::Load("it is too large".into())
}

/// `None` for sections that running does not need: symbols, notes, unwind tables (compiled code never unwinds).
fn access_of(section: &Section<'_>) -> Option<Access> {
    if section.flags & SHF_ALLOC == 0 || section.name == ".eh_frame" || section.name.starts_with(".note") {
        None
    } else if section.flags & SHF_EXECINSTR != 0 {
        Some(Access::Execute)
    } else if section.flags & SHF_WRITE != 0 && !section.name.starts_with(".data.rel.ro") {
        Some(Access::Write)
    } else {
        Some(Access::Read)
    }
}

/// The address of every symbol; 0 for those of sections that are not loaded.
fn resolve(object: &Object<'_>, plan: &Plan, base: usize, symbols: &[(&str, usize)]) -> Result<Vec<u64>, Error> {
    let resolve_one = |index: usize| -> Result<u64, Error> {
        let symbol = &object.symbols[index];
        match symbol.section {
            // The first symbol of every table is a nameless undefined one.
            SHN_UNDEF if index == 0 => Ok(0),
            SHN_UNDEF => symbols
                .iter()
                .find(|(name, _)| *name == symbol.name)
                .map(|(_, address)| *address)
                .or_else(|| crate::libcalls::address(symbol.name))
                .map(|address| address as u64)
                .ok_or_else(|| Error::Load(format!("it needs the function {}, which nothing provides", symbol.name))),
            SHN_ABS => Ok(symbol.value),
            section => Ok(plan.sections[section as usize].map_or(0, |offset| ((base + offset) as u64).wrapping_add(symbol.value))),
        }
    };
    (0..object.symbols.len()).map(resolve_one).collect()
}

struct Image<'a> {
    base: usize,
    addresses: Vec<u64>,
    plan: &'a Plan,
    object: &'a Object<'a>,
}

impl Image<'_> {
    fn fill(&self, memory: &mut [u8]) -> Result<(), Error> {
        for (section, offset) in self.object.sections.iter().zip(&self.plan.sections) {
            if let (Some(offset), true) = (*offset, section.kind != SHT_NOBITS) {
                memory[offset..offset + section.data.len()].copy_from_slice(section.data);
            }
        }
        self.fill_links(memory)?;
        for relocation in &self.object.relocations {
            let Some(start) = self.plan.sections[relocation.section] else {
                continue;
            };
            let size = self.object.sections[relocation.section].size;
            if relocation.offset >= size {
                return Err(Error::Load("a relocation lies outside its section".into()));
            }
            let offset = start + relocation.offset as usize;
            let site = Site {
                place: (self.base + offset) as u64,
                target: self.target(relocation.kind, relocation.symbol),
                addend: relocation.addend,
            };
            reloc::apply(relocation.kind, site, &mut memory[offset..start + size as usize])?;
        }
        Ok(())
    }

    fn fill_links(&self, memory: &mut [u8]) -> Result<(), Error> {
        for (symbol, address) in self.addresses.iter().enumerate() {
            let Some(slot) = self.plan.slots[symbol] else { continue };
            memory[slot..slot + 8].copy_from_slice(&address.to_le_bytes());
            if let Some(stub) = self.plan.stubs[symbol] {
                let bytes = &mut memory[stub..stub + STUB_BYTES];
                reloc::write_stub(bytes, (self.base + stub) as u64, (self.base + slot) as u64)?;
            }
        }
        Ok(())
    }

    /// What a relocation points to: the symbol's slot, its stub, or the symbol itself.
    fn target(&self, kind: u32, symbol: usize) -> u64 {
        let link = match reloc::need(kind) {
            Need::Slot => self.plan.slots[symbol],
            Need::Stub => self.plan.stubs[symbol],
            Need::Nothing => None,
        };
        link.map_or(self.addresses[symbol], |offset| (self.base + offset) as u64)
    }

    fn exports(&self) -> Vec<(String, usize)> {
        let symbols = self.object.symbols.iter().zip(&self.addresses);
        symbols
            .filter(|(symbol, address)| symbol.global && symbol.section != SHN_UNDEF && **address != 0)
            .map(|(symbol, address)| (symbol.name.to_string(), *address as usize))
            .collect()
    }
}
