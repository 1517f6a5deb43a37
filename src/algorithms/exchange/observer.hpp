#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "models/matrix.hpp"
#include "step/leak.hpp"

namespace dadsim::algorithms {

/// Readers of a message, one bit each: its receivers, and those who can read it in transit. Sites: every other site, or
/// that neighbour; line: an eavesdropper on the site's own line.
inline constexpr unsigned kReadByAggregator = step::bit_of(step::Adversary::aggregator);
inline constexpr unsigned kReadBySites = step::bit_of(step::Adversary::site);
inline constexpr unsigned kReadOnLine = step::bit_of(step::Adversary::line);
inline constexpr unsigned kReadBySecureAggregator = step::bit_of(step::Adversary::secure_aggregator);

/// The information of a message, or of a part of it, about the first or the last matrix that multiplies rows (p inputs,
/// q outputs): decoded, as it arrives.
struct SeenMatrix {
  enum class Kind : std::uint8_t {
    input_rows,   ///< k × p, or k × (p + 1) where the last column stands for the bias
    output_rows,  ///< k × q
    gradient,     ///< q × p: a gradient, weights, or a change of weights
    biases,       ///< 1 × q of the same
    symbols,      ///< k × 1: symbols read from the table that is the network's first layer
    unread,       ///< numbers of unknown meaning
  };
  static constexpr std::int32_t kAggregator = -1;

  Kind kind = Kind::unread;
  bool first = false, last = false;  ///< matrix concerned; both if the network has only one
  std::int32_t sender = kAggregator;
  bool of_all = false;   ///< computed from what all sites have sent
  unsigned readers = 0;  ///< bits of step::Adversary
  models::ConstBlock numbers;
  double error = 0;  ///< ‖what arrived − what was sent‖ ÷ ‖what was sent‖
  double noise = 0;  ///< deviation per number of noise added on purpose, or by stochastic rounding
  /// A site's input to the message, bit for bit: the sender's, or all sites' one below the other. Empty if `numbers`
  /// differ from it, or if it is unknown.
  std::function<models::ConstBlock(std::size_t site)> sent = nullptr;
};

/// Observes what is exchanged and changes nothing. By design it sees decoded bytes, sender and readers, but not which
/// method runs.
class ExchangeObserver {
 public:
  virtual ~ExchangeObserver() = default;
  /// Returns whether all messages matter now. Messages that may hold rows of the first matrix always do; its gradients,
  /// and messages of the last matrix, matter only when something is measured.
  virtual bool wants_all() const = 0;
  /// Returns whether each site's part of a sum matters now: with sums formed over all sites at once, the parts are
  /// computed for the observer alone.
  virtual bool wants_parts() const = 0;
  /// Returns whether such parts may be asked for later, if they depend on state that a site keeps between steps.
  virtual bool follows_parts() const = 0;
  /// Returns whether messages by that site alone matter: only a sample of many sites is observed.
  virtual bool looks_at(std::size_t site) const = 0;
  virtual void see(const SeenMatrix& matrix) = 0;
};

}  // namespace dadsim::algorithms
