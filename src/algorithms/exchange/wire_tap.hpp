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

/// Shows an observer the arriving matrices of the first and the last layer, with sender and readers. The kind of a
/// matrix is inferred from its size and its symbolic size; algorithms do not declare it.
class WireTap {
 public:
  WireTap(const step::StepRecorder& recorder, const GroupedLayers& layers, spec::ExchangeMode mode, const Wire& wire)
      : recorder_(recorder), layers_(layers), mode_(mode), wire_(wire) {}

  /// Shows exchanged messages to `observer` from now on (null: to none).
  void set_observer(ExchangeObserver* observer) { observer_ = observer; }
  void begin_step() { growths_.clear(); }

  /// Returns whether an observer watches the current layer.
  bool listens() const { return subject().has_value(); }
  /// Returns whether the observer may ask for parts of a sum of that layer, in this step or later.
  bool follows_parts() const { return observer_ != nullptr && observer_->follows_parts() && listens(); }
  /// Returns whether the observer watches messages of that site.
  bool looks_at(std::size_t site) const { return observer_ != nullptr && observer_->looks_at(site); }
  /// Returns the sites whose part of a sum must be shown now.
  std::vector<std::size_t> asked_parts() const;
  /// Returns ‖arrived − sent‖ ÷ ‖sent‖ of a matrix of a site (the aggregator: −1); computed only for an observer.
  double error_at(std::int32_t site, const models::ConstBlock& arrived, const models::ConstBlock& sent) const;

  /// Shows the arrived rows of all sites. Returns their largest relative error.
  double show_rows_of_sites(const Contribution& own, const Rows& all);
  /// Shows a combined result. `error`: relative error of its inputs. `kept`: its rows are those of all sites.
  void show_result(const Contribution& like, const Rows& arrived, const Rows& sent, double error, bool kept);
  void show_blocks(const std::vector<Contribution>& own);
  void show_made_blocks(const std::vector<Rows>& arrived, const Contribution& like);
  void show_neighbours(const NeighbourMessage& message, const Arrivals& arrivals);
  /// Shows a site's part of a sum, or the sum.
  void show_part(std::size_t site, const models::ConstBlock& numbers, const step::Expression& size, double error = 0,
                 double noise = 0);
  void show_sum(const models::ConstBlock& numbers, const step::Expression& size, double error = 0, double noise = 0);
  /// Reports a site's part of a sum as unknown.
  void show_unknown_part(std::size_t site, const models::ConstBlock& sum, const step::Expression& size);

 private:
  /// The matrix that a message is about.
  struct ObservedMatrix {
    const spec::LayerShape* layer = nullptr;
    bool first = false, last = false;
    bool table = false;      ///< the network's first layer is a table
    bool whole = false;      ///< the message covers all matrices in order, the first one first
    bool undecided = false;  ///< the message is sent only for some timed networks
  };
  /// Sender and readers of a message; error and noise of its numbers.
  struct Showing {
    std::int32_t sender = SeenMatrix::kAggregator;
    bool of_all = false;
    unsigned readers = 0;
    double error = 0, noise = 0;
    bool as_sent = false;  ///< the numbers equal the sites' inputs bit for bit, row by row
    const std::function<models::ConstBlock(std::size_t site)>* put_in = nullptr;  ///< returns the input of each site;
                                                                                  ///< null: unknown
  };
  /// Dependence of a symbolic size on a layer's inputs and outputs. Cached within a step, in which sites ask for the
  /// same sizes.
  struct Growth {
    const spec::LayerShape* layer;
    step::Expression size;
    bool with_in, with_out;
  };

  std::size_t sites() const { return recorder_.sizes().samples.size(); }
  /// Returns the watched matrix of the current layer; none without an observer, or if the layer is not watched.
  std::optional<ObservedMatrix> subject() const;
  double error_of(const models::ConstBlock& arrived, const models::ConstBlock& sent) const;
  const Growth& growth_of(const step::Expression& size, const spec::LayerShape& layer);
  unsigned readers_of_parts() const;
  unsigned readers_of_sums() const;
  void show(const ObservedMatrix& on, SeenMatrix::Kind kind, const models::ConstBlock& numbers, const Showing& how);
  /// Shows weights row by row, with biases before or after them.
  void show_flat(const ObservedMatrix& on, std::span<const float> numbers, bool biases_first, const Showing& how);
  void show_matrix(const ObservedMatrix& on, const models::ConstBlock& numbers, const step::Expression& size,
                   const Showing& how);
  void show_codes(const ObservedMatrix& on, std::span<const std::uint32_t> codes, int bits, const Showing& how);
  /// Shows some of the arrived rows; `sent` returns each part as sent.
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
