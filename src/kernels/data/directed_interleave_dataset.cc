// DirectedInterleaveDataset: a dataset of numbers says from which of several
// datasets each element comes.
#include <algorithm>
#include <utility>

#include "kernels/data/iterator_state.h"

namespace headrace {
namespace {

// Input 0 is the selector.
class DirectedInterleaveDataset : public Dataset {
 public:
  DirectedInterleaveDataset(ElementSpec spec,
                            std::vector<RefPtr<const Dataset>> inputs,
                            bool stop_on_empty)
      : Dataset(std::move(spec), std::move(inputs)),
        stop_on_empty_(stop_on_empty) {}

  class Iterator : public DatasetIterator {
   public:
    Iterator(RefPtr<const DirectedInterleaveDataset> dataset,
             std::vector<std::unique_ptr<DatasetIterator>> inputs)
        : dataset_(std::move(dataset)),
          inputs_(std::move(inputs)),
          left_(static_cast<int64_t>(inputs_.size()) - 1) {}

    // A number whose dataset has ended is passed over.
    Status GetNext(const IteratorContext& ctx, TensorTuple* out,
                   bool* end) override {
      while (left_ > 0) {
        HR_RETURN_IF_ERROR(ctx.CheckCancelled());
        TensorTuple number;
        bool input_end = false;
        HR_RETURN_IF_ERROR(inputs_[0]->GetNext(ctx, &number, &input_end));
        if (input_end) break;
        if (number.size() != 1 || number[0].dtype() != DT_INT64 ||
            number[0].dims() != 0) {
          return errors::InvalidArgument(
              "The selector must give scalar int64 numbers");
        }
        const int64_t which = number[0].scalar<int64_t>();
        const auto count = static_cast<int64_t>(inputs_.size()) - 1;
        if (which < 0 || which >= count) {
          return errors::InvalidArgument("Selector index out of range: ", which,
                                         " >= ", count);
        }
        std::unique_ptr<DatasetIterator>& input = inputs_[which + 1];
        if (input == nullptr) continue;
        HR_RETURN_IF_ERROR(input->GetNext(ctx, out, &input_end));
        if (!input_end) return OkStatus();
        input = nullptr;
        left_ = dataset_->stop_on_empty_ ? 0 : left_ - 1;
      }
      left_ = 0;
      *end = true;
      return OkStatus();
    }
    Status SaveOrRestore(const IteratorContext& ctx,
                         IteratorState* state) override {
      HR_RETURN_IF_ERROR(state->Int("DirectedInterleave:left", &left_, 0,
                                    static_cast<int64_t>(inputs_.size()) - 1));
      for (size_t i = 0; i < inputs_.size(); ++i) {
        const std::string name = StrCat("DirectedInterleave[", i, "]");
        const Dataset& input = dataset_->input(static_cast<int>(i));
        HR_RETURN_IF_ERROR(
            i == 0 ? state->Input(name, ctx, input, &inputs_[i])
                   : state->InputOrNull(name, ctx, input, &inputs_[i]));
      }
      const auto ended = std::count(inputs_.begin(), inputs_.end(), nullptr);
      if (left_ + ended >= static_cast<int64_t>(inputs_.size())) {
        return state->Wrong("DirectedInterleave:left",
                            "is more than there are inputs left");
      }
      return OkStatus();
    }

   private:
    const RefPtr<const DirectedInterleaveDataset> dataset_;
    std::vector<std::unique_ptr<DatasetIterator>> inputs_;
    int64_t left_;
  };

 protected:
  Status MakeIterator(const IteratorContext& ctx,
                      std::unique_ptr<DatasetIterator>* out) const override {
    std::vector<std::unique_ptr<DatasetIterator>> inputs(num_inputs());
    for (int i = 0; i < num_inputs(); ++i) {
      HR_RETURN_IF_ERROR(input(i).NewIterator(ctx, &inputs[i]));
    }
    *out = std::make_unique<Iterator>(
        RefPtr<const DirectedInterleaveDataset>::NewRef(this),
        std::move(inputs));
    return OkStatus();
  }

 private:
  const bool stop_on_empty_;
};

class DirectedInterleaveDatasetOp : public DatasetOp {
 public:
  explicit DirectedInterleaveDatasetOp(OpKernelConstruction* ctx)
      : DatasetOp(ctx) {
    if (ctx->HasAttr("stop_on_empty_dataset")) {
      OP_REQUIRES_OK(ctx,
                     ctx->GetAttr("stop_on_empty_dataset", &stop_on_empty_));
    }
  }

 protected:
  Status Make(OpKernelContext* ctx, RefPtr<const Dataset>* out) override {
    std::vector<RefPtr<const Dataset>> inputs(ctx->num_inputs());
    for (int i = 0; i < ctx->num_inputs(); ++i) {
      HR_RETURN_IF_ERROR(
          DatasetFromTensor(ctx->input(i),
                            i == 0 ? "selector_input_dataset"
                                   : StrCat("data_input_datasets[", i - 1, "]"),
                            &inputs[i]));
      if (i > 0) {
        HR_RETURN_IF_ERROR(
            spec().CheckAccepts(inputs[i]->spec(), type_string()));
      }
    }
    *out = MakeRef<DirectedInterleaveDataset>(spec(), std::move(inputs),
                                              stop_on_empty_);
    return OkStatus();
  }

 private:
  bool stop_on_empty_ = false;
};
REGISTER_KERNEL_BUILDER(Name("DirectedInterleaveDataset").Device(DEVICE_CPU),
                        DirectedInterleaveDatasetOp);
REGISTER_KERNEL_BUILDER(
    Name("ExperimentalDirectedInterleaveDataset").Device(DEVICE_CPU),
    DirectedInterleaveDatasetOp);

}  // namespace
}  // namespace headrace
