// For tests: graphs as text, one node per line.
//
//   name: Op input ... attr=value ... @device
//
// Inputs are "a", "a:1" or "^a". They may be defined on a later line. The attrs
// T and dtype are int32 unless given. N is the number of data inputs. "Const 5"
// and "Const 1,2" make a scalar and a vector of int32, float (5.5) or bool. On
// an Enter, "in=f" names its frame. "loc=a" colocates with node a. "[2,?]" is a
// shape. "@1" means the device "/cpu:1"; any other word after "@" is the device
// itself.
#ifndef HEADRACE_GRAPH_NODE_TEXT_TEST_UTIL_H_
#define HEADRACE_GRAPH_NODE_TEXT_TEST_UTIL_H_

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "graph/function_library.h"
#include "headrace/importer.h"

namespace headrace {

inline void SetConst(absl::string_view text, pb::NodeDef* n) {
  auto& attrs = *n->mutable_attr();
  auto* const value = attrs["value"].mutable_tensor();
  value->mutable_tensor_shape();
  const std::vector<absl::string_view> elements = absl::StrSplit(text, ',');
  if (elements.size() > 1) {
    value->mutable_tensor_shape()->add_dim()->set_size(elements.size());
  }
  for (absl::string_view e : elements) {
    int32_t i;
    float f;
    if (e == "true" || e == "false") {
      value->set_dtype(pb::DT_BOOL);
      value->add_bool_val(e == "true");
    } else if (absl::SimpleAtoi(e, &i)) {
      value->set_dtype(pb::DT_INT32);
      value->add_int_val(i);
    } else {
      ASSERT_TRUE(absl::SimpleAtof(e, &f)) << text;
      value->set_dtype(pb::DT_FLOAT);
      value->add_float_val(f);
    }
  }
  attrs["dtype"].set_type(value->dtype());
}

inline void SetShape(absl::string_view text, pb::TensorShapeProto* shape) {
  for (absl::string_view dim : absl::StrSplit(text, ',', absl::SkipEmpty())) {
    int64_t d = -1;
    EXPECT_TRUE(dim == "?" || absl::SimpleAtoi(dim, &d)) << text;
    shape->add_dim()->set_size(d);
  }
}

inline void SetAttr(absl::string_view name, absl::string_view value,
                    pb::NodeDef* n) {
  auto& attr = (*n->mutable_attr())[std::string(name)];
  int64_t i;
  DataType type;
  if (value == "true" || value == "false") {
    attr.set_b(value == "true");
  } else if (absl::SimpleAtoi(value, &i)) {
    attr.set_i(i);
  } else if (absl::ConsumePrefix(&value, "[")) {
    SetShape(absl::StripSuffix(value, "]"), attr.mutable_shape());
  } else if (DataTypeFromString(value, &type)) {
    attr.set_type(static_cast<pb::DataType>(type));
  } else {
    attr.set_s(std::string(value));
  }
}

// `devices`: the number of devices; a larger "@k" means the last one.
// `parallel`: parallel_iterations of the frames.
inline pb::GraphDef ParseNodes(absl::string_view text, int devices = 1,
                               int parallel = 10) {
  pb::GraphDef def;
  def.mutable_versions()->set_producer(21);
  for (absl::string_view line :
       absl::StrSplit(text, '\n', absl::SkipWhitespace())) {
    std::vector<absl::string_view> words =
        absl::StrSplit(line, ' ', absl::SkipWhitespace());
    pb::NodeDef* n = def.add_node();
    n->set_name(std::string(absl::StripSuffix(words[0], ":")));
    n->set_op(std::string(words[1]));
    const OpDef* const op = OpRegistry::Global()->Find(n->op());
    if (op != nullptr) {
      for (const auto& a : op->attrs) {
        if (a.name == "T" || a.name == "dtype") SetAttr(a.name, "int32", n);
      }
    }
    int data_inputs = 0;
    for (size_t i = 2; i < words.size(); ++i) {
      const absl::string_view w = words[i];
      const std::vector<absl::string_view> attr =
          absl::StrSplit(w, absl::MaxSplits('=', 1));
      int k;
      if (n->op() == "Const" && i == 2) {
        SetConst(w, n);
      } else if (attr.size() == 2 && attr[0] == "in") {
        SetAttr("frame_name", attr[1], n);
        SetAttr("parallel_iterations", absl::StrCat(parallel), n);
      } else if (attr.size() == 2 && attr[0] == "loc") {
        (*n->mutable_attr())["_class"].mutable_list()->add_s(
            absl::StrCat("loc:@", attr[1]));
      } else if (attr.size() == 2) {
        SetAttr(attr[0], attr[1], n);
      } else if (w[0] == '@' && absl::SimpleAtoi(w.substr(1), &k)) {
        n->set_device(absl::StrCat("/cpu:", std::min(k, devices - 1)));
      } else if (w[0] == '@') {
        n->set_device(std::string(w.substr(1)));
      } else {
        n->add_input(std::string(w));
        data_inputs += w[0] != '^';
      }
    }
    if (op != nullptr && op->FindAttr("N") >= 0) {
      SetAttr("N", absl::StrCat(data_inputs), n);
    }
  }
  return def;
}

// Adds a function with int32 arguments and results. `args` are names. `rets`
// are "name=value", with values as in a FunctionDef: "sum:z:0". The inputs of
// the nodes in `body` have the same form. The nodes in `controls` run in every
// call.
inline void AddFunction(Graph* graph, const std::string& name,
                        const std::vector<std::string>& args,
                        absl::string_view body,
                        const std::vector<std::string>& rets,
                        const std::vector<std::string>& controls = {}) {
  pb::FunctionDef def;
  pb::OpDef* const signature = def.mutable_signature();
  signature->set_name(name);
  for (const std::string& a : args) {
    pb::OpDef::ArgDef* const arg = signature->add_input_arg();
    arg->set_name(a);
    arg->set_type(pb::DT_INT32);
  }
  for (const std::string& r : rets) {
    const std::vector<std::string> ret = absl::StrSplit(r, '=');
    pb::OpDef::ArgDef* const arg = signature->add_output_arg();
    arg->set_name(ret.at(0));
    arg->set_type(pb::DT_INT32);
    (*def.mutable_ret())[ret.at(0)] = ret.at(1);
  }
  for (const std::string& c : controls) (*def.mutable_control_ret())[c] = c;
  *def.mutable_node_def() = ParseNodes(body).node();
  if (graph->functions() == nullptr) {
    graph->set_functions(std::make_shared<FunctionLibrary>());
  }
  ASSERT_EQ(graph->functions()->Add(def), OkStatus());
}

// Builds the graph of a text. On failure the test fails.
inline void LoadNodes(absl::string_view text, Graph* graph, int parallel = 10) {
  ASSERT_EQ(ImportGraphDef({}, ParseNodes(text, 8, parallel), graph),
            OkStatus());
}

}  // namespace headrace

#endif  // HEADRACE_GRAPH_NODE_TEXT_TEST_UTIL_H_
