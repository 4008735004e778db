//! The lines of a test file that say what to run.

use super::array::{Array, TestValue};
use super::{Expected, TestLaunch, TestLine};
use crate::eval;
use crate::module::{ErrorKind, FuncId, FuncKind, Function, Module, Reduction};
use crate::text::ParseError;
use crate::text::cursor::{Parsed, Parser};
use crate::text::lex::{Token, lex_from};
use crate::types::{Type, ViewType};

/// Every `; run:` and `; check:` line of a file whose text parses as `module`.
pub fn lines(text: &str, module: &Module) -> Result<Vec<TestLine>, ParseError> {
    let mut found = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let Some((start, rest)) = ["; run: ", "; check: "].iter().find_map(|p| Some((p.len(), line.strip_prefix(p)?))) else {
            continue;
        };
        let names = module.functions.iter().map(|f| f.name.clone()).collect();
        let mut parser = Parser::new(lex_from(rest, number, start as u32 + 1)?, names);
        found.push(parser.test_line(module, number)?);
    }
    Ok(found)
}

impl Parser {
    fn test_line(&mut self, module: &Module, line: u32) -> Parsed<TestLine> {
        let func = self.test_func(module)?;
        let function = module.function(func);
        let launch = self.test_launch(function)?;
        let skip = if let TestLaunch::Loop(extents) = &launch {
            extents.len()
        } else {
            0
        };
        let params: Vec<&Type> = function.params.iter().skip(skip).map(|p| function.ty(*p)).collect();
        self.expect("(")?;
        let mut types = params.iter();
        let args = self.list(")", |p| match types.next() {
            Some(ty) => p.test_value(ty),
            None => p.error("too many arguments"),
        })?;
        if args.len() != params.len() {
            return self.error(format!("{} arguments are expected", params.len()));
        }
        let expected = self.expected(function, skip)?;
        match self.peek() {
            Token::End => Ok(TestLine {
                line,
                func,
                launch,
                args,
                expected,
            }),
            _ => self.error("the line goes on"),
        }
    }

    fn test_func(&mut self, module: &Module) -> Parsed<FuncId> {
        let name = self.name().unwrap_or_default();
        match (0..).zip(&module.functions).find(|(_, f)| f.name == name) {
            Some((id, _)) => Ok(FuncId(id)),
            None => self.error(format!("there is no function {name:?}")),
        }
    }

    fn test_launch(&mut self, function: &Function) -> Parsed<TestLaunch> {
        if !self.eat("[") {
            return Ok(TestLaunch::Call);
        }
        if self.eat_word("over") {
            let extents = if self.eat("(") {
                self.list(")", Parser::number)?
            } else {
                vec![self.number()?]
            };
            self.expect("]")?;
            return match function.kind {
                FuncKind::Loop { rank, .. } if extents.len() == rank as usize => Ok(TestLaunch::Loop(extents)),
                _ => self.error("the function is no loop of this rank"),
            };
        }
        let grid = self.dim3()?;
        self.expect(",")?;
        let block = self.dim3()?;
        let dynamic = if self.eat(",") { self.number()? } else { 0 };
        self.expect("]")?;
        Ok(TestLaunch::Grid { grid, block, dynamic })
    }

    fn dim3(&mut self) -> Parsed<[u32; 3]> {
        if !self.eat("(") {
            return Ok([self.number()?, 1, 1]);
        }
        let dims: Vec<u32> = self.list(")", Parser::number)?;
        let at = |i: usize| dims.get(i).copied().unwrap_or(1);
        if dims.len() > 3 {
            self.error("there are three axes")
        } else {
            Ok([at(0), at(1), at(2)])
        }
    }

    fn expected(&mut self, function: &Function, skip: usize) -> Parsed<Expected> {
        let mut expected = Expected::default();
        let result = result_type(function);
        loop {
            if self.eat("~") {
                expected.about = true;
                self.expect("=")?;
                expected.result = Some(self.test_value(&result)?);
            } else if self.eat("=") {
                self.expect("=")?;
                expected.result = Some(self.test_value(&result)?);
            } else if self.eat_word("where") {
                expected.arrays = self.arrays(function, skip, &mut expected.about)?;
            } else if self.eat_word("prints") {
                expected.output = Some(self.string()?);
            } else if self.eat_word("fails") {
                expected.fails = Some(self.string()?);
            } else if self.eat_word("raises") {
                let kind = self.word()?;
                let Some(kind) = ErrorKind::from_name(&kind) else {
                    return self.error(format!("`{kind}` is no kind of error"));
                };
                expected.raises = Some((kind, self.string()?));
            } else {
                return Ok(expected);
            }
        }
    }

    /// `x == [1, 2], y ~= [3.0]`
    fn arrays(&mut self, function: &Function, skip: usize, about: &mut bool) -> Parsed<Vec<(usize, TestValue)>> {
        let mut arrays = Vec::new();
        loop {
            let name = self.name();
            let params = function.params.iter().skip(skip);
            let Some((at, param)) = params.enumerate().find(|(_, p)| function.values[p.index()].name == name) else {
                return self.error("there is no such parameter");
            };
            *about |= self.eat("~");
            if !*about {
                self.expect("=")?;
            }
            self.expect("=")?;
            arrays.push((at, self.test_value(function.ty(*param))?));
            if !self.eat(",") {
                return Ok(arrays);
            }
        }
    }

    fn test_value(&mut self, ty: &Type) -> Parsed<TestValue> {
        match ty {
            Type::Scalar(scalar) => Ok(TestValue::Scalar(self.constant(*scalar)?)),
            Type::View(view) => Ok(TestValue::Array(self.test_array(view)?)),
            Type::Tuple(types) => {
                self.expect("(")?;
                let mut types = types.iter();
                let items = self.list(")", |p| match types.next() {
                    Some(ty) => p.test_value(ty),
                    None => p.error("too many items"),
                })?;
                if types.next().is_some() {
                    self.error("too few items")
                } else {
                    Ok(TestValue::Tuple(items))
                }
            }
        }
    }

    fn test_array(&mut self, view: &ViewType) -> Parsed<Array> {
        let mut array = Array {
            elem: view.elem,
            shape: Vec::new(),
            layout: view.layout,
            data: Vec::new(),
        };
        if self.eat_word("zeros") {
            self.expect("(")?;
            array.shape = self.list(")", Parser::number)?;
            let count: u64 = array.shape.iter().product();
            array.data = vec![eval::zero(view.elem); count.min(1 << 20) as usize];
            if array.shape.len() != view.rank as usize {
                return self.error("the array has another rank");
            }
            return Ok(array);
        }
        let mut shape = vec![None; view.rank as usize];
        self.nested(view, &mut shape, 0, &mut array)?;
        array.shape = shape.into_iter().map(|len| len.unwrap_or(0)).collect();
        Ok(array)
    }

    fn nested(&mut self, view: &ViewType, shape: &mut [Option<u64>], axis: usize, array: &mut Array) -> Parsed<()> {
        if axis == shape.len() {
            array.data.push(self.constant(view.elem)?);
            return Ok(());
        }
        self.expect("[")?;
        let len = self.list("]", |p| p.nested(view, shape, axis + 1, array))?.len() as u64;
        if *shape[axis].get_or_insert(len) == len {
            Ok(())
        } else {
            self.error("the rows have different lengths")
        }
    }
}

/// A loop function gives its reductions.
fn result_type(function: &Function) -> Type {
    match &function.kind {
        FuncKind::Loop { reductions, .. } => {
            let local = |r: &Reduction| function.locals.get(r.local.index()).map_or(Type::unit(), |local| local.ty.clone());
            Type::Tuple(reductions.iter().map(local).collect())
        }
        _ => function.result.clone(),
    }
}
