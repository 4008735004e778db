//! `vprintf`, as C programs and LLVM call it: a format and a packed list of arguments.

use std::io::Write;

use super::inst::{CallSite, window};
use super::launch::Launch;
use super::warp::Warp;

impl Warp {
    /// Prints one line for one lane to the standard output.
    pub(super) fn printf(&mut self, launch: &Launch, site: &CallSite, lane: usize) {
        let base = self.local_base[lane];
        let (format, arguments) = (self.argument(site, lane, 0), self.argument(site, lane, 1));
        let format = self.text(launch, lane, format);
        let (text, count) = self.formatted(launch, lane, &format, arguments);
        let mut out = std::io::stdout().lock();
        // Output that cannot be written is lost, as the device's is.
        _ = out.write_all(&text).and_then(|()| out.flush());
        if let Some(result) = site.results.first() {
            let at = (base + result.0) as usize;
            self.local[lane][at..at + 4].copy_from_slice(&count.to_le_bytes());
        }
    }

    /// What `__assertfail` was given: the condition, the file, the line and the function.
    pub(super) fn failed_assertion(&self, launch: &Launch, site: &CallSite, lane: usize) -> String {
        let text = |index| String::from_utf8_lossy(&self.text(launch, lane, self.argument(site, lane, index))).into_owned();
        let number = self.argument(site, lane, 2) as u32;
        format!("{}:{number}: {}: assertion `{}` failed", text(1), text(3), text(0))
    }

    /// An argument of a call that no function of the module takes.
    fn argument(&self, site: &CallSite, lane: usize, index: usize) -> u64 {
        let (offset, bytes) = site.arguments[index];
        let at = (self.local_base[lane] + offset) as usize;
        let bytes = self.local[lane].get(at..at + bytes.min(8) as usize);
        bytes.map_or(0, |b| b.iter().rev().fold(0, |v, b| v << 8 | u64::from(*b)))
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

    /// The line, and how many arguments went into it.
    fn formatted(&self, launch: &Launch, lane: usize, format: &[u8], arguments: u64) -> (Vec<u8>, u32) {
        let (mut out, mut count) = (Vec::new(), 0);
        let mut at = arguments;
        let mut next = |bytes: u64| {
            count += 1;
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
            let sign = |negative: bool| if spec.contains(&b'+') && !negative { "+" } else { "" };
            let digits: String = spec.iter().filter(|b| b"+- #0123456789.".contains(b)).map(|b| *b as char).collect();
            let text = match conversion {
                b'%' => "%".to_owned(),
                b'd' | b'i' => {
                    let value = if long { next(8) as i64 } else { i64::from(next(4) as i32) };
                    format!("{}{value}", sign(value < 0))
                }
                b'u' if long => next(8).to_string(),
                b'u' => next(4).to_string(),
                b'x' => format!("{:x}", next(if long { 8 } else { 4 })),
                b'X' => format!("{:X}", next(if long { 8 } else { 4 })),
                b'o' => format!("{:o}", next(if long { 8 } else { 4 })),
                b'c' => char::from(next(4) as u8).to_string(),
                b'p' => format!("0x{:x}", next(8)),
                b's' => String::from_utf8_lossy(&self.text(launch, lane, next(8))).into_owned(),
                b'f' | b'g' | b'e' => {
                    let value = f64::from_bits(next(8));
                    format!("{}{}", sign(value.is_sign_negative()), float(value, &digits, conversion))
                }
                other => format!("%{}", char::from(other)),
            };
            out.extend(padded(text, &digits).into_bytes());
        }
        (out, count)
    }
}

/// `%f`, `%e` and `%g` as C has them.
fn float(value: f64, digits: &str, conversion: u8) -> String {
    if !value.is_finite() {
        return value.to_string().to_ascii_lowercase();
    }
    // More digits than any float has are of no use.
    let precision = digits.split_once('.').map_or(6, |(_, p)| p.parse().unwrap_or(0)).min(1100);
    match conversion {
        b'f' => format!("{value:.precision$}"),
        b'e' => exponential(value, precision),
        _ => {
            let significant = precision.max(1);
            let written = exponential(value, significant - 1);
            let exponent: i32 = written.split_once('e').and_then(|(_, e)| e.parse().ok()).unwrap_or(0);
            if (-4..significant as i32).contains(&exponent) {
                let text = format!("{value:.*}", (significant as i32 - 1 - exponent) as usize);
                return without_zeros(&text).to_owned();
            }
            let (mantissa, exponent) = written.split_once('e').unwrap_or((&written, "+00"));
            format!("{}e{exponent}", without_zeros(mantissa))
        }
    }
}

/// `1.50e+03`
fn exponential(value: f64, precision: usize) -> String {
    let text = format!("{value:.precision$e}");
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let (sign, size) = exponent.strip_prefix('-').map_or(('+', exponent), |size| ('-', size));
    format!("{mantissa}e{sign}{size:0>2}")
}

fn without_zeros(text: &str) -> &str {
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.')
    } else {
        text
    }
}

/// The widest field: wider ones are nobody's wish.
const MOST: usize = 1 << 12;

fn padded(text: String, digits: &str) -> String {
    let width = digits.split('.').next().unwrap_or("");
    let left = width.contains('-');
    let zeros = width.trim_start_matches(['+', ' ', '#']).starts_with('0');
    let width: usize = width.trim_start_matches(['+', '-', ' ', '#', '0']).parse().unwrap_or(0).min(MOST);
    match (left, zeros) {
        (true, _) => format!("{text:<width$}"),
        (_, true) if text.len() < width && text.starts_with('-') => format!("-{:0>w$}", &text[1..], w = width - 1),
        (_, true) => format!("{text:0>width$}"),
        _ => format!("{text:>width$}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_are_written_as_in_c() {
        let written = |value, digits, conversion| float(value, digits, conversion);
        assert_eq!(written(1234.5, "", b'e'), "1.234500e+03");
        assert_eq!(written(0.00012, ".2", b'e'), "1.20e-04");
        assert_eq!(written(1234.5, "", b'g'), "1234.5");
        assert_eq!(written(1e-5, "", b'g'), "1e-05");
        assert_eq!(written(1e6, "", b'g'), "1e+06");
        assert_eq!(written(100000.0, "", b'g'), "100000");
        assert_eq!(written(0.5, ".0", b'f'), "0");
        assert_eq!(written(f64::NEG_INFINITY, "", b'f'), "-inf");
        assert_eq!(padded("-5".to_owned(), "05"), "-0005");
    }
}
