//! Settings: what the double pretends to be, from the environment:
//!
//! | variable | meaning | default |
//! |---|---|---|
//! | `WEFT_DOUBLE_DEVICES` | number of devices | 2 |
//! | `WEFT_DOUBLE_CC` | compute capability | 9.0 |
//! | `WEFT_DOUBLE_DRIVER` | driver version: 12080 is 12.8 | 13000 |
//! | `WEFT_DOUBLE_MEMORY` | bytes of memory per device; `k`, `m`, `g` may follow | 1g |
//! | `WEFT_DOUBLE_FAIL` | calls that fail: `cuInit=100,cuMemAllocAsync=2@5,cuLaunchKernel=719@3+`: every call, the fifth, the third and all after; `cuptiActivityRecord` is a record that is lost | none |
//! | `WEFT_DOUBLE_THREADS` | host threads a launch may use | as many as there are processors |
//! | `WEFT_DOUBLE_LIMIT` | instructions of a warp (in all of a launch) after which it times out | none |
//! | `WEFT_DOUBLE_VERBOSE` | 1: reports of failed checks also go to the standard error | 0 |

use std::collections::HashMap;
use std::env;

use crate::driver::lock;
use std::sync::Mutex;

#[derive(Clone, Debug)]
pub struct Settings {
    pub devices: i32,
    pub capability: (i32, i32),
    pub driver: i32,
    pub memory: u64,
    pub threads: usize,
    pub limit: Option<u64>,
    pub verbose: bool,
}

fn number<T: std::str::FromStr>(name: &str, default: T) -> T {
    env::var(name).ok().and_then(|v| v.trim().parse().ok()).unwrap_or(default)
}

fn bytes(text: &str) -> Option<u64> {
    let text = text.trim().to_ascii_lowercase();
    let digits = text.trim_end_matches(['k', 'm', 'g', 'b']);
    let scale = match text[digits.len()..].chars().next() {
        Some('k') => 1 << 10,
        Some('m') => 1 << 20,
        Some('g') => 1 << 30,
        _ => 1,
    };
    digits.parse::<u64>().ok()?.checked_mul(scale)
}

impl Settings {
    pub fn read() -> Settings {
        let capability = env::var("WEFT_DOUBLE_CC").ok();
        let capability = capability.as_deref().and_then(|text| {
            let (major, minor) = text.split_once('.').unwrap_or((text, "0"));
            Some((major.parse().ok()?, minor.parse().ok()?))
        });
        let processors = std::thread::available_parallelism().map_or(1, |n| n.get());
        Settings {
            devices: number("WEFT_DOUBLE_DEVICES", 2).clamp(0, 16),
            capability: capability.unwrap_or((9, 0)),
            driver: number("WEFT_DOUBLE_DRIVER", 13000),
            memory: env::var("WEFT_DOUBLE_MEMORY").ok().as_deref().and_then(bytes).unwrap_or(1 << 30),
            threads: number("WEFT_DOUBLE_THREADS", processors).max(1),
            limit: env::var("WEFT_DOUBLE_LIMIT").ok().and_then(|v| v.parse().ok()),
            verbose: number("WEFT_DOUBLE_VERBOSE", 0) != 0,
        }
    }
}

/// When a call fails.
#[derive(Clone, Copy, Debug, PartialEq)]
enum When {
    Always,
    At(u64),
    From(u64),
}

/// For each call: the code, when, and how often it was made.
type Plan = HashMap<String, (u32, When, u64)>;

/// The calls that are to fail, and how often each was made.
#[derive(Debug)]
pub struct Failures {
    plan: Mutex<Option<Plan>>,
}

fn parse(text: &str) -> Plan {
    let one = |item: &str| {
        let (name, what) = item.trim().split_once('=')?;
        let (code, when) = match what.split_once('@') {
            None => (what, When::Always),
            Some((code, at)) => (
                code,
                at.strip_suffix('+')
                    .map_or_else(|| at.parse().map(When::At), |at| at.parse().map(When::From))
                    .ok()?,
            ),
        };
        Some((name.trim().to_owned(), (code.parse().ok()?, when, 0)))
    };
    text.split(',').filter_map(one).collect()
}

impl Default for Failures {
    fn default() -> Self {
        Self::new()
    }
}

impl Failures {
    pub const fn new() -> Failures {
        Failures { plan: Mutex::new(None) }
    }

    /// Replaces the plan; calls are counted anew.
    pub fn set(&self, text: &str) {
        *lock(&self.plan) = Some(parse(text));
    }

    /// Counts a call; the code it must return instead of doing anything.
    pub fn check(&self, name: &str) -> Option<u32> {
        let mut plan = lock(&self.plan);
        let plan = plan.get_or_insert_with(|| parse(&env::var("WEFT_DOUBLE_FAIL").unwrap_or_default()));
        let (code, when, count) = plan.get_mut(name)?;
        *count += 1;
        let fails = match *when {
            When::Always => true,
            When::At(at) => *count == at,
            When::From(from) => *count >= from,
        };
        fails.then_some(*code)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_are_counted() {
        let failures = Failures::new();
        failures.set("cuA=100, cuB=2@2,cuC=719@2+");
        let codes = |name: &str| (0..3).map(|_| failures.check(name)).collect::<Vec<_>>();
        assert_eq!(codes("cuA"), [Some(100); 3]);
        assert_eq!(codes("cuB"), [None, Some(2), None]);
        assert_eq!(codes("cuC"), [None, Some(719), Some(719)]);
        assert_eq!(codes("cuD"), [None; 3]);
    }

    #[test]
    fn sizes() {
        assert_eq!(bytes("64m"), Some(64 << 20));
        assert_eq!(bytes("2G"), Some(2 << 30));
        assert_eq!(bytes("100"), Some(100));
        assert_eq!(bytes("x"), None);
    }
}
