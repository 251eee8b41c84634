// UniqueDataset: the elements, of one integer or string component, that were
// not there before. Tensors are the same if shape and elements are.
#include <string>

#include "kernels/data/element_buffer.h"
#include "kernels/data/iterator_state.h"
#include "kernels/lib/growing_table.h"

namespace headrace {
namespace {

class UniqueDataset : public Dataset {
 public:
  explicit UniqueDataset(const RefPtr<const Dataset>& input)
      : Dataset(input->spec(), {input}) {}

  class Iterator : public InputIterator<UniqueDataset> {
   public:
    Iterator(const UniqueDataset* d, std::unique_ptr<DatasetIterator> input)
        : InputIterator(d, std::move(input)), budget_("what was unique") {}

    Status GetNext(const IteratorContext& ctx, TensorTuple* out,
                   bool* end) override {
      while (input_ != nullptr) {
        HR_RETURN_IF_ERROR(ctx.CheckCancelled());
        bool input_end = false;
        HR_RETURN_IF_ERROR(input_->GetNext(ctx, out, &input_end));
        if (input_end) {
          input_ = nullptr;
          seen_.clear();
          break;
        }
        if (out->size() != 1 || (*out)[0].dtype() != dataset().type()) {
          return errors::InvalidArgument(
              "UniqueDataset: an element is not a tensor of type ",
              DataTypeString(dataset().type()));
        }
        if (!InsertIntoSet(&seen_, Key((*out)[0]))) continue;
        return budget_.Add(*out);
      }
      *end = true;
      return OkStatus();
    }
    Status SaveOrRestore(const IteratorContext& ctx,
                         IteratorState* state) override {
      std::vector<std::string> seen(seen_.begin(), seen_.end());
      int64_t bytes = budget_.bytes();
      HR_RETURN_IF_ERROR(state->Texts("Unique:seen", &seen));
      HR_RETURN_IF_ERROR(state->Int("Unique:bytes", &bytes));
      if (state->restoring()) {
        for (std::string& key : seen) InsertIntoSet(&seen_, std::move(key));
        budget_.set_bytes(bytes);
      }
      return state->InputOrNull("Unique", ctx, dataset().input(), &input_);
    }

   private:
    static std::string Key(const Tensor& t) {
      std::string key = t.shape().DebugString();
      if (t.dtype() != DT_STRING) {
        absl::StrAppend(&key, t.tensor_data());
        return key;
      }
      for (const tstring& s : t.span<tstring>()) {
        absl::StrAppend(&key, s.size(), ":", absl::string_view(s));
      }
      return key;
    }

    BufferBudget budget_;
    GrowingSet<std::string> seen_;
  };

 protected:
  Status MakeIterator(const IteratorContext& ctx,
                      std::unique_ptr<DatasetIterator>* out) const override {
    return Iterator::Make(this, ctx, out);
  }

 private:
  DataType type() const { return spec().dtypes[0]; }
};

class UniqueDatasetOp : public UnaryDatasetOp {
 public:
  using UnaryDatasetOp::UnaryDatasetOp;

 protected:
  Status Make(OpKernelContext*, RefPtr<const Dataset> input,
              RefPtr<const Dataset>* out) override {
    const DataTypeVector& types = input->spec().dtypes;
    if (types.size() != 1) {
      return errors::InvalidArgument(
          "UniqueDataset only supports inputs with a single component, got ",
          types.size());
    }
    if (types[0] != DT_INT32 && types[0] != DT_INT64 && types[0] != DT_STRING) {
      return errors::InvalidArgument(
          "UniqueDataset only supports components of type int32, int64 or "
          "string, got ",
          DataTypeString(types[0]));
    }
    *out = MakeRef<UniqueDataset>(input);
    return OkStatus();
  }
};
REGISTER_KERNEL_BUILDER(Name("UniqueDataset").Device(DEVICE_CPU),
                        UniqueDatasetOp);
REGISTER_KERNEL_BUILDER(Name("ExperimentalUniqueDataset").Device(DEVICE_CPU),
                        UniqueDatasetOp);

}  // namespace
}  // namespace headrace
