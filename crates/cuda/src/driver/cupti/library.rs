//! Loading CUPTI: which library it is in, and its functions.
//!
//! `WEFT_CUPTI` names it; `none` is none. Unset it is looked for: in the driver's own library, which the tests' double has it in; among
//! what is loaded already, since two of them in one process do not work; where the loader looks; in NVIDIA's Python packages; in the CUDA
//! toolkit of `CUDA_HOME` or `CUDA_PATH`. Only Linux is searched.

#![allow(unsafe_code)]

use std::env;
use std::ffi::{OsStr, c_char, c_int, c_void};
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use libloading::Library;
use weft_runtime::lock;

use super::records::CallData;
use crate::driver::load;
use crate::driver::table::{Code, calls, handles};
use crate::driver::{Driver, Failure, text_at};

/// File names, newest first: CUDA 11 has one for each version.
const NAMES: [&str; 5] = [
    "libcupti.so.13",
    "libcupti.so.12",
    "libcupti.so.11.8",
    "libcupti.so.11.7",
    "libcupti.so",
];
/// Where NVIDIA's Python packages have it: those for CUDA 13, and those before.
const IN_PACKAGES: [&str; 2] = ["nvidia/cu13/lib", "nvidia/cuda_cupti/lib"];
const IN_TOOLKIT: &str = "extras/CUPTI/lib64";
const DEFAULT_TOOLKIT: &str = "/usr/local/cuda";
/// Versions of the interface whose records are known (`records`): CUDA 11.6 to 12.9, then 13.
const KNOWN: [std::ops::Range<u32>; 2] = [17..29, 130_000..140_000];

handles! {
    SubscriberHandle;
}

pub type Listener = unsafe extern "C" fn(*mut c_void, c_int, u32, *const CallData);
pub type WantBuffer = unsafe extern "C" fn(*mut *mut u8, *mut usize, *mut usize);
pub type BufferDone = unsafe extern "C" fn(*mut c_void, u32, *mut u8, usize, usize);

calls! {
    required {
        get_version = "cuptiGetVersion"(version: *mut u32);
        get_result_string = "cuptiGetResultString"(code: Code, text: *mut *const c_char);
        get_timestamp = "cuptiGetTimestamp"(time: *mut u64);
        subscribe = "cuptiSubscribe"(subscriber: *mut SubscriberHandle, listener: Listener, argument: *mut c_void);
        unsubscribe = "cuptiUnsubscribe"(subscriber: SubscriberHandle);
        enable_domain = "cuptiEnableDomain"(enable: u32, subscriber: SubscriberHandle, domain: c_int);
        register_callbacks = "cuptiActivityRegisterCallbacks"(want: WantBuffer, done: BufferDone);
        enable = "cuptiActivityEnable"(kind: u32);
        disable = "cuptiActivityDisable"(kind: u32);
        flush_all = "cuptiActivityFlushAll"(flag: u32);
        get_next_record = "cuptiActivityGetNextRecord"(buffer: *mut u8, bytes: usize, record: *mut *mut u8);
    }
    optional {}
}

/// The library, which stays loaded: it may call back as long as the process lives.
#[derive(Debug)]
pub struct Cupti {
    table: Table,
    version: u32,
    path: PathBuf,
    _library: Library,
}

impl Deref for Cupti {
    type Target = Table;

    fn deref(&self) -> &Table {
        &self.table
    }
}

static OPENED: Mutex<Option<&'static Cupti>> = Mutex::new(None);

impl Cupti {
    /// The one that was found before, if it is still the one that is wanted.
    pub fn find(driver: &Driver, packages: &[PathBuf]) -> Result<&'static Cupti, String> {
        let wanted = env::var_os("WEFT_CUPTI").filter(|wanted| !wanted.is_empty());
        if wanted.as_deref() == Some(OsStr::new("none")) {
            return Err("CUPTI is turned off: WEFT_CUPTI=none".into());
        }
        let mut opened = lock(&OPENED);
        if let Some(cupti) = *opened
            && wanted.as_ref().is_none_or(|path| cupti.path.as_os_str() == path)
        {
            return Ok(cupti);
        }
        let found = match &wanted {
            Some(path) => Cupti::open(load::open(Path::new(path)), Path::new(path))?,
            None => Cupti::search(driver, packages)?,
        };
        Ok(opened.insert(Box::leak(Box::new(found))))
    }

    /// The one that was found last.
    pub fn opened() -> Option<&'static Cupti> {
        *lock(&OPENED)
    }

    fn search(driver: &Driver, packages: &[PathBuf]) -> Result<Cupti, String> {
        if let Ok(cupti) = Cupti::load(load::open(&driver.path), &driver.path) {
            return cupti.checked();
        }
        let loaded = NAMES.iter().find_map(|name| load::loaded(name).map(|library| (library, *name)));
        if let Some((library, name)) = loaded {
            return Cupti::open(Ok(library), Path::new(name));
        }
        let toolkits = ["CUDA_HOME", "CUDA_PATH"].into_iter().filter_map(env::var_os).map(PathBuf::from);
        let toolkits: Vec<PathBuf> = toolkits.chain([DEFAULT_TOOLKIT.into()]).collect();
        let mut why = "no libcupti is installed".to_string();
        for path in candidates(driver.version, packages, &toolkits) {
            let in_folder = path.components().count() > 1;
            if in_folder && !path.exists() {
                continue;
            }
            match (Cupti::open(load::open(&path), &path), in_folder) {
                (Ok(cupti), _) => return Ok(cupti),
                (Err(wrong), true) => why = wrong,
                // The loader knows none of that name.
                (Err(_), false) => {}
            }
        }
        Err(why)
    }

    /// A library that works with NVIDIA's driver. Without that some crash when they are asked for their version.
    fn open(library: Result<Library, String>, path: &Path) -> Result<Cupti, String> {
        let cupti = Cupti::load(library, path)?;
        if cfg!(target_os = "linux") && load::loaded("libcuda.so.1").is_none() {
            return Err(unusable(path, "the driver in use is not NVIDIA's"));
        }
        cupti.checked()
    }

    fn load(library: Result<Library, String>, path: &Path) -> Result<Cupti, String> {
        let library = library.map_err(|why| unusable(path, &why))?;
        Ok(Cupti {
            table: Table::of(&library).map_err(|why| unusable(path, &why))?,
            version: 0,
            path: path.into(),
            _library: library,
        })
    }

    /// Of a version that is known.
    fn checked(mut self) -> Result<Cupti, String> {
        let mut version = 0;
        // SAFETY: writes the version.
        unsafe { self.get_version(&mut version) }.map_err(|failure| unusable(&self.path, &self.describe(failure)))?;
        self.version = version;
        if KNOWN.iter().any(|known| known.contains(&version)) {
            return Ok(self);
        }
        Err(unusable(&self.path, &format!("its interface {version} is not known")))
    }

    pub fn words(&self) -> String {
        format!("CUPTI ({}, interface {})", self.path.display(), self.version)
    }

    /// A failure in CUPTI's own words.
    pub fn describe(&self, failure: Failure) -> String {
        let mut text = std::ptr::null();
        // SAFETY: writes a pointer to a text that stays, or null.
        let _ = unsafe { self.get_result_string(failure.code, &mut text) };
        let name = text_at(text).unwrap_or_else(|| format!("error {}", failure.code));
        let hint = match failure.code {
            35 | 40 => ": the administrator has kept profiling to himself",
            39 => ": another profiler is attached",
            _ => "",
        };
        format!("{} gave {name}{hint}", failure.call)
    }
}

fn unusable(path: &Path, why: &str) -> String {
    format!("CUPTI {} cannot be used: {why}", path.display())
}

/// The libraries to be tried, best first: none newer than the driver, which would refuse it.
fn candidates(driver: u32, packages: &[PathBuf], toolkits: &[PathBuf]) -> Vec<PathBuf> {
    if !cfg!(target_os = "linux") {
        return Vec::new();
    }
    let names: Vec<&str> = NAMES
        .into_iter()
        .filter(|name| major(name).is_none_or(|major| major <= driver / 1000))
        .collect();
    let in_packages = packages.iter().flat_map(|folder| IN_PACKAGES.map(|lib| folder.join(lib)));
    let in_toolkits = toolkits.iter().map(|folder| folder.join(IN_TOOLKIT));
    let folders = [PathBuf::new()].into_iter().chain(in_packages).chain(in_toolkits);
    folders.flat_map(|folder| names.iter().map(move |name| folder.join(name))).collect()
}

/// 11 of `libcupti.so.11.8`.
fn major(name: &str) -> Option<u32> {
    name.split(".so.").nth(1)?.split('.').next()?.parse().ok()
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn the_loader_comes_first_then_packages_then_toolkits() {
        let all = candidates(12040, &["/p".into()], &["/cuda".into()]);
        let text: Vec<_> = all.iter().map(|path| path.to_str().unwrap()).collect();
        assert_eq!(text[0], "libcupti.so.12");
        assert!(text.iter().all(|path| !path.ends_with(".13")), "{text:?}");
        let at = |path: &str| text.iter().position(|one| *one == path).unwrap();
        assert!(at("libcupti.so") < at("/p/nvidia/cuda_cupti/lib/libcupti.so.12"));
        assert!(at("/p/nvidia/cuda_cupti/lib/libcupti.so.11.8") < at("/cuda/extras/CUPTI/lib64/libcupti.so.12"));
        let newer = candidates(13000, &["/p".into()], &[]);
        assert_eq!(newer[0], Path::new("libcupti.so.13"));
        assert!(newer.contains(&"/p/nvidia/cu13/lib/libcupti.so.13".into()));
    }

    #[test]
    fn what_is_no_cupti_is_one_line() {
        let why = Cupti::open(load::open(Path::new("libc.so.6")), Path::new("libc.so.6")).unwrap_err();
        assert_eq!(why, "CUPTI libc.so.6 cannot be used: it has no cuptiGetVersion");
        let why = Cupti::open(load::open(Path::new("/nonexistent")), Path::new("/nonexistent")).unwrap_err();
        assert!(
            why.starts_with("CUPTI /nonexistent cannot be used: ") && !why.contains('\n'),
            "{why}"
        );
    }
}
