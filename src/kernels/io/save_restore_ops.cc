// Saving and restoring variables. SaveV2 and RestoreV2 use tensor bundles (a
// prefix names the files), Save, SaveSlices, Restore and RestoreSlice the older
// files of version 1; RestoreV2 falls back to these where PREFIX.index does not
// exist, so that a graph restores a checkpoint older than itself.
#include <memory>
#include <string>
#include <vector>

#include "base/env.h"
#include "headrace/op_kernel.h"
#include "io/checkpoint_v1.h"
#include "io/tensor_bundle.h"

namespace headrace {
namespace {

Status GetScalar(OpKernelContext* ctx, int i, const char* name,
                 std::string* out) {
  const Tensor& t = ctx->input(i);
  if (t.NumElements() != 1) {
    return errors::InvalidArgument(name, " must be a scalar, got shape ",
                                   t.shape().DebugString());
  }
  *out = std::string(t.data<tstring>()[0]);
  return OkStatus();
}

Status CheckVector(OpKernelContext* ctx, int i, const char* name, int64_t n) {
  const Tensor& t = ctx->input(i);
  if (t.dims() != 1 || t.NumElements() != n) {
    return errors::InvalidArgument(name, " must be a vector of ", n,
                                   " elements, got shape ",
                                   t.shape().DebugString());
  }
  return OkStatus();
}

Status CheckRestored(const std::string& name, DataType wanted,
                     const Tensor& got) {
  if (got.dtype() == wanted) return OkStatus();
  return errors::InvalidArgument(
      "tensor_name = ", name, "; expected dtype ", DataTypeString(wanted),
      " does not equal original dtype ", DataTypeString(got.dtype()));
}

class SaveV2Op : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* ctx) override {
    std::string prefix;
    const int n = ctx->num_inputs() - 3;
    OP_REQUIRES_OK(ctx, GetScalar(ctx, 0, "prefix", &prefix));
    OP_REQUIRES_OK(ctx, CheckVector(ctx, 1, "tensor_names", n));
    OP_REQUIRES_OK(ctx, CheckVector(ctx, 2, "shape_and_slices", n));
    OP_REQUIRES_OK(ctx, Save(ctx, prefix, n));
  }

 private:
  static Status Save(OpKernelContext* ctx, const std::string& prefix, int n) {
    HR_ASSIGN_OR_RETURN(auto writer,
                        BundleWriter::Open(Env::Default(), prefix));
    for (int i = 0; i < n; ++i) {
      const std::string name(ctx->input(1).data<tstring>()[i]);
      const tstring& spec = ctx->input(2).data<tstring>()[i];
      const Tensor& value = ctx->input(3 + i);
      if (spec.empty()) {
        HR_RETURN_IF_ERROR(writer->Add(name, value));
        continue;
      }
      TensorShape shape, slice_shape;
      TensorSlice slice;
      HR_RETURN_IF_ERROR(
          ParseShapeAndSlice(spec, &shape, &slice, &slice_shape));
      HR_RETURN_IF_ERROR(writer->AddSlice(name, shape, slice, value));
    }
    return writer->Finish();
  }
};

class RestoreV2Op : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* ctx) override {
    std::string prefix;
    OP_REQUIRES_OK(ctx, GetScalar(ctx, 0, "prefix", &prefix));
    OP_REQUIRES_OK(ctx,
                   CheckVector(ctx, 1, "tensor_names", ctx->num_outputs()));
    OP_REQUIRES_OK(ctx,
                   CheckVector(ctx, 2, "shape_and_slices", ctx->num_outputs()));
    OP_REQUIRES_OK(ctx, Restore(ctx, prefix));
  }

 private:
  static Status Restore(OpKernelContext* ctx, const std::string& prefix) {
    Env* env = Env::Default();
    std::unique_ptr<BundleReader> bundle;
    std::unique_ptr<CheckpointV1Reader> v1;
    if (errors::IsNotFound(env->FileExists(BundleIndexPath(prefix)))) {
      HR_ASSIGN_OR_RETURN(v1, CheckpointV1Reader::Open(env, prefix));
    } else {
      HR_ASSIGN_OR_RETURN(bundle, BundleReader::Open(env, prefix));
    }
    for (int i = 0; i < ctx->num_outputs(); ++i) {
      const std::string name(ctx->input(1).data<tstring>()[i]);
      const tstring& spec = ctx->input(2).data<tstring>()[i];
      const bool sliced = !spec.empty();
      TensorShape shape, slice_shape;
      TensorSlice slice;
      if (sliced) {
        HR_RETURN_IF_ERROR(
            ParseShapeAndSlice(spec, &shape, &slice, &slice_shape));
      }
      Tensor value;
      if (v1 != nullptr) {
        HR_RETURN_IF_ERROR(v1->Read(name, sliced ? &shape : nullptr,
                                    sliced ? &slice : nullptr, &value));
      } else if (sliced) {
        HR_RETURN_IF_ERROR(bundle->ReadSlice(name, shape, slice, &value));
      } else {
        HR_RETURN_IF_ERROR(bundle->Read(name, &value));
      }
      HR_RETURN_IF_ERROR(
          CheckRestored(name, ctx->expected_output_dtype(i), value));
      ctx->set_output(i, std::move(value));
    }
    return OkStatus();
  }
};

class MergeV2CheckpointsOp : public OpKernel {
 public:
  explicit MergeV2CheckpointsOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("delete_old_dirs", &delete_old_dirs_));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("allow_missing_files", &allow_missing_));
  }
  void Compute(OpKernelContext* ctx) override {
    std::string destination;
    const Tensor& names = ctx->input(0);
    OP_REQUIRES(ctx, names.dims() == 1,
                errors::InvalidArgument(
                    "checkpoint_prefixes must be a vector, got shape ",
                    names.shape().DebugString()));
    OP_REQUIRES_OK(ctx, GetScalar(ctx, 1, "destination_prefix", &destination));
    std::vector<std::string> prefixes;
    for (const tstring& s : names.span<tstring>()) prefixes.emplace_back(s);
    Env* env = Env::Default();
    OP_REQUIRES_OK(ctx,
                   MergeBundles(env, prefixes, destination, allow_missing_));
    if (!delete_old_dirs_) return;
    const std::string_view kept = Dirname(destination);
    for (const std::string& prefix : prefixes) {
      const std::string dir(Dirname(prefix));
      // Fails, and leaves the folder, if it contains anything else.
      if (!dir.empty() && dir != kept) (void)env->DeleteDir(dir).ok();
    }
  }

 private:
  bool delete_old_dirs_ = true, allow_missing_ = false;
};

// Save and SaveSlices.
template <bool kSlices>
class SaveV1Op : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* ctx) override {
    constexpr int kFirst = kSlices ? 3 : 2;
    std::string path;
    const int n = ctx->num_inputs() - kFirst;
    OP_REQUIRES_OK(ctx, GetScalar(ctx, 0, "filename", &path));
    OP_REQUIRES_OK(ctx, CheckVector(ctx, 1, "tensor_names", n));
    if (kSlices) {
      OP_REQUIRES_OK(ctx, CheckVector(ctx, 2, "shapes_and_slices", n));
    }
    std::vector<CheckpointV1Item> items(n);
    for (int i = 0; i < n; ++i) {
      CheckpointV1Item& item = items[i];
      item.name = std::string(ctx->input(1).data<tstring>()[i]);
      item.value = ctx->input(kFirst + i);
      item.full_shape = item.value.shape();
      item.slice = TensorSlice::Full(item.value.dims());
      if (!kSlices || ctx->input(2).data<tstring>()[i].empty()) continue;
      TensorShape slice_shape;
      OP_REQUIRES_OK(
          ctx, ParseShapeAndSlice(ctx->input(2).data<tstring>()[i],
                                  &item.full_shape, &item.slice, &slice_shape));
      OP_REQUIRES(ctx, slice_shape == item.value.shape(),
                  errors::InvalidArgument(
                      "'", item.name, "': the slice has shape ",
                      slice_shape.DebugString(), ", the tensor has ",
                      item.value.shape().DebugString()));
    }
    OP_REQUIRES_OK(ctx, WriteCheckpointV1(Env::Default(), path, items));
  }
};

// Restore and RestoreSlice. All files are opened at once, so preferred_shard
// makes no difference.
template <bool kSlice>
class RestoreV1Op : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* ctx) override {
    std::string pattern, name, spec;
    OP_REQUIRES_OK(ctx, GetScalar(ctx, 0, "file_pattern", &pattern));
    OP_REQUIRES_OK(ctx, GetScalar(ctx, 1, "tensor_name", &name));
    if (kSlice)
      OP_REQUIRES_OK(ctx, GetScalar(ctx, 2, "shape_and_slice", &spec));
    TensorShape shape, slice_shape;
    TensorSlice slice;
    if (!spec.empty()) {
      OP_REQUIRES_OK(ctx,
                     ParseShapeAndSlice(spec, &shape, &slice, &slice_shape));
    }
    auto reader = CheckpointV1Reader::Open(Env::Default(), pattern);
    OP_REQUIRES_OK(ctx, reader.status());
    Tensor value;
    OP_REQUIRES_OK(ctx,
                   (*reader)->Read(name, spec.empty() ? nullptr : &shape,
                                   spec.empty() ? nullptr : &slice, &value));
    OP_REQUIRES_OK(ctx,
                   CheckRestored(name, ctx->expected_output_dtype(0), value));
    ctx->set_output(0, std::move(value));
  }
};

// ShardedFilename and, with a pattern for the shard, ShardedFilespec.
template <bool kSpec>
class ShardedFilenameOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* ctx) override {
    std::string base;
    OP_REQUIRES_OK(ctx, GetScalar(ctx, 0, "basename", &base));
    for (int i = 1; i < ctx->num_inputs(); ++i) {
      OP_REQUIRES(ctx, ctx->input(i).NumElements() == 1,
                  errors::InvalidArgument(
                      "shard and num_shards must be scalars, got shape ",
                      ctx->input(i).shape().DebugString()));
    }
    const int shards = *ctx->input(ctx->num_inputs() - 1).data<int32_t>();
    Tensor* out = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, TensorShape(), &out));
    if (kSpec) {
      out->scalar<tstring>() = absl::StrCat(base, "-\?\?\?\?\?-of-",
                                            absl::Dec(shards, absl::kZeroPad5));
    } else {
      out->scalar<tstring>() = absl::StrCat(
          base, "-", absl::Dec(*ctx->input(1).data<int32_t>(), absl::kZeroPad5),
          "-of-", absl::Dec(shards, absl::kZeroPad5));
    }
  }
};

REGISTER_KERNEL_BUILDER(Name("SaveV2").Device(DEVICE_CPU), SaveV2Op);
REGISTER_KERNEL_BUILDER(Name("RestoreV2").Device(DEVICE_CPU), RestoreV2Op);
REGISTER_KERNEL_BUILDER(Name("MergeV2Checkpoints").Device(DEVICE_CPU),
                        MergeV2CheckpointsOp);
REGISTER_KERNEL_BUILDER(Name("Save").Device(DEVICE_CPU), SaveV1Op<false>);
REGISTER_KERNEL_BUILDER(Name("SaveSlices").Device(DEVICE_CPU), SaveV1Op<true>);
REGISTER_KERNEL_BUILDER(Name("Restore").Device(DEVICE_CPU), RestoreV1Op<false>);
REGISTER_KERNEL_BUILDER(Name("RestoreSlice").Device(DEVICE_CPU),
                        RestoreV1Op<true>);
REGISTER_KERNEL_BUILDER(Name("ShardedFilename").Device(DEVICE_CPU),
                        ShardedFilenameOp<false>);
REGISTER_KERNEL_BUILDER(Name("ShardedFilespec").Device(DEVICE_CPU),
                        ShardedFilenameOp<true>);

}  // namespace
}  // namespace headrace
