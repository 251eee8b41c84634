#include "kernels/math/reduction.h"

#include <algorithm>
#include <bit>
#include <vector>

namespace headrace {

namespace {
constexpr int64_t kLeaf = 4096;     // elements of a run that one loop takes
constexpr int64_t kLeafRows = 128;  // rows that are combined one by one
constexpr int64_t kPart = 32768;    // elements worth a thread's while

// Products of dims overflow only where another dim is 0: then nothing is done.
void MultiplyBy(int64_t b, int64_t* a) {
  *a = static_cast<int64_t>(static_cast<uint64_t>(*a) *
                            static_cast<uint64_t>(b));
}

int64_t CeilOfDiv(int64_t a, int64_t b) { return a / b + (a % b != 0); }

int64_t OffsetOf(absl::Span<const BCast::Dim> dims, int64_t index) {
  int64_t offset = 0;
  for (size_t d = dims.size(); d-- > 0;) {
    offset += index % dims[d].size * dims[d].stride[0];
    index /= dims[d].size;
  }
  return offset;
}

// One call of Reduce.
class Reducer {
 public:
  Reducer(const ReductionPlan& plan, const ReductionLoops& loops,
          DataType dtype, const void* x)
      : plan_(plan),
        loops_(loops),
        dtype_(dtype),
        narrow_(IsNarrowFloat(dtype)),
        size_(DataTypeSize(dtype)),
        x_(static_cast<const char*>(x)) {}

  // Results [first, last) of their parts' units.
  void Units(int64_t part, int64_t first, int64_t last, char* out) {
    const int64_t begin = part * plan_.part_size;
    const int64_t end = std::min(begin + plan_.part_size, plan_.count);
    if (plan_.inner_reduced) {
      RunUnits(first, last, begin, end, out);
    } else {
      ColumnUnits(first, last, begin, end, out);
    }
  }

 private:
  const char* At(int64_t element) const { return x_ + element * size_; }

  void CallRuns(int64_t at, int64_t n, int64_t count, int64_t stride,
                char* out) {
    if (!narrow_) {
      loops_.runs(At(at), n, count, stride, out);
      return;
    }
    float wide[kLeaf];
    for (int64_t i = 0; i < count; ++i) {
      Widen(dtype_, At(at + i * stride), wide, n);
      loops_.runs(wide, n, 1, 0, out + i * loops_.acc_size);
    }
  }

  void CallRows(int64_t at, int64_t n, int64_t count, int64_t stride,
                char* acc) {
    if (!narrow_) {
      loops_.rows(At(at), n, count, stride, acc);
      return;
    }
    float wide[ReductionPlan::kColumns];
    for (int64_t i = 0; i < count; ++i) {
      Widen(dtype_, At(at + i * stride), wide, n);
      loops_.rows(wide, n, 1, 0, acc);
    }
  }

  // A result a unit, from contiguous runs.
  void RunUnits(int64_t first, int64_t last, int64_t begin, int64_t end,
                char* out) {
    const bool one_run = plan_.reduced.size() == 1 && end - begin <= kLeaf;
    for (int64_t u = first; u < last;) {
      const int64_t base = OffsetOf(plan_.kept, u);
      char* to = out + u * loops_.acc_size;
      if (!one_run) {
        OneResult(base, begin, end, to);
        ++u;
        continue;
      }
      const BCast::Dim& inner = plan_.kept.back();
      const int64_t m = std::min(last - u, inner.size - u % inner.size);
      CallRuns(base + begin, end - begin, m, inner.stride[0], to);
      u += m;
    }
  }

  // Runs, folded 256 at a time, and the folds again, level by level.
  void OneResult(int64_t base, int64_t begin, int64_t end, char* to) {
    constexpr int kFan = 256, kLevels = 7, kMaxAcc = 16;
    alignas(16) char level[kLevels][kFan * kMaxAcc];
    int filled[kLevels] = {};
    const int a = loops_.acc_size;
    const int64_t inner = plan_.reduced.back().size;
    absl::Span<const BCast::Dim> outer =
        absl::MakeConstSpan(plan_.reduced).first(plan_.reduced.size() - 1);
    for (int64_t i = begin; i < end;) {
      const int64_t at = base + OffsetOf(plan_.reduced, i);
      char* slot = level[0] + filled[0] * a;
      if (!outer.empty() && inner <= kLeaf && i % inner == 0 &&
          end - i >= inner) {
        const int64_t index = i / inner % outer.back().size;
        const int64_t m =
            std::min({(end - i) / inner, outer.back().size - index,
                      int64_t{kFan} - filled[0]});
        CallRuns(at, inner, m, outer.back().stride[0], slot);
        filled[0] += static_cast<int>(m);
        i += m * inner;
      } else {
        const int64_t m = std::min({end - i, inner - i % inner, kLeaf});
        CallRuns(at, m, 1, 0, slot);
        ++filled[0];
        i += m;
      }
      for (int k = 0; filled[k] == kFan && k + 1 < kLevels; ++k) {
        loops_.fold(level[k], kFan, 1, 0, level[k + 1] + filled[k + 1] * a);
        filled[k] = 0;
        ++filled[k + 1];
      }
    }
    for (int k = 0; k + 1 < kLevels; ++k) {
      if (filled[k] == 0) continue;
      bool rest = false;
      for (int j = k + 1; j < kLevels; ++j) rest = rest || filled[j] > 0;
      if (!rest) {
        loops_.fold(level[k], filled[k], 1, 0, to);
        return;
      }
      loops_.fold(level[k], filled[k], 1, 0, level[k + 1] + filled[k + 1] * a);
      ++filled[k + 1];
    }
    loops_.fold(level[kLevels - 1], filled[kLevels - 1], 1, 0, to);
  }

  // Up to kColumns neighbouring results a unit, from rows.
  void ColumnUnits(int64_t first, int64_t last, int64_t begin, int64_t end,
                   char* out) {
    constexpr int64_t kColumns = ReductionPlan::kColumns;
    const int64_t inner = plan_.kept.back().size;
    const int64_t chunks = CeilOfDiv(inner, kColumns);
    absl::Span<const BCast::Dim> outer =
        absl::MakeConstSpan(plan_.kept).first(plan_.kept.size() - 1);
    const int64_t levels =
        3 + std::bit_width(static_cast<uint64_t>(end - begin) / kLeafRows);
    std::vector<char> scratch(levels * std::min(inner, kColumns) *
                              loops_.acc_size);
    for (int64_t u = first; u < last; ++u) {
      const int64_t column = u % chunks * kColumns;
      const int64_t n = std::min(kColumns, inner - column);
      Columns(OffsetOf(outer, u / chunks) + column, n, begin, end,
              scratch.data(),
              out + (u / chunks * inner + column) * loops_.acc_size);
    }
  }

  // Leaves of kLeafRows rows, combined pairwise as they come, like the bits of
  // a binary counter.
  void Columns(int64_t base, int64_t n, int64_t begin, int64_t end,
               char* scratch, char* to) {
    const int64_t bytes = n * loops_.acc_size;
    const BCast::Dim& dim = plan_.reduced.back();
    // Narrow rows that lie back to back are read as fewer, wider ones.
    const bool packed =
        plan_.reduced.size() == 1 && n <= 32 && dim.stride[0] == n;
    const int64_t group = packed ? 64 / n : 1;
    uint64_t leaves = 0;
    int top = 0;
    for (int64_t i = begin; i < end;) {
      const int64_t rows = std::min(kLeafRows * group, end - i);
      char* acc = scratch + top * bytes;
      if (packed) {
        Packed(base + i * n, n, rows, group, acc);
      } else {
        loops_.init(acc, n);
        for (int64_t r = 0; r < rows;) {
          const int64_t m = std::min(rows - r, dim.size - (i + r) % dim.size);
          CallRows(base + OffsetOf(plan_.reduced, i + r), n, m, dim.stride[0],
                   acc);
          r += m;
        }
      }
      i += rows;
      ++top;
      for (uint64_t c = leaves++; c & 1; c >>= 1, --top) {
        loops_.merge(scratch + (top - 1) * bytes, n, 1, 0,
                     scratch + (top - 2) * bytes);
      }
    }
    for (; top > 1; --top) {
      loops_.merge(scratch + (top - 1) * bytes, n, 1, 0,
                   scratch + (top - 2) * bytes);
    }
    if (top == 1) {
      std::copy(scratch, scratch + bytes, to);
    } else {
      loops_.init(to, n);
    }
  }

  void Packed(int64_t at, int64_t n, int64_t rows, int64_t group, char* acc) {
    alignas(16) char wide[64 * 16];
    const int64_t width = n * group;
    loops_.init(wide, width);
    CallRows(at, width, rows / group, width, wide);
    const int64_t rest = rows % group * n;
    if (rest > 0) {
      CallRows(at + rows / group * width, rest, 1, 0, wide);
    }
    loops_.init(acc, n);
    loops_.merge(wide, n, group, n, acc);
  }

  const ReductionPlan& plan_;
  const ReductionLoops& loops_;
  const DataType dtype_;
  const bool narrow_;
  const int size_;
  const char* x_;
};
}  // namespace

Status ReductionPlan::Init(const TensorShape& shape, const Tensor& axes,
                           bool keep_dims) {
  const int rank = shape.dims();
  absl::InlinedVector<bool, 8> is_reduced(rank, false);
  for (int64_t i = 0; i < axes.NumElements(); ++i) {
    const int64_t given = axes.dtype() == DT_INT32
                              ? int64_t{axes.data<int32_t>()[i]}
                              : axes.data<int64_t>()[i];
    const int64_t axis = given < 0 ? given + rank : given;
    if (axis < 0 || axis >= rank) {
      return errors::InvalidArgument("Invalid reduction dimension (", given,
                                     " for input with ", rank, " dimension(s)");
    }
    is_reduced[axis] = true;
  }

  DimVector out;
  int64_t stride = 1;
  bool any = false, last_reduced = false;
  for (int i = rank - 1; i >= 0; --i) {
    const int64_t size = shape.dim_size(i);
    const bool r = is_reduced[i];
    if (!r || keep_dims) out.push_back(r ? 1 : size);
    if (size == 1) continue;
    MultiplyBy(size, r ? &count : &outputs);
    auto& list = r ? reduced : kept;
    if (any && last_reduced == r) {
      MultiplyBy(size, &list.back().size);
    } else {
      if (!any) inner_reduced = r;
      list.push_back({size, {stride}});
    }
    any = true;
    last_reduced = r;
    MultiplyBy(size, &stride);
  }
  std::reverse(out.begin(), out.end());
  std::reverse(kept.begin(), kept.end());
  std::reverse(reduced.begin(), reduced.end());
  HR_RETURN_IF_ERROR(TensorShape::Build(out, &output_shape));
  if (reduced.empty()) reduced.push_back({1, {1}});
  if (kept.empty()) kept.push_back({1, {1}});
  if (outputs == 0) return OkStatus();

  const int64_t inner = kept.back().size;
  const int64_t columns = inner_reduced ? 1 : std::min(inner, kColumns);
  units =
      inner_reduced ? outputs : outputs / inner * CeilOfDiv(inner, kColumns);
  const int64_t leaf =
      inner_reduced ? kLeaf : kLeafRows * (inner <= 32 ? 64 / inner : 1);
  part_size = std::max<int64_t>(count, 1);
  if (units < 16) {
    const int64_t wanted = std::max(kPart / columns, CeilOfDiv(count, 64));
    if (count > wanted) {
      part_size = CeilOfDiv(wanted, leaf) * leaf;
      parts = CeilOfDiv(count, part_size);
    }
  }
  return OkStatus();
}

void Reduce(OpKernelContext* ctx, const ReductionPlan& plan,
            const ReductionLoops& loops, DataType dtype, const void* x,
            void* results, void* partial) {
  if (plan.outputs == 0) return;
  if (plan.count == 0) {
    loops.init(results, plan.outputs);
    return;
  }
  char* const out = static_cast<char*>(plan.parts > 1 ? partial : results);
  const int64_t part_bytes = plan.outputs * loops.acc_size;
  const double elements = static_cast<double>(plan.outputs) * plan.count;
  const double cost = 2 + 0.15 * elements / (plan.units * plan.parts);
  ctx->ParallelFor(
      plan.units * plan.parts, cost, [&](int64_t begin, int64_t end) {
        Reducer reducer(plan, loops, dtype, x);
        while (begin < end) {
          const int64_t part = begin / plan.units;
          const int64_t stop = std::min(end, (part + 1) * plan.units);
          reducer.Units(part, begin - part * plan.units,
                        stop - part * plan.units, out + part * part_bytes);
          begin = stop;
        }
      });
  if (plan.parts > 1) {
    loops.init(results, plan.outputs);
    loops.merge(partial, plan.outputs, plan.parts, plan.outputs, results);
  }
}

}  // namespace headrace
