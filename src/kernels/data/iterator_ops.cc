// Iterators as resources: create one, give it a dataset, get elements.
#include <utility>

#include "headrace/tensor.pb.h"
#include "kernels/data/iterator_resource.h"
#include "kernels/data/iterator_state.h"
#include "kernels/data/optional.h"
#include "kernels/data/owned_handle.h"
#include "kernels/data/run_waiting.h"
#include "kernels/flow/function_call.h"
#include "kernels/lib/resource_op.h"

namespace headrace {
namespace {

class IteratorOp : public ResourceOp<IteratorResource> {
 public:
  explicit IteratorOp(OpKernelConstruction* ctx) : ResourceOp(ctx) {
    OP_REQUIRES_OK(ctx, ReadElementSpec(ctx, &spec_));
  }

 protected:
  Status Make(OpKernelContext*, RefPtr<IteratorResource>* out) override {
    *out = MakeRef<IteratorResource>(spec_);
    return OkStatus();
  }
  Status Verify(const OpKernelContext&,
                const IteratorResource& resource) override {
    return spec_.CheckAccepts(resource.spec(),
                              StrCat("Shared iterator '", name(), "'"));
  }

 private:
  ElementSpec spec_;
};
REGISTER_KERNEL_BUILDER(Name("Iterator").Device(DEVICE_CPU), IteratorOp);
REGISTER_KERNEL_BUILDER(Name("IteratorV2").Device(DEVICE_CPU), IteratorOp);

class AnonymousIteratorOp : public OpKernel {
 public:
  explicit AnonymousIteratorOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    OP_REQUIRES_OK(ctx, ReadElementSpec(ctx, &spec_));
  }
  void Compute(OpKernelContext* ctx) override {
    SetHandleOutputs(ctx, OwnedHandle(*ctx, "AnonymousIterator",
                                      MakeRef<IteratorResource>(spec_)));
  }

 private:
  ElementSpec spec_;
};
REGISTER_KERNEL_BUILDER(Name("AnonymousIterator").Device(DEVICE_CPU),
                        AnonymousIteratorOp);
REGISTER_KERNEL_BUILDER(Name("AnonymousIteratorV2").Device(DEVICE_CPU),
                        AnonymousIteratorOp);
REGISTER_KERNEL_BUILDER(Name("AnonymousIteratorV3").Device(DEVICE_CPU),
                        AnonymousIteratorOp);
REGISTER_KERNEL_BUILDER(Name("DeleteIterator").Device(DEVICE_CPU),
                        DropHandleOp);

class MakeIteratorOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* ctx) override {
    RefPtr<const Dataset> dataset;
    OP_REQUIRES_OK(ctx, DatasetInput(*ctx, "dataset", &dataset));
    RefPtr<IteratorResource> iterator;
    OP_REQUIRES_OK(ctx, LookupInput(ctx, "iterator", &iterator));
    OP_REQUIRES_OK(ctx, iterator->SetDataset(ctx, std::move(dataset)));
  }
};
REGISTER_KERNEL_BUILDER(Name("MakeIterator").Device(DEVICE_CPU),
                        MakeIteratorOp);

// An iterator over the dataset that a function makes: called for the first
// step, which others wait for. If that fails, the next step tries again.
class OneShotIteratorOp : public FunctionCallKernel {
 public:
  explicit OneShotIteratorOp(OpKernelConstruction* ctx)
      : FunctionCallKernel(ctx) {
    OP_REQUIRES_OK(ctx, ReadElementSpec(ctx, &spec_));
    OP_REQUIRES_OK(ctx, factory_.Init(ctx, "dataset_factory"));
  }

  void ComputeAsync(OpKernelContext* ctx, DoneCallback done) override {
    RefPtr<IteratorResource> iterator;
    {
      MutexLock lock(&mu_);
      iterator = iterator_;
      if (iterator == nullptr && making_) {
        waiting_.push_back({ctx, std::move(done)});
        return;
      }
      making_ = iterator == nullptr;
    }
    if (iterator == nullptr) {
      Make(ctx, std::move(done));
      return;
    }
    ctx->set_output(0, OwnedHandle(*ctx, name(), std::move(iterator)));
    done();
  }

 private:
  struct Waiting {
    OpKernelContext* ctx;
    DoneCallback done;
  };

  void Make(OpKernelContext* ctx, DoneCallback done) {
    const FunctionRuntime::Function* f = nullptr;
    Status s = factory_.Get(ctx, &f);
    if (s.ok() && (f->ret_types().size() != 1 || !f->arg_types().empty())) {
      s = errors::InvalidArgument(
          "The `dataset_factory` function must return a single dataset and "
          "have no arguments, '",
          f->name(), "' has ", f->ret_types().size(), " results and ",
          f->arg_types().size(), " arguments");
    }
    if (!s.ok()) {
      Made(ctx, s, nullptr, std::move(done));
      return;
    }
    ctx->functions()->Call(
        *f, *this, {},
        [this, ctx, done = std::move(done)](const Status& called,
                                            TensorTuple results) mutable {
          Status s = called;
          RefPtr<const Dataset> dataset;
          if (s.ok()) {
            s = DatasetFromTensor(results[0], "result of dataset_factory",
                                  &dataset);
          }
          auto iterator = MakeRef<IteratorResource>(spec_);
          if (s.ok()) s = iterator->SetDataset(ctx, std::move(dataset));
          Made(ctx, s, std::move(iterator), std::move(done));
        });
  }

  void Made(OpKernelContext* ctx, const Status& s,
            RefPtr<IteratorResource> iterator, DoneCallback done) {
    std::vector<Waiting> waiting;
    {
      MutexLock lock(&mu_);
      making_ = false;
      waiting.swap(waiting_);
      if (s.ok()) iterator_ = iterator;
    }
    waiting.push_back({ctx, std::move(done)});
    for (Waiting& w : waiting) {
      if (s.ok()) {
        w.ctx->set_output(0, OwnedHandle(*w.ctx, name(), iterator));
      } else {
        w.ctx->CtxFailure(s);
      }
      w.done();
    }
  }

  ElementSpec spec_;
  FunctionAttr factory_;
  Mutex mu_;
  RefPtr<IteratorResource> iterator_ GUARDED_BY(mu_);
  bool making_ GUARDED_BY(mu_) = false;
  std::vector<Waiting> waiting_ GUARDED_BY(mu_);
};
REGISTER_KERNEL_BUILDER(Name("OneShotIterator").Device(DEVICE_CPU),
                        OneShotIteratorOp);

class IteratorGetNextOp : public AsyncOpKernel {
 public:
  explicit IteratorGetNextOp(OpKernelConstruction* ctx) : AsyncOpKernel(ctx) {
    OP_REQUIRES_OK(ctx, ReadElementSpec(ctx, &spec_));
  }
  void ComputeAsync(OpKernelContext* ctx, DoneCallback done) override {
    RefPtr<IteratorResource> iterator;
    OP_REQUIRES_OK_ASYNC(ctx, LookupInput(ctx, "iterator", &iterator), done);
    iterator->GetNext(
        ctx,
        [this, ctx](TensorTuple element, bool end) -> Status {
          if (end) return errors::OutOfRange("End of sequence");
          HR_RETURN_IF_ERROR(spec_.CheckElement(element, type_string()));
          for (size_t i = 0; i < element.size(); ++i) {
            ctx->set_output(static_cast<int>(i), std::move(element[i]));
          }
          return OkStatus();
        },
        std::move(done));
  }
  std::string WaitsFor(OpKernelContext*) const override {
    return "the next element of an iterator";
  }

 private:
  ElementSpec spec_;
};
REGISTER_KERNEL_BUILDER(Name("IteratorGetNext").Device(DEVICE_CPU),
                        IteratorGetNextOp);
REGISTER_KERNEL_BUILDER(Name("IteratorGetNextSync").Device(DEVICE_CPU),
                        IteratorGetNextOp);

// The next element as an optional: none at the end.
class IteratorGetNextAsOptionalOp : public AsyncOpKernel {
 public:
  explicit IteratorGetNextAsOptionalOp(OpKernelConstruction* ctx)
      : AsyncOpKernel(ctx) {
    OP_REQUIRES_OK(ctx, ReadElementSpec(ctx, &spec_));
  }
  void ComputeAsync(OpKernelContext* ctx, DoneCallback done) override {
    RefPtr<IteratorResource> iterator;
    OP_REQUIRES_OK_ASYNC(ctx, LookupInput(ctx, "iterator", &iterator), done);
    iterator->GetNext(
        ctx,
        [this, ctx](TensorTuple element, bool end) -> Status {
          OptionalValue value;
          if (!end) {
            HR_RETURN_IF_ERROR(spec_.CheckElement(element, type_string()));
            value.components =
                std::make_shared<const TensorTuple>(std::move(element));
          }
          ctx->set_output(0, OptionalTensor(std::move(value)));
          return OkStatus();
        },
        std::move(done));
  }

 private:
  ElementSpec spec_;
};
REGISTER_KERNEL_BUILDER(Name("IteratorGetNextAsOptional").Device(DEVICE_CPU),
                        IteratorGetNextAsOptionalOp);

// A string that names the iterator, good in this process: a serialized
// ResourceHandleProto.
class IteratorToStringHandleOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* ctx) override {
    RefPtr<IteratorResource> iterator;
    OP_REQUIRES_OK(ctx, LookupInput(ctx, "resource_handle", &iterator));
    const ResourceHandle& handle = *ctx->input(0).data<ResourceHandle>();
    ResourceHandle named = handle;
    if (handle.resource != nullptr) {
      // A name for what has none, as long as the resource manager lives.
      ResourceMgr* const mgr = ctx->resource_manager();
      named = mgr->MakeHandle<IteratorResource>(
          ctx->device()->name(), mgr->default_container(),
          StrCat("_iterator_", reinterpret_cast<uintptr_t>(iterator.get())));
      const Status s = mgr->Create(named.container, named.name, iterator);
      OP_REQUIRES(ctx, s.ok() || errors::IsAlreadyExists(s), s);
    }
    pb::ResourceHandleProto proto;
    proto.set_device(named.device);
    proto.set_container(named.container);
    proto.set_name(named.name);
    proto.set_hash_code(named.hash_code);
    proto.set_maybe_type_name(named.maybe_type_name);
    ctx->set_output(0, Tensor::Scalar(tstring(proto.SerializeAsString())));
  }
};
REGISTER_KERNEL_BUILDER(Name("IteratorToStringHandle").Device(DEVICE_CPU),
                        IteratorToStringHandleOp);

class IteratorFromStringHandleOp : public OpKernel {
 public:
  explicit IteratorFromStringHandleOp(OpKernelConstruction* ctx)
      : OpKernel(ctx) {
    OP_REQUIRES_OK(ctx, ReadElementSpecOrNothing(ctx));
  }
  void Compute(OpKernelContext* ctx) override {
    tstring text;
    OP_REQUIRES_OK(ctx, ScalarInput(*ctx, "string_handle", &text));
    pb::ResourceHandleProto proto;
    OP_REQUIRES(
        ctx,
        text.size() < INT32_MAX &&
            proto.ParseFromArray(text.data(), static_cast<int>(text.size())) &&
            !proto.name().empty(),
        errors::InvalidArgument("string_handle is not a handle of an "
                                "iterator"));
    OP_REQUIRES(
        ctx, proto.device() == ctx->device()->name(),
        errors::InvalidArgument(
            "Attempted create an iterator on device \"", ctx->device()->name(),
            "\" from handle defined on device \"", proto.device(), "\""));
    Tensor out(DT_RESOURCE, TensorShape());
    ResourceHandle& handle = out.scalar<ResourceHandle>();
    handle.device = proto.device();
    handle.container = proto.container();
    handle.name = proto.name();
    handle.hash_code = proto.hash_code();
    handle.maybe_type_name = proto.maybe_type_name();
    RefPtr<IteratorResource> iterator;
    OP_REQUIRES_OK(ctx, LookupResource<IteratorResource>(
                            ctx->resource_manager(), handle, &iterator));
    if (!spec_.dtypes.empty()) {
      OP_REQUIRES_OK(ctx, spec_.CheckAccepts(iterator->spec(), type_string()));
    }
    ctx->set_output(0, std::move(out));
  }

 private:
  // Both lists may be empty, and the shapes alone too.
  Status ReadElementSpecOrNothing(OpKernelConstruction* ctx) {
    std::vector<DataType> types;
    HR_RETURN_IF_ERROR(ctx->GetAttr("output_types", &types));
    HR_RETURN_IF_ERROR(ctx->GetAttr("output_shapes", &spec_.shapes));
    spec_.dtypes.assign(types.begin(), types.end());
    if (spec_.shapes.empty() || spec_.shapes.size() == types.size()) {
      return OkStatus();
    }
    return errors::InvalidArgument(
        "If both 'output_types' and 'output_shapes' are set, they must have "
        "the same length.");
  }

  ElementSpec spec_;
};
REGISTER_KERNEL_BUILDER(Name("IteratorFromStringHandle").Device(DEVICE_CPU),
                        IteratorFromStringHandleOp);
REGISTER_KERNEL_BUILDER(Name("IteratorFromStringHandleV2").Device(DEVICE_CPU),
                        IteratorFromStringHandleOp);

class SerializeIteratorOp : public AsyncOpKernel {
 public:
  using AsyncOpKernel::AsyncOpKernel;
  void ComputeAsync(OpKernelContext* ctx, DoneCallback done) override {
    RefPtr<IteratorResource> iterator;
    OP_REQUIRES_OK_ASYNC(ctx, LookupInput(ctx, "resource_handle", &iterator),
                         done);
    iterator->Save(ctx, std::move(done));
  }
};
REGISTER_KERNEL_BUILDER(Name("SerializeIterator").Device(DEVICE_CPU),
                        SerializeIteratorOp);

class DeserializeIteratorOp : public AsyncOpKernel {
 public:
  using AsyncOpKernel::AsyncOpKernel;
  void ComputeAsync(OpKernelContext* ctx, DoneCallback done) override {
    RefPtr<IteratorResource> iterator;
    OP_REQUIRES_OK_ASYNC(ctx, LookupInput(ctx, "resource_handle", &iterator),
                         done);
    std::unique_ptr<IteratorState> saved;
    OP_REQUIRES_OK_ASYNC(ctx, IteratorState::Decode(ctx->input(1), &saved),
                         done);
    iterator->Restore(ctx, std::move(saved), std::move(done));
  }
};
REGISTER_KERNEL_BUILDER(Name("DeserializeIterator").Device(DEVICE_CPU),
                        DeserializeIteratorOp);

class IteratorGetDeviceOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* ctx) override {
    ctx->set_output(0, Tensor::Scalar(tstring(ctx->device()->name())));
  }
};
REGISTER_KERNEL_BUILDER(Name("IteratorGetDevice").Device(DEVICE_CPU),
                        IteratorGetDeviceOp);
REGISTER_KERNEL_BUILDER(
    Name("ExperimentalIteratorGetDevice").Device(DEVICE_CPU),
    IteratorGetDeviceOp);

}  // namespace
}  // namespace headrace
