// OpDef: the signature of an op, parsed from the specs in REGISTER_OP. An OpDef
// is immutable once it is registered, and may then be read by any thread.
#ifndef HEADRACE_OP_DEF_H_
#define HEADRACE_OP_DEF_H_

#include <optional>
#include <string>
#include <vector>

#include "headrace/attr_value.h"
#include "headrace/types.h"

namespace headrace {

class InferenceContext;
using ShapeFn = Status (*)(InferenceContext*);
struct OpTraits;                  // headrace/op_traits.h
extern const OpTraits kNoTraits;  // the traits of an op that states none

// The type of an attr, as in the grammar: "type", "list(int)", ...
enum class AttrType : uint8_t {
  kString,
  kInt,
  kFloat,
  kBool,
  kType,
  kShape,
  kTensor,
  kFunc,
  kListString,
  kListInt,
  kListFloat,
  kListBool,
  kListType,
  kListShape,
  kListTensor,
  kListFunc,
};
const char* AttrTypeName(AttrType t);
bool AttrTypeIsList(AttrType t);

struct OpDef {
  // An input or output: one tensor, N tensors of one type, or a list of types.
  struct Arg {
    std::string name;
    DataType type = DT_INVALID;  // DT_INVALID unless the spec names a type
    // Indices into attrs, or -1.
    int type_attr = -1;
    int number_attr = -1;
    int type_list_attr = -1;
    bool is_ref = false;
  };
  struct Attr {
    std::string name;
    AttrType type = AttrType::kString;
    std::optional<AttrValue> default_value;
    bool has_minimum = false;
    int64_t minimum = 0;  // of an int, or of the length of a list
    std::vector<DataType> allowed_types;       // empty: all
    std::vector<std::string> allowed_strings;  // empty: all
  };

  std::string name;
  std::vector<Arg> inputs;
  std::vector<Arg> outputs;
  std::vector<Attr> attrs;
  bool is_commutative = false;
  bool is_aggregate = false;
  bool is_stateful = false;
  bool allows_uninitialized_input = false;
  int deprecated_at = 0;  // GraphDef producer version; 0: not deprecated
  std::string deprecation;
  ShapeFn shape_fn = nullptr;
  // What graph passes know of the op. Never null. For REGISTER_OP it points to
  // a constant of the library. A function has no traits.
  const OpTraits* traits = &kNoTraits;

  int FindAttr(absl::string_view name) const;  // -1 if there is none
  int FindInput(absl::string_view name) const;
  int FindOutput(absl::string_view name) const;
  std::string DebugString() const;  // "Op<name=Add; signature=x:T, y:T -> z:T;
                                    // attr=T:type,allowed=[...]>"
};

// Parse one spec of REGISTER_OP, such as "x: N * T" or "T: {float, int32} =
// DT_INT32". InvalidArgument if it is malformed.
Status ParseArgSpec(absl::string_view spec, OpDef* def, OpDef::Arg* out);
Status ParseAttrSpec(absl::string_view spec, OpDef::Attr* out);

// InvalidArgument if `value` does not fit `attr`: type, allowed values,
// minimum.
Status ValidateAttrValue(const OpDef::Attr& attr, const AttrValue& value);

// Adds the default value of each attr that `attrs` lacks.
void AddDefaultAttrs(const OpDef& def, AttrMap* attrs);

// The types of all inputs and outputs of a node with these attrs. Lists are
// expanded; references are marked. Also checks that every attr of the signature
// is present and fits. One InvalidArgument names all attrs that do not fit and
// all unknown ones, except those that begin with "_".
Status InOutTypes(const OpDef& def, const AttrMap& attrs,
                  DataTypeVector* inputs, DataTypeVector* outputs);
Status ValidateAttrs(const OpDef& def, const AttrMap& attrs);

// The flat indices that one arg covers: [begin, end).
struct ArgRange {
  int begin = 0;
  int end = 0;
};
Status ArgRanges(const std::vector<OpDef::Arg>& args, const OpDef& def,
                 const AttrMap& attrs, std::vector<ArgRange>* ranges);

}  // namespace headrace

#endif  // HEADRACE_OP_DEF_H_
