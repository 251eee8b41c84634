// GenerateVocabRemapping: for each entry of a new vocabulary, a file of one
// entry a line, its line in the old one, or -1. LoadAndRemapMatrix: a matrix of
// a checkpoint with its rows and columns rearranged so; what the old one does
// not have is taken from initializing_values, in order of rows.
#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "base/env.h"
#include "headrace/op_kernel.h"
#include "io/tensor_bundle.h"
#include "kernels/lib/growing_table.h"

namespace headrace {
namespace {

Status StringInput(const OpKernelContext& ctx, int i, const char* name,
                   std::string* out) {
  const Tensor& t = ctx.input(i);
  if (t.NumElements() != 1) {
    return errors::InvalidArgument(name, " must be a single string, got shape ",
                                   t.shape().DebugString());
  }
  *out = std::string(*t.data<tstring>());
  return OkStatus();
}

// The lines of a file, without their ends, "\n" or "\r\n".
Status ReadLines(const std::string& path, std::vector<std::string>* lines) {
  std::string text;
  HR_RETURN_IF_ERROR(Env::Default()->ReadFile(path, &text));
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    const size_t length =
        end > at && text[end - 1] == '\r' ? end - at - 1 : end - at;
    if (length == 0) {
      return errors::InvalidArgument("Invalid content in ", path,
                                     ": empty line found at position ", at,
                                     ".");
    }
    lines->push_back(text.substr(at, length));
    at = end + 1;
  }
  return OkStatus();
}

class GenerateVocabRemappingOp : public OpKernel {
 public:
  explicit GenerateVocabRemappingOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("new_vocab_offset", &offset_));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("num_new_vocab", &num_new_));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("old_vocab_size", &old_size_));
  }

  void Compute(OpKernelContext* ctx) override {
    std::string new_path, old_path;
    OP_REQUIRES_OK(ctx, StringInput(*ctx, 0, "new_vocab_file", &new_path));
    OP_REQUIRES_OK(ctx, StringInput(*ctx, 1, "old_vocab_file", &old_path));
    std::vector<std::string> entries;
    OP_REQUIRES_OK(ctx, ReadLines(new_path, &entries));
    const auto have = static_cast<int64_t>(entries.size());
    OP_REQUIRES(ctx, offset_ <= have && num_new_ <= have - offset_,
                errors::InvalidArgument("new_vocab_offset ", offset_,
                                        " and num_new_vocab ", num_new_,
                                        " need more "
                                        "lines than ",
                                        new_path, " has, ", have));
    GrowingMap<std::string, int64_t> old;
    OP_REQUIRES_OK(ctx, ReadOld(old_path, &old));
    Tensor *remapping = nullptr, *present = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, {num_new_}, &remapping));
    OP_REQUIRES_OK(ctx, ctx->allocate_output(1, {}, &present));
    int32_t found = 0;
    for (int64_t i = 0; i < num_new_; ++i) {
      const auto it = old.find(entries[offset_ + i]);
      remapping->data<int64_t>()[i] = it == old.end() ? -1 : it->second;
      found += it != old.end();
    }
    present->scalar<int32_t>() = found;
  }

 private:
  // The first old_vocab_size lines; all if that is -1.
  Status ReadOld(const std::string& path,
                 GrowingMap<std::string, int64_t>* old) const {
    std::vector<std::string> lines;
    HR_RETURN_IF_ERROR(ReadLines(path, &lines));
    const auto have = static_cast<int64_t>(lines.size());
    if (old_size_ > have) {
      return errors::InvalidArgument("Invalid vocab_size in ", path,
                                     ": expected ", old_size_, " but got ",
                                     have);
    }
    const int64_t n = old_size_ < 0 ? have : old_size_;
    for (int64_t i = 0; i < n; ++i) {
      const auto [it, inserted] = InsertIntoMap(old, false, lines[i], i);
      if (!inserted) {
        return errors::FailedPrecondition("'", lines[i], "' is line ",
                                          it->second, " and line ", i, " of ",
                                          path);
      }
    }
    return OkStatus();
  }

  int64_t offset_ = 0, num_new_ = 0, old_size_ = -1;
};
REGISTER_KERNEL_BUILDER(Name("GenerateVocabRemapping").Device(DEVICE_CPU),
                        GenerateVocabRemappingOp);

class LoadAndRemapMatrixOp : public OpKernel {
 public:
  explicit LoadAndRemapMatrixOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("num_rows", &rows_));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("num_cols", &cols_));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("max_rows_in_memory", &max_rows_));
  }

  void Compute(OpKernelContext* ctx) override {
    std::string path, name;
    OP_REQUIRES_OK(ctx, StringInput(*ctx, 0, "ckpt_path", &path));
    OP_REQUIRES_OK(ctx, StringInput(*ctx, 1, "old_tensor_name", &name));
    const Tensor &row_map = ctx->input(2), &col_map = ctx->input(3);
    StatusOr<std::unique_ptr<BundleReader>> reader =
        BundleReader::Open(Env::Default(), path);
    OP_REQUIRES_OK(ctx, reader.status());
    int64_t old_rows = 0, old_cols = 0;
    OP_REQUIRES_OK(ctx, OldShape(**reader, name, &old_rows, &old_cols));
    OP_REQUIRES_OK(ctx, CheckMap(row_map, "row_remapping", rows_, old_rows));
    if (col_map.NumElements() > 0) {
      OP_REQUIRES_OK(ctx, CheckMap(col_map, "col_remapping", cols_, old_cols));
    } else {
      OP_REQUIRES(
          ctx, old_cols == cols_,
          errors::InvalidArgument("Tensor ", name, " has ", old_cols,
                                  " columns instead of num_cols=", cols_,
                                  ", and col_remapping is empty"));
    }
    Tensor* out = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, {rows_, cols_}, &out));
    OP_REQUIRES_OK(ctx, Initialize(row_map, col_map, ctx->input(4), out));
    OP_REQUIRES_OK(ctx, CopyRows(reader->get(), name, old_rows, old_cols,
                                 row_map, col_map, out));
  }

 private:
  static Status OldShape(const BundleReader& reader, const std::string& name,
                         int64_t* rows, int64_t* cols) {
    pb::BundleEntryProto entry;
    HR_RETURN_IF_ERROR(reader.Lookup(name, &entry));
    if (static_cast<int>(entry.dtype()) != DT_FLOAT) {
      return errors::InvalidArgument(
          "Tensor ", name, " has invalid type ",
          DataTypeString(static_cast<DataType>(entry.dtype())),
          " instead of expected type float");
    }
    if (entry.shape().dim_size() != 2) {
      return errors::InvalidArgument("Tensor ", name, " has rank ",
                                     entry.shape().dim_size(), " instead of 2");
    }
    *rows = entry.shape().dim(0).size();
    *cols = entry.shape().dim(1).size();
    return OkStatus();
  }

  // Each old row or column goes to one place at most; -1 is none.
  static Status CheckMap(const Tensor& map, const char* name, int64_t wanted,
                         int64_t old) {
    if (map.NumElements() != wanted) {
      return errors::InvalidArgument("Size of ", name, " is ",
                                     map.NumElements(), " instead of ", wanted);
    }
    GrowingMap<int64_t, int64_t> seen;
    for (int64_t i = 0; i < wanted; ++i) {
      const int64_t id = map.data<int64_t>()[i];
      if (id < 0) continue;
      if (id >= old) {
        return errors::InvalidArgument(name, "[", i, "] is ", id,
                                       ", but the old matrix has ", old);
      }
      const auto [it, inserted] = InsertIntoMap(&seen, false, id, i);
      if (!inserted) {
        return errors::Unimplemented("Old ID ", id,
                                     " is mapped to both new ID ", it->second,
                                     " and ", i, ", which is not supported.");
      }
    }
    return OkStatus();
  }

  Status Initialize(const Tensor& row_map, const Tensor& col_map,
                    const Tensor& values, Tensor* out) const {
    const bool all_cols = col_map.NumElements() == 0;
    int64_t used = 0;
    float* y = out->data<float>();
    for (int64_t r = 0; r < rows_; ++r) {
      const bool row_missing = row_map.data<int64_t>()[r] < 0;
      for (int64_t c = 0; c < cols_; ++c, ++y) {
        if (!row_missing && (all_cols || col_map.data<int64_t>()[c] >= 0)) {
          continue;
        }
        if (used == values.NumElements()) {
          return errors::InvalidArgument("initializing_values contained ",
                                         values.NumElements(),
                                         " elements, but more missing values "
                                         "remain.");
        }
        *y = values.data<float>()[used++];
      }
    }
    if (used == values.NumElements()) return OkStatus();
    return errors::InvalidArgument(
        "initializing_values contained ", values.NumElements(),
        " elements, but only ", used,
        " elements were used to fill in missing values.");
  }

  Status CopyRows(BundleReader* reader, const std::string& name,
                  int64_t old_rows, int64_t old_cols, const Tensor& row_map,
                  const Tensor& col_map, Tensor* out) const {
    // New rows in the order in which the checkpoint has them.
    std::vector<int64_t> order;
    const int64_t* from = row_map.data<int64_t>();
    for (int64_t r = 0; r < rows_; ++r) {
      if (from[r] >= 0) order.push_back(r);
    }
    std::sort(order.begin(), order.end(),
              [from](int64_t a, int64_t b) { return from[a] < from[b]; });
    const TensorShape shape({old_rows, old_cols});
    Tensor chunk;
    int64_t begin = 0, end = 0;  // old rows that are in `chunk`
    for (const int64_t r : order) {
      const int64_t old = from[r];
      if (old >= end) {
        begin = old;
        end = max_rows_ > 0 && max_rows_ < old_rows - begin ? begin + max_rows_
                                                            : old_rows;
        TensorSlice slice;
        HR_RETURN_IF_ERROR(TensorSlice::Parse(
            absl::StrCat(begin, ",", end - begin, ":-"), &slice));
        HR_RETURN_IF_ERROR(reader->ReadSlice(name, shape, slice, &chunk));
      }
      const float* x = chunk.data<float>() + (old - begin) * old_cols;
      float* y = out->data<float>() + r * cols_;
      for (int64_t c = 0; c < cols_; ++c) {
        const int64_t at =
            col_map.NumElements() == 0 ? c : col_map.data<int64_t>()[c];
        if (at >= 0) y[c] = x[at];
      }
    }
    return OkStatus();
  }

  int64_t rows_ = 0, cols_ = 0, max_rows_ = -1;
};
REGISTER_KERNEL_BUILDER(Name("LoadAndRemapMatrix").Device(DEVICE_CPU),
                        LoadAndRemapMatrixOp);

}  // namespace
}  // namespace headrace
