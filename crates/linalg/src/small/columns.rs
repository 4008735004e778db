//! Columns times numbers, columns times a vector, and a vector added to columns, some columns at a time.

use super::vectors::{Float, Vector};

/// Columns of as many rows as they are asked for, so many elements apart.
#[derive(Clone, Copy, Debug)]
pub struct Columns {
    pub data: *const f64,
    pub step: usize,
    pub count: usize,
}

/// The same, to be written.
#[derive(Clone, Copy, Debug)]
pub struct ColumnsMut {
    pub data: *mut f64,
    pub step: usize,
    pub count: usize,
}

/// A rotation of two columns: by its cosine and its sine, which is there with both signs.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Rotation {
    pub cosine: f64,
    pub sine: f64,
    pub minus_sine: f64,
}

/// Columns done at a time: each vector of the other operand is loaded for so many.
pub const GROUP: usize = 4;

type Dots = unsafe fn(*const f64, usize, Columns, *mut f64);
type Add = unsafe fn(*mut f64, usize, Columns, *const f64);
type Rotate = unsafe fn(*mut f64, isize, usize, *const Rotation, usize);
type AddToAll = unsafe fn(*const f64, usize, ColumnsMut, *const f64);

/// What is done with columns, by the widest vectors that this machine has. All of the memory has to be there.
#[derive(Clone, Copy, Debug)]
pub struct Kernels {
    /// The sums of products of a vector of so many rows with each column.
    pub dots: Dots,
    /// Adds each column times its factor to a vector of so many rows.
    pub add: Add,
    /// Adds a vector of so many rows, times each column's factor, to each column.
    pub add_to_all: AddToAll,
    /// Rotates the first column, of so many rows, with the one so many elements on, that one with the next, and so on: `count` times.
    pub rotate: Rotate,
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

            pub const KERNELS: Kernels = Kernels {
                dots,
                add,
                add_to_all,
                rotate,
            };

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

            #[target_feature(enable = $features)]
            unsafe fn add_to_all(x: *const f64, rows: usize, columns: ColumnsMut, factors: *const f64) {
                // SAFETY: the caller's promise.
                unsafe { added_to_all::<<f64 as Float>::$vector>(x, rows, columns, factors) }
            }

            #[target_feature(enable = $features)]
            unsafe fn rotate(data: *mut f64, step: isize, rows: usize, rotations: *const Rotation, count: usize) {
                // SAFETY: the caller's promise.
                unsafe { all_rotated::<<f64 as Float>::$vector>(data, step, rows, rotations, count) }
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

/// Calls a kernel for so many columns, `GROUP` at a time and what is left one by one, with arguments that depend on the first of them.
macro_rules! by_groups {
    ($count:expr, $kernel:ident::<$v:ident>, |$at:ident| ($($argument:expr),+)) => {
        let mut $at = 0;
        while $at + GROUP <= $count {
            $kernel::<$v, GROUP>($($argument),+);
            $at += GROUP;
        }
        while $at < $count {
            $kernel::<$v, 1>($($argument),+);
            $at += 1;
        }
    };
}

#[inline(always)]
unsafe fn all_dots<V: Vector<T = f64>>(x: *const f64, rows: usize, columns: Columns, out: *mut f64) {
    let Columns { data, step, count } = columns;
    // SAFETY: the caller's promise, here and below.
    unsafe {
        by_groups!(count, group_dots::<V>, |at| (x, rows, data.add(at * step), step, out.add(at)));
    }
}

#[inline(always)]
unsafe fn all_added<V: Vector<T = f64>>(out: *mut f64, rows: usize, columns: Columns, factors: *const f64) {
    let Columns { data, step, count } = columns;
    // SAFETY: the caller's promise, here and below.
    unsafe {
        by_groups!(count, group_add::<V>, |at| (out, rows, data.add(at * step), step, factors.add(at)));
    }
}

#[inline(always)]
unsafe fn added_to_all<V: Vector<T = f64>>(x: *const f64, rows: usize, columns: ColumnsMut, factors: *const f64) {
    let ColumnsMut { data, step, count } = columns;
    // SAFETY: the caller's promise, here and below.
    unsafe {
        by_groups!(count, add_to_group::<V>, |at| (x, rows, data.add(at * step), step, factors.add(at)));
    }
}

#[inline(always)]
unsafe fn all_rotated<V: Vector<T = f64>>(data: *mut f64, step: isize, rows: usize, rotations: *const Rotation, count: usize) {
    let mut at = 0;
    // SAFETY: the caller's promise, here and below.
    unsafe {
        while at + GROUP * V::LANES <= rows {
            rotated::<V, GROUP>(data.add(at), step, V::LANES, rotations, count);
            at += GROUP * V::LANES;
        }
        while at < rows {
            let left = (rows - at).min(V::LANES);
            rotated::<V, 1>(data.add(at), step, left, rotations, count);
            at += left;
        }
    }
}

/// So many vectors of each column; the last one has so many lanes.
#[inline(always)]
unsafe fn rotated<V: Vector<T = f64>, const N: usize>(data: *mut f64, step: isize, last: usize, rotations: *const Rotation, count: usize) {
    // SAFETY: the caller's promise.
    unsafe {
        let lanes = |v: usize| if v + 1 == N { last } else { V::LANES };
        let mut place = data;
        let mut kept = [V::zero(); N];
        for (v, x) in kept.iter_mut().enumerate() {
            *x = load::<V>(place.add(v * V::LANES), lanes(v));
        }
        for at in 0..count {
            let rotation = rotations.add(at);
            let (cosine, sine) = (V::splat(&(*rotation).cosine), V::splat(&(*rotation).sine));
            let minus_sine = V::splat(&(*rotation).minus_sine);
            let next = place.offset(step);
            for (v, x) in kept.iter_mut().enumerate() {
                let y = load::<V>(next.add(v * V::LANES), lanes(v));
                let first = V::zero().plus_product(cosine, *x).plus_product(sine, y);
                store(first, place.add(v * V::LANES), lanes(v));
                *x = V::zero().plus_product(cosine, y).plus_product(minus_sine, *x);
            }
            place = next;
        }
        for (v, x) in kept.into_iter().enumerate() {
            store(x, place.add(v * V::LANES), lanes(v));
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
            store(sum, out.add(at), left);
            at += left;
        }
    }
}

#[inline(always)]
unsafe fn add_to_group<V: Vector<T = f64>, const N: usize>(x: *const f64, rows: usize, data: *mut f64, step: usize, factors: *const f64) {
    // SAFETY: the caller's promise.
    unsafe {
        let mut spread = [V::zero(); N];
        for (col, factor) in spread.iter_mut().enumerate() {
            *factor = V::splat(factors.add(col));
        }
        let mut at = 0;
        while at < rows {
            let left = (rows - at).min(V::LANES);
            let part = load::<V>(x.add(at), left);
            for (col, factor) in spread.iter().enumerate() {
                let place = data.add(col * step + at);
                store(load::<V>(place, left).plus_product(*factor, part), place, left);
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

#[inline(always)]
unsafe fn store<V: Vector<T = f64>>(vector: V, at: *mut f64, count: usize) {
    // SAFETY: the caller's promise.
    unsafe {
        if count == V::LANES {
            vector.store(at);
        } else {
            vector.store_first(at, count);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The kernels for every kind of vectors that this machine has.
    fn all_kernels() -> Vec<Kernels> {
        let mut found = Vec::new();
        #[cfg(target_arch = "x86_64")]
        {
            if std::arch::is_x86_feature_detected!("avx512f") && std::arch::is_x86_feature_detected!("avx512vl") {
                found.push(wide::KERNELS);
            }
            if std::arch::is_x86_feature_detected!("avx2") && std::arch::is_x86_feature_detected!("fma") {
                found.push(narrow::KERNELS);
            }
        }
        #[cfg(target_arch = "aarch64")]
        found.push(neon::KERNELS);
        found
    }

    fn numbers(count: usize, seed: usize) -> Vec<f64> {
        (0..count).map(|at| ((at * 37 + seed * 11) % 29) as f64 - 14.0).collect()
    }

    /// Whole numbers, so that no order of sums changes a bit; rows and columns around what is done at a time.
    #[test]
    fn every_kernel_is_what_its_loop_is() {
        for kernels in all_kernels() {
            for (rows, count) in (0..36).flat_map(|rows| [0, 1, 3, 4, 5, 9].map(|count| (rows, count))) {
                let step = rows + 3;
                let (data, x) = (numbers(step * (count + 1), 1), numbers(rows, 2));
                let factors = numbers(count, 3);
                let columns = Columns {
                    data: data.as_ptr(),
                    step,
                    count,
                };
                let at = |col: usize, row: usize| data[col * step + row];

                let mut found = vec![0.5; count];
                // SAFETY: the memory is there, here and below.
                unsafe { (kernels.dots)(x.as_ptr(), rows, columns, found.as_mut_ptr()) };
                let wanted: Vec<f64> = (0..count).map(|col| (0..rows).map(|row| at(col, row) * x[row]).sum()).collect();
                assert_eq!(found, wanted, "dots of {rows} by {count}");

                let mut found = x.clone();
                // SAFETY: as above.
                unsafe { (kernels.add)(found.as_mut_ptr(), rows, columns, factors.as_ptr()) };
                let sum = |row: usize| (0..count).map(|col| at(col, row) * factors[col]).sum::<f64>();
                let wanted: Vec<f64> = (0..rows).map(|row| x[row] + sum(row)).collect();
                assert_eq!(found, wanted, "add of {rows} by {count}");

                let mut found = data.clone();
                let columns = ColumnsMut {
                    data: found.as_mut_ptr(),
                    step,
                    count,
                };
                // SAFETY: as above.
                unsafe { (kernels.add_to_all)(x.as_ptr(), rows, columns, factors.as_ptr()) };
                let mut wanted = data.clone();
                for (col, row) in (0..count).flat_map(|col| (0..rows).map(move |row| (col, row))) {
                    wanted[col * step + row] += factors[col] * x[row];
                }
                assert_eq!(found, wanted, "add_to_all of {rows} by {count}");

                for is_backwards in [false, true] {
                    rotations(kernels, &data, step, rows, count, is_backwards);
                }
            }
        }
    }

    fn rotations(kernels: Kernels, data: &[f64], step: usize, rows: usize, count: usize, is_backwards: bool) {
        let made: Vec<Rotation> = (0..count)
            .map(|at| Rotation {
                cosine: at as f64 - 2.0,
                sine: 3.0,
                minus_sine: -3.0,
            })
            .collect();
        let (mut found, mut wanted) = (data.to_vec(), data.to_vec());
        let place = |at: usize| step * if is_backwards { count - at } else { at };
        let towards = if is_backwards { -(step as isize) } else { step as isize };
        // SAFETY: there is one column more than rotations.
        unsafe { (kernels.rotate)(found.as_mut_ptr().add(place(0)), towards, rows, made.as_ptr(), count) };
        for (at, rotation) in made.iter().enumerate() {
            for row in 0..rows {
                let (x, y) = (wanted[place(at) + row], wanted[place(at + 1) + row]);
                wanted[place(at) + row] = rotation.cosine * x + rotation.sine * y;
                wanted[place(at + 1) + row] = rotation.cosine * y + rotation.minus_sine * x;
            }
        }
        assert_eq!(found, wanted, "rotations of {rows} by {count}");
    }
}
