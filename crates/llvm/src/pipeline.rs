//! Which LLVM passes run, by what the code is.

/// What kind of code a module holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Pipeline {
    /// Vectors already: cleaned up, nothing unrolled or vectorised again.
    Gang,
    /// Scalar loops, for LLVM's own vectoriser.
    Scalar,
}

impl Pipeline {
    pub(crate) const fn passes(self) -> &'static std::ffi::CStr {
        match self {
            Pipeline::Gang => c"function(sroa<modify-cfg>,early-cse<memssa>,instcombine<no-verify-fixpoint>,simplifycfg,loop-mssa(loop-rotate,licm),gvn,instcombine<no-verify-fixpoint>,simplifycfg)",
            Pipeline::Scalar => c"default<O3>",
        }
    }

    pub(crate) const fn vectorize(self) -> bool {
        matches!(self, Pipeline::Scalar)
    }
}
