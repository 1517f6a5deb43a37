#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "algorithms/learning_problem.hpp"
#include "models/flat.hpp"
#include "models/metrics.hpp"
#include "models/optimizer.hpp"
#include "protocols/site_batches.hpp"
#include "support/pool.hpp"
#include "world/history.hpp"

namespace dadsim::protocols {

/// Local training of a site.
struct LocalTraining {
  std::size_t site = 0;
  SiteBatches::How batches = SiteBatches::How::passes;
  std::int64_t first = 0;  ///< number of the first batch
  std::int64_t steps = 1;
  /// Schedule step of the first step, for the learning rate; the other steps follow.
  std::int64_t schedule_step = 0;
  double rate_factor = 1;  ///< factor on the scheduled learning rate
  double proximal = 0;     ///< μ of FedProx: μ (x − x₀) is added to the gradient (Li et al., arXiv 1812.06127)
  std::int64_t data_version = 0;  ///< version of the site's data, see Learning::data_version
  /// Steps of DP-SGD in place of plain ones (algorithms/private/dp_sgd.hpp): gradients of samples with norm `clip` at
  /// most; their sum with noise of deviation `noise_multiplier` · `clip`, ÷ the expected batch.
  struct PerSample {
    double clip = 0, noise_multiplier = 0;
  };
  std::optional<PerSample> per_sample = {};
  bool keeps_state = false;  ///< input and output hold the optimizer's state after the weights
};

struct LearnedOperation;

/// Observer that is notified of the samples that sites train with.
class TrainingObserver {
 public:
  virtual ~TrainingObserver() = default;
  virtual void trained(std::size_t site, SiteBatches::How batches, std::int64_t first, std::int64_t steps,
                       std::int64_t data_version) = 0;
};

/// Mathematics of participants that each have their own weights, as Values of a History. Weights are rows of numbers
/// (models/flat.hpp): parameters, then running statistics; gradients have the parameters alone. Operations are
/// thread-safe. Functions of data and networks are virtual, so that tests can substitute functions with a known
/// minimum.
class Learning {
 public:
  Learning(const algorithms::LearningProblem& problem, world::History& history);
  virtual ~Learning();
  Learning(const Learning&) = delete;
  Learning& operator=(const Learning&) = delete;

  world::History& history() { return history_; }
  void set_observer(TrainingObserver* observer) { observer_ = observer; }
  const algorithms::LearningProblem& problem() const { return problem_; }
  std::size_t parameters() const { return parameters_; }  ///< numbers in a gradient
  std::size_t state() const { return state_; }            ///< number of weights, running statistics included
  /// Returns the number of parameters in each piece of a message: one piece per matrix with its biases, and one for all
  /// other parameters, if there are any.
  const std::vector<std::size_t>& pieces() const { return pieces_; }
  /// Returns the version of a site's data at a date in seconds; drift changes the data. 0: the initial data.
  std::int64_t data_version(std::size_t site, double seconds) const {
    return problem_.drift == nullptr ? 0 : problem_.drift->version(site, seconds);
  }
  /// Returns the partition of data version `data_version`; 0: the initial data.
  const models::Partition& partition(std::int64_t data_version) const {
    return data_version == 0 ? problem_.partition
                             : problem_.drift->partitions.at(static_cast<std::size_t>(data_version - 1));
  }
  /// Returns the batches of a site.
  SiteBatches batches(SiteBatches::How how, std::size_t site) const {
    return {how, problem_.training, problem_.partition, site, problem_.seed};
  }
  std::size_t samples(std::size_t site) const { return problem_.partition.at(site).size(); }

  /// Returns the weights with which all sites start.
  virtual world::Value initial();
  /// Returns the initial weights, followed by an optimizer's initial state.
  virtual world::Value initial_with_state();
  /// Returns the gradient of the mean loss over batch `number` of a site.
  virtual world::Value gradient(const world::Value& weights, std::size_t site, SiteBatches::How batches,
                                std::int64_t number);
  /// Returns the gradient; if the network has running statistics, their values after this batch follow, for apply().
  virtual world::Value gradient_with_statistics(const world::Value& weights, std::size_t site, SiteBatches::How batches,
                                                std::int64_t number);
  /// Returns the weights after local training with the scenario's optimizer, from `weights`. The optimizer's state
  /// starts anew unless the training keeps it. `correction`, if it has a value, is added to every gradient (SCAFFOLD's
  /// c − c_i).
  virtual world::Value train(const world::Value& weights, const LocalTraining& how,
                             const world::Value& correction = {});
  /// Takes one step of the scenario's optimizer with the gradient of another participant. The optimizer's state follows
  /// the weights. Running statistics after the gradient replace those of the weights.
  virtual world::Value apply(const world::Value& weights_with_state, const world::Value& gradient, double rate);
  /// Returns the weights alone, without the optimizer's state that follows them.
  virtual world::Value without_state(const world::Value& weights_with_state);

  /// Returns Σ w_i x_i of rows of equal length.
  world::Value weighted_sum(const std::vector<world::Value>& values, const std::vector<double>& weights);
  /// Returns the first `count` numbers of a row.
  world::Value first_numbers(const world::Value& row, std::size_t count);
  world::Value difference(const world::Value& a, const world::Value& b) { return weighted_sum({a, b}, {1, -1}); }

  /// Result of send(): the row as received, and the sender's new compression error (no value if it keeps none).
  struct SentValue {
    world::Value arrives, memory;
  };
  /// Sends a row of parameters() numbers through a compressor. `memory`: the sender's compression error so far; no
  /// value at first. `stream` and `number` select this message's random numbers for rounding. With `pieces`, the row
  /// has only the numbers of some pieces, in sequence; `pieces` has their sizes.
  SentValue send(const world::Value& numbers, const world::Value& memory, const spec::CompressSpec& compress,
                 std::uint32_t stream, std::uint32_t number, std::vector<std::size_t> pieces = {});

  /// Evaluates on held-back data: scalars loss, accuracy, auc.
  virtual world::Value evaluate(const world::Value& weights);
  /// Evaluates on the held-back data that sites see at a date in seconds.
  virtual world::Value evaluate_at(const world::Value& weights, double seconds);

  /// Returns the learning rate of the scenario's schedule at a step; `steps_per_epoch` and the budget are those of
  /// synchronous training.
  double rate(std::int64_t schedule_step) const;
  std::int64_t steps_per_epoch() const { return steps_per_epoch_; }
  std::int64_t budget() const { return budget_; }  ///< length of training, in synchronous steps

  /// A network and its optimizer, for one operation. Initially its weights are arbitrary.
  class Workspace;
  /// Borrows a workspace that no other thread uses.
  Pool<Workspace>::Borrowed borrow();

 protected:
  /// For tests: computes with rows of `parameters` numbers, without a network.
  Learning(const algorithms::LearningProblem& problem, world::History& history, std::size_t parameters);

 private:
  world::Value make_learned(std::string_view name, std::vector<world::Value> inputs, const LearnedOperation& operation);

  const algorithms::LearningProblem problem_;
  world::History& history_;
  TrainingObserver* observer_ = nullptr;
  std::size_t parameters_ = 0, state_ = 0;
  std::vector<std::size_t> pieces_;
  std::vector<std::pair<Eigen::Index, Eigen::Index>> shapes_;  ///< rows and columns of the matrices of the first pieces
  std::int64_t steps_per_epoch_ = 1, budget_ = 1;
  Pool<Workspace> workspaces_;
};

}  // namespace dadsim::protocols
