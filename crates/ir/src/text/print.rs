//! Modules to text.

use std::fmt::{self, Display, Write};

use super::fields::Shown;
use super::{literal, op};
use crate::module::{
    ArrayDecl, Block, ConstArray, ErrorKind, FuncKind, Function, Module, PrintItem, Reduction, Source, Span, Spread, Stmt, StmtKind, Value,
};
use crate::op::Op;

/// The module as text, without sources and spans.
pub fn print(module: &Module) -> String {
    render(module, false)
}

/// The module as text, with sources and spans.
pub fn print_with_spans(module: &Module) -> String {
    render(module, true)
}

fn render(module: &Module, spans: bool) -> String {
    let mut out = String::new();
    let printer = Printer { module, spans };
    // Writing to a string cannot fail.
    let _ = printer.module(&mut out);
    out
}

struct Printer<'m> {
    module: &'m Module,
    spans: bool,
}

/// A value where it is defined, with its name and type.
struct Def<'f>(&'f Function, Value);

impl Display for Def<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Def(function, value) = *self;
        write!(f, "%{}", value.0)?;
        let Some(data) = function.values.get(value.index()) else {
            return Ok(());
        };
        if let Some(name) = &data.name {
            write!(f, " {}", literal::name(name))?;
        }
        write!(f, ": {}{}", data.ty, if data.exact { " exact" } else { "" })
    }
}

/// Items with commas between them.
struct Joined<I>(I);

impl<I: Iterator<Item: Display> + Clone> Display for Joined<I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, item) in self.0.clone().enumerate() {
            f.write_str(if i > 0 { ", " } else { "" })?;
            item.fmt(f)?;
        }
        Ok(())
    }
}

impl Printer<'_> {
    fn module(&self, out: &mut String) -> fmt::Result {
        if self.spans {
            self.module.sources.iter().enumerate().try_for_each(|(i, s)| source(out, i, s))?;
        }
        for (i, c) in self.module.constants.iter().enumerate() {
            const_array(out, i, c)?;
        }
        for (i, function) in self.module.functions.iter().enumerate() {
            if !out.is_empty() {
                out.push('\n');
            }
            if self.module.functions.len() > 1 && self.module.entry.index() == i {
                out.push_str("entry ");
            }
            self.function(out, function)?;
        }
        Ok(())
    }

    fn function(&self, out: &mut String, function: &Function) -> fmt::Result {
        let mut reductions = &Vec::new();
        match &function.kind {
            FuncKind::Host => out.push_str("host"),
            FuncKind::Device => out.push_str("device"),
            FuncKind::Kernel => out.push_str("kernel"),
            FuncKind::Loop { rank, reductions: r } => {
                write!(out, "loop<{rank}>")?;
                reductions = r;
            }
        }
        write!(out, " @{}(", literal::name(&function.name))?;
        for (i, &param) in function.params.iter().enumerate() {
            write!(out, "{}{}", if i > 0 { ", " } else { "" }, Def(function, param))?;
        }
        out.push(')');
        if !function.result.is_unit() {
            write!(out, " -> {}", function.result)?;
        }
        self.reduce(out, reductions)?;
        for (flag, name) in [
            (function.flags.contract, " contract"),
            (function.flags.fastmath, " fastmath"),
            (function.flags.numba, " numba"),
            (function.flags.rare, " rare"),
            (function.flags.library, " library"),
        ] {
            out.push_str(if flag { name } else { "" });
        }
        let flags = &function.flags;
        for (limit, name) in [
            (flags.max_threads, "max_threads"),
            (flags.min_blocks, "min_blocks"),
            (flags.max_registers, "max_registers"),
        ] {
            if limit > 0 {
                write!(out, " {name} {limit}")?;
            }
        }
        out.push_str(" {\n");
        declarations(out, function)?;
        self.block(out, function, &function.body, 1)?;
        out.push_str("}\n");
        Ok(())
    }

    fn reduce(&self, out: &mut String, reductions: &Vec<Reduction>) -> fmt::Result {
        if reductions.is_empty() {
            return Ok(());
        }
        write!(out, " reduce({})", Shown(reductions, self.module))
    }

    fn block(&self, out: &mut String, function: &Function, block: &Block, depth: usize) -> fmt::Result {
        block.0.iter().try_for_each(|stmt| {
            indent(out, depth);
            self.stmt(out, function, stmt, depth)?;
            out.push('\n');
            Ok(())
        })
    }

    fn nested(&self, out: &mut String, function: &Function, span: Span, body: &Block, depth: usize) -> fmt::Result {
        self.span(out, span)?;
        out.push_str(" {\n");
        self.block(out, function, body, depth + 1)?;
        indent(out, depth);
        out.push('}');
        Ok(())
    }

    fn span(&self, out: &mut String, span: Span) -> fmt::Result {
        if self.spans && span != Span::NONE {
            write!(out, " @{}:{}..{}", span.source.0, span.start, span.end)?;
        }
        Ok(())
    }

    fn stmt(&self, out: &mut String, function: &Function, stmt: &Stmt, depth: usize) -> fmt::Result {
        match &stmt.kind {
            StmtKind::If { cond, then, other } => {
                write!(out, "if %{}", cond.0)?;
                self.nested(out, function, stmt.span, then, depth)?;
                if !other.0.is_empty() {
                    out.push_str(" else");
                    self.nested(out, function, Span::NONE, other, depth)?;
                }
                Ok(())
            }
            StmtKind::Loop(body) => {
                out.push_str("loop");
                self.nested(out, function, stmt.span, body, depth)
            }
            StmtKind::For {
                var,
                start,
                stop,
                step,
                body,
            } => {
                let var = Def(function, *var);
                write!(out, "for {var} = %{} to %{} step %{}", start.0, stop.0, step.0)?;
                self.nested(out, function, stmt.span, body, depth)
            }
            StmtKind::ParFor {
                vars,
                extents,
                reductions,
                spread,
                body,
            } => {
                out.push_str("parfor (");
                for (i, &var) in vars.iter().enumerate() {
                    write!(out, "{}{}", if i > 0 { ", " } else { "" }, Def(function, var))?;
                }
                write!(out, ") in ({})", Shown(extents, self.module))?;
                self.reduce(out, reductions)?;
                out.push_str(spread_word(*spread));
                self.nested(out, function, stmt.span, body, depth)
            }
            StmtKind::Scope(label, body) => {
                write!(out, "scope ^{}", label.0)?;
                self.nested(out, function, stmt.span, body, depth)
            }
            other => {
                self.simple(out, function, other)?;
                self.span(out, stmt.span)
            }
        }
    }

    /// A statement without blocks.
    fn simple(&self, out: &mut String, function: &Function, kind: &StmtKind) -> fmt::Result {
        match kind {
            StmtKind::Let(value, op) => {
                write!(out, "{} = ", Def(function, *value))?;
                let ty = function.values.get(value.index()).and_then(|data| data.ty.scalar());
                match op {
                    Op::Const(c) if ty == Some(c.scalar()) => out.write_str(&literal::constant(*c)),
                    _ => op::write(op, out, self.module),
                }
            }
            StmtKind::Set(local, value) => write!(out, "set ${} = %{}", local.0, value.0),
            StmtKind::Launch {
                func,
                extents,
                args,
                results,
                spread,
            } => {
                write!(
                    out,
                    "launch {} over ({}) with ({})",
                    Shown(func, self.module),
                    Shown(extents, self.module),
                    Shown(args, self.module)
                )?;
                if !results.is_empty() {
                    write!(out, " into ({})", Shown(results, self.module))?;
                }
                out.write_str(spread_word(*spread))
            }
            StmtKind::Leave(label) => write!(out, "leave ^{}", label.0),
            StmtKind::Break => out.write_str("break"),
            StmtKind::Continue => out.write_str("continue"),
            StmtKind::Return(None) => out.write_str("return"),
            StmtKind::Return(Some(value)) => write!(out, "return %{}", value.0),
            StmtKind::Store {
                view,
                indices,
                value,
                part,
            } => {
                let (indices, part) = (Shown(indices, self.module), Shown(part, self.module));
                write!(out, "store %{}[{indices}]{part} = %{}", view.0, value.0)
            }
            StmtKind::Barrier => out.write_str("barrier"),
            StmtKind::GridBarrier => out.write_str("grid_barrier"),
            StmtKind::SyncWarp(mask) => write!(out, "sync_warp %{}", mask.0),
            StmtKind::Fence(scope) => write!(out, "fence {}", scope.name()),
            StmtKind::Sleep(nanoseconds) => write!(out, "sleep %{}", nanoseconds.0),
            StmtKind::Raise {
                kind: kind @ ErrorKind::Host(number),
                message,
            } => write!(out, "raise {} {number} {}", kind.name(), literal::quote(message)),
            StmtKind::Raise { kind, message } => write!(out, "raise {} {}", kind.name(), literal::quote(message)),
            StmtKind::Print(items) => print_items(out, items),
            // Statements with blocks are written by `stmt`.
            StmtKind::If { .. } | StmtKind::Loop(_) | StmtKind::For { .. } | StmtKind::ParFor { .. } | StmtKind::Scope(..) => Ok(()),
        }
    }
}

fn indent(out: &mut String, depth: usize) {
    out.extend(std::iter::repeat_n("  ", depth));
}

fn spread_word(spread: Spread) -> &'static str {
    match spread {
        Spread::Lanes => "",
        Spread::Gangs => " parallel",
        Spread::Threads => " threads",
    }
}

fn source(out: &mut String, i: usize, source: &Source) -> fmt::Result {
    let (file, text) = (literal::quote(&source.file), literal::quote(&source.text));
    writeln!(out, "source {i} {file} line {} {text}", source.first_line)
}

fn const_array(out: &mut String, i: usize, array: &ConstArray) -> fmt::Result {
    write!(out, "const {i}: {}[{}] = ", array.elem, Joined(array.shape.iter()))?;
    match literal::elements(array.elem, &array.bytes) {
        Some(elements) => writeln!(out, "[{}]", Joined(elements.iter().map(|c| literal::constant(*c)))),
        None => {
            out.push_str("bytes \"");
            array.bytes.iter().try_for_each(|b| write!(out, "{b:02x}"))?;
            writeln!(out, "\"")
        }
    }
}

/// Locals, arrays, and values nothing defines any more: they keep their numbers.
fn declarations(out: &mut String, function: &Function) -> fmt::Result {
    for (i, local) in function.locals.iter().enumerate() {
        let name = if local.name.is_empty() {
            String::new()
        } else {
            format!(" {}", literal::name(&local.name))
        };
        writeln!(out, "  local ${i}{name}: {}", local.ty)?;
    }
    for (i, ArrayDecl { name, elem, shape, space }) in function.arrays.iter().enumerate() {
        writeln!(
            out,
            "  array {i} {}: {elem}[{}] {}",
            literal::name(name),
            Joined(shape.iter()),
            space.name()
        )?;
    }
    let mut defined = vec![false; function.values.len()];
    function.params.iter().for_each(|p| mark(&mut defined, *p));
    mark_block(&mut defined, &function.body);
    for (i, _) in defined.iter().enumerate().filter(|(_, d)| !**d) {
        writeln!(out, "  unused {}", Def(function, Value(i as u32)))?;
    }
    Ok(())
}

fn mark(defined: &mut [bool], value: Value) {
    if let Some(d) = defined.get_mut(value.index()) {
        *d = true;
    }
}

fn mark_block(defined: &mut [bool], block: &Block) {
    block.walk(&mut |kind| match kind {
        StmtKind::Let(value, _) | StmtKind::For { var: value, .. } => mark(defined, *value),
        StmtKind::ParFor { vars, .. } => vars.iter().for_each(|v| mark(defined, *v)),
        _ => {}
    });
}

fn print_items(out: &mut String, items: &[PrintItem]) -> fmt::Result {
    out.push_str("print");
    for (i, item) in items.iter().enumerate() {
        out.push_str(if i > 0 { ", " } else { " " });
        match item {
            PrintItem::Text(text) => out.push_str(&literal::quote(text)),
            PrintItem::Value(value) => write!(out, "%{}", value.0)?,
            PrintItem::Complex(re, im) => write!(out, "complex(%{}, %{})", re.0, im.0)?,
        }
    }
    Ok(())
}
