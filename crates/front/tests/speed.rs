//! How long the front end takes, printed: `cargo test -p weft-front --release --test speed -- --ignored --nocapture`.

#![allow(clippy::panic, clippy::unwrap_used)] // A test that cannot go on stops.

mod common;

use std::time::Instant;

use common::{World, array, host, kernel, weak};
use weft_front::{ArgType, Options};
use weft_ir::Scalar;

const TEXT: &str = r#"
def escape(x, y, limit):
    c = complex(x, y); z = 0j
    for i in range(limit):
        z = z * z + c
        if z.real * z.real + z.imag * z.imag >= 4.0:
            return i
    return limit

def mandelbrot(x0, x1, y0, y1, image, limit):
    row, col = cuda.grid(2)
    if row < image.shape[0] and col < image.shape[1]:
        image[row, col] = escape(x0 + col * (x1 - x0) / image.shape[1], y0 + row * (y1 - y0) / image.shape[0], limit)

def haversine(lat1, lon1, lat2, lon2):
    dlat = math.radians(lat2 - lat1); dlon = math.radians(lon2 - lon1)
    a = math.sin(dlat / 2) ** 2 + math.cos(math.radians(lat1)) * math.cos(math.radians(lat2)) * math.sin(dlon / 2) ** 2
    return 2 * 6371.0 * math.atan2(math.sqrt(a), math.sqrt(1 - a))
"#;

fn time(name: &str, args: &[ArgType], options: Options) {
    for round in 0..4 {
        let world = World::new("speed.py", TEXT);
        let start = Instant::now();
        let compiled = world.compile(name, args, options).unwrap();
        let statements = compiled.module.functions.iter().map(|f| f.values.len()).sum::<usize>();
        println!("{name}, round {round}: {:?}, {statements} values", start.elapsed());
    }
}

#[test]
#[ignore = "prints times, asserts nothing about them"]
fn times() {
    let f = weak(Scalar::F64);
    let args = [f.clone(), f.clone(), f.clone(), f.clone(), array(Scalar::U16, 2), weak(Scalar::I64)];
    time("mandelbrot", &args, kernel());
    time("haversine", &[f.clone(), f.clone(), f.clone(), f], host());
}
