// Calls of the C interface, with pointers to locals.
#![allow(unsafe_code, clippy::undocumented_unsafe_blocks)]
//! The stand-ins for NVIDIA's libraries: column-major order, what each call leaves behind, and what is refused with which status.

mod support;

use std::ffi::c_void;
use std::ptr::null;

use support::*;
use weft_cuda_double::api::cublas::*;
use weft_cuda_double::api::cufft::*;
use weft_cuda_double::api::cusolver::*;

const R_32F: i32 = 0;
const R_64F: i32 = 1;
const COMPUTE_32F: i32 = 68;
const COMPUTE_64F: i32 = 70;

fn blas(_gpu: &Gpu) -> u64 {
    let mut handle = 0;
    assert_eq!(unsafe { cublasCreate_v2(&mut handle) }, 0);
    handle
}

fn solver(_gpu: &Gpu) -> (u64, u64) {
    let (mut handle, mut params) = (0, 0);
    assert_eq!(unsafe { cusolverDnCreate(&mut handle) }, 0);
    assert_eq!(unsafe { cusolverDnCreateParams(&mut params) }, 0);
    (handle, params)
}

fn pointer(number: &f64) -> *const c_void {
    (number as *const f64).cast()
}

#[test]
fn products_in_column_major_order_with_gaps_between_columns() {
    let gpu = Gpu::new();
    let handle = blas(&gpu);
    // [1 3; 2 4] in three rows a column, times [5 7; 6 8].
    let a = gpu.upload(&[1.0f64, 2.0, -1.0, 3.0, 4.0, -1.0]);
    let b = gpu.upload(&[5.0f64, 6.0, 7.0, 8.0]);
    let c = gpu.upload(&[f64::NAN; 6]);
    let gemm = |turn_a, turn_b, leading: [i64; 3], beta: &f64| unsafe {
        let (one, f) = (1.0f64, R_64F);
        let code = cublasGemmEx_64(
            handle,
            turn_a,
            turn_b,
            2,
            2,
            2,
            pointer(&one),
            a,
            f,
            leading[0],
            b,
            f,
            leading[1],
            pointer(beta),
            c,
            f,
            leading[2],
            COMPUTE_64F,
            -1,
        );
        (code, gpu.download::<f64>(c, 6))
    };
    let (code, found) = gemm(0, 0, [3, 2, 3], &0.0);
    assert_eq!((code, &found[..2], &found[3..5]), (0, &[23.0, 34.0][..], &[31.0, 46.0][..]));
    assert!(found[2].is_nan(), "what lies between the columns is nobody's");
    let (_, found) = gemm(1, 0, [3, 2, 3], &1.0);
    assert_eq!(
        (&found[..2], &found[3..5]),
        (&[23.0 + 17.0, 34.0 + 39.0][..], &[31.0 + 23.0, 46.0 + 53.0][..])
    );
    for leading in [[1, 2, 2], [2, 1, 2], [2, 2, 1]] {
        assert_eq!(gemm(0, 0, leading, &0.0).0, 7);
    }
    assert_eq!(gemm(4, 0, [2, 2, 2], &0.0).0, 7);
}

#[test]
fn what_is_no_product_is_refused() {
    let gpu = Gpu::new();
    let handle = blas(&gpu);
    let at = gpu.upload(&[0.0f32; 16]);
    let one = 1.0f64;
    let gemm = |handle, n: i64, formats: (i32, i32), compute, alpha: *const c_void, to| unsafe {
        cublasGemmEx_64(
            handle, 0, 0, 2, n, 2, alpha, at, formats.0, 2, at, formats.0, 2, alpha, to, formats.1, 2, compute, -1,
        )
    };
    let alpha = pointer(&one);
    assert_eq!(gemm(handle, -1, (R_32F, R_32F), COMPUTE_32F, alpha, at), 7);
    assert_eq!(gemm(handle, 2, (R_32F, R_64F), COMPUTE_32F, alpha, at), 15);
    assert_eq!(gemm(handle, 2, (R_32F, R_32F), COMPUTE_64F, alpha, at), 15);
    assert_eq!(gemm(handle, 2, (R_32F, R_32F), COMPUTE_32F, null(), at), 7);
    assert_eq!(gemm(handle, 2, (R_32F, R_32F), COMPUTE_32F, alpha, 0), 7);
    assert_eq!(gemm(77, 2, (R_32F, R_32F), COMPUTE_32F, alpha, at), 1);
    assert_eq!(gemm(handle, 0, (R_32F, R_32F), COMPUTE_32F, alpha, 0), 0);
}

#[test]
fn memory_is_checked_when_the_stream_gets_there() {
    let gpu = Gpu::new();
    let handle = blas(&gpu);
    let short = gpu.upload(&[1.0f64; 3]);
    let (one, zero) = (1.0f64, 0.0f64);
    let code = unsafe {
        let (a, b) = (pointer(&one), pointer(&zero));
        cublasGemmEx_64(
            handle,
            0,
            0,
            2,
            2,
            2,
            a,
            short,
            R_64F,
            2,
            short,
            R_64F,
            2,
            b,
            short,
            R_64F,
            2,
            COMPUTE_64F,
            -1,
        )
    };
    assert_eq!(code, 0);
    assert_eq!(unsafe { cuCtxSynchronize() }, 700);
}

#[test]
fn factorizations_leave_what_lapack_leaves() {
    let gpu = Gpu::new();
    let (handle, params) = solver(&gpu);
    let (info, pivots) = (gpu.upload(&[9i32]), gpu.upload(&[9i64; 2]));
    let (mut bytes, mut host_bytes) = (0, 0);
    // By columns: [4 2; 2 5], the upper triangle spoilt.
    let a = gpu.upload(&[4.0f64, 2.0, 77.0, 5.0]);
    unsafe {
        let asked = cusolverDnXpotrf_bufferSize(handle, params, 0, 2, R_64F, a, 2, R_64F, &mut bytes, &mut host_bytes);
        assert_eq!(asked, 0);
        let (room, mut host) = (gpu.alloc(bytes), vec![0u8; host_bytes]);
        let to = host.as_mut_ptr().cast();
        let potrf = |bytes, leading| cusolverDnXpotrf(handle, params, 0, 2, R_64F, a, leading, R_64F, room, bytes, to, host_bytes, info);
        assert_eq!((potrf(bytes - 1, 2), potrf(bytes, 1)), (3, 3));
        assert_eq!(potrf(bytes, 2), 0);
        assert_eq!(gpu.download::<f64>(a, 4), [2.0, 1.0, 77.0, 2.0]);
        assert_eq!(gpu.download::<i32>(info, 1), [0]);
        // [0 1; 2 0]: the rows are exchanged.
        let a = gpu.upload(&[0.0f64, 2.0, 1.0, 0.0]);
        let getrf = cusolverDnXgetrf(handle, params, 2, 2, R_64F, a, 2, pivots, R_64F, room, bytes, to, host_bytes, info);
        assert_eq!(getrf, 0);
        assert_eq!(gpu.download::<f64>(a, 4), [2.0, 0.0, 0.0, 1.0]);
        assert_eq!(gpu.download::<i64>(pivots, 2), [2, 2]);
        let b = gpu.upload(&[3.0f64, 4.0]);
        assert_eq!(cusolverDnXgetrs(handle, params, 0, 2, 1, R_64F, a, 2, pivots, R_64F, b, 2, info), 0);
        assert_eq!(gpu.download::<f64>(b, 2), [2.0, 3.0]);
        // [1 2; 2 4] has no second pivot; -1 is no square.
        let a = gpu.upload(&[1.0f64, 2.0, 2.0, 4.0]);
        cusolverDnXgetrf(handle, params, 2, 2, R_64F, a, 2, pivots, R_64F, room, bytes, to, host_bytes, info);
        assert_eq!(gpu.download::<i32>(info, 1), [2]);
        let a = gpu.upload(&[4.0f64, 0.0, 0.0, -1.0]);
        cusolverDnXpotrf(handle, params, 0, 2, R_64F, a, 2, R_64F, room, bytes, to, host_bytes, info);
        assert_eq!(gpu.download::<i32>(info, 1), [2]);
    }
}

#[test]
fn singular_values_are_refused_for_matrices_wider_than_tall() {
    let gpu = Gpu::new();
    let (handle, params) = solver(&gpu);
    let at = gpu.upload(&[0.0f64; 16]);
    let (mut bytes, mut host_bytes) = (0, 0);
    let job = b'S' as i8;
    let ask = |m: i64, n: i64, bytes: &mut usize, host: &mut usize| unsafe {
        let f = R_64F;
        cusolverDnXgesvd_bufferSize(handle, params, job, job, m, n, f, at, m, f, at, f, at, m, f, at, n, f, bytes, host)
    };
    assert_eq!(ask(3, 2, &mut bytes, &mut host_bytes), 0);
    assert_eq!(ask(2, 3, &mut bytes, &mut host_bytes), 3);
}

#[test]
fn transforms_in_the_advanced_layout_overwrite_what_becomes_real() {
    let gpu = Gpu::new();
    let (mut plan, mut bytes) = (-1, 0);
    let n = 2i64;
    unsafe {
        assert_eq!(cufftCreate(&mut plan), 0);
        assert_eq!(cufftSetAutoAllocation(plan, 0), 0);
        // Two transforms of two numbers each, the numbers of one two apart.
        let made = cufftMakePlanMany64(plan, 1, &n, &n, 2, 1, &n, 2, 1, 0x69, 2, &mut bytes);
        assert_eq!(made, 0);
        assert_eq!(cufftMakePlanMany64(plan, 1, &n, &n, 2, 1, &n, 2, 1, 0x69, 2, &mut bytes), 1);
        let from = gpu.upload(&[1.0f64, 0.0, 2.0, 0.0, 3.0, 0.0, 4.0, 0.0]);
        let to = gpu.upload(&[0.0f64; 8]);
        assert_eq!(cufftExecZ2Z(plan, from, to, -1), 0xd);
        assert_eq!(cufftSetWorkArea(plan, gpu.alloc(bytes)), 0);
        assert_eq!(cufftExecZ2Z(plan, from, to, 0), 4);
        assert_eq!(cufftExecD2Z(plan, from, to), 1);
        assert_eq!(cufftExecZ2Z(plan, from, to, -1), 0);
        let found: Vec<f64> = gpu.download::<f64>(to, 8).into_iter().step_by(2).collect();
        assert_eq!(found, [4.0, 6.0, -2.0, -2.0]);
        assert_eq!(cufftDestroy(plan), 0);
        assert_eq!(cufftDestroy(plan), 1);

        assert_eq!(cufftCreate(&mut plan), 0);
        assert_eq!(cufftMakePlanMany64(plan, 1, &n, null(), 0, 0, null(), 0, 0, 0x6c, 1, &mut bytes), 0);
        let from = gpu.upload(&[3.0f64, 0.0, 1.0, 0.0]);
        assert_eq!(cufftExecZ2D(plan, from, to), 0);
        assert_eq!(gpu.download::<f64>(to, 2), [4.0, 2.0]);
        assert!(gpu.download::<f64>(from, 4).iter().all(|x| x.is_nan()));
        let asymmetric = gpu.upload(&[3.0f64, 1.0, 1.0, 0.0]);
        assert_eq!(cufftExecZ2D(plan, asymmetric, to), 0);
        assert_eq!(cuCtxSynchronize(), 719);
    }
}
