#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "base/env.h"
#include "framework/kernel/op_tester.h"
#include "headrace/event.pb.h"
#include "headrace/graph.pb.h"
#include "io/record_file.h"

namespace headrace {
namespace {

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;
constexpr auto kNotFound = absl::StatusCode::kNotFound;
constexpr auto kDataLoss = absl::StatusCode::kDataLoss;

Tensor Text(const std::string& s) { return MakeScalar<tstring>(tstring(s)); }

// Runs kernels on one device, whose resources last from op to op.
class SummaryWriterTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(Run("SummaryWriter", {}), OkStatus());
    dir_ = JoinPath(
        ::testing::TempDir(),
        ::testing::UnitTest::GetInstance()->current_test_info()->name());
    (void)Env::Default()->DeleteRecursively(dir_);
  }
  void TearDown() override { (void)Env::Default()->DeleteRecursively(dir_); }

  // The handle is the first input of each op but the one that makes it.
  Status Run(const std::string& op_name, std::vector<Tensor> inputs,
             const std::string& attr = "", AttrValue value = AttrValue()) {
    const bool makes = op_name == "SummaryWriter";
    if (!makes) inputs.insert(inputs.begin(), handle_);
    NodeDef def;
    def.name = "node";
    def.op = op_name;
    const OpDef* op = nullptr;
    HR_RETURN_IF_ERROR(OpRegistry::Global()->LookUp(op_name, &op));
    if (!attr.empty()) def.attrs.Set(attr, std::move(value));
    for (size_t i = 0; i < inputs.size(); ++i) {
      const int type = op->inputs[i].type_attr;
      if (type >= 0) def.attrs.Set(op->attrs[type].name, inputs[i].dtype());
    }
    AddDefaultAttrs(*op, &def.attrs);
    HR_RETURN_IF_ERROR(ValidateAttrs(*op, def.attrs));
    std::unique_ptr<OpKernel> kernel;
    HR_RETURN_IF_ERROR(
        CreateOpKernel(&device_, std::make_shared<NodeDef>(def), op, &kernel));
    std::vector<TensorValue> values;
    for (Tensor& t : inputs) values.push_back({&t, nullptr});
    OpKernelContext::Params params;
    params.kernel = kernel.get();
    params.device = &device_;
    params.inputs = values;
    OpKernelContext ctx(&params);
    device_.Compute(kernel.get(), &ctx);
    if (makes && ctx.status().ok()) handle_ = ctx.output_slot(0).value;
    return ctx.status();
  }
  Status Create(const std::string& dir, int max_queue = 10) {
    return Run("CreateSummaryFileWriter",
               {Text(dir), MakeScalar<int32_t>(max_queue),
                MakeScalar<int32_t>(120000), Text(".sfx")});
  }
  // All events of all files, oldest file first.
  std::vector<pb::Event> Events() {
    std::vector<pb::Event> events;
    std::vector<std::string> paths;
    EXPECT_EQ(Env::Default()->Glob(JoinPath(dir_, "*"), &paths), OkStatus());
    for (const std::string& path : paths) {
      EXPECT_NE(path.find("/events.out.tfevents."), std::string::npos);
      EXPECT_TRUE(path.ends_with(".sfx")) << path;
      auto reader =
          RecordReader::Open(Env::Default(), path, Compression::kNone);
      EXPECT_EQ(reader.status(), OkStatus());
      std::string record;
      for (bool end = false;;) {
        EXPECT_EQ((*reader)->Next(&record, &end), OkStatus());
        if (end) break;
        EXPECT_TRUE(events.emplace_back().ParseFromString(record));
      }
    }
    return events;
  }

  std::string dir_;
  TestDevice device_;
  Tensor handle_;
  const Tensor step_ = MakeScalar<int64_t>(7);
};

TEST_F(SummaryWriterTest, WritesWhatSummariesHold) {
  ASSERT_EQ(Create(dir_), OkStatus());
  ASSERT_EQ(Create(dir_), OkStatus());  // there already
  ASSERT_EQ(Run("WriteScalarSummary", {step_, Text("s"), MakeScalar(2.5)}),
            OkStatus());
  ASSERT_EQ(Run("WriteHistogramSummary",
                {step_, Text("h"), MakeTensor<bool>({3}, {true, false, true})}),
            OkStatus());
  pb::SummaryMetadata metadata;
  metadata.set_display_name("dn");
  ASSERT_EQ(
      Run("WriteSummary", {step_, MakeTensor<float>({2}, {1, 2}), Text("t"),
                           Text(metadata.SerializeAsString())}),
      OkStatus());
  const Tensor red = MakeTensor<uint8_t>({4}, {255, 0, 0, 255});
  ASSERT_EQ(Run("WriteImageSummary",
                {step_, Text("i"),
                 MakeTensor<float>({1, 2, 2, 1}, {0, 2, 4, 6}), red}),
            OkStatus());
  ASSERT_EQ(Run("WriteImageSummary",
                {step_, Text("j"),
                 MakeTensor<uint8_t>({1, 2, 2, 1}, {0, 1, 2, 3}), red},
                "max_images", int64_t{1}),
            OkStatus());
  ASSERT_EQ(Run("WriteAudioSummary",
                {step_, Text("a"), MakeTensor<float>({1, 3}, {0, .5, 1}),
                 MakeScalar(8000.f)}),
            OkStatus());
  pb::Summary one, two;
  one.add_value()->set_tag("r1");
  two.add_value()->set_tag("r2");
  ASSERT_EQ(Run("WriteRawProtoSummary",
                {step_,
                 MakeTensor<tstring>({2}, {tstring(one.SerializeAsString()),
                                           tstring(two.SerializeAsString())})}),
            OkStatus());
  pb::GraphDef graph;
  graph.add_node()->set_name("n");
  ASSERT_EQ(Run("WriteGraphSummary", {step_, Text(graph.SerializeAsString())}),
            OkStatus());
  pb::Event imported;
  imported.set_step(99);
  imported.set_wall_time(5);
  ASSERT_EQ(Run("ImportEvent", {Text(imported.SerializeAsString())}),
            OkStatus());
  ASSERT_EQ(Run("FlushSummaryWriter", {}), OkStatus());

  const std::vector<pb::Event> events = Events();
  ASSERT_EQ(events.size(), 10);
  EXPECT_EQ(events[0].file_version(), "brain.Event:2");
  EXPECT_GT(events[0].wall_time(), 1e9);
  for (int i = 1; i < 9; ++i) {
    EXPECT_EQ(events[i].step(), 7);
    EXPECT_GE(events[i].wall_time(), events[0].wall_time());
  }
  EXPECT_EQ(events[1].summary().value(0).tag(), "s");
  EXPECT_EQ(events[1].summary().value(0).simple_value(), 2.5f);
  const pb::HistogramProto& h = events[2].summary().value(0).histo();
  EXPECT_EQ(h.min(), 0);
  EXPECT_EQ(h.max(), 1);
  EXPECT_EQ(h.num(), 3);
  EXPECT_EQ(h.sum(), 2);
  EXPECT_EQ(h.sum_squares(), 2);
  const std::vector<double> limits = {
      0, 1e-12, 0.917246389039776, 1.0089710279437536, 1.7976931348623157e+308};
  EXPECT_EQ(
      std::vector<double>(h.bucket_limit().begin(), h.bucket_limit().end()),
      limits);
  EXPECT_EQ(std::vector<double>(h.bucket().begin(), h.bucket().end()),
            (std::vector<double>{0, 1, 0, 2, 0}));
  EXPECT_EQ(events[3].summary().value(0).metadata().display_name(), "dn");
  EXPECT_EQ(events[3].summary().value(0).tensor().tensor_content().size(), 8);
  EXPECT_EQ(events[4].summary().value(0).tag(), "i/image/0");
  EXPECT_EQ(events[4].summary().value(0).image().width(), 2);
  EXPECT_EQ(events[5].summary().value(0).tag(), "j/image");
  EXPECT_EQ(events[6].summary().value(0).tag(), "a/audio/0");
  EXPECT_EQ(events[6].summary().value(0).audio().length_frames(), 3);
  ASSERT_EQ(events[7].summary().value_size(), 2);
  EXPECT_EQ(events[7].summary().value(1).tag(), "r2");
  EXPECT_EQ(events[8].graph_def(), graph.SerializeAsString());
  EXPECT_EQ(events[9].SerializeAsString(), imported.SerializeAsString());
}

TEST_F(SummaryWriterTest, EventsBeyondTheQueueReachTheFile) {
  ASSERT_EQ(Create(dir_, /*max_queue=*/1), OkStatus());
  const auto write = [this] {
    return Run("WriteScalarSummary", {step_, Text("s"), MakeScalar(1.f)});
  };
  ASSERT_EQ(write(), OkStatus());
  ASSERT_EQ(write(), OkStatus());
  EXPECT_EQ(Events().size(), 3);
}

TEST_F(SummaryWriterTest, CloseForgetsTheWriter) {
  ExpectError(Run("FlushSummaryWriter", {}), kNotFound, "");
  ASSERT_EQ(Create(dir_), OkStatus());
  ASSERT_EQ(Run("WriteScalarSummary", {step_, Text("s"), MakeScalar(1.f)}),
            OkStatus());
  ASSERT_EQ(Run("CloseSummaryWriter", {}), OkStatus());
  EXPECT_EQ(Events().size(), 2);
  ExpectError(Run("CloseSummaryWriter", {}), kNotFound, "");
  ExpectError(Run("WriteScalarSummary", {step_, Text("s"), MakeScalar(1.f)}),
              kNotFound, "");
  ASSERT_EQ(Create(dir_), OkStatus());
  EXPECT_EQ(Events().size(), 3);  // the second file's version
}

TEST_F(SummaryWriterTest, Refusals) {
  ExpectError(Create("/proc/there/is/none"), kNotFound, "");
  ASSERT_EQ(Create(dir_), OkStatus());
  const Tensor one = MakeScalar(1.f), bad = Text("\xff\xff");
  const Tensor color = MakeTensor<uint8_t>({1}, {255});
  const struct {
    const char* op;
    std::vector<Tensor> inputs;
    absl::StatusCode code;
    const char* message;
  } cases[] = {
      {"WriteScalarSummary",
       {step_, Text("s"), MakeTensor<float>({2}, {1, 2})},
       kInvalid,
       "value must be a scalar"},
      {"WriteScalarSummary",
       {MakeTensor<int64_t>({2}, {1, 2}), Text("s"), one},
       kInvalid,
       "step must be a scalar"},
      {"WriteScalarSummary",
       {step_, MakeTensor<tstring>({2}, {tstring("a"), tstring("b")}), one},
       kInvalid,
       "tag must be a scalar"},
      {"WriteHistogramSummary",
       {step_, Text("h"), MakeScalar(std::numeric_limits<float>::infinity())},
       kInvalid,
       "Infinity in summary histogram"},
      {"WriteImageSummary",
       {step_, Text("i"), MakeTensor<float>({1, 1, 1, 2}, {0, 0}), color},
       kInvalid,
       "last dim 1, 3, or 4"},
      {"WriteImageSummary",
       {step_, Text("i"), MakeTensor<float>({1, 1, 1, 3}, {0, 0, 0}), color},
       kInvalid,
       "bad_color.size = 1"},
      {"WriteAudioSummary",
       {step_, Text("a"), MakeTensor<float>({1, 1}, {0}), MakeScalar(-1.f)},
       kInvalid,
       "sample_rate must be > 0"},
      {"WriteSummary",
       {step_, one, Text("t"), bad},
       kInvalid,
       "no SummaryMetadata"},
      {"WriteRawProtoSummary", {step_, bad}, kDataLoss, "no Summary message"},
      {"WriteGraphSummary", {step_, bad}, kDataLoss, "no GraphDef message"},
      {"ImportEvent", {bad}, kDataLoss, "no Event message"},
      {"CreateSummaryDbWriter",
       {bad, bad, bad, bad},
       absl::StatusCode::kUnimplemented,
       "CreateSummaryFileWriter"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.op);
    ExpectError(Run(c.op, c.inputs), c.code, c.message);
  }
  ASSERT_EQ(Run("FlushSummaryWriter", {}), OkStatus());
  EXPECT_EQ(Events().size(), 1);
  handle_ = Tensor(DT_RESOURCE, TensorShape({2}));
  ExpectError(Run("FlushSummaryWriter", {}), kInvalid, "");
}

}  // namespace
}  // namespace headrace
