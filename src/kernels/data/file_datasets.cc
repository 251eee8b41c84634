// Datasets of what files hold: records, lines, pieces of a fixed length. The
// files follow each other; a damaged one is an error once, and then the next
// one is read.
#include <algorithm>
#include <utility>

#include "io/input_stream.h"
#include "io/record_file.h"
#include "kernels/data/iterator_state.h"

namespace headrace {
namespace {

ElementSpec StringSpec() {
  return {{DT_STRING}, {PartialTensorShape::Scalar()}};
}

// Reads one file.
class FileReader {
 public:
  virtual ~FileReader() = default;
  virtual Status Next(std::string* out, bool* end) = 0;
  // Of what comes next, from where the reader began.
  virtual uint64_t offset() const = 0;
};

// How files are opened.
struct FileFormat {
  Compression compression = Compression::kNone;
  size_t buffer_size = 0;
  int64_t header_bytes = 0, record_bytes = 0, footer_bytes = 0;

  StatusOr<std::unique_ptr<InputStream>> Open(const std::string& path) const {
    return OpenInputStream(Env::Default(), path, compression, buffer_size);
  }
};

class RecordFileReader : public FileReader {
 public:
  static StatusOr<std::unique_ptr<FileReader>> Open(const FileFormat& format,
                                                    const std::string& path,
                                                    uint64_t offset) {
    HR_ASSIGN_OR_RETURN(std::unique_ptr<InputStream> input, format.Open(path));
    uint64_t skipped = 0;
    HR_RETURN_IF_ERROR(input->Skip(offset, &skipped));
    return std::make_unique<RecordFileReader>(std::move(input));
  }
  explicit RecordFileReader(std::unique_ptr<InputStream> input)
      : reader_(std::move(input)) {}
  Status Next(std::string* out, bool* end) override {
    return reader_.Next(out, end);
  }
  uint64_t offset() const override { return reader_.offset(); }

 private:
  RecordReader reader_;
};

class LineFileReader : public FileReader {
 public:
  static StatusOr<std::unique_ptr<FileReader>> Open(const FileFormat& format,
                                                    const std::string& path,
                                                    uint64_t offset) {
    HR_ASSIGN_OR_RETURN(std::unique_ptr<InputStream> input, format.Open(path));
    HR_RETURN_IF_ERROR(input->SkipTo(offset, path));
    return std::make_unique<LineFileReader>(std::move(input));
  }
  explicit LineFileReader(std::unique_ptr<InputStream> input)
      : reader_(std::move(input)) {}
  Status Next(std::string* out, bool* end) override {
    return reader_.Next(out, end);
  }
  uint64_t offset() const override { return reader_.offset(); }

 private:
  LineReader reader_;
};

// header_bytes, records, footer_bytes. How long a compressed file is shows at
// its end; so the reader holds back what may be the footer.
class FixedLengthFileReader : public FileReader {
 public:
  static StatusOr<std::unique_ptr<FileReader>> Open(const FileFormat& format,
                                                    const std::string& path,
                                                    uint64_t offset) {
    if (format.compression == Compression::kNone) {
      HR_ASSIGN_OR_RETURN(const uint64_t size, Env::Default()->FileSize(path));
      const auto body = static_cast<int64_t>(size) - format.header_bytes -
                        format.footer_bytes;
      if (body % format.record_bytes != 0 || body < 0) {
        return errors::InvalidArgument(
            "Excess number of bytes in \"", path, "\": header is ",
            format.header_bytes, " bytes, footer ", format.footer_bytes,
            ", records ", format.record_bytes, ", the file ", size);
      }
    }
    HR_ASSIGN_OR_RETURN(std::unique_ptr<InputStream> input, format.Open(path));
    uint64_t skipped = 0;
    HR_RETURN_IF_ERROR(input->Skip(format.header_bytes, &skipped));
    if (static_cast<int64_t>(skipped) < format.header_bytes) {
      return errors::DataLoss("file \"", path, "\" ends inside its header of ",
                              format.header_bytes, " bytes");
    }
    HR_RETURN_IF_ERROR(input->SkipTo(offset, path));
    return std::make_unique<FixedLengthFileReader>(format, path,
                                                   std::move(input));
  }
  FixedLengthFileReader(const FileFormat& format, std::string path,
                        std::unique_ptr<InputStream> input)
      : format_(format), path_(std::move(path)), input_(std::move(input)) {}

  Status Next(std::string* out, bool* end) override {
    const size_t record = static_cast<size_t>(format_.record_bytes);
    const size_t footer = static_cast<size_t>(format_.footer_bytes);
    const size_t wanted = record + footer - held_.size();
    std::string more;
    HR_RETURN_IF_ERROR(input_->ReadString(wanted, &more));
    held_.append(more);
    if (more.size() < wanted) {
      if (held_.size() != footer) {
        return errors::DataLoss("file \"", path_, "\" ends with ", held_.size(),
                                " bytes after its last record, "
                                "wanted a footer of ",
                                footer);
      }
      *end = true;
      return OkStatus();
    }
    out->assign(held_, 0, record);
    held_.erase(0, record);
    offset_ += record;
    return OkStatus();
  }
  uint64_t offset() const override { return offset_; }

 private:
  const FileFormat format_;
  const std::string path_;
  const std::unique_ptr<InputStream> input_;
  std::string held_;
  uint64_t offset_ = 0;
};

using OpenFn = StatusOr<std::unique_ptr<FileReader>> (*)(
    const FileFormat&, const std::string& path, uint64_t offset);

class FilesDataset : public Dataset {
 public:
  // `kind`: of its op, for the places of iterators.
  FilesDataset(std::string kind, std::vector<std::string> paths,
               std::vector<int64_t> offsets, FileFormat format, OpenFn open)
      : Dataset(StringSpec()),
        kind_(std::move(kind)),
        paths_(std::move(paths)),
        offsets_(std::move(offsets)),
        format_(format),
        open_(open) {}

  class Iterator : public DatasetIterator {
   public:
    explicit Iterator(RefPtr<const FilesDataset> dataset)
        : dataset_(std::move(dataset)) {}

    Status GetNext(const IteratorContext& ctx, TensorTuple* out,
                   bool* end) override {
      while (at_ < dataset_->paths_.size()) {
        HR_RETURN_IF_ERROR(ctx.CheckCancelled());
        bool file_end = false;
        const Status s = Read(&file_end);
        if (s.ok() && !file_end) {
          Tensor t(DT_STRING, TensorShape());
          t.scalar<tstring>() = text_;
          *out = {std::move(t)};
          return OkStatus();
        }
        reader_ = nullptr;
        const std::string& path = dataset_->paths_[at_++];
        if (!s.ok()) {
          return Annotate(s, StrCat(" (file \"", path, "\")"));
        }
      }
      *end = true;
      return OkStatus();
    }

    Status SaveOrRestore(const IteratorContext&,
                         IteratorState* state) override {
      bool open = reader_ != nullptr;
      uint64_t offset = open ? begin_ + reader_->offset() : 0;
      HR_RETURN_IF_ERROR(state->PlaceInFiles(
          dataset_->kind_, dataset_->paths_.size(), &at_, &open, &offset));
      return open && state->restoring() ? OpenAt(offset) : OkStatus();
    }

   private:
    Status Read(bool* file_end) {
      if (reader_ == nullptr) {
        const auto& offsets = dataset_->offsets_;
        HR_RETURN_IF_ERROR(OpenAt(offsets.empty() ? 0 : offsets[at_]));
      }
      return reader_->Next(&text_, file_end);
    }
    Status OpenAt(uint64_t offset) {
      begin_ = offset;
      HR_ASSIGN_OR_RETURN(
          reader_,
          dataset_->open_(dataset_->format_, dataset_->paths_[at_], offset));
      return OkStatus();
    }

    const RefPtr<const FilesDataset> dataset_;
    size_t at_ = 0;
    std::unique_ptr<FileReader> reader_;
    uint64_t begin_ = 0;  // where it began
    std::string text_;
  };

 protected:
  Status MakeIterator(const IteratorContext&,
                      std::unique_ptr<DatasetIterator>* out) const override {
    *out = std::make_unique<Iterator>(RefPtr<const FilesDataset>::NewRef(this));
    return OkStatus();
  }

 private:
  const std::string kind_;
  const std::vector<std::string> paths_;
  const std::vector<int64_t> offsets_;  // where to begin; empty: at 0
  const FileFormat format_;
  const OpenFn open_;
};

class FilesDatasetOp : public DatasetOp {
 public:
  FilesDatasetOp(OpKernelConstruction* ctx, OpenFn open)
      : DatasetOp(ctx), open_(open) {}

 protected:
  Status Make(OpKernelContext* ctx, RefPtr<const Dataset>* out) override {
    const Tensor* filenames = nullptr;
    HR_RETURN_IF_ERROR(ctx->input("filenames", &filenames));
    if (filenames->dims() > 1) {
      return errors::InvalidArgument(
          "`filenames` must be a scalar or a vector, got shape ",
          filenames->shape().DebugString());
    }
    std::vector<std::string> paths;
    for (const tstring& s : filenames->span<tstring>()) paths.emplace_back(s);
    FileFormat format;
    const Tensor* unused = nullptr;
    if (ctx->input("compression_type", &unused).ok()) {
      tstring compression;
      HR_RETURN_IF_ERROR(ScalarInput(*ctx, "compression_type", &compression));
      HR_ASSIGN_OR_RETURN(format.compression,
                          ParseCompression(ToStd(compression)));
    }
    int64_t buffer_size = 0;
    HR_RETURN_IF_ERROR(ScalarInput(*ctx, "buffer_size", &buffer_size));
    if (buffer_size < 0) {
      return errors::InvalidArgument(
          "`buffer_size` must be >= 0 (0 == default), got ", buffer_size);
    }
    format.buffer_size = static_cast<size_t>(buffer_size);
    std::vector<int64_t> offsets;
    HR_RETURN_IF_ERROR(ReadMore(*ctx, paths.size(), &format, &offsets));
    *out = MakeRef<FilesDataset>(type_string(), std::move(paths),
                                 std::move(offsets), format, open_);
    return OkStatus();
  }
  virtual Status ReadMore(const OpKernelContext&, size_t num_files, FileFormat*,
                          std::vector<int64_t>* offsets) {
    return OkStatus();
  }

 private:
  const OpenFn open_;
};

class TFRecordDatasetOp : public FilesDatasetOp {
 public:
  explicit TFRecordDatasetOp(OpKernelConstruction* ctx)
      : FilesDatasetOp(ctx, &RecordFileReader::Open) {}

 protected:
  Status ReadMore(const OpKernelContext& ctx, size_t num_files, FileFormat*,
                  std::vector<int64_t>* offsets) override {
    const Tensor* t = nullptr;
    if (!ctx.input("byte_offsets", &t).ok() || t->NumElements() == 0) {
      return OkStatus();
    }
    if (t->NumElements() != static_cast<int64_t>(num_files)) {
      return errors::InvalidArgument(
          "`byte_offsets` must be of the same size as `filenames`: got ",
          t->NumElements(), ", wanted ", num_files);
    }
    for (const int64_t offset : t->span<int64_t>()) {
      if (offset < 0) {
        return errors::InvalidArgument("byte_offsets must be >= 0, got ",
                                       offset);
      }
      offsets->push_back(offset);
    }
    return OkStatus();
  }
};
REGISTER_KERNEL_BUILDER(Name("TFRecordDataset").Device(DEVICE_CPU),
                        TFRecordDatasetOp);
REGISTER_KERNEL_BUILDER(Name("TFRecordDatasetV2").Device(DEVICE_CPU),
                        TFRecordDatasetOp);

class TextLineDatasetOp : public FilesDatasetOp {
 public:
  explicit TextLineDatasetOp(OpKernelConstruction* ctx)
      : FilesDatasetOp(ctx, &LineFileReader::Open) {}
};
REGISTER_KERNEL_BUILDER(Name("TextLineDataset").Device(DEVICE_CPU),
                        TextLineDatasetOp);

class FixedLengthRecordDatasetOp : public FilesDatasetOp {
 public:
  explicit FixedLengthRecordDatasetOp(OpKernelConstruction* ctx)
      : FilesDatasetOp(ctx, &FixedLengthFileReader::Open) {}

 protected:
  Status ReadMore(const OpKernelContext& ctx, size_t, FileFormat* format,
                  std::vector<int64_t>*) override {
    HR_RETURN_IF_ERROR(ScalarInput(ctx, "header_bytes", &format->header_bytes));
    HR_RETURN_IF_ERROR(ScalarInput(ctx, "record_bytes", &format->record_bytes));
    HR_RETURN_IF_ERROR(ScalarInput(ctx, "footer_bytes", &format->footer_bytes));
    if (format->header_bytes < 0 || format->footer_bytes < 0) {
      return errors::InvalidArgument(
          "`header_bytes` and `footer_bytes` must be >= 0, got ",
          format->header_bytes, " and ", format->footer_bytes);
    }
    if (format->record_bytes <= 0) {
      return errors::InvalidArgument("`record_bytes` must be > 0, got ",
                                     format->record_bytes);
    }
    int64_t sum =
        AddWithoutOverflow(format->header_bytes, format->footer_bytes);
    sum = AddWithoutOverflow(sum, format->record_bytes);
    if (sum < 0) {
      return errors::InvalidArgument(
          "`header_bytes`, `record_bytes` and `footer_bytes` overflow");
    }
    return OkStatus();
  }
};
REGISTER_KERNEL_BUILDER(Name("FixedLengthRecordDataset").Device(DEVICE_CPU),
                        FixedLengthRecordDatasetOp);
REGISTER_KERNEL_BUILDER(Name("FixedLengthRecordDatasetV2").Device(DEVICE_CPU),
                        FixedLengthRecordDatasetOp);

// The paths that match, sorted.
class MatchingFilesDatasetOp : public DatasetOp {
 public:
  using DatasetOp::DatasetOp;

 protected:
  class PathsDataset : public Dataset {
   public:
    explicit PathsDataset(std::vector<std::string> patterns)
        : Dataset(StringSpec()), patterns_(std::move(patterns)) {}

    class Iterator : public DatasetIterator {
     public:
      explicit Iterator(RefPtr<const PathsDataset> dataset)
          : dataset_(std::move(dataset)) {}
      Status GetNext(const IteratorContext&, TensorTuple* out,
                     bool* end) override {
        if (!matched_) HR_RETURN_IF_ERROR(Match());
        if (next_ == paths_.size()) {
          *end = true;
          return OkStatus();
        }
        *out = {Tensor::Scalar(tstring(paths_[next_++]))};
        return OkStatus();
      }
      // The paths that come next are those that there were.
      Status SaveOrRestore(const IteratorContext&,
                           IteratorState* state) override {
        HR_RETURN_IF_ERROR(state->Bool("MatchingFiles:matched", &matched_));
        HR_RETURN_IF_ERROR(state->Texts("MatchingFiles:paths", &paths_));
        return state->Index("MatchingFiles:next", &next_, paths_.size());
      }

     private:
      Status Match() {
        for (const std::string& pattern : dataset_->patterns_) {
          std::vector<std::string> some;
          HR_RETURN_IF_ERROR(Env::Default()->Glob(pattern, &some));
          paths_.insert(paths_.end(), some.begin(), some.end());
        }
        std::sort(paths_.begin(), paths_.end());
        matched_ = true;
        return OkStatus();
      }

      const RefPtr<const PathsDataset> dataset_;
      bool matched_ = false;
      std::vector<std::string> paths_;
      size_t next_ = 0;
    };

   protected:
    Status MakeIterator(const IteratorContext&,
                        std::unique_ptr<DatasetIterator>* out) const override {
      *out =
          std::make_unique<Iterator>(RefPtr<const PathsDataset>::NewRef(this));
      return OkStatus();
    }

   private:
    const std::vector<std::string> patterns_;
  };

  Status Make(OpKernelContext* ctx, RefPtr<const Dataset>* out) override {
    const Tensor& t = ctx->input(0);
    if (t.dims() > 1) {
      return errors::InvalidArgument(
          "`patterns` must be a scalar or a vector, got shape ",
          t.shape().DebugString());
    }
    std::vector<std::string> patterns;
    for (const tstring& s : t.span<tstring>()) patterns.emplace_back(s);
    *out = MakeRef<PathsDataset>(std::move(patterns));
    return OkStatus();
  }
};
REGISTER_KERNEL_BUILDER(Name("MatchingFilesDataset").Device(DEVICE_CPU),
                        MatchingFilesDatasetOp);
REGISTER_KERNEL_BUILDER(
    Name("ExperimentalMatchingFilesDataset").Device(DEVICE_CPU),
    MatchingFilesDatasetOp);

}  // namespace
}  // namespace headrace
