#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "models/matrix.hpp"
#include "step/leak.hpp"

namespace dadsim::algorithms {

/// Readers of a message, one bit each: its receivers, and adversaries that read it in transit. kReadBySites: every
/// other site, or the neighbour that receives it. kReadOnLine: an eavesdropper on the line of the sending site.
inline constexpr unsigned kReadByAggregator = step::bit_of(step::Adversary::aggregator);
inline constexpr unsigned kReadBySites = step::bit_of(step::Adversary::site);
inline constexpr unsigned kReadOnLine = step::bit_of(step::Adversary::line);
inline constexpr unsigned kReadBySecureAggregator = step::bit_of(step::Adversary::secure_aggregator);

/// Decoded content of a message, or of a part of it, that concerns the first or the last matrix that multiplies rows (p
/// inputs, q outputs).
struct SeenMatrix {
  enum class Kind : std::uint8_t {
    input_rows,   ///< k × p, or k × (p + 1) with a last column for the bias
    output_rows,  ///< k × q
    gradient,     ///< q × p: a gradient, weights, or a change of weights
    biases,       ///< 1 × q: the biases of a gradient, of weights or of their change
    symbols,      ///< k × 1: symbols read from the table that is the network's first layer
    unread,       ///< numbers of unknown meaning
  };
  static constexpr std::int32_t kAggregator = -1;

  Kind kind = Kind::unread;
  bool first = false, last = false;  ///< matrix concerned; both are true if the network has only one
  std::int32_t sender = kAggregator;
  bool of_all = false;   ///< computed from the messages of all sites
  unsigned readers = 0;  ///< bits of step::Adversary
  models::ConstBlock numbers;
  double error = 0;  ///< ‖arrived − sent‖ ÷ ‖sent‖
  double noise = 0;  ///< standard deviation, per number, of noise added on purpose or by stochastic rounding
  /// Returns a site's input to the message, bit for bit; for a result of all sites, their inputs are stacked. Empty if
  /// `numbers` differ from the input, or if the input is unknown.
  std::function<models::ConstBlock(std::size_t site)> sent = nullptr;
};

/// Observes messages without changing anything. An observer sees decoded bytes, sender and readers. By design, the
/// running method is hidden from it.
class ExchangeObserver {
 public:
  virtual ~ExchangeObserver() = default;
  /// Returns whether all messages matter now. Messages that may hold rows of the first matrix always matter. In
  /// measured steps, gradients of the first matrix and messages of the last matrix matter too.
  virtual bool wants_all() const = 0;
  /// Returns whether each site's part of a sum matters now. Sums are formed over all sites at once, so that parts are
  /// computed for the observer alone.
  virtual bool wants_parts() const = 0;
  /// Returns whether parts of sums may be needed later; they may depend on state that a site keeps between steps.
  virtual bool follows_parts() const = 0;
  /// Returns whether messages from that site matter: an observer samples some of many sites.
  virtual bool looks_at(std::size_t site) const = 0;
  virtual void see(const SeenMatrix& matrix) = 0;
};

}  // namespace dadsim::algorithms
