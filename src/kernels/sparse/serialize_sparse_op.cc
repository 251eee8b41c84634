// Sparse tensors as three TensorProtos in strings, or as three tensors in
// variants: for queues and batches, which carry dense tensors only. The Many
// forms take and make a batch along the first dim.
#include <string>
#include <vector>

#include "framework/op/tensor_proto.h"
#include "framework/tensor/variant.h"
#include "kernels/sparse/sparse_batch.h"

namespace headrace {
namespace {

constexpr char kVariantType[] = "tensorflow::Tensor";

// The strings of `t` as tensor_content: all lengths, then all bytes. This is
// how TensorFlow writes them here, though not in other messages.
std::string JoinedStrings(const Tensor& t) {
  std::string out;
  for (const tstring& s : t.span<tstring>()) {
    uint64_t n = s.size();
    for (; n >= 128; n >>= 7) out += static_cast<char>(n | 128);
    out += static_cast<char>(n);
  }
  for (const tstring& s : t.span<tstring>()) out.append(s.data(), s.size());
  return out;
}

// Element i of `out` becomes `t`.
Status Store(const Tensor& t, int64_t i, Tensor* out) {
  if (out->dtype() == DT_VARIANT) {
    out->data<Variant>()[i] = Variant::Of(t, kVariantType);
    return OkStatus();
  }
  if (t.dtype() == DT_RESOURCE || t.dtype() == DT_VARIANT) {
    return errors::Unimplemented("values of type ", DataTypeString(t.dtype()),
                                 " have no serialised form");
  }
  pb::TensorProto proto;
  TensorToProto(t, &proto);
  if (t.dtype() == DT_STRING && t.NumElements() > 0) {
    proto.clear_string_val();
    proto.set_tensor_content(JoinedStrings(t));
  }
  std::string bytes;
  if (!proto.SerializeToString(&bytes)) {
    return errors::InvalidArgument(
        "a sparse tensor with ", t.NumElements(),
        " elements is too large for one message, of at most 2 GiB");
  }
  out->data<tstring>()[i] = tstring(bytes);
  return OkStatus();
}

Status Load(const Tensor& in, int64_t i, Tensor* t) {
  if (in.dtype() == DT_VARIANT) {
    const Tensor* held = in.data<Variant>()[i].Get<Tensor>();
    if (held == nullptr) {
      return errors::InvalidArgument("variant ", i,
                                     " of serialized_sparse holds no tensor");
    }
    *t = *held;
    return OkStatus();
  }
  const absl::string_view bytes = in.data<tstring>()[i];
  pb::TensorProto proto;
  if (bytes.size() > 0x7fffffff ||
      !proto.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    return errors::InvalidArgument("string ", i,
                                   " of serialized_sparse is no TensorProto");
  }
  return TensorFromProto(proto, t);
}

class SerializeSparseOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* ctx) override {
    SparseView s;  // for its checks
    OP_REQUIRES_OK(ctx, ReadSparseInputs(*ctx, 0, "sparse", &s));
    Tensor* out = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, {3}, &out));
    for (int i = 0; i < 3; ++i)
      OP_REQUIRES_OK(ctx, Store(ctx->input(i), i, out));
  }
};
REGISTER_KERNEL_BUILDER(Name("SerializeSparse").Device(DEVICE_CPU),
                        SerializeSparseOp);

class SerializeManySparseOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* ctx) override {
    SparseView s;
    OP_REQUIRES_OK(ctx, ReadSparseInputs(*ctx, 0, "sparse", &s));
    Tensor* out = nullptr;
    const int64_t rows = s.rank > 0 ? s.dims[0] : 0;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, {rows, 3}, &out));
    const SparseTriple* previous = nullptr;
    int64_t previous_row = 0;
    OP_REQUIRES_OK(
        ctx,
        UnbatchSparse(
            ctx, s,
            [&](int64_t row, const std::shared_ptr<const SparseTriple>& part) {
              if (part.get() == previous) {  // without entries, as that
                CopyElements(*out, 3 * previous_row, out, 3 * row, 3);
                return OkStatus();
              }
              if (part->values.NumElements() == 0) {
                previous = part.get();
                previous_row = row;
              }
              HR_RETURN_IF_ERROR(Store(part->indices, 3 * row, out));
              HR_RETURN_IF_ERROR(Store(part->values, 3 * row + 1, out));
              return Store(part->shape, 3 * row + 2, out);
            }));
  }
};
REGISTER_KERNEL_BUILDER(Name("SerializeManySparse").Device(DEVICE_CPU),
                        SerializeManySparseOp);

class DeserializeSparseOp : public OpKernel {
 public:
  explicit DeserializeSparseOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("dtype", &dtype_));
  }

  void Compute(OpKernelContext* ctx) override {
    const Tensor& in = ctx->input(0);
    const int rank = in.dims();
    const bool many = type_string() == "DeserializeManySparse";
    OP_REQUIRES(ctx,
                (many ? rank == 2 : rank >= 1) && in.dim_size(rank - 1) == 3,
                errors::InvalidArgument(
                    "serialized_sparse must be ",
                    many ? "a matrix of 3 columns" : "of shape [..., 3]",
                    ", got ", in.shape().DebugString()));
    OP_REQUIRES(ctx, in.NumElements() > 0,
                errors::InvalidArgument(
                    "serialized_sparse must have at least 1 serialized "
                    "SparseTensor, got shape ",
                    in.shape().DebugString()));
    std::vector<std::shared_ptr<const SparseTriple>> parts;
    for (int64_t at = 0; at < in.NumElements(); at += 3) {
      auto part = std::make_shared<SparseTriple>();
      OP_REQUIRES_OK(ctx, Load(in, at, &part->indices));
      OP_REQUIRES_OK(ctx, Load(in, at + 1, &part->values));
      OP_REQUIRES_OK(ctx, Load(in, at + 2, &part->shape));
      parts.push_back(std::move(part));
    }
    OP_REQUIRES_OK(ctx,
                   BatchSparse(ctx, in.shape().dim_sizes().subspan(0, rank - 1),
                               parts, dtype_));
  }

 private:
  DataType dtype_ = DT_INVALID;
};
REGISTER_KERNEL_BUILDER(Name("DeserializeSparse").Device(DEVICE_CPU),
                        DeserializeSparseOp);
REGISTER_KERNEL_BUILDER(Name("DeserializeManySparse").Device(DEVICE_CPU),
                        DeserializeSparseOp);

}  // namespace
}  // namespace headrace
