#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "algorithms/exchange/grouped_layers.hpp"
#include "algorithms/exchange/messages.hpp"
#include "algorithms/exchange/wire.hpp"
#include "algorithms/exchange/wire_tap.hpp"
#include "compress/compressor.hpp"
#include "models/matrix.hpp"
#include "models/network.hpp"
#include "spec/specification.hpp"
#include "step/step.hpp"
#include "step/step_recorder.hpp"

namespace dadsim::algorithms {

/// Result of a collective that is still in progress in simulated time, although it has already been carried out. The
/// compute stream waits only in wait().
template <class T>
class Pending {
 public:
  Pending() = default;
  /// `receive`, if set, is the participants' work on arrived data, such as decoding and combining.
  Pending(T data, step::StepRecorder& recorder, std::int32_t collective, step::Role who,
          std::function<void(T&)> receive = nullptr)
      : data_(std::move(data)),
        recorder_(&recorder),
        collective_(collective),
        who_(who),
        receive_(std::move(receive)) {}

  /// Records that the participants wait here for the collective, and returns the data.
  T& wait() & {
    recorder_->add(step::WaitOp{who_, collective_});
    if (receive_) std::exchange(receive_, nullptr)(data_);
    return data_;
  }
  /// Returns the received data; call wait() first.
  const T& data() const { return data_; }
  T wait() && { return std::move(wait()); }

 private:
  T data_{};
  step::StepRecorder* recorder_ = nullptr;
  std::int32_t collective_ = 0;
  step::Role who_ = step::Role::workers;
  std::function<void(T&)> receive_;
};

/// Carries out collectives on encoded bytes at once, and records them with symbolic sizes. Data is encoded, its length
/// counted, and decoded at the receiver. Throws std::logic_error if a symbolic size does not evaluate to that length,
/// segment by segment. This class chooses between aggregator and peers: algorithms define a function of all
/// contributions, not the node that computes it.
///
/// EXAMPLE: every site receives the rows of all sites' inputs of layer l, and waits for them at once:
///     auto pending = exchange.combine({rows(), {{in(), [&](std::size_t s) { return step.input(s, l); }}}},
///                                     concatenation());
///     const Matrix& all = pending.wait()[0];
class Exchange {
 public:
  Exchange(step::StepRecorder& recorder, const spec::ModelShape& shape, spec::ExchangeMode mode,
           const spec::CompressSpec& compress, std::uint64_t seed);
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;

  /// Returns the tap that shows messages to an observer.
  WireTap& tap() { return tap_; }

  spec::ExchangeMode mode() const { return mode_; }
  /// Returns whether messages are compressed, so that sums over sites are no longer linear.
  bool compresses() const { return wire_.compresses(); }

  /// Switches later sums of compressed gradients to sums of differences (Wire::send_differences()).
  void send_differences() { wire_.send_differences(); }
  /// Returns whether sum() leaves biases uncompressed next to a compressed matrix.
  bool leaves_biases() const {
    return compresses() && scope() == spec::CompressSpec::Scope::layer && wire_.leaves_biases();
  }

  /// Applies `how` to the rows of all sites, in site order, and gives the result to every site. Peers all-gather and
  /// each run `how`; otherwise the aggregator gathers, runs `how` and broadcasts the result.
  Pending<Rows> combine(const Contribution& own, Combination how);

  /// Returns the number of blocks for block-wise combination: one per site among peers, each of which combines one
  /// block; one at the aggregator.
  std::size_t blocks() const { return mode_ == spec::ExchangeMode::peer ? sites() : 1; }
  /// Returns the role that combines each block.
  step::Role combiner() const {
    return mode_ == spec::ExchangeMode::peer ? step::Role::workers : step::Role::aggregator;
  }
  /// Sends block b of every site to its combiner: an all-to-all among peers, a gather otherwise. Parts are codes, and
  /// all blocks have one symbolic size. Returns the rows of all sites, per block.
  Pending<std::vector<Rows>> scatter(const std::vector<Contribution>& own);
  /// Sends every combined block to all sites: an all-gather among peers, a broadcast otherwise. `like`: the parts of a
  /// block as given to scatter().
  Pending<std::vector<Rows>> all_gather(const std::vector<Rows>& made, const Contribution& like);

  /// Sums one layer's gradient over sites, for all sites: an all-reduce among peers; otherwise the aggregator gathers,
  /// adds and broadcasts. Matrix and biases are compressed as one row of numbers, or the matrix alone
  /// (CompressorInfo::leaves_biases). `add_to` adds site s's gradient to the sum, which has the layer's size.
  Pending<models::LayerGradient> sum(const std::function<void(std::size_t site, models::LayerGradient& sum)>& add_to);

  /// Sums matrices of `elements` numbers over sites, by the same collectives as a layer's gradient. `of_sites` has one
  /// matrix per site. Without compression it may have a single matrix, already summed over sites, for sums that are
  /// linear in the rows. `part` then returns one site's message for an observer.
  using PartOfSum = std::function<models::Matrix(std::size_t site)>;
  Pending<models::Matrix> sum(const step::Expression& elements, std::vector<models::Matrix> of_sites,
                              const PartOfSum& part = nullptr);
  /// Records the all-reduce of 4 bytes by which peers agree on their largest number, and waits for it.
  void agree_on_most(float most);

  /// Returns the unit of compression: a matrix, a layer or the whole gradient.
  spec::CompressSpec::Scope scope() const { return wire_.scope(); }

  /// Sums all matrices and their biases as one row of numbers, by the same collectives as a layer's gradient;
  /// `of(site)` returns a site's row.
  Pending<models::Matrix> sum_of_model(Eigen::Index numbers, const std::function<models::Matrix(std::size_t site)>& of);

  /// One matrix of an EncodedSum.
  struct Summand {
    step::Expression elements;
    step::Work adding;  ///< work of adding all sites' matrices
    Eigen::Index rows = 0, columns = 0;
    step::Expression present = 1.0;  ///< 0 if the layer has no such matrix
    bool is_absent = false;          ///< true: the current layer has no such matrix, and nothing is encoded
    std::uint32_t number = 0;        ///< wire number of the matrix
    compress::Amount own = step::Expression(), all = step::Expression(), down = step::Expression();
  };
  /// Matrices that every site encodes one by one and sends in one message; all sites receive their sums.
  struct EncodedSum {
    std::vector<models::Matrix> sums;
    std::int32_t serial = 0;  ///< collective to wait for
    std::vector<Summand> of;
    std::vector<compress::Message> messages;  ///< per matrix of the first site, then of the second …; until combined
  };
  /// Sums a layer's gradient like sum(), but with matrix and biases compressed separately. Takes three calls: sites
  /// send; the aggregator, if any, combines; all wait and decode. Each call can cover all layers together
  /// (TrainingStep::together).
  EncodedSum hand_over_tensors(const std::function<void(std::size_t site, models::LayerGradient& sum)>& add_to);
  void combine(EncodedSum& sum);
  models::LayerGradient receive_tensors(EncodedSum& sum);
  /// Sums without compression, for the few numbers outside a matrix. For an observer: `part` returns a site's message,
  /// and `noise` is the noise added on purpose.
  Pending<models::Matrix> sum_as_it_is(const step::Expression& elements, models::Matrix sum,
                                       const PartOfSum& part = nullptr, const AddedNoise& noise = {});

  /// Applies the compressor's momentum, if any, to sums of `elements` numbers that arrived uncompressed.
  void remember_uncompressed(const step::Expression& elements, std::span<models::Vector> sums);

  /// Sums the parameters outside the matrices (norms, positions …; embeddings unless the algorithm handles them)
  /// uncompressed. A workload may have others than this network. Returns the serial of the collective to wait for.
  std::int32_t sum_other_layers(const std::vector<models::Vector>& vectors,
                                const std::vector<const models::Matrix*>& embeddings, bool embeddings_seen_to);

  /// Sends a message from every site to each of its neighbours in the graph. For parameters outside the matrices, sizes
  /// cover all of them together, and nothing is compressed.
  Pending<Arrivals> neighbours(const std::shared_ptr<const step::Neighbours>& graph, const NeighbourMessage& message);

  /// Returns the memory of a site for the n-th matrix that was summed or combined in the step.
  const models::Matrix& held(std::size_t site, std::uint32_t matrix) {
    return wire_.memory(static_cast<std::int32_t>(site), matrix).held();
  }

  /// Returns the bytes that each site has sent since the step began: the lengths of its messages.
  const std::vector<double>& uplink_bytes() const { return uplink_bytes_; }
  /// Returns the bytes that the aggregator has sent to each site since the step began.
  double downlink_bytes() const { return downlink_bytes_; }

  /// Subtracts the bytes of alternatives not taken: `over` per site, and `down` from the aggregator to each site.
  void forget(const std::vector<double>& over, double down);

  /// Resets the byte counts.
  void begin_step(std::int64_t number, std::vector<std::int32_t> sites_there = {});

 private:
  /// A message's parts in symbols.
  using Payloads = std::vector<step::Payload>;

  const spec::LayerShape& layer() const { return layers_.at(recorder_); }
  std::size_t sites() const { return recorder_.sizes().samples.size(); }
  double count() const { return static_cast<double>(sites()); }
  /// Throws std::logic_error unless `said` evaluates to the message's segments. `worker`: a site; −1: the aggregator.
  void check(const Payloads& said, std::int32_t worker, const compress::Message& message) const;
  /// Checks a message of a site (the aggregator: −1) against its symbolic size, and counts its bytes as sent.
  void hand_over(const Payloads& said, std::int32_t worker, const compress::Message& message);
  std::int32_t record(step::CollectiveKind kind, Payloads payload);
  void charge(step::Phase phase, step::Role who, const step::Work& work);
  /// Charges packing or unpacking the codes of `rows` rows.
  void charge_codes(step::Phase phase, step::Role who, const Contribution& own, const step::Expression& rows);
  /// Charges the encoding or decoding of `numbers`. `present`: 1, or 0 if the layer has no such numbers.
  void charge_encoding(step::Role who, const compress::Amount& numbers, const step::Expression& present = 1.0);
  void charge_decoding(step::Role who, const compress::Amount& numbers, const step::Expression& present = 1.0);

  /// Wire number of a contribution's part and, for an adaptive compressor, the slot of its kept share.
  struct PartOnWire {
    std::uint32_t matrix = 0;
    std::optional<std::int32_t> slot;
  };
  using PartsOnWire = std::vector<PartOnWire>;

  /// Returns the amount of `elements` numbers; for an adaptive compressor, with the kept amount in `slot`.
  compress::Amount amount(const step::Expression& elements, const std::optional<std::int32_t>& slot) const;
  Payloads payloads_of(const Contribution& own, const step::Expression& rows, const PartsOnWire& parts) const;
  /// Returns the amount of compressed numbers in `rows` rows.
  compress::Amount numbers_of(const Contribution& own, const step::Expression& rows, const PartsOnWire& parts) const;
  /// Returns whether all sites have a matrix without columns, so that the layer's message omits it.
  bool is_absent(const Contribution::Part& part) const;
  /// Encodes the messages of all sites; records the wire number of each part in `parts`.
  std::vector<compress::Message> encode_all(const Contribution& own, PartsOnWire& parts);
  /// Decodes the messages of all sites.
  Rows receive_all(const Contribution& own, const PartsOnWire& parts, const std::vector<compress::Message>& messages);
  /// Sends a result from the aggregator (`from`: −1) or from a site, and returns it as decoded. `parts` describes the
  /// message to the aggregator on entry, and the message back on return.
  Rows hand_back(const Rows& result, const Contribution& like, PartsOnWire& parts, std::int32_t from);

  /// Records a sum of `elements` per site as an all-reduce, or as gather, add, broadcast. Returns the collective to
  /// wait for.
  std::int32_t record_sum(const step::Expression& elements, const step::Work& adding);
  /// Counts the bytes of a linear sum: each site sends a message as long as the sum's, and receives the sum.
  void count_linear_sum(const step::Expression& elements, const compress::Message& message);

  /// Does sum() for a compressor that leaves biases uncompressed: only the matrix is encoded.
  Pending<models::LayerGradient> sum_without_biases(
      const std::function<void(std::size_t site, models::LayerGradient& sum)>& add_to);
  /// Sends the messages of all sites. Compressed messages that add up use an all-reduce among peers, others an
  /// all-gather.
  EncodedSum hand_over_encoded(std::vector<Summand> parts,
                               const std::function<models::Matrix(std::size_t site, std::size_t part)>& of);
  /// Charges every receiver's work on the arrived sum.
  void receive(const EncodedSum& sum);
  /// Sends and charges a single matrix.
  EncodedSum sum_encoded(Summand part, const std::function<models::Matrix(std::size_t site)>& of);
  Pending<models::Matrix> pending(EncodedSum sum);
  Payloads payloads_of(const Summand& part, const compress::Amount& numbers) const;
  void decode_and_add(step::Role who, const Summand& part);
  /// A matrix of a site (−1: the aggregator) as the receiver decodes it, and its message. A memory adds the previous
  /// compression error before encoding, and keeps the new one.
  struct SentMatrix {
    models::Matrix arrived;
    compress::Message message;
    std::int64_t kept = 0;
    double error = 0;  ///< relative error of `arrived`; only with an observer
  };
  SentMatrix sent(std::int32_t site, models::Matrix matrix, std::uint32_t number, bool sum = false);

  step::StepRecorder& recorder_;
  const spec::ModelShape& shape_;
  GroupedLayers layers_;
  spec::ExchangeMode mode_;
  Wire wire_;
  WireTap tap_;
  std::vector<double> uplink_bytes_;
  double downlink_bytes_ = 0;
};

}  // namespace dadsim::algorithms
