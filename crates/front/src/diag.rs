//! Diagnostics as data and how they are shown: `file:line`, the source line, a caret, labels, help.

use std::fmt::Write as _;

use weft_ir::{Source, Span};

/// An error in the user's program, with everything needed to show it.
#[derive(Clone, Debug)]
pub struct Diagnostic {
    pub kind: DiagnosticKind,
    /// What is wrong, in one sentence.
    pub message: String,
    /// The place it is about, first; then places that explain it, each with its label.
    pub labels: Vec<Label>,
    /// What to do about it.
    pub help: Option<String>,
    /// A constant is needed where an argument stands that is known at run time only: the call may have one to give.
    pub wants_constants: bool,
    pub sources: Vec<Source>,
}

#[derive(Clone, Debug)]
pub struct Label {
    pub span: Span,
    pub text: String,
}

/// Which Python exception the diagnostic becomes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DiagnosticKind {
    /// Syntax outside the language: `weft.UnsupportedError`.
    Unsupported,
    /// A name that is not defined: `weft.NameError_`.
    Name,
    /// Types that do not fit: `weft.TypingError`.
    Typing,
    /// Wrong number or names of arguments: `TypeError`.
    Arguments,
    /// A constant that cannot be, as an array too large: `weft.ConstantError`.
    Value,
    /// Likewise an index outside a tuple: `weft.IndexError_`.
    Index,
    /// Likewise a divisor that is written as zero: `weft.ZeroDivisionError_`.
    ZeroDivision,
}

impl Diagnostic {
    pub fn new(kind: DiagnosticKind, span: Span, message: impl Into<String>) -> Diagnostic {
        Diagnostic {
            kind,
            message: message.into(),
            labels: vec![Label { span, text: String::new() }],
            help: None,
            wants_constants: false,
            sources: Vec::new(),
        }
    }

    /// Words under the caret of the main place.
    #[must_use]
    pub fn caret(mut self, text: impl Into<String>) -> Diagnostic {
        if let Some(first) = self.labels.first_mut() {
            first.text = text.into();
        }
        self
    }

    #[must_use]
    pub fn label(mut self, span: Span, text: impl Into<String>) -> Diagnostic {
        self.labels.push(Label { span, text: text.into() });
        self
    }

    #[must_use]
    pub fn help(mut self, text: impl Into<String>) -> Diagnostic {
        self.help = Some(text.into());
        self
    }

    /// Says that a constant is needed, and how a call gives one.
    #[must_use]
    pub fn wanting_constants(mut self) -> Diagnostic {
        self.wants_constants = true;
        self.help(
            "write it out, here or in the call that passes it, or make it a parameter's default and leave it out of calls from Python",
        )
    }

    /// The whole message as plain text, without colour:
    ///
    /// ```text
    /// name 'foo' is not defined
    ///   --> kernels.py:12
    ///    |
    /// 12 |     y = foo(x)
    ///    |         ^^^
    ///    = help: …
    /// ```
    pub fn render(&self) -> String {
        let mut out = self.message.clone();
        let width = self.gutter();
        let pad = " ".repeat(width);
        let mut last_file: Option<&str> = None;
        for (i, label) in self.labels.iter().enumerate() {
            let Some(at) = self.locate(label.span) else { continue };
            if last_file != Some(at.file) || i == 0 {
                let _ = write!(out, "\n{pad}--> {}:{}", at.file, at.line);
                let _ = write!(out, "\n{pad} |");
                last_file = Some(at.file);
            } else {
                let _ = write!(out, "\n{pad}...");
            }
            let mark = if i == 0 { '^' } else { '-' };
            let carets: String = std::iter::repeat_n(mark, at.width).collect();
            let _ = write!(out, "\n{:>width$} | {}", at.line, at.text);
            let _ = write!(out, "\n{pad} | {}{carets} {}", " ".repeat(at.column), label.text);
            out.truncate(out.trim_end().len());
        }
        if let Some(help) = &self.help {
            let _ = write!(out, "\n{pad} = help: {help}");
        }
        out
    }

    fn gutter(&self) -> usize {
        let lines = self.labels.iter().filter_map(|l| self.locate(l.span)).map(|at| at.line);
        lines.max().unwrap_or(1).to_string().len()
    }

    fn locate(&self, span: Span) -> Option<Located<'_>> {
        let source = self.sources.get(span.source.index())?;
        let start = (span.start as usize).min(source.text.len());
        let before = source.text.get(..start)?;
        let line_start = before.rfind('\n').map_or(0, |i| i + 1);
        let rest = source.text.get(line_start..)?;
        let text = rest.lines().next().unwrap_or("");
        let lead = before.get(line_start..)?;
        let end = (span.end as usize).clamp(start, line_start + text.len());
        let under = source.text.get(start..end).unwrap_or("");
        Some(Located {
            file: &source.file,
            line: source.first_line as usize + before.matches('\n').count(),
            text,
            column: lead.chars().count(),
            width: under.chars().count().max(1),
        })
    }
}

struct Located<'a> {
    file: &'a str,
    line: usize,
    text: &'a str,
    column: usize,
    width: usize,
}

impl std::fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.render())
    }
}

impl std::error::Error for Diagnostic {}
