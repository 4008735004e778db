//! Modules to text.

use std::fmt::{self, Display, Write};

use super::fields::Text;
use super::literal;
use crate::module::{ArrayDecl, Block, ConstArray, Flags, FuncKind, Function, Module, Origin, Source, Span, Value};
use crate::types::Scalar;

/// The module as text, without sources and spans.
pub fn print(module: &Module) -> String {
    render(module, false)
}

/// The module as text, with sources and spans.
pub fn print_with_spans(module: &Module) -> String {
    render(module, true)
}

fn render(module: &Module, spans: bool) -> String {
    let mut printer = Printer {
        out: String::new(),
        module,
        function: None,
        spans,
        span: Span::NONE,
        depth: 0,
        defined: None,
    };
    // Writing to a string cannot fail.
    let _ = printer.module();
    printer.out
}

/// Text that grows, and where in the module it has come.
pub(super) struct Printer<'m> {
    out: String,
    pub(super) module: &'m Module,
    function: Option<&'m Function>,
    spans: bool,
    /// Of the statement being written, until it is.
    pub(super) span: Span,
    /// How many blocks are open.
    depth: usize,
    /// The scalar type of the value that was defined last, if it has one.
    pub(super) defined: Option<Scalar>,
}

impl Write for Printer<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.out.write_str(text)
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

impl<'m> Printer<'m> {
    fn module(&mut self) -> fmt::Result {
        let module = self.module;
        if self.spans {
            module.sources.iter().enumerate().try_for_each(|(i, s)| self.source(i, s))?;
        }
        module.constants.iter().enumerate().try_for_each(|(i, c)| self.const_array(i, c))?;
        for (i, function) in module.functions.iter().enumerate() {
            if !self.out.is_empty() {
                self.write_char('\n')?;
            }
            if module.functions.len() > 1 && module.entry.index() == i {
                self.write_str("entry ")?;
            }
            self.function(function)?;
        }
        Ok(())
    }

    fn source(&mut self, i: usize, source: &Source) -> fmt::Result {
        let (file, text) = (literal::quote(&source.file), literal::quote(&source.text));
        writeln!(self, "source {i} {file} line {} {text}", source.first_line)
    }

    fn const_array(&mut self, i: usize, array: &ConstArray) -> fmt::Result {
        write!(self, "const {i}: {}[{}] = ", array.elem, Joined(array.shape.iter()))?;
        match literal::elements(array.elem, &array.bytes) {
            Some(elements) => writeln!(self, "[{}]", Joined(elements.iter().map(|c| literal::constant(*c)))),
            None => {
                self.write_str("bytes \"")?;
                array.bytes.iter().try_for_each(|b| write!(self, "{b:02x}"))?;
                writeln!(self, "\"")
            }
        }
    }

    fn function(&mut self, function: &'m Function) -> fmt::Result {
        self.function = Some(function);
        self.head(function)?;
        self.write_str(" {\n")?;
        self.declarations(function)?;
        self.block(&function.body)?;
        self.write_str("}\n")
    }

    fn head(&mut self, function: &Function) -> fmt::Result {
        match &function.kind {
            FuncKind::Host => self.write_str("host")?,
            FuncKind::Device => self.write_str("device")?,
            FuncKind::Kernel => self.write_str("kernel")?,
            FuncKind::Loop { rank, .. } => write!(self, "loop<{rank}>")?,
        }
        write!(self, " @{}(", literal::name(&function.name))?;
        function.params.write_definition(self)?;
        self.write_str(")")?;
        if !function.result.is_unit() {
            write!(self, " -> {}", function.result)?;
        }
        if let FuncKind::Loop { reductions, .. } = &function.kind {
            reductions.write(self)?;
        }
        if let Origin::Library(name) = &function.origin {
            write!(self, " library({})", literal::name(name))?;
        }
        self.flags(&function.flags)
    }

    fn flags(&mut self, flags: &Flags) -> fmt::Result {
        for (flag, name) in [
            (flags.contract, " contract"),
            (flags.fastmath, " fastmath"),
            (flags.numba, " numba"),
            (flags.rare, " rare"),
            (flags.streams, " streams"),
            (flags.one_thread, " one_thread"),
        ] {
            self.write_str(if flag { name } else { "" })?;
        }
        for (limit, name) in [
            (flags.max_threads, "max_threads"),
            (flags.min_blocks, "min_blocks"),
            (flags.max_registers, "max_registers"),
        ] {
            if limit > 0 {
                write!(self, " {name} {limit}")?;
            }
        }
        Ok(())
    }

    /// Locals, arrays, and values nothing defines any more: they keep their numbers.
    fn declarations(&mut self, function: &Function) -> fmt::Result {
        for (i, local) in function.locals.iter().enumerate() {
            write!(self, "  local ${i}")?;
            if !local.name.is_empty() {
                write!(self, " {}", literal::name(&local.name))?;
            }
            writeln!(self, ": {}", local.ty)?;
        }
        for (i, ArrayDecl { name, elem, shape, space }) in function.arrays.iter().enumerate() {
            let (name, shape) = (literal::name(name), Joined(shape.iter()));
            writeln!(self, "  array {i} {name}: {elem}[{shape}] {}", space.name())?;
        }
        for value in never_defined(function) {
            self.write_str("  unused ")?;
            self.define(value)?;
            self.write_char('\n')?;
        }
        Ok(())
    }

    /// A value where it is defined, with its name and type.
    pub(super) fn define(&mut self, value: Value) -> fmt::Result {
        write!(self, "%{}", value.0)?;
        let Some(data) = self.function.and_then(|f| f.values.get(value.index())) else {
            return Ok(());
        };
        self.defined = data.ty.scalar();
        if let Some(name) = &data.name {
            write!(self, " {}", literal::name(name))?;
        }
        write!(self, ": {}{}", data.ty, if data.exact { " exact" } else { "" })
    }

    fn block(&mut self, block: &Block) -> fmt::Result {
        self.depth += 1;
        for stmt in &block.0 {
            self.indent();
            self.stmt(stmt)?;
            self.write_char('\n')?;
        }
        self.depth -= 1;
        Ok(())
    }

    /// A block of a statement, whose span stands before the first of them.
    pub(super) fn inner_block(&mut self, block: &Block) -> fmt::Result {
        self.end_head()?;
        self.write_str(" {\n")?;
        self.block(block)?;
        self.indent();
        self.write_str("}")
    }

    fn indent(&mut self) {
        self.out.extend(std::iter::repeat_n("  ", self.depth));
    }

    /// Writes the statement's span, which is written once.
    pub(super) fn end_head(&mut self) -> fmt::Result {
        let span = std::mem::replace(&mut self.span, Span::NONE);
        if self.spans && span != Span::NONE {
            write!(self, " @{}:{}..{}", span.source.0, span.start, span.end)?;
        }
        Ok(())
    }
}

fn never_defined(function: &Function) -> impl Iterator<Item = Value> {
    let mut defined = vec![false; function.values.len()];
    let mut mark = |value: Value| {
        if let Some(defined) = defined.get_mut(value.index()) {
            *defined = true;
        }
    };
    function.params.iter().for_each(|param| mark(*param));
    function.body.walk(&mut |kind| kind.definitions(&mut mark));
    (0..)
        .map(Value)
        .zip(defined)
        .filter(|(_, defined)| !defined)
        .map(|(value, _)| value)
}
