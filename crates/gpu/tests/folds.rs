//! Folds on the first of this machine's GPUs: every form leaves what the interpreter leaves, bit for bit, and launches may be captured.

#![allow(clippy::unwrap_used, clippy::panic)] // A test that cannot go on stops.

mod common;
#[path = "../../cuda/tests/suite/mod.rs"]
mod suite;

use std::sync::Arc;

use common::*;
use suite::folds::{faults, quiet_total};
use weft_gpu::emit::Facts;
use weft_ir::text;
use weft_runtime::fold::Form;
use weft_runtime::{CompileOptions, Device, Launch, StreamOptions};

/// Mesa's driver for the CPU ends all loops of a thread, without a word, when they have made 65,535 turns together.
const MOST_TURNS: u64 = 60_000;

#[test]
fn every_form_leaves_what_the_interpreter_leaves() {
    let compile = |module: weft_ir::Module, form| gpu().compile_as(module.into(), CompileOptions::default(), Facts::ALL, form);
    let faults = faults(gpu(), MOST_TURNS, compile);
    assert!(faults.is_empty(), "{} faults\n{}", faults.len(), faults.join("\n"));
}

#[test]
fn graphs_keep_the_memory_between_their_kernels() {
    let capturing = gpu().new_stream(StreamOptions::default()).unwrap();
    let (x, out) = (upload(gpu(), &[3; 100_000]), upload(gpu(), &[0]));
    let slots = [line(&*x, 8), line(&*out, 8)].concat();
    let graph = {
        let module = Arc::new(text::parse(&quiet_total()).unwrap());
        let exe = gpu()
            .compile_as(module, CompileOptions::default(), Facts::ALL, Some(Form::Stages))
            .unwrap();
        capturing.begin_capture().unwrap();
        launch_on(&*exe, Launch::Loop(vec![1]), &slots, &*capturing).unwrap();
        capturing.end_capture().unwrap()
    };
    assert_eq!((graph.steps(), download(&*out)), (2, vec![0]));
    // What is allocated now does not get the graph's memory.
    let others: Vec<_> = (0..4).map(|_| upload(gpu(), &[-1; 50])).collect();
    graph.launch(&*capturing).unwrap();
    capturing.synchronize().unwrap();
    assert_eq!(download(&*out), [300_000]);
    assert!(others.iter().all(|other| download(&**other) == [-1; 50]));
}
