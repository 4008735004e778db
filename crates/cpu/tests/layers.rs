//! The layers of the emitter: its files call and name only what the list in the head of `emit/mod.rs` has before them.

#![allow(clippy::unwrap_used)]

use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::PathBuf;

/// The way back from statements to the blocks inside them.
const DOOR: [&str; 2] = ["block", "stmts"];

fn read(file: &str) -> String {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("src/emit").join(file);
    fs::read_to_string(path).unwrap()
}

/// The files in their order: what is quoted in the list of the head.
fn order() -> Vec<String> {
    let head = read("mod.rs");
    let lines = head.lines().take_while(|line| line.starts_with("//!"));
    let list = lines
        .skip_while(|line| !line.starts_with("//! - "))
        .take_while(|line| *line != "//!");
    let list: Vec<&str> = list.collect();
    list.join(" ").split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

/// The code without comments, and all of it without spaces, so that a call is in one piece wherever its line was broken.
fn squeezed(text: &str) -> String {
    let code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
    code.flat_map(str::chars).filter(|c| !c.is_whitespace()).collect()
}

fn name_at(text: &str) -> &str {
    let end = text.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(text.len());
    &text[..end]
}

/// The functions that a file defines.
fn defined(text: &str) -> HashSet<&str> {
    let lines = text.lines().map(str::trim_start).filter(|line| !line.starts_with("//"));
    let heads = lines.filter_map(|line| line.strip_prefix("pub fn ").or_else(|| line.strip_prefix("fn ")));
    heads.map(name_at).collect()
}

/// The methods that squeezed code calls on the state of its function, or on a part of it.
fn called(code: &str) -> HashSet<&str> {
    let mut found = HashSet::new();
    for receiver in ["self.", "fx.", "gang.", "control."] {
        for (at, _) in code.match_indices(receiver) {
            let rest = &code[at + receiver.len()..];
            let name = name_at(rest);
            if rest[name.len()..].starts_with('(') {
                found.insert(name);
            }
        }
    }
    found
}

/// What squeezed code names of the files beside its own: `super::file::…`, or several in one pair of braces.
fn named(code: &str) -> HashSet<&str> {
    let mut found = HashSet::new();
    for (at, start) in code.match_indices("super::") {
        let rest = &code[at + start.len()..];
        match rest.strip_prefix('{') {
            Some(group) => found.extend(heads(group)),
            None => _ = found.insert(name_at(rest)),
        }
    }
    found
}

/// The first names of the paths in a pair of braces, which is open.
fn heads(group: &str) -> Vec<&str> {
    let (mut found, mut depth, mut starts) = (Vec::new(), 0, true);
    for (at, c) in group.char_indices() {
        if starts && c != '}' {
            found.push(name_at(&group[at..]));
        }
        starts = depth == 0 && c == ',';
        match c {
            '{' => depth += 1,
            '}' if depth == 0 => break,
            '}' => depth -= 1,
            _ => {}
        }
    }
    found
}

/// So no `use` goes round in a circle. What the head itself defines counts as the last of all.
#[test]
fn files_name_downwards() {
    let order = order();
    let mut upwards = Vec::new();
    for (place, file) in order.iter().enumerate() {
        let code = squeezed(&read(&format!("{file}.rs")));
        for name in named(&code) {
            if !order[..place].iter().any(|before| before == name) {
                upwards.push(format!("{file} names {name}"));
            }
        }
    }
    upwards.sort();
    assert!(upwards.is_empty(), "{upwards:#?}");
}

#[test]
fn names_are_found() {
    assert_eq!(
        named("usesuper::a::{B,C};usesuper::{d::{E,f::G},h::I};super::j::k()"),
        HashSet::from(["a", "d", "h", "j"])
    );
}

#[test]
fn files_call_downwards() {
    let order = order();
    let listed: HashSet<&str> = order.iter().map(String::as_str).collect();
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("src/emit");
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let files: HashSet<String> = files.map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned()).collect();
    let unlisted: Vec<&String> = files
        .iter()
        .filter(|file| *file != "mod" && !listed.contains(file.as_str()))
        .collect();
    assert!(unlisted.is_empty(), "the head of emit/mod.rs has no place for {unlisted:?}");

    let texts: Vec<String> = order.iter().map(|file| read(&format!("{file}.rs"))).collect();
    let mut homes: HashMap<&str, Vec<usize>> = HashMap::new();
    for (place, text) in texts.iter().enumerate() {
        defined(text)
            .into_iter()
            .for_each(|name| homes.entry(name).or_default().push(place));
    }
    let mut upwards = Vec::new();
    for (place, text) in texts.iter().enumerate() {
        let code = squeezed(text);
        for name in called(&code) {
            // A name that several files have is not followed: nothing here says which one is meant.
            if let Some([home]) = homes.get(name).map(Vec::as_slice)
                && *home > place
                && !DOOR.contains(&name)
            {
                upwards.push(format!("{} calls {name} of {}", order[place], order[*home]));
            }
        }
    }
    upwards.sort();
    assert!(upwards.is_empty(), "{upwards:#?}");
}
