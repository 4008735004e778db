//! Kernels on the driver's double, from IR text to results.

#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use common::*;
use weft_cuda::Platform;
use weft_cuda::driver::Choice;
use weft_ir::{ErrorKind, text};
use weft_runtime::{
    Buffer, CallOptions, CompileError, CompileOptions, Device, DeviceId, GridShape, Inspect, Launch, Place, RunError, StreamOptions,
};

#[test]
fn devices_say_what_they_are() {
    let info = device(0).info();
    assert_eq!((info.name.as_str(), device(0).id()), ("cuda:0", DeviceId::cuda(0)));
    assert!(
        info.uuid.is_some() && info.memory_bytes > 0 && info.features.contains("9.0"),
        "{info:?}"
    );
    assert_ne!(info.uuid, device(1).info().uuid);
    let limits = device(0).limits();
    assert_eq!((limits.warp_size, limits.threads_per_block), (32, 1024));
    assert!(limits.shared_bytes_optin > limits.shared_bytes && limits.multiprocessors > 0);
    assert_eq!(device(0).attribute(1), Some(1024));
    assert!(!device(0).host_accessible());
}

#[test]
fn a_driver_that_is_not_there_is_one_line() {
    for choice in [Choice::None, Choice::Path("/nonexistent/libcuda.so".into())] {
        let why = Platform::open(&choice).unwrap_err();
        assert!(!why.is_empty() && !why.contains('\n'), "{why}");
    }
}

#[test]
fn a_kernel_covers_its_grid() {
    let exe = kernel(ADD);
    for (n, block) in [(1usize, 1u32), (1000, 32), (1000, 7), (4097, 256)] {
        let values: Vec<i64> = (0..n as i64).collect();
        let out = upload(device(0), &values);
        let [a, b, c] = line(&*out, 8);
        let blocks = n.div_ceil(block as usize) as u32;
        launch(&*exe, grid(blocks, block), &[a, b, c, 10]).unwrap();
        let expected: Vec<i64> = values.iter().map(|v| v + 10).collect();
        assert_eq!(download(&*out), expected, "{n} by {block}");
    }
}

#[test]
fn code_runs_whatever_the_facts() {
    // A view that starts at an odd element is not aligned to 16 bytes.
    let exe = kernel(ADD);
    let out = upload(device(0), &[1, 2, 3, 4]);
    launch(&*exe, grid(1, 32), &[out.address() + 8, 2, 8, 5]).unwrap();
    assert_eq!(download(&*out), [1, 7, 8, 4]);
    // An array of more elements than 32-bit code may have.
    let shape = GridShape {
        block: [1, 1, 1],
        grid: [1, 1, 1],
    };
    launch(&*exe, Launch::Grid(shape), &[out.address(), 1 << 40, 8, 1]).unwrap();
    assert_eq!(download(&*out), [2, 7, 8, 4]);
    assert!(exe.inspect(Inspect::Asm).unwrap().contains(".visible .entry"));
    assert!(exe.inspect(Inspect::Llvm).unwrap().contains("ptx_kernel"));
    assert!(exe.inspect(Inspect::Ir).unwrap().contains("kernel @add"));
}

#[test]
fn a_loop_runs_over_every_point() {
    let source = "
entry loop<2> @body(%0 i: i64, %1 j: i64, %2 out: view<i64, 2, C, global>) {
  %3: i64 = 100
  %4: i64 = mul %0, %3
  %5: i64 = add %4, %1
  store %2[%0, %1] = %5
}
";
    let exe = kernel(source);
    for (rows, columns) in [(3usize, 70usize), (50, 3), (1, 1), (0, 5), (5, 0)] {
        let out = upload(device(0), &vec![-1; rows * columns]);
        let args = [out.address(), rows as u64, columns as u64, 8 * columns as u64, 8];
        launch(&*exe, Launch::Loop(vec![rows as u64, columns as u64]), &args).unwrap();
        let expected: Vec<i64> = (0..rows as i64)
            .flat_map(|i| (0..columns as i64).map(move |j| 100 * i + j))
            .collect();
        assert_eq!(download(&*out), expected, "{rows} x {columns}");
    }
}

#[test]
fn launches_that_cannot_be_are_refused() {
    let exe = kernel(ADD);
    let out = upload(device(0), &[0; 4]);
    let [a, b, c] = line(&*out, 8);
    let shape = |block, grid| Launch::Grid(GridShape { block, grid });
    let cases = [
        (shape([1025, 1, 1], [1, 1, 1]), "1024 threads"),
        (shape([32, 32, 2], [1, 1, 1]), "1024 threads"),
        (shape([0, 1, 1], [1, 1, 1]), "at least one thread"),
        (shape([1, 1, 1], [1, 0, 1]), "at least one thread"),
        (shape([1, 1, 65], [1, 1, 1]), "block size 65 along z is over the limit of 64"),
        (
            shape([1, 1, 1], [1, 65536, 1]),
            "grid size 65536 along y is over the limit of 65535",
        ),
        (Launch::Call, "cannot be launched"),
        (Launch::Loop(vec![4]), "cannot be launched"),
    ];
    for (how, expected) in cases {
        let error = launch(&*exe, how.clone(), &[a, b, c, 1]).unwrap_err();
        assert!(
            matches!(&error, RunError::Invalid(message) if message.contains(expected)),
            "{how:?}: {error:?}"
        );
    }
    let short = launch(&*exe, grid(1, 1), &[a]).unwrap_err();
    assert!(short.to_string().contains("argument slots"), "{short:?}");
    let foreign = device(1).new_stream(StreamOptions::default()).unwrap();
    let error = launch_on(&*exe, grid(1, 1), &[a, b, c, 1], &*foreign).unwrap_err();
    assert!(error.to_string().contains("a stream of cuda:1 was given to cuda:0"), "{error:?}");
    let options = CallOptions {
        shared_bytes: 1 << 30,
        ..CallOptions::default()
    };
    let error = exe.run(grid(1, 1), &[a, b, c, 1], &mut [], &options).unwrap_err();
    assert!(error.to_string().contains("bytes of shared memory"), "{error:?}");
    assert_eq!(download(&*out), [0; 4]);
}

#[test]
fn what_a_gpu_does_not_run_is_refused_when_compiled() {
    let compile = |source: &str| {
        let module = text::parse(source).unwrap().into();
        device(0).compile(module, CompileOptions::default()).unwrap_err()
    };
    let host = "entry host @f(%0 n: i64) -> i64 {\n  return %0\n}\n";
    assert!(compile(host).to_string().contains("runs kernels"));
    let shared = "
entry kernel @k(%0 out: view<f64, 1, C, global>) {
  array 0 tile: f64[100, 100] shared
  %1: view<f64, 2, C, shared> = array 0
  %2: i64 = 0
  %3: f64 = load %1[%2, %2]
  store %0[%2] = %3
}
";
    let error = compile(shared);
    assert!(
        matches!(&error, CompileError::Unsupported { message, .. } if message.contains("80000 bytes of shared memory")),
        "{error:?}"
    );
}

/// Prints every value and raises at a negative one.
const PICKY: &str = "
entry kernel @picky(%0 x: view<i64, 1, C, global>) {
  %1: i64 = thread_idx.x
  %2: i64 = load %0[%1]
  print \"x is \", %2
  %3: i64 = 0
  %4: bool = lt %2, %3
  if %4 {
    raise value \"negative\"
  }
}
";

#[test]
fn prints_and_errors_arrive_when_waited_for() {
    let gpu = device(1);
    let exe = kernel_on(gpu, PICKY);
    let stream = gpu.new_stream(StreamOptions::default()).unwrap();
    let good = upload(gpu, &[1, 2]);
    let bad = upload(gpu, &[3, 4, -5]);
    launch_on(&*exe, grid(1, 2), &line(&*good, 8), &*stream).unwrap();
    stream.synchronize().unwrap();
    assert_eq!(gpu.take_output(), "x is 1\nx is 2\n");
    launch_on(&*exe, grid(1, 3), &line(&*bad, 8), &*stream).unwrap();
    let RunError::Raised(raised) = stream.synchronize().unwrap_err() else {
        panic!()
    };
    assert_eq!((raised.kind, raised.message.as_str()), (ErrorKind::Value, "negative"));
    assert_eq!(raised.thread, Some([2, 0, 0, 0, 0, 0]));
    assert_eq!(raised.module.unwrap().entry_function().name, "picky");
    assert_eq!(gpu.take_output(), "x is 3\nx is 4\nx is -5\n");
    // Reported once; the device goes on.
    stream.synchronize().unwrap();
    launch_on(&*exe, grid(1, 2), &line(&*good, 8), &*stream).unwrap();
    gpu.synchronize().unwrap();
    assert_eq!(gpu.take_output(), "x is 1\nx is 2\n");
    // Reading a result is waiting, too.
    launch(&*exe, grid(1, 3), &line(&*bad, 8)).unwrap();
    let mut bytes = [0; 8];
    assert!(matches!(bad.read(0, &mut bytes), Err(RunError::Raised(_))));
    gpu.take_output();
    // A stream that is gone leaves its errors to the device.
    launch_on(&*exe, grid(1, 3), &line(&*bad, 8), &*stream).unwrap();
    drop(stream);
    assert!(matches!(gpu.synchronize(), Err(RunError::Raised(_))));
    gpu.take_output();
}

#[test]
fn lines_that_do_not_fit_are_counted() {
    let source = "
entry kernel @chatty(%0 n: i64) {
  print \"n \", %0
}
";
    let exe = kernel(source);
    let stream = device(0).new_stream(StreamOptions::default()).unwrap();
    launch_on(&*exe, grid(200, 256), &[7], &*stream).unwrap();
    stream.synchronize().unwrap();
    let output = device(0).take_output();
    let printed = output.lines().filter(|line| *line == "n 7").count();
    assert_eq!(printed, 32 << 10);
    let expected = format!(
        "[{} lines of print did not fit into the buffer of {} bytes]",
        200 * 256 - printed,
        512 << 10
    );
    assert!(output.ends_with(&format!("{expected}\n")), "{:?}", output.lines().last());
    launch_on(&*exe, grid(1, 1), &[8], &*stream).unwrap();
    stream.synchronize().unwrap();
    assert_eq!(device(0).take_output(), "n 8\n");
}

#[test]
fn host_arrays_are_copied_around_the_launch() {
    let exe = kernel(ADD);
    let mut out = [1i64, 2, 3, 4];
    let (view, array) = host_line(&mut out, 0, true);
    let options = CallOptions {
        host_arrays: &[array],
        ..CallOptions::default()
    };
    exe.run(grid(1, 4), &[view[0], view[1], view[2], 10], &mut [], &options).unwrap();
    assert_eq!(out, [11, 12, 13, 14]);
    // What is not writable stays as it was; a view into the array's middle finds its copy.
    let (view, mut array) = host_line(&mut out, 0, false);
    array.writable = false;
    let options = CallOptions {
        host_arrays: &[array],
        ..CallOptions::default()
    };
    exe.run(grid(1, 4), &[view[0], view[1], view[2], 10], &mut [], &options).unwrap();
    assert_eq!(out, [11, 12, 13, 14]);
    let (view, array) = host_line(&mut out, 0, true);
    let options = CallOptions {
        host_arrays: &[array],
        ..CallOptions::default()
    };
    exe.run(grid(1, 4), &[view[0] + 16, 2, view[2], 100], &mut [], &options).unwrap();
    assert_eq!(out, [11, 12, 113, 114]);
}

#[test]
fn dynamic_shared_memory_may_be_large() {
    let source = "
entry kernel @k(%0 out: view<i64, 1, C, global>) {
  %1: view<i64, 1, C, shared> = dynamic_shared
  %2: i64 = dim %1, 0
  %3: i64 = 1
  %4: i64 = sub %2, %3
  store %1[%4] = %2
  %5: i64 = load %1[%4]
  %6: i64 = 0
  store %0[%6] = %5
}
";
    let exe = kernel(source);
    let out = upload(device(0), &[0]);
    for bytes in [8, 48 << 10, 100 << 10, 16] {
        let options = CallOptions {
            shared_bytes: bytes,
            ..CallOptions::default()
        };
        exe.run(grid(1, 1), &line(&*out, 8), &mut [], &options).unwrap();
        assert_eq!(download(&*out), [i64::from(bytes) / 8]);
    }
}

#[test]
fn cooperative_launches_fit_the_device() {
    let exe = kernel(ADD);
    let out = upload(device(0), &[0; 4]);
    let [a, b, c] = line(&*out, 8);
    let options = CallOptions {
        cooperative: true,
        ..CallOptions::default()
    };
    exe.run(grid(2, 2), &[a, b, c, 1], &mut [], &options).unwrap();
    assert_eq!(download(&*out), [1; 4]);
    let most = exe.resident_blocks(1024, 0).unwrap();
    assert!(most >= 1);
    let error = exe.run(grid(most as u32 + 1, 1024), &[a, b, c, 1], &mut [], &options).unwrap_err();
    assert!(
        error.to_string().contains(&format!("may have {most} blocks of 1024 threads")),
        "{error:?}"
    );
    let resources = exe.resources().unwrap();
    assert!(resources.threads >= 1024, "{resources:?}");
}

#[test]
fn grids_wait_for_themselves() {
    let source = "
entry kernel @k(%0 out: view<i64, 1, C, global>) {
  %1: i64 = block_idx.x
  store %0[%1] = %1
  grid_barrier
  %2: i64 = grid_dim.x
  %3: i64 = 1
  %4: i64 = sub %2, %3
  %5: i64 = sub %4, %1
  %6: i64 = load %0[%5]
  grid_barrier
  store %0[%1] = %6
}
";
    let exe = kernel(source);
    let out = upload(device(0), &[0; 8]);
    for _ in 0..3 {
        launch(&*exe, grid(8, 1), &line(&*out, 8)).unwrap();
        assert_eq!(download(&*out), [7, 6, 5, 4, 3, 2, 1, 0]);
    }
}

#[test]
fn two_devices_work_side_by_side() {
    let (first, second) = (kernel_on(device(0), ADD), kernel_on(device(1), ADD));
    let (a, b) = (upload(device(0), &[1, 2]), upload(device(1), &[3, 4]));
    assert_eq!((a.device(), b.device()), (DeviceId::cuda(0), DeviceId::cuda(1)));
    let args = |buffer: &dyn Buffer| {
        let [x, y, z] = line(buffer, 8);
        [x, y, z, 10]
    };
    launch(&*first, grid(1, 2), &args(&*a)).unwrap();
    launch(&*second, grid(1, 2), &args(&*b)).unwrap();
    assert_eq!((download(&*a), download(&*b)), (vec![11, 12], vec![13, 14]));
    let stream = device(0).default_stream().unwrap();
    let place = |buffer: &dyn Buffer| Place::Device(buffer.device(), buffer.address());
    stream.copy(place(&*a), place(&*b), 16).unwrap();
    assert_eq!(download(&*a), [13, 14]);
    assert!(device(0).can_access_peer(DeviceId::cuda(1)));
    assert!(!device(0).can_access_peer(DeviceId::CPU));
    device(0).enable_peer(DeviceId::cuda(1)).unwrap();
    device(0).enable_peer(DeviceId::cuda(1)).unwrap();
    assert!(device(0).enable_peer(DeviceId::cuda(7)).is_err());
    launch(&*first, grid(1, 2), &args(&*b)).unwrap();
    stream.synchronize().unwrap();
    assert_eq!(download(&*b), [23, 24]);
}

#[test]
fn any_thread_may_launch() {
    let exe = kernel(ADD);
    let out = upload(device(0), &[0; 64]);
    let [a, b, c] = line(&*out, 8);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..5 {
                    launch(&*exe, grid(2, 32), &[a, b, c, 1]).unwrap();
                }
            });
        }
    });
    assert_eq!(download(&*out), [20; 64]);
}

#[test]
fn checked_mode_finds_an_index_outside_and_changes_nothing() {
    let source = "
entry kernel @k(%0 out: view<i64, 1, C, global>) {
  %1: i64 = thread_idx.x
  store %0[%1] = %1
}
";
    let options = CompileOptions {
        checked: true,
        ..CompileOptions::default()
    };
    let exe = device(0).compile(text::parse(source).unwrap().into(), options).unwrap();
    let out = upload(device(0), &[-1; 5]);
    let RunError::Raised(raised) = launch(&*exe, grid(1, 8), &line(&*out, 8)).unwrap_err() else {
        panic!()
    };
    assert_eq!((raised.kind, raised.thread), (ErrorKind::Index, Some([5, 0, 0, 0, 0, 0])));
    assert_eq!(download(&*out), [-1; 5]);
    launch(&*exe, grid(1, 4), &line(&*out, 8)).unwrap();
    assert_eq!(download(&*out), [0, 1, 2, 3, -1]);
    let mut host = [-1i64; 3];
    let (view, array) = host_line(&mut host, 0, true);
    let call = CallOptions {
        host_arrays: &[array],
        ..CallOptions::default()
    };
    exe.run(grid(1, 2), &view, &mut [], &call).unwrap();
    assert_eq!(host, [0, 1, -1]);
}

/// A kernel that adds up its arguments.
fn sum_of_arguments(count: usize) -> String {
    let params: String = (1..=count).map(|i| format!(", %{i} p{i}: i64")).collect();
    let mut body = String::new();
    let mut sum = 1;
    for i in 2..=count {
        let next = count + i - 1;
        body += &format!("  %{next}: i64 = add %{sum}, %{i}\n");
        sum = next;
    }
    let zero = 2 * count;
    format!("entry kernel @many(%0 out: view<i64, 1, C, global>{params}) {{\n{body}  %{zero}: i64 = 0\n  store %0[%{zero}] = %{sum}\n}}\n")
}

#[test]
fn kernels_have_thousands_of_arguments() {
    let out = upload(device(0), &[0]);
    for (count, version) in [(1000usize, ".version 7.8"), (1200, ".version 8.1"), (8000, ".version 8.1")] {
        let exe = kernel(&sum_of_arguments(count));
        let args: Vec<u64> = line(&*out, 8).into_iter().chain((1..=count as u64).map(|i| i * 3)).collect();
        launch(&*exe, grid(1, 1), &args).unwrap();
        assert_eq!(download(&*out), [(3 * count * (count + 1) / 2) as i64]);
        let ptx = exe.inspect(Inspect::Asm).unwrap();
        assert!(ptx.contains(version), "{count}: {}", &ptx[..300]);
    }
    let exe = kernel(&sum_of_arguments(8300));
    let args: Vec<u64> = line(&*out, 8).into_iter().chain([0; 8300]).collect();
    let refused = launch(&*exe, grid(1, 1), &args).unwrap_err();
    assert!(refused.to_string().contains("of which a GPU takes 32764"), "{refused}");
}

/// Two threads that ask for shared memory at once: the driver is told of the larger last.
#[test]
fn shared_memory_that_one_launch_has_asked_for_stays_allowed() {
    for _ in 0..20 {
        let exe = kernel(ADD);
        let out = upload(device(0), &[0]);
        let args = [out.address(), 1, 8, 1];
        launch(&*exe, grid(1, 1), &args).unwrap();
        std::thread::scope(|scope| {
            for bytes in [60u32 << 10, 70 << 10, 80 << 10, 90 << 10] {
                let exe = &exe;
                scope.spawn(move || {
                    let options = CallOptions {
                        shared_bytes: bytes,
                        ..CallOptions::default()
                    };
                    for _ in 0..3 {
                        exe.run(grid(1, 1), &args, &mut [], &options).unwrap();
                    }
                });
            }
        });
        device(0).synchronize().unwrap();
    }
}
