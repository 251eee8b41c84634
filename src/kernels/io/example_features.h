// Shared by the ops that parse Examples. One feature of all examples of a
// batch, a column, becomes a sparse, dense or ragged tensor.
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
// Thread-safe while nobody changes the message, which must outlive it.
class FeatureValues {
 public:
  FeatureValues() = default;  // absent
  // A feature without a kind counts as absent.
  explicit FeatureValues(const pb::Feature& f)
      : feature_(f.kind_case() == pb::Feature::KIND_NOT_SET ? nullptr : &f) {}

  bool present() const { return feature_ != nullptr; }
  DataType type() const;
  int64_t size() const;
  // Copies the values to elements [at, at + size()) of `out`, which has the
  // same type.
  void CopyTo(Tensor* out, int64_t at) const;

 private:
  const pb::Feature* feature_ = nullptr;
};

using FeatureColumn = std::vector<FeatureValues>;

// Creates output `i` with the given shape, for a kernel or another user.
using MakeOutput =
    absl::FunctionRef<Status(int i, const TensorShape& shape, Tensor** out)>;
inline auto OutputsOf(OpKernelContext* ctx) {
  return [ctx](int i, const TensorShape& shape, Tensor** out) {
    return ctx->allocate_output(i, shape, out);
  };
}

// The form of the op's input. V1: a batch. V2: a batch or one example.
// "Single": one example.
enum class ExampleForm { kV1, kV2, kSingle };

// Checks the shape of `serialized`. `names` (used in messages; argument
// `names_arg`) must be empty or have one name per example.
Status CheckSerialized(const Tensor& serialized, const Tensor& names,
                       absl::string_view names_arg, ExampleForm form);

// Parses a message. InvalidArgument "Could not parse `what`" on failure.
template <typename Message>
Status ParseMessage(const tstring& bytes, absl::string_view what,
                    Message* out) {
  if (bytes.size() <= INT32_MAX &&
      out->ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    return OkStatus();
  }
  return errors::InvalidArgument("Could not parse ", what);
}

// "Name: x" for example i. "<unknown>" if `names` is empty.
std::string ExampleName(const Tensor& names, int64_t i);

// Selects the feature `key` of each example. InvalidArgument unless each one
// that is present has type `dtype`.
Status SelectColumn(const std::vector<const pb::Features*>& examples,
                    const std::string& key, DataType dtype, const Tensor& names,
                    FeatureColumn* column);

// Reads `count` keys from a tensor of strings.
Status ReadKeys(const Tensor& t, absl::string_view name, size_t count,
                std::vector<std::string>* keys);

// Row i of the sparse tensor has the values of column[i]. With `scalar` the
// column has one element, and the tensor is that row.
Status SparseColumn(MakeOutput make, const FeatureColumn& column, bool scalar,
                    int indices_output, int values_output, int shape_output);

struct DenseFeature {
  std::string key;
  DataType dtype = DT_INVALID;
  // Only the first dim may be unknown. Rows are then padded to the longest row.
  PartialTensorShape shape;
  // The default for an absent feature. Without elements: the feature is
  // required. If the length is unknown: one element, used for padding.
  Tensor fallback;
};
// InvalidArgument unless only the first dimension of `shape` is unknown.
Status CheckDenseShape(const PartialTensorShape& shape, absl::string_view who);
Status DenseColumn(MakeOutput make, const FeatureColumn& column, bool scalar,
                   const DenseFeature& feature, const Tensor& names,
                   int output);

// All values in sequence, and the row splits. With `scalar` the column has one
// element, and there are no splits.
Status RaggedColumn(MakeOutput make, const FeatureColumn& column, bool scalar,
                    int values_output, int splits_output);
// Computes row splits from row lengths; DT_INT32 or DT_INT64, as the output's
// type.
Status SplitsOutput(MakeOutput make, const std::vector<int64_t>& lengths,
                    int output);

// The features to extract, in order of outputs: indices of all sparse keys,
// their values, their shapes; dense values; ragged values, ragged splits.
struct WantedFeatures {
  std::vector<std::string> sparse_keys, ragged_keys;
  std::vector<DataType> sparse_types, ragged_types;
  std::vector<DenseFeature> dense;
};
// The caller has called CheckSerialized for `serialized` and `names`.
Status ParseExamples(const Tensor& serialized, const Tensor& names,
                     const WantedFeatures& wanted, MakeOutput make);

}  // namespace headrace

#endif  // HEADRACE_KERNELS_IO_EXAMPLE_FEATURES_H_
