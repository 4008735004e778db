//! Folds on the stand-in for the driver: every form leaves what the interpreter leaves, bit for bit; results stay on the device, and launches
//! may be captured.

#![allow(clippy::unwrap_used, clippy::panic)] // A test that cannot go on stops.

mod common;
mod suite;

use std::sync::Arc;

use common::foreign::Foreign;
use common::*;
use suite::folds::{TOTAL, faults, quiet_total};
use weft_cuda::emit::Facts;
use weft_ir::text;
use weft_runtime::fold::Form;
use weft_runtime::{Buffer, CallOptions, CompileOptions, Device, Executable, Inspect, Launch, RunError, StreamOptions};

fn compiled(source: &str, form: Form) -> Arc<dyn Executable> {
    let module = Arc::new(text::parse(source).unwrap());
    device(0)
        .compile_as(module, CompileOptions::default(), Facts::ALL, Some(form))
        .unwrap()
}

fn one_point() -> Launch {
    Launch::Loop(vec![1])
}

fn slots(x: &dyn Buffer, out: &dyn Buffer) -> Vec<u64> {
    [line(x, 8), line(out, 8)].concat()
}

#[test]
fn every_form_leaves_what_the_interpreter_leaves() {
    let _one_at_a_time = failing("");
    let compile = |module: weft_ir::Module, form| device(0).compile_as(module.into(), CompileOptions::default(), Facts::ALL, form);
    let faults = faults(device(0), u64::MAX, compile);
    assert!(faults.is_empty(), "{} faults\n{}", faults.len(), faults.join("\n"));
}

#[test]
fn epilogues_raise_and_print_once() {
    let _one_at_a_time = failing("");
    let gpu = device(0);
    for form in [Form::Threads, Form::Blocks, Form::Columns, Form::Stages] {
        let exe = compiled(TOTAL, form);
        let (x, negative, out) = (upload(gpu, &[2; 5000]), upload(gpu, &[-1; 5000]), upload(gpu, &[0]));
        launch(&*exe, one_point(), &slots(&*x, &*out)).unwrap();
        assert_eq!(download(&*out), [10_000], "{form:?}");
        assert_eq!(gpu.take_output(), "total 10000\n", "{form:?}");
        launch(&*exe, one_point(), &slots(&*negative, &*out)).unwrap();
        assert!(
            matches!(gpu.synchronize(), Err(RunError::Raised(raised)) if raised.message == "negative"),
            "{form:?}"
        );
        assert_eq!(download(&*out), [10_000], "{form:?}");
        gpu.take_output();
    }
}

#[test]
fn results_stay_on_the_device_and_memory_in_between_is_given_back() {
    let _one_at_a_time = failing("");
    let gpu = device(0);
    let exe = compiled(&quiet_total(), Form::Stages);
    let (x, out) = (upload(gpu, &[3; 100_000]), upload(gpu, &[0]));
    let used = gpu.memory_stats().unwrap().used;
    let stream = gpu
        .new_stream(StreamOptions {
            nonblocking: true,
            priority: 0,
        })
        .unwrap();
    gpu.synchronize().unwrap();
    for _ in 0..3 {
        launch_on(&*exe, one_point(), &slots(&*x, &*out), &*stream).unwrap();
    }
    stream.synchronize().unwrap();
    assert_eq!(download(&*out), [300_000]);
    assert_eq!(gpu.memory_stats().unwrap().used, used);
    // Arrays of the host go by way of copies, in which both kernels find them.
    let (mut host, mut result) = (vec![7i64; 100_000], [0i64]);
    let ([a, b, c], first) = host_line(&mut host, 0, false);
    let ([d, e, f], second) = host_line(&mut result, 3, true);
    let options = CallOptions {
        host_arrays: &[first, second],
        ..CallOptions::default()
    };
    exe.run(one_point(), &[a, b, c, d, e, f], &mut [], &options).unwrap();
    assert_eq!(result, [700_000]);
}

#[test]
fn graphs_keep_the_memory_between_their_kernels() {
    let _one_at_a_time = failing("");
    let gpu = device(0);
    let capturing = gpu
        .new_stream(StreamOptions {
            nonblocking: true,
            priority: 0,
        })
        .unwrap();
    let (x, out) = (upload(gpu, &[3; 100_000]), upload(gpu, &[0]));
    gpu.synchronize().unwrap();
    let graph = {
        let exe = compiled(TOTAL, Form::Stages);
        capturing.begin_capture().unwrap();
        launch_on(&*exe, one_point(), &slots(&*x, &*out), &*capturing).unwrap();
        capturing.end_capture().unwrap()
    };
    assert_eq!((graph.steps(), download(&*out)), (2, vec![0]));
    graph.launch(&*capturing).unwrap();
    capturing.synchronize().unwrap();
    assert_eq!(download(&*out), [300_000]);
    let other = upload(gpu, &[1; 100_000]);
    gpu.synchronize().unwrap();
    let copied = weft_runtime::Place::Device(gpu.id(), other.address());
    capturing
        .copy(weft_runtime::Place::Device(gpu.id(), x.address()), copied, 800_000)
        .unwrap();
    graph.launch(&*capturing).unwrap();
    capturing.synchronize().unwrap();
    assert_eq!(download(&*out), [100_000]);
    assert_eq!(gpu.take_output(), "total 300000\ntotal 100000\n");
    // Two graphs that may run at the same time must not have the same memory.
    capturing.begin_capture().unwrap();
    let refused = graph.launch(&*capturing).unwrap_err().to_string();
    assert!(refused.contains("reduce in two stages"), "{refused}");
    capturing.end_capture().unwrap();
}

/// Nothing could keep the memory, so that a block does it all.
#[test]
fn graphs_of_other_libraries_have_one_kernel() {
    let _one_at_a_time = failing("");
    let gpu = device(0);
    let stream = gpu
        .new_stream(StreamOptions {
            nonblocking: true,
            priority: 0,
        })
        .unwrap();
    let (x, out) = (upload(gpu, &[3; 100_000]), upload(gpu, &[0]));
    let exe = compiled(&quiet_total(), Form::Stages);
    gpu.synchronize().unwrap();
    let foreign = Foreign::new();
    foreign.begin_capture(stream.raw_handle(), 2);
    launch_on(&*exe, one_point(), &slots(&*x, &*out), &*stream).unwrap();
    let graph = foreign.end_capture(stream.raw_handle());
    assert_eq!((foreign.steps(graph), download(&*out)), (1, vec![0]));
    foreign.launch(graph, stream.raw_handle());
    stream.synchronize().unwrap();
    assert_eq!(download(&*out), [300_000]);
}

#[test]
fn extents_choose_the_form() {
    let _one_at_a_time = failing("");
    let gpu = device(0);
    let module = Arc::new(text::parse(&quiet_total()).unwrap());
    for (inner, form) in [(10, "@weft_total("), (1000, "@weft_total_block("), (100_000, "@weft_total_parts0(")] {
        let exe = gpu.compile(module.clone(), CompileOptions::default()).unwrap();
        let (x, out) = (upload(gpu, &vec![1; inner]), upload(gpu, &[0]));
        launch(&*exe, one_point(), &slots(&*x, &*out)).unwrap();
        assert_eq!(download(&*out), [inner as i64]);
        let llvm = exe.inspect(Inspect::Llvm).unwrap();
        assert!(llvm.contains(form), "{inner}: {llvm}");
    }
}

/// What points raise or print is right only where each is a thread's.
#[test]
fn points_that_raise_have_one_form() {
    let _one_at_a_time = failing("");
    let source = quiet_total().replace(
        "    %7: i64 = get $0",
        "    %11: bool = lt %6, %3\n    if %11 {\n      raise value \"negative\"\n    }\n    %7: i64 = get $0",
    );
    let module = Arc::new(text::parse(&source).unwrap());
    let exe = device(0).compile_as(module.clone(), CompileOptions::default(), Facts::ALL, Some(Form::Blocks));
    assert!(format!("{exe:?}").contains("no form of Blocks"));
    let exe = device(0).compile(module, CompileOptions::default()).unwrap();
    let (mut values, out) = (vec![1; 100_000], upload(device(0), &[0]));
    values[77] = -1;
    let x = upload(device(0), &values);
    launch(&*exe, one_point(), &slots(&*x, &*out)).unwrap();
    assert!(matches!(device(0).synchronize(), Err(RunError::Raised(_))));
    assert_eq!(download(&*out), [0]);
}
