// Ops that go through a dataset from beginning to end, or tell about it.
#include <memory>
#include <utility>

#include "base/exceptions.h"
#include "io/record_file.h"
#include "kernels/data/captured_function.h"
#include "kernels/data/run_waiting.h"

namespace headrace {
namespace {

void SetOutputs(OpKernelContext* ctx, TensorTuple* e) {
  for (size_t i = 0; i < e->size(); ++i) {
    ctx->set_output(static_cast<int>(i), std::move((*e)[i]));
  }
}

// The only element.
class DatasetToSingleElementOp : public AsyncOpKernel {
 public:
  explicit DatasetToSingleElementOp(OpKernelConstruction* ctx)
      : AsyncOpKernel(ctx) {
    OP_REQUIRES_OK(ctx, ReadElementSpec(ctx, &spec_));
  }

  void ComputeAsync(OpKernelContext* ctx, DoneCallback done) override {
    RefPtr<const Dataset> dataset;
    OP_REQUIRES_OK_ASYNC(
        ctx, DatasetFromTensor(ctx->input(0), "dataset", &dataset), done);
    RunWaiting(ctx, *dataset, std::move(done),
               [this, ctx, dataset] { return Take(ctx, *dataset); });
  }

 private:
  Status Take(OpKernelContext* ctx, const Dataset& dataset) const {
    const KernelIteration iteration(ctx);
    std::unique_ptr<DatasetIterator> iterator;
    HR_RETURN_IF_ERROR(dataset.NewIterator(iteration.context(), &iterator));
    TensorTuple element, second;
    bool end = false;
    HR_RETURN_IF_ERROR(iterator->GetNext(iteration.context(), &element, &end));
    if (end) return errors::InvalidArgument("Dataset was empty.");
    HR_RETURN_IF_ERROR(spec_.CheckElement(element, type_string()));
    HR_RETURN_IF_ERROR(iterator->GetNext(iteration.context(), &second, &end));
    if (!end) {
      return errors::InvalidArgument("Dataset had more than one element.");
    }
    SetOutputs(ctx, &element);
    return OkStatus();
  }

  ElementSpec spec_;
};
REGISTER_KERNEL_BUILDER(Name("DatasetToSingleElement").Device(DEVICE_CPU),
                        DatasetToSingleElementOp);

// The element with this index, of a dataset that knows how many it has. The
// elements before it are made too.
class GetElementAtIndexOp : public AsyncOpKernel {
 public:
  explicit GetElementAtIndexOp(OpKernelConstruction* ctx) : AsyncOpKernel(ctx) {
    OP_REQUIRES_OK(ctx, ReadElementSpec(ctx, &spec_));
  }

  void ComputeAsync(OpKernelContext* ctx, DoneCallback done) override {
    RefPtr<const Dataset> dataset;
    int64_t index = 0;
    OP_REQUIRES_OK_ASYNC(
        ctx, DatasetFromTensor(ctx->input(0), "dataset", &dataset), done);
    OP_REQUIRES_OK_ASYNC(ctx, ScalarInput(*ctx, "index", &index), done);
    const int64_t n = dataset->Cardinality();
    OP_REQUIRES_ASYNC(ctx, n >= 0,
                      errors::FailedPrecondition(
                          "The dataset has ",
                          n == kInfiniteCardinality ? "infinite" : "unknown",
                          " cardinality, which does not support random "
                          "access."),
                      done);
    OP_REQUIRES_ASYNC(
        ctx, index >= 0 && index < n,
        errors::OutOfRange("Index out of range [0, ", n, "):", index), done);
    RunWaiting(ctx, *dataset, std::move(done), [this, ctx, dataset, index] {
      return Take(ctx, *dataset, index);
    });
  }

 private:
  Status Take(OpKernelContext* ctx, const Dataset& dataset,
              int64_t index) const {
    const KernelIteration iteration(ctx);
    std::unique_ptr<DatasetIterator> iterator;
    HR_RETURN_IF_ERROR(dataset.NewIterator(iteration.context(), &iterator));
    TensorTuple element;
    for (int64_t i = 0; i <= index; ++i) {
      bool end = false;
      HR_RETURN_IF_ERROR(iteration.context().CheckCancelled());
      HR_RETURN_IF_ERROR(
          iterator->GetNext(iteration.context(), &element, &end));
      if (end) {
        return errors::OutOfRange("Index out of range [0, ", i, "):", index);
      }
    }
    HR_RETURN_IF_ERROR(spec_.CheckElement(element, type_string()));
    SetOutputs(ctx, &element);
    return OkStatus();
  }

  ElementSpec spec_;
};
REGISTER_KERNEL_BUILDER(Name("GetElementAtIndex").Device(DEVICE_CPU),
                        GetElementAtIndexOp);

// state = f(state, element) for each element; the last state.
class ReduceDatasetOp : public AsyncOpKernel {
 public:
  explicit ReduceDatasetOp(OpKernelConstruction* ctx) : AsyncOpKernel(ctx) {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("f", &f_));
    OP_REQUIRES_OK(ctx, ReadElementSpec(ctx, &spec_));
  }

  void ComputeAsync(OpKernelContext* ctx, DoneCallback done) override {
    RefPtr<const Dataset> dataset;
    OP_REQUIRES_OK_ASYNC(ctx, DatasetInput(*ctx, "input_dataset", &dataset),
                         done);
    std::vector<const Tensor*> initial;
    OP_REQUIRES_OK_ASYNC(ctx, ctx->input_list("initial_state", &initial), done);
    TensorTuple state;
    for (const Tensor* t : initial) state.push_back(*t);
    std::shared_ptr<const CapturedFunction> f;
    OP_REQUIRES_OK_ASYNC(
        ctx, CapturedFunction::Create(ctx, f_, "other_arguments", &f), done);
    OP_REQUIRES_OK_ASYNC(ctx, f->CheckResults(spec_.dtypes), done);
    // The function may wait, if the dataset does not.
    if (!StartWaitingThread(
            [this, ctx, done, dataset, f, state = std::move(state)]() mutable {
              const Status s = CatchExceptions(
                  [&] { return Reduce(ctx, *dataset, *f, &state); });
              if (!s.ok()) ctx->CtxFailure(s);
              dataset = nullptr;
              f = nullptr;
              done();
            })) {
      ctx->CtxFailure(errors::ResourceExhausted("no thread to iterate on"));
      done();
    }
  }

 private:
  Status Reduce(OpKernelContext* ctx, const Dataset& dataset,
                const CapturedFunction& f, TensorTuple* state) const {
    const KernelIteration iteration(ctx);
    std::unique_ptr<DatasetIterator> iterator;
    HR_RETURN_IF_ERROR(dataset.NewIterator(iteration.context(), &iterator));
    for (;;) {
      TensorTuple element;
      bool end = false;
      HR_RETURN_IF_ERROR(
          iterator->GetNext(iteration.context(), &element, &end));
      if (end) break;
      TensorTuple args = std::move(*state);
      for (Tensor& t : element) args.push_back(std::move(t));
      const Status s = f.Run(iteration.context(), std::move(args), state);
      if (errors::IsOutOfRange(s)) {
        return errors::InvalidArgument(
            "Function invocation produced OutOfRangeError: ", s.message());
      }
      HR_RETURN_IF_ERROR(s);
    }
    HR_RETURN_IF_ERROR(spec_.CheckElement(*state, type_string()));
    SetOutputs(ctx, state);
    return OkStatus();
  }

  NameAttrList f_;
  ElementSpec spec_;
};
REGISTER_KERNEL_BUILDER(Name("ReduceDataset").Device(DEVICE_CPU),
                        ReduceDatasetOp);

class DatasetCardinalityOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* ctx) override {
    RefPtr<const Dataset> dataset;
    OP_REQUIRES_OK(ctx, DatasetInput(*ctx, "input_dataset", &dataset));
    ctx->set_output(0, Tensor::Scalar<int64_t>(dataset->Cardinality()));
  }
};
REGISTER_KERNEL_BUILDER(Name("DatasetCardinality").Device(DEVICE_CPU),
                        DatasetCardinalityOp);
REGISTER_KERNEL_BUILDER(
    Name("ExperimentalDatasetCardinality").Device(DEVICE_CPU),
    DatasetCardinalityOp);

// Writes a dataset of strings to a record file.
class DatasetToTFRecordOp : public AsyncOpKernel {
 public:
  using AsyncOpKernel::AsyncOpKernel;

  void ComputeAsync(OpKernelContext* ctx, DoneCallback done) override {
    RefPtr<const Dataset> dataset;
    OP_REQUIRES_OK_ASYNC(ctx, DatasetInput(*ctx, "input_dataset", &dataset),
                         done);
    RunWaiting(ctx, *dataset, std::move(done),
               [ctx, dataset] { return Write(ctx, *dataset); });
  }

 private:
  static Status Write(OpKernelContext* ctx, const Dataset& dataset) {
    tstring path, compression_name;
    HR_RETURN_IF_ERROR(ScalarInput(*ctx, "filename", &path));
    HR_RETURN_IF_ERROR(
        ScalarInput(*ctx, "compression_type", &compression_name));
    HR_ASSIGN_OR_RETURN(const Compression compression,
                        ParseCompression(ToStd(compression_name)));
    HR_ASSIGN_OR_RETURN(
        std::unique_ptr<RecordWriter> writer,
        RecordWriter::Open(Env::Default(), std::string(path), compression));
    const KernelIteration iteration(ctx);
    std::unique_ptr<DatasetIterator> iterator;
    HR_RETURN_IF_ERROR(dataset.NewIterator(iteration.context(), &iterator));
    for (;;) {
      HR_RETURN_IF_ERROR(iteration.context().CheckCancelled());
      TensorTuple element;
      bool end = false;
      HR_RETURN_IF_ERROR(
          iterator->GetNext(iteration.context(), &element, &end));
      if (end) return writer->Close();
      if (element.size() != 1 || element[0].dtype() != DT_STRING ||
          element[0].dims() != 0) {
        return errors::InvalidArgument(
            "DatasetToTFRecord: elements must be scalar strings");
      }
      HR_RETURN_IF_ERROR(writer->Write(ToStd(element[0].scalar<tstring>())));
    }
  }
};
REGISTER_KERNEL_BUILDER(Name("DatasetToTFRecord").Device(DEVICE_CPU),
                        DatasetToTFRecordOp);
REGISTER_KERNEL_BUILDER(
    Name("ExperimentalDatasetToTFRecord").Device(DEVICE_CPU),
    DatasetToTFRecordOp);

}  // namespace
}  // namespace headrace
