#include "algorithms/pieces/deflate.hpp"

#include <algorithm>
#include <boost/random/uniform_01.hpp>

#include "algorithms/pieces/gradient_product.hpp"
#include "support/random.hpp"

namespace dadsim::algorithms {

Factors factorise_by_deflation(const GradientProduct& product, const FactoriseOptions& options, std::uint64_t seed,
                               std::uint32_t stream, std::uint32_t step) {
  const Eigen::Index out = product.out();
  const Eigen::Index most = std::min(static_cast<Eigen::Index>(options.cap), product.most());
  Factors factors{models::Matrix(most, out), models::Matrix(most, product.in())};
  Eigen::Index found = 0;
  bool dropped = false;
  if (most > 0) {
    models::Matrix directions(most, out);  // b_k as rows
    models::Vector squares(most);          // σ_k²
    RandomStream random(seed, Purpose::factor_start, stream, step);
    boost::random::uniform_01<float> uniform;
    while (found < most) {
      models::Vector v(out);
      for (float& x : v) x = uniform(random);
      const auto before = directions.topRows(found);
      for (std::int64_t i = 0; i < options.iterations; ++i) {
        models::Vector image = product.apply_gram(v);
        if (found > 0) {
          const models::Vector along = models::counted(before * v);
          const models::Vector scaled = squares.head(found).cwiseProduct(along);
          image.noalias() -= models::counted(before.transpose() * scaled);
        }
        v = image / image.norm();
      }
      const models::Vector image = product.apply_transpose(v);
      const float sigma = image.norm();
      if (!(sigma > 0)) break;  // the matrix is exhausted, or sigma is NaN
      if (found >= 2) {
        const auto last = directions.row(found - 1).transpose();
        if ((v - last).norm() < static_cast<float>(options.tolerance) * last.norm()) {
          --found;  // the direction before was noise already
          dropped = true;
          break;
        }
      }
      directions.row(found) = v.transpose();
      squares(found) = sigma * sigma;
      factors.left.row(found) = product.scale() * sigma * v.transpose();
      factors.right.row(found) = image.transpose() / sigma;
      ++found;
    }
  }
  // Of their list of what was tried, the last two go: after a σ of zero, which stands in it, one component; at the cap
  // two.
  if (options.stop == FactoriseOptions::Stop::released && !dropped) {
    found = std::max<Eigen::Index>(found - (found < options.cap ? 1 : 2), 0);
  }
  factors.left.conservativeResize(found, Eigen::NoChange);
  factors.right.conservativeResize(found, Eigen::NoChange);
  return factors;
}

}  // namespace dadsim::algorithms
