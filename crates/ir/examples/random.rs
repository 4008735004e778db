//! Prints the random kernel (or, after `host`, host function) of a seed: `cargo run -p weft-ir --example random -- [host] 42`.

use weft_ir::random::{host, kernel};
use weft_ir::text::print;

fn main() {
    let mut args = std::env::args().skip(1).peekable();
    let make = if args.next_if(|a| a == "host").is_some() { host } else { kernel };
    let seed = args.next().and_then(|a| a.parse().ok()).unwrap_or(0);
    let case = make(seed);
    println!("; {:?}\n{}", case.line.launch, print(&case.module));
}
