//! Modules on a GPU: folds in the forms that a device has for them, everything else as it is.

use std::sync::Arc;

use weft_ir::Module;
use weft_passes::PassError;
use weft_passes::reduce::{self, COLUMN_THREADS, COLUMNS, FEWEST_THREADS, Fold, THREADS};
use weft_runtime::fold::{self, Columns, Form, Gpu, Inner, Kernel, Kernels, Stages, Workplace};
use weft_runtime::reduce::ReducingLoop;
use weft_runtime::{CompileError, Executable, Limits, Settings, Signature};

use super::error::refused;

/// Compiles for a device. `form`: the one that folds are to have, for tests; otherwise the extents of a launch choose. What runs on the
/// interpreter runs as it is written.
pub fn compiled<G: Gpu>(
    gpu: Arc<G>,
    module: Arc<Module>,
    settings: Settings<G::Facts>,
    form: Option<Form>,
) -> Result<Arc<dyn Executable>, CompileError> {
    let workplace = Workplace { gpu, settings };
    let Some(single) = reduce::single(&module).map_err(refused)? else {
        return folded(workplace, module, form, false);
    };
    let device = workplace.gpu.device();
    let fold = folded(workplace, Arc::new(single), form, true)?;
    Ok(Arc::new(ReducingLoop::new(device, module.entry_function(), fold)?))
}

fn folded<G: Gpu>(
    workplace: Workplace<G>,
    module: Arc<Module>,
    form: Option<Form>,
    may_stop: bool,
) -> Result<Arc<dyn Executable>, CompileError> {
    let points = workplace.compiled(module.clone())?;
    if workplace.settings.options.checked {
        return Ok(points);
    }
    let entry = module.entry_function();
    let Some(found) = Fold::find(&module, may_stop) else {
        return match form {
            None | Some(Form::Threads) => Ok(points),
            Some(form) => Err(CompileError::Internal(format!("{} has no form of {form:?}", entry.name))),
        };
    };
    let signature = Signature::of(entry, workplace.gpu.device().id())?;
    let device = workplace.gpu.device();
    let kernels = kernels(found, points, device.limits()).map_err(refused)?;
    Ok(Arc::new(fold::Fold::new(workplace, entry, signature, kernels, form)))
}

fn kernels(found: Fold, points: Arc<dyn Executable>, limits: &Limits) -> Result<Kernels, PassError> {
    let mut stages = Vec::new();
    for phase in 0..found.phases() {
        let Some((parts, whole)) = found.stages(phase)? else { break };
        stages.push(Stages {
            parts: Kernel::new(parts),
            whole: whole.map(Kernel::new),
            scalars: found.scalars(phase)?,
        });
    }
    // Each thread has its part of each sum in shared memory, at the most.
    let mut sums = 0;
    for phase in 0..found.phases() {
        sums += found.scalars(phase)?.iter().map(|scalar| scalar.size() as u64).sum::<u64>();
    }
    let fits = limits.threads_per_block >= COLUMN_THREADS && sums * u64::from(COLUMN_THREADS) <= u64::from(limits.shared_bytes);
    Ok(Kernels {
        points,
        block: Kernel::new(found.block()?),
        columns: found.columns()?.filter(|_| fits).map(|module| Columns {
            kernel: Kernel::new(module),
            points: COLUMNS,
            threads: COLUMN_THREADS,
        }),
        stages,
        is_shared_well: found.is_shared_well(),
        is_in_columns_well: found.is_in_columns_well(),
        threads: [FEWEST_THREADS, THREADS],
        inner: Box::new(move |args| inner(&found, args)),
    })
}

fn inner(found: &Fold, args: &[u64]) -> Option<Vec<Inner>> {
    let inner = |phase| {
        let extents = found.extents(phase, args)?;
        Some(Inner {
            points: extents.iter().fold(1, |points: u64, &n| points.saturating_mul(n)),
            stage: found.stage(phase, &extents),
        })
    };
    (0..found.phases()).map(inner).collect()
}
