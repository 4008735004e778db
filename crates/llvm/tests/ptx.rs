//! Kernels for NVIDIA's GPUs: LLVM IR goes in, PTX comes out, and what NVPTX calls fatal comes back as an error.

use weft_llvm::{Error, ptx};

const SAXPY: &str = "
define ptx_kernel void @saxpy(float %a, ptr addrspace(1) %x, ptr addrspace(1) %y, i32 %n) {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %on = icmp slt i32 %t, %n
  br i1 %on, label %body, label %end
body:
  %px = getelementptr float, ptr addrspace(1) %x, i32 %t
  %py = getelementptr float, ptr addrspace(1) %y, i32 %t
  %vx = load float, ptr addrspace(1) %px
  %vy = load float, ptr addrspace(1) %py
  %z = call float @llvm.fma.f32(float %a, float %vx, float %vy)
  store float %z, ptr addrspace(1) %py
  br label %end
end:
  ret void
}
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare float @llvm.fma.f32(float, float, float)
";

#[test]
fn a_kernel_for_every_generation() {
    for (sm, isa) in [(70, 60), (75, 63), (80, 70), (90, 78), (100, 86), (120, 87)] {
        let text = ptx(SAXPY, sm, isa).unwrap();
        assert!(text.contains(&format!(".version {}.{}", isa / 10, isa % 10)), "{text}");
        assert!(text.contains(&format!(".target sm_{sm}")), "{text}");
        assert!(text.contains(".visible .entry saxpy("), "{text}");
        assert!(text.contains("fma.rn.f32"), "{text}");
        assert!(text.contains("ld.global"), "{text}");
    }
}

#[test]
fn what_the_target_cannot_do_is_an_error() {
    let sine = "
define ptx_kernel void @k(ptr addrspace(1) %x) {
  %v = load double, ptr addrspace(1) %x
  %s = call double @llvm.sin.f64(double %v)
  store double %s, ptr addrspace(1) %x
  ret void
}
declare double @llvm.sin.f64(double)
";
    let error = ptx(sine, 75, 63).unwrap_err();
    assert!(matches!(error, Error::Codegen(_) | Error::Fatal(_)), "{error}");
    assert!(ptx(SAXPY, 75, 63).is_ok());
}
