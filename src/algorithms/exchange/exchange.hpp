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

/// The result of a collective that is under way in the simulated world (here it has been carried out already). Taking
/// the data is what makes the compute stream wait.
template <class T>
class Pending {
 public:
  Pending() = default;
  /// `receive`, if any, is what the participants do with the data once it is there: decoding, combining.
  Pending(T data, step::StepRecorder& recorder, std::int32_t collective, step::Role who,
          std::function<void(T&)> receive = nullptr)
      : data_(std::move(data)),
        recorder_(&recorder),
        collective_(collective),
        who_(who),
        receive_(std::move(receive)) {}

  /// Records that the participants stand still here until the collective is done, and gives the data.
  T& wait() & {
    recorder_->add(step::WaitOp{who_, collective_});
    if (receive_) std::exchange(receive_, nullptr)(data_);
    return data_;
  }
  /// What was received, once it has been waited for.
  const T& data() const { return data_; }
  T wait() && { return std::move(wait()); }

 private:
  T data_{};
  step::StepRecorder* recorder_ = nullptr;
  std::int32_t collective_ = 0;
  step::Role who_ = step::Role::workers;
  std::function<void(T&)> receive_;
};

/// Carries out collectives on encoded bytes at once and records them with symbolic sizes. What is handed over is
/// encoded, its length counted, and what arrives has been decoded; a symbolic size that does not evaluate to that
/// length, segment by segment, is a std::logic_error, always. The fork between aggregator and peers is in here:
/// algorithms say what is made of the contributions of all sites, not where.
///
/// EXAMPLE: every site ends with the rows of all sites' inputs of layer l, and waits for them at once:
///     auto pending = exchange.combine({rows(), {{in(), [&](std::size_t s) { return step.input(s, l); }}}},
///                                     concatenation());
///     const Matrix& all = pending.wait()[0];
class Exchange {
 public:
  Exchange(step::StepRecorder& recorder, const spec::ModelShape& shape, spec::ExchangeMode mode,
           const spec::CompressSpec& compress, std::uint64_t seed);
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;

  /// The tap where an observer listens.
  WireTap& tap() { return tap_; }

  spec::ExchangeMode mode() const { return mode_; }
  /// Whether sites send something else than the numbers themselves: sums over sites are not linear any more then.
  bool compresses() const { return wire_.compresses(); }

  /// Everyone ends with what `how` makes of the rows of all sites, in site order. Among peers it is an all-gather, and
  /// everyone runs `how` on it; otherwise the aggregator gathers, runs `how` and broadcasts the result.
  Pending<Rows> combine(const Contribution& own, Combination how);

  /// In how many blocks what is combined block by block is cut: among peers one per site, which combines it; at the
  /// aggregator it is one.
  std::size_t blocks() const { return mode_ == spec::ExchangeMode::peer ? sites() : 1; }
  /// The node that combines each block.
  step::Role combiner() const {
    return mode_ == spec::ExchangeMode::peer ? step::Role::workers : step::Role::aggregator;
  }
  /// Every site hands block b to the one who combines it: an all-to-all among peers, a gather otherwise. Parts are
  /// codes, and blocks are of one size in symbols. What arrives, per block: the rows of all sites.
  Pending<std::vector<Rows>> scatter(const std::vector<Contribution>& own);
  /// Everyone ends with what has been made of every block: an all-gather among peers, a broadcast otherwise. `like`:
  /// the parts of a block, as they were handed out.
  Pending<std::vector<Rows>> all_gather(const std::vector<Rows>& made, const Contribution& like);

  /// Everyone ends with the sum over sites of one layer's gradient: an all-reduce among peers; gathered, added and
  /// broadcast by the aggregator otherwise. Matrix and biases are compressed as one row of numbers, or the matrix alone
  /// (CompressorInfo::leaves_biases). `add_to` adds site s's gradient to the sum; its size is that of the layer.
  Pending<models::LayerGradient> sum(const std::function<void(std::size_t site, models::LayerGradient& sum)>& add_to);

  /// Sums matrices of `elements` in the same way: one per site, or, where nothing is compressed, a single one that is
  /// summed over sites already, as what is linear in the rows of the sites can be.
  /// `part` then is what a site's message would be, for an observer.
  using PartOfSum = std::function<models::Matrix(std::size_t site)>;
  Pending<models::Matrix> sum(const step::Expression& elements, std::vector<models::Matrix> of_sites,
                              const PartOfSum& part = nullptr);
  /// Peers learn the largest of a number that each of them has, and stand still until they do: an all-reduce of 4
  /// bytes.
  void agree_on_most(float most);

  /// The unit of compression: a matrix, a layer or the whole gradient.
  spec::CompressSpec::Scope scope() const { return wire_.scope(); }

  /// Sums one row of numbers in the same way, that of all matrices and their biases: `of(site)` gives a site's.
  Pending<models::Matrix> sum_of_model(Eigen::Index numbers, const std::function<models::Matrix(std::size_t site)>& of);

  /// What is known of one matrix of an EncodedSum.
  struct Summand {
    step::Expression elements;
    step::Work adding;  ///< of all sites' matrices
    Eigen::Index rows = 0, columns = 0;
    step::Expression present = 1.0;  ///< 0 where the layer has none
    bool is_absent = false;          ///< the layer at hand has none: nothing is encoded
    std::uint32_t number = 0;        ///< on the wire
    compress::Amount own = step::Expression(), all = step::Expression(), down = step::Expression();
  };
  /// Matrices that every site encodes one by one, sends in one message and ends with the sums of.
  struct EncodedSum {
    std::vector<models::Matrix> sums;
    std::int32_t serial = 0;  ///< what to wait for
    std::vector<Summand> of;
    std::vector<compress::Message> messages;  ///< of the first site one per matrix, of the second …; until combined
  };
  /// Sums a layer's gradient in the same way, its matrix and its biases compressed each by itself. It has three turns,
  /// so that each can be that of all layers together (TrainingStep::together): sites hand over; the aggregator, if
  /// there is one, combines; and all wait and decode.
  EncodedSum hand_over_tensors(const std::function<void(std::size_t site, models::LayerGradient& sum)>& add_to);
  void combine(EncodedSum& sum);
  models::LayerGradient receive_tensors(EncodedSum& sum);
  /// Sums in the same way without compression: for the few numbers beside a matrix. `part` and `noise`: for an
  /// observer, what a site's message would be, and what has been added to it on purpose.
  Pending<models::Matrix> sum_as_it_is(const step::Expression& elements, models::Matrix sum,
                                       const PartOfSum& part = nullptr, const AddedNoise& noise = {});

  /// What all apply of sums that went uncompressed and have arrived, of `elements` numbers together: the momentum of a
  /// compressor that has one is part of it, also where nothing is compressed.
  void remember_uncompressed(const step::Expression& elements, std::span<models::Vector> sums);

  /// Sums what is learned beside the matrices (norms, positions …; embeddings unless the algorithm sees to them) in the
  /// same way: without an outer product, as it is. A workload may have others than this network. Gives the serial of
  /// what to wait for.
  std::int32_t sum_other_layers(const std::vector<models::Vector>& vectors,
                                const std::vector<const models::Matrix*>& embeddings, bool embeddings_seen_to);

  /// Every site hands a message to each of its neighbours in the graph. In a group for what is beside the matrices,
  /// sizes are of all of that together, and no compressor touches it.
  Pending<Arrivals> neighbours(const std::shared_ptr<const step::Neighbours>& graph, const NeighbourMessage& message);

  /// What a site keeps of the n-th matrix that was summed or combined in the step.
  const models::Matrix& held(std::size_t site, std::uint32_t matrix) {
    return wire_.memory(static_cast<std::int32_t>(site), matrix).held();
  }

  /// Bytes that each site has handed over since the step began: the lengths of its messages.
  const std::vector<double>& uplink_bytes() const { return uplink_bytes_; }
  /// Bytes that the aggregator has handed to each site since the step began.
  double downlink_bytes() const { return downlink_bytes_; }

  /// Subtracts what was counted for alternatives that are not taken: per site, and by the aggregator to each.
  void forget(const std::vector<double>& over, double down);

  /// Resets the counts.
  void begin_step(std::int64_t number, std::vector<std::int32_t> sites_there = {});

 private:
  /// A message's parts in symbols.
  using Payloads = std::vector<step::Payload>;

  const spec::LayerShape& layer() const { return layers_.at(recorder_); }
  std::size_t sites() const { return recorder_.sizes().samples.size(); }
  double count() const { return static_cast<double>(sites()); }
  /// Throws std::logic_error unless the symbols evaluate to the message's segments. `worker`: −1 at the aggregator.
  void check(const Payloads& said, std::int32_t worker, const compress::Message& message) const;
  /// A site hands a message over (the aggregator: −1), and it is what the symbols say.
  void hand_over(const Payloads& said, std::int32_t worker, const compress::Message& message);
  std::int32_t record(step::CollectiveKind kind, Payloads payload);
  void charge(step::Phase phase, step::Role who, const step::Work& work);
  /// Packs or unpacks the codes of so many rows.
  void charge_codes(step::Phase phase, step::Role who, const Contribution& own, const step::Expression& rows);
  /// `present`: 1, or 0 where there are none.
  void charge_encoding(step::Role who, const compress::Amount& numbers, const step::Expression& present = 1.0);
  void charge_decoding(step::Role who, const compress::Amount& numbers, const step::Expression& present = 1.0);

  /// What the parts of a contribution are on the wire: the number of each matrix, and, of a compressor that adapts,
  /// the slot of the share of it that was kept.
  struct PartOnWire {
    std::uint32_t matrix = 0;
    std::optional<std::int32_t> slot;
  };
  using PartsOnWire = std::vector<PartOnWire>;

  /// How many numbers there are, and of a compressor that adapts how many of them are kept.
  compress::Amount amount(const step::Expression& elements, const std::optional<std::int32_t>& slot) const;
  Payloads payloads_of(const Contribution& own, const step::Expression& rows, const PartsOnWire& parts) const;
  /// Numbers that a compressor sees, of `rows` rows.
  compress::Amount numbers_of(const Contribution& own, const step::Expression& rows, const PartsOnWire& parts) const;
  /// Whether no site has a column of a matrix: the layer's message is without it.
  bool is_absent(const Contribution::Part& part) const;
  /// The messages of all sites, which say with `parts` what they are.
  std::vector<compress::Message> encode_all(const Contribution& own, PartsOnWire& parts);
  /// What arrives of them.
  Rows receive_all(const Contribution& own, const PartsOnWire& parts, const std::vector<compress::Message>& messages);
  /// What the aggregator (`from`: −1) or a site hands back, as it arrives. `parts` is what it was on its way up, and
  /// becomes what it is on its way down.
  Rows hand_back(const Rows& result, const Contribution& like, PartsOnWire& parts, std::int32_t from);

  /// The collective, or the way through the aggregator with what adding costs there, by which `elements` per site are
  /// summed; returns what to wait for.
  std::int32_t record_sum(const step::Expression& elements, const step::Work& adding);
  /// Each site hands over as long a message as the sum's, and gets it back.
  void count_linear_sum(const step::Expression& elements, const compress::Message& message);

  /// sum() of a compressor that leaves biases as they are: the matrix is encoded, the biases beside it are not.
  Pending<models::LayerGradient> sum_without_biases(
      const std::function<void(std::size_t site, models::LayerGradient& sum)>& add_to);
  /// The messages of all sites leave. Compressed ones that add up go by an all-reduce among peers, others by an
  /// all-gather.
  EncodedSum hand_over_encoded(std::vector<Summand> parts,
                               const std::function<models::Matrix(std::size_t site, std::size_t part)>& of);
  /// What everyone does once the sum is there.
  void receive(const EncodedSum& sum);
  /// All of it for a single matrix.
  EncodedSum sum_encoded(Summand part, const std::function<models::Matrix(std::size_t site)>& of);
  Pending<models::Matrix> pending(EncodedSum sum);
  Payloads payloads_of(const Summand& part, const compress::Amount& numbers) const;
  void decode_and_add(step::Role who, const Summand& part);
  /// A matrix of a site (of the aggregator: −1) as it arrives, and its message. With a memory, what was lost before is
  /// added to it, and what is lost now is kept.
  struct SentMatrix {
    models::Matrix arrived;
    compress::Message message;
    std::int64_t kept = 0;
    double error = 0;  ///< of what arrived, relative; where somebody looks
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
