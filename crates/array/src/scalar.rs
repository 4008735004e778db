//! Scalar functions recorded from statements and inlined where they are applied: what an array expression does to elements.

use weft_ir::{Block, Builder, Function, Id, Label, LocalData, Op, Rename, Scalar, Stmt, StmtKind, Type, Value, ValueData};

/// Statements that make one value of others. The numbers of its values, locals and labels are its own, from 0 on; the first values are
/// its parameters.
#[derive(Clone, Debug, PartialEq)]
pub struct ScalarFn {
    params: usize,
    values: Vec<ValueData>,
    locals: Vec<LocalData>,
    labels: u32,
    body: Block,
    result: Value,
}

/// How far a function was written when something began to be recorded.
#[derive(Clone, Copy, Debug)]
pub struct Mark {
    values: usize,
    locals: usize,
}

/// What was recorded reads a local that was there before: it would not be the same function at another place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadsLocal;

impl Mark {
    pub fn of(func: &Function) -> Mark {
        Mark {
            values: func.values.len(),
            locals: func.locals.len(),
        }
    }

    /// Was the value there before?
    pub fn precedes(self, value: Value) -> bool {
        value.index() < self.values
    }

    /// Forgets everything that was made since.
    pub fn forget(self, func: &mut Function) {
        func.values.truncate(self.values);
        func.locals.truncate(self.locals);
    }
}

impl ScalarFn {
    /// Takes statements out of the function they were recorded in, as a function of `params`, which are the first values made since the
    /// `mark`. Values of before that they read become parameters, too: given in their order, behind the others.
    pub fn take(func: &mut Function, mark: Mark, params: usize, body: Block, result: Value) -> Result<(ScalarFn, Vec<Value>), ReadsLocal> {
        let mut taken = Taken {
            mark,
            params,
            free: Vec::new(),
            labels: Vec::new(),
            local: false,
        };
        body.walk(&mut |kind| taken.look(kind));
        taken.note(result);
        if taken.local {
            return Err(ReadsLocal);
        }
        let free = taken.free.clone();
        let mut values: Vec<ValueData> = func.values[mark.values..mark.values + params].to_vec();
        values.extend(free.iter().map(|v| func.values[v.index()].clone()));
        values.extend_from_slice(&func.values[mark.values + params..]);
        let locals = func.locals[mark.locals..].to_vec();
        mark.forget(func);
        let (mut body, mut result) = (body, result);
        body.rename(&mut taken);
        taken.operand(&mut result);
        let made = ScalarFn {
            params: params + free.len(),
            values,
            locals,
            labels: taken.labels.len() as u32,
            body,
            result,
        };
        Ok((made, free))
    }

    /// A function that only calls another one or converts: `op` gives the value from the parameters.
    pub fn of_op(params: &[Scalar], result: Scalar, op: impl FnOnce(Vec<Value>) -> Op) -> ScalarFn {
        let of = |scalar: Scalar| ValueData {
            ty: Type::Scalar(scalar),
            name: None,
            exact: false,
        };
        let made = Value(params.len() as u32);
        let kind = StmtKind::Let(made, op((0..made.0).map(Value).collect()));
        ScalarFn {
            params: params.len(),
            values: params.iter().chain([&result]).map(|s| of(*s)).collect(),
            locals: Vec::new(),
            labels: 0,
            body: Block(vec![Stmt {
                kind,
                span: weft_ir::Span::NONE,
            }]),
            result: made,
        }
    }

    /// Does `what` hold for one of its statements, those in blocks too?
    pub fn any(&self, what: &mut dyn FnMut(&StmtKind) -> bool) -> bool {
        self.body.any(what)
    }

    /// How many labels its statements have.
    pub fn labels(&self) -> u32 {
        self.labels
    }

    /// Writes the statements out for these arguments, with as many free labels as it has.
    pub fn apply(&self, b: &mut Builder, args: &[Value], labels: &[Label]) -> Value {
        let first_local = b.func.locals.len() as u32;
        b.func.locals.extend(self.locals.iter().cloned());
        let mut values = args.to_vec();
        for data in &self.values[self.params..] {
            b.func.values.push(data.clone());
            values.push(Value(b.func.values.len() as u32 - 1));
        }
        let mut written = Written {
            values,
            first_local,
            labels,
        };
        let outer = b.span;
        let mut body = self.body.clone();
        body.rename(&mut written);
        for stmt in body.0 {
            b.span = stmt.span;
            b.push(stmt.kind);
        }
        b.span = outer;
        written.values[self.result.index()]
    }
}

/// The numbers of recorded statements, as they are taken out of their function.
struct Taken {
    mark: Mark,
    /// How many of the first values made since the mark are parameters.
    params: usize,
    /// Values of before that are read: parameters, too, by which the values behind them move up.
    free: Vec<Value>,
    labels: Vec<Label>,
    /// Whether a local of before is read or set.
    local: bool,
}

impl Taken {
    fn look(&mut self, kind: &StmtKind) {
        kind.operands(&mut |v| self.note(v));
        match kind {
            StmtKind::Let(_, Op::Get(local)) | StmtKind::Set(local, _) => self.local |= local.index() < self.mark.locals,
            StmtKind::Scope(label, _) => self.labels.push(*label),
            _ => {}
        }
    }

    fn note(&mut self, value: Value) {
        if self.mark.precedes(value) && !self.free.contains(&value) {
            self.free.push(value);
        }
    }
}

impl Rename for Taken {
    fn operand(&mut self, value: &mut Value) {
        let at = match self.free.iter().position(|v| v == value) {
            Some(free) => self.params + free,
            None => match value.index() - self.mark.values {
                param if param < self.params => param,
                own => own + self.free.len(),
            },
        };
        *value = Value(at as u32);
    }

    fn id(&mut self, id: Id<'_>) {
        match id {
            Id::Local(local) => local.0 -= self.mark.locals as u32,
            Id::Label(label) => label.0 = self.labels.iter().position(|known| known == label).map_or(label.0, |at| at as u32),
            // Functions of scalars have no arrays.
            Id::Array(_) => {}
        }
    }
}

/// The numbers of a function's statements where it is written out.
struct Written<'a> {
    values: Vec<Value>,
    first_local: u32,
    labels: &'a [Label],
}

impl Rename for Written<'_> {
    fn operand(&mut self, value: &mut Value) {
        *value = self.values[value.index()];
    }

    fn id(&mut self, id: Id<'_>) {
        match id {
            Id::Local(local) => local.0 += self.first_local,
            Id::Label(label) => *label = self.labels[label.index()],
            Id::Array(_) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use weft_ir::{BinOp, FuncKind, Local};

    use super::*;

    /// A function with `outer: f64`, in which `x * x + outer` was recorded as a function of `x`.
    fn recorded() -> (Builder, ScalarFn, Vec<Value>) {
        let mut func = Function::new("around", FuncKind::Device);
        let outer = func.new_param(Scalar::F64.into(), "outer");
        let mut b = Builder::new(func);
        let mark = Mark::of(&b.func);
        b.open();
        let x = b.func.new_value(Scalar::F64.into());
        let square = b.binary(BinOp::Mul, x, x);
        let sum = b.binary(BinOp::Add, square, outer);
        let body = b.close();
        let (made, free) = ScalarFn::take(&mut b.func, mark, 1, body, sum).unwrap();
        (b, made, free)
    }

    #[test]
    fn what_is_read_from_around_becomes_a_parameter() {
        let (b, made, free) = recorded();
        assert_eq!(free, [Value(0)]);
        assert_eq!(b.func.values.len(), 1);
        assert_eq!((made.params, made.result), (2, Value(3)));
        assert_eq!(
            made.body.0[0].kind,
            StmtKind::Let(Value(2), Op::Binary(BinOp::Mul, Value(0), Value(0)))
        );
        assert_eq!(
            made.body.0[1].kind,
            StmtKind::Let(Value(3), Op::Binary(BinOp::Add, Value(2), Value(1)))
        );
    }

    #[test]
    fn it_is_written_out_as_often_as_it_is_applied() {
        let (mut b, made, _) = recorded();
        let once = made.apply(&mut b, &[Value(0), Value(0)], &[]);
        let twice = made.apply(&mut b, &[once, Value(0)], &[]);
        assert_eq!((once, twice), (Value(2), Value(4)));
        assert_eq!(b.finish().body.0.len(), 4);
    }

    #[test]
    fn locals_and_labels_are_new_wherever_it_stands() {
        let mut func = Function::new("around", FuncKind::Device);
        func.new_local(Type::I64, "before");
        let mut b = Builder::new(func);
        let mark = Mark::of(&b.func);
        b.open();
        let x = b.func.new_value(Type::I64);
        let local = b.func.new_local(Type::I64, "");
        b.open();
        b.set(local, x);
        b.push(StmtKind::Leave(Label(7)));
        let inner = b.close();
        b.push(StmtKind::Scope(Label(7), inner));
        let got = b.get(local);
        let body = b.close();
        let (made, _) = ScalarFn::take(&mut b.func, mark, 1, body, got).unwrap();
        let x = b.i64(1);
        made.apply(&mut b, &[x], &[Label(4)]);
        let StmtKind::Scope(label, inner) = &b.finish().body.0[1].kind.clone() else {
            panic!("a scope comes first");
        };
        assert_eq!(*label, Label(4));
        assert_eq!(inner.0[0].kind, StmtKind::Set(Local(1), x));
        assert_eq!(inner.0[1].kind, StmtKind::Leave(Label(4)));
    }

    #[test]
    fn a_local_of_before_is_refused() {
        let mut func = Function::new("around", FuncKind::Device);
        let before = func.new_local(Type::I64, "before");
        let mut b = Builder::new(func);
        let mark = Mark::of(&b.func);
        b.open();
        let got = b.get(before);
        let body = b.close();
        assert_eq!(ScalarFn::take(&mut b.func, mark, 0, body, got), Err(ReadsLocal));
    }
}
