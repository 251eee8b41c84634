// Eigen views of tensors, for kernels that use Eigen's Tensor module. The maps
// are unaligned, since feeds and small tensors may be anywhere; on current CPUs
// an unaligned load of aligned data costs nothing. This header is slow to
// compile: include it only where Eigen pays.
#ifndef HEADRACE_FRAMEWORK_TENSOR_TENSOR_EIGEN_H_
#define HEADRACE_FRAMEWORK_TENSOR_TENSOR_EIGEN_H_

#include <unsupported/Eigen/CXX11/Tensor>

#include "headrace/tensor.h"

namespace headrace {

template <typename T, int N>
using EigenTensorMap =
    Eigen::TensorMap<Eigen::Tensor<T, N, Eigen::RowMajor, int64_t>>;
template <typename T, int N>
using EigenConstTensorMap =
    Eigen::TensorMap<const Eigen::Tensor<T, N, Eigen::RowMajor, int64_t>>;

// An Eigen map of a TensorView of any rank.
template <typename T, int N>
EigenTensorMap<T, N> ToEigen(const TensorView<T, N>& v) {
  Eigen::DSizes<int64_t, N> dims;
  for (int i = 0; i < N; ++i) dims[i] = v.dimension(i);
  return EigenTensorMap<T, N>(v.data(), dims);
}
template <typename T, int N>
EigenConstTensorMap<T, N> ToEigen(const TensorView<const T, N>& v) {
  Eigen::DSizes<int64_t, N> dims;
  for (int i = 0; i < N; ++i) dims[i] = v.dimension(i);
  return EigenConstTensorMap<T, N>(v.data(), dims);
}

// `t` as a rank-N map of T, after checking type and rank.
template <typename T, int N>
StatusOr<EigenConstTensorMap<T, N>> EigenTensor(const Tensor& t) {
  if (t.dtype() != DataTypeToEnum<T>::value || t.dims() != N) {
    return errors::InvalidArgument(
        "expected a ", DataTypeString(DataTypeToEnum<T>::value),
        " tensor of rank ", N, ", got ", DataTypeString(t.dtype()), " ",
        t.shape().DebugString());
  }
  return ToEigen(t.tensor<T, N>());
}

}  // namespace headrace

#endif  // HEADRACE_FRAMEWORK_TENSOR_TENSOR_EIGEN_H_
