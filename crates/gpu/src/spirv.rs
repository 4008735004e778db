//! From a naga module to SPIR-V: naga's writer, and then what it does not say about floats.
//!
//! Without more words a driver may fuse a product and a sum, take a comparison for its opposite's negation though NaNs make that wrong, and
//! drop the sign of zeros. So every float operation is decorated `NoContraction` (drivers read that as "as written"), and the entry
//! point demands of `SPV_KHR_float_controls` what the device has.

use std::collections::HashMap;

use ::spirv::{Capability, Decoration, ExecutionMode, Op};
use naga::back::spv::{Options, WriterFlags, ZeroInitializeWorkgroupMemoryMode, write_vec};
use naga::proc::{BoundsCheckPolicies, BoundsCheckPolicy};
use naga::valid::ModuleInfo;

use crate::features::{Features, FloatControls};

/// SPIR-V 1.3, which came with Vulkan 1.1.
const VERSION: (u8, u8) = (1, 3);
/// Words in front of the first instruction.
const HEADER: usize = 5;
const EXTENSION_NAME: &[u8] = b"SPV_KHR_float_controls\0";

/// A demand on the entry point: what is to be declared, and the mode.
type Demand = (Capability, ExecutionMode);

const SUBNORMALS: Demand = (Capability::DenormPreserve, ExecutionMode::DenormPreserve);
const NANS: Demand = (Capability::SignedZeroInfNanPreserve, ExecutionMode::SignedZeroInfNanPreserve);
const TO_EVEN: Demand = (Capability::RoundingModeRTE, ExecutionMode::RoundingModeRTE);

/// `inexact`: the entry's own arithmetic may be fused and reordered; that of the functions it calls may not.
pub fn write(module: &naga::Module, info: &ModuleInfo, features: &Features, inexact: bool) -> Result<Vec<u32>, String> {
    let unchecked = BoundsCheckPolicy::Unchecked;
    let options = Options {
        lang_version: VERSION,
        flags: WriterFlags::empty(),
        bounds_check_policies: BoundsCheckPolicies {
            index: unchecked,
            buffer: unchecked,
            image_load: unchecked,
            binding_array: unchecked,
        },
        zero_initialize_workgroup_memory: ZeroInitializeWorkgroupMemoryMode::None,
        force_loop_bounding: false,
        emit_int_div_checks: false,
        use_storage_input_output_16: false,
        ..Options::default()
    };
    let words = write_vec(module, info, &options, None).map_err(|error| error.to_string())?;
    let (header, body) = words.split_at_checked(HEADER).ok_or("SPIR-V without a header")?;
    let read = Read::new(body, inexact);
    Ok(strict(header, body, &read, features))
}

/// An instruction and its words, of which the first says number and length.
#[derive(Clone, Copy)]
struct Instruction<'a> {
    op: Op,
    words: &'a [u32],
}

struct Instructions<'a>(&'a [u32]);

impl<'a> Iterator for Instructions<'a> {
    type Item = Instruction<'a>;

    fn next(&mut self) -> Option<Instruction<'a>> {
        let &first = self.0.first()?;
        let length = (first >> 16).max(1) as usize;
        let (words, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        let op = Op::from_u32(first & 0xffff).unwrap_or(Op::Nop);
        Some(Instruction { op, words })
    }
}

/// What is known after the first look.
#[derive(Default)]
struct Read {
    entry: u32,
    /// Types of floats by their number, with their bits.
    floats: HashMap<u32, u32>,
    /// Results that are to be computed as written.
    exact: Vec<u32>,
}

impl Read {
    fn new(body: &[u32], inexact: bool) -> Read {
        let mut read = Read::default();
        let mut loose = false;
        for Instruction { op, words } in Instructions(body) {
            match (op, words) {
                (Op::EntryPoint, &[_, _, id, ..]) => read.entry = id,
                (Op::TypeFloat, &[_, id, bits, ..]) => {
                    read.floats.insert(id, bits);
                }
                (Op::Function, &[_, _, id, ..]) => loose = inexact && id == read.entry,
                (_, &[_, ty, id, ..]) if !loose && read.is_float_operation(op, ty) => read.exact.push(id),
                _ => {}
            }
        }
        read
    }

    fn is_float_operation(&self, op: Op, ty: u32) -> bool {
        match op {
            Op::FNegate | Op::FAdd | Op::FSub | Op::FMul | Op::FDiv | Op::FRem | Op::Dot => true,
            Op::FConvert | Op::ConvertFToU | Op::ConvertFToS => true,
            Op::FOrdEqual | Op::FOrdNotEqual | Op::FUnordEqual | Op::FUnordNotEqual => true,
            Op::FOrdLessThan | Op::FOrdGreaterThan | Op::FOrdLessThanEqual | Op::FOrdGreaterThanEqual => true,
            Op::ExtInst => self.floats.contains_key(&ty),
            _ => false,
        }
    }

    /// Capability, mode and width of each demand.
    fn demands(&self, features: &Features) -> Vec<(Demand, u32)> {
        let has = |bits: u32| self.floats.values().any(|&b| b == bits);
        let of = |controls: FloatControls, bits: u32| {
            let wanted = [
                (controls.keeps_nan, NANS),
                (controls.rounds_to_even, TO_EVEN),
                (controls.keeps_subnormals, SUBNORMALS),
            ];
            let there = has(bits);
            wanted
                .into_iter()
                .filter(move |(can, _)| *can && there)
                .map(move |(_, demand)| (demand, bits))
        };
        of(features.controls32, 32).chain(of(features.controls64, 64)).collect()
    }
}

/// The module with its demands and decorations, each in its section.
fn strict(header: &[u32], body: &[u32], read: &Read, features: &Features) -> Vec<u32> {
    let demands = read.demands(features);
    let mut out = Vec::with_capacity(header.len() + body.len() + 3 * read.exact.len() + 64);
    out.extend(header);
    let (mut extended, mut demanded, mut decorated) = (demands.is_empty(), demands.is_empty(), false);
    for Instruction { op, words } in Instructions(body) {
        if !extended && op != Op::Capability {
            extended = true;
            let mut capabilities: Vec<u32> = demands.iter().map(|((capability, _), _)| *capability as u32).collect();
            capabilities.sort_unstable();
            capabilities.dedup();
            for capability in capabilities {
                instruction(&mut out, Op::Capability, &[capability]);
            }
            instruction(&mut out, Op::Extension, &text(EXTENSION_NAME));
        }
        if !demanded && is_behind_modes(op) {
            demanded = true;
            for &((_, mode), bits) in &demands {
                instruction(&mut out, Op::ExecutionMode, &[read.entry, mode as u32, bits]);
            }
        }
        if !decorated && is_behind_names(op) {
            decorated = true;
            for &id in &read.exact {
                instruction(&mut out, Op::Decorate, &[id, Decoration::NoContraction as u32]);
            }
        }
        out.extend(words);
    }
    out
}

/// Comes after the entry point's modes.
fn is_behind_modes(op: Op) -> bool {
    let before = matches!(op, Op::Capability | Op::Extension | Op::ExtInstImport | Op::MemoryModel);
    !before && !matches!(op, Op::EntryPoint | Op::ExecutionMode)
}

/// Comes after names and sources: is a decoration, or what follows those.
fn is_behind_names(op: Op) -> bool {
    let sources = matches!(op, Op::Source | Op::SourceContinued | Op::SourceExtension | Op::String);
    is_behind_modes(op) && !sources && !matches!(op, Op::Name | Op::MemberName | Op::ModuleProcessed | Op::Line)
}

fn instruction(out: &mut Vec<u32>, op: Op, operands: &[u32]) {
    out.push((operands.len() as u32 + 1) << 16 | op as u32);
    out.extend(operands);
}

/// A text that ends in a zero byte, in words.
fn text(bytes: &[u8]) -> Vec<u32> {
    let word = |four: &[u8]| four.iter().rev().fold(0, |word, &byte| word << 8 | u32::from(byte));
    bytes.chunks(4).map(word).collect()
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;
    use std::process::{Command, Stdio};

    use naga::valid::{ValidationFlags, Validator};
    use weft_ir::{BinOp, CmpOp, Const, Scalar, UnOp};

    use super::*;
    use crate::emit::numbers::Number;
    use crate::emit::numbers::trial::{self, Trial};

    /// What a tool of SPIR-V's prints about a module.
    fn tool(name: &str, args: &[&str], words: &[u32]) -> String {
        let mut command = Command::new(name);
        command
            .args(args)
            .arg("-")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command
            .spawn()
            .unwrap_or_else(|error| panic!("{name} (of the package spirv-tools): {error}"));
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        child.stdin.take().unwrap().write_all(&bytes).unwrap();
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    fn written(numbers: &[Number], features: &Features, inexact: bool) -> (Vec<u32>, String) {
        let trials: Vec<Trial> = numbers
            .iter()
            .map(|&number| Trial::new(number, vec![vec![Const::f32(1.0)]; 3]))
            .collect();
        let module = trial::module(features, &trials).unwrap();
        let info = Validator::new(ValidationFlags::all(), features.capabilities())
            .validate(&module)
            .unwrap();
        let words = write(&module, &info, features, inexact).unwrap();
        tool("spirv-val", &["--target-env", "vulkan1.1"], &words);
        let shown = tool("spirv-dis", &["--no-color", "--raw-id", "--no-indent"], &words);
        (words, shown)
    }

    /// Results of instructions, and whether they are decorated.
    fn results<'a>(shown: &'a str, instruction: &str) -> Vec<(&'a str, bool)> {
        let pattern = format!(" = {instruction} ");
        let lines = shown.lines().filter(|line| line.contains(&pattern));
        let ids = lines.filter_map(|line| line.split(' ').next());
        ids.map(|id| (id, shown.contains(&format!("OpDecorate {id} NoContraction"))))
            .collect()
    }

    fn arithmetic() -> Vec<Number> {
        let mut all = Vec::new();
        for s in [Scalar::F32, Scalar::F64] {
            all.extend([BinOp::Add, BinOp::Sub, BinOp::Mul, BinOp::Div, BinOp::Mod].map(|op| Number::Binary(op, s, s)));
            all.extend([UnOp::Neg, UnOp::Sqrt, UnOp::Floor].map(|op| Number::Unary(op, s)));
            all.extend([CmpOp::Lt, CmpOp::Ne].map(|op| Number::Compare(op, s)));
            all.push(Number::Fma(s));
        }
        all
    }

    #[test]
    fn all_float_operations_are_computed_as_written() {
        let (_, shown) = written(&arithmetic(), &Features::lavapipe(), false);
        for instruction in [
            "OpFAdd",
            "OpFSub",
            "OpFMul",
            "OpFDiv",
            "OpFNegate",
            "OpFOrdLessThan",
            "OpFOrdEqual",
            "OpFConvert",
        ] {
            let found = results(&shown, instruction);
            assert!(
                !found.is_empty() && found.iter().all(|(_, exact)| *exact),
                "{instruction}: {found:?}\n{shown}"
            );
        }
        assert!(results(&shown, "OpIAdd").iter().all(|(_, exact)| !exact));
        for width in ["32", "64"] {
            assert!(shown.contains(&format!("SignedZeroInfNanPreserve {width}")), "{shown}");
            assert!(shown.contains(&format!("RoundingModeRTE {width}")), "{shown}");
        }
        assert!(!shown.contains("DenormPreserve"), "not asked of a device that has it not");
    }

    #[test]
    fn fast_arithmetic_of_the_entry_is_left_to_the_driver_but_no_other() {
        let (_, shown) = written(&arithmetic(), &Features::lavapipe(), true);
        let products = results(&shown, "OpFMul");
        assert!(
            products.iter().any(|(_, exact)| *exact) && products.iter().any(|(_, exact)| !exact),
            "{shown}"
        );
    }

    #[test]
    fn integers_need_no_float_controls() {
        let whole = Number::Binary(BinOp::FloorDiv, Scalar::I64, Scalar::I64);
        let (words, shown) = written(&[whole], &Features::lavapipe(), false);
        assert!(!shown.contains("float_controls") && !shown.contains("NoContraction"));
        assert_eq!(words[1], 0x0001_0300);
        // The guards are ours alone.
        assert_eq!(results(&shown, "OpSDiv").len(), 1, "{shown}");
    }

    #[test]
    fn a_device_without_controls_is_asked_for_none() {
        let features = Features {
            controls32: FloatControls::default(),
            controls64: FloatControls::default(),
            ..Features::lavapipe()
        };
        let (_, shown) = written(&arithmetic(), &features, false);
        assert!(!shown.contains("SPV_KHR_float_controls") && shown.contains("NoContraction"));
    }
}
