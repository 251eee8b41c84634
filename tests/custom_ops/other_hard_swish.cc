// An op with the name of hard_swish.cc's, and another signature.
#include "headrace/op.h"

namespace headrace {
namespace {
REGISTER_OP("TestHardSwish").Input("other: int32");
}  // namespace
}  // namespace headrace
