// Gemm against the definition, for every type, transposes, odd sizes, leading
// dimensions beyond the row, and the paths it takes by shape.
#include "kernels/lib/gemm.h"

#include <complex>
#include <cstring>
#include <random>
#include <string>

#include "base/thread_pool.h"
#include "framework/kernel/op_tester.h"
#include "framework/memory/allocation_size.h"
#include "headrace/allocator.h"
#include "kernels/lib/streaming_gemm.h"

namespace headrace {
namespace {

struct Size {
  int64_t m, n, k;
};
// Few rows, one column, tails of every block, tall k, several blocks.
constexpr Size kSizes[] = {{1, 1, 1},     {1, 70, 9},     {3, 300, 33},
                           {70, 1, 50},   {5, 7, 3},      {17, 65, 257},
                           {64, 64, 64},  {100, 130, 70}, {10, 12, 5000},
                           {400, 66, 40}, {2, 3, 0},      {1, 5, 600}};

template <typename T>
T Value(std::mt19937* random) {
  return static_cast<T>(static_cast<int>((*random)() % 7));
}
template <>
complex64 Value<complex64>(std::mt19937* random) {
  return {Value<float>(random), Value<float>(random)};
}
template <>
complex128 Value<complex128>(std::mt19937* random) {
  return {Value<double>(random), Value<double>(random)};
}

template <typename T>
T Conjugate(T x, bool conjugate) {
  if constexpr (std::is_same_v<T, complex64> || std::is_same_v<T, complex128>) {
    return conjugate ? std::conj(x) : x;
  }
  return x;
}

template <typename T>
void Check(const Size& s, bool ta, bool tb, bool conjugate, bool accumulate) {
  std::mt19937 random(s.m + s.n * 7 + s.k * 11);
  GemmArgs<T> g = {.m = s.m, .n = s.n, .k = s.k};
  g.transpose_a = ta;
  g.transpose_b = tb;
  g.conjugate_a = g.conjugate_b = conjugate;
  g.accumulate = accumulate;
  g.lda = (ta ? s.m : s.k) + 3;
  g.ldb = (tb ? s.k : s.n) + 1;
  g.ldc = s.n + (s.n == 1 ? 0 : 2);
  std::vector<T> a((ta ? s.k : s.m) * g.lda), b((tb ? s.n : s.k) * g.ldb),
      c(s.m * g.ldc, T(2));
  for (T& v : a) v = Value<T>(&random);
  for (T& v : b) v = Value<T>(&random);
  std::vector<T> want = c;
  // Small integers: exact in every type but the narrow floats.
  using Sum =
      std::conditional_t<std::is_same_v<T, half> || std::is_same_v<T, bfloat16>,
                         float, T>;
  for (int64_t i = 0; i < s.m; ++i) {
    for (int64_t j = 0; j < s.n; ++j) {
      Sum sum = accumulate ? static_cast<Sum>(want[i * g.ldc + j]) : Sum(0);
      for (int64_t p = 0; p < s.k; ++p) {
        const T x =
            Conjugate(ta ? a[p * g.lda + i] : a[i * g.lda + p], conjugate);
        const T y =
            Conjugate(tb ? b[j * g.ldb + p] : b[p * g.ldb + j], conjugate);
        sum = static_cast<Sum>(sum + static_cast<Sum>(x) * static_cast<Sum>(y));
      }
      want[i * g.ldc + j] = static_cast<T>(sum);
    }
  }
  g.a = a.data();
  g.b = b.data();
  const std::vector<T> before = c;
  ThreadPool pool(4);
  for (ThreadPool* p : {static_cast<ThreadPool*>(nullptr), &pool}) {
    c = before;
    g.c = c.data();
    Gemm(p, g);
    EXPECT_TRUE(c == want) << DataTypeString(DataTypeToEnum<T>::value) << " "
                           << s.m << "x" << s.n << "x" << s.k << " " << ta << tb
                           << conjugate << accumulate;
  }
}

template <typename T>
void CheckAll() {
  for (const Size& s : kSizes) {
    for (int bits = 0; bits < 8; ++bits) {
      Check<T>(s, bits & 1, bits & 2, bits & 4, bits == 3 || bits == 4);
    }
  }
}

TEST(Gemm, AgreesWithTheDefinition) {
  CheckAll<float>();
  CheckAll<double>();
  CheckAll<half>();
  CheckAll<bfloat16>();
  CheckAll<int32_t>();
  CheckAll<int64_t>();
  CheckAll<uint8_t>();
  CheckAll<complex64>();
  CheckAll<complex128>();
}

template <typename T>
void CheckShortColumns() {
  constexpr int64_t kRows = 40001;
  ThreadPool pool(4);
  for (int64_t k = 1; k <= 4; ++k) {
    std::mt19937 random(k);
    std::vector<T> a(kRows * k), b(k * 3), c(kRows, T(2));
    for (T& v : a) v = Value<T>(&random);
    for (T& v : b) v = Value<T>(&random);
    for (const bool accumulate : {false, true}) {
      std::vector<T> want(kRows), got = c;
      for (int64_t i = 0; i < kRows; ++i) {
        want[i] = accumulate ? c[i] : T(0);
        for (int64_t p = 0; p < k; ++p) want[i] += a[i * k + p] * b[p * 3];
      }
      GemmArgs<T> g = {.m = kRows, .n = 1, .k = k};
      g.a = a.data();
      g.b = b.data();
      g.c = got.data();
      g.lda = k;
      g.ldb = 3;
      g.ldc = 1;
      g.accumulate = accumulate;
      Gemm(&pool, g);
      EXPECT_TRUE(got == want) << k << " products";
    }
  }
}

TEST(Gemm, ColumnsOfShortSumsAgreeWithTheDefinition) {
  CheckShortColumns<float>();
  CheckShortColumns<double>();
}

// Few rows over a B beyond the caches, and over a transposed B:
// streaming_gemm.h.
TEST(Gemm, StreamedProductsAgreeWithTheDefinition) {
  for (int64_t m : {4, 5, 6, 7, 8}) {
    Check<float>({m, 4101, 1031}, m % 2 == 0, false, false, m == 5);
  }
  Check<double>({8, 2057, 1027}, false, false, false, true);
  for (int64_t m : {4, 7, 9, 16}) {
    for (bool transpose_a : {false, true}) {
      Check<float>({m, 41, 2100}, transpose_a, true, false, m == 7);
      Check<double>({m, 9, 1111}, transpose_a, true, false, m == 9);
    }
  }
}

// Some rows over a B beyond the caches: prefetching_gemm.h.
TEST(Gemm, ProductsOfSomeRowsAgreeWithTheDefinition) {
  for (int64_t m : {4, 7, 9, 13, 20, 32}) {
    Check<float>({m, 1100 + m, 1000}, m % 2 == 1, false, false, m == 9);
  }
}

// The same bits, wherever B lies: few rows, a column, copied panels and not.
template <typename T>
void CheckBAtAnyAddress() {
  for (const Size& s :
       {Size{1, 83, 77}, Size{20, 300, 300}, Size{60, 90, 300}, Size{90, 1, 40},
        Size{9, 40, 4100}, Size{11, 1080, 1010}}) {
    for (const bool transpose_b : {false, true}) {
      std::mt19937 random(1);
      std::uniform_real_distribution<T> uniform(-1, 1);
      std::vector<T> a(s.m * s.k), b(s.n * s.k), c(s.m * s.n), want(s.m * s.n);
      for (T& v : a) v = uniform(random);
      for (T& v : b) v = uniform(random);
      GemmArgs<T> g = {.m = s.m, .n = s.n, .k = s.k, .a = a.data(), .lda = s.k};
      g.transpose_b = transpose_b;
      g.ldb = transpose_b ? s.k : s.n;
      g.ldc = s.n;
      g.b = b.data();
      g.c = want.data();
      Gemm<T>(nullptr, g);
      std::string bytes(1 + b.size() * sizeof(T), 0);
      std::memcpy(bytes.data() + 1, b.data(), b.size() * sizeof(T));
      g.b = reinterpret_cast<const T*>(bytes.data() + 1);
      g.c = c.data();
      Gemm<T>(nullptr, g);
      EXPECT_TRUE(c == want)
          << s.m << "x" << s.n << "x" << s.k << " " << transpose_b;
    }
  }
}

TEST(Gemm, ReadsBAtAnyAddress) {
  CheckBAtAnyAddress<float>();
  CheckBAtAnyAddress<double>();
}

TEST(Gemm, Int32WrapsAround) {
  const int32_t a[] = {1 << 30, 1 << 30}, b[] = {2, 2};
  int32_t c = 1;
  Gemm<int32_t>(nullptr, {.m = 1,
                          .n = 1,
                          .k = 2,
                          .a = a,
                          .lda = 2,
                          .b = b,
                          .ldb = 1,
                          .c = &c,
                          .ldc = 1});
  EXPECT_EQ(c, 0);
}

// Real values: the sum's rounding is the same for every number of threads.
TEST(Gemm, ResultDoesNotDependOnThreads) {
  for (const Size& s :
       {Size{300, 200, 500}, Size{16, 16, 20000}, Size{1, 4096, 512},
        Size{1000, 1, 300}, Size{20, 2600, 650}}) {
    std::mt19937 random(1);
    std::uniform_real_distribution<float> uniform(-1, 1);
    std::vector<float> a(s.m * s.k), b(s.k * s.n), c1(s.m * s.n), c8(s.m * s.n);
    for (float& v : a) v = uniform(random);
    for (float& v : b) v = uniform(random);
    ThreadPool one(1), eight(8);
    GemmArgs<float> g = {.m = s.m,
                         .n = s.n,
                         .k = s.k,
                         .a = a.data(),
                         .lda = s.k,
                         .b = b.data(),
                         .ldb = s.n};
    g.ldc = s.n;
    g.c = c1.data();
    Gemm(&one, g);
    g.c = c8.data();
    Gemm(&eight, g);
    EXPECT_TRUE(c1 == c8);
    double want = 0;
    for (int64_t p = 0; p < s.k; ++p) want += 1.0 * a[p] * b[p * s.n];
    EXPECT_NEAR(c1[0], want, 1e-5 * std::sqrt(s.k) * 10);
  }
}

// A run's memory is planned by what Gemm says of its partial products.
template <typename T>
void CheckHeapBytes() {
  ThreadPool four(4);
  int64_t most = 0;
  for (const Size& s :
       {Size{300, 200, 500}, Size{16, 16, 20000}, Size{1, 4096, 512},
        Size{1000, 1, 300}, Size{2, 40, 5000}, Size{1, 1, 200000},
        Size{20, 2600, 650}}) {
    for (const bool transpose_b : {false, true}) {
      std::vector<T> a(s.m * s.k, T(1)), b(s.k * s.n, T(1)), c(s.m * s.n);
      const auto g = GemmArgs<T>::Dense(s.m, s.n, s.k, false, transpose_b)
                         .At(a.data(), b.data(), c.data());
      const int64_t before = CpuAllocator()->GetStats().bytes_in_use;
      CpuAllocator()->ResetPeak();
      Gemm(&four, g);
      const int64_t said = GemmHeapBytes(g);
      EXPECT_EQ(CpuAllocator()->GetStats().peak_bytes_in_use - before,
                said == 0 ? 0
                          : static_cast<int64_t>(
                                AllocationSize(static_cast<size_t>(said))))
          << s.m << "x" << s.n << "x" << s.k << " " << transpose_b;
      most = std::max(most, said);
    }
  }
  EXPECT_GT(most, 0);
}

TEST(Gemm, TakesTheHeapBytesThatItSays) {
  CheckHeapBytes<float>();
  CheckHeapBytes<double>();
}

}  // namespace
}  // namespace headrace
