#include "headrace/cc/checkpoint_reader.h"

#include "base/env.h"
#include "framework/op/tensor_proto.h"
#include "io/checkpoint_v1.h"
#include "io/tensor_bundle.h"

namespace headrace {

struct CheckpointReader::Files {
  std::unique_ptr<BundleReader> bundle;
  std::unique_ptr<CheckpointV1Reader> v1;  // one of the two
};

StatusOr<CheckpointReader> CheckpointReader::Open(const std::string& prefix) {
  CheckpointReader reader;
  auto files = std::make_shared<Files>();
  Env* const env = Env::Default();
  if (errors::IsNotFound(env->FileExists(BundleIndexPath(prefix)))) {
    HR_ASSIGN_OR_RETURN(files->v1, CheckpointV1Reader::Open(env, prefix));
    files->v1->ForEach(
        [&](const std::string& name, DataType dtype, const TensorShape& shape) {
          reader.entries_[name] = {dtype, shape};
        });
    reader.files_ = std::move(files);
    return reader;
  }
  HR_ASSIGN_OR_RETURN(files->bundle, BundleReader::Open(env, prefix));
  for (const Table::Entry& entry : files->bundle->table().entries()) {
    // The header, or a slice.
    if (entry.key.empty() || entry.key[0] == '\0') continue;
    pb::BundleEntryProto proto;
    HR_RETURN_IF_ERROR(files->bundle->Lookup(entry.key, &proto));
    PartialTensorShape partial;
    TensorShape shape;
    if (!ShapeFromProto(proto.shape(), &partial).ok() ||
        !partial.AsTensorShape(&shape)) {
      return errors::DataLoss("checkpoint ", prefix, ": bad shape of '",
                              entry.key, "'");
    }
    reader.entries_[std::string(entry.key)] = {
        static_cast<DataType>(proto.dtype()), shape};
  }
  reader.files_ = std::move(files);
  return reader;
}

StatusOr<Tensor> CheckpointReader::GetTensor(const std::string& name) const {
  Tensor value;
  HR_RETURN_IF_ERROR(files_->v1 != nullptr
                         ? files_->v1->Read(name, nullptr, nullptr, &value)
                         : files_->bundle->Read(name, &value));
  return value;
}

}  // namespace headrace
