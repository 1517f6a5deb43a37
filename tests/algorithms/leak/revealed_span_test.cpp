#include "algorithms/leak/revealed_span.hpp"

#include <gtest/gtest.h>

#include <Eigen/SVD>
#include <algorithm>
#include <boost/random/normal_distribution.hpp>
#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

#include "algorithms/exchange/exchange.hpp"
#include "algorithms/leak/known_of_site.hpp"
#include "algorithms/leak/orthonormal.hpp"
#include "algorithms/leak/revealed_labels.hpp"
#include "algorithms/leak/row_finder.hpp"
#include "algorithms/leak/span_reader.hpp"
#include "support/random.hpp"

namespace dadsim::algorithms {
namespace {

using models::Matrix;

Matrix drawn_rows(Eigen::Index rows, Eigen::Index columns, std::uint32_t stream) {
  RandomStream random(5, Purpose::test, stream);
  boost::random::normal_distribution<float> normal;
  Matrix result(rows, columns);
  for (float& x : result.reshaped()) x = normal(random);
  return result;
}

double share(const std::vector<Matrix>& messages, const Matrix& rows, double noise = 0) {
  RevealedSpan span(rows.cols());
  for (const Matrix& message : messages) span.add(message, noise, 8);
  RevealedSpan::Energy sum;
  for (const RevealedSpan::Energy& one : span.energies(rows, models::Vector::Zero(rows.cols()), 1)) {
    sum.shown += one.shown;
    sum.all += one.all;
  }
  return sum.share();
}

TEST(RevealedSpan, IsThatOfTheRowsWhateverTheyAreWrittenIn) {
  const Matrix rows = drawn_rows(40, 60, 0);
  const Matrix message = rows.topRows(12);
  const double as_it_is = share({message}, rows);
  EXPECT_NEAR(share({message}, message), 1, 1e-5);
  EXPECT_GT(as_it_is, 12.0 / 60) << "12 of its own rows, and what 12 directions of 60 show of any";
  Matrix turned = message.colwise().reverse();
  EXPECT_NEAR(share({turned}, rows), as_it_is, 1e-5) << "permuted";
  EXPECT_NEAR(share({drawn_rows(12, 12, 1) * message}, rows), as_it_is, 1e-4) << "another basis of factors";
  EXPECT_NEAR(share({message.topRows(5), message.bottomRows(9)}, rows), as_it_is, 1e-4) << "in two messages";
  const Matrix coarse = message.cast<Eigen::half>().cast<float>();
  EXPECT_NEAR(share({coarse}, rows), as_it_is, 1e-3) << "recoded";
  Matrix wider(12, 61);
  wider << message, drawn_rows(12, 1, 2);
  EXPECT_NEAR(share({wider}, rows), as_it_is, 1e-5) << "a column for the bias";
}

TEST(RevealedSpan, GrowsWithTheRankOfNestedFactors) {
  const Matrix rows = drawn_rows(32, 50, 3);
  const Matrix gradient = drawn_rows(32, 40, 4).transpose() * rows;
  const Eigen::BDCSVD<Eigen::MatrixXf> svd(Eigen::MatrixXf(gradient), Eigen::ComputeThinV);
  double before = 0;
  for (const Eigen::Index rank : {1, 2, 5, 11, 23, 32}) {
    const double now = share({svd.matrixV().leftCols(rank).transpose()}, rows);
    EXPECT_GT(now, before) << rank;
    before = now;
  }
  EXPECT_NEAR(before, 1, 1e-4) << "all directions: the batch";
  EXPECT_NEAR(share({gradient}, rows), 1, 1e-4);
}

TEST(RevealedSpan, RandomNumbersSayOfABatchWhatTheySayOfAnybody) {
  const Matrix batch = drawn_rows(40, 80, 5), others = drawn_rows(40, 80, 6);
  const Matrix message = drawn_rows(24, 80, 7);
  const double in = share({message}, batch), out = share({message}, others);
  // Random messages span 24 of 80 directions, a share of 0.3 of each of 40 rows. Its standard deviation is √(2 · 0.3 ·
  // 0.7 ÷ (80 · 40)).
  constexpr double kDeviation = 0.0115;
  EXPECT_NEAR(in, 0.3, 4 * kDeviation);
  EXPECT_LT(excess(in, out), 6 * kDeviation / 0.7);
}

TEST(RevealedSpan, NoiseHidesWhatIsBelowItsEdge) {
  const Matrix rows = drawn_rows(8, 100, 8);
  const Matrix gradient = drawn_rows(8, 30, 9).transpose() * rows;  // its singular values are about 55
  double before = 1.01;
  for (const double deviation : {0.01, 1.0, 2.0, 3.0, 20.0}) {
    const Matrix noisy = gradient + static_cast<float>(deviation) * drawn_rows(30, 100, 10);
    const double now = share({noisy}, rows, deviation);
    EXPECT_LT(now, before) << deviation;
    before = now;
  }
  EXPECT_LT(before, 0.01) << "all but below the edge";
}

TEST(RevealedSpan, TheMeanRowIsKnown) {
  Matrix rows = drawn_rows(6, 20, 11);
  const models::Vector mean = models::Vector::Constant(20, 7);
  rows.rowwise() += mean.transpose();
  RevealedSpan nothing(20);
  for (const RevealedSpan::Energy& one : nothing.energies(rows, mean, 2)) {
    EXPECT_GT(one.share(), 0);
    EXPECT_LT(one.share(), 0.3) << "along the mean alone";
  }
  RevealedSpan all(20);
  all.add(rows, 0, 6);
  for (const RevealedSpan::Energy& one : all.energies(rows, mean, 2)) EXPECT_NEAR(one.share(), 1, 1e-4);
}

TEST(OrthonormalRows, TellTheRankOfWhatIsGradedAndOfWhatIsNot) {
  // The 24 directions have lengths that fall to a ten-thousandth. They are given as 24 rows, and mixed into 90 rows.
  Matrix graded = drawn_rows(24, 130, 20);
  for (Eigen::Index row = 0; row < 24; ++row) graded.row(row) *= std::pow(10.0F, -static_cast<float>(row) / 6);
  const Matrix mixed = drawn_rows(90, 24, 21) * graded;
  for (const Matrix* matrix : {&std::as_const(graded), &mixed}) {
    for (const Eigen::Index likely : {4, 24, 100}) {
      const Matrix basis = orthonormal_rows(*matrix, likely, 3e-6, true);
      ASSERT_EQ(basis.rows(), 24) << matrix->rows() << " rows, " << likely;
      EXPECT_LT((basis * basis.transpose() - Matrix::Identity(24, 24)).cwiseAbs().maxCoeff(), 1e-5);
      // Even the shortest row of the first matrix is in the span of the basis.
      const Matrix left = graded - graded * basis.transpose() * basis;
      for (Eigen::Index row = 0; row < 24; ++row) EXPECT_LT(left.row(row).norm(), 0.02 * graded.row(row).norm()) << row;
    }
  }
  EXPECT_EQ(orthonormal_rows(Matrix::Zero(5, 9), 5, 1e-2, false).rows(), 0);
  EXPECT_EQ(orthonormal_rows(drawn_rows(60, 9, 22), 60, 3e-6, true).rows(), 9) << "more rows than columns";
}

TEST(SpanReader, ReadsSeveralMessagesAsOneSpanOfAll) {
  const Matrix rows = drawn_rows(15, 70, 23);
  const models::Vector mean = rows.topRows(4).colwise().mean().transpose();
  // The second message repeats a part of the first and adds one direction.
  const Matrix first = drawn_rows(20, 70, 24);
  Matrix second(4, 70), third = drawn_rows(9, 5, 26) * rows.topRows(5);
  second << first.topRows(3), drawn_rows(1, 70, 25);
  std::vector<RevealedSpan> spans(3, RevealedSpan(70));
  RevealedSpan all(70);
  const std::vector<const Matrix*> messages{&first, &second, &third};
  for (std::size_t i = 0; i < spans.size(); ++i) {
    spans[i].add(*messages[i], 0, 8);
    all.add(*messages[i], 0, 8);
  }
  EXPECT_EQ(all.directions(), 20 + 1 + 5);
  SpanReader reader(rows.rowwise() - mean.transpose(), mean);
  const auto together = reader.energies({&spans[0], &spans[1], &spans[2]}, 3);
  const auto expected = all.energies(rows, mean, 3);
  ASSERT_EQ(together.size(), expected.size());
  for (std::size_t g = 0; g < expected.size(); ++g) {
    EXPECT_NEAR(together[g].all, expected[g].all, 1e-4 * expected[g].all);
    EXPECT_NEAR(together[g].share(), expected[g].share(), 1e-4) << g;
  }
  EXPECT_LT(expected.back().share(), 0.9) << "rows that are in no message";
  // Also reads a single span, and a span with noise, whose directions have weights. Both use the common basis of all
  // spans.
  const auto alone = reader.energies({&spans[2]}, 3), of_third = spans[2].energies(rows, mean, 3);
  for (std::size_t g = 0; g < alone.size(); ++g) EXPECT_NEAR(alone[g].share(), of_third[g].share(), 1e-5);
  RevealedSpan noisy(70);
  noisy.add(second, 0.1, 8);
  RevealedSpan both = noisy;
  both.add(spans[2]);
  const auto weighted = reader.energies({&noisy, &spans[2]}, 3), of_both = both.energies(rows, mean, 3);
  for (std::size_t g = 0; g < weighted.size(); ++g) EXPECT_NEAR(weighted[g].share(), of_both[g].share(), 1e-4);
}

TEST(RowFinder, KnowsRowsByWhereTheyLieInMemory) {
  Matrix rows = drawn_rows(12, 30, 27);
  rows.row(6).setZero();
  const RowFinder finder(rows.middleRows(3, 5));
  std::vector<char> found(5, 0);
  EXPECT_TRUE(finder.find_in_place(rows.middleRows(3, 7), found)) << "and two more below them";
  EXPECT_EQ(found, (std::vector<char>{1, 1, 1, 0, 1})) << "zeros stand nowhere";
  found.assign(5, 0);
  EXPECT_FALSE(finder.find_in_place(rows.middleRows(3, 4), found)) << "one is missing";
  found.assign(5, 0);
  EXPECT_FALSE(finder.find_in_place(rows.middleRows(2, 5), found)) << "others";
  EXPECT_FALSE(finder.find_in_place(rows.block(3, 0, 5, 29), found)) << "narrower";
  const Matrix copy = rows.middleRows(3, 5);
  EXPECT_FALSE(finder.find_in_place(copy, found)) << "the same numbers elsewhere are compared";
  EXPECT_EQ(found, (std::vector<char>(5, 0)));
}

TEST(Combination, KeepsRowsWhereItHandsThemOnAlone) {
  const Combination changed = [](Rows all, step::Role) {
    all.parts.front() *= 2;
    return all;
  };
  EXPECT_FALSE(changed.keeps_rows());
  const Combination kept = concatenation();
  EXPECT_TRUE(kept.keeps_rows());
  EXPECT_TRUE(Combination(kept).keeps_rows()) << "a copy too";
}

TEST(RowFinder, FindsRowsWhereverTheyStand) {
  Matrix rows = drawn_rows(9, 30, 12);
  rows.row(4).setZero();
  RowFinder finder(rows);
  Matrix message = drawn_rows(20, 31, 13);
  message.row(3).head(30) = rows.row(7);
  message.row(11).head(30) = rows.row(0) * (1 + 1e-7F);
  message.row(12).head(30) = rows.row(1) * 1.01F;
  message.row(13).setZero();
  RowFinder::FoundMessage seen(message, 30);
  std::vector<char> found(9, 0);
  finder.find(seen, tolerance_of(0), 0, found);
  EXPECT_EQ(found, (std::vector<char>{1, 0, 0, 0, 0, 0, 0, 1, 0}));
  found.assign(9, 0);
  finder.find(seen, tolerance_of(0.01), 0, found);
  EXPECT_EQ(found[1], 1) << "as near as its encoding";
  EXPECT_EQ(found[4], 0) << "zeros would stand in everything";
  EXPECT_LT(tolerance_of(0.5), 0) << "half of it is lost: nothing is handed over";
}

TEST(RowFinder, FindsThemInManyRowsToo) {
  const Matrix rows = drawn_rows(1500, 7, 14);
  RowFinder finder(rows);
  Matrix message = drawn_rows(1500, 7, 15);
  for (Eigen::Index row = 0; row < 1500; row += 3) message.row(1499 - row) = rows.row(row);
  RowFinder::FoundMessage seen(message, 7);
  std::vector<char> found(1500, 0);
  finder.find(seen, tolerance_of(0), 0, found);
  for (std::size_t row = 0; row < found.size(); ++row) EXPECT_EQ(found[row] != 0, row % 3 == 0) << row;
}

TEST(RevealedLabels, FollowFromDeltasAndFromGradients) {
  const std::vector<std::int32_t> labels{2, 0, 2, 3};
  Matrix logits = drawn_rows(4, 5, 16);
  Matrix delta(4, 5);
  for (Eigen::Index row = 0; row < 4; ++row) {
    delta.row(row) = logits.row(row).array().exp();
    delta.row(row) /= delta.row(row).sum();
    delta(row, labels[static_cast<std::size_t>(row)]) -= 1;
  }
  const Matrix inputs = drawn_rows(4, 9, 17).cwiseAbs();
  const auto seen = [](SeenMatrix::Kind kind, const models::ConstBlock& numbers) {
    return SeenMatrix{.kind = kind, .last = true, .numbers = numbers};
  };
  RevealedLabels by_rows(9);
  const Matrix permuted = delta.colwise().reverse();
  by_rows.add(seen(SeenMatrix::Kind::output_rows, permuted));
  EXPECT_EQ(by_rows.share(labels), 1);
  EXPECT_EQ(by_rows.share(std::vector<std::int32_t>{2, 0, 1, 1}), 0.5) << "two of these are told";
  const Matrix gradient = delta.transpose() * inputs;
  const Matrix biases = delta.colwise().sum();
  RevealedLabels by_gradient(9), by_biases(9), by_factors(9), by_nothing(9);
  by_gradient.add(seen(SeenMatrix::Kind::gradient, gradient));
  by_biases.add(seen(SeenMatrix::Kind::biases, biases));
  by_factors.add(seen(SeenMatrix::Kind::output_rows, Matrix(drawn_rows(4, 4, 18) * delta)));
  EXPECT_GE(by_gradient.share(labels), 0.8);
  double right = 0;
  for (Eigen::Index c = 0; c < 5; ++c) right += (biases(c) < 0) == (c == 0 || c == 2 || c == 3) ? 0.2 : 0;
  EXPECT_NEAR(by_biases.share(labels), right, 1e-12);
  EXPECT_TRUE(std::isnan(by_factors.share(labels))) << "half of a product tells nothing";
  EXPECT_TRUE(std::isnan(by_nothing.share(labels)));
}

}  // namespace
}  // namespace dadsim::algorithms
