// ResourceMgr: state that outlives a step, by container, name and C++ type.
//
// Thread-safe. A look-up returns a reference, so a resource that is deleted
// here lives on until its last user drops it.
#ifndef HEADRACE_RESOURCE_MGR_H_
#define HEADRACE_RESOURCE_MGR_H_

#include <functional>
#include <string>
#include <typeindex>
#include <typeinfo>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "headrace/mutex.h"
#include "headrace/ref_count.h"
#include "headrace/resource_handle.h"
#include "headrace/status.h"

namespace headrace {

class ResourceMgr {
 public:
  explicit ResourceMgr(std::string default_container = "localhost");
  ~ResourceMgr();

  const std::string& default_container() const { return default_container_; }

  // Takes over the caller's reference. AlreadyExists if the name is taken.
  template <typename T>
  Status Create(absl::string_view container, absl::string_view name,
                RefPtr<T> resource) {
    return DoCreate(container, typeid(T), name, std::move(resource));
  }
  // NotFound if there is no resource of that name and type.
  template <typename T>
  Status Lookup(absl::string_view container, absl::string_view name,
                RefPtr<T>* out) {
    RefPtr<ResourceBase> r;
    HR_RETURN_IF_ERROR(DoLookup(container, typeid(T), name, &r));
    *out = RefPtr<T>::NewRef(static_cast<T*>(r.get()));
    return OkStatus();
  }
  // Calls `creator` if there is no such resource. `creator` runs under the
  // manager's lock and must not call the manager.
  template <typename T>
  Status LookupOrCreate(absl::string_view container, absl::string_view name,
                        RefPtr<T>* out,
                        const std::function<Status(RefPtr<T>*)>& creator) {
    RefPtr<ResourceBase> r;
    HR_RETURN_IF_ERROR(DoLookupOrCreate(container, typeid(T), name, &r,
                                        [&](RefPtr<ResourceBase>* made) {
                                          RefPtr<T> t;
                                          HR_RETURN_IF_ERROR(creator(&t));
                                          *made = std::move(t);
                                          return OkStatus();
                                        }));
    *out = RefPtr<T>::NewRef(static_cast<T*>(r.get()));
    return OkStatus();
  }
  template <typename T>
  Status Delete(absl::string_view container, absl::string_view name) {
    return DoDelete(container, typeid(T), name);
  }
  // Deletes by the handle's type, as DestroyResourceOp does.
  Status Delete(const ResourceHandle& handle);
  // For callers that do not know the handle's type statically.
  Status Lookup(const ResourceHandle& handle, RefPtr<ResourceBase>* out);

  // Drops a container and its contents. Does nothing for an unknown container.
  void Cleanup(absl::string_view container);
  // Drops all containers.
  void Clear();
  // Calls `fn` for each resource, for reports and checkpoints of state.
  void ForEach(const std::function<void(const std::string& container,
                                        const std::string& name,
                                        ResourceBase*)>& fn) const;

  template <typename T>
  ResourceHandle MakeHandle(absl::string_view device,
                            absl::string_view container,
                            absl::string_view name) const {
    ResourceHandle h;
    h.device = std::string(device);
    h.container = std::string(container);
    h.name = std::string(name);
    h.hash_code = typeid(T).hash_code();
    h.maybe_type_name = typeid(T).name();
    return h;
  }

 private:
  using Key = std::pair<uint64_t, std::string>;  // type hash, name
  using Container = absl::flat_hash_map<Key, RefPtr<ResourceBase>>;

  Status DoCreate(absl::string_view container, const std::type_info& type,
                  absl::string_view name, RefPtr<ResourceBase> resource);
  Status DoLookup(absl::string_view container, const std::type_info& type,
                  absl::string_view name, RefPtr<ResourceBase>* out) const;
  Status DoLookupOrCreate(
      absl::string_view container, const std::type_info& type,
      absl::string_view name, RefPtr<ResourceBase>* out,
      const std::function<Status(RefPtr<ResourceBase>*)>& creator);
  Status DoDelete(absl::string_view container, const std::type_info& type,
                  absl::string_view name);

  const std::string default_container_;
  mutable Mutex mu_;
  absl::flat_hash_map<std::string, Container> containers_ GUARDED_BY(mu_);
};

// Returns the resource that the handle refers to. NotFound, with the handle's
// name, if it is gone.
template <typename T>
Status LookupResource(ResourceMgr* mgr, const ResourceHandle& h,
                      RefPtr<T>* out) {
  if (h.resource != nullptr) {
    T* typed = dynamic_cast<T*>(h.resource.get());
    if (typed == nullptr) {
      return errors::InvalidArgument(
          "resource ", h.name, " is of another type: ", h.maybe_type_name);
    }
    *out = RefPtr<T>::NewRef(typed);
    return OkStatus();
  }
  if (h.hash_code != typeid(T).hash_code()) {
    return errors::InvalidArgument("Trying to access resource ", h.name,
                                   " of type ", h.maybe_type_name, " as ",
                                   typeid(T).name());
  }
  return mgr->Lookup<T>(h.container, h.name, out);
}

}  // namespace headrace

#endif  // HEADRACE_RESOURCE_MGR_H_
