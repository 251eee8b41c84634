#include "framework/op/message_util.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

#ifndef HEADRACE_LITE_MESSAGES
#include <google/protobuf/io/tokenizer.h>
#include <google/protobuf/text_format.h>
#include <google/protobuf/util/message_differencer.h>
#endif

#include "absl/strings/str_replace.h"

namespace headrace {

#ifdef HEADRACE_LITE_MESSAGES

Status MessageFromText(absl::string_view text, AnyMessage* out) {
  return errors::Unimplemented(
      "a library of few ops reads no messages in text format; give their "
      "bytes");
}

std::string MessageToText(const AnyMessage& message) { return std::string(); }

bool MessagesEqual(const AnyMessage& a, const AnyMessage& b) {
  return DeterministicBytes(a) == DeterministicBytes(b);
}

#else

namespace {

// Parsing recurses.
constexpr int kMaxNesting = 100;

// Keeps the first error with its place.
class FirstError : public google::protobuf::io::ErrorCollector {
 public:
  void AddError(int line, int column, const std::string& message) override {
    if (!text_.empty()) return;
    // Users know the messages by TensorFlow's names.
    text_ =
        StrCat("line ", line + 1, ", column ", column + 1, ": ",
               absl::StrReplaceAll(message, {{"headrace.pb.", "tensorflow."}}));
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

}  // namespace

Status MessageFromText(absl::string_view text, AnyMessage* out) {
  FirstError error;
  google::protobuf::TextFormat::Parser parser;
  parser.RecordErrorsTo(&error);
  parser.SetRecursionLimit(kMaxNesting);
  google::protobuf::io::ArrayInputStream in(text.data(),
                                            static_cast<int>(text.size()));
  if (parser.Parse(&in, out)) return OkStatus();
  return errors::InvalidArgument(error.text());
}

std::string MessageToText(const AnyMessage& message) {
  return message.DebugString();
}

bool MessagesEqual(const AnyMessage& a, const AnyMessage& b) {
  return google::protobuf::util::MessageDifferencer::Equals(a, b);
}

#endif

std::string DeterministicBytes(const google::protobuf::MessageLite& message) {
  std::string bytes;
  google::protobuf::io::StringOutputStream stream(&bytes);
  google::protobuf::io::CodedOutputStream coded(&stream);
  coded.SetSerializationDeterministic(true);
  message.SerializeToCodedStream(&coded);
  coded.Trim();
  return bytes;
}

}  // namespace headrace
