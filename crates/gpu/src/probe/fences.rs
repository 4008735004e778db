//! Whether a fence concerns its own thread alone: threads that come to more fences than others, or to none, do all that they should.

use naga::{Binding, BuiltIn, Module};

use super::Bench;
use crate::emit::numbers::body::Body;
use crate::emit::numbers::{Numbers, trial};
use crate::features::Features;

const THREADS: u32 = 64;

/// What [`Features::fences`] says.
pub fn try_out(bench: &Bench, said: &Features) -> Result<bool, String> {
    let shader = (bench.load)(module(said), said)?;
    let words = bench.execute(&shader, &[0], u64::from(4 * THREADS), 1)?;
    Ok(words.into_iter().eq(0..THREADS))
}

/// The kernel: each thread counts to its number, with a fence at each step, and writes how far it came.
fn module(features: &Features) -> Module {
    let mut module = Module::default();
    let (_, output) = trial::bindings(&mut module);
    let mut numbers = Numbers::default();
    let mut body = Body::new(&mut numbers, &mut module, features, &[], None);
    let b = &mut body;
    let thread = b.entry_vector(Binding::BuiltIn(BuiltIn::LocalInvocationId));
    let [zero, one] = [0, 1].map(|n| b.u32(n));
    let steps = b.var(zero);
    let more = |b: &mut Body<'_>| {
        let done = b.get(steps);
        b.lt(done, thread)
    };
    b.repeat(more, |b| {
        b.fence();
        let done = b.get(steps);
        let next = b.add(done, one);
        b.set(steps, next);
    });
    let counted = b.get(steps);
    b.store(output, thread, counted);
    let function = body.finish(None);
    module.entry_points.push(crate::emit::entry_point(function, [THREADS, 1, 1]));
    module
}
