#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "protocols/protocol.hpp"

namespace dadsim::protocols {

/// What it costs that a server learns the sum of its clients' updates and nothing else (Bonawitz et al., Practical
/// Secure Aggregation for Privacy-Preserving Machine Learning, CCS 2017, the honest-but-curious protocol). What is
/// learned is the same: numbers are neither quantised nor masked here.
///
/// From the paper: who sends what in which round, 2 n a_K + (5 n − 4) a_S + m ⌈log₂ R⌉ bits per client (§7.1) with keys
/// and shares of 256 bits, n clients and m numbers; R = n · 2^bits, so that the sum fits; the masks that each expands;
/// and the time that a thread took for them, for keys and for secrets (secure_aggregation.csv), whatever the device.
/// Assumptions: the list of who is left is a bit per client; and enough clients are left to put the secrets together.
class SecureAggregation {
 public:
  static constexpr auto kSecure = spec::choice<bool>("secure", {{"no", false}, {"yes", true}},
                                                     "yes: what secure aggregation costs is computed and sent too");
  static constexpr spec::IntegerParameter kSecureBits{
      "secure-bits", 1, 64, "32", "bits of a number of an update before ceil(log2(clients)) are added for the sum"};

  static constexpr double kKeyBytes = 32;    ///< a_K
  static constexpr double kShareBytes = 32;  ///< a_S

  /// secure, secure-bits.
  static std::vector<spec::ParameterSpec> parameters();
  /// Not in use where the run has no such parameter.
  explicit SecureAggregation(const Setting& setting);
  explicit SecureAggregation(double bits) : bits_(bits) {}

  bool in_use() const { return in_use_; }
  /// Of a round of n clients.
  void set_clients(std::size_t n) { clients_ = static_cast<double>(n); }

  // Bytes, per client.
  double keys_up() const { return 2 * kKeyBytes; }  ///< AdvertiseKeys: two public keys
  double keys_down() const { return 2 * kKeyBytes * (clients_ - 1); }
  double shares_up() const { return 2 * kShareBytes * (clients_ - 1); }  ///< ShareKeys: of the key and of the own mask
  double shares_down() const { return shares_up(); }
  double masked(double numbers) const;                         ///< MaskedInputCollection
  double left_down() const;                                    ///< Unmasking: who is left
  double unmask_up() const { return kShareBytes * clients_; }  ///< a share of each client's key or mask

  // Seconds of a thread.
  /// A client's masks over so many numbers: its own, and one with each other client; keys and shares among them.
  double client_seconds(double numbers) const;
  /// The server takes masks off again: the own masks of those whose updates it has, and the masks that those have with
  /// the ones who are missing; for each of which it puts a secret together, and for the latter agrees on keys.
  double server_seconds(double numbers, std::size_t updates) const;

 private:
  bool in_use_ = false;
  double bits_ = 32;
  double clients_ = 1;
};

}  // namespace dadsim::protocols
