//! Shows what becomes of a module in text form: `ptx FILE [FUNCTION [SM [llvm]]]`.

use std::error::Error;

use weft_cuda::emit::Facts;
use weft_cuda::target::Target;
use weft_ir::{FuncId, text};

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = std::env::args().collect();
    let path = args.get(1).ok_or("which file?")?;
    let mut module = text::parse(&std::fs::read_to_string(path)?).map_err(|e| format!("{e:?}"))?;
    if let Some(name) = args.get(2) {
        let at = module.functions.iter().position(|f| f.name == *name).ok_or("no such function")?;
        module.entry = FuncId(at as u32);
    }
    let sm = args.get(3).map_or(Ok(90), |sm| sm.parse())?;
    let target = Target::of_sm(sm).ok_or("no such sm")?;
    let lowered = weft_cuda::compile::lowered(&module).map_err(|e| format!("{e:?}"))?;
    if args.get(4).is_some_and(|what| what == "llvm") {
        println!(
            "{}",
            weft_cuda::emit::emit(&lowered, target, Facts::ALL, false)
                .map_err(|e| format!("{e:?}"))?
                .text
        );
        return Ok(());
    }
    let ptx = weft_cuda::compile::compile_lowered(&lowered, target, Facts::ALL, false).map_err(|e| format!("{e:?}"))?;
    println!("{}", ptx.text);
    Ok(())
}
