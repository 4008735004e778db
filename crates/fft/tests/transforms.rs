//! Transforms of arrays against sums of what their definition says.

use std::f64::consts::TAU;
use std::ops::Range;

use weft_fft::{Complex, Elements, Error, Host, Job, Kind, Out, Strided, transform};

/// Units one by one, or as threads would take them.
struct Threads(usize);

impl Host for Threads {
    fn threads(&self) -> usize {
        self.0
    }

    fn share(&self, units: u64, work: &(dyn Fn(Range<u64>) -> bool + Sync)) {
        std::thread::scope(|scope| {
            for thread in 0..self.0 as u64 {
                let step = self.0 as u64;
                scope.spawn(move || (thread..units).step_by(step as usize).all(|unit| work(unit..unit + 1)));
            }
        });
    }

    fn interrupted(&self) -> bool {
        false
    }
}

struct Impatient;

impl Host for Impatient {
    fn threads(&self) -> usize {
        1
    }

    fn share(&self, units: u64, work: &(dyn Fn(Range<u64>) -> bool + Sync)) {
        work(0..units);
    }

    fn interrupted(&self) -> bool {
        true
    }
}

/// Numbers without a pattern, from -1 to 1.
fn number(seed: usize) -> f64 {
    let mixed = (seed as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (mixed ^ (mixed >> 29)).wrapping_mul(0xBF58_476D_1CE4_E5B9) as i64 as f64 / i64::MAX as f64
}

/// The elements of an array in C's order, wherever they are.
fn listed(shape: &[usize], strides: &[isize], first: usize) -> Vec<usize> {
    let mut found = vec![first as isize];
    for (&n, &stride) in shape.iter().zip(strides) {
        found = found.iter().flat_map(|at| (0..n).map(move |i| at + i as isize * stride)).collect();
    }
    found.into_iter().map(|at| at as usize).collect()
}

/// The sums along one axis of an array in C's order, of as many elements as are asked for; what is not there is zero.
fn along(elements: &[Complex<f64>], shape: &mut [usize], axis: usize, n: usize, made: usize, sign: f64) -> Vec<Complex<f64>> {
    let inner: usize = shape[axis + 1..].iter().product();
    let outer: usize = shape[..axis].iter().product();
    let had = shape[axis];
    let mut found = Vec::new();
    for o in 0..outer {
        for k in 0..made {
            for i in 0..inner {
                let term = |j: usize| elements[(o * had + j) * inner + i] * Complex::cis(sign * TAU * ((j * k) % n) as f64 / n as f64);
                found.push((0..n.min(had)).map(term).sum());
            }
        }
    }
    shape[axis] = made;
    found
}

/// What the definition says of a job.
fn expected(elements: Vec<Complex<f64>>, shape: &[usize], job: &Job<'_>) -> Vec<Complex<f64>> {
    let sign = if job.forward { -1.0 } else { 1.0 };
    let (mut found, mut shape) = (elements, shape.to_vec());
    let last = job.axes.len() - 1;
    for (i, (&axis, &n)) in job.axes.iter().zip(job.lengths).enumerate() {
        if i == last && job.kind == Kind::ToReal {
            (found, shape) = hermitian(&found, &shape, axis, n);
        }
        let made = if i == last && job.kind == Kind::FromReal { n / 2 + 1 } else { n };
        found = along(&found, &mut shape, axis, n, made, sign);
    }
    found.iter().map(|z| z * job.factor).collect()
}

/// Whole lines of a half: conjugates opposite, and ends without imaginary parts.
fn hermitian(elements: &[Complex<f64>], shape: &[usize], axis: usize, n: usize) -> (Vec<Complex<f64>>, Vec<usize>) {
    let inner: usize = shape[axis + 1..].iter().product();
    let outer: usize = shape[..axis].iter().product();
    let had = shape[axis];
    let mut found = Vec::new();
    for o in 0..outer {
        for k in 0..n {
            for i in 0..inner {
                let at = k.min(n - k);
                let z = if at < had {
                    elements[(o * had + at) * inner + i]
                } else {
                    Complex::new(0.0, 0.0)
                };
                let is_end = 2 * k == n || k == 0;
                found.push(if is_end {
                    z.re.into()
                } else if k == at {
                    z
                } else {
                    z.conj()
                });
            }
        }
    }
    let mut shape = shape.to_vec();
    shape[axis] = n;
    (found, shape)
}

/// Memory that an array lies in: plain, with gaps, backwards, or with its axes turned around.
fn layouts(shape: &[usize]) -> Vec<(usize, Vec<isize>, usize)> {
    let mut plain = vec![1isize; shape.len()];
    for axis in (1..shape.len()).rev() {
        plain[axis - 1] = plain[axis] * shape[axis] as isize;
    }
    let mut turned = vec![1isize; shape.len()];
    for axis in 1..shape.len() {
        turned[axis] = turned[axis - 1] * shape[axis - 1] as isize;
    }
    let count: usize = shape.iter().product();
    let backwards = plain.iter().map(|s| -s).collect();
    let gaps = plain.iter().map(|s| s * 3).collect();
    vec![
        (0, plain, count),
        (count - 1, backwards, count),
        (2, gaps, 3 * count),
        (0, turned, count),
    ]
}

fn check(shape: &[usize], job: &Job<'_>, is_real: bool, host: &dyn Host) {
    for (first, strides, memory) in layouts(shape) {
        let parts: Vec<f64> = (0..memory).map(number).collect();
        let wholes: Vec<Complex<f64>> = (0..memory)
            .map(|i| Complex::new(parts[i], if is_real { 0.0 } else { number(i + memory) }))
            .collect();
        let elements = if is_real {
            Elements::Real(&parts[..])
        } else {
            Elements::Complex(&wholes[..])
        };
        let given = listed(shape, &strides, first).into_iter().map(|at| wholes[at]).collect();
        let wanted = expected(given, shape, job);
        let from = Strided {
            elements,
            first,
            shape,
            strides: &strides,
        };
        let mut reals = vec![f64::NAN; wanted.len()];
        let mut complex = vec![Complex::new(f64::NAN, f64::NAN); wanted.len()];
        if job.kind == Kind::ToReal {
            transform(&from, job, Out::Real(&mut reals), host).expect("a valid job");
            complex = reals.iter().map(|&x| x.into()).collect();
        } else {
            transform(&from, job, Out::Complex(&mut complex), host).expect("a valid job");
        }
        let points: usize = job.lengths.iter().product();
        let bound = 4e-16 * points as f64 * job.factor * (points as f64).log2().max(1.0);
        for (at, (found, wanted)) in complex.iter().zip(&wanted).enumerate() {
            assert!(
                (found - wanted).norm() <= bound,
                "{shape:?} {strides:?} {job:?} at {at}: {found} for {wanted}"
            );
        }
    }
}

fn check_kinds(shape: &[usize], axes: &[usize], lengths: &[usize], host: &dyn Host) {
    for forward in [true, false] {
        for (kind, is_real) in [
            (Kind::Complex, false),
            (Kind::Complex, true),
            (Kind::FromReal, true),
            (Kind::ToReal, false),
            (Kind::ToReal, true),
        ] {
            let factor = if forward { 1.0 } else { 0.125 };
            check(
                shape,
                &Job {
                    kind,
                    forward,
                    axes,
                    lengths,
                    factor,
                },
                is_real,
                host,
            );
        }
    }
}

#[test]
fn lines_of_any_length() {
    for n in (1..40).chain([60, 61, 64, 105, 256, 257]) {
        check_kinds(&[n], &[0], &[n], &Threads(1));
    }
}

#[test]
fn lines_that_are_cut_or_continued() {
    for had in [1, 2, 5, 8] {
        for n in [1, 2, 3, 4, 6, 7, 8, 9, 11] {
            check_kinds(&[had], &[0], &[n], &Threads(1));
            check_kinds(&[2, had, 3], &[1], &[n], &Threads(1));
        }
    }
}

#[test]
fn any_axes() {
    let shape = [3, 4, 5];
    for axes in [&[0][..], &[1], &[2], &[0, 1], &[1, 0], &[2, 0], &[0, 2], &[0, 1, 2], &[2, 1, 0]] {
        let same: Vec<usize> = axes.iter().map(|&axis| shape[axis]).collect();
        let other: Vec<usize> = same
            .iter()
            .enumerate()
            .map(|(i, n)| if i % 2 == 0 { n + 2 } else { n - 1 })
            .collect();
        check_kinds(&shape, axes, &same, &Threads(1));
        check_kinds(&shape, axes, &other, &Threads(1));
    }
    check_kinds(&[300, 2], &[0], &[300], &Threads(1));
    check_kinds(&[2, 20, 1], &[1], &[20], &Threads(1));
}

#[test]
fn threads_change_no_bit() {
    let (shape, strides) = ([600, 420], [420, 1]);
    let numbers: Vec<Complex<f32>> = (0..600 * 420)
        .map(|i| Complex::new(number(i) as f32, number(i + 1) as f32))
        .collect();
    let from = Strided {
        elements: Elements::Complex(&numbers[..]),
        first: 0,
        shape: &shape,
        strides: &strides,
    };
    let job = Job {
        kind: Kind::Complex,
        forward: true,
        axes: &[0, 1],
        lengths: &shape,
        factor: 1.0,
    };
    let made = |threads| {
        let mut made = vec![Complex::new(0.0f32, 0.0); numbers.len()];
        transform(&from, &job, Out::Complex(&mut made), &Threads(threads)).expect("a valid job");
        made
    };
    let alone = made(1);
    assert!(alone.iter().any(|z| z.re != 0.0));
    assert_eq!(alone, made(2));
    assert_eq!(alone, made(5));
}

#[test]
fn what_cannot_be_is_refused() {
    let numbers = [0.0f64; 6];
    let from = |first, strides| Strided {
        elements: Elements::Real(&numbers[..]),
        first,
        shape: &[2, 3],
        strides,
    };
    let job = |axes, lengths| Job {
        kind: Kind::FromReal,
        forward: true,
        axes,
        lengths,
        factor: 1.0,
    };
    let mut out = [Complex::new(0.0, 0.0); 4];
    let mut run = |from: Strided<'_, f64>, job: Job<'_>| transform(&from, &job, Out::Complex(&mut out), &Threads(1));
    assert_eq!(run(from(0, &[3, 1]), job(&[1], &[3])), Ok(()));
    for (first, strides) in [
        (1, &[3, 1][..]),
        (0, &[3, -1]),
        (0, &[4, 1]),
        (0, &[isize::MAX, isize::MAX]),
        (0, &[1]),
    ] {
        assert_eq!(run(from(first, strides), job(&[1], &[3])), Err(Error::Memory));
    }
    for (axes, lengths) in [(&[][..], &[][..]), (&[2], &[3]), (&[1, 1], &[3, 3]), (&[0], &[1, 2])] {
        assert_eq!(run(from(0, &[3, 1]), job(axes, lengths)), Err(Error::Axes));
    }
    assert_eq!(run(from(0, &[3, 1]), job(&[1], &[0])), Err(Error::Empty));
    assert_eq!(run(from(0, &[3, 1]), job(&[1], &[4])), Err(Error::Result));
    assert_eq!(run(from(0, &[3, 1]), job(&[0, 1], &[1 << 40, 1 << 40])), Err(Error::TooLarge));
}

#[test]
fn it_stops_when_it_is_told() {
    let numbers = vec![Complex::new(1.0f32, 0.0); 1 << 21];
    let shape = [1 << 11, 1 << 10];
    let from = Strided {
        elements: Elements::Complex(&numbers[..]),
        first: 0,
        shape: &shape,
        strides: &[1 << 10, 1],
    };
    let job = Job {
        kind: Kind::Complex,
        forward: true,
        axes: &[0, 1],
        lengths: &shape,
        factor: 1.0,
    };
    let mut made = numbers.clone();
    let found = transform(&from, &job, Out::Complex(&mut made), &Impatient);
    assert_eq!(found, Err(Error::Interrupted));
}
