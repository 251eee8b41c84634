// Sequential input from files, and decompression.
#ifndef HEADRACE_IO_INPUT_STREAM_H_
#define HEADRACE_IO_INPUT_STREAM_H_

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "base/env.h"
#include "headrace/status.h"

namespace headrace {

// Used by one thread at a time.
class InputStream {
 public:
  virtual ~InputStream() = default;

  // Reads n bytes to `to`. *got is smaller only at the end of the stream, and 0
  // after it. After an error the stream must not be used.
  [[nodiscard]] virtual Status Read(char* to, size_t n, size_t* got) = 0;
  // As Read, into a string. The string grows with the bytes that are really
  // there, because n may come from a damaged file.
  [[nodiscard]] Status ReadString(size_t n, std::string* out);
  // Skips up to n bytes.
  [[nodiscard]] virtual Status Skip(uint64_t n, uint64_t* skipped);
  // Goes from the beginning of the file `path` to byte `offset`. DataLoss if it
  // is shorter.
  [[nodiscard]] Status SkipTo(uint64_t offset, const std::string& path);
};

enum class Compression { kNone, kZlib, kGzip };

// Accepts "", "ZLIB" and "GZIP".
StatusOr<Compression> ParseCompression(std::string_view name);

// `buffer_size`: bytes per read from the file; 0 for the default.
StatusOr<std::unique_ptr<InputStream>> OpenInputStream(Env* env,
                                                       const std::string& path,
                                                       Compression compression,
                                                       size_t buffer_size = 0);

// Reads the bytes of `text`, which must outlive the stream.
std::unique_ptr<InputStream> NewStringStream(std::string_view text);

// Decompresses `input`. DataLoss if it is damaged or ends early. Consecutive
// gzip members are read as one stream.
StatusOr<std::unique_ptr<InputStream>> Inflate(
    std::unique_ptr<InputStream> input, Compression compression);

// Reads lines, without the '\n' at their ends. The last line need not have one.
// As in TensorFlow, every '\r' is dropped.
class LineReader {
 public:
  explicit LineReader(std::unique_ptr<InputStream> input)
      : input_(std::move(input)) {}
  // Sets *end after the last line. ResourceExhausted for a line over 2 GiB.
  [[nodiscard]] Status Next(std::string* line, bool* end);
  // The position of the next line, in decompressed bytes.
  uint64_t offset() const { return read_ - (buffer_.size() - at_); }

 private:
  const std::unique_ptr<InputStream> input_;
  std::string buffer_;
  size_t at_ = 0;
  uint64_t read_ = 0;  // bytes of the input
};

}  // namespace headrace

#endif  // HEADRACE_IO_INPUT_STREAM_H_
