// Protobuf messages for Python, through C++ reflection: attribute access,
// repeated fields, maps, and the methods that protobuf's own Python classes
// have. There is one Python class for each message type, made when first asked
// for; enum values and nested types are attributes of it.
//
// Every message lives on an arena that all objects reaching into it share, so
// an object for a part stays valid whatever happens to the whole.
//
// A large GraphDef is not taken apart when it is parsed, but when it is first
// looked into: import_graph_def reads its bytes where they are.
#ifndef HEADRACE_PYTHON_EXT_MESSAGE_H_
#define HEADRACE_PYTHON_EXT_MESSAGE_H_

#include <google/protobuf/message.h>
#include <nanobind/nanobind.h>

#include "graph/graph_def_reader.h"

namespace headrace::python {

namespace nb = nanobind;

// Null if `o` is no message. The mutable one counts as set in its parent.
const google::protobuf::Message* AsMessage(nb::handle o);
google::protobuf::Message* AsMutableMessage(nb::handle o);

// As a particular type; raises TypeError naming `what` if it is another.
template <typename M>
const M& MessageAs(nb::handle o, const char* what);
template <typename M>
M* MutableMessageAs(nb::handle o, const char* what);
void CheckMessageType(const google::protobuf::Message* m,
                      const google::protobuf::Descriptor* wanted, nb::handle o,
                      const char* what);

template <typename M>
const M& MessageAs(nb::handle o, const char* what) {
  const google::protobuf::Message* m = AsMessage(o);
  CheckMessageType(m, M::descriptor(), o, what);
  return *static_cast<const M*>(m);
}
template <typename M>
M* MutableMessageAs(nb::handle o, const char* what) {
  google::protobuf::Message* m = AsMutableMessage(o);
  CheckMessageType(m, M::descriptor(), o, what);
  return static_cast<M*>(m);
}

// The nodes of a large GraphDef that nobody has looked into since it was
// parsed; null otherwise.
const GraphDefParts* UnreadGraphDef(nb::handle o);

// An empty message of the type; `*message` is where to write.
nb::object NewMessage(const google::protobuf::Descriptor* type,
                      google::protobuf::Message** message);
template <typename M>
nb::object NewMessage(M** message) {
  google::protobuf::Message* m = nullptr;
  nb::object o = NewMessage(M::descriptor(), &m);
  *message = static_cast<M*>(m);
  return o;
}

void RegisterMessages(nb::module_& m);

}  // namespace headrace::python

#endif  // HEADRACE_PYTHON_EXT_MESSAGE_H_
