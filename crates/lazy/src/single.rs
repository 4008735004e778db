//! Operations that no loop of Weft's own does, as sines: compiled when they are first run, for operands that lie one behind the other or are
//! one number.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use smallvec::SmallVec;
use weft_array::{Access, ufunc_loop};
use weft_ir::{Layout, Module, Scalar};
use weft_runtime::{CallOptions, CompileOptions, Executable, Launch};

use crate::error::{Error, Result};
use crate::operation::Operation;
use crate::{machine, text};

/// The compiled loops of an operation: one for each choice of operands that are one number.
#[derive(Debug, Default)]
pub struct Single {
    scalar: OnceLock<Arc<Module>>,
    loops: [OnceLock<Arc<dyn Executable>>; 8],
    /// Of more than three operands, by the same numbers.
    others: Mutex<HashMap<usize, Arc<dyn Executable>>>,
}

/// An operand of a run: its address, and whether it is one number.
pub type Arg = (u64, bool);

impl Single {
    /// Runs over so many elements.
    pub fn run(&self, operation: &Operation, out: u64, args: &[Arg], count: u64) -> Result<()> {
        let form = args.iter().enumerate().fold(0, |form, (at, arg)| form | usize::from(arg.1) << at);
        let other;
        let code = match self.loops.get(form).filter(|_| args.len() <= 3) {
            None => {
                other = self.of_many(operation, args, form)?;
                &other
            }
            Some(known) => match known.get() {
                Some(code) => code,
                None => {
                    let made = self.compile(operation, args)?;
                    known.get_or_init(|| made)
                }
            },
        };
        let mut slots: SmallVec<[u64; 16]> = SmallVec::new();
        let mut view = |address: u64, one: bool, elem: Scalar| {
            slots.push(address);
            if !one {
                slots.extend([count, elem.size() as u64]);
            }
        };
        for (arg, &elem) in args.iter().zip(&operation.operands) {
            view(arg.0, arg.1, elem);
        }
        view(out, false, operation.result);
        code.run(Launch::Loop(vec![count]), &slots, &mut [], &CallOptions::default())?;
        Ok(())
    }

    fn of_many(&self, operation: &Operation, args: &[Arg], form: usize) -> Result<Arc<dyn Executable>> {
        let mut others = self.others.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(code) = others.get(&form) {
            return Ok(code.clone());
        }
        let made = self.compile(operation, args)?;
        others.insert(form, made.clone());
        Ok(made)
    }

    fn compile(&self, operation: &Operation, args: &[Arg]) -> Result<Arc<dyn Executable>> {
        let module = match self.scalar.get() {
            Some(module) => module,
            None => {
                let made = Arc::new(text::of_operation(operation)?);
                self.scalar.get_or_init(|| made)
            }
        };
        let access = |elem: Scalar, one: bool| Access {
            elem,
            axes: u32::from(!one),
            layout: Layout::C,
        };
        let inputs: Vec<Access> = args
            .iter()
            .zip(&operation.operands)
            .map(|(arg, &elem)| access(elem, arg.1))
            .collect();
        let looped = ufunc_loop(Module::clone(module), 1, &inputs, access(operation.result, false), None)
            .map_err(|error| Error::Internal(error.to_string()))?;
        let options = CompileOptions {
            cache: true,
            ..CompileOptions::default()
        };
        machine::cpu()?
            .compile(Arc::new(looped), options)
            .map_err(|error| Error::Run(weft_runtime::RunError::Compile(error)))
    }
}
