//! The QR decomposition by Householder's reflections, in blocks: faer's reflections and products, in steps of our own, since faer's take columns
//! that are small beside the matrix for zeros.
//!
//! R. Schreiber and C. Van Loan, A storage-efficient WY representation for products of Householder transformations (1989); halves of blocks
//! as E. Elmroth and F. Gustavson, Applying recursion to serial and parallel QR factorization (2000).

use faer::dyn_stack::MemStack;
use faer::linalg::householder::{
    apply_block_householder_sequence_transpose_on_the_left_in_place_scratch as applying_scratch,
    apply_block_householder_transpose_on_the_left_in_place_with_conj as apply_turned, make_householder_in_place,
    upgrade_householder_factor,
};
use faer::linalg::matmul::matmul;
use faer::linalg::qr::no_pivoting::factor::recommended_block_size;
use faer::prelude::ReborrowMut;
use faer::{Accum, Conj, MatMut, Par};

use crate::element::Element;
use crate::failure::Failure;
use crate::scratch::{Scratch, with_stack, zeros};

/// Columns whose reflections are applied one by one.
const FEW: usize = 8;

/// Turns a matrix into a triangle and, below the diagonal, the vectors of reflections; gives what these are scaled by, in blocks, as faer does.
pub fn qr_in_place<T: Element<Re = f64>>(matrix: &mut Scratch<T>, par: Par) -> Result<Scratch<T>, Failure> {
    let (m, n) = matrix.as_ref().shape();
    let count = m.min(n);
    let block = recommended_block_size::<T>(m, n);
    let mut scales = Scratch::zeros(block, count)?;
    let mut work = Work {
        scales: zeros(count)?,
        products: Scratch::zeros(1, FEW)?,
        par,
    };
    with_stack(applying_scratch::<T>(m, block, n), |stack| {
        for start in (0..count).step_by(block) {
            let width = block.min(count - start);
            let rest = matrix.as_mut().submatrix_mut(start, start, m - start, n - start);
            let (mut panel, behind) = rest.split_at_col_mut(width);
            let mut factor = scales.as_mut().submatrix_mut(0, start, width, width);
            work.reflect(panel.rb_mut(), factor.rb_mut(), start, stack);
            if behind.ncols() > 0 {
                apply_turned(panel.as_ref(), factor.as_ref(), Conj::Yes, behind, par, stack);
            }
        }
    })?;
    Ok(scales)
}

struct Work<T> {
    /// What each reflection is scaled by.
    scales: Vec<T>,
    products: Scratch<T>,
    par: Par,
}

impl<T: Element<Re = f64>> Work<T> {
    /// The reflections of some columns, the first of which is `start`, and the factor of their block.
    fn reflect(&mut self, mut panel: MatMut<'_, T>, mut factor: MatMut<'_, T>, start: usize, stack: &mut MemStack) {
        let width = panel.ncols();
        if width <= FEW {
            for at in 0..width {
                let rows = panel.nrows() - at;
                let rest = panel.rb_mut().submatrix_mut(at, at, rows, width - at);
                self.scales[start + at] = self.reflect_one(rest);
            }
        } else {
            let half = width / 2;
            let (mut left, mut right) = panel.rb_mut().split_at_col_mut(half);
            let mut of_left = factor.rb_mut().submatrix_mut(0, 0, half, half);
            self.reflect(left.rb_mut(), of_left.rb_mut(), start, stack);
            apply_turned(left.as_ref(), of_left.as_ref(), Conj::Yes, right.rb_mut(), self.par, stack);
            let below = right.nrows() - half;
            let of_right = factor.rb_mut().submatrix_mut(half, half, width - half, width - half);
            self.reflect(right.submatrix_mut(half, 0, below, width - half), of_right, start + half, stack);
        }
        for at in 0..width {
            factor[(at, at)] = self.scales[start + at];
        }
        upgrade_householder_factor(factor, panel.as_ref(), width, 1, self.par);
    }

    /// The reflection of the first column, applied to the others.
    fn reflect_one(&mut self, columns: MatMut<'_, T>) -> T {
        let (first, rest) = columns.split_at_col_mut(1);
        let (mut head, tail) = first.split_at_row_mut(1);
        let mut tail = tail.col_mut(0);
        let info = make_householder_in_place(&mut head[(0, 0)], tail.rb_mut());
        if !info.tau.is_finite() {
            // There is nothing to reflect but numbers too small to be told from zeros.
            tail.fill(T::zero_impl());
            return T::of_real(f64::INFINITY);
        }
        let count = rest.ncols();
        if count > 0 {
            let (mut above, mut below) = rest.split_at_row_mut(1);
            let mut products = self.products.as_mut().subcols_mut(0, count);
            let vector = tail.as_ref().as_mat();
            products.copy_from(above.as_ref());
            matmul(
                products.rb_mut(),
                Accum::Add,
                vector.adjoint(),
                below.as_ref(),
                T::one_impl(),
                Par::Seq,
            );
            for col in 0..count {
                products[(0, col)] = products[(0, col)].over(T::of_real(info.tau));
                above[(0, col)] = above[(0, col)].minus(products[(0, col)]);
            }
            let minus_one = T::zero_impl().minus(T::one_impl());
            matmul(below.rb_mut(), Accum::Add, vector, products.as_ref(), minus_one, Par::Seq);
        }
        T::of_real(info.tau)
    }
}
