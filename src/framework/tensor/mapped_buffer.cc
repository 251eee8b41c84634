#include "framework/tensor/mapped_buffer.h"

#include <utility>

namespace headrace {
namespace {

class FileBuffer : public TensorBuffer {
 public:
  explicit FileBuffer(RefPtr<MappedFile> file)
      : TensorBuffer(const_cast<char*>(file->data()), file->size()),
        file_(std::move(file)) {}
  bool IsWritable() const override { return false; }
  const MappedFile& file() const { return *file_; }

 private:
  const RefPtr<MappedFile> file_;
};

}  // namespace

RefPtr<TensorBuffer> MappedBuffer(RefPtr<MappedFile> file) {
  return RefPtr<TensorBuffer>(new FileBuffer(std::move(file)));
}

bool IsMapped(const TensorBuffer& buffer) {
  return dynamic_cast<const FileBuffer*>(&buffer) != nullptr;
}

void ReleasePages(const Tensor& t) {
  const auto* buffer = dynamic_cast<const FileBuffer*>(t.buffer().get());
  if (buffer == nullptr) return;
  const size_t begin =
      static_cast<const char*>(t.raw_data()) - buffer->file().data();
  buffer->file().Release(begin, begin + t.TotalBytes());
}

}  // namespace headrace
