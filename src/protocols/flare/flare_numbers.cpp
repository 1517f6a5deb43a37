#include "protocols/flare/flare_numbers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/random/uniform_int_distribution.hpp>
#include <cmath>
#include <stdexcept>

#include "protocols/workspace.hpp"
#include "support/fingerprint.hpp"
#include "support/random.hpp"

namespace dadsim::protocols {

using world::Datum;
using world::History;
using world::Value;

namespace {

/// Two hashes, together as wide as the names of values.
std::string name_of_rows(const std::vector<std::int32_t>& rows) {
  const std::string_view bytes(reinterpret_cast<const char*>(rows.data()), rows.size() * sizeof(std::int32_t));
  return fmt::format("{} {:016x}{:016x}", rows.size(), fingerprint(bytes), fingerprint(bytes, 0x84222325cbf29ce4ULL));
}

}  // namespace

double ks_distance(std::span<const double> a, std::span<const double> b) {
  if (a.empty() || b.empty()) throw std::logic_error("a distance from a sample without values");
  std::size_t i = 0, j = 0;
  double largest = 0;
  while (i < a.size() && j < b.size()) {
    const double at = std::min(a[i], b[j]);
    while (i < a.size() && a[i] <= at) ++i;
    while (j < b.size() && b[j] <= at) ++j;
    largest = std::max(largest, std::abs(static_cast<double>(i) / static_cast<double>(a.size()) -
                                         static_cast<double>(j) / static_cast<double>(b.size())));
  }
  return largest;
}

double ks_threshold(std::size_t m, std::size_t n, double level) {
  const auto first = static_cast<double>(m), second = static_cast<double>(n);
  return std::sqrt(-0.5 * std::log(level / 2)) * std::sqrt((first + second) / (first * second));
}

std::vector<double> quantiles(std::vector<double> values, std::size_t count) {
  std::ranges::sort(values);
  if (values.size() <= count) return values;
  std::vector<double> result;
  for (std::size_t k = 0; k < count; ++k) {
    const double at = (static_cast<double>(k) + 0.5) / static_cast<double>(count) * static_cast<double>(values.size());
    result.push_back(values[std::min(values.size() - 1, static_cast<std::size_t>(at))]);
  }
  return result;
}

std::vector<std::int32_t> FlareNumbers::draw(const std::vector<std::int32_t>& pool, std::int64_t first,
                                             std::int64_t steps) const {
  const algorithms::LearningProblem& problem = learning_.problem();
  RandomStream random(problem.seed, Purpose::shuffle, 0xffffffffU, static_cast<std::uint32_t>(first));
  boost::random::uniform_int_distribution<std::size_t> any(0, pool.size() - 1);
  std::vector<std::int32_t> rows;
  for (std::int64_t i = 0; i < steps * problem.training.batch; ++i) rows.push_back(pool[any(random)]);
  return rows;
}

Value FlareNumbers::train(const Value& weights_with_state, std::vector<std::int32_t> rows, std::int64_t first) {
  const std::string name = fmt::format("train from {} on {}", first, name_of_rows(rows));
  return learning_.history().make(
      name, {weights_with_state},
      [this, rows = std::move(rows), first](History::Inputs in) {
        const algorithms::LearningProblem& problem = learning_.problem();
        const Learning::Borrowed workspace(learning_);
        const std::span<const float> start(in[0]->numbers);
        workspace->set_weights(start.first(learning_.state()));
        const auto optimizer = make_optimizer(problem.training.optimizer, workspace->network());
        optimizer->set_state(start.subspan(learning_.state()));
        const auto batch = static_cast<std::size_t>(problem.training.batch);
        std::int64_t step = first;
        for (std::size_t begin = 0; begin < rows.size(); begin += batch, ++step) {
          const std::size_t end = std::min(rows.size(), begin + batch);
          const std::vector<std::int32_t> own(rows.begin() + static_cast<std::ptrdiff_t>(begin),
                                              rows.begin() + static_cast<std::ptrdiff_t>(end));
          const models::Gradient& gradient = workspace->gradient(step, own);
          optimizer->update(workspace->network(), gradient, learning_.rate(std::min(step, learning_.budget())));
          workspace->follow_statistics();
        }
        Datum result{models::flat_state(workspace->network()), {}};
        const std::vector<float> state = optimizer->state();
        result.numbers.insert(result.numbers.end(), state.begin(), state.end());
        return result;
      },
      true);
}

Value FlareNumbers::look(const Value& weights_with_state, std::vector<std::int32_t> rows) {
  const std::string name = fmt::format("look at {}", name_of_rows(rows));
  return learning_.history().make(
      name, {weights_with_state},
      [this, rows = std::move(rows)](History::Inputs in) {
        const models::Samples& samples = learning_.problem().data.train;
        const Learning::Borrowed workspace(learning_);
        workspace->set_weights(std::span(in[0]->numbers).first(learning_.state()));
        const models::Network& network = workspace->network();
        models::Matrix inputs(static_cast<Eigen::Index>(rows.size()), samples.features.cols());
        for (std::size_t i = 0; i < rows.size(); ++i) {
          inputs.row(static_cast<Eigen::Index>(i)) = samples.features.row(rows[i]);
        }
        models::Tape tape;
        network.forward(inputs, models::Pass{}, tape);
        const auto logits = models::as_rows(tape.logits(), network.output_shape().channels);
        const auto labels = static_cast<std::size_t>(samples.labels_per_sample);
        Datum result{{}, {0}};
        for (std::size_t i = 0; i < rows.size(); ++i) {
          double confidence = 0;
          for (std::size_t k = 0; k < labels; ++k) {
            const Eigen::ArrayXd z =
                logits.row(static_cast<Eigen::Index>(i * labels + k)).transpose().cast<double>().array();
            const double largest = z.maxCoeff();
            const double total = (z - largest).exp().sum();
            const std::int32_t label = samples.labels[static_cast<std::size_t>(rows[i]) * labels + k];
            confidence += 1 / total / static_cast<double>(labels);
            result.scalars[0] += (std::log(total) + largest - z(label)) / static_cast<double>(rows.size() * labels);
          }
          // A network that has diverged is sure of nothing; numbers that are none cannot be put into an order.
          result.scalars.push_back(std::isfinite(confidence) ? confidence : 0);
        }
        return result;
      },
      true);
}

std::vector<double> FlareNumbers::confidences(const Value& weights_with_state, std::vector<std::int32_t> rows) {
  const world::DatumPtr looked = learning_.history().get(look(weights_with_state, std::move(rows)));
  std::vector<double> result(looked->scalars.begin() + 1, looked->scalars.end());
  std::ranges::sort(result);
  return result;
}

}  // namespace dadsim::protocols
