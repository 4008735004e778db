//! What a stream can be asked to do.

#![allow(unsafe_code)]

use std::ffi::c_void;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::capture::Node;
use super::context::Context;
use super::handles::Handle;
use super::memory::Memory;
use super::module::Function;
use super::{driver, lock};
use crate::codes;
use crate::exec::fault::Fault;
use crate::exec::launch::Launch;
use crate::exec::table::{Kind, Span};
use crate::libraries::Work;

/// A kernel launch as it was asked for.
#[derive(Debug)]
pub struct Kernel {
    pub function: Arc<Function>,
    pub grid: [u32; 3],
    pub block: [u32; 3],
    pub dynamic_shared: u32,
    pub params: Vec<u8>,
    pub cooperative: bool,
}

/// One side of a copy.
#[derive(Debug)]
pub enum Side {
    /// An address the driver knows.
    Known(u64),
    /// Memory of the program.
    Host(u64),
    /// Bytes taken from the program when it called.
    Taken(Vec<u8>),
}

pub type HostFunction = unsafe extern "C" fn(*mut c_void);
pub type StreamCallback = unsafe extern "C" fn(*mut c_void, u32, *mut c_void);

#[derive(Debug)]
pub enum Operation {
    Nothing,
    Kernel(Kernel),
    Copy {
        to: Side,
        from: Side,
        rows: Rows,
    },
    Fill {
        to: u64,
        value: u32,
        /// Bytes of the value.
        unit: u64,
        rows: Rows,
    },
    Free(u64),
    Host(HostFunction, u64),
    Callback(StreamCallback, Handle, u64),
    Graph(Arc<Vec<Node>>),
    /// What a library of NVIDIA's does, by kernels of its own.
    Library(Work),
}

/// Rows of bytes, each so far from the last on either side.
#[derive(Clone, Copy, Debug)]
pub struct Rows {
    pub bytes: u64,
    pub count: u64,
    pub to_pitch: u64,
    pub from_pitch: u64,
}

impl Rows {
    pub fn one(bytes: u64) -> Rows {
        Rows {
            bytes,
            count: 1,
            to_pitch: 0,
            from_pitch: 0,
        }
    }

    /// Bytes from the first to the last.
    pub fn extent(self, pitch: u64) -> u64 {
        if self.count == 0 || self.bytes == 0 {
            0
        } else {
            (self.count - 1) * pitch + self.bytes
        }
    }
}

static LAUNCHES: AtomicU64 = AtomicU64::new(1);

impl Operation {
    /// The number the driver has for this kind of graph node.
    pub fn node_type(&self) -> u32 {
        match self {
            Operation::Kernel(_) | Operation::Library(_) => 0,
            Operation::Copy { .. } => 1,
            Operation::Fill { .. } => 2,
            Operation::Host(..) | Operation::Callback(..) => 3,
            Operation::Graph(_) => 4,
            Operation::Nothing => 5,
            Operation::Free(_) => 11,
        }
    }

    pub fn run(&self, context: &Context) -> Result<(), Fault> {
        let driver = driver().map_err(|code| Fault::new(code, "the driver is not initialised"))?;
        match self {
            Operation::Nothing => Ok(()),
            Operation::Kernel(kernel) => kernel.run(context),
            Operation::Copy { to, from, rows } => {
                let to = side(to, rows.extent(rows.to_pitch), "copy to")?;
                let from = side(from, rows.extent(rows.from_pitch), "copy from")?;
                for row in 0..rows.count {
                    let (to, from) = (to.at((row * rows.to_pitch) as usize), from.at((row * rows.from_pitch) as usize));
                    to.copy_from(from, rows.bytes);
                }
                Ok(())
            }
            Operation::Fill { to, value, unit, rows } => {
                let span = known(*to, rows.extent(rows.to_pitch), "fill")?;
                let unit = *unit as usize;
                let pattern = value.to_le_bytes();
                let row: Vec<u8> = pattern[..unit].iter().copied().cycle().take(rows.bytes as usize).collect();
                for index in 0..rows.count {
                    span.at((index * rows.to_pitch) as usize).store(&row);
                }
                Ok(())
            }
            Operation::Free(address) => {
                let freed = driver.memory.free(*address, &[Kind::Device]);
                freed
                    .map(|_| ())
                    .map_err(|code| Fault::new(code, format!("free of 0x{address:x}, which is not allocated")))
            }
            Operation::Host(function, data) => {
                // SAFETY: the program gave the function and its argument for just this.
                unsafe { function(*data as *mut c_void) };
                Ok(())
            }
            Operation::Callback(function, stream, data) => {
                // SAFETY: as above.
                unsafe { function(*stream as *mut c_void, codes::SUCCESS, *data as *mut c_void) };
                Ok(())
            }
            Operation::Library(work) => work.run(context),
            Operation::Graph(nodes) => nodes.iter().try_for_each(|node| node.operation.run(context)),
        }
    }
}

fn known(address: u64, bytes: u64, what: &str) -> Result<Span, Fault> {
    let memory = &driver().map_err(|code| Fault::new(code, "the driver is not initialised"))?.memory;
    if let Some(span) = memory.span(address, bytes) {
        return Ok(span);
    }
    let table = memory.table();
    let near = table
        .nearest(address)
        .map_or("no allocation is near".to_owned(), |r| format!("nearest: {}", r.describe()));
    let message = format!("{what} {bytes} bytes at 0x{address:x}, which are not all allocated; {near}");
    Err(Fault::new(codes::ILLEGAL_ADDRESS, message))
}

fn side(side: &Side, bytes: u64, what: &str) -> Result<Span, Fault> {
    match side {
        _ if bytes == 0 => Ok(Span::host(std::ptr::dangling::<u8>() as u64)),
        Side::Known(address) => known(*address, bytes, what),
        Side::Host(address) => Ok(Span::host(*address)),
        Side::Taken(taken) => Ok(Span::host(taken.as_ptr() as u64)),
    }
}

impl Kernel {
    fn run(&self, context: &Context) -> Result<(), Fault> {
        let driver = driver().map_err(|code| Fault::new(code, "the driver is not initialised"))?;
        let workspace = if self.cooperative && self.function.module.program.workspace {
            Workspace::new(&driver.memory, context.device)?
        } else {
            Workspace(None)
        };
        let launch = Launch {
            program: self.function.module.program.clone(),
            kernel: self.function.index,
            grid: self.grid,
            block: self.block,
            dynamic_shared: self.dynamic_shared,
            params: self.params.clone(),
            table: driver.memory.table(),
            device: context.device,
            peers: lock(&context.peers).clone(),
            cooperative: self.cooperative,
            workspace: workspace.0.map_or(0, |(_, address)| address),
            processors: crate::api::device::PROCESSORS as u32,
            id: LAUNCHES.fetch_add(1, Ordering::Relaxed),
            host_threads: driver.settings.threads,
            stack: lock(&context.limits).get(&0).copied().unwrap_or(0),
            limit: driver.settings.limit,
            counted: AtomicU64::new(0),
        };
        launch.run()
    }
}

/// Device memory for the barrier of a cooperative launch's grid, as long as it runs.
struct Workspace<'a>(Option<(&'a Memory, u64)>);

impl Workspace<'_> {
    fn new(memory: &Memory, device: i32) -> Result<Workspace<'_>, Fault> {
        const BYTES: u64 = 8;
        let made = memory.allocate(device, BYTES, Kind::Variable);
        let address = made.map_err(|code| Fault::new(code, "no memory for the barrier of the grid"))?;
        if let Some(span) = memory.span(address, BYTES) {
            span.store(&BYTES.to_le_bytes());
        }
        Ok(Workspace(Some((memory, address))))
    }
}

impl Drop for Workspace<'_> {
    fn drop(&mut self) {
        if let Workspace(Some((memory, address))) = self {
            _ = memory.free(*address, &[Kind::Variable]);
        }
    }
}
