//! Text to modules: the parser's frame, functions, statements and types. Operations are in `parse_op`.

use std::fmt;

use super::lex::{Lexed, Token, lex};
use super::literal;
use crate::module::{
    ArrayDecl, Block, ConstArray, ErrorKind, Flags, FuncId, FuncKind, Function, Label, Local, LocalData, Module, PrintItem, ReduceOp,
    Reduction, Source, SourceId, Span, Stmt, StmtKind, Value, ValueData,
};
use crate::op::Const;
use crate::types::{Layout, Scalar, Space, Type, ViewType};

/// What is wrong with the text, and where (both from 1).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseError {
    pub line: u32,
    pub column: u32,
    pub message: String,
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.line, self.column, self.message)
    }
}

impl std::error::Error for ParseError {}

/// The module a text describes. The result may still break the rules the verifier checks.
pub fn parse(text: &str) -> Result<Module, ParseError> {
    let tokens = lex(text)?;
    let functions = function_names(&tokens);
    Parser::new(tokens, functions).module()
}

/// Blocks and types nested deeper than this are refused, so that no text can exhaust the stack.
const MAX_DEPTH: u32 = 256;
/// The largest number a value, local or array may have.
const MAX_ID: u32 = 1 << 24;

/// Every `@` outside a body starts a function's name.
fn function_names(tokens: &[Lexed]) -> Vec<String> {
    let mut names = Vec::new();
    let mut depth = 0u32;
    for pair in tokens.windows(2) {
        match (&pair[0].token, &pair[1].token) {
            (Token::Punct("{"), _) => depth += 1,
            (Token::Punct("}"), _) => depth = depth.saturating_sub(1),
            (Token::Punct("@"), Token::Ident(name) | Token::Str(name)) if depth == 0 => names.push(name.clone()),
            _ => {}
        }
    }
    names
}

pub(crate) type Parsed<T> = Result<T, ParseError>;

pub(crate) struct Parser {
    tokens: Vec<Lexed>,
    at: usize,
    functions: Vec<String>,
    /// Of the function being read.
    values: Vec<Option<ValueData>>,
    depth: u32,
}

impl Parser {
    pub(crate) fn new(tokens: Vec<Lexed>, functions: Vec<String>) -> Parser {
        Parser {
            tokens,
            at: 0,
            functions,
            values: Vec::new(),
            depth: 0,
        }
    }

    pub(crate) fn peek(&self) -> &Token {
        &self.tokens[self.at].token
    }

    pub(crate) fn error<T>(&self, message: impl Into<String>) -> Parsed<T> {
        let Lexed { line, column, .. } = self.tokens[self.at];
        Err(ParseError {
            line,
            column,
            message: message.into(),
        })
    }

    pub(crate) fn eat(&mut self, punct: &str) -> bool {
        let found = matches!(self.peek(), Token::Punct(p) if *p == punct);
        self.at += usize::from(found);
        found
    }

    pub(crate) fn eat_word(&mut self, word: &str) -> bool {
        let found = matches!(self.peek(), Token::Ident(w) if w == word);
        self.at += usize::from(found);
        found
    }

    pub(crate) fn expect(&mut self, punct: &str) -> Parsed<()> {
        if self.eat(punct) {
            Ok(())
        } else {
            self.error(format!("`{punct}` is expected here"))
        }
    }

    pub(crate) fn expect_word(&mut self, word: &str) -> Parsed<()> {
        if self.eat_word(word) {
            Ok(())
        } else {
            self.error(format!("`{word}` is expected here"))
        }
    }

    pub(crate) fn word(&mut self) -> Parsed<String> {
        match self.peek() {
            Token::Ident(word) => {
                let word = word.clone();
                self.at += 1;
                Ok(word)
            }
            _ => self.error("a word is expected here"),
        }
    }

    pub(crate) fn string(&mut self) -> Parsed<String> {
        match self.peek() {
            Token::Str(text) => {
                let text = text.clone();
                self.at += 1;
                Ok(text)
            }
            _ => self.error("a string is expected here"),
        }
    }

    /// A plain or quoted name, if one stands here.
    pub(crate) fn name(&mut self) -> Option<String> {
        match self.peek() {
            Token::Ident(name) | Token::Str(name) => {
                let name = name.clone();
                self.at += 1;
                Some(name)
            }
            _ => None,
        }
    }

    pub(crate) fn number<T: std::str::FromStr>(&mut self) -> Parsed<T> {
        let parsed = match self.peek() {
            Token::Number(text) => text.parse().ok(),
            _ => None,
        };
        match parsed {
            Some(number) => {
                self.at += 1;
                Ok(number)
            }
            None => self.error("a number is expected here, within the range of its place"),
        }
    }

    pub(crate) fn value(&mut self) -> Parsed<Value> {
        match *self.peek() {
            Token::Value(id) => {
                self.at += 1;
                Ok(Value(id))
            }
            _ => self.error("a value such as `%3` is expected here"),
        }
    }

    pub(crate) fn local(&mut self) -> Parsed<Local> {
        match *self.peek() {
            Token::Local(id) => {
                self.at += 1;
                Ok(Local(id))
            }
            _ => self.error("a local such as `$3` is expected here"),
        }
    }

    fn label(&mut self) -> Parsed<Label> {
        match *self.peek() {
            Token::Label(id) => {
                self.at += 1;
                Ok(Label(id))
            }
            _ => self.error("a label such as `^3` is expected here"),
        }
    }

    /// Items separated by commas up to `close`, which is consumed.
    pub(crate) fn list<T>(&mut self, close: &str, mut item: impl FnMut(&mut Parser) -> Parsed<T>) -> Parsed<Vec<T>> {
        let mut items = Vec::new();
        while !self.eat(close) {
            items.push(item(self)?);
            if !self.eat(",") {
                self.expect(close)?;
                break;
            }
        }
        Ok(items)
    }

    /// A function by its name, or by its number where names are not unique.
    pub(crate) fn func(&mut self) -> Parsed<FuncId> {
        self.expect("@")?;
        if let Token::Number(_) = self.peek() {
            return Ok(FuncId(self.number()?));
        }
        let Some(name) = self.name() else {
            return self.error("a function's name is expected here");
        };
        let mut found = (0..).zip(&self.functions).filter(|(_, f)| **f == name);
        match (found.next(), found.next()) {
            (Some((id, _)), None) => Ok(FuncId(id)),
            (None, _) => self.error(format!("there is no function @{name}")),
            (Some(_), Some(_)) => self.error(format!("several functions are named @{name}; write its number")),
        }
    }

    pub(crate) fn deeper<T>(&mut self, inner: impl FnOnce(&mut Parser) -> Parsed<T>) -> Parsed<T> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return self.error("nested too deeply");
        }
        let result = inner(self);
        self.depth -= 1;
        result
    }
}

/// Modules, functions and declarations.
impl Parser {
    fn module(&mut self) -> Parsed<Module> {
        let mut module = Module {
            sources: Vec::new(),
            constants: Vec::new(),
            functions: Vec::new(),
            entry: FuncId(0),
        };
        let mut entry = None;
        while *self.peek() != Token::End {
            if self.eat_word("source") {
                let source = self.source(module.sources.len())?;
                module.sources.push(source);
            } else if self.eat_word("const") {
                let array = self.const_array(module.constants.len())?;
                module.constants.push(array);
            } else {
                if self.eat_word("entry") && entry.replace(FuncId(module.functions.len() as u32)).is_some() {
                    return self.error("the module has an entry already");
                }
                let function = self.function()?;
                module.functions.push(function);
            }
        }
        module.entry = match (entry, module.functions.len()) {
            (Some(entry), _) => entry,
            (None, 1) => FuncId(0),
            _ => return self.error("one function must be marked `entry`"),
        };
        Ok(module)
    }

    fn numbered(&mut self, expected: usize) -> Parsed<()> {
        if self.number::<usize>()? == expected {
            return Ok(());
        }
        self.at -= 1;
        self.error(format!("the next number here is {expected}"))
    }

    fn source(&mut self, i: usize) -> Parsed<Source> {
        self.numbered(i)?;
        let file = self.string()?;
        self.expect_word("line")?;
        let first_line = self.number()?;
        let text = self.string()?;
        Ok(Source { file, first_line, text })
    }

    fn const_array(&mut self, i: usize) -> Parsed<ConstArray> {
        self.numbered(i)?;
        self.expect(":")?;
        let elem = self.scalar()?;
        self.expect("[")?;
        let shape = self.list("]", Parser::number)?;
        self.expect("=")?;
        let bytes = if self.eat_word("bytes") {
            self.hex_bytes()?
        } else {
            self.expect("[")?;
            self.list("]", |p| p.constant(elem))?
                .into_iter()
                .flat_map(Const::to_bytes)
                .collect()
        };
        Ok(ConstArray { elem, shape, bytes })
    }

    fn hex_bytes(&mut self) -> Parsed<Vec<u8>> {
        let text = self.string()?;
        let digits: Option<Vec<u8>> = text.chars().map(|c| c.to_digit(16).map(|d| d as u8)).collect();
        match digits {
            Some(digits) if digits.len().is_multiple_of(2) => Ok(digits.chunks_exact(2).map(|d| d[0] << 4 | d[1]).collect()),
            _ => self.error("bytes are written as pairs of hexadecimal digits"),
        }
    }

    fn function(&mut self) -> Parsed<Function> {
        self.values.clear();
        let mut kind = self.func_kind()?;
        self.expect("@")?;
        let Some(name) = self.name() else {
            return self.error("a function's name is expected here");
        };
        self.expect("(")?;
        let params = self.list(")", Parser::define)?;
        let result = if self.eat("->") { self.ty()? } else { Type::unit() };
        let found = self.reductions()?;
        match &mut kind {
            FuncKind::Loop { reductions, .. } => *reductions = found,
            _ if found.is_empty() => {}
            _ => return self.error("only a `loop` function has reductions"),
        }
        let mut flags = Flags::default();
        loop {
            if self.eat_word("contract") {
                flags.contract = true;
            } else if self.eat_word("fastmath") {
                flags.fastmath = true;
            } else {
                break;
            }
        }
        self.expect("{")?;
        let mut function = Function {
            kind,
            params,
            result,
            flags,
            ..Function::new(name, FuncKind::Host)
        };
        self.declarations(&mut function)?;
        function.body = self.block_rest()?;
        function.values = self.finish_values()?;
        Ok(function)
    }

    fn func_kind(&mut self) -> Parsed<FuncKind> {
        let word = self.word()?;
        match word.as_str() {
            "host" => Ok(FuncKind::Host),
            "device" => Ok(FuncKind::Device),
            "kernel" => Ok(FuncKind::Kernel),
            "loop" => {
                self.expect("<")?;
                let rank = self.number()?;
                self.expect(">")?;
                Ok(FuncKind::Loop {
                    rank,
                    reductions: Vec::new(),
                })
            }
            _ => {
                self.at -= 1;
                self.error("a function starts with `host`, `device`, `kernel` or `loop<rank>`")
            }
        }
    }

    fn reductions(&mut self) -> Parsed<Vec<Reduction>> {
        if !self.eat_word("reduce") {
            return Ok(Vec::new());
        }
        self.expect("(")?;
        self.list(")", |p| {
            let local = p.local()?;
            let op = p.word()?;
            match ReduceOp::from_name(&op) {
                Some(op) => Ok(Reduction { local, op }),
                None => p.error(format!("{op} is no reduction")),
            }
        })
    }

    fn declarations(&mut self, function: &mut Function) -> Parsed<()> {
        loop {
            if self.eat_word("local") {
                let local = self.local()?;
                if local.index() != function.locals.len() {
                    return self.error(format!("the next local is ${}", function.locals.len()));
                }
                let name = self.name().unwrap_or_default();
                self.expect(":")?;
                let ty = self.ty()?;
                function.locals.push(LocalData { name, ty });
            } else if self.eat_word("array") {
                let array = self.array_decl(function.arrays.len())?;
                function.arrays.push(array);
            } else if self.eat_word("unused") {
                self.define()?;
            } else {
                return Ok(());
            }
        }
    }

    fn array_decl(&mut self, i: usize) -> Parsed<ArrayDecl> {
        self.numbered(i)?;
        let name = self.name().unwrap_or_default();
        self.expect(":")?;
        let elem = self.scalar()?;
        self.expect("[")?;
        let shape = self.list("]", Parser::number)?;
        let space = self.space()?;
        Ok(ArrayDecl { name, elem, shape, space })
    }

    /// A value with its name and type. A value may be defined twice here; the verifier refuses that.
    fn define(&mut self) -> Parsed<Value> {
        let value = self.value()?;
        if value.0 > MAX_ID {
            return self.error("this number is too large for a value");
        }
        let name = self.name();
        self.expect(":")?;
        let data = ValueData {
            ty: self.ty()?,
            name,
            exact: self.eat_word("exact"),
        };
        if self.values.len() <= value.index() {
            self.values.resize(value.index() + 1, None);
        }
        match &mut self.values[value.index()] {
            Some(other) if *other != data => return self.error(format!("%{} has another name or type elsewhere", value.0)),
            slot => *slot = Some(data),
        }
        Ok(value)
    }

    fn finish_values(&mut self) -> Parsed<Vec<ValueData>> {
        if let Some(gap) = self.values.iter().position(Option::is_none) {
            self.at -= 1;
            return self.error(format!("%{gap} is never defined; write `unused %{gap}: type` to keep the number"));
        }
        Ok(self.values.drain(..).flatten().collect())
    }
}

/// Types.
impl Parser {
    pub(crate) fn scalar(&mut self) -> Parsed<Scalar> {
        let word = self.word()?;
        match Scalar::from_name(&word) {
            Some(scalar) => Ok(scalar),
            None => {
                self.at -= 1;
                self.error(format!("`{word}` is no scalar type"))
            }
        }
    }

    fn space(&mut self) -> Parsed<Space> {
        let word = self.word()?;
        match [Space::Global, Space::Shared, Space::Local, Space::Constant]
            .into_iter()
            .find(|s| s.name() == word)
        {
            Some(space) => Ok(space),
            None => self.error(format!("`{word}` is no memory space")),
        }
    }

    fn layout(&mut self) -> Parsed<Layout> {
        let word = self.word()?;
        match [Layout::C, Layout::F, Layout::Row, Layout::Any]
            .into_iter()
            .find(|l| l.name() == word)
        {
            Some(layout) => Ok(layout),
            None => self.error(format!("`{word}` is no layout")),
        }
    }

    pub(crate) fn ty(&mut self) -> Parsed<Type> {
        if self.eat("(") {
            return self.deeper(|p| Ok(Type::Tuple(p.list(")", Parser::ty)?)));
        }
        if self.eat_word("view") {
            return self.view_type().map(Type::View);
        }
        self.scalar().map(Type::Scalar)
    }

    fn view_type(&mut self) -> Parsed<ViewType> {
        self.expect("<")?;
        let elem = self.scalar()?;
        self.expect(",")?;
        let rank = self.number()?;
        self.expect(",")?;
        let layout = self.layout()?;
        self.expect(",")?;
        let space = self.space()?;
        let writable = !self.eat(",");
        if !writable {
            self.expect_word("ro")?;
        }
        self.expect(">")?;
        Ok(ViewType {
            elem,
            rank,
            layout,
            space,
            writable,
        })
    }

    /// A constant of a known type.
    pub(crate) fn constant(&mut self, scalar: Scalar) -> Parsed<Const> {
        let constant = match scalar {
            Scalar::C64 | Scalar::C128 => return self.complex_constant(scalar),
            Scalar::Bool => match self.peek() {
                Token::Ident(word) => word.parse().ok().map(Const::Bool),
                _ => None,
            },
            Scalar::F32 | Scalar::F64 => return self.float_constant(scalar),
            int => match self.peek() {
                Token::Number(text) => literal::parse_int(text).map(|v| Const::Int(int, v)),
                _ => None,
            },
        };
        match constant {
            Some(constant) => {
                self.at += 1;
                Ok(constant)
            }
            None => self.error(format!("a constant of type {scalar} is expected here")),
        }
    }

    fn float_constant(&mut self, scalar: Scalar) -> Parsed<Const> {
        let negative = self.eat("-");
        let text = match self.peek() {
            Token::Number(text) if !negative => text.clone(),
            Token::Ident(text) if negative => format!("-{text}"),
            Token::Ident(text) => text.clone(),
            _ => String::new(),
        };
        let constant = match scalar {
            Scalar::F32 => literal::parse_f32(&text).map(Const::F32),
            _ => literal::parse_f64(&text).map(Const::F64),
        };
        match constant {
            Some(constant) => {
                self.at += 1;
                Ok(constant)
            }
            None => self.error(format!("a constant of type {scalar} is expected here")),
        }
    }

    fn complex_constant(&mut self, scalar: Scalar) -> Parsed<Const> {
        self.expect("(")?;
        let re = self.float_constant(scalar.part())?;
        self.expect(",")?;
        let im = self.float_constant(scalar.part())?;
        self.expect(")")?;
        match (re, im) {
            (Const::F32(re), Const::F32(im)) => Ok(Const::C64(re, im)),
            (Const::F64(re), Const::F64(im)) => Ok(Const::C128(re, im)),
            _ => self.error("the parts of a complex constant are floats"),
        }
    }
}

/// Statements.
impl Parser {
    fn block(&mut self) -> Parsed<Block> {
        self.expect("{")?;
        self.block_rest()
    }

    /// The statements of a block up to its closing brace, which is consumed.
    fn block_rest(&mut self) -> Parsed<Block> {
        self.deeper(|p| {
            let mut stmts = Vec::new();
            while !p.eat("}") {
                stmts.push(p.stmt()?);
            }
            Ok(Block(stmts))
        })
    }

    fn span(&mut self) -> Parsed<Span> {
        if !self.eat("@") {
            return Ok(Span::NONE);
        }
        let source = SourceId(self.number()?);
        self.expect(":")?;
        let start = self.number()?;
        self.expect("..")?;
        let end = self.number()?;
        Ok(Span { source, start, end })
    }

    fn stmt(&mut self) -> Parsed<Stmt> {
        if let Token::Value(_) = self.peek() {
            let value = self.define()?;
            self.expect("=")?;
            let ty = self.values[value.index()].as_ref().and_then(|data| data.ty.scalar());
            let kind = StmtKind::Let(value, self.op(ty)?);
            return Ok(Stmt { kind, span: self.span()? });
        }
        let line = self.tokens[self.at].line;
        let word = self.word()?;
        if matches!(word.as_str(), "if" | "loop" | "for" | "parfor" | "scope") {
            return self.compound(&word);
        }
        let kind = self.simple(&word, line)?;
        Ok(Stmt { kind, span: self.span()? })
    }

    fn compound(&mut self, word: &str) -> Parsed<Stmt> {
        let span;
        let kind = match word {
            "if" => {
                let cond = self.value()?;
                span = self.span()?;
                let then = self.block()?;
                let other = if self.eat_word("else") { self.block()? } else { Block::default() };
                StmtKind::If { cond, then, other }
            }
            "loop" => {
                span = self.span()?;
                StmtKind::Loop(self.block()?)
            }
            "for" => {
                let var = self.define()?;
                self.expect("=")?;
                let start = self.value()?;
                self.expect_word("to")?;
                let stop = self.value()?;
                self.expect_word("step")?;
                let step = self.value()?;
                span = self.span()?;
                let body = self.block()?;
                StmtKind::For {
                    var,
                    start,
                    stop,
                    step,
                    body,
                }
            }
            "parfor" => {
                self.expect("(")?;
                let vars = self.list(")", Parser::define)?;
                self.expect_word("in")?;
                self.expect("(")?;
                let extents = self.list(")", Parser::value)?;
                let reductions = self.reductions()?;
                let parallel = self.eat_word("parallel");
                span = self.span()?;
                let body = self.block()?;
                StmtKind::ParFor {
                    vars,
                    extents,
                    reductions,
                    parallel,
                    body,
                }
            }
            _ => {
                let label = self.label()?;
                span = self.span()?;
                StmtKind::Scope(label, self.block()?)
            }
        };
        Ok(Stmt { kind, span })
    }

    /// A statement without blocks, after its first word, which stands in `line`.
    fn simple(&mut self, word: &str, line: u32) -> Parsed<StmtKind> {
        match word {
            "set" => {
                let local = self.local()?;
                self.expect("=")?;
                Ok(StmtKind::Set(local, self.value()?))
            }
            "launch" => self.launch(),
            "leave" => Ok(StmtKind::Leave(self.label()?)),
            "break" => Ok(StmtKind::Break),
            "continue" => Ok(StmtKind::Continue),
            "return" => {
                let has_value = matches!(self.peek(), Token::Value(_)) && self.tokens[self.at].line == line;
                Ok(StmtKind::Return(if has_value { Some(self.value()?) } else { None }))
            }
            "store" => {
                let (view, indices, part) = self.access()?;
                self.expect("=")?;
                let value = self.value()?;
                Ok(StmtKind::Store {
                    view,
                    indices,
                    value,
                    part,
                })
            }
            "barrier" => Ok(StmtKind::Barrier),
            "raise" => {
                let kind = self.word()?;
                let Some(kind) = ErrorKind::from_name(&kind) else {
                    return self.error(format!("`{kind}` is no kind of error"));
                };
                let message = self.string()?;
                Ok(StmtKind::Raise { kind, message })
            }
            "print" => self.print_items(line).map(StmtKind::Print),
            _ => {
                self.at -= 1;
                self.error(format!("`{word}` is no statement"))
            }
        }
    }

    fn launch(&mut self) -> Parsed<StmtKind> {
        let func = self.func()?;
        self.expect_word("over")?;
        self.expect("(")?;
        let extents = self.list(")", Parser::value)?;
        self.expect_word("with")?;
        self.expect("(")?;
        let args = self.list(")", Parser::value)?;
        let mut results = Vec::new();
        if self.eat_word("into") {
            self.expect("(")?;
            results = self.list(")", Parser::local)?;
        }
        let parallel = self.eat_word("parallel");
        Ok(StmtKind::Launch {
            func,
            extents,
            args,
            results,
            parallel,
        })
    }

    fn print_items(&mut self, line: u32) -> Parsed<Vec<PrintItem>> {
        if self.tokens[self.at].line != line || !matches!(self.peek(), Token::Value(_) | Token::Str(_) | Token::Ident(_)) {
            return Ok(Vec::new());
        }
        let mut items = Vec::new();
        loop {
            items.push(self.print_item()?);
            if !self.eat(",") {
                return Ok(items);
            }
        }
    }

    fn print_item(&mut self) -> Parsed<PrintItem> {
        if let Token::Str(_) = self.peek() {
            return self.string().map(PrintItem::Text);
        }
        if !self.eat_word("complex") {
            return self.value().map(PrintItem::Value);
        }
        self.expect("(")?;
        let re = self.value()?;
        self.expect(",")?;
        let im = self.value()?;
        self.expect(")")?;
        Ok(PrintItem::Complex(re, im))
    }
}
