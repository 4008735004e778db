//! CUPTI, NVIDIA's library for profilers: it knows when kernels and copies ran without events around them. It is looked for and subscribed
//! to when a profile first meets work on CUDA, and let go when the last profile ends. Where it is missing or refuses, events time the work.

mod library;
mod records;
mod tracer;

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use weft_runtime::profile;
use weft_runtime::{DeviceKind, lock};

use super::Driver;
use library::Cupti;
pub use tracer::{Flush, Tracer};

/// What times the work while profiles are taken: CUPTI, or events (`Some(None)`).
static CHOSEN: Mutex<Option<Option<Arc<Tracer>>>> = Mutex::new(None);
static PACKAGES: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Where NVIDIA's Python packages may be: the folders of `sys.path`.
pub fn look_in(folders: Vec<PathBuf>) {
    *lock(&PACKAGES) = folders;
}

/// CUPTI, if it times the work of the profiles that are being taken. They are told what does.
pub fn tracer(driver: &Driver) -> Option<Arc<Tracer>> {
    let mut chosen = lock(&CHOSEN);
    if let Some(known) = &*chosen {
        return known.clone();
    }
    let started = find(driver).and_then(|cupti| Ok((cupti.words(), Tracer::start(cupti)?)));
    let (words, tracer) = match started {
        Ok((words, tracer)) => (words, Some(Arc::new(tracer))),
        Err(why) => (by_events(&why), None),
    };
    *chosen = Some(tracer.clone());
    drop(chosen);
    profile::timed_by(DeviceKind::Cuda, words, Box::new(end));
    tracer
}

fn end() {
    if let Some(Some(tracer)) = lock(&CHOSEN).take() {
        tracer.stop();
    }
}

/// What would time the work of a profile, as far as can be said without taking one.
pub fn outlook(driver: &Driver) -> String {
    find(driver).map_or_else(|why| by_events(&why), Cupti::words)
}

fn find(driver: &Driver) -> Result<&'static Cupti, String> {
    let packages = lock(&PACKAGES).clone();
    Cupti::find(driver, &packages)
}

fn by_events(why: &str) -> String {
    format!("CUDA events ({why})")
}
