// PrefetchDataset: the input's elements, made ahead by another thread.
#include "kernels/data/prefetcher.h"

namespace headrace {
namespace {

// For a buffer size that is left to the runtime.
constexpr int64_t kAutoBuffer = 8;

class PrefetchDataset : public Dataset {
 public:
  PrefetchDataset(RefPtr<const Dataset> input, int64_t buffer_size)
      : Dataset(input->spec(), {input}), buffer_size_(buffer_size) {
    set_may_wait();
  }
  int64_t Cardinality() const override { return input().Cardinality(); }

 protected:
  Status MakeIterator(const IteratorContext& ctx,
                      std::unique_ptr<DatasetIterator>* out) const override {
    std::unique_ptr<DatasetIterator> input_iterator;
    HR_RETURN_IF_ERROR(input().NewIterator(ctx, &input_iterator));
    *out = std::make_unique<Prefetcher>(std::move(input_iterator), buffer_size_,
                                        ctx, nullptr,
                                        StrCat("PrefetchDataset/_", depth()));
    return OkStatus();
  }

 private:
  const int64_t buffer_size_;
};

class PrefetchDatasetOp : public UnaryDatasetOp {
 public:
  using UnaryDatasetOp::UnaryDatasetOp;

 protected:
  Status Make(OpKernelContext* ctx, RefPtr<const Dataset> input,
              RefPtr<const Dataset>* out) override {
    int64_t size = 0;
    HR_RETURN_IF_ERROR(ScalarInput(*ctx, "buffer_size", &size));
    if (size < -1) {
      return errors::InvalidArgument(
          "buffer_size must be >= 0 or set buffer_size to be -1 for "
          "auto-tuning, got ",
          size);
    }
    if (size == 0) {
      *out = std::move(input);
    } else {
      *out = MakeRef<PrefetchDataset>(std::move(input),
                                      size < 0 ? kAutoBuffer : size);
    }
    return OkStatus();
  }
};
REGISTER_KERNEL_BUILDER(Name("PrefetchDataset").Device(DEVICE_CPU),
                        PrefetchDatasetOp);

}  // namespace
}  // namespace headrace
