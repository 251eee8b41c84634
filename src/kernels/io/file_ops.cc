// ReadFile, WriteFile and MatchingFiles. WriteFile makes the folders above the
// file; MatchingFiles joins what its patterns match, sorted.
#include <algorithm>
#include <string>
#include <vector>

#include "base/env.h"
#include "headrace/op_kernel.h"

namespace headrace {
namespace {

class ReadFileOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* ctx) override {
    const Tensor& name = ctx->input(0);
    OP_REQUIRES(ctx, name.dims() == 0,
                errors::InvalidArgument("filename must be a scalar, got shape ",
                                        name.shape().DebugString()));
    std::string contents;
    OP_REQUIRES_OK(ctx, Env::Default()->ReadFile(
                            std::string(name.scalar<tstring>()), &contents));
    Tensor* out = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, TensorShape(), &out));
    out->scalar<tstring>() = contents;
  }
};

class WriteFileOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* ctx) override {
    for (int i = 0; i < 2; ++i) {
      OP_REQUIRES(ctx, ctx->input(i).dims() == 0,
                  errors::InvalidArgument(i == 0 ? "filename" : "contents",
                                          " must be a scalar, got shape ",
                                          ctx->input(i).shape().DebugString()));
    }
    const std::string path(ctx->input(0).scalar<tstring>());
    const tstring& contents = ctx->input(1).scalar<tstring>();
    const std::string dir(Dirname(path));
    if (!dir.empty()) {
      OP_REQUIRES_OK(ctx, Env::Default()->CreateDirRecursively(dir));
    }
    OP_REQUIRES_OK(ctx, Env::Default()->WriteFile(path, ToStd(contents)));
  }
};

class MatchingFilesOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* ctx) override {
    const Tensor& patterns = ctx->input(0);
    OP_REQUIRES(
        ctx, patterns.dims() <= 1,
        errors::InvalidArgument("pattern must be a scalar or vector, not ",
                                patterns.shape().DebugString()));
    std::vector<std::string> all;
    for (const tstring& pattern : patterns.span<tstring>()) {
      std::vector<std::string> paths;
      OP_REQUIRES_OK(ctx, Env::Default()->Glob(std::string(pattern), &paths));
      all.insert(all.end(), paths.begin(), paths.end());
    }
    std::sort(all.begin(), all.end());
    Tensor* out = nullptr;
    OP_REQUIRES_OK(
        ctx, ctx->allocate_output(
                 0, TensorShape({static_cast<int64_t>(all.size())}), &out));
    std::copy(all.begin(), all.end(), out->data<tstring>());
  }
};

REGISTER_KERNEL_BUILDER(Name("ReadFile").Device(DEVICE_CPU), ReadFileOp);
REGISTER_KERNEL_BUILDER(Name("WriteFile").Device(DEVICE_CPU), WriteFileOp);
REGISTER_KERNEL_BUILDER(Name("MatchingFiles").Device(DEVICE_CPU),
                        MatchingFilesOp);

}  // namespace
}  // namespace headrace
