// A type of device that a library adds: tests/plugins/toy_device.cc, which
// stands beside this test.
#include <dlfcn.h>

#include <filesystem>
#include <set>
#include <string>

#include "c_api/c_api_test_util.h"
#include "c_api/eager_test_util.h"

namespace c_api_test {
namespace {

std::string LibraryPath() {
  return std::filesystem::read_symlink("/proc/self/exe").parent_path() /
         "libtoy_device.so";
}

class PluginDeviceTest : public CApiTest {
 protected:
  void SetUp() override {
    // Stays for the life of the process, whose other sessions ask for no TOY.
    TF_Library* const library = TF_LoadLibrary(LibraryPath().c_str(), s());
    ASSERT_EQ(TF_GetCode(s()), TF_OK) << message();
    TF_DeleteLibraryHandle(library);
    void* const handle = dlopen(LibraryPath().c_str(), RTLD_NOW | RTLD_LOCAL);
    ASSERT_NE(handle, nullptr);
    calls_ = reinterpret_cast<int (*)()>(dlsym(handle, "toy_device_calls"));
    ASSERT_NE(calls_, nullptr);
  }

  // A session with so many TOYs; null if it cannot be made.
  TF_Session* SessionWithToys(int count) {
    // ConfigProto.device_count, a map from string to int32.
    const std::string entry =
        std::string("\x0a\x03TOY\x10", 6) + static_cast<char>(count);
    const std::string config =
        std::string("\x0a") + static_cast<char>(entry.size()) + entry;
    TF_SessionOptions* const options = TF_NewSessionOptions();
    TF_SetConfig(options, config.data(), config.size(), s());
    EXPECT_EQ(TF_GetCode(s()), TF_OK) << message();
    TF_Session* const session = TF_NewSession(g(), options, s());
    TF_DeleteSessionOptions(options);
    return session;
  }
  TF_Operation* Unary(const char* op, const char* name, TF_Operation* x,
                      const char* device, TF_Operation* after = nullptr) {
    TF_OperationDescription* d = TF_NewOperation(g(), op, name);
    TF_AddInput(d, {x, 0});
    if (device != nullptr) TF_SetDevice(d, device);
    if (after != nullptr) TF_AddControlInput(d, after);
    return Finish(d);
  }

  int (*calls_)() = nullptr;
};

TEST_F(PluginDeviceTest, ASessionListsTheDevicesOfAFactoryBehindTheCpu) {
  TF_Session* const session = SessionWithToys(2);
  ASSERT_EQ(TF_GetCode(s()), TF_OK) << message();
  std::unique_ptr<TF_DeviceList, Deleter> list(
      TF_SessionListDevices(session, s()));
  ASSERT_EQ(TF_DeviceListCount(list.get()), 3);
  const std::string prefix = "/job:localhost/replica:0/task:0/device:";
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(TF_DeviceListName(list.get(), i, s()),
              prefix + (i == 0   ? "CPU:0"
                        : i == 1 ? "TOY:0"
                                 : "TOY:1"));
    EXPECT_STREQ(TF_DeviceListType(list.get(), i, s()), i == 0 ? "CPU" : "TOY");
  }
  TF_DeleteSession(session, s());
}

TEST_F(PluginDeviceTest, ANodeThatAsksForTheDeviceRunsThere) {
  TF_Operation* const x = Placeholder("x");
  TF_Operation* const minus = Unary("Neg", "minus", x, "/device:TOY:1");
  TF_Operation* const sum = Add("sum", minus, Const("two", 2));
  TF_Session* const session = SessionWithToys(2);
  ASSERT_EQ(TF_GetCode(s()), TF_OK) << message();
  for (int v : {3, 40}) {
    const int before = calls_();
    const Tensor out = Run(session, x, Scalar(v).get(), sum);
    EXPECT_EQ(TF_GetCode(s()), TF_OK) << message();
    EXPECT_EQ(Value(out.get()), 2 - v);
    EXPECT_EQ(calls_(), before + 1);
  }
  TF_DeleteSession(session, s());
  // The same node without the device: the CPU's kernel.
  TF_Operation* const here = Unary("Neg", "here", x, "/device:CPU:0");
  TF_Session* const plain = NewSession();
  const int before = calls_();
  EXPECT_EQ(Value(Run(plain, x, Scalar(5).get(), here).get()), -5);
  EXPECT_EQ(calls_(), before);
  TF_DeleteSession(plain, s());
}

TEST_F(PluginDeviceTest, TypesOfHigherPriorityGetNodesThatAskForNothing) {
  TF_Operation* const x = Placeholder("x");
  TF_Operation* const minus = Unary("Neg", "minus", x, nullptr);
  TF_Operation* const triple = Unary("ToyTriple", "triple", minus, nullptr);
  TF_Session* const session = SessionWithToys(1);
  ASSERT_EQ(TF_GetCode(s()), TF_OK) << message();
  const int before = calls_();
  EXPECT_EQ(Value(Run(session, x, Scalar(7).get(), triple).get()), -21)
      << message();
  EXPECT_EQ(calls_(), before + 2);
  TF_DeleteSession(session, s());
}

TEST_F(PluginDeviceTest, AControlEdgeCrossesToAndFromTheDevice) {
  TF_Operation* const x = Placeholder("x");
  TF_Operation* const here = Unary("Neg", "here", x, "/device:CPU:0");
  TF_Operation* const there =
      Unary("ToyTriple", "there", x, "/device:TOY:0", here);
  TF_Operation* const back = Unary("Neg", "back", x, "/device:CPU:0", there);
  TF_Session* const session = SessionWithToys(1);
  ASSERT_EQ(TF_GetCode(s()), TF_OK) << message();
  const int before = calls_();
  EXPECT_EQ(Value(Run(session, x, Scalar(7).get(), back).get()), -7)
      << message();
  EXPECT_EQ(calls_(), before + 1);
  TF_DeleteSession(session, s());
}

TEST_F(PluginDeviceTest, AFailureOnTheDeviceIsTheRuns) {
  TF_Operation* const x = Placeholder("x");
  TF_Operation* const broken = Unary("Abs", "broken", x, "/device:TOY:0");
  TF_Session* const session = SessionWithToys(1);
  ASSERT_EQ(TF_GetCode(s()), TF_OK) << message();
  EXPECT_EQ(Run(session, x, Scalar(7).get(), broken), nullptr);
  EXPECT_EQ(TF_GetCode(s()), TF_DATA_LOSS);
  EXPECT_NE(message().find("a toy broke"), std::string::npos) << message();
  EXPECT_NE(message().find("broken"), std::string::npos) << message();
  TF_DeleteSession(session, s());
}

TEST_F(PluginDeviceTest, ANodeWithoutAKernelThereIsRefused) {
  TF_Operation* const x = Placeholder("x");
  TF_Operation* const square = Unary("Square", "square", x, "/device:TOY:0");
  TF_Session* const session = SessionWithToys(1);
  ASSERT_EQ(TF_GetCode(s()), TF_OK) << message();
  EXPECT_EQ(Run(session, x, Scalar(7).get(), square), nullptr);
  EXPECT_EQ(TF_GetCode(s()), TF_INVALID_ARGUMENT);
  EXPECT_NE(message().find("no supported kernel"), std::string::npos)
      << message();
  TF_DeleteSession(session, s());
}

TEST_F(PluginDeviceTest, TheErrorOfAFactoryIsTheSessions) {
  EXPECT_EQ(SessionWithToys(5), nullptr);
  EXPECT_EQ(TF_GetCode(s()), TF_INVALID_ARGUMENT);
  EXPECT_NE(message().find("this machine has 4"), std::string::npos)
      << message();
}

// Ops of eager execution run on the device as those of sessions do.
TEST_F(PluginDeviceTest, EagerOpsRunOnADeviceOfAFactory) {
  namespace eager = eager_test;
  const std::string entry = std::string("\x0a\x03TOY\x10\x01", 7);
  const eager::Context context = eager::NewContext(
      std::string("\x0a") + static_cast<char>(entry.size()) + entry);
  const eager::Handle five = eager::Scalar<int32_t>(5);
  const auto run = [&](const char* name, const char* device) {
    const eager::Op op(TFE_NewOp(context.get(), name, s()));
    TFE_OpSetDevice(op.get(), device, s());
    TFE_OpAddInput(op.get(), five.get(), s());
    TFE_TensorHandle* out = nullptr;
    int n = 1;
    TFE_Execute(op.get(), &out, &n, s());
    return eager::Handle(out);
  };
  const int before = calls_();
  EXPECT_EQ(eager::ReadScalar<int32_t>(run("ToyTriple", "")), 15) << message();
  EXPECT_EQ(eager::ReadScalar<int32_t>(run("Neg", "/device:TOY:0")), -5);
  EXPECT_EQ(calls_(), before + 2);
  EXPECT_EQ(eager::ReadScalar<int32_t>(run("Neg", "/cpu:0")), -5);
  EXPECT_EQ(calls_(), before + 2);
  EXPECT_EQ(run("ToyTriple", "/cpu:0"), nullptr);
  EXPECT_EQ(TF_GetCode(s()), TF_INVALID_ARGUMENT) << message();
  EXPECT_EQ(run("Abs", "/device:TOY:0"), nullptr);
  EXPECT_EQ(TF_GetCode(s()), TF_DATA_LOSS) << message();
}

}  // namespace
}  // namespace c_api_test
