// What the classes of ops are made of: one node that is being added. Programs
// use it for ops that have no class, such as those of a loaded library:
//
//   Output y = OpCall(scope, "HardSwish").Add(x).Finish(0);
//
// Thread-compatible.
#ifndef HEADRACE_CC_OP_CALL_H_
#define HEADRACE_CC_OP_CALL_H_

#include <string>
#include <utility>
#include <vector>

#include "headrace/cc/scope.h"

namespace headrace {

// Attributes that a caller sets; others have their defaults.
class AttrList {
 public:
  AttrList();
  AttrList(const AttrList& list);
  AttrList& operator=(const AttrList& list);
  ~AttrList();
  void SetAttr(const char* name, AttrValue value);
  const AttrMap& attrs() const { return attrs_; }

 private:
  AttrMap attrs_;
};

class OpCall {
 public:
  // `name`, if given, is the preferred name instead of the scope's. It is not
  // put under the scope's prefix.
  OpCall(const Scope& scope, const char* op, std::string name = "");
  OpCall(const OpCall&) = delete;
  OpCall& operator=(const OpCall&) = delete;
  ~OpCall();

  // The next argument of the op.
  OpCall& Add(const Input& input);
  OpCall& Add(const InputList& list);
  OpCall& Set(const char* attr, AttrValue value);
  OpCall& Set(const AttrList& attrs);

  // Adds the node. Empty if the scope has or gets an error.
  Operation Finish();
  // Its output `index`.
  Output Finish(int index);

 private:
  struct Arg {
    std::vector<Input> inputs;
    bool is_list;
  };
  Status Build(Node** node);

  const Scope scope_;
  const char* const op_;
  const std::string name_;
  std::vector<Arg> args_;
  AttrMap attrs_;
};

// The outputs of an op by argument: [begin, end) of argument `arg`, for ops
// whose outputs are lists.
OutputList OutputsOfArg(const Operation& op, int arg);
Output OutputOfArg(const Operation& op, int arg);

}  // namespace headrace

#endif  // HEADRACE_CC_OP_CALL_H_
