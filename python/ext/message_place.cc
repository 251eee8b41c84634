#include "message_place.h"

#include <google/protobuf/descriptor.h>

#include "py_support.h"

namespace headrace::python {

using google::protobuf::Arena;
using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::MessageFactory;
using google::protobuf::Reflection;

namespace {

const Message* Prototype(const Descriptor* type) {
  return MessageFactory::generated_factory()->GetPrototype(type);
}

std::string EntryKey(const Message& entry) {
  const FieldDescriptor* f = entry.GetDescriptor()->FindFieldByNumber(1);
  const Reflection* r = entry.GetReflection();
  switch (f->cpp_type()) {
    case FieldDescriptor::CPPTYPE_STRING:
      return r->GetString(entry, f);
    case FieldDescriptor::CPPTYPE_INT32:
      return StrCat(r->GetInt32(entry, f));
    case FieldDescriptor::CPPTYPE_INT64:
      return StrCat(r->GetInt64(entry, f));
    case FieldDescriptor::CPPTYPE_UINT32:
      return StrCat(r->GetUInt32(entry, f));
    case FieldDescriptor::CPPTYPE_UINT64:
      return StrCat(r->GetUInt64(entry, f));
    default:
      return r->GetBool(entry, f) ? "True" : "False";
  }
}

void SetEntryKey(Message* entry, const std::string& key) {
  const FieldDescriptor* f = entry->GetDescriptor()->FindFieldByNumber(1);
  const Reflection* r = entry->GetReflection();
  switch (f->cpp_type()) {
    case FieldDescriptor::CPPTYPE_STRING:
      return r->SetString(entry, f, key);
    case FieldDescriptor::CPPTYPE_INT32:
      return r->SetInt32(entry, f, static_cast<int32_t>(std::stoll(key)));
    case FieldDescriptor::CPPTYPE_INT64:
      return r->SetInt64(entry, f, std::stoll(key));
    case FieldDescriptor::CPPTYPE_UINT32:
      return r->SetUInt32(entry, f, static_cast<uint32_t>(std::stoull(key)));
    case FieldDescriptor::CPPTYPE_UINT64:
      return r->SetUInt64(entry, f, std::stoull(key));
    default:
      return r->SetBool(entry, f, key == "True");
  }
}

}  // namespace

int FindMapEntry(const Message& m, const FieldDescriptor* map,
                 const std::string& key) {
  const Reflection* r = m.GetReflection();
  for (int i = 0; i < r->FieldSize(m, map); ++i) {
    if (EntryKey(r->GetRepeatedMessage(m, map, i)) == key) return i;
  }
  return -1;
}

void RaiseParseError(const Descriptor* type) {
  RaiseStatus(errors::DataLoss("Error parsing message of type ", type->name()),
              nb::none());
}

std::shared_ptr<MessagePlace> MessagePlace::Root(const Descriptor* type) {
  auto p = std::make_shared<MessagePlace>();
  p->arena_ = std::make_shared<Arena>();
  p->prototype_ = Prototype(type);
  p->message_ = p->prototype_->New(p->arena_.get());
  p->is_root_ = true;
  return p;
}

std::shared_ptr<MessagePlace> MessagePlace::At(Message* element) const {
  auto p = std::make_shared<MessagePlace>();
  p->arena_ = arena_;
  p->prototype_ = Prototype(element->GetDescriptor());
  p->message_ = element;
  return p;
}

std::shared_ptr<MessagePlace> MessagePlace::Field(
    const FieldDescriptor* field) {
  auto p = std::make_shared<MessagePlace>();
  p->arena_ = arena_;
  p->prototype_ = Prototype(field->message_type());
  p->parent_ = shared_from_this();
  p->field_ = field;
  return p;
}

std::shared_ptr<MessagePlace> MessagePlace::MapValue(const FieldDescriptor* map,
                                                     std::string key) {
  auto p = Field(map);
  p->prototype_ =
      Prototype(map->message_type()->FindFieldByNumber(2)->message_type());
  p->key_ = std::move(key);
  p->in_map_ = true;
  return p;
}

void MessagePlace::SetUnread(std::unique_ptr<Unread> unread) {
  message_->Clear();
  unread_ = std::move(unread);
}

const Message& MessagePlace::get() const {
  if (unread_ != nullptr) Read();
  if (message_ != nullptr) return *message_;
  const Message& parent = parent_->get();
  const Reflection* r = parent.GetReflection();
  if (!in_map_) {
    return r->HasField(parent, field_) ? r->GetMessage(parent, field_)
                                       : *prototype_;
  }
  const int at = FindMapEntry(parent, field_, key_);
  if (at < 0) return *prototype_;
  const Message& entry = r->GetRepeatedMessage(parent, field_, at);
  return entry.GetReflection()->GetMessage(
      entry, entry.GetDescriptor()->FindFieldByNumber(2));
}

Message* MessagePlace::mutable_message() {
  if (unread_ != nullptr) Read();
  if (message_ != nullptr) return message_;
  Message* parent = parent_->mutable_message();
  const Reflection* r = parent->GetReflection();
  if (!in_map_) return r->MutableMessage(parent, field_);
  const int at = FindMapEntry(*parent, field_, key_);
  Message* entry = at >= 0 ? r->MutableRepeatedMessage(parent, field_, at)
                           : r->AddMessage(parent, field_);
  if (at < 0) SetEntryKey(entry, key_);
  return entry->GetReflection()->MutableMessage(
      entry, entry->GetDescriptor()->FindFieldByNumber(2));
}

void MessagePlace::Read() const {
  const std::unique_ptr<Unread> unread = std::move(unread_);
  if (!message_->ParseFromArray(unread->bytes.c_str(),
                                static_cast<int>(unread->bytes.size()))) {
    RaiseParseError(message_->GetDescriptor());
  }
}

}  // namespace headrace::python
