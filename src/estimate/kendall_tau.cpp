#include "estimate/kendall_tau.hpp"

#include <cstddef>

namespace dadsim::estimate {

std::optional<double> kendall_tau(std::span<const PredictedMeasured> compared) {
  if (compared.size() < 2) return {};
  double sum = 0;
  double pairs = 0;
  for (std::size_t i = 0; i < compared.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j, ++pairs) {
      const double order =
          (compared[i].predicted - compared[j].predicted) * (compared[i].measured - compared[j].measured);
      sum += order > 0 ? 1 : order < 0 ? -1 : 0;
    }
  }
  return sum / pairs;
}

}  // namespace dadsim::estimate
