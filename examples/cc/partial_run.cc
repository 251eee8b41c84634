// A step that is fed and fetched in two pieces: what is fed second may depend
// on what was fetched first.
#include <cstdio>

#include "headrace/cc/client_session.h"
#include "headrace/cc/standard_ops.h"
#include "headrace/cc/throwing.h"

using namespace headrace;

int main() try {
  const Scope root = Scope::NewRootScope();
  const Output a = ops::Placeholder(root, DT_FLOAT);
  const Output b = ops::Placeholder(root, DT_FLOAT);
  const Output sum = a * a + 1, product = sum * b;
  ClientSession session(root);
  const std::string handle = OrThrow(session.PRunSetup({a, b}, {sum, product}));
  std::vector<Tensor> out;
  OrThrow(session.PRun(handle, {{a, 3}}, {sum}, &out));
  const float first = out[0].scalar<float>();
  OrThrow(session.PRun(handle, {{b, first / 2}}, {product}, &out));
  std::printf("%g, then %g\n", first, out[0].scalar<float>());  // 10, then 50
} catch (const StatusError& error) {
  return std::fprintf(stderr, "%s\n", error.what()), 1;
}
