// ParseSequenceExample, its V2, and ParseSingleSequenceExample parse serialized
// SequenceExamples. The context is parsed as ParseExample parses an Example.
// The values of step j of example i of a feature list become [i, j, ...] of a
// sparse or dense tensor, or a row of a ragged one. The ops differ in where
// they get their keys: from attrs, vectors or scalars. V2 also accepts a
// scalar, and Single accepts only a scalar. Results for a scalar have no batch
// dim.
#include <algorithm>
#include <utility>

#include "kernels/io/example_features.h"
#include "kernels/lib/element.h"

namespace headrace {
namespace {

// One feature list of each example: the values of its steps.
struct ListColumn {
  std::vector<std::vector<FeatureValues>> steps;
  std::vector<bool> present;
};

// Keys and types of the features of one kind.
struct Features {
  std::vector<std::string> keys;
  std::vector<DataType> types;
  size_t size() const { return types.size(); }
};

// The keys of one call.
struct Keys {
  Features context_sparse, context_dense, context_ragged;
  Features list_sparse, list_dense, list_ragged;
  std::vector<bool> list_dense_may_be_missing;
};

Status Outputs(OpKernelContext* ctx, absl::string_view name, int* first) {
  int end = 0;
  return ctx->output_list_range(name, first, &end);
}

template <ExampleForm kForm>
class ParseSequenceExampleOp : public OpKernel {
 public:
  explicit ParseSequenceExampleOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    const auto types = [&](const char* attr, Features* f) {
      OP_REQUIRES_OK(ctx, ctx->GetAttr(attr, &f->types));
    };
    types("context_sparse_types", &keys_.context_sparse);
    types("Tcontext_dense", &keys_.context_dense);
    types("feature_list_sparse_types", &keys_.list_sparse);
    types("feature_list_dense_types", &keys_.list_dense);
    OP_REQUIRES_OK(ctx, ctx->GetAttr("context_dense_shapes", &context_shapes_));
    OP_REQUIRES_OK(ctx,
                   ctx->GetAttr("feature_list_dense_shapes", &list_shapes_));
    if (kForm == ExampleForm::kV2) {
      types("context_ragged_value_types", &keys_.context_ragged);
      types("feature_list_ragged_value_types", &keys_.list_ragged);
      CheckCount(ctx, "context_ragged_split_types", keys_.context_ragged);
      CheckCount(ctx, "feature_list_ragged_split_types", keys_.list_ragged);
    }
    if (kForm == ExampleForm::kV1) {
      const auto keys = [&](const char* attr, Features* f) {
        OP_REQUIRES_OK(ctx, ctx->GetAttr(attr, &f->keys));
        OP_REQUIRES(ctx, f->keys.size() == f->types.size(),
                    errors::InvalidArgument(attr, " has ", f->keys.size(),
                                            " elements, there are ",
                                            f->types.size(), " types"));
      };
      keys("context_sparse_keys", &keys_.context_sparse);
      keys("context_dense_keys", &keys_.context_dense);
      keys("feature_list_sparse_keys", &keys_.list_sparse);
      keys("feature_list_dense_keys", &keys_.list_dense);
      OP_REQUIRES_OK(ctx,
                     ctx->GetAttr("feature_list_dense_missing_assumed_empty",
                                  &may_be_missing_));
    }
    OP_REQUIRES(ctx,
                context_shapes_.size() == keys_.context_dense.size() &&
                    list_shapes_.size() == keys_.list_dense.size(),
                errors::InvalidArgument(
                    "numbers of dense types and shapes differ: context ",
                    keys_.context_dense.size(), " and ", context_shapes_.size(),
                    ", feature lists ", keys_.list_dense.size(), " and ",
                    list_shapes_.size()));
    for (const PartialTensorShape& s : context_shapes_) {
      OP_REQUIRES_OK(ctx, CheckDenseShape(s, "context_dense_shapes"));
    }
    for (const PartialTensorShape& s : list_shapes_) {
      OP_REQUIRES(ctx, s.IsFullyDefined(),
                  errors::InvalidArgument("feature_list_dense_shapes must be "
                                          "fully defined, got ",
                                          s.DebugString()));
    }
  }

  void Compute(OpKernelContext* ctx) override {
    const Tensor& serialized = ctx->input(0);
    const bool scalar = serialized.dims() == 0;
    const Tensor* names = nullptr;
    OP_REQUIRES_OK(ctx, ctx->input("debug_name", &names));
    OP_REQUIRES_OK(ctx,
                   CheckSerialized(serialized, *names, "debug_name", kForm));
    OP_REQUIRES_OK(ctx, Parse(ctx, serialized, *names, scalar));
  }

 private:
  static void CheckCount(OpKernelConstruction* ctx, const char* attr,
                         const Features& f) {
    std::vector<DataType> splits;
    OP_REQUIRES_OK(ctx, ctx->GetAttr(attr, &splits));
    OP_REQUIRES(ctx, splits.size() == f.size(),
                errors::InvalidArgument(attr, " has ", splits.size(),
                                        " elements, wanted ", f.size()));
  }

  static Status KeysFromInput(OpKernelContext* ctx, const char* name,
                              Features* f) {
    if (kForm == ExampleForm::kV2) {
      const Tensor* t = nullptr;
      HR_RETURN_IF_ERROR(ctx->input(name, &t));
      return ReadKeys(*t, name, f->size(), &f->keys);
    }
    std::vector<const Tensor*> inputs;
    HR_RETURN_IF_ERROR(ctx->input_list(name, &inputs));
    if (inputs.size() != f->size()) {
      return errors::InvalidArgument(name, " are ", inputs.size(),
                                     " keys, there are ", f->size(), " types");
    }
    f->keys.clear();
    for (const Tensor* t : inputs) {
      std::vector<std::string> key;
      HR_RETURN_IF_ERROR(ReadKeys(*t, name, 1, &key));
      f->keys.push_back(std::move(key[0]));
    }
    return OkStatus();
  }

  Status ReadAllKeys(OpKernelContext* ctx, Keys* keys) const {
    *keys = keys_;
    std::vector<std::string> may_be_missing = may_be_missing_;
    if (kForm != ExampleForm::kV1) {
      HR_RETURN_IF_ERROR(
          KeysFromInput(ctx, "context_sparse_keys", &keys->context_sparse));
      HR_RETURN_IF_ERROR(
          KeysFromInput(ctx, "context_dense_keys", &keys->context_dense));
      HR_RETURN_IF_ERROR(
          KeysFromInput(ctx, "feature_list_sparse_keys", &keys->list_sparse));
      HR_RETURN_IF_ERROR(
          KeysFromInput(ctx, "feature_list_dense_keys", &keys->list_dense));
    }
    if (kForm == ExampleForm::kV2) {
      HR_RETURN_IF_ERROR(
          KeysFromInput(ctx, "context_ragged_keys", &keys->context_ragged));
      HR_RETURN_IF_ERROR(
          KeysFromInput(ctx, "feature_list_ragged_keys", &keys->list_ragged));
    }
    if (kForm != ExampleForm::kV1) {
      const Tensor* missing = nullptr;
      HR_RETURN_IF_ERROR(
          ctx->input("feature_list_dense_missing_assumed_empty", &missing));
      if (kForm == ExampleForm::kV2) {
        if (missing->NumElements() !=
            static_cast<int64_t>(keys->list_dense.size())) {
          return errors::InvalidArgument(
              "feature_list_dense_missing_assumed_empty must have ",
              keys->list_dense.size(), " elements, got shape ",
              missing->shape().DebugString());
        }
        for (const bool b : missing->span<bool>()) {
          keys->list_dense_may_be_missing.push_back(b);
        }
        return OkStatus();
      }
      for (const tstring& s : missing->span<tstring>()) {
        may_be_missing.emplace_back(s);
      }
    }
    for (const std::string& key : keys->list_dense.keys) {
      keys->list_dense_may_be_missing.push_back(
          std::find(may_be_missing.begin(), may_be_missing.end(), key) !=
          may_be_missing.end());
    }
    return OkStatus();
  }

  Status Parse(OpKernelContext* ctx, const Tensor& serialized,
               const Tensor& names, bool scalar) const {
    Keys keys;
    HR_RETURN_IF_ERROR(ReadAllKeys(ctx, &keys));
    const int64_t n = serialized.NumElements();
    std::vector<pb::SequenceExample> examples(n);
    std::vector<const pb::Features*> contexts(n);
    for (int64_t i = 0; i < n; ++i) {
      HR_RETURN_IF_ERROR(
          ParseMessage(serialized.data<tstring>()[i],
                       StrCat("sequence example, index ", i,
                              " (Name: ", ExampleName(names, i), ")"),
                       &examples[i]));
      contexts[i] = &examples[i].context();
    }
    HR_RETURN_IF_ERROR(Context(ctx, keys, contexts, names, scalar));
    return Lists(ctx, keys, examples, names, scalar);
  }

  Status Context(OpKernelContext* ctx, const Keys& keys,
                 const std::vector<const pb::Features*>& contexts,
                 const Tensor& names, bool scalar) const {
    FeatureColumn column;
    int first = 0;
    const int sparse = static_cast<int>(keys.context_sparse.size());
    if (sparse > 0) {
      HR_RETURN_IF_ERROR(Outputs(ctx, "context_sparse_indices", &first));
    }
    for (int k = 0; k < sparse; ++k) {
      HR_RETURN_IF_ERROR(SelectColumn(contexts, keys.context_sparse.keys[k],
                                      keys.context_sparse.types[k], names,
                                      &column));
      HR_RETURN_IF_ERROR(SparseColumn(OutputsOf(ctx), column, scalar, first + k,
                                      first + sparse + k,
                                      first + 2 * sparse + k));
    }
    std::vector<const Tensor*> defaults;
    HR_RETURN_IF_ERROR(ctx->input_list("context_dense_defaults", &defaults));
    if (!defaults.empty()) {
      HR_RETURN_IF_ERROR(Outputs(ctx, "context_dense_values", &first));
    }
    for (size_t k = 0; k < keys.context_dense.size(); ++k) {
      HR_RETURN_IF_ERROR(SelectColumn(contexts, keys.context_dense.keys[k],
                                      keys.context_dense.types[k], names,
                                      &column));
      HR_RETURN_IF_ERROR(
          DenseColumn(OutputsOf(ctx), column, scalar,
                      {keys.context_dense.keys[k], keys.context_dense.types[k],
                       context_shapes_[k], *defaults[k]},
                      names, first + static_cast<int>(k)));
    }
    const int ragged = static_cast<int>(keys.context_ragged.size());
    if (ragged > 0) {
      HR_RETURN_IF_ERROR(Outputs(ctx, "context_ragged_values", &first));
    }
    for (int k = 0; k < ragged; ++k) {
      HR_RETURN_IF_ERROR(SelectColumn(contexts, keys.context_ragged.keys[k],
                                      keys.context_ragged.types[k], names,
                                      &column));
      HR_RETURN_IF_ERROR(RaggedColumn(OutputsOf(ctx), column, scalar, first + k,
                                      first + ragged + k));
    }
    return OkStatus();
  }

  static Status SelectList(const std::vector<pb::SequenceExample>& examples,
                           const std::string& key, DataType dtype,
                           const Tensor& names, ListColumn* column) {
    column->steps.assign(examples.size(), {});
    column->present.assign(examples.size(), false);
    for (size_t i = 0; i < examples.size(); ++i) {
      const auto& lists = examples[i].feature_lists().feature_list();
      const auto found = lists.find(key);
      if (found == lists.end()) continue;
      column->present[i] = true;
      for (const pb::Feature& f : found->second.feature()) {
        const FeatureValues values(f);
        if (values.present() && values.type() != dtype) {
          return errors::InvalidArgument(
              "Name: ", ExampleName(names, static_cast<int64_t>(i)),
              ", Feature list: ", key, ", Index: ", column->steps[i].size(),
              ".  Data types don't match. Expected type: ",
              DataTypeString(dtype), ", got ", DataTypeString(values.type()));
        }
        column->steps[i].push_back(values);
      }
    }
    return OkStatus();
  }

  Status Lists(OpKernelContext* ctx, const Keys& keys,
               const std::vector<pb::SequenceExample>& examples,
               const Tensor& names, bool scalar) const {
    ListColumn column;
    int first = 0;
    const int sparse = static_cast<int>(keys.list_sparse.size());
    if (sparse > 0) {
      HR_RETURN_IF_ERROR(Outputs(ctx, "feature_list_sparse_indices", &first));
    }
    for (int k = 0; k < sparse; ++k) {
      HR_RETURN_IF_ERROR(SelectList(examples, keys.list_sparse.keys[k],
                                    keys.list_sparse.types[k], names, &column));
      HR_RETURN_IF_ERROR(SparseList(ctx, column, scalar, first + k,
                                    first + sparse + k,
                                    first + 2 * sparse + k));
    }
    const int dense = static_cast<int>(keys.list_dense.size());
    if (dense > 0) {
      HR_RETURN_IF_ERROR(Outputs(ctx, "feature_list_dense_values", &first));
    }
    for (int k = 0; k < dense; ++k) {
      HR_RETURN_IF_ERROR(SelectList(examples, keys.list_dense.keys[k],
                                    keys.list_dense.types[k], names, &column));
      HR_RETURN_IF_ERROR(
          DenseList(ctx, column, scalar, keys, k, names, first + k));
      if (kForm == ExampleForm::kSingle) continue;
      Tensor* lengths = nullptr;
      HR_RETURN_IF_ERROR(ctx->allocate_output(
          first + dense + k,
          scalar ? TensorShape()
                 : TensorShape({static_cast<int64_t>(examples.size())}),
          &lengths));
      for (size_t i = 0; i < examples.size(); ++i) {
        lengths->data<int64_t>()[i] =
            static_cast<int64_t>(column.steps[i].size());
      }
    }
    const int ragged = static_cast<int>(keys.list_ragged.size());
    if (ragged > 0) {
      HR_RETURN_IF_ERROR(Outputs(ctx, "feature_list_ragged_values", &first));
    }
    for (int k = 0; k < ragged; ++k) {
      HR_RETURN_IF_ERROR(SelectList(examples, keys.list_ragged.keys[k],
                                    keys.list_ragged.types[k], names, &column));
      FeatureColumn all;
      std::vector<int64_t> lengths;
      for (const auto& steps : column.steps) {
        all.insert(all.end(), steps.begin(), steps.end());
        lengths.push_back(static_cast<int64_t>(steps.size()));
      }
      HR_RETURN_IF_ERROR(RaggedColumn(OutputsOf(ctx), all, false, first + k,
                                      first + 2 * ragged + k));
      if (!scalar) {
        HR_RETURN_IF_ERROR(
            SplitsOutput(OutputsOf(ctx), lengths, first + ragged + k));
        continue;
      }
      Tensor* splits = nullptr;
      HR_RETURN_IF_ERROR(
          ctx->allocate_output(first + ragged + k, TensorShape({0}), &splits));
    }
    return OkStatus();
  }

  static Status SparseList(OpKernelContext* ctx, const ListColumn& column,
                           bool scalar, int indices_output, int values_output,
                           int shape_output) {
    int64_t total = 0, most_steps = 0, longest = 0;
    for (const auto& steps : column.steps) {
      most_steps = std::max(most_steps, static_cast<int64_t>(steps.size()));
      for (const FeatureValues& v : steps) {
        total += v.size();
        longest = std::max(longest, v.size());
      }
    }
    const int64_t rank = scalar ? 2 : 3;
    Tensor *indices, *values, *shape;
    HR_RETURN_IF_ERROR(ctx->allocate_output(
        indices_output, TensorShape({total, rank}), &indices));
    HR_RETURN_IF_ERROR(
        ctx->allocate_output(values_output, TensorShape({total}), &values));
    HR_RETURN_IF_ERROR(
        ctx->allocate_output(shape_output, TensorShape({rank}), &shape));
    int64_t at = 0;
    int64_t* index = indices->data<int64_t>();
    for (size_t i = 0; i < column.steps.size(); ++i) {
      for (size_t step = 0; step < column.steps[i].size(); ++step) {
        const FeatureValues& v = column.steps[i][step];
        v.CopyTo(values, at);
        at += v.size();
        for (int64_t j = 0; j < v.size(); ++j) {
          if (!scalar) *index++ = static_cast<int64_t>(i);
          *index++ = static_cast<int64_t>(step);
          *index++ = j;
        }
      }
    }
    int64_t* s = shape->data<int64_t>();
    if (!scalar) *s++ = static_cast<int64_t>(column.steps.size());
    *s++ = most_steps;
    *s = longest;
    return OkStatus();
  }

  Status DenseList(OpKernelContext* ctx, const ListColumn& column, bool scalar,
                   const Keys& keys, int k, const Tensor& names,
                   int output) const {
    const std::string& key = keys.list_dense.keys[k];
    const PartialTensorShape& wanted = list_shapes_[k];
    const int64_t stride = wanted.num_elements();
    int64_t most_steps = 0;
    for (size_t i = 0; i < column.steps.size(); ++i) {
      const std::string name = ExampleName(names, static_cast<int64_t>(i));
      if (!column.present[i] && !keys.list_dense_may_be_missing[k]) {
        return errors::InvalidArgument(
            "Name: ", name, ", Feature list '", key,
            "' is required but could not be found.  Did you mean to include it "
            "in feature_list_dense_missing_assumed_empty or "
            "feature_list_dense_defaults?");
      }
      most_steps =
          std::max(most_steps, static_cast<int64_t>(column.steps[i].size()));
      for (size_t step = 0; step < column.steps[i].size(); ++step) {
        const int64_t size = column.steps[i][step].size();
        if (size != stride) {
          return errors::InvalidArgument(
              "Name: ", name, ", Key: ", key, ", Index: ", step,
              ".  Number of ", DataTypeString(keys.list_dense.types[k]),
              " values != expected.  values size: ", size,
              " but output shape: ", wanted.DebugString());
        }
      }
    }
    TensorShape shape;
    if (!scalar) shape.AddDim(static_cast<int64_t>(column.steps.size()));
    shape.AddDim(most_steps);
    for (const int64_t d : wanted.dim_sizes()) shape.AddDim(d);
    Tensor* out = nullptr;
    HR_RETURN_IF_ERROR(ctx->allocate_output(output, shape, &out));
    ZeroElements(out);
    for (size_t i = 0; i < column.steps.size(); ++i) {
      int64_t at = static_cast<int64_t>(i) * most_steps * stride;
      for (const FeatureValues& v : column.steps[i]) {
        v.CopyTo(out, at);
        at += stride;
      }
    }
    return OkStatus();
  }

  Keys keys_;  // types; for kV1 keys too
  std::vector<std::string> may_be_missing_;
  std::vector<PartialTensorShape> context_shapes_, list_shapes_;
};

REGISTER_KERNEL_BUILDER(Name("ParseSequenceExample").Device(DEVICE_CPU),
                        ParseSequenceExampleOp<ExampleForm::kV1>);
REGISTER_KERNEL_BUILDER(Name("ParseSequenceExampleV2").Device(DEVICE_CPU),
                        ParseSequenceExampleOp<ExampleForm::kV2>);
REGISTER_KERNEL_BUILDER(Name("ParseSingleSequenceExample").Device(DEVICE_CPU),
                        ParseSequenceExampleOp<ExampleForm::kSingle>);

}  // namespace
}  // namespace headrace
