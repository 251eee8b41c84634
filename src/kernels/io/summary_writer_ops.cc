// Summary writers: event files as resources. SummaryWriter makes a handle,
// CreateSummaryFileWriter what it names, once; the Write ops append events,
// which TensorBoard reads. CloseSummaryWriter forgets the writer, so that
// another may be created under its name.
#include <limits>
#include <string>
#include <utility>

#include "headrace/event.pb.h"
#include "headrace/graph.pb.h"
#include "io/event_file.h"
#include "kernels/io/summary_values.h"
#include "kernels/lib/handle_lookup.h"

namespace headrace {
namespace {

class SummaryFile : public ResourceBase {
 public:
  explicit SummaryFile(std::unique_ptr<EventFileWriter> file)
      : file_(std::move(file)) {}
  std::string DebugString() const override {
    return absl::StrCat("summary writer of ", file_->path());
  }
  EventFileWriter& file() { return *file_; }

 private:
  const std::unique_ptr<EventFileWriter> file_;
};

// The one element of input `name`.
template <typename T>
Status OneElement(const OpKernelContext& ctx, absl::string_view name, T* out) {
  const Tensor* t = nullptr;
  HR_RETURN_IF_ERROR(ctx.input(name, &t));
  if (t->NumElements() != 1) {
    return errors::InvalidArgument(name, " must be a scalar, got shape ",
                                   t->shape().DebugString());
  }
  *out = T(*t->data<T>());
  return OkStatus();
}

class SummaryWriterOp : public OpKernel {
 public:
  explicit SummaryWriterOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("container", &container_));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("shared_name", &shared_name_));
    if (shared_name_.empty()) shared_name_ = name();
    expensive_ = false;
  }
  void Compute(OpKernelContext* ctx) override {
    ResourceMgr* mgr = ctx->resource_manager();
    Tensor t(DT_RESOURCE, TensorShape());
    t.scalar<ResourceHandle>() = mgr->MakeHandle<SummaryFile>(
        ctx->device()->name(),
        container_.empty() ? mgr->default_container() : container_,
        shared_name_);
    ctx->set_output(0, std::move(t));
  }

 private:
  std::string container_, shared_name_;
};
REGISTER_KERNEL_BUILDER(Name("SummaryWriter").Device(DEVICE_CPU),
                        SummaryWriterOp);

class CreateSummaryFileWriterOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* ctx) override {
    const ResourceHandle* handle = nullptr;
    OP_REQUIRES_OK(ctx, HandleInput(*ctx, 0, &handle));
    tstring logdir, suffix;
    int32_t max_queue = 0, millis = 0;
    OP_REQUIRES_OK(ctx, OneElement(*ctx, "logdir", &logdir));
    OP_REQUIRES_OK(ctx, OneElement(*ctx, "max_queue", &max_queue));
    OP_REQUIRES_OK(ctx, OneElement(*ctx, "flush_millis", &millis));
    OP_REQUIRES_OK(ctx, OneElement(*ctx, "filename_suffix", &suffix));
    RefPtr<SummaryFile> writer;
    OP_REQUIRES_OK(
        ctx,
        ctx->resource_manager()->LookupOrCreate<SummaryFile>(
            handle->container, handle->name, &writer,
            [&](RefPtr<SummaryFile>* made) {
              HR_ASSIGN_OR_RETURN(
                  std::unique_ptr<EventFileWriter> file,
                  EventFileWriter::Open(
                      Env::Default(), std::string(logdir), std::string(suffix),
                      {.max_queue = max_queue, .millis = millis}));
              *made = MakeRef<SummaryFile>(std::move(file));
              return OkStatus();
            }));
  }
};
REGISTER_KERNEL_BUILDER(Name("CreateSummaryFileWriter").Device(DEVICE_CPU),
                        CreateSummaryFileWriterOp);

class CreateSummaryDbWriterOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* ctx) override {
    ctx->CtxFailure(errors::Unimplemented(
        "CreateSummaryDbWriter: summaries are not written into databases, "
        "CreateSummaryFileWriter writes them into event files"));
  }
};
REGISTER_KERNEL_BUILDER(Name("CreateSummaryDbWriter").Device(DEVICE_CPU),
                        CreateSummaryDbWriterOp);

// A kernel that uses the writer of input 0. NotFound if none was created.
class SummaryWriterUser : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* ctx) final {
    RefPtr<SummaryFile> writer;
    OP_REQUIRES_OK(ctx, LookupInput<SummaryFile>(
                            *ctx, 0, ctx->resource_manager(), &writer));
    OP_REQUIRES_OK(ctx, Use(ctx, &writer->file()));
  }

 protected:
  virtual Status Use(OpKernelContext* ctx, EventFileWriter* file) = 0;
};

class FlushSummaryWriterOp : public SummaryWriterUser {
 public:
  using SummaryWriterUser::SummaryWriterUser;

 protected:
  Status Use(OpKernelContext*, EventFileWriter* file) override {
    return file->Flush();
  }
};
REGISTER_KERNEL_BUILDER(Name("FlushSummaryWriter").Device(DEVICE_CPU),
                        FlushSummaryWriterOp);

class CloseSummaryWriterOp : public SummaryWriterUser {
 public:
  using SummaryWriterUser::SummaryWriterUser;

 protected:
  Status Use(OpKernelContext* ctx, EventFileWriter* file) override {
    const ResourceHandle* handle = nullptr;
    HR_RETURN_IF_ERROR(HandleInput(*ctx, 0, &handle));
    HR_RETURN_IF_ERROR(ctx->resource_manager()->Delete<SummaryFile>(
        handle->container, handle->name));
    return file->Close();
  }
};
REGISTER_KERNEL_BUILDER(Name("CloseSummaryWriter").Device(DEVICE_CPU),
                        CloseSummaryWriterOp);

// An event of this step and now. `step` is an input.
Status NewEvent(const OpKernelContext& ctx, pb::Event* event) {
  int64_t step = 0;
  HR_RETURN_IF_ERROR(OneElement(ctx, "step", &step));
  event->set_step(step);
  event->set_wall_time(static_cast<double>(Env::Default()->NowMicros()) * 1e-6);
  return OkStatus();
}

// Appends one event with the summary that a subclass fills.
class WriteSummaryBase : public SummaryWriterUser {
 public:
  using SummaryWriterUser::SummaryWriterUser;

 protected:
  Status Use(OpKernelContext* ctx, EventFileWriter* file) final {
    pb::Event event;
    HR_RETURN_IF_ERROR(NewEvent(*ctx, &event));
    HR_RETURN_IF_ERROR(Fill(ctx, event.mutable_summary()));
    return file->Write(event);
  }
  virtual Status Fill(OpKernelContext* ctx, pb::Summary* summary) = 0;

  static Status Tag(const OpKernelContext& ctx, std::string* tag) {
    tstring t;
    HR_RETURN_IF_ERROR(OneElement(ctx, "tag", &t));
    *tag = std::string(t);
    return OkStatus();
  }
};

class WriteScalarSummaryOp : public WriteSummaryBase {
 public:
  using WriteSummaryBase::WriteSummaryBase;

 protected:
  Status Fill(OpKernelContext* ctx, pb::Summary* summary) override {
    std::string tag;
    HR_RETURN_IF_ERROR(Tag(*ctx, &tag));
    const Tensor& value = ctx->input(3);
    if (value.NumElements() != 1) {
      return errors::InvalidArgument("value must be a scalar, got shape ",
                                     value.shape().DebugString());
    }
    AddScalarSummary(tag, value, 0, summary);
    return OkStatus();
  }
};
REGISTER_KERNEL_BUILDER(Name("WriteScalarSummary").Device(DEVICE_CPU),
                        WriteScalarSummaryOp);

class WriteHistogramSummaryOp : public WriteSummaryBase {
 public:
  using WriteSummaryBase::WriteSummaryBase;

 protected:
  Status Fill(OpKernelContext* ctx, pb::Summary* summary) override {
    std::string tag;
    HR_RETURN_IF_ERROR(Tag(*ctx, &tag));
    return AddHistogramSummary(tag, ctx->input(3), name(), summary);
  }
};
REGISTER_KERNEL_BUILDER(Name("WriteHistogramSummary").Device(DEVICE_CPU),
                        WriteHistogramSummaryOp);

class WriteImageSummaryOp : public WriteSummaryBase {
 public:
  explicit WriteImageSummaryOp(OpKernelConstruction* ctx)
      : WriteSummaryBase(ctx) {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("max_images", &max_images_));
  }

 protected:
  Status Fill(OpKernelContext* ctx, pb::Summary* summary) override {
    std::string tag;
    HR_RETURN_IF_ERROR(Tag(*ctx, &tag));
    return AddImageSummary(ctx, tag, ctx->input(3), max_images_, ctx->input(4),
                           summary);
  }

 private:
  int64_t max_images_ = 3;
};
REGISTER_KERNEL_BUILDER(Name("WriteImageSummary").Device(DEVICE_CPU),
                        WriteImageSummaryOp);

class WriteAudioSummaryOp : public WriteSummaryBase {
 public:
  explicit WriteAudioSummaryOp(OpKernelConstruction* ctx)
      : WriteSummaryBase(ctx) {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("max_outputs", &max_outputs_));
  }

 protected:
  Status Fill(OpKernelContext* ctx, pb::Summary* summary) override {
    std::string tag;
    float rate = 0;
    HR_RETURN_IF_ERROR(Tag(*ctx, &tag));
    HR_RETURN_IF_ERROR(OneElement(*ctx, "sample_rate", &rate));
    return AddAudioSummary(tag, ctx->input(3), rate, max_outputs_, summary);
  }

 private:
  int64_t max_outputs_ = 3;
};
REGISTER_KERNEL_BUILDER(Name("WriteAudioSummary").Device(DEVICE_CPU),
                        WriteAudioSummaryOp);

class WriteSummaryOp : public WriteSummaryBase {
 public:
  using WriteSummaryBase::WriteSummaryBase;

 protected:
  Status Fill(OpKernelContext* ctx, pb::Summary* summary) override {
    std::string tag;
    tstring metadata;
    HR_RETURN_IF_ERROR(Tag(*ctx, &tag));
    HR_RETURN_IF_ERROR(OneElement(*ctx, "summary_metadata", &metadata));
    return AddTensorSummary(tag, ctx->input(2), metadata, summary);
  }
};
REGISTER_KERNEL_BUILDER(Name("WriteSummary").Device(DEVICE_CPU),
                        WriteSummaryOp);

template <typename M>
Status ParseMessage(const tstring& bytes, const char* what, M* out) {
  if (bytes.size() <= std::numeric_limits<int>::max() &&
      out->ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    return OkStatus();
  }
  return errors::DataLoss("the input is no ", what, " message");
}

// Summaries that were made elsewhere, as one.
class WriteRawProtoSummaryOp : public WriteSummaryBase {
 public:
  using WriteSummaryBase::WriteSummaryBase;

 protected:
  Status Fill(OpKernelContext* ctx, pb::Summary* summary) override {
    for (const tstring& bytes : ctx->input(2).span<tstring>()) {
      pb::Summary part;
      HR_RETURN_IF_ERROR(ParseMessage(bytes, "Summary", &part));
      summary->MergeFrom(part);
    }
    return OkStatus();
  }
};
REGISTER_KERNEL_BUILDER(Name("WriteRawProtoSummary").Device(DEVICE_CPU),
                        WriteRawProtoSummaryOp);

class WriteGraphSummaryOp : public SummaryWriterUser {
 public:
  using SummaryWriterUser::SummaryWriterUser;

 protected:
  Status Use(OpKernelContext* ctx, EventFileWriter* file) override {
    tstring bytes;
    pb::GraphDef graph;
    HR_RETURN_IF_ERROR(OneElement(*ctx, "tensor", &bytes));
    HR_RETURN_IF_ERROR(ParseMessage(bytes, "GraphDef", &graph));
    pb::Event event;
    HR_RETURN_IF_ERROR(NewEvent(*ctx, &event));
    event.set_graph_def(bytes.data(), bytes.size());
    return file->Write(event);
  }
};
REGISTER_KERNEL_BUILDER(Name("WriteGraphSummary").Device(DEVICE_CPU),
                        WriteGraphSummaryOp);

class ImportEventOp : public SummaryWriterUser {
 public:
  using SummaryWriterUser::SummaryWriterUser;

 protected:
  Status Use(OpKernelContext* ctx, EventFileWriter* file) override {
    tstring bytes;
    pb::Event event;
    HR_RETURN_IF_ERROR(OneElement(*ctx, "event", &bytes));
    HR_RETURN_IF_ERROR(ParseMessage(bytes, "Event", &event));
    return file->Write(event);
  }
};
REGISTER_KERNEL_BUILDER(Name("ImportEvent").Device(DEVICE_CPU), ImportEventOp);

}  // namespace
}  // namespace headrace
