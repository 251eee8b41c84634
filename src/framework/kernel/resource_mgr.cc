#include "headrace/resource_mgr.h"

#include <vector>

namespace headrace {
namespace {
std::string Where(absl::string_view container, absl::string_view name) {
  return absl::StrCat(container, "/", name);
}
}  // namespace

ResourceMgr::ResourceMgr(std::string default_container)
    : default_container_(std::move(default_container)) {}
ResourceMgr::~ResourceMgr() { Clear(); }

Status ResourceMgr::DoCreate(absl::string_view container,
                             const std::type_info& type, absl::string_view name,
                             RefPtr<ResourceBase> resource) {
  MutexLock lock(&mu_);
  auto [it, added] = containers_[std::string(container)].try_emplace(
      Key(type.hash_code(), std::string(name)), std::move(resource));
  if (!added) {
    return errors::AlreadyExists("Resource ", Where(container, name), "/",
                                 type.name(), " already exists");
  }
  return OkStatus();
}

Status ResourceMgr::DoLookup(absl::string_view container,
                             const std::type_info& type, absl::string_view name,
                             RefPtr<ResourceBase>* out) const {
  MutexLock lock(&mu_);
  auto c = containers_.find(std::string(container));
  if (c == containers_.end()) {
    return errors::NotFound("Container ", container,
                            " does not exist. (Could not find resource: ",
                            Where(container, name), ")");
  }
  auto r = c->second.find(Key(type.hash_code(), std::string(name)));
  if (r == c->second.end()) {
    return errors::NotFound("Resource ", Where(container, name), "/",
                            type.name(), " does not exist.");
  }
  *out = r->second;
  return OkStatus();
}

Status ResourceMgr::DoLookupOrCreate(
    absl::string_view container, const std::type_info& type,
    absl::string_view name, RefPtr<ResourceBase>* out,
    const std::function<Status(RefPtr<ResourceBase>*)>& creator) {
  const Key key(type.hash_code(), std::string(name));
  MutexLock lock(&mu_);
  Container& resources = containers_[std::string(container)];
  auto r = resources.find(key);
  if (r == resources.end()) {
    // The table changes only when there is a resource: `creator` may throw.
    RefPtr<ResourceBase> made;
    HR_RETURN_IF_ERROR(creator(&made));
    if (made == nullptr) {
      return errors::Internal("Resource ", Where(container, name), "/",
                              type.name(), " was created as null");
    }
    r = resources.emplace(key, std::move(made)).first;
  }
  *out = r->second;
  return OkStatus();
}

Status ResourceMgr::DoDelete(absl::string_view container,
                             const std::type_info& type,
                             absl::string_view name) {
  ResourceHandle h;
  h.container = std::string(container);
  h.name = std::string(name);
  h.hash_code = type.hash_code();
  return Delete(h);
}

Status ResourceMgr::Delete(const ResourceHandle& h) {
  RefPtr<ResourceBase> gone;  // destroyed outside the lock
  {
    MutexLock lock(&mu_);
    auto c = containers_.find(h.container);
    if (c == containers_.end()) {
      return errors::NotFound("Container ", h.container, " does not exist.");
    }
    auto r = c->second.find(Key(h.hash_code, h.name));
    if (r == c->second.end()) {
      return errors::NotFound("Resource ", Where(h.container, h.name),
                              " does not exist.");
    }
    gone = std::move(r->second);
    c->second.erase(r);
  }
  return OkStatus();
}

Status ResourceMgr::Lookup(const ResourceHandle& h, RefPtr<ResourceBase>* out) {
  MutexLock lock(&mu_);
  auto c = containers_.find(h.container);
  if (c != containers_.end()) {
    auto r = c->second.find(Key(h.hash_code, h.name));
    if (r != c->second.end()) {
      *out = r->second;
      return OkStatus();
    }
  }
  return errors::NotFound("Resource ", Where(h.container, h.name),
                          " does not exist.");
}

void ResourceMgr::Cleanup(absl::string_view container) {
  Container gone;
  MutexLock lock(&mu_);
  auto c = containers_.find(std::string(container));
  if (c == containers_.end()) return;
  gone = std::move(c->second);
  containers_.erase(c);
}

void ResourceMgr::Clear() {
  absl::flat_hash_map<std::string, Container> gone;
  {
    MutexLock lock(&mu_);
    gone.swap(containers_);
  }
}

void ResourceMgr::ForEach(
    const std::function<void(const std::string&, const std::string&,
                             ResourceBase*)>& fn) const {
  struct Item {
    std::string container, name;
    RefPtr<ResourceBase> resource;
  };
  std::vector<Item> items;
  {
    MutexLock lock(&mu_);
    for (const auto& [container, resources] : containers_) {
      for (const auto& [key, r] : resources) {
        items.push_back({container, key.second, r});
      }
    }
  }
  for (const Item& i : items) fn(i.container, i.name, i.resource.get());
}

}  // namespace headrace
