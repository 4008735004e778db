//! Text to modules: functions and declarations. Rows of the tables, blocks, types and constants are in the files named for them.

use super::cursor::{ParseError, Parsed, Parser};
use super::fields::Text;
use super::lex::{Lexed, Token, lex};
use crate::module::{
    ArrayDecl, ConstArray, Flags, FuncId, FuncKind, Function, LocalData, Module, Origin, Reduction, Source, Value, ValueData,
};
use crate::op::Const;
use crate::types::Type;

/// The module a text describes. The result may still break the rules the verifier checks.
pub fn parse(text: &str) -> Result<Module, ParseError> {
    let tokens = lex(text)?;
    let functions = function_names(&tokens);
    Parser::new(tokens, functions).module()
}

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
        self.back();
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
        let found = Vec::<Reduction>::read(self)?;
        match &mut kind {
            FuncKind::Loop { reductions, .. } => *reductions = found,
            _ if found.is_empty() => {}
            _ => return self.error("only a `loop` function has reductions"),
        }
        let origin = self.origin()?;
        let mut flags = Flags::default();
        loop {
            if self.eat_word("contract") {
                flags.contract = true;
            } else if self.eat_word("fastmath") {
                flags.fastmath = true;
            } else if self.eat_word("numba") {
                flags.numba = true;
            } else if self.eat_word("rare") {
                flags.rare = true;
            } else if self.eat_word("streams") {
                flags.streams = true;
            } else if self.eat_word("one_thread") {
                flags.one_thread = true;
            } else if self.eat_word("max_threads") {
                flags.max_threads = self.number()?;
            } else if self.eat_word("min_blocks") {
                flags.min_blocks = self.number()?;
            } else if self.eat_word("max_registers") {
                flags.max_registers = self.number()?;
            } else {
                break;
            }
        }
        self.expect("{")?;
        let mut function = Function {
            kind,
            params,
            result,
            origin,
            flags,
            ..Function::new(name, FuncKind::Host)
        };
        self.declarations(&mut function)?;
        function.body = self.block_rest()?;
        function.values = self.finish_values()?;
        Ok(function)
    }

    fn origin(&mut self) -> Parsed<Origin> {
        if !self.eat_word("library") {
            return Ok(Origin::User);
        }
        self.expect("(")?;
        let Some(name) = self.name() else {
            return self.error("the name that the library has the function under is expected here");
        };
        self.expect(")")?;
        Ok(Origin::Library(name))
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
                self.back();
                self.error("a function starts with `host`, `device`, `kernel` or `loop<rank>`")
            }
        }
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
    pub(super) fn define(&mut self) -> Parsed<Value> {
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
        self.defined = data.ty.scalar();
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
            self.back();
            return self.error(format!("%{gap} is never defined; write `unused %{gap}: type` to keep the number"));
        }
        Ok(self.values.drain(..).flatten().collect())
    }
}
