// TF_ApiDefMap: an ApiDef for each op, which texts change.
#include <map>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "c_api/internal.h"
#include "framework/op/message_util.h"
#include "headrace/api_def.pb.h"
#include "headrace/op_def.pb.h"

using headrace::Mutex;
using headrace::MutexLock;
using headrace::OkStatus;
using headrace::Status;
using namespace headrace::c_api;  // NOLINT: our own few helpers
namespace errors = headrace::errors;
namespace pb = headrace::pb;

struct TF_ApiDefMap {
  Mutex mu;
  std::map<std::string, pb::ApiDef, std::less<>> defs GUARDED_BY(mu);
  bool was_read GUARDED_BY(mu) = false;
};

namespace {

// What an op's own definition says.
pb::ApiDef DefaultApiDef(const pb::OpDef& op) {
  pb::ApiDef api;
  api.set_graph_op_name(op.name());
  api.set_visibility(pb::ApiDef::VISIBLE);
  api.add_endpoint()->set_name(op.name());
  for (const pb::OpDef::ArgDef& arg : op.input_arg()) {
    pb::ApiDef::Arg* const in = api.add_in_arg();
    in->set_name(arg.name());
    in->set_rename_to(arg.name());
    in->set_description(arg.description());
    api.add_arg_order(arg.name());
  }
  for (const pb::OpDef::ArgDef& arg : op.output_arg()) {
    pb::ApiDef::Arg* const out = api.add_out_arg();
    out->set_name(arg.name());
    out->set_rename_to(arg.name());
    out->set_description(arg.description());
  }
  for (const pb::OpDef::AttrDef& attr : op.attr()) {
    pb::ApiDef::Attr* const a = api.add_attr();
    a->set_name(attr.name());
    a->set_rename_to(attr.name());
    if (attr.has_default_value()) {
      *a->mutable_default_value() = attr.default_value();
    }
    a->set_description(attr.description());
  }
  api.set_summary(op.summary());
  api.set_description(op.description());
  return api;
}

// `x: <<END`, lines and `END` become x: "lines". InvalidArgument if a text has
// no end.
Status QuoteTexts(absl::string_view text, std::string* out) {
  const std::vector<absl::string_view> lines = absl::StrSplit(text, '\n');
  for (size_t i = 0; i < lines.size(); ++i) {
    const size_t colon = lines[i].find(':');
    const absl::string_view value = absl::StripAsciiWhitespace(
        colon == lines[i].npos ? "" : lines[i].substr(colon + 1));
    if (!absl::StartsWith(value, "<<") || value.size() == 2) {
      absl::StrAppend(out, lines[i], "\n");
      continue;
    }
    const absl::string_view end = value.substr(2);
    std::string quoted;
    const size_t begin = i++;
    while (i < lines.size() && !absl::StartsWith(lines[i], end)) {
      absl::StrAppend(&quoted, quoted.empty() ? "" : "\n", lines[i++]);
    }
    if (i == lines.size()) {
      return errors::InvalidArgument("line ", begin + 1,
                                     ": no line begins with ", end,
                                     ", which ends the text");
    }
    absl::StrAppend(out, lines[begin].substr(0, colon), ": \"",
                    absl::CEscape(quoted), "\"", lines[i].substr(end.size()),
                    "\n");
  }
  return OkStatus();
}

// Puts `change` into `def`, as TensorFlow's generators do: endpoints and the
// order of arguments are replaced, arguments and attrs changed by name.
template <typename Items>
Status MergeNamed(const Items& changes, const char* kind, const std::string& op,
                  Items* items) {
  for (const auto& change : changes) {
    auto it = std::find_if(items->begin(), items->end(), [&](const auto& item) {
      return item.name() == change.name();
    });
    if (it == items->end()) {
      return errors::FailedPrecondition(kind, " ", change.name(),
                                        " not defined in op ", op);
    }
    if (!change.rename_to().empty()) it->set_rename_to(change.rename_to());
    if (!change.description().empty()) {
      it->set_description(change.description());
    }
    if constexpr (requires { it->mutable_default_value(); }) {
      if (change.has_default_value()) {
        *it->mutable_default_value() = change.default_value();
      }
    }
  }
  return OkStatus();
}

Status MergeApiDef(const pb::ApiDef& change, pb::ApiDef* def) {
  const std::string& op = def->graph_op_name();
  if (change.visibility() != pb::ApiDef::DEFAULT_VISIBILITY) {
    def->set_visibility(change.visibility());
  }
  if (!change.deprecation_message().empty()) {
    def->set_deprecation_message(change.deprecation_message());
  }
  if (change.endpoint_size() > 0) {
    *def->mutable_endpoint() = change.endpoint();
  }
  HR_RETURN_IF_ERROR(
      MergeNamed(change.in_arg(), "Argument", op, def->mutable_in_arg()));
  HR_RETURN_IF_ERROR(MergeNamed(change.out_arg(), "Output argument", op,
                                def->mutable_out_arg()));
  HR_RETURN_IF_ERROR(
      MergeNamed(change.attr(), "Attribute", op, def->mutable_attr()));
  if (change.arg_order_size() > 0) {
    if (change.arg_order_size() != def->arg_order_size() ||
        !std::is_permutation(change.arg_order().begin(),
                             change.arg_order().end(),
                             def->arg_order().begin())) {
      return errors::FailedPrecondition(
          "Invalid arg_order for op ", op, ": got ", change.arg_order_size(),
          " names, wanted the ", def->arg_order_size(), " names of its inputs");
    }
    *def->mutable_arg_order() = change.arg_order();
  }
  if (!change.summary().empty()) def->set_summary(change.summary());
  if (!change.description().empty()) {
    def->set_description(change.description());
  }
  if (!change.description_prefix().empty()) {
    def->set_description(def->description().empty()
                             ? change.description_prefix()
                             : absl::StrCat(change.description_prefix(), "\n",
                                            def->description()));
  }
  if (!change.description_suffix().empty()) {
    def->set_description(def->description().empty()
                             ? change.description_suffix()
                             : absl::StrCat(def->description(), "\n",
                                            change.description_suffix()));
  }
  return OkStatus();
}

Status PutApiDefs(TF_ApiDefMap* map, const char* text, size_t length) {
  if (map == nullptr || (text == nullptr && length > 0)) {
    return errors::InvalidArgument("TF_ApiDefMapPut: the ",
                                   map == nullptr ? "map" : "text", " is NULL");
  }
  MutexLock lock(&map->mu);
  if (map->was_read) {
    return errors::FailedPrecondition(
        "TF_ApiDefMapPut cannot be called after TF_ApiDefMapGet has been "
        "called.");
  }
  std::string quoted;
  HR_RETURN_IF_ERROR(QuoteTexts(absl::string_view(text, length), &quoted));
  pb::ApiDefs changes;
  if (const Status s = headrace::MessageFromText(quoted, &changes); !s.ok()) {
    return Status(
        s.code(),
        absl::StrCat("TF_ApiDefMapPut: no text of ApiDefs: ", s.message()));
  }
  // Into copies first, so that an error changes nothing.
  std::map<std::string, pb::ApiDef, std::less<>> changed;
  for (const pb::ApiDef& change : changes.op()) {
    const auto it = map->defs.find(change.graph_op_name());
    if (it == map->defs.end()) continue;
    pb::ApiDef& def = changed.emplace(it->first, it->second).first->second;
    HR_RETURN_IF_ERROR(MergeApiDef(change, &def));
  }
  for (auto& [name, def] : changed) map->defs[name] = std::move(def);
  return OkStatus();
}

}  // namespace

TF_ApiDefMap* TF_NewApiDefMap(TF_Buffer* op_list_buffer, TF_Status* status) {
  if (op_list_buffer == nullptr) {
    Set(status, errors::InvalidArgument("TF_NewApiDefMap: the list is NULL"));
    return nullptr;
  }
  pb::OpList ops;
  const Status s = ParseProto("TF_NewApiDefMap", op_list_buffer->data,
                              op_list_buffer->length, &ops);
  Set(status, s);
  if (!s.ok()) return nullptr;
  auto* const map = new TF_ApiDefMap;
  MutexLock lock(&map->mu);
  for (const pb::OpDef& op : ops.op()) map->defs[op.name()] = DefaultApiDef(op);
  return map;
}

void TF_DeleteApiDefMap(TF_ApiDefMap* apimap) { delete apimap; }

void TF_ApiDefMapPut(TF_ApiDefMap* api_def_map, const char* text,
                     size_t text_len, TF_Status* status) {
  Set(status, PutApiDefs(api_def_map, text, text_len));
}

TF_Buffer* TF_ApiDefMapGet(TF_ApiDefMap* api_def_map, const char* name,
                           size_t name_len, TF_Status* status) {
  if (api_def_map == nullptr || (name == nullptr && name_len > 0)) {
    Set(status, errors::InvalidArgument("TF_ApiDefMapGet: the ",
                                        api_def_map == nullptr ? "map" : "name",
                                        " is NULL"));
    return nullptr;
  }
  SetOk(status);
  MutexLock lock(&api_def_map->mu);
  api_def_map->was_read = true;
  const auto it = api_def_map->defs.find(absl::string_view(name, name_len));
  return it == api_def_map->defs.end() ? nullptr : NewBuffer(it->second);
}
