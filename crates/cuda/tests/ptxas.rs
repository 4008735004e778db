//! Every kernel of the suite is taken by NVIDIA's own assembler, `ptxas`, and takes no more registers, stack and spills than it did.
//!
//! `ptxas` is that of the Python package `nvidia-cuda-nvcc` in `.venv`, or what `WEFT_PTXAS` names. Figures are in `tests/ptxas.txt`;
//! `WEFT_UPDATE=1 cargo test -p weft-cuda --test ptxas` writes them anew. What is not in the file has only to be taken.

#![allow(clippy::unwrap_used, clippy::panic)] // A test that cannot go on stops.

mod suite;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use suite::Case;
use weft_cuda::emit::Facts;
use weft_cuda::target::Target;
use weft_ir::random;

/// Architectures that figures are kept for.
const TARGETS: [u32; 4] = [75, 80, 90, 100];

/// Registers over the kept figure that are still no regression: the assembler's choices wander a little.
const SLACK: u32 = 4;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Figures {
    registers: u32,
    /// Bytes.
    stack: u32,
    spilled: u32,
    shared: u32,
}

#[test]
fn every_kernel_of_the_suite_assembles_as_well_as_before() {
    let cases = suite::kernels();
    assert!(cases.len() > 80, "only {} kernels", cases.len());
    let jobs: Vec<(&Case, u32)> = cases.iter().flat_map(|case| TARGETS.map(|sm| (case, sm))).collect();
    let found = in_parallel(&jobs, |(case, sm)| {
        (format!("{} sm_{sm}", case.name), assemble(case, *sm, Facts::ALL))
    });
    let mut figures = BTreeMap::new();
    let mut faults = Vec::new();
    for (name, result) in found {
        match result {
            Ok(made) => _ = figures.insert(name, made),
            Err(fault) => faults.push(format!("{name}: {fault}")),
        }
    }
    assert!(faults.is_empty(), "{} faults\n{}", faults.len(), faults.join("\n"));
    if std::env::var_os("WEFT_UPDATE").is_some() {
        std::fs::write(kept_path(), shown(&figures)).unwrap();
        return;
    }
    let kept = kept();
    let worse: Vec<String> = figures
        .iter()
        .filter_map(|(name, now)| Some((name, now, kept.get(name)?)))
        .filter(|(_, now, before)| is_worse(now, before))
        .map(|(name, now, before)| format!("{name}: {now:?}, before {before:?}"))
        .collect();
    assert!(worse.is_empty(), "WEFT_UPDATE=1 accepts these:\n{}", worse.join("\n"));
}

/// Without facts: wide indices, arrays that overlap.
#[test]
fn every_kernel_of_the_suite_assembles_without_facts() {
    all_assemble(&suite::kernels(), Facts::default());
}

#[test]
fn functions_assemble() {
    all_assemble(&suite::functions(), Facts::ALL);
}

#[test]
fn random_kernels_assemble() {
    let seeds = 0..std::env::var("WEFT_RANDOM_KERNELS").map_or(60, |n| n.parse().unwrap());
    let cases: Vec<Case> = seeds
        .map(|seed| Case {
            name: format!("seed {seed}"),
            module: random::kernel(seed).module,
        })
        .collect();
    all_assemble(&cases, Facts::ALL);
}

fn all_assemble(cases: &[Case], facts: Facts) {
    let jobs: Vec<(&Case, u32)> = cases.iter().zip(TARGETS.into_iter().cycle()).collect();
    let found = in_parallel(&jobs, |(case, sm)| (format!("{} sm_{sm}", case.name), assemble(case, *sm, facts)));
    let faults: Vec<String> = found
        .into_iter()
        .filter_map(|(name, result)| Some(format!("{name}: {}", result.err()?)))
        .collect();
    assert!(faults.is_empty(), "{} faults\n{}", faults.len(), faults.join("\n"));
}

/// On all cores, results in the jobs' order.
fn in_parallel<J: Sync, R: Send>(jobs: &[J], work: impl Fn(&J) -> R + Sync) -> Vec<R> {
    let (next, done) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    let Some(job) = jobs.get(at) else {
                        return;
                    };
                    let result = work(job);
                    done.lock().unwrap().push((at, result));
                }
            });
        }
    });
    let mut done = done.into_inner().unwrap();
    done.sort_by_key(|(at, _)| *at);
    done.into_iter().map(|(_, result)| result).collect()
}

fn assemble(case: &Case, sm: u32, facts: Facts) -> Result<Figures, String> {
    let target = Target::of_sm(sm).unwrap();
    let ptx = weft_cuda::compile_ptx(&case.module, target, facts).map_err(|error| format!("{error:?}"))?;
    let mut process = Command::new(ptxas())
        .args(["-v", "-arch", &target.cpu(), "-o", "/dev/null", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    process.stdin.take().unwrap().write_all(ptx.text.as_bytes()).unwrap();
    let output = process.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned() + &String::from_utf8_lossy(&output.stdout);
    if !output.status.success() {
        return Err(format!("{said}\n{}", ptx.text));
    }
    Ok(figures(&said))
}

/// The numbers of `ptxas -v`.
fn figures(said: &str) -> Figures {
    let before = |unit: &str| -> u32 {
        let found = said.split(unit).next().filter(|rest| rest.len() < said.len());
        let number = found.and_then(|rest| rest.rsplit(|c: char| !c.is_ascii_digit()).next());
        number.and_then(|n| n.parse().ok()).unwrap_or(0)
    };
    Figures {
        registers: before(" registers"),
        stack: before(" bytes stack frame"),
        spilled: before(" bytes spill stores"),
        shared: before(" bytes smem"),
    }
}

fn is_worse(now: &Figures, before: &Figures) -> bool {
    now.registers > before.registers + SLACK.max(before.registers / 10)
        || now.stack > before.stack
        || now.spilled > before.spilled
        || now.shared > before.shared
}

fn kept_path() -> PathBuf {
    suite::path("tests/ptxas.txt")
}

fn shown(figures: &BTreeMap<String, Figures>) -> String {
    let mut text = String::from("# registers, bytes of stack, bytes spilled, bytes of shared memory\n");
    for (name, made) in figures {
        let Figures {
            registers,
            stack,
            spilled,
            shared,
        } = made;
        let _ = writeln!(text, "{registers:3} {stack:5} {spilled:4} {shared:5}  {name}");
    }
    text
}

fn kept() -> BTreeMap<String, Figures> {
    let text = std::fs::read_to_string(kept_path()).unwrap();
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    lines
        .map(|line| {
            let mut words = line.split_whitespace();
            let mut number = || words.next().unwrap().parse().unwrap();
            let made = Figures {
                registers: number(),
                stack: number(),
                spilled: number(),
                shared: number(),
            };
            (words.collect::<Vec<_>>().join(" "), made)
        })
        .collect()
}

/// Where the assembler is.
fn ptxas() -> PathBuf {
    if let Some(path) = std::env::var_os("WEFT_PTXAS") {
        return path.into();
    }
    let root = suite::path("../..");
    let roots = [std::env::var_os("VIRTUAL_ENV").map(PathBuf::from), Some(root.join(".venv"))];
    let found = roots.into_iter().flatten().find_map(|venv| {
        let lib = below(&venv.join("lib"), "python3.")?.join("site-packages/nvidia");
        let path = below(&lib, "cu")?.join("bin/ptxas");
        path.exists().then_some(path)
    });
    found.unwrap_or_else(|| panic!("no ptxas: run scripts/setup.sh, or let WEFT_PTXAS name one"))
}

/// The first folder in a folder whose name starts so.
fn below(folder: &std::path::Path, start: &str) -> Option<PathBuf> {
    let mut found: Vec<PathBuf> = std::fs::read_dir(folder).ok()?.filter_map(|e| Some(e.ok()?.path())).collect();
    found.retain(|path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(start)));
    found.sort();
    found.into_iter().next()
}
