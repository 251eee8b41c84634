#include "session/session_options.h"

#include <cstdlib>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/cpu.h"
#include "headrace/types.h"
#include "runtime/passes/graph_pass.h"

namespace headrace {
namespace {

constexpr int kMaxCpuDevices = 1024;
constexpr int kMaxThreads = 4096;

Status CheckThreads(const char* field, int n) {
  if (n > kMaxThreads) {
    return errors::InvalidArgument("ConfigProto: ", field, " is ", n,
                                   ", at most ", kMaxThreads, " is supported");
  }
  return OkStatus();
}

// `from` is where the name stands.
Status DisableByName(absl::string_view from, absl::string_view name,
                     absl::flat_hash_set<std::string>* disabled) {
  std::string known;
  bool found = false;
  for (const GraphPass& p : GraphPasses()) {
    if (name == "all" || name == p.name) {
      disabled->insert(p.name);
      found = true;
    }
    absl::StrAppend(&known, known.empty() ? "" : ", ", p.name);
  }
  if (found) return OkStatus();
  return errors::InvalidArgument(from, ": no graph pass '", name,
                                 "'; there are: ", known, ", all");
}

Status ReadTuning(const pb::ConfigProto::Headrace& config,
                  SessionOptions* options) {
  using Config = pb::ConfigProto::Headrace;
  AlgorithmTuner::Options* const out = &options->tuning;
  Config::ConvTuning mode = config.conv_tuning();
  if (!Config::ConvTuning_IsValid(mode)) {
    return errors::InvalidArgument(
        "ConfigProto: conv_tuning is ", static_cast<int>(mode),
        ", wanted a value of ConfigProto.Headrace.ConvTuning, ",
        static_cast<int>(Config::ConvTuning_MIN), " to ",
        static_cast<int>(Config::ConvTuning_MAX));
  }
  const char* tuning = std::getenv("HEADRACE_CONV_TUNING");
  const char* cache = std::getenv("HEADRACE_CONV_CACHE");
  out->cache_path = config.conv_cache();
  if (mode == Config::UNSET) {
    const absl::string_view text = tuning == nullptr ? "" : tuning;
    if (text == "background") {
      mode = Config::BACKGROUND;
    } else if (!text.empty() && text != "off") {
      return errors::InvalidArgument("HEADRACE_CONV_TUNING is '", text,
                                     "'; wanted off or background");
    }
    if (out->cache_path.empty() && cache != nullptr) out->cache_path = cache;
  }
  out->measure = mode == Config::BACKGROUND || mode == Config::BUSY;
  out->yields = mode == Config::BACKGROUND;
  options->wants_tuner =
      out->measure || mode == Config::REPORT || !out->cache_path.empty();
  const double seconds = config.conv_tuning_seconds();
  if (seconds != 0) out->seconds = seconds;
  if (!(out->seconds > 0 && out->seconds <= 86400)) {
    return errors::InvalidArgument("ConfigProto: conv_tuning_seconds is ",
                                   seconds, ", wanted up to a day");
  }
  return OkStatus();
}

}  // namespace

Status SessionOptions::FromConfig(const pb::ConfigProto& config,
                                  SessionOptions* out) {
  SessionOptions o;
  for (const auto& [type, count] : config.device_count()) {
    o.device_counts[type] = count;
  }
  const int cpus = o.device_counts.try_emplace(DEVICE_CPU, 1).first->second;
  if (cpus < 1 || cpus > kMaxCpuDevices) {
    return errors::InvalidArgument("ConfigProto: device_count of CPU is ", cpus,
                                   ", wanted 1 to ", kMaxCpuDevices);
  }
  HR_RETURN_IF_ERROR(CheckThreads("intra_op_parallelism_threads",
                                  config.intra_op_parallelism_threads()));
  HR_RETURN_IF_ERROR(CheckThreads("inter_op_parallelism_threads",
                                  config.inter_op_parallelism_threads()));
  o.intra_op_threads = config.intra_op_parallelism_threads();
  o.inter_op_threads = config.inter_op_parallelism_threads();
  if (o.inter_op_threads == 0 && config.use_per_session_threads()) {
    o.inter_op_threads = AvailableCpus();
  }
  for (const pb::ThreadPoolOptionProto& p :
       config.session_inter_op_thread_pool()) {
    HR_RETURN_IF_ERROR(
        CheckThreads("session_inter_op_thread_pool", p.num_threads()));
    o.inter_op_pools.push_back({p.num_threads(), p.global_name()});
  }
  if (config.experimental().collective_nccl()) {
    return errors::Unimplemented(
        "ConfigProto.experimental.collective_nccl: collective ops over NCCL "
        "are not supported; without it they go over gRPC or MPI");
  }
  o.gpu.memory_fraction =
      config.gpu_options().per_process_gpu_memory_fraction();
  o.gpu.allow_growth = config.gpu_options().allow_growth();
  o.gpu.visible_device_list = config.gpu_options().visible_device_list();
  o.gpu.allocator_type =
      config.gpu_options().experimental().use_cuda_malloc_async()
          ? "cuda_malloc_async"
          : config.gpu_options().allocator_type();
  o.allow_soft_placement = config.allow_soft_placement();
  o.log_device_placement = config.log_device_placement();
  o.operation_timeout_ms = config.operation_timeout_in_ms();

  HR_RETURN_IF_ERROR(ReadTuning(config.headrace(), &o));
  o.memory_budget = config.headrace().memory_budget_bytes();
  if (o.memory_budget < 0) {
    return errors::InvalidArgument("ConfigProto: memory_budget_bytes is ",
                                   o.memory_budget, ", wanted 0 or more");
  }

  const std::string& precision = config.headrace().precision();
  if (precision.empty() || precision == "float32") {
    o.disabled_passes.insert(kLowerPrecisionPass);
  } else if (precision != "bfloat16") {
    return errors::InvalidArgument("ConfigProto: precision is '", precision,
                                   "', wanted float32 or bfloat16");
  }

  const pb::GraphOptions& g = config.graph_options();
  o.cost_graph_every = g.build_cost_model();
  o.cost_graph_after = g.build_cost_model_after();
  const pb::RewriterConfig& r = g.rewrite_options();
  if (g.optimizer_options().opt_level() == pb::OptimizerOptions::L0 ||
      r.disable_meta_optimizer()) {
    HR_RETURN_IF_ERROR(DisableByName("opt_level", "all", &o.disabled_passes));
  }
  if (r.function_optimization() == pb::RewriterConfig::OFF) {
    o.disabled_passes.insert("inline_functions");
  }
  if (r.constant_folding() == pb::RewriterConfig::OFF) {
    o.disabled_passes.insert("constant_folding");
  }
  if (r.common_subgraph_elimination() == pb::RewriterConfig::OFF) {
    o.disabled_passes.insert("cse");
  }
  if (r.arithmetic_optimization() == pb::RewriterConfig::OFF) {
    o.disabled_passes.insert("remove_noops");
  }
  if (r.dependency_optimization() == pb::RewriterConfig::OFF) {
    o.disabled_passes.insert("remove_controls");
  }
  if (r.remapping() == pb::RewriterConfig::OFF) {
    for (const char* name :
         {"sum_products", "fold_transpose", "fold_tensordot", "fold_dilation",
          "fold_pad", "group_conv", "fold_batch_norm", "fuse_layer_norm",
          "fuse_activation", "fuse_attention", "fuse_conv", "fuse_conv_chain",
          "fuse_fake_quant", "fuse_lstm", "fuse_matmul", "group_elementwise",
          "fuse_elementwise"}) {
      o.disabled_passes.insert(name);
    }
  }
  for (const std::string& name : config.headrace().disabled_passes()) {
    HR_RETURN_IF_ERROR(DisableByName("ConfigProto: disabled_passes", name,
                                     &o.disabled_passes));
  }
  if (const char* names = std::getenv("HEADRACE_DISABLE_PASSES")) {
    for (absl::string_view name :
         absl::StrSplit(names, ',', absl::SkipWhitespace())) {
      HR_RETURN_IF_ERROR(DisableByName("HEADRACE_DISABLE_PASSES",
                                       absl::StripAsciiWhitespace(name),
                                       &o.disabled_passes));
    }
  }
  *out = std::move(o);
  return OkStatus();
}

void SessionOptions::AdaptTo(
    const std::vector<std::unique_ptr<Device>>& devices) {
  for (const auto& d : devices) DisableHostPasses(*d, &disabled_passes);
}

Status CheckDebugOptions(const pb::RunOptions& options) {
  if (options.debug_options().debug_tensor_watch_opts_size() == 0) {
    return OkStatus();
  }
  return errors::Unimplemented(
      "RunOptions.debug_options: watching tensors is not supported");
}

Status CheckMemoryBudget(const pb::RunOptions& options) {
  const int64_t budget = options.headrace().memory_budget_bytes();
  if (budget >= 0) return OkStatus();
  return errors::InvalidArgument("RunOptions: memory_budget_bytes is ", budget,
                                 ", wanted 0 or more");
}

}  // namespace headrace
