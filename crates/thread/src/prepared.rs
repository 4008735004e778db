//! Modules made ready for a GPU's emitter.

use std::sync::Arc;

use weft_ir::Module;
use weft_passes::written;
use weft_runtime::{CompileError, DeviceId, Prepared, Settings, Signature, ViewParam, int_params};

/// Has the device's passes `lower` a module whose entry it runs, and looks at the parameters.
pub fn prepared<F>(
    module: Arc<Module>,
    device: DeviceId,
    settings: Settings<F>,
    lower: impl FnOnce(&Module) -> Result<Module, CompileError>,
) -> Result<Prepared<F>, CompileError> {
    let signature = Signature::of(module.entry_function(), device)?;
    let lowered = lower(&module)?;
    Ok(Prepared {
        views: view_params(&lowered),
        ints: int_params(lowered.entry_function()),
        module,
        lowered,
        settings,
        signature,
    })
}

/// The views among an entry's parameters.
pub fn view_params(module: &Module) -> Vec<ViewParam> {
    let entry = module.entry_function();
    weft_runtime::view_params(entry, &written::parameters(entry))
}
