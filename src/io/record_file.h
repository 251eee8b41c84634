// Record files: a sequence of byte strings. Each is stored as its length (8
// bytes), the masked CRC-32C of the length, the bytes, and the masked CRC-32C
// of the bytes. The whole file may be compressed.
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

  // Reads the next record. Sets *end if the file ends between two records.
  // DataLoss "truncated record at N", where the record begins at N. DataLoss
  // "corrupted record at N", where its length or its data begins at N. After an
  // error the reader must not be used. Memory is bounded by the size of the
  // file, whatever its lengths claim.
  [[nodiscard]] Status Next(std::string* record, bool* end);
  // The position of the next record, in decompressed bytes.
  uint64_t offset() const { return offset_; }

 private:
  Status ReadChecked(uint64_t n, uint64_t at, std::string* out);

  const std::unique_ptr<InputStream> input_;
  uint64_t offset_ = 0;
};

// Used by one thread at a time. The destructor closes the file and ignores
// errors.
class RecordWriter {
 public:
  // `level`: the compression level, 0 to 9; -1 for zlib's default.
  static StatusOr<std::unique_ptr<RecordWriter>> Open(Env* env,
                                                      const std::string& path,
                                                      Compression compression,
                                                      int level = -1);
  virtual ~RecordWriter() = default;

  [[nodiscard]] Status Write(std::string_view record);
  // Passes written records to the system, as far as the compression allows.
  [[nodiscard]] virtual Status Flush() = 0;
  [[nodiscard]] virtual Status Close() = 0;

 protected:
  virtual Status Append(std::string_view bytes) = 0;
};

}  // namespace headrace

#endif  // HEADRACE_IO_RECORD_FILE_H_
