//! Statements: scopes of values, structure of control flow, what each kind of function may do.

use super::Summary;
use super::error::{Fault, VerifyError};
use crate::mma;
use crate::module::{Block, FuncId, FuncKind, Function, Label, Local, Module, PrintItem, Reduction, Span, Spread, Stmt, StmtKind, Value};
use crate::op::{Index, Op, Part};
use crate::types::{Scalar, Type, ViewType};

pub(super) type Checked<T = ()> = Result<T, Fault>;

/// Checks a function's body and says what it asks of other functions.
pub(super) fn check(module: &Module, function: &Function) -> Result<Summary, VerifyError> {
    let mut body = Body {
        module,
        function,
        span: Span::NONE,
        ever_defined: vec![false; function.values.len()],
        in_scope: vec![false; function.values.len()],
        visible: Vec::new(),
        labels: Vec::new(),
        labels_seen: Vec::new(),
        loops: Vec::new(),
        summary: Summary::default(),
    };
    let end = body.run();
    match end {
        Ok(()) => Ok(body.summary),
        Err(fault) => Err(VerifyError::new(function, body.span, fault)),
    }
}

/// What encloses a statement, innermost last.
#[derive(Clone, Copy, PartialEq)]
enum Enclosing {
    Loop,
    ParFor(Spread),
}

pub(super) struct Body<'m> {
    pub module: &'m Module,
    pub function: &'m Function,
    span: Span,
    ever_defined: Vec<bool>,
    in_scope: Vec<bool>,
    /// Values in scope, in order of definition.
    visible: Vec<Value>,
    /// Open scopes.
    labels: Vec<Label>,
    labels_seen: Vec<Label>,
    loops: Vec<Enclosing>,
    pub summary: Summary,
}

impl Body<'_> {
    fn run(&mut self) -> Checked {
        for &param in &self.function.params {
            self.define(param)?;
        }
        self.block(&self.function.body)?;
        if !self.function.result.is_unit() && falls_through(&self.function.body) {
            return Err(Fault::MissingReturn);
        }
        Ok(())
    }

    fn define(&mut self, value: Value) -> Checked {
        match self.ever_defined.get_mut(value.index()) {
            None => return Err(Fault::UnknownValue(value)),
            Some(true) => return Err(Fault::Redefined(value)),
            Some(defined) => *defined = true,
        }
        self.in_scope[value.index()] = true;
        self.visible.push(value);
        Ok(())
    }

    /// The type of a value that is used here.
    #[inline(always)]
    pub(super) fn ty(&self, value: Value) -> Checked<&Type> {
        match self.in_scope.get(value.index()) {
            Some(true) => Ok(self.function.ty(value)),
            known => Err(out_of_scope(value, known.is_some())),
        }
    }

    pub(super) fn is(&self, value: Value, expected: &Type, place: &str) -> Checked {
        same(self.ty(value)?, expected, place)
    }

    pub(super) fn local(&self, local: Local) -> Checked<&Type> {
        match self.function.locals.get(local.index()) {
            Some(data) => Ok(&data.ty),
            None => Err(Fault::UnknownLocal(local)),
        }
    }

    pub(super) fn callee(&mut self, id: FuncId) -> Checked<&Function> {
        let callee = self.module.functions.get(id.index()).ok_or(Fault::UnknownFunction(id))?;
        self.summary.calls.push((id, self.span));
        if self.in_points() {
            self.summary.calls_of_points.push((id, self.span));
        }
        Ok(callee)
    }

    fn in_points(&self) -> bool {
        self.loops.iter().any(|l| matches!(l, Enclosing::ParFor(_)))
    }

    /// Host functions run once and may do this, and points that run one by one; lanes cannot.
    pub(super) fn host_only(&mut self, what: &'static str) -> Checked {
        let as_lanes = |l: &Enclosing| matches!(l, Enclosing::ParFor(spread) if *spread != Spread::Threads);
        match self.function.kind {
            FuncKind::Host if !self.loops.iter().any(as_lanes) => Ok(()),
            FuncKind::Loop { .. } => {
                self.summary.alone = true;
                Ok(())
            }
            _ => Err(Fault::NotAllowed(what)),
        }
    }

    /// Only threads of a kernel have barriers, geometry and shared memory; the points of an index space inside of one are no threads.
    pub(super) fn threads_only(&mut self, what: &'static str) -> Checked {
        self.summary.needs_threads = true;
        match self.function.kind {
            FuncKind::Kernel | FuncKind::Device if !self.in_points() => Ok(()),
            _ => Err(Fault::NotAllowed(what)),
        }
    }

    pub(super) fn view(&self, value: Value, op: &'static str) -> Checked<ViewType> {
        let ty = self.ty(value)?;
        ty.view().ok_or_else(|| Fault::Operand {
            op: op.into(),
            found: ty.clone(),
        })
    }

    /// Checks an access's index list; gives the view's type and the type of what is read or written.
    pub(super) fn access(&self, op: &'static str, view: Value, indices: &[Index], part: Part) -> Checked<(ViewType, Type)> {
        let ty = self.view(view, op)?;
        if indices.len() != ty.rank as usize {
            return Err(Fault::Rank {
                op,
                expected: ty.rank as usize,
                found: indices.len(),
            });
        }
        indices.iter().try_for_each(|i| self.is(i.value, &Type::I64, "an index"))?;
        match part {
            Part::Whole => Ok((ty, Type::Scalar(ty.elem))),
            Part::Re | Part::Im if ty.elem.is_complex() => Ok((ty, Type::Scalar(ty.elem.part()))),
            _ => Err(Fault::Operand {
                op: "a part".into(),
                found: Type::View(ty),
            }),
        }
    }

    fn block(&mut self, block: &Block) -> Checked {
        let before = self.visible.len();
        for (i, stmt) in block.0.iter().enumerate() {
            self.span = stmt.span;
            if i > 0 && ends_block(&block.0[i - 1]) {
                return Err(Fault::DeadCode);
            }
            self.stmt(&stmt.kind)?;
        }
        for value in self.visible.drain(before..) {
            self.in_scope[value.index()] = false;
        }
        Ok(())
    }

    fn loop_body(&mut self, kind: Enclosing, vars: &[Value], body: &Block) -> Checked {
        let before = self.visible.len();
        self.loops.push(kind);
        for &var in vars {
            self.define(var)?;
            self.is(var, &Type::I64, "a loop's index")?;
        }
        self.block(body)?;
        for value in self.visible.drain(before..) {
            self.in_scope[value.index()] = false;
        }
        self.loops.pop();
        Ok(())
    }

    pub(super) fn definition(&mut self, &value: &Value, op: &Op) -> Checked {
        let Some(data) = self.function.values.get(value.index()) else {
            return Err(Fault::UnknownValue(value));
        };
        self.op(op, &data.ty)?;
        self.define(value)
    }

    pub(super) fn set(&self, &local: &Local, &value: &Value) -> Checked {
        same(self.ty(value)?, self.local(local)?, "the value set")
    }

    pub(super) fn branch(&mut self, then: &Block, other: &Block) -> Checked {
        self.block(then)?;
        self.block(other)
    }

    pub(super) fn endless(&mut self, body: &Block) -> Checked {
        self.loop_body(Enclosing::Loop, &[], body)
    }

    pub(super) fn counted(&mut self, &var: &Value, body: &Block) -> Checked {
        self.loop_body(Enclosing::Loop, &[var], body)
    }

    pub(super) fn points(
        &mut self,
        vars: &[Value],
        extents: &[Value],
        reductions: &[Reduction],
        &spread: &Spread,
        body: &Block,
    ) -> Checked {
        if self.function.kind == FuncKind::Device {
            return Err(Fault::NotAllowed("parfor"));
        }
        count("parfor", vars.len(), extents.len())?;
        super::reductions(self.function, reductions)?;
        // A point may not leave a scope around the loop.
        let labels = std::mem::take(&mut self.labels);
        self.loop_body(Enclosing::ParFor(spread), vars, body)?;
        self.labels = labels;
        Ok(())
    }

    pub(super) fn launch(&mut self, &func: &FuncId, extents: &[Value], args: &[Value], results: &[Local], &spread: &Spread) -> Checked {
        let module = self.module;
        self.callee(func)?;
        let callee = module.function(func);
        let FuncKind::Loop { rank, reductions } = &callee.kind else {
            return Err(Fault::NotCallable(func));
        };
        count("launch over", *rank as usize, extents.len())?;
        self.args(callee, *rank as usize, args)?;
        count("launch into", reductions.len(), results.len())?;
        for (result, reduction) in results.iter().zip(reductions) {
            let from = callee
                .locals
                .get(reduction.local.index())
                .ok_or(Fault::UnknownLocal(reduction.local))?;
            same(&from.ty, self.local(*result)?, "a reduction's result")?;
        }
        self.summary.launches.push((func, spread, self.span));
        Ok(())
    }

    pub(super) fn leave(&self, label: &Label) -> Checked {
        if self.labels.contains(label) {
            Ok(())
        } else {
            Err(Fault::NotOpen(*label))
        }
    }

    pub(super) fn breaks(&self) -> Checked {
        match self.loops.last() {
            Some(Enclosing::Loop) => Ok(()),
            Some(Enclosing::ParFor(_)) | None => Err(Fault::OutsideLoop("break")),
        }
    }

    pub(super) fn continues(&self) -> Checked {
        if self.loops.is_empty() {
            Err(Fault::OutsideLoop("continue"))
        } else {
            Ok(())
        }
    }

    pub(super) fn store(&self, &view: &Value, indices: &[Index], &part: &Part, &value: &Value) -> Checked {
        let (ty, elem) = self.access("store", view, indices, part)?;
        if !ty.writable {
            return Err(Fault::ReadOnly(view));
        }
        self.is(value, &elem, "the value stored")
    }

    pub(super) fn mma(&self, &elem: &Scalar, &sums: &Value, &left: &Value, &right: &Value, _left: &bool, _right: &bool) -> Checked {
        let ty = self.view(sums, "mma")?;
        if !mma::are_sums(ty) {
            return Err(operand("mma", &ty.into()));
        }
        for factor in [left, right] {
            let ty = self.view(factor, "mma")?;
            if !mma::is_factor(elem, ty) {
                return Err(operand("mma", &ty.into()));
            }
        }
        Ok(())
    }

    /// Checks arguments against the callee's parameters after the first `skip`.
    pub(super) fn args(&self, callee: &Function, skip: usize, args: &[Value]) -> Checked {
        let params = callee.params.get(skip..).ok_or(Fault::LoopIndices)?;
        count("a call", params.len(), args.len())?;
        for (param, arg) in params.iter().zip(args) {
            let expected = callee.values.get(param.index()).ok_or(Fault::UnknownValue(*param))?;
            self.is(*arg, &expected.ty, "an argument")?;
        }
        Ok(())
    }

    pub(super) fn scope(&mut self, &label: &Label, body: &Block) -> Checked {
        if self.labels_seen.contains(&label) {
            return Err(Fault::LabelReused(label));
        }
        self.labels_seen.push(label);
        self.labels.push(label);
        self.block(body)?;
        self.labels.pop();
        Ok(())
    }

    pub(super) fn returns(&self, &value: &Option<Value>) -> Checked {
        if self.in_points() {
            return Err(Fault::NotAllowed("return in parfor"));
        }
        match value {
            Some(value) => self.is(value, &self.function.result, "the result"),
            None => same(&Type::unit(), &self.function.result, "the result"),
        }
    }

    pub(super) fn print(&self, items: &[PrintItem]) -> Checked {
        items.iter().try_for_each(|item| self.print_item(item))
    }

    fn print_item(&self, item: &PrintItem) -> Checked {
        match item {
            PrintItem::Text(_) => Ok(()),
            PrintItem::Value(value) => {
                let ty = self.ty(*value)?;
                if ty.scalar().is_some() { Ok(()) } else { Err(operand("print", ty)) }
            }
            PrintItem::Complex(re, im) => {
                let ty = self.ty(*re)?;
                if !ty.scalar().is_some_and(|s| s.is_float()) {
                    return Err(operand("print", ty));
                }
                self.is(*im, ty, "the imaginary part")
            }
        }
    }
}

#[cold]
fn out_of_scope(value: Value, known: bool) -> Fault {
    if known {
        Fault::NotInScope(value)
    } else {
        Fault::UnknownValue(value)
    }
}

pub(super) fn operand(op: &str, found: &Type) -> Fault {
    Fault::Operand {
        op: op.into(),
        found: found.clone(),
    }
}

#[inline]
pub(super) fn same(found: &Type, expected: &Type, place: &str) -> Checked {
    let same = match (found, expected) {
        (Type::Scalar(found), Type::Scalar(expected)) => found == expected,
        (found, expected) => found == expected,
    };
    if same { Ok(()) } else { Err(mismatch(found, expected, place)) }
}

#[cold]
fn mismatch(found: &Type, expected: &Type, place: &str) -> Fault {
    Fault::Mismatch {
        place: place.into(),
        expected: expected.clone(),
        found: found.clone(),
    }
}

pub(super) fn count(op: &'static str, expected: usize, found: usize) -> Checked {
    if expected == found {
        Ok(())
    } else {
        Err(Fault::Count { op, expected, found })
    }
}

fn ends_block(stmt: &Stmt) -> bool {
    matches!(
        stmt.kind,
        StmtKind::Break | StmtKind::Continue | StmtKind::Return(_) | StmtKind::Leave(_) | StmtKind::Raise { .. }
    )
}

/// Can control reach the end of the block?
fn falls_through(block: &Block) -> bool {
    block.0.iter().all(|stmt| match &stmt.kind {
        StmtKind::If { then, other, .. } => falls_through(then) || falls_through(other),
        StmtKind::Loop(body) => breaks(body),
        StmtKind::Scope(label, body) => falls_through(body) || leaves(body, *label),
        _ => !ends_block(stmt),
    })
}

/// Does the loop with this body have a `break` of its own?
fn breaks(body: &Block) -> bool {
    body.0.iter().any(|stmt| match &stmt.kind {
        StmtKind::Break => true,
        StmtKind::If { then, other, .. } => breaks(then) || breaks(other),
        StmtKind::Scope(_, body) => breaks(body),
        _ => false,
    })
}

fn leaves(body: &Block, label: Label) -> bool {
    body.0.iter().any(|stmt| match &stmt.kind {
        StmtKind::Leave(l) => *l == label,
        StmtKind::If { then, other, .. } => leaves(then, label) || leaves(other, label),
        StmtKind::Loop(body) | StmtKind::For { body, .. } | StmtKind::ParFor { body, .. } | StmtKind::Scope(_, body) => leaves(body, label),
        _ => false,
    })
}
