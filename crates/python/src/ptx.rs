//! PTX for programs of others: what `cuda.compile_ptx` gives.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyFunction;
use weft_cuda::target::Target;
use weft_front::{ArgType, Bounds, Dialect, Options, Role};
use weft_ir::{Builder, FuncId, FuncKind, Function, Module, Op, Scalar, StmtKind};

use crate::classify::Captured;
use crate::devices::PyDevice;
use crate::errors;
use crate::signature;

/// PTX of a kernel, or of a function as C calls it, and the spec of its result's type. No device is needed.
///
/// `signature` is `(result, (args...))` in specs, `cc` a compute capability, `name` what the PTX calls the entry.
#[pyfunction]
#[pyo3(signature = (function, signature, *, device, numba, cc, fastmath, contract, lines, bounds, name))]
#[expect(clippy::too_many_arguments, reason = "the options of compile_ptx, named at the only call")]
pub fn compile_ptx<'py>(
    function: &Bound<'py, PyFunction>,
    signature: &Bound<'py, PyAny>,
    device: bool,
    numba: bool,
    cc: (u32, u32),
    fastmath: bool,
    contract: bool,
    lines: bool,
    bounds: (u32, u32, u32),
    name: Option<&str>,
) -> PyResult<(String, Bound<'py, PyAny>)> {
    let py = function.py();
    let target = target(cc)?;
    let signature::Signature { args, result } = signature::from_spec(signature)?;
    let dialect = if numba { Dialect::Numba } else { Dialect::NumPy };
    let options = Options {
        role: if device { Role::Device } else { Role::Kernel },
        dialect,
        parallel: true,
        fastmath,
        contract,
        python_errors: false,
        checked: false,
        bounds: Bounds {
            max_threads: bounds.0,
            min_blocks: bounds.1,
            max_registers: bounds.2,
        },
        float64: true,
        for_numba: false,
    };
    let captured = Captured::new(function)?;
    captured.refuse_variadic(py, "a function compiled for others")?;
    let source = captured.front(py)?;
    let compiled = weft_front::compile(&source, &args, options).map_err(|e| errors::diagnostic(py, &e))?;
    let (module, result) = match result {
        Some(wanted) if device => (returning(py, compiled.module, &compiled.result, &wanted)?, wanted),
        _ => (compiled.module, compiled.result),
    };
    let made = py.detach(|| weft_cuda::export_ptx(&module, target, name, lines));
    let ptx = made.map_err(|e| errors::compile(py, &e, &module.sources))?;
    Ok((ptx.text, signature::write(py, &result)?))
}

/// The compute capability that code for a device is made for; `None` where the device takes no PTX.
#[pyfunction]
pub fn ptx_target(device: &PyDevice) -> Option<(u32, u32)> {
    let id = device.0.id();
    let gpu = weft_cuda::devices().iter().find(|gpu| weft_runtime::Device::id(&***gpu) == id)?;
    let sm = gpu.target().sm;
    Some((sm / 10, sm % 10))
}

fn target((major, minor): (u32, u32)) -> PyResult<Target> {
    let known = major.checked_mul(10).and_then(|tens| Target::of_sm(tens.checked_add(minor)?));
    known.filter(|_| minor < 10).ok_or_else(|| {
        let all: Vec<String> = Target::all().map(|t| format!("({}, {})", t.sm / 10, t.sm % 10)).collect();
        PyValueError::new_err(format!(
            "there is no PTX for compute capability ({major}, {minor}); there is for {}",
            all.join(", ")
        ))
    })
}

/// The module with an entry that gives the function's result as another scalar.
fn returning(py: Python<'_>, mut module: Module, have: &ArgType, want: &ArgType) -> PyResult<Module> {
    let (from, to) = match (have, want) {
        _ if have == want => return Ok(module),
        (ArgType::Strong(from) | ArgType::Weak(from), ArgType::Strong(to)) if !from.is_complex() || to.is_complex() => (*from, *to),
        _ => {
            let name = &module.entry_function().name;
            let shown = |ty: &ArgType| signature::show(std::slice::from_ref(ty));
            return Err(errors::typing(
                py,
                format!("{name} returns {}, which is no {}", shown(have), shown(want)),
            ));
        }
    };
    if from != to {
        let entry = converted(&module, to);
        module.functions.push(entry);
        module.entry = FuncId(module.functions.len() as u32 - 1);
    }
    Ok(module)
}

fn converted(module: &Module, to: Scalar) -> Function {
    let inner = module.entry_function();
    let mut b = Builder::new(Function::new(inner.name.clone(), FuncKind::Device));
    b.func.origin = inner.origin.clone();
    b.func.flags = inner.flags;
    b.func.result = to.into();
    let args = inner
        .params
        .iter()
        .map(|p| {
            let name = inner.values[p.index()].name.clone().unwrap_or_default();
            b.func.new_param(inner.ty(*p).clone(), name)
        })
        .collect();
    let result = b.emit(inner.result.clone(), Op::Call(module.entry, args));
    let result = b.emit(to, Op::Cast(result));
    b.push(StmtKind::Return(Some(result)));
    b.finish()
}
