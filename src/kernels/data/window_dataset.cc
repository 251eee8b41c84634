// WindowDataset: windows of `size` elements, `stride` apart, which begin
// `shift` elements after each other; each component of a window is a dataset.
// SlidingWindowDataset: the same windows, each stacked.
#include <algorithm>
#include <deque>
#include <utility>

#include "kernels/data/batching_dataset.h"
#include "kernels/data/element_buffer.h"
#include "kernels/data/elements_dataset.h"
#include "kernels/data/iterator_state.h"

namespace headrace {
namespace {

struct WindowOptions {
  int64_t size = 0, shift = 0, stride = 0;
  bool drop_remainder = false;
  bool stack = false;  // else the components are datasets

  // From a window's first element to its last.
  int64_t span() const { return (size - 1) * stride + 1; }
  Status Check() const {
    if (size <= 0) {
      return errors::InvalidArgument("Window size must be greater than zero.");
    }
    if (shift <= 0) {
      return errors::InvalidArgument("Window shift must be greater than zero.");
    }
    if (stride <= 0) {
      return errors::InvalidArgument(
          "Window stride must be greater than zero.");
    }
    if (AddWithoutOverflow(MultiplyWithoutOverflow(size, stride), 1) < 0) {
      return errors::InvalidArgument("Window size ", size, " times stride ",
                                     stride, " overflows");
    }
    return OkStatus();
  }
};

ElementSpec WindowSpec(const ElementSpec& spec, const WindowOptions& options) {
  ElementSpec out;
  for (size_t c = 0; c < spec.dtypes.size(); ++c) {
    out.dtypes.push_back(options.stack ? spec.dtypes[c] : DT_VARIANT);
    out.shapes.push_back(
        options.stack
            ? PartialTensorShape({options.drop_remainder ? options.size : -1})
                  .Concatenate(spec.shapes[c])
            : PartialTensorShape::Scalar());
  }
  return out;
}

class WindowDataset : public Dataset {
 public:
  WindowDataset(RefPtr<const Dataset> input, const WindowOptions& options)
      : Dataset(WindowSpec(input->spec(), options), {input}),
        options_(options) {}

  int64_t Cardinality() const override {
    const int64_t n = input().Cardinality();
    if (n < 0) return n;
    const int64_t beginnings =
        options_.drop_remainder ? std::max<int64_t>(0, n - options_.span() + 1)
                                : n;
    return beginnings / options_.shift + (beginnings % options_.shift != 0);
  }

  class Iterator : public InputIterator<WindowDataset> {
   public:
    Iterator(const WindowDataset* d, std::unique_ptr<DatasetIterator> input)
        : InputIterator(d, std::move(input)), budget_("a window") {}

    Status GetNext(const IteratorContext& ctx, TensorTuple* out,
                   bool* end) override {
      const WindowOptions& o = dataset().options_;
      const int64_t span = o.span();
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
      HR_RETURN_IF_ERROR(o.stack ? Stack(out) : MakeDatasets(out));
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

    Status SaveOrRestore(const IteratorContext& ctx,
                         IteratorState* state) override {
      HR_RETURN_IF_ERROR(
          state->Elements("Window:elements", nullptr, &elements_));
      for (const TensorTuple& e : elements_) {
        if (state->restoring()) HR_RETURN_IF_ERROR(budget_.Add(e));
      }
      return state->InputOrNull("Window", ctx, dataset().input(), &input_);
    }

   private:
    // The window's elements, every stride-th of those that are held.
    Status Stack(TensorTuple* out) const {
      std::vector<TensorTuple> window;
      for (int64_t i = 0; i < size(); i += dataset().options_.stride) {
        window.push_back(elements_[i]);
      }
      return StackElements(window, out);
    }
    Status MakeDatasets(TensorTuple* out) const {
      const ElementSpec& in = dataset().input().spec();
      out->clear();
      for (size_t c = 0; c < in.dtypes.size(); ++c) {
        std::vector<TensorTuple> column;
        for (int64_t i = 0; i < size(); i += dataset().options_.stride) {
          if (elements_[i].size() != in.dtypes.size()) {
            return errors::InvalidArgument(
                "WindowDataset: an element has ", elements_[i].size(),
                " components, wanted ", in.dtypes.size());
          }
          column.push_back({elements_[i][c]});
        }
        out->push_back(DatasetTensor(MakeElementsDataset(
            ElementSpec{{in.dtypes[c]}, {in.shapes[c]}}, std::move(column))));
      }
      return OkStatus();
    }
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
  const WindowOptions options_;
};

class WindowDatasetOp : public UnaryDatasetOp {
 public:
  using UnaryDatasetOp::UnaryDatasetOp;

 protected:
  Status Make(OpKernelContext* ctx, RefPtr<const Dataset> input,
              RefPtr<const Dataset>* out) override {
    WindowOptions o;
    HR_RETURN_IF_ERROR(ScalarInput(*ctx, "size", &o.size));
    HR_RETURN_IF_ERROR(ScalarInput(*ctx, "shift", &o.shift));
    HR_RETURN_IF_ERROR(ScalarInput(*ctx, "stride", &o.stride));
    HR_RETURN_IF_ERROR(ScalarInput(*ctx, "drop_remainder", &o.drop_remainder));
    HR_RETURN_IF_ERROR(o.Check());
    *out = MakeRef<WindowDataset>(std::move(input), o);
    return OkStatus();
  }
};
REGISTER_KERNEL_BUILDER(Name("WindowDataset").Device(DEVICE_CPU),
                        WindowDatasetOp);

class SlidingWindowDatasetOp : public UnaryDatasetOp {
 public:
  explicit SlidingWindowDatasetOp(OpKernelConstruction* ctx)
      : UnaryDatasetOp(ctx) {
    if (ctx->HasAttr("drop_remainder")) {
      OP_REQUIRES_OK(ctx, ctx->GetAttr("drop_remainder", &drop_remainder_));
    }
  }

 protected:
  Status Make(OpKernelContext* ctx, RefPtr<const Dataset> input,
              RefPtr<const Dataset>* out) override {
    WindowOptions o;
    o.stack = true;
    o.drop_remainder = drop_remainder_;
    HR_RETURN_IF_ERROR(ScalarInput(*ctx, "window_size", &o.size));
    HR_RETURN_IF_ERROR(ScalarInput(*ctx, "window_shift", &o.shift));
    HR_RETURN_IF_ERROR(ScalarInput(*ctx, "window_stride", &o.stride));
    HR_RETURN_IF_ERROR(o.Check());
    *out = MakeRef<WindowDataset>(std::move(input), o);
    return OkStatus();
  }

 private:
  bool drop_remainder_ = true;
};
REGISTER_KERNEL_BUILDER(Name("SlidingWindowDataset").Device(DEVICE_CPU),
                        SlidingWindowDatasetOp);
REGISTER_KERNEL_BUILDER(
    Name("ExperimentalSlidingWindowDataset").Device(DEVICE_CPU),
    SlidingWindowDatasetOp);

}  // namespace
}  // namespace headrace
