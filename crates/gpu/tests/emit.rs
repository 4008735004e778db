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
use weft_ir::{random, text};
use weft_passes::{GpuOptions, lower_for_gpu};

const BLOCK: [u32; 3] = [32, 2, 1];
const SHARED_BYTES: u32 = 4096;
/// A Vulkan device whose subgroups are warps.
const WHOLE_WARPS: Features = Features {
    subgroup: 32,
    group: 32,
    ..Features::lavapipe()
};

/// The views of a launch in buffers of their own, or all in one.
#[derive(Clone, Copy, Debug)]
enum Classes {
    Apart,
    Together,
}

fn emitted(case: &Case, features: &Features, facts: Facts, classes: Classes) -> Result<Emitted, EmitError> {
    let mut module = case.module.clone();
    let options = GpuOptions {
        group: features.group,
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
        group: features.group,
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
    let words = weft_gpu::spirv::write(&emitted.module, &emitted.info, &Features::lavapipe(), emitted.inexact)?;
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
    let devices = [Features::lavapipe(), WHOLE_WARPS, Features::metal(), Features::dx12()];
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

/// What a device says to a kernel.
fn refusal(source: &str, features: &Features) -> Option<String> {
    let case = Case {
        name: String::new(),
        module: text::parse(source).unwrap(),
    };
    match emitted(&case, features, Facts::ALL, Classes::Apart) {
        Ok(_) => None,
        Err(EmitError::Unsupported { message, .. }) => Some(message),
        Err(EmitError::Internal(message)) => panic!("{message}"),
    }
}

#[test]
fn float64_is_refused_where_there_is_none() {
    let source = "entry kernel @k(%0 image: view<f64, 1, C, global>) {
  %1: i64 = thread_idx.x
  %2: f64 = load %0[%1]
  store %0[%1] = %2
}";
    let said = "this GPU has no float64; image is float64: use float32, or device='cpu'";
    assert_eq!(refusal(source, &Features::lavapipe()), None);
    assert_eq!(refusal(source, &Features::metal()).as_deref(), Some(said));
    assert_eq!(refusal(source, &Features::dx12()).as_deref(), Some(said));
}

/// Python's floats are float64: they become float32 on the way.
#[test]
fn floats_of_python_reach_devices_without_float64() {
    let kernel = "entry kernel @k(%0 x: view<f32, 1, C, global>, %1 a: f64) {
  %2: i64 = 0
  %3: f32 = cast %1
  store %0[%2] = %3
}";
    assert_eq!(refusal(kernel, &Features::metal()), None);
    let computing = "entry kernel @k(%0 x: view<f32, 1, C, global>, %1 a: f64) {
  %2: i64 = 0
  %3: f64 = add %1, %1
  %4: f32 = cast %3
  store %0[%2] = %4
}";
    let said = "this GPU has no float64; a is float64: use float32, or device='cpu'";
    assert_eq!(refusal(computing, &Features::metal()).as_deref(), Some(said));
}

#[test]
fn long_atomics_are_refused_where_there_are_none() {
    let source = |space: &str| {
        format!(
            "entry kernel @k(%0 x: view<i64, 1, C, global>) {{
  array 0 m: i64[4] shared
  %1: view<i64, 1, C, shared> = array 0
  %2: i64 = 0
  %3: i64 = atomic add {space}[%2], %2
}}"
        )
    };
    let said = refusal(&source("%0"), &Features::metal());
    let global = "this GPU has no atomic operations on 64-bit elements, and these are int64: use int32, or device='cpu'";
    assert_eq!(said.as_deref(), Some(global));
    assert_eq!(refusal(&source("%0"), &Features::dx12()), None);
    let said = refusal(&source("%1"), &Features::dx12()).unwrap_or_default();
    assert!(said.contains("64-bit elements in shared memory"), "{said}");
}

#[test]
fn huge_local_arrays_are_refused() {
    let source = |len: u64| {
        format!(
            "entry kernel @k(%0 x: view<i32, 1, C, global>) {{
  array 0 m: i32[{len}] local
  %1: view<i32, 1, C, local> = array 0
  %2: i64 = thread_idx.x
  %3: i32 = load %0[%2]
  store %1[%2] = %3
  %4: i32 = load %1[%2]
  store %0[%2] = %4
}}"
        )
    };
    assert_eq!(refusal(&source(1000), &Features::lavapipe()), None);
    for len in [(1 << 30) - 1, 1 << 30, 1 << 40, 1 << 62] {
        let said = refusal(&source(len), &Features::lavapipe()).unwrap_or_default();
        assert!(said.contains("local arrays of a thread take") && said.contains("524288"), "{said}");
    }
}

#[test]
fn barriers_of_the_grid_are_refused() {
    let said = refusal("entry kernel @k() {\n  grid_barrier\n}", &Features::lavapipe()).unwrap_or_default();
    assert!(said.contains("whole grid"), "{said}");
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
