#include "kernels/lib/broadcast.h"

#include <algorithm>
#include <cstring>
#include <string>

namespace headrace {

namespace {
// Products of dims overflow only where another dim is 0: then nothing is done.
void MultiplyBy(int64_t b, int64_t* a) {
  *a = static_cast<int64_t>(static_cast<uint64_t>(*a) *
                            static_cast<uint64_t>(b));
}
}  // namespace

BCast::BCast(std::initializer_list<const TensorShape*> shapes) {
  const int count = static_cast<int>(shapes.size());
  const TensorShape* const* operand = shapes.begin();
  int rank = 0;
  for (int k = 0; k < count; ++k) rank = std::max(rank, operand[k]->dims());

  // Sizes and strides of every dim, innermost first.
  absl::InlinedVector<Dim, 4> all(rank);
  std::array<int64_t, kMaxOperands> step{1, 1, 1};
  DimVector out(rank, 1);
  for (int i = 0; i < rank; ++i) {
    Dim& dim = all[i];
    dim.size = 1;
    dim.stride = {};
    for (int k = 0; k < count; ++k) {
      const int at = operand[k]->dims() - 1 - i;
      const int64_t size = at < 0 ? 1 : operand[k]->dim_size(at);
      if (size == 1) continue;
      if (dim.size != 1 && dim.size != size) {
        std::string list = operand[0]->DebugString();
        for (int j = 1; j < count; ++j) {
          StrAppend(&list, " vs. ", operand[j]->DebugString());
        }
        status_ = errors::InvalidArgument("Incompatible shapes: ", list);
        return;
      }
      dim.size = size;
      dim.stride[k] = step[k];
      MultiplyBy(size, &step[k]);
    }
    out[rank - 1 - i] = dim.size;
  }
  status_ = TensorShape::Build(out, &output_);
  if (!status_.ok()) return;

  // Merge dim i into the one before if every operand walks on through both.
  for (const Dim& dim : all) {
    if (dim.size == 1) continue;
    if (!dims_.empty()) {
      Dim& inner = dims_.back();
      bool same = true;
      for (int k = 0; k < count; ++k) {
        same = same && (dim.stride[k] == 0) == (inner.stride[k] == 0);
      }
      if (same) {
        MultiplyBy(dim.size, &inner.size);
        continue;
      }
    }
    dims_.push_back(dim);
  }
  if (dims_.empty()) dims_.push_back({1, {}});
  std::reverse(dims_.begin(), dims_.end());
}

int64_t BCast::rows() const {
  int64_t n = 1;
  for (size_t d = 0; d + 1 < dims_.size(); ++d) n *= dims_[d].size;
  return n;
}

BCastCursor::BCastCursor(absl::Span<const BCast::Dim> dims, int64_t at)
    : dims_(dims), index_(dims.size(), 0) {
  for (int d = static_cast<int>(dims.size()) - 1; d >= 0; --d) {
    if (dims[d].size <= 0) return;
    index_[d] = at % dims[d].size;
    at /= dims[d].size;
    for (int k = 0; k < BCast::kMaxOperands; ++k) {
      offset_[k] += index_[d] * dims[d].stride[k];
    }
  }
}

namespace {
template <int kSize>
struct alignas(kSize) Chunk {
  char bytes[kSize];
};

template <int kSize>
void Gather(const BCast& b, int k, const char* src, int64_t begin, int64_t n,
            char* out) {
  const BCast::Dim inner = b.dims().back();
  int64_t at = begin % inner.size;
  BCastCursor cursor(b.dims().first(b.dims().size() - 1), begin / inner.size);
  while (n > 0) {
    const int64_t run = std::min(n, inner.size - at);
    const char* from = src + (cursor.offset(k) + at * inner.stride[k]) * kSize;
    if (inner.stride[k] == 0) {
      Chunk<kSize> v;
      std::memcpy(&v, from, kSize);
      for (int64_t i = 0; i < run; ++i) {
        std::memcpy(out + i * kSize, &v, kSize);
      }
    } else if (run * kSize > 64) {
      std::memcpy(out, from, run * kSize);
    } else {
      for (int64_t i = 0; i < run; ++i) {
        std::memcpy(out + i * kSize, from + i * kSize, kSize);
      }
    }
    out += run * kSize;
    n -= run;
    at = 0;
    cursor.Next();
  }
}
}  // namespace

void GatherBroadcast(const BCast& b, int k, const void* src, int64_t begin,
                     int64_t n, int size, void* out) {
  const char* s = static_cast<const char*>(src);
  char* o = static_cast<char*>(out);
  switch (size) {
    case 1:
      return Gather<1>(b, k, s, begin, n, o);
    case 2:
      return Gather<2>(b, k, s, begin, n, o);
    case 4:
      return Gather<4>(b, k, s, begin, n, o);
    case 8:
      return Gather<8>(b, k, s, begin, n, o);
    case 16:
      return Gather<16>(b, k, s, begin, n, o);
  }
}

}  // namespace headrace
