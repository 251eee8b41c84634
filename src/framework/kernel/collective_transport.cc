#include "framework/kernel/collective_transport.h"

#include <dlfcn.h>

#include <algorithm>
#include <map>
#include <utility>

#include "absl/strings/ascii.h"
#include "base/own_folder.h"
#include "headrace/mutex.h"
#include "headrace/strings.h"

namespace headrace {
namespace {

Mutex mu;
std::map<std::string, CollectiveTransportFactory>& Factories() REQUIRES(mu) {
  static auto* const factories =
      new std::map<std::string, CollectiveTransportFactory>;
  return *factories;
}

CollectiveTransportFactory Find(const std::string& name) {
  MutexLock lock(&mu);
  const auto it = Factories().find(name);
  return it == Factories().end() ? nullptr : it->second;
}

}  // namespace

void RegisterCollectiveTransport(const std::string& name,
                                 CollectiveTransportFactory factory) {
  MutexLock lock(&mu);
  Factories()[name] = factory;
}

StatusOr<std::unique_ptr<CollectiveTransport>> NewCollectiveTransport(
    const std::string& name, const std::string& task,
    CollectiveTransport::Serve serve) {
  CollectiveTransportFactory factory = Find(name);
  if (factory == nullptr) {
    // The name becomes that of a file.
    if (name.empty() || !std::all_of(name.begin(), name.end(), [](char c) {
          return absl::ascii_isalnum(static_cast<unsigned char>(c));
        })) {
      return errors::InvalidArgument("'", name, "' is no transport");
    }
    const std::string path = StrCat(OwnFolder(), "libheadrace_", name, ".so");
    if (dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL) == nullptr) {
      const char* const why = dlerror();
      return errors::Unimplemented(
          "collective ops over '", name, "' need libheadrace_", name,
          ".so: ", why == nullptr ? "it cannot be loaded" : why);
    }
    factory = Find(name);
    if (factory == nullptr) {
      return errors::Internal(path, " registers no transport '", name, "'");
    }
  }
  return factory(task, std::move(serve));
}

}  // namespace headrace
