// StatsAggregator: what datasets tell about their iterations, by name:
// histograms and scalars, which a Summary message shows.
//
// A dataset has one while its iterators are called with an IteratorContext that
// names it; SetStatsAggregatorDataset does that for what is below it.
#ifndef HEADRACE_KERNELS_DATA_STATS_AGGREGATOR_H_
#define HEADRACE_KERNELS_DATA_STATS_AGGREGATOR_H_

#include <map>
#include <string>

#include "headrace/mutex.h"
#include "headrace/op_kernel.h"
#include "kernels/io/summary_values.h"

namespace headrace {

// Thread-safe.
class StatsAggregator : public ResourceBase {
 public:
  std::string DebugString() const override { return "StatsAggregator"; }

  // `value` is finite.
  void AddToHistogram(const std::string& name, double value);
  void SetScalar(const std::string& name, double value);
  // A serialised Summary message: histograms and scalars, in order of names.
  std::string Summary();

 private:
  Mutex mu_;
  std::map<std::string, SummaryHistogram> histograms_ GUARDED_BY(mu_);
  std::map<std::string, double> scalars_ GUARDED_BY(mu_);
};

// Where an iteration's statistics go: names are "tag::name", or "name" without
// a tag.
struct StatsTarget {
  RefPtr<StatsAggregator> aggregator;
  std::string tag;

  std::string Name(absl::string_view name) const {
    return tag.empty() ? std::string(name) : StrCat(tag, "::", name);
  }
  void AddToHistogram(absl::string_view name, double value) const {
    aggregator->AddToHistogram(Name(name), value);
  }
  void SetScalar(absl::string_view name, double value) const {
    aggregator->SetScalar(Name(name), value);
  }
};

}  // namespace headrace

#endif  // HEADRACE_KERNELS_DATA_STATS_AGGREGATOR_H_
