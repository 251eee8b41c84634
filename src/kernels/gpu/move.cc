#include "kernels/gpu/move.h"

#include <vector>

#include "kernels/lib/box_copy.h"

namespace headrace::gpu {
namespace {

struct MergedDim {
  int64_t size;
  int from;  // its place among the merged dims of the input
};

// The dims of a transposition without those of size 1, and with those merged
// that stay together; in the output's order.
std::vector<MergedDim> Merge(const TensorShape& in,
                             absl::Span<const int64_t> perm) {
  struct Run {
    int64_t size;
    int64_t first, last;  // dims of the input
  };
  // The next dim of the input that is not of size 1.
  std::vector<int64_t> next(in.dims() + 1, in.dims());
  for (int d = in.dims() - 1; d >= 0; --d) {
    next[d] = in.dim_size(d) != 1 ? d : next[d + 1];
  }
  std::vector<Run> runs;
  for (const int64_t p : perm) {
    const int64_t size = in.dim_size(static_cast<int>(p));
    if (size == 1) continue;
    if (!runs.empty() && next[runs.back().last + 1] == p) {
      runs.back().size *= size;
      runs.back().last = p;
    } else {
      runs.push_back({size, p, p});
    }
  }
  std::vector<MergedDim> dims;
  for (const Run& r : runs) {
    int at = 0;
    for (const Run& other : runs) at += other.first < r.first;
    dims.push_back({r.size, at});
  }
  return dims;
}

}  // namespace

Status MoveBox(Stream* stream, const Tensor& from, int64_t from_at, Tensor* to,
               int64_t to_at, const BoxBuilder<2>& builder) {
  if (builder.size() == 0) return OkStatus();
  StridedBox<2> box;
  HR_RETURN_IF_ERROR(builder.Build(&box));
  const size_t width = DataTypeSize(from.dtype());
  const bool run = box.rank == 0 || (box.rank == 1 && box.stride[0][0] == 1 &&
                                     box.stride[1][0] == 1);
  if (run) {
    const size_t bytes = builder.size() * width;
    return stream->CopyOnDevice(
        DeviceMemoryBase(*to).Slice(to_at * width, bytes),
        DeviceMemoryBase(from).Slice(from_at * width, bytes), bytes);
  }
  return WithWidth(from.dtype(), [&](auto bytes) {
    using E = Element<bytes()>;
    return ForEach(
        stream, builder.size(),
        BoxMove<bytes()>{static_cast<const E*>(from.raw_data()) + from_at,
                         static_cast<E*>(to->raw_data()) + to_at, box});
  });
}

Status TransposeOnDevice(Stream* stream, const Tensor& in,
                         absl::Span<const int64_t> perm, Tensor* out) {
  if (in.NumElements() == 0) return OkStatus();
  const std::vector<MergedDim> dims = Merge(in.shape(), perm);
  const size_t rank = dims.size();
  // [.., rows, columns] -> [.., columns, rows].
  const bool swaps_last = (rank == 2 && dims[0].from == 1) ||
                          (rank == 3 && dims[0].from == 0 && dims[1].from == 2);
  if (swaps_last) {
    const int64_t batch = rank == 3 ? dims[0].size : 1;
    const int64_t rows = dims[rank - 1].size, columns = dims[rank - 2].size;
    return WithWidth(in.dtype(), [&](auto bytes) {
      using E = Element<bytes()>;
      using F = TileTranspose<bytes()>;
      const int64_t row_tiles = (rows + F::kTile - 1) / F::kTile;
      const int64_t column_tiles = (columns + F::kTile - 1) / F::kTile;
      return ForBlocks(stream, batch * row_tiles * column_tiles,
                       F{static_cast<const E*>(in.raw_data()),
                         static_cast<E*>(out->raw_data()), rows, columns,
                         row_tiles, column_tiles});
    });
  }
  const DimVector from = RowMajorStrides(in.shape().dim_sizes());
  const DimVector to = RowMajorStrides(out->shape().dim_sizes());
  BoxBuilder<2> box;
  for (size_t i = 0; i < perm.size(); ++i) {
    box.AddDim(in.dim_size(static_cast<int>(perm[i])), {from[perm[i]], to[i]});
  }
  return MoveBox(stream, in, 0, out, 0, box);
}

Status PadOnDevice(Stream* stream, const Tensor& in,
                   absl::Span<const int64_t> before, const Tensor* value,
                   Tensor* out) {
  if (out->NumElements() == 0) return OkStatus();
  // Dims that are not padded are one with the dim before them.
  struct Dim {
    int64_t in, out, before;
  };
  std::vector<Dim> dims;
  for (int d = 0; d < in.dims(); ++d) {
    const Dim dim{in.dim_size(d), out->dim_size(d), before[d]};
    if (dim.in == dim.out && !dims.empty()) {
      dims.back().in *= dim.in;
      dims.back().out *= dim.in;
      dims.back().before *= dim.in;
    } else {
      dims.push_back(dim);
    }
  }
  return WithWidth(in.dtype(), [&](auto bytes) -> Status {
    using E = Element<bytes()>;
    using F = PadMove<bytes()>;
    if (dims.size() > F::kMaxRank) {
      return errors::Unimplemented("Pad on a GPU: ", dims.size(),
                                   " dimensions, at most ", F::kMaxRank);
    }
    F f{};
    f.x = static_cast<const E*>(in.raw_data());
    f.value =
        value == nullptr ? nullptr : static_cast<const E*>(value->raw_data());
    f.y = static_cast<E*>(out->raw_data());
    f.rank = static_cast<int>(dims.size());
    for (int d = 0; d < f.rank; ++d) {
      f.x_size[d] = dims[d].in;
      f.y_size[d] = dims[d].out;
      f.before[d] = dims[d].before;
    }
    return ForEach(stream, out->NumElements(), f);
  });
}

}  // namespace headrace::gpu
