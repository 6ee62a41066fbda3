//! Arrays of numbers across the boundary, without copying: the buffer protocol in both directions.
//!
//! An [`Array`] is what native code returns; `numpy.asarray` makes a view of it. [`borrowed`] keeps an array of
//! Python's alive for as long as native code reads it.

use std::ffi::{CStr, c_int, c_void};
use std::sync::Arc;

use crivello_core::graph::Numbers;
use pyo3::buffer::{Element, PyBuffer};
use pyo3::exceptions::PyBufferError;
use pyo3::ffi;
use pyo3::prelude::*;

/// The types of numbers in an array.
enum Values {
    F64(Numbers<f64>),
    U32(Numbers<u32>),
    U64(Numbers<u64>),
}

/// An array owned by native code, read-only, with the buffer protocol.
#[pyclass(module = "crivello._core", frozen)]
pub struct Array {
    values: Values,
    length: isize,
}

impl Array {
    /// An array of numbers that native code shares.
    pub fn shared<T: Number>(numbers: Numbers<T>) -> Array {
        Array { length: (*numbers).as_ref().len() as isize, values: T::values(numbers) }
    }

    /// An array of numbers that are its own.
    pub fn of<T: Number>(numbers: Vec<T>) -> Array {
        Array::shared(Arc::new(numbers) as Numbers<T>)
    }
}

/// A type of numbers that arrays have.
pub trait Number: Sized + Send + Sync + 'static {
    /// The numbers as the values of an array.
    #[doc(hidden)]
    #[allow(private_interfaces)]
    fn values(numbers: Numbers<Self>) -> Values;
}

macro_rules! number {
    ($($type:ty: $variant:ident,)*) => {
        $(impl Number for $type {
            #[allow(private_interfaces)]
            fn values(numbers: Numbers<Self>) -> Values {
                Values::$variant(numbers)
            }
        })*
    };
}

number! { f64: F64, u32: U32, u64: U64, }

#[pymethods]
impl Array {
    fn __len__(&self) -> usize {
        self.length as usize
    }

    /// Fills a view of the array.
    ///
    /// # Safety
    ///
    /// Called by Python's buffer protocol alone, with a valid `view`.
    unsafe fn __getbuffer__(this: Bound<'_, Self>, view: *mut ffi::Py_buffer, flags: c_int) -> PyResult<()> {
        if view.is_null() || flags & ffi::PyBUF_WRITABLE == ffi::PyBUF_WRITABLE {
            return Err(PyBufferError::new_err("the array is read-only"));
        }
        let (start, size, format): (*const c_void, isize, &CStr) = match &this.get().values {
            Values::F64(numbers) => ((**numbers).as_ref().as_ptr().cast(), 8, c"d"),
            Values::U32(numbers) => ((**numbers).as_ref().as_ptr().cast(), 4, c"I"),
            Values::U64(numbers) => ((**numbers).as_ref().as_ptr().cast(), 8, c"Q"),
        };
        let length = &raw const this.get().length;
        // SAFETY: `view` is valid, as Python promises. The numbers do not move or change while this object,
        // which the view owns a reference to, is alive; `length` is a field of it, and is only read.
        unsafe {
            (*view).buf = start.cast_mut();
            (*view).len = *length * size;
            (*view).readonly = 1;
            (*view).itemsize = size;
            (*view).format = if flags & ffi::PyBUF_FORMAT == ffi::PyBUF_FORMAT {
                format.as_ptr().cast_mut()
            } else {
                std::ptr::null_mut()
            };
            (*view).ndim = 1;
            (*view).shape =
                if flags & ffi::PyBUF_ND == ffi::PyBUF_ND { length.cast_mut() } else { std::ptr::null_mut() };
            (*view).strides = if flags & ffi::PyBUF_STRIDES == ffi::PyBUF_STRIDES {
                &raw mut (*view).itemsize
            } else {
                std::ptr::null_mut()
            };
            (*view).suboffsets = std::ptr::null_mut();
            (*view).internal = std::ptr::null_mut();
            (*view).obj = this.into_ptr();
        }
        Ok(())
    }
}

/// A contiguous array of Python's, kept alive.
struct Borrowed<T: Element>(PyBuffer<T>);

impl<T: Element> AsRef<[T]> for Borrowed<T> {
    fn as_ref(&self) -> &[T] {
        if self.0.item_count() == 0 {
            return &[];
        }
        // SAFETY: `borrowed` checked that the buffer is contiguous and aligned, and it is alive as long as
        // this. Python code that writes to the array meanwhile changes numbers, which every reader of ours
        // survives: an index into memory is checked when it is used.
        unsafe { std::slice::from_raw_parts(self.0.buf_ptr().cast(), self.0.item_count()) }
    }
}

/// The numbers of a contiguous array of Python's, without copying; `None` if it is not one.
pub fn borrowed<T: Element + Send + Sync + 'static>(array: &Bound<'_, PyAny>) -> Option<Numbers<T>> {
    let buffer = PyBuffer::<T>::get(array).ok()?;
    let aligned = (buffer.buf_ptr() as usize).is_multiple_of(align_of::<T>());
    (buffer.dimensions() == 1 && buffer.is_c_contiguous() && aligned)
        .then(|| Arc::new(Borrowed(buffer)) as Numbers<T>)
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Array>()
}
