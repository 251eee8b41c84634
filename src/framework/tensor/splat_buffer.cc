// A splat is a range of addresses. Of zeros it is one private mapping, which
// the system fills with its page of zeros. Else it is a file in memory with the
// given values and one piece of the rest, whose piece is mapped many times.
#include "framework/tensor/splat_buffer.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <new>
#include <utility>
#include <vector>

namespace headrace {
namespace {

// How often a piece is mapped at most, in one splat and in all: the system
// gives a process some 65,000 mappings.
constexpr int64_t kMaxPieces = 256, kMaxAllPieces = 16384;
constexpr int64_t kMinPiece = int64_t{256} << 10;
std::atomic<int64_t> all_pieces{0};

int64_t RoundUp(int64_t n, int64_t step) {
  return (n + step - 1) / step * step;
}

class SplatBuffer : public TensorBuffer {
 public:
  // `strings`: the characters that its elements refer to.
  SplatBuffer(void* data, size_t bytes, int64_t memory, int64_t pieces,
              Tensor strings)
      : TensorBuffer(data, bytes),
        memory_(memory),
        pieces_(pieces),
        strings_(std::move(strings)) {}
  bool IsWritable() const override { return false; }
  int64_t memory() const { return memory_; }

 protected:
  ~SplatBuffer() override {
    munmap(data_, size());
    all_pieces.fetch_sub(pieces_);
  }

 private:
  const int64_t memory_, pieces_;
  const Tensor strings_;
};

// Takes so many of the pieces that all splats may have; gives them back unless
// they are kept.
class PieceClaim {
 public:
  explicit PieceClaim(int64_t n) : n_(n) {
    ok_ = all_pieces.fetch_add(n) + n <= kMaxAllPieces;
  }
  ~PieceClaim() {
    if (!kept_) all_pieces.fetch_sub(n_);
  }
  bool ok() const { return ok_; }
  void Keep() { kept_ = true; }

 private:
  const int64_t n_;
  bool ok_ = false, kept_ = false;
};

// The elements of `given` as bytes that may be copied; strings as views of it.
std::vector<char> ElementBytes(const Tensor& given) {
  std::vector<char> bytes(given.TotalBytes());
  if (given.dtype() != DT_STRING) {
    std::memcpy(bytes.data(), given.raw_data(), bytes.size());
    return bytes;
  }
  for (int64_t i = 0; i < given.NumElements(); ++i) {
    const tstring& s = given.data<tstring>()[i];
    tstring view;
    view.assign_as_view(s.data(), s.size());
    std::memcpy(bytes.data() + i * sizeof(tstring), &view, sizeof(tstring));
  }
  return bytes;
}

char* MapZeros(int64_t bytes) {
  void* const p = mmap(nullptr, bytes, PROT_READ,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return p == MAP_FAILED ? nullptr : static_cast<char*>(p);
}

bool WriteAll(int fd, const char* bytes, int64_t n, int64_t at) {
  while (n > 0) {
    const ssize_t written = pwrite(fd, bytes, n, at);
    if (written <= 0) return false;
    bytes += written;
    n -= written;
    at += written;
  }
  return true;
}

// The file of [0, head) and a piece of `piece` bytes, mapped over `total`.
char* MapPieces(int fd, const std::vector<char>& given, int64_t element,
                int64_t head, int64_t piece, int64_t total) {
  if (ftruncate(fd, head + piece) != 0 ||
      !WriteAll(fd, given.data(), static_cast<int64_t>(given.size()), 0)) {
    return nullptr;
  }
  // Whole elements, a multiple of which is a step of the file.
  std::vector<char> rest(RoundUp(16 << 10, element));
  for (size_t i = 0; i < rest.size(); i += element) {
    std::memcpy(rest.data() + i, given.data() + given.size() - element,
                element);
  }
  for (int64_t at = static_cast<int64_t>(given.size()); at < head + piece;) {
    const int64_t n =
        std::min<int64_t>(head + piece - at, static_cast<int64_t>(rest.size()));
    if (!WriteAll(fd, rest.data(), n, at)) return nullptr;
    at += n;
  }
  void* const all = mmap(nullptr, total, PROT_NONE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (all == MAP_FAILED) return nullptr;
  char* const begin = static_cast<char*>(all);
  for (int64_t at = 0; at < total;) {
    const int64_t n = at == 0 && head > 0 ? head : std::min(piece, total - at);
    if (mmap(begin + at, n, PROT_READ, MAP_SHARED | MAP_FIXED, fd,
             at == 0 && head > 0 ? 0 : head) == MAP_FAILED) {
      munmap(all, total);
      return nullptr;
    }
    at += n;
  }
  return begin;
}

}  // namespace

bool MakeSplat(const Tensor& given, const TensorShape& shape, Tensor* out) {
  const DataType dtype = given.dtype();
  const int64_t element = DataTypeObjectSize(dtype);
  const int64_t bytes = MultiplyWithoutOverflow(shape.num_elements(), element);
  const auto given_bytes = static_cast<int64_t>(given.TotalBytes());
  if (bytes < kMinSplatBytes || given_bytes == 0 || given_bytes > bytes / 4 ||
      (!DataTypeCanUseMemcpy(dtype) && dtype != DT_STRING)) {
    return false;
  }
  // Pages of whole elements: those of strings are of 24 bytes.
  const int64_t unit = sysconf(_SC_PAGESIZE) * (dtype == DT_STRING ? 3 : 1);
  const std::vector<char> values = ElementBytes(given);
  const bool zeros =
      dtype != DT_STRING &&
      std::all_of(values.begin(), values.end(), [](char c) { return c == 0; });
  const int64_t total = RoundUp(bytes, unit);
  const int64_t head = given_bytes == element ? 0 : RoundUp(given_bytes, unit);
  const int64_t piece =
      RoundUp(std::max(kMinPiece, total / kMaxPieces + 1), unit);
  const int64_t pieces = zeros ? 0 : total / piece + 2;
  PieceClaim claim(pieces);
  if (!claim.ok()) return false;
  char* data = nullptr;
  if (zeros) {
    data = MapZeros(total);
  } else {
    const int fd = memfd_create("headrace_splat", MFD_CLOEXEC);
    if (fd < 0) return false;
    data = MapPieces(fd, values, element, head, piece, total);
    close(fd);
  }
  if (data == nullptr) return false;
  auto* const buffer = new (std::nothrow)
      SplatBuffer(data, total, zeros ? 0 : head + piece, pieces,
                  dtype == DT_STRING ? given : Tensor());
  if (buffer == nullptr) {
    munmap(data, total);
    return false;
  }
  claim.Keep();
  *out = Tensor(dtype, shape, RefPtr<TensorBuffer>(buffer));
  return true;
}

int64_t MemoryOf(const Tensor& t) {
  if (t.buffer() == nullptr) return 0;
  if (!t.buffer()->IsWritable()) {
    const auto* splat = dynamic_cast<const SplatBuffer*>(t.buffer().get());
    return splat == nullptr ? 0 : splat->memory();
  }
  auto bytes = static_cast<int64_t>(t.TotalBytes());
  if (t.dtype() == DT_STRING) {
    for (const tstring& s : t.span<tstring>()) {
      bytes += static_cast<int64_t>(s.size());
    }
  }
  return bytes;
}

}  // namespace headrace
