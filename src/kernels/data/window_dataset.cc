// WindowDataset: windows of `size` elements, `stride` apart, which begin
// `shift` elements after each other; each component of a window is a dataset.
#include <deque>
#include <utility>

#include "kernels/data/element_buffer.h"
#include "kernels/data/elements_dataset.h"

namespace headrace {
namespace {

ElementSpec WindowSpec(size_t components) {
  ElementSpec spec;
  spec.dtypes.assign(components, DT_VARIANT);
  spec.shapes.assign(components, PartialTensorShape::Scalar());
  return spec;
}

class WindowDataset : public Dataset {
 public:
  struct Options {
    int64_t size = 0, shift = 0, stride = 0;
    bool drop_remainder = false;
  };

  WindowDataset(RefPtr<const Dataset> input, Options options)
      : Dataset(WindowSpec(input->spec().dtypes.size()), {input}),
        options_(options) {}

  class Iterator : public InputIterator<WindowDataset> {
   public:
    Iterator(const WindowDataset* d, std::unique_ptr<DatasetIterator> input)
        : InputIterator(d, std::move(input)), budget_("a window") {}

    Status GetNext(const IteratorContext& ctx, TensorTuple* out,
                   bool* end) override {
      const Options& o = dataset().options_;
      // From the window's first element to its last.
      const int64_t span = (o.size - 1) * o.stride + 1;
      while (input_ != nullptr && size() < span) {
        TensorTuple e;
        HR_RETURN_IF_ERROR(Take(ctx, &e));
        if (input_ == nullptr) break;
        HR_RETURN_IF_ERROR(budget_.Add(e));
        elements_.push_back(std::move(e));
      }
      if (elements_.empty() || (o.drop_remainder && size() < span)) {
        elements_.clear();
        input_ = nullptr;
        *end = true;
        return OkStatus();
      }
      const Dataset& in = dataset().input();
      out->clear();
      for (size_t c = 0; c < in.spec().dtypes.size(); ++c) {
        std::vector<TensorTuple> column;
        for (int64_t i = 0; i < size(); i += o.stride) {
          if (elements_[i].size() != in.spec().dtypes.size()) {
            return errors::InvalidArgument(
                "WindowDataset: an element has ", elements_[i].size(),
                " components, wanted ", in.spec().dtypes.size());
          }
          column.push_back({elements_[i][c]});
        }
        out->push_back(DatasetTensor(MakeElementsDataset(
            ElementSpec{{in.spec().dtypes[c]}, {in.spec().shapes[c]}},
            std::move(column))));
      }
      int64_t shift = o.shift;
      for (; shift > 0 && !elements_.empty(); --shift) {
        budget_.Remove(elements_.front());
        elements_.pop_front();
      }
      for (; shift > 0 && input_ != nullptr; --shift) {
        TensorTuple skipped;
        HR_RETURN_IF_ERROR(Take(ctx, &skipped));
      }
      return OkStatus();
    }

   private:
    int64_t size() const { return static_cast<int64_t>(elements_.size()); }
    // Drops the input at its end.
    Status Take(const IteratorContext& ctx, TensorTuple* e) {
      HR_RETURN_IF_ERROR(ctx.CheckCancelled());
      bool input_end = false;
      HR_RETURN_IF_ERROR(input_->GetNext(ctx, e, &input_end));
      if (input_end) input_ = nullptr;
      return OkStatus();
    }

    BufferBudget budget_;
    std::deque<TensorTuple> elements_;
  };

 protected:
  Status MakeIterator(const IteratorContext& ctx,
                      std::unique_ptr<DatasetIterator>* out) const override {
    return Iterator::Make(this, ctx, out);
  }

 private:
  const Options options_;
};

class WindowDatasetOp : public UnaryDatasetOp {
 public:
  using UnaryDatasetOp::UnaryDatasetOp;

 protected:
  Status Make(OpKernelContext* ctx, RefPtr<const Dataset> input,
              RefPtr<const Dataset>* out) override {
    WindowDataset::Options o;
    HR_RETURN_IF_ERROR(ScalarInput(*ctx, "size", &o.size));
    HR_RETURN_IF_ERROR(ScalarInput(*ctx, "shift", &o.shift));
    HR_RETURN_IF_ERROR(ScalarInput(*ctx, "stride", &o.stride));
    HR_RETURN_IF_ERROR(ScalarInput(*ctx, "drop_remainder", &o.drop_remainder));
    if (o.size <= 0) {
      return errors::InvalidArgument("Window size must be greater than zero.");
    }
    if (o.shift <= 0) {
      return errors::InvalidArgument("Window shift must be greater than zero.");
    }
    if (o.stride <= 0) {
      return errors::InvalidArgument(
          "Window stride must be greater than zero.");
    }
    if (AddWithoutOverflow(MultiplyWithoutOverflow(o.size, o.stride), 1) < 0) {
      return errors::InvalidArgument("Window size ", o.size, " times stride ",
                                     o.stride, " overflows");
    }
    *out = MakeRef<WindowDataset>(std::move(input), o);
    return OkStatus();
  }
};
REGISTER_KERNEL_BUILDER(Name("WindowDataset").Device(DEVICE_CPU),
                        WindowDatasetOp);

}  // namespace
}  // namespace headrace
