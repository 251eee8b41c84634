// Every function of TensorFlow's C API is exported, under TensorFlow's version
// node, and structs and enums have TensorFlow's layout and values.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "tensorflow/c/c_api.h"
#include "tensorflow/c/c_api_experimental.h"
#include "tensorflow/c/env.h"
#include "tensorflow/c/kernels.h"
#include "tensorflow/c/ops.h"

namespace {

static_assert(sizeof(TF_Buffer) == 24 && offsetof(TF_Buffer, length) == 8 &&
              offsetof(TF_Buffer, data_deallocator) == 16);
static_assert(sizeof(TF_StringView) == 16 && offsetof(TF_StringView, len) == 8);
static_assert(sizeof(TF_Input) == 16 && offsetof(TF_Input, index) == 8);
static_assert(sizeof(TF_Output) == 16 && offsetof(TF_Output, index) == 8);
static_assert(sizeof(TF_AttrMetadata) == 32 &&
              offsetof(TF_AttrMetadata, list_size) == 8 &&
              offsetof(TF_AttrMetadata, type) == 16 &&
              offsetof(TF_AttrMetadata, total_size) == 24);
static_assert(sizeof(TF_WhileParams) == 72 &&
              offsetof(TF_WhileParams, cond_graph) == 8 &&
              offsetof(TF_WhileParams, cond_inputs) == 16 &&
              offsetof(TF_WhileParams, cond_output) == 24 &&
              offsetof(TF_WhileParams, body_graph) == 40 &&
              offsetof(TF_WhileParams, body_inputs) == 48 &&
              offsetof(TF_WhileParams, body_outputs) == 56 &&
              offsetof(TF_WhileParams, name) == 64);
static_assert(sizeof(TF_AllocatorAttributes) == 16 &&
              offsetof(TF_AllocatorAttributes, on_host) == 8 &&
              TF_ALLOCATOR_ATTRIBUTES_STRUCT_SIZE == 9);
static_assert(sizeof(TF_InputRange_Args) == 32 &&
              offsetof(TF_InputRange_Args, start) == 16 &&
              offsetof(TF_InputRange_Args, stop) == 20 &&
              offsetof(TF_InputRange_Args, status) == 24 &&
              TF_InputRange_Args_STRUCT_SIZE == 32);
static_assert(sizeof(TF_ThreadOptions) == 24 &&
              offsetof(TF_ThreadOptions, guard_size) == 8 &&
              offsetof(TF_ThreadOptions, numa_node) == 16);
static_assert(sizeof(TF_FileStatistics) == 24 &&
              offsetof(TF_FileStatistics, mtime_nsec) == 8 &&
              offsetof(TF_FileStatistics, is_directory) == 16);
static_assert(sizeof(TF_ShapeAndType) == 24 &&
              offsetof(TF_ShapeAndType, dims) == 8 &&
              offsetof(TF_ShapeAndType, dtype) == 16);
static_assert(sizeof(TF_ShapeAndTypeList) == 16 &&
              offsetof(TF_ShapeAndTypeList, items) == 8);
static_assert(sizeof(TF_TString) == 24 && alignof(TF_TString) == 8);
static_assert(sizeof(TF_RendezvousThunk) == 32);
static_assert(sizeof(TF_Bool) == 1);

static_assert(TF_FLOAT == 1 && TF_DOUBLE == 2 && TF_INT32 == 3 &&
              TF_UINT8 == 4 && TF_INT16 == 5 && TF_INT8 == 6 &&
              TF_STRING == 7 && TF_COMPLEX64 == 8 && TF_COMPLEX == 8 &&
              TF_INT64 == 9 && TF_BOOL == 10 && TF_QINT8 == 11 &&
              TF_QUINT8 == 12 && TF_QINT32 == 13 && TF_BFLOAT16 == 14 &&
              TF_QINT16 == 15 && TF_QUINT16 == 16 && TF_UINT16 == 17 &&
              TF_COMPLEX128 == 18 && TF_HALF == 19 && TF_RESOURCE == 20 &&
              TF_VARIANT == 21 && TF_UINT32 == 22 && TF_UINT64 == 23 &&
              TF_FLOAT8_E5M2 == 24 && TF_FLOAT8_E4M3FN == 25 &&
              TF_FLOAT8_E4M3FNUZ == 26 && TF_FLOAT8_E4M3B11FNUZ == 27 &&
              TF_FLOAT8_E5M2FNUZ == 28 && TF_INT4 == 29 && TF_UINT4 == 30 &&
              TF_INT2 == 31 && TF_UINT2 == 32 && TF_FLOAT4_E2M1FN == 33);
static_assert(TF_TSTR_SMALL == 0 && TF_TSTR_LARGE == 1 && TF_TSTR_OFFSET == 2 &&
              TF_TSTR_VIEW == 3 && TF_TSTR_TYPE_MASK == 3);
static_assert(TF_ATTR_STRING == 0 && TF_ATTR_INT == 1 && TF_ATTR_FLOAT == 2 &&
              TF_ATTR_BOOL == 3 && TF_ATTR_TYPE == 4 && TF_ATTR_SHAPE == 5 &&
              TF_ATTR_TENSOR == 6 && TF_ATTR_PLACEHOLDER == 7 &&
              TF_ATTR_FUNC == 8);
static_assert(TF_OK == 0 && TF_CANCELLED == 1 && TF_UNKNOWN == 2 &&
              TF_INVALID_ARGUMENT == 3 && TF_DEADLINE_EXCEEDED == 4 &&
              TF_NOT_FOUND == 5 && TF_ALREADY_EXISTS == 6 &&
              TF_PERMISSION_DENIED == 7 && TF_RESOURCE_EXHAUSTED == 8 &&
              TF_FAILED_PRECONDITION == 9 && TF_ABORTED == 10 &&
              TF_OUT_OF_RANGE == 11 && TF_UNIMPLEMENTED == 12 &&
              TF_INTERNAL == 13 && TF_UNAVAILABLE == 14 && TF_DATA_LOSS == 15 &&
              TF_UNAUTHENTICATED == 16);

// The lines of a file: first words, and what follows.
std::map<std::string, std::string> ReadList(const std::string& path) {
  std::ifstream file(path);
  std::map<std::string, std::string> lines;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    const size_t space = line.find(' ');
    lines[line.substr(0, space)] =
        space == line.npos ? "" : line.substr(space + 1);
  }
  EXPECT_FALSE(lines.empty()) << path;
  return lines;
}

std::vector<std::string> Missing(const char* file) {
  void* const library =
      dlopen((std::string(HEADRACE_LIB_FOLDER "/") + file).c_str(),
             RTLD_NOW | RTLD_LOCAL);
  EXPECT_NE(library, nullptr) << dlerror();
  std::vector<std::string> missing;
  for (const auto& [name, unused] : ReadList("tests/c_api/symbols.txt")) {
    if (dlvsym(library, name.c_str(), "VERS_1.0") == nullptr) {
      missing.push_back(name);
    }
  }
  return missing;
}

TEST(SymbolsTest, EveryFunctionIsExportedOrThereIsAReason) {
  const auto reasons = ReadList("tests/c_api/not_exported.txt");
  for (const char* file :
       {"libtensorflow.so.2", "libtensorflow.so.1",
        "libtensorflow_framework.so.2", "libtensorflow_framework.so.1"}) {
    for (const std::string& name : Missing(file)) {
      EXPECT_TRUE(reasons.count(name)) << file << " does not export " << name;
    }
  }
}

TEST(SymbolsTest, OldStringsAreOfTheOldLibraryAlone) {
  for (const char* name : {"TF_StringEncode", "TF_StringDecode"}) {
    for (const bool is_old : {true, false}) {
      void* const library =
          dlopen(is_old ? HEADRACE_LIB_FOLDER "/libtensorflow.so.1"
                        : HEADRACE_LIB_FOLDER "/libtensorflow.so.2",
                 RTLD_NOW | RTLD_LOCAL);
      EXPECT_EQ(dlsym(library, name) != nullptr, is_old) << name;
    }
  }
}

}  // namespace
