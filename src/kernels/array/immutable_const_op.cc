// ImmutableConst: a tensor whose elements are the first bytes of a file, as
// they lie in memory. Read when it is first needed, once.
#include "base/env.h"
#include "headrace/mutex.h"
#include "headrace/op_kernel.h"

namespace headrace {
namespace {

class ImmutableConstOp : public OpKernel {
 public:
  explicit ImmutableConstOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("memory_region_name", &path_));
    PartialTensorShape shape;
    OP_REQUIRES_OK(ctx, ctx->GetAttr("shape", &shape));
    OP_REQUIRES(ctx, shape.AsTensorShape(&shape_),
                errors::InvalidArgument(
                    "ImmutableConst: shape must be fully known, got ",
                    shape.DebugString()));
    OP_REQUIRES(ctx, DataTypeCanUseMemcpy(output_type(0)),
                errors::Unimplemented("ImmutableConst: the elements of type ",
                                      DataTypeString(output_type(0)),
                                      " do not lie in a file"));
  }

  void Compute(OpKernelContext* ctx) override {
    MutexLock lock(&mu_);
    if (!value_.IsInitialized()) OP_REQUIRES_OK(ctx, Read(&value_));
    ctx->set_output(0, value_);
  }

 private:
  Status Read(Tensor* out) const {
    Env* const env = Env::Default();
    HR_ASSIGN_OR_RETURN(const uint64_t size, env->FileSize(path_));
    const int64_t bytes = MultiplyWithoutOverflow(
        shape_.num_elements(),
        static_cast<int64_t>(DataTypeObjectSize(output_type(0))));
    if (bytes < 0 || static_cast<uint64_t>(bytes) > size) {
      return errors::InvalidArgument(
          "ImmutableConst: the file \"", path_, "\" has ", size,
          " bytes, fewer than a tensor of shape ", shape_.DebugString(),
          " and type ", DataTypeString(output_type(0)));
    }
    Tensor t;
    HR_RETURN_IF_ERROR(
        Tensor::Allocate(CpuAllocator(), output_type(0), shape_, &t));
    HR_ASSIGN_OR_RETURN(auto file, env->NewRandomAccessFile(path_));
    std::string_view got;
    char* const to = static_cast<char*>(t.raw_data());
    if (bytes > 0) HR_RETURN_IF_ERROR(file->Read(0, bytes, &got, to));
    if (got.data() != to) std::memcpy(to, got.data(), got.size());
    if (t.dtype() == DT_BOOL) {
      for (const char c : got) {
        if (c == 0 || c == 1) continue;
        return errors::InvalidArgument("ImmutableConst: the file \"", path_,
                                       "\" has bytes that are not booleans");
      }
    }
    *out = std::move(t);
    return OkStatus();
  }

  std::string path_;
  TensorShape shape_;
  Mutex mu_;
  Tensor value_ GUARDED_BY(mu_);
};
REGISTER_KERNEL_BUILDER(Name("ImmutableConst").Device(DEVICE_CPU),
                        ImmutableConstOp);

}  // namespace
}  // namespace headrace
