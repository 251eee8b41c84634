// LookupTable: a map from keys to values that steps share. Keys and values are
// rows of tensors. A key is a scalar; in a dense table it has the shape of the
// empty key. A value has the shape value_shape.
//
// Thread-safe. Each call is atomic.
#ifndef HEADRACE_KERNELS_STATE_LOOKUP_TABLE_H_
#define HEADRACE_KERNELS_STATE_LOOKUP_TABLE_H_

#include <string>
#include <vector>

#include "headrace/mutex.h"
#include "headrace/op_kernel.h"
#include "kernels/lib/growing_table.h"

namespace headrace {

class LookupTable : public ResourceBase {
 public:
  struct Options {
    std::string name;
    DataType key_dtype = DT_INVALID, value_dtype = DT_INVALID;
    TensorShape key_shape, value_shape;
    // True: filled once by Initialize, then read-only. False: Insert may be
    // called at any time.
    bool immutable = false;
    // For dense tables: keys that must not be used.
    std::vector<std::string> reserved;
  };
  explicit LookupTable(Options options) : options_(std::move(options)) {}

  const Options& options() const { return options_; }
  std::string DebugString() const override;

  struct Rows {
    Tensor keys, values;
  };
  // FailedPrecondition if a key occurs twice with different values. A second
  // call changes nothing.
  Status Initialize(const std::vector<Rows>& parts);
  Status Initialize(const Tensor& keys, const Tensor& values) {
    return Initialize(std::vector<Rows>{{keys, values}});
  }
  bool is_initialized();
  Status Insert(const Tensor& keys, const Tensor& values);
  // Replaces all entries. An immutable table counts as initialised afterwards.
  Status Import(const Tensor& keys, const Tensor& values);
  Status Remove(const Tensor& keys);
  // A missing key gives the default: one value for all keys, or one per key.
  Status Find(const Tensor& keys, const Tensor& default_value, Tensor* values);
  Status Export(Tensor* keys, Tensor* values);
  int64_t size();

  // The shape of the values for `keys`.
  Status ValuesShape(const Tensor& keys, TensorShape* out) const;

  // The bytes that identify a key: row i of `keys`.
  static std::string KeyAt(const Tensor& keys, int64_t i, int64_t elements);

 private:
  Status CheckTypes(const Tensor& keys, const Tensor* values) const;
  Status CheckReady() const REQUIRES(mu_);
  Status InsertLocked(const Tensor& keys, const Tensor& values, bool once)
      REQUIRES(mu_);

  const Options options_;
  Mutex mu_;
  bool initialized_ GUARDED_BY(mu_) = false;
  // The values are tensors of one row. No other tensor shares their buffers.
  GrowingMap<std::string, Tensor> map_ GUARDED_BY(mu_);
};

}  // namespace headrace

#endif  // HEADRACE_KERNELS_STATE_LOOKUP_TABLE_H_
