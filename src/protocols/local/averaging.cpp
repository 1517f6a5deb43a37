#include "protocols/local/averaging.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <numeric>
#include <utility>

#include "protocols/local/local_steps.hpp"

namespace dadsim::protocols {
namespace {

using world::Datum;
using world::DatumPtr;
using world::History;
using world::Value;

Value mean_of_contributors(Learning& learning, const std::vector<Value>& rows) {
  return learning.history().make(fmt::format("mean of contributors {}", learning.parameters()), rows,
                                 [parameters = learning.parameters()](History::Inputs in) {
                                   Datum mean{std::vector<float>(in[0]->numbers.size()), {}};
                                   for (std::size_t k = 0; k < mean.numbers.size(); ++k) {
                                     float count = 0;
                                     for (const DatumPtr& one : in) {
                                       const float x = one->numbers[k];
                                       mean.numbers[k] += x;
                                       if (x != 0 || k >= parameters) ++count;
                                     }
                                     if (count > 0) mean.numbers[k] /= count;
                                   }
                                   return mean;
                                 });
}

/// Replaces the numbers of one matrix in `mean`, Σ p_i x_i, by (Σ p_i ‖x_i‖) · unit(Σ p_i unit(x_i)) (RDA of Decoupled
/// DiLoCo, arXiv 2604.21428, with the norm of each row as the radial factor). Rows that cancel keep their mean.
void turn_to_mean_direction(std::vector<float>& mean, std::size_t first, std::size_t count, History::Inputs in,
                            const std::vector<double>& shares) {
  std::vector<double> direction(count);
  double length = 0;
  for (std::size_t i = 0; i < in.size(); ++i) {
    double squares = 0;
    for (std::size_t k = 0; k < count; ++k) {
      const double x = in[i]->numbers[first + k];
      squares += x * x;
    }
    const double norm = std::sqrt(squares);
    if (norm == 0) continue;
    length += shares[i] * norm;
    for (std::size_t k = 0; k < count; ++k)
      direction[k] += shares[i] / norm * static_cast<double>(in[i]->numbers[first + k]);
  }
  const double norm = std::sqrt(std::inner_product(direction.begin(), direction.end(), direction.begin(), 0.0));
  if (norm < 1e-6) return;
  for (std::size_t k = 0; k < count; ++k) mean[first + k] = static_cast<float>(length / norm * direction[k]);
}

Value mean_of_directions(Learning& learning, const std::vector<Value>& rows, std::vector<double> weights) {
  const double all = std::accumulate(weights.begin(), weights.end(), 0.0);
  for (double& weight : weights) weight /= all;
  return learning.history().make(
      fmt::format("mean of directions {} {}", learning.parameters(), fmt::join(weights, " ")), rows,
      [pieces = learning.pieces(), shares = weights](History::Inputs in) {
        Datum mean{std::vector<float>(in[0]->numbers.size()), {}};
        for (std::size_t i = 0; i < in.size(); ++i) {
          for (std::size_t k = 0; k < mean.numbers.size(); ++k)
            mean.numbers[k] += static_cast<float>(shares[i]) * in[i]->numbers[k];
        }
        std::size_t first = 0;
        for (const std::size_t count : pieces) {
          turn_to_mean_direction(mean.numbers, first, count, in, shares);
          first += count;
        }
        return mean;
      });
}

}  // namespace

Value averaged(Average how, Learning& learning, const std::vector<Value>& rows, std::vector<double> weights) {
  switch (how) {
    case Average::contributors:
      return mean_of_contributors(learning, rows);
    case Average::direction:
      return mean_of_directions(learning, rows, std::move(weights));
    case Average::all:
      break;
  }
  return weighted_mean(learning, rows, std::move(weights));
}

/// Norms read every row once more.
world::Work averaging_work(Average how, const Sizing& sizing, step::Role who, std::size_t rows) {
  if (how != Average::direction) return {};
  const auto times = static_cast<double>(rows);
  return sizing.per_parameter(who, 2 * times, times);
}

}  // namespace dadsim::protocols
