#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "models/network.hpp"
#include "spec/specification.hpp"
#include "step/step_recorder.hpp"

namespace dadsim::algorithms {

/// The result of a collective that is under way in the simulated world (here it has been carried out already). Taking
/// the data is what makes the compute stream wait.
template <class T>
class Pending {
 public:
  Pending() = default;
  Pending(T data, step::StepRecorder& recorder, std::int32_t collective, step::Role who)
      : data_(std::move(data)), recorder_(&recorder), collective_(collective), who_(who) {}

  /// Records that the participants stand still here until the collective is done, and gives the data.
  T& wait() & {
    recorder_->add(step::WaitOp{who_, collective_});
    return data_;
  }
  T wait() && { return std::move(wait()); }

 private:
  T data_{};
  step::StepRecorder* recorder_ = nullptr;
  std::int32_t collective_ = 0;
  step::Role who_ = step::Role::workers;
};

/// Carries out collectives on the real matrices at once and records them with symbolic sizes. Whatever is handed over
/// is checked against its tag: a tag that does not evaluate to the true size is a std::logic_error, always.
///
/// EXAMPLE: every site ends with the rows of all sites' inputs of layer l, and waits for them at once:
///     auto pending = exchange.concatenate({{rows() * in(), [&](std::size_t s) { return step.input(s, l); }}},
///                                         {all_rows() * in()});
///     const Matrix& all = pending.wait()[0];
class Exchange {
 public:
  /// A matrix at every site, with its size in symbols.
  struct Part {
    step::Expression elements;
    std::function<models::ConstBlock(std::size_t site)> of;
    bool last_layer_only = false;                         ///< part of the message of the last layer alone
    step::ElementType type = step::ElementType::float32;  ///< int32: integers as the bits of floats
  };

  Exchange(step::StepRecorder& recorder, const spec::ModelShape& shape, spec::ExchangeMode mode);

  spec::ExchangeMode mode() const { return mode_; }

  /// Everyone ends with the rows of all sites, in site order: an all-gather among peers; a gather and a broadcast of
  /// the whole through the aggregator. Several parts travel in one message. `all_elements` per part is the size of the
  /// whole at the aggregator.
  Pending<std::vector<models::Matrix>> concatenate(const std::vector<Part>& parts,
                                                   const std::vector<step::Expression>& all_elements);

  /// The aggregator ends with the rows of all sites, in site order. Only with an aggregator.
  Pending<std::vector<models::Matrix>> gather(const std::vector<Part>& parts);

  /// Everyone ends with what the aggregator has. Only with an aggregator.
  Pending<std::vector<models::Matrix>> broadcast(std::vector<models::Matrix> matrices,
                                                 std::vector<step::Payload> payload);

  /// Everyone ends with the sum over sites of one layer's gradient: a ring all-reduce among peers; gathered, added and
  /// broadcast by the aggregator otherwise. `add_to` adds site s's gradient to the sum; its size is that of the layer.
  Pending<models::LayerGradient> sum(const std::function<void(std::size_t site, models::LayerGradient& sum)>& add_to);

  /// The same for a matrix of `elements` that every site has. What is linear in the rows of the sites can be formed
  /// over the rows of all at once: it comes in summed already.
  Pending<models::Matrix> sum(const step::Expression& elements, models::Matrix sum);

  /// The same for what is learned beside the matrices (norms, positions …; tables unless the algorithm sees to them):
  /// without an outer product, summed as it is. `size` numbers of this network; a workload may have others. Gives the
  /// serial of what to wait for.
  std::int32_t sum_other_layers(Eigen::Index size, bool embeddings_seen_to);

  /// Bytes that each site has handed over since the step began, counted on the matrices.
  const std::vector<double>& bytes_handed_over() const { return handed_over_; }
  /// Bytes that the aggregator has handed to each site since the step began, counted on the matrices.
  double bytes_handed_down() const { return handed_down_; }

  /// Starts counting anew.
  void begin_step();

 private:
  const spec::LayerShape& layer() const;
  std::size_t sites() const { return recorder_.sizes().samples.size(); }
  void check(const step::Expression& elements, std::int32_t worker, std::int64_t actual) const;
  std::int32_t record(step::CollectiveKind kind, std::vector<step::Payload> payload);
  /// The collective, or the way through the aggregator with what adding costs there, by which `elements` per site are
  /// summed; returns what to wait for.
  std::int32_t record_sum(const step::Expression& elements, const step::Work& adding);
  /// Every site hands over, and gets back, `size` elements.
  void count_sum(const step::Expression& elements, Eigen::Index size);
  std::vector<models::Matrix> collect(const std::vector<Part>& parts);
  void require_aggregator() const;

  step::StepRecorder& recorder_;
  const spec::ModelShape& shape_;
  /// The layers that groups are numbered over: without and with tables.
  std::vector<const spec::LayerShape*> outer_products_, matrices_;
  spec::ExchangeMode mode_;
  std::vector<double> handed_over_;
  double handed_down_ = 0;
};

}  // namespace dadsim::algorithms
