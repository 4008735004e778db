//! What dispatchers, kernels and ufuncs share: one function, its options, and its specialisations per argument types.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyFunction, PyTuple};
use weft_front::{ArgType, Options, Role};
use weft_ir::{Module, Scalar};
use weft_runtime::{CallOptions, CompileOptions, Executable, Hooks, Inspect, Launch, Outcome};

use crate::bind::Args;
use crate::classify::Captured;
use crate::key::{self, Key};
use crate::numpy::Numpy;
use crate::signature::{self, Conversion, Signature};
use crate::slots::Number;
use crate::{devices, errors};

/// One function as the decorator left it.
pub struct Core {
    pub captured: Captured,
    pub options: Options,
    pub compile: CompileOptions,
    pub signatures: Vec<Signature>,
    table: Mutex<Table>,
}

#[derive(Default)]
struct Table {
    /// The specialisation used last: most calls are like the one before.
    last: Option<Arc<Spec>>,
    by_key: HashMap<Key, Arc<Spec>>,
}

/// What a call with arguments of the types `key` runs.
pub struct Spec {
    key: Key,
    conversions: Vec<Conversion>,
    pub code: Arc<Code>,
}

/// The function compiled for one row of argument types.
pub struct Code {
    pub types: Vec<ArgType>,
    pub result: ArgType,
    /// The result type that the signature declares, where it is another scalar.
    pub declared: Option<Scalar>,
    pub result_slots: usize,
    pub module: Arc<Module>,
    pub executable: Arc<dyn Executable>,
}

impl Core {
    pub fn new(
        function: &Bound<'_, PyFunction>,
        options: Options,
        compile: CompileOptions,
        signatures: &Bound<'_, PyTuple>,
    ) -> PyResult<Core> {
        let core = Core {
            captured: Captured::new(function)?,
            options,
            compile,
            signatures: signatures.iter().map(|s| Signature::from_spec(&s)).collect::<PyResult<_>>()?,
            table: Mutex::default(),
        };
        if options.role != Role::Device {
            for signature in &core.signatures {
                core.specialise(function.py(), &signature.args)?;
            }
        }
        Ok(core)
    }

    /// Binds the arguments of a call, in the order of the parameters.
    pub fn bind(&self, numpy: &Numpy, args: &Bound<'_, PyTuple>, kwargs: Option<&Bound<'_, PyDict>>) -> PyResult<Args> {
        let mut bound = Args::default();
        let params = &self.captured.params;
        if kwargs.is_none() && args.len() == params.len() && args.len() == self.captured.positional && !self.captured.variadic {
            for (i, name) in params.iter().enumerate() {
                crate::bind::bind(numpy, &args.get_item(i)?, &|| name.clone(), &mut bound)?;
            }
        } else {
            for (object, name) in self.captured.arrange(args, kwargs)?.iter().zip(params) {
                crate::bind::bind(numpy, object, &|| name.clone(), &mut bound)?;
            }
        }
        Ok(bound)
    }

    /// The specialisation for bound arguments, which are converted to its types.
    pub fn resolve(&self, py: Python<'_>, args: &mut Args) -> PyResult<Arc<Spec>> {
        let found = {
            let table = lock(&self.table);
            match &table.last {
                Some(last) if last.key == args.key => Some(last.clone()),
                _ => table.by_key.get(&args.key).cloned(),
            }
        };
        let spec = match found {
            Some(spec) => spec,
            None => self.specialise(py, &key::decode(&args.key))?,
        };
        for conversion in spec.conversions.iter().rev() {
            convert(conversion, args);
        }
        Ok(spec)
    }

    /// Compiles for arguments of the types `given`, or finds what was compiled.
    pub fn specialise(&self, py: Python<'_>, given: &[ArgType]) -> PyResult<Arc<Spec>> {
        let mut key = Key::new();
        given.iter().for_each(|ty| key::encode(ty, &mut key));
        let known = lock(&self.table).by_key.get(&key).cloned();
        let spec = match known {
            Some(spec) => spec,
            None => Arc::new(self.build(py, key.clone(), given)?),
        };
        let mut table = lock(&self.table);
        table.by_key.insert(key, spec.clone());
        table.last = Some(spec.clone());
        Ok(spec)
    }

    fn build(&self, py: Python<'_>, key: Key, given: &[ArgType]) -> PyResult<Spec> {
        let signature = self.choose(py, given)?;
        let types = signature.map_or_else(|| given.to_vec(), |s| s.adapted(given));
        let declared = signature.and_then(|s| match s.result {
            Some(ArgType::Strong(scalar)) => Some(scalar),
            _ => None,
        });
        let known = self
            .codes()
            .into_iter()
            .find(|code| code.types == types && code.declared == declared);
        Ok(Spec {
            key,
            conversions: signature::conversions(&types, given),
            code: match known {
                Some(code) => code,
                None => Arc::new(self.generate(py, types, declared)?),
            },
        })
    }

    fn generate(&self, py: Python<'_>, types: Vec<ArgType>, declared: Option<Scalar>) -> PyResult<Code> {
        let (module, result) = self.front(py, &types)?;
        let module = Arc::new(module);
        Ok(Code {
            executable: self.device(py, module.clone())?,
            result_slots: module.entry_function().result.slots(),
            types,
            result,
            declared,
            module,
        })
    }

    /// The explicit signature that fits best; `None` if the function has none and compiles for anything.
    fn choose(&self, py: Python<'_>, given: &[ArgType]) -> PyResult<Option<&Signature>> {
        if self.signatures.is_empty() {
            return Ok(None);
        }
        let best = self
            .signatures
            .iter()
            .filter_map(|s| Some((s.cost(given)?, s)))
            .min_by_key(|(cost, _)| *cost);
        match best {
            Some((_, signature)) => Ok(Some(signature)),
            None => {
                let known: Vec<String> = self.signatures.iter().map(|s| format!("  {}", signature::show(&s.args))).collect();
                Err(errors::typing(
                    py,
                    format!(
                        "{} was declared for other argument types than {}; it takes\n{}",
                        self.captured.name,
                        signature::show(given),
                        known.join("\n")
                    ),
                ))
            }
        }
    }

    /// The typed module for these argument types.
    pub fn front(&self, py: Python<'_>, types: &[ArgType]) -> PyResult<(Module, ArgType)> {
        let source = self.captured.front(py)?;
        let compiled = weft_front::compile(&source, types, self.options).map_err(|e| errors::diagnostic(py, &e))?;
        Ok((compiled.module, compiled.result))
    }

    /// Machine code of a module, made with the GIL released.
    pub fn device(&self, py: Python<'_>, module: Arc<Module>) -> PyResult<Arc<dyn Executable>> {
        let device = devices::current(py)?;
        let options = self.compile;
        let compiled = {
            let module = module.clone();
            py.detach(move || device.compile(module, options))
        };
        compiled.map_err(|e| errors::compile(py, &e, &module.sources))
    }

    /// Everything compiled so far.
    fn codes(&self) -> Vec<Arc<Code>> {
        let table = lock(&self.table);
        let mut specs: Vec<&Arc<Spec>> = table.by_key.values().collect();
        specs.sort_by(|a, b| a.key.cmp(&b.key));
        let mut codes: Vec<Arc<Code>> = Vec::new();
        for spec in specs {
            if !codes.iter().any(|code| Arc::ptr_eq(code, &spec.code)) {
                codes.push(spec.code.clone());
            }
        }
        codes
    }

    /// `{signature: text}` of every specialisation.
    pub fn inspect<'py>(&self, py: Python<'py>, what: Inspect) -> PyResult<Bound<'py, PyDict>> {
        let texts = PyDict::new(py);
        for code in self.codes() {
            let types = code.types.iter().map(|ty| signature::write(py, ty)).collect::<PyResult<Vec<_>>>()?;
            let text = code.inspect(py, what)?;
            texts.set_item(PyTuple::new(py, types)?, text)?;
        }
        Ok(texts)
    }

    /// The argument types of every specialisation, as specs.
    pub fn known<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyTuple>>> {
        let codes = self.codes();
        let rows = codes.iter().map(|code| {
            let types = code.types.iter().map(|ty| signature::write(py, ty)).collect::<PyResult<Vec<_>>>()?;
            PyTuple::new(py, types)
        });
        rows.collect()
    }
}

impl Code {
    /// Runs with the GIL released; what the code printed goes to `sys.stdout`.
    pub fn run(&self, py: Python<'_>, launch: Launch, args: &[u64], results: &mut [u64]) -> PyResult<Outcome> {
        run(py, &self.executable, &self.module, launch, args, results)
    }

    fn inspect(&self, py: Python<'_>, what: Inspect) -> PyResult<String> {
        let text = py.detach(|| self.executable.inspect(what));
        text.map_err(|e| errors::compile(py, &e, &self.module.sources))
    }
}

/// Runs an executable with the GIL released; what it printed goes to `sys.stdout`.
pub fn run(
    py: Python<'_>,
    executable: &Arc<dyn Executable>,
    module: &Module,
    launch: Launch,
    args: &[u64],
    results: &mut [u64],
) -> PyResult<Outcome> {
    let options = CallOptions {
        hooks: Hooks {
            interrupted: errors::on_main_thread(py).then_some(errors::interrupted as fn() -> bool),
        },
        ..CallOptions::default()
    };
    match py.detach(|| executable.run(launch, args, results, &options)) {
        Ok(outcome) => {
            print(py, &outcome.output)?;
            Ok(outcome)
        }
        Err(error) => {
            if let weft_runtime::RunError::Raised(raised) = &error {
                print(py, &raised.output)?;
            }
            Err(errors::run(py, error, module))
        }
    }
}

fn print(py: Python<'_>, output: &str) -> PyResult<()> {
    if !output.is_empty() {
        py.import("sys")?.getattr("stdout")?.call_method1("write", (output,))?;
    }
    Ok(())
}

/// Replaces a scalar's slots; conversions are applied from the last to the first, so that earlier slots stay where they are.
fn convert(conversion: &Conversion, args: &mut Args) {
    let Conversion { slot, from, to } = *conversion;
    let old = 1 + usize::from(from.is_complex());
    let new = 1 + usize::from(to.is_complex());
    let mut slots = [args.slots[slot], 0];
    if old == 2 {
        slots[1] = args.slots[slot + 1];
    }
    let converted = Number::from_slots(from, slots).to_slots(to);
    args.slots.drain(slot..slot + old);
    args.slots.insert_many(slot, converted[..new].iter().copied());
}

/// A lock whose holder cannot have left it half changed.
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
