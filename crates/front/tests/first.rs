//! The programs every newcomer writes first compile to IR that verifies.

#![allow(clippy::panic, clippy::unwrap_used)] // A test that cannot go on stops.

mod common;

use common::{World, array, host, kernel, weak};
use weft_front::ArgType;
use weft_ir::Scalar;

const TEXT: &str = r#"
@cuda.jit(device=True)
def escape(x, y, limit):
    c = complex(x, y); z = 0j
    for i in range(limit):
        z = z * z + c
        if z.real * z.real + z.imag * z.imag >= 4.0:
            return i
    return limit

@cuda.jit
def mandelbrot(x0, x1, y0, y1, image, limit):
    row, col = cuda.grid(2)
    if row < image.shape[0] and col < image.shape[1]:
        image[row, col] = escape(x0 + col * (x1 - x0) / image.shape[1], y0 + row * (y1 - y0) / image.shape[0], limit)

def saxpy(a, x, y):
    i = cuda.grid(1)
    if i < x.size:
        y[i] = a * x[i] + y[i]

def norm(x, y):
    acc = 0.0
    for v in (x, y):
        acc += v * v
    return math.sqrt(acc)

def total(a):
    acc = 0
    for x in a:
        acc += x
    return acc

def wave(x):
    return np.sin(x) / 2 if x > 0 else x ** 2

def scaled(a, b):
    return (a * 2 + b).sum()
"#;

fn show(name: &str, args: &[ArgType], options: weft_front::Options) -> String {
    let world = World::new("first.py", TEXT);
    let compiled = world.compile(name, args, options).unwrap_or_else(|d| panic!("{}", d.render()));
    let text = weft_ir::text::print(&compiled.module);
    if let Err(error) = weft_ir::verify::verify(&compiled.module) {
        panic!("{error}\n{text}");
    }
    text
}

#[test]
fn mandelbrot() {
    let f = weak(Scalar::F64);
    let text = show(
        "mandelbrot",
        &[f.clone(), f.clone(), f.clone(), f, array(Scalar::U16, 2), weak(Scalar::I64)],
        kernel(),
    );
    insta::assert_snapshot!(text);
}

#[test]
fn saxpy() {
    let x = array(Scalar::F32, 1);
    insta::assert_snapshot!(show("saxpy", &[weak(Scalar::F64), x.clone(), x], kernel()));
}

#[test]
fn scalar_functions() {
    let f = ArgType::Strong(Scalar::F32);
    insta::assert_snapshot!(show("norm", &[f.clone(), f], host()));
    insta::assert_snapshot!(show("total", &[array(Scalar::F32, 1)], host()));
    show("wave", &[ArgType::Strong(Scalar::F64)], host());
    show("wave", &[ArgType::Weak(Scalar::F64)], host());
}

#[test]
fn array_expressions() {
    insta::assert_snapshot!(show("scaled", &[array(Scalar::F32, 2), array(Scalar::F32, 1)], host()));
}
