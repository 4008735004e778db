//! Results of probing a device: it is done once on this machine with this driver, and kept.

use std::panic::{AssertUnwindSafe, catch_unwind};

use weft_ir::WARP;
use weft_runtime::{CompileError, cache};

use crate::features::{Comparisons, Features, Subnormals};
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
        .with(include_str!("probe/rows.rs"))
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
            exact_sqrt: false,
            exact_divide64: false,
            exact_sqrt64: false,
            exact_rounding32: false,
            exact_rounding64: false,
            exact_zeros: false,
            subnormals32: Subnormals::LOST,
            subnormals64: Subnormals::LOST,
            exact_widening: false,
            exact_narrowing: false,
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

/// What is tried: truths, how floats are compared, and lanes of a group.
const TRUTHS: usize = 24;
const COMPARISONS: [Comparisons; 3] = [Comparisons::Own, Comparisons::Scaled, Comparisons::ByBits];

fn keep(found: &Features) -> Vec<u8> {
    let (single, double) = (found.subnormals32, found.subnormals64);
    let truths: [bool; TRUTHS] = [
        found.exact_fma32,
        found.exact_fma64,
        found.exact_divide,
        found.exact_divide64,
        found.exact_sqrt,
        found.exact_sqrt64,
        found.exact_rounding32,
        found.exact_rounding64,
        found.exact_zeros,
        single.kept,
        single.absolute,
        single.negated,
        single.fused,
        single.divided,
        single.rooted,
        double.kept,
        double.absolute,
        double.negated,
        double.fused,
        double.divided,
        double.rooted,
        found.exact_widening,
        found.exact_narrowing,
        found.fences,
    ];
    let number = |how| COMPARISONS.iter().position(|&one| one == how).map_or(u8::MAX, |n| n as u8);
    let numbers = [number(single.compared), number(double.compared), found.group as u8];
    truths.map(u8::from).into_iter().chain(numbers).collect()
}

fn restore(said: &Features, kept: &[u8]) -> Option<Features> {
    let (truths, numbers) = kept.split_first_chunk::<TRUTHS>()?;
    let &[compared32, compared64, group] = numbers else {
        return None;
    };
    let [
        fma32,
        fma64,
        divide32,
        divide64,
        sqrt32,
        sqrt64,
        rounding32,
        rounding64,
        zeros,
        kept32,
        absolute32,
        negated32,
        fused32,
        divided32,
        rooted32,
        kept64,
        absolute64,
        negated64,
        fused64,
        divided64,
        rooted64,
        widening,
        narrowing,
        fences,
    ] = truths.map(|byte| byte != 0);
    let how = |number: u8| COMPARISONS.get(usize::from(number)).copied();
    let group = u32::from(group);
    if !group.is_power_of_two() || group > WARP {
        return None;
    }
    Some(Features {
        exact_fma32: fma32,
        exact_fma64: fma64,
        exact_divide: divide32,
        exact_divide64: divide64,
        exact_sqrt: sqrt32,
        exact_sqrt64: sqrt64,
        exact_rounding32: rounding32,
        exact_rounding64: rounding64,
        exact_zeros: zeros,
        subnormals32: Subnormals {
            kept: kept32,
            compared: how(compared32)?,
            absolute: absolute32,
            negated: negated32,
            fused: fused32,
            divided: divided32,
            rooted: rooted32,
        },
        subnormals64: Subnormals {
            kept: kept64,
            compared: how(compared64)?,
            absolute: absolute64,
            negated: negated64,
            fused: fused64,
            divided: divided64,
            rooted: rooted64,
        },
        exact_widening: widening,
        exact_narrowing: narrowing,
        fences,
        group,
        ..*said
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const ANSWERS: usize = TRUTHS + 3;

    #[test]
    fn what_is_kept_comes_back() {
        let said = Features::lavapipe();
        // Each alone, and many together.
        let many = (0..4096u32).map(|n| n.wrapping_mul(0x9e37_79b9) >> 8);
        for bits in (0..TRUTHS).map(|bit| 1 << bit).chain(many) {
            let mut kept: Vec<u8> = (0..TRUTHS).map(|bit| (bits >> bit & 1) as u8).collect();
            kept.extend([(bits % 3) as u8, (bits % 5 % 3) as u8, 1 << (bits % 6)]);
            let found = restore(&said, &kept).unwrap_or(said);
            assert_eq!(keep(&found), kept);
        }
        assert_eq!(restore(&said, &[1, 1]), None);
        assert_eq!(restore(&said, &[0; ANSWERS]), None);
        assert_eq!(restore(&said, &[64; ANSWERS]), None);
        assert_eq!(restore(&said, &[1; ANSWERS + 1]), None);
    }
}
