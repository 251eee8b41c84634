#include "io/record_file.h"

#include <utility>
#include <vector>

#include "base/crc32c.h"
#include "io/coding.h"

#ifdef HEADRACE_HAVE_ZLIB
#include <zlib.h>
#endif

namespace headrace {
namespace {

constexpr size_t kHeader = 12, kFooter = 4;
// Far above any message; a length beyond it comes from a damaged file.
constexpr uint64_t kMaxRecord = uint64_t{1} << 32;

class PlainWriter : public RecordWriter {
 public:
  explicit PlainWriter(std::unique_ptr<WritableFile> file)
      : file_(std::move(file)) {}
  Status Flush() override {
    if (file_ == nullptr) return OkStatus();
    return file_->Flush();
  }
  Status Close() override {
    if (file_ == nullptr) return OkStatus();
    return std::exchange(file_, nullptr)->Close();
  }

 protected:
  Status Append(std::string_view bytes) override {
    if (file_ == nullptr) {
      return errors::FailedPrecondition("the record writer is closed");
    }
    return file_->Append(bytes);
  }

 private:
  std::unique_ptr<WritableFile> file_;
};

#ifdef HEADRACE_HAVE_ZLIB
class DeflateWriter : public RecordWriter {
 public:
  DeflateWriter(std::unique_ptr<WritableFile> file, bool gzip, int level)
      : file_(std::move(file)), buffer_(256 << 10) {
    started_ =
        deflateInit2(&z_, level, Z_DEFLATED, gzip ? MAX_WBITS + 16 : MAX_WBITS,
                     8, Z_DEFAULT_STRATEGY) == Z_OK;
  }
  ~DeflateWriter() override {
    (void)Close();
    if (started_) deflateEnd(&z_);
  }
  Status Flush() override {
    if (file_ == nullptr) return OkStatus();
    HR_RETURN_IF_ERROR(Deflate({}, Z_SYNC_FLUSH));
    return file_->Flush();
  }
  Status Close() override {
    if (file_ == nullptr) return OkStatus();
    const Status s = Deflate({}, Z_FINISH);
    const Status closed = std::exchange(file_, nullptr)->Close();
    return s.ok() ? closed : s;
  }

 protected:
  Status Append(std::string_view bytes) override {
    if (file_ == nullptr) {
      return errors::FailedPrecondition("the record writer is closed");
    }
    while (!bytes.empty()) {
      const std::string_view piece = bytes.substr(0, 1 << 30);
      HR_RETURN_IF_ERROR(Deflate(piece, Z_NO_FLUSH));
      bytes.remove_prefix(piece.size());
    }
    return OkStatus();
  }

 private:
  Status Deflate(std::string_view bytes, int flush) {
    if (!started_) return errors::ResourceExhausted("zlib: out of memory");
    z_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
    z_.avail_in = static_cast<uInt>(bytes.size());
    do {
      z_.next_out = reinterpret_cast<Bytef*>(buffer_.data());
      z_.avail_out = static_cast<uInt>(buffer_.size());
      if (deflate(&z_, flush) == Z_STREAM_ERROR) {
        return errors::Internal("deflate() failed");
      }
      HR_RETURN_IF_ERROR(
          file_->Append({buffer_.data(), buffer_.size() - z_.avail_out}));
    } while (z_.avail_out == 0);
    return OkStatus();
  }

  std::unique_ptr<WritableFile> file_;
  std::vector<char> buffer_;
  z_stream z_ = {};
  bool started_ = false;
};
#endif

}  // namespace

StatusOr<std::unique_ptr<RecordReader>> RecordReader::Open(
    Env* env, const std::string& path, Compression compression,
    size_t buffer_size) {
  HR_ASSIGN_OR_RETURN(std::unique_ptr<InputStream> input,
                      OpenInputStream(env, path, compression, buffer_size));
  return std::make_unique<RecordReader>(std::move(input));
}

// n bytes, which lie at `at`, and the CRC that follows them. OutOfRange if the
// input ends before their first byte.
Status RecordReader::ReadChecked(uint64_t n, uint64_t at, std::string* out) {
  HR_RETURN_IF_ERROR(input_->ReadString(n + kFooter, out));
  if (out->empty()) return errors::OutOfRange("end of file");
  if (out->size() < n + kFooter) {
    return errors::DataLoss("truncated record at ", offset_);
  }
  const uint32_t crc = GetFixed<uint32_t>(out->data() + n);
  out->resize(n);
  if (crc32c::Unmask(crc) != crc32c::Value(*out)) {
    return errors::DataLoss("corrupted record at ", at);
  }
  return OkStatus();
}

Status RecordReader::Next(std::string* record, bool* end) {
  const Status s = ReadChecked(sizeof(uint64_t), offset_, record);
  if (errors::IsOutOfRange(s)) {
    *end = true;
    return OkStatus();
  }
  HR_RETURN_IF_ERROR(s);
  const uint64_t length = GetFixed<uint64_t>(record->data());
  if (length > kMaxRecord) {
    return errors::DataLoss("corrupted record at ", offset_, ": its length is ",
                            length);
  }
  const Status data = ReadChecked(length, offset_ + kHeader, record);
  if (errors::IsOutOfRange(data)) {
    return errors::DataLoss("truncated record at ", offset_);
  }
  HR_RETURN_IF_ERROR(data);
  offset_ += kHeader + length + kFooter;
  return OkStatus();
}

StatusOr<std::unique_ptr<RecordWriter>> RecordWriter::Open(
    Env* env, const std::string& path, Compression compression, int level) {
  if (level < -1 || level > 9) {
    return errors::InvalidArgument("compression level ", level,
                                   ", wanted -1 to 9");
  }
  HR_ASSIGN_OR_RETURN(std::unique_ptr<WritableFile> file,
                      env->NewWritableFile(path));
  if (compression == Compression::kNone) {
    return std::make_unique<PlainWriter>(std::move(file));
  }
#ifdef HEADRACE_HAVE_ZLIB
  return std::make_unique<DeflateWriter>(
      std::move(file), compression == Compression::kGzip, level);
#else
  return errors::Unimplemented("this build has no zlib");
#endif
}

Status RecordWriter::Write(std::string_view record) {
  std::string header;
  PutFixed<uint64_t>(&header, record.size());
  PutFixed<uint32_t>(&header, crc32c::Mask(crc32c::Value(header)));
  std::string footer;
  PutFixed<uint32_t>(&footer, crc32c::Mask(crc32c::Value(record)));
  HR_RETURN_IF_ERROR(Append(header));
  HR_RETURN_IF_ERROR(Append(record));
  return Append(footer);
}

}  // namespace headrace
