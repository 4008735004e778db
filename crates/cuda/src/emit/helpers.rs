//! Helper functions that code calls for what the hardware has no instruction for. LLVM inlines them, so that PTX holds no calls.

use super::writer::Ty;

/// A function in LLVM IR, and what it declares.
#[derive(Clone, Debug)]
pub struct Helper {
    pub name: String,
    pub text: String,
    pub declares: Vec<String>,
}

/// The exact remainder with the dividend's sign: mantissas as integers, one bit of the quotient at a time.
///
/// A float is its mantissa `m` times two to the `e`; subnormals have the least exponent. While the dividend's exponent is the greater it is
/// doubled and the divisor's mantissa taken off where it fits. A subnormal divisor can be far smaller than the dividend's mantissa, hence the
/// division at first.
pub fn fmod(ty: Ty) -> Helper {
    let int = ty.int();
    let bits = ty.bits();
    let mantissa = if ty == Ty::F32 { 23 } else { 52 };
    let name = format!("weft$fmod_{}", ty.suffix());
    let magnitude = (1u64 << (bits - 1)) - 1;
    let hidden = 1u64 << mantissa;
    let infinity = magnitude & !(hidden - 1);
    let spare = bits - mantissa - 1;
    let text = format!(
        "define internal {ty} @{name}({ty} %x, {ty} %y) alwaysinline nounwind {{
start:
  %xb = bitcast {ty} %x to {int}
  %yb = bitcast {ty} %y to {int}
  %xa = and {int} %xb, {magnitude}
  %ya = and {int} %yb, {magnitude}
  %sign = xor {int} %xb, %xa
  %y0 = icmp eq {int} %ya, 0
  %ynan = icmp ugt {int} %ya, {infinity}
  %xbig = icmp uge {int} %xa, {infinity}
  %bad0 = or i1 %y0, %ynan
  %bad = or i1 %bad0, %xbig
  br i1 %bad, label %invalid, label %valid
invalid:
  ret {ty} 0x7FF8000000000000
valid:
  %less = icmp ult {int} %xa, %ya
  br i1 %less, label %same, label %divide
same:
  ret {ty} %x
divide:
  %xe = lshr {int} %xa, {mantissa}
  %ye = lshr {int} %ya, {mantissa}
  %ex = call {int} @llvm.umax.{int}({int} %xe, {int} 1)
  %ey = call {int} @llvm.umax.{int}({int} %ye, {int} 1)
  %xl = and {int} %xa, {low}
  %yl = and {int} %ya, {low}
  %xh = or {int} %xl, {hidden}
  %yh = or {int} %yl, {hidden}
  %xsub = icmp eq {int} %xe, 0
  %ysub = icmp eq {int} %ye, 0
  %mx = select i1 %xsub, {int} %xl, {int} %xh
  %my = select i1 %ysub, {int} %yl, {int} %yh
  br i1 %ysub, label %small, label %usual
small:
  %m1 = urem {int} %mx, %my
  br label %loop
usual:
  %over0 = sub {int} %mx, %my
  %fits0 = icmp uge {int} %mx, %my
  %m2 = select i1 %fits0, {int} %over0, {int} %mx
  br label %loop
loop:
  %m = phi {int} [ %m1, %small ], [ %m2, %usual ], [ %next, %step ]
  %e = phi {int} [ %ex, %small ], [ %ex, %usual ], [ %lower, %step ]
  %more = icmp ugt {int} %e, %ey
  br i1 %more, label %step, label %done
step:
  %twice = shl {int} %m, 1
  %over = sub {int} %twice, %my
  %fits = icmp uge {int} %twice, %my
  %next = select i1 %fits, {int} %over, {int} %twice
  %lower = add {int} %e, -1
  br label %loop
done:
  %zeros = call {int} @llvm.ctlz.{int}({int} %m, i1 false)
  %room = sub {int} %zeros, {spare}
  %down = add {int} %ey, -1
  %shift = call {int} @llvm.umin.{int}({int} %room, {int} %down)
  %none = icmp eq {int} %m, 0
  %shift0 = select i1 %none, {int} 0, {int} %shift
  %normal = shl {int} %m, %shift0
  %exp = sub {int} %down, %shift0
  %place = shl {int} %exp, {mantissa}
  %sum = add {int} %normal, %place
  %abs = select i1 %none, {int} 0, {int} %sum
  %all = or {int} %abs, %sign
  %result = bitcast {int} %all to {ty}
  ret {ty} %result
}}
",
        low = hidden - 1,
    );
    Helper {
        name,
        text,
        declares: vec![
            format!("declare {int} @llvm.umax.{int}({int}, {int})"),
            format!("declare {int} @llvm.umin.{int}({int}, {int})"),
            format!("declare {int} @llvm.ctlz.{int}({int}, i1)"),
        ],
    }
}

/// Squares and multiplies while the exponent, an `i64`, has bits left; negative exponents give 0, but for the bases 1 and -1.
pub fn pow(ty: Ty, signed_base: bool, signed_exponent: bool) -> Helper {
    let sign = |s: bool| if s { "s" } else { "u" };
    let name = format!("weft$pow_{ty}_{}{}", sign(signed_base), sign(signed_exponent));
    let minus = if signed_base { "-1" } else { "1" };
    let negative = if signed_exponent {
        format!(
            "  %negative = icmp slt i64 %n, 0
  br i1 %negative, label %tiny, label %loop
tiny:
  %bit = trunc i64 %n to i1
  %isone = icmp eq {ty} %x, 1
  %isminus = icmp eq {ty} %x, {minus}
  %odd = select i1 %bit, {ty} {minus}, {ty} 1
  %some = select i1 %isminus, {ty} %odd, {ty} 0
  %small = select i1 %isone, {ty} 1, {ty} %some
  ret {ty} %small
"
        )
    } else {
        "  br label %loop\n".to_owned()
    };
    let text = format!(
        "define internal {ty} @{name}({ty} %x, i64 %n) alwaysinline nounwind {{
start:
{negative}loop:
  %r = phi {ty} [ 1, %start ], [ %product, %step ]
  %s = phi {ty} [ %x, %start ], [ %square, %step ]
  %e = phi i64 [ %n, %start ], [ %half, %step ]
  %more = icmp ne i64 %e, 0
  br i1 %more, label %step, label %done
step:
  %bit1 = trunc i64 %e to i1
  %times = mul {ty} %r, %s
  %product = select i1 %bit1, {ty} %times, {ty} %r
  %square = mul {ty} %s, %s
  %half = lshr i64 %e, 1
  br label %loop
done:
  ret {ty} %r
}}
"
    );
    Helper {
        name,
        text,
        declares: Vec::new(),
    }
}
