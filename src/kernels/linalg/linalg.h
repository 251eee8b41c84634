// The base of linear algebra ops. A tensor is a batch of matrices in its last
// two dims, and an op is a function of one matrix per input. All arithmetic is
// in double precision (complex128 for complex types), whatever the tensors'
// type. So one instantiation serves all types, and float results are as precise
// as float allows.
#ifndef HEADRACE_KERNELS_LINALG_LINALG_H_
#define HEADRACE_KERNELS_LINALG_LINALG_H_

#include <Eigen/Core>
#include <vector>

#include "headrace/op_kernel.h"

namespace headrace {

template <typename S>
using LinalgMatrix = Eigen::Matrix<S, Eigen::Dynamic, Eigen::Dynamic>;

// a * b, or a^H b if `adjoint`. Compiled once: each expression with a product
// would be compiled with all of Eigen's kernels.
template <typename S>
LinalgMatrix<S> Product(const LinalgMatrix<S>& a, const LinalgMatrix<S>& b,
                        bool adjoint = false);

struct MatrixSize {
  int64_t rows = 0, cols = 0;
};

// The shape of one output: per matrix of the batch a matrix, a vector or a
// scalar; or nothing at all (a zero that nobody reads).
struct LinalgOutput {
  enum Kind { kMatrix, kVector, kScalar, kNothing } kind = kMatrix;
  MatrixSize size;  // of a vector: rows
};

// A subclass checks the sizes and computes one matrix of the batch.
class LinalgOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* ctx) final;

 protected:
  using Real = LinalgMatrix<double>;
  using Complex = LinalgMatrix<complex128>;

  // Checks the inputs' sizes and sets the shapes of the outputs.
  virtual Status Outputs(const std::vector<MatrixSize>& in,
                         std::vector<LinalgOutput>* out) = 0;
  // Computes one matrix of the batch. Use `ctx` for the inputs after the
  // matrices.
  virtual Status Run(OpKernelContext* ctx, const std::vector<Real>& in,
                     std::vector<Real>* out) = 0;
  virtual Status Run(OpKernelContext* ctx, const std::vector<Complex>& in,
                     std::vector<Complex>* out) = 0;
  // Checks the inputs after the matrices.
  virtual Status CheckScalars(OpKernelContext*) { return OkStatus(); }

  int num_matrices_ = -1;         // the first inputs; -1: all
  bool broadcast_batch_ = false;  // as NumPy does; else batches must be equal
  // True if real inputs give complex outputs.
  bool complex_outputs_ = false;

 private:
  template <typename S>
  void RunBatch(OpKernelContext* ctx, const std::vector<MatrixSize>& sizes,
                const TensorShape& batch,
                const std::vector<LinalgOutput>& kinds,
                const std::vector<Tensor*>& outs);
};

Status CheckSquare(const MatrixSize& m);

// Implements the two virtual Run functions with the template Run<S> of a
// subclass.
#define HR_LINALG_RUN                                              \
  Status Run(OpKernelContext* ctx, const std::vector<Real>& in,    \
             std::vector<Real>* out) override {                    \
    return RunAs<double>(ctx, in, out);                            \
  }                                                                \
  Status Run(OpKernelContext* ctx, const std::vector<Complex>& in, \
             std::vector<Complex>* out) override {                 \
    return RunAs<complex128>(ctx, in, out);                        \
  }

// Registers CLASS for the dtypes in the op's attr T.
#define HR_REGISTER_LINALG(OP, CLASS)                           \
  REGISTER_KERNEL_BUILDER(Name(OP)                              \
                              .Device(DEVICE_CPU)               \
                              .TypeConstraint<half>("T")        \
                              .TypeConstraint<float>("T")       \
                              .TypeConstraint<double>("T")      \
                              .TypeConstraint<bfloat16>("T")    \
                              .TypeConstraint<complex64>("T")   \
                              .TypeConstraint<complex128>("T"), \
                          CLASS)

}  // namespace headrace

#endif  // HEADRACE_KERNELS_LINALG_LINALG_H_
