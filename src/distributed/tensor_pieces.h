// Large tensors in pieces: RecvTensor answers with a description, and the
// receiver asks for the bytes by RecvBuf, several pieces at a time. Only
// receivers that have said that they can get this answer.
#ifndef HEADRACE_DISTRIBUTED_TENSOR_PIECES_H_
#define HEADRACE_DISTRIBUTED_TENSOR_PIECES_H_

#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "headrace/mutex.h"
#include "headrace/strings.h"
#include "headrace/tensor.h"

namespace headrace {

// The type of transport_options in RecvTensorRequest and RecvTensorResponse.
inline constexpr char kPiecesUrl[] =
    "type.googleapis.com/headrace.pb.TensorPiecesResponse";
// Keys of RecvBuf: "tensor:ID:OFFSET".
inline constexpr char kPieceKey[] = "tensor:";

// The tensors of a task that are being sent in pieces. Thread-safe.
class PieceTable {
 public:
  // Keeps the tensor until it is released or the step ends.
  int64_t Add(int64_t step_id, const Tensor& value) {
    MutexLock lock(&mu_);
    const int64_t id = next_id_++;
    tensors_.emplace(std::make_pair(step_id, id),
                     std::make_shared<const Tensor>(value));
    return id;
  }
  // Bytes by a key as above; none for a size of 0, which releases the tensor.
  // Aborted if there is no such tensor.
  Status Find(int64_t step_id, absl::string_view key, int64_t size,
              absl::string_view* bytes, std::shared_ptr<const void>* owner) {
    int64_t id = 0, begin = 0;
    const std::pair<absl::string_view, absl::string_view> numbers =
        absl::StrSplit(absl::StripPrefix(key, kPieceKey),
                       absl::MaxSplits(':', 1));
    if (!absl::SimpleAtoi(numbers.first, &id) ||
        !absl::SimpleAtoi(numbers.second, &begin)) {
      return errors::InvalidArgument("RecvBuf: '", key, "' is no key");
    }
    std::shared_ptr<const Tensor> tensor;
    {
      MutexLock lock(&mu_);
      const auto it = tensors_.find({step_id, id});
      if (it == tensors_.end()) {
        if (size == 0) return OkStatus();
        return errors::Aborted("RecvBuf: the tensor of '", key,
                               "' is gone; has its step ended?");
      }
      tensor = it->second;
      if (size == 0) tensors_.erase(it);
    }
    const int64_t total = static_cast<int64_t>(tensor->TotalBytes());
    if (begin < 0 || size < 0 || begin > total || size > total - begin) {
      return errors::InvalidArgument("RecvBuf: '", key, "' with ", size,
                                     " bytes is not within the tensor's ",
                                     total, " bytes");
    }
    *bytes = tensor->tensor_data().substr(static_cast<size_t>(begin),
                                          static_cast<size_t>(size));
    *owner = std::move(tensor);
    return OkStatus();
  }
  void EndStep(int64_t step_id) {
    MutexLock lock(&mu_);
    tensors_.erase(
        tensors_.lower_bound({step_id, 0}),
        tensors_.upper_bound({step_id, std::numeric_limits<int64_t>::max()}));
  }

 private:
  Mutex mu_;
  int64_t next_id_ GUARDED_BY(mu_) = 1;
  std::map<std::pair<int64_t, int64_t>, std::shared_ptr<const Tensor>> tensors_
      GUARDED_BY(mu_);
};

}  // namespace headrace

#endif  // HEADRACE_DISTRIBUTED_TENSOR_PIECES_H_
