#include "models/gemm/product.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "models/gradient_check.hpp"

namespace dadsim::models {
namespace {

template <class T>
void expect_near(const MatrixOf<T>& actual, const MatrixOf<double>& expected, Eigen::Index inner) {
  const double tolerance = 2 * static_cast<double>(inner + 1) * std::numeric_limits<T>::epsilon();
  EXPECT_LE((actual.template cast<double>() - expected).cwiseAbs().maxCoeff(), tolerance);
}

/// Checks all three products, on blocks of larger matrices.
template <class T>
void expect_products(Eigen::Index rows, Eigen::Index inner, Eigen::Index out) {
  SCOPED_TRACE(testing::Message() << rows << " × " << inner << " × " << out);
  const MatrixOf<T> a_memory = test::random_matrix<T>(rows, inner + 3, 1);
  const MatrixOf<T> b_memory = test::random_matrix<T>(inner, out + 2, 2);
  const ConstBlockOf<T> a = a_memory.leftCols(inner);
  const ConstBlockOf<T> b = b_memory.leftCols(out);
  const MatrixOf<double> wide_a = a.template cast<double>();
  const MatrixOf<double> wide_b = b.template cast<double>();
  const MatrixOf<double> expected = wide_a * wide_b;
  const MatrixOf<T> a_transposed = a.transpose();
  const MatrixOf<T> b_transposed = b.transpose();
  const VectorOf<T> bias = test::random_matrix<T>(out, 1, 4);
  const MatrixOf<double> with_bias = expected.rowwise() + bias.template cast<double>().transpose();

  for (const VectorOf<T>& added : {VectorOf<T>(), bias}) {
    MatrixOf<T> c(rows, out);
    multiply_transposed<T>(a, b_transposed, added, c);
    expect_near<T>(c, added.size() > 0 ? with_bias : expected, inner);
  }
  const MatrixOf<T> before = test::random_matrix<T>(rows, out + 1, 3);
  const MatrixOf<double> sum = before.leftCols(out).template cast<double>() + expected;
  for (const bool add : {false, true}) {
    MatrixOf<T> c = before, of_rows = before;
    multiply<T>(a, b, c.leftCols(out), add);
    multiply_by_rows<T>(a_transposed, b, of_rows.leftCols(out), add);
    for (const MatrixOf<T>& result : {c, of_rows}) {
      expect_near<T>(result.leftCols(out), add ? sum : expected, inner);
      EXPECT_EQ(result.col(out), before.col(out)) << "what lies beside the block";
    }
  }
}

TEST(Product, OfAnySize) {
  expect_products<float>(1, 1, 1);
  expect_products<float>(13, 5, 130);
  expect_products<float>(300, 37, 67);
  expect_products<float>(601, 600, 9);  // a sum that is split into several parts
  expect_products<double>(97, 1100, 130);
  expect_products<float>(5, 520, 1100);
}

TEST(Product, OfNoTermsIsWhatItStartsFrom) {
  const Matrix a(3, 0), b(0, 2), b_transposed(2, 0);
  const Vector bias = Vector::Constant(2, 7);
  Matrix c = Matrix::Constant(3, 2, 5);
  multiply<float>(a, b, c, true);
  EXPECT_EQ(c, Matrix::Constant(3, 2, 5));
  multiply<float>(a, b, c);
  EXPECT_EQ(c, Matrix::Zero(3, 2));
  multiply_transposed<float>(a, b_transposed, bias, c);
  EXPECT_EQ(c, Matrix::Constant(3, 2, 7));
}

TEST(Product, SameBitsForAnyNumberOfThreads) {
  const Matrix a = test::random_matrix<float>(700, 333, 1);
  const Matrix b = test::random_matrix<float>(333, 450, 2);
  const Matrix a_transposed = a.transpose();
  const auto products = [&] {
    std::vector<Matrix> all(2, Matrix(700, 450));
    multiply<float>(a, b, all[0]);
    multiply_by_rows<float>(a_transposed, b, all[1]);
    return all;
  };
  test::expect_same_for_thread_counts(products, [](const std::vector<Matrix>& x, const std::vector<Matrix>& y) {
    return test::same_bits(x[0], y[0]) && test::same_bits(x[1], y[1]);
  });
}

TEST(Product, RefusesShapesThatDoNotFit) {
  const Matrix a = Matrix::Zero(3, 4);
  Matrix c(3, 5);
  EXPECT_THROW(multiply<float>(a, Matrix::Zero(3, 5), c), std::logic_error);
  EXPECT_THROW(multiply_by_rows<float>(a, Matrix::Zero(3, 5), c), std::logic_error);
  EXPECT_THROW(multiply_transposed<float>(a, Matrix::Zero(5, 3), Vector(), c), std::logic_error);
  EXPECT_THROW(multiply_transposed<float>(a, Matrix::Zero(5, 4), Vector::Zero(4), c), std::logic_error);
}

}  // namespace
}  // namespace dadsim::models
