//! Fourier transforms of NumPy arrays. What of them may be asked for is for `weft.fft` to say.
#![allow(unsafe_code)]

use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use pyo3::exceptions::{PyMemoryError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use weft_fft::{Complex, Elements, Error, Host, Job, Kind, Out, Real, Strided, transform};
use weft_ir::Scalar;
use weft_lazy::{Dims, Node, Piece, machine};

use crate::lazy::{self, NdArray};
use crate::numpy::{ArrayFields, Numpy};
use crate::{devices, errors};

/// The threads of the CPU, and Python's signals.
struct Threads {
    /// What a signal handler raised. No other thread asks for it.
    raised: Mutex<Option<Box<dyn std::error::Error + Send + Sync>>>,
}

impl Host for Threads {
    fn threads(&self) -> usize {
        devices::cpu().threads()
    }

    fn share(&self, units: u64, work: &(dyn Fn(Range<u64>) -> bool + Sync)) {
        devices::cpu().share(units, work);
    }

    fn interrupted(&self) -> bool {
        match errors::pause() {
            Ok(()) => false,
            Err(error) => {
                *self.raised.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
                true
            }
        }
    }
}

/// What is asked for: `kind` is "complex", "from real" or "to real".
struct Asked<'a> {
    kind: &'a str,
    forward: bool,
    axes: Vec<usize>,
    lengths: Vec<usize>,
    factor: f64,
}

/// The transform of a NumPy array along axes, as a new one. Numbers are computed with in single precision if they have that or half of it, and
/// else in double precision.
#[pyfunction]
#[pyo3(signature = (array, kind, forward, axes, lengths, factor))]
pub fn _fft<'py>(
    array: &Bound<'py, PyAny>,
    kind: &str,
    forward: bool,
    axes: Vec<usize>,
    lengths: Vec<usize>,
    factor: f64,
) -> PyResult<Bound<'py, PyAny>> {
    let py = array.py();
    let asked = Asked {
        kind,
        forward,
        axes,
        lengths,
        factor,
    };
    transformed(array, &asked, |numpy, elem, shape| {
        let shape: Vec<isize> = shape.iter().map(|&n| isize::try_from(n).unwrap_or(isize::MAX)).collect();
        let made = numpy.new_array(py, &shape, elem, false)?;
        let address = numpy.fields(&made).data;
        Ok((made, address))
    })
}

/// The same as an array of Weft's, in memory of its own.
#[pyfunction]
#[pyo3(signature = (array, kind, forward, axes, lengths, factor))]
pub fn _fft_here(
    array: &Bound<'_, PyAny>,
    kind: &str,
    forward: bool,
    axes: Vec<usize>,
    lengths: Vec<usize>,
    factor: f64,
) -> PyResult<NdArray> {
    let py = array.py();
    let asked = Asked {
        kind,
        forward,
        axes,
        lengths,
        factor,
    };
    transformed(array, &asked, |_, elem, shape| {
        let shape: Dims = shape.iter().map(|&n| n as u64).collect();
        let piece = Piece::fresh(machine::CPU, &shape, elem).map_err(|e| lazy::error(py, e))?;
        let address = piece.address();
        Ok((NdArray::of(Node::stored(elem, shape, piece)), address))
    })
}

/// What `make` made for the result: a place of so many elements, C's order, and the address of that.
fn transformed<R>(
    array: &Bound<'_, PyAny>,
    asked: &Asked<'_>,
    make: impl FnOnce(&Numpy, Scalar, &[usize]) -> PyResult<(R, u64)>,
) -> PyResult<R> {
    let py = array.py();
    let numpy = Numpy::get(py)?;
    if !numpy.is_array(array) {
        return Err(PyTypeError::new_err("expected a NumPy array"));
    }
    let kind = match asked.kind {
        "complex" => Kind::Complex,
        "from real" => Kind::FromReal,
        "to real" => Kind::ToReal,
        kind => return Err(PyValueError::new_err(format!("no kind of transform is called {kind:?}"))),
    };
    let (array, elem) = readable(numpy, array)?;
    let fields = numpy.fields(&array);
    let job = Job {
        kind,
        forward: asked.forward,
        axes: &asked.axes,
        lengths: &asked.lengths,
        factor: asked.factor,
    };
    let made_of = match (kind == Kind::ToReal, matches!(elem, Scalar::F32 | Scalar::C64)) {
        (true, true) => Scalar::F32,
        (true, false) => Scalar::F64,
        (false, true) => Scalar::C64,
        (false, false) => Scalar::C128,
    };
    let extents: Vec<usize> = fields.shape.iter().map(|&n| n as usize).collect();
    let shape = job.shape(&extents).map_err(|e| PyValueError::new_err(e.to_string()))?;
    let (made, address) = make(numpy, made_of, &shape)?;
    let into = Place {
        address,
        count: if shape.contains(&0) { 0 } else { shape.iter().product() },
    };
    // SAFETY: `readable` saw to alignment and strides, and `array` keeps the memory; what was made is nobody else's yet, and there is memory
    // for so many elements.
    unsafe {
        match elem {
            Scalar::F32 => run::<f32, f32>(py, &fields, &extents, into, Elements::Real, &job),
            Scalar::C64 => run::<f32, Complex<f32>>(py, &fields, &extents, into, Elements::Complex, &job),
            Scalar::F64 => run::<f64, f64>(py, &fields, &extents, into, Elements::Real, &job),
            _ => run::<f64, Complex<f64>>(py, &fields, &extents, into, Elements::Complex, &job),
        }?;
    }
    Ok(made)
}

/// Where a result goes.
struct Place {
    address: u64,
    count: usize,
}

/// An array as one of floats or complex numbers that lie as Rust's do: itself, or a copy.
fn readable<'py>(numpy: &Numpy, array: &Bound<'py, PyAny>) -> PyResult<(Bound<'py, PyAny>, Scalar)> {
    let fields = numpy.fields(array);
    let lies_well = |elem: Scalar| fields.aligned && fields.strides.iter().all(|stride| stride % elem.size() as isize == 0);
    match fields.elem {
        Some(elem @ (Scalar::F32 | Scalar::F64 | Scalar::C64 | Scalar::C128)) if lies_well(elem) => return Ok((array.clone(), elem)),
        _ => {}
    }
    let py = array.py();
    let name: String = array.getattr("dtype")?.getattr("name")?.extract()?;
    let elem = match Scalar::from_numpy_name(&name) {
        Some(Scalar::F16 | Scalar::BF16 | Scalar::F32) => Scalar::F32,
        Some(elem @ (Scalar::C64 | Scalar::C128)) => elem,
        Some(_) => Scalar::F64,
        None => return Err(PyTypeError::new_err(format!("there are no transforms of arrays of dtype {name}"))),
    };
    let copy = array.call_method1("astype", (numpy.descr(py, elem)?, "C"))?;
    Ok((copy, elem))
}

/// Transforms elements of type `E`, which are `T`s or pairs of them.
///
/// # Safety
/// The array's elements must be `E`s, aligned, with whole numbers of them as strides; `into` must be memory of as many elements, of the
/// kind that the job makes, which nobody else uses.
unsafe fn run<'a, T: Real, E: 'a + Sync>(
    py: Python<'_>,
    fields: &ArrayFields<'a>,
    shape: &[usize],
    into: Place,
    elements: fn(&'a [E]) -> Elements<'a, T>,
    job: &Job<'_>,
) -> PyResult<()> {
    let size = size_of::<E>();
    let (low, high) = crate::numpy::bounds(fields.data, fields.shape, fields.strides, size).unwrap_or((fields.data, fields.data));
    let memory: &[E] = match low == high {
        true => &[],
        // SAFETY: all between the first and the last element is memory of the array's, which is kept meanwhile.
        false => unsafe { std::slice::from_raw_parts(low as *const E, (high - low) as usize / size) },
    };
    let strides: Vec<isize> = fields.strides.iter().map(|stride| stride / size as isize).collect();
    let from = Strided {
        elements: elements(memory),
        first: (fields.data - low) as usize / size,
        shape,
        strides: &strides,
    };
    let out = match (into.count, job.kind) {
        (0, Kind::ToReal) => Out::Real(&mut []),
        (0, _) => Out::Complex(&mut []),
        // SAFETY: by contract, here and below.
        (count, Kind::ToReal) => Out::Real(unsafe { std::slice::from_raw_parts_mut(into.address as *mut T, count) }),
        // SAFETY: as above.
        (count, _) => Out::Complex(unsafe { std::slice::from_raw_parts_mut(into.address as *mut Complex<T>, count) }),
    };
    let host = Threads { raised: Mutex::new(None) };
    let done = py.detach(|| transform(&from, job, out, &host));
    done.map_err(
        |error| match (error, host.raised.into_inner().unwrap_or_else(PoisonError::into_inner)) {
            (Error::Interrupted, Some(raised)) => match raised.downcast::<PyErr>() {
                Ok(raised) => *raised,
                Err(raised) => errors::internal(py, raised.to_string()),
            },
            (Error::OutOfMemory, _) => PyMemoryError::new_err(error.to_string()),
            _ => PyValueError::new_err(error.to_string()),
        },
    )
}
