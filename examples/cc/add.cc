// Builds y = a * a + 1 through the C++ API and runs it.
#include <cstdio>

#include "headrace/session.h"

using namespace headrace;

static StatusOr<Node*> Add(Graph* g, const char* name, const char* op,
                           std::vector<Endpoint> inputs, AttrMap attrs = {}) {
  NodeDef def;
  def.name = name;
  def.op = op;
  def.attrs = std::move(attrs);
  return g->AddNode(std::move(def), inputs);
}

static Status Run() {
  auto graph = std::make_shared<Graph>();
  Graph* g = graph.get();
  HR_ASSIGN_OR_RETURN(Node * a,
                      Add(g, "a", "Placeholder", {}, {{"dtype", DT_FLOAT}}));
  HR_ASSIGN_OR_RETURN(Node * one, Add(g, "one", "Const", {},
                                      {{"dtype", DT_FLOAT},
                                       {"value", Tensor::Scalar<float>(1)}}));
  HR_ASSIGN_OR_RETURN(Node * square, Add(g, "square", "Mul", {{a, 0}, {a, 0}}));
  HR_ASSIGN_OR_RETURN(Node * y, Add(g, "y", "Add", {{square, 0}, {one, 0}}));
  (void)y;

  std::unique_ptr<Session> session;
  HR_RETURN_IF_ERROR(
      MoveTo(NewSession(pb::ConfigProto(), "", graph), &session));
  std::vector<Tensor> out;
  const float values[] = {1, 2, 3};
  HR_RETURN_IF_ERROR(session->Run({{"a:0", Tensor::Vector<float>(values)}},
                                  {"y:0"}, {}, &out));
  std::printf("%s\n", out[0].DebugString().c_str());  // 2 5 10
  return OkStatus();
}

int main() {
  const Status s = Run();
  if (!s.ok()) std::fprintf(stderr, "%s\n", s.ToString().c_str());
  return s.ok() ? 0 : 1;
}
