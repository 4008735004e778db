//! What the code looks like where speed or meaning hang on it: the kernels of `tests/kernels/quality.weft`.

#![allow(clippy::unwrap_used, clippy::panic)] // A test that cannot go on stops.

mod suite;

use weft_cuda::emit::Facts;
use weft_cuda::target::Target;
use weft_cuda::{Ptx, compile, compile_ptx};
use weft_ir::{FuncId, Module, text};
use weft_runtime::CompileError;

fn module(function: &str) -> Module {
    let source = std::fs::read_to_string(suite::path("tests/kernels/quality.weft")).unwrap();
    let mut module = text::parse(&source).unwrap();
    let at = module.functions.iter().position(|f| f.name == function).unwrap();
    module.entry = FuncId(at as u32);
    module
}

fn compiled(function: &str, facts: Facts) -> Ptx {
    compile_ptx(&module(function), Target::of_sm(90).unwrap(), facts).unwrap()
}

fn has(text: &str, part: &str) -> bool {
    text.lines().any(|line| line.contains(part))
}

#[test]
fn neighbours_move_in_accesses_of_16_bytes() {
    let ptx = compiled("four_each", Facts::ALL).text;
    assert!(has(&ptx, "ld.global.nc.v4.b32") && has(&ptx, "st.global.v4.b32"), "{ptx}");
    let apart = Facts {
        aligned: false,
        ..Facts::ALL
    };
    let ptx = compiled("four_each", apart).text;
    assert!(has(&ptx, "ld.global.nc.b32") && !has(&ptx, ".v4"), "{ptx}");
}

#[test]
fn points_of_loops_are_taken_in_groups_where_arrays_are_aligned() {
    let grouped = compiled("added", Facts::ALL);
    assert!(
        has(&grouped.text, "ld.global.nc.v4.b32") && has(&grouped.text, "st.global.v4.b32"),
        "{}",
        grouped.text
    );
    assert_eq!(grouped.emitted.points, 4);
    let apart = Facts {
        aligned: false,
        ..Facts::ALL
    };
    assert_eq!(compiled("added", apart).emitted.points, 1);
}

#[test]
fn kernels_that_only_count_threads_are_such_loops() {
    let lowered = compile::lowered(&module("scaled")).unwrap();
    let flat = compile::in_groups(&lowered).unwrap();
    let ptx = compile::compile_lowered(&flat, Target::of_sm(90).unwrap(), Facts::ALL, false).unwrap();
    assert!(
        has(&ptx.text, "ld.global.nc.v4.b32") && has(&ptx.text, "st.global.v4.b32"),
        "{}",
        ptx.text
    );
    for other in ["four_each", "turn", "strided_sum"] {
        assert!(compile::in_groups(&compile::lowered(&module(other)).unwrap()).is_none(), "{other}");
    }
}

#[test]
fn loops_that_read_memory_have_several_reads_under_way() {
    let ptx = compiled("strided_sum", Facts::ALL).text;
    let reads = |line: &&str| line.contains("ld.global.nc.b32");
    let most = ptx.split("$L__BB").map(|block| block.lines().filter(reads).count()).max();
    assert_eq!(most, Some(8), "{ptx}");
}

#[test]
fn arrays_that_may_overlap_are_read_as_what_may_change() {
    let facts = Facts {
        disjoint: false,
        ..Facts::ALL
    };
    let ptx = compiled("four_each", facts).text;
    assert!(has(&ptx, "ld.global.b32") && !has(&ptx, ".nc"), "{ptx}");
}

#[test]
fn parts_of_complex_elements_move_together() {
    let ptx = compiled("complexes", Facts::ALL).text;
    assert!(has(&ptx, "ld.global.v2.b32") && has(&ptx, "st.global.v2.b32"), "{ptx}");
}

#[test]
fn indices_are_32_bit_in_narrow_code() {
    let narrow = compiled("four_each", Facts::ALL);
    assert!(
        has(&narrow.text, "mad.lo.s32") && !has(&narrow.text, "mul.lo.s64"),
        "{}",
        narrow.text
    );
    let bytes = |ptx: &Ptx| ptx.emitted.params.iter().map(|p| (p.slot, p.bytes)).collect::<Vec<_>>();
    assert_eq!(bytes(&narrow), [(0, 8), (1, 4), (3, 8)]);
    let wide = compiled("four_each", Facts::default());
    assert_eq!(bytes(&wide), [(0, 8), (1, 8), (3, 8)]);
}

#[test]
fn small_ints_count_in_32_bits() {
    let ptx = compiled("count_to", Facts::ALL);
    assert_eq!(ptx.emitted.params[0].bytes, 4);
    assert_eq!(compiled("count_to", Facts::default()).emitted.params[0].bytes, 8);
}

#[test]
fn what_threads_pass_through_a_barrier_is_read_again() {
    let emitted = compiled("turn", Facts::ALL).emitted.text;
    let signature = emitted.lines().find(|line| line.starts_with("define")).unwrap();
    assert!(!signature.contains("noalias"), "{signature}");
}

#[test]
fn products_are_fused_by_the_ir_alone() {
    let ptx = compiled("unfused", Facts::ALL).text;
    assert!(has(&ptx, "mul.rn.f32") && has(&ptx, "add.rn.f32") && !has(&ptx, "fma"), "{ptx}");
}

#[test]
fn launch_bounds_and_the_mailbox_are_in_the_entry() {
    let ptx = compiled("bounded", Facts::ALL);
    assert!(has(&ptx.text, ".maxntid 128") && has(&ptx.text, ".minnctapersm 2"), "{}", ptx.text);
    assert!(ptx.emitted.mailbox && ptx.emitted.error_sites.len() == 1);
    assert!(!compiled("turn", Facts::ALL).emitted.mailbox);
}

#[test]
fn a_function_is_no_kernel() {
    let source = "entry host @f(%0 x: i64) -> i64 {\n  return %0\n}\n";
    let refused = compile_ptx(&text::parse(source).unwrap(), Target::of_sm(90).unwrap(), Facts::ALL);
    assert!(matches!(refused, Err(CompileError::Internal(_))), "{refused:?}");
}

#[test]
fn lines_of_print_are_released_by_their_heads() {
    let ptx = compiled("says", Facts::ALL).text;
    let released = ptx
        .lines()
        .position(|line| line.contains("st.release.sys.global.b64"))
        .unwrap_or_else(|| panic!("{ptx}"));
    let plain = ptx.lines().enumerate().filter(|(_, line)| line.trim().starts_with("st.global"));
    let last = plain.map(|(at, _)| at).max().unwrap();
    assert!(last < released, "{ptx}");
}
