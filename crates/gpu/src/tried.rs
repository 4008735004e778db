//! Results of probing a device: it is done once on this machine with this driver, and kept.

use std::panic::{AssertUnwindSafe, catch_unwind};

use weft_ir::WARP;
use weft_runtime::{CompileError, cache};

use crate::features::Features;
use crate::gpu::Gpu;
use crate::live::scoped;
use crate::pipelines;
use crate::probe::{Bench, fences, floats, lanes};

/// Fills in what has to be tried. A device that cannot be asked has none of it.
pub fn find(gpu: &Gpu, device: &wgpu::Device, queue: &wgpu::Queue) -> Features {
    let said = &gpu.said;
    let key = pipelines::driver_key("gpu-tried", gpu)
        .with(format!("{said:?}"))
        .with(include_str!("probe/floats.rs"))
        .with(include_str!("probe/lanes.rs"))
        .with(include_str!("probe/fences.rs"));
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
    let numbers = tried(device, || floats::try_out(&bench, said));
    let group = tried(device, || lanes::try_out(&bench, said));
    let alone = match said.fences {
        true => Ok(true),
        false => tried(device, || fences::try_out(&bench, said)),
    };
    let is_known = numbers.is_ok() && group.is_ok() && alone.is_ok();
    let found = Features {
        group: group.unwrap_or(1),
        fences: alone.unwrap_or(false),
        ..numbers.unwrap_or(Features {
            exact_fma32: false,
            exact_fma64: false,
            exact_divide: false,
            exact_divide64: false,
            exact_rounding32: false,
            exact_rounding64: false,
            exact_zeros: false,
            subnormals32: false,
            subnormals64: false,
            ..*said
        })
    };
    if is_known {
        cache::put(&key, &keep(&found));
    }
    found
}

/// An answer, unless the driver or wgpu fails at the question, in whatever way.
fn tried<T>(device: &wgpu::Device, question: impl FnOnce() -> Result<T, String>) -> Result<T, String> {
    let (answer, error) = scoped(device, || catch_unwind(AssertUnwindSafe(question)));
    match error {
        Some(error) => Err(error.to_string()),
        None => answer.unwrap_or_else(|_| Err("the driver failed".into())),
    }
}

/// What is tried.
const ANSWERS: usize = 11;

fn keep(found: &Features) -> [u8; ANSWERS] {
    [
        u8::from(found.exact_fma32),
        u8::from(found.exact_fma64),
        u8::from(found.exact_divide),
        u8::from(found.exact_divide64),
        u8::from(found.exact_rounding32),
        u8::from(found.exact_rounding64),
        u8::from(found.exact_zeros),
        u8::from(found.subnormals32),
        u8::from(found.subnormals64),
        u8::from(found.fences),
        found.group as u8,
    ]
}

fn restore(said: &Features, kept: &[u8]) -> Option<Features> {
    let [flags @ .., group] = <[u8; ANSWERS]>::try_from(kept).ok()?;
    let [
        fma32,
        fma64,
        divide32,
        divide64,
        rounding32,
        rounding64,
        zeros,
        subnormals32,
        subnormals64,
        fences,
    ] = flags.map(|byte| byte != 0);
    let group = u32::from(group);
    (group.is_power_of_two() && group <= WARP).then_some(Features {
        exact_fma32: fma32,
        exact_fma64: fma64,
        exact_divide: divide32,
        exact_divide64: divide64,
        exact_rounding32: rounding32,
        exact_rounding64: rounding64,
        exact_zeros: zeros,
        subnormals32,
        subnormals64,
        fences,
        group,
        ..*said
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_comes_back() {
        let said = Features::lavapipe();
        for bits in 0..1u16 << (ANSWERS - 1) {
            let mut kept: Vec<u8> = (0..ANSWERS - 1).map(|bit| (bits >> bit & 1) as u8).collect();
            kept.push(1 << (bits % 6));
            let found = restore(&said, &kept).unwrap_or(said);
            assert_eq!(keep(&found)[..], kept);
        }
        assert_eq!(restore(&said, &[1, 1]), None);
        assert_eq!(restore(&said, &[0; ANSWERS]), None);
        assert_eq!(restore(&said, &[64; ANSWERS]), None);
    }
}
