#include "checkpoint_io.h"

#include <nanobind/stl/string.h>

#include <memory>
#include <string>

#include "framework/op/tensor_proto.h"
#include "io/checkpoint_v1.h"
#include "io/tensor_bundle.h"
#include "numpy_convert.h"
#include "py_support.h"

namespace headrace::python {
namespace {

nb::tuple TypeAndShape(DataType dtype, const TensorShape& shape) {
  nb::list dims;
  for (int i = 0; i < shape.dims(); ++i) dims.append(shape.dim_size(i));
  return nb::make_tuple(DTypeObject(dtype), dims);
}

// A checkpoint of version 2, or of version 1 if there is no PREFIX.index. One
// thread at a time, which the GIL sees to: it is held.
class PyCheckpointReader {
 public:
  explicit PyCheckpointReader(const std::string& prefix) {
    Env* env = Env::Default();
    if (errors::IsNotFound(env->FileExists(BundleIndexPath(prefix)))) {
      auto reader = CheckpointV1Reader::Open(env, prefix);
      Check(reader.status());
      v1_ = *std::move(reader);
      return;
    }
    auto reader = BundleReader::Open(env, prefix);
    Check(reader.status());
    bundle_ = *std::move(reader);
  }

  // {name: (type, shape)} of all tensors. A tensor in slices is one.
  nb::dict Entries() const {
    nb::dict found;
    const auto add = [&found](const std::string& name, DataType dtype,
                              const TensorShape& shape) {
      found[nb::str(name.data(), name.size())] = TypeAndShape(dtype, shape);
    };
    if (v1_ != nullptr) {
      v1_->ForEach(add);
      return found;
    }
    for (const Table::Entry& entry : bundle_->table().entries()) {
      // The header, or a slice.
      if (entry.key.empty() || entry.key[0] == '\0') continue;
      pb::BundleEntryProto proto;
      Check(bundle_->Lookup(entry.key, &proto));
      PartialTensorShape partial;
      TensorShape shape;
      if (!ShapeFromProto(proto.shape(), &partial).ok() ||
          !partial.AsTensorShape(&shape)) {
        Check(errors::DataLoss("checkpoint: bad shape of '", entry.key, "'"));
      }
      add(entry.key, static_cast<DataType>(proto.dtype()), shape);
    }
    return found;
  }

  nb::object Read(const std::string& name) const {
    Tensor value;
    Check(v1_ != nullptr ? v1_->Read(name, nullptr, nullptr, &value)
                         : bundle_->Read(name, &value));
    return ToNumpy(std::move(value));
  }

 private:
  std::unique_ptr<BundleReader> bundle_;
  std::unique_ptr<CheckpointV1Reader> v1_;  // one of the two
};

}  // namespace

void RegisterCheckpointIo(nb::module_& m) {
  nb::class_<PyCheckpointReader>(m, "CheckpointReader")
      .def(nb::init<const std::string&>())
      .def("entries", &PyCheckpointReader::Entries)
      .def("read", &PyCheckpointReader::Read);
}

}  // namespace headrace::python
