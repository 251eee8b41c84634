// Bitcast: the same buffer under another type. The last dimension comes or goes
// where the sizes of the types differ.
#include <cstring>
#include <utility>

#include "headrace/op_kernel.h"

namespace headrace {
namespace {

class BitcastOp : public OpKernel {
 public:
  explicit BitcastOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    expensive_ = false;
  }
  void Compute(OpKernelContext* ctx) override {
    const Tensor& in = ctx->input(0);
    const DataType to = output_type(0);
    const int64_t from_size = DataTypeSize(in.dtype());
    const int64_t to_size = DataTypeSize(to);
    OP_REQUIRES(ctx, from_size > 0 && to_size > 0,
                errors::InvalidArgument("Cannot bitcast from ",
                                        DataTypeString(in.dtype()), " to ",
                                        DataTypeString(to)));
    TensorShape shape = in.shape();
    if (from_size > to_size) {
      shape.AddDim(from_size / to_size);
    } else if (from_size < to_size) {
      const int last = shape.dims() - 1;
      OP_REQUIRES(ctx, last >= 0 && shape.dim_size(last) == to_size / from_size,
                  errors::InvalidArgument("Cannot bitcast from ",
                                          DataTypeString(in.dtype()), " to ",
                                          DataTypeString(to), ": shape ",
                                          shape.DebugString(),
                                          ", wanted a last "
                                          "dimension of ",
                                          to_size / from_size));
      shape.RemoveDim(last);
    }
    OP_REQUIRES(ctx, shape.IsValid(),
                errors::InvalidArgument("Bitcast: the shape overflows"));
    Tensor out;
    if (in.buffer() != nullptr) {
      const auto* base = static_cast<const char*>(in.buffer()->data());
      const auto offset = static_cast<const char*>(in.raw_data()) - base;
      out = Tensor(to, shape, in.buffer(), offset);
    } else {
      out = Tensor(to, shape);
      std::memcpy(out.raw_data(), in.raw_data(), in.TotalBytes());
    }
    ctx->set_output(0, std::move(out));
  }
};
REGISTER_KERNEL_BUILDER(Name("Bitcast").Device(DEVICE_CPU), BitcastOp);

}  // namespace
}  // namespace headrace
