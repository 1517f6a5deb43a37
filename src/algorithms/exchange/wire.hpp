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

/// Encoder of a run's matrices as messages: its compressor, the random numbers of its roundings, and the sites'
/// memories of compression errors.
class Wire {
 public:
  Wire(const spec::CompressSpec& asked, std::uint64_t seed);

  /// Returns whether matrices are compressed; otherwise they are sent in fp32 at no cost.
  bool compresses() const { return !info_->lossless; }
  /// Returns whether encoded matrices can be added inside the network.
  bool adds() const { return adds_; }
  /// Returns whether sizes are known only after encoding.
  bool adapts() const { return info_->adapts; }
  /// Returns whether an aggregator forwards messages instead of compressing the result it computes from them.
  bool forwards() const { return forwards_; }
  /// Returns whether the compression error is zero-mean noise, drawn for each number separately, and not omission by a
  /// rule.
  bool is_unbiased() const { return compresses() && unbiased_; }
  /// Returns whether biases are sent uncompressed, separately from their matrix.
  bool leaves_biases() const { return info_->leaves_biases; }
  /// Returns the unit of compression; a layer if nothing is compressed.
  spec::CompressSpec::Scope scope() const { return compresses() ? scope_ : spec::CompressSpec::Scope::layer; }
  const compress::Compressor& compressor() const { return *compressor_; }

  /// `sites`: numbers of the participants among all sites; empty: all. Each site keeps its own memory, with any
  /// participants.
  void begin_step(std::uint32_t step, std::vector<std::int32_t> sites = {}) {
    step_ = step, message_ = 0;
    matrices_ = {};
    uncompressed_sums_ = {};
    sites_ = std::move(sites);
  }
  /// Returns a number for the next matrix of a layer (−1: of all layers together). Memories are keyed by layer and
  /// position within it, because a step may leave other layers out.
  std::uint32_t begin_matrix(std::int32_t layer) { return matrices_.begin(layer); }
  /// Returns a number for a layer's next uncompressed sum.
  std::uint32_t begin_uncompressed_sum(std::int32_t layer) { return uncompressed_sums_.begin(layer); }

  /// Encodes a matrix of site `site` (the aggregator: −1); returns how many of its numbers were kept. `sum`: the matrix
  /// is the sum of what sites have encoded.
  std::int64_t encode(models::ConstBlock numbers, std::int32_t site, std::uint32_t matrix, compress::Encoder& into,
                      bool sum = false);
  void decode(compress::Decoder& from, std::uint32_t matrix, models::MutableBlock into) const;

  /// Returns whether the compression error is remembered and added to the next message. This suits values that add up
  /// over steps: gradients and their sums.
  bool remembers() const { return remembers_; }
  /// Switches sites to sending differences from an estimate that receivers also have (compress::EstimateMemory). The
  /// aggregator adds up differences, and remembers the error of its own messages.
  void send_differences() { remembers_ = differences_ = compresses(); }
  /// Returns the memory of `site` for a matrix.
  compress::Memory& memory(std::int32_t site, std::uint32_t matrix);
  /// Returns whether the sites' memories have momentum, which uncompressed sums need too.
  bool has_momentum() const { return remembers_ && !differences_ && info_->has_momentum; }
  /// Returns the memory for a sum sent uncompressed next to compressed ones; it is the same at each of `sites` sites.
  /// *Requires*: has_momentum().
  compress::Memory& memory_of_uncompressed(std::uint32_t sum, std::size_t sites);

 private:
  using Place = std::pair<std::int32_t, std::uint32_t>;  ///< layer, number within the layer
  using Key = std::pair<std::int32_t, Place>;            ///< site, matrix

  /// State of the current step.
  struct Begun {
    std::vector<Place> places = {};  ///< by number within the step
    std::map<std::int32_t, std::uint32_t> of_layer = {};

    std::uint32_t begin(std::int32_t layer) {
      places.emplace_back(layer, of_layer[layer]++);
      return static_cast<std::uint32_t>(places.size() - 1);
    }
  };

  const compress::CompressorInfo* info_;
  std::unique_ptr<compress::Compressor> compressor_;
  bool adds_, forwards_, unbiased_, remembers_;
  bool differences_ = false;
  spec::CompressSpec::Scope scope_;
  std::uint64_t seed_;
  /// Returns the number among all sites of a site of the step; −1 (the aggregator) is unchanged.
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
