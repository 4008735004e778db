//! The pretended driver behind the calls: devices, contexts, streams, memory.

pub mod activity;
pub mod capture;
pub mod context;
pub mod handles;
pub mod memory;
pub mod module;
pub mod operation;
pub mod stream;

use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use crate::codes::{self, Code};
use crate::settings::{Failures, Settings};
use context::Device;
use memory::Memory;

pub type Outcome<T = ()> = Result<T, Code>;

/// A lock that a panic elsewhere does not take away.
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[derive(Debug)]
pub struct Driver {
    pub settings: Settings,
    pub devices: Vec<Device>,
    pub memory: Memory,
    process: u32,
}

static DRIVER: OnceLock<Driver> = OnceLock::new();
pub static FAILURES: Failures = Failures::new();
static REPORT: Mutex<String> = Mutex::new(String::new());

/// `cuInit`
pub fn init() -> Outcome {
    let driver = DRIVER.get_or_init(|| {
        let settings = Settings::read();
        Driver {
            devices: (0..settings.devices).map(Device::new).collect(),
            memory: Memory::new(settings.memory),
            settings,
            process: std::process::id(),
        }
    });
    // Like the real one, it cannot be used after a fork.
    if driver.process != std::process::id() {
        return Err(codes::NOT_INITIALIZED);
    }
    if driver.settings.devices == 0 {
        Err(codes::NO_DEVICE)
    } else {
        Ok(())
    }
}

/// The driver, if `cuInit` was called in this process.
pub fn driver() -> Outcome<&'static Driver> {
    match DRIVER.get() {
        Some(driver) if driver.process == std::process::id() => Ok(driver),
        _ => Err(codes::NOT_INITIALIZED),
    }
}

impl Driver {
    pub fn device(&self, ordinal: i32) -> Outcome<&Device> {
        let index = usize::try_from(ordinal).map_err(|_| codes::INVALID_DEVICE)?;
        self.devices.get(index).ok_or(codes::INVALID_DEVICE)
    }
}

/// Keeps the explanation of what went wrong last.
pub fn report(message: &str) {
    *lock(&REPORT) = message.to_owned();
    if DRIVER.get().is_some_and(|d| d.settings.verbose) {
        eprintln!("weft-cuda-double: {message}");
    }
}

pub fn last_report() -> String {
    lock(&REPORT).clone()
}
