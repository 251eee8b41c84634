"""Docstrings of ops' functions: what programs use most has a sentence, and all
have their types from the registry."""
import re

_TEXTS = {
    "Add": "x + y, elementwise; shapes broadcast.",
    "BatchToSpaceND": "Blocks of the batch as further positions in space, less "
                      "the crops: the inverse of SpaceToBatchND.",
    "Ceil": "The least integer that is not less, elementwise.",
    "Cos": "The cosine, elementwise.",
    "DecodeBase64": "What web-safe base64 stands for, elementwise.",
    "Diag": "A tensor with `diagonal` on its diagonal and zeros elsewhere.",
    "Elu": "exp(x) - 1 for x < 0, x otherwise.",
    "EncodeBase64": "Strings as web-safe base64, elementwise.",
    "Exp": "e to the power of x, elementwise.",
    "Floor": "The largest integer that is not greater, elementwise.",
    "FloorDiv": "floor(x / y), elementwise; shapes broadcast. InvalidArgument "
                "if an integer is divided by 0.",
    "FloorMod": "x - floor(x / y) * y, with the sign of y; shapes broadcast. "
                "InvalidArgument if an integer is divided by 0.",
    "Greater": "x > y, elementwise; shapes broadcast.",
    "GreaterEqual": "x >= y, elementwise; shapes broadcast.",
    "InvertPermutation": "y with y[x[i]] = i. InvalidArgument if x is no "
                         "permutation of 0, 1, ...",
    "IsFinite": "False for NaN and infinities, elementwise.",
    "IsInf": "True for infinities, elementwise.",
    "IsNan": "True for NaN, elementwise.",
    "Less": "x < y, elementwise; shapes broadcast.",
    "LessEqual": "x <= y, elementwise; shapes broadcast.",
    "Log": "The natural logarithm, elementwise.",
    "Log1p": "log(1 + x), precise near 0.",
    "LogicalAnd": "x and y, elementwise; shapes broadcast.",
    "LogicalNot": "not x, elementwise.",
    "LogicalOr": "x or y, elementwise; shapes broadcast.",
    "MatrixBandPart": "Matrices whose elements are zero outside of num_lower "
                      "diagonals below and num_upper above the main one; "
                      "negative numbers keep all.",
    "Maximum": "The larger of x and y, elementwise; shapes broadcast.",
    "Minimum": "The smaller of x and y, elementwise; shapes broadcast.",
    "Mul": "x * y, elementwise; shapes broadcast.",
    "ReadFile": "The bytes of a file; both are scalar strings. NotFoundError in the "
                "run if there is none.",
    "Rsqrt": "1 / sqrt(x), elementwise.",
    "Selu": "scale * alpha * (exp(x) - 1) for x < 0, scale * x otherwise.",
    "Sigmoid": "1 / (1 + exp(-x)), elementwise.",
    "Sin": "The sine, elementwise.",
    "Softplus": "log(1 + exp(x)), elementwise.",
    "Softsign": "x / (1 + |x|), elementwise.",
    "SquaredDifference": "(x - y) * (x - y), elementwise; shapes broadcast.",
    "Sub": "x - y, elementwise; shapes broadcast.",
}


def text(function):
    """The docstring of an op's function."""
    signature = re.sub(r"\bDT_(\w+)", lambda m: m.group(1).lower(),
                       function.signature_text)
    found = re.match(r"Op<name=\w+; signature=(.*?)(?:; attr=(.*))?>$",
                     signature, re.DOTALL)
    lines = [_TEXTS.get(function.op_type, "The op %s." % function.op_type)]
    if found:
        lines += ["", found.group(1)]
        if found.group(2):
            lines += ["  " + attr for attr in found.group(2).split("; attr=")]
        if not found.group(1).startswith("->"):
            lines += ["", "TypeError for other types, ValueError for shapes that "
                      "do not fit."]
    return "\n".join(lines)
