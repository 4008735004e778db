//! Times the way from LLVM IR (a file given as argument) to loaded code, under each pipeline.
//!
//!     cargo run --release -p weft-llvm --example time -- gang.ll

use std::time::Instant;

use weft_llvm::{Library, Options, Pipeline, compile, optimized_ir};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args().nth(1).ok_or("which file?")?;
    let text = std::fs::read_to_string(&path)?;
    for pipeline in [Pipeline::Gang, Pipeline::Scalar] {
        let options = Options::host(pipeline);
        for round in ["cold", "warm", "warm"] {
            let start = Instant::now();
            optimized_ir(&text, &options)?;
            let passes = start.elapsed();
            let start = Instant::now();
            let object = compile(&text, &options)?.bytes;
            let compiled = start.elapsed();
            let start = Instant::now();
            let library = Library::load(&object, &[])?;
            let loaded = start.elapsed();
            drop(library);
            println!(
                "{pipeline:?} {round}: passes and printing {passes:?}, compile {compiled:?} ({} bytes), load {loaded:?}",
                object.len()
            );
        }
    }
    Ok(())
}
