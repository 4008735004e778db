//! PyO3 bindings of Weft: the extension module `weft._weft`.
//!
//! The only crate that knows Python objects. `classify` says what names mean, `bind` turns arguments into argument blocks, `results` turns
//! slots back into objects; `dispatcher`, `kernel` and `ufunc` are the callable classes over their common `core`.

#![allow(
    missing_debug_implementations,
    reason = "Python shows its own objects; nothing else links this library"
)]

mod adjoint;
mod array;
mod bfloat16;
mod bind;
mod classify;
mod core;
mod devices;
mod dispatcher;
mod dlpack;
mod errors;
mod fft;
mod foreign;
mod frozen;
mod kernel;
mod key;
mod lazy;
mod linalg;
mod named;
mod numbered;
mod numpy;
mod objects;
mod operand;
mod precision;
mod profile;
mod ptx;
mod results;
mod signature;
mod slots;
mod stream;
mod ufunc;
mod xla;

use pyo3::prelude::*;

#[pymodule]
fn _weft(module: &Bound<'_, PyModule>) -> PyResult<()> {
    weft_forks::watch();
    weft_cpu::check_environment()
        .and_then(|()| weft_runtime::cache::check_environment())
        .map_err(pyo3::exceptions::PyValueError::new_err)?;
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<array::Memory>()?;
    module.add_class::<array::DeviceArray>()?;
    module.add_class::<devices::PyDevice>()?;
    module.add_class::<dispatcher::Dispatcher>()?;
    module.add_class::<kernel::Launcher>()?;
    module.add_class::<profile::ProfileSession>()?;
    module.add_class::<stream::PyEvent>()?;
    module.add_class::<stream::PyGraph>()?;
    module.add_class::<stream::PyStream>()?;
    module.add_class::<ufunc::Ufunc>()?;
    module.add_function(wrap_pyfunction!(dlpack::from_dlpack, module)?)?;
    module.add_function(wrap_pyfunction!(adjoint::fits_plainly, module)?)?;
    module.add_function(wrap_pyfunction!(dlpack::to_dlpack, module)?)?;
    module.add_function(wrap_pyfunction!(dlpack::view_of_dlpack, module)?)?;
    module.add_function(wrap_pyfunction!(devices::cuda_status, module)?)?;
    module.add_function(wrap_pyfunction!(devices::gpu_status, module)?)?;
    module.add_function(wrap_pyfunction!(devices::current_device, module)?)?;
    module.add_function(wrap_pyfunction!(devices::device, module)?)?;
    module.add_function(wrap_pyfunction!(devices::devices, module)?)?;
    module.add_function(wrap_pyfunction!(devices::set_device, module)?)?;
    module.add_function(wrap_pyfunction!(fft::_fft, module)?)?;
    module.add_function(wrap_pyfunction!(fft::_fft_here, module)?)?;
    module.add_function(wrap_pyfunction!(profile::cuda_profiler, module)?)?;
    module.add_function(wrap_pyfunction!(linalg::linalg, module)?)?;
    module.add_function(wrap_pyfunction!(linalg::_linalg_here, module)?)?;
    module.add_function(wrap_pyfunction!(linalg::_linalg_captured, module)?)?;
    module.add_function(wrap_pyfunction!(ptx::compile_ptx, module)?)?;
    module.add_function(wrap_pyfunction!(ptx::ptx_target, module)?)?;
    module.add_function(wrap_pyfunction!(stream::stream_argument, module)?)?;
    module.add_function(wrap_pyfunction!(devices::get_num_threads, module)?)?;
    module.add_function(wrap_pyfunction!(devices::set_num_threads, module)?)?;
    module.add_function(wrap_pyfunction!(devices::synchronize, module)?)?;
    module.add_function(wrap_pyfunction!(signature::typeof_, module)?)?;
    module.add_function(wrap_pyfunction!(xla::_xla_register, module)?)?;
    module.add_function(wrap_pyfunction!(xla::_xla_handler, module)?)?;
    lazy::add_to(module)?;
    Ok(())
}
