// TF_Status, and how the other files set one.
#include <cerrno>
#include <cstring>
#include <new>

#include "c_api/internal.h"

static_assert(TF_UNAUTHENTICATED ==
              static_cast<int>(absl::StatusCode::kUnauthenticated));
static_assert(TF_DATA_LOSS == static_cast<int>(absl::StatusCode::kDataLoss));

namespace headrace::c_api {
namespace {

absl::StatusCode CodeOfErrno(int e) {
  switch (e) {
    case 0:
      return absl::StatusCode::kOk;
    case EINVAL:
    case ENAMETOOLONG:
    case E2BIG:
    case EDESTADDRREQ:
    case EDOM:
    case EFAULT:
    case EILSEQ:
    case ENOPROTOOPT:
    case ENOSTR:
    case ENOTSOCK:
    case ENOTTY:
    case EPROTOTYPE:
    case ESPIPE:
      return absl::StatusCode::kInvalidArgument;
    case ETIMEDOUT:
      return absl::StatusCode::kDeadlineExceeded;
    case ENODEV:
    case ENOENT:
    case ENXIO:
    case ESRCH:
      return absl::StatusCode::kNotFound;
    case EEXIST:
    case EADDRNOTAVAIL:
    case EALREADY:
      return absl::StatusCode::kAlreadyExists;
    case EPERM:
    case EACCES:
    case EROFS:
      return absl::StatusCode::kPermissionDenied;
    case ENOTEMPTY:
    case EISDIR:
    case ENOTDIR:
    case EADDRINUSE:
    case EBADF:
    case EBUSY:
    case ECHILD:
    case EISCONN:
    case ENOTBLK:
    case ENOTCONN:
    case EPIPE:
    case ESHUTDOWN:
    case ETXTBSY:
      return absl::StatusCode::kFailedPrecondition;
    case ENOSPC:
    case EDQUOT:
    case EMFILE:
    case EMLINK:
    case ENFILE:
    case ENOBUFS:
    case ENODATA:
    case ENOMEM:
    case EUSERS:
      return absl::StatusCode::kResourceExhausted;
    case EFBIG:
    case EOVERFLOW:
    case ERANGE:
      return absl::StatusCode::kOutOfRange;
    case ENOSYS:
    case ENOTSUP:
    case EAFNOSUPPORT:
    case EPFNOSUPPORT:
    case EPROTONOSUPPORT:
    case ESOCKTNOSUPPORT:
    case EXDEV:
      return absl::StatusCode::kUnimplemented;
    case EAGAIN:
    case ECONNREFUSED:
    case ECONNABORTED:
    case ECONNRESET:
    case EINTR:
    case EHOSTDOWN:
    case EHOSTUNREACH:
    case ENETDOWN:
    case ENETRESET:
    case ENETUNREACH:
    case ENOLCK:
    case ENOLINK:
      return absl::StatusCode::kUnavailable;
    case EDEADLK:
    case ESTALE:
      return absl::StatusCode::kAborted;
    case ECANCELED:
      return absl::StatusCode::kCancelled;
    default:
      return absl::StatusCode::kUnknown;
  }
}

}  // namespace

void Set(TF_Status* out, Status status) {
  if (out == nullptr) return;
  if (status.ok()) [[likely]] {
    out->message.clear();
  } else {
    try {
      out->message = std::string(status.message());
    } catch (const std::bad_alloc&) {
      out->message.clear();  // the code alone
    }
  }
  out->status = std::move(status);
}

}  // namespace headrace::c_api

using headrace::Status;
using headrace::c_api::Set;
using headrace::c_api::Text;

TF_Status* TF_NewStatus() { return new TF_Status; }

void TF_DeleteStatus(TF_Status* s) { delete s; }

void TF_SetStatus(TF_Status* s, TF_Code code, const char* msg) {
  Set(s, code == TF_OK
             ? headrace::OkStatus()
             : Status(static_cast<absl::StatusCode>(code), Text(msg)));
}

void TF_SetPayload(TF_Status* s, const char* key, const char* value) {
  if (s != nullptr) s->status.SetPayload(Text(key), absl::Cord(Text(value)));
}

void TF_ForEachPayload(const TF_Status* s, TF_PayloadVisitor visitor,
                       void* capture) {
  if (s == nullptr || visitor == nullptr) return;
  s->status.ForEachPayload([&](absl::string_view key, const absl::Cord& value) {
    visitor(std::string(key).c_str(), std::string(value).c_str(), capture);
  });
}

void TF_SetStatusFromIOError(TF_Status* s, int error_code,
                             const char* context) {
  const absl::StatusCode code = headrace::c_api::CodeOfErrno(error_code);
  if (code == absl::StatusCode::kOk) {
    Set(s, headrace::OkStatus());
    return;
  }
  char words[128];
  Set(s,
      Status(code, absl::StrCat(Text(context), "; ",
                                strerror_r(error_code, words, sizeof(words)))));
}

TF_Code TF_GetCode(const TF_Status* s) {
  return s == nullptr ? TF_OK : static_cast<TF_Code>(s->status.code());
}

const char* TF_Message(const TF_Status* s) {
  return s == nullptr ? "" : s->message.c_str();
}
