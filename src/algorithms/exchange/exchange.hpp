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

#include "algorithms/exchange/observer.hpp"
#include "compress/compressor.hpp"
#include "models/matrix.hpp"
#include "models/network.hpp"
#include "spec/specification.hpp"
#include "step/step.hpp"
#include "step/step_recorder.hpp"

namespace dadsim::algorithms {

/// How the matrices of a run become messages: its compressor, the random numbers of its roundings, and what sites keep
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
  /// What of gradients is compressed as one: of a layer, where nothing is compressed.
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
  /// What site `site` keeps of a matrix.
  compress::Memory& memory(std::int32_t site, std::uint32_t matrix);
  /// Whether what sites keep has momentum, so that sums that go uncompressed need it too.
  bool has_momentum() const { return remembers_ && info_->has_momentum; }
  /// What each of so many sites keeps, the same at all, of a sum that goes uncompressed beside those that are
  /// compressed. *Requires*: has_momentum().
  compress::Memory& memory_of_uncompressed(std::uint32_t sum, std::size_t sites);

 private:
  using Place = std::pair<std::int32_t, std::uint32_t>;  ///< layer, number within the layer
  using Key = std::pair<std::int32_t, Place>;            ///< site, matrix

  /// What a step has begun so far.
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

/// What every site hands to each of its neighbours: matrices one after the other in one message.
struct NeighbourMessage {
  struct Part {
    step::Expression elements;  ///< numbers of the matrix, in symbols
    /// What `site` has for `neighbour`; where all neighbours get the same, the latter says nothing.
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

/// What a site has received from one of its senders.
struct Arrived {
  std::int32_t sender = 0;
  std::vector<models::Matrix> parts;             ///< of the shapes that the sender had
  std::vector<std::vector<std::int32_t>> whole;  ///< of parts of whole numbers, in their order
};

/// Per site: what has arrived, in rising order of the senders.
using Arrivals = std::vector<std::vector<Arrived>>;

/// Deviation per number of the noise that was added on purpose, and is known to whoever receives it.
struct AddedNoise {
  double of_site = 0;  ///< to what a site sends
  double of_all = 0;   ///< in what is made of all that sites have sent
};

/// What every site hands over for one layer: matrices with as many rows each, side by side in one message.
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
  step::Expression rows;  ///< of a site, in symbols
  std::vector<Part> parts;
  /// The parts are values of entries of the layer's matrix, and their places in it, row by row.
  bool entries = false;
  AddedNoise noise = {};
};

/// What arrives: the rows of all sites in site order, or what has been made of them.
struct Rows {
  step::Expression rows;  ///< how many there are, in symbols
  std::vector<models::Matrix> parts;
  std::vector<std::vector<std::int32_t>> whole;        ///< of parts of whole numbers, in their order
  std::vector<std::vector<std::uint32_t>> codes = {};  ///< of parts of codes, likewise

  const models::Matrix& operator[](std::size_t part) const { return parts[part]; }
};

/// What is made of the rows of all sites: run once at the aggregator, or by every peer alike, and charged to whoever
/// runs it.
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

  /// From now on `observer` (null: none) sees what is exchanged of the first and of the last matrix.
  void set_observer(ExchangeObserver* observer) { observer_ = observer; }

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
  /// Whether `part` of what is summed of the matrix at hand may be asked for, in this step or later.
  bool follows_parts() const { return observer_ != nullptr && observer_->follows_parts() && subject(); }
  /// Whether an observer looks at messages of that site alone.
  bool looks_at(std::size_t site) const { return observer_ != nullptr && observer_->looks_at(site); }

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

  const spec::LayerShape& layer() const;
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

  // Matrices that an observer is shown.

  /// Which matrix a message is about.
  struct ObservedMatrix {
    const spec::LayerShape* layer = nullptr;
    bool first = false, last = false;
    bool table = false;      ///< the network's first layer, a table
    bool whole = false;      ///< it covers all matrices, one after the other, the first one first
    bool undecided = false;  ///< whether it is sent is found out when the run is timed
  };
  /// Who sends and who reads; how true the numbers are.
  struct Showing {
    std::int32_t sender = SeenMatrix::kAggregator;
    bool of_all = false;
    unsigned readers = 0;
    double error = 0, noise = 0;
    bool as_sent = false;  ///< the numbers are to the bit what sites put in, row by row
    const std::function<models::ConstBlock(std::size_t site)>* put_in = nullptr;  ///< these, where they are known
  };
  /// Nothing where nobody looks.
  std::optional<ObservedMatrix> subject() const;
  double error_of(const models::ConstBlock& arrived, const models::ConstBlock& sent) const;
  void show(const ObservedMatrix& on, SeenMatrix::Kind kind, const models::ConstBlock& numbers, const Showing& how);
  /// Weights row by row, and biases before or behind them.
  void show_flat(const ObservedMatrix& on, std::span<const float> numbers, bool biases_first, const Showing& how);
  /// A matrix that is what its size, and its size in symbols, say.
  void show_matrix(const ObservedMatrix& on, const models::ConstBlock& numbers, const step::Expression& size,
                   const Showing& how);
  /// Whether a size in symbols grows with the inputs and with the outputs of a layer. Kept within a step, in
  /// which sites ask for the same.
  struct Growth {
    const spec::LayerShape* layer;
    step::Expression size;
    bool with_in, with_out;
  };
  const Growth& growth_of(const step::Expression& size, const spec::LayerShape& layer);
  /// Whether a size in symbols grows with the inputs of the first matrix.
  bool is_of_inputs(const ObservedMatrix& on, const step::Expression& size) const;
  void show_codes(const ObservedMatrix& on, std::span<const std::uint32_t> codes, int bits, const Showing& how);
  /// Some rows of what has arrived; `sent` gives what part it was.
  void show_rows(const ObservedMatrix& on, const Contribution& own, const Rows& arrived,
                 const std::function<models::ConstBlock(std::size_t part)>& sent, std::size_t first_row,
                 std::size_t rows, const Showing& how);
  /// Gives the largest relative error of what has arrived.
  double show_rows_of_sites(const ObservedMatrix& on, const Contribution& own, const Rows& all);
  /// `error`: that what it has been made of has had. `kept`: its rows are those of all sites.
  void show_result(const ObservedMatrix& on, const Contribution& like, const Rows& arrived, const Rows& sent,
                   double error, bool kept);
  void show_blocks(const ObservedMatrix& on, const std::vector<Contribution>& own);
  void show_made_blocks(const ObservedMatrix& on, const std::vector<Rows>& arrived, const Contribution& like);
  void show_neighbours(const ObservedMatrix& on, const NeighbourMessage& message, const Arrivals& arrivals);
  unsigned readers_of_parts() const;
  unsigned readers_of_sums() const;
  void show_part(const ObservedMatrix& on, std::size_t site, const models::ConstBlock& numbers,
                 const step::Expression& size, double error = 0, double noise = 0);
  void show_sum(const ObservedMatrix& on, const models::ConstBlock& numbers, const step::Expression& size,
                double error = 0, double noise = 0);

  step::StepRecorder& recorder_;
  const spec::ModelShape& shape_;
  ExchangeObserver* observer_ = nullptr;
  std::vector<Growth> growths_;
  /// The layers that groups are numbered over: without and with embeddings.
  std::vector<const spec::LayerShape*> outer_products_, matrices_;
  spec::LayerShape all_layers_;  ///< with tables, as one
  spec::ExchangeMode mode_;
  Wire wire_;
  std::vector<double> uplink_bytes_;
  double downlink_bytes_ = 0;
};

}  // namespace dadsim::algorithms
