//! Folds against the order as its documentation says it (`weft_ir::order`), written out plainly, and against the IR's interpreter.
#![allow(unsafe_code)]

mod shapes;

use shapes::{Case, Layout, Sample, same};
use weft_ir::Scalar;
use weft_tile::fold::{FoldOp, Types};

const OPS: [FoldOp; 9] = [
    FoldOp::Add,
    FoldOp::Multiply,
    FoldOp::Maximum,
    FoldOp::Minimum,
    FoldOp::Fmax,
    FoldOp::Fmin,
    FoldOp::And,
    FoldOp::Or,
    FoldOp::Xor,
];

const SHAPES: [&[u64]; 34] = [
    &[],
    &[0],
    &[1],
    &[2],
    &[31],
    &[32],
    &[33],
    &[63],
    &[64],
    &[65],
    &[2047],
    &[2048],
    &[2049],
    &[20000],
    &[0, 3],
    &[3, 0],
    &[1, 1],
    &[7, 5],
    &[100, 2],
    &[2, 100],
    &[70, 33],
    &[33, 70],
    &[1, 2100],
    &[2100, 1],
    &[700, 9],
    &[9, 700],
    &[3, 5, 7],
    &[20, 1, 30],
    &[9, 0, 2],
    &[4, 65, 12],
    &[12, 9, 64],
    &[3, 2, 4, 5],
    &[2, 17, 3, 33],
    &[40, 3, 2, 10],
];

/// Which axes are folded: every choice of them.
fn choices(rank: usize) -> impl Iterator<Item = Vec<usize>> {
    (0..1 << rank).map(move |chosen| (0..rank).filter(|axis| chosen >> axis & 1 == 1).collect())
}

fn check(op: FoldOp, types: Types, shape: &[u64], layout: Layout, sample: &mut Sample) {
    for folded in choices(shape.len()) {
        let case = Case::new(op, types, shape, &folded, layout, sample);
        let (ours, expected) = (case.fold(), case.reference());
        for (n, (a, b)) in ours.iter().zip(&expected).enumerate() {
            assert!(same(op, a, b), "{case}: result {n} is {a:?}, not {b:?}");
        }
        assert_eq!(ours.len(), expected.len(), "{case}");
        assert!(case.in_parts() == ours, "{case}: in parts");
    }
}

#[test]
fn every_operator_and_type_over_every_shape() {
    let mut sample = Sample::new(1);
    for op in OPS {
        for scalar in Scalar::ALL {
            let types = Types::all(scalar);
            if !shapes::is_defined(op, types) {
                continue;
            }
            let long = matches!(scalar, Scalar::F32 | Scalar::C64);
            for shape in SHAPES.iter().filter(|shape| long || shape.iter().product::<u64>() < 4000) {
                check(op, types, shape, Layout::C, &mut sample);
            }
        }
    }
}

#[test]
fn memory_may_lie_anyhow() {
    let mut sample = Sample::new(2);
    let some = [
        (FoldOp::Add, Scalar::F32),
        (FoldOp::Add, Scalar::F64),
        (FoldOp::Add, Scalar::C64),
        (FoldOp::Add, Scalar::C128),
        (FoldOp::Add, Scalar::U16),
        (FoldOp::Multiply, Scalar::F32),
        (FoldOp::Multiply, Scalar::C64),
        (FoldOp::Maximum, Scalar::F32),
        (FoldOp::Minimum, Scalar::F16),
        (FoldOp::Fmax, Scalar::F64),
        (FoldOp::Xor, Scalar::I8),
        (FoldOp::And, Scalar::Bool),
        (FoldOp::Minimum, Scalar::I64),
    ];
    for (op, scalar) in some {
        for layout in [Layout::Fortran, Layout::Backwards, Layout::Spread, Layout::Repeated, Layout::Odd] {
            for shape in SHAPES.iter().filter(|shape| shape.iter().product::<u64>() < 7000) {
                check(op, Types::all(scalar), shape, layout, &mut sample);
            }
        }
    }
}

#[test]
fn rows_that_are_neighbours_in_memory_keep_their_chunks() {
    let mut sample = Sample::new(5);
    for scalar in [Scalar::F32, Scalar::C128] {
        for (shape, layout) in [
            (&[70, 2100][..], Layout::Fortran),
            (&[1200, 64], Layout::Odd),
            (&[3, 1100, 65], Layout::Fortran),
            (&[9, 4, 100], Layout::Odd),
            (&[20, 100], Layout::Backwards),
        ] {
            check(FoldOp::Add, Types::all(scalar), shape, layout, &mut sample);
        }
    }
}

#[test]
fn elements_are_converted_while_they_are_loaded() {
    let mut sample = Sample::new(3);
    let mut converted = 0;
    for op in [FoldOp::Add, FoldOp::Maximum, FoldOp::Or] {
        for elem in Scalar::ALL {
            for compute in Scalar::ALL {
                let results = match compute {
                    Scalar::F32 => vec![Scalar::F32, Scalar::F16, Scalar::BF16],
                    same => vec![same],
                };
                for result in results {
                    let types = Types { elem, compute, result };
                    if elem == compute && compute == result || !shapes::is_defined(op, types) {
                        continue;
                    }
                    converted += 1;
                    for shape in [&[5][..], &[300], &[4000], &[3, 50], &[50, 3], &[40, 70]] {
                        for layout in [Layout::C, Layout::Fortran, Layout::Backwards] {
                            check(op, types, shape, layout, &mut sample);
                        }
                    }
                }
            }
        }
    }
    assert!(converted > 150, "{converted}");
}

#[test]
fn the_interpreter_gives_the_same() {
    let mut sample = Sample::new(4);
    for op in OPS {
        for scalar in Scalar::ALL {
            let types = Types::all(scalar);
            if shapes::reduction(op).is_none() || !shapes::is_defined(op, types) {
                continue;
            }
            for shape in SHAPES
                .iter()
                .filter(|shape| shape.iter().product::<u64>() < 2500 || scalar == Scalar::F32)
            {
                for folded in choices(shape.len()) {
                    let case = Case::new(op, types, shape, &folded, Layout::C, &mut sample);
                    let (ours, expected) = (case.fold(), case.interpreted());
                    assert_eq!(ours.len(), expected.len(), "{case}");
                    for (a, b) in ours.iter().zip(&expected) {
                        assert!(same(op, a, b), "{case}: {a:?}, not {b:?}");
                    }
                }
            }
        }
    }
}
