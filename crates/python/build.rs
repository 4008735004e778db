//! Shrinks the extension module: the linker folds functions with the same machine code, of which LLVM has many, and packs relocations.

use std::env;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    // Where Rust links with lld, its default on this target.
    if env::var("TARGET").as_deref() == Ok("x86_64-unknown-linux-gnu") {
        println!("cargo:rustc-cdylib-link-arg=-Wl,--icf=all");
        println!("cargo:rustc-cdylib-link-arg=-Wl,-z,pack-relative-relocs");
    }
}
