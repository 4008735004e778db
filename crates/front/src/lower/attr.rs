//! Attributes: of modules, numbers, arrays and types.

use weft_ir::{Kind, Layout, Op, Scalar, Span, ViewType};

use super::Lower;
use crate::builtins::{self, Entry};
use crate::diag::{Diagnostic, DiagnosticKind};
use crate::stop::Res;
use crate::types::Num;
use crate::value::{Lit, Number, Val};

/// NumPy's letter for a kind of numbers. bfloat16 is of no kind of NumPy's own; to the library's texts, which do with it what they do with
/// other floats, it is one of these.
fn kind_code(s: Scalar, library: bool) -> &'static str {
    match s.kind() {
        _ if s == Scalar::BF16 && !library => "V",
        Kind::Bool => "b",
        Kind::Signed => "i",
        Kind::Unsigned => "u",
        Kind::Float => "f",
        Kind::Complex => "c",
    }
}

impl Lower<'_> {
    pub fn attribute(&mut self, base: Val, attr: &str, span: Span) -> Res<Val> {
        match &base {
            Val::Path(path) => self.module_attribute(path, attr, span),
            Val::Num(..) | Val::Lit(_) => self.number_attribute(&base, attr, span),
            Val::View(..) | Val::Lazy(_) => self.array_attribute(base, attr, span),
            Val::Tuple(items) if items.is_tuple() && items.class().is_some() => self.field(&base, items, attr, span),
            Val::Enum(class) => self.member(class, attr, span),
            Val::Member(member) => match attr {
                "value" => self.object(&member.value, span),
                "name" => Ok(Val::Str(member.name.clone())),
                _ => Err(self.no_attribute(&base, attr, span)),
            },
            Val::Dtype(s) => match attr {
                "type" => Ok(base),
                "itemsize" => Ok(Val::int(s.size() as i128)),
                "name" => Ok(Val::Str(s.numpy_name().into())),
                "kind" => Ok(Val::Str(kind_code(*s, self.unit.library).into())),
                _ => Err(self.no_attribute(&base, attr, span)),
            },
            _ => Err(self.no_attribute(&base, attr, span)),
        }
    }

    fn no_attribute(&self, base: &Val, attr: &str, span: Span) -> crate::stop::Stop {
        let message = format!("{} has no attribute '{attr}' that can be compiled", base.ty());
        let diag = Diagnostic::new(DiagnosticKind::Typing, span, message);
        match base {
            Val::Tuple(_) => diag
                .help("a list is as long as it is written in compiled code; fill an array instead")
                .into(),
            _ => diag.into(),
        }
    }

    fn module_attribute(&mut self, module: &str, attr: &str, span: Span) -> Res<Val> {
        let path = builtins::canonical(&format!("{module}.{attr}"));
        // What the library's texts are written with is nobody else's.
        let hidden = !self.unit.library && path == "weft.language";
        if !hidden && builtins::find(&path).is_some() {
            return self.resolve(&path, span);
        }
        if let Some(object) = self.unit.function.env.clone().attribute(module, attr) {
            return self.object(&object, span);
        }
        let message = format!("'{module}.{attr}' is not known to the compiler");
        Err(Diagnostic::new(DiagnosticKind::Name, span, message).into())
    }

    /// What a path means: constants and types become values, functions and modules stay paths.
    pub fn resolve(&mut self, path: &str, span: Span) -> Res<Val> {
        match builtins::find(path) {
            Some(Entry::Float(v)) => Ok(Val::Lit(Lit::float(v))),
            Some(Entry::Int(v)) => Ok(Val::int(v.into())),
            Some(Entry::Dtype(s)) => Ok(Val::Dtype(s)),
            Some(Entry::Geometry(g)) => self.geometry(g, span),
            Some(Entry::Module | Entry::Class(_) | Entry::Func(_)) => Ok(Val::Path(path.to_owned())),
            None => {
                let message = format!("'{path}' is not known to the compiler");
                Err(Diagnostic::new(DiagnosticKind::Name, span, message).into())
            }
        }
    }

    fn number_attribute(&mut self, base: &Val, attr: &str, span: Span) -> Res<Val> {
        let Some(num) = base.num() else {
            return Err(self.no_attribute(base, attr, span));
        };
        match attr {
            "real" | "imag" => self.part(base, num, attr == "real", span),
            "shape" | "size" | "ndim" | "dtype" if num.weak && !self.unit.library => Err(self.no_attribute(base, attr, span)),
            "dtype" => Ok(Val::Dtype(num.scalar)),
            "ndim" => Ok(Val::int(0)),
            "size" => Ok(Val::int(1)),
            "shape" => Ok(Val::tuple(Vec::new())),
            _ => builtins::methods::of(base, attr).ok_or_else(|| self.no_attribute(base, attr, span)),
        }
    }

    pub fn part(&mut self, base: &Val, num: Num, real: bool, span: Span) -> Res<Val> {
        if let Val::Lit(lit) = base
            && num.scalar.is_complex()
        {
            let (re, im) = lit.value.complex();
            return Ok(Val::Lit(Lit {
                num: num.with(num.scalar.part()),
                value: Number::Float(if real { re } else { im }),
            }));
        }
        if !num.scalar.is_complex() {
            // A Python bool is an integer with the parts of one.
            let num = if num == Num::BOOL { Num::INT } else { num };
            return if real && num != Num::INT {
                Ok(base.clone())
            } else if real {
                Ok(Val::Num(self.number_as(base, num.scalar, span)?, num))
            } else {
                Ok(Val::Num(self.zero(num.scalar), num))
            };
        }
        let value = self.number_as(base, num.scalar, span)?;
        let part = num.with(num.scalar.part());
        let op = if real { Op::Re(value) } else { Op::Im(value) };
        Ok(Val::Num(self.b.emit(part.scalar, op), part))
    }

    fn array_attribute(&mut self, base: Val, attr: &str, span: Span) -> Res<Val> {
        match attr {
            "shape" => {
                let shape = self.shape(&base)?;
                return Ok(Val::Tuple(shape.into_iter().map(|v| Val::Num(v, Num::INT)).collect()));
            }
            "size" => {
                let size = self.size(&base)?;
                return Ok(Val::Num(size, Num::INT));
            }
            _ => {}
        }
        let crate::types::Ty::View(view) = base.ty() else {
            return Err(self.no_attribute(&base, attr, span));
        };
        match attr {
            "ndim" => Ok(Val::int(view.rank.into())),
            "dtype" => Ok(Val::Dtype(view.elem)),
            "itemsize" => Ok(Val::int(view.elem.size() as i128)),
            "nbytes" => {
                let size = self.size(&base)?;
                let item = self.b.i64(view.elem.size() as i64);
                Ok(Val::Num(self.b.binary(weft_ir::BinOp::Mul, size, item), Num::INT))
            }
            "flat" => builtins::elements(self, &base, false, span),
            "T" => {
                let order: Vec<u8> = (0..view.rank).rev().collect();
                let base = self.materialise(base)?;
                self.transpose(&base, &order, span)
            }
            "real" | "imag" => self.array_part(base, attr == "real", span),
            _ => builtins::methods::of(&base, attr).ok_or_else(|| self.no_attribute(&base, attr, span)),
        }
    }

    pub fn transpose(&mut self, base: &Val, order: &[u8], span: Span) -> Res<Val> {
        let Val::View(value, view) = base else {
            return Err(self.typing(span, format!("an array is needed here, and this is {}", base.ty())));
        };
        if order.iter().copied().eq(0..view.rank) {
            return Ok(base.clone());
        }
        if let Some(of) = self.part_of(*value) {
            let Val::View(whole, ty) = self.transpose(&Val::View(of.view, of.ty), order, span)? else {
                return Err(self.typing(span, format!("an array is needed here, and this is {}", base.ty())));
            };
            let (part, ty) = self.part_view(whole, ty, of.part);
            return Ok(Val::View(part, ty));
        }
        let reversed = order.iter().copied().eq((0..view.rank).rev());
        let layout = match view.layout {
            Layout::C if reversed => Layout::F,
            Layout::F if reversed => Layout::C,
            _ => Layout::Any,
        };
        let ty = ViewType { layout, ..*view };
        let transposed = self.b.emit(ty, Op::Transpose(*value, order.to_vec()));
        self.arrays.derived(transposed, *value);
        Ok(Val::View(transposed, ty))
    }
}
