//! Inspection: compiled code for people.

use std::fmt::Write;

use crate::variant::Variant;

/// Words before the first instruction.
const HEADER: usize = 5;

/// SPIR-V, an instruction a line: its name and its operands as numbers. On other interfaces wgpu makes the code, which it does not show.
pub fn assembly(variant: &Variant) -> String {
    if variant.spirv.is_empty() {
        return variant.naga.clone();
    }
    let mut text = String::new();
    let mut rest = variant.spirv.get(HEADER..).unwrap_or(&[]);
    while let Some((&head, _)) = rest.split_first() {
        let length = (head >> 16) as usize;
        let Some((instruction, behind)) = rest.split_at_checked(length.max(1)) else {
            break;
        };
        let code = head & 0xffff;
        match ::spirv::Op::from_u32(code) {
            Some(op) => {
                let _ = write!(text, "Op{op:?}");
            }
            None => {
                let _ = write!(text, "Op{code}");
            }
        }
        for operand in &instruction[1..] {
            let _ = write!(text, " {operand}");
        }
        text.push('\n');
        rest = behind;
    }
    text
}
