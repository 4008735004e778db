//! Tokens to syntax: directives, declarations, function bodies.

use super::PtxError;
use super::lex::{Spanned, Token, lex};
use super::syntax::*;

pub(super) type Result<T> = std::result::Result<T, PtxError>;

pub fn parse(text: &str) -> Result<Source> {
    let mut parser = Parser {
        tokens: lex(text)?,
        at: 0,
        depth: 0,
    };
    let mut source = Source {
        version: (0, 0),
        target: 0,
        variables: Vec::new(),
        functions: Vec::new(),
    };
    while parser.at < parser.tokens.len() {
        parser.item(&mut source)?;
    }
    if source.version == (0, 0) || source.target == 0 {
        return Err(PtxError::new(1, "missing .version or .target directive"));
    }
    Ok(source)
}

pub(super) struct Parser {
    tokens: Vec<Spanned>,
    pub(super) at: usize,
    /// Brackets and blocks that are open.
    depth: u32,
}

/// How deep brackets and blocks may nest, so that the parser's own calls do.
const DEEP: u32 = 200;
/// Registers of a function, bytes of its parameters, the largest alignment: more is a slip of the pen.
const REGISTERS: usize = 1 << 20;
const PARAMETER_BYTES: u64 = 1 << 20;
const ALIGNMENT: u64 = 1 << 16;

/// What may stand before a declaration.
#[derive(Default)]
struct Linkage {
    external: bool,
}

impl Parser {
    pub(super) fn line(&self) -> u32 {
        let index = self.at.min(self.tokens.len().saturating_sub(1));
        self.tokens.get(index).map_or(0, |t| t.line)
    }

    pub(super) fn error<T>(&self, message: impl Into<String>) -> Result<T> {
        Err(PtxError::new(self.line(), message))
    }

    pub(super) fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.at).map(|t| &t.token)
    }

    pub(super) fn next(&mut self) -> Result<Token> {
        let token = self.peek().cloned();
        self.at += 1;
        token.map_or_else(|| self.error("unexpected end of the text"), Ok)
    }

    /// What stands in one more bracket.
    pub(super) fn deeper<T>(&mut self, read: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        if self.depth >= DEEP {
            return self.error("nested too deep");
        }
        self.depth += 1;
        let result = read(self);
        self.depth -= 1;
        result
    }

    /// The number behind `.align`.
    pub(super) fn alignment(&mut self) -> Result<u32> {
        let value = self.int()?;
        if !value.is_power_of_two() || value > ALIGNMENT {
            return self.error(format!("alignment {value} is no power of two that can be had"));
        }
        Ok(value as u32)
    }

    pub(super) fn eat(&mut self, punct: char) -> bool {
        let found = self.peek() == Some(&Token::Punct(punct));
        self.at += usize::from(found);
        found
    }

    pub(super) fn eat_dot(&mut self, name: &str) -> bool {
        let found = matches!(self.peek(), Some(Token::Dot(d)) if d == name);
        self.at += usize::from(found);
        found
    }

    pub(super) fn expect(&mut self, punct: char) -> Result<()> {
        if self.eat(punct) {
            return Ok(());
        }
        match self.peek() {
            Some(token) => self.error(format!("expected `{punct}`, found {token:?}")),
            None => self.error(format!("expected `{punct}`, found the end")),
        }
    }

    pub(super) fn word(&mut self) -> Result<String> {
        match self.next()? {
            Token::Word(word) => Ok(word),
            other => {
                self.at -= 1;
                self.error(format!("expected a name, found {other:?}"))
            }
        }
    }

    pub(super) fn int(&mut self) -> Result<u64> {
        match self.next()? {
            Token::Int(value) => Ok(value),
            other => {
                self.at -= 1;
                self.error(format!("expected a number, found {other:?}"))
            }
        }
    }

    fn skip_line(&mut self) {
        let line = self.line();
        while self.at < self.tokens.len() && self.tokens[self.at].line == line {
            self.at += 1;
        }
    }

    fn item(&mut self, source: &mut Source) -> Result<()> {
        let mut linkage = Linkage::default();
        loop {
            let Token::Dot(directive) = self.next()? else {
                self.at -= 1;
                return self.error("expected a directive");
            };
            match directive.as_str() {
                "version" => return self.version(source),
                "target" => return self.target(source),
                "address_size" => {
                    return match self.int()? {
                        64 => Ok(()),
                        _ => self.error("only 64-bit addresses are supported"),
                    };
                }
                "file" | "loc" => {
                    self.at -= 1;
                    self.skip_line();
                    return Ok(());
                }
                "section" => return self.section(),
                "visible" | "weak" | "common" => {}
                "extern" => linkage.external = true,
                "entry" | "func" => {
                    let function = self.function(directive == "entry")?;
                    source.functions.push(function);
                    return Ok(());
                }
                "alias" => {
                    self.skip_line();
                    return self.error(".alias is not supported");
                }
                name => {
                    let Some(space) = space_of(name) else {
                        self.at -= 1;
                        return self.error(format!("unknown directive .{name}"));
                    };
                    let mut variables = self.variables(space, linkage.external)?;
                    self.expect(';')?;
                    source.variables.append(&mut variables);
                    return Ok(());
                }
            }
        }
    }

    fn version(&mut self, source: &mut Source) -> Result<()> {
        let text = match self.next()? {
            Token::Float(value) => format!("{value:?}"),
            Token::Int(value) => format!("{value}.0"),
            _ => return self.error("malformed .version"),
        };
        let (major, minor) = text.split_once('.').unwrap_or((&text, "0"));
        source.version = (major.parse().unwrap_or(0), minor.parse().unwrap_or(0));
        Ok(())
    }

    fn target(&mut self, source: &mut Source) -> Result<()> {
        loop {
            let word = self.word()?;
            if let Some(number) = word.strip_prefix("sm_") {
                let digits = number.trim_end_matches(|c: char| c.is_ascii_alphabetic());
                source.target = digits.parse().unwrap_or(0);
            } else if !matches!(word.as_str(), "debug" | "texmode_independent" | "texmode_unified") {
                return self.error(format!("unknown target {word}"));
            }
            if !self.eat(',') {
                return Ok(());
            }
        }
    }

    /// Debug sections say nothing about what runs.
    fn section(&mut self) -> Result<()> {
        while !self.eat('{') {
            self.next()?;
        }
        while !self.eat('}') {
            self.next()?;
        }
        Ok(())
    }

    fn function(&mut self, entry: bool) -> Result<Function> {
        let line = self.line();
        let results = if self.peek() == Some(&Token::Punct('(')) {
            self.params()?.0
        } else {
            Vec::new()
        };
        let name = self.word()?;
        let (params, param_bytes) = if self.peek() == Some(&Token::Punct('(')) {
            self.params()?
        } else {
            (Vec::new(), 0)
        };
        let bounds = self.bounds()?;
        let body = if self.eat(';') {
            None
        } else {
            self.expect('{')?;
            let mut body = Body::default();
            self.block(&mut body)?;
            Some(body)
        };
        Ok(Function {
            name,
            entry,
            results,
            params,
            param_bytes,
            bounds,
            body,
            line,
        })
    }

    fn params(&mut self) -> Result<(Vec<Param>, u32)> {
        self.expect('(')?;
        let (mut params, mut end) = (Vec::new(), 0u32);
        if self.eat(')') {
            return Ok((params, end));
        }
        loop {
            let (mut align, mut ty) = (None, None);
            while let Some(Token::Dot(name)) = self.peek().cloned() {
                self.at += 1;
                match name.as_str() {
                    "param" | "reg" | "global" | "const" | "shared" | "local" => {}
                    // What a pointer parameter points to; its `.align` is not the parameter's.
                    "ptr" => {
                        while let Some(Token::Dot(name)) = self.peek().cloned() {
                            self.at += 1;
                            match name.as_str() {
                                "align" => _ = self.int()?,
                                "global" | "const" | "shared" | "local" => {}
                                name => return self.error(format!("unknown pointer attribute .{name}")),
                            }
                        }
                    }
                    "align" => align = Some(self.alignment()?),
                    name => match Ty::parse(name) {
                        Some(parsed) => ty = Some(parsed),
                        None => return self.error(format!("unknown parameter attribute .{name}")),
                    },
                }
            }
            let Some(ty) = ty else {
                return self.error("a parameter without a type");
            };
            let name = self.word()?;
            let (count, unsized_) = self.extents()?;
            if unsized_ {
                return self.error("parameters of unknown size are not supported");
            }
            let align = align.unwrap_or(ty.bytes()).max(1);
            let size = count.saturating_mul(u64::from(ty.bytes()));
            if size > PARAMETER_BYTES || u64::from(end) > PARAMETER_BYTES {
                return self.error(format!("parameter {name} is too large"));
            }
            let bytes = size as u32;
            let offset = end.next_multiple_of(align);
            end = offset + bytes;
            params.push(Param {
                name,
                bytes,
                align,
                offset,
            });
            if !self.eat(',') {
                self.expect(')')?;
                return Ok((params, end));
            }
        }
    }

    fn bounds(&mut self) -> Result<Bounds> {
        let mut bounds = Bounds::default();
        while let Some(Token::Dot(name)) = self.peek().cloned() {
            self.at += 1;
            match name.as_str() {
                "maxntid" => bounds.max_threads = Some(self.triple()?),
                "reqntid" => bounds.required_threads = Some(self.triple()?),
                "minnctapersm" => bounds.min_blocks = Some(self.int()? as u32),
                "maxnreg" => bounds.max_registers = Some(self.int()? as u32),
                "noreturn" => {}
                "pragma" => {
                    self.next()?;
                    self.expect(';')?;
                }
                name => return self.error(format!("unknown function directive .{name}")),
            }
        }
        Ok(bounds)
    }

    fn triple(&mut self) -> Result<[u32; 3]> {
        let mut all = [1; 3];
        for (axis, extent) in all.iter_mut().enumerate() {
            if axis > 0 && !self.eat(',') {
                break;
            }
            *extent = self.int()? as u32;
        }
        Ok(all)
    }

    /// Statements up to the closing brace.
    fn block(&mut self, body: &mut Body) -> Result<()> {
        while !self.eat('}') {
            if self.eat('{') {
                body.statements.push(Statement::Open);
                self.deeper(|parser| parser.block(body))?;
                body.statements.push(Statement::Close);
                continue;
            }
            self.statement(body)?;
        }
        Ok(())
    }

    fn statement(&mut self, body: &mut Body) -> Result<()> {
        match self.peek().cloned() {
            Some(Token::Dot(name)) => {
                self.at += 1;
                self.body_directive(&name, body)
            }
            Some(Token::Word(word)) if self.tokens.get(self.at + 1).map(|t| &t.token) == Some(&Token::Punct(':')) => {
                self.at += 2;
                if self.eat_dot("branchtargets") {
                    let mut labels = vec![self.word()?];
                    while self.eat(',') {
                        labels.push(self.word()?);
                    }
                    self.expect(';')?;
                    body.statements.push(Statement::Targets(word, labels));
                } else if self.eat_dot("callprototype") {
                    // The call site's own parameters say all that is needed.
                    while !self.eat(';') {
                        self.next()?;
                    }
                } else {
                    body.statements.push(Statement::Label(word));
                }
                Ok(())
            }
            Some(Token::Word(_) | Token::Punct('@')) => {
                let instruction = self.instruction()?;
                body.statements.push(Statement::Instruction(instruction));
                Ok(())
            }
            Some(Token::Punct(';')) => {
                self.at += 1;
                Ok(())
            }
            Some(token) => self.error(format!("unexpected {token:?}")),
            None => self.error("a function does not end"),
        }
    }

    fn body_directive(&mut self, name: &str, body: &mut Body) -> Result<()> {
        match name {
            "reg" => self.registers(body),
            "loc" => {
                self.skip_line();
                Ok(())
            }
            "pragma" => {
                while !self.eat(';') {
                    self.next()?;
                }
                Ok(())
            }
            name => {
                let Some(space) = space_of(name) else {
                    self.at -= 1;
                    return self.error(format!("unknown directive .{name}"));
                };
                let variables = self.variables(space, false)?;
                self.expect(';')?;
                body.statements.extend(variables.into_iter().map(Statement::Variable));
                Ok(())
            }
        }
    }

    fn registers(&mut self, body: &mut Body) -> Result<()> {
        let (_, ty) = self.alignment_and_type()?;
        let mut names = Vec::new();
        loop {
            let name = self.word()?;
            if self.eat('<') {
                let count = self.int()?;
                if count as usize > REGISTERS || body.registers + names.len() + count as usize > REGISTERS {
                    return self.error(format!("{count} registers are too many"));
                }
                names.extend((0..count).map(|number| format!("{name}{number}")));
                self.expect('>')?;
            } else {
                names.push(name);
            }
            if !self.eat(',') {
                self.expect(';')?;
                body.registers += names.len();
                body.statements.push(Statement::Registers(names, ty));
                return Ok(());
            }
        }
    }
}

fn space_of(name: &str) -> Option<Space> {
    Some(match name {
        "global" => Space::Global,
        "shared" => Space::Shared,
        "local" => Space::Local,
        "const" => Space::Const,
        "param" => Space::Param,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: &str = ".version 8.0\n.target sm_90a, debug\n.address_size 64\n";

    #[test]
    fn a_kernel_with_everything_llvm_writes() {
        let source = parse(&format!(
            "{HEADER}
            .visible .const .align 8 .b8 c[8] = {{0, 0, 240, 63}};
            .extern .shared .align 16 .b8 d[];
            .global .align 8 .u64 p[2] = {{generic(c), c+4}};
            .visible .entry k(.param .u64 .ptr .global .align 1 a, .param .u8 b, .param .align 8 .b8 z[24])
            .reqntid 128, 2 .minnctapersm 2
            {{
              .reg .pred %p<3>; .reg .b64 %SP;
              .local .align 4 .b8 depot[160];
              $L_brx_0: .branchtargets $A, $B;
              @!%p1 bra.uni $A;
              {{ .param .b32 param0; call.uni (r), f, (param0); }}
              prototype_0 : .callprototype (.param .b32 _) _ (.param .b32 _);
              .pragma \"nounroll\";
            $A: shfl.sync.down.b32 %SP|%p2, {{%SP, -1}}, [d+-4], c+8;
            $B: ret;
            }}"
        ))
        .unwrap();
        assert_eq!((source.version, source.target), ((8, 0), 90));
        assert_eq!(source.variables[0].init, [0, 0, 240, 63]);
        assert!(source.variables[1].unsized_ && source.variables[1].external);
        assert_eq!(source.variables[2].relocations.len(), 2);
        let kernel = &source.functions[0];
        assert_eq!(kernel.params.iter().map(|p| p.offset).collect::<Vec<_>>(), [0, 8, 16]);
        assert_eq!(kernel.param_bytes, 40);
        assert_eq!(kernel.bounds.required_threads, Some([128, 2, 1]));
        let body = kernel.body.as_ref().unwrap();
        assert_eq!(body.registers, 4);
        assert_eq!(body.statements.len(), 13);
    }

    #[test]
    fn errors_name_the_line() {
        let error = parse(&format!("{HEADER}.visible .entry k()\n{{\n .rag .b32 %r;\n}}")).unwrap_err();
        assert_eq!(error.line, 6);
        assert!(error.message.contains(".rag"));
        assert!(parse(".target sm_90").is_err());
        assert!(parse(&format!("{HEADER}.entry k() {{ ret")).is_err());
    }
}
