// What the ops share that take Examples apart: one feature of every example of
// a batch, a column, becomes a sparse, dense or ragged tensor.
#ifndef HEADRACE_KERNELS_IO_EXAMPLE_FEATURES_H_
#define HEADRACE_KERNELS_IO_EXAMPLE_FEATURES_H_

#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "headrace/example.pb.h"
#include "headrace/op_kernel.h"
#include "headrace/tstring.h"

namespace headrace {

// The values of a feature.
class FeatureValues {
 public:
  FeatureValues() = default;  // absent
  // A feature without a kind is as good as none.
  explicit FeatureValues(const pb::Feature& f)
      : feature_(f.kind_case() == pb::Feature::KIND_NOT_SET ? nullptr : &f) {}

  bool present() const { return feature_ != nullptr; }
  DataType type() const;
  int64_t size() const;
  // To elements [at, at + size()) of `out`, which is of the same type.
  void CopyTo(Tensor* out, int64_t at) const;

 private:
  const pb::Feature* feature_ = nullptr;
};

using FeatureColumn = std::vector<FeatureValues>;

// Makes output `i`, of the given shape: of a kernel, or of something else.
using MakeOutput =
    absl::FunctionRef<Status(int i, const TensorShape& shape, Tensor** out)>;
inline auto OutputsOf(OpKernelContext* ctx) {
  return [ctx](int i, const TensorShape& shape, Tensor** out) {
    return ctx->allocate_output(i, shape, out);
  };
}

// Which of the ops of a name: the first version takes a batch, the second a
// batch or one example, "Single" one.
enum class ExampleForm { kV1, kV2, kSingle };

// Checks the shape of `serialized`, and that `names` (for messages; of argument
// `names_arg`) is empty or has one for each.
Status CheckSerialized(const Tensor& serialized, const Tensor& names,
                       absl::string_view names_arg, ExampleForm form);

// InvalidArgument "Could not parse `what`" unless `bytes` are such a message.
template <typename Message>
Status ParseMessage(const tstring& bytes, absl::string_view what,
                    Message* out) {
  if (bytes.size() <= INT32_MAX &&
      out->ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    return OkStatus();
  }
  return errors::InvalidArgument("Could not parse ", what);
}

// "Name: x" of example i; "<unknown>" if `names` are empty.
std::string ExampleName(const Tensor& names, int64_t i);

// The feature `key` of each example, all of type `dtype` where present.
Status SelectColumn(const std::vector<const pb::Features*>& examples,
                    const std::string& key, DataType dtype, const Tensor& names,
                    FeatureColumn* column);

// The keys in a tensor of strings, `count` of them.
Status ReadKeys(const Tensor& t, absl::string_view name, size_t count,
                std::vector<std::string>* keys);

// Row i of the sparse tensor holds the values of column[i]; if `scalar`, for a
// column of one, the tensor is the row.
Status SparseColumn(MakeOutput make, const FeatureColumn& column, bool scalar,
                    int indices_output, int values_output, int shape_output);

struct DenseFeature {
  std::string key;
  DataType dtype = DT_INVALID;
  // Only the first dimension may be unknown: rows then are as long as the
  // longest, padded.
  PartialTensorShape shape;
  // Fills in for an absent feature; without elements: the feature is required.
  // Of an unknown length, one element, which pads.
  Tensor fallback;
};
// InvalidArgument unless only the first dimension of `shape` is unknown.
Status CheckDenseShape(const PartialTensorShape& shape, absl::string_view who);
Status DenseColumn(MakeOutput make, const FeatureColumn& column, bool scalar,
                   const DenseFeature& feature, const Tensor& names,
                   int output);

// The values behind each other, and the splits between those of one row and of
// the next; if `scalar`, for a column of one, there are no splits.
Status RaggedColumn(MakeOutput make, const FeatureColumn& column, bool scalar,
                    int values_output, int splits_output);
// Row splits, DT_INT32 or DT_INT64 as the output's type is, from the lengths of
// the rows.
Status SplitsOutput(MakeOutput make, const std::vector<int64_t>& lengths,
                    int output);

// What is wanted of Examples, output by output: the indices of all sparse
// keys, their values, their shapes; dense values; ragged values, ragged splits.
struct WantedFeatures {
  std::vector<std::string> sparse_keys, ragged_keys;
  std::vector<DataType> sparse_types, ragged_types;
  std::vector<DenseFeature> dense;
};
// `serialized` and `names` have passed CheckSerialized.
Status ParseExamples(const Tensor& serialized, const Tensor& names,
                     const WantedFeatures& wanted, MakeOutput make);

}  // namespace headrace

#endif  // HEADRACE_KERNELS_IO_EXAMPLE_FEATURES_H_
