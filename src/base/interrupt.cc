#include "base/interrupt.h"

#include <utility>

namespace headrace {
namespace {

thread_local const Interrupt* current = nullptr;

}  // namespace

Interrupt::Interrupt(Check check) : check_(std::move(check)), outer_(current) {
  current = this;
}
Interrupt::~Interrupt() { current = outer_; }

Status CheckInterrupt() {
  for (const Interrupt* i = current; i != nullptr; i = i->outer_) {
    HR_RETURN_IF_ERROR(i->check_());
  }
  return OkStatus();
}

}  // namespace headrace
