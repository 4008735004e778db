//! Gives the shared object the name that programs look for, and keeps it loaded: its streams' threads run code of it.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    if std::env::var("CARGO_CFG_TARGET_OS").as_deref() == Ok("linux") {
        println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,libcuda.so.1");
        println!("cargo:rustc-cdylib-link-arg=-Wl,-z,nodelete");
    }
}
