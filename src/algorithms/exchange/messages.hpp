#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "models/matrix.hpp"
#include "step/expression.hpp"
#include "step/step.hpp"

namespace dadsim::algorithms {

/// Message of a site to each of its neighbours: matrices in sequence.
struct NeighbourMessage {
  struct Part {
    step::Expression elements;  ///< count of the matrix's numbers, in symbols
    /// Returns the matrix of `site` for `neighbour`; `neighbour` is ignored if all neighbours get the same.
    std::function<models::ConstBlock(std::size_t site, std::size_t neighbour)> of;
    /// Integers instead of the matrix `of`; never compressed.
    std::function<std::span<const std::int32_t>(std::size_t site, std::size_t neighbour)> whole = nullptr;
    bool as_it_is = false;  ///< the part is sent uncompressed
    /// 1 if the layer's message has this part, else 0 (and an empty matrix).
    step::Expression present = 1.0;
  };
  std::vector<Part> parts;
  /// True: all neighbours get the same message, encoded once; false: each neighbour gets a separate message.
  bool same_for_all = true;
};

/// Message that a site has received from one of its senders.
struct Arrived {
  std::int32_t sender = 0;
  std::vector<models::Matrix> parts;             ///< shaped like the sender's
  std::vector<std::vector<std::int32_t>> whole;  ///< received integer parts, in their order
};

/// Received messages per site, in ascending order of the senders.
using Arrivals = std::vector<std::vector<Arrived>>;

/// Standard deviation per number of the noise added on purpose, which every receiver knows.
struct AddedNoise {
  double of_site = 0;  ///< deviation in a site's message
  double of_all = 0;   ///< deviation in the result computed from all messages
};

/// Message of a site for one layer: matrices with equally many rows, side by side.
struct Contribution {
  struct Part {
    step::Expression width;                                  ///< columns, in symbols
    std::function<models::ConstBlock(std::size_t site)> of;  ///< rows × width
    /// Integers instead of the matrix `of`, never compressed; `width` is then 1.
    std::function<std::span<const std::int32_t>(std::size_t site)> whole = nullptr;
    /// 1 if the layer's message has this part, else 0 (and a matrix without columns).
    step::Expression present = 1.0;
    /// Codes instead of the matrix `of`: rows × width numbers of `bits` bits (1 … 32) each, never compressed.
    std::function<std::span<const std::uint32_t>(std::size_t site)> codes = nullptr;
    int bits = 0;

    /// Returns whether the part is a matrix of numbers, which may be compressed.
    bool has_numbers() const { return !whole && !codes; }
  };
  step::Expression rows;  ///< rows of a site, in symbols
  std::vector<Part> parts;
  /// True: the parts are values and positions of entries of the layer's matrix, row by row.
  bool entries = false;
  AddedNoise noise = {};
};

/// Rows of all sites in site order, or the result computed from them.
struct Rows {
  step::Expression rows;  ///< count of rows, in symbols
  std::vector<models::Matrix> parts;
  std::vector<std::vector<std::int32_t>> whole;        ///< received integer parts, in their order
  std::vector<std::vector<std::uint32_t>> codes = {};  ///< received parts of codes, in their order

  const models::Matrix& operator[](std::size_t part) const { return parts[part]; }
};

/// Function of the rows of all sites. The aggregator evaluates it once, or every peer does, and is charged for it.
class Combination {
 public:
  template <class Make>
  requires(!std::same_as<std::remove_cvref_t<Make>, Combination> && std::invocable<Make&, Rows, step::Role>)
      Combination(Make make)
      : make_(std::move(make)) {}  // NOLINT(google-explicit-constructor): a lambda is one

  Rows operator()(Rows all, step::Role who) const { return make_(std::move(all), who); }
  /// Returns whether the rows are only concatenated.
  bool keeps_rows() const { return keeps_rows_; }

 private:
  friend Combination concatenation();

  std::function<Rows(Rows all, step::Role who)> make_;
  bool keeps_rows_ = false;
};

/// Concatenates the rows of all sites unchanged.
inline Combination concatenation() {
  Combination all([](Rows rows, step::Role) { return rows; });
  all.keeps_rows_ = true;
  return all;
}

}  // namespace dadsim::algorithms
