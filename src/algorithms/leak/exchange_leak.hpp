#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
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

/// Plan of measurements: their number, and the kind of run.
struct LeakSetting {
  bool has_aggregator = false;
  bool own_weights = false;  ///< messages are weights of sites, which go on from message to message
  std::int64_t steps = 1;    ///< of the run, at most
  std::int64_t every = 0;    ///< spans and labels in every so many steps; 0: so that it costs little
  bool takes_over = false;   ///< take_over() will be called
};

/// Feeds a LeakMeter with the messages of steps: an observer of their Exchange.
///
/// *Ensures*: nothing of the run changes; the same figures for any number of threads; of messages no more is held than
/// those of one step, where it is measured, and the last of each sender, where they go on from one to the next.
///
/// EXAMPLE: src/algorithms/learning/learners.cpp.
class ExchangeLeak final : public ExchangeObserver {
 public:
  using Batch = std::vector<std::vector<std::int32_t>>;
  /// The input rows of the first matrix at a site. Where they are samples as they are, they stay until end().
  using RowsOfSite = std::function<models::ConstBlock(std::size_t site)>;

  ExchangeLeak(const LearningProblem& problem, const models::Network& network, const LeakSetting& setting);

  /// A step begins, in which sites have these samples. `rows` is asked when the first message is there, which is behind
  /// the forward pass.
  /// `present`: the sites that these are, and that messages number from 0; empty: all.
  void begin(std::int64_t number, const Batch& batch, RowsOfSite rows, const models::Network& network,
             std::vector<std::int32_t> present = {});
  /// A step begins whose forward pass may come behind messages; passed() is told of it. Until then messages are about
  /// the batch before.
  void begin(std::int64_t number, const models::Network& network);
  void passed(const Batch& batch, const RowsOfSite& rows);
  /// All messages of the step have been seen.
  void end();
  /// A step that is not carried out, since the one of number `like` was, with batches of the same sizes: what that
  /// handed over of its batch, all of it or nothing, this does of its own.
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

  /// Rows to look for, of one site of the sample.
  struct WatchedSite {
    std::vector<std::int32_t> samples;
    models::Matrix copied, symbols;          ///< rows that do not stay; the samples themselves in front of a table
    std::optional<models::ConstBlock> rows;  ///< of the first matrix
    std::optional<RowFinder> finder, symbol_finder;
    Eigen::Index first_row = 0;                 ///< first of its rows among those of all
    std::array<std::vector<char>, kAll> found;  ///< per adversary and row, in this step
  };
  /// A message of the first matrix that is read at the end of the step.
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
  /// Per site and adversary: rows found, and rows that there were.
  using Handed = std::vector<std::array<std::pair<std::int64_t, std::int64_t>, kAll>>;

  // Sites counted by `s` are those of the sample.
  std::size_t place_among_present(std::size_t site) const;
  void look_at(const SeenMatrix& seen);
  bool concerns(const auto& message, std::size_t adversary, std::size_t s) const;
  void start(std::int64_t number, const models::Network& network);
  /// `stay`: the rows need not be copied.
  void set_sites(const Batch& batch, const RowsOfSite& rows, bool stay);
  void find_rows(const SeenMatrix& seen);
  /// Rows of what many sites have sent together: of the sites that are measured next, and others evenly spread.
  models::Matrix sampled_rows(const models::ConstBlock& numbers) const;
  /// Change of weights that go on from message to message; its sign against a gradient.
  models::Matrix news(const SeenMatrix& seen, float& sign);
  void measure();
  void measure_spans(std::size_t site);
  using Messages = std::vector<std::size_t>;  ///< numbers of held ones
  void draw_best_images();
  void measure_labels(std::size_t site);
  const RevealedSpan& span_of(std::size_t message);
  void note_point();
  bool is_due(std::int64_t number) const;
  /// Why spans, or some of them, were not measured.
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
  std::array<std::optional<BestImage>, kAll> to_draw_;  ///< of this step
  unsigned ever_read_ = 0, ever_read_first_ = 0;        ///< Readers: of any message; of one about the first matrix
  std::map<std::int64_t, Handed> handed_;               ///< per step that was carried out

  std::int64_t number_ = 0, measured_ = 0;
  LeakPlan plan_;
  std::int64_t followed_ = 0;     ///< steps in which sites are followed one by one
  mutable bool follows_ = false;  ///< if the method asks for it
  bool due_ = true;               ///< spans and labels are measured as soon as something is sent
  bool read_ = false;
  std::int64_t waited_ = 0;            ///< steps in which something was due, and nothing of the first matrix was sent
  std::size_t next_site_ = 0;          ///< whose turn it is
  std::vector<std::int32_t> present_;  ///< sites that begin() named
  Batch batch_;                        ///< of all sites, that rows are of
  Eigen::Index all_rows_ = 0;          ///< of that batch
  RowsOfSite pending_rows_;
  std::vector<WatchedSite> sites_;
  std::vector<HeldMessage> held_;
  std::vector<HeldLabels> labels_;
  std::map<std::size_t, RevealedSpan> spans_;  ///< of held messages
  using MessageKey = std::tuple<std::int32_t, bool, SeenMatrix::Kind, std::int32_t>;
  std::map<MessageKey, models::Matrix> last_sent_;  ///< sender, first, kind, number within the step
  std::map<MessageKey, std::int32_t> count_;        ///< of this step, with 0 as number
};

}  // namespace dadsim::algorithms
