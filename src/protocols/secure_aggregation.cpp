#include "protocols/secure_aggregation.hpp"

#include <cmath>

namespace dadsim::protocols {

std::vector<spec::ParameterSpec> SecureAggregation::parameters() {
  return {
      spec::choice_parameter("secure", {"no", "yes"}, "yes: what secure aggregation costs is computed and sent too"),
      spec::integer_parameter("secure-bits", 1, 64, "32",
                              "bits of a number of an update before ceil(log2(clients)) are added for the sum"),
  };
}

SecureAggregation::SecureAggregation(const Setting& setting) {
  if (!setting.parameters().contains("secure")) return;
  in_use_ = setting.choice("secure") == "yes";
  bits_ = static_cast<double>(setting.integer("secure-bits"));
}

double SecureAggregation::masked(double numbers) const {
  return std::ceil(numbers * (bits_ + std::ceil(std::log2(clients_))) / 8);
}

double SecureAggregation::left_down() const { return std::ceil(clients_ / 8); }

double SecureAggregation::masks_of_server(std::size_t updates) const {
  const auto left = static_cast<double>(updates);
  return left + (clients_ - left) * left;
}

}  // namespace dadsim::protocols
