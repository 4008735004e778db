//! Whether the lanes of a device's subgroups are neighbouring threads in order, and do together what they should.
//!
//! No driver promises an order, and one (Mesa's for the CPU) speaks of more lanes than it has when it is told to be wide.

use naga::{Binding, BuiltIn, Module};
use weft_ir::WARP;

use super::Bench;
use crate::emit::numbers::body::{Body, Val};
use crate::emit::numbers::{Numbers, trial};
use crate::features::Features;

/// Words that each thread writes: its lane, its subgroup, how many lanes there are, two ballots, and what it took from another lane.
const WORDS: u32 = 6;
const BLOCKS: u32 = 3;

/// The number of neighbouring threads that can be relied on ([`Features::group`]).
pub fn try_out(bench: &Bench, said: &Features) -> Result<u32, String> {
    let lanes = said.subgroup;
    if !lanes.is_power_of_two() || !(2..=WARP).contains(&lanes) {
        return Ok(1);
    }
    let most = said.threads.min(said.block[0]);
    for threads in [lanes - 1, 2 * lanes, 100, 256, most] {
        if threads <= most && !is_right(bench, said, lanes, threads)? {
            return Ok(1);
        }
    }
    Ok(lanes)
}

fn is_right(bench: &Bench, said: &Features, lanes: u32, threads: u32) -> Result<bool, String> {
    let shader = (bench.load)(module(said, lanes, threads), said)?;
    let words = bench.execute(&shader, &[0], u64::from(4 * WORDS * BLOCKS * threads), BLOCKS)?;
    let expected = (0..BLOCKS).flat_map(|block| (0..threads).flat_map(move |thread| expected(lanes, threads, block, thread)));
    Ok(words.into_iter().eq(expected))
}

/// Which threads vote for: no pattern that a power of two has.
fn votes(thread: u32) -> bool {
    thread.is_multiple_of(3)
}

fn value(block: u32, thread: u32) -> u32 {
    1000 * block + 7 * thread
}

/// The lane of its group from which a thread takes a value.
fn source(lanes: u32, thread: u32) -> u32 {
    (5 * thread + 3) % lanes
}

fn expected(lanes: u32, threads: u32, block: u32, thread: u32) -> [u32; WORDS as usize] {
    let first = thread - thread % lanes;
    let group = first..(first + lanes).min(threads);
    let ballot = |holds: fn(u32) -> bool| group.clone().filter(|&t| holds(t)).fold(0, |bits, t| bits | 1 << (t - first));
    let from = first + source(lanes, thread);
    let from = if from < threads { from } else { thread };
    [
        thread % lanes,
        thread / lanes,
        lanes,
        ballot(|_| true),
        ballot(votes),
        value(block, from),
    ]
}

/// The kernel, for blocks of so many threads along the first axis.
fn module(features: &Features, lanes: u32, threads: u32) -> Module {
    let mut module = Module::default();
    let (_, output) = trial::bindings(&mut module);
    let mut numbers = Numbers::default();
    let mut body = Body::new(&mut numbers, &mut module, features, &[], None);
    let b = &mut body;
    let [thread, block] = [BuiltIn::LocalInvocationId, BuiltIn::WorkGroupId].map(|which| b.entry_vector(Binding::BuiltIn(which)));
    let built_ins = [BuiltIn::SubgroupInvocationId, BuiltIn::SubgroupId, BuiltIn::SubgroupSize];
    let [lane, group, size] = built_ins.map(|which| b.entry_word(Binding::BuiltIn(which)));
    let [n, step] = [threads, WORDS].map(|n| b.u32(n));
    let before = b.mul(block, n);
    let row = b.add(before, thread);
    let start = b.mul(row, step);
    let three = b.u32(3);
    let rest = b.rem(thread, three);
    let holds = b.is_zero(rest);
    // Threads that went different ways come together again.
    b.when(holds, |b| b.store(output, start, row));
    let always = b.int(naga::Scalar::BOOL, 1);
    let (all, some) = (b.ballot(always), b.ballot(holds));
    let taken = take(b, lanes, threads, block, thread);
    for (at, word) in (0..).zip([lane, group, size, all, some, taken]) {
        let offset = b.u32(at);
        let place = b.add(start, offset);
        b.store(output, place, word);
    }
    let function = body.finish(None);
    module.entry_points.push(crate::emit::entry_point(function, [threads, 1, 1]));
    module
}

/// What [`value`] is in the thread that [`source`] names.
fn take(b: &mut Body<'_>, lanes: u32, threads: u32, block: Val, thread: Val) -> Val {
    let [last, n, thousand, seven, five, three] = [lanes - 1, threads, 1000, 7, 5, 3].map(|n| b.u32(n));
    let (blocks, own) = (b.mul(block, thousand), b.mul(thread, seven));
    let value = b.add(blocks, own);
    let place = b.and(thread, last);
    let first = b.sub(thread, place);
    let scaled = b.mul(thread, five);
    let moved = b.add(scaled, three);
    let other = b.and(moved, last);
    let from = b.add(first, other);
    let exists = b.lt(from, n);
    let from = b.select(exists, other, place);
    b.take(value, from)
}
