#include "kernels/data/batching_dataset.h"

#include <utility>

#include "kernels/data/element_buffer.h"
#include "kernels/data/iterator_state.h"

namespace headrace {

class BatchingDataset::Iterator : public InputIterator<BatchingDataset> {
 public:
  using InputIterator::InputIterator;
  Status GetNext(const IteratorContext& ctx, TensorTuple* out,
                 bool* end) override {
    const BatchOptions& options = dataset().options_;
    ElementBuffer batch("a batch");
    while (input_ != nullptr && batch.size() < options.size) {
      HR_RETURN_IF_ERROR(ctx.CheckCancelled());
      TensorTuple e;
      bool input_end = false;
      HR_RETURN_IF_ERROR(input_->GetNext(ctx, &e, &input_end));
      if (input_end) {
        input_ = nullptr;
      } else {
        HR_RETURN_IF_ERROR(batch.Add(std::move(e)));
      }
    }
    if (batch.size() == 0 ||
        (options.drop_remainder && batch.size() < options.size)) {
      *end = true;
      return OkStatus();
    }
    return dataset().Stack(batch.elements(), out);
  }
  Status SaveOrRestore(const IteratorContext& ctx,
                       IteratorState* state) override {
    return state->InputOrNull("Batch", ctx, dataset().input(), &input_);
  }
};

Status BatchingDataset::MakeIterator(
    const IteratorContext& ctx, std::unique_ptr<DatasetIterator>* out) const {
  return Iterator::Make(this, ctx, out);
}

int64_t BatchingDataset::Cardinality() const {
  const int64_t n = input().Cardinality();
  if (n < 0) return n;
  const bool rest = n % options_.size > 0 && !options_.drop_remainder;
  return n / options_.size + (rest ? 1 : 0);
}

Status ReadBatchOptions(OpKernelContext* ctx, BatchOptions* out) {
  HR_RETURN_IF_ERROR(ScalarInput(*ctx, "batch_size", &out->size));
  if (out->size <= 0) {
    return errors::InvalidArgument("Batch size must be greater than zero.");
  }
  const Tensor* unused = nullptr;
  if (!ctx->input("drop_remainder", &unused).ok()) return OkStatus();
  return ScalarInput(*ctx, "drop_remainder", &out->drop_remainder);
}

Status StackElements(const std::vector<TensorTuple>& elements,
                     TensorTuple* out) {
  const int64_t n = static_cast<int64_t>(elements.size());
  out->clear();
  for (size_t c = 0; c < elements[0].size(); ++c) {
    const Tensor& first = elements[0][c];
    TensorShape shape({n});
    shape.AppendShape(first.shape());
    Tensor batch;
    HR_RETURN_IF_ERROR(
        Tensor::Allocate(CpuAllocator(), first.dtype(), shape, &batch));
    const int64_t size = first.NumElements();
    for (int64_t i = 0; i < n; ++i) {
      if (elements[i].size() != elements[0].size() ||
          elements[i][c].dtype() != first.dtype()) {
        return errors::InvalidArgument(
            "Cannot batch elements of different types: component ", c,
            " of element ", i, " differs from that of element 0");
      }
      const Tensor& t = elements[i][c];
      if (t.shape() != first.shape()) {
        return errors::InvalidArgument(
            "Cannot batch tensors with different shapes in component ", c,
            ". First element had shape ", first.shape().DebugString(),
            " and element ", i, " had shape ", t.shape().DebugString(), ".");
      }
      CopyElements(t, 0, &batch, i * size, size);
    }
    out->push_back(std::move(batch));
  }
  return OkStatus();
}

}  // namespace headrace
