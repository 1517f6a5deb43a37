#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "models/matrix.hpp"
#include "step/leak.hpp"

namespace dadsim::algorithms {

/// Readers of a message, a bit each: its receivers, and those who can read it on its way. Sites: every other, or that
/// neighbour; a line: an eavesdropper on the site's own.
inline constexpr unsigned kReadByAggregator = step::bit_of(step::Adversary::aggregator);
inline constexpr unsigned kReadBySites = step::bit_of(step::Adversary::site);
inline constexpr unsigned kReadOnLine = step::bit_of(step::Adversary::line);
inline constexpr unsigned kReadBySecureAggregator = step::bit_of(step::Adversary::secure_aggregator);

/// What a message, or a part of it, says of the first or of the last matrix that multiplies rows (p inputs, q outputs):
/// as it arrives, decoded.
struct SeenMatrix {
  enum class Kind : std::uint8_t {
    input_rows,   ///< k × p, or k × (p + 1) where the last column stands for the bias
    output_rows,  ///< k × q
    gradient,     ///< q × p: a gradient, weights, or how far they have moved
    biases,       ///< 1 × q of the same
    symbols,      ///< k × 1: what has been read of the table that is the network's first layer
    unread,       ///< numbers of unknown meaning
  };
  static constexpr std::int32_t kAggregator = -1;

  Kind kind = Kind::unread;
  bool first = false, last = false;  ///< of which matrix; both where there is one alone
  std::int32_t sender = kAggregator;
  bool of_all = false;   ///< it has been made of what all sites have sent
  unsigned readers = 0;  ///< bits of step::Adversary
  models::ConstBlock numbers;
  double error = 0;  ///< ‖what arrived − what was sent‖ ÷ ‖what was sent‖
  double noise = 0;  ///< deviation per number of what was added on purpose, or by rounding at random
  /// What a site put in, where `numbers` are that to the bit: of the sender, or of all sites one below the other. Empty
  /// where they are not, or where nobody knows.
  std::function<models::ConstBlock(std::size_t site)> sent = nullptr;
};

/// Looks at what is exchanged, and changes nothing. Design: it sees decoded bytes, who sent and who receives; it does
/// not know which method runs.
class ExchangeObserver {
 public:
  virtual ~ExchangeObserver() = default;
  /// Whether all messages matter now. Those that may hold rows of the first matrix always do; gradients of it, and
  /// messages of the last, do not where nothing is measured.
  virtual bool wants_all() const = 0;
  /// Whether each site's part of a sum matters now: where sums are formed over all sites at once, those parts are to be
  /// made for the observer alone.
  virtual bool wants_parts() const = 0;
  /// Whether such parts may be asked for later, where they depend on what a site has kept from step to step.
  virtual bool follows_parts() const = 0;
  /// Whether messages by that site alone matter: of many sites a sample is looked at.
  virtual bool looks_at(std::size_t site) const = 0;
  virtual void see(const SeenMatrix& matrix) = 0;
};

}  // namespace dadsim::algorithms
