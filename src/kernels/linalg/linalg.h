// The frame of linear algebra ops: a tensor is a batch of matrices in its last
// two dimensions, and an op is a function of one matrix of each input. All
// arithmetic is in double precision (complex128 for complex types), whatever
// the tensors hold: one instantiation serves, and float results are as good as
// float can say.
#ifndef HEADRACE_KERNELS_LINALG_LINALG_H_
#define HEADRACE_KERNELS_LINALG_LINALG_H_

#include <Eigen/Core>
#include <vector>

#include "headrace/op_kernel.h"

namespace headrace {

template <typename S>
using LinalgMatrix = Eigen::Matrix<S, Eigen::Dynamic, Eigen::Dynamic>;

struct MatrixSize {
  int64_t rows = 0, cols = 0;
};

// What an op gives for one output: a matrix for each in the batch, a vector, a
// scalar, or nothing at all (a zero that nobody reads).
struct LinalgOutput {
  enum Kind { kMatrix, kVector, kScalar, kNothing } kind = kMatrix;
  MatrixSize size;  // of a vector: rows
};

// A subclass checks sizes and computes one matrix of the batch.
class LinalgOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* ctx) final;

 protected:
  using Real = LinalgMatrix<double>;
  using Complex = LinalgMatrix<complex128>;

  // Checks the inputs' sizes and says what comes out.
  virtual Status Outputs(const std::vector<MatrixSize>& in,
                         std::vector<LinalgOutput>* out) = 0;
  // One matrix of the batch; `ctx` is there for the inputs behind the matrices.
  virtual Status Run(OpKernelContext* ctx, const std::vector<Real>& in,
                     std::vector<Real>* out) = 0;
  virtual Status Run(OpKernelContext* ctx, const std::vector<Complex>& in,
                     std::vector<Complex>* out) = 0;
  // Checks those inputs.
  virtual Status CheckScalars(OpKernelContext*) { return OkStatus(); }

  int num_matrices_ = -1;         // the first inputs; -1: all
  bool broadcast_batch_ = false;  // as NumPy does; else batches must be equal
  // True if the outputs of a real input are complex.
  bool complex_outputs_ = false;

 private:
  template <typename S>
  void RunBatch(OpKernelContext* ctx, const std::vector<MatrixSize>& sizes,
                const TensorShape& batch,
                const std::vector<LinalgOutput>& kinds,
                const std::vector<Tensor*>& outs);
};

Status CheckSquare(const MatrixSize& m);

// Gives the templated Run<S> of a subclass as the two virtual ones.
#define HR_LINALG_RUN                                              \
  Status Run(OpKernelContext* ctx, const std::vector<Real>& in,    \
             std::vector<Real>* out) override {                    \
    return RunAs<double>(ctx, in, out);                            \
  }                                                                \
  Status Run(OpKernelContext* ctx, const std::vector<Complex>& in, \
             std::vector<Complex>* out) override {                 \
    return RunAs<complex128>(ctx, in, out);                        \
  }

// Registers CLASS for the dtypes named by the op's attr T.
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
