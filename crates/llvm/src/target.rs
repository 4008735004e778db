//! Targets: the machine code is made for: the host, a lesser machine of its kind for tests, or a GPU.

#![allow(unsafe_code)]

use std::ffi::{CStr, c_char};

use llvm_sys::core::LLVMDisposeMessage;
use llvm_sys::target_machine::{LLVMGetDefaultTargetTriple, LLVMGetHostCPUFeatures, LLVMGetHostCPUName};
use weft_forks::Once;

/// A machine as LLVM names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Machine {
    pub triple: String,
    pub cpu: String,
    pub features: String,
}

impl Machine {
    /// A GPU: its `sm_XX` and the PTX ISA (major times 10 plus minor) that the driver takes.
    pub fn nvptx(sm: u32, isa: u32) -> Machine {
        Machine {
            triple: "nvptx64-nvidia-cuda".into(),
            cpu: format!("sm_{sm}"),
            features: format!("+ptx{isa}"),
        }
    }
}

/// The CPU code is made for, and what the emitter must know of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    pub triple: String,
    pub cpu: String,
    /// LLVM's feature string, `+avx2,-avx512f,…`: what `cpu` does not say.
    pub features: String,
    /// Bits of a vector register.
    pub vector_bits: u32,
    pub has_fma: bool,
    /// Does it round to integers (`floor`, `rint`) in hardware?
    pub has_rounding: bool,
    /// Does it convert between float16 and float32 in hardware?
    pub has_half: bool,
    /// Are masks registers of their own (AVX-512), so that masked loads, stores and blends cost next to nothing?
    pub mask_registers: bool,
    /// Does it gather lanes from memory as fast as it loads them one by one?
    pub has_gathers: bool,
    /// The vector extension's name, for people.
    pub level: &'static str,
}

/// Vector extensions in order; each has what is before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Level {
    Sse2,
    Sse4,
    Avx2,
    Avx512,
}

/// The machine this runs on. `WEFT_CPU_FEATURES` (`sse2`, `sse4`, `avx2`, `avx512`, `native`) lowers what is used of it.
pub fn host() -> &'static Target {
    static HOST: Once<Target> = Once::new();
    HOST.get_or_init(|| {
        let wish = std::env::var("WEFT_CPU_FEATURES").unwrap_or_default();
        detect(&wish)
    })
}

impl Target {
    pub(crate) fn machine(&self) -> Machine {
        Machine {
            triple: self.triple.clone(),
            cpu: self.cpu.clone(),
            features: self.features.clone(),
        }
    }

    /// A machine of the host's kind with a named level of vector extensions (as in `WEFT_CPU_FEATURES`), whether the host has it or not:
    /// its code can be looked at, but perhaps not run here.
    pub fn of_level(level: &str) -> Option<Target> {
        parse_level(level)
            .filter(|_| cfg!(target_arch = "x86_64"))
            .map(|level| with_gathers(x86(host().triple.clone(), level), false))
    }
}

fn detect(wish: &str) -> Target {
    // SAFETY: these take nothing and give strings the caller owns.
    let (triple, cpu, features) = unsafe {
        (
            owned(LLVMGetDefaultTargetTriple()),
            owned(LLVMGetHostCPUName()),
            owned(LLVMGetHostCPUFeatures()),
        )
    };
    if !cfg!(target_arch = "x86_64") {
        return Target {
            triple,
            cpu,
            features,
            vector_bits: 128,
            has_fma: true,
            has_rounding: true,
            has_half: true,
            mask_registers: false,
            has_gathers: false,
            level: "NEON",
        };
    }
    let have = level_of(&features);
    let slow_gathers = cpu.starts_with(AMD);
    let target = match parse_level(wish) {
        Some(wanted) => x86(triple, wanted.min(have)),
        None => Target {
            cpu,
            features,
            ..x86(triple, have)
        },
    };
    with_gathers(target, slow_gathers)
}

/// LLVM's names of AMD's cores since Zen begin so.
const AMD: &str = "znver";

/// Says whether vector gathers and scatters are worth it, to LLVM's own vectorizer as well.
fn with_gathers(mut target: Target, slow: bool) -> Target {
    target.has_gathers &= !slow;
    let said = match target.has_gathers {
        true if !target.mask_registers => GATHERS,
        false if target.vector_bits > 128 => NO_GATHERS,
        _ => return target,
    };
    if !target.features.is_empty() {
        target.features.push(',');
    }
    target.features.push_str(said);
    target
}

/// LLVM holds gathers for slow on some AVX2 machines and writes a branch for every lane instead, which is slower when lanes are off and
/// takes long to compile.
const GATHERS: &str = "+fast-gather";
const NO_GATHERS: &str = "+prefer-no-gather,+prefer-no-scatter";

fn parse_level(wish: &str) -> Option<Level> {
    match wish {
        "sse2" => Some(Level::Sse2),
        "sse4" => Some(Level::Sse4),
        "avx2" => Some(Level::Avx2),
        "avx512" => Some(Level::Avx512),
        _ => None,
    }
}

fn level_of(features: &str) -> Level {
    let has = |names: &[&str]| {
        names
            .iter()
            .all(|name| features.split(',').any(|f| f.strip_prefix('+') == Some(name)))
    };
    if has(&[
        "avx2", "fma", "bmi2", "f16c", "avx512f", "avx512bw", "avx512dq", "avx512vl", "avx512cd",
    ]) {
        Level::Avx512
    } else if has(&["avx2", "fma", "bmi", "bmi2", "f16c", "movbe"]) {
        Level::Avx2
    } else if has(&["sse4.2", "popcnt", "ssse3"]) {
        Level::Sse4
    } else {
        Level::Sse2
    }
}

fn x86(triple: String, level: Level) -> Target {
    let (cpu, vector_bits, name) = match level {
        Level::Sse2 => ("x86-64", 128, "SSE2"),
        Level::Sse4 => ("x86-64-v2", 128, "SSE4.2"),
        Level::Avx2 => ("x86-64-v3", 256, "AVX2"),
        Level::Avx512 => ("x86-64-v4", 512, "AVX-512"),
    };
    Target {
        triple,
        cpu: cpu.into(),
        features: String::new(),
        vector_bits,
        has_fma: level >= Level::Avx2,
        has_rounding: level >= Level::Sse4,
        has_half: level >= Level::Avx2,
        mask_registers: level >= Level::Avx512,
        has_gathers: level >= Level::Avx2,
        level: name,
    }
}

/// Copies a string LLVM made and frees LLVM's copy.
///
/// # Safety
/// `text` is null or a string to be freed by `LLVMDisposeMessage`.
pub(crate) unsafe fn owned(text: *mut c_char) -> String {
    if text.is_null() {
        return String::new();
    }
    // SAFETY: not null, and by contract a string of LLVM's that nobody else frees.
    unsafe {
        let copy = CStr::from_ptr(text).to_string_lossy().into_owned();
        LLVMDisposeMessage(text);
        copy
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wish_never_exceeds_the_host() {
        let native = detect("native");
        assert!(native.vector_bits >= 128);
        if cfg!(target_arch = "x86_64") {
            assert_eq!(detect("sse2").vector_bits, 128);
            assert!(!detect("sse2").has_fma);
            assert!(detect("avx512").vector_bits <= native.vector_bits);
            assert_eq!(detect("avx512").has_fma, native.has_fma);
        }
    }
}
