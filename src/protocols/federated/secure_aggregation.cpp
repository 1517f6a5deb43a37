#include "protocols/federated/secure_aggregation.hpp"

#include <cmath>

#include "protocols/federated/secure_aggregation.csv.hpp"
#include "support/fact_table.hpp"

namespace dadsim::protocols {
namespace {

struct ThreadSeconds {
  double mask = 0;       ///< per number
  double secret = 0;     ///< per client
  double share = 0;      ///< per client and client
  double agreement = 0;  ///< per pair
};

const ThreadSeconds& thread_seconds() {
  static const auto kSeconds =
      read_constants<ThreadSeconds>(tables::kSecureAggregation, {{"mask", &ThreadSeconds::mask},
                                                                 {"secret", &ThreadSeconds::secret},
                                                                 {"share", &ThreadSeconds::share},
                                                                 {"agreement", &ThreadSeconds::agreement}});
  return kSeconds;
}

}  // namespace

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

double SecureAggregation::client_seconds(double numbers) const { return clients_ * numbers * thread_seconds().mask; }

double SecureAggregation::server_seconds(double numbers, std::size_t updates) const {
  const ThreadSeconds& thread = thread_seconds();
  const auto left = static_cast<double>(updates);
  const double pairs = (clients_ - left) * left;
  return (left + pairs) * numbers * thread.mask + clients_ * thread.secret + clients_ * clients_ * thread.share +
         pairs * thread.agreement;
}

}  // namespace dadsim::protocols
