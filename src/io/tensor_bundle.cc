#include "io/tensor_bundle.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "absl/functional/function_ref.h"
#include "absl/strings/str_cat.h"
#include "base/crc32c.h"
#include "framework/op/saved_variant.h"
#include "framework/op/tensor_proto.h"
#include "io/coding.h"

namespace headrace {
namespace {

constexpr int kVersion = 1;
constexpr bool kHostIsBig = std::endian::native == std::endian::big;

// The running checksum of strings takes lengths as numbers, not as varints.
uint32_t ExtendByLength(uint32_t crc, uint64_t length) {
  std::string bytes;
  if (length <= UINT32_MAX) {
    PutFixed<uint32_t>(&bytes, static_cast<uint32_t>(length));
  } else {
    PutFixed<uint64_t>(&bytes, length);
  }
  return crc32c::Extend(crc, bytes.data(), bytes.size());
}

// where() names the tensor and its place in the file.
Status ReadStrings(absl::FunctionRef<std::string()> where,
                   absl::string_view bytes, uint32_t crc, int64_t n,
                   Tensor* out) {
  const auto broken = [&](const char* what) {
    return errors::DataLoss("checkpoint: ", what, " of string tensor ",
                            where());
  };
  std::vector<uint64_t> lengths(n);
  absl::string_view rest = bytes;
  uint32_t running = 0;
  uint64_t total = 0;
  for (uint64_t& length : lengths) {
    if (!GetVarint64(&rest, &length) || length > bytes.size() ||
        (total += length) > bytes.size()) {
      return broken("bad length in the bytes");
    }
    running = ExtendByLength(running, length);
  }
  if (rest.size() < 4 || rest.size() - 4 != total) {
    return broken("the lengths do not add up to the size");
  }
  if (crc32c::Mask(running) != GetFixed<uint32_t>(rest.data())) {
    return broken("wrong checksum of the lengths");
  }
  running = crc32c::Extend(running, rest.data(), rest.size());
  if (crc32c::Mask(running) != crc) return broken("wrong checksum");
  rest.remove_prefix(4);
  for (int64_t i = 0; i < n; ++i) {
    out->data<tstring>()[i].assign(rest.data(), lengths[i]);
    rest.remove_prefix(lengths[i]);
  }
  return OkStatus();
}

// Each variant: its length, its message, and the checksum of all bytes so far.
// The checksum takes lengths as 8 bytes.
uint32_t ExtendByVariant(uint32_t crc, absl::string_view message,
                         std::string* checksum) {
  std::string length;
  PutFixed<uint64_t>(&length, message.size());
  crc = crc32c::Extend(crc, length.data(), length.size());
  crc = crc32c::Extend(crc, message.data(), message.size());
  checksum->clear();
  PutFixed<uint32_t>(checksum, crc32c::Mask(crc));
  return crc32c::Extend(crc, checksum->data(), checksum->size());
}

Status ReadVariants(absl::FunctionRef<std::string()> where,
                    absl::string_view bytes, uint32_t crc, int64_t n,
                    Tensor* out) {
  uint32_t running = 0;
  for (int64_t i = 0; i < n; ++i) {
    uint64_t length = 0;
    if (!GetVarint64(&bytes, &length) || bytes.size() < 4 ||
        length > bytes.size() - 4) {
      return errors::DataLoss("checkpoint: bad length of a variant in ",
                              where());
    }
    std::string checksum;
    running = ExtendByVariant(running, bytes.substr(0, length), &checksum);
    pb::VariantTensorDataProto proto;
    if (bytes.substr(length, 4) != checksum || length > INT32_MAX ||
        !proto.ParseFromArray(bytes.data(), static_cast<int>(length))) {
      return errors::DataLoss("checkpoint: a variant in ", where(),
                              " is damaged");
    }
    HR_RETURN_IF_ERROR(VariantFromProto(proto, &out->data<Variant>()[i]));
    bytes.remove_prefix(length + 4);
  }
  if (!bytes.empty() || crc32c::Mask(running) != crc) {
    return errors::DataLoss("checkpoint: wrong checksum of ", where());
  }
  return OkStatus();
}

void SwapBytes(Tensor* t) {
  size_t size = DataTypeSize(t->dtype());
  if (DataTypeIsComplex(t->dtype())) size /= 2;
  char* p = static_cast<char*>(t->raw_data());
  for (char* end = p + t->TotalBytes(); p != end; p += size) {
    std::reverse(p, p + size);
  }
}

}  // namespace

StatusOr<std::unique_ptr<BundleReader>> BundleReader::Open(
    Env* env, const std::string& prefix) {
  std::unique_ptr<BundleReader> reader(new BundleReader(env, prefix));
  const std::string path = BundleIndexPath(prefix);
  HR_ASSIGN_OR_RETURN(reader->index_, Table::Open(env, path));
  const Table::Entry* header = reader->index_->Find("");
  if (header == nullptr ||
      !reader->header_.ParseFromArray(header->value.data(),
                                      static_cast<int>(header->value.size()))) {
    return errors::DataLoss("checkpoint: ", path, " has no header");
  }
  const pb::BundleHeaderProto& h = reader->header_;
  if (h.num_shards() <= 0) {
    return errors::DataLoss("checkpoint: ", path, " says that it has ",
                            h.num_shards(), " shards");
  }
  if (h.version().min_consumer() > kVersion || h.version().producer() < 0) {
    return errors::InvalidArgument(
        "checkpoint: ", path, " needs a reader of version ",
        h.version().min_consumer(), "; this one is of version ", kVersion);
  }
  return reader;
}

std::string BundleReader::InIndex(absl::string_view key) const {
  return StrCat("'", key, "' in ", BundleIndexPath(prefix_));
}

Status BundleReader::ShapeOf(absl::string_view key,
                             const pb::TensorShapeProto& proto,
                             TensorShape* out) const {
  PartialTensorShape partial;
  const Status s = ShapeFromProto(proto, &partial);
  if (!s.ok() || !partial.AsTensorShape(out) || !out->IsValid()) {
    return errors::DataLoss("checkpoint: the shape of ", InIndex(key),
                            " is not a shape of a tensor ", s.message());
  }
  return OkStatus();
}

Status BundleReader::Lookup(absl::string_view key,
                            pb::BundleEntryProto* entry) const {
  const Table::Entry* found = key.empty() ? nullptr : index_->Find(key);
  if (found == nullptr) {
    return errors::NotFound("Key ", key, " not found in checkpoint");
  }
  if (!entry->ParseFromArray(found->value.data(),
                             static_cast<int>(found->value.size()))) {
    return errors::DataLoss("checkpoint: the entry of ", InIndex(key),
                            " is no message");
  }
  return OkStatus();
}

StatusOr<RefPtr<MappedFile>> BundleReader::DataFile(int shard) {
  MutexLock lock(&mu_);
  RefPtr<MappedFile>& file = data_[shard];
  if (file == nullptr) {
    auto opened =
        env_->MapFile(BundleDataPath(prefix_, shard, header_.num_shards()));
    if (!opened.ok()) {
      data_.erase(shard);
      return opened.status();
    }
    file = *std::move(opened);
  }
  return file;
}

Status BundleReader::ReadEntry(absl::string_view key,
                               const pb::BundleEntryProto& entry, Tensor* out) {
  const auto dtype = static_cast<DataType>(entry.dtype());
  if (!IsValidDataType(dtype) || IsRefType(dtype) || dtype == DT_RESOURCE) {
    return errors::DataLoss("checkpoint: ", InIndex(key), " has type ",
                            static_cast<int>(dtype));
  }
  TensorShape shape;
  HR_RETURN_IF_ERROR(ShapeOf(key, entry.shape(), &shape));
  if (entry.shard_id() < 0 || entry.shard_id() >= header_.num_shards()) {
    return errors::DataLoss("checkpoint: ", InIndex(key), " lies in shard ",
                            entry.shard_id(), " of ", header_.num_shards());
  }
  HR_ASSIGN_OR_RETURN(RefPtr<MappedFile> file, DataFile(entry.shard_id()));
  const uint64_t offset = entry.offset(), size = entry.size();
  const auto where = [&] {
    return StrCat(
        "'", key, "' (", entry.size(), " bytes at offset ", entry.offset(),
        " of ", BundleDataPath(prefix_, entry.shard_id(), header_.num_shards()),
        ")");
  };
  if (offset > file->size() || size > file->size() - offset) {
    return errors::DataLoss("checkpoint: ", where(),
                            " lies outside of the file, which has ",
                            file->size(), " bytes");
  }
  const absl::string_view bytes = ToAbsl(file->view()).substr(offset, size);
  const int64_t n = shape.num_elements();
  // Each string and variant has a length of a byte at least.
  const bool varies = dtype == DT_STRING || dtype == DT_VARIANT;
  const uint64_t least =
      varies ? n : MultiplyWithoutOverflow(n, DataTypeSize(dtype));
  if (varies ? least > size : least != size) {
    return errors::DataLoss("checkpoint: ", where(), " does not fit type ",
                            DataTypeString(dtype), " and shape ",
                            shape.DebugString());
  }
  HR_RETURN_IF_ERROR(Tensor::Allocate(CpuAllocator(), dtype, shape, out));
  if (dtype == DT_STRING) {
    return ReadStrings(where, bytes, entry.crc32c(), n, out);
  }
  if (dtype == DT_VARIANT) {
    return ReadVariants(where, bytes, entry.crc32c(), n, out);
  }
  if (size > 0) std::memcpy(out->raw_data(), bytes.data(), size);
  // Checks the copy, which nobody can change any more.
  if (crc32c::Mask(crc32c::Value(ToStd(out->tensor_data()))) !=
      entry.crc32c()) {
    return errors::DataLoss("checkpoint: the checksum of ", where(),
                            " does not match");
  }
  const bool is_big = header_.endianness() == pb::BundleHeaderProto::BIG;
  if (is_big != kHostIsBig) SwapBytes(out);
  return OkStatus();
}

Status BundleReader::ReadFromSlices(absl::string_view key,
                                    const pb::BundleEntryProto& entry,
                                    const TensorShape& shape,
                                    const TensorSlice& wanted, Tensor* out) {
  const auto dtype = static_cast<DataType>(entry.dtype());
  TensorSlice box;
  TensorShape box_shape;
  HR_RETURN_IF_ERROR(wanted.Resolve(shape, &box, &box_shape));
  const int64_t n = box_shape.num_elements();

  // First what the slices would cover, so that nothing is allocated for a shape
  // that the file only claims to have.
  std::vector<TensorSlice> slices, boxes;
  int64_t covered = 0;
  for (const auto& proto : entry.slices()) {
    TensorSlice slice, slice_box;
    TensorShape slice_shape;
    Status s = TensorSlice::FromProto(proto, &slice);
    if (s.ok()) s = slice.Resolve(shape, &slice_box, &slice_shape);
    if (!s.ok()) {
      return errors::DataLoss("checkpoint: a slice of ", InIndex(key), ": ",
                              s.message());
    }
    int64_t common = slice_shape.num_elements() == 0 ? 0 : 1;
    for (int i = 0; i < shape.dims() && common > 0; ++i) {
      const auto &a = box.extent(i), &b = slice_box.extent(i);
      common *= std::max<int64_t>(
          0, std::min(a.start + a.length, b.start + b.length) -
                 std::max(a.start, b.start));
    }
    if (common == 0) continue;
    covered = AddWithoutOverflow(covered, common);
    slices.push_back(std::move(slice));
    boxes.push_back(std::move(slice_box));
    if (covered < 0) break;
  }
  const auto insufficient = [&] {
    return errors::InvalidArgument(
        "Does not have sufficient slices for partitioned tensor ", key,
        " to restore in slice_spec: ", wanted.DebugString());
  };
  if (covered < n) return insufficient();

  std::vector<Tensor> pieces;
  for (const TensorSlice& slice : slices) {
    const std::string slice_key = EncodeSliceKey(key, slice);
    pb::BundleEntryProto piece;
    pieces.emplace_back();
    if (!Lookup(slice_key, &piece).ok()) {
      return errors::DataLoss("checkpoint: slice ", slice.DebugString(),
                              " of '", key, "' is listed in ",
                              BundleIndexPath(prefix_), " but not there");
    }
    HR_RETURN_IF_ERROR(ReadEntry(key, piece, &pieces.back()));
    TensorSlice unused;
    TensorShape slice_shape;
    HR_RETURN_IF_ERROR(slice.Resolve(shape, &unused, &slice_shape));
    if (pieces.back().dtype() != dtype ||
        pieces.back().shape() != slice_shape) {
      return errors::DataLoss("checkpoint: slice ", slice.DebugString(), " of ",
                              InIndex(key), " is of another type or shape");
    }
  }
  HR_RETURN_IF_ERROR(Tensor::Allocate(CpuAllocator(), dtype, box_shape, out));
  std::vector<bool> is_set(n, false);
  for (size_t i = 0; i < pieces.size(); ++i) {
    TensorSlice::ForEachCommonRun(
        box, boxes[i], [&](int64_t to, int64_t from, int64_t count) {
          CopyElements(pieces[i], from, out, to, count);
          std::fill_n(is_set.begin() + to, count, true);
        });
  }
  // Overlapping slices may still leave gaps.
  if (std::find(is_set.begin(), is_set.end(), false) != is_set.end()) {
    return insufficient();
  }
  return OkStatus();
}

Status BundleReader::Read(absl::string_view key, Tensor* out) {
  pb::BundleEntryProto entry;
  HR_RETURN_IF_ERROR(Lookup(key, &entry));
  if (entry.slices().empty()) return ReadEntry(key, entry, out);
  TensorShape shape;
  HR_RETURN_IF_ERROR(ShapeOf(key, entry.shape(), &shape));
  return ReadFromSlices(key, entry, shape, TensorSlice::Full(shape.dims()),
                        out);
}

Status BundleReader::ReadSlice(absl::string_view key,
                               const TensorShape& full_shape,
                               const TensorSlice& slice, Tensor* out) {
  pb::BundleEntryProto entry;
  HR_RETURN_IF_ERROR(Lookup(key, &entry));
  TensorShape shape;
  HR_RETURN_IF_ERROR(ShapeOf(key, entry.shape(), &shape));
  if (shape != full_shape) {
    return errors::InvalidArgument(
        "tensor_name = ", key, "; shape in shape_and_slice spec ",
        full_shape.DebugString(), " does not match the shape stored in ",
        "checkpoint: ", shape.DebugString());
  }
  if (!entry.slices().empty()) {
    return ReadFromSlices(key, entry, shape, slice, out);
  }
  if (slice.IsFull()) return ReadEntry(key, entry, out);
  Tensor whole;
  HR_RETURN_IF_ERROR(ReadEntry(key, entry, &whole));
  TensorSlice box, all;
  TensorShape box_shape, unused;
  HR_RETURN_IF_ERROR(slice.Resolve(shape, &box, &box_shape));
  HR_RETURN_IF_ERROR(
      TensorSlice::Full(shape.dims()).Resolve(shape, &all, &unused));
  HR_RETURN_IF_ERROR(
      Tensor::Allocate(CpuAllocator(), whole.dtype(), box_shape, out));
  TensorSlice::ForEachCommonRun(box, all,
                                [&](int64_t to, int64_t from, int64_t count) {
                                  CopyElements(whole, from, out, to, count);
                                });
  return OkStatus();
}

// Writing.

BundleWriter::BundleWriter(Env* env, std::string prefix)
    : env_(env),
      prefix_(std::move(prefix)),
      temporary_(BundleDataPath(prefix_, 0, 1) + TemporarySuffix(env)) {}

StatusOr<std::unique_ptr<BundleWriter>> BundleWriter::Open(
    Env* env, const std::string& prefix) {
  const std::string_view dir = Dirname(prefix);
  if (!dir.empty()) {
    HR_RETURN_IF_ERROR(env->CreateDirRecursively(std::string(dir)));
  }
  DeleteTemporariesOfTheDead(env, prefix);
  std::unique_ptr<BundleWriter> writer(new BundleWriter(env, prefix));
  HR_ASSIGN_OR_RETURN(writer->data_, env->NewWritableFile(writer->temporary_));
  return writer;
}

BundleWriter::~BundleWriter() {
  if (finished_) return;
  data_.reset();
  (void)env_->DeleteFile(temporary_).ok();
}

Status BundleWriter::Add(const std::string& key, const Tensor& value) {
  if (key.empty() || entries_.count(key) != 0) {
    return errors::InvalidArgument("Adding duplicate key: '", key, "'");
  }
  const DataType dtype = value.dtype();
  bool can_be_saved = dtype == DT_STRING || DataTypeCanUseMemcpy(dtype);
  if (dtype == DT_VARIANT && value.IsInitialized()) {
    can_be_saved = std::all_of(
        value.span<Variant>().begin(), value.span<Variant>().end(),
        [](const Variant& v) { return v.Get<SavedVariant>() != nullptr; });
  }
  if (!value.IsInitialized() || !can_be_saved) {
    return errors::Unimplemented("saving '", key, "' of type ",
                                 DataTypeString(dtype));
  }
  pb::BundleEntryProto entry;
  entry.set_dtype(static_cast<pb::DataType>(dtype));
  ShapeToProto(value.shape(), entry.mutable_shape());
  entry.set_offset(offset_);
  uint32_t crc = 0;
  int64_t size = 0;
  const auto append = [&](absl::string_view bytes) {
    size += static_cast<int64_t>(bytes.size());
    return data_->Append(ToStd(bytes));
  };
  if (dtype == DT_STRING) {
    std::string lengths;
    for (const tstring& s : value.span<tstring>()) {
      PutVarint(&lengths, s.size());
      crc = ExtendByLength(crc, s.size());
    }
    std::string checksum;
    PutFixed<uint32_t>(&checksum, crc32c::Mask(crc));
    crc = crc32c::Extend(crc, checksum.data(), checksum.size());
    HR_RETURN_IF_ERROR(append(lengths + checksum));
    for (const tstring& s : value.span<tstring>()) {
      crc = crc32c::Extend(crc, s.data(), s.size());
      HR_RETURN_IF_ERROR(append(s));
    }
  } else if (dtype == DT_VARIANT) {
    for (const Variant& v : value.span<Variant>()) {
      std::string message, length, checksum;
      if (!(*v.Get<SavedVariant>())->SerializeToString(&message)) {
        return errors::ResourceExhausted("saving '", key,
                                         "': a variant of 2 GiB or more");
      }
      PutVarint(&length, message.size());
      crc = ExtendByVariant(crc, message, &checksum);
      HR_RETURN_IF_ERROR(append(length));
      HR_RETURN_IF_ERROR(append(message));
      HR_RETURN_IF_ERROR(append(checksum));
    }
  } else {
    crc = crc32c::Value(ToStd(value.tensor_data()));
    HR_RETURN_IF_ERROR(append(value.tensor_data()));
  }
  entry.set_size(size);
  entry.set_crc32c(crc32c::Mask(crc));
  offset_ += size;
  entries_.emplace(key, std::move(entry));
  return OkStatus();
}

Status BundleWriter::AddSlice(const std::string& key,
                              const TensorShape& full_shape,
                              const TensorSlice& slice, const Tensor& value) {
  TensorSlice box;
  TensorShape box_shape;
  HR_RETURN_IF_ERROR(slice.Resolve(full_shape, &box, &box_shape));
  if (box_shape != value.shape()) {
    return errors::InvalidArgument(
        "'", key, "': slice ", slice.DebugString(), " of ",
        full_shape.DebugString(), " has shape ", box_shape.DebugString(),
        ", the tensor has ", value.shape().DebugString());
  }
  // A slice that covers all is a whole tensor.
  if (box_shape == full_shape) return Add(key, value);
  pb::BundleEntryProto whole;
  whole.set_dtype(static_cast<pb::DataType>(value.dtype()));
  ShapeToProto(full_shape, whole.mutable_shape());
  const auto at = entries_.find(key);
  if (at != entries_.end()) {
    if (at->second.slices().empty()) {
      return errors::InvalidArgument("Adding duplicate key: '", key, "'");
    }
    if (at->second.dtype() != whole.dtype() ||
        at->second.shape().SerializeAsString() !=
            whole.shape().SerializeAsString()) {
      return errors::InvalidArgument("slices of '", key,
                                     "' have different types or full shapes");
    }
  }
  HR_RETURN_IF_ERROR(Add(EncodeSliceKey(key, slice), value));
  slice.ToProto(
      entries_.emplace(key, std::move(whole)).first->second.add_slices());
  return OkStatus();
}

Status BundleWriter::Finish() {
  HR_RETURN_IF_ERROR(data_->Sync());
  HR_RETURN_IF_ERROR(data_->Close());
  pb::BundleHeaderProto header;
  if (kHostIsBig) header.set_endianness(pb::BundleHeaderProto::BIG);
  header.mutable_version()->set_producer(kVersion);
  HR_RETURN_IF_ERROR(
      PutInPlace(env_, prefix_, {temporary_}, std::move(header), entries_));
  finished_ = true;
  return OkStatus();
}

Status MergeBundles(Env* env, const std::vector<std::string>& prefixes,
                    const std::string& destination, bool allow_missing) {
  std::vector<std::string> sources;  // data files
  std::vector<std::string> indexes;
  std::map<std::string, pb::BundleEntryProto> entries;
  pb::BundleHeaderProto header;
  for (const std::string& prefix : prefixes) {
    auto opened = BundleReader::Open(env, prefix);
    if (allow_missing && errors::IsNotFound(opened.status())) continue;
    HR_RETURN_IF_ERROR(opened.status());
    const BundleReader& reader = **opened;
    if (indexes.empty()) {
      header = reader.header();
    } else if (header.endianness() != reader.header().endianness() ||
               header.version().SerializeAsString() !=
                   reader.header().version().SerializeAsString()) {
      return errors::InvalidArgument(
          "checkpoints ", prefixes[0], " and ", prefix,
          " differ in endianness or version and cannot be merged");
    }
    indexes.push_back(BundleIndexPath(prefix));
    absl::flat_hash_map<int, int> numbers;  // of this checkpoint's shards
    for (const Table::Entry& e : reader.table().entries()) {
      if (e.key.empty()) continue;
      pb::BundleEntryProto entry;
      HR_RETURN_IF_ERROR(reader.Lookup(e.key, &entry));
      const bool partitioned = !entry.slices().empty();
      if (!partitioned) {
        const int old = entry.shard_id();
        if (old < 0 || old >= reader.header().num_shards()) {
          return errors::DataLoss("checkpoint ", prefix, ": an entry in shard ",
                                  old);
        }
        const auto [at, added] =
            numbers.emplace(old, static_cast<int>(sources.size()));
        if (added) {
          sources.push_back(
              BundleDataPath(prefix, old, reader.header().num_shards()));
        }
        entry.set_shard_id(at->second);
      }
      const auto [at, added] = entries.emplace(e.key, entry);
      if (added) continue;
      pb::BundleEntryProto& merged = at->second;
      if (!partitioned || merged.slices().empty()) {
        return errors::InvalidArgument(
            "Duplicate tensor keyed by ", e.key,
            " encountered, when merging prefix: ", prefix);
      }
      if (merged.dtype() != entry.dtype() ||
          merged.shape().SerializeAsString() !=
              entry.shape().SerializeAsString()) {
        return errors::InvalidArgument("slices of '", e.key,
                                       "' have different types or full shapes");
      }
      merged.mutable_slices()->MergeFrom(entry.slices());
    }
  }
  if (indexes.empty()) {
    return errors::InvalidArgument(
        "MergeV2Checkpoints: none of the input checkpoints exists");
  }
  const std::string_view dir = Dirname(destination);
  if (!dir.empty()) {
    HR_RETURN_IF_ERROR(env->CreateDirRecursively(std::string(dir)));
  }
  DeleteTemporariesOfTheDead(env, destination);
  HR_RETURN_IF_ERROR(
      PutInPlace(env, destination, sources, std::move(header), entries));
  for (const std::string& index : indexes) {
    if (index != BundleIndexPath(destination)) {
      HR_RETURN_IF_ERROR(env->DeleteFile(index));
    }
  }
  return OkStatus();
}

}  // namespace headrace
