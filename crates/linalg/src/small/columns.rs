//! Columns times numbers and columns times a vector, some columns at a time.

use super::vectors::{Float, Vector};

/// Columns of as many rows as they are asked for, so many elements apart.
#[derive(Clone, Copy, Debug)]
pub struct Columns {
    pub data: *const f64,
    pub step: usize,
    pub count: usize,
}

/// Columns done at a time: each vector of the other operand is loaded for so many.
pub const GROUP: usize = 4;

type Dots = unsafe fn(*const f64, usize, Columns, *mut f64);
type Add = unsafe fn(*mut f64, usize, Columns, *const f64);

/// What is done with columns, by the widest vectors that this machine has. All of the memory has to be there.
#[derive(Clone, Copy, Debug)]
pub struct Kernels {
    /// The sums of products of a vector of so many rows with each column.
    pub dots: Dots,
    /// Adds each column times its factor to a vector of so many rows.
    pub add: Add,
}

impl Kernels {
    /// None if there are no vectors.
    pub fn of_machine() -> Option<Kernels> {
        #[cfg(target_arch = "x86_64")]
        {
            if std::arch::is_x86_feature_detected!("avx512f") && std::arch::is_x86_feature_detected!("avx512vl") {
                return Some(wide::KERNELS);
            }
            if std::arch::is_x86_feature_detected!("avx2") && std::arch::is_x86_feature_detected!("fma") {
                return Some(narrow::KERNELS);
            }
            None
        }
        #[cfg(target_arch = "aarch64")]
        {
            Some(neon::KERNELS)
        }
        #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
        None
    }
}

macro_rules! kernels {
    ($name:ident, $vector:ident, $features:literal) => {
        mod $name {
            use super::*;

            pub const KERNELS: Kernels = Kernels { dots, add };

            #[target_feature(enable = $features)]
            unsafe fn dots(x: *const f64, rows: usize, columns: Columns, out: *mut f64) {
                // SAFETY: the caller's promise.
                unsafe { all_dots::<<f64 as Float>::$vector>(x, rows, columns, out) }
            }

            #[target_feature(enable = $features)]
            unsafe fn add(out: *mut f64, rows: usize, columns: Columns, factors: *const f64) {
                // SAFETY: the caller's promise.
                unsafe { all_added::<<f64 as Float>::$vector>(out, rows, columns, factors) }
            }
        }
    };
}

#[cfg(target_arch = "x86_64")]
kernels!(wide, Wide, "avx512f,avx512vl");
#[cfg(target_arch = "x86_64")]
kernels!(narrow, Narrow, "avx2,fma");
#[cfg(target_arch = "aarch64")]
kernels!(neon, Neon, "neon");

#[inline(always)]
unsafe fn all_dots<V: Vector<T = f64>>(x: *const f64, rows: usize, columns: Columns, out: *mut f64) {
    let mut at = 0;
    // SAFETY: the caller's promise, here and below.
    unsafe {
        while at + GROUP <= columns.count {
            group_dots::<V, GROUP>(x, rows, columns.data.add(at * columns.step), columns.step, out.add(at));
            at += GROUP;
        }
        while at < columns.count {
            group_dots::<V, 1>(x, rows, columns.data.add(at * columns.step), columns.step, out.add(at));
            at += 1;
        }
    }
}

#[inline(always)]
unsafe fn all_added<V: Vector<T = f64>>(out: *mut f64, rows: usize, columns: Columns, factors: *const f64) {
    let mut at = 0;
    // SAFETY: the caller's promise, here and below.
    unsafe {
        while at + GROUP <= columns.count {
            group_add::<V, GROUP>(out, rows, columns.data.add(at * columns.step), columns.step, factors.add(at));
            at += GROUP;
        }
        while at < columns.count {
            group_add::<V, 1>(out, rows, columns.data.add(at * columns.step), columns.step, factors.add(at));
            at += 1;
        }
    }
}

#[inline(always)]
unsafe fn group_dots<V: Vector<T = f64>, const N: usize>(x: *const f64, rows: usize, data: *const f64, step: usize, out: *mut f64) {
    // SAFETY: the caller's promise.
    unsafe {
        // Two sums for each column: each addition waits for the one before.
        let mut sums = [[V::zero(); 2]; N];
        let mut at = 0;
        while at + 2 * V::LANES <= rows {
            let (one, two) = (V::load(x.add(at)), V::load(x.add(at + V::LANES)));
            for (col, sum) in sums.iter_mut().enumerate() {
                let from = data.add(col * step + at);
                sum[0] = sum[0].plus_product(one, V::load(from));
                sum[1] = sum[1].plus_product(two, V::load(from.add(V::LANES)));
            }
            at += 2 * V::LANES;
        }
        while at < rows {
            let left = (rows - at).min(V::LANES);
            let one = load::<V>(x.add(at), left);
            for (col, sum) in sums.iter_mut().enumerate() {
                sum[0] = sum[0].plus_product(one, load::<V>(data.add(col * step + at), left));
            }
            at += left;
        }
        for (col, sum) in sums.into_iter().enumerate() {
            let mut lanes = [0.0; 16];
            sum[0].store(lanes.as_mut_ptr());
            sum[1].store(lanes.as_mut_ptr().add(V::LANES));
            let half = V::LANES;
            let total: f64 = (0..half).map(|lane| lanes[lane] + lanes[half + lane]).sum();
            *out.add(col) = total;
        }
    }
}

#[inline(always)]
unsafe fn group_add<V: Vector<T = f64>, const N: usize>(out: *mut f64, rows: usize, data: *const f64, step: usize, factors: *const f64) {
    // SAFETY: the caller's promise.
    unsafe {
        let mut spread = [V::zero(); N];
        for (col, factor) in spread.iter_mut().enumerate() {
            *factor = V::splat(factors.add(col));
        }
        let mut at = 0;
        while at < rows {
            let left = (rows - at).min(V::LANES);
            let mut sum = load::<V>(out.add(at), left);
            for (col, factor) in spread.iter().enumerate() {
                sum = sum.plus_product(*factor, load::<V>(data.add(col * step + at), left));
            }
            if left == V::LANES {
                sum.store(out.add(at));
            } else {
                sum.store_first(out.add(at), left);
            }
            at += left;
        }
    }
}

#[inline(always)]
unsafe fn load<V: Vector<T = f64>>(at: *const f64, count: usize) -> V {
    // SAFETY: the caller's promise.
    unsafe { if count == V::LANES { V::load(at) } else { V::load_first(at, count) } }
}
