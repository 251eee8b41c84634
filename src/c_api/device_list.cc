// TF_DeviceList: what a session's devices were when it was asked.
#include "c_api/internal.h"

using headrace::DeviceAttributes;
using headrace::OkStatus;
using headrace::c_api::Set;
namespace errors = headrace::errors;

namespace {

TF_DeviceList* List(headrace::Session* session, TF_Status* status) {
  auto* list = new TF_DeviceList;
  for (const headrace::Device* d : session->ListDevices()) {
    list->devices.push_back(d->attributes());
  }
  Set(status, OkStatus());
  return list;
}

const DeviceAttributes* At(const TF_DeviceList* list, int index,
                           TF_Status* status) {
  const int n = TF_DeviceListCount(list);
  if (index < 0 || index >= n) {
    Set(status,
        errors::InvalidArgument("index out of bounds: asked for device ", index,
                                " of ", n));
    return nullptr;
  }
  Set(status, OkStatus());
  return &list->devices[index];
}

}  // namespace

TF_DeviceList* TF_SessionListDevices(TF_Session* session, TF_Status* status) {
  if (session != nullptr) return List(session->session.get(), status);
  Set(status, errors::InvalidArgument("the session is NULL"));
  return nullptr;
}

TF_DeviceList* TF_DeprecatedSessionListDevices(TF_DeprecatedSession* session,
                                               TF_Status* status) {
  if (session != nullptr) return List(session->session.get(), status);
  Set(status, errors::InvalidArgument("the session is NULL"));
  return nullptr;
}

void TF_DeleteDeviceList(TF_DeviceList* list) { delete list; }

int TF_DeviceListCount(const TF_DeviceList* list) {
  return list == nullptr ? 0 : static_cast<int>(list->devices.size());
}

const char* TF_DeviceListName(const TF_DeviceList* list, int index,
                              TF_Status* status) {
  const DeviceAttributes* d = At(list, index, status);
  return d == nullptr ? nullptr : d->name.c_str();
}

const char* TF_DeviceListType(const TF_DeviceList* list, int index,
                              TF_Status* status) {
  const DeviceAttributes* d = At(list, index, status);
  return d == nullptr ? nullptr : d->device_type.c_str();
}

int64_t TF_DeviceListMemoryBytes(const TF_DeviceList* list, int index,
                                 TF_Status* status) {
  const DeviceAttributes* d = At(list, index, status);
  return d == nullptr ? -1 : d->memory_limit;
}

uint64_t TF_DeviceListIncarnation(const TF_DeviceList* list, int index,
                                  TF_Status* status) {
  const DeviceAttributes* d = At(list, index, status);
  return d == nullptr ? 0 : d->incarnation;
}
