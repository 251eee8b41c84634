// ParseExample, ParseExampleV2 and ParseSingleExample: serialized Examples into
// a SparseTensor of whatever is there for each sparse key, a tensor of fixed
// shape for each dense key, and a ragged tensor for each ragged key. They
// differ in where the keys stand: in scalars, in vectors, in attrs. V2 takes a
// scalar too, and ParseSingleExample nothing else; their results then have no
// batch dimension.
#include <utility>

#include "kernels/io/example_features.h"

namespace headrace {
namespace {

template <ExampleForm kForm>
class ParseExampleOp : public OpKernel {
 public:
  explicit ParseExampleOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("sparse_types", &sparse_types_));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("Tdense", &dense_types_));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("dense_shapes", &dense_shapes_));
    int64_t sparse = 0, dense = dense_types_.size();
    OP_REQUIRES_OK(
        ctx, ctx->GetAttr(kForm == ExampleForm::kV1 ? "Nsparse" : "num_sparse",
                          &sparse));
    if (kForm == ExampleForm::kV1)
      OP_REQUIRES_OK(ctx, ctx->GetAttr("Ndense", &dense));
    if (kForm == ExampleForm::kSingle) {
      OP_REQUIRES_OK(ctx, ctx->GetAttr("sparse_keys", &sparse_keys_));
      OP_REQUIRES_OK(ctx, ctx->GetAttr("dense_keys", &dense_keys_));
      OP_REQUIRES(ctx,
                  sparse_keys_.size() == sparse_types_.size() &&
                      dense_keys_.size() == dense_types_.size(),
                  errors::InvalidArgument(
                      "numbers of keys and types differ: ", sparse_keys_.size(),
                      " sparse keys, ", sparse_types_.size(), " types; ",
                      dense_keys_.size(), " dense keys, ", dense_types_.size(),
                      " types"));
    }
    OP_REQUIRES(ctx,
                sparse == static_cast<int64_t>(sparse_types_.size()) &&
                    dense == static_cast<int64_t>(dense_types_.size()) &&
                    dense_types_.size() == dense_shapes_.size(),
                errors::InvalidArgument(
                    "numbers of keys, types and shapes differ: ", sparse,
                    " sparse keys, ", sparse_types_.size(), " types; ", dense,
                    " dense keys, ", dense_types_.size(), " types, ",
                    dense_shapes_.size(), " shapes"));
    for (const PartialTensorShape& s : dense_shapes_) {
      OP_REQUIRES_OK(ctx, CheckDenseShape(s, "dense_shapes"));
    }
    if (kForm == ExampleForm::kV2) {
      std::vector<DataType> splits;
      OP_REQUIRES_OK(ctx, ctx->GetAttr("ragged_value_types", &ragged_types_));
      OP_REQUIRES_OK(ctx, ctx->GetAttr("ragged_split_types", &splits));
      OP_REQUIRES(ctx, splits.size() == ragged_types_.size(),
                  errors::InvalidArgument(
                      "ragged_value_types and ragged_split_types differ in "
                      "length: ",
                      ragged_types_.size(), " and ", splits.size()));
    }
  }

  void Compute(OpKernelContext* ctx) override {
    const Tensor& serialized = ctx->input(0);
    const Tensor none(DT_STRING);
    const Tensor& names = kForm == ExampleForm::kSingle ? none : ctx->input(1);
    OP_REQUIRES_OK(ctx, CheckSerialized(serialized, names, "names", kForm));
    WantedFeatures wanted;
    OP_REQUIRES_OK(ctx, Wanted(ctx, &wanted));
    OP_REQUIRES_OK(ctx,
                   ParseExamples(serialized, names, wanted, OutputsOf(ctx)));
  }

 private:
  Status Wanted(OpKernelContext* ctx, WantedFeatures* out) const {
    std::vector<std::string> dense_keys;
    int at = 1;  // in the inputs
    if (kForm == ExampleForm::kSingle) {
      out->sparse_keys = sparse_keys_;
      dense_keys = dense_keys_;
    } else if (kForm == ExampleForm::kV2) {
      ++at;
      HR_RETURN_IF_ERROR(ReadKeys(ctx->input(at++), "sparse_keys",
                                  sparse_types_.size(), &out->sparse_keys));
      HR_RETURN_IF_ERROR(ReadKeys(ctx->input(at++), "dense_keys",
                                  dense_types_.size(), &dense_keys));
      HR_RETURN_IF_ERROR(ReadKeys(ctx->input(at++), "ragged_keys",
                                  ragged_types_.size(), &out->ragged_keys));
    } else {
      ++at;
      std::vector<std::string> key;
      for (size_t i = 0; i < sparse_types_.size(); ++i) {
        HR_RETURN_IF_ERROR(ReadKeys(ctx->input(at++), "a sparse key", 1, &key));
        out->sparse_keys.push_back(key[0]);
      }
      for (size_t i = 0; i < dense_types_.size(); ++i) {
        HR_RETURN_IF_ERROR(ReadKeys(ctx->input(at++), "a dense key", 1, &key));
        dense_keys.push_back(key[0]);
      }
    }
    out->sparse_types = sparse_types_;
    out->ragged_types = ragged_types_;
    for (size_t i = 0; i < dense_types_.size(); ++i) {
      out->dense.push_back(
          {dense_keys[i], dense_types_[i], dense_shapes_[i], ctx->input(at++)});
    }
    return OkStatus();
  }

  std::vector<std::string> sparse_keys_, dense_keys_;  // kSingle
  std::vector<DataType> sparse_types_, dense_types_, ragged_types_;
  std::vector<PartialTensorShape> dense_shapes_;
};

REGISTER_KERNEL_BUILDER(Name("ParseExample").Device(DEVICE_CPU),
                        ParseExampleOp<ExampleForm::kV1>);
REGISTER_KERNEL_BUILDER(Name("ParseExampleV2").Device(DEVICE_CPU),
                        ParseExampleOp<ExampleForm::kV2>);
REGISTER_KERNEL_BUILDER(Name("ParseSingleExample").Device(DEVICE_CPU),
                        ParseExampleOp<ExampleForm::kSingle>);

}  // namespace
}  // namespace headrace
