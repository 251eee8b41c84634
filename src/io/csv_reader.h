// CsvReader: the fields of a stream of comma-separated records. A record ends
// with "\n", "\r" or "\r\n". With quotes, as in RFC 4180: a field in quotes may
// hold delimiters, line ends and, written twice, quotes.
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

  // *end if there is no further record.
  [[nodiscard]] Status AtEnd(bool* end);

  // The next field of the record, to `field` unless that is null; *last if it
  // ended its record. After a malformed one, InvalidArgument, the rest of the
  // line is passed over: the next call reads the next record. After any other
  // failure the reader is of no use.
  [[nodiscard]] Status ReadField(std::string* field, bool* last);

 private:
  // Makes buffer_[at_] the next byte, or *end.
  Status Fill(bool* end);
  Status ReadQuoted(std::string* field, bool* last);
  // What follows a field: *last is false after a delimiter.
  Status ReadSeparator(bool* last, bool* found);
  Status Malformed(const char* why);

  const std::unique_ptr<InputStream> input_;
  const char delimiter_;
  const bool quotes_;
  std::vector<char> buffer_;
  size_t at_ = 0, size_ = 0;
};

}  // namespace headrace

#endif  // HEADRACE_IO_CSV_READER_H_
