#include "estimate/critical_batch.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace dadsim::estimate {

// Fits the samples E = α + β B with α = E₀ and β = E₀ ÷ B_c, by relative errors: each equation is divided by its
// observed value.
std::optional<BatchLaw> fit_batch_law(const std::vector<StepsAtBatch>& runs) {
  double aa = 0;
  double ab = 0;
  double bb = 0;
  double a1 = 0;
  double b1 = 0;
  for (const StepsAtBatch& run : runs) {
    const double seen = run.batch * run.steps;
    if (!(seen > 0) || !std::isfinite(seen)) return std::nullopt;
    const double a = 1 / seen;
    const double b = run.batch / seen;
    aa += a * a;
    ab += a * b;
    bb += b * b;
    a1 += a;
    b1 += b;
  }
  const auto different = [&](const StepsAtBatch& run) { return run.batch != runs.front().batch; };
  if (std::ranges::none_of(runs, different)) return std::nullopt;
  const double determinant = aa * bb - ab * ab;
  double alpha = (a1 * bb - b1 * ab) / determinant;
  double beta = (b1 * aa - a1 * ab) / determinant;
  if (beta < 0) {  // larger batches needed fewer samples, so no limit is visible
    alpha = a1 / aa;
    beta = 0;
  }
  if (!(alpha > 0)) return std::nullopt;  // every batch is above the critical one
  return BatchLaw{alpha, beta > 0 ? alpha / beta : std::numeric_limits<double>::infinity()};
}

}  // namespace dadsim::estimate
