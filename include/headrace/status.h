// Status and StatusOr for all of Headrace: absl's types in our namespace, one
// function for each error code, and two macros that return errors to the
// caller. A message names the op and the argument, and states the value found
// and the value wanted.
//
// Functions are thread-safe. A Status is a value, thread-compatible.
#ifndef HEADRACE_STATUS_H_
#define HEADRACE_STATUS_H_

#include <initializer_list>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "headrace/strings.h"

namespace headrace {

using Status = absl::Status;
template <typename T>
using StatusOr = absl::StatusOr<T>;

inline Status OkStatus() { return absl::OkStatus(); }

// Appends `suffix` to the message of an error. Code and payloads stay. Returns
// an OK status unchanged. Call it once, in the layer that knows the context:
// Annotate(s, " [[node block1/conv]]").
[[nodiscard]] Status Annotate(const Status& status, std::string_view suffix);

// errors::InvalidArgument("Conv2D: got rank ", rank, ", wanted 4"): StrCat
// joins the arguments (numbers, strings, std::string_view).
namespace errors {

// Not inline, so that the many checks in kernels stay small. The functions
// below are cold for the same reason.
[[nodiscard, gnu::cold]] Status MakeError(
    absl::StatusCode code, std::initializer_list<absl::string_view> pieces);

#define HR_DEFINE_ERROR_(Name)                                               \
  template <typename... Args>                                                \
  [[nodiscard, gnu::cold]] Status Name(const Args&... args) {                \
    return MakeError(                                                        \
        absl::StatusCode::k##Name,                                           \
        {absl::AlphaNum(::headrace::internal::StrCatArg(args)).Piece()...}); \
  }                                                                          \
  inline bool Is##Name(const Status& s) {                                    \
    return s.code() == absl::StatusCode::k##Name;                            \
  }

HR_DEFINE_ERROR_(Cancelled)
HR_DEFINE_ERROR_(Unknown)
HR_DEFINE_ERROR_(InvalidArgument)
HR_DEFINE_ERROR_(DeadlineExceeded)
HR_DEFINE_ERROR_(NotFound)
HR_DEFINE_ERROR_(AlreadyExists)
HR_DEFINE_ERROR_(PermissionDenied)
HR_DEFINE_ERROR_(ResourceExhausted)
HR_DEFINE_ERROR_(FailedPrecondition)
HR_DEFINE_ERROR_(Aborted)
HR_DEFINE_ERROR_(OutOfRange)
HR_DEFINE_ERROR_(Unimplemented)
HR_DEFINE_ERROR_(Internal)
HR_DEFINE_ERROR_(Unavailable)
HR_DEFINE_ERROR_(DataLoss)
HR_DEFINE_ERROR_(Unauthenticated)

#undef HR_DEFINE_ERROR_

}  // namespace errors

// Moves the value of `from`, if it has one, to `*to`; returns its status.
template <typename T>
Status MoveTo(StatusOr<T> from, T* to) {
  if (!from.ok()) return std::move(from).status();
  *to = *std::move(from);
  return OkStatus();
}

}  // namespace headrace

// Returns from the enclosing function if `expr` is an error. The function must
// return Status or StatusOr<T>.
#define HR_RETURN_IF_ERROR(expr)        \
  do {                                  \
    ::absl::Status hr_status_ = (expr); \
    if (!hr_status_.ok()) [[unlikely]]  \
      return hr_status_;                \
  } while (false)

#define HR_STATUS_CONCAT_INNER_(a, b) a##b
#define HR_STATUS_CONCAT_(a, b) HR_STATUS_CONCAT_INNER_(a, b)

// HR_ASSIGN_OR_RETURN(auto x, MakeX()): moves the value into `lhs`, or returns
// the error. It expands to two statements: use braces around it in an if.
#define HR_ASSIGN_OR_RETURN(lhs, ...)                                      \
  HR_ASSIGN_OR_RETURN_IMPL_(HR_STATUS_CONCAT_(hr_status_or_, __COUNTER__), \
                            lhs, (__VA_ARGS__))
#define HR_ASSIGN_OR_RETURN_IMPL_(tmp, lhs, expr) \
  auto tmp = expr;                                \
  if (!tmp.ok()) [[unlikely]]                     \
    return std::move(tmp).status();               \
  lhs = *std::move(tmp)

#endif  // HEADRACE_STATUS_H_
