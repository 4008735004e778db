//! Copies of a loop for the vectors that the processor has.

/// A loop; to be inlined always, so that it is compiled for each kind of vectors.
pub trait Body<Args> {
    /// # Safety
    /// As its arguments say.
    unsafe fn run(args: Args);
}

/// The copy that this processor runs.
pub fn widest<B: Body<Args>, Args>() -> unsafe fn(Args) {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") && std::arch::is_x86_feature_detected!("bmi2") {
        return avx2::<B, Args>;
    }
    plain::<B, Args>
}

unsafe fn plain<B: Body<Args>, Args>(args: Args) {
    // SAFETY: the caller's promise is handed on.
    unsafe { B::run(args) }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
unsafe fn avx2<B: Body<Args>, Args>(args: Args) {
    // SAFETY: the caller's promise is handed on.
    unsafe { B::run(args) }
}
