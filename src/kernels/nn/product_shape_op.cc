// _ProductShape: the shape of a product of two tensors, of their shapes alone.
// A size that both have must be equal; with "repeats" a size of 1 gives way to
// the other. The sizes that are multiplied over must be equal, too.
#include <algorithm>
#include <cstdint>
#include <iterator>
#include <limits>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_split.h"
#include "headrace/op_kernel.h"

namespace headrace {
namespace {

class ProductShapeOp : public OpKernel {
 public:
  explicit ProductShapeOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    expensive_ = false;
    std::string labels;
    OP_REQUIRES_OK(ctx, ctx->GetAttr("labels", &labels));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("repeats", &repeats_));
    const std::vector<std::string> sides = absl::StrSplit(labels, "->");
    const std::vector<std::string> in = absl::StrSplit(sides[0], ',');
    bool fits = sides.size() == 2 && in.size() == 2;
    if (fits) {
      operands_[0] = in[0];
      operands_[1] = in[1];
      result_ = sides[1];
      fits = AreLetters(in[0]) && AreLetters(in[1]) && AreLetters(result_);
      for (const char c : result_) {
        fits = fits && (in[0] + in[1]).find(c) != std::string::npos;
      }
    }
    OP_REQUIRES(ctx, fits,
                errors::InvalidArgument("labels: got ", labels,
                                        ", wanted for example ath,ash->ats"));
  }

  void Compute(OpKernelContext* ctx) override {
    int64_t sizes[26];
    std::fill(std::begin(sizes), std::end(sizes), -1);
    for (int i = 0; i < 2; ++i) {
      const TensorShape& shape = ctx->input(i).shape();
      const int rank = static_cast<int>(operands_[i].size());
      OP_REQUIRES(
          ctx, shape.dims() == rank,
          errors::InvalidArgument(i == 0 ? "x" : "y", " must have ", rank,
                                  " dims, got ", shape.DebugString()));
      for (int d = 0; d < rank; ++d) {
        const char label = operands_[i][d];
        int64_t& size = sizes[label - 'a'];
        const int64_t got = shape.dim_size(d);
        const bool repeats =
            repeats_ && result_.find(label) != std::string::npos;
        if (size < 0 || (repeats && size == 1)) {
          size = got;
        } else if (got != size && !(repeats && got == 1)) {
          ctx->CtxFailure(
              errors::InvalidArgument("y: dim ", d, " must have size ", size,
                                      ", as x has, got ", shape.DebugString()));
          return;
        }
      }
    }
    Tensor* out = nullptr;
    const int64_t rank = static_cast<int64_t>(result_.size());
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, {rank}, &out));
    for (int64_t d = 0; d < rank; ++d) {
      const int64_t size = sizes[result_[d] - 'a'];
      if (out->dtype() == DT_INT64) {
        out->data<int64_t>()[d] = size;
        continue;
      }
      OP_REQUIRES(ctx, size <= std::numeric_limits<int32_t>::max(),
                  errors::InvalidArgument(size,
                                          " does not fit into out_type int32; "
                                          "use out_type=int64"));
      out->data<int32_t>()[d] = static_cast<int32_t>(size);
    }
  }

 private:
  static bool AreLetters(const std::string& labels) {
    for (size_t i = 0; i < labels.size(); ++i) {
      if (!absl::ascii_islower(labels[i]) || labels.find(labels[i]) != i) {
        return false;
      }
    }
    return true;
  }

  std::string operands_[2], result_;
  bool repeats_ = false;
};
REGISTER_KERNEL_BUILDER(Name("_ProductShape").Device(DEVICE_CPU),
                        ProductShapeOp);

}  // namespace
}  // namespace headrace
