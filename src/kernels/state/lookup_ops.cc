// Ops on lookup tables. HashTable is filled once, from tensors or from a text
// file, and then read; the mutable ones take insertions at any time. A dense
// table promises never to be given its empty and deleted keys; here all tables
// are one hash map.
#include <fstream>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "kernels/lib/element.h"
#include "kernels/lib/handle_lookup.h"
#include "kernels/lib/resource_op.h"
#include "kernels/state/lookup_table.h"

namespace headrace {
namespace {

bool IsKeyType(DataType t) {
  return t == DT_STRING || DataTypeIsInteger(t) || t == DT_BOOL ||
         DataTypeIsFloating(t);
}

Status ReadOptions(OpKernelConstruction* ctx, bool immutable,
                   LookupTable::Options* o) {
  o->immutable = immutable;
  HR_RETURN_IF_ERROR(ctx->GetAttr("key_dtype", &o->key_dtype));
  HR_RETURN_IF_ERROR(ctx->GetAttr("value_dtype", &o->value_dtype));
  if (ctx->HasAttr("value_shape")) {
    HR_RETURN_IF_ERROR(ctx->GetAttr("value_shape", &o->value_shape));
  }
  // Values of an immutable table are compared.
  if (!IsKeyType(o->key_dtype) || o->value_dtype == DT_RESOURCE ||
      (immutable && o->value_dtype == DT_VARIANT)) {
    return errors::InvalidArgument("no table maps ",
                                   DataTypeString(o->key_dtype), " to ",
                                   DataTypeString(o->value_dtype));
  }
  return OkStatus();
}

template <bool kImmutable>
class TableOp : public ResourceOp<LookupTable> {
 public:
  explicit TableOp(OpKernelConstruction* ctx) : ResourceOp(ctx) {
    OP_REQUIRES_OK(ctx, ReadOptions(ctx, kImmutable, &options_));
    options_.name = resource_name();
  }

 protected:
  // Inputs of dense tables: the empty and the deleted key.
  Status Make(OpKernelContext* ctx, RefPtr<LookupTable>* out) override {
    LookupTable::Options o = options_;
    HR_RETURN_IF_ERROR(AddReserved(ctx, &o));
    *out = MakeRef<LookupTable>(std::move(o));
    return OkStatus();
  }
  Status Verify(const OpKernelContext&, const LookupTable& t) override {
    const LookupTable::Options& o = t.options();
    if (o.key_dtype != options_.key_dtype ||
        o.value_dtype != options_.value_dtype ||
        o.immutable != options_.immutable ||
        o.value_shape != options_.value_shape) {
      return errors::InvalidArgument("Conflicting key/value dtypes ",
                                     DataTypeString(options_.key_dtype), "->",
                                     DataTypeString(options_.value_dtype),
                                     " with the shared ", t.DebugString());
    }
    return OkStatus();
  }

 public:
  static Status AddReserved(OpKernelContext* ctx, LookupTable::Options* o) {
    if (ctx->num_inputs() == 0) return OkStatus();
    o->key_shape = ctx->input(0).shape();
    if (o->key_dtype == DT_STRING && o->key_shape.dims() != 0) {
      return errors::InvalidArgument("string keys must be scalars, got shape ",
                                     o->key_shape.DebugString());
    }
    for (int i = 0; i < ctx->num_inputs(); ++i) {
      const Tensor& t = ctx->input(i);
      if (t.shape() != o->key_shape || t.NumElements() == 0) {
        return errors::InvalidArgument(
            "Empty and deleted keys must have same shape, got shapes: ",
            o->key_shape.DebugString(), " and ", t.shape().DebugString());
      }
      o->reserved.push_back(LookupTable::KeyAt(t, 0, t.NumElements()));
    }
    if (o->reserved.size() == 2 && o->reserved[0] == o->reserved[1]) {
      return errors::InvalidArgument("Empty and deleted keys cannot be equal");
    }
    return OkStatus();
  }

 private:
  LookupTable::Options options_;
};
REGISTER_KERNEL_BUILDER(Name("HashTable").Device(DEVICE_CPU), TableOp<true>);
REGISTER_KERNEL_BUILDER(Name("HashTableV2").Device(DEVICE_CPU), TableOp<true>);
REGISTER_KERNEL_BUILDER(Name("MutableHashTable").Device(DEVICE_CPU),
                        TableOp<false>);
REGISTER_KERNEL_BUILDER(Name("MutableHashTableV2").Device(DEVICE_CPU),
                        TableOp<false>);
REGISTER_KERNEL_BUILDER(Name("MutableHashTableOfTensors").Device(DEVICE_CPU),
                        TableOp<false>);
REGISTER_KERNEL_BUILDER(Name("MutableHashTableOfTensorsV2").Device(DEVICE_CPU),
                        TableOp<false>);
REGISTER_KERNEL_BUILDER(Name("MutableDenseHashTable").Device(DEVICE_CPU),
                        TableOp<false>);
REGISTER_KERNEL_BUILDER(Name("MutableDenseHashTableV2").Device(DEVICE_CPU),
                        TableOp<false>);

// A table that lives as long as its handle; a new one at each run.
template <bool kImmutable>
class AnonymousTableOp : public OpKernel {
 public:
  explicit AnonymousTableOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    OP_REQUIRES_OK(ctx, ReadOptions(ctx, kImmutable, &options_));
    options_.name = name();
  }
  void Compute(OpKernelContext* ctx) override {
    LookupTable::Options o = options_;
    OP_REQUIRES_OK(ctx, TableOp<kImmutable>::AddReserved(ctx, &o));
    Tensor t(DT_RESOURCE, TensorShape());
    ResourceHandle& h = t.scalar<ResourceHandle>();
    h = ctx->resource_manager()->MakeHandle<LookupTable>(ctx->device()->name(),
                                                         "", name());
    h.resource = MakeRef<LookupTable>(std::move(o));
    ctx->set_output(0, std::move(t));
  }

 private:
  LookupTable::Options options_;
};
REGISTER_KERNEL_BUILDER(Name("AnonymousHashTable").Device(DEVICE_CPU),
                        AnonymousTableOp<true>);
REGISTER_KERNEL_BUILDER(Name("AnonymousMutableHashTable").Device(DEVICE_CPU),
                        AnonymousTableOp<false>);
REGISTER_KERNEL_BUILDER(
    Name("AnonymousMutableHashTableOfTensors").Device(DEVICE_CPU),
    AnonymousTableOp<false>);
REGISTER_KERNEL_BUILDER(
    Name("AnonymousMutableDenseHashTable").Device(DEVICE_CPU),
    AnonymousTableOp<false>);

// Input 0 of all that follow is the table.
class TableAccessOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* ctx) final {
    RefPtr<LookupTable> table;
    OP_REQUIRES_OK(ctx, LookupInput<LookupTable>(
                            *ctx, 0, ctx->resource_manager(), &table));
    OP_REQUIRES_OK(ctx, Do(ctx, table.get()));
  }

 protected:
  virtual Status Do(OpKernelContext* ctx, LookupTable* table) = 0;
};

class InitializeTableOp : public TableAccessOp {
 public:
  using TableAccessOp::TableAccessOp;

 protected:
  Status Do(OpKernelContext* ctx, LookupTable* table) override {
    const Tensor& keys = ctx->input(1);
    if (keys.dims() != 1) {
      return errors::InvalidArgument("Keys must be a vector, but received ",
                                     keys.shape().DebugString());
    }
    return table->Initialize(keys, ctx->input(2));
  }
};
REGISTER_KERNEL_BUILDER(Name("InitializeTable").Device(DEVICE_CPU),
                        InitializeTableOp);
REGISTER_KERNEL_BUILDER(Name("InitializeTableV2").Device(DEVICE_CPU),
                        InitializeTableOp);

// Keys and values from the lines of a file. A column index of -1 is the number
// of the line, -2 the whole line, others a column between delimiters.
class InitializeTableFromTextFileOp : public TableAccessOp {
 public:
  explicit InitializeTableFromTextFileOp(OpKernelConstruction* ctx)
      : TableAccessOp(ctx) {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("key_index", &key_index_));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("value_index", &value_index_));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("vocab_size", &vocab_size_));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("offset", &offset_));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("delimiter", &delimiter_));
    OP_REQUIRES(ctx, delimiter_.size() == 1,
                errors::InvalidArgument(
                    "delimiter should be only 1 char, got '", delimiter_, "'"));
  }

 protected:
  Status Do(OpKernelContext* ctx, LookupTable* table) override {
    const Tensor& name = ctx->input(1);
    if (name.NumElements() != 1) {
      return errors::InvalidArgument(
          "filename should be a single string, but got ",
          name.shape().DebugString());
    }
    if (table->is_initialized()) return OkStatus();
    const std::string path(name.data<tstring>()[0]);
    std::ifstream file(path, std::ios::binary);
    if (!file) {
      return errors::NotFound(path, "; No such file or directory");
    }
    std::vector<std::string> keys, values;
    std::string line;
    int64_t number = 0;
    for (;
         (vocab_size_ < 0 || number < vocab_size_) && std::getline(file, line);
         ++number) {
      if (!line.empty() && line.back() == '\r') line.pop_back();
      std::string key, value;
      HR_RETURN_IF_ERROR(Column(line, number, key_index_, path, &key));
      HR_RETURN_IF_ERROR(Column(line, number, value_index_, path, &value));
      keys.push_back(std::move(key));
      values.push_back(std::move(value));
    }
    if (file.bad()) return errors::DataLoss("cannot read ", path);
    if (vocab_size_ >= 0 && number < vocab_size_) {
      return errors::InvalidArgument("Invalid vocab_size in ", path,
                                     ": expected ", vocab_size_, " but got ",
                                     number);
    }
    Tensor k, v;
    HR_RETURN_IF_ERROR(Parse(keys, table->options().key_dtype, &k));
    HR_RETURN_IF_ERROR(Parse(values, table->options().value_dtype, &v));
    return table->Initialize(k, v);
  }

 private:
  Status Column(const std::string& line, int64_t number, int64_t index,
                const std::string& path, std::string* out) const {
    if (index == -1) {
      *out = absl::StrCat(static_cast<int64_t>(static_cast<uint64_t>(number) +
                                               static_cast<uint64_t>(offset_)));
      return OkStatus();
    }
    if (index == -2) {
      *out = line;
      return OkStatus();
    }
    const std::vector<absl::string_view> columns =
        absl::StrSplit(line, delimiter_[0]);
    if (index >= static_cast<int64_t>(columns.size())) {
      return errors::InvalidArgument(
          "Invalid number of columns in ", path, " line ", number, " (", line,
          ") : expected at least ", index + 1, " got ", columns.size());
    }
    *out = std::string(columns[index]);
    return OkStatus();
  }

  static Status Parse(const std::vector<std::string>& words, DataType dtype,
                      Tensor* out) {
    HR_RETURN_IF_ERROR(Tensor::Allocate(
        CpuAllocator(), dtype,
        TensorShape({static_cast<int64_t>(words.size())}), out));
    for (size_t i = 0; i < words.size(); ++i) {
      bool ok = false;
      switch (dtype) {
        case DT_STRING:
          out->data<tstring>()[i] = words[i];
          ok = true;
          break;
        case DT_INT32:
          ok = absl::SimpleAtoi(words[i], &out->data<int32_t>()[i]);
          break;
        case DT_INT64:
          ok = absl::SimpleAtoi(words[i], &out->data<int64_t>()[i]);
          break;
        case DT_FLOAT:
          ok = absl::SimpleAtof(words[i], &out->data<float>()[i]);
          break;
        case DT_DOUBLE:
          ok = absl::SimpleAtod(words[i], &out->data<double>()[i]);
          break;
        default:
          break;
      }
      if (!ok) {
        return errors::InvalidArgument("Field ", words[i], " in line ", i,
                                       " is not a valid ",
                                       DataTypeString(dtype), ".");
      }
    }
    return OkStatus();
  }

  int64_t key_index_ = 0, value_index_ = 0, vocab_size_ = -1, offset_ = 0;
  std::string delimiter_;
};
REGISTER_KERNEL_BUILDER(Name("InitializeTableFromTextFile").Device(DEVICE_CPU),
                        InitializeTableFromTextFileOp);
REGISTER_KERNEL_BUILDER(
    Name("InitializeTableFromTextFileV2").Device(DEVICE_CPU),
    InitializeTableFromTextFileOp);

class FindOp : public TableAccessOp {
 public:
  using TableAccessOp::TableAccessOp;

 protected:
  Status Do(OpKernelContext* ctx, LookupTable* table) override {
    if (output_type(0) != table->options().value_dtype) {
      return errors::InvalidArgument("the ", table->DebugString(),
                                     " was asked for ",
                                     DataTypeString(output_type(0)));
    }
    TensorShape shape;
    HR_RETURN_IF_ERROR(table->ValuesShape(ctx->input(1), &shape));
    Tensor* values = nullptr;
    HR_RETURN_IF_ERROR(ctx->allocate_output(0, shape, &values));
    return table->Find(ctx->input(1), ctx->input(2), values);
  }
};
REGISTER_KERNEL_BUILDER(Name("LookupTableFind").Device(DEVICE_CPU), FindOp);
REGISTER_KERNEL_BUILDER(Name("LookupTableFindV2").Device(DEVICE_CPU), FindOp);

class InsertOp : public TableAccessOp {
 public:
  using TableAccessOp::TableAccessOp;

 protected:
  Status Do(OpKernelContext* ctx, LookupTable* table) override {
    return table->Insert(ctx->input(1), ctx->input(2));
  }
};
REGISTER_KERNEL_BUILDER(Name("LookupTableInsert").Device(DEVICE_CPU), InsertOp);
REGISTER_KERNEL_BUILDER(Name("LookupTableInsertV2").Device(DEVICE_CPU),
                        InsertOp);

class ImportOp : public TableAccessOp {
 public:
  using TableAccessOp::TableAccessOp;

 protected:
  Status Do(OpKernelContext* ctx, LookupTable* table) override {
    return table->Import(ctx->input(1), ctx->input(2));
  }
};
REGISTER_KERNEL_BUILDER(Name("LookupTableImport").Device(DEVICE_CPU), ImportOp);
REGISTER_KERNEL_BUILDER(Name("LookupTableImportV2").Device(DEVICE_CPU),
                        ImportOp);

class RemoveOp : public TableAccessOp {
 public:
  using TableAccessOp::TableAccessOp;

 protected:
  Status Do(OpKernelContext* ctx, LookupTable* table) override {
    return table->Remove(ctx->input(1));
  }
};
REGISTER_KERNEL_BUILDER(Name("LookupTableRemoveV2").Device(DEVICE_CPU),
                        RemoveOp);

class SizeOp : public TableAccessOp {
 public:
  using TableAccessOp::TableAccessOp;

 protected:
  Status Do(OpKernelContext* ctx, LookupTable* table) override {
    ctx->set_output(0, Tensor::Scalar<int64_t>(table->size()));
    return OkStatus();
  }
};
REGISTER_KERNEL_BUILDER(Name("LookupTableSize").Device(DEVICE_CPU), SizeOp);
REGISTER_KERNEL_BUILDER(Name("LookupTableSizeV2").Device(DEVICE_CPU), SizeOp);

class ExportOp : public TableAccessOp {
 public:
  using TableAccessOp::TableAccessOp;

 protected:
  Status Do(OpKernelContext* ctx, LookupTable* table) override {
    if (output_type(0) != table->options().key_dtype ||
        output_type(1) != table->options().value_dtype) {
      return errors::InvalidArgument(
          "the ", table->DebugString(), " was asked for ",
          DataTypeString(output_type(0)), " keys and ",
          DataTypeString(output_type(1)), " values");
    }
    Tensor keys, values;
    HR_RETURN_IF_ERROR(table->Export(&keys, &values));
    ctx->set_output(0, std::move(keys));
    ctx->set_output(1, std::move(values));
    return OkStatus();
  }
};
REGISTER_KERNEL_BUILDER(Name("LookupTableExport").Device(DEVICE_CPU), ExportOp);
REGISTER_KERNEL_BUILDER(Name("LookupTableExportV2").Device(DEVICE_CPU),
                        ExportOp);

}  // namespace
}  // namespace headrace
