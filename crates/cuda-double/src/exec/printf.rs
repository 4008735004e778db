//! `vprintf`, as C programs and LLVM call it: a format and a packed list of arguments.

use std::io::Write;

use super::inst::{CallSite, window};
use super::launch::Launch;
use super::warp::Warp;

impl Warp {
    /// Prints one line for one lane to the standard output.
    pub(super) fn printf(&mut self, launch: &Launch, site: &CallSite, lane: usize) {
        let base = self.local_base[lane];
        let argument = |index: usize, warp: &Warp| {
            let at = (base + site.arguments[index].0) as usize;
            warp.local[lane]
                .get(at..at + 8)
                .map_or(0, |b| b.iter().rev().fold(0, |v, b| v << 8 | u64::from(*b)))
        };
        let (format, arguments) = (argument(0, self), argument(1, self));
        let format = self.text(launch, lane, format);
        let text = self.formatted(launch, lane, &format, arguments);
        let mut out = std::io::stdout().lock();
        // Output that cannot be written is lost, as the device's is.
        _ = out.write_all(&text).and_then(|()| out.flush());
        if let Some(result) = site.results.first() {
            let at = (base + result.0) as usize;
            self.local[lane][at..at + 4].copy_from_slice(&0u32.to_le_bytes());
        }
    }

    fn byte(&self, launch: &Launch, lane: usize, address: u64) -> Option<u8> {
        if (window::LOCAL..window::LOCAL + window::SIZE).contains(&address) {
            return self.local[lane].get((address - window::LOCAL) as usize).copied();
        }
        let region = launch.table.containing(address)?;
        Some(region.span(address, 1)?.read(1) as u8)
    }

    fn text(&self, launch: &Launch, lane: usize, address: u64) -> Vec<u8> {
        (0..1 << 16)
            .map_while(|i| self.byte(launch, lane, address + i).filter(|b| *b != 0))
            .collect()
    }

    fn formatted(&self, launch: &Launch, lane: usize, format: &[u8], arguments: u64) -> Vec<u8> {
        let mut out = Vec::new();
        let mut at = arguments;
        let mut next = |bytes: u64| {
            at = at.next_multiple_of(bytes);
            let value = (0..bytes)
                .rev()
                .fold(0u64, |v, i| v << 8 | u64::from(self.byte(launch, lane, at + i).unwrap_or(0)));
            at += bytes;
            value
        };
        let mut rest = format;
        while let Some((first, tail)) = rest.split_first() {
            rest = tail;
            if *first != b'%' {
                out.push(*first);
                continue;
            }
            let end = rest
                .iter()
                .position(|b| b.is_ascii_alphabetic() && !b"lhjzt".contains(b) || *b == b'%')
                .unwrap_or(rest.len());
            let (spec, conversion) = (&rest[..end], rest.get(end).copied().unwrap_or(b'%'));
            rest = rest.get(end + 1..).unwrap_or(&[]);
            let long = spec.iter().any(|b| b"ljzt".contains(b));
            let digits: String = spec.iter().filter(|b| b"+- #0123456789.".contains(b)).map(|b| *b as char).collect();
            let text = match conversion {
                b'%' => "%".to_owned(),
                b'd' | b'i' if long => (next(8) as i64).to_string(),
                b'd' | b'i' => (next(4) as i32).to_string(),
                b'u' if long => next(8).to_string(),
                b'u' => next(4).to_string(),
                b'x' if long => format!("{:x}", next(8)),
                b'x' => format!("{:x}", next(4)),
                b'c' => char::from(next(4) as u8).to_string(),
                b'p' => format!("0x{:x}", next(8)),
                b's' => String::from_utf8_lossy(&self.text(launch, lane, next(8))).into_owned(),
                b'f' | b'g' | b'e' => float(f64::from_bits(next(8)), &digits, conversion),
                other => format!("%{}", char::from(other)),
            };
            out.extend(padded(text, &digits).into_bytes());
        }
        out
    }
}

fn float(value: f64, digits: &str, conversion: u8) -> String {
    let precision = digits.split_once('.').and_then(|(_, p)| p.parse().ok()).unwrap_or(6);
    match conversion {
        b'f' => format!("{value:.precision$}"),
        b'e' => format!("{value:.precision$e}"),
        _ => format!("{value}"),
    }
}

fn padded(text: String, digits: &str) -> String {
    let width = digits.split('.').next().unwrap_or("");
    let left = width.contains('-');
    let zeros = width.trim_start_matches(['+', ' ', '#']).starts_with('0');
    let width: usize = width.trim_start_matches(['+', '-', ' ', '#', '0']).parse().unwrap_or(0);
    match (left, zeros) {
        (true, _) => format!("{text:<width$}"),
        (_, true) if text.len() < width && text.starts_with('-') => format!("-{:0>w$}", &text[1..], w = width - 1),
        (_, true) => format!("{text:0>width$}"),
        _ => format!("{text:>width$}"),
    }
}
