// headrace ops: the registered ops, and of one op its signature and kernels.
#include <cstdio>
#include <map>

#include "cli/command.h"
#include "framework/op.h"
#include "framework/op_kernel.h"

namespace headrace::cli {
namespace {

constexpr char kHelp[] =
    "usage: headrace ops [OP]\n\n"
    "Lists every op with the number of its kernels; with OP, its signature and "
    "each\nkernel with the types it takes.\n";

int PrintOp(const std::string& name) {
  const OpDef* def = nullptr;
  const Status found = OpRegistry::Global()->LookUp(name, &def);
  if (!found.ok()) return Fail(found);
  std::printf("%s\nkernels:%s\n", def->DebugString().c_str(),
              KernelRegistry::Global()->Describe(name).c_str());
  return 0;
}

}  // namespace

int OpsCommand(const Args& args) {
  ArgReader reader(args);
  std::string op;
  while (!reader.done() && reader.status().ok()) {
    if (reader.Flag("--help") || reader.Flag("-h")) {
      std::fputs(kHelp, stdout);
      return 0;
    }
    op = reader.Positional();
  }
  if (!reader.status().ok()) {
    return UsageError("ops", std::string(reader.status().message()));
  }
  if (!op.empty()) return PrintOp(op);
  std::map<std::string, int> kernels;
  for (const auto& info : KernelRegistry::Global()->All()) ++kernels[info.op];
  int runnable = 0;
  const std::vector<const OpDef*> ops = OpRegistry::Global()->All();
  for (const OpDef* def : ops) {
    const int n = kernels[def->name];
    runnable += n > 0 ? 1 : 0;
    std::printf("%-44s %3d kernel%s\n", def->name.c_str(), n,
                n == 1 ? "" : "s");
  }
  std::printf("%zu ops, %d with kernels\n", ops.size(), runnable);
  return 0;
}

}  // namespace headrace::cli
