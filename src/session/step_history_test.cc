#include "session/step_history.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "framework/kernel/op_tester.h"
#include "session/compiled_step.h"

namespace headrace {
namespace {

constexpr absl::Duration kShort = absl::Milliseconds(1);
constexpr absl::Duration kLong = absl::Milliseconds(100);

TEST(StepHistoryTest, AStepThatNeverRanMayRunLong) {
  const CompiledStep step;
  EXPECT_TRUE(step.history->MayRunLong(0));
}

TEST(StepHistoryTest, AQuickRunSpeaksForRunsWithNoMoreElements) {
  const CompiledStep step;
  step.history->NoteTime(10, kShort);
  EXPECT_FALSE(step.history->MayRunLong(10));
  EXPECT_FALSE(step.history->MayRunLong(3));
  EXPECT_TRUE(step.history->MayRunLong(11));
  step.history->NoteTime(20, kLong);  // as expected: nothing is learned
  EXPECT_FALSE(step.history->MayRunLong(10));
}

TEST(StepHistoryTest, ALongRunTakesBackWhatAQuickOneSaid) {
  const CompiledStep step;
  step.history->NoteTime(10, kShort);
  step.history->NoteTime(8, kLong);
  EXPECT_TRUE(step.history->MayRunLong(8));
  EXPECT_FALSE(step.history->MayRunLong(7));
}

TEST(StepHistoryTest, CountsRunsFromZero) {
  const CompiledStep step;
  for (int64_t i = 0; i < 3; ++i) EXPECT_EQ(step.history->CountRun(), i);
}

TEST(StepHistoryTest, AStepThatMayNotHaveAnArenaIsNotWatched) {
  const CompiledStep step;
  const Tensor x = MakeTensor<float>({2}, {1, 2});
  const std::vector<const Tensor*> feeds{&x};
  for (int i = 0; i < 3; ++i) {
    std::unique_ptr<ReuseNotes> notes;
    EXPECT_EQ(step.history->NewArena(feeds, &notes), nullptr);
    EXPECT_EQ(notes, nullptr);
  }
}

TEST(StepHistoryTest, ShapesThatComeTwiceInARowAreWatchedUntilTheyArePlanned) {
  CompiledStep step;
  step.may_have_arena = true;
  const Tensor a = MakeTensor<float>({2}, {1, 2});
  const Tensor b = MakeTensor<float>({3}, {1, 2, 3});
  const std::vector<const Tensor*> feed_a{&a}, feed_b{&b};
  const auto watches = [&](const std::vector<const Tensor*>& feeds) {
    std::unique_ptr<ReuseNotes> notes;
    EXPECT_EQ(step.history->NewArena(feeds, &notes), nullptr);
    return notes != nullptr;
  };
  EXPECT_FALSE(watches(feed_a));
  EXPECT_FALSE(watches(feed_b));
  EXPECT_FALSE(watches(feed_a));
  EXPECT_TRUE(watches(feed_a));
  // A run with too few large tensors: planned, and not worth an arena.
  step.history->PlanArena(feed_a, ReuseNotes());
  EXPECT_FALSE(watches(feed_a));
  EXPECT_FALSE(watches(feed_b));
  EXPECT_TRUE(watches(feed_b));
}

TEST(StepHistoryTest, PlansAreNotMadeWithoutEnd) {
  CompiledStep step;
  step.may_have_arena = true;
  int watched = 0;
  for (int64_t n = 1; n <= 100; ++n) {
    const Tensor x(DT_FLOAT, TensorShape({n}));
    const std::vector<const Tensor*> feeds{&x};
    for (int i = 0; i < 2; ++i) {
      std::unique_ptr<ReuseNotes> notes;
      step.history->NewArena(feeds, &notes);
      if (notes == nullptr) continue;
      ++watched;
      step.history->PlanArena(feeds, *notes);
    }
  }
  EXPECT_EQ(watched, 64);
}

TEST(StepHistoryTest, AStepWithoutPartsFitsAnyBudgetUnlessItMakesStrings) {
  CompiledStep step;
  const Tensor x = MakeTensor<float>({2}, {1, 2});
  const std::vector<const Tensor*> feeds{&x};
  bool all_known = false;
  EXPECT_EQ(step.history->CheckBudget(feeds, 1, &all_known), OkStatus());
  EXPECT_TRUE(all_known);
  step.has_strings = true;
  EXPECT_EQ(step.history->CheckBudget(feeds, 1, &all_known), OkStatus());
  EXPECT_FALSE(all_known);
}

}  // namespace
}  // namespace headrace
