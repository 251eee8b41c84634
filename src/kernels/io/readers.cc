// The readers: what a file, or another work unit, is taken apart into.
#include <utility>

#include "base/env.h"
#include "io/input_stream.h"
#include "io/record_file.h"
#include "kernels/io/reader_base.h"
#include "kernels/lib/resource_op.h"

namespace headrace {
namespace {

class ReaderOp : public ResourceOp<ReaderBase> {
 public:
  using ResourceOp::ResourceOp;

 protected:
  Status Verify(const OpKernelContext&, const ReaderBase&) override {
    return OkStatus();
  }
};

// One record a work unit, under the unit's name.
class WholeUnitReader : public ReaderBase {
 public:
  using ReaderBase::ReaderBase;

 protected:
  Status Open(const std::string&) override REQUIRES(state_mu_) {
    given_ = false;
    return OkStatus();
  }
  Status Next(const std::string& work, std::string* key, std::string* value,
              bool* end) override REQUIRES(state_mu_) {
    *end = given_;
    if (given_) return OkStatus();
    given_ = true;
    *key = work;
    return Read(work, value);
  }
  bool GaveLast() const override REQUIRES(state_mu_) { return given_; }
  virtual Status Read(const std::string& work, std::string* value) = 0;

 private:
  bool given_ GUARDED_BY(state_mu_) = false;
};

// The record is the work unit itself.
class IdentityReader : public WholeUnitReader {
 public:
  static constexpr char kType[] = "IdentityReader";
  using WholeUnitReader::WholeUnitReader;

 protected:
  Status Read(const std::string& work, std::string* value) override {
    *value = work;
    return OkStatus();
  }
  bool HasState() const override { return true; }
};

// The record is a whole file.
class WholeFileReader : public WholeUnitReader {
 public:
  static constexpr char kType[] = "WholeFileReader";
  using WholeUnitReader::WholeUnitReader;

 protected:
  Status Read(const std::string& work, std::string* value) override {
    return Env::Default()->ReadFile(work, value);
  }
};

template <typename Reader>
class WholeUnitReaderOp : public ReaderOp {
 public:
  using ReaderOp::ReaderOp;

 protected:
  Status Make(OpKernelContext*, RefPtr<ReaderBase>* out) override {
    *out = MakeRef<Reader>(StrCat(Reader::kType, " '", name(), "'"));
    return OkStatus();
  }
};
using IdentityReaderOp = WholeUnitReaderOp<IdentityReader>;
using WholeFileReaderOp = WholeUnitReaderOp<WholeFileReader>;
REGISTER_KERNEL_BUILDER(Name("IdentityReader").Device(DEVICE_CPU),
                        IdentityReaderOp);
REGISTER_KERNEL_BUILDER(Name("IdentityReaderV2").Device(DEVICE_CPU),
                        IdentityReaderOp);
REGISTER_KERNEL_BUILDER(Name("WholeFileReader").Device(DEVICE_CPU),
                        WholeFileReaderOp);
REGISTER_KERNEL_BUILDER(Name("WholeFileReaderV2").Device(DEVICE_CPU),
                        WholeFileReaderOp);

// Lines; their keys are "file:number", numbers from 1 on.
class TextLineReader : public ReaderBase {
 public:
  TextLineReader(std::string name, int64_t skip_header_lines)
      : ReaderBase(std::move(name)), skip_(skip_header_lines) {}

 protected:
  Status Open(const std::string& work) override REQUIRES(state_mu_) {
    HR_ASSIGN_OR_RETURN(
        std::unique_ptr<InputStream> input,
        OpenInputStream(Env::Default(), work, Compression::kNone));
    lines_ = std::make_unique<LineReader>(std::move(input));
    std::string header;
    bool end = false;
    for (number_ = 0; number_ < skip_ && !end; ++number_) {
      HR_RETURN_IF_ERROR(lines_->Next(&header, &end));
    }
    return OkStatus();
  }
  Status Next(const std::string& work, std::string* key, std::string* value,
              bool* end) override REQUIRES(state_mu_) {
    HR_RETURN_IF_ERROR(lines_->Next(value, end));
    *key = StrCat(work, ":", ++number_);
    return OkStatus();
  }
  void Close() override REQUIRES(state_mu_) { lines_ = nullptr; }

 private:
  const int64_t skip_;
  std::unique_ptr<LineReader> lines_ GUARDED_BY(state_mu_);
  int64_t number_ GUARDED_BY(state_mu_) = 0;
};

class TextLineReaderOp : public ReaderOp {
 public:
  explicit TextLineReaderOp(OpKernelConstruction* ctx) : ReaderOp(ctx) {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("skip_header_lines", &skip_));
    OP_REQUIRES(
        ctx, skip_ >= 0,
        errors::InvalidArgument("skip_header_lines must be >= 0 not ", skip_));
  }

 protected:
  Status Make(OpKernelContext*, RefPtr<ReaderBase>* out) override {
    *out =
        MakeRef<TextLineReader>(StrCat("TextLineReader '", name(), "'"), skip_);
    return OkStatus();
  }

 private:
  int64_t skip_ = 0;
};
REGISTER_KERNEL_BUILDER(Name("TextLineReader").Device(DEVICE_CPU),
                        TextLineReaderOp);
REGISTER_KERNEL_BUILDER(Name("TextLineReaderV2").Device(DEVICE_CPU),
                        TextLineReaderOp);

// The records of record files; their keys are "file:offset".
class TFRecordReader : public ReaderBase {
 public:
  TFRecordReader(std::string name, Compression compression)
      : ReaderBase(std::move(name)), compression_(compression) {}

 protected:
  Status Open(const std::string& work) override REQUIRES(state_mu_) {
    HR_ASSIGN_OR_RETURN(records_,
                        RecordReader::Open(Env::Default(), work, compression_));
    return OkStatus();
  }
  Status Next(const std::string& work, std::string* key, std::string* value,
              bool* end) override REQUIRES(state_mu_) {
    *key = StrCat(work, ":", records_->offset());
    return Annotate(records_->Next(value, end),
                    StrCat(" (file \"", work, "\")"));
  }
  void Close() override REQUIRES(state_mu_) { records_ = nullptr; }

 private:
  const Compression compression_;
  std::unique_ptr<RecordReader> records_ GUARDED_BY(state_mu_);
};

class TFRecordReaderOp : public ReaderOp {
 public:
  explicit TFRecordReaderOp(OpKernelConstruction* ctx) : ReaderOp(ctx) {
    std::string compression;
    OP_REQUIRES_OK(ctx, ctx->GetAttr("compression_type", &compression));
    const StatusOr<Compression> parsed = ParseCompression(compression);
    OP_REQUIRES_OK(ctx, parsed.status());
    compression_ = *parsed;
  }

 protected:
  Status Make(OpKernelContext*, RefPtr<ReaderBase>* out) override {
    *out = MakeRef<TFRecordReader>(StrCat("TFRecordReader '", name(), "'"),
                                   compression_);
    return OkStatus();
  }

 private:
  Compression compression_ = Compression::kNone;
};
REGISTER_KERNEL_BUILDER(Name("TFRecordReader").Device(DEVICE_CPU),
                        TFRecordReaderOp);
REGISTER_KERNEL_BUILDER(Name("TFRecordReaderV2").Device(DEVICE_CPU),
                        TFRecordReaderOp);

// header_bytes, pieces of record_bytes that begin hop_bytes apart,
// footer_bytes; keys are "file:number", numbers from 0 on. What is left between
// the last whole record and the footer is passed over.
class FixedLengthRecordReader : public ReaderBase {
 public:
  struct Format {
    int64_t header = 0, record = 0, footer = 0, hop = 0;
    Compression compression = Compression::kNone;
  };

  FixedLengthRecordReader(std::string name, const Format& format)
      : ReaderBase(std::move(name)), format_(format) {}

 protected:
  Status Open(const std::string& work) override REQUIRES(state_mu_) {
    number_ = 0;
    held_.clear();
    to_skip_ = static_cast<uint64_t>(format_.header);
    HR_ASSIGN_OR_RETURN(
        input_, OpenInputStream(Env::Default(), work, format_.compression));
    return OkStatus();
  }
  Status Next(const std::string& work, std::string* key, std::string* value,
              bool* end) override REQUIRES(state_mu_) {
    uint64_t skipped = 0;
    HR_RETURN_IF_ERROR(input_->Skip(to_skip_, &skipped));
    *end = skipped < to_skip_;
    to_skip_ = 0;
    // The record, and what may be the footer behind it.
    const auto wanted = static_cast<size_t>(format_.record + format_.footer);
    if (!*end && held_.size() < wanted) {
      std::string more;
      HR_RETURN_IF_ERROR(input_->ReadString(wanted - held_.size(), &more));
      held_.append(more);
    }
    *end = *end || held_.size() < wanted;
    if (*end) return OkStatus();
    value->assign(held_, 0, format_.record);
    *key = StrCat(work, ":", number_++);
    const auto hop = static_cast<uint64_t>(format_.hop);
    to_skip_ = hop > held_.size() ? hop - held_.size() : 0;
    held_.erase(0, hop);
    return OkStatus();
  }
  void Close() override REQUIRES(state_mu_) { input_ = nullptr; }

 private:
  const Format format_;
  std::unique_ptr<InputStream> input_ GUARDED_BY(state_mu_);
  std::string held_ GUARDED_BY(state_mu_);
  uint64_t to_skip_ GUARDED_BY(state_mu_) = 0;
  int64_t number_ GUARDED_BY(state_mu_) = 0;
};

class FixedLengthRecordReaderOp : public ReaderOp {
 public:
  explicit FixedLengthRecordReaderOp(OpKernelConstruction* ctx)
      : ReaderOp(ctx) {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("header_bytes", &format_.header));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("record_bytes", &format_.record));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("footer_bytes", &format_.footer));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("hop_bytes", &format_.hop));
    OP_REQUIRES(
        ctx, format_.header >= 0 && format_.footer >= 0 && format_.hop >= 0,
        errors::InvalidArgument(
            "header_bytes, footer_bytes and hop_bytes must be >= 0, got ",
            format_.header, ", ", format_.footer, " and ", format_.hop));
    OP_REQUIRES(ctx, format_.record > 0,
                errors::InvalidArgument("record_bytes must be > 0, got ",
                                        format_.record));
    OP_REQUIRES(ctx, AddWithoutOverflow(format_.record, format_.footer) > 0,
                errors::InvalidArgument("record_bytes and footer_bytes are "
                                        "too large"));
    if (format_.hop == 0) format_.hop = format_.record;
    if (!ctx->HasAttr("encoding")) return;
    std::string encoding;
    OP_REQUIRES_OK(ctx, ctx->GetAttr("encoding", &encoding));
    const StatusOr<Compression> parsed = ParseCompression(encoding);
    OP_REQUIRES_OK(ctx, parsed.status());
    format_.compression = *parsed;
  }

 protected:
  Status Make(OpKernelContext*, RefPtr<ReaderBase>* out) override {
    *out = MakeRef<FixedLengthRecordReader>(
        StrCat("FixedLengthRecordReader '", name(), "'"), format_);
    return OkStatus();
  }

 private:
  FixedLengthRecordReader::Format format_;
};
REGISTER_KERNEL_BUILDER(Name("FixedLengthRecordReader").Device(DEVICE_CPU),
                        FixedLengthRecordReaderOp);
REGISTER_KERNEL_BUILDER(Name("FixedLengthRecordReaderV2").Device(DEVICE_CPU),
                        FixedLengthRecordReaderOp);

class LMDBReaderOp : public OpKernel {
 public:
  explicit LMDBReaderOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    ctx->SetStatus(
        errors::Unimplemented("LMDBReader: LMDB databases are not supported"));
  }
  void Compute(OpKernelContext*) override {}
};
REGISTER_KERNEL_BUILDER(Name("LMDBReader").Device(DEVICE_CPU), LMDBReaderOp);

}  // namespace
}  // namespace headrace
