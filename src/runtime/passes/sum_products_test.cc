#include "runtime/passes/pass_test_util.h"

namespace headrace {
namespace {

class SumProductsTest : public PassTest {
 protected:
  Endpoint Product(const std::string& name, const Endpoint& a,
                   const Endpoint& b, bool transpose_a = true) {
    return Op(name, "MatMul", {a, b},
              {{"transpose_a", transpose_a}, {"transpose_b", false}});
  }
};

TEST_F(SumProductsTest, ASumOfProductsOverRowsIsOneProduct) {
  std::vector<Endpoint> products;
  for (const int64_t rows : {3, 2, 5}) {
    const std::string n = StrCat(rows);
    products.push_back(
        Product("p" + n, In("a" + n, {rows, 4}), In("b" + n, {rows, 6})));
  }
  Fetch(Op("sum", "AddN", products));
  EXPECT_EQ(Run("sum_products"),
            "sum/rows_a = ConcatV2(a3, a2, a5, sum/axis)\n"
            "sum/rows_b = ConcatV2(b3, b2, b5, sum/axis)\n"
            "sum = MatMul(sum/rows_a, sum/rows_b)\n"
            "fetch_sum_0 = _Retval(sum)\n");
  EXPECT_EQ(Changes("sum_products"), 3);
}

TEST_F(SumProductsTest, OthersStay) {
  const Endpoint a = In("a", {3, 4}), b = In("b", {3, 6});
  const Endpoint p = Product("p", a, b), q = Product("q", a, b);
  // Two; one that somebody else reads; not of rows; rows that are not known.
  Fetch(Op("two", "AddN", {p, q}));
  const Endpoint read = Product("read", a, b);
  Fetch(read);
  Fetch(Op("shared", "AddN", {read, Product("r", a, b), Product("s", a, b)}));
  const Endpoint square = In("square", {4, 4}), wide = In("wide", {4, 6});
  Fetch(Op("plain", "AddN",
           {Product("t", square, wide, false), Product("u", square, wide),
            Product("v", square, wide)}));
  const Endpoint c = In("c", {-1, 4}), d = In("d", {-1, 6});
  Fetch(Op("unknown", "AddN",
           {Product("w", c, d), Product("x", a, b), Product("y", a, b)}));
  Run("sum_products");
  EXPECT_EQ(Changes("sum_products"), 0);
}

}  // namespace
}  // namespace headrace
