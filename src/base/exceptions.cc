#include "base/exceptions.h"

#include <stdexcept>
#include <system_error>

#include "base/memory.h"

namespace headrace {
namespace {

Status Describe(const std::exception& e) {
  if (const auto* known = dynamic_cast<const OutOfMemory*>(&e)) {
    return errors::ResourceExhausted("out of memory: an allocation of ",
                                     known->bytes(), " bytes failed");
  }
  if (dynamic_cast<const std::bad_alloc*>(&e) != nullptr) {
    return errors::ResourceExhausted(
        "out of memory: an allocation failed; the machine has ",
        AvailableMemory(), " bytes free");
  }
  if (dynamic_cast<const std::length_error*>(&e) != nullptr) {
    return errors::ResourceExhausted(
        "out of memory: more elements than a container can have (", e.what(),
        ")");
  }
  if (const auto* refused = dynamic_cast<const std::system_error*>(&e);
      refused != nullptr &&
      refused->code() == std::errc::resource_unavailable_try_again) {
    return errors::ResourceExhausted("the system gives no more threads (",
                                     e.what(), ")");
  }
  return errors::Internal("unexpected exception: ", e.what());
}

}  // namespace

Status StatusOf(const std::exception& e) noexcept {
  try {
    return Describe(e);
  } catch (const std::exception&) {
    return Status(absl::StatusCode::kResourceExhausted, "");
  }
}

}  // namespace headrace
