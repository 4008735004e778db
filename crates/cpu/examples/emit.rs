//! Prints what a module in text form becomes: `emit FILE [llvm|avx512|opt|asm|ir] [LANES]`. `avx512` writes for another machine, for `llc`.

use std::error::Error;

use weft_cpu::CpuDevice;
use weft_cpu::emit::{Target, Variant, emit, width};
use weft_ir::{Axis, FuncKind, text};
use weft_llvm::{Options, Pipeline};

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [path, rest @ ..] = args.as_slice() else {
        return Err("which file?".into());
    };
    let mut module = text::parse(&std::fs::read_to_string(path)?).map_err(|e| format!("{e:?}"))?;
    weft_passes::lower_for_cpu(&mut module).map_err(|e| format!("{e:?}"))?;
    let gang = rest.get(1).map(|n| n.parse()).transpose()?;
    let host = Target {
        gang,
        ..CpuDevice.target()
    };
    let target = match rest.first().map(String::as_str) {
        Some("avx512") => Target {
            cpu: "sapphirerapids".into(),
            features: String::new(),
            vector_bits: 512,
            mask_registers: true,
            gathers: true,
            ..host
        },
        _ => host,
    };
    let entry = module.entry_function();
    let (variant, pipeline) = match entry.kind {
        FuncKind::Kernel => {
            let width = width::choose(entry, &target);
            (
                Variant::Kernel {
                    axis: Some(Axis::X),
                    width,
                    full: true,
                },
                Pipeline::Gang,
            )
        }
        _ => (Variant::Plain, Pipeline::Scalar),
    };
    let emitted = emit(&module, &target, &variant).map_err(|e| format!("{e:?}"))?;
    let options = Options::host(pipeline);
    match rest.first().map(String::as_str) {
        Some("opt") => println!("{}", weft_llvm::optimized_ir(&emitted.text, &options)?),
        Some("asm") => println!("{}", weft_llvm::assembly(&emitted.text, &options)?),
        Some("ir") => println!("{}", text::print(&module)),
        _ => println!("{}", emitted.text),
    }
    Ok(())
}
