// InitializeTableFromDataset: the elements of a dataset, pairs of a key and a
// value or of as many of each, become the rows of a table. They are gathered
// first: a table's lock is not held while a dataset is iterated.
#include <memory>
#include <utility>
#include <vector>

#include "kernels/data/run_waiting.h"
#include "kernels/lib/handle_lookup.h"
#include "kernels/state/lookup_table.h"

namespace headrace {
namespace {

class InitializeTableFromDatasetOp : public AsyncOpKernel {
 public:
  using AsyncOpKernel::AsyncOpKernel;

  void ComputeAsync(OpKernelContext* ctx, DoneCallback done) override {
    RefPtr<LookupTable> table;
    OP_REQUIRES_OK_ASYNC(
        ctx, LookupInput<LookupTable>(*ctx, 0, ctx->resource_manager(), &table),
        done);
    RefPtr<const Dataset> dataset;
    OP_REQUIRES_OK_ASYNC(ctx, DatasetInput(*ctx, "dataset", &dataset), done);
    RunWaiting(ctx, *dataset, std::move(done), [ctx, dataset, table] {
      return Fill(ctx, *dataset, table.get());
    });
  }

 private:
  static Status Fill(OpKernelContext* ctx, const Dataset& dataset,
                     LookupTable* table) {
    HR_RETURN_IF_ERROR(Check(dataset, *table));
    if (table->is_initialized()) return OkStatus();
    const KernelIteration iteration(ctx);
    std::unique_ptr<DatasetIterator> iterator;
    HR_RETURN_IF_ERROR(dataset.NewIterator(iteration.context(), &iterator));
    std::vector<LookupTable::Rows> rows;
    for (;;) {
      HR_RETURN_IF_ERROR(iteration.context().CheckCancelled());
      TensorTuple element;
      bool end = false;
      HR_RETURN_IF_ERROR(
          iterator->GetNext(iteration.context(), &element, &end));
      if (end) break;
      HR_RETURN_IF_ERROR(dataset.spec().CheckElement(element, "dataset"));
      rows.push_back({std::move(element[0]), std::move(element[1])});
    }
    if (rows.empty()) {
      return errors::OutOfRange("the dataset is empty; the ",
                                table->DebugString(),
                                " cannot be initialized from it");
    }
    return table->Initialize(rows);
  }

  static Status Check(const Dataset& dataset, const LookupTable& table) {
    const DataTypeVector& types = dataset.spec().dtypes;
    const LookupTable::Options& o = table.options();
    if (types.size() != 2) {
      return errors::InvalidArgument(
          "elements of the dataset must have two components, a key and a "
          "value, got ",
          types.size());
    }
    if (types[0] != o.key_dtype || types[1] != o.value_dtype) {
      return errors::InvalidArgument("the ", table.DebugString(),
                                     " was given a dataset of ",
                                     DataTypeString(types[0]), " keys and ",
                                     DataTypeString(types[1]), " values");
    }
    if (!o.immutable) {
      return errors::InvalidArgument("the ", table.DebugString(),
                                     " is mutable and cannot be initialized");
    }
    if (dataset.Cardinality() == kInfiniteCardinality) {
      return errors::InvalidArgument("the dataset is infinite");
    }
    return OkStatus();
  }
};
REGISTER_KERNEL_BUILDER(Name("InitializeTableFromDataset").Device(DEVICE_CPU),
                        InitializeTableFromDatasetOp);

}  // namespace
}  // namespace headrace
