#include "algorithms/private/carriers.hpp"

#include <algorithm>
#include <boost/random/normal_distribution.hpp>

#include "algorithms/cost.hpp"
#include "algorithms/pieces/subspace.hpp"
#include "models/gemm/work_count.hpp"
#include "support/random.hpp"

namespace dadsim::algorithms {
Carriers carriers_of(const models::Matrix& target, std::int64_t rank, std::uint64_t seed, std::uint32_t layer,
                     std::uint32_t step) {
  const Eigen::Index r = std::min({static_cast<Eigen::Index>(rank), target.rows(), target.cols()});
  RandomStream random(seed, Purpose::low_rank_start, layer, step);
  boost::random::normal_distribution<float> normal;
  Carriers carriers{models::Matrix(target.rows(), r), models::Matrix(target.cols(), r)};
  for (float& x : carriers.right.reshaped()) x = normal(random);
  carriers.left.noalias() = models::counted(target * carriers.right);
  orthonormalise(carriers.left);
  carriers.right.noalias() = models::counted(target.transpose() * carriers.left);
  orthonormalise(carriers.right);
  return carriers;
}

models::Matrix from_carriers(const Carriers& carriers, const models::ConstBlock& left_gradient,
                             const models::ConstBlock& right_gradient) {
  models::Matrix common, right, gradient;
  common.noalias() = models::counted(carriers.left.transpose() * left_gradient);  // Lᵀ G_L, r × r
  right = right_gradient;
  right.noalias() -= models::counted(carriers.right * common.transpose());
  gradient.noalias() = models::counted(left_gradient * carriers.right.transpose());
  gradient.noalias() += models::counted(carriers.left * right.transpose());
  return gradient;
}

step::Work carriers_work(const step::Expression& rank) {
  using namespace step::extent;  // NOLINT(google-build-using-namespace): the formulas read as in the paper
  // The target, two products with it, and Gram–Schmidt twice per column.
  const step::Expression gram_schmidt = 4.0 * rank * rank * (in() + out());
  return {.flops = 3.0 * in() * out() + 4.0 * rank * in() * out() + gram_schmidt,
          .bytes_moved = cost::kFloatBytes * (5.0 * in() * out() + 0.5 * gram_schmidt + 2.0 * rank * (in() + out())),
          .launches = 4.0 + 12.0 * rank};
}

step::Work from_carriers_work(const step::Expression& rank) {
  using namespace step::extent;  // NOLINT(google-build-using-namespace): the formulas read as in the paper
  return {.flops = 4.0 * rank * in() * out() + 2.0 * rank * rank * (in() + out()),
          .bytes_moved = cost::kFloatBytes * (2.0 * in() * out() + 4.0 * rank * (in() + out())),
          .launches = 4.0};
}

}  // namespace dadsim::algorithms
