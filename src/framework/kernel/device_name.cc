// Parsing, printing and merging of device names.
#include "headrace/device_name.h"

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/strip.h"

namespace headrace {
namespace {

// Cuts a run of characters for which `f` holds off the front of `s`.
template <typename F>
absl::string_view Take(absl::string_view* s, F f) {
  size_t n = 0;
  while (n < s->size() && f((*s)[n])) ++n;
  const absl::string_view taken = s->substr(0, n);
  s->remove_prefix(n);
  return taken;
}

// A letter, then letters, digits and `_`.
bool TakeName(absl::string_view* s, std::string* out) {
  if (s->empty() || !absl::ascii_isalpha((*s)[0])) return false;
  *out = std::string(
      Take(s, [](char c) { return absl::ascii_isalnum(c) || c == '_'; }));
  return true;
}

bool TakeNumber(absl::string_view* s, int* out) {
  return absl::SimpleAtoi(
      Take(s, [](char c) { return absl::ascii_isdigit(c); }), out);
}

// "*" or a number.
bool TakeNumberOrStar(absl::string_view* s, bool* has, int* out) {
  if (absl::ConsumePrefix(s, "*")) {
    *has = false;
    return true;
  }
  *has = true;
  return TakeNumber(s, out);
}

// What follows "device:" and the local form: TYPE, TYPE:ID, TYPE:*, *, *:ID.
bool TakeTypeAndId(absl::string_view* s, DeviceName* d) {
  if (absl::ConsumePrefix(s, "*")) {
    d->has_type = false;
  } else {
    d->has_type = true;
    if (!TakeName(s, &d->type)) return false;
  }
  d->has_id = false;
  return !absl::ConsumePrefix(s, ":") ||
         TakeNumberOrStar(s, &d->has_id, &d->id);
}

// "cpu:" or "GPU:" in one case throughout.
bool TakeLegacyType(absl::string_view* s, DeviceName* d) {
  for (const char* type : {"cpu:", "CPU:", "gpu:", "GPU:"}) {
    if (!absl::ConsumePrefix(s, type)) continue;
    d->has_type = true;
    d->type = absl::AsciiStrToUpper(absl::string_view(type, 3));
    return true;
  }
  return false;
}

bool ParseParts(absl::string_view s, DeviceName* d) {
  if (s == "/") return true;
  if (!s.empty() && s[0] != '/') {  // local
    if (TakeLegacyType(&s, d)) {
      return TakeNumberOrStar(&s, &d->has_id, &d->id) && s.empty();
    }
    return TakeTypeAndId(&s, d) && s.empty();
  }
  while (!s.empty()) {
    bool ok;
    if (absl::ConsumePrefix(&s, "/job:")) {
      d->has_job = !absl::ConsumePrefix(&s, "*");
      ok = !d->has_job || TakeName(&s, &d->job);
    } else if (absl::ConsumePrefix(&s, "/replica:")) {
      ok = TakeNumberOrStar(&s, &d->has_replica, &d->replica);
    } else if (absl::ConsumePrefix(&s, "/task:")) {
      ok = TakeNumberOrStar(&s, &d->has_task, &d->task);
    } else if (absl::ConsumePrefix(&s, "/device:")) {
      ok = TakeTypeAndId(&s, d);
    } else {
      ok = absl::ConsumePrefix(&s, "/") && TakeLegacyType(&s, d) &&
           TakeNumberOrStar(&s, &d->has_id, &d->id);
    }
    if (!ok) return false;
  }
  return true;
}

}  // namespace

Status DeviceName::Parse(absl::string_view s, DeviceName* out) {
  DeviceName d;
  if (!ParseParts(s, &d)) {
    return errors::InvalidArgument(
        "Malformed device specification '", s,
        "'; wanted something like /job:worker/replica:0/task:1/device:GPU:2, "
        "each part optional");
  }
  *out = std::move(d);
  return OkStatus();
}

std::string DeviceName::ToString() const {
  std::string s;
  if (has_job) StrAppend(&s, "/job:", job);
  if (has_replica) StrAppend(&s, "/replica:", replica);
  if (has_task) StrAppend(&s, "/task:", task);
  if (has_type || has_id) {
    StrAppend(&s, "/device:", has_type ? type : "*", ":");
    has_id ? StrAppend(&s, id) : StrAppend(&s, "*");
  }
  return s;
}

bool DeviceName::Matches(const DeviceName& full) const {
  return (!has_job || (full.has_job && job == full.job)) &&
         (!has_replica || (full.has_replica && replica == full.replica)) &&
         (!has_task || (full.has_task && task == full.task)) &&
         (!has_type || (full.has_type && type == full.type)) &&
         (!has_id || (full.has_id && id == full.id));
}

Status DeviceName::Merge(const DeviceName& o, bool allow_soft) {
  const auto conflict = [&](const char* what) {
    return errors::InvalidArgument("Cannot merge devices with incompatible ",
                                   what, ": '", ToString(), "' and '",
                                   o.ToString(), "'");
  };
  if (has_job && o.has_job && job != o.job) return conflict("jobs");
  if (has_replica && o.has_replica && replica != o.replica) {
    return conflict("replicas");
  }
  if (has_task && o.has_task && task != o.task) return conflict("tasks");
  const bool types_differ = has_type && o.has_type && type != o.type;
  const bool ids_differ = has_id && o.has_id && id != o.id;
  if (!allow_soft) {
    if (types_differ) return conflict("types");
    if (ids_differ) return conflict("ids");
  }
  if (o.has_job) has_job = true, job = o.job;
  if (o.has_replica) has_replica = true, replica = o.replica;
  if (o.has_task) has_task = true, task = o.task;
  if (types_differ) {
    has_type = has_id = false;
  } else {
    if (o.has_type) has_type = true, type = o.type;
    if (ids_differ) {
      has_id = false;
    } else if (o.has_id) {
      has_id = true, id = o.id;
    }
  }
  if (!has_type) type.clear();
  if (!has_id) id = 0;
  return OkStatus();
}

}  // namespace headrace
