// Tensors inside messages, without TensorProto objects between: a large tensor
// is sent from its own buffer and read into one. The bytes are those that
// protobuf would write.
#ifndef HEADRACE_DISTRIBUTED_TENSOR_WIRE_H_
#define HEADRACE_DISTRIBUTED_TENSOR_WIRE_H_

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "distributed/wire_bytes.h"
#include "headrace/tensor.h"

namespace google::protobuf::io {
class CodedInputStream;
}

namespace headrace {

using NamedTensors = std::vector<std::pair<std::string, Tensor>>;

// Writes one message.
// Thread-compatible.
class WireWriter {
 public:
  // Fields of `message`, as they are.
  void AddFields(const google::protobuf::MessageLite& message);
  void AddVarint(int field, uint64_t value);
  // A TensorProto as field `field`.
  void AddTensor(int field, const Tensor& value);
  // A NamedTensorProto as field `field`.
  void AddNamedTensor(int field, absl::string_view name, const Tensor& value);
  // A google.protobuf.Any with a RecvBufRespExtra of these bytes as field
  // `field`. `owner` keeps them.
  void AddBuffer(int field, absl::string_view bytes,
                 std::shared_ptr<const void> owner);
  WireBytes Finish();

 private:
  void AppendTensor(const Tensor& value, absl::string_view before);

  std::string head_;  // not yet in out_
  WireBytes out_;
};

// Reads a message of which field `tensor_field` is a TensorProto
// (ReadTensors) or a NamedTensorProto (ReadNamedTensors), perhaps repeated; the
// other fields go to `rest`. InvalidArgument, with `what`, for bytes that are
// no such message and for tensors that are not valid.
Status ReadTensors(absl::string_view what, const WireBytes& bytes,
                   int tensor_field, std::vector<Tensor>* tensors,
                   google::protobuf::MessageLite* rest);
Status ReadNamedTensors(absl::string_view what, const WireBytes& bytes,
                        int tensor_field, NamedTensors* tensors,
                        google::protobuf::MessageLite* rest);
// Reads a message of which field `any_field` is what AddBuffer writes. The
// bytes, which must be `size`, go to `to`.
Status ReadBuffer(absl::string_view what, const WireBytes& bytes, int any_field,
                  void* to, size_t size, google::protobuf::MessageLite* rest);

}  // namespace headrace

#endif  // HEADRACE_DISTRIBUTED_TENSOR_WIRE_H_
