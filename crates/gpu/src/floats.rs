//! What a device's floats are like: tried once on this machine with this driver, and kept.

use weft_runtime::{CompileError, cache};

use crate::features::Features;
use crate::gpu::Gpu;
use crate::pipelines;
use crate::probe::{Bench, probe};

/// Fills in what has to be tried. A device that cannot be asked has none of it.
pub fn find(gpu: &Gpu, device: &wgpu::Device, queue: &wgpu::Queue) -> Features {
    let said = &gpu.said;
    let key = pipelines::driver_key("gpu-floats", gpu)
        .with(format!("{said:?}"))
        .with(include_str!("probe.rs"));
    if let Some(known) = cache::get(&key).and_then(|kept| restore(said, &kept)) {
        return known;
    }
    let load = |module: naga::Module, features: &Features| {
        let words = |error: CompileError| error.to_string();
        let info = pipelines::validate(&module, features).map_err(words)?;
        let code = pipelines::code(module, &info, features, false).map_err(words)?;
        Ok(code.load(device))
    };
    let bench = Bench {
        device,
        queue,
        load: &load,
    };
    match probe(&bench, said) {
        Ok(found) => {
            cache::put(&key, &keep(&found));
            found
        }
        Err(_) => Features {
            exact_fma32: false,
            exact_fma64: false,
            exact_divide: false,
            exact_divide64: false,
            exact_zeros: false,
            subnormals32: false,
            subnormals64: false,
            ..*said
        },
    }
}

/// What is tried.
const ANSWERS: usize = 7;

fn keep(found: &Features) -> [u8; ANSWERS] {
    [
        found.exact_fma32,
        found.exact_fma64,
        found.exact_divide,
        found.exact_divide64,
        found.exact_zeros,
        found.subnormals32,
        found.subnormals64,
    ]
    .map(u8::from)
}

fn restore(said: &Features, kept: &[u8]) -> Option<Features> {
    let [fma32, fma64, divide32, divide64, zeros, subnormals32, subnormals64] = <[u8; ANSWERS]>::try_from(kept).ok()?.map(|byte| byte != 0);
    Some(Features {
        exact_fma32: fma32,
        exact_fma64: fma64,
        exact_divide: divide32,
        exact_divide64: divide64,
        exact_zeros: zeros,
        subnormals32,
        subnormals64,
        ..*said
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_comes_back() {
        let said = Features::lavapipe();
        for bits in 0..1u8 << ANSWERS {
            let kept: Vec<u8> = (0..ANSWERS).map(|bit| bits >> bit & 1).collect();
            let found = restore(&said, &kept).unwrap_or(said);
            assert_eq!(keep(&found)[..], kept);
        }
        assert_eq!(restore(&said, &[1, 1]), None);
    }
}
