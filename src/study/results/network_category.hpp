#pragma once

#include <string>

#include "step/timing.hpp"

namespace dadsim::study {

/// What travels, as far as the error of its time goes by it.
struct CarriedMessages {
  double most_bytes = 0;     ///< of the largest collective
  double at_once_bytes = 0;  ///< that lie on the busiest link at the same time
  bool gloo = false;         ///< messages leave as PyTorch's backend for CPUs has them
};

/// The category of estimate::error_categories() of what messages take: by the slowest transport among the links in use,
/// the library, and the size.
std::string category_of_messages(const step::NetworkUse& network, const CarriedMessages& carried);

/// Bytes that lie on the busiest link of a star at the same time, by how a collective of so many workers is carried
/// out.
double bytes_at_once(const step::NetworkUse::Collective& collective, double workers);

}  // namespace dadsim::study
