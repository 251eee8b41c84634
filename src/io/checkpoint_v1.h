// Checkpoints of version 1: tables whose values are messages with the tensors
// themselves. The entry "" lists the tensors and their slices. Each slice has
// an entry under EncodeSliceKey, even if it is a whole tensor.
#ifndef HEADRACE_IO_CHECKPOINT_V1_H_
#define HEADRACE_IO_CHECKPOINT_V1_H_

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/env.h"
#include "framework/tensor/tensor_slice.h"
#include "headrace/tensor.h"
#include "io/table.h"

namespace headrace {

// Reads all files that match a pattern as one checkpoint. Immutable, so
// thread-safe. No file content makes it crash or allocate more than a few times
// the files' size.
class CheckpointV1Reader {
 public:
  // NotFound if no file matches.
  static StatusOr<std::unique_ptr<CheckpointV1Reader>> Open(
      Env* env, const std::string& pattern);

  // Reads a slice of the tensor, or all of it if `slice` is null. `full_shape`,
  // if given, must equal the stored shape. NotFound if there is no such tensor.
  Status Read(const std::string& name, const TensorShape* full_shape,
              const TensorSlice* slice, Tensor* out) const;

  // Calls the function with each tensor's name, type and whole shape.
  template <typename Function>
  void ForEach(const Function& function) const {
    for (const auto& [name, stored] : tensors_) {
      function(name, stored.dtype, stored.shape);
    }
  }

 private:
  struct Piece {
    TensorSlice slice;
    const Table* table;
  };
  struct Stored {
    DataType dtype;
    TensorShape shape;
    std::vector<Piece> pieces;
  };
  CheckpointV1Reader() = default;
  Status AddTable(std::unique_ptr<Table> table);
  Status ReadPiece(const std::string& name, const Stored& stored,
                   const Piece& piece, const TensorShape& shape,
                   Tensor* out) const;

  std::vector<std::unique_ptr<Table>> tables_;
  std::map<std::string, Stored> tensors_;
};

struct CheckpointV1Item {
  std::string name;
  TensorShape full_shape;
  TensorSlice slice;
  Tensor value;
};
// Writes the items as one file, atomically. InvalidArgument for a type that the
// format does not have, and for a slice given twice.
Status WriteCheckpointV1(Env* env, const std::string& path,
                         const std::vector<CheckpointV1Item>& items);

}  // namespace headrace

#endif  // HEADRACE_IO_CHECKPOINT_V1_H_
