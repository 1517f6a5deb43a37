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

/// Message of a site to each of its neighbours: matrices, one after the other.
struct NeighbourMessage {
  struct Part {
    step::Expression elements;  ///< numbers of the matrix, in symbols
    /// Matrix of `site` for `neighbour`, which is ignored where all neighbours get the same.
    std::function<models::ConstBlock(std::size_t site, std::size_t neighbour)> of;
    /// Instead of `of`: whole numbers, which no compressor touches.
    std::function<std::span<const std::int32_t>(std::size_t site, std::size_t neighbour)> whole = nullptr;
    bool as_it_is = false;  ///< no compressor touches it
    /// 1 where the layer's message has this part, 0 (and an empty matrix) where it has not.
    step::Expression present = 1.0;
  };
  std::vector<Part> parts;
  /// All neighbours get the same message, which is encoded once; otherwise each gets one of its own.
  bool same_for_all = true;
};

/// Message that a site has received from one of its senders.
struct Arrived {
  std::int32_t sender = 0;
  std::vector<models::Matrix> parts;             ///< shaped like the sender's
  std::vector<std::vector<std::int32_t>> whole;  ///< parts of whole numbers, in their order
};

/// Per site: what has arrived, in rising order of the senders.
using Arrivals = std::vector<std::vector<Arrived>>;

/// Deviation per number of the noise that was added on purpose, and is known to whoever receives it.
struct AddedNoise {
  double of_site = 0;  ///< to what a site sends
  double of_all = 0;   ///< in what is made of all that sites have sent
};

/// Message of a site for one layer: matrices with equally many rows, side by side.
struct Contribution {
  struct Part {
    step::Expression width;                                  ///< columns, in symbols
    std::function<models::ConstBlock(std::size_t site)> of;  ///< rows × width
    /// Instead of `of`: whole numbers, which no compressor touches; `width` is 1 then.
    std::function<std::span<const std::int32_t>(std::size_t site)> whole = nullptr;
    /// 1 where the layer's message has this part, 0 (and a matrix of no columns) where it has not.
    step::Expression present = 1.0;
    /// Instead of `of`: rows × width numbers of `bits` bits (1 … 32) each, which no compressor touches.
    std::function<std::span<const std::uint32_t>(std::size_t site)> codes = nullptr;
    int bits = 0;

    /// Whether it is a matrix of numbers, which a compressor may see to.
    bool has_numbers() const { return !whole && !codes; }
  };
  step::Expression rows;  ///< a site's, in symbols
  std::vector<Part> parts;
  /// The parts are values of entries of the layer's matrix, and their places in it, row by row.
  bool entries = false;
  AddedNoise noise = {};
};

/// Rows of all sites in site order, or the result made of them.
struct Rows {
  step::Expression rows;  ///< count of rows, in symbols
  std::vector<models::Matrix> parts;
  std::vector<std::vector<std::int32_t>> whole;        ///< parts of whole numbers, in their order
  std::vector<std::vector<std::uint32_t>> codes = {};  ///< parts of codes, likewise

  const models::Matrix& operator[](std::size_t part) const { return parts[part]; }
};

/// Function of the rows of all sites. It runs once at the aggregator, or at every peer alike, and is charged to those
/// that run it.
class Combination {
 public:
  template <class Make>
  requires(!std::same_as<std::remove_cvref_t<Make>, Combination> && std::invocable<Make&, Rows, step::Role>)
      Combination(Make make)
      : make_(std::move(make)) {}  // NOLINT(google-explicit-constructor): a lambda is one

  Rows operator()(Rows all, step::Role who) const { return make_(std::move(all), who); }
  /// Whether the rows stay as they came, one below the other.
  bool keeps_rows() const { return keeps_rows_; }

 private:
  friend Combination concatenation();

  std::function<Rows(Rows all, step::Role who)> make_;
  bool keeps_rows_ = false;
};

/// The rows of all sites as they are.
inline Combination concatenation() {
  Combination all([](Rows rows, step::Role) { return rows; });
  all.keeps_rows_ = true;
  return all;
}

}  // namespace dadsim::algorithms
