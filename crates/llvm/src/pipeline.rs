//! Which LLVM passes run, by what the code is.

use std::ffi::CStr;

/// What a gang still needs: locals into registers, common subexpressions, invariants out of loops. Against `default<O3>` it makes code of
/// the same speed (Mandelbrot, AVX2: within 3 %) in a quarter of the time. `no-verify-fixpoint`, since the verification is fatal.
const GANG: &CStr = c"function(sroa<modify-cfg>,early-cse<memssa>,instcombine<no-verify-fixpoint>,simplifycfg,loop-mssa(loop-rotate,licm),gvn,instcombine<no-verify-fixpoint>,simplifycfg)";

/// What kind of code a module holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Pipeline {
    /// Vectors already: cleaned up, nothing unrolled or vectorised again.
    Gang,
    /// Scalar loops, for LLVM's own vectoriser.
    Scalar,
}

impl Pipeline {
    pub(crate) const fn passes(self) -> &'static CStr {
        match self {
            Pipeline::Gang => GANG,
            Pipeline::Scalar => c"default<O3>",
        }
    }

    pub(crate) const fn vectorize(self) -> bool {
        matches!(self, Pipeline::Scalar)
    }
}
