//! Debug lines: which line of the source each instruction comes from, as LLVM's metadata: PTX has it as `.loc`, and profilers show it.
//!
//! What was inlined stands in the entry function, at a line of its own file.

use std::collections::BTreeMap;
use std::fmt::Write;

use weft_ir::{Module, Source, SourceId, Span};

/// Numbers of metadata that every module with lines has; smaller ones are taken.
const UNIT: u32 = 4;
const VERSION: u32 = 5;
const SIGNATURE: u32 = 6;
const FUNCTION: u32 = 7;
const FIRST: u32 = 8;

/// The metadata of a module, as it is asked for.
#[derive(Debug, Default)]
pub struct Lines {
    /// The file that the function is said to be in, and the line where it starts.
    home: Option<(SourceId, u32)>,
    /// Numbers of files, and of the scopes that say that code of the function is from them.
    files: BTreeMap<SourceId, (u32, u32)>,
    places: BTreeMap<(SourceId, u32, u32), u32>,
    next: u32,
}

impl Lines {
    /// The number of a place, if it is known.
    pub fn at(&mut self, module: &Module, span: Span) -> Option<u32> {
        let source = module.sources.get(span.source.index())?;
        let (line, column) = position(source, span.start)?;
        self.home.get_or_insert((span.source, source.first_line));
        if !self.files.contains_key(&span.source) {
            let numbers = (self.number(), self.number());
            self.files.insert(span.source, numbers);
        }
        let place = (span.source, line, column);
        if let Some(known) = self.places.get(&place) {
            return Some(*known);
        }
        let number = self.number();
        self.places.insert(place, number);
        Some(number)
    }

    fn number(&mut self) -> u32 {
        self.next += 1;
        FIRST + self.next - 1
    }

    /// What the definition of the function ends in.
    pub fn of_function(&self) -> String {
        self.home.map_or(String::new(), |_| format!(" !dbg !{FUNCTION}"))
    }

    /// The metadata themselves.
    pub fn write(&self, module: &Module, function: &str, text: &mut String) {
        let Some((home, line)) = self.home else { return };
        let file = self.files[&home].0;
        let _ = write!(
            text,
            "!llvm.dbg.cu = !{{!{UNIT}}}\n!llvm.module.flags = !{{!{VERSION}}}\n\
             !{UNIT} = distinct !DICompileUnit(language: DW_LANG_Python, file: !{file}, producer: \"weft\", isOptimized: true, \
             runtimeVersion: 0, emissionKind: DebugDirectivesOnly)\n\
             !{VERSION} = !{{i32 2, !\"Debug Info Version\", i32 3}}\n\
             !{SIGNATURE} = !DISubroutineType(types: !1)\n\
             !{FUNCTION} = distinct !DISubprogram(name: \"{function}\", scope: !{file}, file: !{file}, line: {line}, type: !{SIGNATURE}, \
             scopeLine: {line}, spFlags: DISPFlagDefinition | DISPFlagOptimized, unit: !{UNIT})\n"
        );
        for (source, (file, scope)) in &self.files {
            let (directory, name) = split(&module.sources[source.index()].file);
            let _ = write!(
                text,
                "!{file} = !DIFile(filename: \"{}\", directory: \"{}\")\n\
                 !{scope} = !DILexicalBlockFile(scope: !{FUNCTION}, file: !{file}, discriminator: 0)\n",
                escaped(name),
                escaped(directory)
            );
        }
        for ((source, line, column), number) in &self.places {
            let scope = if *source == home { FUNCTION } else { self.files[source].1 };
            let _ = writeln!(text, "!{number} = !DILocation(line: {line}, column: {column}, scope: !{scope})");
        }
    }
}

/// Line and column in the file, from 1.
fn position(source: &Source, at: u32) -> Option<(u32, u32)> {
    let before = source.text.get(..at as usize)?;
    let line = source.first_line + before.matches('\n').count() as u32;
    let column = before.rsplit('\n').next().unwrap_or("").chars().count() as u32 + 1;
    Some((line, column))
}

fn split(file: &str) -> (&str, &str) {
    file.rsplit_once('/').unwrap_or(("", file))
}

/// As a string of LLVM's text form.
fn escaped(text: &str) -> String {
    let plain = |b: u8| (b.is_ascii_graphic() || b == b' ') && b != b'"' && b != b'\\';
    let one = |b: u8| {
        if plain(b) {
            char::from(b).to_string()
        } else {
            format!("\\{b:02X}")
        }
    };
    text.bytes().map(one).collect()
}
