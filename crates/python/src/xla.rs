//! Operations of JAX: the function that XLA calls by its foreign function interface, and the numbers of what that calls in turn.
//!
//! The structures are those of `xla/ffi/api/c_api.h`, version 0.3, of which only the fields that are read here stand below. One C function
//! serves every operation: an attribute says by number which Python callable does the work.
#![allow(unsafe_code)]

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::sync::Mutex;

use pyo3::exceptions::{PyRuntimeError, PyTypeError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use weft_ir::Scalar;
use weft_runtime::lock;

use crate::dlpack::Elements;

/// The version whose structures these are.
const VERSION: (c_int, c_int) = (0, 3);

const METADATA: c_int = 1;
const EXECUTE: c_int = 3;
const BUFFER: c_int = 1;
const SCALAR: c_int = 3;
const S64: c_int = 5;
/// What `XLA_FFI_Error_Code` calls an error of nobody's.
const UNKNOWN: c_int = 2;

/// Where a capsule with a handler says what it is.
const TARGET: &CStr = c"xla._CUSTOM_CALL_TARGET";
/// The attribute that carries the number.
const NUMBER: &[u8] = b"number";

#[repr(C)]
struct Extension {
    struct_size: usize,
    kind: c_int,
    next: *mut Extension,
}

#[repr(C)]
struct Version {
    struct_size: usize,
    extensions: *mut Extension,
    major: c_int,
    minor: c_int,
}

#[repr(C)]
struct Metadata {
    struct_size: usize,
    version: Version,
    traits: u32,
}

#[repr(C)]
struct MetadataExtension {
    base: Extension,
    metadata: *mut Metadata,
}

#[repr(C)]
struct ErrorArgs {
    struct_size: usize,
    extensions: *mut Extension,
    message: *const c_char,
    code: c_int,
}

#[repr(C)]
struct StreamArgs {
    struct_size: usize,
    extensions: *mut Extension,
    context: *mut c_void,
    stream: *mut c_void,
}

#[repr(C)]
struct OrdinalArgs {
    struct_size: usize,
    extensions: *mut Extension,
    context: *mut c_void,
    ordinal: i32,
}

/// An error of XLA's; none is null.
type Failure = *mut c_void;
type Unused = *const c_void;

#[repr(C)]
struct Api {
    struct_size: usize,
    extensions: *mut Extension,
    version: Version,
    internal: Unused,
    error_create: unsafe extern "C" fn(*mut ErrorArgs) -> Failure,
    error_message: Unused,
    error_destroy: Unused,
    register: Unused,
    stream: unsafe extern "C" fn(*mut StreamArgs) -> Failure,
    others: [Unused; 12],
    ordinal: unsafe extern "C" fn(*mut OrdinalArgs) -> Failure,
}

/// Arguments or results: kinds, and a pointer to each.
#[repr(C)]
struct Buffers {
    struct_size: usize,
    extensions: *mut Extension,
    len: i64,
    kinds: *const c_int,
    items: *const *const Buffer,
}

#[repr(C)]
struct Buffer {
    struct_size: usize,
    extensions: *mut Extension,
    dtype: c_int,
    data: *mut c_void,
    rank: i64,
    dims: *const i64,
}

#[repr(C)]
struct Name {
    text: *const u8,
    len: usize,
}

#[repr(C)]
struct Attributes {
    struct_size: usize,
    extensions: *mut Extension,
    len: i64,
    kinds: *const c_int,
    names: *const *const Name,
    values: *const *const Number,
}

#[repr(C)]
struct Number {
    dtype: c_int,
    value: *const i64,
}

#[repr(C)]
struct Frame {
    struct_size: usize,
    extensions: *mut Extension,
    api: *const Api,
    context: *mut c_void,
    stage: c_int,
    arguments: Buffers,
    results: Buffers,
    attributes: Attributes,
}

/// What the operations' numbers stand for. Programs that XLA has compiled carry them, so that they stay for good.
static CALLABLES: Mutex<Vec<Py<PyAny>>> = Mutex::new(Vec::new());

/// The number by which XLA's programs know `callable`, which is called with the arguments' arrays, those of the results, and the stream.
#[pyfunction]
pub fn _xla_register(callable: Py<PyAny>) -> usize {
    let mut callables = lock(&CALLABLES);
    callables.push(callable);
    callables.len() - 1
}

/// A capsule with the function that XLA calls, for its `platform`: `cpu` or `cuda`.
#[pyfunction]
pub fn _xla_handler<'py>(py: Python<'py>, platform: &str) -> PyResult<Bound<'py, PyAny>> {
    let handler: unsafe extern "C" fn(*mut Frame) -> Failure = match platform {
        "cpu" => on_cpu,
        "cuda" => on_cuda,
        _ => return Err(PyTypeError::new_err(format!("XLA's platform {platform} is none of Weft's"))),
    };
    // SAFETY: a function's address is never null, and the name is static.
    unsafe { Bound::from_owned_ptr_or_err(py, ffi::PyCapsule_New(handler as *mut c_void, TARGET.as_ptr(), None)) }
}

unsafe extern "C" fn on_cpu(frame: *mut Frame) -> Failure {
    // SAFETY: XLA calls with a frame that it holds during the call.
    unsafe { handle(frame, false) }
}

unsafe extern "C" fn on_cuda(frame: *mut Frame) -> Failure {
    // SAFETY: as above.
    unsafe { handle(frame, true) }
}

unsafe fn handle(frame: *mut Frame, on_cuda: bool) -> Failure {
    // SAFETY: the caller's frame; its extensions say when XLA only asks for the version.
    let frame = unsafe { &*frame };
    let mut extension = frame.extensions;
    while !extension.is_null() {
        // SAFETY: a list of extensions, which XLA holds.
        unsafe {
            if (*extension).kind == METADATA {
                tell(extension.cast());
                return std::ptr::null_mut();
            }
            extension = (*extension).next;
        }
    }
    if frame.stage != EXECUTE {
        return std::ptr::null_mut();
    }
    // SAFETY: XLA took the version that `tell` gave, and holds the API, the frame and the buffers.
    let outcome = Python::try_attach(|py| unsafe { run(py, frame, on_cuda) }.map_err(|error| described(py, &error)));
    match outcome {
        Some(Ok(())) => std::ptr::null_mut(),
        Some(Err(message)) => failure(frame, &message),
        None => failure(frame, "Python has ended, and with it the operations that are written in it"),
    }
}

/// Says which version of the interface this is. An XLA with another one refuses to register the function, and names both.
unsafe fn tell(extension: *mut MetadataExtension) {
    // SAFETY: XLA asks for these fields to be written.
    let metadata = unsafe { &mut *(*extension).metadata };
    (metadata.version.major, metadata.version.minor) = VERSION;
    metadata.traits = 0;
}

unsafe fn run(py: Python<'_>, frame: &Frame, on_cuda: bool) -> PyResult<()> {
    // SAFETY: the frame's own.
    let (number, ordinal, stream) = unsafe {
        let number = number(&frame.attributes)?;
        match on_cuda {
            true => (number, Some(ordinal(frame)?), Some(stream(frame)?)),
            false => (number, None, None),
        }
    };
    let callable = {
        let callables = lock(&CALLABLES);
        let found = usize::try_from(number).ok().and_then(|number| callables.get(number));
        found.map(|callable| callable.clone_ref(py))
    };
    let callable = callable.ok_or_else(|| PyRuntimeError::new_err(format!("there is no operation of Weft's with number {number}")))?;
    // SAFETY: the buffers are there during the call, which is all the time that the arrays are used.
    let (arguments, results) = unsafe {
        (
            arrays(py, &frame.arguments, ordinal, false)?,
            arrays(py, &frame.results, ordinal, true)?,
        )
    };
    callable.call1(py, (arguments, results, stream)).map(|_| ())
}

unsafe fn number(attributes: &Attributes) -> PyResult<i64> {
    for at in 0..usize::try_from(attributes.len).unwrap_or(0) {
        // SAFETY: each of the lists has that many entries, of the kinds that it names.
        unsafe {
            let name = &**attributes.names.add(at);
            if *attributes.kinds.add(at) == SCALAR && std::slice::from_raw_parts(name.text, name.len) == NUMBER {
                let number = &**attributes.values.add(at);
                if number.dtype == S64 {
                    return Ok(number.value.read_unaligned());
                }
            }
        }
    }
    Err(PyRuntimeError::new_err("XLA calls an operation of Weft's without its number"))
}

unsafe fn stream(frame: &Frame) -> PyResult<u64> {
    let mut asked = StreamArgs {
        struct_size: size_of::<StreamArgs>(),
        extensions: std::ptr::null_mut(),
        context: frame.context,
        stream: std::ptr::null_mut(),
    };
    // SAFETY: XLA's own function, given what it asks for.
    match unsafe { ((*frame.api).stream)(&raw mut asked) }.is_null() {
        true => Ok(asked.stream as u64),
        false => Err(PyRuntimeError::new_err("XLA names no stream for an operation on a CUDA device")),
    }
}

/// The number of the CUDA device.
unsafe fn ordinal(frame: &Frame) -> PyResult<i32> {
    // SAFETY: the API's size says whether it has the function.
    unsafe {
        if (*frame.api).struct_size < size_of::<Api>() {
            return Err(PyRuntimeError::new_err("XLA cannot tell on which device an operation runs"));
        }
        let mut asked = OrdinalArgs {
            struct_size: size_of::<OrdinalArgs>(),
            extensions: std::ptr::null_mut(),
            context: frame.context,
            ordinal: 0,
        };
        match ((*frame.api).ordinal)(&raw mut asked).is_null() {
            true => Ok(asked.ordinal),
            false => Err(PyRuntimeError::new_err("XLA names no device for an operation")),
        }
    }
}

unsafe fn arrays<'py>(py: Python<'py>, buffers: &Buffers, device: Option<i32>, writable: bool) -> PyResult<Bound<'py, PyTuple>> {
    let made = (0..usize::try_from(buffers.len).unwrap_or(0)).map(|at| {
        // SAFETY: the lists have that many entries, and a buffer one length per axis; the caller vouches for the memory.
        unsafe {
            if *buffers.kinds.add(at) != BUFFER {
                return Err(PyTypeError::new_err("XLA gives an operation something that is no array"));
            }
            let buffer = &**buffers.items.add(at);
            let rank = usize::try_from(buffer.rank).unwrap_or(0);
            let elem =
                scalar(buffer.dtype).ok_or_else(|| PyTypeError::new_err(format!("XLA's type {} has no type in Weft", buffer.dtype)))?;
            let shape: Vec<i64> = (0..rank).map(|axis| *buffer.dims.add(axis)).collect();
            let strides = crate::array::dense_strides(&shape, elem.size() as i64);
            let elements = Elements {
                elem,
                address: buffer.data as u64,
                shape: shape.iter().map(|&n| n as isize).collect(),
                strides: strides.iter().map(|&n| n as isize).collect(),
                device,
            };
            elements.view(py, py.None().into_bound(py), writable)
        }
    });
    PyTuple::new(py, made.collect::<PyResult<Vec<_>>>()?)
}

/// By the numbers of `XLA_FFI_DataType`.
fn scalar(dtype: c_int) -> Option<Scalar> {
    Some(match dtype {
        1 => Scalar::Bool,
        2 => Scalar::I8,
        3 => Scalar::I16,
        4 => Scalar::I32,
        5 => Scalar::I64,
        6 => Scalar::U8,
        7 => Scalar::U16,
        8 => Scalar::U32,
        9 => Scalar::U64,
        10 => Scalar::F16,
        11 => Scalar::F32,
        12 => Scalar::F64,
        15 => Scalar::C64,
        16 => Scalar::BF16,
        18 => Scalar::C128,
        _ => return None,
    })
}

fn described(py: Python<'_>, error: &PyErr) -> String {
    let kind = error.get_type(py).name().map(|name| name.to_string()).unwrap_or_default();
    format!("{kind}: {}", error.value(py))
}

fn failure(frame: &Frame, message: &str) -> Failure {
    let message = CString::new(message.replace('\0', " ")).unwrap_or_default();
    let mut asked = ErrorArgs {
        struct_size: size_of::<ErrorArgs>(),
        extensions: std::ptr::null_mut(),
        message: message.as_ptr(),
        code: UNKNOWN,
    };
    // SAFETY: XLA's own function, which copies the message.
    unsafe { ((*frame.api).error_create)(&raw mut asked) }
}
