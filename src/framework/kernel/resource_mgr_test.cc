#include "headrace/resource_mgr.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <new>
#include <string>
#include <thread>
#include <vector>

#include "framework/kernel/op_tester.h"

namespace headrace {
namespace {

class Counter : public ResourceBase {
 public:
  explicit Counter(int* alive = nullptr) : alive_(alive) {
    if (alive_ != nullptr) ++*alive_;
  }
  ~Counter() override {
    if (alive_ != nullptr) --*alive_;
  }
  std::string DebugString() const override { return "counter"; }

 private:
  int* const alive_;
};
class Other : public ResourceBase {
 public:
  std::string DebugString() const override { return "other"; }
};

RefPtr<Counter> New(int* alive = nullptr) {
  return RefPtr<Counter>(new Counter(alive));
}
const auto kNotFound = absl::StatusCode::kNotFound;

TEST(ResourceMgrTest, FindsByContainerNameAndType) {
  ResourceMgr mgr;
  EXPECT_EQ(mgr.default_container(), "localhost");
  RefPtr<Counter> a = New(), got;
  ASSERT_EQ(mgr.Create("c", "a", a), OkStatus());
  ASSERT_EQ(mgr.Lookup("c", "a", &got), OkStatus());
  EXPECT_EQ(got.get(), a.get());
  ExpectError(mgr.Lookup("d", "a", &got), kNotFound,
              "Container d does not exist. (Could not find resource: d/a)");
  ExpectError(mgr.Lookup("c", "b", &got), kNotFound, "Resource c/b/");
  RefPtr<Other> other;
  ExpectError(mgr.Lookup("c", "a", &other), kNotFound, "does not exist");
  // Another type is another resource.
  EXPECT_EQ(mgr.Create("c", "a", RefPtr<Other>(new Other)), OkStatus());
  EXPECT_EQ(mgr.Lookup("c", "a", &other), OkStatus());
  EXPECT_EQ(mgr.Lookup("c", "a", &got), OkStatus());
}

TEST(ResourceMgrTest, ATakenNameStaysWithWhoHasIt) {
  int alive = 0;  // the resources that are left write it when `mgr` goes
  ResourceMgr mgr;
  RefPtr<Counter> a = New(&alive), got;
  ASSERT_EQ(mgr.Create("c", "a", a), OkStatus());
  ExpectError(mgr.Create("c", "a", New(&alive)),
              absl::StatusCode::kAlreadyExists, "Resource c/a/");
  EXPECT_EQ(alive, 1);
  ASSERT_EQ(mgr.Lookup("c", "a", &got), OkStatus());
  EXPECT_EQ(got.get(), a.get());
}

TEST(ResourceMgrTest, ADeletedResourceLivesOnForThoseWhoHoldIt) {
  int alive = 0;  // the resources that are left write it when `mgr` goes
  ResourceMgr mgr;
  ASSERT_EQ(mgr.Create("c", "a", New(&alive)), OkStatus());
  RefPtr<Counter> held;
  ASSERT_EQ(mgr.Lookup("c", "a", &held), OkStatus());
  ASSERT_EQ(mgr.Delete<Counter>("c", "a"), OkStatus());
  EXPECT_EQ(alive, 1);
  RefPtr<Counter> got;
  ExpectError(mgr.Lookup("c", "a", &got), kNotFound, "c/a");
  ExpectError(mgr.Delete<Counter>("c", "a"), kNotFound,
              "Resource c/a does not exist.");
  ExpectError(mgr.Delete<Counter>("none", "a"), kNotFound,
              "Container none does not exist.");
  ASSERT_EQ(mgr.Create("c", "a", New()), OkStatus());  // the name is free
  held.reset();
  EXPECT_EQ(alive, 0);
}

TEST(ResourceMgrTest, LookupOrCreateAsksTheCreatorOnce) {
  ResourceMgr mgr;
  int made = 0;
  const auto create = [&](RefPtr<Counter>* out) {
    ++made;
    *out = New();
    return OkStatus();
  };
  RefPtr<Counter> a, b;
  ASSERT_EQ(mgr.LookupOrCreate<Counter>("c", "a", &a, create), OkStatus());
  ASSERT_EQ(mgr.LookupOrCreate<Counter>("c", "a", &b, create), OkStatus());
  EXPECT_EQ(made, 1);
  EXPECT_EQ(a.get(), b.get());
  // From many threads, too.
  std::vector<std::thread> threads;
  std::atomic<int> same{0};
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int k = 0; k < 100; ++k) {
        RefPtr<Counter> x, y;
        const std::string name = absl::StrCat("n", k);
        ASSERT_EQ(mgr.LookupOrCreate<Counter>("c", name, &x, create),
                  OkStatus());
        ASSERT_EQ(mgr.Lookup("c", name, &y), OkStatus());
        same += x.get() == y.get();
      }
    });
  }
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(made, 101);
  EXPECT_EQ(same, 400);
}

TEST(ResourceMgrTest, ACreatorThatFailsLeavesNothing) {
  ResourceMgr mgr;
  RefPtr<Counter> got;
  ExpectError(mgr.LookupOrCreate<Counter>(
                  "c", "a", &got,
                  [](RefPtr<Counter>*) { return errors::DataLoss("broken"); }),
              absl::StatusCode::kDataLoss, "broken");
  ExpectError(mgr.Lookup("c", "a", &got), kNotFound, "a");
  int seen = 0;
  mgr.ForEach([&](const auto&, const auto&, ResourceBase*) { ++seen; });
  EXPECT_EQ(seen, 0);
}

// It once left an entry without a resource, which the next look-up took for
// one.
TEST(ResourceMgrTest, ACreatorThatThrowsLeavesNothing) {
  ResourceMgr mgr;
  RefPtr<Counter> got;
  EXPECT_THROW(mgr.LookupOrCreate<Counter>("c", "a", &got,
                                           [](RefPtr<Counter>*) -> Status {
                                             throw std::bad_alloc();
                                           })
                   .IgnoreError(),
               std::bad_alloc);
  ExpectError(mgr.Lookup("c", "a", &got), kNotFound, "a");
  EXPECT_EQ(mgr.Create("c", "a", New()), OkStatus());
}

TEST(ResourceMgrTest, ACreatorThatGivesNothingIsAnError) {
  ResourceMgr mgr;
  RefPtr<Counter> got;
  ExpectError(mgr.LookupOrCreate<Counter>(
                  "c", "a", &got, [](RefPtr<Counter>*) { return OkStatus(); }),
              absl::StatusCode::kInternal, "c/a");
  ExpectError(mgr.Lookup("c", "a", &got), kNotFound, "a");
}

TEST(ResourceMgrTest, CleanupDropsOneContainerAndClearAll) {
  int alive = 0;  // the resources that are left write it when `mgr` goes
  ResourceMgr mgr;
  for (const char* container : {"c", "d"}) {
    for (const char* name : {"a", "b"}) {
      ASSERT_EQ(mgr.Create(container, name, New(&alive)), OkStatus());
    }
  }
  mgr.Cleanup("none");
  EXPECT_EQ(alive, 4);
  mgr.Cleanup("c");
  EXPECT_EQ(alive, 2);
  std::vector<std::string> left;
  mgr.ForEach([&](const std::string& container, const std::string& name,
                  ResourceBase* r) {
    left.push_back(absl::StrCat(container, "/", name, " ", r->DebugString()));
  });
  std::sort(left.begin(), left.end());
  EXPECT_EQ(left, (std::vector<std::string>{"d/a counter", "d/b counter"}));
  mgr.Clear();
  EXPECT_EQ(alive, 0);
  ASSERT_EQ(mgr.Create("c", "a", New(&alive)), OkStatus());
}

// Ends with a call back into the manager that holds it.
class Nested : public ResourceBase {
 public:
  explicit Nested(ResourceMgr* mgr) : mgr_(mgr) {}
  ~Nested() override { mgr_->Cleanup("inner"); }
  std::string DebugString() const override { return "nested"; }

 private:
  ResourceMgr* const mgr_;
};

TEST(ResourceMgrTest, ResourcesEndOutsideTheLock) {
  ResourceMgr mgr;
  const auto fill = [&] {
    ASSERT_EQ(mgr.Create("c", "a", RefPtr<Nested>(new Nested(&mgr))),
              OkStatus());
    ASSERT_EQ(mgr.Create("inner", "x", New()), OkStatus());
  };
  fill();
  EXPECT_EQ(mgr.Delete<Nested>("c", "a"), OkStatus());
  fill();
  mgr.Cleanup("c");
  fill();
  mgr.Clear();
  RefPtr<Counter> got;
  EXPECT_EQ(mgr.Lookup("inner", "x", &got).code(), kNotFound);
}

TEST(ResourceMgrTest, HandlesNameOrHoldTheirResource) {
  ResourceMgr mgr;
  RefPtr<Counter> a = New(), got;
  ASSERT_EQ(mgr.Create("c", "a", a), OkStatus());
  const ResourceHandle named = mgr.MakeHandle<Counter>("/cpu:0", "c", "a");
  EXPECT_EQ(named.device, "/cpu:0");
  ASSERT_EQ(LookupResource(&mgr, named, &got), OkStatus());
  EXPECT_EQ(got.get(), a.get());
  RefPtr<Other> other;
  ExpectError(LookupResource(&mgr, named, &other),
              absl::StatusCode::kInvalidArgument,
              "Trying to access resource a of type");
  RefPtr<ResourceBase> any;
  ASSERT_EQ(mgr.Lookup(named, &any), OkStatus());
  EXPECT_EQ(any.get(), a.get());
  ASSERT_EQ(mgr.Delete(named), OkStatus());
  ExpectError(mgr.Lookup(named, &any), kNotFound, "Resource c/a");
  ExpectError(LookupResource(&mgr, named, &got), kNotFound, "c/a");
  ExpectError(mgr.Delete(named), kNotFound, "c/a");

  ResourceHandle holds;
  holds.name = "held";
  holds.resource = a;
  ASSERT_EQ(LookupResource(&mgr, holds, &got), OkStatus());
  EXPECT_EQ(got.get(), a.get());
  ExpectError(LookupResource(&mgr, holds, &other),
              absl::StatusCode::kInvalidArgument,
              "resource held is of another type");
}

}  // namespace
}  // namespace headrace
