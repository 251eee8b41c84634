#include "framework/kernel/kernel_counts.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <exception>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/env.h"
#include "base/fork.h"
#include "base/log.h"
#include "framework/memory/failing_allocations.h"
#include "headrace/op_kernel.h"

namespace headrace {
namespace {

// "T=float Tlist=float,int32": of a list, each type once.
std::string TypesOf(const NodeDef& node) {
  std::string out;
  const auto start = [&out](absl::string_view name) {
    absl::StrAppend(&out, out.empty() ? "" : " ", name, "=");
  };
  for (const auto& [name, value] : node.attrs) {
    if (name.empty() || name[0] == '_') continue;
    if (const DataType* type = value.Get<DataType>()) {
      start(name);
      out += DataTypeString(*type);
    } else if (const auto* list = value.Get<std::vector<DataType>>()) {
      std::set<std::string> types;
      for (const DataType t : *list) types.insert(DataTypeString(t));
      start(name);
      out += absl::StrJoin(types, ",");
    }
  }
  return out;
}

}  // namespace

KernelCounts* KernelCounts::Start() {
  const char* const file = std::getenv("HEADRACE_COUNT_KERNELS");
  if (file == nullptr || *file == '\0') return nullptr;
  // Where allocations are made to fail, ours are not to be among them.
  if (FailingAllocations::ArePreloaded()) return nullptr;
  // Lives as long as the process: kernels may run until its end.
  static auto* const counts = new KernelCounts(file);
  std::atexit([] {
    const Status s = counts->Write();
    if (!s.ok()) {
      HR_LOG(ERROR) << s;
    }
  });
  return counts;
}

KernelCounts* const KernelCounts::of_process_ = Start();

KernelCounts::KernelCounts(std::string file)
    : file_(std::move(file)), generation_(ForkGeneration()) {
  HoldDuringFork(&mu_);
}

KernelCounts::~KernelCounts() { ReleaseFromFork(&mu_); }

void KernelCounts::Begin(OpKernelContext* ctx) {
  if (KernelTrace* const trace = ctx->params().trace) trace->algorithm.clear();
}

void KernelCounts::ForgetParents() {
  if (generation_ == ForkGeneration()) return;
  generation_ = ForkGeneration();
  counts_.clear();
}

void KernelCounts::Add(const OpKernel& kernel,
                       const OpKernelContext& ctx) noexcept {
  if (!ctx.status().ok()) return;
  try {
    const KernelTrace* const trace = ctx.params().trace;
    const std::string line = absl::StrCat(
        kernel.type_string(), "\t", ctx.device()->device_type(), "\t",
        kernel.kernel_class(), "\t", TypesOf(kernel.def()), "\t",
        trace == nullptr ? absl::string_view() : trace->algorithm);
    MutexLock lock(&mu_);
    ForgetParents();
    ++counts_[line];
  } catch (const std::exception&) {
    // A call more or less is no reason to fail a step.
  }
}

Status KernelCounts::Write() {
  MutexLock lock(&mu_);
  return WriteLocked();
}

Status KernelCounts::ContinueIn(std::string file) {
  MutexLock lock(&mu_);
  const Status s = WriteLocked();
  file_ = std::move(file);
  return s;
}

Status KernelCounts::WriteLocked() {
  ForgetParents();
  if (counts_.empty()) return OkStatus();
  std::string text;
  for (const auto& [line, count] : counts_) {
    absl::StrAppend(&text, program_invocation_short_name, "\t", line, "\t",
                    count, "\n");
  }
  counts_.clear();
  const int fd =
      open(file_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (fd < 0) {
    return ErrnoToStatus(errno,
                         "cannot open " + file_ + " for the counts of kernels");
  }
  // One write, so that processes that end together do not mix their lines.
  const ssize_t written = write(fd, text.data(), text.size());
  const int error = errno;
  close(fd);
  if (written < 0) {
    return ErrnoToStatus(error,
                         "cannot write the counts of kernels to " + file_);
  }
  if (static_cast<size_t>(written) != text.size()) {
    return errors::DataLoss("the counts of kernels in ", file_, " are cut off");
  }
  return OkStatus();
}

}  // namespace headrace
