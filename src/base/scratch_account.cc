#include "base/scratch_account.h"

#include <utility>

#include "base/memory.h"

namespace headrace {
namespace {

constinit thread_local ScratchAccount* current_account = nullptr;

}  // namespace

ScratchAccount::ScratchAccount(MemoryCounter* counter)
    : counter_(counter), outer_(SetCurrent(this)) {}

ScratchAccount::~ScratchAccount() {
  SetCurrent(outer_);
  const int64_t taken = taken_.load();
  if (taken > 0) counter_->Release(taken);
}

ScratchAccount* ScratchAccount::Current() { return current_account; }
ScratchAccount* ScratchAccount::SetCurrent(ScratchAccount* account) {
  return std::exchange(current_account, account);
}

bool ScratchAccount::AdmitsLarge(size_t bytes) {
  if (!MayTakeMemory(bytes)) return false;
  ScratchAccount* const account = current_account;
  if (account == nullptr || account->counter_ == nullptr) return true;
  const auto n = static_cast<int64_t>(bytes);  // less than the machine has
  if (!account->counter_->Reserve(n)) return false;
  account->taken_.fetch_add(n);
  return true;
}

}  // namespace headrace
