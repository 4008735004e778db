//! What dispatchers, kernels and ufuncs share: one function, its options, and its specialisations per argument types.

use std::collections::HashMap;
use std::rc::Rc;
use std::sync::{Arc, Mutex, OnceLock};

use pyo3::exceptions::PyOverflowError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyFunction, PyTuple};
use weft_front::{ArgType, Compiled, Decorated, Dialect, FunctionSource, Options, Role};
use weft_ir::{Module, Scalar};
use weft_runtime::{CallOptions, CompileOptions, Device, DeviceId, Executable, Inspect, Launch, Outcome, lock};

use crate::bind::Args;
use crate::classify::Captured;
use crate::frozen::Frozen;
use crate::key::{self, Key};
use crate::lazy::calls;
use crate::numpy::Numpy;
use crate::precision::Precision;
use crate::signature::{self, Conversion, Signature};
use crate::slots::Number;
use crate::{adjoint, devices, errors};

/// One function as the decorator left it.
pub struct Core {
    pub captured: Captured,
    pub options: Options,
    pub how: CompileOptions,
    pub signatures: Vec<Signature>,
    /// It is the adjoint of the function: see [`crate::adjoint`].
    pub adjoint: bool,
    precision: Precision,
    table: Mutex<Table>,
}

#[derive(Default)]
struct Table {
    /// The specialisation used last: most calls are like the one before.
    last: Option<Arc<Spec>>,
    by_key: HashMap<(DeviceId, Key), Arc<Spec>>,
}

/// What a call with arguments of the types `key` runs.
pub struct Spec {
    device: DeviceId,
    key: Key,
    conversions: Vec<Conversion>,
    pub code: Arc<Code>,
}

/// The function compiled for one row of argument types.
pub struct Code {
    device: DeviceId,
    pub types: Vec<ArgType>,
    pub result: ArgType,
    /// The result type that the signature declares, where it is another scalar.
    pub declared: Option<Scalar>,
    pub result_slots: usize,
    pub module: Arc<Module>,
    pub executable: Arc<dyn Executable>,
    /// Of each parameter: may the code write to an array in it? Asked for arrays that others may look at.
    writes: OnceLock<Vec<bool>>,
}

impl Core {
    pub fn new(function: &Bound<'_, PyFunction>, options: Options, how: CompileOptions, signatures: &Bound<'_, PyTuple>) -> PyResult<Core> {
        let core = Core {
            captured: Captured::new(function)?,
            options,
            how,
            signatures: signatures.iter().map(|s| signature::from_spec(&s)).collect::<PyResult<_>>()?,
            adjoint: false,
            precision: Precision::default(),
            table: Mutex::default(),
        };
        if !core.signatures.is_empty() {
            core.captured.refuse_variadic(function.py(), "a function with a signature")?;
        }
        if !matches!(options.role, Role::Device | Role::Ufunc) {
            let device = core.usual_device(function.py())?;
            for signature in &core.signatures {
                core.specialise(function.py(), &device, &signature.args)?;
            }
        }
        Ok(core)
    }

    /// Its adjoint, compiled as it is.
    pub fn adjoint(&self, py: Python<'_>) -> Core {
        Core {
            captured: self.captured.again(py),
            options: self.options,
            how: self.how,
            signatures: Vec::new(),
            adjoint: true,
            precision: Precision::default(),
            table: Mutex::default(),
        }
    }

    /// Binds the arguments of a call, in the order of the parameters.
    pub fn bind(&self, numpy: &Numpy, args: &Bound<'_, PyTuple>, kwargs: Option<&Bound<'_, PyDict>>) -> PyResult<Args> {
        if self.adjoint {
            return adjoint::bind(numpy, args);
        }
        let mut bound = Args::default();
        let params = &self.captured.params;
        if kwargs.is_none() && args.len() == params.len() && args.len() == self.captured.positional && !self.captured.variadic {
            for (i, name) in params.iter().enumerate() {
                crate::bind::bind(numpy, &args.get_item(i)?, &|| name.clone(), &mut bound)?;
            }
        } else {
            for ((object, is_default), name) in self.captured.arrange(args, kwargs)?.iter().zip(params) {
                match *is_default && self.signatures.is_empty() {
                    true => bound.push_default(numpy, object, &|| name.clone())?,
                    false => crate::bind::bind(numpy, object, &|| name.clone(), &mut bound)?,
                }
            }
        }
        Ok(bound)
    }

    /// Where it runs if nothing in the call says otherwise: kernels on the current device, all else on the CPU.
    pub fn usual_device(&self, py: Python<'_>) -> PyResult<Arc<dyn Device>> {
        match self.options.role {
            Role::Kernel => devices::current(py),
            Role::Host | Role::Device | Role::Ufunc => Ok(devices::cpu().clone()),
        }
    }

    /// The specialisation for a device and bound arguments, which are converted to its types.
    pub fn resolve(&self, py: Python<'_>, device: &Arc<dyn Device>, args: &mut Args) -> PyResult<Arc<Spec>> {
        let id = device.id();
        let found = {
            let table = lock(&self.table);
            match &table.last {
                Some(last) if last.key == args.key && last.device == id => Some(last.clone()),
                _ => table.by_key.get(&(id, args.key.clone())).cloned(),
            }
        };
        let spec = match found {
            Some(spec) => spec,
            None => self.specialise_for(py, device, args)?,
        };
        for conversion in spec.conversions.iter().rev() {
            convert(conversion, args)?;
        }
        Ok(spec)
    }

    /// Compiles for bound arguments. Where that fails and parameters have their defaults, these become constants, as in calls from compiled
    /// functions. What was compiled with them is found again by the same arguments, and decides nothing for others.
    fn specialise_for(&self, py: Python<'_>, device: &Arc<dyn Device>, args: &mut Args) -> PyResult<Arc<Spec>> {
        let Some(key) = args.key_of_constants() else {
            return self.specialise(py, device, &key::decode(&args.key));
        };
        let known = lock(&self.table).by_key.get(&(device.id(), key.clone())).cloned();
        let spec = match known {
            Some(spec) => spec,
            None => match self.specialise(py, device, &key::decode(&args.key)) {
                Ok(spec) => return Ok(spec),
                Err(first) => self.specialise(py, device, &key::decode(&key)).map_err(|_| first)?,
            },
        };
        args.make_constants(key);
        Ok(spec)
    }

    /// Compiles for arguments of the types `given`, or finds what was compiled.
    pub fn specialise(&self, py: Python<'_>, device: &Arc<dyn Device>, given: &[ArgType]) -> PyResult<Arc<Spec>> {
        let mut key = Key::new();
        given.iter().for_each(|ty| key::encode(ty, &mut key));
        let place = (device.id(), key);
        let known = lock(&self.table).by_key.get(&place).cloned();
        let spec = match known {
            Some(spec) => spec,
            None => Arc::new(self.build(py, device, place.1.clone(), given)?),
        };
        let mut table = lock(&self.table);
        table.by_key.insert(place, spec.clone());
        table.last = Some(spec.clone());
        Ok(spec)
    }

    fn build(&self, py: Python<'_>, device: &Arc<dyn Device>, key: Key, given: &[ArgType]) -> PyResult<Spec> {
        let signature = self.choose(py, given)?;
        let types = signature.map_or_else(|| given.to_vec(), |s| s.adapted(given));
        let declared = signature.and_then(|s| match s.result {
            Some(ArgType::Strong(scalar)) => Some(scalar),
            _ => None,
        });
        let known = self
            .codes()
            .into_iter()
            .find(|code| code.device == device.id() && code.types == types && code.declared == declared);
        Ok(Spec {
            device: device.id(),
            key,
            conversions: match self.options_on(device).narrow() {
                false => signature::conversions(&types, given),
                true => signature::conversions(&types.iter().map(ArgType::narrowed).collect::<Vec<_>>(), given),
            },
            code: match known {
                Some(code) => code,
                None => {
                    let code = self.generate(py, device, types, declared)?;
                    if let Some(Some(declared)) = signature.map(|s| &s.result) {
                        self.refuse_other_result(py, declared, &code.result)?;
                    }
                    Arc::new(code)
                }
            },
        })
    }

    /// A result that the signature does not declare, and that cannot be converted to what it does.
    fn refuse_other_result(&self, py: Python<'_>, declared: &ArgType, result: &ArgType) -> PyResult<()> {
        if signature::gives(declared, result) {
            return Ok(());
        }
        let (declared, result) = (signature::show_one(declared), signature::show_one(result));
        let name = &self.captured.name;
        Err(errors::typing(
            py,
            format!("{name} returns {result} and its signature declares {declared}; declare what it returns, or leave the result out"),
        ))
    }

    fn generate(&self, py: Python<'_>, device: &Arc<dyn Device>, types: Vec<ArgType>, declared: Option<Scalar>) -> PyResult<Code> {
        let compiled = self.front(py, device, &types)?;
        let module = Arc::new(compiled.module);
        Ok(Code {
            device: device.id(),
            executable: self.compile(py, device, module.clone(), compiled.checked)?,
            result_slots: module.entry_function().result.slots(),
            types,
            result: compiled.result,
            declared,
            module,
            writes: OnceLock::new(),
        })
    }

    /// The explicit signature that fits best; `None` if the function has none and compiles for anything.
    fn choose(&self, py: Python<'_>, given: &[ArgType]) -> PyResult<Option<&Signature>> {
        if self.signatures.is_empty() {
            return Ok(None);
        }
        match signature::best(&self.signatures, given) {
            Some(signature) => Ok(Some(signature)),
            None => {
                let known: Vec<String> = self.signatures.iter().map(|s| format!("  {}", signature::show(&s.args))).collect();
                Err(errors::typing(
                    py,
                    format!(
                        "No matching definition: {} was declared for other argument types than {}; it takes\n{}",
                        self.captured.name,
                        signature::show(given),
                        known.join("\n")
                    ),
                ))
            }
        }
    }

    /// The function as others call it, with what its decorator asked for.
    pub fn source(&self, py: Python<'_>, frozen: &Rc<Frozen>) -> PyResult<FunctionSource> {
        let decorated = Decorated {
            options: self.options,
            signatures: self.signatures.clone(),
        };
        self.captured.front_in(py, frozen, Some(Rc::new(decorated)))
    }

    /// What it is compiled with for a device.
    fn options_on(&self, device: &Arc<dyn Device>) -> Options {
        Options {
            float64: device.limits().float64,
            ..self.options
        }
    }

    /// The typed module for these argument types, as the device computes.
    pub fn front(&self, py: Python<'_>, device: &Arc<dyn Device>, types: &[ArgType]) -> PyResult<Compiled> {
        match self.adjoint {
            true => adjoint::compiled(self, py, device, types),
            false => self.front_of_primal(py, device, types),
        }
    }

    pub fn front_of_primal(&self, py: Python<'_>, device: &Arc<dyn Device>, types: &[ArgType]) -> PyResult<Compiled> {
        let source = self.source(py, &Rc::default())?;
        let options = self.options_on(device);
        let mut compiled = weft_front::compile(&source, types, options).map_err(|e| errors::diagnostic(py, &e))?;
        if !options.float64 {
            self.precision.warn(py, &source, types, self.options, device, &compiled)?;
        }
        if self.options.dialect == Dialect::Numba {
            compiled.result = compiled.result.weakened();
        }
        Ok(compiled)
    }

    /// Machine code of a module, made with the GIL released; that runs checked where a function in it asks for it.
    pub fn compile(&self, py: Python<'_>, device: &Arc<dyn Device>, module: Arc<Module>, checked: bool) -> PyResult<Arc<dyn Executable>> {
        let options = CompileOptions { checked, ..self.how };
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
        specs.sort_by(|a, b| (a.device, &a.key).cmp(&(b.device, &b.key)));
        let mut codes: Vec<Arc<Code>> = Vec::new();
        for spec in specs {
            if !codes.iter().any(|code| Arc::ptr_eq(code, &spec.code)) {
                codes.push(spec.code.clone());
            }
        }
        codes
    }

    /// `{signature: text}` of every specialisation, as it is on the current device where it was compiled for several.
    pub fn inspect<'py>(&self, py: Python<'py>, what: Inspect) -> PyResult<Bound<'py, PyDict>> {
        let texts = PyDict::new(py);
        let usual = self.usual_device(py)?.id();
        let (elsewhere, here): (Vec<_>, Vec<_>) = self.codes().into_iter().partition(|code| code.device != usual);
        for code in elsewhere.into_iter().chain(here) {
            let types = code.types.iter().map(|ty| signature::write(py, ty)).collect::<PyResult<Vec<_>>>()?;
            let text = code.inspect(py, what)?;
            texts.set_item(PyTuple::new(py, types)?, text)?;
        }
        Ok(texts)
    }

    /// The code for argument types of a row of specs, on the device kernels run on by now.
    pub fn code_of(&self, py: Python<'_>, row: &Bound<'_, PyTuple>) -> PyResult<Arc<Code>> {
        let types = row.iter().map(|spec| signature::read(&spec)).collect::<PyResult<Vec<_>>>()?;
        let device = self.usual_device(py)?;
        Ok(self.specialise(py, &device, &types)?.code.clone())
    }

    /// The argument types of every specialisation, as specs.
    pub fn known<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyTuple>>> {
        let mut rows: Vec<Vec<ArgType>> = Vec::new();
        for code in self.codes() {
            if !rows.contains(&code.types) {
                rows.push(code.types.clone());
            }
        }
        let rows = rows.iter().map(|row| {
            let types = row.iter().map(|ty| signature::write(py, ty)).collect::<PyResult<Vec<_>>>()?;
            PyTuple::new(py, types)
        });
        rows.collect()
    }
}

impl Code {
    /// May the code write to an array whose view has this slot of the arguments?
    pub fn writes(&self, slot: usize) -> bool {
        let entry = self.module.entry_function();
        let mut end = 0;
        let at = entry.params.iter().position(|param| {
            end += entry.ty(*param).slots();
            slot < end
        });
        at.and_then(|at| self.written_parameters().get(at).copied()).unwrap_or(true)
    }

    /// May the code write to an array whose slot is none of these?
    pub fn writes_to_others(&self, slots: &[usize]) -> bool {
        let entry = self.module.entry_function();
        let mut at = 0;
        entry.params.iter().zip(self.written_parameters()).any(|(param, written)| {
            let ty = entry.ty(*param);
            let is_other = *written && ty.view().is_some() && !slots.contains(&at);
            at += ty.slots();
            is_other
        })
    }

    /// Whether the code may write to the elements of each of its parameters.
    pub fn written_parameters(&self) -> &[bool] {
        self.writes.get_or_init(|| calls::writes(&self.module))
    }

    /// Runs with the GIL released; what the code printed goes to `sys.stdout`.
    pub fn run(&self, py: Python<'_>, launch: Launch, args: &[u64], results: &mut [u64], options: CallOptions<'_>) -> PyResult<Outcome> {
        run(py, &self.executable, &self.module, launch, args, results, options)
    }

    /// What a kernel takes of its device, by name; 0 where the device has no such thing.
    pub fn resources<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let found = py.detach(|| self.executable.resources());
        let found = found.map_err(|e| errors::run(py, e, &self.module))?;
        let dict = PyDict::new(py);
        dict.set_item("registers", found.registers)?;
        dict.set_item("shared_bytes", found.shared_bytes)?;
        dict.set_item("local_bytes", found.local_bytes)?;
        dict.set_item("constant_bytes", found.constant_bytes)?;
        dict.set_item("threads", found.threads)?;
        Ok(dict)
    }

    /// The most blocks that run at the same time.
    pub fn resident_blocks(&self, py: Python<'_>, threads: u32, shared_bytes: u32) -> PyResult<u64> {
        let found = py.detach(|| self.executable.resident_blocks(threads, shared_bytes));
        found.map_err(|e| errors::run(py, e, &self.module))
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
    options: CallOptions<'_>,
) -> PyResult<Outcome> {
    let options = CallOptions {
        hooks: errors::hooks(py),
        ..options
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

pub fn print(py: Python<'_>, output: &str) -> PyResult<()> {
    if output.is_empty() {
        return Ok(());
    }
    let stdout = py.import("sys")?.getattr("stdout")?;
    // A program without a console has none; Python's own print then says nothing.
    if !stdout.is_none() {
        stdout.call_method1("write", (output,))?;
    }
    Ok(())
}

/// Replaces a scalar's slots; conversions are applied from the last to the first, so that earlier slots stay where they are.
/// An integer that the declared type does not have is refused.
fn convert(conversion: &Conversion, args: &mut Args) -> PyResult<()> {
    let Conversion { slot, from, to } = *conversion;
    let old = 1 + usize::from(from.is_complex());
    let new = 1 + usize::from(to.is_complex());
    let mut slots = [args.slots[slot], 0];
    if old == 2 {
        slots[1] = args.slots[slot + 1];
    }
    let number = Number::from_slots(from, slots);
    if to.is_int() && !number.fits(to) {
        return Err(PyOverflowError::new_err(format!(
            "{} does not fit {}, which the signature declares",
            number.show(),
            to.numpy_name()
        )));
    }
    let converted = number.to_slots(to);
    args.moved(slot, old, new);
    args.slots.drain(slot..slot + old);
    args.slots.insert_many(slot, converted[..new].iter().copied());
    Ok(())
}
