#include "kernels/flow/queue_base.h"

#include <atomic>
#include <deque>
#include <thread>

#include "framework/kernel/op_tester.h"

namespace headrace {
namespace {

class TestQueue : public QueueBase {
 public:
  explicit TestQueue(int64_t capacity)
      : QueueBase({.type = "TestQueue",
                   .name = "q",
                   .capacity = capacity,
                   .component_types = {DT_INT32},
                   .component_shapes = {PartialTensorShape::Scalar()}}) {}

 protected:
  int64_t SizeLocked() const override {
    return static_cast<int64_t>(elements_.size());
  }
  void PushLocked(Tuple e) override { elements_.push_back(std::move(e)); }
  Tuple PopLocked() override {
    Tuple e = std::move(elements_.front());
    elements_.pop_front();
    return e;
  }
  void PutBackLocked(Tuple e) override { elements_.push_front(std::move(e)); }

 private:
  std::deque<Tuple> elements_;
};

// Runs one attempt and waits for its end.
class QueueBaseTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto def = std::make_shared<NodeDef>();
    def->name = "node";
    def->op = "NoOp";
    const OpDef* op = OpRegistry::Global()->Find("NoOp");
    ASSERT_NE(op, nullptr);
    ASSERT_EQ(CreateOpKernel(&device_, def, op, &kernel_), OkStatus());
  }
  template <typename F>
  Status Run(CancellationManager* cancel, const F& start) {
    OpKernelContext::Params params;
    params.kernel = kernel_.get();
    params.device = &device_;
    params.cancellation = cancel;
    OpKernelContext ctx(&params);
    Notification done;
    start(&ctx, [&] { done.Notify(); });
    done.WaitForNotification();
    return ctx.status();
  }
  Status Put(QueueBase* q, int v) {
    return Run(nullptr,
               [&](OpKernelContext* ctx, QueueBase::DoneCallback done) {
                 q->Enqueue(ctx, {Tensor::Scalar<int32_t>(v)}, std::move(done));
               });
  }
  Status Take(QueueBase* q, int64_t n, std::vector<int>* out,
              CancellationManager* cancel = nullptr) {
    return Run(cancel, [&](OpKernelContext* ctx, QueueBase::DoneCallback done) {
      q->Dequeue(
          ctx, n, false,
          [out](std::vector<QueueBase::Tuple> got) {
            for (auto& t : got) out->push_back(t[0].scalar<int32_t>());
          },
          std::move(done));
    });
  }

  TestDevice device_;
  std::unique_ptr<OpKernel> kernel_;
};

// Whatever is cancelled, every element comes out once.
TEST_F(QueueBaseTest, CancellationsLoseNothing) {
  auto queue = MakeRef<TestQueue>(10);
  constexpr int kProducers = 2, kEach = 500;
  std::vector<std::atomic<int>> seen(kProducers * kEach);
  std::vector<std::thread> threads;
  for (int p = 0; p < kProducers; ++p) {
    threads.emplace_back([&, p] {
      for (int i = 0; i < kEach; ++i) {
        EXPECT_EQ(Put(queue.get(), p * kEach + i), OkStatus());
      }
    });
  }
  std::atomic<int> left{kProducers * kEach}, cancelled{0};
  for (int c = 0; c < 3; ++c) {
    threads.emplace_back([&, c] {
      for (int round = 0; left > 8; ++round) {  // what is left then has room
        CancellationManager cancel;
        std::thread canceller([&] {
          if (round % 3 == 0) std::this_thread::yield();
          cancel.StartCancel();
        });
        std::vector<int> got;
        const Status s = Take(queue.get(), 1 + (c + round) % 9, &got, &cancel);
        canceller.join();
        if (!s.ok()) ++cancelled;
        EXPECT_TRUE(s.ok() || got.empty()) << s;
        for (int v : got) ++seen[v];
        left -= static_cast<int>(got.size());
      }
    });
  }
  for (auto& t : threads) t.join();
  std::vector<int> rest;
  EXPECT_EQ(Take(queue.get(), queue->size(), &rest), OkStatus());
  for (int v : rest) ++seen[v];
  for (size_t i = 0; i < seen.size(); ++i) EXPECT_EQ(seen[i], 1) << i;
}

TEST_F(QueueBaseTest, RefusesTuplesThatDoNotFit) {
  TestQueue q(1);
  using absl::StatusCode;
  ExpectError(q.Validate({}, false), StatusCode::kInvalidArgument,
              "Expected 1, got 0");
  ExpectError(q.Validate({MakeScalar<float>(1)}, false),
              StatusCode::kInvalidArgument, "Expected int32, got float");
  ExpectError(q.Validate({MakeTensor<int32_t>({1}, {1})}, false),
              StatusCode::kInvalidArgument, "Expected [], got [1]");
  ExpectError(q.Validate({MakeScalar<int32_t>(1)}, true),
              StatusCode::kInvalidArgument, "at least one dimension");
  EXPECT_EQ(q.Validate({MakeTensor<int32_t>({1}, {1})}, true), OkStatus());
}

}  // namespace
}  // namespace headrace
