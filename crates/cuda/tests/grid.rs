//! Barriers of the grid that not all threads come to. In a process of its own: errors are told to all who wait.

#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use common::*;
use weft_ir::ErrorKind;
use weft_runtime::{Device, RunError};

/// `%1`: the thread that ends before the first barrier, in blocks up to number `%2`; by an error if `%3`, else by a return.
const LEFT_EARLY: &str = "
entry kernel @k(%0 out: view<i64, 1, C, global>, %1 who: i64, %2 upto: i64, %3 fails: bool) {
  local $0 n: i64
  %4: i64 = 0
  set $0 = %4
  %5: i64 = thread_idx.x
  %6: i64 = block_idx.x
  %7: bool = eq %5, %1
  %8: bool = lt %1, %4
  %9: bool = or %7, %8
  %10: bool = lt %6, %2
  %11: bool = and %9, %10
  if %11 {
    %12: i64 = 100
    store %0[%6] = %12
    if %3 {
      raise value \"early\"
    }
    return
  }
  grid_barrier
  %13: i64 = 1
  %14: i64 = block_dim.x
  %15: i64 = sub %14, %13
  %16: bool = eq %5, %15
  if %16 {
    %17: i64 = grid_dim.x
    %18: i64 = sub %17, %13
    %19: i64 = sub %18, %6
    %20: i64 = load %0[%19]
    set $0 = %20
  }
  grid_barrier
  if %16 {
    %21: i64 = get $0
    store %0[%6] = %21
  }
  for %22: i64 = %4 to %6 step %13 {
    grid_barrier
  }
}
";

#[test]
fn threads_and_blocks_that_have_ended_are_not_waited_for_by_the_grid() {
    let exe = kernel(LEFT_EARLY);
    for block in [1u32, 2, 40, 64] {
        // The last thread does the work; each of the others, and all (-1), end early, in some blocks and in all of them.
        let threads: Vec<i64> = [-1, 0, 1, 31, 33].into_iter().filter(|who| *who < i64::from(block) - 1).collect();
        for who in threads {
            for upto in [1, 3, 5] {
                for fails in [false, true] {
                    let out = upload(device(0), &[0, 1, 2, 3, 4]);
                    let [a, b, c] = line(&*out, 8);
                    launch(&*exe, grid(5, block), &[a, b, c, who as u64, upto as u64, u64::from(fails)]).unwrap();
                    let ended = device(0).synchronize();
                    match &ended {
                        Err(RunError::Raised(raised)) => assert!(fails && raised.kind == ErrorKind::Value, "{raised:?}"),
                        other => assert!(!fails && other.is_ok(), "block {block}, thread {who}, {upto} blocks: {other:?}"),
                    }
                    let written = |i: i64| if i < upto { 100 } else { i };
                    let alive = |i: i64| who >= 0 || i >= upto;
                    let expected: Vec<i64> = (0..5).map(|i| if alive(i) { written(4 - i) } else { 100 }).collect();
                    assert_eq!(download(&*out), expected, "block {block}, thread {who}, {upto} blocks");
                }
            }
        }
    }
}
