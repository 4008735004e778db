//! Random modules are well formed, round-trip, run without a fault in checked mode, and do the same in both modes.

#![cfg(test)]

use weft_ir::interp::{Fault, Options};
use weft_ir::random::{Case, host, kernel, stray_kernel};
use weft_ir::testing::interpret;
use weft_ir::text::{parse, print};
use weft_ir::verify::verify;

fn check(seed: u64, case: &Case) {
    let text = print(&case.module);
    if let Err(error) = verify(&case.module) {
        panic!("seed {seed}: {error}\n{text}");
    }
    assert_eq!(parse(&text).unwrap(), case.module, "seed {seed}");
    let run = |checked| {
        let options = Options {
            checked,
            ..Options::default()
        };
        interpret(&case.module, &case.line, options).unwrap()
    };
    let (checked, plain) = (run(true), run(false));
    match (&checked.result, &plain.result) {
        (Ok(a), Ok(b)) => assert!(a.matches(b, false), "seed {seed}"),
        (Err(a), Err(b)) if matches!(a.fault, Fault::Raised { .. }) => assert_eq!(a.fault, b.fault, "seed {seed}"),
        (Err(trap), _) | (_, Err(trap)) => panic!("seed {seed}: {trap}\n{text}"),
    }
    assert_eq!(checked.output, plain.output, "seed {seed}");
    for (a, b) in checked.args.iter().zip(&plain.args) {
        assert!(a.matches(b, false), "seed {seed}");
    }
}

#[test]
fn kernels_are_sound() {
    for seed in 0..300 {
        check(seed, &kernel(seed));
    }
}

#[test]
fn kernels_with_stray_threads_are_sound() {
    let mut uneven = 0;
    for seed in 0..300 {
        let case = stray_kernel(seed);
        let text = print(&case.module);
        verify(&case.module).unwrap_or_else(|error| panic!("seed {seed}: {error}\n{text}"));
        let run = |in_step| {
            let options = Options {
                in_step,
                ..Options::default()
            };
            interpret(&case.module, &case.line, options).unwrap().result
        };
        run(false).unwrap_or_else(|trap| panic!("seed {seed}: {trap}\n{text}"));
        uneven += usize::from(run(true).is_err());
    }
    assert!(uneven > 40, "in only {uneven} cases threads end before a barrier");
}

#[test]
fn hosts_are_sound() {
    for seed in 0..300 {
        check(seed, &host(seed));
    }
}

#[test]
fn cases_change_their_arrays() {
    let changed = (0..100).filter(|seed| {
        let case = kernel(*seed);
        let run = interpret(&case.module, &case.line, Options::default()).unwrap();
        run.args != case.line.args
    });
    assert!(changed.count() > 95);
}
