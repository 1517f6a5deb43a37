#include "protocols/federated/secure_aggregation.hpp"

#include <cmath>

namespace dadsim::protocols {

std::vector<spec::ParameterSpec> SecureAggregation::parameters() {
  return {
      kSecure,
      kSecureBits,
  };
}

SecureAggregation::SecureAggregation(const Setting& setting) {
  if (!setting.parameters().contains(kSecure.name)) return;
  in_use_ = setting.value(kSecure);
  bits_ = static_cast<double>(setting.value(kSecureBits));
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
