//! The types guide, `docs/types.md`, as a test: every code block is compiled and its comments are checked.

#![allow(clippy::panic, clippy::unwrap_used)] // A test that cannot go on stops.

mod common;

use common::{World, host, parse_type, split_top, tuple_class};
use weft_front::{ArgType, Compiled, Diagnostic, Dialect, Options};
use weft_ir::Span;

struct Block {
    first_line: usize,
    text: String,
}

fn blocks(guide: &str) -> Vec<Block> {
    let mut found = Vec::new();
    let mut open: Option<Block> = None;
    for (i, line) in guide.lines().enumerate() {
        match (&mut open, line) {
            (None, "```python") => {
                open = Some(Block {
                    first_line: i + 2,
                    text: String::new(),
                });
            }
            (Some(_), "```") => found.extend(open.take()),
            (Some(block), _) => {
                block.text.push_str(line);
                block.text.push('\n');
            }
            (None, _) => {}
        }
    }
    found
}

/// The name and annotated types of the block's one function.
fn signature(text: &str) -> (String, Vec<ArgType>) {
    let def = text.lines().find_map(|l| l.strip_prefix("def ")).expect("a block holds a def");
    let (name, rest) = def.split_once('(').expect("parameters");
    let (params, _) = rest.split_once("):").expect("parameters");
    let types = split_top(params)
        .iter()
        .map(|p| parse_type(p.split_once(": ").expect("an annotation").1))
        .collect();
    (name.to_owned(), types)
}

fn line_of(span: Span, text: &str) -> usize {
    text[..span.start as usize].matches('\n').count()
}

fn check_types(compiled: &Compiled, text: &str, at: usize, expected: &str) -> Result<(), String> {
    let here: Vec<&str> = compiled
        .types
        .iter()
        .filter(|t| line_of(t.span, text) == at)
        .map(|t| t.ty.as_str())
        .collect();
    match here.last() {
        Some(found) if *found == expected => Ok(()),
        found => Err(format!("expected {expected}, found {found:?}")),
    }
}

fn check_error(diag: &Diagnostic, text: &str, at: usize, expected: &str) -> Result<(), String> {
    let here = line_of(diag.labels[0].span, text);
    if here == at && diag.message.contains(expected) {
        return Ok(());
    }
    Err(format!("expected the error {expected:?}, found\n{}", diag.render()))
}

fn check(block: &Block) -> Result<usize, String> {
    let (name, types) = signature(&block.text);
    let world = World::with("types.md", &block.text, &[("Point", tuple_class(1, "Point", &["x", "y"], &[]))]);
    let dialect = match block.text.starts_with("@numba.") {
        true => Dialect::Numba,
        false => Dialect::NumPy,
    };
    let options = Options {
        dialect,
        float64: !block.text.contains("# on a device without float64"),
        ..host()
    };
    let compiled = world.compile(&name, &types, options);
    let mut checks = 0;
    for (at, line) in block.text.lines().enumerate() {
        let fail = |message: String| format!("docs/types.md:{}: {message}", block.first_line + at);
        if let Some((_, expected)) = line.split_once("# type: ") {
            let compiled = compiled.as_ref().map_err(|d| fail(d.render()))?;
            check_types(compiled, &block.text, at, expected).map_err(fail)?;
            checks += 1;
        }
        if let Some((_, expected)) = line.split_once("# error: ") {
            match &compiled {
                Ok(_) => return Err(fail("no error".into())),
                Err(diag) => check_error(diag, &block.text, at, expected).map_err(fail)?,
            }
            checks += 1;
        }
    }
    if let Ok(compiled) = &compiled {
        weft_ir::verify::verify(&compiled.module).map_err(|e| format!("docs/types.md:{}: {e}", block.first_line))?;
    }
    Ok(checks)
}

#[test]
fn guide() {
    let guide = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/types.md")).unwrap();
    let mut failures = Vec::new();
    for block in blocks(&guide) {
        match check(&block) {
            Ok(0) => failures.push(format!("docs/types.md:{}: nothing is checked", block.first_line)),
            Ok(_) => {}
            Err(message) => failures.push(message),
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}
