#include "runtime/running_kernels.h"

#include "absl/strings/str_cat.h"

namespace headrace {

RunningKernels::Call::Call(RunningKernels* step, const OpKernel* kernel)
    : step_(step), kernel_(kernel) {
  if (step == nullptr) return;
  MutexLock lock(&step->mu_);
  if (step->left_) {
    listed_ = false;
    return;
  }
  next_ = step->first_;
  if (next_ != nullptr) next_->previous_ = this;
  step->first_ = this;
}

RunningKernels::Call::~Call() {
  if (step_ == nullptr || !listed_) return;
  MutexLock lock(&step_->mu_);
  (previous_ == nullptr ? step_->first_ : previous_->next_) = next_;
  if (next_ != nullptr) next_->previous_ = previous_;
}

bool RunningKernels::Leave(std::string* which) {
  std::string all, waited_for;
  MutexLock lock(&mu_);
  for (const Call* c = first_; c != nullptr; c = c->next_) {
    const std::string name = absl::StrCat("node '", c->kernel_->name(), "' (",
                                          c->kernel_->type_string(), ")");
    absl::StrAppend(&all, all.empty() ? "" : ", ", name);
    if (c->kernel_->traits().may_outlast_run) continue;
    absl::StrAppend(&waited_for, waited_for.empty() ? "" : ", ", name);
  }
  if (all.empty() || !waited_for.empty()) {
    *which = waited_for;
    return false;
  }
  left_ = true;
  *which = all;
  return true;
}

}  // namespace headrace
