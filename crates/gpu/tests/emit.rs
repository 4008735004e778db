//! Every kernel of the suite becomes a naga module that is valid with exactly what a device has, and that can be written for it: as
//! SPIR-V that the Khronos validator takes, as MSL and as HLSL. What a device cannot have is refused, with the line.

#![allow(clippy::unwrap_used, clippy::panic)] // A test that cannot go on stops.

#[path = "../../cuda/tests/suite/mod.rs"]
mod suite;

#[path = "common/reads.rs"]
mod reads;

use std::io::Write as _;
use std::process::{Command, Stdio};

use suite::Case;
use weft_gpu::emit::{self, EmitError, Emitted, Facts, Request};
use weft_gpu::features::{Features, Platform, Subnormals};
use weft_ir::{random, text};
use weft_passes::{GpuOptions, lower_for_gpu};

const BLOCK: [u32; 3] = [32, 2, 1];
const SHARED_BYTES: u32 = 4096;
/// A Vulkan device whose subgroups are warps.
const WHOLE_WARPS: Features = Features {
    subgroup: 32,
    group: 32,
    fences: true,
    ..Features::lavapipe()
};

/// A Vulkan device of whose subnormal floats nothing is known but that sums and products keep them.
const BY_BITS: Features = Features {
    exact_divide: false,
    exact_sqrt: false,
    exact_divide64: false,
    exact_sqrt64: false,
    exact_rounding32: false,
    exact_rounding64: false,
    exact_zeros: true,
    subnormals32: Subnormals::LOST,
    subnormals64: Subnormals::LOST,
    exact_widening: false,
    exact_narrowing: false,
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
    let views = weft_thread::view_params(&module).len() as u32;
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
        Err(EmitError::Unsupported { .. } | EmitError::Wide { .. }) => None,
        Err(EmitError::Internal(message)) => Some(message),
        Err(EmitError::Refused(error)) => Some(error.to_string()),
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

/// No operation of any kernel may take subnormal floats for zeros where the device may: each kind of naga's expressions on floats is known
/// to keep them, or done otherwise.
#[test]
fn subnormals_are_never_taken_for_zeros() {
    let mut faults = Vec::new();
    let random = (0..60).map(|seed| Case {
        name: format!("seed {seed}"),
        module: random::kernel(seed).module,
    });
    for case in suite::kernels().into_iter().chain(suite::functions()).chain(random) {
        let Ok(emitted) = emitted(&case, &BY_BITS, Facts::ALL, Classes::Apart) else {
            continue;
        };
        faults.extend(written(&emitted, Platform::Vulkan).err());
        faults.extend(reads::faults(&emitted).into_iter().map(|fault| format!("{}: {fault}", case.name)));
    }
    assert!(faults.is_empty(), "{} faults\n{}", faults.len(), faults.join("\n"));
}

/// What a device says to a kernel.
fn refusal(source: &str, features: &Features) -> Option<String> {
    let case = Case {
        name: String::new(),
        module: text::parse(source).unwrap(),
    };
    match emitted(&case, features, Facts::ALL, Classes::Apart) {
        Ok(_) => None,
        Err(EmitError::Unsupported { message, .. } | EmitError::Wide { message, .. }) => Some(message),
        Err(other) => panic!("{other:?}"),
    }
}

#[test]
fn float64_is_refused_where_there_is_none() {
    let source = "entry kernel @k(%0 image: view<f64, 1, C, global>) {
  %1: i64 = thread_idx.x
  %2: f64 = load %0[%1]
  store %0[%1] = %2
}";
    let said =
        "this GPU has no float64, and image is an array of float64: make it one of float32 (a.astype(np.float32)), or use device='cpu'";
    assert_eq!(refusal(source, &Features::lavapipe()), None);
    assert_eq!(refusal(source, &Features::metal()).as_deref(), Some(said));
    assert_eq!(refusal(source, &Features::dx12()).as_deref(), Some(said));
}

/// A fence is one instruction; an atomic operation where a fence is a barrier; and nothing where naga would make it one.
#[test]
fn fences() {
    let source = "entry kernel @k(%0 x: view<i32, 1, C, global>) {
  fence device
}";
    let case = Case {
        name: String::new(),
        module: text::parse(source).unwrap(),
    };
    for (features, fences, atomics) in [(WHOLE_WARPS, 1, 0), (Features::lavapipe(), 0, 1), (Features::dx12(), 1, 0)] {
        let emitted = emitted(&case, &features, Facts::ALL, Classes::Apart).unwrap();
        let body = &emitted.module.entry_points[0].function.body;
        let count = |which: fn(&naga::Statement) -> bool| body.iter().filter(|&statement| which(statement)).count();
        let found = [
            count(|statement| matches!(statement, naga::Statement::MemoryBarrier(_))),
            count(|statement| matches!(statement, naga::Statement::Atomic { .. })),
        ];
        assert_eq!(found, [fences, atomics], "{}", features.platform.name());
    }
    let said = refusal(source, &Features::metal()).unwrap_or_default();
    assert!(said.contains("Metal has no fences"), "{said}");
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
    let said = "this GPU has no float64, and a is float64: make it float32 (np.float32(...), a.astype(np.float32)), or use device='cpu'";
    assert_eq!(refusal(computing, &Features::metal()).as_deref(), Some(said));
    let of_numba = refusal(&computing.replace("f64) {", "f64) numba {"), &Features::metal());
    let hint = "use device='cpu', or `from weft import njit, cuda` instead of weft.numba's, whose Python floats are float32 here";
    assert!(of_numba.as_deref().is_some_and(|said| said.ends_with(hint)), "{of_numba:?}");
}

/// A GPU of a phone.
const NO_INT64: Features = Features {
    float64: false,
    int64: false,
    atomic64: false,
    shared_atomic64: false,
    ..Features::lavapipe()
};

/// `body` with the thread's number in the grid as `%5` and the length of `x` as `%6`.
fn of_threads(body: &str) -> String {
    format!(
        "entry kernel @k(%0 x: view<i32, 1, C, global>, %1 n: i64) {{
  local $0 i: i64
  %2: i64 = block_idx.x
  %3: i64 = block_dim.x
  %4: i64 = mul %2, %3
  %7: i64 = thread_idx.x
  %5: i64 = add %4, %7
  %6: i64 = dim %0, 0
{body}
}}"
    )
}

#[test]
fn integers_that_conditions_bound_need_no_int64() {
    // Threads of the grid are fewer than 2^30, and twice as many are more than 32 bits hold.
    let below = "  %8: bool = lt %5, %6\n";
    let doubled = "  %9: i64 = 2\n  %10: i64 = mul %5, %9\n  %11: i32 = cast %10\n  store %0[%5] = %11\n";
    let refused = |body: String| refusal(&of_threads(&body), &NO_INT64);
    let said = refused(format!("{below}{doubled}")).unwrap_or_default();
    assert!(said.contains("not known to fit 32 bits"), "{said}");
    assert_eq!(refused(format!("{below}  if %8 {{\n{doubled}  }}")), None);
    assert!(refused(format!("{below}  if %8 {{\n  }} else {{\n{doubled}  }}")).is_some());
    assert_eq!(
        refused(format!("{below}  if %8 {{\n  }} else {{\n    return\n  }}\n{doubled}")),
        None
    );
    assert!(refused(format!("{below}  if %8 {{\n    return\n  }}\n{doubled}")).is_some());
}

#[test]
fn loops_that_conditions_bound_need_no_int64() {
    let stride = |condition: &str| {
        of_threads(&format!(
            "  set $0 = %5
  %8: i64 = grid_dim.x
  %9: i64 = mul %8, %3
  loop {{
    %10: i64 = get $0
    %11: bool = {condition}
    if %11 {{
      break
    }}
    %12: i32 = cast %10
    store %0[%10] = %12
    %13: i64 = add %10, %9
    set $0 = %13
  }}"
        ))
    };
    assert_eq!(refusal(&stride("ge %10, %6"), &NO_INT64), None);
    let said = refusal(&stride("lt %10, %6"), &NO_INT64).unwrap_or_default();
    assert!(said.contains("i is not known to fit 32 bits"), "{said}");
}

#[test]
fn a_value_read_before_a_loop_says_nothing_of_what_the_loop_sets() {
    let source = of_threads(
        "  set $0 = %5
  %8: i64 = get $0
  %9: i64 = 1000000
  loop {
    %10: bool = ge %8, %6
    if %10 {
      break
    }
    %11: i64 = get $0
    %12: i64 = add %11, %9
    set $0 = %12
    %13: i32 = cast %12
    store %0[%8] = %13
  }",
    );
    assert!(refusal(&source, &NO_INT64).is_some());
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
