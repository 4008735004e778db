//! The CPU device from IR text to results, compiled and checked.

#![allow(clippy::unwrap_used, clippy::panic)]

use std::sync::Arc;

use weft_cpu::CpuDevice;
use weft_ir::{ErrorKind, text};
use weft_runtime::{
    CallOptions, CompileError, CompileOptions, Device, Executable, GridShape, Inspect, Launch, Outcome, RunError, StreamOptions,
};

fn options(checked: bool) -> CompileOptions {
    CompileOptions {
        checked,
        ..CompileOptions::default()
    }
}

fn executable(source: &str, checked: bool) -> Arc<dyn Executable> {
    CpuDevice.compile(Arc::new(text::parse(source).unwrap()), options(checked)).unwrap()
}

fn grid(block: [u32; 3], grid: [u32; 3]) -> Launch {
    Launch::Grid(GridShape { block, grid })
}

fn launch(exe: &dyn Executable, launch: Launch, args: &[u64]) -> Result<Outcome, RunError> {
    exe.run(launch, args, &mut [], &CallOptions::default())
}

/// The slots of a C-contiguous array of one axis.
fn line<T>(data: &mut [T]) -> [u64; 3] {
    [data.as_mut_ptr() as u64, data.len() as u64, size_of::<T>() as u64]
}

/// `out[i] = i * 3` for the threads inside the array.
const TRIPLE: &str = "
entry kernel @triple(%0 out: view<i64, 1, C, global>) {
  %1: i64 = thread_idx.x
  %2: i64 = block_idx.x
  %3: i64 = block_dim.x
  %4: i64 = mul %2, %3
  %5: i64 = add %4, %1
  %6: i64 = dim %0, 0
  %7: bool = lt %5, %6
  if %7 {
    %8: i64 = 3
    %9: i64 = mul %5, %8
    store %0[%5] = %9
  }
}
";

#[test]
fn a_kernel_covers_its_grid() {
    for checked in [true, false] {
        let exe = executable(TRIPLE, checked);
        for (n, block) in [(1usize, 1u32), (1000, 32), (1000, 7), (4097, 256)] {
            let mut out = vec![-1i64; n];
            let blocks = n.div_ceil(block as usize) as u32;
            launch(&*exe, grid([block, 1, 1], [blocks, 1, 1]), &line(&mut out)).unwrap();
            let expected: Vec<i64> = (0..n as i64).map(|i| 3 * i).collect();
            assert_eq!(out, expected, "checked {checked}, {n} by {block}");
        }
    }
}

#[test]
fn launches_that_cannot_be_are_refused() {
    for checked in [true, false] {
        let exe = executable(TRIPLE, checked);
        let mut out = vec![0i64; 4];
        let cases = [
            (grid([1025, 1, 1], [1, 1, 1]), "1024 threads"),
            (grid([32, 32, 2], [1, 1, 1]), "1024 threads"),
            (grid([0, 1, 1], [1, 1, 1]), "at least one thread"),
            (grid([1, 1, 1], [1, 0, 1]), "at least one thread"),
            (grid([1, 1, 1], [u32::MAX; 3]), "too many blocks"),
            (Launch::Call, "cannot be launched"),
            (Launch::Loop(vec![4]), "cannot be launched"),
        ];
        for (how, expected) in cases {
            let error = launch(&*exe, how.clone(), &line(&mut out)).unwrap_err();
            assert!(
                matches!(&error, RunError::Invalid(message) if message.contains(expected)),
                "{how:?}: {error:?}"
            );
        }
        let short = launch(&*exe, grid([1, 1, 1], [1, 1, 1]), &[0]).unwrap_err();
        assert!(
            matches!(&short, RunError::Invalid(message) if message.contains("argument slots")),
            "{short:?}"
        );
        assert_eq!(out, [0; 4]);
    }
}

#[test]
fn an_index_outside_is_found_in_checked_mode_and_nothing_changes() {
    let source = "
entry kernel @k(%0 out: view<i64, 1, C, global>) {
  %1: i64 = thread_idx.x
  store %0[%1] = %1
}
";
    let exe = executable(source, true);
    let mut out = vec![-1i64; 5];
    let error = launch(&*exe, grid([8, 1, 1], [1, 1, 1]), &line(&mut out)).unwrap_err();
    let RunError::Raised(raised) = error else { panic!("{error:?}") };
    assert_eq!(raised.kind, ErrorKind::Index);
    assert!(raised.message.contains("out[5]"), "{}", raised.message);
    assert_eq!(raised.thread, Some([5, 0, 0, 0, 0, 0]));
    assert_eq!(out, [-1; 5]);
}

#[test]
fn results_come_back_and_views_keep_their_memory() {
    let source = "
entry host @f(%0 n: i64, %1 x: f32) -> (f32, view<f64, 1, C, global>, bool) {
  %2: f32 = add %1, %1
  %3: view<f64, 1, C, global> = alloc zeroed [%0]
  %4: f64 = 2.5
  %5: i64 = 1
  store %3[%5] = %4
  %6: bool = true
  %7: (f32, view<f64, 1, C, global>, bool) = tuple(%2, %3, %6)
  return %7
}
";
    for checked in [true, false] {
        let exe = executable(source, checked);
        let mut results = [u64::MAX; 5];
        let args = [4, u64::from(1.5f32.to_bits())];
        let outcome = exe.run(Launch::Call, &args, &mut results, &CallOptions::default()).unwrap();
        assert_eq!(results[0] as u32, 3.0f32.to_bits());
        assert_eq!((results[2], results[3], results[4] & 1), (4, 8, 1));
        assert_eq!(outcome.owned.len(), 1);
        assert_eq!(outcome.owned[0].address(), results[1]);
        let mut bytes = [0; 32];
        outcome.owned[0].read(0, &mut bytes).unwrap();
        let values: Vec<f64> = bytes.chunks_exact(8).map(|b| f64::from_le_bytes(b.try_into().unwrap())).collect();
        assert_eq!(values, [0.0, 2.5, 0.0, 0.0]);
    }
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
    for checked in [true, false] {
        let exe = executable(source, checked);
        for (rows, columns) in [(3usize, 70usize), (500, 3), (1, 1), (0, 5), (5, 0)] {
            let mut out = vec![-1i64; rows * columns];
            let args = [out.as_mut_ptr() as u64, rows as u64, columns as u64, 8 * columns as u64, 8];
            launch(&*exe, Launch::Loop(vec![rows as u64, columns as u64]), &args).unwrap();
            let expected: Vec<i64> = (0..rows as i64)
                .flat_map(|i| (0..columns as i64).map(move |j| 100 * i + j))
                .collect();
            assert_eq!(out, expected, "checked {checked}, {rows} x {columns}");
        }
    }
}

#[test]
fn prints_and_errors_arrive() {
    let source = "
entry host @f(%0 n: i64, %1 z: c128) {
  %2: f64 = 0.1
  print \"n is \", %0, \" \", %2, \" \", %1
  raise value \"too bad\"
}
";
    for checked in [true, false] {
        let exe = executable(source, checked);
        let args = [-3i64 as u64, 1f64.to_bits(), (-2f64).to_bits()];
        let error = launch(&*exe, Launch::Call, &args).unwrap_err();
        let RunError::Raised(raised) = error else { panic!("{error:?}") };
        assert_eq!((raised.kind, raised.message.as_str()), (ErrorKind::Value, "too bad"));
        assert_eq!(raised.output, "n is -3 0.1 (1-2j)\n", "checked {checked}");
    }
}

#[test]
fn too_much_shared_memory_is_refused() {
    let source = "
entry kernel @k(%0 out: view<f64, 1, C, global>) {
  array 0 tile: f64[100, 100] shared
  %1: view<f64, 2, C, shared> = array 0
  %2: i64 = 0
  %3: f64 = load %1[%2, %2]
  store %0[%2] = %3
}
";
    let error = CpuDevice
        .compile(Arc::new(text::parse(source).unwrap()), options(false))
        .unwrap_err();
    assert!(
        matches!(&error, CompileError::Unsupported { message, .. } if message.contains("80000 bytes of shared memory")),
        "{error:?}"
    );
}

#[test]
fn code_can_be_looked_at() {
    let exe = executable(TRIPLE, false);
    assert!(exe.inspect(Inspect::Ir).unwrap().contains("kernel @triple"));
    assert!(exe.inspect(Inspect::Llvm).unwrap().contains("define"));
    assert!(exe.inspect(Inspect::Asm).unwrap().contains("ret"));
}

#[test]
fn what_is_kept_across_barriers_may_be_large_but_not_too_large() {
    let source = |bytes: usize| {
        format!(
            "
entry kernel @k(%0 out: view<i64, 1, C, global>) {{
  array 0 mine: i64[{}] local
  %1: view<i64, 1, C, local> = array 0
  %2: i64 = thread_idx.x
  %3: i64 = 1
  %4: i64 = dim %1, 0
  %5: i64 = sub %4, %3
  store %1[%5] = %2
  barrier
  %6: i64 = load %1[%5]
  %7: i64 = add %6, %3
  store %0[%2] = %7
}}
",
            bytes / 8
        )
    };
    let expected: Vec<i64> = (1..=1024).collect();
    for bytes in [1 << 10, 8 << 10] {
        let exe = executable(&source(bytes), false);
        let mut out = vec![0i64; 1024];
        launch(&*exe, grid([1024, 1, 1], [1, 1, 1]), &line(&mut out)).unwrap();
        assert_eq!(out, expected);
    }
    let exe = executable(&source(64 << 10), false);
    let mut out = vec![0i64; 1024];
    let error = launch(&*exe, grid([1024, 1, 1], [1, 1, 1]), &line(&mut out)).unwrap_err();
    assert!(
        matches!(&error, RunError::Invalid(message) if message.contains("bytes of stack")),
        "{error:?}"
    );
    launch(&*exe, grid([64, 1, 1], [1, 1, 1]), &line(&mut out)).unwrap();
    assert_eq!(out[..64], expected[..64]);
}

#[test]
fn graphs_replay_launches() {
    let source = "
entry kernel @count(%0 out: view<i64, 1, C, global>) {
  %1: i64 = 0
  %2: i64 = load %0[%1]
  %3: i64 = 1
  %4: i64 = add %2, %3
  store %0[%1] = %4
  print \"now \", %4
}
";
    let exe = executable(source, false);
    let stream = CpuDevice.new_stream(StreamOptions::default()).unwrap();
    let mut out = vec![0i64];
    let args = line(&mut out);
    let call = CallOptions {
        stream: Some(&*stream),
        ..CallOptions::default()
    };
    stream.begin_capture().unwrap();
    for _ in 0..2 {
        exe.run(grid([1; 3], [1; 3]), &args, &mut [], &call).unwrap();
    }
    let graph = stream.end_capture().unwrap();
    assert_eq!((graph.steps(), out[0]), (2, 0));
    drop(exe);
    for _ in 0..2 {
        graph.launch(&*stream).unwrap();
    }
    assert_eq!(out[0], 4);
    assert_eq!(CpuDevice.take_output(), "now 1\nnow 2\nnow 3\nnow 4\n");
}

#[test]
fn memory_has_a_limit_when_one_is_set() {
    let used = CpuDevice.memory_stats().unwrap().used;
    let buffer = CpuDevice.allocate(1 << 20, None).unwrap();
    let stats = CpuDevice.memory_stats().unwrap();
    assert!(
        stats.used >= 1 << 20 && stats.peak >= stats.used && stats.total > 0,
        "{used} {stats:?}"
    );
    CpuDevice.set_memory_limit(Some(1 << 40)).unwrap();
    let error = CpuDevice.allocate(1 << 41, None).unwrap_err();
    assert!(error.to_string().contains(&format!("the limit is {} bytes", 1u64 << 40)), "{error}");
    CpuDevice.set_memory_limit(None).unwrap();
    drop(buffer);
}
