// Assertions and messages to a person.
#include "framework/shape_fns/common_shape_fns.h"
#include "headrace/op.h"
#include "headrace/shape_inference.h"

namespace headrace {
namespace {

Status PrintV2Shape(InferenceContext* c) {
  PartialTensorShape unused;
  return c->WithRank(c->input(0), 0, &unused);
}

REGISTER_OP("Assert")
    .Input("condition: bool")
    .Input("data: T")
    .Attr("T: list(type) >= 1")
    .Attr("summarize: int = 3")
    .SetIsStateful()
    .SetShapeFn(shape_inference::NoOutputs)
    .Stops();

REGISTER_OP("Print")
    .Input("input: T")
    .Input("data: U")
    .Output("output: T")
    .Attr("T: type")
    .Attr("U: list(type) >= 0")
    .Attr("message: string = ''")
    .Attr("first_n: int = -1")
    .Attr("summarize: int = 3")
    .SetIsStateful()
    .KeepsShape()
    .Prints();

REGISTER_OP("PrintV2")
    .Input("input: string")
    .Attr("output_stream: string = 'stderr'")
    .Attr("end: string = '\n'")
    .SetIsStateful()
    .SetShapeFn(PrintV2Shape)
    .Prints()
    .WritesFiles()
    .FileNameAttr("output_stream", "file://");

REGISTER_OP("Timestamp")
    .Output("ts: double")
    .SetIsStateful()
    .SetShapeFn(shape_inference::ScalarShape)
    .ReadsClock();

}  // namespace
}  // namespace headrace
