//! The cache of compiled objects on disk, addressed by the content they were made from.
//!
//! The folder is `WEFT_CACHE_DIR`, else `weft` in the user's cache folder. It must belong to the user and be closed to other writers,
//! else it is not used: what lies there is run. An entry that is damaged or missing, or is no plain file of the user's own, is a miss;
//! nothing here fails. When the entries take too much space the oldest go. `WEFT_CACHE=0` turns the cache off, `WEFT_CACHE=all` keeps
//! the code of every function in it, not only of those that ask for it.

use std::ffi::OsString;
use std::fs;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use blake3::{Hash, Hasher};
use weft_forks::Once;

const MAGIC: &[u8; 8] = b"weft\x00\x00\x00\x01";
const HASH_BYTES: usize = 32;
/// Space the entries may take, and how many new ones there are between looks at it.
const MOST_BYTES: u64 = 256 << 20;
const PUTS_PER_LOOK: u64 = 64;

/// What an object was made from, as a hash over everything given.
#[derive(Clone, Debug)]
pub struct Key(Hasher);

impl Key {
    /// `kind` keeps keys of different things apart.
    pub fn new(kind: &str) -> Key {
        Key(Hasher::new()).with(env!("CARGO_PKG_VERSION")).with(kind)
    }

    /// Adds a part. Parts are delimited: `ab`, `c` is another key than `a`, `bc`.
    pub fn with(mut self, part: impl AsRef<[u8]>) -> Key {
        let bytes = part.as_ref();
        self.0.update(&(bytes.len() as u64).to_le_bytes());
        self.0.update(bytes);
        self
    }

    fn name(&self) -> String {
        self.0.finalize().to_hex().to_string()
    }
}

/// Is compiled code to be kept, for a function whose options ask for it or do not?
pub fn is_wanted(asked: bool) -> bool {
    static ALL: Once<bool> = Once::new();
    asked || *ALL.get_or_init(|| setting().is_some_and(|value| value == "all"))
}

/// Whether the environment asks for something that cannot be.
pub fn check_environment() -> Result<(), String> {
    match setting() {
        Some(value) if value != "0" && value != "all" => Err(format!(
            "WEFT_CACHE is {value:?}; it must be 0 to keep no compiled code, all to keep that of every function, or unset"
        )),
        _ => Ok(()),
    }
}

fn setting() -> Option<OsString> {
    std::env::var_os("WEFT_CACHE").filter(|value| !value.is_empty())
}

/// The object kept under a key.
pub fn get(key: &Key) -> Option<Vec<u8>> {
    get_in(folder()?, key)
}

/// Keeps an object; if that cannot be done, the next call makes it anew.
pub fn put(key: &Key, object: &[u8]) {
    if let Some(folder) = folder() {
        // A full disk or a folder that went away costs time later, no more.
        let _ = put_in(folder, key, object);
    }
}

/// The cache folder, if it can be trusted. Looked up once.
fn folder() -> Option<&'static Path> {
    static FOLDER: Once<Option<PathBuf>> = Once::new();
    let folder = FOLDER.get_or_init(|| {
        let folder = wanted_folder()?;
        make_private(&folder).then_some(folder)
    });
    folder.as_deref()
}

fn wanted_folder() -> Option<PathBuf> {
    if setting().is_some_and(|value| value == "0") {
        return None;
    }
    let given = |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    given("WEFT_CACHE_DIR")
        .or_else(|| given("XDG_CACHE_HOME").map(|base| base.join("weft")))
        .or_else(|| given("HOME").map(|home| home.join(".cache").join("weft")))
}

/// Makes the folder if it is missing; says whether only this user can write to it.
#[cfg(unix)]
fn make_private(folder: &Path) -> bool {
    use std::os::unix::fs::{DirBuilderExt, MetadataExt};
    if fs::DirBuilder::new().recursive(true).mode(0o700).create(folder).is_err() {
        return false;
    }
    match fs::metadata(folder) {
        Ok(data) => data.is_dir() && data.uid() == user() && data.mode() & 0o022 == 0,
        Err(_) => false,
    }
}

#[cfg(not(unix))]
fn make_private(folder: &Path) -> bool {
    fs::create_dir_all(folder).is_ok()
}

#[cfg(unix)]
#[allow(unsafe_code)]
fn user() -> u32 {
    // SAFETY: takes nothing and cannot fail.
    unsafe { libc::geteuid() }
}

/// An entry is the magic, the object's hash, the object.
fn get_in(folder: &Path, key: &Key) -> Option<Vec<u8>> {
    let entry = read_entry(&folder.join(key.name()))?;
    let rest = entry.strip_prefix(MAGIC)?;
    let (hash, object) = rest.split_at_checked(HASH_BYTES)?;
    let intact = Hash::from_slice(hash).ok()? == blake3::hash(object);
    intact.then(|| object.to_vec())
}

/// What a plain file of this user's holds, if it is of a size that an entry may have. Links are not followed, and nothing else that has a
/// name in a folder is waited for or read: a pipe would never come to an end, nor would a device.
fn read_entry(path: &Path) -> Option<Vec<u8>> {
    let file = open_plainly(path)?;
    let data = file.metadata().ok()?;
    if !data.is_file() || !is_own(&data) || data.len() > MOST_BYTES {
        return None;
    }
    let mut bytes = Vec::new();
    file.take(MOST_BYTES).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

#[cfg(unix)]
fn open_plainly(path: &Path) -> Option<fs::File> {
    use std::os::unix::fs::OpenOptionsExt;
    let flags = libc::O_NOFOLLOW | libc::O_NONBLOCK | libc::O_CLOEXEC;
    fs::OpenOptions::new().read(true).custom_flags(flags).open(path).ok()
}

#[cfg(not(unix))]
fn open_plainly(path: &Path) -> Option<fs::File> {
    fs::symlink_metadata(path).ok().filter(fs::Metadata::is_file)?;
    fs::File::open(path).ok()
}

/// Does the file belong to this user, who alone can write to it?
#[cfg(unix)]
fn is_own(data: &fs::Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    data.uid() == user() && data.mode() & 0o022 == 0
}

#[cfg(not(unix))]
fn is_own(_: &fs::Metadata) -> bool {
    true
}

/// Written beside its place and renamed into it, so that a reader finds all of it or nothing.
fn put_in(folder: &Path, key: &Key, object: &[u8]) -> std::io::Result<()> {
    static COUNTER: AtomicU64 = AtomicU64::new(0);
    let number = COUNTER.fetch_add(1, Ordering::Relaxed);
    if number.is_multiple_of(PUTS_PER_LOOK) {
        prune(folder, MOST_BYTES)?;
    }
    let draft = folder.join(format!("{}.{}.{number}", key.name(), std::process::id()));
    let written = write_entry(&draft, object).and_then(|()| fs::rename(&draft, folder.join(key.name())));
    if written.is_err() {
        let _ = fs::remove_file(&draft);
    }
    written
}

/// Deletes the oldest entries until the rest takes at most half of `most` bytes, if all take more than that.
fn prune(folder: &Path, most: u64) -> std::io::Result<()> {
    let mut entries = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let data = entry.metadata()?;
        if data.is_file() {
            entries.push((data.modified()?, data.len(), entry.path()));
        }
    }
    let mut total: u64 = entries.iter().map(|(_, bytes, _)| bytes).sum();
    if total <= most {
        return Ok(());
    }
    entries.sort();
    for (_, bytes, path) in entries {
        if total <= most / 2 {
            break;
        }
        // Another process may have been faster.
        let _ = fs::remove_file(path);
        total -= bytes;
    }
    Ok(())
}

fn write_entry(path: &Path, object: &[u8]) -> std::io::Result<()> {
    let mut file = create_private(path)?;
    file.write_all(MAGIC)?;
    file.write_all(blake3::hash(object).as_bytes())?;
    file.write_all(object)
}

/// A new file that only this user may write to, whatever the process's mask allows.
fn create_private(path: &Path) -> std::io::Result<fs::File> {
    let mut options = fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fresh_folder(name: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("weft-cache-test-{}-{name}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        assert!(make_private(&folder));
        folder
    }

    #[test]
    fn what_was_put_is_found() {
        let folder = fresh_folder("found");
        let key = Key::new("test").with("a");
        assert_eq!(get_in(&folder, &key), None);
        put_in(&folder, &key, b"object").unwrap();
        assert_eq!(get_in(&folder, &key), Some(b"object".to_vec()));
        assert_eq!(get_in(&folder, &Key::new("test").with("b")), None);
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn parts_of_a_key_are_delimited() {
        assert_ne!(Key::new("k").with("ab").with("c").name(), Key::new("k").with("a").with("bc").name());
        assert_eq!(Key::new("k").with("ab").name(), Key::new("k").with("ab").name());
    }

    #[test]
    fn a_damaged_entry_is_a_miss() {
        let folder = fresh_folder("damaged");
        let key = Key::new("test");
        put_in(&folder, &key, b"some object code").unwrap();
        let path = folder.join(key.name());
        let whole = fs::read(&path).unwrap();
        for at in 0..whole.len() {
            let mut flipped = whole.clone();
            flipped[at] ^= 1;
            fs::write(&path, &flipped).unwrap();
            assert_eq!(get_in(&folder, &key), None, "byte {at}");
            fs::write(&path, &whole[..at]).unwrap();
            assert_eq!(get_in(&folder, &key), None, "cut at {at}");
        }
        fs::write(&path, &whole).unwrap();
        assert!(get_in(&folder, &key).is_some());
        fs::remove_dir_all(folder).unwrap();
    }

    /// What stands in an entry's place and is no plain file of this user's, with what may be in its stead.
    #[cfg(unix)]
    #[test]
    fn only_plain_files_are_entries() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let folder = fresh_folder("plain");
        let key = Key::new("test");
        put_in(&folder, &key, b"object").unwrap();
        let (path, away) = (folder.join(key.name()), folder.with_extension("away"));
        fs::rename(&path, &away).unwrap();
        let pipe = |path: &Path| assert!(std::process::Command::new("mkfifo").arg(path).status().unwrap().success());
        let places: [&dyn Fn(&Path); 6] = [
            &pipe,
            &|path| symlink(&away, path).unwrap(),
            &|path| symlink("/dev/zero", path).unwrap(),
            &|path| symlink(path, path).unwrap(),
            &|path| {
                fs::copy(&away, path).unwrap();
                fs::set_permissions(path, fs::Permissions::from_mode(0o666)).unwrap();
            },
            &|path| fs::File::create(path).unwrap().set_len(MOST_BYTES + 1).unwrap(),
        ];
        for (i, place) in places.iter().enumerate() {
            place(&path);
            assert_eq!(get_in(&folder, &key), None, "place {i}");
            put_in(&folder, &key, b"anew").unwrap();
            assert_eq!(get_in(&folder, &key), Some(b"anew".to_vec()), "place {i}");
            fs::remove_file(&path).unwrap();
        }
        fs::create_dir(&path).unwrap();
        assert_eq!(get_in(&folder, &key), None);
        assert!(put_in(&folder, &key, b"anew").is_err());
        fs::remove_file(away).unwrap();
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn old_entries_make_room() {
        let folder = fresh_folder("full");
        let key = |i: u64| Key::new("test").with(i.to_le_bytes());
        for i in 0..10 {
            put_in(&folder, &key(i), &[0; 1000]).unwrap();
            let file = fs::File::options().append(true).open(folder.join(key(i).name())).unwrap();
            file.set_modified(std::time::UNIX_EPOCH + std::time::Duration::from_secs(i))
                .unwrap();
        }
        prune(&folder, 1 << 20).unwrap();
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 10);
        prune(&folder, 9000).unwrap();
        let left: Vec<u64> = (0..10).filter(|&i| get_in(&folder, &key(i)).is_some()).collect();
        assert_eq!(left, [6, 7, 8, 9]);
        fs::remove_dir_all(folder).unwrap();
    }

    #[cfg(unix)]
    #[test]
    fn a_folder_others_can_write_to_is_not_used() {
        use std::os::unix::fs::PermissionsExt;
        let folder = fresh_folder("foreign");
        for mode in [0o720, 0o702, 0o777] {
            fs::set_permissions(&folder, fs::Permissions::from_mode(mode)).unwrap();
            assert!(!make_private(&folder), "{mode:o}");
        }
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o755)).unwrap();
        assert!(make_private(&folder));
        fs::remove_dir_all(folder).unwrap();
    }
}
