// Protobuf messages for Python, through C++ reflection: attribute access,
// repeated fields, maps, and the methods of protobuf's own Python classes. Each
// message type has one Python class, created at its first use. Enum values and
// nested types are attributes of that class.
//
// Each message lives on an arena. All Python objects for parts of a message
// share its arena, so an object for a part stays valid when the whole is
// dropped.
//
// A large GraphDef is not parsed into messages until its contents are read.
// import_graph_def reads the bytes directly.
//
// Call everything here with the GIL held.
#ifndef HEADRACE_PYTHON_EXT_MESSAGE_H_
#define HEADRACE_PYTHON_EXT_MESSAGE_H_

#include <google/protobuf/message.h>
#include <nanobind/nanobind.h>

#include "graph/graph_def_reader.h"

namespace headrace::python {

namespace nb = nanobind;

// Null if `o` is no message. AsMutableMessage marks the message as set in its
// parent.
const google::protobuf::Message* AsMessage(nb::handle o);
google::protobuf::Message* AsMutableMessage(nb::handle o);

// The message as type M. Raises TypeError, with `what`, if it has another type.
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

// The nodes of a large GraphDef whose contents nobody has read since it was
// parsed. Null for any other object.
const GraphDefParts* UnreadGraphDef(nb::handle o);

// Creates an empty message of the type. Write to `*message`.
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
