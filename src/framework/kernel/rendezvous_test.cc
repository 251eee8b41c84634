#include "framework/kernel/rendezvous.h"

#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "framework/kernel/op_tester.h"
#include "headrace/cancellation.h"
#include "headrace/mutex.h"

namespace headrace {
namespace {

// What a receive was given; how often it was called back.
struct Received {
  int calls = 0;
  Status status;
  Tensor value;
  bool is_dead = false;

  Rendezvous::DoneCallback Callback() {
    return [this](const Status& s, const Tensor& t, bool dead) {
      ++calls;
      status = s;
      value = t;
      is_dead = dead;
    };
  }
};

class RendezvousTest : public ::testing::Test {
 protected:
  void Receive(const std::string& key, Received* r,
               CancellationManager* cancellation = nullptr) {
    rendezvous_->RecvAsync(key, cancellation, r->Callback());
  }
  Status Send(const std::string& key, float v, bool is_dead = false) {
    return rendezvous_->Send(key, Tensor::Scalar(v), is_dead);
  }

  RefPtr<Rendezvous> rendezvous_ = NewLocalRendezvous();
};

TEST_F(RendezvousTest, TheNthReceiveGetsTheNthSendOfAKey) {
  Received first, second, other;
  ASSERT_EQ(Send("a", 1), OkStatus());  // before anybody asks
  ASSERT_EQ(Send("a", 2), OkStatus());
  Receive("b", &other);
  Receive("a", &first);
  Receive("a", &second);
  EXPECT_EQ(first.calls, 1);
  EXPECT_EQ(first.value.scalar<float>(), 1);
  EXPECT_EQ(second.value.scalar<float>(), 2);
  EXPECT_EQ(other.calls, 0);
  Received third, fourth;
  Receive("a", &third);  // before anybody sends
  Receive("a", &fourth);
  ASSERT_EQ(Send("a", 3), OkStatus());
  EXPECT_EQ(third.calls, 1);
  EXPECT_EQ(third.value.scalar<float>(), 3);
  EXPECT_EQ(fourth.calls, 0);
  ASSERT_EQ(Send("a", 4), OkStatus());
  EXPECT_EQ(fourth.value.scalar<float>(), 4);
  ASSERT_EQ(Send("b", 5), OkStatus());
  EXPECT_EQ(other.value.scalar<float>(), 5);
}

TEST_F(RendezvousTest, DeadValuesStayDead) {
  for (const bool is_dead : {true, false}) {
    Received before, after;
    ASSERT_EQ(Send("a", 1, is_dead), OkStatus());
    Receive("a", &after);
    EXPECT_EQ(after.is_dead, is_dead);
    Receive("a", &before);
    ASSERT_EQ(Send("a", 1, is_dead), OkStatus());
    EXPECT_EQ(before.is_dead, is_dead);
    EXPECT_EQ(before.status, OkStatus());
  }
}

TEST_F(RendezvousTest, AbortEndsWaitsAndRefusesWhatFollows) {
  Received waiting, late;
  Receive("a", &waiting);
  ASSERT_EQ(Send("kept", 1), OkStatus());
  rendezvous_->StartAbort(errors::DataLoss("lost"));
  rendezvous_->StartAbort(errors::Internal("later"));
  EXPECT_EQ(waiting.calls, 1);
  EXPECT_EQ(waiting.status, errors::DataLoss("lost"));
  EXPECT_EQ(Send("a", 2), errors::DataLoss("lost"));
  Receive("kept", &late);  // what was sent before is gone
  EXPECT_EQ(late.status, errors::DataLoss("lost"));
  EXPECT_EQ(waiting.calls, 1);
}

// Waiting receives once got the OK and an empty tensor.
TEST_F(RendezvousTest, AbortWithoutAReasonIsAnErrorAllTheSame) {
  Received waiting;
  Receive("a", &waiting);
  rendezvous_->StartAbort(OkStatus());
  EXPECT_EQ(waiting.status.code(), absl::StatusCode::kAborted);
  EXPECT_EQ(Send("a", 1), waiting.status);
}

TEST_F(RendezvousTest, CancellationEndsOneReceiveAlone) {
  CancellationManager mine, others;
  Received a, b, c;
  Receive("k", &a, &mine);
  Receive("k", &b, &others);
  Receive("k", &c);
  mine.StartCancel();
  EXPECT_EQ(a.calls, 1);
  EXPECT_EQ(a.status.code(), absl::StatusCode::kCancelled);
  EXPECT_EQ(b.calls + c.calls, 0);
  ASSERT_EQ(Send("k", 1), OkStatus());  // for the first that still waits
  EXPECT_EQ(b.status, OkStatus());
  EXPECT_EQ(c.calls, 0);
  others.StartCancel();  // too late
  EXPECT_EQ(b.calls, 1);
  Received late;
  Receive("k", &late, &mine);
  EXPECT_EQ(late.status.code(), absl::StatusCode::kCancelled);
  // What is there already is given all the same.
  ASSERT_EQ(Send("there", 2), OkStatus());
  Received there;
  Receive("there", &there, &mine);
  EXPECT_EQ(there.status, OkStatus());
  ASSERT_EQ(Send("k", 3), OkStatus());
  EXPECT_EQ(c.value.scalar<float>(), 3);
}

TEST_F(RendezvousTest, ACallbackMayUseTheRendezvous) {
  Received second;
  Status sent;
  rendezvous_->RecvAsync("a", nullptr,
                         [&](const Status&, const Tensor& t, bool) {
                           Receive("b", &second);
                           sent = rendezvous_->Send("b", t, false);
                         });
  ASSERT_EQ(Send("a", 7), OkStatus());
  EXPECT_EQ(sent, OkStatus());
  EXPECT_EQ(second.value.scalar<float>(), 7);
}

TEST_F(RendezvousTest, RecvWaits) {
  std::thread sender([&] { EXPECT_EQ(Send("a", 3, true), OkStatus()); });
  Tensor value;
  bool is_dead = false;
  EXPECT_EQ(rendezvous_->Recv("a", &value, &is_dead), OkStatus());
  EXPECT_EQ(value.scalar<float>(), 3);
  EXPECT_TRUE(is_dead);
  sender.join();
  std::thread aborter([&] { rendezvous_->StartAbort(errors::Aborted("x")); });
  EXPECT_EQ(rendezvous_->Recv("b", &value, &is_dead), errors::Aborted("x"));
  aborter.join();
}

// Each receive is called back once, whoever of sender, canceller and aborter
// comes first.
TEST_F(RendezvousTest, StressOneCallbackForEachReceive) {
  for (int round = 0; round < 100; ++round) {
    rendezvous_ = NewLocalRendezvous();
    CancellationManager c;
    std::atomic<int> calls{0};
    std::vector<std::thread> threads;
    threads.emplace_back([&] {
      for (int i = 0; i < 50; ++i) {
        rendezvous_->RecvAsync(
            "k", &c, [&](const Status&, const Tensor&, bool) { ++calls; });
      }
    });
    threads.emplace_back([&] {
      for (int i = 0; i < 25; ++i) Send("k", 1).IgnoreError();
    });
    threads.emplace_back([&] { c.StartCancel(); });
    if (round % 2 == 0) {
      threads.emplace_back(
          [&] { rendezvous_->StartAbort(errors::Aborted("")); });
    }
    for (std::thread& t : threads) t.join();
    EXPECT_EQ(calls, 50) << "round " << round;
  }
}

TEST(RendezvousKeyTest, SaysWhereFromAndWhereTo) {
  const std::string key =
      Rendezvous::CreateKey("/job:a/cpu:0", 0xABCDull, "/job:b/cpu:1",
                            "edge_3_x", 18446744073709551615ull, 7);
  EXPECT_EQ(key,
            "/job:a/cpu:0;000000000000abcd;/job:b/cpu:1;edge_3_x;"
            "18446744073709551615:7");
  Rendezvous::ParsedKey parsed;
  ASSERT_EQ(Rendezvous::ParseKey(key, &parsed), OkStatus());
  EXPECT_EQ(parsed.src_device, "/job:a/cpu:0");
  EXPECT_EQ(parsed.src_incarnation, 0xABCDull);
  EXPECT_EQ(parsed.dst_device, "/job:b/cpu:1");
  EXPECT_EQ(parsed.edge_name, "edge_3_x");
  ASSERT_EQ(Rendezvous::ParseKey(Rendezvous::CreateKey("", ~0ull, "", "", 0, 0),
                                 &parsed),
            OkStatus());
  EXPECT_EQ(parsed.src_incarnation, ~0ull);
  for (const char* bad :
       {"", "a;b", "s;000000000000abcd;d;e", "s;abcd;d;e;0:0",
        "s;000000000000abcg;d;e;0:0", "s;000000000000ABCD;d;e;0:0",
        "s;000000000000abcd;d;e;0:0;more"}) {
    ExpectError(Rendezvous::ParseKey(bad, &parsed),
                absl::StatusCode::kInvalidArgument,
                absl::StrCat("Invalid rendezvous key: ", bad));
  }
}

}  // namespace
}  // namespace headrace
