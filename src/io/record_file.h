// Record files: a sequence of byte strings, each as its length (8 bytes), the
// masked CRC-32C of those, the bytes, and their masked CRC-32C; perhaps
// compressed as a whole.
#ifndef HEADRACE_IO_RECORD_FILE_H_
#define HEADRACE_IO_RECORD_FILE_H_

#include <memory>
#include <string>
#include <string_view>

#include "base/env.h"
#include "io/input_stream.h"

namespace headrace {

// Used by one thread at a time.
class RecordReader {
 public:
  explicit RecordReader(std::unique_ptr<InputStream> input)
      : input_(std::move(input)) {}
  static StatusOr<std::unique_ptr<RecordReader>> Open(Env* env,
                                                      const std::string& path,
                                                      Compression compression,
                                                      size_t buffer_size = 0);

  // The next record, or *end where the file ends between two. DataLoss
  // "truncated record at N", N being where the record begins, or "corrupted
  // record at N", where its length or its data begin; then the reader is of no
  // use. Memory is bounded by what the file holds, whatever its lengths say.
  [[nodiscard]] Status Next(std::string* record, bool* end);
  // Where the next record begins, in decompressed bytes.
  uint64_t offset() const { return offset_; }

 private:
  Status ReadChecked(uint64_t n, uint64_t at, std::string* out);

  const std::unique_ptr<InputStream> input_;
  uint64_t offset_ = 0;
};

// Used by one thread at a time. Destruction closes it, without a report of
// errors.
class RecordWriter {
 public:
  // `level`: of the compression, 0 to 9, or -1 for zlib's own choice.
  static StatusOr<std::unique_ptr<RecordWriter>> Open(Env* env,
                                                      const std::string& path,
                                                      Compression compression,
                                                      int level = -1);
  virtual ~RecordWriter() = default;

  [[nodiscard]] Status Write(std::string_view record);
  // Hands to the system what was written, as far as the compression can.
  [[nodiscard]] virtual Status Flush() = 0;
  [[nodiscard]] virtual Status Close() = 0;

 protected:
  virtual Status Append(std::string_view bytes) = 0;
};

}  // namespace headrace

#endif  // HEADRACE_IO_RECORD_FILE_H_
