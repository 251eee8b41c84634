// Record files, plain and compressed; lines and comma-separated fields.
#include <string>
#include <utility>

#include "fuzz_target.h"
#include "io/csv_reader.h"
#include "io/record_file.h"

namespace headrace {
namespace {

constexpr int kMaxRecords = 1000;  // a few bytes unpack to any number

void ReadRecords(std::unique_ptr<InputStream> stream) {
  RecordReader reader(std::move(stream));
  std::string record;
  bool end = false;
  for (int i = 0; i < kMaxRecords && !end; ++i) {
    if (!reader.Next(&record, &end).ok()) return;
  }
}

}  // namespace

FUZZ_TARGET(record) {
  const std::string_view text = ToStd(bytes);
  ReadRecords(NewStringStream(text));
  for (Compression c : {Compression::kZlib, Compression::kGzip}) {
    auto stream = Inflate(NewStringStream(text), c);
    if (stream.ok()) ReadRecords(*std::move(stream));
  }
  LineReader lines(NewStringStream(text));
  std::string line;
  bool end = false;
  while (!end && lines.Next(&line, &end).ok()) {
  }
  for (const bool quotes : {false, true}) {
    CsvReader fields(NewStringStream(text), ',', quotes);
    bool last = false;
    while (fields.AtEnd(&end).ok() && !end) {
      const Status s = fields.ReadField(&line, &last);
      if (!s.ok() && !errors::IsInvalidArgument(s)) break;
    }
  }
}
}  // namespace headrace
