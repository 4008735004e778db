//! Running a program: warps of 32 lanes in lockstep where they agree, threads of their own where they do not.

mod atomics;
mod block;
mod calls;
mod collective;
mod data;
pub mod fault;
pub mod inst;
pub mod lanes;
pub mod launch;
mod memory;
mod printf;
mod races;
pub mod softfloat;
pub mod table;
mod tensor;
mod warp;
