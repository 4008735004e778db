//! Enumerations: their members are constants, arguments too, for each of which code is compiled. Those of `IntEnum` are the integers, of others
//! only which one it is can be asked.

use std::rc::Rc;

use ruff_python_ast::{Expr, ExprAttribute};
use ruff_text_size::Ranged;
use weft_ir::Span;

use super::Lower;
use crate::diag::{Diagnostic, DiagnosticKind};
use crate::stop::Res;
use crate::types::{Static, Ty};
use crate::value::Val;
use crate::{EnumClass, EnumMember, Object};

impl Lower<'_> {
    /// `x.attr`. The value and name of a member are taken from the member, which by itself may be no more than an integer.
    pub fn attribute_of(&mut self, e: &ExprAttribute, span: Span) -> Res<Val> {
        let attr = e.attr.as_str();
        let base = match &*e.value {
            Expr::Attribute(inner) if matches!(attr, "value" | "name") => {
                let base = self.expr(&inner.value)?;
                let inner_span = self.span(inner.range());
                if let Val::Enum(class) = &base {
                    Val::Member(self.find_member(class, inner.attr.as_str(), inner_span)?)
                } else {
                    self.attribute(base, inner.attr.as_str(), inner_span)?
                }
            }
            other => self.expr(other)?,
        };
        self.attribute(base, attr, span)
    }

    /// `Color.red`.
    pub fn member(&mut self, class: &EnumClass, name: &str, span: Span) -> Res<Val> {
        let member = self.find_member(class, name, span)?;
        self.member_value(&member, span)
    }

    /// `Color["red"]`.
    pub fn member_by_name(&mut self, class: &EnumClass, index: &Expr) -> Res<Val> {
        let span = self.span(index.range());
        match self.expr(index)? {
            Val::Str(name) => self.member(class, &name, span),
            other => Err(self.typing(
                span,
                format!("a member of '{}' is found by its name, not by {}", class.name, other.ty()),
            )),
        }
    }

    /// A value that its type alone tells: an object that is an argument, or None.
    pub fn known_value(&mut self, ty: &Ty) -> Val {
        let Ty::Static(Static::Argument(key, shown)) = ty else {
            return Val::None;
        };
        let known = match self.unit.function.env.argument(*key) {
            Some(Object::Member(member)) => match &member.itself {
                Some(Object::Str(text)) => Some(Val::Str(text.clone())),
                _ => Some(Val::Member(member)),
            },
            Some(object) => self.object(&object, self.b.span).ok(),
            None => None,
        };
        known.unwrap_or_else(|| Val::Other(*key, shown.clone()))
    }

    fn find_member(&self, class: &EnumClass, name: &str, span: Span) -> Res<Rc<EnumMember>> {
        let found = class.members.iter().find(|(n, _)| n == name);
        found.map(|(_, member)| member.clone()).ok_or_else(|| {
            let message = format!("the enumeration '{}' has no member '{name}'", class.name);
            Diagnostic::new(DiagnosticKind::Name, span, message).into()
        })
    }

    fn member_value(&mut self, member: &Rc<EnumMember>, span: Span) -> Res<Val> {
        match &member.itself {
            Some(object) => self.object(object, span),
            None => Ok(Val::Member(member.clone())),
        }
    }
}
