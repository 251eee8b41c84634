// CheckpointReader: the tensors of a checkpoint, of version 2 or 1.
#ifndef HEADRACE_CC_CHECKPOINT_READER_H_
#define HEADRACE_CC_CHECKPOINT_READER_H_

#include <map>
#include <memory>
#include <string>

#include "headrace/tensor.h"

namespace headrace {

// Immutable, so thread-safe. Damaged files give DataLoss.
class CheckpointReader {
 public:
  struct Entry {
    DataType dtype = DT_INVALID;
    TensorShape shape;
  };

  // `prefix` is what Saver::Save returned, or the path of a file of version 1.
  // NotFound if there is no checkpoint.
  static StatusOr<CheckpointReader> Open(const std::string& prefix);

  // By name. A tensor that is stored in slices is one.
  const std::map<std::string, Entry>& entries() const { return entries_; }
  bool HasTensor(const std::string& name) const {
    return entries_.contains(name);
  }
  // NotFound if there is no such tensor.
  StatusOr<Tensor> GetTensor(const std::string& name) const;

 private:
  struct Files;
  CheckpointReader() = default;

  std::shared_ptr<const Files> files_;
  std::map<std::string, Entry> entries_;
};

}  // namespace headrace

#endif  // HEADRACE_CC_CHECKPOINT_READER_H_
