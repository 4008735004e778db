//! What belongs to a thread of the host and outlives calls: the random numbers of `numpy.random` and of `random` in compiled functions.
//!
//! Each thread has two Mersenne Twisters (Matsumoto and Nishimura, ACM Trans. Model. Comput. Simul. 8, 1998) of its own, seeded with random
//! bits when it first draws, and again in a forked child: no two threads or processes give the same numbers unless they are told to.

use std::cell::Cell;
use std::hash::{BuildHasher, RandomState};
use std::io::Read;
use std::time::SystemTime;

use weft_ir::ThreadState;

const WORDS: usize = ThreadState::NumpyWords.len() - 1;

/// A thread's twister. Compiled code reads and writes it at its address, on that thread.
#[repr(C, align(8))]
#[derive(Clone, Debug)]
struct Twister {
    /// The words, and behind them how many have been used.
    words: [Cell<u32>; WORDS + 1],
    normal: [Cell<f64>; 2],
    /// One more than the number of forks when it was seeded; 0 if it was not.
    seeded: Cell<u32>,
}

impl Twister {
    const fn new() -> Twister {
        Twister {
            words: [const { Cell::new(0) }; WORDS + 1],
            normal: [const { Cell::new(0.0) }; 2],
            seeded: Cell::new(0),
        }
    }

    fn become_as(&self, other: &Twister) {
        self.words
            .iter()
            .zip(&other.words)
            .for_each(|(mine, theirs)| mine.set(theirs.get()));
        self.normal
            .iter()
            .zip(&other.normal)
            .for_each(|(mine, theirs)| mine.set(theirs.get()));
        self.seeded.set(other.seeded.get());
    }

    fn ready(&self) -> &Twister {
        let now = weft_forks::watch().wrapping_add(1);
        if self.seeded.get() != now {
            self.seed();
            self.seeded.set(now);
        }
        self
    }

    #[cold]
    fn seed(&self) {
        let mut bytes = [0; 4 * WORDS];
        random_bytes(&mut bytes);
        for (word, bytes) in self.words.iter().zip(bytes.as_chunks().0) {
            word.set(u32::from_le_bytes(*bytes));
        }
        // Words that are all 0 would stay so.
        self.words[0].set(1 << 31);
        self.words[WORDS].set(WORDS as u32);
        self.normal.iter().for_each(|normal| normal.set(0.0));
    }
}

thread_local! {
    static NUMPY: Twister = const { Twister::new() };
    static PYTHON: Twister = const { Twister::new() };
}

/// A thread's states, for another thread that does its work.
#[derive(Debug)]
pub struct Lent {
    numpy: Twister,
    python: Twister,
}

impl Lent {
    /// Those of the calling thread.
    pub fn of_this_thread() -> Lent {
        Lent {
            numpy: NUMPY.with(Twister::clone),
            python: PYTHON.with(Twister::clone),
        }
    }

    /// Makes them those of the calling thread.
    pub fn put(&self) {
        NUMPY.with(|own| own.become_as(&self.numpy));
        PYTHON.with(|own| own.become_as(&self.python));
    }
}

fn with<R>(state: ThreadState, ask: impl FnOnce(&Twister) -> R) -> R {
    match state {
        ThreadState::NumpyWords | ThreadState::NumpyNormal => NUMPY.with(|twister| ask(twister.ready())),
        ThreadState::PythonWords | ThreadState::PythonNormal => PYTHON.with(|twister| ask(twister.ready())),
    }
}

/// Where the calling thread's state lies, for as long as the thread lives.
pub fn address(state: ThreadState) -> *mut u8 {
    with(state, |twister| match state {
        ThreadState::NumpyWords | ThreadState::PythonWords => twister.words.as_ptr().cast_mut().cast(),
        ThreadState::NumpyNormal | ThreadState::PythonNormal => twister.normal.as_ptr().cast_mut().cast(),
    })
}

/// The calling thread's state as it lies in memory.
pub fn read(state: ThreadState) -> Vec<u8> {
    with(state, |twister| match state {
        ThreadState::NumpyWords | ThreadState::PythonWords => twister.words.iter().flat_map(|word| word.get().to_ne_bytes()).collect(),
        ThreadState::NumpyNormal | ThreadState::PythonNormal => twister.normal.iter().flat_map(|x| x.get().to_ne_bytes()).collect(),
    })
}

/// Makes the calling thread's state what [`read`] gave, as it has become meanwhile.
pub fn write(state: ThreadState, bytes: &[u8]) {
    with(state, |twister| match state {
        ThreadState::NumpyWords | ThreadState::PythonWords => {
            let words = twister.words.iter().zip(bytes.as_chunks().0);
            words.for_each(|(word, bytes)| word.set(u32::from_ne_bytes(*bytes)));
        }
        ThreadState::NumpyNormal | ThreadState::PythonNormal => {
            let normal = twister.normal.iter().zip(bytes.as_chunks().0);
            normal.for_each(|(x, bytes)| x.set(f64::from_ne_bytes(*bytes)));
        }
    });
}

/// Bits from the system; where it gives none, from the keys that it gave the standard library's hash tables.
fn random_bytes(bytes: &mut [u8]) {
    let from_system = cfg!(unix) && std::fs::File::open("/dev/urandom").is_ok_and(|mut file| file.read_exact(bytes).is_ok());
    if !from_system {
        let (keys, now) = (RandomState::new(), SystemTime::now());
        for (place, chunk) in bytes.chunks_mut(8).enumerate() {
            let bits = keys.hash_one((place, now, std::process::id())).to_le_bytes();
            chunk.copy_from_slice(&bits[..chunk.len()]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_thread_has_its_own_and_keeps_it() {
        let own = read(ThreadState::NumpyWords);
        assert_eq!(own, read(ThreadState::NumpyWords));
        assert_eq!(own.len(), 4 * (WORDS + 1));
        assert_ne!(own, read(ThreadState::PythonWords));
        let other = std::thread::spawn(|| read(ThreadState::NumpyWords)).join();
        assert!(other.is_ok_and(|other| other != own));
    }

    #[test]
    fn another_thread_goes_on_with_what_is_lent() {
        let own = read(ThreadState::NumpyWords);
        let lent = Lent::of_this_thread();
        let other = std::thread::spawn(move || {
            lent.put();
            let seen = read(ThreadState::NumpyWords);
            write(ThreadState::NumpyNormal, &[7; 16]);
            (seen, Lent::of_this_thread())
        });
        let Ok((seen, back)) = other.join() else {
            panic!("the thread panicked")
        };
        assert_eq!(seen, own);
        back.put();
        assert_eq!(read(ThreadState::NumpyNormal), [7; 16]);
    }

    #[test]
    fn what_is_written_is_read() {
        for &state in ThreadState::ALL {
            let bytes: Vec<u8> = (0..state.len() * state.elem().size()).map(|i| i as u8).collect();
            write(state, &bytes);
            assert_eq!(read(state), bytes);
            assert_eq!(address(state) as usize % state.elem().size(), 0);
        }
    }
}
