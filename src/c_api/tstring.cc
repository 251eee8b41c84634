// TF_TString: tstring under its C name; formats.md, section 1. Only what
// tstring keeps to itself, kind and capacity, is read here.
#include "headrace/tstring.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <new>

#include "c_api/internal.h"

static_assert(sizeof(TF_TString) == sizeof(headrace::tstring));
static_assert(alignof(TF_TString) == alignof(headrace::tstring));
static_assert(offsetof(TF_TString_Large, ptr) == 16);
static_assert(offsetof(TF_TString_View, ptr) == 8);

using headrace::tstring;

namespace {
tstring* Cast(TF_TString* s) { return reinterpret_cast<tstring*>(s); }
const tstring* Cast(const TF_TString* s) {
  return reinterpret_cast<const tstring*>(s);
}

std::atomic<bool> a_copy_failed{false};

// An empty string for all that read it, and none that anything else makes.
bool IsFailedCopy(const TF_TString& s) {
  return TF_StringGetType(&s) == TF_TSTR_LARGE && s.u.large.ptr == nullptr;
}
void MarkFailedCopy(TF_TString* s) {
  a_copy_failed.store(true);
  TF_StringDealloc(s);
  s->u.large.size = TF_TSTR_LARGE;
}
}  // namespace

headrace::Status headrace::c_api::CheckStringCopies(const Tensor& t) {
  if (!a_copy_failed.load(std::memory_order_relaxed)) [[likely]] {
    return OkStatus();
  }
  const auto* const strings =
      reinterpret_cast<const TF_TString*>(t.data<tstring>());
  for (int64_t i = 0; i < t.NumElements(); ++i) {
    if (IsFailedCopy(strings[i])) {
      return errors::ResourceExhausted(
          "out of memory: TF_StringCopy found none for element ", i,
          " of the tensor, of shape ", t.shape().DebugString());
    }
  }
  return OkStatus();
}

bool headrace::c_api::HasStringsAtOffsets(const Tensor& t) {
  const auto* const strings =
      reinterpret_cast<const TF_TString*>(t.data<tstring>());
  return std::any_of(strings, strings + t.NumElements(), [](const auto& s) {
    return TF_StringGetType(&s) == TF_TSTR_OFFSET;
  });
}

void TF_StringInit(TF_TString* t) {
  if (t != nullptr) std::memset(static_cast<void*>(t), 0, sizeof(*t));
}

void TF_StringCopy(TF_TString* dst, const char* src, size_t size) {
  if (dst == nullptr) return;
  try {
    Cast(dst)->assign(src, src == nullptr ? 0 : size);
  } catch (const std::bad_alloc&) {
    MarkFailedCopy(dst);  // the function that gets the tensor reports it
  }
}

void TF_StringAssignView(TF_TString* dst, const char* src, size_t size) {
  if (dst == nullptr) return;
  Cast(dst)->assign_as_view(src, src == nullptr ? 0 : size);
}

const char* TF_StringGetDataPointer(const TF_TString* tstr) {
  return tstr == nullptr ? nullptr : Cast(tstr)->data();
}

TF_TString_Type TF_StringGetType(const TF_TString* str) {
  if (str == nullptr) return TF_TSTR_SMALL;
  return static_cast<TF_TString_Type>(str->u.raw.raw[0] & TF_TSTR_TYPE_MASK);
}

size_t TF_StringGetSize(const TF_TString* tstr) {
  return tstr == nullptr ? 0 : Cast(tstr)->size();
}

size_t TF_StringGetCapacity(const TF_TString* str) {
  switch (TF_StringGetType(str)) {
    case TF_TSTR_SMALL:
      return sizeof(TF_TString_Small::str) - 1;
    case TF_TSTR_LARGE:
      return str->u.large.cap;
    default:
      return 0;
  }
}

void TF_StringDealloc(TF_TString* tstr) {
  if (tstr == nullptr) return;
  Cast(tstr)->~tstring();
  new (tstr) tstring;
}
