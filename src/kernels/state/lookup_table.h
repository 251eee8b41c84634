// LookupTable: a map from keys to values that steps share. Keys and values are
// rows of tensors: a key is a scalar, or, in a dense table whose empty key says
// so, a tensor; a value is a tensor of value_shape.
//
// Thread-safe. A call sees the table as it is between two others.
#ifndef HEADRACE_KERNELS_STATE_LOOKUP_TABLE_H_
#define HEADRACE_KERNELS_STATE_LOOKUP_TABLE_H_

#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "headrace/mutex.h"
#include "headrace/op_kernel.h"

namespace headrace {

class LookupTable : public ResourceBase {
 public:
  struct Options {
    std::string name;
    DataType key_dtype = DT_INVALID, value_dtype = DT_INVALID;
    TensorShape key_shape, value_shape;
    // Filled once by Initialize, then read only; else by Insert at any time.
    bool immutable = false;
    // Keys that must not be used: of dense tables.
    std::vector<std::string> reserved;
  };
  explicit LookupTable(Options options) : options_(std::move(options)) {}

  const Options& options() const { return options_; }
  std::string DebugString() const override;

  struct Rows {
    Tensor keys, values;
  };
  // FailedPrecondition if a key is there twice with differing values. A second
  // call changes nothing.
  Status Initialize(const std::vector<Rows>& parts);
  Status Initialize(const Tensor& keys, const Tensor& values) {
    return Initialize(std::vector<Rows>{{keys, values}});
  }
  bool is_initialized();
  Status Insert(const Tensor& keys, const Tensor& values);
  // Replaces everything; an immutable table is initialized, as Initialize does.
  Status Import(const Tensor& keys, const Tensor& values);
  Status Remove(const Tensor& keys);
  // Of a missing key the default, which is one value for all or one each.
  Status Find(const Tensor& keys, const Tensor& default_value, Tensor* values);
  Status Export(Tensor* keys, Tensor* values);
  int64_t size();

  // The shape of the values of `keys`.
  Status ValuesShape(const Tensor& keys, TensorShape* out) const;

  // The bytes by which a key is found; row i of `keys`.
  static std::string KeyAt(const Tensor& keys, int64_t i, int64_t elements);

 private:
  Status CheckTypes(const Tensor& keys, const Tensor* values) const;
  Status CheckReady() const REQUIRES(mu_);
  Status InsertLocked(const Tensor& keys, const Tensor& values, bool once)
      REQUIRES(mu_);

  const Options options_;
  Mutex mu_;
  bool initialized_ GUARDED_BY(mu_) = false;
  // Values are one-row tensors that no other tensor shares.
  absl::flat_hash_map<std::string, Tensor> map_ GUARDED_BY(mu_);
};

}  // namespace headrace

#endif  // HEADRACE_KERNELS_STATE_LOOKUP_TABLE_H_
