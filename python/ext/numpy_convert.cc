#include "numpy_convert.h"

#define NPY_NO_DEPRECATED_API NPY_1_7_API_VERSION
#define PY_ARRAY_UNIQUE_SYMBOL headrace_numpy
#include <numpy/arrayobject.h>
#include <numpy/arrayscalars.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>

#include "framework/tensor/borrowed_buffer.h"
#include "gil.h"
#include "py_support.h"

namespace headrace::python {
namespace {

// Arrays and bytes whose last tensor went on a thread without the GIL: a stack
// that any thread pushes to and a thread with the GIL empties.
struct Released {
  PyObject* object;
  Released* next;
};
std::atomic<Released*> released{nullptr};

void ReleaseObject(PyObject* object) {
  if (MayTouchPython()) {
    Py_DECREF(object);
    return;
  }
  auto* r = new Released{object, released.load(std::memory_order_relaxed)};
  while (!released.compare_exchange_weak(r->next, r)) {
  }
}

// NumPy's type number, or -1 for types that are arrays of objects or not known
// to it by number.
int NumpyType(DataType t) {
  switch (t) {
    case DT_FLOAT:
      return NPY_FLOAT;
    case DT_DOUBLE:
      return NPY_DOUBLE;
    case DT_INT32:
    case DT_QINT32:
      return NPY_INT32;
    case DT_UINT8:
    case DT_QUINT8:
      return NPY_UINT8;
    case DT_INT16:
    case DT_QINT16:
      return NPY_INT16;
    case DT_UINT16:
    case DT_QUINT16:
      return NPY_UINT16;
    case DT_INT8:
    case DT_QINT8:
      return NPY_INT8;
    case DT_COMPLEX64:
      return NPY_COMPLEX64;
    case DT_COMPLEX128:
      return NPY_COMPLEX128;
    case DT_INT64:
      return NPY_INT64;
    case DT_UINT32:
      return NPY_UINT32;
    case DT_UINT64:
      return NPY_UINT64;
    case DT_BOOL:
      return NPY_BOOL;
    case DT_HALF:
      return NPY_HALF;
    default:
      return -1;
  }
}

// A new reference to the descriptor for a plain-data type.
PyArray_Descr* Descriptor(DataType t) {
  if (t == DT_BFLOAT16) {
    static PyObject* const kDescr = hooks().bfloat16().release().ptr();
    Py_INCREF(kDescr);
    return reinterpret_cast<PyArray_Descr*>(kDescr);
  }
  const int number = NumpyType(t);
  return number < 0 ? nullptr : PyArray_DescrFromType(number);
}

bool SameType(PyArrayObject* a, DataType t) {
  const int number = NumpyType(t);
  if (number >= 0) {
    return PyArray_TYPE(a) == number ||
           (PyArray_ISINTEGER(a) && number <= NPY_ULONGLONG &&
            PyArray_EquivTypenums(PyArray_TYPE(a), number));
  }
  if (t != DT_BFLOAT16) return false;
  PyArray_Descr* want = Descriptor(t);
  const bool same = PyArray_EquivTypes(PyArray_DESCR(a), want);
  Py_DECREF(want);
  return same;
}

// False: NumPy has no type for bfloat16, and such values are float32 there.
bool NumpyHasBfloat16() {
  static const bool kHas = [] {
    PyArray_Descr* const descr = Descriptor(DT_BFLOAT16);
    const bool is_float = descr->type_num == NPY_FLOAT;
    Py_DECREF(descr);
    return !is_float;
  }();
  return kHas;
}

// True if the value is an array or a scalar of NumPy's type for bfloat16.
bool HoldsBfloat16(PyObject* value) {
  if (!NumpyHasBfloat16()) return false;
  PyArray_Descr* own = nullptr;
  if (PyArray_Check(value)) {
    own = PyArray_DESCR(reinterpret_cast<PyArrayObject*>(value));
    Py_INCREF(own);
  } else if (PyArray_CheckScalar(value)) {
    own = PyArray_DescrFromScalar(value);
  }
  if (own == nullptr) return false;
  PyArray_Descr* want = Descriptor(DT_BFLOAT16);
  const bool same = PyArray_EquivTypes(own, want);
  Py_DECREF(want);
  Py_DECREF(own);
  return same;
}

DataType TypeOfArray(PyArrayObject* a) {
  switch (PyArray_TYPE(a)) {
    case NPY_FLOAT:
      return DT_FLOAT;
    case NPY_DOUBLE:
      return DT_DOUBLE;
    case NPY_HALF:
      return DT_HALF;
    case NPY_BOOL:
      return DT_BOOL;
    case NPY_COMPLEX64:
      return DT_COMPLEX64;
    case NPY_COMPLEX128:
      return DT_COMPLEX128;
    case NPY_STRING:
    case NPY_UNICODE:
    case NPY_OBJECT:
      return DT_STRING;
    default:
      break;
  }
  if (PyArray_ISINTEGER(a)) {
    const bool is_signed = PyArray_ISSIGNED(a);
    switch (PyArray_ITEMSIZE(a)) {
      case 1:
        return is_signed ? DT_INT8 : DT_UINT8;
      case 2:
        return is_signed ? DT_INT16 : DT_UINT16;
      case 4:
        return is_signed ? DT_INT32 : DT_UINT32;
      case 8:
        return is_signed ? DT_INT64 : DT_UINT64;
    }
  }
  return ToDataType(nb::handle(
      reinterpret_cast<PyObject*>(PyArray_DESCR(a))));  // raises if unknown
}

TensorShape ShapeOfArray(PyArrayObject* a) {
  DimVector dims(PyArray_DIMS(a), PyArray_DIMS(a) + PyArray_NDIM(a));
  return TensorShape(dims);
}

Tensor StringTensor(PyArrayObject* a) {
  Tensor t;
  Check(Tensor::Allocate(CpuAllocator(), DT_STRING, ShapeOfArray(a), &t));
  nb::object flat = nb::steal(PyArray_IterNew(reinterpret_cast<PyObject*>(a)));
  if (!flat.is_valid()) throw nb::python_error();
  auto* it = reinterpret_cast<PyArrayIterObject*>(flat.ptr());
  tstring* out = t.data<tstring>();
  for (int64_t i = 0; i < t.NumElements(); ++i) {
    nb::object item = nb::steal(
        PyArray_GETITEM(a, static_cast<char*>(PyArray_ITER_DATA(it))));
    if (!item.is_valid()) throw nb::python_error();
    out[i] = ToString(item, "an element of a string tensor");
    PyArray_ITER_NEXT(it);
  }
  return t;
}

// `a` is C-contiguous, aligned and native, of type `t`.
Tensor PlainTensor(PyArrayObject* a, DataType t, Sharing sharing) {
  const TensorShape shape = ShapeOfArray(a);
  const size_t bytes = static_cast<size_t>(PyArray_NBYTES(a));
  if (sharing == Sharing::kMayShare && bytes > Tensor::kInlineBytes) {
    Py_INCREF(a);
    auto* object = reinterpret_cast<PyObject*>(a);
    return Tensor(t, shape,
                  WrapBorrowedBuffer(PyArray_DATA(a), bytes,
                                     [object] { ReleaseObject(object); }));
  }
  Tensor out;
  Check(Tensor::Allocate(CpuAllocator(), t, shape, &out));
  if (bytes > 0) std::memcpy(out.raw_data(), PyArray_DATA(a), bytes);
  return out;
}

bool IsPlain(PyArrayObject* a) {
  return PyArray_ISCARRAY_RO(a) && PyArray_ISNOTSWAPPED(a);
}

nb::object StringArray(const Tensor& t) {
  const tstring* in = t.data<tstring>();
  if (t.dims() == 0) {
    return nb::steal(PyBytes_FromStringAndSize(
        in[0].data(), static_cast<Py_ssize_t>(in[0].size())));
  }
  absl::InlinedVector<npy_intp, 8> dims(t.shape().dim_sizes().begin(),
                                        t.shape().dim_sizes().end());
  nb::object array =
      nb::steal(PyArray_SimpleNew(t.dims(), dims.data(), NPY_OBJECT));
  if (!array.is_valid()) throw nb::python_error();
  auto** out = static_cast<PyObject**>(
      PyArray_DATA(reinterpret_cast<PyArrayObject*>(array.ptr())));
  for (int64_t i = 0; i < t.NumElements(); ++i) {
    PyObject* old = out[i];
    out[i] = PyBytes_FromStringAndSize(in[i].data(),
                                       static_cast<Py_ssize_t>(in[i].size()));
    Py_XDECREF(old);
  }
  return array;
}

void DeleteTensor(PyObject* capsule) {
  delete static_cast<Tensor*>(PyCapsule_GetPointer(capsule, nullptr));
}

template <typename T>
bool StoreInteger(int64_t v, void* at) {
  if (v < static_cast<int64_t>(std::numeric_limits<T>::min()) ||
      (sizeof(T) < 8 &&
       v > static_cast<int64_t>(std::numeric_limits<T>::max())) ||
      (!std::numeric_limits<T>::is_signed && v < 0)) {
    return false;
  }
  *static_cast<T*>(at) = static_cast<T>(v);
  return true;
}

// The DataType of a plain Python number. DT_INVALID for other objects.
DataType TypeOfNumber(PyObject* o) {
  if (PyFloat_CheckExact(o)) return DT_FLOAT;
  if (PyLong_CheckExact(o)) return DT_INT32;
  if (PyBool_Check(o)) return DT_BOOL;
  return DT_INVALID;
}

// Stores the number as type `t` at `at`; false if it does not fit.
bool StoreNumber(PyObject* o, DataType t, void* at) {
  const bool is_bool = PyBool_Check(o);
  if (t == DT_BOOL) {
    if (!is_bool) return false;
    *static_cast<bool*>(at) = o == Py_True;
    return true;
  }
  if (is_bool) return false;
  if (t == DT_FLOAT || t == DT_DOUBLE) {
    const double v =
        PyFloat_CheckExact(o) ? PyFloat_AS_DOUBLE(o) : PyLong_AsDouble(o);
    if (v == -1.0 && PyErr_Occurred()) {
      PyErr_Clear();
      return false;
    }
    if (t == DT_FLOAT) {
      *static_cast<float*>(at) = static_cast<float>(v);
    } else {
      *static_cast<double*>(at) = v;
    }
    return true;
  }
  if (!PyLong_CheckExact(o)) return false;
  int overflow = 0;
  const int64_t v = PyLong_AsLongLongAndOverflow(o, &overflow);
  if (overflow != 0) return false;
  switch (t) {
    case DT_INT32:
      return StoreInteger<int32_t>(v, at);
    case DT_INT64:
      return StoreInteger<int64_t>(v, at);
    case DT_UINT8:
      return StoreInteger<uint8_t>(v, at);
    case DT_INT8:
      return StoreInteger<int8_t>(v, at);
    case DT_INT16:
      return StoreInteger<int16_t>(v, at);
    case DT_UINT16:
      return StoreInteger<uint16_t>(v, at);
    case DT_UINT32:
      return StoreInteger<uint32_t>(v, at);
    default:
      return false;
  }
}

}  // namespace

bool PlainValueToTensor(nb::handle value, DataType want, Tensor* out) {
  PyObject* o = value.ptr();
  if (PyList_CheckExact(o) || PyTuple_CheckExact(o)) {
    const Py_ssize_t n = PySequence_Fast_GET_SIZE(o);
    if (n == 0 || n > 64) return false;
    PyObject** items = PySequence_Fast_ITEMS(o);
    DataType t = DT_INVALID;
    for (Py_ssize_t i = 0; i < n; ++i) {
      const DataType own = TypeOfNumber(items[i]);
      if (own == DT_INVALID) return false;
      if (t == DT_INVALID || own == DT_FLOAT) t = own;
    }
    if (want != DT_INVALID) t = want;
    const int size = DataTypeSize(t);
    if (size == 0) return false;
    Tensor result;
    if (!Tensor::Allocate(CpuAllocator(), t, TensorShape({n}), &result).ok()) {
      return false;
    }
    char* at = static_cast<char*>(result.raw_data());
    for (Py_ssize_t i = 0; i < n; ++i, at += size) {
      if (!StoreNumber(items[i], t, at)) return false;
    }
    *out = std::move(result);
    return true;
  }
  const DataType own = TypeOfNumber(o);
  if (own == DT_INVALID) return false;
  const DataType t = want == DT_INVALID ? own : want;
  if (DataTypeSize(t) == 0) return false;
  Tensor result(t, TensorShape());
  if (!StoreNumber(o, t, result.raw_data())) return false;
  *out = std::move(result);
  return true;
}

Tensor ToTensor(nb::handle value, DataType want, Sharing sharing) {
  if (want == DT_BFLOAT16 && !HoldsBfloat16(value.ptr())) {
    // NumPy may know no bfloat16: numbers are rounded from float.
    const Tensor wide = ToTensor(value, DT_FLOAT, sharing);
    Tensor out;
    Check(Tensor::Allocate(CpuAllocator(), want, wide.shape(), &out));
    std::transform(wide.data<float>(), wide.data<float>() + wide.NumElements(),
                   out.data<bfloat16>(),
                   [](float v) { return static_cast<bfloat16>(v); });
    return out;
  }
  nb::object array;
  if (PyArray_Check(value.ptr())) {
    auto* a = reinterpret_cast<PyArrayObject*>(value.ptr());
    if (want == DT_INVALID) want = TypeOfArray(a);
    if (want != DT_STRING && IsPlain(a) && SameType(a, want)) {
      return PlainTensor(a, want, sharing);
    }
  } else {
    Tensor t;
    if (PlainValueToTensor(value, want, &t)) return t;
    const bool is_string =
        PyBytes_Check(value.ptr()) || PyUnicode_Check(value.ptr());
    if (is_string && (want == DT_INVALID || want == DT_STRING)) {
      return Tensor::Scalar(tstring(ToString(value, "a string tensor")));
    }
    if (want == DT_FLOAT && PyArray_IsScalar(value.ptr(), Float)) {
      return Tensor::Scalar(PyArrayScalar_VAL(value.ptr(), Float));
    }
  }
  nb::object descr = nb::none();
  if (want == DT_STRING) {
    descr = nb::steal(
        reinterpret_cast<PyObject*>(PyArray_DescrFromType(NPY_OBJECT)));
  } else if (want != DT_INVALID) {
    PyArray_Descr* d = Descriptor(want);
    if (d == nullptr) {
      RaiseTypeError(StrCat("a tensor of type ", DataTypeString(want),
                            " cannot be made from a Python value"));
    }
    descr = nb::steal(reinterpret_cast<PyObject*>(d));
  }
  array = sharing == Sharing::kCopy ? hooks().to_array(value, descr)
                                    : hooks().feed_to_array(value, descr);
  if (!PyArray_Check(array.ptr())) RaiseTypeError("expected an array");
  auto* a = reinterpret_cast<PyArrayObject*>(array.ptr());
  if (want == DT_INVALID) want = TypeOfArray(a);
  if (want == DT_STRING) return StringTensor(a);
  if (!IsPlain(a)) {
    PyArray_Descr* d = Descriptor(want);
    if (d == nullptr) RaiseTypeError("a tensor cannot hold this array");
    array = nb::steal(
        PyArray_FromArray(a, d, NPY_ARRAY_CARRAY_RO | NPY_ARRAY_NOTSWAPPED));
    if (!array.is_valid()) throw nb::python_error();
    a = reinterpret_cast<PyArrayObject*>(array.ptr());
  }
  if (!SameType(a, want)) {
    RaiseTypeError(StrCat("cannot convert ", nb::repr(value).c_str(),
                          " to a tensor of type ", DataTypeString(want)));
  }
  return PlainTensor(a, want, sharing);
}

nb::object ToNumpy(Tensor t) {
  if (t.dtype() == DT_STRING) return StringArray(t);
  if (t.dtype() == DT_BFLOAT16 && !NumpyHasBfloat16()) {
    Tensor wide;
    Check(Tensor::Allocate(CpuAllocator(), DT_FLOAT, t.shape(), &wide));
    std::transform(t.data<bfloat16>(), t.data<bfloat16>() + t.NumElements(),
                   wide.data<float>(),
                   [](bfloat16 v) { return static_cast<float>(v); });
    return ToNumpy(std::move(wide));
  }
  PyArray_Descr* descr = Descriptor(t.dtype());
  if (descr == nullptr) {
    RaiseTypeError(StrCat("a tensor of type ", DataTypeString(t.dtype()),
                          " cannot be converted to NumPy"));
  }
  if (t.dims() == 0) {
    PyObject* scalar = PyArray_Scalar(t.raw_data(), descr, nullptr);
    Py_DECREF(descr);
    if (scalar == nullptr) throw nb::python_error();
    return nb::steal(scalar);
  }
  if (t.dims() > NPY_MAXDIMS) {
    Py_DECREF(descr);
    RaiseValueError(StrCat("NumPy has no arrays of rank ", t.dims()));
  }
  absl::InlinedVector<npy_intp, 8> dims(t.shape().dim_sizes().begin(),
                                        t.shape().dim_sizes().end());
  const bool share = !t.IsInline() && t.OwnsExclusively() && t.TotalBytes() > 0;
  // Steals the descriptor.
  nb::object array = nb::steal(PyArray_NewFromDescr(
      &PyArray_Type, descr, t.dims(), dims.data(), nullptr,
      share ? t.raw_data() : nullptr, share ? NPY_ARRAY_CARRAY : 0, nullptr));
  if (!array.is_valid()) throw nb::python_error();
  auto* a = reinterpret_cast<PyArrayObject*>(array.ptr());
  if (!share) {
    if (t.TotalBytes() > 0) {
      std::memcpy(PyArray_DATA(a), t.raw_data(), t.TotalBytes());
    }
    return array;
  }
  PyObject* capsule =
      PyCapsule_New(new Tensor(std::move(t)), nullptr, DeleteTensor);
  if (capsule == nullptr || PyArray_SetBaseObject(a, capsule) < 0) {
    throw nb::python_error();
  }
  return array;
}

nb::object ToNumpyArray(Tensor t) {
  const bool is_string = t.dtype() == DT_STRING;
  PyArray_Descr* const descr = t.dims() > 0 ? nullptr
                               : is_string  ? PyArray_DescrFromType(NPY_OBJECT)
                                            : Descriptor(t.dtype());
  nb::object found = ToNumpy(std::move(t));
  if (descr == nullptr) return found;
  // Steals the descriptor.
  found = nb::steal(PyArray_FromAny(found.ptr(), descr, 0, 0, 0, nullptr));
  if (!found.is_valid()) throw nb::python_error();
  return found;
}

RefPtr<TensorBuffer> BufferOverBytes(nb::handle bytes) {
  PyObject* object = bytes.inc_ref().ptr();
  return WrapExternalBuffer(
      PyBytes_AS_STRING(object), static_cast<size_t>(PyBytes_GET_SIZE(object)),
      /*writable=*/false, [object] { ReleaseObject(object); });
}

void DropReleasedArrays() {
  if (released.load(std::memory_order_relaxed) == nullptr) [[likely]]
    return;
  Released* r = released.exchange(nullptr);
  while (r != nullptr) {
    Released* next = r->next;
    Py_DECREF(r->object);
    delete r;
    r = next;
  }
}

void ImportNumpy() {
  if (_import_array() < 0) throw nb::python_error();
}

void RegisterNumpy(nb::module_& m) {
  // For tests: a tensor made from the value and back.
  m.def(
      "round_trip",
      [](nb::handle value, nb::handle dtype) {
        return ToNumpy(
            ToTensor(value, dtype.is_none() ? DT_INVALID : ToDataType(dtype),
                     Sharing::kCopy));
      },
      nb::arg("value").none(), nb::arg("dtype").none());
}

}  // namespace headrace::python
