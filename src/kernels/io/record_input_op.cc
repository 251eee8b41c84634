// RecordInput: batches of records drawn at random from all files that match a
// pattern, in endless epochs.
//
// Each epoch has its own order of files: shuffled with the seed and the epoch's
// number, then rotated per epoch by file_shuffle_shift_ratio of the number of
// files. `file_parallelism` files are open at a time and are read in turn.
// Records pass through a buffer of `file_buffer_size`, from which the next one
// is picked at random. Equal seeds give equal records.
#include <algorithm>
#include <random>
#include <utility>

#include "base/env.h"
#include "base/exceptions.h"
#include "base/waiting_threads.h"
#include "headrace/op_kernel.h"
#include "io/record_file.h"

namespace headrace {
namespace {

class RecordYielder {
 public:
  std::string pattern;
  int64_t seed = 0;
  double shift_ratio = 0;
  size_t buffer_size = 1;
  size_t parallelism = 1;
  Compression compression = Compression::kNone;

  // Reads until the buffer is full or the epoch is over, then picks one.
  // NotFound if no file matches or none holds a record.
  Status Next(std::string* record) {
    if (epoch_ == 0) random_.seed(static_cast<uint64_t>(seed));
    bool was_empty = false;
    while (buffer_.size() < buffer_size) {
      if (readers_.empty() && next_file_ == files_.size()) {
        if (!buffer_.empty()) break;  // epochs do not mix
        if (std::exchange(was_empty, true)) {
          return errors::NotFound("no file that matches '", pattern,
                                  "' holds a record");
        }
        HR_RETURN_IF_ERROR(BeginEpoch());
      }
      HR_RETURN_IF_ERROR(ReadOne());
    }
    std::swap(buffer_[random_() % buffer_.size()], buffer_.back());
    *record = std::move(buffer_.back());
    buffer_.pop_back();
    return OkStatus();
  }

 private:
  Status BeginEpoch() {
    files_.clear();
    HR_RETURN_IF_ERROR(Env::Default()->Glob(pattern, &files_));
    if (files_.empty()) {
      return errors::NotFound("no file matches '", pattern, "'");
    }
    next_file_ = 0;
    std::mt19937_64 order(static_cast<uint64_t>(seed) +
                          static_cast<uint64_t>(epoch_));
    std::shuffle(files_.begin(), files_.end(), order);
    const double turn = shift_ratio * static_cast<double>(epoch_);
    std::rotate(files_.begin(),
                files_.begin() +
                    static_cast<ptrdiff_t>((turn - static_cast<int64_t>(turn)) *
                                           static_cast<double>(files_.size())),
                files_.end());
    ++epoch_;
    return OkStatus();
  }

  // From the next reader in turn; one that is at its end makes room.
  Status ReadOne() {
    while (readers_.size() < parallelism && next_file_ < files_.size()) {
      HR_ASSIGN_OR_RETURN(
          std::unique_ptr<RecordReader> opened,
          RecordReader::Open(Env::Default(), files_[next_file_], compression));
      readers_.push_back({std::move(opened), files_[next_file_]});
      ++next_file_;
    }
    turn_ %= readers_.size();
    std::string record;
    bool end = false;
    const Status s = Annotate(readers_[turn_].reader->Next(&record, &end),
                              " in file " + readers_[turn_].path);
    if (end || !s.ok()) {
      readers_.erase(readers_.begin() + static_cast<ptrdiff_t>(turn_));
      return s;
    }
    buffer_.push_back(std::move(record));
    ++turn_;
    return OkStatus();
  }

  struct OpenFile {
    std::unique_ptr<RecordReader> reader;
    std::string path;
  };
  int64_t epoch_ = 0;  // epochs begun
  std::vector<std::string> files_;
  size_t next_file_ = 0;
  std::vector<OpenFile> readers_;
  size_t turn_ = 0;
  std::vector<std::string> buffer_;
  std::mt19937_64 random_;
};

class RecordInputOp : public AsyncOpKernel {
 public:
  explicit RecordInputOp(OpKernelConstruction* ctx) : AsyncOpKernel(ctx) {
    int64_t buffer_size, parallelism;
    float shift_ratio;
    std::string compression;
    OP_REQUIRES_OK(ctx, ctx->GetAttr("file_pattern", &yielder_.pattern));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("file_random_seed", &yielder_.seed));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("file_shuffle_shift_ratio", &shift_ratio));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("file_buffer_size", &buffer_size));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("file_parallelism", &parallelism));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("batch_size", &batch_size_));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("compression_type", &compression));
    for (const auto& [name, value] :
         {std::pair{"file_buffer_size", buffer_size},
          std::pair{"file_parallelism", parallelism},
          std::pair{"batch_size", batch_size_}}) {
      OP_REQUIRES(ctx, value > 0,
                  errors::InvalidArgument("RecordInput: ", name,
                                          " must be positive, got ", value));
    }
    OP_REQUIRES(ctx, shift_ratio >= 0 && shift_ratio <= 1,
                errors::InvalidArgument(
                    "RecordInput: file_shuffle_shift_ratio must be in [0, 1], "
                    "got ",
                    shift_ratio));
    const StatusOr<Compression> parsed = ParseCompression(compression);
    OP_REQUIRES_OK(ctx, parsed.status());
    yielder_.shift_ratio = shift_ratio;
    yielder_.buffer_size = static_cast<size_t>(buffer_size);
    yielder_.parallelism = static_cast<size_t>(parallelism);
    yielder_.compression = *parsed;
  }

  void ComputeAsync(OpKernelContext* ctx, DoneCallback done) override {
    // Files may take their time.
    if (!StartWaitingThread([this, ctx, done] {
          ctx->CtxFailure(CatchExceptions([&] { return Fill(ctx); }));
          done();
        })) {
      ctx->CtxFailure(errors::ResourceExhausted("no thread to read on"));
      done();
    }
  }
  std::string WaitsFor(OpKernelContext*) const override {
    return "a batch of records";
  }

 private:
  Status Fill(OpKernelContext* ctx) {
    Tensor* records;
    HR_RETURN_IF_ERROR(
        ctx->allocate_output(0, TensorShape({batch_size_}), &records));
    MutexLock lock(&mu_);
    std::string record;
    for (int64_t i = 0; i < batch_size_; ++i) {
      if (ctx->cancellation_manager() != nullptr &&
          ctx->cancellation_manager()->IsCancelled()) {
        return errors::Cancelled("the step was cancelled");
      }
      HR_RETURN_IF_ERROR(yielder_.Next(&record));
      records->data<tstring>()[i] = record;
    }
    return OkStatus();
  }

  int64_t batch_size_ = 0;
  Mutex mu_;
  RecordYielder yielder_ GUARDED_BY(mu_);
};
REGISTER_KERNEL_BUILDER(Name("RecordInput").Device(DEVICE_CPU), RecordInputOp);

}  // namespace
}  // namespace headrace
