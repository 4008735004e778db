// Calls of the C interface, with pointers to locals.
#![allow(unsafe_code, clippy::undocumented_unsafe_blocks)]
//! PTX that is cut, stirred or not PTX at all: it is refused with a line, or loads; it never takes the process down and never takes long.
//!
//! `WEFT_DAMAGED_PTX=100000` tries as many texts instead of the usual few.

mod support;

use std::time::{Duration, Instant};

use support::*;

/// A module with most of what a module can have.
const WHOLE: &str = r#".version 8.0
.target sm_90, debug
.address_size 64
.extern .func (.param .b32 r) vprintf (.param .b64 a, .param .b64 b);
.visible .const .align 8 .b8 c[8] = {0, 0, 240, 63};
.extern .shared .align 16 .b8 d[];
.global .align 8 .u64 p[2] = {generic(c), c+4};
.global .align 4 .f32 f[3] = {0f3F800000, 1.5, -2};
.func (.param .b32 r) twice(.param .b32 x) { .reg .b32 %r<3>; ld.param.b32 %r1, [x]; add.s32 %r2, %r1, %r1; st.param.b32 [r+0], %r2; ret; }
.visible .entry k(.param .u64 .ptr .global .align 1 a, .param .u8 b, .param .align 8 .b8 z[24])
.reqntid 128, 2 .minnctapersm 2
{
  .reg .pred %p<5>; .reg .b16 %h<4>; .reg .b32 %r<9>; .reg .b64 %rd<5>; .reg .f32 %f<4>;
  .local .align 4 .b8 depot[160]; .shared .align 4 .b8 s[64];
  ld.param.u64 %rd1, [a]; ld.param.u8 %h1, [b]; ld.param.v2.b32 {%r1, %r2}, [z+8];
  mov.u32 %r3, %tid.x; setp.lt.and.s32 %p1|%p2, %r3, -7, !%p3; @!%p1 bra.uni $A;
  mad.wide.s32 %rd2, %r3, 0x10, %rd1; cvt.rn.f32.s32 %f1, %r3; fma.rn.ftz.f32 %f2, %f1, 0f3F800000, %f1;
  st.global.v2.f32 [%rd2+-8], {%f1, %f2}; atom.shared.add.u32 %r4, [s+4], 1; bar.sync 0;
  shfl.sync.down.b32 %r5|%p2, %r4, 1, 31, -1; ld.local.b32 %r6, [depot+12];
  { .param .b32 x0; .param .b32 r0; st.param.b32 [x0], %r6; call.uni (r0), twice, (x0); ld.param.b32 %r7, [r0]; }
  $T: .branchtargets $A, $B; brx.idx %r7, $T;
  .pragma "nounroll"; .loc 1 2 3
$A: lop3.b32 %r8, %r1, %r2, %r3, 0x96;
$B: ret;
}
.section .debug_str { .b8 1, 2, 3 }
"#;

/// What texts are made worse with.
const PIECES: [&str; 34] = [
    "{",
    "}",
    "(",
    ")",
    "[",
    "]",
    "<",
    ">",
    ",",
    ";",
    ":",
    "-",
    "+",
    "|",
    "!",
    "@",
    "=",
    "\"",
    "/*",
    "//",
    ".reg",
    ".b128",
    ".param",
    "%r",
    "%p9999999",
    "0",
    "18446744073709551615",
    "0f3F800000",
    "1e309",
    ".align 0",
    "[4294967295][4294967295]",
    "<4000000000>",
    ".v4",
    "$A:",
];

struct Dice(u64);

impl Dice {
    fn roll(&mut self, below: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        ((self.0 >> 33) as usize) % below.max(1)
    }
}

/// A text from a seed: bytes of noise, pieces, or the module with some of it lost, doubled, swapped or replaced.
fn text(seed: u64) -> String {
    let mut dice = Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let noise = |dice: &mut Dice, count: usize| (0..count).map(|_| dice.roll(255) as u8 + 1).collect::<Vec<u8>>();
    let mut bytes = WHOLE.as_bytes().to_vec();
    match dice.roll(10) {
        0 => bytes = noise(&mut dice, 200),
        1 => {
            let pieces: Vec<&str> = (0..60).map(|_| PIECES[dice.roll(PIECES.len())]).collect();
            bytes = format!("{}{}", &WHOLE[..50], pieces.join(" ")).into_bytes();
        }
        2 => {
            let piece = PIECES[dice.roll(PIECES.len())];
            let at = dice.roll(bytes.len());
            bytes.splice(at..at, piece.repeat(1 + dice.roll(20000)).bytes());
        }
        _ => {
            for _ in 0..=dice.roll(6) {
                let (at, other) = (dice.roll(bytes.len()), dice.roll(bytes.len()));
                let end = (at + dice.roll(24)).min(bytes.len());
                match dice.roll(5) {
                    0 => _ = bytes.drain(at..end),
                    1 => bytes[at] = 1 + dice.roll(127) as u8,
                    2 => _ = bytes.splice(at..at, PIECES[dice.roll(PIECES.len())].bytes()),
                    3 => {
                        let part = bytes[at..end].to_vec();
                        bytes.splice(other..other, part);
                    }
                    _ => bytes.truncate(at.max(60)),
                }
            }
        }
    }
    String::from_utf8_lossy(&bytes).replace('\0', " ")
}

#[test]
fn damaged_modules_are_refused_or_load() {
    let gpu = Gpu::new();
    assert!(gpu.try_load(WHOLE).is_ok(), "{:?}", gpu.try_load(WHOLE));
    let count = std::env::var("WEFT_DAMAGED_PTX").ok().and_then(|n| n.parse().ok()).unwrap_or(3000);
    let (mut loaded, mut refused) = (0, 0);
    for seed in 0..count {
        let text = text(seed);
        let began = Instant::now();
        match gpu.try_load(&text) {
            Ok(module) => {
                loaded += 1;
                assert_eq!(unsafe { cuModuleUnload(module) }, 0, "seed {seed}");
            }
            // 999 would be a panic that was caught.
            Err((code, log)) => {
                refused += 1;
                assert!(matches!(code, 209 | 218 | 222), "seed {seed}: code {code}: {log}\n{text}");
                assert!(
                    log.contains("line") || log.contains("target") || log.contains("ptxas"),
                    "seed {seed}: {log}"
                );
            }
        }
        let took = began.elapsed();
        assert!(took < Duration::from_secs(20), "seed {seed} took {took:?}");
    }
    // Both kinds must come up for the test to say anything.
    assert!(loaded > 0 && refused > count / 4, "{loaded} loaded, {refused} refused");
}

/// Nesting without an end is no way into the parser's own stack.
#[test]
fn nesting_is_bounded() {
    let gpu = Gpu::new();
    let deep = |open: &str| {
        format!(
            "{HEADER}.visible .entry k() {{ .reg .b32 %r<4>; mov.b32 %r1, {}",
            open.repeat(100_000)
        )
    };
    for open in ["{", "(", "[", "-", "!"] {
        assert_eq!(gpu.try_load(&deep(open)).unwrap_err().0, 218, "{open}");
    }
    let blocks = format!("{HEADER}.visible .entry k() {{ {}", "{".repeat(100_000));
    assert_eq!(gpu.try_load(&blocks).unwrap_err().0, 218);
    let values = format!("{HEADER}.global .b32 x[2] = {}", "{".repeat(100_000));
    assert_eq!(gpu.try_load(&values).unwrap_err().0, 218);
}
