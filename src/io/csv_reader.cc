#include "io/csv_reader.h"

#include <utility>

namespace headrace {
namespace {

constexpr size_t kCsvBufferSize = 64 << 10;
// Without this limit, a quoted field without an end would read the whole file.
constexpr size_t kMaxField = size_t{1} << 30;

Status TooLong() {
  return errors::ResourceExhausted("a field of more than ", kMaxField,
                                   " bytes; is a closing quote missing?");
}

}  // namespace

CsvReader::CsvReader(std::unique_ptr<InputStream> input, char delimiter,
                     bool quotes)
    : input_(std::move(input)),
      delimiter_(delimiter),
      quotes_(quotes),
      buffer_(kCsvBufferSize) {}

Status CsvReader::Fill(bool* end) {
  *end = false;
  if (at_ < size_) return OkStatus();
  at_ = size_ = 0;
  HR_RETURN_IF_ERROR(input_->Read(buffer_.data(), buffer_.size(), &size_));
  read_ += size_;
  *end = size_ == 0;
  return OkStatus();
}

Status CsvReader::AtEnd(bool* end) { return Fill(end); }

Status CsvReader::ReadField(std::string* field, bool* last) {
  if (field != nullptr) field->clear();
  bool end = false;
  HR_RETURN_IF_ERROR(Fill(&end));
  if (!end && quotes_ && buffer_[at_] == '"') {
    ++at_;
    return ReadQuoted(field, last);
  }
  for (size_t length = 0;;) {
    bool found = false;
    HR_RETURN_IF_ERROR(ReadSeparator(last, &found));
    if (found) return OkStatus();
    // A run without separators, at least one byte.
    const size_t begin = at_;
    do {
      if (quotes_ && buffer_[at_] == '"') {
        return Malformed("Unquoted fields cannot have quotes inside");
      }
      ++at_;
    } while (at_ < size_ && buffer_[at_] != delimiter_ &&
             buffer_[at_] != '\n' && buffer_[at_] != '\r');
    length += at_ - begin;
    if (length > kMaxField) return TooLong();
    if (field != nullptr) field->append(&buffer_[begin], at_ - begin);
  }
}

Status CsvReader::ReadQuoted(std::string* field, bool* last) {
  for (size_t length = 0;; ++length) {
    bool end = false;
    HR_RETURN_IF_ERROR(Fill(&end));
    if (end) {
      return errors::InvalidArgument(
          "Reached end of file without closing quoted field in record");
    }
    if (buffer_[at_] == '"') {
      ++at_;
      bool found = false;
      HR_RETURN_IF_ERROR(ReadSeparator(last, &found));
      if (found) return OkStatus();
      if (buffer_[at_] != '"') {
        return Malformed(
            "Quote inside a string has to be escaped by another quote");
      }
    }
    if (length == kMaxField) return TooLong();
    if (field != nullptr) field->push_back(buffer_[at_]);
    ++at_;
  }
}

Status CsvReader::ReadSeparator(bool* last, bool* found) {
  *found = *last = true;
  bool end = false;
  HR_RETURN_IF_ERROR(Fill(&end));
  if (end) return OkStatus();
  if (buffer_[at_] == delimiter_) {
    *last = false;
  } else if (buffer_[at_] == '\r') {
    ++at_;
    HR_RETURN_IF_ERROR(Fill(&end));
    if (end || buffer_[at_] != '\n') return OkStatus();
  } else if (buffer_[at_] != '\n') {
    *found = false;
    return OkStatus();
  }
  ++at_;
  return OkStatus();
}

Status CsvReader::Malformed(const char* why) {
  for (bool last = false;;) {
    bool found = false;
    HR_RETURN_IF_ERROR(ReadSeparator(&last, &found));
    if (found && last) return errors::InvalidArgument(why);
    if (!found) ++at_;
  }
}

}  // namespace headrace
