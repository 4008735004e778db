//! cuFFT: plans in the advanced layout, and their execution. What they compute is in `libraries::fourier`.

#![allow(unsafe_code, non_snake_case, clippy::missing_safety_doc, clippy::too_many_arguments)]

use std::collections::HashMap;
use std::ffi::c_int;
use std::sync::{Arc, Mutex};

use super::calls;
use crate::driver::context::{self, Context};
use crate::driver::handles::Handle;
use crate::driver::{Outcome, lock};
use crate::exec::fault::{Fault, LAUNCH_FAILED};
use crate::libraries::fourier;
use crate::libraries::memory::{Row, spoil};
use crate::libraries::number::{Format, Number};
use crate::libraries::{self, Kind};

const INVALID_PLAN: u32 = 0x1;
const INVALID_TYPE: u32 = 0x3;
const INVALID_VALUE: u32 = 0x4;
const EXEC_FAILED: u32 = 0x6;
const SETUP_FAILED: u32 = 0x7;
const INVALID_SIZE: u32 = 0x8;
const NO_WORKSPACE: u32 = 0xd;

/// One side of a transform: in each of a batch, how the elements lie.
#[derive(Clone, Debug)]
struct Side {
    /// The extents of what is stored, but for the first.
    embedding: Vec<i64>,
    stride: i64,
    distance: i64,
}

impl Side {
    /// The offset of an element of one of the batch.
    fn offset(&self, batch: i64, index: &[i64]) -> i64 {
        let inner = index
            .iter()
            .enumerate()
            .fold(0, |at, (axis, i)| if axis == 0 { *i } else { at * self.embedding[axis] + i });
        batch * self.distance + inner * self.stride
    }
}

#[derive(Clone, Debug)]
struct Layout {
    lengths: Vec<i64>,
    input: Side,
    output: Side,
    kind: c_int,
    batch: i64,
    work: usize,
}

#[derive(Clone, Debug, Default)]
struct Plan {
    layout: Option<Arc<Layout>>,
    allocates: bool,
    area: u64,
}

static PLANS: Mutex<Option<HashMap<c_int, Plan>>> = Mutex::new(None);

/// Plans are numbers from 0 on; those of other things are far away.
fn handle(plan: c_int) -> Handle {
    0xff7_0000_0000 + plan as u64
}

fn change<T>(plan: c_int, change: impl FnOnce(&mut Plan) -> Outcome<T>) -> Outcome<T> {
    change(lock(&PLANS).get_or_insert_default().get_mut(&plan).ok_or(INVALID_PLAN)?)
}

const R2C: c_int = 0x2a;
const C2R: c_int = 0x2c;
const C2C: c_int = 0x29;
const D2Z: c_int = 0x6a;
const Z2D: c_int = 0x6c;
const Z2Z: c_int = 0x69;

/// The formats of input and output.
fn formats(kind: c_int) -> Outcome<(Format, Format)> {
    Ok(match kind {
        R2C => (Format::F32, Format::C32),
        C2R => (Format::C32, Format::F32),
        C2C => (Format::C32, Format::C32),
        D2Z => (Format::F64, Format::C64),
        Z2D => (Format::C64, Format::F64),
        Z2Z => (Format::C64, Format::C64),
        _ => return Err(INVALID_TYPE),
    })
}

/// The lengths of a side: of complex numbers that stand for real ones, the last axis has the first half and one.
fn side_lengths(lengths: &[i64], halves: bool) -> Vec<i64> {
    let mut found = lengths.to_vec();
    if let (true, Some(last)) = (halves, found.last_mut()) {
        *last = *last / 2 + 1;
    }
    found
}

unsafe fn side(lengths: Vec<i64>, embedding: *const i64, stride: i64, distance: i64) -> Outcome<Side> {
    if embedding.is_null() {
        // The basic layout: everything else that is said of it counts for nothing.
        let distance = lengths.iter().product();
        return Ok(Side {
            embedding: lengths,
            stride: 1,
            distance,
        });
    }
    // SAFETY: as many as there are axes, as the caller promises.
    let embedding = unsafe { std::slice::from_raw_parts(embedding, lengths.len()) }.to_vec();
    if stride < 1 || distance < 0 || embedding.iter().zip(&lengths).skip(1).any(|(room, n)| room < n) {
        return Err(INVALID_SIZE);
    }
    Ok(Side {
        embedding,
        stride,
        distance,
    })
}

/// Every index of some lengths, in C's order.
fn indices(lengths: &[i64]) -> Vec<Vec<i64>> {
    lengths.iter().fold(vec![Vec::new()], |all, &n| {
        all.iter()
            .flat_map(|start| (0..n).map(|i| start.iter().copied().chain([i]).collect()))
            .collect()
    })
}

impl Layout {
    fn run(&self, context: &Context, from: Row, to: Row, sign: f64) -> Result<(), Fault> {
        let given = indices(&side_lengths(&self.lengths, !to.format.is_complex()));
        let made = indices(&side_lengths(&self.lengths, !from.format.is_complex()));
        let lengths: Vec<usize> = self.lengths.iter().map(|&n| n as usize).collect();
        for batch in 0..self.batch {
            let mut numbers = Vec::with_capacity(given.len());
            for index in &given {
                numbers.push(from.at(self.input.offset(batch, index)).load(context, 1)?[0]);
            }
            if !to.format.is_complex() {
                let all = fourier::completed(&numbers, &lengths);
                numbers = all.ok_or_else(|| Fault::new(LAUNCH_FAILED, "these are no coefficients of real numbers"))?;
                // NVIDIA's may use the input as a workspace.
                for index in &given {
                    let nothing = [Number::new(f64::NAN, f64::NAN)];
                    from.at(self.input.offset(batch, index)).store(context, &nothing)?;
                }
            }
            fourier::transform(&mut numbers, &lengths, sign);
            let whole = |index: &[i64]| index.iter().zip(&lengths).fold(0, |at, (i, n)| at * n + *i as usize);
            for index in &made {
                to.at(self.output.offset(batch, index)).store(context, &[numbers[whole(index)]])?;
            }
        }
        Ok(())
    }
}

fn execute(name: &'static str, plan: c_int, kind: c_int, input: u64, output: u64, sign: f64) -> Outcome {
    let held = libraries::held(Kind::Transform, handle(plan)).ok_or(INVALID_PLAN)?;
    let found = change(plan, |plan| Ok(plan.clone()))?;
    let layout = found.layout.filter(|layout| layout.kind == kind).ok_or(INVALID_PLAN)?;
    if input == 0 || output == 0 {
        return Err(INVALID_VALUE);
    }
    if !found.allocates && found.area == 0 {
        return Err(NO_WORKSPACE);
    }
    let (from, to) = formats(kind)?;
    let area = found.area;
    let run = move |context: &Context| {
        spoil(context, area, if area == 0 { 0 } else { layout.work })?;
        layout.run(context, Row::new(input, from), Row::new(output, to), sign)
    };
    libraries::enqueue(held, name, run).ok_or(EXEC_FAILED)
}

fn sign_of(direction: c_int) -> Outcome<f64> {
    match direction {
        -1 | 1 => Ok(f64::from(direction)),
        _ => Err(INVALID_VALUE),
    }
}

calls! {
    fn cufftCreate(to: *mut c_int) {
        let context = context::healthy().map_err(|_| SETUP_FAILED)?;
        let mut plans = lock(&PLANS);
        let plans = plans.get_or_insert_default();
        let plan = (0..).find(|at| !plans.contains_key(at)).ok_or(SETUP_FAILED)?;
        plans.insert(plan, Plan { allocates: true, ..Plan::default() });
        libraries::create_as(Kind::Transform, context.handle, handle(plan));
        to.write(plan);
        Ok(())
    }

    fn cufftDestroy(plan: c_int) {
        libraries::destroy(Kind::Transform, handle(plan));
        lock(&PLANS).get_or_insert_default().remove(&plan).map(|_| ()).ok_or(INVALID_PLAN)
    }

    fn cufftSetStream(plan: c_int, stream: Handle) {
        if libraries::set_stream(Kind::Transform, handle(plan), stream) { Ok(()) } else { Err(INVALID_PLAN) }
    }

    fn cufftSetAutoAllocation(plan: c_int, allocates: c_int) {
        change(plan, |plan| {
            plan.allocates = allocates != 0;
            Ok(())
        })
    }

    fn cufftSetWorkArea(plan: c_int, area: u64) {
        change(plan, |plan| {
            plan.area = area;
            Ok(())
        })
    }

    fn cufftMakePlanMany64(
        plan: c_int, rank: c_int, lengths: *const i64, input: *const i64, input_stride: i64, input_distance: i64,
        output: *const i64, output_stride: i64, output_distance: i64, kind: c_int, batch: i64, work: *mut usize,
    ) {
        let (from, to) = formats(kind)?;
        if !(1..=3).contains(&rank) || lengths.is_null() || work.is_null() {
            return Err(INVALID_VALUE);
        }
        let lengths = std::slice::from_raw_parts(lengths, rank as usize).to_vec();
        if batch < 1 || lengths.iter().any(|&n| n < 1) {
            return Err(INVALID_SIZE);
        }
        let input = side(side_lengths(&lengths, !to.is_complex()), input, input_stride, input_distance)?;
        let output = side(side_lengths(&lengths, !from.is_complex()), output, output_stride, output_distance)?;
        let needed = 256 + 16 * lengths.iter().product::<i64>() as usize;
        work.write(needed);
        change(plan, |plan| {
            if plan.layout.is_some() {
                return Err(INVALID_PLAN);
            }
            plan.layout = Some(Arc::new(Layout { lengths, input, output, kind, batch, work: needed }));
            Ok(())
        })
    }

    fn cufftExecC2C(plan: c_int, input: u64, output: u64, direction: c_int) {
        execute("cufftExecC2C", plan, C2C, input, output, sign_of(direction)?)
    }

    fn cufftExecZ2Z(plan: c_int, input: u64, output: u64, direction: c_int) {
        execute("cufftExecZ2Z", plan, Z2Z, input, output, sign_of(direction)?)
    }

    fn cufftExecR2C(plan: c_int, input: u64, output: u64) {
        execute("cufftExecR2C", plan, R2C, input, output, -1.0)
    }

    fn cufftExecD2Z(plan: c_int, input: u64, output: u64) {
        execute("cufftExecD2Z", plan, D2Z, input, output, -1.0)
    }

    fn cufftExecC2R(plan: c_int, input: u64, output: u64) {
        execute("cufftExecC2R", plan, C2R, input, output, 1.0)
    }

    fn cufftExecZ2D(plan: c_int, input: u64, output: u64) {
        execute("cufftExecZ2D", plan, Z2D, input, output, 1.0)
    }
}
