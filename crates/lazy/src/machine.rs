//! The devices that arrays live on, each with a number. The host language says which there are.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock, PoisonError, RwLock};

use weft_ir::{Kind, Scalar};
use weft_runtime::{Device, DeviceId, Limits};

use crate::error::{Error, Result};

/// The number of the CPU.
pub const CPU: u8 = 0;

static FIRST: OnceLock<Arc<dyn Device>> = OnceLock::new();
/// Those with the numbers from 1 on.
static OTHERS: RwLock<Vec<Arc<dyn Device>>> = RwLock::new(Vec::new());
/// How often elements went to the host and back since a device has no code for what was asked.
static DETOURS: AtomicU64 = AtomicU64::new(0);

static REFUSED: AtomicBool = AtomicBool::new(false);

/// What the host language does now and then during long flushes; an error ends the flush.
pub type Pause = fn() -> std::result::Result<(), Box<dyn std::error::Error + Send + Sync>>;

static PAUSE: OnceLock<Pause> = OnceLock::new();

/// Says what is done in the pauses of flushes: once, before the first array.
pub fn set_pause(pause: Pause) {
    let _ = PAUSE.set(pause);
}

/// A pause of a flush: no lock is held, and all nodes are whole.
pub fn pause() -> Result<()> {
    PAUSE.get().map_or(Ok(()), |pause| pause().map_err(Error::Host))
}

/// Says what the CPU is: once, before the first array.
pub fn set_cpu(device: Arc<dyn Device>) {
    let _ = FIRST.set(device);
}

pub fn cpu() -> Result<&'static Arc<dyn Device>> {
    FIRST.get().ok_or_else(|| Error::Internal("no device was named".into()))
}

/// A device's number, which it keeps.
pub fn number(device: &Arc<dyn Device>) -> Result<u8> {
    let id = device.id();
    if id == DeviceId::CPU {
        return Ok(CPU);
    }
    let place = |known: &[Arc<dyn Device>]| known.iter().position(|known| known.id() == id);
    let found = place(&OTHERS.read().unwrap_or_else(PoisonError::into_inner));
    let at = found.unwrap_or_else(|| {
        let mut others = OTHERS.write().unwrap_or_else(PoisonError::into_inner);
        place(&others).unwrap_or_else(|| {
            others.push(device.clone());
            others.len() - 1
        })
    });
    u8::try_from(at + 1).map_err(|_| Error::Internal("more than 255 devices".into()))
}

/// Whether a device computes in 64-bit integers.
pub fn has_int64(number: u8) -> bool {
    device(number).map_or(true, |device| device.limits().int64)
}

pub fn device(number: u8) -> Result<Arc<dyn Device>> {
    let Some(at) = usize::from(number).checked_sub(1) else {
        return cpu().cloned();
    };
    let others = OTHERS.read().unwrap_or_else(PoisonError::into_inner);
    others
        .get(at)
        .cloned()
        .ok_or_else(|| Error::Internal(format!("there is no device of number {number}")))
}

pub fn name(number: u8) -> String {
    device(number).map_or_else(|_| format!("device {number}"), |device| device.id().to_string())
}

/// The number of the device of a name, if it has one.
pub fn named(text: &str) -> Option<u8> {
    let count = OTHERS.read().unwrap_or_else(PoisonError::into_inner).len() as u8;
    (0..=count).find(|&number| name(number) == text)
}

/// Refuses elements that a device does not compute with.
pub fn check_elem(number: u8, elem: Scalar) -> Result<()> {
    if number == CPU {
        return Ok(());
    }
    let device = device(number)?;
    match lacks(device.limits(), elem) {
        None => Ok(()),
        Some(lacking) => Err(Error::Run(weft_runtime::RunError::Unsupported(format!(
            "{} has no {lacking}, so there are no arrays of {} on it: convert them before with x.astype(dtype), or compute on another device",
            device.id(),
            elem.numpy_name()
        )))),
    }
}

/// What elements of a type would take that a device does not have.
fn lacks(limits: &Limits, elem: Scalar) -> Option<&'static str> {
    match elem.kind() {
        Kind::Float | Kind::Complex if elem.part() == Scalar::F64 && !limits.float64 => Some("float64"),
        Kind::Signed | Kind::Unsigned if elem.size() == 8 && !limits.int64 => Some("int64"),
        _ => None,
    }
}

/// Notes a way by the host to compute something of a device; an error where these are not wanted.
pub fn detour(number: u8) -> Result<()> {
    DETOURS.fetch_add(1, Ordering::Relaxed);
    match REFUSED.load(Ordering::Relaxed) {
        false => Ok(()),
        true => Err(Error::Sync(format!(
            "{} has no code for what is computed here, which would go by way of the host; leave the block of weft.syncs(\"error\")",
            name(number)
        ))),
    }
}

/// Says whether ways by the host are errors from here on.
pub fn refuse_detours(refuse: bool) {
    REFUSED.store(refuse, Ordering::Relaxed);
}

pub fn detours() -> u64 {
    DETOURS.load(Ordering::Relaxed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_device_lacks_is_named() {
        let small = Limits {
            float64: false,
            int64: false,
            ..Limits::COMMON
        };
        assert_eq!(lacks(&small, Scalar::C128), Some("float64"));
        assert_eq!(lacks(&small, Scalar::U64), Some("int64"));
        let has = [Scalar::Bool, Scalar::I32, Scalar::F16, Scalar::F32, Scalar::C64];
        assert!(has.iter().all(|&elem| lacks(&small, elem).is_none()));
        assert_eq!(lacks(&Limits::COMMON, Scalar::F64), None);
    }
}
