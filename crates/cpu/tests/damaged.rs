//! Damaged object code is refused or loaded, never a panic or a wild write. What loads is not run. `WEFT_DAMAGED=100000` tries that many.

#![allow(clippy::unwrap_used)]

use weft_ir::random::damage;
use weft_llvm::{Library, Options, Pipeline, compile};

/// Code, constants, variables, calls of given functions and of C's: every kind of section and relocation there is.
const TEXT: &str = "
@table = private constant [4 x i64] [i64 10, i64 20, i64 30, i64 40]
@names = internal constant [2 x ptr] [ptr @table, ptr @count]
@count = internal global i64 5
@room = internal global [100 x i64] zeroinitializer
declare i64 @triple(i64)
declare double @fmod(double, double)
define i64 @f(i64 %i) {
  %p = getelementptr [4 x i64], ptr @table, i64 0, i64 %i
  %v = load i64, ptr %p
  %t = call i64 @triple(i64 %v)
  %q = getelementptr [2 x ptr], ptr @names, i64 0, i64 %i
  %c = load ptr, ptr %q
  %n = load i64, ptr %c
  %r = getelementptr [100 x i64], ptr @room, i64 0, i64 %n
  store i64 %t, ptr %r
  %s = add i64 %t, %n
  ret i64 %s
}
define double @g(double %a, double %b) {
  %r = frem double %a, %b
  ret double %r
}
";

extern "C" fn triple(x: i64) -> i64 {
    3 * x
}

#[test]
fn damaged_objects_are_no_panic() {
    let object = compile(TEXT, &Options::host(Pipeline::Scalar)).unwrap().bytes;
    let symbols = [("triple", triple as *const () as usize)];
    assert!(Library::load(&object, &symbols).is_ok());
    let most = std::env::var("WEFT_DAMAGED").map_or(20_000, |n| n.parse().unwrap());
    let loaded = (0..most)
        .filter(|&seed| Library::load(&damage(seed, &object), &symbols).is_ok())
        .count();
    assert!(loaded as u64 > most / 50, "only {loaded} load: the damage is seen at once");
}

#[test]
fn every_length_cut_off_is_refused_or_loaded() {
    let object = compile(TEXT, &Options::host(Pipeline::Scalar)).unwrap().bytes;
    let symbols = [("triple", triple as *const () as usize)];
    for length in 0..object.len() {
        assert!(
            Library::load(&object[..length], &symbols).is_err(),
            "{length} of {} bytes",
            object.len()
        );
    }
}
