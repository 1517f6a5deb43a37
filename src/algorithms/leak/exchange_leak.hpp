#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include "algorithms/exchange/observer.hpp"
#include "algorithms/leak/leak_interval.hpp"
#include "algorithms/leak/leak_meter.hpp"
#include "algorithms/leak/revealed_labels.hpp"
#include "algorithms/leak/row_finder.hpp"
#include "algorithms/learning_problem.hpp"
#include "step/leak.hpp"

namespace dadsim::algorithms {

/// Settings of leak measurements: their interval, and the kind of run.
struct LeakSetting {
  bool has_aggregator = false;
  bool own_weights = false;  ///< messages are weights of sites, which change little from message to message
  std::int64_t steps = 1;    ///< largest number of steps of the run
  std::int64_t every = 0;    ///< steps between measurements of spans and labels; 0: chosen to cost little
  bool takes_over = false;   ///< take_over() will be called
};

/// Feeds a LeakMeter with the messages of steps, by observing their Exchange.
///
/// *Ensures* that the run does not change and that the figures are the same for any number of threads. Keeps the
/// messages of at most one measured step and, for weights, the last message of each sender.
///
/// EXAMPLE: src/algorithms/learning/learners.cpp.
class ExchangeLeak final : public ExchangeObserver {
 public:
  using Batch = std::vector<std::vector<std::int32_t>>;
  /// Returns the input rows of the first matrix at a site. Rows that are unchanged samples must live until end().
  using RowsOfSite = std::function<models::ConstBlock(std::size_t site)>;

  ExchangeLeak(const LearningProblem& problem, const models::Network& network, const LeakSetting& setting);

  /// Begins a step in which sites have these samples. `rows` is called at the first message, which follows the forward
  /// pass. `present`: the participants, to which the sender numbers of messages refer; empty: all.
  void begin(std::int64_t number, const Batch& batch, RowsOfSite rows, const models::Network& network,
             std::vector<std::int32_t> present = {});
  /// Begins a step in which messages may precede the forward pass, which the caller reports with passed(). Until then
  /// messages concern the previous batch.
  void begin(std::int64_t number, const models::Network& network);
  void passed(const Batch& batch, const RowsOfSite& rows);
  /// Ends a step after all its messages have been seen.
  void end();
  /// Accounts for a step that is not carried out, because step `like` had batches of the same sizes. If that step
  /// revealed its whole batch, this one does too; if it revealed a part, the count becomes unknown.
  void take_over(std::int64_t number, const Batch& batch, std::int64_t like);

  bool wants_all() const override { return due_ || (setting_.own_weights && is_due(number_ + 1)); }
  bool wants_parts() const override { return due_; }
  bool looks_at(std::size_t site) const override {
    return meter_.s_of(present_.empty() ? site : static_cast<std::size_t>(present_[site])) >= 0;
  }
  bool follows_parts() const override {
    follows_ = follows_ || number_ < followed_;
    return number_ < followed_ && present_.empty();
  }
  void see(const SeenMatrix& seen) override;

  step::Leak result() const;

 private:
  static constexpr std::size_t kAll = LeakMeter::kAll;

  /// Rows to search for in messages, of one observed site.
  struct WatchedSite {
    std::vector<std::int32_t> samples;
    models::Matrix copied, symbols;          ///< copies of temporary rows; the samples themselves if a table comes
                                             ///< first
    std::optional<models::ConstBlock> rows;  ///< input rows of the first matrix
    std::optional<RowFinder> finder, symbol_finder;
    Eigen::Index first_row = 0;                 ///< index of the site's first row among the rows of all sites
    std::array<std::vector<char>, kAll> found;  ///< per adversary and row, in this step
  };
  /// A message of the first matrix that is analysed at the end of the step.
  struct HeldMessage {
    SeenMatrix::Kind kind = SeenMatrix::Kind::unread;
    std::int32_t sender = 0;
    bool of_all = false;
    unsigned readers = 0;
    models::Matrix numbers;
    double noise = 0;
  };
  struct HeldLabels {
    std::int32_t sender = 0;
    bool of_all = false;
    unsigned readers = 0;
    RevealedLabels labels;
  };
  /// Number of rows found and of rows present, per site and adversary.
  using Handed = std::vector<std::array<std::pair<std::int64_t, std::int64_t>, kAll>>;

  // `s` is the index of an observed site.
  std::size_t place_among_present(std::size_t site) const;
  void look_at(const SeenMatrix& seen);
  bool concerns(const auto& message, std::size_t adversary, std::size_t s) const;
  void start(std::int64_t number, const models::Network& network);
  /// `stay`: the rows outlive the step, and need no copy.
  void set_sites(const Batch& batch, const RowsOfSite& rows, bool stay);
  void find_rows(const SeenMatrix& seen);
  /// Returns some rows of a message from many sites: those of the sites measured next, and others evenly spread.
  models::Matrix sampled_rows(const models::ConstBlock& numbers) const;
  /// Returns the change of weights since the sender's last message, and sets `sign` to −1, since weights move against
  /// the gradient. Returns the message unchanged if its numbers have changed much.
  models::Matrix news(const SeenMatrix& seen, float& sign);
  void measure();
  void measure_spans(std::size_t site);
  using Messages = std::vector<std::size_t>;  ///< indices of held messages
  void draw_best_images();
  void measure_labels(std::size_t site);
  const RevealedSpan& span_of(std::size_t message);
  void note_point();
  bool is_due(std::int64_t number) const;
  /// Returns why all spans, or some of them, were not measured.
  std::optional<Statement> why_not(std::size_t adversary, const step::LeakFigures& all) const;

  LeakSetting setting_;
  LeakMeter meter_;
  const SampleRows& rows_;
  const models::Network* network_ = nullptr;
  struct BestImage {
    std::size_t site = 0;
    Eigen::Index place = 0;
    Messages messages;
  };
  std::array<std::optional<BestImage>, kAll> to_draw_;  ///< best images of the current step
  unsigned ever_read_ = 0, ever_read_first_ = 0;        ///< readers of any message, and of messages about the first
                                                        ///< matrix
  std::map<std::int64_t, Handed> handed_;               ///< per step carried out

  std::int64_t number_ = 0, measured_ = 0;
  LeakPlan plan_;
  std::int64_t followed_ = 0;     ///< number of steps in which sites are followed individually
  mutable bool follows_ = false;  ///< the method has asked to follow sites
  bool due_ = true;               ///< spans and labels are measured at the next message
  bool read_ = false;
  std::int64_t waited_ = 0;            ///< due steps without a message about the first matrix
  std::size_t next_site_ = 0;          ///< next site to be measured
  std::vector<std::int32_t> present_;  ///< participants passed to begin()
  Batch batch_;                        ///< batches of all sites, to which the rows belong
  Eigen::Index all_rows_ = 0;          ///< number of rows in `batch_`
  RowsOfSite pending_rows_;
  std::vector<WatchedSite> sites_;
  std::vector<HeldMessage> held_;
  std::vector<HeldLabels> labels_;
  std::map<std::size_t, RevealedSpan> spans_;  ///< by index of the held message
  using MessageKey = std::tuple<std::int32_t, bool, SeenMatrix::Kind, std::int32_t>;
  std::map<MessageKey, models::Matrix> last_sent_;  ///< by sender, first, kind, number within the step
  std::map<MessageKey, std::int32_t> count_;        ///< messages of this step, by the same key with number 0
};

}  // namespace dadsim::algorithms
