// Calls of the C interface, with pointers to locals.
#![allow(
    unsafe_code,
    clippy::undocumented_unsafe_blocks,
    clippy::precedence,
    clippy::neg_cmp_op_on_partial_ord
)]
//! Every arithmetic instruction against what Rust computes.

mod support;

use half::{bf16, f16};
use support::*;

type Oracle = fn(u64, u64, u64) -> u64;

/// An instruction on `A`, `B` and `C` giving `D`, each a register of the type's width (`r`, `d` or `h` before the letter).
struct Case {
    text: &'static str,
    oracle: Oracle,
}

fn case(text: &'static str, oracle: Oracle) -> Case {
    Case { text, oracle }
}

const INTERESTING: [u64; 40] = [
    0,
    1,
    2,
    3,
    5,
    7,
    8,
    15,
    16,
    31,
    32,
    33,
    63,
    64,
    65,
    127,
    128,
    255,
    256,
    0x7fff,
    0x8000,
    0xffff,
    0x1_0000,
    0x3c00,
    0x3f80_0000,
    0x4049_0fdb,
    0x7f80_0000,
    0x7fc0_0001,
    0x7fff_ffff,
    0x8000_0000,
    0x8000_0001,
    0xffff_ffff,
    0x1_0000_0000,
    0x3ff0_0000_0000_0000,
    0x400921fb54442d18,
    0x7fff_ffff_ffff_ffff,
    0x8000_0000_0000_0000,
    0x8000_0000_0000_0001,
    0xffff_ffff_ffff_ffff,
    0x1234_5678_9abc_def0,
];

fn random(count: usize, seed: u64) -> Vec<u64> {
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        state ^ state >> 29
    };
    (0..count).map(|_| next()).collect()
}

/// Triples: all pairs of interesting values with a third, then random ones.
fn triples() -> Vec<[u64; 3]> {
    let mut all = Vec::new();
    for (i, a) in INTERESTING.iter().enumerate() {
        for (j, b) in INTERESTING.iter().enumerate() {
            all.push([*a, *b, INTERESTING[(3 * i + 5 * j) % INTERESTING.len()]]);
        }
    }
    let noise = random(3 * 512, 42);
    all.extend(noise.chunks(3).map(|c| [c[0], c[1], c[2]]));
    // Near each other, where floats cancel.
    all.extend(noise.chunks(3).map(|c| [c[0], c[0] ^ 1 << 63 ^ (c[1] & 7), c[1]]));
    all.extend(noise.chunks(3).map(|c| [c[0], c[0] ^ 1 << 31 ^ (c[1] & 7), c[1] >> 32]));
    all
}

/// Floats whose values are not huge: random exponents would mostly overflow.
fn moderate() -> Vec<[u64; 3]> {
    let noise = random(3 * 1024, 7);
    let f = |x: u64| u64::from((((x >> 40) as f32 / 65536.0) - 128.0).to_bits());
    let mut all: Vec<_> = noise.chunks(3).map(|c| [f(c[0]), f(c[1]), f(c[2])]).collect();
    let d = |x: u64| ((x >> 11) as f64 / 2f64.powi(45) - 128.0).to_bits();
    all.extend(noise.chunks(3).map(|c| [d(c[0]), d(c[1]), d(c[2])]));
    all
}

/// Some forms came late: these tests are on the newest device that the double can be.
fn newest() {
    static ONCE: std::sync::Once = std::sync::Once::new();
    // SAFETY: before the driver, or another thread, reads the environment.
    ONCE.call_once(|| unsafe { std::env::set_var("WEFT_DOUBLE_CC", "10.0") });
}

fn of_newest(ptx: &str) -> String {
    ptx.replacen("8.0", "8.6", 1).replacen("sm_90", "sm_100", 1)
}

fn check(cases: &[Case], inputs: &[[u64; 3]]) {
    check_near(cases, inputs, |case, got, want| {
        let result = result_of(case.text);
        let nan32 = |x: u64| case.text.contains("f32") && f32::from_bits(x as u32).is_nan();
        let nan64 = |x: u64| case.text.contains("f64") && f64::from_bits(x).is_nan();
        got == want || (result == "%r13" && nan32(got) && nan32(want)) || (result == "%rd13" && nan64(got) && nan64(want))
    });
}

fn result_of(text: &str) -> &'static str {
    if text.contains("rD") {
        "%r13"
    } else if text.contains("dD") {
        "%rd13"
    } else {
        "%h13"
    }
}

fn check_near(cases: &[Case], inputs: &[[u64; 3]], same: impl Fn(&Case, u64, u64) -> bool) {
    newest();
    let gpu = Gpu::new();
    let column = |i: usize| inputs.iter().map(|t| t[i]).collect::<Vec<_>>();
    let data = [0, 1, 2].map(|i| gpu.upload(&column(i)));
    let out = gpu.alloc(8 * inputs.len());
    for case in cases {
        let mut text = case.text.to_owned();
        for (index, letter) in ["A", "B", "C", "D"].iter().enumerate() {
            for (prefix, register) in [("r", "%r"), ("d", "%rd"), ("h", "%h")] {
                text = text.replace(&format!("{prefix}{letter}"), &format!("{register}{}", 10 + index));
            }
        }
        let loads: String = (0..3)
            .map(|i| {
                let n = 10 + i;
                format!(
                    "  add.s64 %rd20, %rd{i}, %rd9;\n  ld.global.u64 %rd{n}, [%rd20];\n  cvt.u32.u64 %r{n}, %rd{n};\n  cvt.u16.u64 %h{n}, %rd{n};\n"
                )
            })
            .collect();
        let store = match result_of(case.text) {
            "%r13" => "cvt.u64.u32 %rd13, %r13;",
            "%h13" => "cvt.u64.u16 %rd13, %h13;",
            _ => "",
        };
        let k = gpu.kernel(&of_newest(&kernel(
            4,
            &format!(
                "  setp.ge.u32 %p1, %r0, {};\n  @%p1 ret;\n  mul.wide.u32 %rd9, %r0, 8;\n{loads}  {text};\n  {store}\n  add.s64 %rd20, %rd3, %rd9;\n  st.global.u64 [%rd20], %rd13;\n  ret;",
                inputs.len()
            ),
        )));
        gpu.run(k, inputs.len().div_ceil(96) as u32, 96, &[data[0], data[1], data[2], out]);
        let got: Vec<u64> = gpu.download(out, inputs.len());
        for ([a, b, c], got) in inputs.iter().zip(got) {
            let want = (case.oracle)(*a, *b, *c);
            assert!(
                same(case, got, want),
                "{}: a={a:#x} b={b:#x} c={c:#x}: got {got:#x}, expected {want:#x}",
                case.text
            );
        }
    }
}

fn b32(x: f32) -> u64 {
    u64::from(x.to_bits())
}

fn f(x: u64) -> f32 {
    f32::from_bits(x as u32)
}

fn d(x: u64) -> f64 {
    f64::from_bits(x)
}

fn h(x: u64) -> f16 {
    f16::from_bits(x as u16)
}

fn q(x: u64) -> bf16 {
    bf16::from_bits(x as u16)
}

fn signed_div(a: i64, b: i64, bits: u32) -> u64 {
    let q = if b == 0 { -1 } else { a.wrapping_div(b) };
    q as u64 & (u64::MAX >> (64 - bits))
}

#[test]
fn integers() {
    check(
        &[
            case("add.s32 rD, rA, rB", |a, b, _| u64::from((a as u32).wrapping_add(b as u32))),
            case("add.u64 dD, dA, dB", |a, b, _| a.wrapping_add(b)),
            case("add.s16 hD, hA, hB", |a, b, _| u64::from((a as u16).wrapping_add(b as u16))),
            case("add.sat.s32 rD, rA, rB", |a, b, _| {
                u64::from((a as i32).saturating_add(b as i32) as u32)
            }),
            case("sub.sat.s32 rD, rA, rB", |a, b, _| {
                u64::from((a as i32).saturating_sub(b as i32) as u32)
            }),
            case("sub.s64 dD, dA, dB", |a, b, _| a.wrapping_sub(b)),
            case("mul.lo.s32 rD, rA, rB", |a, b, _| u64::from((a as u32).wrapping_mul(b as u32))),
            case("mul.lo.u64 dD, dA, dB", |a, b, _| a.wrapping_mul(b)),
            case("mul.hi.s32 rD, rA, rB", |a, b, _| {
                u64::from(((i64::from(a as i32) * i64::from(b as i32)) >> 32) as u32)
            }),
            case("mul.hi.u32 rD, rA, rB", |a, b, _| u64::from(a as u32) * u64::from(b as u32) >> 32),
            case("mul.hi.s64 dD, dA, dB", |a, b, _| {
                ((i128::from(a as i64) * i128::from(b as i64)) >> 64) as u64
            }),
            case("mul.hi.u64 dD, dA, dB", |a, b, _| (u128::from(a) * u128::from(b) >> 64) as u64),
            case("mul.wide.s32 dD, rA, rB", |a, b, _| {
                (i64::from(a as i32) * i64::from(b as i32)) as u64
            }),
            case("mul.wide.u32 dD, rA, rB", |a, b, _| u64::from(a as u32) * u64::from(b as u32)),
            case("mul.wide.s16 rD, hA, hB", |a, b, _| {
                u64::from((i32::from(a as i16) * i32::from(b as i16)) as u32)
            }),
            case("mul.wide.u16 rD, hA, hB", |a, b, _| {
                u64::from(u32::from(a as u16) * u32::from(b as u16))
            }),
            case("mad.lo.s32 rD, rA, rB, rC", |a, b, c| {
                u64::from((a as u32).wrapping_mul(b as u32).wrapping_add(c as u32))
            }),
            case("mad.hi.u32 rD, rA, rB, rC", |a, b, c| {
                u64::from(((u64::from(a as u32) * u64::from(b as u32) >> 32) as u32).wrapping_add(c as u32))
            }),
            case("mad.wide.s32 dD, rA, rB, dC", |a, b, c| {
                (i64::from(a as i32) * i64::from(b as i32)).wrapping_add(c as i64) as u64
            }),
            case("mul24.lo.u32 rD, rA, rB", |a, b, _| (a & 0xff_ffff) * (b & 0xff_ffff) & 0xffff_ffff),
            case("div.s32 rD, rA, rB", |a, b, _| {
                signed_div(i64::from(a as i32), i64::from(b as i32), 32)
            }),
            case("div.u32 rD, rA, rB", |a, b, _| {
                (a as u32).checked_div(b as u32).map_or(0xffff_ffff, u64::from)
            }),
            case("div.s64 dD, dA, dB", |a, b, _| signed_div(a as i64, b as i64, 64)),
            case("rem.u64 dD, dA, dB", |a, b, _| a.checked_rem(b).unwrap_or(a)),
            case("rem.s32 rD, rA, rB", |a, b, _| {
                let (a, b) = (a as i32, b as i32);
                u64::from(if b == 0 { a } else { a.wrapping_rem(b) } as u32)
            }),
            case("div.s16 hD, hA, hB", |a, b, _| {
                signed_div(i64::from(a as i16), i64::from(b as i16), 16)
            }),
            case("abs.s32 rD, rA", |a, _, _| u64::from((a as i32).wrapping_abs() as u32)),
            case("neg.s64 dD, dA", |a, _, _| a.wrapping_neg()),
            case("min.s32 rD, rA, rB", |a, b, _| u64::from((a as i32).min(b as i32) as u32)),
            case("min.u32 rD, rA, rB", |a, b, _| u64::from((a as u32).min(b as u32))),
            case("max.s64 dD, dA, dB", |a, b, _| (a as i64).max(b as i64) as u64),
            case("max.u16 hD, hA, hB", |a, b, _| u64::from((a as u16).max(b as u16))),
            case("sad.u32 rD, rA, rB, rC", |a, b, c| {
                u64::from((a as u32).abs_diff(b as u32).wrapping_add(c as u32))
            }),
            case("add.u16x2 rD, rA, rB", |a, b, _| {
                u64::from((a as u16).wrapping_add(b as u16)) | u64::from(((a >> 16) as u16).wrapping_add((b >> 16) as u16)) << 16
            }),
            case("max.s16x2 rD, rA, rB", |a, b, _| {
                u64::from((a as i16).max(b as i16) as u16) | u64::from(((a >> 16) as i16).max((b >> 16) as i16) as u16) << 16
            }),
            case("add.cc.u32 rD, rA, rB; addc.u32 rD, rC, 0", |a, b, c| {
                u64::from((c as u32).wrapping_add(u32::from((a as u32).checked_add(b as u32).is_none())))
            }),
            case("add.cc.u64 dD, dA, dB; addc.u64 dD, dC, dC", |a, b, c| {
                c.wrapping_add(c).wrapping_add(u64::from(a.checked_add(b).is_none()))
            }),
            // The flag of a difference, read with `addc`, says that nothing was borrowed: NVIDIA's division of 128 bits relies on it.
            case("sub.cc.u32 rD, rA, rB; addc.u32 rD, 0, 0", |a, b, _| {
                u64::from(a as u32 >= b as u32)
            }),
            case("sub.cc.u32 rD, rA, rB; subc.u32 rD, rC, 0", |a, b, c| {
                u64::from((c as u32).wrapping_sub(u32::from((a as u32) < b as u32)))
            }),
            case("mad.lo.cc.u32 rD, rA, rB, rC; madc.hi.u32 rD, rA, rB, 5", |a, b, c| {
                (u64::from(a as u32) * u64::from(b as u32) + u64::from(c as u32) >> 32).wrapping_add(5) & 0xffff_ffff
            }),
        ],
        &triples(),
    );
}

#[test]
fn bits() {
    check(
        &[
            case("and.b32 rD, rA, rB", |a, b, _| (a & b) & 0xffff_ffff),
            case("or.b64 dD, dA, dB", |a, b, _| a | b),
            case("xor.b16 hD, hA, hB", |a, b, _| (a ^ b) & 0xffff),
            case("not.b32 rD, rA", |a, _, _| !a & 0xffff_ffff),
            case("cnot.b32 rD, rA", |a, _, _| u64::from(a as u32 == 0)),
            case("shl.b32 rD, rA, rB", |a, b, _| {
                u64::from((a as u32).checked_shl(b as u32).unwrap_or(0))
            }),
            case("shl.b64 dD, dA, rB", |a, b, _| a.checked_shl(b as u32).unwrap_or(0)),
            case("shr.u32 rD, rA, rB", |a, b, _| {
                u64::from((a as u32).checked_shr(b as u32).unwrap_or(0))
            }),
            case("shr.s32 rD, rA, rB", |a, b, _| u64::from((a as i32 >> (b as u32).min(31)) as u32)),
            case("shr.s64 dD, dA, rB", |a, b, _| (a as i64 >> (b as u32).min(63)) as u64),
            case("shr.b16 hD, hA, rB", |a, b, _| {
                u64::from((a as u16).checked_shr(b as u32).unwrap_or(0))
            }),
            case("shf.l.wrap.b32 rD, rA, rB, rC", |a, b, c| {
                ((b << 32 | a & 0xffff_ffff) << (c & 31)) >> 32
            }),
            case("shf.r.clamp.b32 rD, rA, rB, rC", |a, b, c| {
                (b << 32 | a & 0xffff_ffff).checked_shr((c as u32).min(32)).unwrap_or(0) & 0xffff_ffff
            }),
            case("bfe.u32 rD, rA, 4, 9", |a, _, _| a >> 4 & 0x1ff),
            case("bfe.s32 rD, rA, 28, 9", |a, _, _| u64::from((a as i32 >> 28) as u32)),
            case("bfe.s64 dD, dA, 3, 7", |a, _, _| ((a << 54) as i64 >> 57) as u64),
            case("bfi.b32 rD, rA, rB, 5, 11", |a, b, _| {
                b & 0xffff_ffff & !(0x7ff << 5) | (a & 0x7ff) << 5
            }),
            case("bfi.b64 dD, dA, dB, 60, 11", |a, b, _| b & !(0xf << 60) | a << 60),
            case("bfind.u32 rD, rA", |a, _, _| {
                if a as u32 == 0 {
                    0xffff_ffff
                } else {
                    u64::from(31 - (a as u32).leading_zeros())
                }
            }),
            case("bfind.s64 rD, dA", |a, _, _| {
                let a = if (a as i64) < 0 { !a } else { a };
                if a == 0 { 0xffff_ffff } else { u64::from(63 - a.leading_zeros()) }
            }),
            case("bfind.shiftamt.u32 rD, rA", |a, _, _| {
                if a as u32 == 0 {
                    0xffff_ffff
                } else {
                    u64::from((a as u32).leading_zeros())
                }
            }),
            case("brev.b32 rD, rA", |a, _, _| u64::from((a as u32).reverse_bits())),
            case("brev.b64 dD, dA", |a, _, _| a.reverse_bits()),
            case("clz.b32 rD, rA", |a, _, _| u64::from((a as u32).leading_zeros())),
            case("clz.b64 rD, dA", |a, _, _| u64::from(a.leading_zeros())),
            case("popc.b32 rD, rA", |a, _, _| u64::from((a as u32).count_ones())),
            case("popc.b64 rD, dA", |a, _, _| u64::from(a.count_ones())),
            case("prmt.b32 rD, rA, rB, 0x4012", |a, b, _| {
                (a >> 16 & 0xff) | (a & 0xff00) | (a & 0xff) << 16 | (b & 0xff) << 24
            }),
            case("prmt.b32 rD, rA, 0, 0x123U", |a, _, _| u64::from((a as u32).swap_bytes())),
            case("prmt.b32 rD, rA, rB, 0x888b", |a, _, _| {
                let sign = |x: u64| if x & 0x80 != 0 { 0xff } else { 0 };
                sign(a >> 24) | sign(a) << 8 | sign(a) << 16 | sign(a) << 24
            }),
            case("lop3.b32 rD, rA, rB, rC, 0x96", |a, b, c| (a ^ b ^ c) & 0xffff_ffff),
            case("lop3.b32 rD, rA, rB, rC, 0xca", |a, b, c| (a & b | !a & c) & 0xffff_ffff),
            case("dp4a.u32.u32 rD, rA, rB, rC", |a, b, c| {
                (0..4).fold(c & 0xffff_ffff, |s, i| s + (a >> (8 * i) & 0xff) * (b >> (8 * i) & 0xff)) & 0xffff_ffff
            }),
            case("dp4a.s32.s32 rD, rA, rB, rC", |a, b, c| {
                let byte = |x: u64, i: u32| i64::from((x >> (8 * i)) as i8);
                u64::from((0..4).fold(c as i32, |s, i| s.wrapping_add((byte(a, i) * byte(b, i)) as i32)) as u32)
            }),
            case("setp.lt.s32 %p3, rA, rB; selp.b32 rD, rA, rC, %p3", |a, b, c| {
                if (a as i32) < b as i32 { a & 0xffff_ffff } else { c & 0xffff_ffff }
            }),
            case("slct.u32.s32 rD, rA, rB, rC", |a, b, c| {
                if c as i32 >= 0 { a & 0xffff_ffff } else { b & 0xffff_ffff }
            }),
            case("mov.b64 {%r20, %r21}, dA; mov.b64 dD, {%r21, %r20}", |a, _, _| a.rotate_left(32)),
            case("mov.b32 {%h20, %h21}, rA; mov.b32 rD, {%h21, %h20}", |a, _, _| {
                u64::from((a as u32).rotate_left(16))
            }),
        ],
        &triples(),
    );
}

#[test]
fn comparisons() {
    fn yes(x: bool) -> u64 {
        u64::from(x)
    }
    check(
        &[
            case("setp.lo.u32 %p3, rA, rB; selp.u32 rD, 1, 0, %p3", |a, b, _| {
                yes((a as u32) < b as u32)
            }),
            case("setp.hs.u32 %p3, rA, rB; selp.u32 rD, 1, 0, %p3", |a, b, _| {
                yes(a as u32 >= b as u32)
            }),
            case("setp.ge.s64 %p3, dA, dB; selp.u32 rD, 1, 0, %p3", |a, b, _| {
                yes(a as i64 >= b as i64)
            }),
            case("setp.ne.b16 %p3, hA, hB; selp.u32 rD, 1, 0, %p3", |a, b, _| {
                yes(a as u16 != b as u16)
            }),
            case("setp.lt.f32 %p3, rA, rB; selp.u32 rD, 1, 0, %p3", |a, b, _| yes(f(a) < f(b))),
            case("setp.ne.f32 %p3, rA, rB; selp.u32 rD, 1, 0, %p3", |a, b, _| {
                yes(f(a) < f(b) || f(a) > f(b))
            }),
            case("setp.neu.f32 %p3, rA, rB; selp.u32 rD, 1, 0, %p3", |a, b, _| yes(f(a) != f(b))),
            case("setp.geu.f64 %p3, dA, dB; selp.u32 rD, 1, 0, %p3", |a, b, _| yes(!(d(a) < d(b)))),
            case("setp.nan.f64 %p3, dA, dB; selp.u32 rD, 1, 0, %p3", |a, b, _| {
                yes(d(a).is_nan() || d(b).is_nan())
            }),
            case("setp.num.f32 %p3, rA, rB; selp.u32 rD, 1, 0, %p3", |a, b, _| {
                yes(!f(a).is_nan() && !f(b).is_nan())
            }),
            case("setp.gt.f16 %p3, hA, hB; selp.u32 rD, 1, 0, %p3", |a, b, _| yes(h(a) > h(b))),
            case("setp.leu.bf16 %p3, hA, hB; selp.u32 rD, 1, 0, %p3", |a, b, _| yes(!(q(a) > q(b)))),
            case(
                "setp.lt.f16x2 %p3|%p4, rA, rB; selp.u32 %r20, 1, 0, %p3; selp.u32 %r21, 2, 0, %p4; or.b32 rD, %r20, %r21",
                |a, b, _| yes(h(a) < h(b)) | yes(h(a >> 16) < h(b >> 16)) << 1,
            ),
            case(
                "setp.eq.s32 %p3|%p4, rA, rB; selp.u32 %r20, 1, 0, %p3; selp.u32 rD, 2, %r20, %p4",
                |a, b, _| {
                    if a as u32 == b as u32 { 1 } else { 2 }
                },
            ),
            case(
                "setp.gt.s32 %p5, rC, 0; setp.lt.and.s32 %p3, rA, rB, %p5; selp.u32 rD, 1, 0, %p3",
                |a, b, c| yes((a as i32) < b as i32 && c as i32 > 0),
            ),
            case(
                "setp.gt.s32 %p5, rC, 0; setp.lt.xor.s32 %p3, rA, rB, !%p5; selp.u32 rD, 1, 0, %p3",
                |a, b, c| yes(((a as i32) < b as i32) == (c as i32 > 0)),
            ),
            case("set.lt.u32.f32 rD, rA, rB", |a, b, _| if f(a) < f(b) { 0xffff_ffff } else { 0 }),
            case(
                "set.ge.f32.s32 rD, rA, rB",
                |a, b, _| if a as i32 >= b as i32 { b32(1.0) } else { 0 },
            ),
            case("testp.subnormal.f32 %p3, rA; selp.u32 rD, 1, 0, %p3", |a, _, _| {
                yes(f(a).is_subnormal())
            }),
            case("testp.finite.f64 %p3, dA; selp.u32 rD, 1, 0, %p3", |a, _, _| yes(d(a).is_finite())),
            case(
                "setp.lt.s32 %p3, rA, rB; not.pred %p4, %p3; xor.pred %p5, %p4, %p3; and.pred %p6, %p5, !%p3; selp.u32 rD, 1, 0, %p6",
                |a, b, _| yes(a as i32 >= b as i32),
            ),
        ],
        &triples(),
    );
}

fn min32(a: f32, b: f32) -> f32 {
    match (a.is_nan(), b.is_nan()) {
        (true, _) => b,
        (_, true) => a,
        _ if a == b => f32::from_bits(a.to_bits() | b.to_bits()),
        _ => a.min(b),
    }
}

#[test]
fn floats() {
    let cases = [
        case("add.rn.f32 rD, rA, rB", |a, b, _| b32(f(a) + f(b))),
        case("sub.f32 rD, rA, rB", |a, b, _| b32(f(a) - f(b))),
        case("mul.rn.f32 rD, rA, rB", |a, b, _| b32(f(a) * f(b))),
        case("div.rn.f32 rD, rA, rB", |a, b, _| b32(f(a) / f(b))),
        case("fma.rn.f32 rD, rA, rB, rC", |a, b, c| b32(f(a).mul_add(f(b), f(c)))),
        case("sqrt.rn.f32 rD, rA", |a, _, _| b32(f(a).sqrt())),
        case("rcp.rn.f32 rD, rA", |a, _, _| b32(1.0 / f(a))),
        case("add.rn.f64 dD, dA, dB", |a, b, _| (d(a) + d(b)).to_bits()),
        case("mul.f64 dD, dA, dB", |a, b, _| (d(a) * d(b)).to_bits()),
        case("div.rn.f64 dD, dA, dB", |a, b, _| (d(a) / d(b)).to_bits()),
        case("fma.rn.f64 dD, dA, dB, dC", |a, b, c| d(a).mul_add(d(b), d(c)).to_bits()),
        case("sqrt.rn.f64 dD, dA", |a, _, _| d(a).sqrt().to_bits()),
        case("abs.f32 rD, rA", |a, _, _| a & 0x7fff_ffff),
        case("neg.f64 dD, dA", |a, _, _| a ^ 1 << 63),
        case("neg.f16 hD, hA", |a, _, _| a & 0xffff ^ 0x8000),
        case("copysign.f32 rD, rA, rB", |a, b, _| a & 0x8000_0000 | b & 0x7fff_ffff),
        case("min.f32 rD, rA, rB", |a, b, _| b32(min32(f(a), f(b)))),
        case("max.f32 rD, rA, rB", |a, b, _| b32(-min32(-f(a), -f(b)))),
        case("min.NaN.f32 rD, rA, rB", |a, b, _| {
            if f(a).is_nan() || f(b).is_nan() {
                0x7fff_ffff
            } else {
                b32(min32(f(a), f(b)))
            }
        }),
        case("max.f64 dD, dA, dB", |a, b, _| match (d(a), d(b)) {
            (x, y) if x.is_nan() => y.to_bits(),
            (x, y) if y.is_nan() => x.to_bits(),
            (x, y) if x == y => a & b,
            (x, y) => x.max(y).to_bits(),
        }),
        case("add.rz.f64 dD, dA, dB", |a, b, _| {
            let (x, y) = (d(a), d(b));
            let s = x + y;
            // The rounding error of the sum says on which side of it the exact one lies.
            if !s.is_finite() {
                let overflowed = x.is_finite() && y.is_finite();
                return if overflowed { f64::MAX.copysign(s).to_bits() } else { s.to_bits() };
            }
            let t = s - x;
            let error = (x - (s - t)) + (y - t);
            if error != 0.0 && (error < 0.0) == (s > 0.0) {
                s.to_bits() - 1
            } else {
                s.to_bits()
            }
        }),
        case("add.sat.f32 rD, rA, rB", |a, b, _| {
            let s = f(a) + f(b);
            b32(if s > 0.0 { s.min(1.0) } else { 0.0 })
        }),
        case("add.ftz.f32 rD, rA, rB", |a, b, _| {
            let z = |x: f32| if x.is_subnormal() { 0f32.copysign(x) } else { x };
            b32(z(z(f(a)) + z(f(b))))
        }),
    ];
    check(&cases, &triples());
    check(&cases, &moderate());
}

#[test]
fn short_floats() {
    fn half(x: f64) -> u64 {
        if x.is_nan() {
            0x7fff
        } else {
            u64::from(f16::from_f64(x).to_bits())
        }
    }
    fn brain(x: f64) -> u64 {
        // Through f32 twice rounded only where it cannot matter: products and sums of bfloat16 that are exact in f64.
        if x.is_nan() {
            return 0x7fff;
        }
        let toward_zero = f32::from_bits((x as f32).to_bits());
        let odd = match (
            f64::from(toward_zero) == x,
            toward_zero.to_bits() & 1,
            f64::from(toward_zero).abs() > x.abs(),
        ) {
            (true, ..) => toward_zero,
            (_, 1, _) => toward_zero,
            (_, _, true) => f32::from_bits(toward_zero.to_bits() - 1),
            _ => f32::from_bits(toward_zero.to_bits() + 1),
        };
        u64::from(bf16::from_f32(odd).to_bits())
    }
    check(
        &[
            case("add.rn.f16 hD, hA, hB", |a, b, _| half(h(a).to_f64() + h(b).to_f64())),
            case("mul.rn.f16 hD, hA, hB", |a, b, _| half(h(a).to_f64() * h(b).to_f64())),
            case("fma.rn.f16 hD, hA, hB, hC", |a, b, c| {
                let (p, c) = (h(a).to_f64() * h(b).to_f64(), h(c).to_f64());
                let s = p + c;
                // Rounded to odd, so that rounding again is harmless.
                let t = s - p;
                let error = (p - (s - t)) + (c - t);
                let odd = if error != 0.0 && s.to_bits() & 1 == 0 {
                    f64::from_bits(if (error > 0.0) == (s > 0.0) {
                        s.to_bits() + 1
                    } else {
                        s.to_bits() - 1
                    })
                } else {
                    s
                };
                half(odd)
            }),
            case("add.rn.f16x2 rD, rA, rB", |a, b, _| {
                half(h(a).to_f64() + h(b).to_f64()) | half(h(a >> 16).to_f64() + h(b >> 16).to_f64()) << 16
            }),
            case("add.rn.bf16 hD, hA, hB", |a, b, _| brain(q(a).to_f64() + q(b).to_f64())),
            case("mul.rn.bf16 hD, hA, hB", |a, b, _| brain(q(a).to_f64() * q(b).to_f64())),
            case("mov.b16 hD, 0x8000; fma.rn.relu.bf16 hD, hA, hB, hD", |a, b, _| {
                let r = brain(q(a).to_f64() * q(b).to_f64());
                if r == 0x7fff {
                    r
                } else if r & 0x8000 != 0 {
                    0
                } else {
                    r
                }
            }),
            case("max.NaN.f16 hD, hA, hB", |a, b, _| {
                let (x, y) = (h(a), h(b));
                match () {
                    () if x.is_nan() || y.is_nan() => 0x7fff,
                    () if x == y => a & b & 0xffff,
                    () => u64::from(if x > y { x } else { y }.to_bits()),
                }
            }),
            case("add.ftz.f16 hD, hA, hB", |a, b, _| {
                let z = |x: f64| {
                    if x.abs() < f64::from(f16::MIN_POSITIVE) {
                        0f64.copysign(x)
                    } else {
                        x
                    }
                };
                half(z(f16::from_f64(z(h(a).to_f64()) + z(h(b).to_f64())).to_f64()))
            }),
            case("set.lt.ftz.u32.f16x2 rD, rA, rB", |a, b, _| {
                let z = |x: f64| if x.abs() < f64::from(f16::MIN_POSITIVE) { 0.0 } else { x };
                let less = |a: u64, b: u64| if z(h(a).to_f64()) < z(h(b).to_f64()) { 0xffff } else { 0 };
                less(a, b) | less(a >> 16, b >> 16) << 16
            }),
            case("cvt.f32.f16 rD, hA", |a, _, _| b32(h(a).to_f32())),
            case("cvt.rn.f16.f32 hD, rA", |a, _, _| half(f64::from(f(a)))),
            case("cvt.rn.bf16.f32 hD, rA", |a, _, _| brain(f64::from(f(a)))),
            case("cvt.f32.bf16 rD, hA", |a, _, _| b32(q(a).to_f32())),
            case("add.f32.f16 rD, hA, rB", |a, b, _| b32(h(a).to_f32() + f(b))),
            case("add.rn.f32.bf16 rD, hA, rB", |a, b, _| b32(q(a).to_f32() + f(b))),
            case("sub.rn.f32.bf16 rD, hA, rB", |a, b, _| b32(q(a).to_f32() - f(b))),
            case("fma.rn.f32.f16 rD, hA, hB, rC", |a, b, c| {
                b32(h(a).to_f32().mul_add(h(b).to_f32(), f(c)))
            }),
            case("fma.rn.sat.f32.bf16 rD, hA, hB, rC", |a, b, c| {
                let r = q(a).to_f32().mul_add(q(b).to_f32(), f(c));
                b32(if r > 0.0 { r.min(1.0) } else { 0.0 })
            }),
            case("cvt.rn.f16x2.f32 rD, rA, rB", |a, b, _| {
                half(f64::from(f(a))) << 16 | half(f64::from(f(b)))
            }),
        ],
        &triples(),
    );
}

#[test]
fn conversions() {
    check(
        &[
            case("cvt.s64.s32 dD, rA", |a, _, _| i64::from(a as i32) as u64),
            case("cvt.u64.u32 dD, rA", |a, _, _| a & 0xffff_ffff),
            case("cvt.s32.s16 rD, hA", |a, _, _| u64::from(i32::from(a as i16) as u32)),
            case("cvt.s32.s8 rD, rA", |a, _, _| u64::from(i32::from(a as i8) as u32)),
            case("cvt.u16.u32 hD, rA", |a, _, _| a & 0xffff),
            case("cvt.s8.s32 rD, rA", |a, _, _| u64::from(i32::from(a as i8) as u32)),
            case(
                "cvt.sat.s16.s32 hD, rA",
                |a, _, _| u64::from((a as i32).clamp(-32768, 32767) as u16),
            ),
            case("cvt.sat.u8.s64 rD, dA", |a, _, _| (a as i64).clamp(0, 255) as u64),
            case("cvt.rn.f32.s32 rD, rA", |a, _, _| b32(a as i32 as f32)),
            case("cvt.rn.f32.u64 rD, dA", |a, _, _| b32(a as f32)),
            case("cvt.rn.f64.s64 dD, dA", |a, _, _| (a as i64 as f64).to_bits()),
            case("cvt.rz.f32.u32 rD, rA", |a, _, _| {
                let x = a as u32;
                let cut = if x.leading_zeros() < 8 {
                    x & !((1 << (8 - x.leading_zeros())) - 1)
                } else {
                    x
                };
                b32(cut as f32)
            }),
            case("cvt.rzi.s32.f32 rD, rA", |a, _, _| u64::from(f(a) as i32 as u32)),
            case("cvt.rzi.u32.f64 rD, dA", |a, _, _| {
                if d(a).is_nan() { 1 << 31 } else { u64::from(d(a) as u32) }
            }),
            case(
                "cvt.rzi.s64.f64 dD, dA",
                |a, _, _| {
                    if d(a).is_nan() { 1 << 63 } else { d(a) as i64 as u64 }
                },
            ),
            case("cvt.rni.s32.f32 rD, rA", |a, _, _| u64::from(f(a).round_ties_even() as i32 as u32)),
            case("cvt.rmi.s64.f64 dD, dA", |a, _, _| {
                if d(a).is_nan() { 1 << 63 } else { d(a).floor() as i64 as u64 }
            }),
            // NaN: zero, or where either type has 64 bits the highest bit alone.
            case("cvt.rni.s64.f32 dD, rA", |a, _, _| {
                if f(a).is_nan() {
                    1 << 63
                } else {
                    f(a).round_ties_even() as i64 as u64
                }
            }),
            case("cvt.rzi.u16.f64 hD, dA", |a, _, _| {
                if d(a).is_nan() { 1 << 15 } else { u64::from(d(a) as u16) }
            }),
            case("cvt.rpi.s16.f32 hD, rA", |a, _, _| u64::from(f(a).ceil() as i16 as u16)),
            case("cvt.rzi.u8.f32 rD, rA", |a, _, _| u64::from(f(a) as u8)),
            case("cvt.rni.f32.f32 rD, rA", |a, _, _| b32(f(a).round_ties_even())),
            case("cvt.rmi.f64.f64 dD, dA", |a, _, _| d(a).floor().to_bits()),
            case("cvt.rpi.f32.f32 rD, rA", |a, _, _| b32(f(a).ceil())),
            case("cvt.rzi.f64.f64 dD, dA", |a, _, _| d(a).trunc().to_bits()),
            case("cvt.f64.f32 dD, rA", |a, _, _| f64::from(f(a)).to_bits()),
            case("cvt.rn.f32.f64 rD, dA", |a, _, _| b32(d(a) as f32)),
            case("cvt.rm.f32.f64 rD, dA", |a, _, _| {
                let near = d(a) as f32;
                b32(if f64::from(near) > d(a) { near.next_down() } else { near })
            }),
            case("cvt.sat.f32.f32 rD, rA", |a, _, _| {
                b32(if f(a) > 0.0 { f(a).min(1.0) } else { 0.0 })
            }),
        ],
        &triples(),
    );
}

#[test]
fn approximations() {
    let cases = [
        case("ex2.approx.f32 rD, rA", |a, _, _| b32(f(a).exp2())),
        case("lg2.approx.f32 rD, rA", |a, _, _| b32(f(a).log2())),
        case("sin.approx.f32 rD, rA", |a, _, _| b32(f(a).sin())),
        case("cos.approx.f32 rD, rA", |a, _, _| b32(f(a).cos())),
        case("tanh.approx.f32 rD, rA", |a, _, _| b32(f(a).tanh())),
        case("rsqrt.approx.f32 rD, rA", |a, _, _| b32(1.0 / f(a).sqrt())),
        case("div.approx.f32 rD, rA, rB", |a, b, _| b32(f(a) / f(b))),
        case("div.full.f32 rD, rA, rB", |a, b, _| b32(f(a) / f(b))),
        case("sqrt.approx.f32 rD, rA", |a, _, _| b32(f(a).sqrt())),
        case("rcp.approx.ftz.f32 rD, rA", |a, _, _| b32(1.0 / f(a))),
    ];
    check_near(&cases, &moderate()[..1024], |_, got, want| {
        let (got, want) = (f(got), f(want));
        (got - want).abs() <= 1e-6 * want.abs().max(1e-30) || got == want || (got.is_nan() && want.is_nan())
    });
}
