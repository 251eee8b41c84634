// Messages as text, and their bytes in a fixed order.
//
// The messages of a library of few ops (HEADRACE_OPS) have no descriptors, so
// it neither reads nor writes text: reading is Unimplemented.
#ifndef HEADRACE_FRAMEWORK_OP_MESSAGE_UTIL_H_
#define HEADRACE_FRAMEWORK_OP_MESSAGE_UTIL_H_

#include <google/protobuf/message.h>

#include <string>

#include "headrace/status.h"
#include "headrace/strings.h"

namespace headrace {

#ifdef HEADRACE_LITE_MESSAGES
inline constexpr bool kHasMessageText = false;
using AnyMessage = google::protobuf::MessageLite;
#else
inline constexpr bool kHasMessageText = true;
using AnyMessage = google::protobuf::Message;
#endif

// Reads protobuf's text format. InvalidArgument has line and column of the
// first error, and messages under TensorFlow's names. A message nested deeper
// than 100 is refused.
Status MessageFromText(absl::string_view text, AnyMessage* out);

// "" in a library of few ops.
std::string MessageToText(const AnyMessage& message);

// True if all fields are equal, in maps in any order; a NaN equals nothing. In
// a library of few ops: if the bytes are.
bool MessagesEqual(const AnyMessage& a, const AnyMessage& b);

// Equal messages have equal bytes: maps are sorted by key.
std::string DeterministicBytes(const google::protobuf::MessageLite& message);

}  // namespace headrace

#endif  // HEADRACE_FRAMEWORK_OP_MESSAGE_UTIL_H_
