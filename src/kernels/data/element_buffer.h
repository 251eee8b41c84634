// ElementBuffer: collects elements when a graph asks for many at once. The
// number comes from the graph, and the sequence may be endless. Therefore the
// buffer is limited by the machine's memory.
#ifndef HEADRACE_KERNELS_DATA_ELEMENT_BUFFER_H_
#define HEADRACE_KERNELS_DATA_ELEMENT_BUFFER_H_

#include <utility>
#include <vector>

#include "kernels/data/dataset.h"
#include "kernels/data/element_bytes.h"

namespace headrace {

// Half of the memory that this process may use, in bytes.
int64_t MaxBufferedBytes();

// Sums the memory of elements and checks it against the limit.
// Thread-compatible.
class BufferBudget {
 public:
  // The error contains `what`: "a batch".
  explicit BufferBudget(const char* what) : what_(what) {}
  // ResourceExhausted beyond the limit. `e` is counted all the same.
  Status Add(const TensorTuple& e) {
    bytes_ += Cost(e);
    if (bytes_ <= MaxBufferedBytes()) [[likely]]
      return OkStatus();
    return errors::ResourceExhausted(what_, " would take more than ",
                                     MaxBufferedBytes(), " bytes");
  }
  void Remove(const TensorTuple& e) { bytes_ -= Cost(e); }
  int64_t bytes() const { return bytes_; }
  void set_bytes(int64_t bytes) { bytes_ = bytes; }

 private:
  static int64_t Cost(const TensorTuple& e) {
    return ElementBytes(e) + static_cast<int64_t>(sizeof(TensorTuple) +
                                                  e.size() * sizeof(Tensor));
  }

  const char* const what_;
  int64_t bytes_ = 0;
};

// Thread-compatible.
class ElementBuffer {
 public:
  explicit ElementBuffer(const char* what) : budget_(what) {}
  Status Add(TensorTuple e) {
    HR_RETURN_IF_ERROR(budget_.Add(e));
    elements_.push_back(std::move(e));
    return OkStatus();
  }
  int64_t size() const { return static_cast<int64_t>(elements_.size()); }
  const std::vector<TensorTuple>& elements() const& { return elements_; }
  std::vector<TensorTuple> elements() && { return std::move(elements_); }

 private:
  BufferBudget budget_;
  std::vector<TensorTuple> elements_;
};

}  // namespace headrace

#endif  // HEADRACE_KERNELS_DATA_ELEMENT_BUFFER_H_
