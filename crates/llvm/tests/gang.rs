//! A gang with a divergent loop gives what the scalar loop gives, under both pipelines and in one module with it.

#![allow(clippy::unwrap_used, clippy::panic)]
#![allow(unsafe_code)]

use weft_llvm::{Library, Options, Pipeline, compile};

/// Steps of `n -> n odd ? 3n + 1 : n / 2` until 1, eight lanes at a time and one by one.
const COLLATZ: &str = "
define void @gang(ptr %from, ptr %to, i64 %n) nounwind {
entry:
  br label %gang
gang:
  %i = phi i64 [0, %entry], [%next, %end]
  %more = icmp slt i64 %i, %n
  br i1 %more, label %start, label %done
start:
  %p = getelementptr i64, ptr %from, i64 %i
  %x0 = load <8 x i64>, ptr %p, align 8
  br label %loop
loop:
  %x = phi <8 x i64> [%x0, %start], [%x1, %body]
  %k = phi <8 x i64> [zeroinitializer, %start], [%k1, %body]
  %live = icmp sgt <8 x i64> %x, splat (i64 1)
  %any = call i1 @llvm.vector.reduce.or.v8i1(<8 x i1> %live)
  br i1 %any, label %body, label %end
body:
  %bit = and <8 x i64> %x, splat (i64 1)
  %odd = icmp ne <8 x i64> %bit, zeroinitializer
  %t = mul <8 x i64> %x, splat (i64 3)
  %up = add <8 x i64> %t, splat (i64 1)
  %down = ashr <8 x i64> %x, splat (i64 1)
  %new = select <8 x i1> %odd, <8 x i64> %up, <8 x i64> %down
  %x1 = select <8 x i1> %live, <8 x i64> %new, <8 x i64> %x
  %one = zext <8 x i1> %live to <8 x i64>
  %k1 = add <8 x i64> %k, %one
  br label %loop
end:
  %q = getelementptr i64, ptr %to, i64 %i
  store <8 x i64> %k, ptr %q, align 8
  %next = add i64 %i, 8
  br label %gang
done:
  ret void
}

define void @scalar(ptr %from, ptr %to, i64 %n) nounwind {
entry:
  br label %each
each:
  %i = phi i64 [0, %entry], [%next, %end]
  %more = icmp slt i64 %i, %n
  br i1 %more, label %start, label %done
start:
  %p = getelementptr i64, ptr %from, i64 %i
  %x0 = load i64, ptr %p
  br label %loop
loop:
  %x = phi i64 [%x0, %start], [%new, %body]
  %k = phi i64 [0, %start], [%k1, %body]
  %live = icmp sgt i64 %x, 1
  br i1 %live, label %body, label %end
body:
  %bit = and i64 %x, 1
  %odd = icmp ne i64 %bit, 0
  %t = mul i64 %x, 3
  %up = add i64 %t, 1
  %down = ashr i64 %x, 1
  %new = select i1 %odd, i64 %up, i64 %down
  %k1 = add i64 %k, 1
  br label %loop
end:
  %q = getelementptr i64, ptr %to, i64 %i
  store i64 %k, ptr %q
  %next = add i64 %i, 1
  br label %each
done:
  ret void
}

declare i1 @llvm.vector.reduce.or.v8i1(<8 x i1>)
";

/// By the definition, in Rust.
fn steps(mut x: i64) -> i64 {
    let mut count = 0;
    while x > 1 {
        x = if x % 2 == 1 { 3 * x + 1 } else { x / 2 };
        count += 1;
    }
    count
}

#[test]
fn a_gang_equals_the_scalar_loop() {
    let from: Vec<i64> = (-4..996).collect();
    let expected: Vec<i64> = from.iter().map(|&x| steps(x)).collect();
    for pipeline in [Pipeline::Gang, Pipeline::Scalar] {
        let library = Library::load(&compile(COLLATZ, &Options::host(pipeline)).unwrap().bytes, &[]).unwrap();
        for name in ["gang", "scalar"] {
            let mut to = vec![-1i64; from.len()];
            let address = library.address(name).unwrap();
            // SAFETY: the IR above has this signature, and both arrays hold the length given, a multiple of the gang.
            unsafe {
                let run = std::mem::transmute::<usize, extern "C" fn(*const i64, *mut i64, i64)>(address);
                run(from.as_ptr(), to.as_mut_ptr(), from.len() as i64);
            }
            assert_eq!(to, expected, "{name}, {pipeline:?}");
        }
    }
}
