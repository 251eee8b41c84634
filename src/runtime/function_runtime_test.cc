#include "runtime/function_runtime.h"

#include <thread>

#include "absl/strings/match.h"
#include "absl/time/clock.h"
#include "base/fork.h"
#include "base/thread_pool.h"
#include "runtime/step_test_util.h"

namespace headrace {
namespace {

using Function = FunctionRuntime::Function;
const auto kInvalid = absl::StatusCode::kInvalidArgument;

// Two devices and the functions that most cases call.
class FunctionRuntimeTest : public ::testing::Test {
 protected:
  FunctionRuntimeTest() {
    StepLog::Take();
    AddFunction(&graph_, "Twice", {"x"}, "sum: StepAdd x x", {"y=sum:z:0"});
    AddFunction(&graph_, "Swap", {"x", "y"}, "", {"a=y", "b=x"});
    AddFunction(&graph_, "Count", {"x"}, "c: StepCount x", {"y=c:y:0"});
    AddFunction(&graph_, "Fail", {"x"}, "f: StepFail x message=broken",
                {"y=f:y:0"});
    AddFunction(&graph_, "Wait", {"x"}, "w: StepAsync x how=wait", {"y=w:y:0"});
    AddFunction(&graph_, "Ever", {"x"}, "again: Ever x", {"y=again:y:0"});
    // x + (x - 1) + ... + 0, by calling itself.
    AddFunction(&graph_, "SumTo", {"x"},
                "zero: Const 0\n"
                "minus: Const -1\n"
                "p: StepLess zero:output:0 x\n"
                "s: Switch x p:z:0\n"
                "less: StepAdd s:output_true:0 minus:output:0\n"
                "rest: SumTo less:z:0\n"
                "sum: StepAdd rest:y:0 s:output_true:0\n"
                "m: Merge s:output_false:0 sum:z:0",
                {"y=m:output:0"});
    session_->SetLibrary(graph_);
    const Node* const n = AddOp(&graph_, "caller", "StepEffect");
    EXPECT_EQ(CreateOpKernel(&device_, n->shared_def(), &n->op_def(), &caller_),
              OkStatus());
    args_.cancellation = &cancellation_;
    args_.pool = &pool_;
  }
  ~FunctionRuntimeTest() override { session_->Shutdown(); }

  static NameAttrList Name(const std::string& function) {
    NameAttrList f;
    f.name = function;
    return f;
  }
  const Function* Find(const std::string& name) {
    const Function* f = nullptr;
    EXPECT_EQ(step_.Instantiate(Name(name), device_.name(), &f), OkStatus())
        << name;
    return f;
  }
  // What a call gives: "7 8", or its error.
  std::string Call(FunctionRuntime* runtime, const Function& f,
                   std::vector<Tensor> args) {
    Notification done;
    std::string text;
    runtime->Call(f, *caller_, std::move(args),
                  [&](const Status& s, std::vector<Tensor> results) {
                    text = Text(s, results);
                    done.Notify();
                  });
    done.WaitForNotification();
    return text;
  }
  std::string Call(const std::string& name, const std::vector<int32_t>& args) {
    return Call(&step_, *Find(name), Ints(args));
  }
  static std::vector<Tensor> Ints(const std::vector<int32_t>& values) {
    std::vector<Tensor> tensors;
    for (const int32_t v : values) tensors.push_back(Tensor::Scalar(v));
    return tensors;
  }
  static std::string Text(const Status& s, const std::vector<Tensor>& results) {
    if (!s.ok()) return s.ToString();
    std::vector<std::string> values;
    for (const Tensor& t : results) values.push_back(t.SummarizeValue(4));
    return absl::StrJoin(values, " ");
  }
  // A detached call.
  std::string CallDetached(DetachedFunctions* functions, const Function& f,
                           FunctionScope* scope, int32_t x,
                           CancellationManager* cancellation) {
    Notification done;
    std::string text;
    functions->Call(f, scope, std::make_shared<NodeDef>(caller_->def()),
                    Ints({x}), cancellation,
                    [&](const Status& s, std::vector<Tensor> results) {
                      text = Text(s, results);
                      done.Notify();
                    });
    done.WaitForNotification();
    return text;
  }

  // The same by CallAndWait.
  std::string CallAndWait(DetachedFunctions* functions, const Function& f,
                          int32_t x, CancellationManager* cancellation) {
    std::vector<Tensor> results;
    const Status s = functions->CallAndWait(
        f, nullptr, std::make_shared<NodeDef>(caller_->def()), Ints({x}),
        cancellation, &results);
    return Text(s, results);
  }

  TestDevice device_;
  Graph graph_;
  ThreadPool pool_{2, "functions"};
  const std::shared_ptr<SessionFunctions> session_ =
      std::make_shared<SessionFunctions>(std::vector<Device*>{&device_}, &pool_,
                                         absl::flat_hash_set<std::string>(),
                                         std::make_shared<ForkGate>());
  std::unique_ptr<OpKernel> caller_;
  CancellationManager cancellation_;
  StepArgs args_;
  StepFunctions step_{session_.get(), &args_};
};

TEST_F(FunctionRuntimeTest, CallsGiveResults) {
  EXPECT_EQ(Call("Twice", {4}), "8");
  EXPECT_EQ(Call("Swap", {1, 2}), "2 1");
  EXPECT_EQ(Call("SumTo", {0}), "0");
  EXPECT_EQ(Call("SumTo", {100}), "5050");
  const Function* const swap = Find("Swap");
  EXPECT_EQ(swap->name(), "Swap");
  EXPECT_EQ(swap->arg_types(), (DataTypeVector{DT_INT32, DT_INT32}));
  EXPECT_EQ(swap->ret_types(), (DataTypeVector{DT_INT32, DT_INT32}));
}

TEST_F(FunctionRuntimeTest, AFunctionIsCompiledOnce) {
  const Function* const f = Find("Twice");
  EXPECT_EQ(Find("Twice"), f);
  NameAttrList with = Name("Twice");
  with.attrs = std::make_shared<AttrMap>(
      AttrMap{{"_remark", std::string("of the call")}});
  const Function* g = nullptr;
  ASSERT_EQ(step_.Instantiate(with, device_.name(), &g), OkStatus());
  EXPECT_EQ(g, f);
  with.attrs = std::make_shared<AttrMap>(AttrMap{{"other", true}});
  ExpectError(step_.Instantiate(with, device_.name(), &g), kInvalid,
              "mentions attr 'other'");
  // Part of the device's name will do.
  ASSERT_EQ(step_.Instantiate(Name("Twice"), "/cpu:0", &g), OkStatus());
  EXPECT_EQ(g, f);
}

TEST_F(FunctionRuntimeTest, RefusesWhatItCannotInstantiate) {
  const Function* f = nullptr;
  ExpectError(step_.Instantiate(Name("Zork"), device_.name(), &f),
              absl::StatusCode::kNotFound, "Function Zork is not defined.");
  for (const char* device : {"/cpu:7", "/job:other", "nonsense"}) {
    ExpectError(step_.Instantiate(Name("Twice"), device, &f), kInvalid,
                absl::StrCat("function 'Twice' is to run on unknown device '",
                             device, "'; devices are ", device_.name()));
  }
  // Not found is not remembered: the library may grow.
  AddFunction(&graph_, "Zork", {"x"}, "", {"y=x"});
  EXPECT_EQ(Call("Zork", {3}), "3");
  AddFunction(&graph_, "Bad", {"x"}, "a: StepAdd x zork:y:0", {"y=a:z:0"});
  ExpectError(step_.Instantiate(Name("Bad"), device_.name(), &f), kInvalid,
              "in function 'Bad'");
  AddFunction(&graph_, "NoKernel", {"x"},
              "c: Const 1\n"
              "a: DecodeRaw x out_type=int32",
              {"y=x"});
  const Status s = step_.Instantiate(Name("NoKernel"), device_.name(), &f);
  EXPECT_FALSE(s.ok());
  EXPECT_TRUE(absl::StrContains(s.message(), "NoKernel")) << s;
  cancellation_.StartCancel(errors::Cancelled("enough"));
  AddFunction(&graph_, "Late", {"x"}, "a: StepAdd x x", {"y=a:z:0"});
  ExpectError(step_.Instantiate(Name("Late"), device_.name(), &f),
              absl::StatusCode::kCancelled, "enough");
}

TEST_F(FunctionRuntimeTest, RefusesArgumentsThatDoNotFit) {
  ExpectError(errors::InvalidArgument(Call("Twice", {})), kInvalid,
              "function 'Twice' has 1 arguments, was called with 0");
  ExpectError(errors::InvalidArgument(Call("Twice", {1, 2})), kInvalid,
              "has 1 arguments, was called with 2");
  EXPECT_TRUE(absl::StrContains(
      Call(&step_, *Find("Twice"), {Tensor::Scalar(1.f)}),
      "argument 0 of function 'Twice' is int32, was called with float"));
  EXPECT_TRUE(absl::StrContains(Call(&step_, *Find("Twice"), {Tensor()}),
                                "was called with"));
}

TEST_F(FunctionRuntimeTest, AFailureNamesTheCallsAroundIt) {
  AddFunction(&graph_, "Outer", {"x"}, "inner: Fail x", {"y=inner:y:0"});
  // As calls, not as one body.
  auto plain = std::make_shared<SessionFunctions>(
      std::vector<Device*>{&device_}, &pool_,
      absl::flat_hash_set<std::string>{"inline_functions"},
      std::make_shared<ForkGate>());
  plain->SetLibrary(graph_);
  StepFunctions step(plain.get(), &args_);
  const Function* f = nullptr;
  ASSERT_EQ(step.Instantiate(Name("Outer"), device_.name(), &f), OkStatus());
  const std::string error = Call(&step, *f, Ints({1}));
  for (const char* words :
       {"DATA_LOSS: broken", "{{node f}}",
        "in function 'Fail', called by [[{{node inner}}]]",
        "in function 'Outer', called by [[{{node caller}}]]"}) {
    EXPECT_TRUE(absl::StrContains(error, words)) << error;
  }
  // It is the step's failure, too.
  EXPECT_TRUE(cancellation_.IsCancelled());
  plain->Shutdown();
}

TEST_F(FunctionRuntimeTest, ADeadResultIsAnError) {
  AddFunction(&graph_, "Dead", {"x"}, "p: Const true\ns: Switch x p:output:0",
              {"y=s:output_false:0"});
  EXPECT_TRUE(
      absl::StrContains(Call("Dead", {1}),
                        "Retval[0] does not have value: a result of function "
                        "'Dead'"));
  EXPECT_FALSE(cancellation_.IsCancelled());
}

TEST_F(FunctionRuntimeTest, RecursionHasALimit) {
  const std::string error = Call("Ever", {1});
  EXPECT_TRUE(absl::StrContains(
      error, absl::StrCat("function 'Ever' is called at depth ",
                          kMaxCallDepth + 1, ", the limit is ", kMaxCallDepth)))
      << error;
  EXPECT_TRUE(absl::StrContains(error, "more calls")) << error;
  EXPECT_LT(error.size(), 3000u);
}

TEST_F(FunctionRuntimeTest, AllCallsShareTheStateOfAFunction) {
  EXPECT_EQ(Call("Count", {10}), "10");
  EXPECT_EQ(Call("Count", {10}), "11");
  // A scope has state of its own, from the beginning.
  const std::shared_ptr<FunctionScope> scope = session_->NewScope();
  StepArgs args = args_;
  args.function_scope = scope.get();
  StepFunctions scoped(session_.get(), &args);
  EXPECT_EQ(Call(&scoped, *Find("Count"), Ints({10})), "10");
  EXPECT_EQ(Call(&scoped, *Find("Count"), Ints({10})), "11");
  EXPECT_EQ(Call(&scoped, *Find("Twice"), Ints({10})), "20");
  EXPECT_EQ(Call("Count", {10}), "12");
}

TEST_F(FunctionRuntimeTest, ACancelledStepRunsNothing) {
  const Function* const f = Find("Twice");
  cancellation_.StartCancel(errors::DeadlineExceeded("late"));
  EXPECT_EQ(Call(&step_, *f, Ints({1})), "DEADLINE_EXCEEDED: late");
  EXPECT_EQ(StepLog::Take(), "");
}

TEST_F(FunctionRuntimeTest, GradientsAreTheLibrarys) {
  ASSERT_EQ(graph_.functions()->AddGradient("Twice", "TwiceGrad"), OkStatus());
  const auto gradient = step_.Gradient({.name = "Twice"});
  ASSERT_TRUE(gradient.ok()) << gradient.status();
  EXPECT_EQ(gradient->name, "TwiceGrad");
  EXPECT_FALSE(step_.Gradient({.name = "NoSuch"}).ok());
}

TEST_F(FunctionRuntimeTest, DetachedCallsAreStepsOfTheirOwn) {
  const std::shared_ptr<DetachedFunctions> functions = step_.Detach();
  const Function* f = nullptr;
  ASSERT_EQ(functions->Instantiate(Name("Fail"), "/cpu:0", &f), OkStatus());
  CancellationManager token;
  EXPECT_TRUE(
      absl::StrContains(CallDetached(functions.get(), *f, nullptr, 1, &token),
                        "DATA_LOSS: broken"));
  EXPECT_FALSE(cancellation_.IsCancelled());
  EXPECT_FALSE(token.IsCancelled());
  ASSERT_EQ(functions->Instantiate(Name("Count"), "/cpu:0", &f), OkStatus());
  EXPECT_EQ(CallDetached(functions.get(), *f, nullptr, 5, &token), "5");
  const std::shared_ptr<FunctionScope> scope = functions->NewScope();
  EXPECT_EQ(CallDetached(functions.get(), *f, scope.get(), 5, &token), "5");
  EXPECT_EQ(CallDetached(functions.get(), *f, nullptr, 5, &token), "6");
  ExpectError(functions->Instantiate(Name("Zork"), "/cpu:0", &f),
              absl::StatusCode::kNotFound, "Zork");
}

TEST_F(FunctionRuntimeTest, TheThreadThatWaitsForADetachedCallWorksForIt) {
  AddFunction(&graph_, "Branches", {"x"},
              "a: StepSlow x\nb: StepSlow x\nc: StepSlow x\n"
              "ab: StepAdd a:y:0 b:y:0\nabc: StepAdd ab:z:0 c:y:0",
              {"y=abc:z:0"});
  const std::shared_ptr<DetachedFunctions> functions = step_.Detach();
  const Function* const f = Find("Branches");
  Notification busy, release, ended;
  pool_.Schedule([&] {
    busy.Notify();
    release.WaitForNotification();
    ended.Notify();
  });
  busy.WaitForNotification();
  CancellationManager token;
  EXPECT_EQ(CallAndWait(functions.get(), *f, 5, &token), "15");
  EXPECT_TRUE(
      absl::StrContains(CallAndWait(functions.get(), *Find("Fail"), 1, &token),
                        "DATA_LOSS: broken"));
  release.Notify();
  ended.WaitForNotification();
  session_->Shutdown();
  EXPECT_EQ(CallAndWait(functions.get(), *f, 5, &token),
            "CANCELLED: Session has been closed.");
}

TEST_F(FunctionRuntimeTest, ADetachedCallEndsWithItsToken) {
  const std::shared_ptr<DetachedFunctions> functions = step_.Detach();
  const Function* const f = Find("Wait");
  CancellationManager token;
  std::thread canceller([&] {
    absl::SleepFor(absl::Milliseconds(20));
    token.StartCancel(errors::Aborted("by its token"));
  });
  EXPECT_EQ(CallDetached(functions.get(), *f, nullptr, 1, &token),
            "ABORTED: by its token");
  canceller.join();
  // Cancelled beforehand it does not begin.
  StepLog::Take();
  EXPECT_EQ(CallDetached(functions.get(), *f, nullptr, 1, &token),
            "ABORTED: by its token");
  EXPECT_EQ(StepLog::Take(), "");
}

TEST_F(FunctionRuntimeTest, ShutdownCancelsDetachedCallsAndWaitsForThem) {
  const std::shared_ptr<DetachedFunctions> functions = step_.Detach();
  const std::shared_ptr<FunctionScope> scope = functions->NewScope();
  const Function* const f = Find("Wait");
  CancellationManager token;
  std::string got;
  std::thread waiter(
      [&] { got = CallDetached(functions.get(), *f, nullptr, 1, &token); });
  while (StepLog::Take().empty()) absl::SleepFor(absl::Milliseconds(1));
  session_->Shutdown();
  waiter.join();
  EXPECT_EQ(got, "CANCELLED: Session has been closed.");
  // Whoever comes now is refused.
  const Function* g = nullptr;
  ExpectError(functions->Instantiate(Name("Twice"), "/cpu:0", &g),
              absl::StatusCode::kCancelled, "Session has been closed.");
  EXPECT_FALSE(functions->Schedule([] { ADD_FAILURE() << "it ran"; }));
  ExpectError(session_->Enter(), absl::StatusCode::kCancelled, "closed");
  session_->Shutdown();  // again
}

TEST_F(FunctionRuntimeTest, ScheduledWorkRunsAndIsWaitedFor) {
  const std::shared_ptr<DetachedFunctions> functions = step_.Detach();
  Notification began;
  std::atomic<bool> ended{false};
  ASSERT_TRUE(functions->Schedule([&] {
    began.Notify();
    absl::SleepFor(absl::Milliseconds(20));
    ended = true;
  }));
  began.WaitForNotification();
  session_->Shutdown();
  EXPECT_TRUE(ended);
}

TEST_F(FunctionRuntimeTest, ManyThreadsInstantiateOneFunction) {
  std::vector<std::thread> threads;
  std::vector<const Function*> got(8);
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      ASSERT_EQ(step_.Instantiate(Name("SumTo"), "/cpu:0", &got[t]),
                OkStatus());
    });
  }
  for (std::thread& t : threads) t.join();
  for (const Function* f : got) EXPECT_EQ(f, got[0]);
}

TEST_F(FunctionRuntimeTest, ANodeWhoseOpIsAFunctionGetsAKernelThatCallsIt) {
  const Endpoint c = Const(&graph_, "c", Tensor::Scalar<int32_t>(1));
  Node* const call = AddOp(&graph_, "call", "Twice", {c},
                           {{"_remark", std::string("dropped")}});
  std::unique_ptr<OpKernel> kernel;
  ASSERT_EQ(CreateNodeKernel(&device_, *call, &kernel), OkStatus());
  EXPECT_EQ(kernel->type_string(), "PartitionedCall");
  EXPECT_EQ(kernel->name(), "call");
  NameAttrList f;
  ASSERT_EQ(kernel->def().attrs.Get("f", &f), OkStatus());
  EXPECT_EQ(f.name, "Twice");
  EXPECT_EQ(f.attrs->Find("_remark"), nullptr);
  ASSERT_EQ(CreateNodeKernel(&device_, *c.node, &kernel), OkStatus());
  EXPECT_EQ(kernel->type_string(), "Const");
}

TEST(DescribeCallsTest, NamesTheEndsOfALongChain) {
  EXPECT_EQ(DescribeCalls(nullptr), "");
  const std::string f = "f";
  std::vector<NodeDef> callers(20);
  std::vector<CallSite> sites(20);
  for (int i = 0; i < 20; ++i) {
    callers[i].name = absl::StrCat("c", i);
    sites[i] = {&f, &callers[i], i == 0 ? nullptr : &sites[i - 1], i + 1};
  }
  const auto line = [](int i) {
    return absl::StrCat("\n\t in function 'f', called by [[{{node c", i,
                        "}}]]");
  };
  EXPECT_EQ(DescribeCalls(&sites[1]), line(1) + line(0));
  std::string eight;
  for (int i = 7; i >= 0; --i) eight += line(i);
  EXPECT_EQ(DescribeCalls(&sites[7]), eight);
  EXPECT_EQ(DescribeCalls(&sites[19]), line(19) + line(18) + line(17) +
                                           line(16) + "\n\t ... 12 more calls" +
                                           line(3) + line(2) + line(1) +
                                           line(0));
}

}  // namespace
}  // namespace headrace
