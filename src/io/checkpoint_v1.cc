#include "io/checkpoint_v1.h"

#include <algorithm>
#include <utility>

#include "framework/op/tensor_proto.h"
#include "headrace/tensor_bundle.pb.h"
#include "io/checkpoint_files.h"

namespace headrace {
namespace {

bool IsStorable(DataType t) {
  switch (t) {
    case DT_FLOAT:
    case DT_DOUBLE:
    case DT_INT32:
    case DT_UINT8:
    case DT_INT16:
    case DT_INT8:
    case DT_STRING:
    case DT_COMPLEX64:
    case DT_COMPLEX128:
    case DT_INT64:
    case DT_BOOL:
    case DT_UINT16:
    case DT_HALF:
    case DT_QINT8:
    case DT_QUINT8:
    case DT_QINT32:
      return true;
    default:
      return false;
  }
}

// Every element in the field for its type, nothing else.
void ToTypedValues(const Tensor& t, pb::TensorProto* p) {
  const int64_t n = t.NumElements();
  for (int64_t i = 0; i < n; ++i) {
    switch (t.dtype()) {
      case DT_FLOAT:
        p->add_float_val(t.data<float>()[i]);
        break;
      case DT_DOUBLE:
        p->add_double_val(t.data<double>()[i]);
        break;
      case DT_INT32:
        p->add_int_val(t.data<int32_t>()[i]);
        break;
      case DT_UINT8:
        p->add_int_val(t.data<uint8_t>()[i]);
        break;
      case DT_INT16:
        p->add_int_val(t.data<int16_t>()[i]);
        break;
      case DT_INT8:
        p->add_int_val(t.data<int8_t>()[i]);
        break;
      case DT_UINT16:
        p->add_int_val(t.data<uint16_t>()[i]);
        break;
      case DT_QINT8:
        p->add_int_val(t.data<qint8>()[i].value);
        break;
      case DT_QUINT8:
        p->add_int_val(t.data<quint8>()[i].value);
        break;
      case DT_QINT32:
        p->add_int_val(t.data<qint32>()[i].value);
        break;
      case DT_STRING: {
        const tstring& s = t.data<tstring>()[i];
        p->add_string_val(s.data(), s.size());
        break;
      }
      case DT_COMPLEX64:
        p->add_scomplex_val(t.data<complex64>()[i].real());
        p->add_scomplex_val(t.data<complex64>()[i].imag());
        break;
      case DT_COMPLEX128:
        p->add_dcomplex_val(t.data<complex128>()[i].real());
        p->add_dcomplex_val(t.data<complex128>()[i].imag());
        break;
      case DT_INT64:
        p->add_int64_val(t.data<int64_t>()[i]);
        break;
      case DT_BOOL:
        p->add_bool_val(t.data<bool>()[i]);
        break;
      case DT_HALF:
        p->add_half_val(Eigen::numext::bit_cast<uint16_t>(t.data<half>()[i]));
        break;
      default:
        return;
    }
  }
}

}  // namespace

StatusOr<std::unique_ptr<CheckpointV1Reader>> CheckpointV1Reader::Open(
    Env* env, const std::string& pattern) {
  std::vector<std::string> paths;
  const Status s = env->Glob(pattern, &paths);
  if (!errors::IsNotFound(s)) HR_RETURN_IF_ERROR(s);
  if (paths.empty()) {
    return errors::NotFound(
        "Unsuccessful TensorSliceReader constructor: Failed to find any "
        "matching files for ",
        pattern);
  }
  std::unique_ptr<CheckpointV1Reader> reader(new CheckpointV1Reader);
  for (const std::string& path : paths) {
    HR_ASSIGN_OR_RETURN(auto table, Table::Open(env, path));
    const Status added = reader->AddTable(std::move(table));
    if (!added.ok()) return Annotate(added, StrCat(" (in ", path, ")"));
  }
  return reader;
}

Status CheckpointV1Reader::AddTable(std::unique_ptr<Table> table) {
  const Table::Entry* entry = table->Find("");
  pb::SavedTensorSlices message;
  if (entry == nullptr ||
      !message.ParseFromArray(entry->value.data(),
                              static_cast<int>(entry->value.size()))) {
    return errors::DataLoss("checkpoint: the table does not tell its tensors");
  }
  for (const pb::SavedSliceMeta& meta : message.meta().tensor()) {
    PartialTensorShape partial;
    Stored stored;
    stored.dtype = static_cast<DataType>(meta.type());
    if (!ShapeFromProto(meta.shape(), &partial).ok() ||
        !partial.AsTensorShape(&stored.shape) || !stored.shape.IsValid() ||
        !IsStorable(stored.dtype)) {
      return errors::DataLoss("checkpoint: bad type or shape of '", meta.name(),
                              "'");
    }
    const auto at = tensors_.emplace(meta.name(), stored).first;
    Stored& all = at->second;
    if (all.dtype != stored.dtype || all.shape != stored.shape) {
      return errors::DataLoss("checkpoint: files disagree about '", meta.name(),
                              "'");
    }
    for (const auto& proto : meta.slice()) {
      Piece piece{{}, table.get()};
      const Status s = TensorSlice::FromProto(proto, &piece.slice);
      if (!s.ok()) {
        return errors::DataLoss("checkpoint: a slice of '", meta.name(),
                                "': ", s.message());
      }
      all.pieces.push_back(std::move(piece));
    }
  }
  tables_.push_back(std::move(table));
  return OkStatus();
}

Status CheckpointV1Reader::ReadPiece(const std::string& name,
                                     const Stored& stored, const Piece& piece,
                                     const TensorShape& shape,
                                     Tensor* out) const {
  const Table::Entry* entry =
      piece.table->Find(EncodeSliceKey(name, piece.slice));
  pb::SavedTensorSlices message;
  if (entry == nullptr ||
      !message.ParseFromArray(entry->value.data(),
                              static_cast<int>(entry->value.size()))) {
    return errors::DataLoss("checkpoint: slice ", piece.slice.DebugString(),
                            " of '", name, "' is listed but not there");
  }
  // An element takes a byte at least: no more is allocated than the file has.
  if (static_cast<uint64_t>(shape.num_elements()) > entry->value.size()) {
    return errors::DataLoss("checkpoint: '", name, "' has too few values for ",
                            shape.DebugString());
  }
  pb::TensorProto* proto = message.mutable_data()->mutable_data();
  proto->set_dtype(static_cast<pb::DataType>(stored.dtype));
  ShapeToProto(shape, proto->mutable_tensor_shape());
  const Status s = TensorFromProto(*proto, out);
  if (!s.ok()) {
    return errors::DataLoss("checkpoint: '", name, "': ", s.message());
  }
  return OkStatus();
}

Status CheckpointV1Reader::Read(const std::string& name,
                                const TensorShape* full_shape,
                                const TensorSlice* slice, Tensor* out) const {
  const auto at = tensors_.find(name);
  if (at == tensors_.end()) {
    return errors::NotFound("Tensor name \"", name,
                            "\" not found in checkpoint files");
  }
  const Stored& stored = at->second;
  if (full_shape != nullptr && *full_shape != stored.shape) {
    return errors::InvalidArgument(
        "Shape in shape_and_slice spec ", full_shape->DebugString(),
        " does not match the shape in the save file: ",
        stored.shape.DebugString());
  }
  const TensorSlice wanted =
      slice != nullptr ? *slice : TensorSlice::Full(stored.shape.dims());
  TensorSlice box;
  TensorShape box_shape;
  HR_RETURN_IF_ERROR(wanted.Resolve(stored.shape, &box, &box_shape));

  std::vector<Tensor> values;
  std::vector<TensorSlice> boxes;
  uint64_t elements = 0;
  for (const Piece& piece : stored.pieces) {
    TensorSlice piece_box;
    TensorShape piece_shape;
    const Status s =
        piece.slice.Resolve(stored.shape, &piece_box, &piece_shape);
    if (!s.ok()) {
      return errors::DataLoss("checkpoint: a slice of '", name,
                              "': ", s.message());
    }
    bool common = piece_shape.num_elements() > 0;
    for (int i = 0; i < box.dims(); ++i) {
      const auto &a = box.extent(i), &b = piece_box.extent(i);
      common &= a.start < b.start + b.length && b.start < a.start + a.length;
    }
    if (!common) continue;
    Tensor value;
    HR_RETURN_IF_ERROR(ReadPiece(name, stored, piece, piece_shape, &value));
    if (piece_shape == stored.shape && box_shape == stored.shape) {
      *out = std::move(value);
      return OkStatus();
    }
    elements += value.NumElements();
    values.push_back(std::move(value));
    boxes.push_back(std::move(piece_box));
  }
  const int64_t n = box_shape.num_elements();
  const auto insufficient = [&] {
    return errors::NotFound("checkpoint: the stored slices of '", name,
                            "' do not cover ", wanted.DebugString());
  };
  if (elements < static_cast<uint64_t>(n)) return insufficient();
  HR_RETURN_IF_ERROR(
      Tensor::Allocate(CpuAllocator(), stored.dtype, box_shape, out));
  std::vector<bool> is_set(n, false);
  for (size_t i = 0; i < values.size(); ++i) {
    TensorSlice::ForEachCommonRun(
        box, boxes[i], [&](int64_t to, int64_t from, int64_t count) {
          CopyElements(values[i], from, out, to, count);
          std::fill_n(is_set.begin() + to, count, true);
        });
  }
  if (std::find(is_set.begin(), is_set.end(), false) != is_set.end()) {
    return insufficient();
  }
  return OkStatus();
}

Status WriteCheckpointV1(Env* env, const std::string& path,
                         const std::vector<CheckpointV1Item>& items) {
  std::map<std::string, pb::SavedSliceMeta> metas;
  std::map<std::string, const CheckpointV1Item*> by_key;
  for (const CheckpointV1Item& item : items) {
    if (!IsStorable(item.value.dtype())) {
      return errors::Unimplemented("saving '", item.name, "' of type ",
                                   DataTypeString(item.value.dtype()),
                                   " in a checkpoint of version 1");
    }
    if (item.value.TotalBytes() >= size_t{1} << 31) {
      return errors::InvalidArgument("'", item.name, "' has ",
                                     item.value.TotalBytes(),
                                     " bytes, wanted less than 2 GiB");
    }
    pb::SavedSliceMeta meta;
    meta.set_name(item.name);
    meta.set_type(static_cast<pb::DataType>(item.value.dtype()));
    ShapeToProto(item.full_shape, meta.mutable_shape());
    pb::SavedSliceMeta& known = metas.emplace(item.name, meta).first->second;
    if (known.type() != meta.type() ||
        known.shape().SerializeAsString() != meta.shape().SerializeAsString()) {
      return errors::InvalidArgument("slices of '", item.name,
                                     "' have different types or full shapes");
    }
    item.slice.ToProto(known.add_slice());
    if (!by_key.emplace(EncodeSliceKey(item.name, item.slice), &item).second) {
      return errors::InvalidArgument("'", item.name, "' is given twice");
    }
  }
  pb::SavedTensorSlices header;
  for (auto& [name, meta] : metas) *header.mutable_meta()->add_tensor() = meta;
  header.mutable_meta()->mutable_versions()->set_producer(1);

  const std::string temporary = path + TemporarySuffix(env);
  const auto write = [&]() -> Status {
    HR_ASSIGN_OR_RETURN(std::unique_ptr<WritableFile> file,
                        env->NewWritableFile(temporary));
    TableWriter table(file.get());
    HR_RETURN_IF_ERROR(table.Add("", header.SerializeAsString()));
    for (const auto& [key, item] : by_key) {
      pb::SavedTensorSlices message;
      pb::SavedSlice* saved = message.mutable_data();
      saved->set_name(item->name);
      item->slice.ToProto(saved->mutable_slice());
      ToTypedValues(item->value, saved->mutable_data());
      if (message.ByteSizeLong() >= size_t{1} << 31) {
        return errors::InvalidArgument("'", item->name, "' is too large");
      }
      HR_RETURN_IF_ERROR(table.Add(key, message.SerializeAsString()));
    }
    HR_RETURN_IF_ERROR(table.Finish());
    HR_RETURN_IF_ERROR(file->Sync());
    HR_RETURN_IF_ERROR(file->Close());
    return env->RenameFile(temporary, path);
  };
  const Status s = write();
  if (!s.ok()) (void)env->DeleteFile(temporary).ok();
  return s;
}

}  // namespace headrace
