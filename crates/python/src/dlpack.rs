//! DLPack: arrays handed to other libraries and taken from them without a copy.
//!
//! The structures are those of `dlpack.h`, version 1 and before (<https://dmlc.github.io/dlpack/latest/c_api.html>).
#![allow(unsafe_code)]

use std::ffi::{CStr, c_void};
use std::ptr;

use pyo3::exceptions::{PyBufferError, PyTypeError};
use pyo3::ffi;
use pyo3::prelude::*;
use weft_ir::{Kind, Scalar};
use weft_runtime::{DeviceId, DeviceKind};

use crate::array::{DeviceArray, Memory, dense_strides};
use crate::devices;
use crate::numpy::{Numpy, RawView};

const NAME: &CStr = c"dltensor";
const USED: &CStr = c"used_dltensor";
const VERSIONED: &CStr = c"dltensor_versioned";
const VERSIONED_USED: &CStr = c"used_dltensor_versioned";

const CPU: i32 = 1;
const CUDA: i32 = 2;
/// Page-locked memory of the host.
const CUDA_HOST: i32 = 3;

/// Bits of `DLManagedTensorVersioned::flags`.
const READ_ONLY: u64 = 1;

#[repr(C)]
#[derive(Clone, Copy)]
struct DataType {
    code: u8,
    bits: u8,
    lanes: u16,
}

#[repr(C)]
struct Tensor {
    data: *mut c_void,
    device_type: i32,
    device_id: i32,
    ndim: i32,
    dtype: DataType,
    shape: *mut i64,
    /// In elements; null if C-contiguous.
    strides: *mut i64,
    byte_offset: u64,
}

#[repr(C)]
struct Managed {
    tensor: Tensor,
    context: *mut c_void,
    deleter: Option<unsafe extern "C" fn(*mut Managed)>,
}

#[repr(C)]
struct ManagedVersioned {
    major: u32,
    minor: u32,
    context: *mut c_void,
    deleter: Option<unsafe extern "C" fn(*mut ManagedVersioned)>,
    flags: u64,
    tensor: Tensor,
}

/// What a tensor that we lend points to.
struct Lent {
    shape: Vec<i64>,
    strides: Vec<i64>,
    /// Keeps the memory.
    _array: Py<DeviceArray>,
}

/// Codes of `DLDataTypeCode`.
fn data_type(scalar: Scalar) -> DataType {
    let code = match (scalar, scalar.kind()) {
        (Scalar::BF16, _) => 4,
        (_, Kind::Signed) => 0,
        (_, Kind::Unsigned) => 1,
        (_, Kind::Float) => 2,
        (_, Kind::Complex) => 5,
        (_, Kind::Bool) => 6,
    };
    DataType {
        code,
        bits: scalar.bits() as u8,
        lanes: 1,
    }
}

fn scalar_of(ty: DataType) -> Option<Scalar> {
    Scalar::ALL.into_iter().find(|&scalar| {
        let known = data_type(scalar);
        (known.code, known.bits, known.lanes) == (ty.code, ty.bits, ty.lanes)
    })
}

fn known_scalar(ty: DataType) -> PyResult<Scalar> {
    scalar_of(ty).ok_or_else(|| {
        let DataType { code, bits, lanes } = ty;
        PyBufferError::new_err(format!(
            "elements of DLPack's type code {code} with {bits} bits and {lanes} lanes have no type in Weft"
        ))
    })
}

/// DLPack's number for a device whose memory has addresses that other libraries can use.
fn device_type(id: DeviceId) -> PyResult<i32> {
    match id.kind {
        DeviceKind::Cpu => Ok(CPU),
        DeviceKind::Cuda => Ok(CUDA),
        DeviceKind::Vulkan | DeviceKind::Metal | DeviceKind::Dx12 => Err(PyBufferError::new_err(format!(
            "memory of {id} has no address that other libraries know: copy the array to the host"
        ))),
    }
}

fn tensor(array: &DeviceArray, device_type: i32, lent: &mut Lent) -> Tensor {
    Tensor {
        data: array.address() as *mut c_void,
        device_type,
        device_id: array.home().id().index as i32,
        ndim: lent.shape.len() as i32,
        dtype: data_type(array.elem()),
        shape: lent.shape.as_mut_ptr(),
        strides: lent.strides.as_mut_ptr(),
        byte_offset: 0,
    }
}

/// The capsule with an array's place and type; whoever takes it over frees it. Only a versioned one can say that it is `read_only`.
#[pyfunction]
#[pyo3(signature = (array, versioned, read_only=false))]
pub fn to_dlpack<'py>(array: Bound<'py, DeviceArray>, versioned: bool, read_only: bool) -> PyResult<Bound<'py, PyAny>> {
    let py = array.py();
    let fields = array.get();
    let item = fields.elem().size() as i64;
    let device_type = device_type(fields.home().id())?;
    if fields.byte_strides().iter().any(|&stride| stride as i64 % item != 0) {
        return Err(PyBufferError::new_err(
            "DLPack counts strides in elements, of which the array's are no multiples",
        ));
    }
    let mut lent = Box::new(Lent {
        shape: fields.extents().iter().map(|&n| n as i64).collect(),
        strides: fields.byte_strides().iter().map(|&s| s as i64 / item).collect(),
        _array: array.clone().unbind(),
    });
    let tensor = tensor(fields, device_type, &mut lent);
    let context = Box::into_raw(lent).cast::<c_void>();
    let (made, name, destructor): (*mut c_void, _, ffi::PyCapsule_Destructor) = if versioned {
        let managed = Box::new(ManagedVersioned {
            major: 1,
            minor: 0,
            context,
            deleter: Some(free_versioned),
            flags: if read_only { READ_ONLY } else { 0 },
            tensor,
        });
        (Box::into_raw(managed).cast(), VERSIONED, drop_versioned)
    } else {
        let managed = Box::new(Managed {
            tensor,
            context,
            deleter: Some(free),
        });
        (Box::into_raw(managed).cast(), NAME, drop_plain)
    };
    // SAFETY: the pointer is not null; the capsule's destructor frees it unless a consumer renamed the capsule and does so itself.
    unsafe { Bound::from_owned_ptr_or_err(py, ffi::PyCapsule_New(made, name.as_ptr(), Some(destructor))) }
}

unsafe extern "C" fn free(managed: *mut Managed) {
    // SAFETY: made by `to_dlpack`; a consumer calls this once.
    let context = unsafe { Box::from_raw(managed) }.context;
    drop_lent(context);
}

unsafe extern "C" fn free_versioned(managed: *mut ManagedVersioned) {
    // SAFETY: as above.
    let context = unsafe { Box::from_raw(managed) }.context;
    drop_lent(context);
}

/// A consumer may call from any thread; the array is Python's.
fn drop_lent(context: *mut c_void) {
    Python::attach(|_| {
        // SAFETY: the box that `to_dlpack` gave away with the tensor.
        drop(unsafe { Box::from_raw(context.cast::<Lent>()) });
    });
}

unsafe extern "C" fn drop_plain(capsule: *mut ffi::PyObject) {
    // SAFETY: Python calls with the capsule; one that was taken over has another name.
    unsafe {
        if ffi::PyCapsule_IsValid(capsule, NAME.as_ptr()) != 0 {
            free(ffi::PyCapsule_GetPointer(capsule, NAME.as_ptr()).cast());
        }
    }
}

unsafe extern "C" fn drop_versioned(capsule: *mut ffi::PyObject) {
    // SAFETY: as above.
    unsafe {
        if ffi::PyCapsule_IsValid(capsule, VERSIONED.as_ptr()) != 0 {
            free_versioned(ffi::PyCapsule_GetPointer(capsule, VERSIONED.as_ptr()).cast());
        }
    }
}

/// A tensor taken over from another library: gives it back when it is dropped.
#[pyclass(frozen, module = "weft._weft")]
#[derive(Debug)]
pub struct Borrowed {
    managed: *mut c_void,
    versioned: bool,
}

// SAFETY: the tensor is only touched when it is made and dropped; DLPack lets its deleter be called from any thread.
unsafe impl Send for Borrowed {}
// SAFETY: as above.
unsafe impl Sync for Borrowed {}

impl Drop for Borrowed {
    fn drop(&mut self) {
        // SAFETY: the consumer of a tensor calls its deleter once, if it has one.
        unsafe {
            if self.versioned {
                let managed = self.managed.cast::<ManagedVersioned>();
                if let Some(deleter) = (*managed).deleter {
                    deleter(managed);
                }
            } else {
                let managed = self.managed.cast::<Managed>();
                if let Some(deleter) = (*managed).deleter {
                    deleter(managed);
                }
            }
        }
    }
}

/// Kind and number of the device, the owner, address, shape, strides in bytes, dtype.
type Taken<'py> = (i32, i32, Bound<'py, Borrowed>, u64, Vec<i64>, Vec<i64>, &'static str);

/// Takes over the tensor of a capsule.
#[pyfunction]
pub fn from_dlpack<'py>(capsule: &Bound<'py, PyAny>) -> PyResult<Taken<'py>> {
    let (managed, versioned) = consume(capsule)?;
    let owner = Bound::new(capsule.py(), Borrowed { managed, versioned })?;
    // SAFETY: the capsule's name says which structure it is; it lives as long as `owner`.
    let (tensor, flags) = unsafe {
        if versioned {
            let managed = managed.cast::<ManagedVersioned>();
            if (*managed).major != 1 {
                return Err(PyBufferError::new_err(format!(
                    "version {} of DLPack is not known here",
                    (*managed).major
                )));
            }
            (&raw const (*managed).tensor, (*managed).flags)
        } else {
            (&raw const (*managed.cast::<Managed>()).tensor, 0)
        }
    };
    if flags & READ_ONLY != 0 {
        return Err(PyBufferError::new_err("the array is read-only, and a device array may be written"));
    }
    // SAFETY: as above.
    let tensor = unsafe { &*tensor };
    let scalar = known_scalar(tensor.dtype)?;
    let rank = usize::try_from(tensor.ndim).unwrap_or(0);
    let shape = entries(tensor.shape, rank).unwrap_or_default();
    let item = scalar.size() as i64;
    let strides = match entries(tensor.strides, rank) {
        Some(strides) => strides.iter().map(|s| s * item).collect(),
        None => dense_strides(&shape, item),
    };
    let address = tensor.data as u64 + tensor.byte_offset;
    Ok((
        tensor.device_type,
        tensor.device_id,
        owner,
        address,
        shape,
        strides,
        scalar.numpy_name(),
    ))
}

/// What a capsule tells that nobody has used yet.
#[derive(Clone, Copy, Debug)]
pub struct Peeked<'a> {
    pub elem: Scalar,
    pub address: u64,
    pub shape: &'a [i64],
    /// In elements; empty if they lie in C's order.
    pub strides: &'a [i64],
    /// The number of the CUDA device that they are on.
    pub device: Option<i32>,
}

/// Looks into a plain capsule, which stays as it was; nothing for other objects. BufferError for elements or devices that are not Weft's.
pub fn peek<'a>(capsule: &'a Bound<'_, PyAny>) -> PyResult<Option<Peeked<'a>>> {
    // SAFETY: the object is alive; a valid capsule of this name holds such a structure, and keeps it while nobody takes it over, for which
    // the caller's thread is attached.
    let tensor = unsafe {
        if ffi::PyCapsule_IsValid(capsule.as_ptr(), NAME.as_ptr()) == 0 {
            return Ok(None);
        }
        &(*ffi::PyCapsule_GetPointer(capsule.as_ptr(), NAME.as_ptr()).cast::<Managed>()).tensor
    };
    let rank = usize::try_from(tensor.ndim).unwrap_or(0);
    Ok(Some(Peeked {
        elem: known_scalar(tensor.dtype)?,
        address: tensor.data as u64 + tensor.byte_offset,
        shape: listed(tensor.shape, rank),
        strides: listed(tensor.strides, rank),
        device: match tensor.device_type {
            CPU | CUDA_HOST => None,
            CUDA => Some(tensor.device_id),
            other => {
                return Err(PyBufferError::new_err(format!(
                    "the tensor is on a device of DLPack's kind {other}, where Weft's functions do not take it"
                )));
            }
        },
    }))
}

fn listed<'a>(start: *const i64, rank: usize) -> &'a [i64] {
    if rank == 0 || start.is_null() {
        return &[];
    }
    // SAFETY: DLPack's arrays hold one entry per axis, as long as the tensor is there.
    unsafe { std::slice::from_raw_parts(start, rank) }
}

/// The elements of another library's tensor where they are, for the time of a call: a NumPy array of those in the host's memory, a device
/// array of those on a CUDA device. `owner`, which is the tensor, keeps the memory; the capsule is looked at and left as it was.
#[pyfunction]
pub fn view_of_dlpack<'py>(capsule: &Bound<'py, PyAny>, owner: Bound<'py, PyAny>, writable: bool) -> PyResult<Bound<'py, PyAny>> {
    let py = owner.py();
    let Some(tensor) = peek(capsule)? else {
        return Err(PyTypeError::new_err("expected a DLPack capsule that nobody has used yet"));
    };
    let item = tensor.elem.size() as i64;
    let strides = match tensor.strides.len() == tensor.shape.len() {
        true => tensor.strides.iter().map(|s| s * item).collect(),
        false => dense_strides(tensor.shape, item),
    };
    let place = Elements {
        elem: tensor.elem,
        address: tensor.address,
        shape: tensor.shape.iter().map(|&n| n as isize).collect(),
        strides: strides.iter().map(|&n| n as isize).collect(),
        device: tensor.device,
    };
    // SAFETY: the tensor keeps its memory, and only a call works with what is made here.
    unsafe { place.view(py, owner, writable) }
}

/// Where another library has elements: in the host's memory, or on a CUDA device by its number.
#[derive(Debug)]
pub struct Elements {
    pub elem: Scalar,
    pub address: u64,
    pub shape: Vec<isize>,
    /// In bytes.
    pub strides: Vec<isize>,
    pub device: Option<i32>,
}

impl Elements {
    /// A NumPy array or a device array of them.
    ///
    /// # Safety
    /// They must be there as long as `owner` lives, or what is made here is used.
    pub unsafe fn view<'py>(self, py: Python<'py>, owner: Bound<'py, PyAny>, writable: bool) -> PyResult<Bound<'py, PyAny>> {
        let Some(number) = self.device else {
            let numpy = Numpy::get(py)?;
            if self.shape.contains(&0) {
                // There may be no address. Nothing is read or written.
                return numpy.new_array(py, &self.shape, self.elem, false);
            }
            let raw = RawView {
                elem: self.elem,
                data: self.address,
                shape: self.shape,
                strides: self.strides,
                writable,
            };
            // SAFETY: the caller vouches for the memory.
            return unsafe { numpy.view(owner, &raw) };
        };
        let device = devices::named(py, &format!("cuda:{number}"))?;
        let (low, high) =
            crate::numpy::bounds(self.address, &self.shape, &self.strides, self.elem.size()).unwrap_or((self.address, self.address));
        let memory = Bound::new(py, Memory::borrowed(owner, &device, low, (high - low) as usize))?.unbind();
        let array = DeviceArray::new(
            py,
            memory,
            (self.address - low) as usize,
            self.shape,
            self.strides,
            self.elem.numpy_name(),
        )?;
        Ok(Bound::new(py, array)?.into_any())
    }
}

/// Takes the pointer out of a capsule, which others cannot use after.
fn consume(capsule: &Bound<'_, PyAny>) -> PyResult<(*mut c_void, bool)> {
    for (name, used, versioned) in [(VERSIONED, VERSIONED_USED, true), (NAME, USED, false)] {
        // SAFETY: the object is alive; a valid capsule of this name holds a pointer that is not null.
        unsafe {
            if ffi::PyCapsule_IsValid(capsule.as_ptr(), name.as_ptr()) != 0 {
                let pointer = ffi::PyCapsule_GetPointer(capsule.as_ptr(), name.as_ptr());
                ffi::PyCapsule_SetName(capsule.as_ptr(), used.as_ptr());
                return Ok((pointer, versioned));
            }
        }
    }
    Err(PyTypeError::new_err(
        "expected an array with __dlpack__, or a DLPack capsule that nobody has used yet",
    ))
}

fn entries(start: *const i64, rank: usize) -> Option<Vec<i64>> {
    if ptr::eq(start, ptr::null()) {
        return None;
    }
    // SAFETY: DLPack's arrays hold one entry per axis.
    Some(unsafe { std::slice::from_raw_parts(start, rank) }.to_vec())
}
