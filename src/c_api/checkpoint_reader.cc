// TF_CheckpointReader: the tensors of a checkpoint of either version, by name.
#include <map>

#include "c_api/internal.h"
#include "framework/op/tensor_proto.h"
#include "headrace/tensor_bundle.pb.h"
#include "io/checkpoint_v1.h"
#include "io/tensor_bundle.h"
#include "tensorflow/c/c_api_experimental.h"

using headrace::BundleReader;
using headrace::CheckpointV1Reader;
using headrace::DataType;
using headrace::Env;
using headrace::OkStatus;
using headrace::Status;
using headrace::Tensor;
using namespace headrace::c_api;  // NOLINT: our own few helpers
namespace errors = headrace::errors;
namespace pb = headrace::pb;

// Immutable, so thread-safe: so are the readers.
struct TF_CheckpointReader {
  struct Variable {
    DataType dtype;
    std::vector<int64_t> dims;
  };
  std::unique_ptr<BundleReader> v2;
  std::unique_ptr<CheckpointV1Reader> v1;
  std::map<std::string, Variable, std::less<>> variables;
  std::vector<const char*> names;  // in order

  const Variable* Find(const char* name) const {
    const auto it = variables.find(Text(name));
    return it == variables.end() ? nullptr : &it->second;
  }
};

namespace {

Status OpenCheckpoint(const char* filename, TF_CheckpointReader* r) {
  if (filename == nullptr) {
    return errors::InvalidArgument("TF_NewCheckpointReader: the name is NULL");
  }
  Env* const env = Env::Default();
  if (errors::IsNotFound(
          env->FileExists(headrace::BundleIndexPath(filename)))) {
    HR_ASSIGN_OR_RETURN(r->v1, CheckpointV1Reader::Open(env, filename));
    r->v1->ForEach([&](const std::string& name, DataType dtype,
                       const headrace::TensorShape& shape) {
      TF_CheckpointReader::Variable v{dtype, {}};
      for (int i = 0; i < shape.dims(); ++i)
        v.dims.push_back(shape.dim_size(i));
      r->variables.emplace(name, std::move(v));
    });
  } else {
    HR_ASSIGN_OR_RETURN(r->v2, BundleReader::Open(env, filename));
    for (const headrace::Table::Entry& e : r->v2->table().entries()) {
      // The header has an empty key, and slices begin with a NUL.
      if (e.key.empty() || e.key[0] == '\0') continue;
      pb::BundleEntryProto entry;
      HR_RETURN_IF_ERROR(r->v2->Lookup(e.key, &entry));
      TF_CheckpointReader::Variable v{static_cast<DataType>(entry.dtype()), {}};
      for (const auto& dim : entry.shape().dim()) v.dims.push_back(dim.size());
      r->variables.emplace(e.key, std::move(v));
    }
  }
  for (const auto& [name, v] : r->variables) r->names.push_back(name.c_str());
  return OkStatus();
}

Status NoVariable(const TF_CheckpointReader* reader, const char* name) {
  if (reader == nullptr) {
    return errors::InvalidArgument("the checkpoint reader is NULL");
  }
  return errors::NotFound("Key ", Text(name), " not found in checkpoint");
}

}  // namespace

TF_CheckpointReader* TF_NewCheckpointReader(const char* filename,
                                            TF_Status* status) {
  auto reader = std::make_unique<TF_CheckpointReader>();
  const Status s = OpenCheckpoint(filename, reader.get());
  Set(status, s);
  return s.ok() ? reader.release() : nullptr;
}

void TF_DeleteCheckpointReader(TF_CheckpointReader* reader) { delete reader; }

int TF_CheckpointReaderSize(TF_CheckpointReader* reader) {
  return reader == nullptr ? 0 : static_cast<int>(reader->names.size());
}

const char* TF_CheckpointReaderGetVariable(TF_CheckpointReader* reader,
                                           int index) {
  if (index < 0 || index >= TF_CheckpointReaderSize(reader)) return nullptr;
  return reader->names[index];
}

int TF_CheckpointReaderHasTensor(TF_CheckpointReader* reader,
                                 const char* name) {
  return reader != nullptr && reader->Find(name) != nullptr;
}

TF_DataType TF_CheckpointReaderGetVariableDataType(TF_CheckpointReader* reader,
                                                   const char* name) {
  const auto* v = reader == nullptr ? nullptr : reader->Find(name);
  return FromDataType(v == nullptr ? headrace::DT_INVALID : v->dtype);
}

int TF_CheckpointReaderGetVariableNumDims(TF_CheckpointReader* reader,
                                          const char* name) {
  const auto* v = reader == nullptr ? nullptr : reader->Find(name);
  return v == nullptr ? -1 : static_cast<int>(v->dims.size());
}

void TF_CheckpointReaderGetVariableShape(TF_CheckpointReader* reader,
                                         const char* name, int64_t* dims,
                                         int num_dims, TF_Status* status) {
  const auto* v = reader == nullptr ? nullptr : reader->Find(name);
  if (v == nullptr) return Set(status, NoVariable(reader, name));
  if (num_dims != static_cast<int>(v->dims.size()) ||
      (dims == nullptr && num_dims > 0)) {
    return Set(status,
               errors::InvalidArgument("Expected rank is ", num_dims,
                                       " but actual rank is ", v->dims.size(),
                                       " of variable '", name, "'"));
  }
  std::copy(v->dims.begin(), v->dims.end(), dims);
  SetOk(status);
}

TF_Tensor* TF_CheckpointReaderGetTensor(TF_CheckpointReader* reader,
                                        const char* name, TF_Status* status) {
  if (reader == nullptr || reader->Find(name) == nullptr) {
    Set(status, NoVariable(reader, name));
    return nullptr;
  }
  Tensor value;
  TF_Tensor* made = nullptr;
  Status s = reader->v1 != nullptr
                 ? reader->v1->Read(name, nullptr, nullptr, &value)
                 : reader->v2->Read(name, &value);
  if (s.ok()) s = WrapTensor(std::move(value), &made);
  Set(status, s);
  return made;
}
