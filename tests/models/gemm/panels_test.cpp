#include "models/gemm/panels.hpp"

#include <gtest/gtest.h>

#include "models/gradient_check.hpp"

namespace dadsim::models {
namespace {

template <class T>
void expect_product(Eigen::Index rows, Eigen::Index inner, Eigen::Index out) {
  SCOPED_TRACE(testing::Message() << rows << " × " << inner << " × " << out);
  const MatrixOf<T> a = test::random_matrix<T>(rows, inner + 3, 1);  // rows that are not adjacent in memory
  const MatrixOf<T> b = test::random_matrix<T>(inner, out, 2);
  const MatrixOf<T> before = test::random_matrix<T>(rows, out + 5, 3);
  const MatrixOf<T> transposed = b.transpose();
  const MatrixOf<T> product =
      (a.leftCols(inner).template cast<double>() * b.template cast<double>()).template cast<T>();
  const T tolerance = static_cast<T>(inner) * std::numeric_limits<T>::epsilon();
  MatrixOf<T> panels, from_transposed;
  pack_panels<T>(b, panels);
  pack_transposed_panels<T>(transposed, from_transposed);
  EXPECT_EQ(panels, from_transposed);
  for (const bool add : {false, true}) {
    MatrixOf<T> c = before;
    multiply_panels<T>(a.leftCols(inner), panels, c.leftCols(out), add);
    const MatrixOf<T> expected = add ? MatrixOf<T>(before.leftCols(out) + product) : product;
    EXPECT_LE((c.leftCols(out) - expected).cwiseAbs().maxCoeff(), 2 * tolerance);
    EXPECT_EQ(c.rightCols(5), before.rightCols(5)) << "what lies behind the columns";
    const MatrixOf<T> left = a.leftCols(inner).transpose();
    c = before;
    multiply_panels_by_rows<T>(left, panels, c.leftCols(out), add);
    EXPECT_LE((c.leftCols(out) - expected).cwiseAbs().maxCoeff(), 2 * tolerance);
    EXPECT_EQ(c.rightCols(5), before.rightCols(5)) << "what lies behind the columns";
  }
}

TEST(Panels, ProductsOfAnySize) {
  for (const Eigen::Index rows : {1, 5, 6, 13, 24}) {
    for (const Eigen::Index out : {1, 7, 16, 33, 64, 65, 192}) {
      expect_product<float>(rows, 9, out);
      expect_product<double>(rows, 9, out);
    }
  }
}

TEST(Panels, RowsDoNotDependOnEachOther) {
  const Matrix a = test::random_matrix<float>(12, 40, 1);
  Matrix b = test::random_matrix<float>(40, 70, 2);
  Matrix panels;
  pack_panels<float>(b, panels);
  Matrix together(12, 70), alone(1, 70);
  multiply_panels<float>(a, panels, together, false);
  for (Eigen::Index row = 0; row < 12; ++row) {
    multiply_panels<float>(a.row(row), panels, alone, false);
    EXPECT_TRUE(test::same_bits(together.row(row), alone)) << "row " << row;
  }
}

TEST(Panels, RefusesShapesThatDoNotFit) {
  Matrix panels, c(3, 5);
  pack_panels<float>(Matrix::Zero(4, 5), panels);
  EXPECT_THROW(multiply_panels<float>(Matrix::Zero(3, 3), panels, c, false), std::logic_error);
}

}  // namespace
}  // namespace dadsim::models
