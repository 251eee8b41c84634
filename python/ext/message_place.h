// Where the message is that a Python object stands for, and how long it lives.
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

// A message is by itself (a root), an element of a repeated field, a field of a
// parent that may not be set yet, or the value under a key of a parent's map.
// All places in one root share its arena, and keep it.
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

  // A GraphDef that has not been made a message yet.
  struct Unread {
    nb::bytes bytes;
    GraphDefParts parts;
  };
  // Of a root: instead of what is there.
  void SetUnread(std::unique_ptr<Unread> unread);
  const Unread* unread() const { return unread_.get(); }

  // The default message where the parent has none; the mutable one is set in
  // its parent by being asked for.
  const google::protobuf::Message& get() const;
  google::protobuf::Message* mutable_message();

 private:
  void Read() const;

  std::shared_ptr<google::protobuf::Arena> arena_;
  const google::protobuf::Message* prototype_ = nullptr;
  // Null: found through the parent each time.
  google::protobuf::Message* message_ = nullptr;
  std::shared_ptr<MessagePlace> parent_;
  const google::protobuf::FieldDescriptor* field_ = nullptr;
  bool in_map_ = false;
  std::string key_;
  bool is_root_ = false;
  mutable std::unique_ptr<Unread> unread_;  // what message_ is to be read from
};

// The number of the entry with this key (as text) in a map; -1 if there is
// none.
int FindMapEntry(const google::protobuf::Message& m,
                 const google::protobuf::FieldDescriptor* map,
                 const std::string& key);

[[noreturn]] void RaiseParseError(const google::protobuf::Descriptor* type);

// What Python's messages hold.
struct PyMessage {
  std::shared_ptr<MessagePlace> place;
};
// A Python object of the class of the place's type.
nb::object Wrap(std::shared_ptr<MessagePlace> place);

}  // namespace headrace::python

#endif  // HEADRACE_PYTHON_EXT_MESSAGE_PLACE_H_
