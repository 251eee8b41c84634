// Where the message behind a Python object is, and how long it lives. Call
// everything here with the GIL held.
#ifndef HEADRACE_PYTHON_EXT_MESSAGE_PLACE_H_
#define HEADRACE_PYTHON_EXT_MESSAGE_PLACE_H_

#include <google/protobuf/arena.h>
#include <google/protobuf/message.h>
#include <nanobind/nanobind.h>

#include <memory>
#include <string>

#include "graph/graph_def_reader.h"

namespace headrace::python {

namespace nb = nanobind;

// A message is one of these: a root, an element of a repeated field, a field of
// a parent (perhaps not set yet), or the value of a key in a parent's map. All
// places in one root share its arena and keep it alive.
class MessagePlace : public std::enable_shared_from_this<MessagePlace> {
 public:
  static std::shared_ptr<MessagePlace> Root(
      const google::protobuf::Descriptor* type);
  std::shared_ptr<MessagePlace> At(google::protobuf::Message* element) const;
  std::shared_ptr<MessagePlace> Field(
      const google::protobuf::FieldDescriptor* field);
  std::shared_ptr<MessagePlace> MapValue(
      const google::protobuf::FieldDescriptor* map, std::string key);

  const google::protobuf::Descriptor* type() const {
    return prototype_->GetDescriptor();
  }
  bool is_root() const { return is_root_; }

  // The bytes of a GraphDef that is not parsed yet.
  struct Unread {
    nb::bytes bytes;
    GraphDefParts parts;
  };
  // For a root: these bytes replace the message.
  void SetUnread(std::unique_ptr<Unread> unread);
  const Unread* unread() const { return unread_.get(); }

  // get() returns the default message if the parent has none. mutable_message()
  // sets the message in its parent.
  const google::protobuf::Message& get() const;
  google::protobuf::Message* mutable_message();

 private:
  void Read() const;

  std::shared_ptr<google::protobuf::Arena> arena_;
  const google::protobuf::Message* prototype_ = nullptr;
  // Null: looked up through the parent at each use.
  google::protobuf::Message* message_ = nullptr;
  std::shared_ptr<MessagePlace> parent_;
  const google::protobuf::FieldDescriptor* field_ = nullptr;
  bool in_map_ = false;
  std::string key_;
  bool is_root_ = false;
  mutable std::unique_ptr<Unread> unread_;  // the bytes of message_
};

// The index of the entry with this key (as text) in a map; -1 if there is none.
int FindMapEntry(const google::protobuf::Message& m,
                 const google::protobuf::FieldDescriptor* map,
                 const std::string& key);

[[noreturn]] void RaiseParseError(const google::protobuf::Descriptor* type);

// The contents of a Python message object.
struct PyMessage {
  std::shared_ptr<MessagePlace> place;
};
// Creates a Python object of the class for the place's type.
nb::object Wrap(std::shared_ptr<MessagePlace> place);

}  // namespace headrace::python

#endif  // HEADRACE_PYTHON_EXT_MESSAGE_PLACE_H_
