#include "runtime/placer.h"

#include <map>
#include <memory>

#include "absl/strings/match.h"
#include "base/interrupt.h"
#include "base/thread_pool.h"
#include "runtime/step_test_util.h"

namespace headrace {
namespace {

#define PLACER_TEST_OP(NAME) \
  REGISTER_OP(NAME).Input("x: int32").Output("y: int32")
PLACER_TEST_OP("PlacerBoth");
PLACER_TEST_OP("PlacerCpu");
PLACER_TEST_OP("PlacerGpu");
PLACER_TEST_OP("PlacerNone");
PLACER_TEST_OP("PlacerAnywhere");
#undef PLACER_TEST_OP
REGISTER_OP("PlacerSource").Output("y: int32");
REGISTER_OP("PlacerByType").Attr("T: type").Output("y: T");
REGISTER_OP("PlacerVariable").Output("r: Ref(int32)").SetIsStateful();
REGISTER_OP("PlacerCpuRef").Input("r: Ref(int32)").Output("s: Ref(int32)");
REGISTER_OP("PlacerHandle").Output("h: resource").SetIsStateful();
REGISTER_OP("PlacerUse").Input("h: resource").SetIsStateful();

class PlacerOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext*) override {}
};
#define PLACER_TEST_KERNEL(OP, DEVICE) \
  REGISTER_KERNEL_BUILDER(Name(OP).Device(DEVICE), PlacerOp)
PLACER_TEST_KERNEL("PlacerBoth", DEVICE_CPU);
PLACER_TEST_KERNEL("PlacerBoth", "GPU");
PLACER_TEST_KERNEL("PlacerCpu", DEVICE_CPU);
PLACER_TEST_KERNEL("PlacerGpu", "GPU");
PLACER_TEST_KERNEL("PlacerAnywhere", DEVICE_DEFAULT);
PLACER_TEST_KERNEL("PlacerSource", DEVICE_CPU);
PLACER_TEST_KERNEL("PlacerSource", "GPU");
PLACER_TEST_KERNEL("PlacerVariable", DEVICE_CPU);
PLACER_TEST_KERNEL("PlacerVariable", "GPU");
PLACER_TEST_KERNEL("PlacerCpuRef", DEVICE_CPU);
PLACER_TEST_KERNEL("PlacerHandle", DEVICE_CPU);
PLACER_TEST_KERNEL("PlacerHandle", "GPU");
PLACER_TEST_KERNEL("PlacerUse", DEVICE_CPU);
PLACER_TEST_KERNEL("PlacerUse", "GPU");
#undef PLACER_TEST_KERNEL
REGISTER_KERNEL_BUILDER(
    Name("PlacerByType").Device(DEVICE_CPU).TypeConstraint<int32_t>("T"),
    PlacerOp);
REGISTER_KERNEL_BUILDER(
    Name("PlacerByType").Device("GPU").TypeConstraint<float>("T"), PlacerOp);

constexpr char kHost[] = "/job:a/replica:0/task:0";

class FakeDevice : public Device {
 public:
  FakeDevice(const std::string& type, int id)
      : Device({.name = absl::StrCat(kHost, "/device:", type, ":", id),
                .device_type = type,
                .memory_limit = 1,
                .incarnation = 1},
               ThreadPool::Global()) {}
  Allocator* allocator(MemoryType) override { return CpuAllocator(); }
  void CopyFromHost(const Tensor&, Tensor*, DoneCallback done) override {
    done(OkStatus());
  }
  void CopyToHost(const Tensor&, Tensor*, DoneCallback done) override {
    done(OkStatus());
  }
};

class PlacerTest : public ::testing::Test {
 protected:
  // "CPU:0 CPU:1 GPU:0"
  Status Place(absl::string_view text, absl::string_view devices,
               bool soft = false) {
    graph_ = std::make_unique<Graph>();
    LoadNodes(text, graph_.get());
    owned_.clear();
    std::vector<Device*> all;
    for (absl::string_view d : absl::StrSplit(devices, ' ')) {
      int id = 0;
      EXPECT_TRUE(absl::SimpleAtoi(d.substr(4), &id)) << d;
      owned_.push_back(
          std::make_unique<FakeDevice>(std::string(d.substr(0, 3)), id));
      all.push_back(owned_.back().get());
    }
    return PlaceGraph({.allow_soft_placement = soft}, all, state_,
                      graph_.get());
  }
  // "CPU:0", of the node's device.
  std::string Where(const std::string& node) const {
    const std::string& d = graph_->FindNode(node)->assigned_device();
    EXPECT_TRUE(absl::StartsWith(d, absl::StrCat(kHost, "/device:"))) << d;
    return d.substr(d.size() - 5);
  }
  std::string Why(const std::string& node) const {
    return graph_->FindNode(node)->placement_reason();
  }

  // Gives places to what has state in the graph `text`.
  void Extend(absl::string_view text, absl::string_view devices,
              bool soft = false) {
    ASSERT_EQ(Place("", devices), OkStatus());
    Graph whole;
    LoadNodes(text, &whole);
    std::vector<Device*> all;
    for (const auto& d : owned_) all.push_back(d.get());
    ASSERT_EQ(state_.Extend({.allow_soft_placement = soft}, all, whole),
              OkStatus());
    for (auto& d : owned_) devices_of_state_.push_back(std::move(d));
  }

  StatePlaces state_;
  std::vector<std::unique_ptr<Device>> devices_of_state_;
  std::unique_ptr<Graph> graph_;
  std::vector<std::unique_ptr<Device>> owned_;
};

constexpr char kAll[] = "CPU:0 CPU:1 GPU:0 GPU:1";

TEST_F(PlacerTest, NothingToPlace) { EXPECT_EQ(Place("", kAll), OkStatus()); }

TEST_F(PlacerTest, NodesGoWhereTheirKernelsAre) {
  ASSERT_EQ(Place(R"(
    s: PlacerSource
    both: PlacerBoth s
    cpu: PlacerCpu s
    gpu: PlacerGpu s
    none: PlacerNone s
    any: PlacerAnywhere s
    f: PlacerByType T=float
    i: PlacerByType T=int32
  )",
                  kAll),
            OkStatus());
  const std::map<std::string, std::string> wanted = {
      {"s", "GPU:0"},    {"both", "GPU:0"}, {"cpu", "CPU:0"}, {"gpu", "GPU:0"},
      {"none", "GPU:0"}, {"any", "GPU:0"},  {"f", "GPU:0"},   {"i", "CPU:0"}};
  for (const auto& [node, device] : wanted) {
    EXPECT_EQ(Where(node), device) << node;
  }
  EXPECT_EQ(Why("both"), "default: first device of the preferred type");
  ASSERT_EQ(Place("s: PlacerSource\ncpu: PlacerCpu s", "GPU:0 CPU:0"),
            OkStatus());
  EXPECT_EQ(Why("cpu"), "only CPU has a kernel");
  ASSERT_EQ(Place("s: PlacerSource", "CPU:0"), OkStatus());
  EXPECT_EQ(Why("s"), "the only device");
}

TEST_F(PlacerTest, DevicesThatAreAskedFor) {
  struct Case {
    const char* asked;
    const char* got;
  };
  const Case cases[] = {
      {"@/cpu:1", "CPU:1"},
      {"@/device:GPU:1", "GPU:1"},
      {"@/device:CPU:*", "CPU:0"},
      {"@/job:a", "GPU:0"},
      {"@/job:a/replica:0/task:0/device:CPU:1", "CPU:1"},
      {"", "GPU:0"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.asked);
    ASSERT_EQ(Place(absl::StrCat("s: PlacerSource ", c.asked), kAll),
              OkStatus());
    EXPECT_EQ(Where("s"), c.got);
    if (*c.asked != '\0') {
      EXPECT_EQ(Why("s"), absl::StrCat("asked for: ", c.asked + 1));
    }
  }
}

// Of many devices the choices are kept; nodes that ask for the same but have
// other kernels must not get each other's.
TEST_F(PlacerTest, ManyDevicesAreAsFew) {
  std::string many = "GPU:0 GPU:1";
  for (int i = 0; i < 40; ++i) absl::StrAppend(&many, " CPU:", i);
  ASSERT_EQ(Place(R"(
    s: PlacerSource
    both: PlacerBoth s @/job:a
    cpu: PlacerCpu s @/job:a
    gpu: PlacerGpu s @/job:a
    again: PlacerBoth s @/job:a
    seven: PlacerBoth s @/cpu:7
    eight: PlacerCpu s @/cpu:8
    more: PlacerCpu s @/cpu:7
  )",
                  many),
            OkStatus());
  const std::map<std::string, std::string> wanted = {
      {"s", "GPU:0"},     {"both", "GPU:0"},  {"cpu", "CPU:0"},
      {"gpu", "GPU:0"},   {"again", "GPU:0"}, {"seven", "CPU:7"},
      {"eight", "CPU:8"}, {"more", "CPU:7"}};
  for (const auto& [node, device] : wanted) {
    EXPECT_EQ(Where(node), device) << node;
  }
  const Status none = Place("a: PlacerSource @/cpu:99", many);
  EXPECT_TRUE(errors::IsInvalidArgument(none)) << none;
}

TEST_F(PlacerTest, Refuses) {
  struct Case {
    const char* text;
    std::vector<std::string> words;
  };
  const Case cases[] = {
      {"s: PlacerSource @/gpu:7",
       {"Cannot assign a device for operation s",
        "explicitly assigned to /device:GPU:7", "/device:CPU:1",
        "/device:GPU:0", "{{node s}}"}},
      {"s: PlacerSource @/job:other", {"/job:other but available devices are"}},
      {"s: PlacerSource\nc: PlacerCpu s @/gpu:0",
       {"Cannot assign a device for operation c",
        "explicit device specification '/device:GPU:0'",
        "Supported device types: CPU."}},
      {"s: PlacerSource\nc: PlacerGpu s @/cpu:0",
       {"Supported device types: GPU."}},
      {"s: PlacerSource @/job:",
       {"Malformed device specification '/job:'", "{{node s}}"}},
      {"a: PlacerSource @/cpu:0\nb: PlacerSource loc=a @/cpu:1",
       {"Cannot colocate nodes {{node b}} and {{node a}}", "incompatible ids"}},
      {"a: PlacerSource\nc: PlacerCpu a\ng: PlacerGpu a loc=c",
       {"Cannot colocate nodes {{node g}} and {{node c}}",
        "no device type supports both"}},
      // Each pair would do, all three do not.
      {"s: PlacerSource\nb: PlacerBoth s\nc: PlacerCpu s loc=b\n"
       "g: PlacerGpu s loc=b",
       {"Cannot colocate nodes {{node g}} and {{node b}}"}},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.text);
    const Status s = Place(c.text, kAll);
    for (const std::string& w : c.words) {
      ExpectError(s, absl::StatusCode::kInvalidArgument, w);
    }
  }
}

TEST_F(PlacerTest, SoftPlacementTakesWhatThereIs) {
  struct Case {
    const char* text;
    const char* devices;
    const char* got;  // of c
  };
  const Case cases[] = {
      {"c: PlacerSource @/gpu:7", kAll, "GPU:0"},  // first another id
      {"c: PlacerSource @/gpu:0", "CPU:0 CPU:1", "CPU:0"},
      {"s: PlacerSource\nc: PlacerCpu s @/gpu:0", kAll, "CPU:0"},
      {"c: PlacerSource @/cpu:1", kAll, "CPU:1"},
      // Peers that disagree about type or id settle for less.
      {"a: PlacerSource @/cpu:0\nc: PlacerSource loc=a @/cpu:1", kAll, "CPU:0"},
      {"a: PlacerSource @/cpu:1\nc: PlacerSource loc=a @/gpu:1", kAll, "GPU:0"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.text);
    ASSERT_EQ(Place(c.text, c.devices, /*soft=*/true), OkStatus());
    EXPECT_EQ(Where("c"), c.got);
  }
  ASSERT_EQ(Place("s: PlacerSource\nc: PlacerCpu s @/gpu:0", kAll, true),
            OkStatus());
  EXPECT_EQ(Why("c"), "soft placement: no device fits /device:GPU:0");
  // Another job cannot be had by softness.
  ExpectError(Place("s: PlacerSource @/job:other", kAll, true),
              absl::StatusCode::kInvalidArgument, "/job:other");
}

TEST_F(PlacerTest, GroupsStayTogether) {
  ASSERT_EQ(Place(R"(
    a: PlacerSource
    b: PlacerBoth a loc=a
    c: PlacerCpu a loc=b
  )",
                  kAll),
            OkStatus());
  for (const char* n : {"a", "b", "c"}) EXPECT_EQ(Where(n), "CPU:0") << n;
  // A peer that this step does not need constrains nothing.
  AddOp(graph_.get(), "alone", "PlacerSource", {},
        {{"_class", std::vector<std::string>{"loc:@elsewhere"}}});
  std::vector<Device*> all;
  for (const auto& d : owned_) all.push_back(d.get());
  ASSERT_EQ(PlaceGraph({}, all, state_, graph_.get()), OkStatus());
  EXPECT_EQ(Where("alone"), "GPU:0");
  ASSERT_EQ(Place("a: PlacerSource @/cpu:1\nb: PlacerSource loc=a", kAll),
            OkStatus());
  EXPECT_EQ(Where("b"), "CPU:1");
  EXPECT_EQ(Why("b"), "colocated with 'a', which asked for /cpu:1");
  // A group's parts add up.
  ASSERT_EQ(Place("a: PlacerSource @/device:CPU:*\nb: PlacerSource loc=a "
                  "@/device:*:1",
                  kAll),
            OkStatus());
  EXPECT_EQ(Where("a"), "CPU:1");
}

TEST_F(PlacerTest, ReferencesAndHandlesAreUsedWhereTheyLive) {
  ASSERT_EQ(Place(R"(
    v: PlacerVariable
    w: PlacerVariable
    use: PlacerCpuRef v
    value: PlacerBoth w @/cpu:1
    h: PlacerHandle @/gpu:1
    there: PlacerUse h
    elsewhere: PlacerUse h @/cpu:0
  )",
                  kAll),
            OkStatus());
  EXPECT_EQ(Where("v"), "CPU:0");  // as its reader has no kernel elsewhere
  EXPECT_EQ(Where("use"), "CPU:0");
  EXPECT_EQ(Where("w"), "GPU:0");  // who reads its value may be anywhere
  EXPECT_EQ(Where("value"), "CPU:1");
  EXPECT_EQ(Where("there"), "GPU:1");
  EXPECT_EQ(Where("elsewhere"), "GPU:1");  // whatever it asked for
  // A handle that is fed says nothing of where its resource is.
  ASSERT_EQ(Place("h: _Arg T=resource index=0\nuse: PlacerUse h @/gpu:1", kAll),
            OkStatus());
  EXPECT_EQ(Where("use"), "GPU:1");
}

TEST_F(PlacerTest, StateIsWhereAllOfItsUsersInTheGraphCanBe) {
  constexpr char kStep[] = "v: PlacerVariable\nvalue: PlacerBoth v";
  ASSERT_EQ(Place(kStep, kAll), OkStatus());
  EXPECT_EQ(Where("v"), "GPU:0");
  Extend(R"(
    v: PlacerVariable
    value: PlacerBoth v
    use: PlacerCpuRef v
    w: PlacerVariable
    beside_w: PlacerSource loc=w @/cpu:1
    bad: PlacerVariable @/gpu:0
    bad_use: PlacerCpuRef bad
    one: PlacerGpu beside_w
    two: PlacerCpu beside_w loc=one
    nowhere: PlacerVariable @/gpu:7
  )",
         kAll);
  ASSERT_EQ(Place(absl::StrCat(kStep, "\nw: PlacerVariable"), kAll),
            OkStatus());
  EXPECT_EQ(Where("v"), "CPU:0");
  EXPECT_EQ(Where("value"), "GPU:0");
  EXPECT_EQ(Where("w"), "CPU:1");
  EXPECT_EQ(Why("w"), "colocated with 'beside_w', which asked for /cpu:1");
  // What cannot be placed fails only in a step that needs it.
  ASSERT_EQ(Place("bad: PlacerVariable @/gpu:1", kAll), OkStatus());
  EXPECT_EQ(Where("bad"), "GPU:1");
  ExpectError(Place("nowhere: PlacerVariable @/gpu:7", kAll),
              absl::StatusCode::kInvalidArgument, "/device:GPU:7");
  // Another op of the same name is another node.
  ASSERT_EQ(Place("v: PlacerHandle", kAll), OkStatus());
  EXPECT_EQ(Where("v"), "GPU:0");
}

TEST_F(PlacerTest, StateStaysWhereItIsWhenTheGraphGrows) {
  Extend("v: PlacerVariable\nh: PlacerHandle @/gpu:1", kAll);
  Extend(R"(
    v: PlacerVariable
    h: PlacerHandle
    use: PlacerCpuRef v
    w: PlacerVariable loc=v
    x: PlacerVariable loc=h
  )",
         kAll);
  ASSERT_EQ(Place("v: PlacerVariable\nbeside: PlacerSource loc=v", kAll),
            OkStatus());
  EXPECT_EQ(Where("v"), "GPU:0");
  EXPECT_EQ(Where("beside"), "GPU:0");
  EXPECT_EQ(Why("beside"),
            "colocated with 'v', which is there: default: first device of the "
            "preferred type");
  ASSERT_EQ(Place("x: PlacerVariable", kAll), OkStatus());
  EXPECT_EQ(Where("x"), "GPU:1");
  // With soft placement too: elsewhere it would be another variable.
  for (const bool soft : {false, true}) {
    ExpectError(
        Place("v: PlacerVariable\nuse: PlacerCpuRef v", kAll, soft),
        absl::StatusCode::kInvalidArgument,
        "it must be on /job:a/replica:0/task:0/device:GPU:0, where 'v' was "
        "placed with all nodes that the graph had then");
  }
  ExpectError(Place("v: PlacerVariable\ns: PlacerSource loc=v @/cpu:0", kAll),
              absl::StatusCode::kInvalidArgument, "Cannot colocate nodes");
  ExpectError(Place("v: PlacerVariable\nh: PlacerHandle loc=v", kAll),
              absl::StatusCode::kInvalidArgument,
              "the first is on /job:a/replica:0/task:0/device:GPU:1, the other "
              "on /job:a/replica:0/task:0/device:GPU:0");
}

TEST_F(PlacerTest, SoftPlacementOfStateHoldsForEveryStep) {
  Extend(R"(
    v: PlacerVariable @/gpu:0
    init: PlacerCpu source loc=v
    source: PlacerSource
  )",
         kAll, true);
  for (const char* step : {"v: PlacerVariable @/gpu:0",
                           "v: PlacerVariable @/gpu:0\n"
                           "near: PlacerSource loc=v @/gpu:0"}) {
    ASSERT_EQ(Place(step, kAll, true), OkStatus());
    EXPECT_EQ(Where("v"), "CPU:0") << step;
    EXPECT_EQ(Why("v"), "soft placement: no device fits /device:GPU:0");
  }
  EXPECT_EQ(Where("near"), "CPU:0");
}

TEST_F(PlacerTest, OneDeviceNeedsNoPlacesOfState) {
  Extend("v: PlacerVariable", "CPU:0");
  ASSERT_EQ(Place("v: PlacerVariable", kAll), OkStatus());
  EXPECT_EQ(Where("v"), "GPU:0");
}

TEST_F(PlacerTest, NodesThatHaveADeviceKeepIt) {
  ASSERT_EQ(Place("a: PlacerSource", kAll), OkStatus());
  graph_->FindNode("a")->set_assigned_device("/somewhere");
  std::vector<Device*> all = {owned_[0].get()};
  ASSERT_EQ(PlaceGraph({}, all, state_, graph_.get()), OkStatus());
  EXPECT_EQ(graph_->FindNode("a")->assigned_device(), "/somewhere");
}

TEST_F(PlacerTest, WithoutAnyDevice) {
  graph_ = std::make_unique<Graph>();
  LoadNodes("a: PlacerSource", graph_.get());
  ExpectError(PlaceGraph({}, {}, {}, graph_.get()),
              absl::StatusCode::kInvalidArgument,
              "Cannot assign a device for operation a");
}

TEST_F(PlacerTest, EndsWhenItIsInterrupted) {
  const Interrupt interrupt([] { return errors::Cancelled("enough"); });
  EXPECT_EQ(Place("a: PlacerSource", kAll), errors::Cancelled("enough"));
}

}  // namespace
}  // namespace headrace
