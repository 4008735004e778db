//! From text to running code, and what happens on the way when the text is wrong.

#![allow(clippy::unwrap_used, clippy::panic)]
#![allow(unsafe_code)]

use weft_llvm::{Error, Library, Options, Pipeline, assembly, compile, host, optimized_ir};

fn options() -> Options {
    Options::host(Pipeline::Scalar)
}

const ADD: &str = "define i64 @add(i64 %a, i64 %b) {\n  %c = add i64 %a, %b\n  ret i64 %c\n}\n";

#[test]
fn a_function_compiles_loads_and_runs() {
    let object = compile(ADD, &options()).unwrap().bytes;
    let library = Library::load(&object, &[]).unwrap();
    let address = library.address("add").unwrap();
    // SAFETY: the IR above has this signature; the library outlives the call.
    let add: extern "C" fn(i64, i64) -> i64 = unsafe { std::mem::transmute(address) };
    assert_eq!(add(40, 2), 42);
    assert_eq!(library.address("sub"), None);
}

extern "C" fn triple(x: i64) -> i64 {
    3 * x
}

#[test]
fn compiled_code_reaches_given_functions_constants_and_variables() {
    let text = "
@table = private constant [4 x i64] [i64 10, i64 20, i64 30, i64 40]
@count = internal global i64 5
declare i64 @triple(i64)
declare double @fmod(double, double)
define i64 @f(i64 %i) {
  %p = getelementptr [4 x i64], ptr @table, i64 0, i64 %i
  %v = load i64, ptr %p
  %t = call i64 @triple(i64 %v)
  %c = load i64, ptr @count
  %n = add i64 %c, 1
  store i64 %n, ptr @count
  %s = add i64 %t, %n
  ret i64 %s
}
define double @g(double %a, double %b) {
  %r = frem double %a, %b
  ret double %r
}
";
    let object = compile(text, &options()).unwrap().bytes;
    assert!(matches!(Library::load(&object, &[]), Err(Error::Load(message)) if message.contains("triple")));
    let library = Library::load(&object, &[("triple", triple as *const () as usize)]).unwrap();
    // SAFETY: the IR above has these signatures; the library outlives the calls.
    let (f, g) = unsafe {
        (
            std::mem::transmute::<usize, extern "C" fn(i64) -> i64>(library.address("f").unwrap()),
            std::mem::transmute::<usize, extern "C" fn(f64, f64) -> f64>(library.address("g").unwrap()),
        )
    };
    assert_eq!((f(0), f(3)), (36, 127));
    assert_eq!(g(7.5, 2.0), 1.5);
}

#[test]
fn a_switch_with_a_jump_table_runs() {
    let cases: String = (0..40).map(|i| format!("    i64 {i}, label %c{i}\n")).collect();
    let blocks: String = (0..40)
        .map(|i| format!("c{i}:\n  call void @triple(i64 {i})\n  br label %end\n"))
        .collect();
    let values: Vec<String> = (0..40).map(|i| format!("[{}, %c{i}]", i * i + 1)).collect();
    let text = format!(
        "declare void @triple(i64)\ndefine i64 @f(i64 %x) {{\n  switch i64 %x, label %other [\n{cases}  ]\n{blocks}other:\n  br label %end\nend:\n  %r = phi i64 {}, [-1, %other]\n  ret i64 %r\n}}\n",
        values.join(", ")
    );
    let library = Library::load(
        &compile(&text, &options()).unwrap().bytes,
        &[("triple", triple as *const () as usize)],
    )
    .unwrap();
    // SAFETY: as above.
    let f: extern "C" fn(i64) -> i64 = unsafe { std::mem::transmute(library.address("f").unwrap()) };
    for i in 0..40 {
        assert_eq!(f(i), i * i + 1);
    }
    assert_eq!(f(99), -1);
}

#[test]
fn text_that_is_not_ir_is_an_error_with_its_line() {
    let error = compile("define i64 @f() {\n  ret i64 %nowhere\n}\n", &options()).unwrap_err();
    let Error::Parse { line, column, message } = error else {
        panic!("{error}")
    };
    assert_eq!((line, column), (2, 11));
    assert!(message.starts_with("use of undefined value '%nowhere'"), "{message}");
}

#[test]
fn ir_that_breaks_the_rules_is_an_error() {
    let text = "define i64 @f(i1 %c) {\n  br i1 %c, label %a, label %b\na:\n  %x = add i64 1, 2\n  br label %b\nb:\n  ret i64 %x\n}\n";
    let error = compile(text, &options()).unwrap_err();
    assert!(matches!(&error, Error::Invalid(message) if message.contains("dominate")), "{error}");
}

#[test]
fn what_llvm_calls_fatal_is_an_error_and_the_next_module_compiles() {
    // No machine has such a register.
    let fatal = "declare i32 @llvm.read_register.i32(metadata)\ndefine i32 @f() {\n  %r = call i32 @llvm.read_register.i32(metadata !0)\n  ret i32 %r\n}\n!0 = !{!\"nosuchregister\"}\n";
    let error = compile(fatal, &options()).unwrap_err();
    assert!(matches!(&error, Error::Fatal(_) | Error::Codegen(_)), "{error}");
    assert!(compile(ADD, &options()).is_ok());
}

#[test]
fn damaged_objects_are_errors() {
    let object = compile(ADD, &options()).unwrap().bytes;
    for length in 0..object.len() {
        // A shorter object may only lose what loading does not need.
        let _ = Library::load(&object[..length], &[]);
    }
    assert!(Library::load(&object[..object.len() / 2], &[]).is_err());
    assert!(Library::load(b"not an object", &[]).is_err());
    for at in 0..object.len() {
        for bit in 0..8 {
            let mut flipped = object.clone();
            flipped[at] ^= 1 << bit;
            // Loads or does not; it is not called, since nothing but a checksum could tell that its code is another.
            let _ = Library::load(&flipped, &[]);
        }
    }
}

#[test]
fn ir_and_assembly_can_be_looked_at() {
    assert!(optimized_ir(ADD, &options()).unwrap().contains("define i64 @add"));
    assert!(assembly(ADD, &options()).unwrap().contains("add:"));
    assert!(host().vector_bits >= 128);
}

#[test]
fn many_threads_compile_at_once() {
    std::thread::scope(|scope| {
        for k in 0..4i64 {
            scope.spawn(move || {
                let text = format!("define i64 @f(i64 %a) {{\n  %c = mul i64 %a, {k}\n  ret i64 %c\n}}\n");
                let library = Library::load(&compile(&text, &options()).unwrap().bytes, &[]).unwrap();
                // SAFETY: as above.
                let f: extern "C" fn(i64) -> i64 = unsafe { std::mem::transmute(library.address("f").unwrap()) };
                assert_eq!(f(7), 7 * k);
            });
        }
    });
}

#[test]
fn large_frames_are_reported() {
    assert_eq!(compile(ADD, &options()).unwrap().stack_bytes, 0);
    let text = "declare void @g(ptr)\ndefine void @f() {\n  %a = alloca [1000000 x i8]\n  call void @g(ptr %a)\n  ret void\n}\n";
    let stack = compile(text, &options()).unwrap().stack_bytes;
    assert!((1_000_000..1_001_000).contains(&stack), "{stack}");
}

#[test]
fn loops_of_scalars_become_vectors_beside_gangs() {
    let text = "
define void @f(ptr noalias %a, ptr noalias %b, i64 %n, ptr %v) {
  %w = load <8 x float>, ptr %v
  %x = fadd <8 x float> %w, %w
  store <8 x float> %x, ptr %v
  br label %head
head:
  %i = phi i64 [ 0, %0 ], [ %next, %head ]
  %p = getelementptr float, ptr %a, i64 %i
  %q = getelementptr float, ptr %b, i64 %i
  %e = load float, ptr %p
  %d = fmul float %e, %e
  store float %d, ptr %q
  %next = add nsw i64 %i, 1
  %more = icmp slt i64 %next, %n
  br i1 %more, label %head, label %done
done:
  ret void
}
";
    let made = optimized_ir(text, &options()).unwrap();
    assert!(made.contains("x float> %wide.load"), "{made}");
}

/// `r = p[..4] where m else 1; p[..4] = 7 where m`, with the select behind the store.
#[test]
fn masked_loads_stay_before_stores_to_their_memory() {
    let text = "
declare <4 x double> @llvm.masked.load.v4f64.p0(ptr, <4 x i1>, <4 x double>)
declare void @llvm.masked.store.v4f64.p0(<4 x double>, ptr, <4 x i1>)
define void @f(ptr %p, ptr %m, ptr %r) {
  %bytes = load <4 x i8>, ptr %m, align 1
  %mask = icmp ne <4 x i8> %bytes, zeroinitializer
  %v = call <4 x double> @llvm.masked.load.v4f64.p0(ptr align 8 %p, <4 x i1> %mask, <4 x double> zeroinitializer)
  call void @llvm.masked.store.v4f64.p0(<4 x double> splat (double 7.0), ptr align 8 %p, <4 x i1> %mask)
  %s = select <4 x i1> %mask, <4 x double> %v, <4 x double> splat (double 1.0)
  store <4 x double> %s, ptr %r, align 8
  ret void
}
";
    for pipeline in [Pipeline::Scalar, Pipeline::Gang] {
        let object = compile(text, &Options::host(pipeline)).unwrap().bytes;
        let library = Library::load(&object, &[]).unwrap();
        let address = library.address("f").unwrap();
        // SAFETY: the IR above has this signature; the library outlives the call.
        let f: extern "C" fn(*mut f64, *const u8, *mut f64) = unsafe { std::mem::transmute(address) };
        let (mut p, mut r) = ([2.0, 3.0, 4.0, 5.0], [0.0; 4]);
        f(p.as_mut_ptr(), [1, 0, 0, 1].as_ptr(), r.as_mut_ptr());
        assert_eq!((p, r), ([7.0, 3.0, 4.0, 7.0], [2.0, 1.0, 1.0, 5.0]));
    }
}
