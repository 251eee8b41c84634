#include "framework/tensor/borrowed_buffer.h"

#include <utility>

namespace headrace {
namespace {

class BorrowedBuffer final : public TensorBuffer {
 public:
  BorrowedBuffer(void* data, size_t bytes, std::function<void()> release)
      : TensorBuffer(data, bytes), release_(std::move(release)) {}
  bool IsWritable() const override { return false; }

 protected:
  ~BorrowedBuffer() override {
    if (release_) release_();
  }

 private:
  const std::function<void()> release_;
};

}  // namespace

RefPtr<TensorBuffer> WrapBorrowedBuffer(void* data, size_t bytes,
                                        std::function<void()> release) {
  return RefPtr<TensorBuffer>(
      new BorrowedBuffer(data, bytes, std::move(release)));
}

Status OwnBytes(Tensor* t) {
  const TensorBuffer* const buffer = t->buffer().get();
  if (buffer == nullptr || buffer->IsWritable() ||
      dynamic_cast<const BorrowedBuffer*>(buffer) == nullptr) {
    return OkStatus();
  }
  return Tensor(*t).DeepCopyTo(t);
}

Status OwnBytes(std::vector<Tensor>* tensors) {
  for (Tensor& t : *tensors) HR_RETURN_IF_ERROR(OwnBytes(&t));
  return OkStatus();
}

}  // namespace headrace
