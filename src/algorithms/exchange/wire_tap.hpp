#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "algorithms/exchange/grouped_layers.hpp"
#include "algorithms/exchange/messages.hpp"
#include "algorithms/exchange/observer.hpp"
#include "algorithms/exchange/wire.hpp"
#include "models/matrix.hpp"
#include "spec/specification.hpp"
#include "step/step_recorder.hpp"

namespace dadsim::algorithms {

/// Shows an observer the matrices that pass an Exchange: of the first and of the last layer, as they arrive, with who
/// sends and who reads them. A matrix is what its size, and its size in symbols, say; no algorithm says it.
class WireTap {
 public:
  WireTap(const step::StepRecorder& recorder, const GroupedLayers& layers, spec::ExchangeMode mode, const Wire& wire)
      : recorder_(recorder), layers_(layers), mode_(mode), wire_(wire) {}

  /// From now on `observer` (null: none) sees what is exchanged.
  void set_observer(ExchangeObserver* observer) { observer_ = observer; }
  void begin_step() { growths_.clear(); }

  /// Whether an observer looks at what is exchanged of the layer at hand.
  bool listens() const { return subject().has_value(); }
  /// Whether the part of a sum may be asked for of that layer, in this step or later.
  bool follows_parts() const { return observer_ != nullptr && observer_->follows_parts() && listens(); }
  /// Whether an observer looks at messages of that site alone.
  bool looks_at(std::size_t site) const { return observer_ != nullptr && observer_->looks_at(site); }
  /// The sites whose part of a sum over all is to be shown now.
  std::vector<std::size_t> asked_parts() const;
  /// ‖arrived − sent‖ ÷ ‖sent‖ of a matrix of a site (the aggregator: −1), where somebody looks.
  double error_at(std::int32_t site, const models::ConstBlock& arrived, const models::ConstBlock& sent) const;

  /// The rows of all sites arrive. Gives the largest relative error of them.
  double show_rows_of_sites(const Contribution& own, const Rows& all);
  /// `error`: that what it has been made of has had. `kept`: its rows are those of all sites.
  void show_result(const Contribution& like, const Rows& arrived, const Rows& sent, double error, bool kept);
  void show_blocks(const std::vector<Contribution>& own);
  void show_made_blocks(const std::vector<Rows>& arrived, const Contribution& like);
  void show_neighbours(const NeighbourMessage& message, const Arrivals& arrivals);
  /// A site's part of a sum, and the sum.
  void show_part(std::size_t site, const models::ConstBlock& numbers, const step::Expression& size, double error = 0,
                 double noise = 0);
  void show_sum(const models::ConstBlock& numbers, const step::Expression& size, double error = 0, double noise = 0);
  /// A site's part that nobody can tell.
  void show_unknown_part(std::size_t site, const models::ConstBlock& sum, const step::Expression& size);

 private:
  /// Which matrix a message is about.
  struct ObservedMatrix {
    const spec::LayerShape* layer = nullptr;
    bool first = false, last = false;
    bool table = false;      ///< the network's first layer, a table
    bool whole = false;      ///< it covers all matrices, one after the other, the first one first
    bool undecided = false;  ///< whether it is sent is found out when the run is timed
  };
  /// Sender and readers of a message; error and noise of its numbers.
  struct Showing {
    std::int32_t sender = SeenMatrix::kAggregator;
    bool of_all = false;
    unsigned readers = 0;
    double error = 0, noise = 0;
    bool as_sent = false;  ///< the numbers are to the bit what sites put in, row by row
    const std::function<models::ConstBlock(std::size_t site)>* put_in = nullptr;  ///< these, where they are known
  };
  /// Whether a size in symbols grows with the inputs and with the outputs of a layer. Kept within a step, in
  /// which sites ask for the same.
  struct Growth {
    const spec::LayerShape* layer;
    step::Expression size;
    bool with_in, with_out;
  };

  std::size_t sites() const { return recorder_.sizes().samples.size(); }
  /// Nothing where nobody looks.
  std::optional<ObservedMatrix> subject() const;
  double error_of(const models::ConstBlock& arrived, const models::ConstBlock& sent) const;
  const Growth& growth_of(const step::Expression& size, const spec::LayerShape& layer);
  unsigned readers_of_parts() const;
  unsigned readers_of_sums() const;
  void show(const ObservedMatrix& on, SeenMatrix::Kind kind, const models::ConstBlock& numbers, const Showing& how);
  /// Weights row by row, and biases before or behind them.
  void show_flat(const ObservedMatrix& on, std::span<const float> numbers, bool biases_first, const Showing& how);
  void show_matrix(const ObservedMatrix& on, const models::ConstBlock& numbers, const step::Expression& size,
                   const Showing& how);
  void show_codes(const ObservedMatrix& on, std::span<const std::uint32_t> codes, int bits, const Showing& how);
  /// Some rows of what has arrived; `sent` gives what part it was.
  void show_rows(const ObservedMatrix& on, const Contribution& own, const Rows& arrived,
                 const std::function<models::ConstBlock(std::size_t part)>& sent, std::size_t first_row,
                 std::size_t rows, const Showing& how);

  const step::StepRecorder& recorder_;
  const GroupedLayers& layers_;
  spec::ExchangeMode mode_;
  const Wire& wire_;
  ExchangeObserver* observer_ = nullptr;
  std::vector<Growth> growths_;
};

}  // namespace dadsim::algorithms
