// The place of an iterator, as named lists of tensors, and its way out of one
// iterator and into another (docs/design/0025-iterator-state.md).
//
// One function of each kind of iterator names all that its place consists of.
// It runs when the place is saved and when it is restored, so the two cannot
// differ. Nothing that is restored is trusted: a number is checked against its
// limits, an element against the dataset's types and shapes.
#ifndef HEADRACE_KERNELS_DATA_ITERATOR_STATE_H_
#define HEADRACE_KERNELS_DATA_ITERATOR_STATE_H_

#include <limits>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "framework/kernel/philox.h"
#include "framework/op/saved_variant.h"
#include "kernels/data/dataset.h"

namespace headrace {

// Used by one thread at a time.
class IteratorState {
 public:
  // Empty, to be saved to.
  IteratorState() = default;
  // To restore from. InvalidArgument unless it is what Encode made.
  static Status Decode(const Tensor& saved,
                       std::unique_ptr<IteratorState>* out);
  // A scalar variant. ResourceExhausted beyond what a message can hold.
  Status Encode(Tensor* out) const;

  bool restoring() const { return restoring_; }

  // Each saves *v under the name, or sets *v to what was saved. NotFound if
  // there is nothing of that name: another kind of dataset was saved.
  // InvalidArgument for a value that cannot be.
  Status Int(absl::string_view name, int64_t* v, int64_t min = 0,
             int64_t max = std::numeric_limits<int64_t>::max());
  Status Index(absl::string_view name, size_t* v, size_t max);
  Status Bool(absl::string_view name, bool* v);
  Status Text(absl::string_view name, std::string* v);
  Status Texts(absl::string_view name, std::vector<std::string>* v);
  Status Words(absl::string_view name, PhiloxWords* v);
  // An error is not this call's, but the value.
  Status StatusValue(absl::string_view name, Status* v);
  // With `spec`, restored elements fit it.
  Status Element(absl::string_view name, const ElementSpec* spec,
                 TensorTuple* v);
  // A container of elements that has push_back.
  template <typename C>
  Status Elements(absl::string_view name, const ElementSpec* spec, C* v) {
    int64_t n = static_cast<int64_t>(v->size());
    HR_RETURN_IF_ERROR(Int(StrCat(name, "_size"), &n));
    for (int64_t i = 0; i < n; ++i) {
      if (restoring_) v->emplace_back();
      // Fails at the first that is not there, whatever n claims.
      HR_RETURN_IF_ERROR(Element(StrCat(name, "[", i, "]"), spec,
                                 restoring_ ? &v->back() : &(*v)[i]));
    }
    return OkStatus();
  }

  // The place of `*input`, an iterator of `dataset`. Restoring makes it if
  // there is none yet.
  Status Input(absl::string_view name, const IteratorContext& ctx,
               const Dataset& dataset, std::unique_ptr<DatasetIterator>* input);
  // The same where null means that the input has ended, or not begun.
  Status InputOrNull(absl::string_view name, const IteratorContext& ctx,
                     const Dataset& dataset,
                     std::unique_ptr<DatasetIterator>* input);
  // The place of an iterator that is there.
  Status Inside(absl::string_view name, const IteratorContext& ctx,
                DatasetIterator* iterator);

  // The place of a `kind` of dataset that reads so many files: the number of
  // one, whether it is open, and then the byte that is read next.
  Status PlaceInFiles(absl::string_view kind, size_t files, size_t* at,
                      bool* open, uint64_t* offset);

  // What was saved below the name is not wanted.
  void Drop(absl::string_view name);
  // Restored: InvalidArgument if something was saved that nobody asked for.
  Status CheckAllRestored() const;
  // InvalidArgument: the value of that name is none that was saved.
  Status Wrong(absl::string_view name, absl::string_view why) const;

 private:
  struct Entry {
    TensorTuple tensors;
    bool restored = false;
  };

  std::string Key(absl::string_view name) const {
    return StrCat(prefix_, name);
  }
  Status Put(absl::string_view name, TensorTuple tensors);
  Status Find(absl::string_view name, const TensorTuple** out);
  // A tensor of that type, and a vector.
  Status FindVector(absl::string_view name, DataType dtype, const Tensor** out);

  bool restoring_ = false;
  std::string prefix_ = "Iterator::";
  std::map<std::string, Entry> entries_;
};

}  // namespace headrace

#endif  // HEADRACE_KERNELS_DATA_ITERATOR_STATE_H_
