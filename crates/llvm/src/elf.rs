//! The ELF reader, of 64-bit little-endian relocatable objects. Every offset is checked: a damaged object is an error, never a wild read.

use crate::Error;

pub const SHN_UNDEF: u16 = 0;
pub const SHN_ABS: u16 = 0xfff1;
const SHN_LORESERVE: u16 = 0xff00;
pub const SHT_NOBITS: u32 = 8;
const SHT_SYMTAB: u32 = 2;
const SHT_RELA: u32 = 4;
pub const SHF_WRITE: u64 = 1;
pub const SHF_ALLOC: u64 = 2;
pub const SHF_EXECINSTR: u64 = 4;
const HEADER_BYTES: usize = 64;
const SECTION_BYTES: usize = 64;
const SYMBOL_BYTES: usize = 24;
const RELA_BYTES: usize = 24;

#[derive(Debug)]
pub struct Object<'a> {
    pub sections: Vec<Section<'a>>,
    pub symbols: Vec<Symbol<'a>>,
    pub relocations: Vec<Relocation>,
}

#[derive(Clone, Copy, Debug)]
pub struct Section<'a> {
    pub name: &'a str,
    pub kind: u32,
    pub flags: u64,
    pub size: u64,
    pub align: u64,
    /// Empty for `SHT_NOBITS`.
    pub data: &'a [u8],
    link: u32,
    info: u32,
}

#[derive(Clone, Copy, Debug)]
pub struct Symbol<'a> {
    pub name: &'a str,
    pub global: bool,
    /// `SHN_UNDEF`, `SHN_ABS` or the index of a section.
    pub section: u16,
    pub value: u64,
}

#[derive(Clone, Copy, Debug)]
pub struct Relocation {
    /// The section it changes, and where.
    pub section: usize,
    pub offset: u64,
    pub kind: u32,
    pub symbol: usize,
    pub addend: i64,
}

/// Which machine this program runs on, as ELF numbers them.
const MACHINE: u16 = if cfg!(target_arch = "aarch64") { 183 } else { 62 };

fn damaged() -> Error {
    Error::Load("it is not a whole ELF object".into())
}

/// A fixed number of bytes at an offset.
fn bytes<const N: usize>(data: &[u8], at: usize) -> Result<[u8; N], Error> {
    let slice = at.checked_add(N).and_then(|end| data.get(at..end)).ok_or_else(damaged)?;
    slice.try_into().map_err(|_| damaged())
}

fn u16_at(data: &[u8], at: usize) -> Result<u16, Error> {
    bytes(data, at).map(u16::from_le_bytes)
}

fn u32_at(data: &[u8], at: usize) -> Result<u32, Error> {
    bytes(data, at).map(u32::from_le_bytes)
}

fn u64_at(data: &[u8], at: usize) -> Result<u64, Error> {
    bytes(data, at).map(u64::from_le_bytes)
}

fn range(data: &[u8], offset: u64, size: u64) -> Result<&[u8], Error> {
    let start = usize::try_from(offset).map_err(|_| damaged())?;
    let size = usize::try_from(size).map_err(|_| damaged())?;
    start.checked_add(size).and_then(|end| data.get(start..end)).ok_or_else(damaged)
}

/// The null-terminated string at an offset of a string table.
fn name_at(table: &[u8], offset: u32) -> Result<&str, Error> {
    let tail = table.get(offset as usize..).ok_or_else(damaged)?;
    let end = tail.iter().position(|&b| b == 0).ok_or_else(damaged)?;
    std::str::from_utf8(&tail[..end]).map_err(|_| damaged())
}

pub fn parse(data: &[u8]) -> Result<Object<'_>, Error> {
    // Magic, 64 bit, little-endian; relocatable; our machine.
    if data.len() < HEADER_BYTES || data[..6] != *b"\x7fELF\x02\x01" || u16_at(data, 16)? != 1 {
        return Err(damaged());
    }
    if u16_at(data, 18)? != MACHINE {
        return Err(Error::Load("it is made for another kind of processor".into()));
    }
    let sections = parse_sections(data)?;
    let symbols = parse_symbols(&sections)?;
    let relocations = parse_relocations(&sections, symbols.len())?;
    Ok(Object {
        sections,
        symbols,
        relocations,
    })
}

fn parse_sections(data: &[u8]) -> Result<Vec<Section<'_>>, Error> {
    let count = u16_at(data, 60)? as u64;
    let table = range(data, u64_at(data, 40)?, count * SECTION_BYTES as u64)?;
    let names_index = u16_at(data, 62)? as usize * SECTION_BYTES;
    let names = range(data, u64_at(table, names_index + 24)?, u64_at(table, names_index + 32)?)?;
    let section = |i: usize| -> Result<Section<'_>, Error> {
        let at = i * SECTION_BYTES;
        let (kind, size) = (u32_at(table, at + 4)?, u64_at(table, at + 32)?);
        let data = if kind == SHT_NOBITS {
            &[][..]
        } else {
            range(data, u64_at(table, at + 24)?, size)?
        };
        Ok(Section {
            name: name_at(names, u32_at(table, at)?)?,
            kind,
            flags: u64_at(table, at + 8)?,
            size,
            align: u64_at(table, at + 48)?.max(1),
            data,
            link: u32_at(table, at + 40)?,
            info: u32_at(table, at + 44)?,
        })
    };
    (0..count as usize).map(section).collect()
}

fn parse_symbols<'a>(sections: &[Section<'a>]) -> Result<Vec<Symbol<'a>>, Error> {
    let Some(table) = sections.iter().find(|s| s.kind == SHT_SYMTAB) else {
        return Ok(Vec::new());
    };
    let names = sections.get(table.link as usize).ok_or_else(damaged)?.data;
    let symbol = |i: usize| -> Result<Symbol<'a>, Error> {
        let at = i * SYMBOL_BYTES;
        let section = u16_at(table.data, at + 6)?;
        let known = section < SHN_LORESERVE && (section as usize) < sections.len();
        if !known && section != SHN_ABS {
            return Err(Error::Load("it has common symbols or too many sections".into()));
        }
        Ok(Symbol {
            name: name_at(names, u32_at(table.data, at)?)?,
            global: bytes::<1>(table.data, at + 4)?[0] >> 4 != 0,
            section,
            value: u64_at(table.data, at + 8)?,
        })
    };
    (0..table.data.len() / SYMBOL_BYTES).map(symbol).collect()
}

fn parse_relocations(sections: &[Section<'_>], symbols: usize) -> Result<Vec<Relocation>, Error> {
    let mut all = Vec::new();
    for table in sections.iter().filter(|s| s.kind == SHT_RELA) {
        let section = table.info as usize;
        if section >= sections.len() {
            return Err(damaged());
        }
        for at in (0..table.data.len() / RELA_BYTES).map(|i| i * RELA_BYTES) {
            let info = u64_at(table.data, at + 8)?;
            let symbol = (info >> 32) as usize;
            if symbol >= symbols {
                return Err(damaged());
            }
            all.push(Relocation {
                section,
                offset: u64_at(table.data, at)?,
                kind: info as u32,
                symbol,
                addend: u64_at(table.data, at + 16)? as i64,
            });
        }
    }
    Ok(all)
}
