//! Links the parts of LLVM 22 that Weft uses, statically, with nothing else needed when the program runs.
//!
//! LLVM is found by `LLVM_SYS_221_PREFIX`, then as `llvm-config-22` or `llvm-config` on the path, then where Debian puts it.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

const PREFIX: &str = "LLVM_SYS_221_PREFIX";
const DEBIAN: &str = "/usr/lib/llvm-22/bin/llvm-config";
const MAJOR: &str = "22";

/// The sources that decide which code is made of a text.
const MAKES_CODE: [&str; 10] = [
    "src/session.rs",
    "src/cxx/loads.cpp",
    "src/cxx/loads.h",
    "src/cxx/masked.cpp",
    "src/cxx/masked.h",
    "src/cxx/parse.cpp",
    "src/cxx/passes.cpp",
    "src/cxx/unroll.cpp",
    "src/cxx/unroll.h",
    "src/cxx/unused.cpp",
];

fn main() {
    println!("cargo:rerun-if-env-changed={PREFIX}");
    println!("cargo:rerun-if-changed=build.rs");
    for file in MAKES_CODE.into_iter().chain(["src/cxx/compression.c"]) {
        println!("cargo:rerun-if-changed={file}");
    }
    if let Err(message) = link() {
        println!("cargo::error={message}");
    }
}

fn link() -> Result<(), String> {
    let config = find_config()?;
    let codegen = match env::var("CARGO_CFG_TARGET_ARCH").as_deref() {
        Ok("x86_64") => "x86codegen",
        Ok("aarch64") => "aarch64codegen",
        other => return Err(format!("Weft has no CPU code generator for the architecture {other:?}")),
    };
    println!("cargo:rustc-env=WEFT_LLVM_VERSION={}", ask(&config, &["--version"])?);
    println!("cargo:rustc-env=WEFT_LLVM_SOURCES={:016x}", hash_sources()?);
    compile_ours(&config)?;
    let names = ask(
        &config,
        &[
            "--link-static",
            "--libnames",
            codegen,
            "nvptxcodegen",
            "asmparser",
            "instcombine",
            "scalaropts",
            "vectorize",
            "ipo",
        ],
    )?;
    println!("cargo:rustc-link-search=native={}", folder_of(&config, &names)?.display());
    for file in names.split_whitespace() {
        let name = file.trim_start_matches("lib").trim_end_matches(".a");
        // Without `-bundle` every rlib on the way would carry a copy of the archives.
        println!("cargo:rustc-link-lib=static:-bundle={name}");
    }
    link_cxx()?;
    for lib in ["m", "dl", "rt"] {
        if env::var("CARGO_CFG_TARGET_OS").as_deref() == Ok("linux") {
            println!("cargo:rustc-link-lib=dylib={lib}");
        }
    }
    Ok(())
}

/// FNV-1a of the sources: the same everywhere, unlike the hash of the standard library.
fn hash_sources() -> Result<u64, String> {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for file in MAKES_CODE {
        let bytes = std::fs::read(file).map_err(|error| format!("{file}: {error}"))?;
        for byte in bytes {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
        }
    }
    Ok(hash)
}

/// Our own C and C++: what is done through LLVM's C++ interface, and stand-ins for what is not needed of it.
fn compile_ours(config: &Path) -> Result<(), String> {
    // What LLVM wants from zlib and zstd, which it would use only for compressed debug sections.
    cc::Build::new()
        .file("src/cxx/compression.c")
        .flag_if_supported("-fvisibility=hidden")
        .compile("weft_compression");
    let headers = ask(config, &["--includedir"])?;
    let mut build = cc::Build::new();
    build
        .cpp(true)
        .std("c++17")
        .opt_level(2)
        .files(["loads", "masked", "parse", "passes", "unroll", "unused"].map(|name| format!("src/cxx/{name}.cpp")))
        .flag(format!("-isystem{headers}"))
        // As LLVM was built: its headers' inline functions must agree with its archives.
        .define("NDEBUG", None)
        .define("_GNU_SOURCE", None)
        .define("__STDC_CONSTANT_MACROS", None)
        .define("__STDC_FORMAT_MACROS", None)
        .define("__STDC_LIMIT_MACROS", None)
        .flag("-fno-exceptions")
        .flag("-fno-rtti")
        .flag("-fvisibility=hidden")
        .flag("-fvisibility-inlines-hidden")
        // The C++ library is linked by `link_cxx`.
        .cpp_link_stdlib(None)
        // Stand-ins must be there before LLVM's archives are searched.
        .link_lib_modifier("+whole-archive");
    build.try_compile("weft_llvm").map_err(|error| error.to_string())
}

/// The folder that has the archives: LLVM's own, or in a release one of copies without tables for unwinding.
///
/// LLVM throws nothing, and nothing is thrown through it; its tables are a twentieth of the wheel.
fn folder_of(config: &Path, names: &str) -> Result<PathBuf, String> {
    let folder = PathBuf::from(ask(config, &["--libdir"])?);
    let objcopy = PathBuf::from(ask(config, &["--bindir"])?).join("llvm-objcopy");
    if env::var("PROFILE").as_deref() != Ok("release") || !objcopy.exists() {
        return Ok(folder);
    }
    let out = PathBuf::from(env::var_os("OUT_DIR").ok_or("cargo says no OUT_DIR")?).join("trimmed");
    std::fs::create_dir_all(&out).map_err(|error| format!("{}: {error}", out.display()))?;
    for name in names.split_whitespace() {
        println!("cargo:rerun-if-changed={}", folder.join(name).display());
        let status = Command::new(&objcopy)
            .args(["--remove-section=.eh_frame", "--remove-section=.rela.eh_frame"])
            .args([folder.join(name), out.join(name)])
            .status();
        match status {
            Ok(status) if status.success() => {}
            other => return Err(format!("{} of {name} failed: {other:?}", objcopy.display())),
        }
    }
    Ok(out)
}

fn find_config() -> Result<PathBuf, String> {
    if let Some(prefix) = env::var_os(PREFIX) {
        let path = Path::new(&prefix).join("bin/llvm-config");
        return check(&path)
            .map(|()| path)
            .map_err(|why| format!("Weft needs LLVM {MAJOR} (on Debian the package llvm-22-dev). {PREFIX} is set, but {why}"));
    }
    let candidates = ["llvm-config-22", "llvm-config", DEBIAN];
    let mut reasons = Vec::new();
    for candidate in candidates {
        match check(Path::new(candidate)) {
            Ok(()) => return Ok(PathBuf::from(candidate)),
            Err(why) => reasons.push(why),
        }
    }
    Err(format!(
        "Weft needs the static libraries of LLVM {MAJOR}. On Debian and Ubuntu install the package llvm-22-dev; elsewhere set {PREFIX} to LLVM's folder. Tried: {}.",
        reasons.join("; ")
    ))
}

/// Is this an llvm-config of the right version?
fn check(config: &Path) -> Result<(), String> {
    let version = ask(config, &["--version"])?;
    if version.split('.').next() == Some(MAJOR) {
        return Ok(());
    }
    Err(format!("{} is of version {version}", config.display()))
}

fn ask(config: &Path, args: &[&str]) -> Result<String, String> {
    let output = Command::new(config)
        .args(args)
        .output()
        .map_err(|error| format!("{} cannot be run ({error})", config.display()))?;
    if !output.status.success() {
        let stderr = String::from_utf8_lossy(&output.stderr).trim().replace('\n', " ");
        return Err(format!("{} {} failed: {stderr}", config.display(), args.join(" ")));
    }
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_string())
}

/// Links the C++ library LLVM was built with: statically where the compiler has it as an archive.
fn link_cxx() -> Result<(), String> {
    if env::var("CARGO_CFG_TARGET_OS").as_deref() != Ok("linux") {
        println!("cargo:rustc-link-lib=dylib=c++");
        return Ok(());
    }
    let compiler = cc::Build::new().get_compiler();
    let output = compiler.to_command().arg("-print-file-name=libstdc++.a").output();
    let answer = output.map_err(|error| format!("the C compiler cannot be run ({error})"))?;
    let archive = PathBuf::from(String::from_utf8_lossy(&answer.stdout).trim());
    match archive.parent() {
        Some(folder) if archive.is_absolute() => {
            println!("cargo:rustc-link-search=native={}", folder.display());
            println!("cargo:rustc-link-lib=static:-bundle=stdc++");
            Ok(())
        }
        _ => Err("the static C++ library libstdc++.a is missing. On Debian and Ubuntu install the package g++.".into()),
    }
}
