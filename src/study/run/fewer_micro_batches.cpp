#include "study/run/fewer_micro_batches.hpp"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace dadsim::study {
namespace {

constexpr double kMuchShorter = 0.7;  // largest share: micro-batches of both short steps ÷ all

/// Extrapolates numbers linearly from two shorter steps.
class Line {
 public:
  explicit Line(const FewerMicroBatches& numbers)
      : factor_(static_cast<double>(numbers.all - numbers.more) / static_cast<double>(numbers.more - numbers.few)) {}

  double operator()(double few, double more) const { return std::max(0.0, more + factor_ * (more - few)); }
  std::vector<double> operator()(const std::vector<double>& few, std::vector<double> more) const {
    for (std::size_t i = 0; i < std::min(few.size(), more.size()); ++i) more[i] = (*this)(few[i], more[i]);
    return more;
  }

  step::StepTiming operator()(const step::StepTiming& few, step::StepTiming more) const {
    for (double step::StepTiming::*part :
         {&step::StepTiming::seconds, &step::StepTiming::compute_seconds, &step::StepTiming::exposed_seconds,
          &step::StepTiming::compression_seconds, &step::StepTiming::waiting_seconds})
      more.*part = (*this)(few.*part, more.*part);
    for (std::vector<double> step::StepTiming::*part :
         {&step::StepTiming::bytes_sent, &step::StepTiming::bytes_received, &step::StepTiming::busy_seconds})
      more.*part = (*this)(few.*part, std::move(more.*part));
    std::map<std::tuple<std::string, std::string, std::string>, double> of_few;
    for (const step::Bound& bound : few.bounds) of_few[{bound.resource, bound.kind, bound.device}] = bound.seconds;
    for (step::Bound& bound : more.bounds) {
      const auto known = of_few.find({bound.resource, bound.kind, bound.device});
      bound.seconds = (*this)(known == of_few.end() ? bound.seconds : known->second, bound.seconds);
      bound.share = bound.seconds / more.seconds;
    }
    std::ranges::stable_sort(more.bounds, std::greater(), &step::Bound::seconds);
    return more;
  }

 private:
  double factor_;
};

constexpr const char* kDoubt = "late-ranks-by-flow";

/// Returns the largest share of a step by which flow may be wrong; nothing if the step was not timed by flow, or has
/// another doubt.
std::optional<double> share_in_doubt(const sim::TimedRun& timed) {
  if (timed.network.messages > 0 || timed.first || !timed.first_steps.empty()) return std::nullopt;
  double share = 0;
  for (const Statement& note : timed.network.fidelity_notes) {
    if (note.kind != kDoubt) return std::nullopt;
    share = std::max(share, note.number("share"));
  }
  return share;
}

bool are_much_shorter(const FewerMicroBatches& numbers) {
  return static_cast<double>(numbers.few + numbers.more) <= kMuchShorter * static_cast<double>(numbers.all);
}

}  // namespace

std::optional<FewerMicroBatches> fewer_micro_batches(const TimedAs& timed, const sim::Cluster& cluster) {
  const spec::ParallelismSpec& how = timed.parallelism;
  const bool measured =
      std::ranges::any_of(cluster.devices, [](const spec::DeviceSpec& device) { return device.step_seconds > 0; });
  if (timed.recorded || measured || how.micro_batch == 0 || timed.batch % how.micro_batch != 0) return std::nullopt;
  // Interleaved pieces take turns in rounds of as many micro-batches as there are stages.
  constexpr std::int64_t kRounds = 4;
  const bool in_turn = how.interleave > 1 || how.order == spec::PipelineOrder::dualpipe_v;
  const std::int64_t round = in_turn ? how.pipeline : 1;
  FewerMicroBatches numbers{.all = timed.batch / how.micro_batch};
  numbers.few = numbers.all % round;
  while (numbers.few < 2 * how.pipeline + 2) numbers.few += round;
  numbers.more = numbers.few + (in_turn ? round : kRounds);
  return are_much_shorter(numbers) ? std::optional(numbers) : std::nullopt;
}

std::optional<FewerMicroBatches> further(const FewerMicroBatches& numbers) {
  const FewerMicroBatches next{numbers.more, 3 * numbers.more - 2 * numbers.few, numbers.all};
  return are_much_shorter(next) ? std::optional(next) : std::nullopt;
}

std::optional<sim::TimedRun> continued(const FewerMicroBatches& numbers, const sim::TimedRun& few,
                                       const sim::TimedRun& more, std::optional<double> doubt) {
  const std::optional<double> of_few = share_in_doubt(few);
  const std::optional<double> of_more = share_in_doubt(more);
  if (!of_few || !of_more || few.steps.size() != more.steps.size()) return std::nullopt;
  const double known = std::max(*of_few, *of_more);
  if (!doubt && known > 0) return std::nullopt;
  const Line line(numbers);
  sim::TimedRun run = more;
  for (std::size_t i = 0; i < run.steps.size(); ++i) run.steps[i] = line(few.steps[i], std::move(run.steps[i]));
  const double longer = run.steps.front().seconds / more.steps.front().seconds;
  const double shorter = few.steps.front().seconds / more.steps.front().seconds;
  run.network.fidelity_notes.clear();
  if (known > 0) run.network.fidelity_notes.push_back(Statement{kDoubt}.with("share", known + *doubt));
  std::map<std::string, const step::LinkUse*> links_of_few;
  for (const step::LinkUse& link : few.network.link_use) links_of_few[link.link] = &link;
  for (step::LinkUse& link : run.network.link_use) {
    const auto same = links_of_few.find(link.link);
    const step::LinkUse& before = same == links_of_few.end() ? link : *same->second;
    link.busy_share = line(before.busy_share * shorter, link.busy_share) / longer;
    link.bytes_per_step = line(before.bytes_per_step, link.bytes_per_step);
  }
  for (std::size_t i = 0; i < run.network.collectives.size() && i < few.network.collectives.size(); ++i)
    run.network.collectives[i].count = line(few.network.collectives[i].count, run.network.collectives[i].count);
  return run;
}

}  // namespace dadsim::study
