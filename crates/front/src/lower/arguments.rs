//! Argument binding of functions and methods that the front end knows: how they take the arguments of a call.
//!
//! A function sees its arguments only by taking them: by name, by position, or all of them. Each way refuses what the function has no
//! parameter for, and `Call::refuse_unread` what a function never took: no argument is ignored.

use std::cell::Cell;

use weft_ir::Span;

use crate::diag::{Diagnostic, DiagnosticKind};
use crate::stop::{Res, Stop};
use crate::value::Val;

/// The arguments of a call, evaluated.
pub struct Call {
    /// The name as it was written or found, for messages.
    pub name: String,
    pos: Vec<Val>,
    kw: Vec<(String, Val)>,
    pub span: Span,
    /// The function took its arguments.
    read: Cell<bool>,
}

/// A parameter's name as Python has it. `/x` is given by position only, `*x` by name only, as in Python's signatures.
struct Parameter<'n> {
    name: &'n str,
    by_position: bool,
    by_name: bool,
}

impl<'n> Parameter<'n> {
    fn of(written: &'n str) -> Parameter<'n> {
        let name = written.trim_start_matches(['/', '*']);
        Parameter {
            name,
            by_position: !written.starts_with('*'),
            by_name: !written.starts_with('/'),
        }
    }
}

impl Call {
    pub fn new(name: String, pos: Vec<Val>, kw: Vec<(String, Val)>, span: Span) -> Call {
        Call {
            name,
            pos,
            kw,
            span,
            read: Cell::new(false),
        }
    }

    /// The last part of the name, which Python's own messages have: `max` of `builtins.max`.
    pub fn short_name(&self) -> &str {
        self.name.rsplit('.').next().unwrap_or(&self.name)
    }

    /// A call in this one's name with arguments of its own.
    pub fn of(&self, pos: Vec<Val>) -> Call {
        Call::new(self.name.clone(), pos, Vec::new(), self.span)
    }

    /// The same call with one more argument before the others.
    pub fn with_first(&self, first: Val) -> Call {
        let (pos, kw) = self.given();
        let pos = std::iter::once(first).chain(pos.iter().cloned()).collect();
        Call::new(self.name.clone(), pos, kw.to_vec(), self.span)
    }

    pub fn misfit(&self, message: String) -> Stop {
        Diagnostic::new(DiagnosticKind::Arguments, self.span, message).into()
    }

    /// Arguments by the names given, the first `required` of which must be there; `None` stands for those left out. A name that starts
    /// with `/` is taken by position only, one that starts with `*` by name only.
    pub fn bind<const N: usize>(&self, names: [&str; N], required: usize) -> Res<[Option<Val>; N]> {
        let params = names.map(Parameter::of);
        let (pos, kw) = self.given();
        let most = params.iter().filter(|p| p.by_position).count();
        if pos.len() > most {
            let plural = if most == 1 { "" } else { "s" };
            return Err(self.misfit(format!("{} takes at most {most} argument{plural}, not {}", self.name, pos.len())));
        }
        let mut bound: [Option<Val>; N] = std::array::from_fn(|i| pos.get(i).cloned());
        for (name, val) in kw {
            let Some(i) = params.iter().position(|p| p.by_name && p.name == name) else {
                return Err(self.unknown(name));
            };
            if bound[i].is_some() {
                return Err(self.misfit(format!("{} got two values for '{name}'", self.name)));
            }
            bound[i] = Some(val.clone());
        }
        if let Some(missing) = (0..required).find(|&i| bound[i].is_none()) {
            return Err(self.misfit(format!("{} needs the argument '{}'", self.name, params[missing].name)));
        }
        Ok(bound)
    }

    /// Arguments by the names given, every one of which must be there.
    pub fn all<const N: usize>(&self, names: [&str; N]) -> Res<[Val; N]> {
        Ok(self.bind(names, N)?.map(|val| val.unwrap_or(Val::None)))
    }

    /// Exactly `N` arguments, by position only.
    pub fn exactly<const N: usize>(&self) -> Res<[&Val; N]> {
        let pos = self.any_number()?;
        if pos.len() != N {
            let plural = if N == 1 { "" } else { "s" };
            return Err(self.misfit(format!("{} takes {N} argument{plural} and was given {}", self.name, pos.len())));
        }
        Ok(std::array::from_fn(|i| &pos[i]))
    }

    /// Any number of arguments, by position only.
    pub fn any_number(&self) -> Res<&[Val]> {
        let (pos, kw) = self.given();
        match kw.first() {
            None => Ok(pos),
            Some((name, _)) => Err(self.unknown(name)),
        }
    }

    /// Any number of arguments by position, and those of some names.
    pub fn any_number_and<const N: usize>(&self, names: [&str; N]) -> Res<(&[Val], [Option<Val>; N])> {
        let (pos, kw) = self.given();
        let named = Call::new(self.name.clone(), Vec::new(), kw.to_vec(), self.span);
        Ok((pos, named.bind(names, 0)?))
    }

    /// The first argument, by position or name, and a call with the others.
    pub fn split_first(&self, name: &str) -> Res<(Val, Call)> {
        let (pos, kw) = self.given();
        let (first, pos) = match pos.split_first() {
            Some((first, rest)) => (Some(first.clone()), rest.to_vec()),
            None => (None, Vec::new()),
        };
        let (named, kw): (Vec<_>, Vec<_>) = kw.iter().cloned().partition(|(given, _)| given == name);
        let mut firsts = first.into_iter().chain(named.into_iter().map(|(_, val)| val));
        let rest = Call::new(self.name.clone(), pos, kw, self.span);
        match (firsts.next(), firsts.next()) {
            (Some(first), None) => Ok((first, rest)),
            (Some(_), Some(_)) => Err(self.misfit(format!("{} got two values for '{name}'", self.name))),
            (None, _) => Err(self.misfit(format!("{} needs the argument '{name}'", self.name))),
        }
    }

    /// The call without an argument that may stand behind so many others, and that argument.
    pub fn without(&self, name: &str, others: usize) -> Res<(Call, Option<Val>)> {
        let (pos, kw) = self.given();
        let most = others + 1;
        if pos.len() > most {
            return Err(self.misfit(format!("{} takes at most {most} arguments, not {}", self.name, pos.len())));
        }
        let by_position = pos.get(others).cloned();
        let pos = pos[..pos.len().min(others)].to_vec();
        let (named, kw): (Vec<_>, Vec<_>) = kw.iter().cloned().partition(|(given, _)| given == name);
        let mut found = by_position.into_iter().chain(named.into_iter().map(|(_, val)| val));
        let rest = Call::new(self.name.clone(), pos, kw, self.span);
        match (found.next(), found.next()) {
            (found, None) => Ok((rest, found)),
            (_, Some(_)) => Err(self.misfit(format!("{} got two values for '{name}'", self.name))),
        }
    }

    /// Everything that was given, for those who bind it to names of their own and refuse the rest.
    pub fn given(&self) -> (&[Val], &[(String, Val)]) {
        self.read.set(true);
        (&self.pos, &self.kw)
    }

    /// Is an array among the arguments?
    pub fn has_array(&self) -> bool {
        self.values().any(Val::is_array)
    }

    /// The arguments that have elements, each a number or an array, and how to make the call with other values in their places.
    pub fn elements(&self) -> (Vec<Val>, impl Fn(&[Val]) -> Call + 'static) {
        self.read.set(true);
        let has_elements = |val: &Val| val.is_array() || val.num().is_some();
        let elements = self.values().filter(|val| has_elements(val)).cloned().collect();
        let (name, pos, kw, span) = (self.name.clone(), self.pos.clone(), self.kw.clone(), self.span);
        let with = move |vals: &[Val]| {
            let mut vals = vals.iter();
            let mut next = |val: &Val| match has_elements(val) {
                true => vals.next().unwrap_or(val).clone(),
                false => val.clone(),
            };
            let pos = pos.iter().map(&mut next).collect();
            let kw = kw.iter().map(|(name, val)| (name.clone(), next(val))).collect();
            Call::new(name.clone(), pos, kw, span)
        };
        (elements, with)
    }

    fn values(&self) -> impl Iterator<Item = &Val> {
        self.pos.iter().chain(self.kw.iter().map(|(_, val)| val))
    }

    /// Refuses arguments that the function called did not take.
    pub fn refuse_unread(&self) -> Res<()> {
        match (self.read.get(), self.kw.first()) {
            (true, _) => Ok(()),
            (false, Some((name, _))) => Err(self.unknown(name)),
            (false, None) if self.pos.is_empty() => Ok(()),
            (false, None) => Err(self.misfit(format!("{} takes no arguments", self.name))),
        }
    }

    fn unknown(&self, name: &str) -> Stop {
        self.misfit(format!(
            "{} takes no argument by the name '{name}' in compiled functions",
            self.name
        ))
    }
}
