// GroupByWindowDataset: elements are collected by the number that key_func
// gives for them; window_size_func(key) elements make a dataset, of which
// reduce_func(key, dataset) makes another, whose elements are given. What is
// left at the end makes smaller ones, in the order of the keys.
#include <limits>
#include <map>
#include <utility>

#include "kernels/data/captured_function.h"
#include "kernels/data/element_buffer.h"
#include "kernels/data/elements_dataset.h"
#include "kernels/data/iterator_state.h"

namespace headrace {
namespace {

using Function = std::shared_ptr<const CapturedFunction>;

Status Number(const TensorTuple& results, const CapturedFunction& f,
              int64_t* out) {
  if (results[0].NumElements() != 1) {
    return errors::InvalidArgument("function '", f.name(),
                                   "' must return a scalar int64, got shape ",
                                   results[0].shape().DebugString());
  }
  *out = *results[0].data<int64_t>();
  return OkStatus();
}

class GroupByWindowDataset : public Dataset {
 public:
  struct Functions {
    Function key, reduce, window_size;
  };

  GroupByWindowDataset(ElementSpec spec, RefPtr<const Dataset> input,
                       Functions f)
      : Dataset(std::move(spec), {std::move(input)}), f_(std::move(f)) {
    for (const Function* g : {&f_.key, &f_.reduce, &f_.window_size}) Calls(*g);
  }

  class Iterator : public InputIterator<GroupByWindowDataset> {
   public:
    Iterator(const GroupByWindowDataset* d,
             std::unique_ptr<DatasetIterator> input)
        : InputIterator(d, std::move(input)), budget_("groups of elements") {}

    Status GetNext(const IteratorContext& ctx, TensorTuple* out,
                   bool* end) override {
      for (;;) {
        HR_RETURN_IF_ERROR(ctx.CheckCancelled());
        if (group_ != nullptr) {
          bool group_end = false;
          HR_RETURN_IF_ERROR(group_->GetNext(Inside(ctx), out, &group_end));
          if (!group_end) return OkStatus();
          group_ = nullptr;
          reduced_.clear();
        }
        if (input_ != nullptr) {
          HR_RETURN_IF_ERROR(Collect(ctx));
        } else if (!groups_.empty()) {
          HR_RETURN_IF_ERROR(Reduce(ctx, groups_.begin()));
        } else {
          *end = true;
          return OkStatus();
        }
      }
    }

    Status SaveOrRestore(const IteratorContext& ctx,
                         IteratorState* state) override {
      const ElementSpec& spec = dataset().input().spec();
      std::vector<int64_t> keys;
      for (const auto& [key, group] : groups_) keys.push_back(key);
      int64_t n = static_cast<int64_t>(keys.size());
      HR_RETURN_IF_ERROR(state->Int("GroupByWindow:groups", &n));
      for (int64_t i = 0; i < n; ++i) {
        const std::string name = StrCat("GroupByWindow[", i, "]");
        constexpr int64_t kMin = std::numeric_limits<int64_t>::min();
        int64_t key = state->restoring() ? 0 : keys[i];
        HR_RETURN_IF_ERROR(state->Int(StrCat(name, "_key"), &key, kMin));
        Group& group = groups_[key];
        HR_RETURN_IF_ERROR(
            state->Int(StrCat(name, "_window"), &group.window_size, 1));
        HR_RETURN_IF_ERROR(state->Elements(name, &spec, &group.elements));
        for (const TensorTuple& e : group.elements) {
          if (state->restoring()) HR_RETURN_IF_ERROR(budget_.Add(e));
        }
      }
      HR_RETURN_IF_ERROR(
          state->InputOrNull("GroupByWindow", ctx, dataset().input(), &input_));
      // The dataset of the group that comes out is made again.
      bool reduced = group_ != nullptr;
      HR_RETURN_IF_ERROR(state->Bool("GroupByWindow:reduced", &reduced));
      if (!reduced) return OkStatus();
      HR_RETURN_IF_ERROR(state->Int("GroupByWindow:reduced_key", &reduced_key_,
                                    std::numeric_limits<int64_t>::min()));
      HR_RETURN_IF_ERROR(
          state->Elements("GroupByWindow:reduced", &spec, &reduced_));
      if (state->restoring()) HR_RETURN_IF_ERROR(OpenReduced(ctx));
      return state->Inside("GroupByWindow:group", Inside(ctx), group_.get());
    }

   private:
    struct Group {
      int64_t window_size = 0;
      std::vector<TensorTuple> elements;
    };
    using Groups = std::map<int64_t, Group>;

    IteratorContext Inside(const IteratorContext& ctx) const {
      return ctx.Below(dataset().depth());
    }

    // Takes an element, and reduces its group if that is complete.
    Status Collect(const IteratorContext& ctx) {
      TensorTuple element;
      bool input_end = false;
      HR_RETURN_IF_ERROR(input_->GetNext(ctx, &element, &input_end));
      if (input_end) {
        input_ = nullptr;
        return OkStatus();
      }
      const Functions& f = dataset().f_;
      TensorTuple results;
      int64_t key = 0;
      HR_RETURN_IF_ERROR(f.key->Run(ctx, element, &results));
      HR_RETURN_IF_ERROR(Number(results, *f.key, &key));
      auto it = groups_.find(key);
      if (it == groups_.end()) {
        int64_t size = 0;
        HR_RETURN_IF_ERROR(
            f.window_size->Run(ctx, {Tensor::Scalar(key)}, &results));
        HR_RETURN_IF_ERROR(Number(results, *f.window_size, &size));
        if (size <= 0) {
          return errors::InvalidArgument(
              "Window size must be greater than zero, but got ", size, ".");
        }
        it = groups_.emplace(key, Group{size, {}}).first;
      }
      HR_RETURN_IF_ERROR(budget_.Add(element));
      Group& group = it->second;
      group.elements.push_back(std::move(element));
      if (static_cast<int64_t>(group.elements.size()) < group.window_size) {
        return OkStatus();
      }
      return Reduce(ctx, it);
    }

    // The group is gone, also if that fails.
    Status Reduce(const IteratorContext& ctx, Groups::iterator it) {
      reduced_key_ = it->first;
      reduced_ = std::move(it->second.elements);
      groups_.erase(it);
      for (const TensorTuple& e : reduced_) budget_.Remove(e);
      return OpenReduced(ctx);
    }

    Status OpenReduced(const IteratorContext& ctx) {
      const CapturedFunction& reduce = *dataset().f_.reduce;
      TensorTuple results;
      HR_RETURN_IF_ERROR(reduce.Run(ctx,
                                    {Tensor::Scalar(reduced_key_),
                                     DatasetTensor(MakeElementsDataset(
                                         dataset().input().spec(), reduced_))},
                                    &results));
      RefPtr<const Dataset> made;
      HR_RETURN_IF_ERROR(DatasetFromTensor(
          results[0], StrCat("result of function '", reduce.name(), "'"),
          &made));
      HR_RETURN_IF_ERROR(
          dataset().spec().CheckAccepts(made->spec(), "GroupByWindowDataset"));
      return made->NewIterator(Inside(ctx), &group_);
    }

    Groups groups_;
    BufferBudget budget_;
    std::unique_ptr<DatasetIterator> group_;
    // What group_ was made of.
    int64_t reduced_key_ = 0;
    std::vector<TensorTuple> reduced_;
  };

 protected:
  Status MakeIterator(const IteratorContext& ctx,
                      std::unique_ptr<DatasetIterator>* out) const override {
    return Iterator::Make(this, ctx, out);
  }

 private:
  const Functions f_;
};

class GroupByWindowDatasetOp : public UnaryDatasetOp {
 public:
  explicit GroupByWindowDatasetOp(OpKernelConstruction* ctx)
      : UnaryDatasetOp(ctx) {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("key_func", &key_));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("reduce_func", &reduce_));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("window_size_func", &window_size_));
  }

 protected:
  Status Make(OpKernelContext* ctx, RefPtr<const Dataset> input,
              RefPtr<const Dataset>* out) override {
    GroupByWindowDataset::Functions f;
    HR_RETURN_IF_ERROR(CapturedFunction::Create(
        ctx, key_, "key_func_other_arguments", &f.key));
    HR_RETURN_IF_ERROR(CapturedFunction::Create(
        ctx, reduce_, "reduce_func_other_arguments", &f.reduce));
    HR_RETURN_IF_ERROR(CapturedFunction::Create(
        ctx, window_size_, "window_size_func_other_arguments", &f.window_size));
    HR_RETURN_IF_ERROR(f.key->CheckResults({DT_INT64}));
    HR_RETURN_IF_ERROR(f.reduce->CheckResults({DT_VARIANT}));
    HR_RETURN_IF_ERROR(f.window_size->CheckResults({DT_INT64}));
    *out =
        MakeRef<GroupByWindowDataset>(spec(), std::move(input), std::move(f));
    return OkStatus();
  }

 private:
  NameAttrList key_, reduce_, window_size_;
};
REGISTER_KERNEL_BUILDER(Name("GroupByWindowDataset").Device(DEVICE_CPU),
                        GroupByWindowDatasetOp);
REGISTER_KERNEL_BUILDER(
    Name("ExperimentalGroupByWindowDataset").Device(DEVICE_CPU),
    GroupByWindowDatasetOp);

}  // namespace
}  // namespace headrace
