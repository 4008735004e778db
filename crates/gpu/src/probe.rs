//! What a device's float arithmetic is like, found out by trying it: drivers do not say it all.

use std::sync::mpsc;

use weft_ir::{BinOp, Const, Scalar, UnOp, eval};

use crate::emit::numbers::{Number, trial};
use crate::features::Features;
pub use trial::Trial;

/// Fills in `exact_*` and `subnormals*`, which `said` need not know.
pub fn probe(bench: &Bench, said: &Features) -> Result<Features, String> {
    let mut features = Features {
        exact_fma32: true,
        exact_fma64: true,
        exact_divide: true,
        exact_divide64: true,
        ..*said
    };
    let wide = |s: &Scalar| *s != Scalar::F64 || said.float64 && said.int64;
    let scalars: Vec<Scalar> = [Scalar::F32, Scalar::F64].into_iter().filter(wide).collect();
    let questions: Vec<[Trial; QUESTIONS]> = scalars.iter().map(|&s| questions(s)).collect();
    let trials = questions.as_flattened();
    let results = bench.run(&features, trials)?;
    let right: Vec<bool> = trials.iter().zip(&results).map(|(trial, words)| is_right(trial, words)).collect();
    let answers = right.as_chunks::<QUESTIONS>().0;
    let answer = |s: Scalar| scalars.iter().position(|&t| t == s).map_or([false; QUESTIONS], |n| answers[n]);
    let [fma32, divide32, sqrt32, sum32, product32, zero32 @ ..] = answer(Scalar::F32);
    let [fma64, divide64, sqrt64, sum64, product64, zero64 @ ..] = answer(Scalar::F64);
    features.exact_fma32 = fma32;
    features.exact_fma64 = fma64;
    features.exact_divide = divide32 && sqrt32;
    features.exact_divide64 = divide64 && sqrt64;
    let all = |right: &[bool]| right.iter().all(|right| *right);
    features.exact_zeros = all(&zero32) && (scalars.len() < 2 || all(&zero64));
    features.subnormals32 = sum32 && product32;
    features.subnormals64 = sum64 && product64;
    Ok(features)
}

/// Rows of an answer that hangs on how a device divides, say.
const ROWS: usize = 2000;
/// Questions for each type.
const QUESTIONS: usize = 10;

/// fma, quotients, square roots; subnormal operands and subnormal results; and zeros in the code.
fn questions(s: Scalar) -> [Trial; QUESTIONS] {
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let mut column = |least: f64, most: f64| -> Vec<Const> { (0..ROWS).map(|_| random.float(s, least, most)).collect() };
    let (x, y, z) = (column(1.0, 2.0), column(1.0, 2.0), column(-4.0, 1e-3));
    let (over, under) = (column(-1e9, 1e9), column(1e-9, 1e3));
    let roots = column(1e-3, 1e9);
    let least = if s == Scalar::F32 {
        f64::from(f32::MIN_POSITIVE)
    } else {
        f64::MIN_POSITIVE
    };
    let (tiny, other) = (column(0.0, least), column(0.0, least));
    let (small, factor) = (column(least, 2.0 * least), column(0.01, 0.9));
    let two = |op, x, y| Trial::new(Number::Binary(op, s, s), vec![x, y]);
    let ends = [0.0, -0.0, 1.5, -1.5, f64::INFINITY].map(|x| if s == Scalar::F32 { Const::f32(x as f32) } else { Const::f64(x) });
    let zero = |op, place| Trial::with_literal(Number::Binary(op, s, s), place, &ends, eval::zero(s));
    [
        Trial::new(Number::Fma(s), vec![x, y, z]),
        two(BinOp::Div, over, under),
        Trial::new(Number::Unary(UnOp::Sqrt, s), vec![roots]),
        two(BinOp::Add, tiny, other),
        two(BinOp::Mul, small, factor),
        zero(BinOp::Add, 1),
        zero(BinOp::Sub, 0),
        zero(BinOp::Mul, 1),
        zero(BinOp::Div, 0),
        zero(BinOp::Div, 1),
    ]
}

/// A NaN is as good as any other.
fn is_right(trial: &Trial, words: &[u64]) -> bool {
    let nan = |c| eval::unary(UnOp::IsNan, c) == Some(Const::Bool(true));
    let same = |(row, &got): (usize, &u64)| match trial.expected(row) {
        Some(expected) if nan(expected) => match expected {
            Const::F32(_) => f32::from_bits(got as u32).is_nan(),
            _ => f64::from_bits(got).is_nan(),
        },
        expected => expected.map(trial::word) == Some(got),
    };
    words.len() == trial.rows() && words.iter().enumerate().all(same)
}

/// Numbers that are the same each time (xorshift).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn float(&mut self, s: Scalar, least: f64, most: f64) -> Const {
        let unit = (self.next() >> 11) as f64 / (1u64 << 53) as f64;
        let x = least + (most - least) * unit;
        if s == Scalar::F32 { Const::f32(x as f32) } else { Const::f64(x) }
    }
}

/// How a module becomes what the device takes.
pub type Load<'a> = dyn Fn(naga::Module, &Features) -> Result<wgpu::ShaderModule, String> + 'a;

/// A device to try operations on.
pub struct Bench<'a> {
    pub device: &'a wgpu::Device,
    pub queue: &'a wgpu::Queue,
    pub load: &'a Load<'a>,
}

impl std::fmt::Debug for Bench<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        f.debug_struct("Bench").field("device", self.device).finish_non_exhaustive()
    }
}

impl Bench<'_> {
    /// The results of each trial, as [`trial::word`]s. All of them are done by one kernel, so a wait for other work is a wait here, too.
    pub fn run(&self, features: &Features, trials: &[Trial]) -> Result<Vec<Vec<u64>>, String> {
        let module = trial::module(features, trials).ok_or("an operation that is not defined")?;
        let shader = (self.load)(module, features)?;
        let input: Vec<u8> = trial::input(trials).into_iter().flat_map(u32::to_le_bytes).collect();
        let rows: Vec<usize> = trials.iter().map(Trial::rows).collect();
        let size = 8 * rows.iter().sum::<usize>() as u64;
        let most = rows.into_iter().max().unwrap_or(0) as u32;
        if most == 0 {
            return Ok(vec![Vec::new(); trials.len()]);
        }
        let storage = wgpu::BufferUsages::STORAGE;
        let source = self.buffer(input.len() as u64, storage | wgpu::BufferUsages::COPY_DST);
        let results = self.buffer(size, storage | wgpu::BufferUsages::COPY_SRC);
        let host = self.buffer(size, wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST);
        self.queue.write_buffer(&source, 0, &input);
        let mut encoder = self.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        self.dispatch(&mut encoder, &shader, &source, &results, most.div_ceil(trial::BLOCK));
        encoder.copy_buffer_to_buffer(&results, 0, &host, 0, size);
        self.queue.submit([encoder.finish()]);
        Ok(trial::output(trials, &self.read(&host)?))
    }

    fn buffer(&self, size: u64, usage: wgpu::BufferUsages) -> wgpu::Buffer {
        self.device.create_buffer(&wgpu::BufferDescriptor {
            label: None,
            size,
            usage,
            mapped_at_creation: false,
        })
    }

    fn dispatch(
        &self,
        encoder: &mut wgpu::CommandEncoder,
        shader: &wgpu::ShaderModule,
        source: &wgpu::Buffer,
        results: &wgpu::Buffer,
        blocks: u32,
    ) {
        let entry = |binding, read_only| wgpu::BindGroupLayoutEntry {
            binding,
            visibility: wgpu::ShaderStages::COMPUTE,
            ty: wgpu::BindingType::Buffer {
                ty: wgpu::BufferBindingType::Storage { read_only },
                has_dynamic_offset: false,
                min_binding_size: None,
            },
            count: None,
        };
        let group_layout = self.device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
            label: None,
            entries: &[entry(0, true), entry(1, false)],
        });
        let layout = self.device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
            label: None,
            bind_group_layouts: &[Some(&group_layout)],
            immediate_size: 0,
        });
        let pipeline = self.device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
            label: None,
            layout: Some(&layout),
            module: shader,
            entry_point: Some("main"),
            compilation_options: wgpu::PipelineCompilationOptions::default(),
            cache: None,
        });
        let group = self.device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: None,
            layout: &group_layout,
            entries: &[bound(0, source), bound(1, results)],
        });
        let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
        pass.set_pipeline(&pipeline);
        pass.set_bind_group(0, &group, &[]);
        pass.dispatch_workgroups(blocks, 1, 1);
    }

    fn read(&self, host: &wgpu::Buffer) -> Result<Vec<u32>, String> {
        let (done, mapped) = mpsc::channel();
        host.slice(..).map_async(wgpu::MapMode::Read, move |result| {
            let _ = done.send(result);
        });
        self.device
            .poll(wgpu::PollType::wait_indefinitely())
            .map_err(|error| error.to_string())?;
        let result = mapped.recv().map_err(|error| error.to_string())?;
        result.map_err(|error| error.to_string())?;
        let bytes = host.slice(..).get_mapped_range().map_err(|error| error.to_string())?;
        Ok(bytes
            .chunks_exact(4)
            .map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]))
            .collect())
    }
}

fn bound(binding: u32, buffer: &wgpu::Buffer) -> wgpu::BindGroupEntry<'_> {
    wgpu::BindGroupEntry {
        binding,
        resource: wgpu::BindingResource::Buffer(wgpu::BufferBinding {
            buffer,
            offset: 0,
            size: None,
        }),
    }
}
