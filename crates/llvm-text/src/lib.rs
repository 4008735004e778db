//! Writing LLVM IR as text: what every emitter of it shares, whatever its registers hold.
//!
//! Nothing here calls LLVM. An emitter has its own types and operands, and a writer of its own around [`Text`].

use std::fmt::{self, Arguments, Display, Write};

use weft_ir::{CmpOp, Scalar};

/// A basic block's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Label(u32);

impl Display for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "b{}", self.0)
    }
}

/// The text of one function: an entry part for allocas and what is computed once, and the body. Registers and blocks are numbered.
#[derive(Debug, Default)]
pub struct Text {
    pub entry: String,
    pub body: String,
    next_reg: u32,
    next_label: u32,
    /// The current block has its terminator already.
    closed: bool,
    /// Number of the metadata that says where in the source the body's next instructions come from.
    pub location: Option<u32>,
}

impl Text {
    /// The number of a new register.
    pub fn new_reg(&mut self) -> u32 {
        self.next_reg += 1;
        self.next_reg
    }

    pub fn label(&mut self) -> Label {
        self.next_label += 1;
        Label(self.next_label)
    }

    /// Starts the block `label`, falling into it from an open one.
    pub fn place(&mut self, label: Label) {
        if !self.closed {
            self.line(format_args!("br label %{label}"));
        }
        let _ = writeln!(self.body, "{label}:");
        self.closed = false;
    }

    /// An instruction without a result. What follows a terminator is not written.
    pub fn line(&mut self, text: Arguments<'_>) {
        if self.closed {
            return;
        }
        let _ = match self.location {
            Some(number) => writeln!(self.body, "  {text}, !dbg !{number}"),
            None => writeln!(self.body, "  {text}"),
        };
    }

    /// An instruction of the entry block, before the body.
    pub fn entry_line(&mut self, text: Arguments<'_>) {
        let _ = writeln!(self.entry, "  {text}");
    }

    /// An instruction that ends the block.
    pub fn end(&mut self, text: Arguments<'_>) {
        self.line(text);
        self.closed = true;
    }

    pub fn br(&mut self, to: Label) {
        self.end(format_args!("br label %{to}"));
    }

    /// A branch on an `i1`, written without its type.
    pub fn branch(&mut self, cond: impl Display, yes: Label, no: Label) {
        self.end(format_args!("br i1 {cond}, label %{yes}, label %{no}"));
    }

    /// A branch whose first side is rarely taken: what it leads to must not cost the way past it registers. `!0` are the weights.
    pub fn rare_branch(&mut self, cond: impl Display, rare: Label, usual: Label) {
        self.end(format_args!("br i1 {cond}, label %{rare}, label %{usual}, !prof !0"));
    }
}

/// LLVM writes a `float` constant as the bits of the `double` of the same value; NaNs keep their payload.
pub fn float_bits(bits: u32) -> u64 {
    let value = f32::from_bits(bits);
    if value.is_nan() {
        let sign = u64::from(bits >> 31) << 63;
        return sign | 0x7FF0_0000_0000_0000 | (u64::from(bits & 0x007F_FFFF) << 29);
    }
    f64::from(value).to_bits()
}

/// The instruction, with its condition, that compares two scalars of a type.
pub fn compare_name(op: CmpOp, s: Scalar) -> &'static str {
    match (op, s.is_float(), s.is_signed()) {
        (CmpOp::Eq, true, _) => "fcmp oeq",
        (CmpOp::Ne, true, _) => "fcmp une",
        (CmpOp::Lt, true, _) => "fcmp olt",
        (CmpOp::Le, true, _) => "fcmp ole",
        (CmpOp::Gt, true, _) => "fcmp ogt",
        (CmpOp::Ge, true, _) => "fcmp oge",
        (CmpOp::Eq, _, _) => "icmp eq",
        (CmpOp::Ne, _, _) => "icmp ne",
        (CmpOp::Lt, _, true) => "icmp slt",
        (CmpOp::Le, _, true) => "icmp sle",
        (CmpOp::Gt, _, true) => "icmp sgt",
        (CmpOp::Ge, _, true) => "icmp sge",
        (CmpOp::Lt, _, _) => "icmp ult",
        (CmpOp::Le, _, _) => "icmp ule",
        (CmpOp::Gt, _, _) => "icmp ugt",
        (CmpOp::Ge, _, _) => "icmp uge",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_fall_into_each_other_and_nothing_follows_an_end() {
        let mut text = Text::default();
        let (first, second) = (text.label(), text.label());
        let reg = text.new_reg();
        text.line(format_args!("%v{reg} = add i32 1, 2"));
        text.place(first);
        text.branch("%v1", second, first);
        text.line(format_args!("never written"));
        text.place(second);
        text.end(format_args!("ret void"));
        assert_eq!(
            text.body,
            "  %v1 = add i32 1, 2\n  br label %b1\nb1:\n  br i1 %v1, label %b2, label %b1\nb2:\n  ret void\n"
        );
    }

    #[test]
    fn instructions_say_where_they_come_from() {
        let mut text = Text::default();
        let after = text.label();
        text.location = Some(7);
        text.line(format_args!("%v1 = add i32 1, 2"));
        text.place(after);
        text.location = None;
        text.end(format_args!("ret void"));
        assert_eq!(
            text.body,
            "  %v1 = add i32 1, 2, !dbg !7\n  br label %b1, !dbg !7\nb1:\n  ret void\n"
        );
    }

    #[test]
    fn float_constants_keep_value_and_payload() {
        assert_eq!(float_bits(1.5f32.to_bits()), 1.5f64.to_bits());
        assert_eq!(float_bits(0xFFC0_0001), 0xFFF8_0000_2000_0000);
    }

    #[test]
    fn names_of_comparisons() {
        assert_eq!(compare_name(CmpOp::Ne, Scalar::F32), "fcmp une");
        assert_eq!(compare_name(CmpOp::Lt, Scalar::I8), "icmp slt");
        assert_eq!(compare_name(CmpOp::Lt, Scalar::Bool), "icmp ult");
    }
}
