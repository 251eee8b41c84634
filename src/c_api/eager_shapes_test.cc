// TFE_InferShapes.
#include "c_api/eager_test_util.h"
#include "tensorflow/c/c_api_experimental.h"

namespace eager_test {
namespace {

struct DeleteList {
  void operator()(TF_ShapeAndTypeList* l) const {
    TF_DeleteShapeAndTypeList(l);
  }
};
using List = std::unique_ptr<TF_ShapeAndTypeList, DeleteList>;
using Dims = std::vector<int64_t>;

// Of a rank that is not known: {-2}.
List Shapes(const std::vector<Dims>& shapes) {
  List list(TF_NewShapeAndTypeList(static_cast<int>(shapes.size())));
  for (size_t i = 0; i < shapes.size(); ++i) {
    if (shapes[i] == Dims{-2}) continue;
    const int64_t none = 0;
    TF_ShapeAndTypeListSetShape(list.get(), static_cast<int>(i),
                                shapes[i].empty() ? &none : shapes[i].data(),
                                static_cast<int>(shapes[i].size()));
  }
  return list;
}

Dims DimsOf(const TF_ShapeAndType& item) {
  if (item.num_dims < 0) return {-2};
  return {item.dims, item.dims + item.num_dims};
}

class EagerShapesTest : public ::testing::Test {
 protected:
  // The op `name` with attr T float.
  Op Make(const char* name) {
    Op op(TFE_NewOp(context_.get(), name, s_.get()));
    EXPECT_EQ(TF_GetCode(s_.get()), TF_OK) << TF_Message(s_.get());
    TFE_OpSetAttrType(op.get(), "T", TF_FLOAT);
    return op;
  }
  List Infer(const Op& op, const List& inputs, TF_Tensor** values = nullptr,
             TF_ShapeAndTypeList* as_shapes = nullptr) {
    TF_ShapeAndTypeList* out = nullptr;
    TFE_InferShapes(op.get(), inputs.get(), values, as_shapes, nullptr, &out,
                    nullptr, s_.get());
    return List(out);
  }

  Status s_{TF_NewStatus()};
  Context context_ = NewContext();
};

TEST_F(EagerShapesTest, ShapesOfAProduct) {
  struct Case {
    Dims a, b, want;
  };
  for (const Case& c :
       {Case{{2, 3}, {3, 5}, {2, 5}}, Case{{-1, 3}, {3, 5}, {-1, 5}},
        Case{{-2}, {3, 5}, {-1, 5}}, Case{{-2}, {-2}, {-1, -1}}}) {
    const List out = Infer(Make("MatMul"), Shapes({c.a, c.b}));
    ASSERT_NE(out, nullptr) << TF_Message(s_.get());
    ASSERT_EQ(out->num_items, 1);
    EXPECT_EQ(DimsOf(out->items[0]), c.want);
    EXPECT_EQ(out->items[0].dtype, TF_FLOAT);
  }
}

TEST_F(EagerShapesTest, ValuesSayMore) {
  const Op op = Make("Reshape");
  TFE_OpSetAttrType(op.get(), "Tshape", TF_INT32);
  const List inputs = Shapes({{6}, {2}});
  EXPECT_EQ(DimsOf(Infer(op, inputs)->items[0]), (Dims{-1, -1}));
  const Handle shape = Values<int32_t>({2, 3}, {2});
  const Tensor value(TFE_TensorHandleResolve(shape.get(), s_.get()));
  TF_Tensor* values[] = {nullptr, value.get()};
  EXPECT_EQ(DimsOf(Infer(op, inputs, values)->items[0]), (Dims{2, 3}));
  const List as_shapes = Shapes({{-2}, {-1, 3}});
  EXPECT_EQ(DimsOf(Infer(op, inputs, nullptr, as_shapes.get())->items[0]),
            (Dims{2, 3}));
}

TEST_F(EagerShapesTest, WhatAHandleRefersTo) {
  const Op op(TFE_NewOp(context_.get(), "VarHandleOp", s_.get()));
  TFE_OpSetAttrType(op.get(), "dtype", TF_INT64);
  const int64_t dims[] = {7};
  TFE_OpSetAttrShape(op.get(), "shape", dims, 1, s_.get());
  TF_ShapeAndTypeList* out = nullptr;
  TF_ShapeAndTypeList** resources = nullptr;
  TFE_InferShapes(op.get(), Shapes({}).get(), nullptr, nullptr, nullptr, &out,
                  &resources, s_.get());
  const List owned(out);
  ASSERT_EQ(TF_GetCode(s_.get()), TF_OK) << TF_Message(s_.get());
  EXPECT_EQ(DimsOf(out->items[0]), Dims{});
  ASSERT_EQ(resources[0]->num_items, 1);
  EXPECT_EQ(DimsOf(resources[0]->items[0]), Dims{7});
  EXPECT_EQ(resources[0]->items[0].dtype, TF_INT64);

  const Op read(TFE_NewOp(context_.get(), "ReadVariableOp", s_.get()));
  TFE_OpSetAttrType(read.get(), "dtype", TF_INT64);
  TF_ShapeAndTypeList* seen = nullptr;
  TFE_InferShapes(read.get(), Shapes({{}}).get(), nullptr, nullptr, resources,
                  &seen, nullptr, s_.get());
  const List owned_too(seen);
  ASSERT_EQ(TF_GetCode(s_.get()), TF_OK) << TF_Message(s_.get());
  EXPECT_EQ(DimsOf(seen->items[0]), Dims{7});
  TF_DeleteShapeAndTypeListArray(resources, 1);
}

TEST_F(EagerShapesTest, Refusals) {
  const auto refused = [&](const List& out, const char* words) {
    EXPECT_EQ(out, nullptr);
    EXPECT_EQ(TF_GetCode(s_.get()), TF_INVALID_ARGUMENT);
    EXPECT_NE(std::string(TF_Message(s_.get())).find(words), std::string::npos)
        << TF_Message(s_.get());
  };
  refused(Infer(Make("MatMul"), Shapes({{2, 3}, {4, 5}})), "must be equal");
  refused(Infer(Make("MatMul"), Shapes({{2, 3}})), "1 shapes of inputs");
  refused(Infer(Make("MatMul"), Shapes({{2, -7}, {4, 5}})), "-7");
  refused(Infer(Make("MatMul"), nullptr), "list of input shapes is NULL");
  refused(Infer(nullptr, Shapes({})), "op is NULL");
  const Op bare(TFE_NewOp(context_.get(), "MatMul", s_.get()));
  refused(Infer(bare, Shapes({{2, 3}, {3, 5}})), "T");
  const Handle text = Values<float>({1}, {1});
  const Tensor value(TFE_TensorHandleResolve(text.get(), s_.get()));
  TF_Tensor* values[] = {nullptr, value.get()};
  const Op reshape = Make("Reshape");
  TFE_OpSetAttrType(reshape.get(), "Tshape", TF_INT32);
  refused(Infer(reshape, Shapes({{6}, {1}}), values), "wanted int32");
}

}  // namespace
}  // namespace eager_test
