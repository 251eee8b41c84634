// Sequential input: files, and what is compressed in them.
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

  // Reads n bytes to `to`; *got is less only at the end, where it is 0 from
  // then on. After a failure the stream is of no use.
  [[nodiscard]] virtual Status Read(char* to, size_t n, size_t* got) = 0;
  // As Read, into a string that grows with what is really there: n may come
  // from a file that lies.
  [[nodiscard]] Status ReadString(size_t n, std::string* out);
  // Passes over up to n bytes.
  [[nodiscard]] virtual Status Skip(uint64_t n, uint64_t* skipped);
};

enum class Compression { kNone, kZlib, kGzip };

// From "", "ZLIB" or "GZIP".
StatusOr<Compression> ParseCompression(std::string_view name);

// `buffer_size`: bytes read from the file at a time; 0 for a good number.
StatusOr<std::unique_ptr<InputStream>> OpenInputStream(Env* env,
                                                       const std::string& path,
                                                       Compression compression,
                                                       size_t buffer_size = 0);

// The bytes of `text`, which outlives it.
std::unique_ptr<InputStream> NewStringStream(std::string_view text);

// What `input` holds, decompressed. DataLoss where it is damaged or ends too
// early. Gzip members that follow each other are read as one.
StatusOr<std::unique_ptr<InputStream>> Inflate(
    std::unique_ptr<InputStream> input, Compression compression);

// Lines, without the '\n' at their ends; the last may have none. '\r' is
// dropped wherever it stands, as TensorFlow does.
class LineReader {
 public:
  explicit LineReader(std::unique_ptr<InputStream> input)
      : input_(std::move(input)) {}
  // *end, after the last line. ResourceExhausted for a line over 2 GiB.
  [[nodiscard]] Status Next(std::string* line, bool* end);

 private:
  const std::unique_ptr<InputStream> input_;
  std::string buffer_;
  size_t at_ = 0;
};

}  // namespace headrace

#endif  // HEADRACE_IO_INPUT_STREAM_H_
