//! The elementary functions, written in the kernel language and embedded as text.
//!
//! One flat namespace: every `def` of the files below is known by its own name. A function `f` of the library has the entries
//! `f_f64` and `f_f32`, or `f_any` where one text serves every type; its helpers start with an underscore and are called by name from the
//! same namespace. A shorter version for callers with `fastmath` is `f_f32_fast`. Where both widths read the same, `f_each` stands for
//! both: `f_f64` and `f_f32` are made of its text, in which `g_each` is what it calls at its own width. Inside these texts
//! `intrinsics` and `np` mean the front end's intrinsics and NumPy's scalar types; nothing else is free.
//! Helpers that `RARE` lists are for arguments that are seldom met: they are not made part of their callers.
//! Tables, in capitals, are arrays of float64, or of float32 where they say so.
//! Complex functions take and give real and imaginary part: `cexp_f64(re, im) -> (re, im)`.

use std::collections::HashMap;
use std::sync::OnceLock;

/// The helpers for arguments that are seldom met, by their names without the width.
const RARE: [&str; 12] = [
    "_rare_cbrt",
    "_rare_erfc",
    "_rare_exp_half",
    "_rare_expm1",
    "_rare_hypot",
    "_rare_log",
    "_rare_log10",
    "_rare_log1p",
    "_rare_log2",
    "_rare_log_twice",
    "_rare_pow",
    "_rare_trig_reduce",
];

/// What names of float32's width have in them.
const NARROW: &str = "_f32";

/// What stands for the width in names of texts that serve both.
const EACH: &str = "_each";

/// What makes a name that of one width.
const WIDTHS: [&str; 2] = ["_f64", "_f32"];

/// The families: file name and text.
const FILES: [(&str, &str); 31] = [
    ("asin.py", include_str!("asin.py")),
    ("asinh.py", include_str!("asinh.py")),
    ("atan.py", include_str!("atan.py")),
    ("bessel.py", include_str!("bessel.py")),
    ("cbrt.py", include_str!("cbrt.py")),
    ("complex.py", include_str!("complex.py")),
    ("complex_more.py", include_str!("complex_more.py")),
    ("derivatives.py", include_str!("derivatives.py")),
    ("division.py", include_str!("division.py")),
    ("erf.py", include_str!("erf.py")),
    ("erfinv.py", include_str!("erfinv.py")),
    ("exp.py", include_str!("exp.py")),
    ("fast_erf.py", include_str!("fast_erf.py")),
    ("fast_exp.py", include_str!("fast_exp.py")),
    ("fast_log.py", include_str!("fast_log.py")),
    ("fast_root.py", include_str!("fast_root.py")),
    ("fast_trig.py", include_str!("fast_trig.py")),
    ("floats.py", include_str!("floats.py")),
    ("fsum.py", include_str!("fsum.py")),
    ("gamma.py", include_str!("gamma.py")),
    ("hyperbolic.py", include_str!("hyperbolic.py")),
    ("hypot.py", include_str!("hypot.py")),
    ("integers.py", include_str!("integers.py")),
    ("log.py", include_str!("log.py")),
    ("log1p.py", include_str!("log1p.py")),
    ("logaddexp.py", include_str!("logaddexp.py")),
    ("pow.py", include_str!("pow.py")),
    ("round.py", include_str!("round.py")),
    ("rsqrt.py", include_str!("rsqrt.py")),
    ("sinpi.py", include_str!("sinpi.py")),
    ("trig.py", include_str!("trig.py")),
];

/// A function of the library, by the name users know: what to call for each width.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Function {
    pub f32: &'static str,
    pub f64: &'static str,
    pub arity: usize,
}

/// The text of one `def`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Source {
    pub name: &'static str,
    pub file: &'static str,
    /// Line of the `def` in its file, from 1.
    pub first_line: u32,
    pub text: &'static str,
    pub arity: usize,
    /// A helper for arguments that are seldom met.
    pub is_rare: bool,
    /// A definition of float32's width: literals stand for float32 in it.
    pub is_narrow: bool,
}

/// The function users call `name`: `sin`, `atan2`, `cexp`.
pub fn function(name: &str) -> Option<Function> {
    let of = |suffix: &str| source(&format!("{name}_{suffix}"));
    let (wide, narrow) = of("f64").zip(of("f32")).or_else(|| of("any").map(|s| (s, s)))?;
    Some(Function {
        f32: narrow.name,
        f64: wide.name,
        arity: wide.arity,
    })
}

/// What stands for the definition `name` in callers with `fastmath`: `sin_f32_fast` for `sin_f32`, or itself.
pub fn fast(name: &'static str) -> &'static str {
    source(&format!("{name}_fast")).map_or(name, |s| s.name)
}

/// The text of the derivative of the entry `name` by one of its arguments: a function of the arguments and of what the entry gives for them.
///
/// In place of an argument `usize::MAX` asks for the entry in a text that is made of others.
pub fn derivative(name: &str, by: usize) -> Option<Source> {
    let name = name.strip_suffix("_fast").unwrap_or(name);
    match by {
        usize::MAX => source(&format!("_plain_{name}")),
        by => source(&format!("_d{by}_{name}")),
    }
}

/// Numbers that texts index by name, one-dimensional.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    pub numbers: Vec<f64>,
    /// Are they float32?
    pub is_narrow: bool,
}

/// The text of the definition `name`: an entry such as `sin_f64` or a helper that another text calls.
pub fn source(name: &str) -> Option<Source> {
    index().get(name).copied()
}

/// The table `name`, such as `TWO_OVER_PI`.
pub fn table(name: &str) -> Option<&'static Table> {
    static TABLES: OnceLock<HashMap<&'static str, Table>> = OnceLock::new();
    let tables = TABLES.get_or_init(|| FILES.iter().flat_map(|&(_, text)| tables(text)).collect());
    tables.get(name)
}

/// The tables of a file: `NAME = np.array(`, numbers in brackets, and `dtype=np.float32` where they are that.
fn tables(text: &'static str) -> Vec<(&'static str, Table)> {
    let opened = text.split("\n\n").flat_map(|part| part.lines().map(move |line| (line, part)));
    opened
        .filter_map(|(line, part)| table_in(line.strip_suffix(" = np.array(")?, part))
        .collect()
}

fn table_in(name: &'static str, part: &'static str) -> Option<(&'static str, Table)> {
    let (_, numbers) = part.split_once('[')?;
    let (numbers, after) = numbers.split_once(']')?;
    let table = Table {
        numbers: numbers.split(',').filter_map(|n| n.trim().parse().ok()).collect(),
        is_narrow: after.contains("dtype=np.float32"),
    };
    Some((name, table))
}

/// Every definition of the library, in no order.
pub fn sources() -> impl Iterator<Item = Source> {
    index().values().copied()
}

fn index() -> &'static HashMap<&'static str, Source> {
    static INDEX: OnceLock<HashMap<&'static str, Source>> = OnceLock::new();
    INDEX.get_or_init(|| {
        FILES
            .iter()
            .flat_map(|&(file, text)| definitions(file, text))
            .map(|s| (s.name, s))
            .collect()
    })
}

/// Cuts a file into its definitions. A definition starts at a line that begins with `def ` and ends before the next.
fn definitions(file: &'static str, text: &'static str) -> Vec<Source> {
    let starts: Vec<usize> = text.match_indices("\ndef ").map(|(at, _)| at + 1).collect();
    let ends = starts.iter().skip(1).copied().chain([text.len()]);
    let mut line = 1;
    let mut seen = 0;
    let mut found = Vec::with_capacity(starts.len());
    for (&start, end) in starts.iter().zip(ends) {
        line += text[seen..start].bytes().filter(|&b| b == b'\n').count() as u32;
        seen = start;
        let text = text[start..end].trim_end();
        found.extend(each_width(text).into_iter().filter_map(|text| definition(file, line, text)));
    }
    found
}

/// The texts that `text` stands for: itself, or one per width. Those are made once and live as long as the index.
fn each_width(text: &'static str) -> Vec<&'static str> {
    let is_template = text.split_once('(').is_some_and(|(name, _)| name.contains(EACH));
    if is_template {
        WIDTHS.iter().map(|width| &*text.replace(EACH, width).leak()).collect()
    } else {
        vec![text]
    }
}

/// `text` starts with `def name(parameters):` on one line.
fn definition(file: &'static str, first_line: u32, text: &'static str) -> Option<Source> {
    let (name, rest) = text.strip_prefix("def ")?.split_once('(')?;
    let (parameters, _) = rest.split_once(')')?;
    Some(Source {
        name,
        file,
        first_line,
        text,
        arity: parameters.split(',').filter(|p| !p.trim().is_empty()).count(),
        is_rare: RARE.contains(&without_width(name)),
        is_narrow: name.contains(NARROW),
    })
}

/// A definition's name without the width that it ends with.
fn without_width(name: &str) -> &str {
    WIDTHS.iter().find_map(|width| name.strip_suffix(width)).unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rare_helpers_are_listed() {
        for name in RARE {
            assert!(WIDTHS.iter().any(|width| source(&format!("{name}{width}")).is_some()), "{name}");
        }
        for s in sources() {
            assert_eq!(
                s.is_rare,
                s.name.starts_with("_rare_"),
                "{}: a name that readers take for the other kind",
                s.name
            );
        }
        assert_eq!(sources().filter(|s| s.is_rare).count(), 24);
    }

    #[test]
    fn every_definition_is_found_once() {
        let defs = FILES.iter().flat_map(|(_, text)| text.lines().filter(|l| l.starts_with("def ")));
        let stood_for = defs.map(|l| if l.contains(EACH) { WIDTHS.len() } else { 1 });
        assert_eq!(sources().count(), stood_for.sum::<usize>());
        for s in sources() {
            let line = FILES
                .iter()
                .find(|f| f.0 == s.file)
                .and_then(|f| f.1.lines().nth(s.first_line as usize - 1));
            let written = WIDTHS.iter().fold(line.unwrap().to_owned(), |l, width| {
                if s.name.contains(width) { l.replace(EACH, width) } else { l }
            });
            assert!(written.starts_with(&format!("def {}(", s.name)));
            assert!(!s.text.contains(EACH), "{}: only a text for both widths may call one", s.name);
            assert!(s.text.lines().skip(1).all(|l| l.is_empty() || l.starts_with("    ")), "{}", s.name);
        }
    }

    #[test]
    fn functions_come_in_both_widths() {
        for s in sources().filter(|s| !s.name.starts_with('_')) {
            let name = s.name.strip_suffix("_fast").unwrap_or(s.name);
            let base = ["_f64", "_f32", "_any"]
                .iter()
                .find_map(|suffix| name.strip_suffix(suffix))
                .unwrap();
            assert_eq!(function(base).unwrap().arity, s.arity, "{base}");
        }
        assert_eq!(function("sin").unwrap().f32, "sin_f32");
        assert!(function("_log_tail").is_none());
        assert_eq!((fast("sin_f32"), fast("gamma_f32")), ("sin_f32_fast", "gamma_f32"));
    }

    #[test]
    fn no_text_stands_twice() {
        let written: Vec<_> = FILES.iter().flat_map(|&(_, text)| text.split("\ndef ").skip(1)).collect();
        for wide in &written {
            let (name, _) = wide.split_once('(').unwrap();
            if name.contains("_f64") {
                let narrow = format!("{}(", name.replace("_f64", "_f32"));
                let twin = written.iter().find(|text| text.starts_with(&narrow));
                assert!(
                    twin.is_none_or(|twin| code(twin) != code(wide)),
                    "{name} and {narrow} are one text: write '_each'"
                );
            }
        }
    }

    /// A text without the comment it opens with, its numbers as float32 has them, as if it were that of float32.
    fn code(text: &str) -> String {
        let body = text.split("\"\"\"").nth(2).unwrap().replace("_f64", "_f32");
        let ends_word = |c: char| !(c.is_alphanumeric() || c == '.' || c == '_');
        let rounded = body.trim_end().split_inclusive(ends_word).map(|token| {
            let word = token.trim_end_matches(ends_word);
            let number = word.parse::<f64>().map(|n| format!("{}{}", n as f32, &token[word.len()..]));
            number.unwrap_or_else(|_| token.to_owned())
        });
        rounded.collect()
    }

    #[test]
    fn one_text_may_serve_both_widths() {
        let (wide, narrow) = (source("clog_f64").unwrap(), source("clog_f32").unwrap());
        assert_eq!(wide.first_line, narrow.first_line);
        assert!(wide.text.starts_with("def clog_f64(") && wide.text.contains("hypot_f64(") && !wide.text.contains("_f32"));
        assert_eq!(wide.text.replace("_f64", "_f32"), narrow.text);
        assert!(source("clog_each").is_none());
    }

    #[test]
    fn tables_are_read() {
        let sum = |table: &Table, scale: i32| table.numbers.iter().map(|piece| piece * 2f64.powi(-scale)).sum::<f64>();
        let wide = table("TWO_OVER_PI").unwrap();
        assert_eq!((wide.numbers.len(), sum(wide, 512)), (22, std::f64::consts::FRAC_2_PI));
        let narrow = table("TWO_OVER_PI_F32").unwrap();
        let pieces = narrow.numbers.iter().map(|piece| f64::from(*piece as f32)).collect();
        let narrow = Table {
            numbers: pieces,
            ..*narrow
        };
        assert_eq!((narrow.numbers.len(), sum(&narrow, 64)), (8, std::f64::consts::FRAC_2_PI));
        assert!(narrow.is_narrow && !wide.is_narrow);
        assert!(table("sin_f64").is_none());
    }
}
