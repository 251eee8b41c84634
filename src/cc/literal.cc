// Values that stand for constants: Input::Initializer, and their types.
#include <cmath>
#include <limits>
#include <utility>

#include "cc/scope_data.h"
#include "headrace/cc/scope.h"

namespace headrace {

using Initializer = Input::Initializer;

namespace {

// One number of a literal: whole, or real, or complex.
struct Number {
  enum Kind { kSigned, kUnsigned, kReal, kComplex } kind = kSigned;
  int64_t i = 0;
  uint64_t u = 0;
  complex128 c;

  double real() const {
    switch (kind) {
      case kSigned:
        return static_cast<double>(i);
      case kUnsigned:
        return static_cast<double>(u);
      default:
        return c.real();
    }
  }
};

template <typename T>
Number ToNumber(const T& v) {
  Number n;
  if constexpr (std::is_integral_v<T> && std::is_signed_v<T>) {
    n.kind = Number::kSigned;
    n.i = v;
  } else if constexpr (std::is_integral_v<T>) {
    n.kind = Number::kUnsigned;
    n.u = v;
  } else if constexpr (std::is_same_v<T, complex64> ||
                       std::is_same_v<T, complex128>) {
    n.kind = Number::kComplex;
    n.c = complex128(v.real(), v.imag());
  } else {
    n.kind = Number::kReal;
    n.c = static_cast<double>(v);
  }
  return n;
}

// False if `n` has no equal of type T. Reals are rounded.
template <typename T>
bool FromNumber(const Number& n, T* out) {
  if constexpr (std::is_same_v<T, bool>) {
    return false;
  } else if constexpr (std::is_integral_v<T>) {
    using Limits = std::numeric_limits<T>;
    if (n.kind == Number::kSigned) {
      *out = static_cast<T>(n.i);
      return std::in_range<T>(n.i);
    }
    if (n.kind == Number::kUnsigned) {
      *out = static_cast<T>(n.u);
      return std::in_range<T>(n.u);
    }
    const double r = n.c.real();
    if (n.kind == Number::kComplex || !(std::trunc(r) == r) ||
        r < static_cast<double>(Limits::min()) ||
        r >= std::ldexp(1.0, Limits::digits)) {
      return false;
    }
    *out = static_cast<T>(r);
    return true;
  } else if constexpr (std::is_same_v<T, complex64> ||
                       std::is_same_v<T, complex128>) {
    using Real = typename T::value_type;
    *out = n.kind == Number::kComplex
               ? T(static_cast<Real>(n.c.real()), static_cast<Real>(n.c.imag()))
               : T(static_cast<Real>(n.real()), 0);
    return true;
  } else {
    if (n.kind == Number::kComplex) return false;
    *out = static_cast<T>(n.real());
    return true;
  }
}

// Calls f(T()) for the C++ type of a type of numbers. False for others.
template <typename F>
bool WithNumberType(DataType dtype, const F& f) {
  switch (dtype) {
#define HR_CASE(T)               \
  case DataTypeToEnum<T>::value: \
    f(T());                      \
    return true;
    HR_CALL_NUMBER_TYPES(HR_CASE)
#undef HR_CASE
    default:
      return false;
  }
}

// Of two types of numbers, the one that a list of both has.
DataType Wider(DataType a, DataType b) {
  const auto rank = [](DataType t) {
    switch (t) {
      case DT_INT32:
        return 1;
      case DT_INT64:
        return 2;
      case DT_FLOAT:
        return 3;
      case DT_DOUBLE:
        return 4;
      default:
        return 0;
    }
  };
  if (rank(a) == 0 || rank(b) == 0) return DT_INVALID;
  return rank(a) < rank(b) ? b : a;
}

Status Stack(std::initializer_list<Initializer> list, Tensor* out,
             bool* is_literal) {
  if (list.size() == 0) {
    *out = Tensor(DT_FLOAT, TensorShape({0}));
    return OkStatus();
  }
  const Tensor& first = list.begin()->tensor;
  DataType dtype = first.dtype();
  *is_literal = true;
  for (const Initializer& item : list) {
    HR_RETURN_IF_ERROR(item.status);
    *is_literal &= item.is_literal;
    const DataType its = item.tensor.dtype();
    if (item.tensor.shape() != first.shape()) {
      return errors::InvalidArgument(
          "a list has items of different shapes: ", first.shape().DebugString(),
          " and ", item.tensor.shape().DebugString());
    }
    if (its != dtype) {
      const DataType wider = Wider(dtype, its);
      if (wider == DT_INVALID || !item.is_literal) {
        return errors::InvalidArgument(
            "a list has items of different types: ", DataTypeString(dtype),
            " and ", DataTypeString(its));
      }
      dtype = wider;
    }
  }
  TensorShape shape = first.shape();
  shape.InsertDim(0, static_cast<int64_t>(list.size()));
  HR_RETURN_IF_ERROR(Tensor::Allocate(CpuAllocator(), dtype, shape, out));
  int64_t at = 0;
  for (const Initializer& item : list) {
    Tensor same = item.tensor;
    if (same.dtype() != dtype) {
      HR_RETURN_IF_ERROR(internal::ConvertLiteral(item.tensor, dtype, &same));
    }
    CopyElements(same, 0, out, at, same.NumElements());
    at += same.NumElements();
  }
  return OkStatus();
}

Status Spread(const Tensor& v, const TensorShape& shape, Tensor* out) {
  if (!shape.IsValid()) {
    return errors::InvalidArgument("a constant of the invalid shape ",
                                   shape.DebugString());
  }
  if (v.NumElements() == shape.num_elements()) {
    if (!out->CopyFrom(v, shape)) {
      return errors::Internal("a constant could not be reshaped");
    }
    return OkStatus();
  }
  if (v.NumElements() != 1) {
    return errors::InvalidArgument("a constant of shape ", shape.DebugString(),
                                   " wants 1 or ", shape.num_elements(),
                                   " values, got ", v.NumElements());
  }
  HR_RETURN_IF_ERROR(Tensor::Allocate(CpuAllocator(), v.dtype(), shape, out));
  for (int64_t i = 0; i < shape.num_elements(); ++i) {
    CopyElements(v, 0, out, i, 1);
  }
  return OkStatus();
}

}  // namespace

Status internal::ConvertLiteral(const Tensor& from, DataType dtype,
                                Tensor* to) {
  if (from.dtype() == dtype) {
    *to = from;
    return OkStatus();
  }
  Status s = errors::InvalidArgument(
      "a value of type ", DataTypeString(from.dtype()),
      " cannot be given where ", DataTypeString(dtype), " is wanted");
  WithNumberType(from.dtype(), [&]<typename From>(From) {
    WithNumberType(dtype, [&]<typename To>(To) {
      s = Tensor::Allocate(CpuAllocator(), dtype, from.shape(), to);
      if (!s.ok()) return;
      const From* const in = from.data<From>();
      To* const out = to->data<To>();
      for (int64_t i = 0; i < from.NumElements(); ++i) {
        const Number n = ToNumber(in[i]);
        if (FromNumber(n, &out[i])) continue;
        s = errors::InvalidArgument("the value ", n.real(), " is no ",
                                    DataTypeString(dtype));
        return;
      }
    });
  });
  return s;
}

Initializer::Initializer(const char* v)
    : Initializer(absl::string_view(v == nullptr ? "" : v)) {}
Initializer::Initializer(const std::string& v)
    : Initializer(absl::string_view(v)) {}
Initializer::Initializer(absl::string_view v)
    : tensor(Tensor::Scalar(tstring(v))) {}

Initializer::Initializer(Tensor v) : tensor(std::move(v)) {
  if (!tensor.IsInitialized()) {
    status = errors::InvalidArgument("a tensor without a value was given");
  }
}

Initializer::Initializer(std::initializer_list<Initializer> list) {
  status = Stack(list, &tensor, &is_literal);
  if (list.size() == 0) is_literal = true;
}

Initializer::Initializer(const Initializer& v, const TensorShape& shape)
    : is_literal(v.is_literal), status(v.status) {
  if (status.ok()) status = Spread(v.tensor, shape, &tensor);
}

Tensor Initializer::FromStrings(const std::vector<std::string>& v) {
  Tensor t(DT_STRING, TensorShape({static_cast<int64_t>(v.size())}));
  for (size_t i = 0; i < v.size(); ++i) {
    t.data<tstring>()[i] = tstring(v[i]);
  }
  return t;
}

}  // namespace headrace
