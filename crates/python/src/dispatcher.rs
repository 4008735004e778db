//! `jit`: functions called from Python.

use pyo3::exceptions::PyTypeError;
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyFunction, PyTuple};
use smallvec::{SmallVec, smallvec};
use weft_front::{ArgType, Bounds, Dialect, Options, Role};
use weft_runtime::{CallOptions, CompileOptions, Inspect, Launch};

use crate::classify::Captured;
use crate::core::Core;
use crate::kernel::Launcher;
use crate::lazy::{calls, taping};
use crate::numpy::Numpy;
use crate::results::{self, Owners};
use crate::slots::Number;
use crate::{adjoint, devices};

/// A Python function compiled per argument types.
#[pyclass(frozen, weakref, subclass, module = "weft._weft")]
pub struct Dispatcher {
    pub core: Core,
}

#[pymethods]
impl Dispatcher {
    #[new]
    #[pyo3(signature = (function, signatures, *, role, numba, parallel, fastmath, contract, python_errors, checked, cache, lines = false, bounds = (0, 0, 0)))]
    #[expect(clippy::too_many_arguments, reason = "the decorators' options, named at the only call")]
    fn new(
        function: &Bound<'_, PyFunction>,
        signatures: &Bound<'_, PyTuple>,
        role: &str,
        numba: bool,
        parallel: bool,
        fastmath: bool,
        contract: bool,
        python_errors: bool,
        checked: bool,
        cache: bool,
        lines: bool,
        bounds: (u32, u32, u32),
    ) -> PyResult<Dispatcher> {
        let role = match role {
            "host" => Role::Host,
            "kernel" => Role::Kernel,
            "ufunc" => Role::Ufunc,
            _ => Role::Device,
        };
        let options = Options {
            role,
            dialect: if numba { Dialect::Numba } else { Dialect::NumPy },
            parallel,
            fastmath,
            contract,
            python_errors,
            checked,
            bounds: Bounds {
                max_threads: bounds.0,
                min_blocks: bounds.1,
                max_registers: bounds.2,
            },
            float64: true,
            for_numba: false,
        };
        let core = Core::new(function, options, CompileOptions { checked, cache, lines }, signatures)?;
        Ok(Dispatcher { core })
    }

    #[pyo3(signature = (*args, **kwargs))]
    fn __call__<'py>(
        slf: &Bound<'py, Self>,
        args: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        if taping::is_among(args, kwargs)? {
            return taping::called(slf.as_any(), args, kwargs);
        }
        let py = args.py();
        slf.get().called(py, args, kwargs)
    }

    /// Of each array of Weft's among the arguments, in order: may the function write to it?
    #[pyo3(signature = (*args))]
    fn _written(&self, args: &Bound<'_, PyTuple>) -> PyResult<Vec<bool>> {
        let py = args.py();
        let mut bound = self.core.bind(Numpy::get(py)?, args, None)?;
        let code = &self.core.resolve(py, devices::cpu(), &mut bound)?.code;
        taping::written(py, &self.core.captured.name, code, &bound)
    }

    /// A kernel with its grid: `kernel[blocks, threads]`.
    fn __getitem__(slf: Bound<'_, Self>, config: &Bound<'_, PyAny>) -> PyResult<Launcher> {
        if slf.get().core.options.role != Role::Kernel {
            let name = &slf.get().core.captured.name;
            return Err(PyTypeError::new_err(format!(
                "{name} is no kernel: only kernels are launched over a grid"
            )));
        }
        Launcher::new(slf.unbind(), config)
    }

    /// The undecorated function.
    #[getter]
    fn py_func(&self, py: Python<'_>) -> Py<PyFunction> {
        self.core.captured.function.clone_ref(py)
    }

    #[getter]
    fn __wrapped__(&self, py: Python<'_>) -> Py<PyFunction> {
        self.core.captured.function.clone_ref(py)
    }

    #[getter]
    fn __name__(&self) -> &str {
        &self.core.captured.name
    }

    /// What the class does not have, the function has: `__qualname__`, `__module__`, `__annotations__` and what users set on it.
    fn __getattr__<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
        self.core.captured.function.bind(py).getattr(name)
    }

    /// Argument types of every specialisation, as specs that `weft.types` makes objects of.
    fn _known<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyTuple>>> {
        self.core.known(py)
    }

    /// How many signatures it was given.
    fn _declared(&self) -> usize {
        self.core.signatures.len()
    }

    /// For arguments of these specs, whether each parameter's elements may be written to.
    fn _writes(&self, row: &Bound<'_, PyTuple>) -> PyResult<Vec<bool>> {
        Ok(self.core.code_of(row.py(), row)?.written_parameters().to_vec())
    }

    /// What a kernel for arguments of these specs takes of the current device.
    fn _resources<'py>(&self, row: &Bound<'py, PyTuple>) -> PyResult<Bound<'py, PyDict>> {
        self.core.code_of(row.py(), row)?.resources(row.py())
    }

    /// The most blocks of a cooperative launch there.
    fn _resident_blocks(&self, row: &Bound<'_, PyTuple>, threads: u32, shared_bytes: u32) -> PyResult<u64> {
        self.core.code_of(row.py(), row)?.resident_blocks(row.py(), threads, shared_bytes)
    }

    fn _is_kernel(&self) -> bool {
        self.core.options.role == Role::Kernel
    }

    /// What is called with the arguments, the arrays that their gradients are added to, and the cotangent of the result.
    fn _adjoint(&self, py: Python<'_>) -> Dispatcher {
        Dispatcher {
            core: self.core.adjoint(py),
        }
    }

    /// Compiles for arguments of these specs on the current device.
    fn _compile(&self, row: &Bound<'_, PyTuple>) -> PyResult<()> {
        self.core.code_of(row.py(), row).map(|_| ())
    }

    /// `{specs: text}` of every specialisation.
    fn _inspect<'py>(&self, py: Python<'py>, what: &str) -> PyResult<Bound<'py, PyDict>> {
        self.core.inspect(py, inspect_kind(what))
    }

    /// A closure that holds the compiled object that holds it is garbage when nothing else does.
    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        visit.call(&self.core.captured.function)?;
        self.core.captured.defaults.iter().flatten().try_for_each(|value| visit.call(value))
    }

    fn __repr__(&self) -> String {
        format!("<weft function {}>", self.core.captured.name)
    }
}

impl Dispatcher {
    pub fn captured(&self) -> &Captured {
        &self.core.captured
    }

    fn called<'py>(&self, py: Python<'py>, args: &Bound<'py, PyTuple>, kwargs: Option<&Bound<'py, PyDict>>) -> PyResult<Bound<'py, PyAny>> {
        let numpy = Numpy::get(py)?;
        let mut bound = self.core.bind(numpy, args, kwargs)?;
        bound.require_host(py)?;
        let code = &self.core.resolve(py, devices::cpu(), &mut bound)?.code;
        let lazy = calls::settle(py, &mut bound, code)?;
        if self.core.adjoint {
            adjoint::check_apart(&self.core.captured.name, &code.module, &bound.slots)?;
        }
        let mut slots: SmallVec<[u64; 8]> = smallvec![0; code.result_slots];
        let outcome = code.run(py, Launch::Call, &bound.slots, &mut slots, CallOptions::default())?;
        match (&code.result, code.declared) {
            (ArgType::None, _) => Ok(py.None().into_bound(py)),
            (ArgType::Strong(have) | ArgType::Weak(have), Some(want)) => {
                let number = Number::from_slots(*have, results::take_scalar(*have, &mut &slots[..]));
                match self.core.options.dialect {
                    Dialect::NumPy => numpy.new_scalar(py, want, number.to_slots(want)),
                    Dialect::Numba => results::weak(py, want, number.to_slots(want)),
                }
            }
            (result, _) => {
                let owners = Owners::new(outcome.owned, args, kwargs, lazy, &code.executable)?;
                results::to_python(numpy, result, &mut &slots[..], &owners)
            }
        }
    }
}

pub fn inspect_kind(what: &str) -> Inspect {
    match what {
        "llvm" => Inspect::Llvm,
        "asm" => Inspect::Asm,
        _ => Inspect::Ir,
    }
}
