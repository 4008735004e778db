//! Loading the driver: which library it is in.

#![allow(unsafe_code)]

use std::error::Error;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use libloading::Library;

const SYSTEM: &str = if cfg!(windows) { "nvcuda.dll" } else { "libcuda.so.1" };
const DOUBLE: &str = if cfg!(windows) {
    "weft_cuda_double.dll"
} else if cfg!(target_os = "macos") {
    "libweft_cuda_double.dylib"
} else {
    "libweft_cuda_double.so"
};

/// What `WEFT_CUDA_DRIVER` asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Choice {
    System,
    None,
    Double,
    Path(PathBuf),
}

impl Choice {
    pub fn of_environment() -> Choice {
        Choice::of(std::env::var_os("WEFT_CUDA_DRIVER").as_deref())
    }

    fn of(value: Option<&OsStr>) -> Choice {
        match value {
            None => Choice::System,
            Some(value) if value.is_empty() => Choice::System,
            Some(value) if value == "none" => Choice::None,
            Some(value) if value == "double" => Choice::Double,
            Some(path) => Choice::Path(path.into()),
        }
    }

    /// The library and where it is.
    pub(super) fn load(&self) -> Result<(Library, PathBuf), String> {
        match self {
            Choice::None => Err("CUDA is turned off (WEFT_CUDA_DRIVER=none)".into()),
            Choice::System => {
                let library = open(Path::new(SYSTEM)).map_err(|_| format!("no NVIDIA driver is installed ({SYSTEM} is not there)"))?;
                Ok((library, SYSTEM.into()))
            }
            Choice::Path(path) => Ok((open(path).map_err(|why| cannot(path, &why))?, path.clone())),
            Choice::Double => {
                let path = double_path()?;
                Ok((open(&path).map_err(|why| cannot(&path, &why))?, path))
            }
        }
    }
}

fn cannot(path: &Path, why: &str) -> String {
    format!("the CUDA driver {} cannot be loaded: {why}", path.display())
}

pub(super) fn open(path: &Path) -> Result<Library, String> {
    // SAFETY: a library of NVIDIA's, or one the user names to be loaded.
    let loaded = unsafe { Library::new(path) };
    // The loader's words are the source of an error that says no more than which function it was.
    loaded.map_err(|error| error.source().map_or_else(|| error.to_string(), ToString::to_string))
}

/// A library that this process has loaded already.
#[cfg(unix)]
pub(super) fn loaded(name: &str) -> Option<Library> {
    use libloading::os::unix;
    // SAFETY: nothing is loaded.
    let library = unsafe { unix::Library::open(Some(name), libc::RTLD_LAZY | libc::RTLD_NOLOAD) };
    library.ok().map(Library::from)
}

#[cfg(not(unix))]
pub(super) fn loaded(_: &str) -> Option<Library> {
    None
}

/// Where `WEFT_CUDA_DOUBLE` says, else beside the library this code is in.
fn double_path() -> Result<PathBuf, String> {
    if let Some(path) = std::env::var_os("WEFT_CUDA_DOUBLE").filter(|path| !path.is_empty()) {
        return Ok(path.into());
    }
    let beside = own_folder().map(|folder| folder.join(DOUBLE)).filter(|path| path.exists());
    beside.ok_or_else(|| format!("{DOUBLE} is not beside Weft's own library; WEFT_CUDA_DOUBLE can say where it is"))
}

/// The folder of the library that this code was linked into.
#[cfg(unix)]
fn own_folder() -> Option<PathBuf> {
    use std::ffi::{CStr, c_void};
    use std::mem::MaybeUninit;
    use std::os::unix::ffi::OsStrExt;

    let mut info = MaybeUninit::<libc::Dl_info>::zeroed();
    // SAFETY: any address may be asked for; what is not found leaves the zeroes.
    let info = unsafe {
        libc::dladdr(own_folder as *const c_void, info.as_mut_ptr());
        info.assume_init()
    };
    if info.dli_fname.is_null() {
        return None;
    }
    // SAFETY: a text that the loader keeps.
    let name = unsafe { CStr::from_ptr(info.dli_fname) };
    let path = Path::new(OsStr::from_bytes(name.to_bytes()));
    Some(path.canonicalize().ok()?.parent()?.to_path_buf())
}

#[cfg(not(unix))]
fn own_folder() -> Option<PathBuf> {
    Some(std::env::current_exe().ok()?.parent()?.to_path_buf())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_environment_names_the_library() {
        let choice = |text: &str| Choice::of(Some(OsStr::new(text)));
        assert_eq!(Choice::of(None), Choice::System);
        assert_eq!(choice(""), Choice::System);
        assert_eq!(choice("none"), Choice::None);
        assert_eq!(choice("double"), Choice::Double);
        assert_eq!(choice("/x/libcuda.so"), Choice::Path("/x/libcuda.so".into()));
    }

    #[test]
    fn what_cannot_be_loaded_is_one_line() {
        let off = Choice::None.load().unwrap_err();
        assert!(off.contains("turned off"), "{off}");
        let missing = Choice::Path("/nonexistent/libcuda.so.1".into()).load().unwrap_err();
        assert!(
            missing.contains("/nonexistent/libcuda.so.1 cannot be loaded: ") && !missing.contains('\n'),
            "{missing}"
        );
    }
}
