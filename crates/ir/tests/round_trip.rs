//! The text form gives back what was printed, whatever a module holds.

use weft_ir::text::{parse, print, print_with_spans, strip_spans};

/// Every statement, operation, flag and declaration once.
const EVERYTHING: &str = r#"const 0: f32[2, 2] = [1.0, -0.0, nan, 0x7fc00001]
const 1: c128[1] = [(1.0, -inf)]
const 2: bool[2] = bytes "0102"
const 3: u64[0] = []

entry host @main(%0 n: i64, %1 x: view<f64, 2, C, global, ro>, %2 t: (i64, (f32,), ())) -> (f64, view<u8, 0, any, global>) contract fastmath {
  local $0 acc: f64
  local $1: c64
  local $2 "odd name": view<f64, 1, row, const>
  array 0 tile: f32[16, 16] shared
  array 1 "": i8[] local
  unused %3 gone: i64
  unused %4: f32
  %5: f64 = 0.1
  %6: f64 = 0x7ff8000000000001
  %7: f32 = -inf
  %8: u64 = 18446744073709551615
  %9: i8 = -128
  %10: bool = true
  %11: c64 = (1.0, -0.0)
  %12: f64 = const f32 1.0
  %13 named: f64 = get $0
  %14: f64 exact = neg %5
  %15: f64 = floor_div %5, %6
  %16: bool = lt %5, %6
  %17: f64 = select %16, %5, %6
  %18: f64 = fma %5, %6, %5
  %19: f32 = cast %5
  %20: i64 = bitcast %5
  %21: c128 = complex %5, %6
  %22: f64 = re %21
  %23: f64 = im %21
  %24: (f64, f64) = tuple(%5, %6)
  %25: () = tuple()
  %26: f64 = item %24, 1
  %27: i64 = call @helper(%0, %8)
  %28: i64 = call @2()
  %29: i64 = dim %1, 1
  %30: f64 = load %1[%0, %29?]
  %31: f64 = load %1[].im
  %32: view<f64, 2, any, global> = slice %1[%0?, %0 len %29 step %27, .., new]
  %33: view<f64, 2, F, global> = transpose %1[1, 0]
  %34: view<f64, 1, C, global> = reshape %1[%0]
  %35: view<f64, 1, C, global> = alloc [%0]
  %36: view<f64, 2, C, global> = alloc zeroed [%0, %0]
  %37: view<f32, 2, C, shared> = array 0
  %38: view<f32, 2, C, const, ro> = const_array 0
  %39: f64 = atomic add %1[%0, %0], %5
  %40: f64 = atomic cas %1[%0, %0], %5 expected %6
  %41: i64 = thread_idx.x
  %42: i64 = lane_id
  set $0 = %5
  if %10 {
    barrier
  } else {
    raise zero_division "division \"by\" zero\n\\ é\u{1}"
  }
  if %10 {
    raise host 7 "odd"
  }
  if %10 {
  }
  loop {
    for %43 i: i64 = %0 to %29 step %0 {
      if %10 {
        break
      } else {
        continue
      }
    }
    parfor (%44 i: i64, %45: i64) in (%0, %0) reduce($0 add, $1 mul) parallel {
      store %1[%44, %45?].re = %5
    }
    parfor () in () threads {
    }
    scope ^0 {
      leave ^0
    }
  }
  launch @points over (%0, %0) with (%5) into ($0) parallel
  launch @points over () with () threads
  print "a", %0, complex(%5, %6), "b"
  print
  return
  %46: i64 = 5
  return %0
}

device @helper(%0: i64, %1: u64) -> i64 {
  return %0
}

device @twin() -> i64 {
}

kernel @twin() {
}

loop<2> @points(%0: i64, %1: i64, %2 a: f64) reduce($0 add, $1 xor) fastmath {
  local $0 sum: f64
  local $1: i32
}

host @"<lambda>.f"() {
}

device @sorted(%0: i64) -> i64 library(sort) contract rare {
}

kernel @fill(%0: i64) library("fill.<lambda>") numba max_threads 64 min_blocks 2 max_registers 32 {
}
"#;

#[test]
fn prints_what_it_parsed() {
    let module = parse(EVERYTHING).unwrap();
    assert_eq!(print(&module), EVERYTHING);
    assert_eq!(parse(&print(&module)).unwrap(), module);
}

#[test]
fn spans_round_trip_when_asked_for() {
    let text = "source 0 \"a.py\" line 7 \"def f():\\n  pass\\n\"\n\nhost @f(%0: bool) {\n  if %0 @0:1..2 {\n    return @0:3..15\n  }\n}\n";
    let mut module = parse(text).unwrap();
    assert_eq!(print_with_spans(&module), text);
    strip_spans(&mut module);
    assert_eq!(parse(&print(&module)).unwrap(), module);
}

#[test]
fn errors_say_where() {
    let cases = [
        ("host @f() {\n  %0: i64 = 1\n  boom\n}", "3:3: `boom` is no statement"),
        ("host @f() library {\n}", "1:19: `(` is expected here"),
        (
            "host @f() library() {\n}",
            "1:19: the name that the library has the function under is expected here",
        ),
        (
            "host @f() {\n  %1: i64 = 1\n}",
            "3:1: %0 is never defined; write `unused %0: type` to keep the number",
        ),
        ("host @f(%0: f24) {}", "1:13: `f24` is no scalar type"),
        ("host @f() { %0: u8 = 1.5 }", "1:22: a constant of type u8 is expected here"),
        ("host @f() {", "1:12: a word is expected here"),
        ("host @f() {}\nhost @g() {}", "2:13: one function must be marked `entry`"),
        ("host @f() { %0: i64 = call @g() }", "1:30: there is no function @g"),
        ("host @f() { raise value \"x }", "1:29: the string is not closed"),
        ("host @f(%0: i64) { %0: f64 = 1.0 }", "1:28: %0 has another name or type elsewhere"),
        ("host @f() { ! }", "1:13: unexpected character '!'"),
    ];
    for (text, expected) in cases {
        assert_eq!(parse(text).unwrap_err().to_string(), expected, "{text}");
    }
}

#[test]
fn deep_nesting_is_refused() {
    let text = format!("host @f() {{ {}", "loop { ".repeat(100_000));
    assert!(parse(&text).unwrap_err().message.contains("nested too deeply"));
    let text = format!("host @f(%0: {}", "(".repeat(100_000));
    assert!(parse(&text).unwrap_err().message.contains("nested too deeply"));
}

#[test]
fn every_float_round_trips() {
    let mut bits = 0x0123_4567_89ab_cdefu64;
    for _ in 0..2000 {
        bits = bits.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        let text = format!("host @f() {{ %0: f64 = {bits:#x} %1: f32 = {:#x} }}", bits >> 32);
        let module = parse(&text).unwrap();
        assert_eq!(parse(&print(&module)).unwrap(), module);
    }
}

/// Texts with pieces cut out, doubled and swapped: parser and verifier give an answer, and what parses round-trips.
#[test]
fn damaged_texts_are_answered() {
    let mut state = 1u64;
    let mut below = |n: usize| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 33) as usize % n
    };
    let mut parsed = 0;
    for _ in 0..3000 {
        let mut lines: Vec<String> = EVERYTHING.lines().map(str::to_owned).collect();
        for _ in 0..1 + below(3) {
            let at = below(lines.len());
            match below(4) {
                0 => drop(lines.remove(at)),
                1 => lines.insert(at, lines[below(lines.len())].clone()),
                2 => {
                    let other = below(lines.len());
                    lines.swap(at, other);
                }
                _ => {
                    let mut chars: Vec<char> = lines[at].chars().collect();
                    if !chars.is_empty() {
                        chars.remove(below(chars.len()));
                    }
                    lines[at] = chars.into_iter().collect();
                }
            }
        }
        if let Ok(module) = parse(&lines.join("\n")) {
            parsed += 1;
            let _ = weft_ir::verify::verify(&module);
            assert_eq!(parse(&print(&module)).unwrap(), module);
        }
    }
    assert!(parsed > 300);
}
