// StringToHashBucket, ...Fast and ...Strong: a hash of each string modulo
// num_buckets. The three differ in the hash alone, which is part of models.
// _TensorToHashBucketFast hashes the decimal digits of integers.
#include "absl/strings/numbers.h"
#include "base/fingerprint.h"
#include "headrace/op_kernel.h"

namespace headrace {
namespace {

class HashBucketKernel : public OpKernel {
 public:
  explicit HashBucketKernel(OpKernelConstruction* ctx) : OpKernel(ctx) {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("num_buckets", &buckets_));
    OP_REQUIRES(ctx, buckets_ > 0,
                errors::InvalidArgument("num_buckets must be positive, got ",
                                        buckets_));
  }

 protected:
  template <typename T, typename Hash>
  void HashAll(OpKernelContext* ctx, double cost, const Hash& hash) {
    const Tensor& in = ctx->input(0);
    Tensor* out = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, in.shape(), &out));
    ctx->ParallelFor(in.NumElements(), cost, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        out->data<int64_t>()[i] = static_cast<int64_t>(
            hash(in.data<T>()[i]) % static_cast<uint64_t>(buckets_));
      }
    });
  }

 private:
  int64_t buckets_ = 1;
};

class StringToHashBucketOp : public HashBucketKernel {
 public:
  using HashBucketKernel::HashBucketKernel;
  void Compute(OpKernelContext* ctx) override {
    HashAll<tstring>(ctx, 20,
                     [](const tstring& s) { return Hash64(ToStd(s)); });
  }
};

class StringToHashBucketFastOp : public HashBucketKernel {
 public:
  using HashBucketKernel::HashBucketKernel;
  void Compute(OpKernelContext* ctx) override {
    HashAll<tstring>(ctx, 20,
                     [](const tstring& s) { return Fingerprint64(ToStd(s)); });
  }
};

class StringToHashBucketStrongOp : public HashBucketKernel {
 public:
  explicit StringToHashBucketStrongOp(OpKernelConstruction* ctx)
      : HashBucketKernel(ctx) {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("key", &key_));
    OP_REQUIRES(
        ctx, key_.size() == 2,
        errors::InvalidArgument("Key must have 2 elements, got ", key_.size()));
  }
  void Compute(OpKernelContext* ctx) override {
    HashAll<tstring>(ctx, 30, [this](const tstring& s) {
      return SipHash(key_[0], key_[1], ToStd(s));
    });
  }

 private:
  std::vector<int64_t> key_;
};

template <typename T>
class TensorToHashBucketFastOp : public HashBucketKernel {
 public:
  using HashBucketKernel::HashBucketKernel;
  void Compute(OpKernelContext* ctx) override {
    HashAll<T>(ctx, 30, [](T v) {
      const absl::AlphaNum digits(+v);
      return Fingerprint64(ToStd(digits.Piece()));
    });
  }
};

REGISTER_KERNEL_BUILDER(Name("StringToHashBucket").Device(DEVICE_CPU),
                        StringToHashBucketOp);
REGISTER_KERNEL_BUILDER(Name("StringToHashBucketFast").Device(DEVICE_CPU),
                        StringToHashBucketFastOp);
REGISTER_KERNEL_BUILDER(Name("StringToHashBucketStrong").Device(DEVICE_CPU),
                        StringToHashBucketStrongOp);
#define HR_REGISTER(T)                                    \
  REGISTER_KERNEL_BUILDER(Name("_TensorToHashBucketFast") \
                              .Device(DEVICE_CPU)         \
                              .TypeConstraint<T>("T"),    \
                          TensorToHashBucketFastOp<T>);
HR_CALL_INT_TYPES(HR_REGISTER)
#undef HR_REGISTER

}  // namespace
}  // namespace headrace
