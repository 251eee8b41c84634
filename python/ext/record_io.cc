#include "record_io.h"

#include <nanobind/stl/string.h>

#include <memory>
#include <string>
#include <vector>

#include "io/record_file.h"
#include "py_support.h"

namespace headrace::python {
namespace {

Compression ToCompression(const std::string& name) {
  const StatusOr<Compression> c = ParseCompression(name);
  Check(c.status());
  return *c;
}

std::string_view View(const nb::bytes& b) { return {b.c_str(), b.size()}; }

// One thread at a time, which the GIL sees to: it is held.
class PyRecordWriter {
 public:
  PyRecordWriter(const std::string& path, const std::string& compression,
                 int level) {
    auto writer = RecordWriter::Open(Env::Default(), path,
                                     ToCompression(compression), level);
    Check(writer.status());
    writer_ = *std::move(writer);
  }
  void Write(const nb::bytes& record) { Check(writer_->Write(View(record))); }
  void Flush() { Check(writer_->Flush()); }
  void Close() { Check(writer_->Close()); }

 private:
  std::unique_ptr<RecordWriter> writer_;
};

class PyRecordReader {
 public:
  PyRecordReader(const std::string& path, const std::string& compression) {
    auto reader =
        RecordReader::Open(Env::Default(), path, ToCompression(compression));
    Check(reader.status());
    reader_ = *std::move(reader);
  }
  // None at the end.
  nb::object Next() {
    if (reader_ == nullptr) return nb::none();
    std::string record;
    bool end = false;
    const Status s = reader_->Next(&record, &end);
    if (!s.ok() || end) reader_ = nullptr;
    Check(s);
    if (end) return nb::none();
    return nb::bytes(record.data(), record.size());
  }

 private:
  std::unique_ptr<RecordReader> reader_;
};

// The paths that match a pattern: bytes, sorted.
nb::list Glob(const std::string& pattern) {
  std::vector<std::string> paths;
  Status s;
  {
    nb::gil_scoped_release release;
    s = Env::Default()->Glob(pattern, &paths);
  }
  Check(s);
  nb::list result;
  for (const std::string& path : paths) {
    result.append(nb::bytes(path.data(), path.size()));
  }
  return result;
}

}  // namespace

void RegisterRecordIo(nb::module_& m) {
  m.def("glob", [](const nb::bytes& pattern) {
    return Glob(std::string(View(pattern)));
  });
  nb::class_<PyRecordWriter>(m, "RecordWriter")
      .def(nb::init<const std::string&, const std::string&, int>())
      .def("write", &PyRecordWriter::Write)
      .def("flush", &PyRecordWriter::Flush)
      .def("close", &PyRecordWriter::Close);
  nb::class_<PyRecordReader>(m, "RecordReader")
      .def(nb::init<const std::string&, const std::string&>())
      .def("next", &PyRecordReader::Next);
}

}  // namespace headrace::python
