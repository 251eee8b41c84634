// For programs that prefer exceptions: OrThrow turns an error into one.
//
//   ClientSession session(root);
//   std::vector<Tensor> out;
//   OrThrow(session.Run({y}, &out));
//   std::string path = OrThrow(saver.Save(session, "/tmp/model"));
//
// The library itself throws nothing.
#ifndef HEADRACE_CC_THROWING_H_
#define HEADRACE_CC_THROWING_H_

#include <stdexcept>
#include <utility>

#include "headrace/status.h"

namespace headrace {

class StatusError : public std::runtime_error {
 public:
  explicit StatusError(Status status)
      : std::runtime_error(status.ToString()), status_(std::move(status)) {}
  const Status& status() const { return status_; }

 private:
  Status status_;
};

inline void OrThrow(const Status& status) {
  if (!status.ok()) throw StatusError(status);
}

template <typename T>
T OrThrow(StatusOr<T> value) {
  if (!value.ok()) throw StatusError(value.status());
  return *std::move(value);
}

}  // namespace headrace

#endif  // HEADRACE_CC_THROWING_H_
