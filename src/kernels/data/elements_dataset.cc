#include "kernels/data/elements_dataset.h"

#include <utility>

#include "kernels/data/iterator_state.h"

namespace headrace {
namespace {

class ElementsDataset : public Dataset {
 public:
  ElementsDataset(ElementSpec spec, std::vector<TensorTuple> elements)
      : Dataset(std::move(spec)), elements_(std::move(elements)) {
    for (const TensorTuple& e : elements_) CountHeld(e);
  }
  const std::vector<TensorTuple>& elements() const { return elements_; }
  int64_t Cardinality() const override {
    return static_cast<int64_t>(elements_.size());
  }

  class Iterator : public DatasetIterator {
   public:
    explicit Iterator(RefPtr<const ElementsDataset> dataset)
        : dataset_(std::move(dataset)) {}
    Status GetNext(const IteratorContext&, TensorTuple* out,
                   bool* end) override {
      if (next_ == dataset_->elements_.size()) {
        *end = true;
      } else {
        *out = dataset_->elements_[next_++];
      }
      return OkStatus();
    }
    Status SaveOrRestore(const IteratorContext&,
                         IteratorState* state) override {
      return state->Index("Elements:next", &next_, dataset_->elements_.size());
    }

   private:
    const RefPtr<const ElementsDataset> dataset_;
    size_t next_ = 0;
  };

 protected:
  Status MakeIterator(const IteratorContext&,
                      std::unique_ptr<DatasetIterator>* out) const override {
    *out =
        std::make_unique<Iterator>(RefPtr<const ElementsDataset>::NewRef(this));
    return OkStatus();
  }

 private:
  const std::vector<TensorTuple> elements_;
};

}  // namespace

const std::vector<TensorTuple>* ElementsOf(const Dataset& dataset) {
  const auto* d = dynamic_cast<const ElementsDataset*>(&dataset);
  return d == nullptr ? nullptr : &d->elements();
}

RefPtr<const Dataset> MakeElementsDataset(ElementSpec spec,
                                          std::vector<TensorTuple> elements) {
  return MakeRef<ElementsDataset>(std::move(spec), std::move(elements));
}

}  // namespace headrace
