//! Kernels of array expressions, as loops and as functions of the host: the CPU leaves what the interpreter leaves, bit for bit.

#![allow(clippy::unwrap_used, clippy::panic)]

// Other devices' tests read all of a kernel.
#[path = "../../cuda/tests/suite/array.rs"]
#[allow(dead_code)]
mod array;
mod common;

use weft_array::Kind;
use weft_ir::Spread;
use weft_ir::interp::Options;
use weft_ir::testing::{Expected, TestLaunch, TestLine, interpret};

#[test]
fn every_kernel_leaves_what_the_interpreter_leaves() {
    let mut faults = Vec::new();
    for kind in [Kind::Loop, Kind::Host(Spread::Lanes), Kind::Host(Spread::Gangs)] {
        for array::Kernel {
            name, module, outer, args, ..
        } in array::kernels(kind)
        {
            let line = TestLine {
                line: 0,
                func: module.entry,
                launch: if kind == Kind::Loop {
                    TestLaunch::Loop(outer)
                } else {
                    TestLaunch::Call
                },
                args,
                expected: Expected::default(),
            };
            let oracle = interpret(&module, &line, Options::default()).unwrap();
            oracle.result.unwrap_or_else(|trap| panic!("{name}: {trap:?}"));
            let targets = common::targets(&module, line.func);
            let some = if kind == Kind::Loop { targets.len() } else { 2 };
            for target in targets.iter().take(some).step_by(4) {
                let exe = common::compile(&module, line.func, target).unwrap();
                let (ran, left) = common::run(&*exe, &module, &line);
                ran.unwrap_or_else(|error| panic!("{name}: {error:?}"));
                let same = left.iter().zip(&oracle.args).all(|(ours, theirs)| ours.matches(theirs, false));
                if !same {
                    faults.push(format!("{name}, gangs of {:?}", target.gang));
                }
            }
        }
    }
    assert!(faults.is_empty(), "{} faults\n{}", faults.len(), faults.join("\n"));
}
