// Libraries of ops and kernels: those in C (examples/custom_op_c) and what is
// refused.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstring>
#include <fstream>

#include "c_api/c_api_test_util.h"

namespace c_api_test {
namespace {

std::string Library(const char* name) {
  return std::string(HEADRACE_TEST_FOLDER "/libtest_") + name + ".so";
}

class LibraryTest : public CApiTest {
 protected:
  TF_Library* Load(const std::string& path) {
    return TF_LoadLibrary(path.c_str(), s());
  }
  TF_Operation* Saturate(const char* name, TF_Operation* x, float low,
                         float high) {
    TF_OperationDescription* d = TF_NewOperation(g(), "Saturate", name);
    TF_AddInput(d, {x, 0});
    TF_SetAttrFloat(d, "low", low);
    TF_SetAttrFloat(d, "high", high);
    return Finish(d);
  }
};

TEST_F(LibraryTest, AnOpInCRuns) {
  TF_Library* const library = Load(Library("saturate"));
  ASSERT_NE(library, nullptr) << message();
  const TF_Buffer ops = TF_GetOpList(library);
  const std::string list(static_cast<const char*>(ops.data), ops.length);
  EXPECT_NE(list.find("Saturate"), list.npos);
  EXPECT_EQ(list.find("MatMul"), list.npos);
  TF_DeleteLibraryHandle(library);

  TF_Operation* const x = Placeholder("x", TF_FLOAT);
  const int64_t shape[] = {-1};
  TF_GraphSetTensorShape(g(), {x, 0}, shape, 1, s());
  TF_Operation* const y = Saturate("y", x, -1, 2);
  EXPECT_EQ(TF_GraphGetTensorNumDims(g(), {y, 0}, s()), 1);
  TF_Session* const session = NewSession();
  for (const int64_t n : {0, 1, 3, 1000}) {
    SCOPED_TRACE(n);
    Tensor in(TF_AllocateTensor(TF_FLOAT, &n, 1, n * sizeof(float)));
    for (int i = 0; i < n; ++i) {
      static_cast<float*>(TF_TensorData(in.get()))[i] = i - 2.f;
    }
    const Tensor out = Run(session, x, in.get(), y);
    ASSERT_NE(out, nullptr) << message();
    ASSERT_EQ(TF_Dim(out.get(), 0), n);
    for (int i = 0; i < n; ++i) {
      const float v = i - 2.f;
      EXPECT_EQ(static_cast<float*>(TF_TensorData(out.get()))[i], v < -1  ? -1
                                                                  : v > 2 ? 2
                                                                          : v);
      EXPECT_EQ(static_cast<float*>(TF_TensorData(in.get()))[i], v);
    }
  }
  TF_Operation* const bad = Saturate("bad", x, 2, 1);
  const int64_t one = 1;
  Tensor in(TF_AllocateTensor(TF_FLOAT, &one, 1, sizeof(float)));
  EXPECT_EQ(Run(session, x, in.get(), bad), nullptr);
  EXPECT_EQ(TF_GetCode(s()), TF_INVALID_ARGUMENT);
  EXPECT_NE(message().find("low must not exceed high"), message().npos);
  EXPECT_NE(message().find("bad"), message().npos);
  TF_DeleteSession(session, s());
}

TEST_F(LibraryTest, TwiceIsOnce) {
  TF_Library* const first = Load(Library("saturate"));
  TF_Library* const second = Load(Library("saturate"));
  ASSERT_NE(first, nullptr);
  ASSERT_NE(second, nullptr) << message();
  const TF_Buffer a = TF_GetOpList(first), b = TF_GetOpList(second);
  EXPECT_EQ(std::string(static_cast<const char*>(a.data), a.length),
            std::string(static_cast<const char*>(b.data), b.length));
  TF_DeleteLibraryHandle(first);
  TF_DeleteLibraryHandle(second);
}

TEST_F(LibraryTest, ACopyOfALibraryIsFine) {
  TF_DeleteLibraryHandle(Load(Library("saturate")));
  const std::string path = testing::TempDir() + "/saturate_copy.so";
  std::ofstream(path, std::ios::binary)
      << std::ifstream(Library("saturate"), std::ios::binary).rdbuf();
  TF_Library* const copy = Load(path);
  EXPECT_NE(copy, nullptr) << message();
  TF_DeleteLibraryHandle(copy);
  std::remove(path.c_str());
}

TEST_F(LibraryTest, WhatIsRefused) {
  TF_DeleteLibraryHandle(Load(Library("saturate")));
  TF_DeleteLibraryHandle(Load(Library("hard_swish")));
  const std::string text = testing::TempDir() + "/no_library.so";
  std::ofstream(text) << "no library\n";
  const struct {
    std::string path;
    TF_Code code;
    const char* words;
  } kCases[] = {
      {"", TF_NOT_FOUND, ""},
      {"/nonexistent/lib.so", TF_NOT_FOUND, "/nonexistent/lib.so"},
      {text, TF_NOT_FOUND, "file too short"},
      {HEADRACE_TEST_FOLDER, TF_NOT_FOUND, "cannot read file data"},
      {Library("other_saturate"), TF_ALREADY_EXISTS, "Saturate"},
      // Again: the library stays as it was.
      {Library("other_saturate"), TF_ALREADY_EXISTS, "Saturate"},
      {Library("other_hard_swish"), TF_ALREADY_EXISTS, "TestHardSwish"},
  };
  for (const auto& c : kCases) {
    SCOPED_TRACE(c.path);
    if (c.path.empty()) {
      EXPECT_EQ(TF_LoadLibrary(nullptr, s()), nullptr);
    } else {
      EXPECT_EQ(Load(c.path), nullptr);
    }
    EXPECT_EQ(TF_GetCode(s()), c.code) << message();
    EXPECT_NE(message().find(c.words), message().npos) << message();
    EXPECT_NE(message().find(c.path), message().npos) << message();
  }
  std::remove(text.c_str());
  // The first op is still there.
  Saturate("y", Placeholder("x", TF_FLOAT), 0, 1);
}

// Two copies in one process: protobuf would end it.
TEST_F(LibraryTest, AnotherCopyOfTheRuntimeIsRefused) {
  for (const char* name :
       {"libheadrace.so", "libtensorflow.so.2", "libtensorflow.so.1"}) {
    SCOPED_TRACE(name);
    const std::string path = testing::TempDir() + "/any_name.so";
    std::ofstream(path, std::ios::binary)
        << std::ifstream(std::string(HEADRACE_LIB_FOLDER "/") + name,
                         std::ios::binary)
               .rdbuf();
    EXPECT_EQ(Load(path), nullptr);
    EXPECT_EQ(TF_GetCode(s()), TF_INVALID_ARGUMENT) << message();
    EXPECT_NE(message().find(path), message().npos) << message();
    EXPECT_NE(message().find(std::string("another copy of ") + name),
              message().npos)
        << message();
    std::remove(path.c_str());
  }
  // The one that is there already has no ops of its own.
  TF_Library* const own = Load(HEADRACE_LIB_FOLDER "/libheadrace.so");
  EXPECT_NE(own, nullptr) << message();
  TF_DeleteLibraryHandle(own);
}

}  // namespace
}  // namespace c_api_test
