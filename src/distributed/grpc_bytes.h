// Between WireBytes and gRPC's buffers, without copying. For rpc_channel.cc and
// rpc_server.cc alone.
#ifndef HEADRACE_DISTRIBUTED_GRPC_BYTES_H_
#define HEADRACE_DISTRIBUTED_GRPC_BYTES_H_

#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/slice.h>
#include <grpcpp/support/status.h>

#include <memory>
#include <utility>
#include <vector>

#include "distributed/wire_bytes.h"

namespace headrace {

grpc::ByteBuffer ToGrpc(const WireBytes& bytes);
WireBytes FromGrpc(const grpc::ByteBuffer& buffer);
grpc::Status ToGrpc(const Status& status);
Status FromGrpc(const grpc::Status& status);
// ResourceExhausted if `bytes` are more than a message may have: the reader
// would refuse them, and of 4 GB and more gRPC ends the process.
Status CheckSize(absl::string_view what, const WireBytes& bytes);

}  // namespace headrace

#endif  // HEADRACE_DISTRIBUTED_GRPC_BYTES_H_
