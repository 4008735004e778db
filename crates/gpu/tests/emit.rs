//! Every kernel of the suite becomes a naga module that is valid with exactly what a device has, and that can be written for it: as
//! SPIR-V that the Khronos validator takes, as MSL and as HLSL. What a device cannot have is refused, with the line.

#![allow(clippy::unwrap_used, clippy::panic)] // A test that cannot go on stops.

#[path = "../../cuda/tests/suite/mod.rs"]
mod suite;

use std::io::Write as _;
use std::process::{Command, Stdio};

use suite::Case;
use weft_gpu::emit::{self, EmitError, Emitted, Facts, Request};
use weft_gpu::features::{Features, Platform};
use weft_ir::random;
use weft_passes::{GpuOptions, lower_for_gpu};

const BLOCK: [u32; 3] = [32, 2, 1];
const SHARED_BYTES: u32 = 4096;

/// The views of a launch in buffers of their own, or all in one.
#[derive(Clone, Copy, Debug)]
enum Classes {
    Apart,
    Together,
}

fn emitted(case: &Case, features: &Features, facts: Facts, classes: Classes) -> Result<Emitted, EmitError> {
    let mut module = case.module.clone();
    let options = GpuOptions {
        lower_warps: true,
        max_threads: BLOCK.iter().product(),
    };
    lower_for_gpu(&mut module, &options).map_err(|error| EmitError::Unsupported {
        message: error.message,
        span: error.span,
    })?;
    let views = emit::view_params(&module).len() as u32;
    let classes: Vec<u32> = match classes {
        Classes::Apart => (0..views).collect(),
        Classes::Together => vec![0; views as usize],
    };
    let request = Request {
        features,
        block: BLOCK,
        shared_bytes: SHARED_BYTES,
        facts,
        classes: &classes,
    };
    emit::emit(&module, &request)
}

/// What is wrong with the code of a case for a device, if anything. Refusals are none.
fn fault(case: &Case, features: &Features, facts: Facts, classes: Classes) -> Option<String> {
    match emitted(case, features, facts, classes) {
        Ok(emitted) => written(&emitted, features.platform).err(),
        Err(EmitError::Unsupported { .. }) => None,
        Err(EmitError::Internal(message)) => Some(message),
    }
}

fn written(emitted: &Emitted, platform: Platform) -> Result<(), String> {
    match platform {
        Platform::Vulkan => spirv(emitted),
        Platform::Metal => msl(emitted),
        Platform::Dx12 => hlsl(emitted),
    }
}

fn spirv(emitted: &Emitted) -> Result<(), String> {
    let options = naga::back::spv::Options {
        lang_version: (1, 3),
        flags: naga::back::spv::WriterFlags::empty(),
        bounds_check_policies: unchecked(),
        force_loop_bounding: false,
        ..Default::default()
    };
    let words = naga::back::spv::write_vec(&emitted.module, &emitted.info, &options, None).map_err(|e| e.to_string())?;
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    validate(&bytes)
}

fn unchecked() -> naga::proc::BoundsCheckPolicies {
    let unchecked = naga::proc::BoundsCheckPolicy::Unchecked;
    naga::proc::BoundsCheckPolicies {
        index: unchecked,
        buffer: unchecked,
        image_load: unchecked,
        binding_array: unchecked,
    }
}

fn validate(bytes: &[u8]) -> Result<(), String> {
    let mut process = Command::new("spirv-val")
        .args(["--target-env", "vulkan1.1", "--uniform-buffer-standard-layout", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("spirv-val is among what scripts/setup.sh installs");
    process.stdin.take().unwrap().write_all(bytes).unwrap();
    let output = process.wait_with_output().unwrap();
    if output.status.success() {
        return Ok(());
    }
    Err(String::from_utf8_lossy(&output.stderr).into_owned() + &String::from_utf8_lossy(&output.stdout))
}

fn msl(emitted: &Emitted) -> Result<(), String> {
    let options = naga::back::msl::Options {
        lang_version: (2, 4),
        fake_missing_bindings: true,
        bounds_check_policies: unchecked(),
        ..Default::default()
    };
    let pipeline = naga::back::msl::PipelineOptions::default();
    naga::back::msl::write_string(&emitted.module, &emitted.info, &options, &pipeline)
        .map(|_| ())
        .map_err(|e| e.to_string())
}

fn hlsl(emitted: &Emitted) -> Result<(), String> {
    let options = naga::back::hlsl::Options {
        shader_model: naga::back::hlsl::ShaderModel::V6_6,
        fake_missing_bindings: true,
        ..Default::default()
    };
    let pipeline = naga::back::hlsl::PipelineOptions::default();
    let mut text = String::new();
    let mut writer = naga::back::hlsl::Writer::new(&mut text, &options, &pipeline);
    writer
        .write(&emitted.module, &emitted.info, None)
        .map(|_| ())
        .map_err(|e| e.to_string())
}

fn all_are_fine(cases: &[Case], facts: Facts, classes: Classes) {
    let devices = [Features::lavapipe(), Features::metal(), Features::dx12()];
    let mut faults = Vec::new();
    for case in cases {
        for features in &devices {
            if let Some(fault) = fault(case, features, facts, classes) {
                faults.push(format!("{} on {}: {fault}", case.name, features.platform.name()));
            }
        }
    }
    assert!(faults.is_empty(), "{} faults\n{}", faults.len(), faults.join("\n"));
}

#[test]
fn every_kernel_of_the_suite() {
    let cases = suite::kernels();
    assert!(cases.len() > 80, "only {} kernels", cases.len());
    all_are_fine(&cases, Facts::ALL, Classes::Apart);
}

/// Without facts, and with bindings that many views share.
#[test]
fn every_kernel_of_the_suite_without_facts() {
    all_are_fine(&suite::kernels(), Facts::default(), Classes::Together);
}

#[test]
fn functions() {
    all_are_fine(&suite::functions(), Facts::ALL, Classes::Together);
}

#[test]
fn random_kernels() {
    let seeds = 0..std::env::var("WEFT_RANDOM_KERNELS").map_or(60, |n| n.parse().unwrap());
    for seed in seeds {
        let case = Case {
            name: format!("seed {seed}"),
            module: random::kernel(seed).module,
        };
        let facts = if seed % 2 == 0 { Facts::ALL } else { Facts::default() };
        let classes = if seed % 3 == 0 { Classes::Together } else { Classes::Apart };
        all_are_fine(&[case], facts, classes);
    }
}
