// UnsortedSegmentJoin: rows with equal ids joined element by element, in the
// order of the data. Empty strings at the front leave no separator behind.
#include <string>
#include <vector>

#include "headrace/op_kernel.h"

namespace headrace {
namespace {

int64_t IntAt(const Tensor& t, int64_t i) {
  return t.dtype() == DT_INT32 ? t.data<int32_t>()[i] : t.data<int64_t>()[i];
}

class UnsortedSegmentJoinOp : public OpKernel {
 public:
  explicit UnsortedSegmentJoinOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("separator", &separator_));
  }

  void Compute(OpKernelContext* ctx) override {
    const Tensor &in = ctx->input(0), &ids = ctx->input(1),
                 &num = ctx->input(2);
    OP_REQUIRES(ctx, num.dims() == 0,
                errors::InvalidArgument(
                    "Number of segments must be a scalar, got shape ",
                    num.shape().DebugString()));
    const int64_t rows = IntAt(num, 0);
    OP_REQUIRES(
        ctx, rows >= 0,
        errors::InvalidArgument("Number of segments must be >= 0, got ", rows));
    bool prefix = ids.dims() >= 1 && ids.dims() <= in.dims();
    for (int d = 0; prefix && d < ids.dims(); ++d) {
      prefix = ids.dim_size(d) == in.dim_size(d);
    }
    OP_REQUIRES(ctx, prefix,
                errors::InvalidArgument(
                    "segment_ids' shape ", ids.shape().DebugString(),
                    " must be a prefix, of rank 1 at least, of inputs' shape ",
                    in.shape().DebugString()));
    const int64_t n = ids.NumElements();
    for (int64_t i = 0; i < n; ++i) {
      OP_REQUIRES(
          ctx, IntAt(ids, i) >= 0 && IntAt(ids, i) < rows,
          errors::InvalidArgument("segment_ids[", i, "] = ", IntAt(ids, i),
                                  " is out of range [0, ", rows, ")"));
    }
    TensorShape shape({rows});
    for (int d = ids.dims(); d < in.dims(); ++d) shape.AddDim(in.dim_size(d));
    Tensor* out = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, shape, &out));
    if (out->NumElements() == 0 || n == 0) return;
    const int64_t inner = out->NumElements() / rows;
    // Rows in the order of their segments, so that each is joined in one go.
    std::vector<int64_t> begin(rows + 1, 0), member;
    for (int64_t i = 0; i < n; ++i) ++begin[IntAt(ids, i) + 1];
    for (int64_t r = 0; r < rows; ++r) begin[r + 1] += begin[r];
    member.resize(begin[rows]);
    std::vector<int64_t> next(begin.begin(), begin.end() - 1);
    for (int64_t i = 0; i < n; ++i) member[next[IntAt(ids, i)]++] = i;
    std::string joined;
    for (int64_t r = 0; r < rows; ++r) {
      for (int64_t j = 0; j < inner; ++j) {
        joined.clear();
        for (int64_t m = begin[r]; m < begin[r + 1]; ++m) {
          const tstring& s = in.data<tstring>()[member[m] * inner + j];
          if (!joined.empty()) joined += separator_;
          joined.append(s.data(), s.size());
        }
        out->data<tstring>()[r * inner + j] = joined;
      }
    }
  }

 private:
  std::string separator_;
};

#define HR_REGISTER(I, N)                                         \
  REGISTER_KERNEL_BUILDER(Name("UnsortedSegmentJoin")             \
                              .Device(DEVICE_CPU)                 \
                              .TypeConstraint<I>("Tindices")      \
                              .TypeConstraint<N>("Tnumsegments"), \
                          UnsortedSegmentJoinOp);
HR_REGISTER(int32_t, int32_t)
HR_REGISTER(int32_t, int64_t)
HR_REGISTER(int64_t, int32_t)
HR_REGISTER(int64_t, int64_t)
#undef HR_REGISTER

}  // namespace
}  // namespace headrace
