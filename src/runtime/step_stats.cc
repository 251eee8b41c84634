#include "runtime/step_stats.h"

#include <algorithm>
#include <map>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "runtime/passes/rewrite.h"

namespace headrace {

namespace {

// What is neither put out nor kept is temporary.
void SetMemory(const StepStatsCollector::NodeRecord& r,
               pb::NodeExecStats* out) {
  const AllocationTrace::Counts& c = r.memory;
  if (c.allocations == 0) return;
  pb::AllocatorMemoryUsed* used = out->add_memory();
  used->set_allocator_name("cpu");
  used->set_total_bytes(c.bytes);
  used->set_peak_bytes(c.peak_bytes);
  used->set_live_bytes(c.live_bytes);
  int64_t put_out = 0;
  for (const auto& o : r.outputs) put_out += o.made_here;
  pb::MemoryStats* stats = out->mutable_memory_stats();
  stats->set_temp_memory_size(c.bytes - c.live_bytes);
  stats->set_persistent_memory_size(
      std::max<int64_t>(c.live_bytes - put_out, 0));
}

}  // namespace

void StepStatsCollector::Add(const Device* device, NodeRecord record) {
  MutexLock lock(&mu_);
  records_.emplace_back(device, std::move(record));
}

std::string StepStatsCollector::LargestOutputs() {
  constexpr size_t kNamed = 10;
  std::vector<std::pair<int64_t, const OpKernel*>> outputs;
  {
    MutexLock lock(&mu_);
    for (const auto& [device, r] : records_) {
      for (const NodeRecord::Output& o : r.outputs) {
        outputs.emplace_back(o.bytes, r.kernel);
      }
    }
  }
  std::stable_sort(
      outputs.begin(), outputs.end(),
      [](const auto& a, const auto& b) { return a.first > b.first; });
  if (outputs.size() > kNamed) outputs.resize(kNamed);
  std::string text;
  for (const auto& [bytes, kernel] : outputs) {
    absl::StrAppend(&text, text.empty() ? "" : ", ", bytes, " bytes by node '",
                    kernel->name(), "' (", kernel->type_string(), ")");
  }
  return text;
}

void StepStatsCollector::Finish(pb::StepStats* out, pb::RunCounters* counters) {
  MutexLock lock(&mu_);
  std::sort(records_.begin(), records_.end(), [](const auto& a, const auto& b) {
    return a.second.start_ns < b.second.start_ns;
  });
  std::map<std::string, pb::DeviceStepStats*> by_device;
  for (const auto& [device, r] : records_) {
    pb::DeviceStepStats*& d = by_device[device->name()];
    if (d == nullptr) {
      d = out->add_dev_stats();
      d->set_device(device->name());
    }
    pb::NodeExecStats* n = d->add_node_stats();
    n->set_node_name(r.kernel->name());
    n->set_all_start_micros(r.start_ns / 1000);
    n->set_all_start_nanos(r.start_ns);
    n->set_op_start_rel_micros(0);
    n->set_op_end_rel_micros((r.end_ns - r.start_ns) / 1000);
    n->set_op_end_rel_nanos(r.end_ns - r.start_ns);
    n->set_all_end_rel_micros((r.end_ns - r.start_ns) / 1000);
    n->set_all_end_rel_nanos(r.end_ns - r.start_ns);
    n->set_scheduled_micros(r.scheduled_ns / 1000);
    n->set_scheduled_nanos(r.scheduled_ns);
    n->set_thread_id(r.thread_id);
    std::string label = r.kernel->kernel_class();
    if (!r.algorithm.empty()) absl::StrAppend(&label, " [", r.algorithm, "]");
    std::vector<std::string> merged;
    if (r.kernel->def().attrs.Get(kMergedNodesAttr, &merged).ok()) {
      absl::StrAppend(&label, " (", absl::StrJoin(merged, ", "), ")");
    }
    n->set_timeline_label(std::move(label));
    SetMemory(r, n);
    for (const NodeRecord::Output& o : r.outputs) {
      pb::NodeOutput* no = n->add_output();
      no->set_slot(o.slot);
      pb::TensorDescription* t = no->mutable_tensor_description();
      t->set_dtype(static_cast<pb::DataType>(o.dtype));
      t->mutable_shape();
      for (int64_t dim : o.shape.dim_sizes()) {
        t->mutable_shape()->add_dim()->set_size(dim);
      }
      t->mutable_allocation_description()->set_requested_bytes(o.bytes);
      t->mutable_allocation_description()->set_allocated_bytes(o.bytes);
      t->mutable_allocation_description()->set_allocator_name("cpu");
    }
  }
  AllocationTrace::Counts all;
  for (const auto& [device, r] : records_) {
    all.allocations += r.memory.allocations;
    all.bytes += r.memory.bytes;
    all.copies += r.memory.copies;
    all.copied_bytes += r.memory.copied_bytes;
  }
  counters->set_nodes(static_cast<int64_t>(records_.size()));
  counters->set_allocations(all.allocations);
  counters->set_allocated_bytes(all.bytes);
  counters->set_copies(all.copies);
  counters->set_copied_bytes(all.copied_bytes);
  records_.clear();
}

}  // namespace headrace
