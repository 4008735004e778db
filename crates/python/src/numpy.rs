//! The few pieces of NumPy's C interface that Weft needs: an array's fields, a scalar's bits, new arrays and scalars.
//!
//! The layout of `PyArrayObject` and the numbers of the functions in NumPy's table have been stable since NumPy 1.7 and
//! through NumPy 2; only the leading fields of a descriptor, which both share, are read.
#![allow(unsafe_code)]

use std::ffi::{c_char, c_int, c_long, c_void};
use std::ptr;

use pyo3::exceptions::PyImportError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyCapsule, PyCapsuleMethods, PyType};
use smallvec::SmallVec;
use weft_ir::{Layout, Scalar};

use crate::bfloat16;
use crate::slots::Number;

const C_CONTIGUOUS: c_int = 0x1;
const F_CONTIGUOUS: c_int = 0x2;
const ALIGNED: c_int = 0x100;
const WRITEABLE: c_int = 0x400;

/// NumPy keeps at most this many axes (64 since NumPy 2, 32 before).
pub const MAX_RANK: usize = 64;

#[repr(C)]
struct ArrayObject {
    base: ffi::PyObject,
    data: *mut c_char,
    nd: c_int,
    dimensions: *mut isize,
    strides: *mut isize,
    owner: *mut ffi::PyObject,
    descr: *mut Descr,
    flags: c_int,
}

#[repr(C)]
struct Descr {
    base: ffi::PyObject,
    typeobj: *mut ffi::PyTypeObject,
    kind: c_char,
    type_: c_char,
    byteorder: c_char,
    former_flags: c_char,
    type_num: c_int,
}

/// What NumPy lends: its function table and the type objects an argument's type is compared with.
pub struct Numpy {
    table: *const *const c_void,
    array_type: *mut ffi::PyTypeObject,
    /// In the order of [`Scalar::ALL`]; null for bfloat16, which is not NumPy's.
    scalar_types: [*mut ffi::PyTypeObject; Scalar::ALL.len()],
    /// The dtypes in native byte order of these, of which NumPy has one each.
    dtypes: [*mut ffi::PyObject; Scalar::ALL.len()],
    /// C has more integer types than widths: the others, as `np.longlong`.
    others: Vec<(*mut ffi::PyTypeObject, Scalar)>,
    // Keeps the types above alive.
    _types: Vec<Py<PyAny>>,
}

// SAFETY: the pointers are to NumPy's static tables and to types kept alive by `_types`; they are only used while attached.
unsafe impl Send for Numpy {}
// SAFETY: as above; nothing is ever written through them.
unsafe impl Sync for Numpy {}

type NewFromDescr = unsafe extern "C" fn(
    *mut ffi::PyTypeObject,
    *mut ffi::PyObject,
    c_int,
    *mut isize,
    *mut isize,
    *mut c_void,
    c_int,
    *mut ffi::PyObject,
) -> *mut ffi::PyObject;

static NUMPY: PyOnceLock<Numpy> = PyOnceLock::new();

/// The fields of an array that compiled code is given.
#[derive(Clone, Copy, Debug)]
pub struct ArrayFields<'a> {
    pub data: u64,
    pub shape: &'a [isize],
    /// In bytes.
    pub strides: &'a [isize],
    /// The element type, if it is one Weft knows in native byte order.
    pub elem: Option<Scalar>,
    pub aligned: bool,
    pub writable: bool,
    pub layout: Layout,
    pub native: bool,
}

impl Numpy {
    /// The process's NumPy, imported at the first use. Importing lets other threads run, which may fork: nothing is locked meanwhile.
    pub fn get(py: Python<'_>) -> PyResult<&'static Numpy> {
        if let Some(numpy) = NUMPY.get(py) {
            return Ok(numpy);
        }
        let numpy = Numpy::load(py)?;
        Ok(NUMPY.get_or_init(py, || numpy))
    }

    fn load(py: Python<'_>) -> PyResult<Numpy> {
        let library = py.import("numpy")?;
        let module = py
            .import("numpy._core._multiarray_umath")
            .or_else(|_| py.import("numpy.core._multiarray_umath"))?;
        let capsule = module.getattr("_ARRAY_API")?.cast_into::<PyCapsule>()?;
        let table = capsule
            .pointer_checked(None)
            .map_err(|_| PyImportError::new_err("this NumPy has no C interface that Weft understands"))?;
        // The table lives as long as the process: the module that owns it is never unloaded.
        std::mem::forget(capsule);

        let array = library.getattr("ndarray")?.cast_into::<PyType>()?;
        let array_type = array.as_type_ptr();
        let mut types = vec![array.into_any().unbind()];
        let mut scalar_types = [ptr::null_mut(); Scalar::ALL.len()];
        for (slot, scalar) in scalar_types.iter_mut().zip(Scalar::ALL) {
            if scalar == Scalar::BF16 {
                continue;
            }
            let name = if scalar == Scalar::Bool { "bool_" } else { scalar.numpy_name() };
            let ty = library.getattr(name)?.cast_into::<PyType>()?;
            *slot = ty.as_type_ptr();
            types.push(ty.into_any().unbind());
        }
        let mut numpy = Numpy {
            table: table.as_ptr().cast::<*const c_void>(),
            array_type,
            scalar_types,
            dtypes: [ptr::null_mut(); Scalar::ALL.len()],
            others: Vec::new(),
            _types: types,
        };
        for name in ["intc", "uintc", "long", "ulong", "longlong", "ulonglong"] {
            // Older ones have not all of the names.
            let Ok(ty) = library.getattr(name) else { continue };
            let ty = ty.cast_into::<PyType>()?;
            let of: String = library.call_method1("dtype", (&ty,))?.getattr("name")?.extract()?;
            let scalar = Scalar::ALL.into_iter().find(|scalar| scalar.numpy_name() == of);
            if let (Some(scalar), false) = (scalar, numpy.scalar_types.contains(&ty.as_type_ptr())) {
                numpy.others.push((ty.as_type_ptr(), scalar));
                numpy._types.push(ty.into_any().unbind());
            }
        }
        for (at, scalar) in Scalar::ALL.into_iter().enumerate().filter(|(_, scalar)| *scalar != Scalar::BF16) {
            let dtype = numpy.descr(py, scalar)?;
            numpy.dtypes[at] = dtype.as_ptr();
            numpy._types.push(dtype.unbind());
        }
        Ok(numpy)
    }

    pub fn is_array(&self, object: &Bound<'_, PyAny>) -> bool {
        let ty = object.get_type_ptr();
        // SAFETY: both are live type objects and the thread is attached, as `object` proves.
        ty == self.array_type || unsafe { ffi::PyType_IsSubtype(ty, self.array_type) != 0 }
    }

    /// Whether the object is an ndarray and no subclass: one comparison.
    pub fn is_exact_array(&self, object: &Bound<'_, PyAny>) -> bool {
        object.get_type_ptr() == self.array_type
    }

    /// The scalar type of a NumPy scalar object such as `np.float32(1)`.
    pub fn scalar_of(&self, object: &Bound<'_, PyAny>) -> Option<Scalar> {
        self.scalar_of_type(object.py(), object.get_type_ptr())
    }

    /// The scalar type a type object such as `np.float32` stands for.
    pub fn scalar_of_type(&self, py: Python<'_>, ty: *mut ffi::PyTypeObject) -> Option<Scalar> {
        match self.scalar_types.iter().position(|&t| t == ty) {
            Some(at) => Some(Scalar::ALL[at]),
            None => match self.others.iter().find(|(other, _)| *other == ty) {
                Some((_, scalar)) => Some(*scalar),
                None => bfloat16::of_type(py, ty),
            },
        }
    }

    /// The scalar type of the dtype that NumPy has for it, which is found at once; none of others.
    pub fn scalar_of_dtype(&self, dtype: &Bound<'_, PyAny>) -> Option<Scalar> {
        let at = self.dtypes.iter().position(|&known| known == dtype.as_ptr())?;
        Some(Scalar::ALL[at])
    }

    /// The fields of an array; the caller has checked [`Numpy::is_array`].
    pub fn fields<'a>(&self, array: &'a Bound<'_, PyAny>) -> ArrayFields<'a> {
        // SAFETY: the object is an ndarray, whose leading fields are as declared above; `array` keeps it alive for 'a. NumPy changes shape
        // and strides of an existing array only through in-place assignment to `.shape` by Python code, which needs the GIL we hold.
        let a = unsafe { &*array.as_ptr().cast::<ArrayObject>() };
        let rank = usize::try_from(a.nd).unwrap_or(0);
        // SAFETY: an array's descriptor is never null.
        let descr = unsafe { &*a.descr };
        let native = descr.byteorder as u8 != if cfg!(target_endian = "little") { b'>' } else { b'<' };
        // SAFETY: `dimensions` and `strides` hold `nd` entries each; both may be null for rank 0.
        let (shape, strides) = unsafe { (slice_or_empty(a.dimensions, rank), slice_or_empty(a.strides, rank)) };
        let elem = scalar_of_number(descr.type_num).or_else(|| bfloat16::of_number(array.py(), descr.type_num));
        ArrayFields {
            data: a.data as u64,
            shape,
            strides,
            elem: if native { elem } else { None },
            aligned: a.flags & ALIGNED != 0,
            writable: a.flags & WRITEABLE != 0,
            layout: layout_of(a.flags, strides, elem),
            native,
        }
    }

    /// The bits of a NumPy scalar of type `scalar`, in two slots (the second for imaginary parts).
    pub fn scalar_bits(&self, object: &Bound<'_, PyAny>, scalar: Scalar) -> [u64; 2] {
        if scalar == Scalar::BF16 {
            return Number::Float(object.extract().unwrap_or(f64::NAN)).to_slots(scalar);
        }
        let mut bytes = [0u64; 2];
        type AsCtype = unsafe extern "C" fn(*mut ffi::PyObject, *mut c_void);
        // SAFETY: entry 62 of the table is PyArray_ScalarAsCtype; 16 bytes hold the largest scalar, complex128.
        unsafe { self.entry::<AsCtype>(62)(object.as_ptr(), bytes.as_mut_ptr().cast()) };
        crate::slots::memory_to_slots(scalar, bytes)
    }

    /// A NumPy scalar from its slots.
    pub fn new_scalar<'py>(&self, py: Python<'py>, scalar: Scalar, slots: [u64; 2]) -> PyResult<Bound<'py, PyAny>> {
        if scalar == Scalar::BF16 {
            return bfloat16::new_scalar(py, slots[0] as u16);
        }
        let mut bytes = crate::slots::slots_to_memory(scalar, slots);
        let descr = self.descr(py, scalar)?;
        type NewScalar = unsafe extern "C" fn(*mut c_void, *mut ffi::PyObject, *mut ffi::PyObject) -> *mut ffi::PyObject;
        // SAFETY: entry 60 is PyArray_Scalar; it copies the item out of `bytes` and borrows the descriptor.
        unsafe {
            let object = self.entry::<NewScalar>(60)(bytes.as_mut_ptr().cast(), descr.as_ptr(), ptr::null_mut());
            Bound::from_owned_ptr_or_err(py, object)
        }
    }

    /// An array over memory that `owner` keeps alive.
    ///
    /// # Safety
    /// The view must lie in memory that stays allocated, and is not written while read elsewhere, for as long as `owner` lives.
    pub unsafe fn view<'py>(&self, owner: Bound<'py, PyAny>, view: &RawView) -> PyResult<Bound<'py, PyAny>> {
        let py = owner.py();
        let descr = self.descr(py, view.elem)?.into_ptr();
        let mut shape = view.shape.clone();
        let mut strides = view.strides.clone();
        let flags = if view.writable { WRITEABLE } else { 0 };
        type SetBase = unsafe extern "C" fn(*mut ffi::PyObject, *mut ffi::PyObject) -> c_int;
        // SAFETY: entry 94 is PyArray_NewFromDescr, which steals the descriptor and copies shape and strides; entry 282 is
        // PyArray_SetBaseObject, which steals the owner. The caller vouches for the memory.
        unsafe {
            let array = self.entry::<NewFromDescr>(94)(
                self.array_type,
                descr,
                shape.len() as c_int,
                shape.as_mut_ptr(),
                strides.as_mut_ptr(),
                view.data as *mut c_void,
                flags,
                ptr::null_mut(),
            );
            let array = Bound::from_owned_ptr_or_err(py, array)?;
            if self.entry::<SetBase>(282)(array.as_ptr(), owner.into_ptr()) < 0 {
                return Err(PyErr::fetch(py));
            }
            Ok(array)
        }
    }

    /// A new array, its elements unset.
    pub fn new_array<'py>(&self, py: Python<'py>, shape: &[isize], elem: Scalar, fortran: bool) -> PyResult<Bound<'py, PyAny>> {
        let descr = self.descr(py, elem)?.into_ptr();
        let mut shape: SmallVec<[isize; 8]> = SmallVec::from_slice(shape);
        // SAFETY: entry 94 is PyArray_NewFromDescr, which steals the descriptor and, given neither data nor strides, allocates;
        // its flags then say whether in Fortran's order.
        unsafe {
            let array = self.entry::<NewFromDescr>(94)(
                self.array_type,
                descr,
                shape.len() as c_int,
                shape.as_mut_ptr(),
                ptr::null_mut(),
                ptr::null_mut(),
                if fortran { F_CONTIGUOUS } else { 0 },
                ptr::null_mut(),
            );
            Bound::from_owned_ptr_or_err(py, array)
        }
    }

    pub fn descr<'py>(&self, py: Python<'py>, scalar: Scalar) -> PyResult<Bound<'py, PyAny>> {
        if scalar == Scalar::BF16 {
            return bfloat16::descr(py);
        }
        type FromType = unsafe extern "C" fn(c_int) -> *mut ffi::PyObject;
        // SAFETY: entry 45 is PyArray_DescrFromType, which gives a new reference.
        unsafe { Bound::from_owned_ptr_or_err(py, self.entry::<FromType>(45)(number_of_scalar(scalar))) }
    }

    /// # Safety
    /// `F` must be the type of the function at `index`.
    unsafe fn entry<F: Copy>(&self, index: usize) -> F {
        // SAFETY: the table holds function pointers, and the caller names the right type.
        unsafe { self.table.add(index).cast::<F>().read() }
    }
}

/// The bytes of a C-contiguous array, `len` of them.
pub fn bytes<'a>(fields: &ArrayFields<'a>, len: usize) -> &'a [u8] {
    if len == 0 {
        return &[];
    }
    // SAFETY: the array's memory holds `len` bytes and the array lives for 'a.
    unsafe { std::slice::from_raw_parts(fields.data as *const u8, len) }
}

/// The bytes of a C-contiguous, writable array. The caller makes no other slice of it meanwhile.
pub fn bytes_mut<'a>(fields: &ArrayFields<'a>, len: usize) -> &'a mut [u8] {
    if len == 0 {
        return &mut [];
    }
    // SAFETY: the array's memory holds `len` bytes, the array lives for 'a, and only the attached thread touches it.
    unsafe { std::slice::from_raw_parts_mut(fields.data as *mut u8, len) }
}

/// A view as compiled code returns it.
#[derive(Clone, Debug)]
pub struct RawView {
    pub elem: Scalar,
    pub data: u64,
    pub shape: Vec<isize>,
    /// In bytes.
    pub strides: Vec<isize>,
    pub writable: bool,
}

impl RawView {
    /// The lowest and one past the highest address of the view's elements; `None` if it has none.
    pub fn bounds(&self) -> Option<(u64, u64)> {
        bounds(self.data, &self.shape, &self.strides, self.elem.size())
    }
}

/// The addresses `low..high` that a strided view touches; `None` if it has no elements.
pub fn bounds(data: u64, shape: &[isize], strides: &[isize], item: usize) -> Option<(u64, u64)> {
    let (mut low, mut high) = (data, data);
    for (&extent, &stride) in shape.iter().zip(strides) {
        let reach = (extent.checked_sub(1).filter(|&n| n >= 0)?).wrapping_mul(stride);
        if reach < 0 {
            low = low.wrapping_add_signed(reach as i64);
        } else {
            high = high.wrapping_add_signed(reach as i64);
        }
    }
    Some((low, high + item as u64))
}

unsafe fn slice_or_empty<'a>(data: *const isize, len: usize) -> &'a [isize] {
    if len == 0 || data.is_null() {
        return &[];
    }
    // SAFETY: the caller says that `data` holds `len` entries.
    unsafe { std::slice::from_raw_parts(data, len) }
}

fn layout_of(flags: c_int, strides: &[isize], elem: Option<Scalar>) -> Layout {
    if flags & C_CONTIGUOUS != 0 {
        Layout::C
    } else if flags & F_CONTIGUOUS != 0 {
        Layout::F
    } else if strides.last().copied() == elem.map(|e| e.size() as isize) {
        Layout::Row
    } else {
        Layout::Any
    }
}

/// NumPy's type numbers; `long` has the width of the platform's.
fn scalar_of_number(number: c_int) -> Option<Scalar> {
    let wide_long = size_of::<c_long>() == 8;
    Some(match number {
        0 => Scalar::Bool,
        1 => Scalar::I8,
        2 => Scalar::U8,
        3 => Scalar::I16,
        4 => Scalar::U16,
        5 => Scalar::I32,
        6 => Scalar::U32,
        7 if wide_long => Scalar::I64,
        7 => Scalar::I32,
        8 if wide_long => Scalar::U64,
        8 => Scalar::U32,
        9 => Scalar::I64,
        10 => Scalar::U64,
        11 => Scalar::F32,
        12 => Scalar::F64,
        23 => Scalar::F16,
        14 => Scalar::C64,
        15 => Scalar::C128,
        _ => return None,
    })
}

fn number_of_scalar(scalar: Scalar) -> c_int {
    let wide_long = size_of::<c_long>() == 8;
    match scalar {
        Scalar::Bool => 0,
        Scalar::I8 => 1,
        Scalar::U8 => 2,
        Scalar::I16 => 3,
        Scalar::U16 => 4,
        Scalar::I32 => 5,
        Scalar::U32 => 6,
        Scalar::I64 if wide_long => 7,
        Scalar::U64 if wide_long => 8,
        Scalar::I64 => 9,
        Scalar::U64 => 10,
        Scalar::F32 => 11,
        Scalar::F64 => 12,
        Scalar::F16 => 23,
        // No type of NumPy's own: `descr` asks elsewhere.
        Scalar::BF16 => -1,
        Scalar::C64 => 14,
        Scalar::C128 => 15,
    }
}
