//! PTX from LLVM IR: what the text says of the target, what the passes leave, and that what LLVM cannot do is an error.

#![allow(clippy::unwrap_used, clippy::panic)]

use weft_llvm::{Error, optimized_ptx_ir, ptx};

const SAXPY: &str = "
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
define ptx_kernel void @saxpy(double %a, ptr addrspace(1) %x, ptr addrspace(1) %y) {
  %i = alloca i32
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  store i32 %t, ptr %i
  %k = load i32, ptr %i
  %px = getelementptr double, ptr addrspace(1) %x, i32 %k
  %py = getelementptr double, ptr addrspace(1) %y, i32 %k
  %vx = load double, ptr addrspace(1) %px
  %vy = load double, ptr addrspace(1) %py
  %m = fmul double %a, %vx
  %s = fadd double %m, %vy
  store double %s, ptr addrspace(1) %py
  ret void
}
";

#[test]
fn a_kernel_becomes_an_entry_for_its_target() {
    let text = ptx(SAXPY, 75, 63).unwrap();
    for part in [".version 6.3", ".target sm_75", ".entry saxpy(", "ld.global", "st.global"] {
        assert!(text.contains(part), "{part} is not in\n{text}");
    }
    assert!(!text.contains(".local"), "a local stayed in memory:\n{text}");
}

#[test]
fn every_generation_has_its_version() {
    for (sm, isa) in [(70, 60), (75, 63), (80, 70), (90, 78), (100, 86), (120, 87)] {
        let text = ptx(SAXPY, sm, isa).unwrap();
        assert!(text.contains(&format!(".version {}.{}", isa / 10, isa % 10)), "{text}");
        assert!(text.contains(&format!(".target sm_{sm}")), "{text}");
    }
}

#[test]
fn products_are_not_fused_behind_our_back() {
    let text = ptx(SAXPY, 80, 70).unwrap();
    // Without `.rn` the driver's compiler would be free to fuse the two.
    assert!(text.contains("mul.rn.f64") && text.contains("add.rn.f64"), "{text}");
    assert!(!text.contains("fma"), "{text}");
}

#[test]
fn functions_marked_so_are_inlined_and_short_loops_unrolled() {
    let text = "
define internal float @square(float %x) alwaysinline {
  %r = fmul float %x, %x
  ret float %r
}
define ptx_kernel void @sum(ptr addrspace(1) %p) {
entry:
  br label %loop
loop:
  %i = phi i32 [0, %entry], [%n, %loop]
  %s = phi float [0.0, %entry], [%t, %loop]
  %q = getelementptr float, ptr addrspace(1) %p, i32 %i
  %v = load float, ptr addrspace(1) %q, align 4
  %w = call float @square(float %v)
  %t = fadd float %s, %w
  %n = add i32 %i, 1
  %c = icmp ult i32 %n, 4
  br i1 %c, label %loop, label %end
end:
  store float %t, ptr addrspace(1) %p, align 16
  ret void
}
";
    let ir = optimized_ptx_ir(text, 80, 70).unwrap();
    assert!(!ir.contains("@square") && !ir.contains("phi"), "{ir}");
}

#[test]
fn neighbours_are_loaded_at_once_where_they_are_aligned() {
    let text = "
define ptx_kernel void @pair(ptr addrspace(1) align 16 %p, ptr addrspace(1) %q) {
  %p1 = getelementptr double, ptr addrspace(1) %p, i64 1
  %a = load double, ptr addrspace(1) %p, align 16
  %b = load double, ptr addrspace(1) %p1, align 8
  %s = fadd double %a, %b
  store double %s, ptr addrspace(1) %q
  ret void
}
";
    assert!(ptx(text, 80, 70).unwrap().contains("ld.global.v2"));
}

#[test]
fn an_address_whose_space_can_be_seen_is_not_generic() {
    let text = "
@tile = internal addrspace(3) global [256 x float] undef
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
define ptx_kernel void @k(float %x) {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %g = getelementptr float, ptr addrspacecast (ptr addrspace(3) @tile to ptr), i32 %t
  store volatile float %x, ptr %g
  ret void
}
";
    let text = ptx(text, 80, 70).unwrap();
    assert!(
        text.contains("st.volatile.shared.b32") || text.contains("st.volatile.shared.f32"),
        "{text}"
    );
}

#[test]
fn what_a_gpu_has_not_is_an_error_and_the_next_kernel_compiles() {
    let text = "
declare double @llvm.sin.f64(double)
define ptx_kernel void @k(ptr addrspace(1) %p) {
  %x = load double, ptr addrspace(1) %p
  %y = call double @llvm.sin.f64(double %x)
  store double %y, ptr addrspace(1) %p
  ret void
}
";
    let error = ptx(text, 75, 63).unwrap_err();
    assert!(matches!(&error, Error::Fatal(_) | Error::Codegen(_)), "{error}");
    assert!(ptx(SAXPY, 75, 63).is_ok());
    assert!(matches!(ptx("define void @f(", 75, 63), Err(Error::Parse { .. })));
}

/// A kernel that adds up the first elements of an array that starts at a multiple of 16.
fn sum_of(ty: &str, bytes: usize, count: usize) -> String {
    let add = if ty.starts_with('i') { "add" } else { "fadd" };
    let mut text = format!(
        "define ptx_kernel void @sum(ptr addrspace(1) noalias readonly align 16 %x, ptr addrspace(1) noalias align 16 %out) {{\n  %s0 = load {ty}, ptr addrspace(1) %x, align 16\n"
    );
    for i in 1..count {
        text += &format!(
            "  %p{i} = getelementptr inbounds i8, ptr addrspace(1) %x, i64 {}\n  %v{i} = load {ty}, ptr addrspace(1) %p{i}, align {bytes}\n  \
             %s{i} = {add} {ty} %s{}, %v{i}\n",
            i * bytes,
            i - 1
        );
    }
    text + &format!(
        "  store {ty} %s{}, ptr addrspace(1) %out, align {bytes}\n  ret void\n}}\n",
        count - 1
    )
}

/// Where a load of PTX ends: `ld.global.nc.v4.b32 {%r1, ...}, [%rd1+16];` ends at 32.
fn end_of(load: &str) -> usize {
    let name = load.split_whitespace().next().unwrap();
    let (mut lanes, mut bits) = (1, 0);
    for part in name.split('.') {
        match part.split_at(1) {
            ("v", n) => lanes = n.parse().unwrap(),
            ("b" | "u" | "s" | "f", n) => bits = n.parse().unwrap(),
            _ => {}
        }
    }
    let offset = load
        .split_once('+')
        .map_or(0, |(_, rest)| rest.split(']').next().unwrap().parse().unwrap());
    offset + lanes * bits / 8
}

#[test]
fn no_load_reads_behind_what_is_read() {
    for (ty, bytes) in [
        ("i8", 1),
        ("i16", 2),
        ("half", 2),
        ("i32", 4),
        ("float", 4),
        ("i64", 8),
        ("double", 8),
    ] {
        for count in 1..=9 {
            for (sm, isa) in [(75, 63), (90, 78), (100, 86)] {
                let text = ptx(&sum_of(ty, bytes, count), sm, isa).unwrap();
                let loads = text.lines().map(str::trim).filter(|line| line.starts_with("ld.global"));
                let last = loads.map(end_of).max().unwrap();
                assert_eq!(last, count * bytes, "{count} of {ty} for sm_{sm}:\n{text}");
            }
        }
    }
    // Whole vectors stay what they are.
    assert!(ptx(&sum_of("float", 4, 8), 90, 78).unwrap().contains("ld.global.nc.v4"));
}
