// CsvReader: reads the fields of comma-separated records from a stream. A
// record ends with "\n", "\r" or "\r\n". Quotes are as in RFC 4180: a quoted
// field may contain delimiters and line ends, and a quote written twice.
#ifndef HEADRACE_IO_CSV_READER_H_
#define HEADRACE_IO_CSV_READER_H_

#include <memory>
#include <string>
#include <vector>

#include "io/input_stream.h"

namespace headrace {

// Used by one thread at a time.
class CsvReader {
 public:
  CsvReader(std::unique_ptr<InputStream> input, char delimiter, bool quotes);

  // Sets *end if there is no further record.
  [[nodiscard]] Status AtEnd(bool* end);

  // Reads the next field of the record into `field`, unless it is null. Sets
  // *last if the field ends its record. A malformed field gives InvalidArgument
  // and skips the rest of its line; the next call reads the next record. After
  // any other error the reader must not be used.
  [[nodiscard]] Status ReadField(std::string* field, bool* last);
  // The position of the next field, in decompressed bytes.
  uint64_t offset() const { return read_ - (size_ - at_); }

 private:
  // Makes buffer_[at_] the next byte, or sets *end.
  Status Fill(bool* end);
  Status ReadQuoted(std::string* field, bool* last);
  // Reads what follows a field. *last is false after a delimiter.
  Status ReadSeparator(bool* last, bool* found);
  Status Malformed(const char* why);

  const std::unique_ptr<InputStream> input_;
  const char delimiter_;
  const bool quotes_;
  std::vector<char> buffer_;
  size_t at_ = 0, size_ = 0;
  uint64_t read_ = 0;  // bytes of the input
};

}  // namespace headrace

#endif  // HEADRACE_IO_CSV_READER_H_
