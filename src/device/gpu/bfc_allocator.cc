#include "device/gpu/bfc_allocator.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/log.h"

namespace headrace::gpu {
namespace {

constexpr size_t kPiece = 256;
constexpr size_t kFirstRegion = 2 << 20;

}  // namespace

bool LiesIn(const std::map<char*, size_t>& regions, const void* address) {
  char* const at = static_cast<char*>(const_cast<void*>(address));
  auto region = regions.upper_bound(at);
  if (region == regions.begin()) return false;
  --region;
  return at < region->first + region->second;
}

BfcAllocator::BfcAllocator(std::string name, Source source, Limits limits,
                           bool refusal_is_final)
    : name_(std::move(name)),
      source_(std::move(source)),
      refusal_is_final_(refusal_is_final),
      limits_(limits),
      next_region_(kFirstRegion) {}

BfcAllocator::~BfcAllocator() {
  for (const auto& [region, bytes] : regions_) source_.release(region, bytes);
}

void* BfcAllocator::AllocateRaw(size_t bytes) {
  if (bytes > (size_t{1} << 60)) return nullptr;
  const size_t rounded =
      std::max(kPiece, (bytes + kPiece - 1) / kPiece * kPiece);
  const auto take = [&]() -> void* {
    MutexLock lock(&mu_);
    if (void* const p = Take(rounded)) return p;
    return Grow(rounded) ? Take(rounded) : nullptr;
  };
  const auto may_retry = [&] {
    MutexLock lock(&retry_mu_);
    return retry_ != nullptr && retry_();
  };
  void* p = take();
  if (p == nullptr && may_retry()) p = take();
  if (p == nullptr && refusal_is_final_) {
    HR_LOG(WARNING) << name_ << " has no memory for " << bytes
                    << " bytes: " << DescribeFree();
  }
  return p;
}

void* BfcAllocator::Take(size_t bytes) {
  const auto best = free_.lower_bound({bytes, nullptr});
  if (best == free_.end()) return nullptr;
  const auto c = chunks_.find(best->second);
  free_.erase(best);
  if (c->second.bytes > bytes) {
    Chunk rest;
    rest.bytes = c->second.bytes - bytes;
    rest.region = c->second.region;
    free_.insert({rest.bytes, c->first + bytes});
    chunks_.emplace_hint(std::next(c), c->first + bytes, rest);
    c->second.bytes = bytes;
  }
  c->second.in_use = true;
  ++stats_.num_allocs;
  const int64_t taken = static_cast<int64_t>(bytes);
  stats_.bytes_in_use += taken;
  stats_.peak_bytes_in_use =
      std::max(stats_.peak_bytes_in_use, stats_.bytes_in_use);
  stats_.largest_alloc_size = std::max(stats_.largest_alloc_size, taken);
  return c->first;
}

bool BfcAllocator::Grow(size_t bytes) {
  const int64_t left = limits_.bytes - region_bytes_;
  if (left < static_cast<int64_t>(bytes)) {
    // Regions that are too small may be in the way of a larger one.
    const int64_t before = region_bytes_;
    ReleaseUnused();
    return region_bytes_ < before && Grow(bytes);
  }
  size_t wanted = static_cast<size_t>(left) / kPiece * kPiece;
  if (limits_.allow_growth) {
    while (next_region_ < bytes) next_region_ *= 2;
    wanted = std::min(wanted, next_region_);
  }
  wanted = std::max(wanted, bytes);
  if (static_cast<int64_t>(wanted) > left) return false;
  // The device may have less than the limit: others use it too.
  for (;;) {
    StatusOr<void*> region = source_.allocate(wanted);
    if (region.ok() && *region != nullptr) {
      char* const at = static_cast<char*>(*region);
      regions_[at] = wanted;
      region_bytes_ += static_cast<int64_t>(wanted);
      Chunk whole;
      whole.bytes = wanted;
      whole.region = at;
      chunks_[at] = whole;
      free_.insert({wanted, at});
      if (limits_.allow_growth)
        next_region_ = std::max(next_region_, wanted) * 2;
      return true;
    }
    refusal_ = std::string(region.status().message());
    if (wanted == bytes) return false;
    wanted = std::max(bytes, wanted / 10 * 9 / kPiece * kPiece);
  }
}

void BfcAllocator::DeallocateRaw(void* ptr, size_t) {
  if (ptr == nullptr) return;
  MutexLock lock(&mu_);
  auto c = chunks_.find(static_cast<char*>(ptr));
  if (c == chunks_.end() || !c->second.in_use) return;  // not one of ours
  stats_.bytes_in_use -= static_cast<int64_t>(c->second.bytes);
  c->second.in_use = false;
  c = Join(c);
  free_.insert({c->second.bytes, c->first});
  if (idle_ && c->second.bytes == regions_[c->second.region]) {
    ReleaseRegion(c->second.region);
  }
}

BfcAllocator::Chunks::iterator BfcAllocator::Join(Chunks::iterator c) {
  const auto next = std::next(c);
  if (next != chunks_.end() && !next->second.in_use &&
      next->second.region == c->second.region) {
    free_.erase({next->second.bytes, next->first});
    c->second.bytes += next->second.bytes;
    chunks_.erase(next);
  }
  if (c == chunks_.begin()) return c;
  const auto before = std::prev(c);
  if (before->second.in_use || before->second.region != c->second.region) {
    return c;
  }
  free_.erase({before->second.bytes, before->first});
  before->second.bytes += c->second.bytes;
  chunks_.erase(c);
  return before;
}

void BfcAllocator::ReleaseRegion(char* region) {
  const auto r = regions_.find(region);
  const size_t bytes = r->second;
  free_.erase({bytes, region});
  chunks_.erase(region);
  regions_.erase(r);
  region_bytes_ -= static_cast<int64_t>(bytes);
  if (regions_.empty()) next_region_ = kFirstRegion;
  source_.release(region, bytes);
}

void BfcAllocator::ReleaseUnused() {
  std::vector<char*> unused;
  for (const auto& [region, bytes] : regions_) {
    const Chunk& first = chunks_[region];
    if (!first.in_use && first.bytes == bytes) unused.push_back(region);
  }
  for (char* region : unused) ReleaseRegion(region);
}

void BfcAllocator::SetIdle(bool idle) {
  MutexLock lock(&mu_);
  idle_ = idle;
  if (idle) ReleaseUnused();
}

bool BfcAllocator::SetLimits(const Limits& limits) {
  MutexLock lock(&mu_);
  if (stats_.bytes_in_use > 0) return false;
  ReleaseUnused();
  limits_ = limits;
  return true;
}

void BfcAllocator::SetRetry(std::function<bool()> retry) {
  MutexLock lock(&retry_mu_);
  retry_ = std::move(retry);
}

AllocatorStats BfcAllocator::GetStats() const {
  MutexLock lock(&mu_);
  AllocatorStats stats = stats_;
  stats.bytes_limit = limits_.bytes;
  return stats;
}

void BfcAllocator::ResetPeak() {
  MutexLock lock(&mu_);
  stats_.peak_bytes_in_use = stats_.bytes_in_use;
}

bool BfcAllocator::Owns(const void* address) const {
  MutexLock lock(&mu_);
  return LiesIn(regions_, address);
}

std::string BfcAllocator::DescribeFree() const {
  MutexLock lock(&mu_);
  const size_t largest = free_.empty() ? 0 : free_.rbegin()->first;
  return absl::StrCat(limits_.bytes - stats_.bytes_in_use,
                      " bytes are free of a limit of ", limits_.bytes,
                      ", the largest piece has ", largest,
                      refusal_.empty() ? "" : "; the device said: ", refusal_);
}

std::vector<BfcAllocator::Piece> BfcAllocator::Pieces() const {
  MutexLock lock(&mu_);
  std::vector<Piece> pieces;
  for (const auto& [at, c] : chunks_) pieces.push_back({at, c.bytes, c.in_use});
  return pieces;
}

}  // namespace headrace::gpu
