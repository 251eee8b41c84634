#include "io/input_stream.h"

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#ifdef HEADRACE_HAVE_ZLIB
#include <zlib.h>
#endif

namespace headrace {
namespace {

constexpr size_t kBufferSize = 256 << 10;
constexpr size_t kMaxBufferSize = 64 << 20;
constexpr size_t kMaxLine = size_t{2} << 30;

class FileStream : public InputStream {
 public:
  FileStream(std::unique_ptr<RandomAccessFile> file, size_t buffer_size)
      : file_(std::move(file)), buffer_size_(buffer_size) {}

  Status Read(char* to, size_t n, size_t* got) override {
    *got = 0;
    while (*got < n) {
      if (rest_.empty()) {
        if (n - *got >= buffer_size_) {  // no use in a copy
          std::string_view piece;
          HR_RETURN_IF_ERROR(ReadFile(n - *got, to + *got, &piece));
          if (piece.data() != to + *got) {
            std::memmove(to + *got, piece.data(), piece.size());
          }
          *got += piece.size();
          return OkStatus();
        }
        if (buffer_.empty()) buffer_.resize(buffer_size_);
        HR_RETURN_IF_ERROR(ReadFile(buffer_size_, buffer_.data(), &rest_));
        if (rest_.empty()) return OkStatus();
      }
      const size_t k = std::min(rest_.size(), n - *got);
      std::memcpy(to + *got, rest_.data(), k);
      rest_.remove_prefix(k);
      *got += k;
    }
    return OkStatus();
  }

 private:
  // Fewer bytes only at the end of the file.
  Status ReadFile(size_t n, char* to, std::string_view* piece) {
    const Status s = file_->Read(offset_, n, piece, to);
    if (!s.ok() && !errors::IsOutOfRange(s)) return s;
    offset_ += piece->size();
    return OkStatus();
  }

  const std::unique_ptr<RandomAccessFile> file_;
  const size_t buffer_size_;
  std::vector<char> buffer_;
  std::string_view rest_;  // of the buffer
  uint64_t offset_ = 0;
};

class StringStream : public InputStream {
 public:
  explicit StringStream(std::string_view text) : rest_(text) {}
  Status Read(char* to, size_t n, size_t* got) override {
    *got = std::min(n, rest_.size());
    rest_.copy(to, *got);
    rest_.remove_prefix(*got);
    return OkStatus();
  }

 private:
  std::string_view rest_;
};

#ifdef HEADRACE_HAVE_ZLIB
class InflateStream : public InputStream {
 public:
  InflateStream(std::unique_ptr<InputStream> input, bool gzip)
      : input_(std::move(input)), gzip_(gzip), buffer_(kBufferSize) {
    // 16 more than the window's bits: gzip's header.
    started_ = inflateInit2(&z_, gzip ? MAX_WBITS + 16 : MAX_WBITS) == Z_OK;
  }
  ~InflateStream() override {
    if (started_) inflateEnd(&z_);
  }

  Status Read(char* to, size_t n, size_t* got) override {
    *got = 0;
    if (!started_) return errors::ResourceExhausted("zlib: out of memory");
    while (*got < n) {
      if (z_.avail_in == 0) HR_RETURN_IF_ERROR(Refill());
      if (z_.avail_in == 0) {
        if (in_member_) {
          return errors::DataLoss("compressed data end in the middle");
        }
        return OkStatus();
      }
      if (!in_member_) {
        if (members_ > 0 && !gzip_) {
          return errors::DataLoss("bytes follow the end of the zlib data");
        }
        if (inflateReset(&z_) != Z_OK) return Damaged();
        in_member_ = true;
      }
      const size_t room = std::min<size_t>(n - *got, 1 << 30);
      z_.next_out = reinterpret_cast<Bytef*>(to + *got);
      z_.avail_out = static_cast<uInt>(room);
      const int result = inflate(&z_, Z_NO_FLUSH);
      *got += room - z_.avail_out;
      if (result == Z_STREAM_END) {
        in_member_ = false;
        ++members_;
      } else if (result != Z_OK && result != Z_BUF_ERROR) {
        return Damaged();
      }
    }
    return OkStatus();
  }

 private:
  Status Refill() {
    size_t n = 0;
    HR_RETURN_IF_ERROR(input_->Read(buffer_.data(), buffer_.size(), &n));
    z_.next_in = reinterpret_cast<Bytef*>(buffer_.data());
    z_.avail_in = static_cast<uInt>(n);
    return OkStatus();
  }
  Status Damaged() const {
    return errors::DataLoss("inflate() failed: ",
                            z_.msg == nullptr ? "damaged data" : z_.msg);
  }

  const std::unique_ptr<InputStream> input_;
  const bool gzip_;
  std::vector<char> buffer_;
  z_stream z_ = {};
  bool started_ = false;
  bool in_member_ = false;
  int64_t members_ = 0;
};
#endif

}  // namespace

Status InputStream::ReadString(size_t n, std::string* out) {
  out->clear();
  while (out->size() < n) {
    const size_t at = out->size();
    const size_t piece = std::min(n - at, std::max<size_t>(kBufferSize, at));
    out->resize(at + piece);
    size_t got = 0;
    const Status s = Read(out->data() + at, piece, &got);
    out->resize(at + got);
    HR_RETURN_IF_ERROR(s);
    if (got < piece) break;
  }
  return OkStatus();
}

Status InputStream::Skip(uint64_t n, uint64_t* skipped) {
  *skipped = 0;
  std::vector<char> scratch(std::min<uint64_t>(n, kBufferSize));
  while (*skipped < n) {
    const size_t piece = std::min<uint64_t>(n - *skipped, scratch.size());
    size_t got = 0;
    HR_RETURN_IF_ERROR(Read(scratch.data(), piece, &got));
    *skipped += got;
    if (got < piece) break;
  }
  return OkStatus();
}

Status InputStream::SkipTo(uint64_t offset, const std::string& path) {
  uint64_t skipped = 0;
  HR_RETURN_IF_ERROR(Skip(offset, &skipped));
  if (skipped == offset) return OkStatus();
  return errors::DataLoss("file \"", path, "\" has ", skipped,
                          " bytes, and is to be read from byte ", offset);
}

StatusOr<Compression> ParseCompression(std::string_view name) {
  if (name.empty()) return Compression::kNone;
  if (name == "ZLIB") return Compression::kZlib;
  if (name == "GZIP") return Compression::kGzip;
  return errors::InvalidArgument("Unsupported compression_type: ", name,
                                 "; wanted \"\", \"ZLIB\" or \"GZIP\"");
}

std::unique_ptr<InputStream> NewStringStream(std::string_view text) {
  return std::make_unique<StringStream>(text);
}

StatusOr<std::unique_ptr<InputStream>> Inflate(
    std::unique_ptr<InputStream> input, Compression compression) {
  if (compression == Compression::kNone) return input;
#ifdef HEADRACE_HAVE_ZLIB
  return std::make_unique<InflateStream>(std::move(input),
                                         compression == Compression::kGzip);
#else
  return errors::Unimplemented("this build has no zlib");
#endif
}

StatusOr<std::unique_ptr<InputStream>> OpenInputStream(Env* env,
                                                       const std::string& path,
                                                       Compression compression,
                                                       size_t buffer_size) {
  if (buffer_size == 0) buffer_size = kBufferSize;
  HR_ASSIGN_OR_RETURN(std::unique_ptr<RandomAccessFile> file,
                      env->NewRandomAccessFile(path));
  return Inflate(std::make_unique<FileStream>(
                     std::move(file), std::min(buffer_size, kMaxBufferSize)),
                 compression);
}

Status LineReader::Next(std::string* line, bool* end) {
  line->clear();
  for (;;) {
    const size_t newline = buffer_.find('\n', at_);
    if (newline != std::string::npos) {
      line->append(buffer_, at_, newline - at_);
      at_ = newline + 1;
      break;
    }
    line->append(buffer_, at_);
    if (line->size() > kMaxLine) {
      return errors::ResourceExhausted("a line is longer than ", kMaxLine,
                                       " bytes");
    }
    at_ = 0;
    HR_RETURN_IF_ERROR(input_->ReadString(kBufferSize, &buffer_));
    read_ += buffer_.size();
    if (buffer_.empty()) {
      *end = line->empty();
      break;
    }
  }
  line->erase(std::remove(line->begin(), line->end(), '\r'), line->end());
  return OkStatus();
}

}  // namespace headrace
