//! Conversions, choices, counted numbers and copies against the IR's arithmetic.

#![allow(unsafe_code)] // Loads and stores are of places in memory.

mod common;

use common::{Given, bytes, results, same, values};
use weft_ir::{BinOp, Const, Scalar, eval};
use weft_tile::{cast, copy, find, iota, load, select, store};

/// A cast that does not fit gives a NaN as any.
fn assert_same(got: &[Const], expected: &[Const], what: &str) {
    assert_eq!(got.len(), expected.len());
    for (i, (&got, &expected)) in got.iter().zip(expected).enumerate() {
        assert!(same(got, expected), "{what}: element {i} is {got:?}, not {expected:?}");
    }
}

#[test]
fn casts_are_those_of_the_ir() {
    for from in Scalar::ALL {
        let mut all = values(from);
        // More numbers than any loop's vectors take at once, in all places.
        for _ in 0..3 {
            all.extend(all[..all.len() / 2].to_vec());
        }
        for to in Scalar::ALL {
            let expected: Vec<Const> = all.iter().map(|&c| eval::cast(c, to).expect("a cast")).collect();
            for &run in cast(from, to).levels() {
                let got = results(run, &[Given::Run(&bytes(&all))], to, all.len());
                assert_same(&got, &expected, &format!("{from} to {to}"));
                let got = results(run, &[Given::One(&all[1].to_bytes())], to, 300);
                assert_same(&got, &vec![expected[1]; 300], &format!("one {from} to {to}"));
            }
        }
    }
}

#[test]
fn casts_of_floats_at_the_ends_of_integers() {
    let ends = [7, 8, 15, 16, 31, 32, 63, 64].map(|e| 2f64.powi(e));
    let near = |x: f64| [x, x.next_up(), x.next_down(), x - 0.5, x - 1.0, x + 1.0, x + 0.5];
    let all: Vec<f64> = ends.iter().flat_map(|&x| near(x)).flat_map(|x| [x, -x]).collect();
    for from in [Scalar::F64, Scalar::F32, Scalar::F16, Scalar::BF16] {
        let all: Vec<Const> = all.iter().filter_map(|&x| eval::cast(Const::f64(x), from)).collect();
        for to in Scalar::ALL {
            let expected: Vec<Const> = all.iter().map(|&c| eval::cast(c, to).expect("a cast")).collect();
            for &run in cast(from, to).levels() {
                let got = results(run, &[Given::Run(&bytes(&all))], to, all.len());
                assert_same(&got, &expected, &format!("{from} to {to}"));
            }
        }
    }
}

#[test]
fn all_float16_and_many_halfway_numbers_are_rounded_alike() {
    let of = |make: fn(u16) -> Const| (0..=u16::MAX).map(make).collect::<Vec<_>>();
    for all in [of(Const::F16), of(Const::BF16)] {
        let from = all[0].scalar();
        for wide in [Scalar::F32, Scalar::F64] {
            let exact: Vec<Const> = all.iter().map(|&c| eval::cast(c, wide).expect("a cast")).collect();
            for &run in cast(from, wide).levels() {
                assert_same(&results(run, &[Given::Run(&bytes(&all))], wide, all.len()), &exact, "exact");
            }
            // Halfway between neighbours, and beside that.
            let half = eval::cast(Const::f64(0.5), wide).expect("a cast");
            let middle = |pair: &[Const]| {
                let sum = eval::binary(BinOp::Add, pair[0], pair[1])?;
                eval::binary(BinOp::Mul, sum, half)
            };
            let middles: Vec<Const> = exact.windows(2).filter_map(middle).flat_map(beside).collect();
            let expected: Vec<Const> = middles.iter().map(|&c| eval::cast(c, from).expect("a cast")).collect();
            for &run in cast(wide, from).levels() {
                assert_same(
                    &results(run, &[Given::Run(&bytes(&middles))], from, middles.len()),
                    &expected,
                    "rounded",
                );
            }
        }
    }
}

/// A number and its neighbours.
fn beside(c: Const) -> Vec<Const> {
    match c {
        Const::F32(b) => vec![c, Const::F32(b ^ 1), Const::F32(b.wrapping_add(1))],
        Const::F64(b) => vec![c, Const::F64(b ^ 1), Const::F64(b.wrapping_add(1))],
        _ => vec![c],
    }
}

#[test]
fn choices_are_the_operands_bits() {
    let n = 700;
    let condition: Vec<u8> = (0..n).map(|i| [0, 1, 1, 0, 255, 2][i % 6]).collect();
    for s in Scalar::ALL {
        let all = values(s);
        let a: Vec<Const> = (0..n).map(|i| all[i % all.len()]).collect();
        let b: Vec<Const> = (0..n).map(|i| all[(7 * i + 3) % all.len()]).collect();
        let (x, y) = (bytes(&a), bytes(&b));
        let one = all[all.len() / 2];
        let alone = one.to_bytes();
        for &run in select(s).levels() {
            let both = results(run, &[Given::Run(&condition), Given::Run(&x), Given::Run(&y)], s, n);
            let second = results(run, &[Given::Run(&condition), Given::One(&alone), Given::Run(&y)], s, n);
            let first = results(run, &[Given::One(&[1]), Given::Run(&x), Given::Run(&y)], s, n);
            for i in 0..n {
                let holds = condition[i] != 0;
                assert_eq!(both[i], if holds { a[i] } else { b[i] });
                assert_eq!(second[i], if holds { one } else { b[i] });
                assert_eq!(first[i], a[i]);
            }
        }
    }
}

#[test]
fn any_byte_but_zero_is_true() {
    let (a, b) = ([0, 1, 2, 255, 2, 0, 4], [0, 2, 1, 254, 0, 8, 3]);
    let operation = |name: &str, of: fn(bool, bool) -> bool| {
        let (found, result) = find(name, &[Scalar::Bool; 2]).expect("a loop");
        for &run in found.levels() {
            let got = results(run, &[Given::Run(&a), Given::Run(&b)], result, a.len());
            let expected: Vec<_> = a.iter().zip(&b).map(|(&a, &b)| Const::Bool(of(a != 0, b != 0))).collect();
            assert_eq!(got, expected, "{name}");
        }
    };
    operation("logical_and", |a, b| a & b);
    operation("bitwise_or", |a, b| a | b);
    operation("bitwise_xor", |a, b| a ^ b);
    operation("equal", |a, b| a == b);
    operation("less", |a, b| !a & b);
}

#[test]
fn numbers_follow_each_other() {
    for s in Scalar::ALL {
        let Some(found) = iota(s) else {
            assert_eq!(s, Scalar::Bool);
            continue;
        };
        let wide = if s.is_half() { Scalar::F32 } else { s };
        for (start, step, first) in [(0.0, 1.0, 0), (3.0, -2.0, 250), (0.25, 1e-3, 1 << 33), (100.0, 7.0, -5)] {
            let of = |x: f64| eval::cast(Const::f64(x), wide).expect("a number");
            let (start, step) = (of(start), of(step));
            let expected: Vec<Const> = (first..first + 600).map(|i| element(start, step, i, s)).collect();
            let operands = [start.to_bytes(), step.to_bytes(), i64::to_le_bytes(first).to_vec()];
            let given: Vec<Given<'_>> = operands.iter().map(|b| Given::One(b)).collect();
            for &run in found.levels() {
                assert_same(&results(run, &given, s, expected.len()), &expected, s.name());
            }
        }
    }
}

/// `start + i * step`, the parts of complex numbers apart.
fn element(start: Const, step: Const, i: i64, s: Scalar) -> Const {
    let each = |start: Const, step: Const| {
        let i = eval::cast(Const::i64(i), start.scalar()).expect("a number");
        let way = eval::binary(BinOp::Mul, i, step).expect("a product");
        eval::binary(BinOp::Add, start, way).expect("a sum")
    };
    match (eval::parts(start), eval::parts(step)) {
        (Some((re, im)), Some((by_re, by_im))) => eval::complex(each(re, by_re), each(im, by_im)).expect("parts"),
        _ => eval::cast(each(start, step), s).expect("a number"),
    }
}

#[test]
fn copies_and_fills() {
    for s in Scalar::ALL {
        let all = values(s);
        for &run in copy(s).levels() {
            assert_eq!(results(run, &[Given::Run(&bytes(&all))], s, all.len()), all);
            assert_eq!(results(run, &[Given::One(&all[1].to_bytes())], s, 513), vec![all[1]; 513]);
        }
    }
}

#[test]
fn results_may_take_an_operands_place() {
    let (found, _) = find("add", &[Scalar::F32; 2]).expect("a loop");
    let (mut a, b) = ((0..999u16).map(f32::from).collect::<Vec<_>>(), 0.5f32);
    for &run in found.levels() {
        let before = a.clone();
        let place = a.as_mut_ptr().cast::<u8>();
        let args = [weft_tile::Arg::run(place), weft_tile::Arg::one((&raw const b).cast())];
        // SAFETY: the result starts where the operand does and has elements of its size.
        unsafe { run(place, args.as_ptr(), a.len()) };
        assert!(a.iter().zip(&before).all(|(now, before)| *now == before + 0.5));
    }
}

#[test]
fn elements_that_lie_apart() {
    for s in Scalar::ALL {
        let size = s.size() as isize;
        for stride in [size, 2 * size, 3 * size + 1, -size, 0] {
            let n = 37;
            let memory: Vec<u8> = (0..4 * 37 * 16 + 64).map(|i| (i * 7 % 251) as u8).collect();
            let origin = if stride < 0 { -stride * (n - 1) } else { 1 };
            let element = |memory: &[u8], i: isize| {
                let at = (origin + stride * i) as usize;
                memory[at..at + s.size()].to_vec()
            };
            let expected: Vec<u8> = (0..n).flat_map(|i| element(&memory, i)).collect();
            let mut tile = vec![0u8; expected.len()];
            // SAFETY: all elements lie in the memory and the tile has room for them.
            unsafe { load(s)(tile.as_mut_ptr(), memory.as_ptr().offset(origin), stride, n as usize) };
            assert_eq!(tile, expected, "{s} {stride}");
            if stride == 0 {
                continue;
            }
            let mut target = vec![0u8; memory.len()];
            // SAFETY: likewise.
            unsafe { store(s)(target.as_mut_ptr().offset(origin), stride, tile.as_ptr(), n as usize) };
            let back: Vec<u8> = (0..n).flat_map(|i| element(&target, i)).collect();
            assert_eq!(back, expected, "{s} {stride}");
            assert!(target.iter().filter(|&&b| b != 0).count() <= tile.len());
        }
    }
}
