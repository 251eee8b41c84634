#include "headrace/ref_count.h"

#include <thread>
#include <utility>
#include <vector>

#include "gtest/gtest.h"

namespace headrace {
namespace {

class Counted : public RefCounted {
 public:
  explicit Counted(int* deleted) : deleted_(deleted) {}

 protected:
  ~Counted() override { ++*deleted_; }

 private:
  int* const deleted_;
};

class Derived : public Counted {
 public:
  using Counted::Counted;
};

TEST(RefCountTest, UnrefTellsWhenTheObjectIsGone) {
  int deleted = 0;
  auto* object = new Counted(&deleted);
  EXPECT_TRUE(object->RefCountIsOne());
  object->Ref();
  EXPECT_FALSE(object->RefCountIsOne());
  EXPECT_FALSE(object->Unref());
  EXPECT_EQ(deleted, 0);
  EXPECT_TRUE(object->Unref());
  EXPECT_EQ(deleted, 1);
}

TEST(RefPtrTest, CopiesMovesAndReleases) {
  int deleted = 0;
  {
    RefPtr<Derived> a = MakeRef<Derived>(&deleted);
    RefPtr<Counted> up = a;
    EXPECT_EQ(up, a);
    EXPECT_FALSE(a->RefCountIsOne());
    RefPtr<Counted> moved = std::move(up);
    EXPECT_EQ(up, nullptr);  // NOLINT: moved-from is null by contract
    a.reset();
    EXPECT_TRUE(moved->RefCountIsOne());
    Counted* raw = moved.release();
    EXPECT_FALSE(moved);
    RefPtr<Counted> extra = RefPtr<Counted>::NewRef(raw);
    EXPECT_FALSE(raw->RefCountIsOne());
    RefPtr<Counted> adopted(raw);
    adopted = *&adopted;  // assignment to itself
    EXPECT_EQ(adopted.get(), raw);
    EXPECT_EQ(deleted, 0);
  }
  EXPECT_EQ(deleted, 1);
  EXPECT_EQ(RefPtr<Counted>::NewRef(nullptr), nullptr);
}

TEST(RefPtrTest, ManyThreadsShareOneObject) {
  int deleted = 0;
  {
    RefPtr<Counted> shared = MakeRef<Counted>(&deleted);
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([copy = shared] {
        for (int i = 0; i < 10000; ++i) RefPtr<Counted> again = copy;
      });
    }
    shared.reset();
    for (std::thread& t : threads) t.join();
  }
  EXPECT_EQ(deleted, 1);
}

}  // namespace
}  // namespace headrace
