// CSVDataset: each record of the files becomes an element of one scalar for
// each column that is taken. A malformed record is an error once, and the next
// one is read; a damaged file ends there.
#include <algorithm>
#include <utility>

#include "io/csv_reader.h"
#include "kernels/data/iterator_state.h"
#include "kernels/io/csv_field.h"
#include "kernels/lib/element.h"

namespace headrace {
namespace {

struct CsvFormat {
  std::vector<std::string> paths;
  Compression compression = Compression::kNone;
  size_t buffer_size = 0;
  bool header = false;
  char delimiter = ',';
  bool quotes = true;
  std::string na_value;
  std::vector<int64_t> select;   // empty: all columns but
  std::vector<int64_t> exclude;  // those
  TensorTuple defaults;
};

class CsvDataset : public Dataset {
 public:
  CsvDataset(ElementSpec spec, CsvFormat format)
      : Dataset(std::move(spec)), format_(std::move(format)) {}

  class Iterator : public DatasetIterator {
   public:
    explicit Iterator(RefPtr<const CsvDataset> dataset)
        : dataset_(std::move(dataset)), format_(dataset_->format_) {}

    Status GetNext(const IteratorContext& ctx, TensorTuple* out,
                   bool* end) override {
      while (at_ < format_.paths.size()) {
        HR_RETURN_IF_ERROR(ctx.CheckCancelled());
        const std::string& path = format_.paths[at_];
        bool file_end = false;
        Status malformed;
        Status s = Read(out, &file_end, &malformed);
        if (!s.ok() || file_end) {
          reader_ = nullptr;
          ++at_;
        } else if (malformed.ok()) {
          return OkStatus();
        } else {
          s = std::move(malformed);
        }
        if (!s.ok()) return Annotate(s, StrCat(" (file \"", path, "\")"));
      }
      *end = true;
      return OkStatus();
    }

    Status SaveOrRestore(const IteratorContext&,
                         IteratorState* state) override {
      bool open = reader_ != nullptr;
      uint64_t offset = open ? begin_ + reader_->offset() : 0;
      HR_RETURN_IF_ERROR(state->PlaceInFiles("CSV", format_.paths.size(), &at_,
                                             &open, &offset));
      return open && state->restoring() ? OpenAt(offset) : OkStatus();
    }

   private:
    // The next record of the file, unless that has ended or is malformed.
    Status Read(TensorTuple* out, bool* file_end, Status* malformed) {
      if (reader_ == nullptr) HR_RETURN_IF_ERROR(Open());
      HR_RETURN_IF_ERROR(reader_->AtEnd(file_end));
      if (*file_end) return OkStatus();
      out->clear();
      const auto& types = dataset_->spec().dtypes;
      const auto wanted = static_cast<int64_t>(types.size());
      int64_t taken = 0;
      size_t select = 0, exclude = 0;
      bool last = false;
      for (int64_t column = 0; !last; ++column) {
        bool take = false;
        if (!format_.select.empty()) {
          take = select < format_.select.size() &&
                 format_.select[select] == column;
          select += take;
        } else {
          take = exclude == format_.exclude.size() ||
                 format_.exclude[exclude] != column;
          exclude += !take;
        }
        const Status s = reader_->ReadField(
            take && taken < wanted ? &field_ : nullptr, &last);
        if (errors::IsInvalidArgument(s)) {
          *malformed = s;
          return OkStatus();
        }
        HR_RETURN_IF_ERROR(s);
        if (!take || ++taken > wanted || !malformed->ok()) continue;
        const int i = static_cast<int>(taken - 1);
        out->emplace_back(types[i], TensorShape());
        *malformed =
            StoreCsvField(field_, format_.na_value, format_.defaults[i], i,
                          "record", 0, &out->back());
      }
      if (malformed->ok() && taken != wanted) {
        *malformed = errors::InvalidArgument(
            "Expect ", wanted, " fields but have ",
            taken > wanted ? "more" : StrCat(taken), " in record");
      }
      return OkStatus();
    }

    Status Open() {
      HR_RETURN_IF_ERROR(OpenAt(0));
      if (!format_.header) return OkStatus();
      std::unique_ptr<CsvReader> reader = std::move(reader_);
      bool empty = false, last = false;
      HR_RETURN_IF_ERROR(reader->AtEnd(&empty));
      if (empty) return errors::InvalidArgument("Can't read header of file");
      while (!last) HR_RETURN_IF_ERROR(reader->ReadField(nullptr, &last));
      reader_ = std::move(reader);
      return OkStatus();
    }
    Status OpenAt(uint64_t offset) {
      const std::string& path = format_.paths[at_];
      HR_ASSIGN_OR_RETURN(
          std::unique_ptr<InputStream> input,
          OpenInputStream(Env::Default(), path, format_.compression,
                          format_.buffer_size));
      HR_RETURN_IF_ERROR(input->SkipTo(offset, path));
      begin_ = offset;
      reader_ = std::make_unique<CsvReader>(std::move(input), format_.delimiter,
                                            format_.quotes);
      return OkStatus();
    }

    const RefPtr<const CsvDataset> dataset_;
    const CsvFormat& format_;
    size_t at_ = 0;
    std::unique_ptr<CsvReader> reader_;
    uint64_t begin_ = 0;  // where it began
    std::string field_;
  };

 protected:
  Status MakeIterator(const IteratorContext&,
                      std::unique_ptr<DatasetIterator>* out) const override {
    *out = std::make_unique<Iterator>(RefPtr<const CsvDataset>::NewRef(this));
    return OkStatus();
  }

 private:
  const CsvFormat format_;
};

Status ReadColumns(const OpKernelContext& ctx, absl::string_view name,
                   std::vector<int64_t>* out) {
  const Tensor* t = nullptr;
  HR_RETURN_IF_ERROR(ctx.input(name, &t));
  if (t->dims() != 1) {
    return errors::InvalidArgument("`", name, "` must be a vector, got shape ",
                                   t->shape().DebugString());
  }
  out->assign(t->span<int64_t>().begin(), t->span<int64_t>().end());
  return CheckCsvColumns(*out, name);
}

template <bool kHasExclude>
class CsvDatasetOp : public DatasetOp {
 public:
  using DatasetOp::DatasetOp;

 protected:
  Status Make(OpKernelContext* ctx, RefPtr<const Dataset>* out) override {
    CsvFormat format;
    const Tensor* filenames = nullptr;
    HR_RETURN_IF_ERROR(ctx->input("filenames", &filenames));
    if (filenames->dims() > 1) {
      return errors::InvalidArgument(
          "`filenames` must be a scalar or a vector, got shape ",
          filenames->shape().DebugString());
    }
    for (const tstring& s : filenames->span<tstring>()) {
      format.paths.emplace_back(s);
    }
    tstring compression, delimiter, na_value;
    HR_RETURN_IF_ERROR(ScalarInput(*ctx, "compression_type", &compression));
    HR_ASSIGN_OR_RETURN(format.compression,
                        ParseCompression(ToStd(compression)));
    int64_t buffer_size = 0;
    HR_RETURN_IF_ERROR(ScalarInput(*ctx, "buffer_size", &buffer_size));
    if (buffer_size <= 0) {
      return errors::InvalidArgument("buffer_size should be positive, got ",
                                     buffer_size);
    }
    format.buffer_size = static_cast<size_t>(buffer_size);
    HR_RETURN_IF_ERROR(ScalarInput(*ctx, "header", &format.header));
    HR_RETURN_IF_ERROR(ScalarInput(*ctx, "field_delim", &delimiter));
    if (delimiter.size() != 1) {
      return errors::InvalidArgument("field_delim should be only 1 char, got ",
                                     delimiter.size());
    }
    format.delimiter = delimiter.data()[0];
    HR_RETURN_IF_ERROR(ScalarInput(*ctx, "use_quote_delim", &format.quotes));
    HR_RETURN_IF_ERROR(ScalarInput(*ctx, "na_value", &na_value));
    format.na_value = std::string(na_value);
    HR_RETURN_IF_ERROR(ReadColumns(*ctx, "select_cols", &format.select));
    if (kHasExclude) {
      HR_RETURN_IF_ERROR(ReadColumns(*ctx, "exclude_cols", &format.exclude));
    }
    const size_t wanted = spec().dtypes.size();
    if (!format.select.empty() && format.select.size() != wanted) {
      return errors::InvalidArgument("select_cols should match output size: ",
                                     format.select.size(), " and ", wanted);
    }
    if (!format.select.empty() && !format.exclude.empty()) {
      return errors::InvalidArgument(
          "Either select_cols or exclude_cols should be empty");
    }
    std::vector<const Tensor*> defaults;
    HR_RETURN_IF_ERROR(ctx->input_list("record_defaults", &defaults));
    for (size_t i = 0; i < defaults.size(); ++i) {
      HR_RETURN_IF_ERROR(CheckCsvDefault(*defaults[i], static_cast<int>(i)));
      format.defaults.push_back(*defaults[i]);
    }
    *out = MakeRef<CsvDataset>(spec(), std::move(format));
    return OkStatus();
  }
};
REGISTER_KERNEL_BUILDER(Name("CSVDataset").Device(DEVICE_CPU),
                        CsvDatasetOp<false>);
REGISTER_KERNEL_BUILDER(Name("CSVDatasetV2").Device(DEVICE_CPU),
                        CsvDatasetOp<true>);
REGISTER_KERNEL_BUILDER(Name("ExperimentalCSVDataset").Device(DEVICE_CPU),
                        CsvDatasetOp<false>);

}  // namespace
}  // namespace headrace
