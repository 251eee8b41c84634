// The structs behind the C API's handles, and helpers for all files of the C
// API. A TF_Operation is a headrace::Node. TF_Output and Endpoint have the same
// fields, and are converted field by field.
#ifndef HEADRACE_C_API_INTERNAL_H_
#define HEADRACE_C_API_INTERNAL_H_

#include <atomic>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "graph/function_library.h"
#include "headrace/c_api.h"
#include "headrace/config.pb.h"
#include "headrace/device.h"
#include "headrace/graph.h"
#include "headrace/graph.pb.h"
#include "headrace/importer.h"
#include "headrace/session.h"
#include "headrace/tensor.h"
#include "tensorflow/c/c_api.h"

struct TF_Status {
  headrace::Status status;
  std::string message;  // status.message(), NUL-terminated
};

namespace headrace::c_api {
// A client's bytes that are no headrace::Tensor: of resources, variants,
// reference types and unknown types, and strings with too few bytes. A client
// may create, read and pass them. A function that needs the value decides
// whether to accept them.
struct OpaqueBytes {
  TF_DataType type;
  TensorShape shape;
  RefPtr<TensorBuffer> buffer;
};
}  // namespace headrace::c_api

struct TF_Tensor {
  TF_Tensor() = default;
  explicit TF_Tensor(headrace::Tensor t) : tensor(std::move(t)) {
    tensor.AllowWrites();  // clients may
  }

  headrace::Tensor tensor;
  // If set, this is the client's value, and `tensor` is unused.
  std::unique_ptr<headrace::c_api::OpaqueBytes> opaque;
  size_t spare = 0;  // extra bytes after the elements that the client asked for
  // True if TF_AllocateTensor allocated the memory. The client may then write
  // it at any time, and need not free it.
  bool is_ours = false;
  // One reference of the client, and one of each tensor that views small data
  // inside this object.
  std::atomic<int> refs{1};
};

struct TF_SessionOptions {
  headrace::pb::ConfigProto config;
  std::string target;
};

// Sessions share the Graph, so the client may delete this handle before them.
struct TF_Graph {
  std::shared_ptr<headrace::Graph> graph = std::make_shared<headrace::Graph>();
  TF_Graph() { graph->TakeAnyName(); }
  // Of the condition and the body of a loop that is being built: the graph it
  // will be in, and its variables' first values there.
  TF_Graph* parent = nullptr;
  std::vector<TF_Output> parent_inputs;
};

struct TF_OperationDescription {
  TF_Graph* graph = nullptr;
  headrace::NodeDef def;
  absl::InlinedVector<headrace::Endpoint, 4> inputs;
  // One entry for each call: the length of a list, or kSingle.
  static constexpr int kSingle = -1;
  absl::InlinedVector<int, 4> calls;
  std::vector<headrace::Node*> control_inputs;
  std::set<std::string> colocation;  // "loc:@name": the attr "_class"
  headrace::Status error;            // the first error
};

struct TF_Function {
  headrace::pb::FunctionDef def;
};

struct TF_ImportGraphDefOptions {
  headrace::ImportOptions options;
};

struct TF_ImportGraphDefResults {
  std::vector<TF_Output> outputs;
  std::vector<TF_Operation*> operations;
  std::vector<std::string> missing_names;
  std::vector<const char*> missing_name_pointers;
  std::vector<int> missing_indexes;
};

struct TF_Session {
  // Shared: the handle of a partial run checks whether the session still
  // exists.
  std::shared_ptr<headrace::Session> session;
};

struct TF_DeprecatedSession {
  std::shared_ptr<headrace::Graph> graph;
  std::shared_ptr<headrace::Session> session;  // as TF_Session's
};

// Shared: the client may delete the handle before the runs that use it end.
struct HR_CancellationManager {
  const std::shared_ptr<headrace::CancellationManager> manager =
      std::make_shared<headrace::CancellationManager>();
};

struct TF_DeviceList {
  std::vector<headrace::DeviceAttributes> devices;
};

struct TF_Library {
  void* handle = nullptr;
  std::string op_list;
};

namespace headrace::c_api {

inline Node* ToNode(TF_Operation* op) { return reinterpret_cast<Node*>(op); }
inline Node* ToNode(const TF_Operation* op) {
  return reinterpret_cast<Node*>(const_cast<TF_Operation*>(op));
}
inline TF_Operation* ToOperation(Node* n) {
  return reinterpret_cast<TF_Operation*>(n);
}
inline TF_Output ToOutput(const Endpoint& e) {
  return {ToOperation(e.node), e.index};
}
// NULL becomes "".
inline absl::string_view Text(const char* s) {
  return s == nullptr ? absl::string_view() : absl::string_view(s);
}
inline DataType ToDataType(TF_DataType t) {
  return static_cast<DataType>(static_cast<int>(t));
}
inline TF_DataType FromDataType(DataType t) {
  return static_cast<TF_DataType>(static_cast<int>(t));
}

// `out` may be null.
void Set(TF_Status* out, Status status);
inline void SetOk(TF_Status* out) { Set(out, OkStatus()); }

// The error for an `o` that is no output of a node, with `what`: OutOfRange if
// the index exceeds the node's outputs, else InvalidArgument.
inline bool IsOutput(const TF_Output& o) {
  return o.oper != nullptr && o.index >= 0 &&
         o.index < ToNode(o.oper)->num_outputs();
}
Status BadOutput(absl::string_view what, const TF_Output& o);

// Parses a message. InvalidArgument, with `what`, if that fails.
Status ParseProto(absl::string_view what, const void* data, size_t length,
                  google::protobuf::MessageLite* proto);
// Writes the serialized `proto` to `out`, which must be empty.
Status ToBuffer(const google::protobuf::MessageLite& proto, TF_Buffer* out);
TF_Buffer* NewBuffer(const google::protobuf::MessageLite& proto);
// Writes bytes that are a message already; `what` names them.
Status BytesToBuffer(absl::string_view what, absl::string_view bytes,
                     TF_Buffer* out);
// The text in memory from malloc, with a NUL behind it; null if there is none.
char* NewText(absl::string_view text);

// True in libtensorflow.so.1: clients see string tensors as offsets and encoded
// characters (string_layout.cc).
extern const bool kOffsetStrings;
// Between these bytes and a tensor of the shape.
Status DecodeStrings(absl::string_view bytes, const TensorShape& shape,
                     Tensor* out);
std::string EncodeStrings(const Tensor& t);

// Converts a client's tensor. InvalidArgument if it is malformed.
Status ReadTensor(const TF_Tensor& t, Tensor* out);
// ResourceExhausted if TF_StringCopy had no memory for one of its strings.
Status CheckStringCopies(const Tensor& t);
// A TF_TSTR_OFFSET is among the elements of a DT_STRING tensor.
bool HasStringsAtOffsets(const Tensor& t);
// Converts a tensor for a client. A resource must be a scalar and becomes the
// bytes that represent it.
Status WrapTensor(Tensor value, TF_Tensor** out);
// Converts all results of a run. On error no output is set.
Status WrapAll(std::vector<Tensor>* values, TF_Tensor** outputs);

// InvalidArgument if `n` is no node of `graph`. The caller holds the graph's
// lock.
Status CheckOwned(const Graph& graph, const Node* n);

// num_dims -1 means unknown rank. InvalidArgument for dims below -1.
Status MakeShape(const int64_t* dims, int num_dims, PartialTensorShape* out);

using FeedList = absl::InlinedVector<Session::Feed, 2>;
using EndpointList = absl::InlinedVector<Endpoint, 4>;
using TargetList = absl::InlinedVector<Node*, 4>;
// Check and convert the arguments of functions that run a session.
Status ReadFeeds(const TF_Output* inputs, TF_Tensor* const* values, int n,
                 FeedList* out);
Status ReadEndpoints(const char* what, const TF_Output* outputs, int n,
                     EndpointList* out);
Status ReadTargets(const TF_Operation* const* operations, int n,
                   TargetList* out);

// Runs by signature and converts the results. This is TF_SessionRun without the
// lookup of endpoints. Outputs are NULL on error.
Status RunAndWrap(Session* session, const TF_Buffer* run_options,
                  absl::Span<const Session::Feed> feeds,
                  absl::Span<const Endpoint> fetches,
                  absl::Span<Node* const> targets, TF_Tensor** outputs,
                  TF_Buffer* run_metadata,
                  HR_CancellationManager* cancellation = nullptr);

// Partial runs. Delete `*handle` with TF_DeletePRunHandle.
Status StartPartialRun(const std::shared_ptr<Session>& session,
                       absl::Span<const Endpoint> feeds,
                       absl::Span<const Endpoint> fetches,
                       absl::Span<Node* const> targets, const char** handle);
Status ContinuePartialRun(Session* session, const char* handle,
                          absl::Span<const Session::Feed> feeds,
                          absl::Span<const Endpoint> fetches,
                          TF_Tensor** outputs,
                          const TF_Buffer* run_options = nullptr,
                          HR_CancellationManager* cancellation = nullptr);

}  // namespace headrace::c_api

#endif  // HEADRACE_C_API_INTERNAL_H_
