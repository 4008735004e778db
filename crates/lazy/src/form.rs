//! Forms of programs: what compiled code depends on. All else, which is sizes, strides, addresses and numbers, are arguments.

use std::ops::RangeInclusive;

use smallvec::{SmallVec, smallvec};
use weft_array::{Access, Input, OperandPlan, Plan, layout};
use weft_ir::{Layout, Scalar};

use crate::dims::Strides;
use crate::number;
use crate::program::{Iota, Program, Slot};

pub type Slots = SmallVec<[u64; 32]>;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Form {
    loads: SmallVec<[Input; 4]>,
    /// With the axis that each moves along.
    iotas: SmallVec<[(Scalar, Option<u8>); 2]>,
    constants: SmallVec<[Scalar; 4]>,
    steps: Vec<(u32, SmallVec<[Slot; 3]>)>,
    result: Slot,
}

/// Axes are bits of 32.
const MOST_AXES: usize = 31;

/// Of operands as a plan has them: loads, then iotas, then the result.
pub fn of_plan(program: &Program, result: Scalar, plan: &Plan) -> Option<(Access, Form)> {
    let output = plan.operands.last().filter(|_| plan.extents.len() <= MOST_AXES)?;
    Some((access(result, output), of_operands(program, &plan.operands)))
}

/// How many elements apart neighbours along the last axis may lie for compiled code to know it, which then loads all that lies between them.
const CLOSE: RangeInclusive<i64> = 2..=4;

/// The same where the CPU's code gets views of all that lies between the elements of loads that are close to each other.
pub fn of_close(program: &Program, result: Scalar, plan: &mut Plan) -> Option<(Access, Form)> {
    let steps: SmallVec<[u8; 4]> = (program.loads.iter().zip(&mut plan.operands))
        .map(|(load, operand)| widened(operand, load.elem.size() as i64))
        .collect();
    let (output, mut form) = of_plan(program, result, plan)?;
    for (load, &step) in form.loads.iter_mut().zip(&steps) {
        if let (Input::Element(access), 2..) = (*load, step) {
            *load = Input::Every(step, access);
        }
    }
    Some((output, form))
}

/// Makes an operand one of all that lies between its elements along the last axis, if that is little; how far they are apart.
fn widened(operand: &mut OperandPlan, item: i64) -> u8 {
    let (Some(extent), Some(stride)) = (operand.shape.last_mut(), operand.strides.last_mut()) else {
        return 1;
    };
    let step = *stride / item;
    if *stride % item != 0 || !CLOSE.contains(&step) || *extent == 0 {
        return 1;
    }
    *extent = (*extent - 1) * step as u64 + 1;
    *stride = item;
    operand.layout = layout(item as u64, &operand.shape, &operand.strides);
    step as u8
}

/// Several axes that lie dense are rows: parts of them, which folds compute, run the same code.
fn access(elem: Scalar, operand: &OperandPlan) -> Access {
    let rows = operand.layout == Layout::C && operand.axes.count_ones() > 1;
    Access {
        elem,
        axes: operand.axes,
        layout: if rows { Layout::Row } else { operand.layout },
    }
}

fn of_operands(program: &Program, operands: &[OperandPlan]) -> Form {
    let (loads, rest) = operands.split_at(program.loads.len());
    let axis = |operand: &OperandPlan| (operand.axes != 0).then(|| operand.axes.trailing_zeros() as u8);
    Form {
        loads: program
            .loads
            .iter()
            .zip(loads)
            .map(|(load, operand)| access(load.elem, operand).into())
            .collect(),
        iotas: program
            .iotas
            .iter()
            .zip(rest)
            .map(|(iota, operand)| (iota.elem, axis(operand)))
            .collect(),
        constants: program.constants.iter().map(|(elem, _)| *elem).collect(),
        steps: program
            .steps
            .iter()
            .map(|step| (step.operation.number, step.args.clone()))
            .collect(),
        result: program.result.unwrap_or(Slot::Constant(0)),
    }
}

/// An iota's steps along the axes: by one along its own.
pub fn steps(iota: &Iota, rank: usize) -> Strides {
    let mut steps: Strides = smallvec![0; rank];
    if let Some(axis) = iota.along {
        steps[usize::from(axis)] = 1;
    }
    steps
}

/// Operands as they are, no axes merged: folds combine in an order that depends on the extents. None where there are too many axes.
pub fn whole(program: &Program) -> Option<(Form, Vec<OperandPlan>)> {
    let extents = &program.extents;
    if extents.len() > MOST_AXES {
        return None;
    }
    let loads = program.loads.iter().map(|load| operand(extents, &load.strides, load.elem.size()));
    let iotas = program.iotas.iter().map(|iota| operand(extents, &steps(iota, extents.len()), 1));
    let operands: Vec<OperandPlan> = loads.chain(iotas).collect();
    Some((of_operands(program, &operands), operands))
}

/// An operand of the axes that it moves along.
pub fn operand(extents: &[u64], strides: &[i64], item: usize) -> OperandPlan {
    let mut made = OperandPlan {
        axes: 0,
        layout: Layout::Any,
        shape: Vec::new(),
        strides: Vec::new(),
    };
    for (axis, (&extent, &stride)) in extents.iter().zip(strides).enumerate() {
        if stride != 0 && extent != 1 {
            made.axes |= 1 << axis;
            made.shape.push(extent);
            made.strides.push(stride);
        }
    }
    made.layout = layout(item as u64, &made.shape, &made.strides);
    made
}

impl Form {
    /// Which iotas move along an axis.
    pub fn moves(&self) -> SmallVec<[bool; 2]> {
        self.iotas.iter().map(|(_, axis)| axis.is_some()).collect()
    }

    /// What the function of the program's text is given, whose parameters have these types.
    pub fn inputs(&self, types: &[Scalar]) -> Vec<Input> {
        let mut inputs: Vec<Input> = self.loads.to_vec();
        inputs.extend(self.constants.iter().map(|&elem| Input::Number(elem)));
        for (elem, axis) in &self.iotas {
            inputs.extend(axis.map(|axis| Input::Index(axis.into())));
            let numbers = if elem.is_complex() { 6 } else { 4 };
            let first = inputs.len();
            inputs.extend(types[first..first + numbers].iter().map(|&ty| Input::Number(ty)));
        }
        inputs
    }
}

/// The arguments of these inputs.
pub fn slots(program: &Program, form: &Form, operands: &[OperandPlan]) -> Slots {
    let mut slots = Slots::new();
    for (load, operand) in program.loads.iter().zip(operands) {
        view(&mut slots, load.address(), Some(operand));
    }
    for &(elem, bits) in &program.constants {
        push(&mut slots, elem, bits);
    }
    for (iota, (_, axis)) in program.iotas.iter().zip(&form.iotas) {
        // Along an axis of length 1 there is but the first index.
        let by = if axis.is_some() { iota.by } else { 0 };
        slots.extend([iota.first as u64, by as u64]);
        let counted = if iota.elem.is_half() { Scalar::F32 } else { iota.elem };
        push(&mut slots, counted, iota.start);
        push(&mut slots, counted, iota.step);
    }
    slots
}

/// Where the addresses of loads are among them.
pub fn places(program: &Program, operands: &[OperandPlan]) -> SmallVec<[u16; 6]> {
    let mut at = 0;
    (program.loads.iter().zip(operands))
        .map(|(_, operand)| {
            let place = at;
            at += 1 + 2 * operand.shape.len() as u16;
            place
        })
        .collect()
}

fn push(slots: &mut Slots, elem: Scalar, bits: number::Bits) {
    let [first, second] = number::memory_to_slots(elem, bits);
    slots.push(first);
    if elem.is_complex() {
        slots.push(second);
    }
}

pub fn view(slots: &mut Slots, address: u64, operand: Option<&OperandPlan>) {
    slots.push(address);
    if let Some(operand) = operand {
        slots.extend(operand.shape.iter().copied());
        slots.extend(operand.strides.iter().map(|&stride| stride as u64));
    }
}
