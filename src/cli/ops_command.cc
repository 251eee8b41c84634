// headrace ops: the registered ops, and of one op its signature and kernels.
#include <algorithm>
#include <cstdio>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "cli/command.h"
#include "cli/needed_ops.h"
#include "cli/suggest.h"
#include "headrace/op.h"
#include "headrace/op_kernel.h"
#include "headrace/op_traits.h"

namespace headrace::cli {
namespace {

constexpr char kOpsHelp[] =
    "usage: headrace ops [--table | --kernels | --traits] [OP]\n"
    "       headrace ops --needed MODEL...\n\n"
    "Lists every op with the number of its kernels; with OP, its signature, "
    "traits\nand each kernel with the types it takes. --table: a line for each "
    "op and\ndevice, with the types of all its kernels there, between tabs. "
    "--kernels: a\nline for each kernel: its op, device, class and types, "
    "between tabs. "
    "--traits: a line\nfor each op with its traits.\n"
    "--needed: the ops that these models need, each on a line; each model is "
    "run once,\nwith zeros. './run package --ops FILE' links a library of "
    "these alone. --feed,\n--shape and --fetch, as for 'headrace explain', "
    "are for all the models.\n";

int PrintOp(const std::string& name) {
  const OpDef* def = nullptr;
  const Status found = OpRegistry::Global()->LookUp(name, &def);
  if (errors::IsNotFound(found)) {
    std::vector<std::string> names;
    for (const OpDef* op : OpRegistry::Global()->All()) {
      names.push_back(op->name);
    }
    return Fail(errors::NotFound("there is no op '", name, "'",
                                 DidYouMean(name, names)));
  }
  if (!found.ok()) return Fail(found);
  std::printf("%s\ntraits: %s\nkernels:%s\n", def->DebugString().c_str(),
              DescribeTraits(*def).c_str(),
              KernelRegistry::Global()->Describe(name).c_str());
  return 0;
}

// "T: float, half; Tidx: int32" of constraints such as "T in [half]; Tidx in
// [int32]", over all kernels.
std::string AllTypes(const std::vector<std::string>& constraints) {
  std::map<std::string, std::set<std::string>> types;
  for (const std::string& kernel : constraints) {
    for (absl::string_view one : absl::StrSplit(kernel, "; ")) {
      const std::vector<absl::string_view> parts = absl::StrSplit(one, " in [");
      if (parts.size() != 2) continue;
      absl::string_view list = parts[1];
      list = list.substr(0, list.find(']'));
      for (absl::string_view t : absl::StrSplit(list, ", ")) {
        types[std::string(parts[0])].insert(std::string(t));
      }
    }
  }
  std::vector<std::string> attrs;
  for (const auto& [attr, of] : types) {
    attrs.push_back(absl::StrCat(attr, ": ", absl::StrJoin(of, ", ")));
  }
  return absl::StrJoin(attrs, "; ");
}

int PrintTable() {
  std::map<std::string, std::map<std::string, std::vector<std::string>>> ops;
  for (const OpDef* def : OpRegistry::Global()->All()) ops[def->name];
  for (const auto& info : KernelRegistry::Global()->All()) {
    ops[info.op][info.device].push_back(info.constraints);
  }
  for (const auto& [op, devices] : ops) {
    if (devices.empty()) std::printf("%s\t\t\n", op.c_str());
    for (const auto& [device, constraints] : devices) {
      std::printf("%s\t%s\t%s\n", op.c_str(), device.c_str(),
                  AllTypes(constraints).c_str());
    }
  }
  return 0;
}

int PrintTraits() {
  for (const OpDef* def : OpRegistry::Global()->All()) {
    std::printf("%s\t%s\n", def->name.c_str(), DescribeTraits(*def).c_str());
  }
  return 0;
}

int PrintKernels() {
  for (const auto& info : KernelRegistry::Global()->All()) {
    std::printf("%s\t%s\t%s\t%s\n", info.op.c_str(), info.device.c_str(),
                info.kernel_class.c_str(), info.constraints.c_str());
  }
  return 0;
}

int PrintNeeded(const Args& args) {
  ArgReader reader(args);
  TrialArgs trial;
  std::vector<std::string> models;
  Status status;
  while (!reader.done() && status.ok()) {
    if (reader.Flag("--needed")) continue;
    TakeTrialArg(&reader, &trial, &status);
    if (!trial.model.empty()) models.push_back(std::exchange(trial.model, {}));
  }
  if (status.ok()) status = reader.status();
  if (status.ok() && models.empty()) {
    status = errors::InvalidArgument("--needed: which model?");
  }
  if (!status.ok()) return UsageError("ops", std::string(status.message()));
  std::set<std::string> ops;
  for (const std::string& model : models) {
    trial.model = model;
    status = AddNeededOps(trial, &ops);
    if (!status.ok()) return Fail(Annotate(status, StrCat(" (", model, ")")));
  }
  for (const std::string& op : ops) std::printf("%s\n", op.c_str());
  return 0;
}

}  // namespace

int OpsCommand(const Args& args) {
  if (std::find(args.begin(), args.end(), "--needed") != args.end() &&
      std::find(args.begin(), args.end(), "--help") == args.end()) {
    return PrintNeeded(args);
  }
  ArgReader reader(args);
  std::string op;
  std::string list;  // the option that asks for one
  while (!reader.done()) {
    if (reader.Flag("--help") || reader.Flag("-h")) {
      std::fputs(kOpsHelp, stdout);
      return 0;
    }
    std::string asked;
    for (const char* option : {"--table", "--kernels", "--traits"}) {
      if (reader.Flag(option)) asked = option;
    }
    if (asked.empty()) {
      reader.TakeOnly("op", &op);
    } else if (!list.empty() && list != asked) {
      return UsageError("ops",
                        StrCat(list, " and ", asked, " do not go together"));
    } else {
      list = asked;
    }
  }
  if (!reader.status().ok()) {
    return UsageError("ops", std::string(reader.status().message()));
  }
  if (!list.empty() && !op.empty()) {
    return UsageError(
        "ops", StrCat(list, " lists every op; '", op, "' goes without it"));
  }
  if (list == "--table") return PrintTable();
  if (list == "--kernels") return PrintKernels();
  if (list == "--traits") return PrintTraits();
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
