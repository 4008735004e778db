// Calls of the C interface, with pointers to locals.
#![allow(unsafe_code, clippy::undocumented_unsafe_blocks)]
//! Tensor cores: `mma` and `ldmatrix` by hand, against products in double precision and the manual's layouts.

mod support;

use half::{bf16, f16};
use support::*;

/// What is multiplied: the shape and types of the instruction, the length of the inner axis, and numbers in a word.
#[derive(Clone, Copy)]
struct Kind {
    form: &'static str,
    depth: usize,
    each: usize,
    bits: fn(f32) -> u32,
    number: fn(u32) -> f64,
}

const KINDS: [Kind; 3] = [
    Kind {
        form: "m16n8k16.row.col.f32.f16.f16.f32",
        depth: 16,
        each: 2,
        bits: |x| f16::from_f32(x).to_bits().into(),
        number: |bits| f16::from_bits(bits as u16).to_f64(),
    },
    Kind {
        form: "m16n8k16.row.col.f32.bf16.bf16.f32",
        depth: 16,
        each: 2,
        bits: |x| bf16::from_f32(x).to_bits().into(),
        number: |bits| bf16::from_bits(bits as u16).to_f64(),
    },
    Kind {
        form: "m16n8k8.row.col.f32.tf32.tf32.f32",
        depth: 8,
        each: 1,
        bits: |x| x.to_bits() & !0x1fff,
        number: |bits| f32::from_bits(bits).into(),
    },
];

/// Row and column of element `i` of a lane's fragment of the left matrix, as the manual has them.
fn of_left(kind: Kind, lane: usize, i: usize) -> (usize, usize) {
    let (group, place) = (lane >> 2, lane % 4);
    if kind.each == 2 {
        let row = if i < 2 || (4..6).contains(&i) { group } else { group + 8 };
        (row, place * 2 + (i & 1) + if i < 4 { 0 } else { 8 })
    } else {
        let row = if i == 0 || i == 2 { group } else { group + 8 };
        (row, if i < 2 { place } else { place + 4 })
    }
}

fn of_right(kind: Kind, lane: usize, i: usize) -> (usize, usize) {
    let (group, place) = (lane >> 2, lane % 4);
    let row = if kind.each == 2 {
        place * 2 + (i & 1) + if i < 2 { 0 } else { 8 }
    } else {
        place + 4 * i
    };
    (row, group)
}

fn of_sums(lane: usize, i: usize) -> (usize, usize) {
    (if i < 2 { lane >> 2 } else { (lane >> 2) + 8 }, lane % 4 * 2 + (i & 1))
}

/// A kernel of pointers to the words of both fragments, of the sums, and to where those of the result go.
fn multiplying(form: &str, before: &str) -> String {
    let (mut loads, names) = (String::new(), |from: u32, count: u32| {
        (from..from + count).map(|r| format!("%r{r}")).collect::<Vec<_>>().join(", ")
    });
    for (pointer, first, count) in [(0, 10, 4), (1, 14, 2), (2, 16, 4)] {
        loads += &format!("  mul.wide.u32 %rd9, %r3, {};\n  add.s64 %rd9, %rd{pointer}, %rd9;\n", 4 * count);
        for i in 0..count {
            loads += &format!("  ld.global.u32 %r{}, [%rd9+{}];\n", first + i, 4 * i);
        }
    }
    let stores: String = (0..4)
        .map(|i| format!("  st.global.u32 [%rd9+{}], %r{};\n", 4 * i, 20 + i))
        .collect();
    let multiply = format!(
        "  mma.sync.aligned.{form} {{{}}}, {{{}}}, {{{}}}, {{{}}};\n",
        names(20, 4),
        names(10, 4),
        names(14, 2),
        names(16, 4)
    );
    kernel(
        4,
        &format!("{loads}{before}{multiply}  mul.wide.u32 %rd9, %r3, 16;\n  add.s64 %rd9, %rd3, %rd9;\n{stores}  ret;"),
    )
}

/// Numbers between -1 and 1, the same ones each time.
fn numbers(seed: u32, count: usize) -> Vec<f32> {
    let mut state = seed;
    let next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) as f32 / (1 << 23) as f32 - 1.0
    };
    std::iter::repeat_with(next).take(count).collect()
}

/// A lane's words of a matrix of so many columns.
fn words(kind: Kind, matrix: &[u32], columns: usize, count: usize, of: fn(Kind, usize, usize) -> (usize, usize)) -> Vec<u32> {
    let word = |lane, word| {
        (0..kind.each).fold(0, |bits, part| {
            let (row, column) = of(kind, lane, word * kind.each + part);
            bits | matrix[row * columns + column] << (16 * part)
        })
    };
    (0..32).flat_map(|lane| (0..count).map(move |i| word(lane, i))).collect()
}

/// Runs a product of 16 by 8 sums, and compares it with the exact one.
fn check(kind: Kind, before: &str) {
    let left: Vec<u32> = numbers(1, 16 * kind.depth).into_iter().map(kind.bits).collect();
    let right: Vec<u32> = numbers(2, kind.depth * 8).into_iter().map(kind.bits).collect();
    let sums = numbers(3, 16 * 8);
    let gpu = Gpu::new();
    let k = gpu.kernel(&multiplying(kind.form, before));
    let rows = gpu.upload(&words(kind, &left, kind.depth, 4, of_left));
    let columns = gpu.upload(&words(kind, &right, 8, 2, of_right));
    let place = |lane, i| {
        let (row, column) = of_sums(lane, i);
        8 * row + column
    };
    let added: Vec<f32> = (0..128).map(|n| sums[place(n / 4, n % 4)]).collect();
    let (added, out) = (gpu.upload(&added), gpu.alloc(4 * 128));
    gpu.run(k, 1, 32, &[rows, columns, added, out]);
    for (n, got) in gpu.download::<f32>(out, 128).into_iter().enumerate() {
        let (row, column) = of_sums(n / 4, n % 4);
        let products = (0..kind.depth).map(|k| (kind.number)(left[row * kind.depth + k]) * (kind.number)(right[8 * k + column]));
        let wanted = products.fold(f64::from(sums[8 * row + column]), |sum, product| sum + product);
        assert_eq!(got, wanted as f32, "{}: {row}, {column}", kind.form);
    }
}

#[test]
fn products_are_exact_and_rounded_once() {
    KINDS.into_iter().for_each(|kind| check(kind, ""));
}

/// Half of the lanes come later.
#[test]
fn lanes_wait_for_the_whole_warp() {
    let before = "  setp.lt.u32 %p1, %r3, 16;\n  @%p1 bra $L_first;\n  mov.u32 %r40, 0;\n$L_spin:\n  add.u32 %r40, %r40, 1;
  setp.lt.u32 %p2, %r40, %r3;\n  @%p2 bra $L_spin;\n$L_first:\n";
    check(KINDS[0], before);
}

#[test]
fn every_lane_must_take_part() {
    let gpu = Gpu::new();
    let memory = gpu.upload(&[0u32; 512]);
    let k = gpu.kernel(&multiplying(KINDS[0].form, ""));
    let (code, report) = gpu.fails(k, 1, 20, &[memory; 4]);
    assert!(
        code == 719 && report.contains("all 32 lanes") && report.contains("12 of them"),
        "{code} {report}"
    );
}

#[test]
fn lanes_that_have_ended_are_missed() {
    let gpu = Gpu::new();
    let memory = gpu.upload(&[0u32; 512]);
    let before = "  setp.eq.u32 %p1, %r3, 5;\n  @%p1 exit;\n";
    let k = gpu.kernel(&multiplying(KINDS[2].form, before));
    let (code, report) = gpu.fails(k, 1, 32, &[memory; 4]);
    assert!(code == 719 && report.contains("1 of them"), "{code} {report}");
}

/// Fills shared memory with the numbers of its halves, and leaves what `load` puts into `%r20` and so on.
fn loading(load: &str, count: usize, row: &str) -> String {
    let stores: String = (0..count)
        .map(|i| format!("  st.global.u32 [%rd9+{}], %r{};\n", 4 * i, 20 + i))
        .collect();
    kernel(
        1,
        &format!(
            "  .shared .align 16 .b8 box[1024];\n  mov.u32 %r40, box;\n  mov.u32 %r41, 0;
$L_fill:\n  mad.lo.u32 %r42, %r41, 32, %r3;\n  mad.lo.u32 %r43, %r42, 2, %r40;\n  cvt.u16.u32 %h1, %r42;\n  st.shared.u16 [%r43], %h1;
  add.u32 %r41, %r41, 1;\n  setp.lt.u32 %p1, %r41, 16;\n  @%p1 bra $L_fill;\n  bar.sync 0;\n{row}  add.u32 %r44, %r40, %r44;\n{load}
  mul.wide.u32 %rd9, %r3, {};\n  add.s64 %rd9, %rd0, %rd9;\n{stores}  ret;",
            4 * count
        ),
    )
}

/// Each lane names the row of its number, of 16 bytes.
const OWN_ROW: &str = "  shl.b32 %r44, %r3, 4;\n";

#[test]
fn squares_come_row_by_row_or_transposed() {
    let gpu = Gpu::new();
    for (count, form) in [(1, "x1"), (2, "x2"), (4, "x4"), (1, "x1.trans"), (2, "x2.trans"), (4, "x4.trans")] {
        let to: Vec<String> = (20..20 + count).map(|r| format!("%r{r}")).collect();
        let load = format!("  ldmatrix.sync.aligned.m8n8.{form}.shared.b16 {{{}}}, [%r44];\n", to.join(", "));
        let out = gpu.alloc(4 * 32 * count);
        gpu.run(gpu.kernel(&loading(&load, count, OWN_ROW)), 1, 32, &[out]);
        for (n, got) in gpu.download::<u32>(out, 32 * count).into_iter().enumerate() {
            let (lane, square) = (n / count, n % count);
            let at = |row: usize, column: usize| (64 * square + 8 * row + column) as u32;
            let (row, column) = (lane / 4, lane % 4 * 2);
            let [low, high] = [column, column + 1].map(|c| if form.ends_with("trans") { at(c, row) } else { at(row, c) });
            assert_eq!(got, low | high << 16, "{form}: lane {lane}, square {square}");
        }
    }
}

#[test]
fn rows_of_squares_lie_in_shared_memory_at_multiples_of_16_bytes() {
    let gpu = Gpu::new();
    let out = gpu.alloc(4 * 32);
    let load = "  ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r20}, [%r44];\n";
    let k = gpu.kernel(&loading(load, 1, "  mul.lo.u32 %r44, %r3, 8;\n"));
    let (code, report) = gpu.fails(k, 1, 32, &[out]);
    assert!(code == 716 && report.contains("multiple of 16"), "{code} {report}");
}

#[test]
fn rows_beyond_shared_memory_are_faults() {
    let gpu = Gpu::new();
    let out = gpu.alloc(4 * 32);
    let load = "  ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r20}, [%r44];\n";
    let k = gpu.kernel(&loading(load, 1, "  mul.lo.u32 %r44, %r3, 1024;\n"));
    let (code, report) = gpu.fails(k, 1, 32, &[out]);
    assert!(code == 700 && report.contains("read of 16 bytes"), "{code} {report}");
}

/// Without a state space the address is generic, and must lead to shared memory.
#[test]
fn generic_addresses_of_squares() {
    let gpu = Gpu::new();
    let out = gpu.alloc(4 * 32);
    let load = "  cvt.u64.u32 %rd10, %r44;\n  cvta.shared.u64 %rd10, %rd10;\n  ldmatrix.sync.aligned.m8n8.x1.b16 {%r20}, [%rd10];\n";
    gpu.run(gpu.kernel(&loading(load, 1, OWN_ROW)), 1, 32, &[out]);
    assert_eq!(gpu.download::<u32>(out, 2), [1 << 16, 2 | 3 << 16]);
    let k = gpu.kernel(&loading("  ldmatrix.sync.aligned.m8n8.x1.b16 {%r20}, [%rd0];\n", 1, OWN_ROW));
    let (code, report) = gpu.fails(k, 1, 32, &[out]);
    assert!(code == 700 && report.contains("shared memory"), "{code} {report}");
}

#[test]
fn a_row_that_another_thread_writes_is_a_race() {
    let gpu = Gpu::new();
    let out = gpu.alloc(4 * 32);
    let load = "  ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r20}, [%r44];\n";
    let k = gpu.kernel(&loading(load, 1, OWN_ROW).replace("  bar.sync 0;\n", ""));
    let (code, report) = gpu.fails(k, 1, 32, &[out]);
    assert!(code == 719 && report.contains("data race"), "{code} {report}");
}

#[test]
fn float32_is_rounded_half_away_from_zero() {
    let gpu = Gpu::new();
    let half_way = 1.0f32.to_bits() + (1 << 12);
    let given = [
        1.0f32.to_bits(),
        half_way,
        half_way - 1,
        half_way | 1 << 31,
        f32::INFINITY.to_bits(),
        f32::MAX.to_bits(),
    ];
    let wanted = [
        1.0f32.to_bits(),
        half_way + (1 << 12),
        1.0f32.to_bits(),
        (half_way + (1 << 12)) | 1 << 31,
        0x7f80_0000,
        0x7f80_0000,
    ];
    let body = "  mul.wide.u32 %rd9, %r3, 4;\n  add.s64 %rd9, %rd0, %rd9;\n  ld.global.u32 %r10, [%rd9];\n  cvt.rna.tf32.f32 %r11, %r10;
  st.global.u32 [%rd9], %r11;\n  ret;";
    let memory = gpu.upload(&given);
    gpu.run(gpu.kernel(&kernel(1, body)), 1, 6, &[memory]);
    assert_eq!(gpu.download::<u32>(memory, 6), wanted);
    let memory = gpu.upload(&[f32::NAN.to_bits(), 0x7fff_ffff]);
    gpu.run(gpu.kernel(&kernel(1, body)), 1, 2, &[memory]);
    assert!(gpu.download::<f32>(memory, 2).into_iter().all(f32::is_nan));
}

#[test]
fn what_assemblers_refuse_is_refused() {
    let gpu = Gpu::new();
    let good = multiplying(KINDS[0].form, "");
    let refused = |ptx: &str, wanted: &str| {
        let (code, log) = gpu.try_load(ptx).unwrap_err();
        assert!(code == 218 && log.contains(wanted), "{code} {log}");
    };
    let old = |ptx: &str| {
        ptx.replace(".target sm_90", ".target sm_75")
            .replace(".version 8.0", ".version 6.5")
    };
    refused(&old(&good), "requires .target sm_80 or higher and PTX 7.0");
    refused(&good.replace(".aligned", ""), "no such form");
    refused(&good.replace("row.col", "col.row"), "no such form");
    refused(&good.replace("{%r14, %r15}", "{%r14}"), "expected a vector of 2");
    refused(&good.replace("{%r14, %r15}", "%r14"), "braces");
    refused(&good.replace("{%r14, %r15}", "{%rd1, %rd2}"), "arguments mismatch");
    let load = "  ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%r20, %r21}, [%r44];\n";
    let good = loading(load, 2, OWN_ROW);
    assert!(gpu.try_load(&old(&good)).is_ok(), "squares are there from sm_75 on");
    refused(&good.replace("{%r20, %r21}", "{%r20}"), "expected a vector of 2");
    refused(&good.replace("m8n8.x2.shared", "m8n8.x2.global"), "no such form");
    refused(&good.replace("x2.shared", "x3.shared"), "no such form");
}
