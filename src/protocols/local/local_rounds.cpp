#include "protocols/local/local_rounds.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "compress/registry.hpp"
#include "protocols/send_later.hpp"

namespace dadsim::protocols {

namespace {

/// Returns a compressor with `changed` in place of the defaults of these parameters.
spec::CompressSpec compress_by(const char* method, const spec::ParameterValues& changed, bool memory) {
  spec::CompressSpec spec{
      .method = method, .parameters = default_parameters(compress::encoding(method).parameters), .memory = memory};
  for (const auto& [name, value] : changed) spec.parameters.at(name) = value;
  return spec;
}

spec::CompressSpec encoding_of(const Setting& setting) {
  if (setting.parameters().contains(LocalRounds::kFragments.name))
    return setting.value(LocalRounds::kOuterGradients) ? setting.run.compress
                                                       : compress_by("e3m0", {{"rounding", "stochastic"}}, false);
  const std::string& share = setting.parameters().at(LocalRounds::kShare.name);
  if (setting.value(LocalRounds::kSends) == SentNumbers::subset)
    return compress_by("random-k", {{"fraction", share}}, false);
  if (setting.value(LocalRounds::kEncoding) == SentBy::chunk_top_k)
    return compress_by("chunk-top-k", {{"fraction", share}}, true);
  if (setting.value(LocalRounds::kEncoding) == SentBy::four_bits)
    return compress_by("e3m0", {{"rounding", "nearest"}}, true);
  // The ring itself quantises.
  if (setting.value(LocalRounds::kEncoding) == SentBy::int8_ring) return {};
  const bool four_bits = setting.value(LocalRounds::kEncoding) == SentBy::low_rank_four_bits;
  if (four_bits || setting.value(LocalRounds::kEncoding) == SentBy::low_rank)
    return compress_by("low-rank",
                       {{"rank", setting.parameters().at(LocalRounds::kRank.name)}, {"bits", four_bits ? "4" : "32"}},
                       true);
  return setting.run.compress;
}

std::int64_t outer_steps(const Setting& setting, const LocalSteps& local) {
  if (const std::int64_t rounds = setting.value(LocalSteps::kRounds); rounds > 0) return rounds;
  std::int64_t rounds = 0;
  for (std::int64_t first = 0; first < local.steps(); first += local.period_from(first)) ++rounds;
  return rounds;
}

Value mean_of_contributors(Learning& learning, const std::vector<Value>& rows) {
  return learning.history().make(fmt::format("mean of contributors {}", learning.parameters()), rows,
                                 [parameters = learning.parameters()](History::Inputs in) {
                                   Datum mean{std::vector<float>(in[0]->numbers.size()), {}};
                                   for (std::size_t k = 0; k < mean.numbers.size(); ++k) {
                                     float count = 0;
                                     for (const world::DatumPtr& one : in) {
                                       const float x = one->numbers[k];
                                       mean.numbers[k] += x;
                                       if (x != 0 || k >= parameters) ++count;
                                     }
                                     if (count > 0) mean.numbers[k] /= count;
                                   }
                                   return mean;
                                 });
}

/// Replaces one matrix of the mean Σ p_i x_i by the mean direction with the mean norm, (Σ p_i ‖x_i‖) · unit(Σ p_i
/// unit(x_i)) (RDA of Decoupled DiLoCo, arXiv 2604.21428, with the norm of each row as the radial factor). If the
/// directions cancel, the mean is kept.
void turn_to_mean_direction(std::vector<float>& mean, std::size_t first, std::size_t count, History::Inputs in,
                            const std::vector<double>& shares) {
  std::vector<double> direction(count);
  double length = 0;
  for (std::size_t i = 0; i < in.size(); ++i) {
    double squares = 0;
    for (std::size_t k = 0; k < count; ++k) {
      const double x = in[i]->numbers[first + k];
      squares += x * x;
    }
    const double norm = std::sqrt(squares);
    if (norm == 0) continue;
    length += shares[i] * norm;
    for (std::size_t k = 0; k < count; ++k)
      direction[k] += shares[i] / norm * static_cast<double>(in[i]->numbers[first + k]);
  }
  const double norm = std::sqrt(std::inner_product(direction.begin(), direction.end(), direction.begin(), 0.0));
  if (norm < 1e-6) return;
  for (std::size_t k = 0; k < count; ++k) mean[first + k] = static_cast<float>(length / norm * direction[k]);
}

Value mean_of_directions(Learning& learning, const std::vector<Value>& rows, std::vector<double> weights) {
  const double all = std::accumulate(weights.begin(), weights.end(), 0.0);
  for (double& weight : weights) weight /= all;
  return learning.history().make(
      fmt::format("mean of directions {} {}", learning.parameters(), fmt::join(weights, " ")), rows,
      [pieces = learning.pieces(), shares = weights](History::Inputs in) {
        Datum mean{std::vector<float>(in[0]->numbers.size()), {}};
        for (std::size_t i = 0; i < in.size(); ++i) {
          for (std::size_t k = 0; k < mean.numbers.size(); ++k)
            mean.numbers[k] += static_cast<float>(shares[i]) * in[i]->numbers[k];
        }
        std::size_t first = 0;
        for (const std::size_t count : pieces) {
          turn_to_mean_direction(mean.numbers, first, count, in, shares);
          first += count;
        }
        return mean;
      });
}

}  // namespace

Value averaged(Average how, Learning& learning, const std::vector<Value>& rows, std::vector<double> weights) {
  switch (how) {
    case Average::contributors:
      return mean_of_contributors(learning, rows);
    case Average::direction:
      return mean_of_directions(learning, rows, std::move(weights));
    case Average::all:
      break;
  }
  return weighted_mean(learning, rows, std::move(weights));
}

/// Returns the work of averaging beyond summing: means of directions also need the norms, which read every row once
/// more.
world::Work averaging_work(Average how, const Sizing& sizing, step::Role who, std::size_t rows) {
  if (how != Average::direction) return {};
  const auto times = static_cast<double>(rows);
  return sizing.per_parameter(who, 2 * times, times);
}

LocalRounds::LocalRounds(const Setting& setting)
    : setting_(setting),
      local_(setting),
      until_(std::llround(chosen(setting.parameters(), kPostLocal) *
                          static_cast<double>(setting.learning.steps_per_epoch()))),
      rule_(outer::make(setting.parameters(), outer_steps(setting, local_))),
      encoding_(encoding_of(setting)),
      sends_(chosen(setting.parameters(), kSends)),
      merge_(chosen(setting.parameters(), kMerge)),
      alpha_(chosen(setting.parameters(), kAlpha)),
      decay_(chosen(setting.parameters(), kDecay)),
      average_(chosen(setting.parameters(), kAverage)) {
  const bool by_run = sends_ == SentNumbers::change && chosen(setting.parameters(), kEncoding) == SentBy::compress;
  std::vector<std::size_t> pieces(setting.learning.pieces().size());
  std::iota(pieces.begin(), pieces.end(), std::size_t{0});
  row_bytes_ = by_run ? setting.sizing.model_bytes() : setting.sizing.bytes_of(pieces, encoding_);
}

std::int64_t LocalRounds::steps_of_round(std::int64_t first) const {
  return first < until_ ? 1 : std::min(local_.period_from(first), local_.steps() - first);
}

Value LocalRounds::outer_begin() const {
  return rule_.begin(learning().history(), learning().without_state(local_.initial()), learning().parameters());
}

Value LocalRounds::theta_of(const Value& outer) const { return learning().first_numbers(outer, learning().state()); }

Value LocalRounds::outer_after(const Value& outer, const Value& moved, std::int64_t round, const Value& apart) const {
  return rule_.after(learning().history(), outer, moved, learning().pieces(), round, apart);
}

Value LocalRounds::merged(const Value& own, const Value& before, const Value& theta) const {
  if (merge_ == Merge::replace || !before) return local_.with_state_of(theta, own);
  const bool adds = merge_ == Merge::add;
  return learning().history().make(adds ? "moved along" : fmt::format("mixed alpha {}", alpha_), {own, before, theta},
                                   [adds, share = static_cast<float>(alpha_)](History::Inputs in) {
                                     Datum result = *in[0];
                                     for (std::size_t k = 0; k < in[2]->numbers.size(); ++k) {
                                       float& own_number = result.numbers[k];
                                       const float other = in[2]->numbers[k];
                                       own_number = adds ? own_number + (other - in[1]->numbers[k])
                                                         : share * own_number + (1 - share) * other;
                                     }
                                     return result;
                                   });
}

Value LocalRounds::encoded(const Value& row, Value& memory, std::size_t number, std::int64_t first) const {
  const Value kept = memory && decay_ != 1 ? learning().weighted_sum({memory}, {decay_}) : memory;
  Learning::SentValue sent =
      learning().send(row, kept, encoding_, static_cast<std::uint32_t>(number), static_cast<std::uint32_t>(first));
  memory = std::move(sent.memory);
  return std::move(sent.arrives);
}

Value LocalRounds::mean_of(const std::vector<Value>& rows, std::vector<double> weights) const {
  return averaged(average_, learning(), rows, std::move(weights));
}

Work LocalRounds::mean_work(step::Role who, std::size_t rows) const {
  return setting_.sizing.sum(who, rows) + averaging_work(average_, setting_.sizing, who, rows);
}

world::Task<> LocalRounds::sends_again(std::size_t number, world::Channel channel, world::Channel news,
                                       std::function<bool(const world::Parcel&)> needs) const {
  world::EventLoop& loop = setting_.loop;
  SendLater later;
  for (;;) {
    world::Parcel parcel = co_await loop.receive(node_of(number), news, later.next());
    while (const auto due = later.take(loop.now())) {
      if (!loop.is_up(due->from) || !needs(*due)) continue;
      setting_.send_again(node_of(number), due->from, channel, *due, news);
    }
    if (parcel.lost) later.add(loop.now() + kRetrySeconds, std::move(parcel));
  }
}

Work LocalRounds::outer_work(step::Role who) const {
  return rule_.flops > 0 ? setting_.sizing.per_parameter(who, rule_.flops, rule_.floats) : Work{};
}

/// Returns the work to merge θ. Mixing reads two rows and writes one; adding a change reads three.
Work LocalRounds::merge_work() const {
  if (merge_ == Merge::replace) return {};
  return setting_.sizing.per_parameter(step::Role::workers, merge_ == Merge::add ? 2 : 3, merge_ == Merge::add ? 4 : 3);
}

}  // namespace dadsim::protocols
