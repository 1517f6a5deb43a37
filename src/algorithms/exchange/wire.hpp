#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "compress/compressor.hpp"
#include "models/matrix.hpp"
#include "spec/specification.hpp"

namespace dadsim::algorithms {

/// Encoder of a run's matrices as messages: its compressor, the random numbers of its roundings, and what sites keep
/// of what compression has lost.
class Wire {
 public:
  Wire(const spec::CompressSpec& asked, std::uint64_t seed);

  /// False: matrices are sent in fp32 as they lie in memory, at no cost.
  bool compresses() const { return !info_->lossless; }
  /// Whether encoded matrices can be added on the way.
  bool adds() const { return adds_; }
  /// Whether sizes are known only once numbers have been encoded.
  bool adapts() const { return info_->adapts; }
  /// Whether an aggregator hands messages on rather than compress what it has made of them.
  bool forwards() const { return forwards_; }
  /// Whether what is lost is noise of mean zero, drawn anew for each number, and not what a rule leaves out.
  bool is_unbiased() const { return compresses() && unbiased_; }
  /// Whether biases go as they are beside their matrix.
  bool leaves_biases() const { return info_->leaves_biases; }
  /// Scope that is compressed as one: a layer's, where nothing is compressed.
  spec::CompressSpec::Scope scope() const { return compresses() ? scope_ : spec::CompressSpec::Scope::layer; }
  const compress::Compressor& compressor() const { return *compressor_; }

  /// `sites`: who takes part, by numbers among all; empty: all. What is kept for a site is its own whoever else is
  /// there.
  void begin_step(std::uint32_t step, std::vector<std::int32_t> sites = {}) {
    step_ = step, message_ = 0;
    matrices_ = {};
    uncompressed_sums_ = {};
    sites_ = std::move(sites);
  }
  /// Numbers what is exchanged next of a layer (−1: of all): one matrix at each site. What sites keep of a matrix is
  /// that of its place among those of its layer: a step may leave other layers out.
  std::uint32_t begin_matrix(std::int32_t layer) { return matrices_.begin(layer); }
  /// Numbers a sum of a layer that goes uncompressed.
  std::uint32_t begin_uncompressed_sum(std::int32_t layer) { return uncompressed_sums_.begin(layer); }

  /// Encodes a matrix of site `site` (of the aggregator: −1); returns how many of its numbers were kept. `sum`: it is
  /// the sum of what sites have encoded.
  std::int64_t encode(models::ConstBlock numbers, std::int32_t site, std::uint32_t matrix, compress::Encoder& into,
                      bool sum = false);
  void decode(compress::Decoder& from, std::uint32_t matrix, models::MutableBlock into) const;

  /// Whether what is lost is kept and added to what is sent next. It makes sense for what adds up over steps: gradients
  /// and sums of them.
  bool remembers() const { return remembers_; }
  /// Memory that `site` keeps of a matrix.
  compress::Memory& memory(std::int32_t site, std::uint32_t matrix);
  /// Whether what sites keep has momentum, so that sums that go uncompressed need it too.
  bool has_momentum() const { return remembers_ && info_->has_momentum; }
  /// Memory that each of so many sites keeps, the same at all, of a sum that goes uncompressed beside those that are
  /// compressed. *Requires*: has_momentum().
  compress::Memory& memory_of_uncompressed(std::uint32_t sum, std::size_t sites);

 private:
  using Place = std::pair<std::int32_t, std::uint32_t>;  ///< layer, number within the layer
  using Key = std::pair<std::int32_t, Place>;            ///< site, matrix

  /// State of the step so far.
  struct Begun {
    std::vector<Place> places = {};  ///< by the number in the step
    std::map<std::int32_t, std::uint32_t> of_layer = {};

    std::uint32_t begin(std::int32_t layer) {
      places.emplace_back(layer, of_layer[layer]++);
      return static_cast<std::uint32_t>(places.size() - 1);
    }
  };

  const compress::CompressorInfo* info_;
  std::unique_ptr<compress::Compressor> compressor_;
  bool adds_, forwards_, unbiased_, remembers_;
  spec::CompressSpec::Scope scope_;
  std::uint64_t seed_;
  /// The number among all sites of a site of the step; −1, the aggregator, stays.
  std::int32_t of_all(std::int32_t site) const {
    return site < 0 || sites_.empty() ? site : sites_.at(static_cast<std::size_t>(site));
  }
  std::vector<std::int32_t> sites_;
  std::uint32_t step_ = 0, message_ = 0;
  Begun matrices_, uncompressed_sums_;
  std::map<Key, std::unique_ptr<compress::Memory>> memory_;
  std::map<Place, std::unique_ptr<compress::Memory>> uncompressed_;
  std::map<Key, std::unique_ptr<compress::CompressorState>> state_;
};

}  // namespace dadsim::algorithms
