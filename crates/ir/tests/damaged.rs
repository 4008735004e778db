//! Damaged IR text is refused or parsed, never a panic, and what verifies round-trips. `WEFT_DAMAGED=100000` tries that many texts.

#![allow(clippy::unwrap_used, clippy::panic)]

use std::fs;
use std::path::Path;

use weft_ir::random::{self, damage};
use weft_ir::text::{parse, print, strip_spans};
use weft_ir::verify::verify;

/// Modules of every feature: the test files, and random ones.
fn texts() -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/run");
    let mut paths: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let files = paths.iter().map(|path| fs::read_to_string(path).unwrap());
    let random = (0..100).flat_map(|seed| [random::kernel(seed).module, random::host(seed).module]);
    files.chain(random.map(|module| print(&module))).collect()
}

/// The text with a word put in the place of another, or a line left out, repeated or moved: most of it can still be read.
fn reword(seed: u64, text: &str) -> String {
    let mut numbers = (1..).map(|i: u64| (seed * 31 + i).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 33);
    let mut below = |n: usize| numbers.next().unwrap_or(0) as usize % n.max(1);
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let (from, to) = (below(lines.len()), below(lines.len()));
    match below(8) {
        0 => drop(lines.remove(from)),
        1 => lines.insert(to, lines[from].clone()),
        2 => lines.swap(from, to),
        _ => {
            let words: Vec<&str> = text.split_whitespace().collect();
            let word = words[below(words.len())];
            let mut changed: Vec<&str> = lines[to].split(' ').collect();
            let place = below(changed.len());
            changed[place] = word;
            lines[to] = changed.join(" ");
        }
    }
    lines.join("\n")
}

#[test]
fn damaged_text_is_no_panic() {
    let texts = texts();
    assert!(texts.len() > 200);
    let most = std::env::var("WEFT_DAMAGED").map_or(2_000, |n| n.parse().unwrap());
    let (mut parsed, mut sound) = (0, 0);
    for seed in 0..most {
        let text = &texts[seed as usize % texts.len()];
        let damaged = match seed % 4 {
            0 => String::from_utf8_lossy(&damage(seed, text.as_bytes())).into_owned(),
            _ => reword(seed, text),
        };
        let Ok(mut module) = parse(&damaged) else { continue };
        parsed += 1;
        if verify(&module).is_err() {
            continue;
        }
        sound += 1;
        strip_spans(&mut module);
        let again = parse(&print(&module)).unwrap_or_else(|e| panic!("seed {seed}: {e} in\n{}", print(&module)));
        assert!(print(&again) == print(&module), "seed {seed}: {damaged}");
    }
    // Else it tests the first line of the parser only.
    assert!(parsed > most / 10 && sound > most / 50, "{parsed} parsed, {sound} sound");
}

#[test]
fn deep_text_is_no_stack_overflow() {
    for (open, close) in [
        ("if %0 {", "}"),
        ("loop {", "}"),
        ("tuple<", ">"),
        ("(", ")"),
        ("[", "]"),
        ("-", ""),
    ] {
        let text = format!("host @f(%0: bool) {{\n{}{}\n}}", open.repeat(100_000), close.repeat(100_000));
        assert!(parse(&text).is_err() || open == "loop {", "{open}");
        let typed = format!("host @f(%0: {}i64{}) {{\n}}", open.repeat(100_000), close.repeat(100_000));
        assert!(parse(&typed).is_err(), "{open}");
    }
}
