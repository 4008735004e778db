//! Every operation on every type, on a device, against the IR's own arithmetic, bit for bit. All NaNs are one.

#![allow(unsafe_code, clippy::unwrap_used)]

#[path = "common/flushing.rs"]
mod flushing;

use std::borrow::Cow;
use std::fmt::Write;

use naga::valid::{ValidationFlags, Validator};
use weft_gpu::emit::numbers::Number;
use weft_gpu::emit::numbers::trial::{Trial, word};
use weft_gpu::features::{Comparisons, Features, FloatControls, Subnormals};
use weft_gpu::probe::{Bench, floats};
use weft_gpu::spirv;
use weft_ir::{AtomicOp, BinOp, CmpOp, Const, Scalar, UnOp, eval};

/// Trials of one kernel.
const TOGETHER: usize = 24;
const RANDOM_ROWS: usize = 400;

struct Gpu {
    device: wgpu::Device,
    queue: wgpu::Queue,
    features: Features,
    /// Widths of floats whose subnormal numbers are zeros in comparisons and conversions.
    flushed: &'static [u32],
}

fn open() -> Gpu {
    let mut wanted = wgpu::InstanceDescriptor::new_without_display_handle();
    wanted.backends = wgpu::Backends::VULKAN;
    let instance = wgpu::Instance::new(wanted);
    let adapters = pollster::block_on(instance.enumerate_adapters(wgpu::Backends::VULKAN));
    let software = adapters
        .iter()
        .find(|adapter| adapter.get_info().device_type == wgpu::DeviceType::Cpu);
    let adapter = software.or(adapters.first()).expect("no Vulkan device: Mesa's for the CPU will do");
    let has = adapter.features();
    let used = wgpu::Features::SHADER_F64 | wgpu::Features::SHADER_INT64 | wgpu::Features::PASSTHROUGH_SHADERS;
    let description = wgpu::DeviceDescriptor {
        required_features: has & used,
        required_limits: adapter.limits(),
        // SAFETY: what is experimental is SPIR-V that wgpu does not look at.
        experimental_features: unsafe { wgpu::ExperimentalFeatures::enabled() },
        ..Default::default()
    };
    let (device, queue) = pollster::block_on(adapter.request_device(&description)).expect("the device opens");
    let controls = FloatControls {
        keeps_nan: true,
        keeps_subnormals: false,
        rounds_to_even: true,
    };
    let features = Features {
        float64: has.contains(wgpu::Features::SHADER_F64),
        int64: has.contains(wgpu::Features::SHADER_INT64),
        controls32: controls,
        controls64: controls,
        ..Features::lavapipe()
    };
    Gpu {
        device,
        queue,
        features,
        flushed: &[],
    }
}

fn load(device: &wgpu::Device, module: naga::Module, features: &Features, flushed: &[u32]) -> Result<wgpu::ShaderModule, String> {
    let mut validator = Validator::new(ValidationFlags::all(), features.capabilities());
    let info = validator.validate(&module).map_err(|error| error.emit_to_string(""))?;
    let mut words = spirv::write(&module, &info, features, false)?;
    if !flushed.is_empty() {
        words = flushing::flushing(&words, flushed);
    }
    let description = wgpu::ShaderModuleDescriptorPassthrough {
        entry_points: Cow::Owned(vec![wgpu::PassthroughShaderEntryPoint {
            name: "main".into(),
            workgroup_size: (1, 1, 1),
        }]),
        spirv: Some(words.into()),
        ..Default::default()
    };
    // SAFETY: naga's writer made it of a valid module, which stays inside its bindings.
    Ok(unsafe { device.create_shader_module_passthrough(description) })
}

impl Gpu {
    fn run(&self, features: &Features, trials: &[Trial]) -> Vec<Vec<u64>> {
        let load = |module, features: &Features| load(&self.device, module, features, self.flushed);
        let bench = Bench {
            device: &self.device,
            queue: &self.queue,
            load: &load,
        };
        bench.run(features, trials).expect("the trials run")
    }

    fn probed(&self) -> Features {
        let load = |module, features: &Features| load(&self.device, module, features, self.flushed);
        let bench = Bench {
            device: &self.device,
            queue: &self.queue,
            load: &load,
        };
        floats::try_out(&bench, &self.features).expect("the probe runs")
    }

    /// Runs all trials and shows the first wrong rows of each.
    fn check(&self, features: &Features, trials: &[Trial]) {
        let mut wrong = String::new();
        for some in trials.chunks(TOGETHER) {
            for (trial, words) in some.iter().zip(self.run(features, some)) {
                compare(features, trial, &words, &mut wrong);
            }
        }
        assert!(wrong.is_empty(), "{wrong}");
    }
}

fn compare(features: &Features, trial: &Trial, words: &[u64], wrong: &mut String) {
    let mut shown = 0;
    for (row, &got) in words.iter().enumerate() {
        let args: Vec<Const> = trial.operands.iter().map(|column| column[row]).collect();
        let expected = trial.expected(row).expect("the operation is defined");
        let excused = args.iter().chain([&expected]).any(|&c| is_subnormal(features, c));
        if same(expected, got) || excused {
            continue;
        }
        shown += 1;
        if shown <= 3 {
            let _ = writeln!(wrong, "{:?} of {args:x?}: {got:#x}, not {expected:x?}", trial.number);
        }
    }
    if shown > 3 {
        let _ = writeln!(wrong, "... {shown} of {} rows", words.len());
    }
}

fn same(expected: Const, got: u64) -> bool {
    let nan = |c| eval::unary(UnOp::IsNan, c) == Some(Const::Bool(true));
    if nan(expected) {
        return match expected {
            Const::F64(_) => f64::from_bits(got).is_nan(),
            Const::F32(_) => f32::from_bits(got as u32).is_nan(),
            other => nan(Const::from_bytes(other.scalar(), &got.to_le_bytes()[..2]).unwrap()),
        };
    }
    word(expected) == got
}

/// One that the device may take for zero.
fn is_subnormal(features: &Features, c: Const) -> bool {
    match c {
        Const::F32(b) => !features.subnormals32.kept && f32::from_bits(b).is_subnormal(),
        Const::F64(b) => !features.subnormals64.kept && f64::from_bits(b).is_subnormal(),
        _ => false,
    }
}

/// Numbers that are the same each time (splitmix).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    /// Any bits, or a number of usual size, or a small integer.
    fn value(&mut self, s: Scalar) -> Const {
        let bits = self.next();
        match (self.next() % 4, s) {
            (_, Scalar::Bool) => Const::Bool(bits & 1 == 1),
            (0, _) if s.is_float() => eval::cast(Const::f64((bits % 2000) as f64 / 8.0 - 100.0), s).unwrap(),
            (1, _) if s.is_float() => eval::cast(Const::f64(f64::from_bits(bits >> 4 | 0x3c00 << 48)), s).unwrap(),
            (0, _) => Const::Int(s, s.wrap((bits % 41) as i64 - 20)),
            (1, _) => Const::Int(s, s.wrap((bits >> (bits % 64)) as i64)),
            _ => Const::from_bytes(s, &bits.to_le_bytes()[..s.size()]).unwrap(),
        }
    }
}

/// Where things go wrong.
fn hard(s: Scalar) -> Vec<Const> {
    if s == Scalar::Bool {
        return vec![Const::Bool(false), Const::Bool(true)];
    }
    if s.is_int() {
        let (top, all) = (1i64 << (s.bits() - 1), s.wrap(-1));
        let some = [
            0,
            1,
            2,
            3,
            7,
            -1,
            -2,
            -3,
            -7,
            top,
            top.wrapping_sub(1),
            top + 1,
            top.wrapping_sub(2),
            all,
            all - 1,
            31,
            32,
            33,
            63,
            64,
            65,
            8,
            15,
            16,
            10,
            100,
        ];
        let mut some: Vec<Const> = some.iter().map(|&v: &i64| Const::Int(s, s.wrap(v))).collect();
        some.extend([1i64 << 24, (1 << 24) + 1, (1 << 53) + 1, (1 << 62) + (1 << 37) + 1, 65519, 65520].map(|v| Const::Int(s, s.wrap(v))));
        some.sort_by_key(|c| word(*c));
        some.dedup();
        return some;
    }
    let mut some = Vec::new();
    let two = |n: i32| 2f64.powi(n);
    let finite = [
        0.0,
        0.25,
        0.4999999701976776,
        0.5,
        0.75,
        1.0,
        1.5,
        2.0,
        2.5,
        3.0,
        3.5,
        7.0,
        10.0,
        100.7,
        1e5,
        65519.0,
        65520.0,
        65535.99,
        1e10,
        1e30,
        1e300,
        two(23) - 0.5,
        two(23) + 1.0,
        two(24) - 1.0,
        two(31) - 1.0,
        two(31),
        two(31) + 1.0,
        two(31) - 0.5,
        two(31) + 0.5,
        two(31) + 256.0,
        two(32) - 1.0,
        two(32),
        two(32) + 5.0,
        two(33) + 7.0,
        two(40) + two(20),
        two(52) - 0.5,
        two(52) + 1.0,
        two(53) - 1.0,
        two(62),
        two(63) - 1024.0,
        two(63),
        two(63) + 4096.0,
        two(64) - 2048.0,
        two(64),
        two(-14),
        two(-15),
        two(-24),
        two(-25),
        two(-25) * 1.000_000_1,
        two(-126),
        two(-127),
        two(-149),
        two(-150),
        two(-1022),
        two(-1023),
        f64::from_bits(1),
        f64::MAX,
        f64::from(f32::MAX),
        1.0 + two(-11),
        1.0 + two(-11) + two(-50),
        1.0 + two(-8),
        1.0 + two(-24),
        1.0 + two(-23),
        1.0 + two(-24) + two(-50),
        0.1,
        1.0 / 3.0,
    ];
    for x in finite {
        some.extend([x, -x]);
    }
    some.extend([f64::INFINITY, f64::NEG_INFINITY, f64::NAN]);
    let mut some: Vec<Const> = some.into_iter().map(|x| eval::cast(Const::f64(x), s).unwrap()).collect();
    some.sort_by_key(|c| word(*c));
    some.dedup();
    some
}

/// A trial of hard operands, all with all, and random ones.
fn trial(number: Number, operands: &[Scalar]) -> Trial {
    let mut random = Random(word(Const::i64(format!("{number:?}").len() as i64)));
    let hard: Vec<Vec<Const>> = operands.iter().map(|&s| hard(s)).collect();
    let mut rows: Vec<Vec<Const>> = vec![Vec::new()];
    for column in &hard {
        // Three operands would be too many rows: every so-manieth.
        let step = if operands.len() == 3 { 5 } else { 1 };
        rows = rows
            .iter()
            .flat_map(|row| column.iter().step_by(step).map(move |&c| [row.as_slice(), &[c]].concat()))
            .collect();
    }
    rows.extend((0..RANDOM_ROWS).map(|_| operands.iter().map(|&s| random.value(s)).collect()));
    let columns = (0..operands.len()).map(|n| rows.iter().map(|row| row[n]).collect());
    Trial::new(number, columns.collect())
}

/// Products and sums that leave a few bits, that round where subnormals do, or whose parts are far from each other.
fn nearly_cancelled(s: Scalar) -> Trial {
    let mut random = Random(7);
    let (fraction, bias) = if s == Scalar::F32 { (23, 127) } else { (52, 1023) };
    let mut of = |exponent: i64| {
        let bits = (exponent.clamp(0, 2 * bias) as u64) << fraction | random.next() >> (64 - fraction);
        let few = if random.next() & 3 == 0 {
            u64::MAX << (fraction / 2)
        } else {
            u64::MAX
        };
        let bits = bits & few | (random.next() & 1) << (if s == Scalar::F32 { 31 } else { 63 });
        Const::from_bytes(s, &bits.to_le_bytes()[..s.size()]).unwrap()
    };
    let mut operands = vec![Vec::new(); 3];
    for n in 0..12_000i64 {
        let first = word(of(bias)) as i64 % (2 * bias);
        let second = match n % 3 {
            // Around the least exponents, around the largest, and wherever.
            0 => bias - first - fraction + word(of(bias)) as i64 % 64,
            1 => 3 * bias - first - 3,
            _ => word(of(bias)) as i64 % (2 * bias),
        };
        let (x, y) = (of(first), of(second));
        let near = first + second - bias + word(of(bias)) as i64 % 128 - 64;
        let product = eval::binary(BinOp::Mul, x, y).unwrap();
        let z = match n % 4 {
            0 => of(near),
            step => {
                let opposite = eval::unary(UnOp::Neg, product).unwrap();
                let bits = word(opposite).wrapping_add(step as u64).wrapping_sub(2);
                Const::from_bytes(s, &bits.to_le_bytes()[..s.size()]).unwrap()
            }
        };
        for (column, c) in operands.iter_mut().zip([x, y, z]) {
            column.push(c);
        }
    }
    Trial::new(Number::Fma(s), operands)
}

const INTS: [Scalar; 8] = [
    Scalar::I8,
    Scalar::I16,
    Scalar::I32,
    Scalar::I64,
    Scalar::U8,
    Scalar::U16,
    Scalar::U32,
    Scalar::U64,
];
const FLOATS: [Scalar; 2] = [Scalar::F32, Scalar::F64];
const COMPARISONS: [CmpOp; 6] = [CmpOp::Eq, CmpOp::Ne, CmpOp::Lt, CmpOp::Le, CmpOp::Gt, CmpOp::Ge];

fn unary(ops: &[UnOp], s: Scalar) -> Vec<Trial> {
    ops.iter().map(|&op| trial(Number::Unary(op, s), &[s])).collect()
}

fn binary(ops: &[BinOp], s: Scalar) -> Vec<Trial> {
    ops.iter().map(|&op| trial(Number::Binary(op, s, s), &[s, s])).collect()
}

fn compared(s: Scalar) -> Vec<Trial> {
    COMPARISONS.iter().map(|&op| trial(Number::Compare(op, s), &[s, s])).collect()
}

#[test]
fn integers() {
    use BinOp::*;
    let gpu = open();
    let mut trials = Vec::new();
    for s in INTS {
        use UnOp::{Abs, BitReverse, Clz, Ctz, Neg, Not, Popcount};
        trials.extend(unary(&[Neg, Not, Abs, Popcount, Clz, Ctz, BitReverse], s));
        trials.extend(binary(&[Add, Sub, Mul, FloorDiv, Mod, Rem, And, Or, Xor, Min, Max], s));
        trials.extend(compared(s));
    }
    gpu.check(&gpu.features, &trials);
}

#[test]
fn shifts_and_powers() {
    let gpu = open();
    let mut trials = Vec::new();
    for s in INTS {
        for t in [Scalar::I8, Scalar::U8, Scalar::I32, Scalar::I64, Scalar::U64, s] {
            trials.extend([BinOp::Shl, BinOp::Shr, BinOp::IntPow].map(|op| trial(Number::Binary(op, s, t), &[s, t])));
        }
    }
    gpu.check(&gpu.features, &trials);
}

#[test]
fn bools() {
    use BinOp::*;
    let gpu = open();
    let mut trials = unary(&[UnOp::Not], Scalar::Bool);
    trials.extend(binary(&[And, Or, Xor, Min, Max], Scalar::Bool));
    trials.extend(compared(Scalar::Bool));
    gpu.check(&gpu.features, &trials);
}

#[test]
fn floats() {
    use UnOp::*;
    let gpu = open();
    let mut trials = Vec::new();
    for s in FLOATS {
        trials.extend(unary(&[Neg, Abs, Sqrt, Floor, Ceil, Trunc, Rint, IsNan, IsInf, SignBit], s));
        trials.extend(binary(
            &[
                BinOp::Add,
                BinOp::Sub,
                BinOp::Mul,
                BinOp::Div,
                BinOp::Min,
                BinOp::Max,
                BinOp::CopySign,
            ],
            s,
        ));
        trials.extend(compared(s));
    }
    gpu.check(&gpu.probed(), &trials);
}

/// What drivers may make of literals, and of operands that are the same.
#[test]
fn floats_with_literals() {
    use BinOp::*;
    let gpu = open();
    let features = gpu.probed();
    let mut trials = Vec::new();
    for s in FLOATS {
        let rows = hard(s);
        for op in [Add, Sub, Mul, Div, Min, Max, Rem, Mod, FloorDiv, CopySign] {
            let number = Number::Binary(op, s, s);
            trials.push(Trial::twice(number, &rows));
            for x in [0.0, -0.0, 1.0, -1.0, 2.0, 0.5] {
                let literal = eval::cast(Const::f64(x), s).unwrap();
                // The emitter keeps zeros from the sight of such devices.
                if x != 0.0 || features.exact_zeros {
                    trials.extend([0, 1].map(|place| Trial::with_literal(number, place, &rows, literal)));
                }
            }
        }
        trials.extend(COMPARISONS.map(|op| Trial::twice(Number::Compare(op, s), &rows)));
    }
    gpu.check(&features, &trials);
}

#[test]
fn remainders_and_floored_quotients() {
    let gpu = open();
    let trials: Vec<Trial> = FLOATS
        .into_iter()
        .flat_map(|s| binary(&[BinOp::Rem, BinOp::Mod, BinOp::FloorDiv], s))
        .collect();
    gpu.check(&gpu.probed(), &trials);
}

#[test]
fn products_and_sums_with_one_rounding() {
    let gpu = open();
    let features = gpu.probed();
    let trials: Vec<Trial> = FLOATS
        .into_iter()
        .flat_map(|s| [trial(Number::Fma(s), &[s; 3]), nearly_cancelled(s)])
        .collect();
    gpu.check(&features, &trials);
    // As on a device without float64.
    let bare = Features {
        float64: false,
        ..features
    };
    gpu.check(&bare, &trials[..2]);
}

/// As on devices that divide faster than they divide well; what such a device is off by stays to be tested there.
#[test]
fn quotients_and_roots_of_our_own() {
    let gpu = open();
    let features = Features {
        exact_divide: false,
        exact_sqrt: false,
        exact_divide64: false,
        exact_sqrt64: false,
        ..gpu.probed()
    };
    let mut trials = Vec::new();
    for s in FLOATS {
        trials.extend(binary(&[BinOp::Div, BinOp::FloorDiv], s));
        trials.extend(unary(&[UnOp::Sqrt], s));
        trials.push(far_quotients(s));
    }
    gpu.check(&features, &trials);
}

/// As on devices that round wrongly.
#[test]
fn rounding_of_our_own() {
    use UnOp::{Ceil, Floor, Rint, Trunc};
    let gpu = open();
    let features = Features {
        exact_rounding32: false,
        exact_rounding64: false,
        ..gpu.probed()
    };
    let mut trials = Vec::new();
    for s in FLOATS {
        trials.extend(unary(&[Floor, Ceil, Trunc, Rint], s));
        trials.extend(binary(&[BinOp::FloorDiv], s));
    }
    gpu.check(&features, &trials);
}

/// Of numbers that are anywhere, so that many quotients are subnormal.
fn far_quotients(s: Scalar) -> Trial {
    let mut random = Random(11);
    let mut column = || {
        let any = |random: &mut Random| Const::from_bytes(s, &random.next().to_le_bytes()[..s.size()]).unwrap();
        (0..12_000).map(|_| any(&mut random)).collect()
    };
    Trial::new(Number::Binary(BinOp::Div, s, s), vec![column(), column()])
}

#[test]
fn conversions() {
    let gpu = open();
    let scalars: Vec<Scalar> = Scalar::ALL.into_iter().filter(|s| !s.is_complex()).collect();
    let mut trials = Vec::new();
    for &from in &scalars {
        for &to in &scalars {
            trials.push(trial(Number::Cast { from, to }, &[from]));
            if from.bits() == to.bits() && from != Scalar::Bool && to != Scalar::Bool {
                trials.push(trial(Number::Bitcast { from, to }, &[from]));
            }
        }
    }
    gpu.check(&gpu.probed(), &trials);
}

#[test]
fn conversions_without_64_bit_integers() {
    let gpu = open();
    let features = Features {
        int64: false,
        float64: false,
        ..gpu.probed()
    };
    let to = [Scalar::U32, Scalar::I32, Scalar::U16, Scalar::F16];
    let trials = to.map(|to| {
        let from = Scalar::F32;
        trial(Number::Cast { from, to }, &[from])
    });
    gpu.check(&features, &trials);
}

#[test]
fn what_elements_become() {
    use AtomicOp::*;
    let gpu = open();
    let mut trials = Vec::new();
    for s in INTS.into_iter().chain(FLOATS) {
        let ops: &[AtomicOp] = match s.is_float() {
            true => &[Add, Sub, Min, Max, NanMin, NanMax, Exch],
            false => &[Add, Sub, Min, Max, And, Or, Xor, Exch, Inc, Dec],
        };
        trials.extend(ops.iter().map(|&op| trial(Number::Atomic(op, s), &[s, s])));
        trials.push(trial(Number::Atomic(Cas, s), &[s; 3]));
    }
    gpu.check(&gpu.probed(), &trials);
}

/// Mesa's driver for the CPU rounds and keeps what it should, all but products and sums in one.
#[test]
fn the_probe_finds_what_the_device_does() {
    let gpu = open();
    let found = gpu.probed();
    assert!(
        found.exact_divide && found.exact_divide64 && found.exact_sqrt && found.exact_sqrt64,
        "{found:?}"
    );
    let kept = [found.subnormals32, found.subnormals64];
    // Its fma is wrong anyway.
    assert_eq!(kept.map(|kept| Subnormals { fused: true, ..kept }), [Subnormals::EXACT; 2]);
    assert!(found.exact_widening && found.exact_narrowing, "{found:?}");
    let claimed = Features {
        exact_fma32: true,
        exact_fma64: true,
        ..found
    };
    let trials: Vec<Trial> = FLOATS.into_iter().map(|s| trial(Number::Fma(s), &[s; 3])).collect();
    let results = gpu.run(&claimed, &trials);
    let exact = trials.iter().zip(&results).map(|(trial, words)| {
        let mut wrong = String::new();
        compare(&found, trial, words, &mut wrong);
        wrong.is_empty()
    });
    assert!(exact.eq([found.exact_fma32, found.exact_fma64]));
}

/// Everything that looks at floats, and on a device whose own fma and quotients are not relied on.
fn all_of_floats() -> Vec<Trial> {
    use UnOp::*;
    let mut trials = Vec::new();
    for s in FLOATS {
        let ops = [
            BinOp::Div,
            BinOp::Min,
            BinOp::Max,
            BinOp::Rem,
            BinOp::Mod,
            BinOp::FloorDiv,
            BinOp::CopySign,
        ];
        trials.extend(unary(&[Neg, Abs, Sqrt, Floor, Ceil, Trunc, Rint, IsNan, IsInf, SignBit], s));
        trials.extend(binary(&ops, s));
        trials.extend(compared(s));
        trials.push(trial(Number::Fma(s), &[s; 3]));
        let atomics = [AtomicOp::Min, AtomicOp::Max, AtomicOp::NanMin, AtomicOp::NanMax];
        trials.extend(atomics.map(|op| trial(Number::Atomic(op, s), &[s, s])));
        let others = Scalar::ALL.into_iter().filter(|t| !t.is_complex());
        let casts = others.flat_map(|t| [(s, t), (t, s)]);
        trials.extend(casts.map(|(from, to)| trial(Number::Cast { from, to }, &[from])));
    }
    trials
}

/// As NVIDIA's driver: subnormal numbers are zeros in comparisons, conversions and GLSL's functions, but kept by arithmetic.
#[test]
fn a_device_that_takes_subnormals_for_zeros() {
    for flushed in [&[32][..], &[64], &[32, 64]] {
        let gpu = Gpu { flushed, ..open() };
        let found = gpu.probed();
        for (bits, subnormals, rounding) in [
            (32, found.subnormals32, found.exact_rounding32),
            (64, found.subnormals64, found.exact_rounding64),
        ] {
            let scaled = Subnormals {
                compared: Comparisons::Scaled,
                absolute: false,
                fused: false,
                divided: false,
                rooted: false,
                ..Subnormals::EXACT
            };
            let is_flushed = flushed.contains(&bits);
            // Its fma is wrong anyway.
            let fused = subnormals.fused;
            let expected = if is_flushed { scaled } else { Subnormals::EXACT };
            assert_eq!(subnormals, Subnormals { fused, ..expected });
            assert!(found.exact_divide && found.exact_divide64 && found.exact_sqrt && found.exact_sqrt64);
            assert!(!is_flushed || !rounding);
        }
        assert_eq!(found.exact_widening, !flushed.contains(&32));
        assert_eq!(found.exact_narrowing, !flushed.contains(&32));
        gpu.check(&found, &all_of_floats());
    }
}

/// As on a device of which nothing is known.
#[test]
fn subnormals_by_bits() {
    let gpu = Gpu {
        flushed: &[32, 64],
        ..open()
    };
    let lost = Subnormals::LOST;
    let bare = Subnormals { kept: true, ..lost };
    let features = Features {
        subnormals32: bare,
        subnormals64: bare,
        exact_widening: false,
        exact_narrowing: false,
        ..gpu.probed()
    };
    gpu.check(&features, &all_of_floats());
}

/// As on a device whose fma rounds once but takes subnormal numbers for zeros. Lavapipe's rounds once where the product is exact.
#[test]
fn sums_of_products_that_may_be_subnormal() {
    let gpu = Gpu {
        flushed: &[32, 64],
        ..open()
    };
    let features = Features {
        exact_fma32: true,
        exact_fma64: true,
        ..gpu.probed()
    };
    assert!(!features.subnormals32.fused && !features.subnormals64.fused);
    let trials = FLOATS.map(|s| {
        let all = hard(s);
        let mut columns = vec![Vec::new(); 3];
        for factor in [1.0, -1.0] {
            let factor = eval::cast(Const::f64(factor), s).unwrap();
            for (&x, &z) in all.iter().flat_map(|x| all.iter().map(move |z| (x, z))) {
                for (column, c) in columns.iter_mut().zip([x, factor, z]) {
                    column.push(c);
                }
            }
        }
        Trial::new(Number::Fma(s), columns)
    });
    gpu.check(&features, &trials);
}
