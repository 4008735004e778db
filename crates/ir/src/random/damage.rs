//! Damaged copies of bytes, for testing what reads them.

use super::rng::Rng;

/// The bytes with one to four things wrong: some changed, cut off, left out, repeated or moved.
pub fn damage(seed: u64, bytes: &[u8]) -> Vec<u8> {
    let mut rng = Rng::new(seed);
    let mut damaged = bytes.to_vec();
    for _ in 0..1 + rng.below(4) {
        if damaged.is_empty() {
            break;
        }
        once(&mut rng, &mut damaged);
    }
    damaged
}

/// Values that lengths, offsets and counts break at.
const HARD: [u64; 8] = [0, 1, 0x7f, 0xff, 0x7fff_ffff, 0xffff_ffff, i64::MAX as u64, u64::MAX];

fn once(rng: &mut Rng, bytes: &mut Vec<u8>) {
    let at = rng.below(bytes.len() as u64) as usize;
    let end = (at + 1 + rng.below(24) as usize).min(bytes.len());
    match rng.below(7) {
        0 => bytes[at] ^= 1 << rng.below(8),
        1 => bytes[at] = rng.next() as u8,
        2 => bytes.truncate(at),
        3 => drop(bytes.drain(at..end)),
        4 => {
            let piece = bytes[at..end].to_vec();
            let place = rng.below(bytes.len() as u64) as usize;
            bytes.splice(place..place, piece);
        }
        5 => {
            let piece = bytes[at..end].to_vec();
            let place = rng.below(bytes.len() as u64) as usize;
            let until = (place + piece.len()).min(bytes.len());
            bytes.splice(place..until, piece);
        }
        _ => {
            let word = rng.pick(&HARD).to_le_bytes();
            let until = (at + 8).min(bytes.len());
            bytes[at..until].copy_from_slice(&word[..until - at]);
        }
    }
}
