//! Kernels in the IR's text form to run on any device, and arrays for them.

use std::sync::Arc;

use weft_ir::text;
use weft_runtime::{Buffer, CallOptions, CompileOptions, Device, Executable, GridShape, Launch, Outcome, RunError, Stream};

pub fn kernel_on(device: &dyn Device, source: &str) -> Arc<dyn Executable> {
    let module = Arc::new(text::parse(source).unwrap());
    device.compile(module, CompileOptions::default()).unwrap()
}

pub fn grid(grid: u32, block: u32) -> Launch {
    Launch::Grid(GridShape {
        block: [block, 1, 1],
        grid: [grid, 1, 1],
    })
}

pub fn launch(exe: &dyn Executable, launch: Launch, args: &[u64]) -> Result<Outcome, RunError> {
    exe.run(launch, args, &mut [], &CallOptions::default())
}

pub fn launch_on(exe: &dyn Executable, launch: Launch, args: &[u64], stream: &dyn Stream) -> Result<Outcome, RunError> {
    let options = CallOptions {
        stream: Some(stream),
        ..CallOptions::default()
    };
    exe.run(launch, args, &mut [], &options)
}

/// The slots of a C-contiguous array of one axis on the device.
pub fn line(buffer: &dyn Buffer, elem: usize) -> [u64; 3] {
    [buffer.address(), (buffer.bytes() / elem) as u64, elem as u64]
}

pub fn upload(device: &dyn Device, values: &[i64]) -> Box<dyn Buffer> {
    let buffer = device.allocate(8 * values.len(), None).unwrap();
    let bytes: Vec<u8> = values.iter().flat_map(|v| v.to_le_bytes()).collect();
    buffer.write(0, &bytes).unwrap();
    buffer
}

pub fn download(buffer: &dyn Buffer) -> Vec<i64> {
    let mut bytes = vec![0; buffer.bytes()];
    buffer.read(0, &mut bytes).unwrap();
    bytes.chunks_exact(8).map(|b| i64::from_le_bytes(b.try_into().unwrap())).collect()
}

/// `out[i] += by`, for the threads inside the array.
pub const ADD: &str = "
entry kernel @add(%0 out: view<i64, 1, C, global>, %1 by: i64) {
  %2: i64 = thread_idx.x
  %3: i64 = block_idx.x
  %4: i64 = block_dim.x
  %5: i64 = mul %3, %4
  %6: i64 = add %5, %2
  %7: i64 = dim %0, 0
  %8: bool = lt %6, %7
  if %8 {
    %9: i64 = load %0[%6]
    %10: i64 = add %9, %1
    store %0[%6] = %10
  }
}
";
