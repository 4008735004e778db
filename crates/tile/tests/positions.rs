//! Positions of the greatest and the least elements.
#![allow(unsafe_code)]
#![allow(clippy::unwrap_used)]

use weft_ir::{CmpOp, Const, Scalar, UnOp, eval};
use weft_tile::fold::{ArgFold, Axis, Outer};

fn is_nan(c: Const) -> bool {
    eval::unary(UnOp::IsNan, c) == Some(Const::Bool(true))
}

/// The first NaN, or the first that no other beats.
fn expected(max: bool, elements: &[Const]) -> i64 {
    if let Some(at) = elements.iter().position(|&c| is_nan(c)) {
        return at as i64;
    }
    let op = if max { CmpOp::Gt } else { CmpOp::Lt };
    let beaten = |a: &Const| elements.iter().any(|&b| eval::compare(op, b, *a) == Some(true));
    elements.iter().position(|a| !beaten(a)).unwrap() as i64
}

#[test]
fn the_first_of_the_best_wins_and_nans_before_all() {
    let mut n = 1u64;
    for scalar in Scalar::ALL.into_iter().filter(|scalar| !scalar.is_complex()) {
        for (count, axis) in [
            (1, 1),
            (1, 5),
            (1, 1024),
            (1, 1025),
            (3, 40),
            (9, 3),
            (300, 7),
            (20, 100),
            (1, 2500),
        ] {
            for (across, span, nans) in [
                (false, 5, 0),
                (true, 100, 0),
                (false, 1 << 30, 9),
                (true, 1 << 30, 30),
                (false, 2, 400),
            ] {
                let mut all = Vec::new();
                for _ in 0..count * axis {
                    n = n.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                    let draw = (n >> 33) as i64;
                    let number = match scalar {
                        _ if scalar.is_float() && nans > 0 && draw % nans == 0 => Const::f64(f64::NAN),
                        _ if scalar.is_float() && draw % 7 == 0 => Const::f64(-0.0),
                        _ => Const::i64(draw % span - span / 2),
                    };
                    all.push(eval::cast(number, scalar).unwrap());
                }
                let memory: Vec<u8> = all.iter().flat_map(|c| c.to_bytes()).collect();
                let size = scalar.size() as i64;
                let (step, lane) = if across {
                    (count as i64 * size, size)
                } else {
                    (size, axis as i64 * size)
                };
                let outer = [Outer {
                    extent: count as u64,
                    input: lane,
                    output: 8,
                }];
                for (max, backwards) in [(true, false), (false, false), (true, true), (false, true)] {
                    let stride = if backwards { -step } else { step };
                    let fold = ArgFold::new(
                        max,
                        scalar,
                        &outer,
                        Axis {
                            extent: axis as u64,
                            stride,
                        },
                    )
                    .unwrap();
                    let first = if backwards { (axis as i64 - 1) * step } else { 0 };
                    let mut out = vec![-1i64; count];
                    // SAFETY: the arrays are as large as extents and strides say.
                    unsafe { fold.run(memory.as_ptr().offset(first as isize), out.as_mut_ptr().cast(), 0..fold.units()) };
                    for (point, &ours) in out.iter().enumerate() {
                        let at = |i: usize| if across { all[i * count + point] } else { all[point * axis + i] };
                        let mut elements: Vec<Const> = (0..axis).map(at).collect();
                        if backwards {
                            elements.reverse();
                        }
                        let theirs = expected(max, &elements);
                        assert_eq!(
                            ours, theirs,
                            "{scalar:?} {count}x{axis} across {across} max {max} backwards {backwards}"
                        );
                    }
                }
            }
        }
    }
}

#[test]
fn complex_numbers_have_no_order_and_nothing_has_no_position() {
    let axis = |extent| Axis { extent, stride: 8 };
    assert!(ArgFold::new(true, Scalar::C64, &[], axis(3)).is_none());
    assert!(ArgFold::new(true, Scalar::F64, &[], axis(0)).is_none());
}
