// ParseExampleDataset: elements are batches of serialized Examples; of each
// comes one component for each key, in the order of the keys: a tensor of a
// dense one, a vector of three variants, as of SerializeSparse, of a sparse
// one.
#include <map>
#include <utility>

#include "framework/tensor/borrowed_buffer.h"
#include "framework/tensor/variant.h"
#include "kernels/data/iterator_state.h"
#include "kernels/data/parallel_map_dataset.h"
#include "kernels/io/example_features.h"

namespace headrace {
namespace {

constexpr char kTensorVariant[] = "tensorflow::Tensor";

class ParseExampleDataset : public Dataset {
 public:
  // `order`: the keys, sparse before dense, in the order of the components.
  ParseExampleDataset(ElementSpec spec, RefPtr<const Dataset> input,
                      WantedFeatures wanted, std::vector<int> order)
      : Dataset(std::move(spec), {std::move(input)}),
        wanted_(std::move(wanted)),
        order_(std::move(order)) {}

  int64_t Cardinality() const override { return input().Cardinality(); }

  class Iterator : public InputIterator<ParseExampleDataset> {
   public:
    using InputIterator::InputIterator;
    Status GetNext(const IteratorContext& ctx, TensorTuple* out,
                   bool* end) override {
      TensorTuple in;
      HR_RETURN_IF_ERROR(input_->GetNext(ctx, &in, end));
      if (*end) return OkStatus();
      if (in.size() != 1 || in[0].dtype() != DT_STRING) {
        return errors::InvalidArgument(
            "ParseExampleDataset: elements must be one tensor of strings");
      }
      HR_RETURN_IF_ERROR(
          CheckSerialized(in[0], Tensor(DT_STRING), "names", ExampleForm::kV1));
      return dataset().Parse(in[0], out);
    }
    Status SaveOrRestore(const IteratorContext& ctx,
                         IteratorState* state) override {
      return state->Input("ParseExample", ctx, dataset().input(), &input_);
    }
  };

 protected:
  Status MakeIterator(const IteratorContext& ctx,
                      std::unique_ptr<DatasetIterator>* out) const override {
    return Iterator::Make(this, ctx, out);
  }

 private:
  Status Parse(const Tensor& serialized, TensorTuple* out) const {
    const size_t sparse = wanted_.sparse_keys.size();
    TensorTuple parts(3 * sparse + wanted_.dense.size());
    const auto make = [&](int i, const TensorShape& shape, Tensor** part) {
      const size_t at = static_cast<size_t>(i);
      const DataType type =
          at >= 3 * sparse ? wanted_.dense[at - 3 * sparse].dtype
          : at >= sparse && at < 2 * sparse ? wanted_.sparse_types[at - sparse]
                                            : DT_INT64;
      *part = &parts[at];
      return Tensor::Allocate(CpuAllocator(), type, shape, *part);
    };
    HR_RETURN_IF_ERROR(
        ParseExamples(serialized, Tensor(DT_STRING), wanted_, make));
    out->clear();
    for (const int key : order_) {
      const size_t k = static_cast<size_t>(key);
      if (k >= sparse) {
        out->push_back(std::move(parts[2 * sparse + k]));
        continue;
      }
      Tensor t(DT_VARIANT, TensorShape({3}));
      for (size_t i = 0; i < 3; ++i) {
        t.data<Variant>()[i] =
            Variant::Of(std::move(parts[i * sparse + k]), kTensorVariant);
      }
      out->push_back(std::move(t));
    }
    return spec().CheckElement(*out, "ParseExampleDataset");
  }

  const WantedFeatures wanted_;
  const std::vector<int> order_;
};

class ParseExampleDatasetOp : public UnaryDatasetOp {
 public:
  explicit ParseExampleDatasetOp(OpKernelConstruction* ctx)
      : UnaryDatasetOp(ctx) {
    std::vector<std::string> dense_keys;
    std::vector<DataType> dense_types;
    std::vector<PartialTensorShape> dense_shapes;
    OP_REQUIRES_OK(ctx, ctx->GetAttr("sparse_keys", &wanted_.sparse_keys));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("sparse_types", &wanted_.sparse_types));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("dense_keys", &dense_keys));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("Tdense", &dense_types));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("dense_shapes", &dense_shapes));
    OP_REQUIRES(ctx,
                wanted_.sparse_keys.size() == wanted_.sparse_types.size() &&
                    dense_keys.size() == dense_types.size() &&
                    dense_keys.size() == dense_shapes.size(),
                errors::InvalidArgument(
                    "numbers of keys, types and shapes differ: ",
                    wanted_.sparse_keys.size(), " sparse keys, ",
                    wanted_.sparse_types.size(), " types; ", dense_keys.size(),
                    " dense keys, ", dense_types.size(), " types, ",
                    dense_shapes.size(), " shapes"));
    if (ctx->HasAttr("ragged_keys")) {
      std::vector<std::string> ragged;
      OP_REQUIRES_OK(ctx, ctx->GetAttr("ragged_keys", &ragged));
      OP_REQUIRES(
          ctx, ragged.empty(),
          errors::Unimplemented(type_string(),
                                ": ragged_keys are not supported: there "
                                "is no op that reads a ragged variant"));
    }
    for (size_t i = 0; i < dense_keys.size(); ++i) {
      OP_REQUIRES_OK(ctx, CheckDenseShape(dense_shapes[i], "dense_shapes"));
      wanted_.dense.push_back(
          {dense_keys[i], dense_types[i], dense_shapes[i], Tensor()});
    }
    std::map<std::string, int> by_key;
    for (const std::string& key : wanted_.sparse_keys) {
      by_key.emplace(key, static_cast<int>(by_key.size()));
    }
    for (const std::string& key : dense_keys) {
      by_key.emplace(key, static_cast<int>(by_key.size()));
    }
    OP_REQUIRES(ctx,
                by_key.size() == wanted_.sparse_keys.size() + dense_keys.size(),
                errors::InvalidArgument(type_string(), ": a key stands twice"));
    DataTypeVector types;
    for (const auto& [key, index] : by_key) {
      order_.push_back(index);
      const size_t i = static_cast<size_t>(index);
      types.push_back(i < wanted_.sparse_keys.size()
                          ? DT_VARIANT
                          : dense_types[i - wanted_.sparse_keys.size()]);
    }
    OP_REQUIRES(ctx, types == spec().dtypes,
                errors::InvalidArgument(
                    "output_types must be the types of the keys, in their "
                    "order: wanted ",
                    DataTypeSliceString(types), ", got ",
                    DataTypeSliceString(spec().dtypes)));
  }

 protected:
  Status Make(OpKernelContext* ctx, RefPtr<const Dataset> input,
              RefPtr<const Dataset>* out) override {
    int64_t parallelism = 0;
    HR_RETURN_IF_ERROR(ReadParallelism(ctx, &parallelism));
    WantedFeatures wanted = wanted_;
    std::vector<const Tensor*> defaults;
    HR_RETURN_IF_ERROR(ctx->input_list("dense_defaults", &defaults));
    for (size_t i = 0; i < defaults.size(); ++i) {
      wanted.dense[i].fallback = *defaults[i];
      HR_RETURN_IF_ERROR(OwnBytes(&wanted.dense[i].fallback));
    }
    *out = MakeRef<ParseExampleDataset>(spec(), std::move(input),
                                        std::move(wanted), order_);
    return OkStatus();
  }

 private:
  WantedFeatures wanted_;
  std::vector<int> order_;
};
REGISTER_KERNEL_BUILDER(Name("ParseExampleDataset").Device(DEVICE_CPU),
                        ParseExampleDatasetOp);
REGISTER_KERNEL_BUILDER(Name("ParseExampleDatasetV2").Device(DEVICE_CPU),
                        ParseExampleDatasetOp);
REGISTER_KERNEL_BUILDER(
    Name("ExperimentalParseExampleDataset").Device(DEVICE_CPU),
    ParseExampleDatasetOp);

}  // namespace
}  // namespace headrace
