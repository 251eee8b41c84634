// RandomShuffle and StatelessShuffle: the rows of the input in random order, by
// Fisher and Yates' method from the front: row i changes places with row
// i + w mod (n - i). RandomIndexShuffle: where single indices go in a random
// order of 0 .. max_index, without making the whole of it.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <utility>
#include <vector>

#include "framework/kernel/philox.h"
#include "headrace/op_kernel.h"
#include "kernels/lib/cancellable_loops.h"
#include "kernels/lib/random_stream.h"

namespace headrace {
namespace {

// True if there are two rows, of something, at least.
bool HasOrder(const Tensor& t) {
  return t.NumElements() > 1 && t.dim_size(0) > 1;
}
Philox::Counter ShuffleBlocks(const Tensor& t) {
  return (t.dim_size(0) - 1 + 3) / 4;
}

void ShuffleRows(OpKernelContext* ctx, const Philox& stream) {
  const Tensor& in = ctx->input(0);
  const int64_t n = in.dim_size(0);
  PhiloxWords next(stream);
  std::vector<int64_t> from(n);
  std::iota(from.begin(), from.end(), 0);
  for (int64_t i = 0; i < n - 1; ++i) {
    std::swap(from[i], from[i + next() % static_cast<uint64_t>(n - i)]);
  }
  Tensor* out = nullptr;
  OP_REQUIRES_OK(ctx, ctx->allocate_output(0, in.shape(), &out));
  const int64_t row = in.NumElements() / n;
  if (!DataTypeCanUseMemcpy(in.dtype())) {
    for (int64_t i = 0; i < n; ++i) {
      CopyElements(in, from[i] * row, out, i * row, row);
    }
    return;
  }
  const int64_t bytes = row * DataTypeSize(in.dtype());
  const char* src = static_cast<const char*>(in.raw_data());
  char* dst = static_cast<char*>(out->raw_data());
  ctx->ParallelFor(n, 5 + 0.1 * bytes, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      std::memcpy(dst + i * bytes, src + from[i] * bytes, bytes);
    }
  });
}

class RandomShuffleOp : public OpKernel {
 public:
  explicit RandomShuffleOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    OP_REQUIRES_OK(ctx, InitFromSeedAttrs(ctx, &stream_));
  }

  void Compute(OpKernelContext* ctx) override {
    const Tensor& in = ctx->input(0);
    if (!HasOrder(in)) {
      ctx->set_output(0, in);
      return;
    }
    ShuffleRows(ctx, stream_.Reserve(ShuffleBlocks(in)));
  }

 private:
  GuardedPhilox stream_;
};
REGISTER_KERNEL_BUILDER(Name("RandomShuffle").Device(DEVICE_CPU),
                        RandomShuffleOp);

class StatelessShuffleOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* ctx) override {
    Philox stream;
    OP_REQUIRES_OK(ctx, StreamFromKey(ctx->input(1), ctx->input(2),
                                      ctx->input(3), &stream));
    if (!HasOrder(ctx->input(0))) {
      ctx->set_output(0, ctx->input(0));
      return;
    }
    ShuffleRows(ctx, stream);
  }
};
REGISTER_KERNEL_BUILDER(Name("StatelessShuffle").Device(DEVICE_CPU),
                        StatelessShuffleOp);

// A few rounds of the block cipher Simon (Beaulieu et al., 2013) on blocks just
// wide enough for max_index, at least 16 bits: a permutation of all blocks.
// Going along a cycle of it until a block is in range permutes the range. Where
// max_index is a power of two from 2^16 on, TensorFlow's blocks, and so these,
// are too narrow by one index, which then goes where index 0 does.
class IndexPermutation {
 public:
  using Key = std::array<uint32_t, 3>;
  IndexPermutation(const Key& key, uint64_t max_index, int64_t rounds)
      : max_index_(max_index) {
    double bits = 16;
    if (max_index > 0) {
      const auto widest = static_cast<double>(max_index);
      bits = std::max(bits, std::ceil(std::log2(widest)));
    }
    width_ = (static_cast<int>(bits) + 1) / 2;
    mask_ = (uint64_t{1} << width_) - 1;
    for (uint32_t k : key) keys_.push_back(k & mask_);
    uint64_t z = 0x7369f885192c0ef5;
    for (int64_t i = 3; i < rounds; ++i, z >>= 1) {
      keys_.push_back((0xfffffffcu & mask_) ^ (z & 1) ^ keys_[i - 3] ^
                      Right(keys_[i - 1], 3) ^ Right(keys_[i - 1], 4));
    }
  }

  uint64_t operator()(uint64_t index) const {
    uint64_t left = index >> width_ & mask_, right = index & mask_;
    do {
      for (size_t i = 0; i + 1 < keys_.size(); i += 2) {
        left ^= Mix(right) ^ keys_[i];
        right ^= Mix(left) ^ keys_[i + 1];
      }
    } while ((left << width_ | right) > max_index_);
    return left << width_ | right;
  }

 private:
  uint64_t Left(uint64_t x, int n) const {
    return (x << n | x >> (width_ - n)) & mask_;
  }
  uint64_t Right(uint64_t x, int n) const {
    return (x >> n | x << (width_ - n)) & mask_;
  }
  uint64_t Mix(uint64_t x) const {
    return (Left(x, 1) & Left(x, 8)) ^ Left(x, 2);
  }

  const uint64_t max_index_;
  int width_;  // of half a block
  uint64_t mask_;
  std::vector<uint64_t> keys_;
};

// index, seed and max_index are each one for all or one for each output.
class RandomIndexShuffleOp : public OpKernel {
 public:
  explicit RandomIndexShuffleOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("rounds", &rounds_));
    OP_REQUIRES(ctx, rounds_ >= 4 && rounds_ <= 1024 && rounds_ % 2 == 0,
                errors::InvalidArgument(
                    "rounds must be even and in [4, 1024], got ", rounds_));
  }

  void Compute(OpKernelContext* ctx) override {
    const Tensor& index = ctx->input(0);
    const Tensor& seed = ctx->input(1);
    const Tensor& max_index = ctx->input(2);
    OP_REQUIRES(ctx, index.dims() <= 1 && max_index.dims() <= 1,
                errors::InvalidArgument(
                    "index and max_index must be scalars or vectors, got "
                    "shapes ",
                    index.shape().DebugString(), " and ",
                    max_index.shape().DebugString()));
    OP_REQUIRES(
        ctx,
        (seed.dims() == 1 || seed.dims() == 2) &&
            seed.dim_size(seed.dims() - 1) == 3,
        errors::InvalidArgument("Seed must be a vector of size [3] or a matrix "
                                "of size [n, 3] but got ",
                                seed.shape().DebugString()));
    // The vectors among them have one length, or 1.
    TensorShape shape;
    const int64_t seeds = seed.dims() == 2 ? seed.dim_size(0) : 1;
    int64_t n = 1;
    const std::pair<int, int64_t> lengths[] = {
        {index.dims(), index.NumElements()},
        {seed.dims() - 1, seeds},
        {max_index.dims(), max_index.NumElements()}};
    for (auto [rank, length] : lengths) {
      if (rank == 0) continue;
      OP_REQUIRES(ctx, length == n || length == 1 || n == 1,
                  errors::InvalidArgument(
                      "index, seed and max_index have different numbers of "
                      "elements: ",
                      index.NumElements(), ", ", seeds, " and ",
                      max_index.NumElements()));
      if (length != 1) n = length;
      if (shape.dims() == 0) shape.AddDim(1);
    }
    if (shape.dims() > 0) shape.set_dim(0, n);
    Tensor* out = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, shape, &out));
    for (int64_t i = 0; i < n; ++i) {
      const uint64_t from = At(index, i), to = At(max_index, i);
      // Of signed types, what is negative is above all that is not.
      OP_REQUIRES(ctx, from <= INT64_MAX || index.dtype() == DT_UINT64,
                  errors::InvalidArgument("index must be >= 0 but was ",
                                          static_cast<int64_t>(from)));
      OP_REQUIRES(ctx, to <= INT64_MAX || max_index.dtype() == DT_UINT64,
                  errors::InvalidArgument("max_index must be >= 0 but was ",
                                          static_cast<int64_t>(to)));
      OP_REQUIRES(ctx, from <= to,
                  errors::InvalidArgument("max_index must be >= index, but ",
                                          to, " < ", from));
    }
    CancellableLoops cancellable(ctx);
    ctx->ParallelFor(n, 500, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const int64_t row = seeds == 1 ? 0 : i * 3;
        IndexPermutation::Key key;
        for (int k = 0; k < 3; ++k) {
          key[k] = static_cast<uint32_t>(At(seed, row + k));
        }
        const uint64_t result =
            IndexPermutation(key, At(max_index, i), rounds_)(At(index, i));
        if (DataTypeSize(out->dtype()) == 4) {
          static_cast<uint32_t*>(out->raw_data())[i] =
              static_cast<uint32_t>(result);
        } else {
          static_cast<uint64_t*>(out->raw_data())[i] = result;
        }
      }
    });
  }

 private:
  // Sign-extended. A single element is used for all i.
  static uint64_t At(const Tensor& t, int64_t i) {
    if (t.NumElements() == 1) i = 0;
    switch (t.dtype()) {
      case DT_INT32:
        return static_cast<uint64_t>(int64_t{t.data<int32_t>()[i]});
      case DT_UINT32:
        return t.data<uint32_t>()[i];
      case DT_UINT64:
        return t.data<uint64_t>()[i];
      default:
        return static_cast<uint64_t>(t.data<int64_t>()[i]);
    }
  }

  int64_t rounds_ = 4;
};
REGISTER_KERNEL_BUILDER(Name("RandomIndexShuffle").Device(DEVICE_CPU),
                        RandomIndexShuffleOp);

}  // namespace
}  // namespace headrace
