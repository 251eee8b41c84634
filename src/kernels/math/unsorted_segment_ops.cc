// UnsortedSegmentX, and the V2 forms of the sorted ops: rows with equal ids are
// combined, in any order of ids, into num_segments rows. Negative ids are
// dropped, ids beyond the end refused. Rows that no id names keep the neutral
// element: 0, 1, the lowest or the highest finite number. The ids' shape is a
// prefix of the data's.
//
// Work is split over columns, so that every result is summed in the order of
// the data.
#include <algorithm>
#include <string>

#include "kernels/lib/segment_loops.h"

namespace headrace {
namespace {

class UnsortedSegmentKernel : public OpKernel {
 public:
  UnsortedSegmentKernel(OpKernelConstruction* ctx, const SegmentLoops* loops,
                        Divisor)
      : OpKernel(ctx), loops_(*loops) {}

  void Compute(OpKernelContext* ctx) override {
    const Tensor &data = ctx->input(0), &ids = ctx->input(1),
                 &num = ctx->input(2);
    OP_REQUIRES(
        ctx, num.dims() == 0,
        errors::InvalidArgument("num_segments should be a scalar, not shape ",
                                num.shape().DebugString()));
    const int64_t rows = IdAt(num, 0);
    OP_REQUIRES(ctx, rows >= 0,
                errors::InvalidArgument("Input num_segments == ", rows,
                                        " must not be negative."));
    bool prefix = ids.dims() <= data.dims();
    for (int i = 0; prefix && i < ids.dims(); ++i) {
      prefix = ids.dim_size(i) == data.dim_size(i);
    }
    OP_REQUIRES(
        ctx, prefix,
        errors::InvalidArgument("data.shape = ", data.shape().DebugString(),
                                " does not start with segment_ids.shape = ",
                                ids.shape().DebugString()));
    const int64_t n = ids.NumElements();
    for (int64_t i = 0; i < n; ++i) {
      const int64_t id = IdAt(ids, i);
      OP_REQUIRES(
          ctx, id < rows,
          errors::InvalidArgument("segment_ids", Position(ids, i), " = ", id,
                                  " is out of range [0, ", rows, ")"));
    }
    DimVector dims{rows};
    for (int i = ids.dims(); i < data.dims(); ++i) {
      dims.push_back(data.dim_size(i));
    }
    TensorShape shape;
    OP_REQUIRES_OK(ctx, TensorShape::Build(dims, &shape));
    Tensor* out = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, shape, &out));
    const int64_t total = out->NumElements();
    if (total == 0) return;
    Tensor wide;
    Tensor* sum = out;
    const int size = DataTypeSize(data.dtype());
    if (size != loops_.acc_size) {
      OP_REQUIRES_OK(ctx, ctx->allocate_temp(DT_FLOAT, shape, &wide));
      sum = &wide;
    }
    char* acc = static_cast<char*>(sum->raw_data());
    loops_.init(acc, total);
    const int64_t inner = total / rows;
    const char* x = static_cast<const char*>(data.raw_data());
    // Enough columns at a time for whole runs of memory.
    constexpr int64_t kColumns = 512;
    const int64_t blocks = (inner + kColumns - 1) / kColumns;
    const double cost = 0.3 * n * std::min(inner, kColumns);
    ctx->ParallelFor(blocks, cost, [&](int64_t first, int64_t last) {
      const int64_t begin = first * kColumns;
      const int64_t end = std::min(inner, last * kColumns);
      for (int64_t i = 0; i < n; ++i) {
        const int64_t id = IdAt(ids, i);
        if (id < 0) continue;
        loops_.add(x + (i * inner + begin) * size,
                   acc + (id * inner + begin) * loops_.acc_size, end - begin);
      }
    });
    loops_.finish(acc, total, Divisor::kOne, 1, out->raw_data());
  }

 private:
  // "[2]", "[1,0]": the coordinates of element i.
  static std::string Position(const Tensor& ids, int64_t i) {
    std::string s;
    for (int d = ids.dims() - 1; d >= 0; --d) {
      s = StrCat(i % ids.dim_size(d), s.empty() ? "" : ",", s);
      i /= ids.dim_size(d);
    }
    return StrCat("[", s, "]");
  }

  const SegmentLoops& loops_;
};

#define HR_REGISTER_BOTH(NAME, OP, ...)                                        \
  HR_REGISTER_SEGMENT("UnsortedSegment" NAME, UnsortedSegmentKernel, OP, kOne, \
                      __VA_ARGS__);                                            \
  HR_REGISTER_SEGMENT("Segment" NAME "V2", UnsortedSegmentKernel, OP, kOne,    \
                      __VA_ARGS__)
HR_REGISTER_BOTH("Sum", kSum, HR_TYPES_NUMBER);
HR_REGISTER_BOTH("Prod", kProd, HR_TYPES_NUMBER);
HR_REGISTER_BOTH("Max", kMax, HR_TYPES_REAL);
HR_REGISTER_BOTH("Min", kMin, HR_TYPES_REAL);
#undef HR_REGISTER_BOTH

}  // namespace
}  // namespace headrace
