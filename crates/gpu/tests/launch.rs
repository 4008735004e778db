//! Launches: grids of any size, facts, arrays of the host, errors of kernels, what is refused.

#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use std::sync::Arc;

use common::*;
use weft_gpu::emit::Facts;
use weft_ir::{ErrorKind, text};
use weft_runtime::{CallOptions, CompileError, CompileOptions, Device, GridShape, HostArray, Inspect, Launch, RunError};

/// `out[block] = number of its x among all + 1000000 * y`, by the first thread of each block of a grid of two axes.
const BLOCKS: &str = "
entry kernel @blocks(%0 out: view<i64, 2, C, global>) {
  %1: i64 = block_idx.x
  %2: i64 = block_idx.y
  %3: i64 = grid_dim.x
  %4: i64 = mul %2, %3
  %5: i64 = add %4, %1
  store %0[%2, %1] = %5
}
";

#[test]
fn grids_may_be_larger_than_a_dispatch() {
    let exe = kernel(BLOCKS);
    for (x, y) in [(3u32, 2u32), (65_535, 1), (65_536, 2), (140_000, 3)] {
        let count = u64::from(x) * u64::from(y);
        let out = upload(gpu(), &vec![-1; count as usize]);
        let args = [out.address(), y.into(), x.into(), 8 * u64::from(x), 8];
        let shape = GridShape {
            block: [1, 1, 1],
            grid: [x, y, 1],
        };
        launch(&*exe, Launch::Grid(shape), &args).unwrap();
        assert_eq!(download(&*out), (0..count as i64).collect::<Vec<_>>(), "{x} {y}");
    }
}

#[test]
fn code_runs_whatever_the_facts() {
    let module = Arc::new(text::parse(ADD).unwrap());
    let out = upload(gpu(), &[0; 100]);
    let mut sum = 0;
    for narrow in [false, true] {
        for small in [false, true] {
            let exe = gpu()
                .compile_for(
                    module.clone(),
                    CompileOptions::default(),
                    Facts {
                        narrow,
                        small,
                        ..Facts::ALL
                    },
                )
                .unwrap();
            for by in [1, -7, 1 << 40] {
                let [a, b, c] = line(&*out, 8);
                launch(&*exe, grid(2, 64), &[a, b, c, by as u64]).unwrap();
                sum += by;
                assert_eq!(download(&*out), [sum; 100], "{narrow} {small} {by}");
            }
        }
    }
}

/// `out[i] = x[i] + y[i]`.
const SUM: &str = "
entry kernel @sum(%0 x: view<i64, 1, any, global, ro>, %1 y: view<i64, 1, any, global, ro>, %2 out: view<i64, 1, any, global>) {
  %3: i64 = thread_idx.x
  %4: i64 = dim %2, 0
  %5: bool = lt %3, %4
  if %5 {
    %6: i64 = load %0[%3]
    %7: i64 = load %1[%3]
    %8: i64 = add %6, %7
    store %2[%3] = %8
  }
}
";

#[test]
fn views_may_lie_in_one_piece_of_memory_or_in_many() {
    let exe = kernel(SUM);
    let (a, b, c) = (
        upload(gpu(), &(0..90).collect::<Vec<_>>()),
        upload(gpu(), &(0..90).map(|i| 1000 * i).collect::<Vec<_>>()),
        upload(gpu(), &[0; 90]),
    );
    let at = |address: u64, first: u64, step: i64| [address + 8 * first, 30, (8 * step) as u64];
    let sum = |x: [u64; 3], y: [u64; 3], out: [u64; 3]| launch(&*exe, grid(1, 64), &[x, y, out].concat()).unwrap();
    sum(at(a.address(), 5, 1), at(b.address(), 29, -1), at(c.address(), 1, 2));
    let seen = download(&*c);
    assert!((0..30).all(|i| seen[1 + 2 * i] == 5 + i as i64 + 1000 * (29 - i as i64)));
    // All in one: other code, since there is one binding.
    sum(at(a.address(), 0, 1), at(a.address(), 10, 1), at(a.address(), 60, 1));
    let seen = download(&*a);
    assert!((0..30).all(|i| seen[60 + i] == 2 * i as i64 + 10));
    // Views without elements are nowhere.
    let nothing = [a.address() + 8 * 90, 0, 8];
    launch(&*exe, grid(1, 64), &[nothing, nothing, nothing].concat()).unwrap();
    sum(at(a.address(), 0, 1), at(b.address(), 0, 1), at(c.address(), 0, 1));
    gpu().synchronize().unwrap();
}

#[test]
fn arrays_larger_than_a_binding_are_reached_in_windows() {
    let exe = kernel(SUM);
    let elements = 40usize << 20;
    let big = gpu().allocate(8 * elements, None).unwrap();
    let far = 8 * (elements as u64 - 100);
    let numbers: Vec<u8> = (0..100i64).flat_map(i64::to_le_bytes).collect();
    big.write(far as usize, &numbers).unwrap();
    let at = |first: u64| [big.address() + far + 8 * first, 30, 8];
    launch(&*exe, grid(1, 64), &[at(0), at(20), at(70)].concat()).unwrap();
    let mut read = vec![0; 240];
    big.read(far as usize + 560, &mut read).unwrap();
    let expected: Vec<u8> = (0..30i64).flat_map(|i| (2 * i + 20).to_le_bytes()).collect();
    assert_eq!(read, expected);
    let most = u64::from(gpu().features().unwrap().binding_bytes);
    let apart = [[big.address(), 30, 8], at(0), at(20)].concat();
    match launch(&*exe, grid(1, 64), &apart) {
        Ok(_) => assert!(8 * elements as u64 <= most),
        Err(error) => assert!(error.to_string().contains(&format!("{most} bytes")), "{error}"),
    }
    let whole = [[big.address(), elements as u64, 8], at(0), at(20)].concat();
    if let Err(error) = launch(&*exe, grid(1, 64), &whole) {
        let said = error.to_string();
        assert!(
            said.contains(&format!("{} bytes", 8 * elements)) && said.contains(&format!("{most} bytes")),
            "{said}"
        );
    }
}

#[test]
fn host_arrays_are_copied_around_the_launch() {
    let exe = kernel(ADD);
    let mut data: Vec<i64> = (0..100).collect();
    let address = data.as_mut_ptr() as u64;
    let host = [HostArray {
        slot: 0,
        address,
        bytes: 800,
        writable: true,
    }];
    let options = CallOptions {
        host_arrays: &host,
        ..CallOptions::default()
    };
    exe.run(grid(2, 64), &[address, 100, 8, 5], &mut [], &options).unwrap();
    assert_eq!(data, (5..105).collect::<Vec<i64>>());
    // Not said to be of the host, its address is nobody's.
    let error = launch(&*exe, grid(2, 64), &[address, 100, 8, 5]).unwrap_err();
    assert!(error.to_string().contains("do not address the host's"), "{error}");
}

/// Prints every value and raises at a negative one.
const PICKY: &str = "
entry kernel @picky(%0 x: view<i64, 1, C, global, ro>) {
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
    let device = own_gpu();
    let exe = kernel_on(&*device, PICKY);
    let stream = device.default_stream().unwrap();
    let good = upload(&*device, &[5]);
    for _ in 0..2 {
        launch(&*exe, grid(1, 1), &line(&*good, 8)).unwrap();
        assert_eq!(device.take_output(), "");
        stream.synchronize().unwrap();
        assert_eq!(device.take_output(), "x is 5\n");
    }
    let bad = upload(&*device, &[4, 5, -6]);
    launch(&*exe, grid(1, 3), &line(&*bad, 8)).unwrap();
    let RunError::Raised(raised) = stream.synchronize().unwrap_err() else {
        panic!("no error of the kernel");
    };
    assert_eq!((raised.kind, raised.message.as_str()), (ErrorKind::Value, "negative"));
    assert_eq!(raised.thread, Some([2, 0, 0, 0, 0, 0]));
    assert_eq!(raised.module.unwrap().entry_function().name, "picky");
    let mut lines: Vec<String> = device.take_output().lines().map(String::from).collect();
    lines.sort();
    assert_eq!(lines, ["x is -6", "x is 4", "x is 5"]);
    // The error is told once, and a read is a wait, too.
    device.synchronize().unwrap();
    launch(&*exe, grid(1, 3), &line(&*bad, 8)).unwrap();
    assert!(matches!(bad.read(0, &mut [0; 8]), Err(RunError::Raised(_))));
    device.synchronize().unwrap();
}

#[test]
fn everyone_who_launched_what_failed_is_told() {
    let device = own_gpu();
    let exe = kernel_on(&*device, PICKY);
    let bad = upload(&*device, &[-1]);
    let barrier = std::sync::Barrier::new(3);
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                launch(&*exe, grid(1, 1), &line(&*bad, 8)).unwrap();
                barrier.wait();
                assert!(matches!(device.synchronize(), Err(RunError::Raised(_))));
                barrier.wait();
                device.synchronize().unwrap();
            });
        }
    });
}

#[test]
fn lines_that_do_not_fit_are_counted() {
    let device = own_gpu();
    let exe = kernel_on(&*device, "entry kernel @many(%0 n: i64) {\n  print \"n \", %0\n}\n");
    launch(&*exe, grid(200, 256), &[3]).unwrap();
    device.synchronize().unwrap();
    let output = device.take_output();
    let (lines, said) = output.trim_end().rsplit_once('\n').unwrap();
    let slots = weft_runtime::mailbox::RING_SLOTS;
    assert_eq!(lines.lines().count() as u64, slots / 2);
    let dropped = 200 * 256 - slots / 2;
    assert_eq!(
        said,
        format!("[{dropped} lines of print did not fit into the buffer of {} bytes]", 8 * slots)
    );
    launch(&*exe, grid(1, 1), &[4]).unwrap();
    device.synchronize().unwrap();
    assert_eq!(device.take_output(), "n 4\n");
}

#[test]
fn launches_that_cannot_be_are_refused() {
    let exe = kernel(ADD);
    let out = upload(gpu(), &[0; 10]);
    let [a, b, c] = line(&*out, 8);
    let refused = |launched: Launch, options: CallOptions<'_>| exe.run(launched, &[a, b, c, 1], &mut [], &options).unwrap_err().to_string();
    let plain = CallOptions::default();
    assert!(refused(grid(0, 1), plain).contains("at least one thread"));
    assert!(refused(grid(1, 1025), plain).contains("a block may have 1024 threads"));
    assert!(refused(Launch::Loop(vec![1]), plain).contains("cannot be launched"));
    let cooperative = CallOptions {
        cooperative: true,
        ..plain
    };
    assert!(refused(grid(1, 1), cooperative).contains("no cooperative launches"));
    let much = CallOptions {
        shared_bytes: 1 << 20,
        ..plain
    };
    assert!(refused(grid(1, 1), much).contains("bytes of shared memory"));
    assert!(
        launch(&*exe, grid(1, 1), &[a, b, c])
            .unwrap_err()
            .to_string()
            .contains("takes 4 argument slots")
    );
    let beyond = launch(&*exe, grid(1, 1), &[a, 1 << 20, c, 1]).unwrap_err().to_string();
    assert!(beyond.contains("ends before that"), "{beyond}");
    let odd = launch(&*exe, grid(1, 1), &[a + 1, 1, c, 1]).unwrap_err().to_string();
    assert!(odd.contains("no multiple of"), "{odd}");
    assert_eq!(download(&*out), [0; 10]);
}

#[test]
fn loops_run_over_every_point() {
    let source = "
entry loop<2> @fill(%0 i: i64, %1 j: i64, %2 out: view<i64, 2, C, global>, %3 by: i64) {
  %4: i64 = mul %0, %3
  %5: i64 = add %4, %1
  store %2[%0, %1] = %5
}
";
    let exe = kernel(source);
    for (rows, columns) in [(1u64, 1u64), (3, 1000), (1000, 3000)] {
        let out = upload(gpu(), &vec![-1; (rows * columns) as usize]);
        let args = [out.address(), rows, columns, 8 * columns, 8, columns];
        launch(&*exe, Launch::Loop(vec![rows, columns]), &args).unwrap();
        assert_eq!(download(&*out), (0..(rows * columns) as i64).collect::<Vec<_>>());
        launch(&*exe, Launch::Loop(vec![rows, 0]), &args).unwrap();
    }
}

#[test]
fn checked_mode_finds_an_index_outside_and_changes_nothing() {
    let source = "
entry kernel @over(%0 out: view<i64, 1, C, global>) {
  %1: i64 = thread_idx.x
  store %0[%1] = %1
}
";
    let module = Arc::new(text::parse(source).unwrap());
    let options = CompileOptions {
        checked: true,
        ..CompileOptions::default()
    };
    let exe = gpu().compile(module, options).unwrap();
    let out = upload(gpu(), &[7; 5]);
    let RunError::Raised(raised) = launch(&*exe, grid(1, 8), &line(&*out, 8)).unwrap_err() else {
        panic!("no error");
    };
    assert_eq!((raised.kind, raised.thread), (ErrorKind::Index, Some([5, 0, 0, 0, 0, 0])));
    assert_eq!(download(&*out), [7; 5]);
    launch(&*exe, grid(1, 5), &line(&*out, 8)).unwrap();
    assert_eq!(download(&*out), [0, 1, 2, 3, 4]);
}

#[test]
fn people_are_shown_what_was_made() {
    let exe = kernel(ADD);
    assert!(exe.inspect(Inspect::Ir).unwrap().contains("kernel @add"));
    assert!(exe.inspect(Inspect::Llvm).unwrap().contains("EntryPoint"));
    let assembly = exe.inspect(Inspect::Asm).unwrap();
    assert!(assembly.contains("OpEntryPoint") || !assembly.is_empty(), "{assembly}");
    let resources = exe.resources().unwrap();
    assert_eq!((resources.threads, resources.shared_bytes), (gpu().limits().threads_per_block, 0));
    assert!(matches!(exe.resident_blocks(32, 0), Err(RunError::Unsupported(_))));
}

#[test]
fn what_no_device_has_is_refused_when_compiled() {
    let module = Arc::new(text::parse("entry host @f(%0 n: i64) -> i64 {\n  return %0\n}\n").unwrap());
    let error = gpu().compile(module, CompileOptions::default()).unwrap_err();
    assert!(matches!(error, CompileError::Internal(_)), "{error}");
}

#[test]
fn devices_say_what_they_are() {
    let info = gpu().info();
    assert_eq!(info.name, gpu().id().to_string());
    assert!(!info.description.is_empty() && info.memory_bytes > 0, "{info:?}");
    let lines = weft_gpu::status().unwrap();
    assert!(lines[0].starts_with(&info.name), "{lines:?}");
    println!("{lines:#?}\n{:#?}", gpu().features().unwrap());
}

/// A kernel that writes into so many arrays.
fn writes_into(count: usize) -> String {
    let params: Vec<String> = (0..count).map(|i| format!("%{i} x{i}: view<i64, 1, C, global>")).collect();
    let stores: String = (0..count).map(|i| format!("  store %{i}[%{count}] = %{count}\n")).collect();
    format!(
        "entry kernel @many({}) {{\n  %{count}: i64 = thread_idx.x\n{stores}}}\n",
        params.join(", ")
    )
}

#[test]
fn as_many_pieces_of_memory_as_there_are_bindings() {
    let most = gpu().features().unwrap().bindings as usize - 1;
    for count in most - 2..=most {
        let exe = kernel(&writes_into(count));
        let own: Vec<_> = (0..count).map(|_| upload(gpu(), &[-1; 2])).collect();
        let args: Vec<u64> = own.iter().flat_map(|array| line(&**array, 8)).collect();
        launch(&*exe, grid(1, 2), &args).unwrap();
        gpu().synchronize().unwrap();
        assert!(own.iter().all(|array| download(&**array) == [0, 1]), "{count}");
    }
}

#[test]
fn more_pieces_of_memory_than_bindings_are_refused() {
    let count = gpu().features().unwrap().bindings as usize;
    let exe = kernel(&writes_into(count));
    let own: Vec<_> = (0..count).map(|_| upload(gpu(), &[-1; 2])).collect();
    let args: Vec<u64> = own.iter().flat_map(|array| line(&**array, 8)).collect();
    let error = launch(&*exe, grid(1, 2), &args).unwrap_err();
    assert!(error.to_string().contains(&format!("lie in {count} pieces of memory")), "{error}");
    // In one piece they are one binding.
    let together = upload(gpu(), &vec![-1; 2 * count]);
    let args: Vec<u64> = (0..count as u64).flat_map(|i| [together.address() + 16 * i, 2, 8]).collect();
    launch(&*exe, grid(1, 2), &args).unwrap();
    assert_eq!(download(&*together), [0, 1].repeat(count));
    gpu().synchronize().unwrap();
}
