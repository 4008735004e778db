//! Launches of hand-written LLVM IR: contexts, the pool, errors, interruption, forks.

#![allow(unsafe_code)]

use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use weft_ir::{ErrorKind, Scalar, Span};
use weft_llvm::Pipeline;
use weft_runtime::{Buffer, CompileError, Hooks, Outcome, RunError};

use super::code::Code;
use super::context::Context;
use super::executable::Call;
use super::memory::HostBuffer;
use super::spread::{self, Units, Work};
use super::{num_threads, set_num_threads};
use crate::emit::{Emitted, ErrorSite, PrintPart, PrintSite};

/// Adds one to `array[block]`, whose address is the first argument; `%work` rounds of idling per block.
const TOUCH: &str = "
define i32 @touch(ptr %ctx, ptr %args, ptr %extra, i64 %begin, i64 %end) nounwind {
entry:
  %array = load ptr, ptr %args
  %p1 = getelementptr i64, ptr %args, i64 1
  %work = load i64, ptr %p1
  br label %loop
loop:
  %i = phi i64 [%begin, %entry], [%next, %step]
  %c = icmp slt i64 %i, %end
  br i1 %c, label %idle, label %done
idle:
  %k = phi i64 [0, %loop], [%k1, %idle]
  %k1 = add i64 %k, 1
  call void asm sideeffect \"\", \"\"()
  %kc = icmp slt i64 %k1, %work
  br i1 %kc, label %idle, label %step
step:
  %p = getelementptr i64, ptr %array, i64 %i
  %old = load i64, ptr %p
  %new = add i64 %old, 1
  store i64 %new, ptr %p
  %next = add i64 %i, 1
  br label %loop
done:
  ret i32 0
}
";

fn emitted(text: &str, entry: &str) -> Emitted {
    Emitted {
        text: text.into(),
        entry: entry.into(),
        error_sites: vec![],
        print_sites: vec![],
        call_sites: vec![],
        symbols: vec![],
        gang_bytes: 0,
        recursive: false,
    }
}

fn try_code(text: &str, entry: &str) -> Result<Code, CompileError> {
    Code::new(emitted(text, entry), Pipeline::Gang, false)
}

fn code(text: &str, entry: &str) -> Code {
    try_code(text, entry).unwrap()
}

fn launch(code: &Code, args: &[u64], results: &mut [u64], units: u64, hooks: &Hooks) -> Result<Outcome, RunError> {
    let context = Context::new(&code.sites, hooks);
    let call = Call {
        context: &context,
        code,
        deep: code.is_deep(0, 0)?,
        args: args.as_ptr(),
        extra: results.as_mut_ptr(),
    };
    call.launch(units, 1);
    context.finish(|_| true)
}

#[test]
fn every_block_runs_once() {
    let touch = code(TOUCH, "touch");
    for work in [0, 100, 5000] {
        let mut counts = vec![0u64; 3001];
        for _ in 0..5 {
            launch(&touch, &[counts.as_mut_ptr() as u64, work], &mut [], 3001, &Hooks::default()).unwrap();
        }
        assert!(counts.iter().all(|&n| n == 5), "work {work}");
    }
}

#[test]
fn several_threads_launch_at_once() {
    let touch = code(TOUCH, "touch");
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                let mut counts = vec![0u64; 500];
                for _ in 0..10 {
                    launch(&touch, &[counts.as_mut_ptr() as u64, 3000], &mut [], 500, &Hooks::default()).unwrap();
                }
                assert!(counts.iter().all(|&n| n == 10));
            });
        }
    });
}

/// A launch whose units launch.
struct Nested<'a> {
    inner: &'a Sum,
    units: u64,
}

#[derive(Default)]
struct Sum(AtomicU64);

impl Work for Sum {
    fn run(&self, chunk: Range<u64>) -> bool {
        for i in chunk {
            // Long enough to be worth spreading.
            std::thread::sleep(std::time::Duration::from_micros(50));
            self.0.fetch_add(i, Ordering::Relaxed);
        }
        true
    }

    fn interrupted(&self) -> bool {
        false
    }
}

impl Work for Nested<'_> {
    fn run(&self, chunk: Range<u64>) -> bool {
        for _ in chunk {
            spread::run(&spread::Cost::default(), Units::new(self.units, 1), self.inner);
        }
        true
    }

    fn interrupted(&self) -> bool {
        false
    }
}

#[test]
fn a_launch_inside_a_launch_ends() {
    let inner = Sum::default();
    let nested = Nested { inner: &inner, units: 40 };
    spread::run(&spread::Cost::default(), Units::new(20, 1), &nested);
    assert_eq!(inner.0.load(Ordering::Relaxed), 20 * (0..40).sum::<u64>());
}

/// Work of next to no time.
struct Nothing;

impl Work for Nothing {
    fn run(&self, _: Range<u64>) -> bool {
        true
    }

    fn interrupted(&self) -> bool {
        false
    }
}

#[test]
fn a_launch_that_became_slow_is_noticed() {
    let cost = spread::Cost::default();
    for _ in 0..40 {
        spread::run(&cost, Units::new(100, 1), &Nothing);
    }
    let slow = Sum::default();
    for _ in 0..16 {
        spread::run(&cost, Units::new(4, 1), &slow);
    }
    assert_eq!(slow.0.load(Ordering::Relaxed), 16 * (0..4).sum::<u64>());
    assert!(cost.get().is_some_and(|each| each > 10_000.0), "{cost:?}");
}

#[test]
fn a_raise_ends_the_launch_with_its_site() {
    let text = "
declare void @weft_raise(ptr, i32, ptr)
declare void @weft_print(ptr, i32, ptr)
define i32 @f(ptr %ctx, ptr %args, ptr %extra, i64 %begin, i64 %end) nounwind {
entry:
  %hit = icmp sge i64 %end, 70
  br i1 %hit, label %bad, label %good
bad:
  call void @weft_print(ptr %ctx, i32 0, ptr %args)
  call void @weft_raise(ptr %ctx, i32 1, ptr %args)
  ret i32 1
good:
  ret i32 0
}
";
    let site = |message: &str| ErrorSite {
        kind: ErrorKind::ZeroDivision,
        message: message.into(),
        span: Span::NONE,
    };
    let mut emitted = emitted(text, "f");
    emitted.error_sites = vec![site("no"), site("yes")];
    emitted.print_sites = vec![PrintSite {
        items: vec![
            PrintPart::Text("x = ".into()),
            PrintPart::Value(Scalar::F64),
            PrintPart::Text(" ".into()),
            PrintPart::Value(Scalar::Bool),
        ],
    }];
    let code = Code::new(emitted, Pipeline::Scalar, false).unwrap();
    let args = [2.5f64.to_bits(), 1, 3, 4, 5, 6];
    let error = launch(&code, &args, &mut [], 1000, &Hooks::default()).unwrap_err();
    let RunError::Raised(raised) = error else { panic!("{error:?}") };
    assert_eq!((raised.kind, raised.message.as_str()), (ErrorKind::ZeroDivision, "yes"));
    assert_eq!(raised.thread.map(|t| t[1..].to_vec()), Some(vec![1, 3, 4, 5, 6]));
    assert!(raised.output.starts_with("x = 2.5 True\n"), "{}", raised.output);
}

#[test]
fn allocations_are_aligned_and_kept_for_results() {
    let text = "
declare ptr @weft_alloc(ptr, i64, i32)
define i32 @f(ptr %ctx, ptr %args, ptr %extra, i64 %begin, i64 %end) nounwind {
  %bytes = load i64, ptr %args
  %p = call ptr @weft_alloc(ptr %ctx, i64 %bytes, i32 1)
  %null = icmp eq ptr %p, null
  br i1 %null, label %bad, label %good
bad:
  ret i32 1
good:
  store ptr %p, ptr %extra
  ret i32 0
}
";
    let code = code(text, "f");
    let mut results = [0];
    let outcome = launch(&code, &[1000], &mut results, 1, &Hooks::default()).unwrap();
    assert_eq!(outcome.owned.len(), 1);
    assert_eq!((outcome.owned[0].address(), outcome.owned[0].bytes()), (results[0], 1000));
    assert_eq!(results[0] % 64, 0);
    let error = launch(&code, &[u64::MAX / 2 - 4096], &mut results, 1, &Hooks::default()).unwrap_err();
    assert!(matches!(error, RunError::OutOfMemory(_)), "{error:?}");
    let negative = launch(&code, &[-8i64 as u64], &mut results, 1, &Hooks::default()).unwrap_err();
    assert!(matches!(negative, RunError::OutOfMemory(_)), "{negative:?}");
}

/// Writes to the far ends of an array of `bytes` on the stack and adds what it reads back to `array[block]`.
fn deep(bytes: usize) -> String {
    format!(
        "
define i32 @deep(ptr %ctx, ptr %args, ptr %extra, i64 %begin, i64 %end) nounwind {{
  %big = alloca [{bytes} x i8]
  call void asm sideeffect \"\", \"r,~{{memory}}\"(ptr %big)
  %last = getelementptr i8, ptr %big, i64 {}
  store volatile i8 1, ptr %big
  store volatile i8 2, ptr %last
  %a = load volatile i8, ptr %big
  %b = load volatile i8, ptr %last
  %s = add i8 %a, %b
  %sum = zext i8 %s to i64
  %array = load ptr, ptr %args
  %p = getelementptr i64, ptr %array, i64 %begin
  store i64 %sum, ptr %p
  ret i32 0
}}
",
        bytes - 1
    )
}

#[test]
fn large_frames_run_on_large_stacks_and_too_large_ones_are_refused() {
    let code = code(&deep(12 << 20), "deep");
    let mut sums = [0u64; 2];
    launch(&code, &[sums.as_mut_ptr() as u64], &mut [], 1, &Hooks::default()).unwrap();
    assert_eq!(sums, [3, 0]);
    let error = try_code(&deep(100 << 20), "deep").unwrap_err();
    assert!(
        matches!(&error, CompileError::Unsupported { message, .. } if message.contains("bytes of stack")),
        "{error:?}"
    );
}

/// A host function that sums `array[0..n]` by a `Loop`: the same launch whatever the threads.
const REDUCE: &str = "
declare i32 @weft_launch(ptr, ptr, ptr, ptr, ptr, i64, i64, i32, i64)
define internal i32 @body(ptr %ctx, ptr %args, ptr %extra, i64 %begin, i64 %end) nounwind {
entry:
  %p1 = getelementptr i64, ptr %args, i64 1
  %array = load ptr, ptr %p1
  br label %loop
loop:
  %i = phi i64 [%begin, %entry], [%next, %step]
  %s = phi double [0.0, %entry], [%s1, %step]
  %c = icmp slt i64 %i, %end
  br i1 %c, label %step, label %done
step:
  %p = getelementptr double, ptr %array, i64 %i
  %v = load double, ptr %p
  %s1 = fadd double %s, %v
  %next = add i64 %i, 1
  br label %loop
done:
  store double %s, ptr %extra
  ret i32 0
}
define internal void @combine(ptr %into, ptr %from) nounwind {
  %a = load double, ptr %into
  %b = load double, ptr %from
  %c = fadd double %a, %b
  store double %c, ptr %into
  ret void
}
define i32 @sum(ptr %ctx, ptr %args, ptr %extra, i64 %begin, i64 %end) nounwind {
  store double 0.0, ptr %extra
  %r = call i32 @weft_launch(ptr %ctx, ptr @body, ptr @combine, ptr %args, ptr %extra, i64 1, i64 1, i32 1, i64 16384)
  ret i32 %r
}
";

#[test]
fn reductions_do_not_depend_on_the_number_of_threads() {
    let sum = code(REDUCE, "sum");
    let values: Vec<f64> = (0..1_000_003).map(|i| 1.0 / f64::from(i + 1)).collect();
    let mut seen = Vec::new();
    for threads in [1, 2, 3, 7] {
        set_num_threads(threads);
        assert_eq!(num_threads(), threads);
        let mut result = [0];
        launch(
            &sum,
            &[values.len() as u64, values.as_ptr() as u64],
            &mut result,
            1,
            &Hooks::default(),
        )
        .unwrap();
        seen.push(result[0]);
    }
    set_num_threads(0);
    assert!(seen.iter().all(|bits| *bits == seen[0]));
    let expected: f64 = values.iter().sum();
    assert!((f64::from_bits(seen[0]) - expected).abs() < 1e-9);
}

#[test]
fn an_interrupt_stops_a_long_launch() {
    static ASKED: AtomicBool = AtomicBool::new(false);
    fn interrupted() -> bool {
        ASKED.store(true, Ordering::Relaxed);
        true
    }
    let touch = code(TOUCH, "touch");
    let mut counts = vec![0u64; 100_000];
    let hooks = Hooks {
        interrupted: Some(interrupted),
    };
    // Seconds of work if it were not stopped.
    let error = launch(&touch, &[counts.as_mut_ptr() as u64, 1_000_000], &mut [], 100_000, &hooks).unwrap_err();
    assert_eq!(error, RunError::Interrupted);
    assert!(ASKED.load(Ordering::Relaxed));
    assert!(counts.contains(&0));
}

#[cfg(unix)]
#[test]
fn a_forked_child_can_launch() {
    let touch = code(TOUCH, "touch");
    let mut counts = vec![0u64; 300];
    launch(&touch, &[counts.as_mut_ptr() as u64, 20_000], &mut [], 300, &Hooks::default()).unwrap();
    // SAFETY: the child launches, compiles and leaves without unwinding or running the parent's exit handlers.
    unsafe {
        let child = libc::fork();
        if child == 0 {
            let again = launch(&touch, &[counts.as_mut_ptr() as u64, 20_000], &mut [], 300, &Hooks::default());
            // Nobody has kept the code of this text.
            let mut fresh = emitted(TOUCH, "touch");
            fresh.text += &format!("; {:?}\n", std::time::SystemTime::now());
            let compiled = Code::new(fresh, Pipeline::Gang, false);
            let fine = again.is_ok() && compiled.is_ok() && counts.iter().all(|&n| n == 2);
            libc::_exit(i32::from(!fine));
        }
        let mut status = -1;
        libc::waitpid(child, &mut status, 0);
        assert!(libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == 0);
    }
}

#[test]
fn empty_allocations_have_addresses_of_their_own() {
    let (a, b) = (HostBuffer::new(0, false).unwrap(), HostBuffer::new(0, false).unwrap());
    assert_ne!(a.address(), b.address());
    assert!(a.holds(a.address()));
}

/// Remembers where chunks started.
#[derive(Default)]
struct Starts(Mutex<Vec<Range<u64>>>);

impl Work for Starts {
    fn run(&self, chunk: Range<u64>) -> bool {
        self.0.lock().unwrap().push(chunk);
        true
    }

    fn interrupted(&self) -> bool {
        false
    }
}

#[test]
fn many_short_items_are_given_out_by_whole_lines() {
    for units in [1 << 14, 1_000_003] {
        for alone in [true, false] {
            let starts = Starts::default();
            match alone {
                true => spread::alone(Units::new(units, 1), &starts),
                false => spread::run(&spread::Cost::default(), Units::new(units, 1), &starts),
            }
            let mut chunks = starts.0.into_inner().unwrap();
            chunks.sort_by_key(|chunk| chunk.start);
            assert!(chunks.iter().all(|chunk| chunk.start % 64 == 0), "{chunks:?}");
            assert!(chunks.windows(2).all(|pair| pair[0].end == pair[1].start), "{chunks:?}");
            assert_eq!((chunks[0].start, chunks[chunks.len() - 1].end), (0, units));
        }
    }
}
