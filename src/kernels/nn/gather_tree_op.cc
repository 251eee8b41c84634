// GatherTree: the sequences that a beam search found, from their last step
// back.
//
// step_ids and parent_ids are [time, batch, beam]: the word of each beam at
// each step, and the beam of the step before that it continues. Of each beam of
// the last step, the step below min(time, max_sequence_lengths[batch]), the
// output holds the words along its parents. All after the first end_token, and
// all from that length on, is end_token. The parents of step 0 are not read.
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <limits>

#include "headrace/op_kernel.h"

namespace headrace {
namespace {

struct Beams {
  int64_t time, batch, width;
  const int32_t* words;
  const int32_t* parents;
  int32_t end;

  int64_t At(int64_t t, int64_t b, int64_t beam) const {
    return (t * batch + b) * width + beam;
  }
};

// Writes the sequence of `length` words that ends in `beam`. Returns the step
// at which `parent`, found in the step after it, is no beam; -1 if there is
// none.
int64_t Follow(const Beams& in, int64_t b, int64_t beam, int64_t length,
               int32_t* out, int64_t* parent) {
  int64_t& from = *parent;
  from = beam;
  for (int64_t t = length - 1; t >= 0; --t) {
    if (from < 0 || from >= in.width) return t;
    out[in.At(t, b, beam)] = in.words[in.At(t, b, from)];
    from = in.parents[in.At(t, b, from)];
  }
  bool ended = false;
  for (int64_t t = 0; t < in.time; ++t) {
    int32_t& word = out[in.At(t, b, beam)];
    if (ended || t >= length) word = in.end;
    ended |= word == in.end;
  }
  return -1;
}

class GatherTreeOp : public OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(OpKernelContext* ctx) override {
    const Tensor& words = ctx->input(0);
    const Tensor& parents = ctx->input(1);
    const Tensor& lengths = ctx->input(2);
    const Tensor& end = ctx->input(3);
    OP_REQUIRES(
        ctx, words.dims() == 3,
        errors::InvalidArgument("step_ids must be a 3-tensor, saw shape: ",
                                words.shape().DebugString()));
    OP_REQUIRES(ctx, parents.shape() == words.shape(),
                errors::InvalidArgument(
                    "step_ids.shape must match parent_ids.shape.  but shapes "
                    "are: ",
                    words.shape().DebugString(), " and ",
                    parents.shape().DebugString()));
    OP_REQUIRES(ctx, lengths.dims() == 1,
                errors::InvalidArgument(
                    "max_sequence_lengths must be a vector, saw shape: ",
                    lengths.shape().DebugString()));
    OP_REQUIRES(ctx, lengths.dim_size(0) == words.dim_size(1),
                errors::InvalidArgument(
                    "batch size dimensions step_ids.shape[1] and "
                    "max_sequence_lengths.shape[0] must match.  but shapes "
                    "are: ",
                    words.shape().DebugString(), " and ",
                    lengths.shape().DebugString()));
    OP_REQUIRES(
        ctx, end.dims() == 0,
        errors::InvalidArgument("end_token must be a scalar, saw shape: ",
                                end.shape().DebugString()));
    Tensor* output = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, words.shape(), &output));
    const Beams in = {words.dim_size(0),       words.dim_size(1),
                      words.dim_size(2),       words.data<int32_t>(),
                      parents.data<int32_t>(), end.data<int32_t>()[0]};
    int32_t* const out = output->data<int32_t>();
    const int32_t* const longest = lengths.data<int32_t>();
    const auto length = [&](int64_t b) {
      return std::min<int64_t>(in.time, longest[b]);
    };
    // The first beam whose parents are not all beams.
    std::atomic<int64_t> bad{std::numeric_limits<int64_t>::max()};
    ctx->ParallelFor(
        in.batch * in.width, 4.0 * static_cast<double>(in.time) + 1,
        [&](int64_t begin, int64_t last) {
          for (int64_t i = begin; i < last; ++i) {
            const int64_t b = i / in.width;
            int64_t parent;
            if (Follow(in, b, i % in.width, length(b), out, &parent) < 0) {
              continue;
            }
            int64_t least = bad.load();
            while (i < least && !bad.compare_exchange_weak(least, i)) {
            }
            return;
          }
        });
    const int64_t i = bad.load();
    if (i == std::numeric_limits<int64_t>::max()) return;
    const int64_t b = i / in.width;
    int64_t parent;
    const int64_t t = Follow(in, b, i % in.width, length(b), out, &parent);
    ctx->CtxFailure(errors::InvalidArgument(
        "Saw invalid parent id ", parent, " at (batch, time, beam) == (", b,
        ", ", t, ", ", i % in.width, "): parent_ids must be in [0, ", in.width,
        ")"));
  }
};
REGISTER_KERNEL_BUILDER(
    Name("GatherTree").Device(DEVICE_CPU).TypeConstraint<int32_t>("T"),
    GatherTreeOp);

}  // namespace
}  // namespace headrace
