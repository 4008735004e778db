//! Launches.

#![allow(unsafe_code, non_snake_case, clippy::missing_safety_doc)]

use std::ffi::{c_uint, c_void};

use super::calls;
use super::device::PROCESSORS;
use super::module::occupancy;
use super::stream::stream_of;
use crate::codes;
use crate::driver::handles::{self, Handle};
use crate::driver::module::Function;
use crate::driver::operation::{HostFunction, Kernel, Operation, StreamCallback};
use crate::driver::{Outcome, context, report};

/// `CUlaunchConfig`
#[repr(C)]
#[derive(Debug)]
pub struct LaunchConfig {
    grid: [c_uint; 3],
    block: [c_uint; 3],
    shared: c_uint,
    stream: Handle,
    attributes: *const LaunchAttribute,
    count: c_uint,
}

/// `CUlaunchAttribute`
#[repr(C)]
#[derive(Debug)]
pub struct LaunchAttribute {
    id: c_uint,
    pad: [u8; 4],
    value: [u64; 8],
}

#[derive(Clone, Copy)]
struct Shape {
    grid: [u32; 3],
    block: [u32; 3],
    shared: u32,
    cooperative: bool,
}

/// The parameters' bytes, from pointers to each or from one buffer.
unsafe fn parameters(function: &Function, params: *const *const c_void, extra: *const *const c_void) -> Outcome<Vec<u8>> {
    let code = function.code();
    let mut bytes = vec![0; code.param_bytes as usize];
    if !extra.is_null() {
        // Pairs of a kind and a value: 1 the buffer, 2 where its size is, 0 the end.
        let (mut buffer, mut size) = (std::ptr::null::<u8>(), 0);
        let mut at = extra;
        // SAFETY: the list ends with 0.
        unsafe {
            while !(*at).is_null() {
                match *at as usize {
                    1 => buffer = (*at.add(1)).cast(),
                    2 => size = *(*at.add(1)).cast::<usize>(),
                    _ => return Err(codes::INVALID_VALUE),
                }
                at = at.add(2);
            }
            if buffer.is_null() || size < bytes.len() {
                return Err(codes::INVALID_VALUE);
            }
            bytes.as_mut_ptr().copy_from_nonoverlapping(buffer, bytes.len());
        }
        return Ok(bytes);
    }
    if params.is_null() && !code.kernel_params.is_empty() {
        return Err(codes::INVALID_VALUE);
    }
    for (index, (offset, size)) in code.kernel_params.iter().enumerate() {
        // SAFETY: there is a pointer for each parameter.
        let from = unsafe { *params.add(index) }.cast::<u8>();
        if from.is_null() {
            return Err(codes::INVALID_VALUE);
        }
        let to = &mut bytes[*offset as usize..(*offset + *size) as usize];
        // SAFETY: it points to as many bytes as the parameter has.
        unsafe { to.as_mut_ptr().copy_from_nonoverlapping(from, to.len()) };
    }
    Ok(bytes)
}

fn check(function: &Function, shape: Shape) -> Outcome {
    let Shape {
        grid,
        block,
        shared,
        cooperative,
    } = shape;
    let limits = [i32::MAX as u32, 65535, 65535];
    let block_limits = [1024, 1024, 64];
    let outside = |dims: [u32; 3], limits: [u32; 3]| dims.iter().zip(limits).any(|(d, l)| *d == 0 || *d > l);
    let threads: u64 = block.iter().map(|d| u64::from(*d)).product();
    if outside(grid, limits) || outside(block, block_limits) || threads > 1024 {
        return Err(codes::INVALID_VALUE);
    }
    if shared > function.dynamic_limit() {
        report(&format!(
            "kernel {}: {shared} bytes of dynamic shared memory, more than the {} it may have",
            function.code().name,
            function.dynamic_limit()
        ));
        return Err(codes::INVALID_VALUE);
    }
    let bounds = &function.code().bounds;
    let most = bounds.max_threads.map(|most| most.iter().map(|d| u64::from(*d)).product::<u64>());
    if bounds.required_threads.is_some_and(|r| r != block) || most.is_some_and(|most| threads > most) {
        return Err(codes::INVALID_VALUE);
    }
    if threads > u64::from(function.max_threads()) {
        return Err(codes::LAUNCH_OUT_OF_RESOURCES);
    }
    let blocks: u64 = grid.iter().map(|d| u64::from(*d)).product();
    let resident = (occupancy(function, threads as u32, u64::from(shared))? * PROCESSORS) as u64;
    if cooperative && blocks > resident {
        return Err(codes::COOPERATIVE_LAUNCH_TOO_LARGE);
    }
    Ok(())
}

unsafe fn launch(function: Handle, shape: Shape, stream: Handle, params: *const *const c_void, extra: *const *const c_void) -> Outcome {
    let context = context::healthy()?;
    let function = handles::function(function)?;
    if function.module.device != context.device {
        return Err(codes::INVALID_HANDLE);
    }
    check(&function, shape)?;
    let stream = stream_of(&context, stream)?;
    // SAFETY: the caller's parameters.
    let params = unsafe { parameters(&function, params, extra)? };
    let kernel = Kernel {
        function,
        grid: shape.grid,
        block: shape.block,
        dynamic_shared: shape.shared,
        params,
        cooperative: shape.cooperative,
    };
    stream.enqueue(&context, Operation::Kernel(kernel)).map(|_| ())
}

calls! {
    fn cuLaunchKernel(
        function: Handle,
        grid_x: c_uint,
        grid_y: c_uint,
        grid_z: c_uint,
        block_x: c_uint,
        block_y: c_uint,
        block_z: c_uint,
        shared: c_uint,
        stream: Handle,
        params: *const *const c_void,
        extra: *const *const c_void,
    ) {
        let shape = Shape {
            grid: [grid_x, grid_y, grid_z],
            block: [block_x, block_y, block_z],
            shared,
            cooperative: false,
        };
        launch(function, shape, stream, params, extra)
    }

    fn cuLaunchCooperativeKernel(
        function: Handle,
        grid_x: c_uint,
        grid_y: c_uint,
        grid_z: c_uint,
        block_x: c_uint,
        block_y: c_uint,
        block_z: c_uint,
        shared: c_uint,
        stream: Handle,
        params: *const *const c_void,
    ) {
        let shape = Shape {
            grid: [grid_x, grid_y, grid_z],
            block: [block_x, block_y, block_z],
            shared,
            cooperative: true,
        };
        launch(function, shape, stream, params, std::ptr::null())
    }

    fn cuLaunchKernelEx(config: *const LaunchConfig, function: Handle, params: *const *const c_void, extra: *const *const c_void) {
        if config.is_null() {
            return Err(codes::INVALID_VALUE);
        }
        let config = &*config;
        let mut shape = Shape {
            grid: config.grid,
            block: config.block,
            shared: config.shared,
            cooperative: false,
        };
        for index in 0..config.count as usize {
            let attribute = &*config.attributes.add(index);
            match attribute.id {
                2 => shape.cooperative = attribute.value[0] as u32 != 0,
                // Hints and priorities.
                0 | 1 | 3 | 8 => {}
                4 if attribute.value[0] == 1 << 32 | 1 && attribute.value[1] as u32 == 1 => {}
                id => {
                    report(&format!("launch attribute {id} is not supported"));
                    return Err(codes::NOT_SUPPORTED);
                }
            }
        }
        launch(function, shape, config.stream, params, extra)
    }

    fn cuLaunchHostFunc(stream: Handle, function: Option<HostFunction>, data: *mut c_void) {
        let context = context::healthy()?;
        let function = function.ok_or(codes::INVALID_VALUE)?;
        let stream = stream_of(&context, stream)?;
        stream.enqueue(&context, Operation::Host(function, data as u64)).map(|_| ())
    }

    fn cuStreamAddCallback(handle: Handle, function: Option<StreamCallback>, data: *mut c_void, flags: c_uint) {
        let context = context::healthy()?;
        let function = function.ok_or(codes::INVALID_VALUE)?;
        let stream = stream_of(&context, handle)?;
        if flags != 0 {
            return Err(codes::INVALID_VALUE);
        }
        if stream.capturing().is_some() {
            return Err(codes::STREAM_CAPTURE_UNSUPPORTED);
        }
        stream.enqueue(&context, Operation::Callback(function, handle, data as u64)).map(|_| ())
    }
}
