//! The class `ndarray`: what an array says of itself, and its slots. Methods are set on it by `weft.arrays`.

use pyo3::IntoPyObjectExt;
use pyo3::basic::CompareOp;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyList, PyNotImplemented, PyTuple};
use weft_ir::Scalar;
use weft_lazy::{Array, Index, Value, capture, machine};

use super::operators::{binary, equality, in_place, power, unary};
use super::{compute, compute_as_asked, exchange, indexing, taping};
use crate::devices::PyDevice;
use crate::numpy::Numpy;
use crate::{results, slots};

/// An array that computes when somebody looks. Everything else NumPy's ndarray is, it is, too.
#[pyclass(frozen, weakref, name = "ndarray", module = "weft")]
pub struct NdArray {
    pub array: Array,
}

impl NdArray {
    pub fn of(value: Value) -> NdArray {
        NdArray { array: Array::of(value) }
    }

    /// Refuses to be what a ufunc writes to.
    pub fn check_writeable(&self) -> PyResult<()> {
        match self.array.read_only {
            true => Err(PyValueError::new_err("output array is read-only")),
            false => Ok(()),
        }
    }

    /// Its only element, as memory slots; `none` is what to say where it has not just one.
    fn only(&self, py: Python<'_>, none: impl FnOnce(u64) -> PyErr) -> PyResult<(Scalar, [u64; 2])> {
        if self.array.size() != 1 {
            return Err(none(self.array.size()));
        }
        let value = self.array.read();
        compute(py, std::slice::from_ref(&value))?;
        let bits = weft_lazy::schedule::element(&value).map_err(|e| super::error(py, e))?;
        Ok((value.elem, slots::memory_to_slots(value.elem, bits)))
    }

    /// A Python number, where the array has no axes.
    fn number<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        if self.array.rank() > 0 {
            return Err(PyTypeError::new_err("only 0-dimensional arrays can be converted to Python scalars"));
        }
        self.item(py)
    }
}

#[pymethods]
impl NdArray {
    #[getter]
    fn shape<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        capture::sized();
        PyTuple::new(py, &self.array.shape)
    }

    #[getter]
    fn ndim(&self) -> usize {
        self.array.rank()
    }

    #[getter]
    fn size(&self) -> u64 {
        capture::sized();
        self.array.size()
    }

    #[getter]
    fn itemsize(&self) -> usize {
        self.array.elem.size()
    }

    #[getter]
    fn nbytes(&self) -> u64 {
        capture::sized();
        self.array.size() * self.array.elem.size() as u64
    }

    #[getter]
    fn dtype<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        Numpy::get(py)?.descr(py, self.array.elem)
    }

    /// In bytes.
    #[getter]
    fn strides<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        capture::sized();
        PyTuple::new(py, &self.array.strides().1)
    }

    #[getter]
    fn device(&self, py: Python<'_>) -> PyResult<PyDevice> {
        machine::device(self.array.device()).map(PyDevice).map_err(|e| super::error(py, e))
    }

    /// The array with its axes reversed.
    #[getter(T)]
    fn transposed(&self, py: Python<'_>) -> PyResult<NdArray> {
        let axes: Vec<usize> = (0..self.array.rank()).rev().collect();
        let array = self.array.permuted(&axes).map_err(|e| super::error(py, e))?;
        Ok(NdArray { array })
    }

    /// What `backward()` found for its elements, an array of the same shape; `None` if it was not called.
    #[getter]
    fn grad(&self) -> Option<NdArray> {
        let storage = self.array.storage.gradient()?;
        Some(NdArray {
            array: self.array.of_storage(storage),
        })
    }

    #[setter(grad)]
    fn set_grad(&self, py: Python<'_>, value: Option<&NdArray>) -> PyResult<()> {
        self.array
            .set_gradient(value.map(|value| &value.array))
            .map_err(|e| super::error(py, e))
    }

    /// What this array shows of its storage, of another array that is like all of that.
    fn _of_base(&self, base: &NdArray) -> NdArray {
        let base = Array::of(base.array.read());
        NdArray {
            array: self.array.of_storage(base.storage),
        }
    }

    #[getter]
    fn _writeable(&self) -> bool {
        !self.array.read_only
    }

    /// Was it made with its memory, and is no view of another array?
    #[getter]
    fn _own(&self) -> bool {
        self.array.own
    }

    /// A number of the memory that it shares with its views, and how many bytes into it the first element is.
    #[getter]
    fn _place(&self) -> (usize, i64) {
        capture::sized();
        (std::sync::Arc::as_ptr(&self.array.storage) as usize, self.array.strides().0)
    }

    /// The only element as a Python number.
    #[pyo3(name = "_item")]
    fn item<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        taping::refuse_followed(py, &self.array)?;
        let (elem, slots) = self.only(py, |_| {
            PyValueError::new_err("can only convert an array of size 1 to a Python scalar")
        })?;
        results::weak(py, elem, slots)
    }

    /// What `np.asarray(x)` takes: the common case here, without a detour through Python.
    #[pyo3(signature = (dtype=None, copy=None))]
    fn __array__<'py>(slf: &Bound<'py, Self>, dtype: Option<&Bound<'py, PyAny>>, copy: Option<bool>) -> PyResult<Bound<'py, PyAny>> {
        let (py, array) = (slf.py(), &slf.get().array);
        if dtype.is_some() || copy.is_some() || array.device() != machine::CPU {
            return py.import("weft.arrays.interop")?.call_method1("array", (slf, dtype, copy));
        }
        let base = array.base();
        if !base.is_stored() {
            compute_as_asked(py, std::slice::from_ref(&base))?;
        }
        exchange::_to_numpy(py, slf.get(), true)
    }

    fn __len__(&self) -> PyResult<usize> {
        capture::sized();
        match self.array.shape.first() {
            Some(&n) => Ok(n as usize),
            None => Err(PyTypeError::new_err("len() of unsized object")),
        }
    }

    fn __bool__(&self, py: Python<'_>) -> PyResult<bool> {
        let (elem, slots) = self.only(py, |size| {
            PyValueError::new_err(match size {
                0 => "The truth value of an empty array is ambiguous. Use `array.size > 0` to check that an array is not empty.",
                _ => "The truth value of an array with more than one element is ambiguous. Use a.any() or a.all()",
            })
        })?;
        Ok(slots::Number::from_slots(elem, slots).to_slots(Scalar::Bool)[0] != 0)
    }

    fn __int__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        py.get_type::<pyo3::types::PyInt>().call1((self.number(py)?,))
    }

    fn __float__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        py.get_type::<pyo3::types::PyFloat>().call1((self.number(py)?,))
    }

    fn __complex__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        py.get_type::<pyo3::types::PyComplex>().call1((self.number(py)?,))
    }

    fn __index__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        if self.array.rank() > 0 || !self.array.elem.is_int() {
            return Err(PyTypeError::new_err(
                "only integer scalar arrays can be converted to a scalar index",
            ));
        }
        self.item(py)
    }

    fn __getitem__<'py>(slf: &Bound<'py, Self>, key: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        match indexing::basic(key)? {
            Some(parts) => {
                let array = slf.get().array.index(&parts).map_err(|e| super::error(py, e))?;
                NdArray { array }.into_bound_py_any(py)
            }
            None => py.import("weft.arrays.indexing")?.call_method1("getitem", (slf, key)),
        }
    }

    fn __setitem__<'py>(slf: &Bound<'py, Self>, key: &Bound<'py, PyAny>, value: &Bound<'py, PyAny>) -> PyResult<()> {
        let py = slf.py();
        // Said first, whatever the index is.
        slf.get().array.check_writeable().map_err(|e| super::error(py, e))?;
        match indexing::basic(key)? {
            Some(parts) => {
                let part = slf.get().array.index(&parts).map_err(|e| super::error(py, e))?;
                if part.rank() == 0 && parts.iter().all(|part| matches!(part, Index::At(_))) {
                    refuse_sequence(&part, value)?;
                }
                super::primitives::assign_to(py, &part, value)
            }
            None => {
                py.import("weft.arrays.indexing")?.call_method1("setitem", (slf, key, value))?;
                Ok(())
            }
        }
    }

    fn __delitem__(&self, _key: &Bound<'_, PyAny>) -> PyResult<()> {
        Err(PyValueError::new_err("cannot delete array elements"))
    }

    fn __richcmp__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>, op: CompareOp) -> PyResult<Bound<'py, PyAny>> {
        let (name, found) = match op {
            CompareOp::Lt => ("lt", binary("less", slf, other)),
            CompareOp::Le => ("le", binary("less_equal", slf, other)),
            CompareOp::Eq => ("eq", equality("equal", slf, other)),
            CompareOp::Ne => ("ne", equality("not_equal", slf, other)),
            CompareOp::Gt => ("gt", binary("greater", slf, other)),
            CompareOp::Ge => ("ge", binary("greater_equal", slf, other)),
        };
        let found = found?;
        match found.is(PyNotImplemented::get(slf.py())) {
            // A number of another class, such as a fraction: Python would take it for another thing than an array.
            true => slf
                .py()
                .import("weft.arrays.comparing")?
                .call_method1("with_number", (name, slf, other)),
            false => Ok(found),
        }
    }

    fn __add__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        binary("add", slf, other)
    }

    fn __radd__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        binary("add", other, slf)
    }

    fn __iadd__(slf: &Bound<'_, Self>, other: &Bound<'_, PyAny>) -> PyResult<()> {
        in_place("add", slf, other)
    }

    fn __sub__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        binary("subtract", slf, other)
    }

    fn __rsub__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        binary("subtract", other, slf)
    }

    fn __isub__(slf: &Bound<'_, Self>, other: &Bound<'_, PyAny>) -> PyResult<()> {
        in_place("subtract", slf, other)
    }

    fn __mul__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        binary("multiply", slf, other)
    }

    fn __rmul__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        binary("multiply", other, slf)
    }

    fn __imul__(slf: &Bound<'_, Self>, other: &Bound<'_, PyAny>) -> PyResult<()> {
        in_place("multiply", slf, other)
    }

    fn __truediv__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        binary("divide", slf, other)
    }

    fn __rtruediv__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        binary("divide", other, slf)
    }

    fn __itruediv__(slf: &Bound<'_, Self>, other: &Bound<'_, PyAny>) -> PyResult<()> {
        in_place("divide", slf, other)
    }

    fn __floordiv__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        binary("floor_divide", slf, other)
    }

    fn __rfloordiv__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        binary("floor_divide", other, slf)
    }

    fn __ifloordiv__(slf: &Bound<'_, Self>, other: &Bound<'_, PyAny>) -> PyResult<()> {
        in_place("floor_divide", slf, other)
    }

    fn __mod__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        binary("remainder", slf, other)
    }

    fn __rmod__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        binary("remainder", other, slf)
    }

    fn __imod__(slf: &Bound<'_, Self>, other: &Bound<'_, PyAny>) -> PyResult<()> {
        in_place("remainder", slf, other)
    }

    fn __divmod__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        binary("divmod", slf, other)
    }

    fn __rdivmod__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        binary("divmod", other, slf)
    }

    fn __pow__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>, modulo: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        match modulo.is_none() {
            true => power(slf, other),
            false => Ok(PyNotImplemented::get(slf.py()).to_owned().into_any()),
        }
    }

    fn __rpow__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>, modulo: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        match modulo.is_none() {
            true => binary("power", other, slf),
            false => Ok(PyNotImplemented::get(slf.py()).to_owned().into_any()),
        }
    }

    fn __ipow__(slf: &Bound<'_, Self>, other: &Bound<'_, PyAny>, _modulo: &Bound<'_, PyAny>) -> PyResult<()> {
        in_place("power", slf, other)
    }

    fn __and__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        binary("bitwise_and", slf, other)
    }

    fn __rand__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        binary("bitwise_and", other, slf)
    }

    fn __iand__(slf: &Bound<'_, Self>, other: &Bound<'_, PyAny>) -> PyResult<()> {
        in_place("bitwise_and", slf, other)
    }

    fn __or__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        binary("bitwise_or", slf, other)
    }

    fn __ror__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        binary("bitwise_or", other, slf)
    }

    fn __ior__(slf: &Bound<'_, Self>, other: &Bound<'_, PyAny>) -> PyResult<()> {
        in_place("bitwise_or", slf, other)
    }

    fn __xor__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        binary("bitwise_xor", slf, other)
    }

    fn __rxor__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        binary("bitwise_xor", other, slf)
    }

    fn __ixor__(slf: &Bound<'_, Self>, other: &Bound<'_, PyAny>) -> PyResult<()> {
        in_place("bitwise_xor", slf, other)
    }

    fn __lshift__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        binary("left_shift", slf, other)
    }

    fn __rlshift__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        binary("left_shift", other, slf)
    }

    fn __ilshift__(slf: &Bound<'_, Self>, other: &Bound<'_, PyAny>) -> PyResult<()> {
        in_place("left_shift", slf, other)
    }

    fn __rshift__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        binary("right_shift", slf, other)
    }

    fn __rrshift__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        binary("right_shift", other, slf)
    }

    fn __irshift__(slf: &Bound<'_, Self>, other: &Bound<'_, PyAny>) -> PyResult<()> {
        in_place("right_shift", slf, other)
    }

    fn __neg__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        unary("negative", slf)
    }

    fn __pos__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        unary("positive", slf)
    }

    fn __abs__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        unary("absolute", slf)
    }

    fn __invert__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        unary("invert", slf)
    }
}

/// An element is one number, where all else that has no axes takes a sequence of one, too. A truth, which NumPy makes of any object, as well.
fn refuse_sequence(element: &Array, value: &Bound<'_, PyAny>) -> PyResult<()> {
    let numpy = Numpy::get(value.py())?;
    let axes = match value.cast::<NdArray>() {
        Ok(array) => Some((array.get().array.rank(), array.get().array.shape.iter().all(|&n| n == 1))),
        Err(_) if numpy.is_array(value) => {
            let shape = numpy.fields(value).shape;
            Some((shape.len(), shape.iter().all(|&n| n == 1)))
        }
        Err(_) => None,
    };
    if let Some((rank, is_one)) = axes {
        let is_truth = element.elem == Scalar::Bool && is_one;
        return match rank == 0 || is_truth {
            true => Ok(()),
            false if element.elem.is_complex() => Err(PyTypeError::new_err("only 0-dimensional arrays can be converted to Python scalars")),
            false => Err(PyValueError::new_err("setting an array element with a sequence.")),
        };
    }
    if !value.is_instance_of::<PyList>() && !value.is_instance_of::<PyTuple>() {
        return Ok(());
    }
    let name = value.get_type().name()?;
    Err(if element.elem.is_int() {
        PyTypeError::new_err(format!(
            "int() argument must be a string, a bytes-like object or a real number, not '{name}'"
        ))
    } else if element.elem.is_complex() {
        PyTypeError::new_err(format!("must be real number, not {name}"))
    } else {
        PyValueError::new_err("setting an array element with a sequence.")
    })
}
