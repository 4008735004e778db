//! Profiling: a record of what devices did and when: launches, copies, compiles. Nothing is recorded unless a session is open, and then
//! asking is one relaxed load.
//!
//! A device that works later than it is asked to defers its rows: they are worked out when the session ends.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use weft_forks::{Locked, Once, Turn};

use crate::{DeviceId, DeviceKind};

/// What a session recorded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recorded {
    /// By start time.
    pub rows: Vec<Row>,
    /// Launches and copies whose times never arrived.
    pub missing: usize,
    /// What timed the work of devices whose times may come from one thing or another, in words.
    pub timers: Vec<(DeviceKind, String)>,
}

/// One thing a device or the compiler did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    pub what: Activity,
    /// The kernel's name; that of the copy or fill in a word.
    pub name: String,
    pub device: DeviceId,
    /// The stream's raw handle.
    pub stream: u64,
    /// Nanoseconds since the process first asked for the time.
    pub start_ns: u64,
    pub duration_ns: u64,
    /// Of copies and fills.
    pub bytes: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Activity {
    Kernel,
    Graph,
    CopyToDevice,
    CopyToHost,
    /// Between memories of one device.
    CopyOnDevice,
    /// From another device.
    CopyToPeer,
    Fill,
    Compile,
}

impl Activity {
    /// What the rows of a copy or fill are called.
    pub const fn name(self) -> &'static str {
        match self {
            Activity::Kernel => "kernel",
            Activity::Graph => "graph",
            Activity::CopyToDevice => "copy to device",
            Activity::CopyToHost => "copy to host",
            Activity::CopyOnDevice => "copy on device",
            Activity::CopyToPeer => "copy to peer",
            Activity::Fill => "fill",
            Activity::Compile => "compile",
        }
    }
}

/// Rows that are known when the work is done.
pub type Deferred = Box<dyn FnOnce() -> Option<Row> + Send>;

enum Entry {
    Known(Row),
    Later(Deferred),
}

#[derive(Default)]
struct Record {
    /// Sessions that are open.
    open: usize,
    entries: Vec<Entry>,
    timers: Vec<(DeviceKind, String)>,
    /// What is to be done when the last session closes.
    over: Vec<Over>,
}

/// Ends what times devices. Must not come back to this module, whose lock is held.
pub type Over = Box<dyn FnOnce() + Send>;

/// How many sessions are open; a copy of `Record::open` that is read without a lock.
static OPEN: AtomicUsize = AtomicUsize::new(0);
static RECORD: weft_forks::Mutex<Record> = weft_forks::Mutex::new(Record {
    open: 0,
    entries: Vec::new(),
    timers: Vec::new(),
    over: Vec::new(),
});

fn the_record() -> Locked<'static, Record> {
    RECORD.lock()
}

/// Is anything to be recorded?
#[inline]
pub fn is_on() -> bool {
    OPEN.load(Ordering::Relaxed) != 0
}

/// Nanoseconds on the clock that rows use.
pub fn now_ns() -> u64 {
    static EPOCH: Once<Instant> = Once::new();
    EPOCH.get_or_init(Instant::now).elapsed().as_nanos() as u64
}

/// Adds a row, if a session is open.
pub fn record(row: Row) {
    push(Entry::Known(row));
}

/// Adds a row that is worked out when the session ends. `row` may wait for the device.
pub fn defer(row: Deferred) {
    push(Entry::Later(row));
}

fn push(entry: Entry) {
    let mut record = the_record();
    if record.open > 0 {
        record.entries.push(entry);
    }
}

/// Says what times a kind of device until the last session closes, and what is to be done then: before another session can start.
pub fn timed_by(kind: DeviceKind, words: String, over: Over) {
    let mut record = the_record();
    if record.open == 0 {
        return over();
    }
    record.timers.push((kind, words));
    record.over.push(over);
}

/// Runs a function on the calling thread and records it as one row.
pub fn timed<T>(what: Activity, name: &str, device: DeviceId, bytes: u64, work: impl FnOnce() -> T) -> T {
    if !is_on() {
        return work();
    }
    let start_ns = now_ns();
    let result = work();
    record(Row {
        what,
        name: name.into(),
        device,
        stream: 0,
        start_ns,
        duration_ns: now_ns() - start_ns,
        bytes,
    });
    result
}

/// Records from when it is made until it is stopped or dropped. Sessions may overlap; each gets all that happened while it was open.
#[derive(Debug)]
pub struct Session {
    /// Entries recorded before it.
    skip: usize,
    done: bool,
}

impl Session {
    pub fn start() -> Session {
        let _ = now_ns();
        let mut record = the_record();
        record.open += 1;
        OPEN.store(record.open, Ordering::Relaxed);
        Session {
            skip: record.entries.len(),
            done: false,
        }
    }

    /// What happened since `start`. Waits for work on devices that is not done.
    pub fn stop(mut self) -> Recorded {
        settle(self.skip);
        let record = the_record();
        let mut recorded = Recorded {
            timers: record.timers.clone(),
            ..Recorded::default()
        };
        for entry in record.entries.get(self.skip..).unwrap_or(&[]) {
            match entry {
                Entry::Known(row) => recorded.rows.push(row.clone()),
                Entry::Later(_) => recorded.missing += 1,
            }
        }
        drop(record);
        self.close();
        recorded.rows.sort_by_key(|row| row.start_ns);
        recorded
    }

    fn close(&mut self) {
        if std::mem::replace(&mut self.done, true) {
            return;
        }
        let mut record = the_record();
        record.open -= 1;
        OPEN.store(record.open, Ordering::Relaxed);
        let mut left = Vec::new();
        if record.open == 0 {
            left = std::mem::take(&mut record.entries);
            record.timers.clear();
            for over in std::mem::take(&mut record.over) {
                over();
            }
        }
        drop(record);
        // Outside the lock: what is dropped may call a driver.
        drop(left);
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.close();
    }
}

/// Works out what was deferred since an entry. The record's lock is not held while devices are waited for; sessions that end together take
/// turns, since each is to see what another is working out.
fn settle(from: usize) {
    static TURN: Turn = Turn::new();
    let _turn = TURN.take();
    for at in from.. {
        let later = match the_record().entries.get_mut(at) {
            None => return,
            Some(Entry::Known(_)) => continue,
            Some(entry @ Entry::Later(_)) => std::mem::replace(entry, Entry::Later(Box::new(|| None))),
        };
        if let Entry::Later(row) = later
            && let Some(row) = row()
            && let Some(entry) = the_record().entries.get_mut(at)
        {
            *entry = Entry::Known(row);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;

    use super::*;

    fn row(name: &str, start_ns: u64) -> Row {
        Row {
            what: Activity::Kernel,
            name: name.into(),
            device: DeviceId::CPU,
            stream: 0,
            start_ns,
            duration_ns: 1,
            bytes: 0,
        }
    }

    static OVER: AtomicBool = AtomicBool::new(false);

    /// One test, since the record is the process's.
    #[test]
    fn sessions_get_what_happened_while_they_were_open() {
        record(row("before", 0));
        assert!(!is_on());
        let outer = Session::start();
        record(row("b", 2));
        let inner = Session::start();
        defer(Box::new(|| Some(row("a", 1))));
        defer(Box::new(|| None));
        timed_by(DeviceKind::Cuda, "a clock".into(), Box::new(|| OVER.store(true, Ordering::Relaxed)));
        let stopped = inner.stop();
        assert_eq!(stopped.rows, [row("a", 1)]);
        assert_eq!((stopped.missing, stopped.timers), (1, vec![(DeviceKind::Cuda, "a clock".into())]));
        assert!(is_on() && !OVER.load(Ordering::Relaxed));
        timed(Activity::Compile, "c", DeviceId::CPU, 0, || ());
        let rows = outer.stop().rows;
        assert!(OVER.swap(false, Ordering::Relaxed));
        assert_eq!(rows.iter().filter(|row| row.what == Activity::Compile).count(), 1);
        let known: Vec<String> = rows
            .into_iter()
            .filter(|row| row.what == Activity::Kernel)
            .map(|row| row.name)
            .collect();
        assert_eq!(known, ["a", "b"]);
        assert!(!is_on());
        let next = Session::start();
        assert_eq!(next.stop(), Recorded::default());
        timed_by(
            DeviceKind::Cuda,
            "too late".into(),
            Box::new(|| OVER.store(true, Ordering::Relaxed)),
        );
        assert!(OVER.load(Ordering::Relaxed));
    }
}
