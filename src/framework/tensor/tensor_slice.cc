#include "framework/tensor/tensor_slice.h"

#include <algorithm>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"

namespace headrace {
namespace {

void PutNum(std::string* out, uint64_t v) {
  int n = 0;
  while (n < 8 && (v >> (8 * n)) != 0) ++n;
  out->push_back(static_cast<char>(n));
  while (n-- > 0) out->push_back(static_cast<char>(v >> (8 * n)));
}

void PutString(std::string* out, absl::string_view s) {
  for (const char c : s) {
    out->push_back(c);
    if (c == '\0') out->push_back('\xff');
    if (c == '\xff') out->push_back('\0');
  }
  out->append("\0\1", 2);
}

// Big-endian two's complement in the fewest bytes whose 7 bits each hold it,
// with the length in the leading bits.
void PutSignedNum(std::string* out, int64_t v) {
  int length = 1;
  while (length < 10) {
    const int bits = 7 * length - 1;
    if (bits >= 63 || (v >= -(int64_t{1} << bits) && v < int64_t{1} << bits)) {
      break;
    }
    ++length;
  }
  uint8_t bytes[10];
  for (int i = 0; i < length; ++i) {
    const int shift = 8 * (length - 1 - i);
    bytes[i] = static_cast<uint8_t>(v >> std::min(shift, 63));
  }
  const uint32_t header = (0xffffu << (16 - length)) & 0xffffu;
  bytes[0] ^= static_cast<uint8_t>(header >> 8);
  if (length > 1) bytes[1] ^= static_cast<uint8_t>(header);
  out->append(reinterpret_cast<const char*>(bytes), length);
}

}  // namespace

Status TensorSlice::FromProto(const pb::TensorSliceProto& proto,
                              TensorSlice* out) {
  out->extents_.clear();
  if (proto.extent_size() > kMaxTensorRank) {
    return errors::InvalidArgument("a slice of ", proto.extent_size(),
                                   " dimensions");
  }
  for (const auto& e : proto.extent()) {
    Extent extent;
    if (e.has_length_case() == pb::TensorSliceProto::Extent::kLength) {
      extent = {e.start(), e.length()};
      if (e.start() < 0 || e.length() < 0) {
        return errors::InvalidArgument("a slice with start ", e.start(),
                                       " and length ", e.length());
      }
    } else if (e.start() != 0) {
      return errors::InvalidArgument("a slice of a whole dimension starts at ",
                                     e.start());
    }
    out->extents_.push_back(extent);
  }
  return OkStatus();
}

void TensorSlice::ToProto(pb::TensorSliceProto* proto) const {
  proto->Clear();
  for (const Extent& e : extents_) {
    auto* extent = proto->add_extent();
    if (e.length < 0) continue;
    extent->set_start(e.start);
    extent->set_length(e.length);
  }
}

Status TensorSlice::Parse(absl::string_view text, TensorSlice* out) {
  out->extents_.clear();
  if (text.empty()) return OkStatus();  // of a scalar
  for (absl::string_view part : absl::StrSplit(text, ':')) {
    Extent e;
    if (part != "-") {
      const std::pair<absl::string_view, absl::string_view> pair =
          absl::StrSplit(part, absl::MaxSplits(',', 1));
      if (!absl::SimpleAtoi(pair.first, &e.start) ||
          !absl::SimpleAtoi(pair.second, &e.length) || e.start < 0 ||
          e.length <= 0) {
        return errors::InvalidArgument(
            "Expected a pair of numbers or '-' but got '", part,
            "': string = ", text);
      }
    }
    out->extents_.push_back(e);
  }
  if (out->dims() > kMaxTensorRank) {
    return errors::InvalidArgument("a slice of ", out->dims(), " dimensions");
  }
  return OkStatus();
}

std::string TensorSlice::DebugString() const {
  std::string s;
  for (const Extent& e : extents_) {
    if (!s.empty()) s += ':';
    s += e.length < 0 ? "-" : StrCat(e.start, ",", e.length);
  }
  return s;
}

bool TensorSlice::IsFull() const {
  return std::all_of(extents_.begin(), extents_.end(),
                     [](const Extent& e) { return e.length < 0; });
}

Status TensorSlice::Resolve(const TensorShape& shape, TensorSlice* box,
                            TensorShape* box_shape) const {
  if (dims() != shape.dims()) {
    return errors::InvalidArgument("slice '", DebugString(), "' has ", dims(),
                                   " dimensions, the tensor ",
                                   shape.DebugString(), " has ", shape.dims());
  }
  DimVector sizes;
  TensorSlice result;
  for (int i = 0; i < dims(); ++i) {
    Extent e = extents_[i];
    const int64_t size = shape.dim_size(i);
    if (e.length < 0) {
      e.length = size;
    } else if (e.start > size || e.length > size - e.start) {
      return errors::InvalidArgument("slice '", DebugString(),
                                     "' reaches out of shape ",
                                     shape.DebugString());
    }
    result.extents_.push_back(e);
    sizes.push_back(e.length);
  }
  *box = std::move(result);
  return TensorShape::Build(sizes, box_shape);
}

void TensorSlice::ForEachCommonRun(
    const TensorSlice& a, const TensorSlice& b,
    absl::FunctionRef<void(int64_t, int64_t, int64_t)> run) {
  const int rank = a.dims();
  if (rank == 0) return run(0, 0, 1);
  DimVector begin(rank), end(rank), at(rank);
  for (int i = 0; i < rank; ++i) {
    const Extent &x = a.extent(i), &y = b.extent(i);
    begin[i] = std::max(x.start, y.start);
    end[i] = std::min(x.start + x.length, y.start + y.length);
    if (begin[i] >= end[i]) return;
  }
  at = begin;
  while (true) {
    int64_t in_a = 0, in_b = 0;
    for (int i = 0; i < rank; ++i) {
      in_a = in_a * a.extent(i).length + (at[i] - a.extent(i).start);
      in_b = in_b * b.extent(i).length + (at[i] - b.extent(i).start);
    }
    run(in_a, in_b, end[rank - 1] - begin[rank - 1]);
    int i = rank - 2;
    while (i >= 0 && ++at[i] == end[i]) {
      at[i] = begin[i];
      --i;
    }
    if (i < 0) return;
  }
}

Status ParseShapeAndSlice(absl::string_view spec, TensorShape* shape,
                          TensorSlice* slice, TensorShape* slice_shape) {
  std::vector<absl::string_view> parts = absl::StrSplit(spec, ' ');
  DimVector dims;
  for (size_t i = 0; i + 1 < parts.size(); ++i) {
    int64_t dim = -1;
    if (!absl::SimpleAtoi(parts[i], &dim) || dim < 0) {
      return errors::InvalidArgument("shape_and_slice '", spec,
                                     "': non numerical dimension '", parts[i],
                                     "'");
    }
    dims.push_back(dim);
  }
  Status s = TensorShape::Build(dims, shape);
  if (s.ok()) s = TensorSlice::Parse(parts.back(), slice);
  TensorSlice box;
  if (s.ok()) s = slice->Resolve(*shape, &box, slice_shape);
  return Annotate(
      s, StrCat(" (shape_and_slice '", spec, "'; wanted \"d0 d1 ... slice\")"));
}

std::string EncodeSliceKey(absl::string_view name, const TensorSlice& slice) {
  std::string key;
  PutNum(&key, 0);
  PutString(&key, name);
  PutNum(&key, slice.dims());
  for (int i = 0; i < slice.dims(); ++i) {
    PutSignedNum(&key, slice.extent(i).start);
    PutSignedNum(&key, slice.extent(i).length);
  }
  return key;
}

}  // namespace headrace
