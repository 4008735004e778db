//! Exported entries, for programs of others: kernels whose parameters do not depend on what the code reads, and functions that are called
//! as C does.

use weft_ir::{FuncKind, Module, Scalar, Type};
use weft_thread::{Code, Entry as _, Numbers};

use super::entry::{Keep, declared, symbol};
use super::func::Fx;
use super::module::{Entry, ModuleCx};
use super::values::{Res, Val};
use super::writer::{Operand, Ty};
use super::{EmitError, Emitted, Facts};
use crate::target::Target;

pub fn export(module: &Module, target: Target, name: Option<&str>, lines: bool) -> Res<Emitted> {
    let mut cx = ModuleCx::new(module, target, Facts::default(), lines);
    if cx.stack.bytes > 0 {
        return Err(EmitError::Unsupported {
            message: "a function that calls itself, in code that other programs launch: how large stacks are is for them to say".into(),
            span: weft_ir::Span::NONE,
        });
    }
    let f = module.entry_function();
    let mut fx = Fx::new(&mut cx);
    let entry = match f.kind {
        FuncKind::Kernel => {
            fx.kernel()?;
            fx.finish(name.map_or_else(|| symbol(f), str::to_owned), Keep::All)
        }
        FuncKind::Device => fx.function(name.unwrap_or(&f.name))?,
        FuncKind::Host | FuncKind::Loop { .. } => return Err(EmitError::Internal(format!("an entry of kind {:?} for others", f.kind))),
    };
    if cx.grid_sync && f.kind == FuncKind::Device {
        return Err(EmitError::Unsupported {
            message: "a barrier of the grid in a function compiled by itself".into(),
            span: weft_ir::Span::NONE,
        });
    }
    Ok(cx.finish(entry))
}

impl Fx<'_, '_> {
    fn function(mut self, name: &str) -> Res<Entry> {
        for scalar in self.scalars_given()? {
            let slot = self.w.alloca(Ty::in_memory(scalar));
            self.results.push((scalar, slot));
        }
        self.kernel()?;
        self.w.place(self.end);
        let given = self.give_back();
        let body = self.body();
        let (params, signature) = declared(&self.candidates, &body, Keep::All);
        let lines = self.cx.entry_location();
        let text = format!("define {given} @{name}({signature}) convergent nounwind{lines} {{\n{body}}}\n");
        Ok(self.ended(name.to_owned(), text, params))
    }

    fn scalars_given(&self) -> Res<Vec<Scalar>> {
        let items = match &self.f.result {
            Type::Tuple(items) => items.as_slice(),
            one => std::slice::from_ref(one),
        };
        let scalars = items.iter().map(|item| match item {
            Type::Scalar(s) => Ok(*s),
            _ => self.unsupported("an array given back by a function compiled by itself"),
        });
        scalars.collect()
    }

    /// Puts what a `return` gives where the end finds it.
    pub fn leave_results(&mut self, val: &Val) -> Res<()> {
        let one = std::slice::from_ref(val);
        let items = if let Val::Tuple(items) = val { items } else { one };
        if items.len() != self.results.len() {
            return self.internal("a return of other values than the function gives");
        }
        for (item, (scalar, slot)) in items.iter().zip(self.results.clone()) {
            let Val::Num(n) = item else {
                return self.internal("a return of what is no number");
            };
            let op = self.take(*n);
            let op = self.stored_as(scalar, op);
            self.w.store(op, slot);
        }
        Ok(())
    }

    /// Ends the function; gives its result type as it is declared: nothing, a scalar, or a structure of scalars.
    fn give_back(&mut self) -> String {
        let results = self.results.clone();
        let loaded: Vec<Operand> = results.iter().map(|(s, slot)| self.w.load(Ty::in_memory(*s), *slot)).collect();
        match (results.as_slice(), loaded.as_slice()) {
            ([], _) => {
                self.w.end(format_args!("ret void"));
                "void".into()
            }
            ([(scalar, _)], [one]) => {
                self.w.end(format_args!("ret {one}"));
                // As C does, small integers are made as wide as a register.
                let extended = match (scalar.is_int() || *scalar == Scalar::Bool, scalar.is_signed()) {
                    (true, true) => "signext ",
                    (true, false) => "zeroext ",
                    _ => "",
                };
                format!("{extended}{}", one.ty)
            }
            _ => {
                let types: Vec<String> = loaded.iter().map(|one| one.ty.to_string()).collect();
                let all = format!("{{ {} }}", types.join(", "));
                let mut whole = "poison".to_owned();
                for (i, one) in loaded.iter().enumerate() {
                    whole = self.w.aggregate(format_args!("insertvalue {all} {whole}, {one}, {i}"));
                }
                self.w.end(format_args!("ret {all} {whole}"));
                all
            }
        }
    }
}
