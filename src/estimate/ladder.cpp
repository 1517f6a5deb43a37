#include "estimate/ladder.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>

#include "estimate/statistics.hpp"

namespace dadsim::estimate {
namespace {

/// Returns vᵀ M v for a square matrix stored row by row.
double quadratic(const std::vector<double>& matrix, const std::vector<double>& v) {
  double sum = 0;
  for (std::size_t i = 0; i < v.size(); ++i) {
    for (std::size_t j = 0; j < v.size(); ++j) sum += v[i] * matrix[i * v.size() + j] * v[j];
  }
  return sum;
}

/// Returns the inverse of a symmetric positive definite matrix, by Gauss–Jordan elimination. Throws if it is singular.
std::vector<double> inverse_of(std::vector<double> matrix, std::size_t n) {
  constexpr double kNothingLeft = 1e-9;  // smallest pivot, as a share of its place's value in the given matrix
  std::vector<double> diagonal(n);
  for (std::size_t i = 0; i < n; ++i) diagonal[i] = matrix[i * n + i];
  std::vector<double> inverse(n * n, 0.0);
  for (std::size_t i = 0; i < n; ++i) inverse[i * n + i] = 1;
  for (std::size_t i = 0; i < n; ++i) {
    const double pivot = matrix[i * n + i];
    if (!(pivot > kNothingLeft * diagonal[i]) || !(diagonal[i] > 0))
      throw std::invalid_argument("a kind of size does not vary, or follows from other kinds");
    for (std::size_t j = 0; j < n; ++j) {
      matrix[i * n + j] /= pivot;
      inverse[i * n + j] /= pivot;
    }
    for (std::size_t k = 0; k < n; ++k) {
      if (k == i) continue;
      const double factor = matrix[k * n + i];
      for (std::size_t j = 0; j < n; ++j) {
        matrix[k * n + j] -= factor * matrix[i * n + j];
        inverse[k * n + j] -= factor * inverse[i * n + j];
      }
    }
  }
  return inverse;
}

std::vector<std::size_t> without(std::vector<std::size_t> kinds, std::size_t place) {
  kinds.erase(kinds.begin() + static_cast<std::ptrdiff_t>(place));
  return kinds;
}

}  // namespace

Ladder::Ladder(std::vector<Rung> rungs) : rungs_(std::move(rungs)) {
  if (rungs_.size() < 3) throw std::invalid_argument("a fit needs three rungs");
  const std::size_t kinds = rungs_.front().size.size();
  if (rungs_.size() < kinds + 2) throw std::invalid_argument("a fit needs two more rungs than kinds of size");
  const auto n = static_cast<double>(rungs_.size());
  centre_.assign(kinds, 0.0);
  for (const Rung& rung : rungs_) {
    if (rung.size.size() != kinds) throw std::invalid_argument("rungs have different kinds of size");
    if (!(rung.ratio > 0) || !std::isfinite(rung.ratio)) throw std::invalid_argument("a rung has no relative steps");
    for (std::size_t kind = 0; kind < kinds; ++kind) centre_[kind] += rung.size[kind] / n;
    mean_ += std::log(rung.ratio) / n;
    seed_variance_ += rung.seed_variance / n;
  }

  std::vector<std::size_t> chosen(kinds);
  std::iota(chosen.begin(), chosen.end(), std::size_t{0});
  whole_ = fit_of(chosen);
  slopes_.resize(kinds);
  for (;;) {
    shown_ = fit_of(chosen);
    double most = 0;
    std::size_t place = 0;
    for (std::size_t i = 0; i < chosen.size(); ++i) {
      const double error = std::sqrt(shown_.variance * shown_.inverse[i * chosen.size() + i]);
      const double chance =
          error > 0 ? student_tails(shown_.slopes[i] / error, shown_.freedom) : (shown_.slopes[i] != 0 ? 0.0 : 1.0);
      slopes_[chosen[i]] = {shown_.slopes[i], error, chance, true};
      if (chance >= most) {
        most = chance;
        place = i;
      }
    }
    if (chosen.empty() || most < kTrendChance) break;
    slopes_[chosen[place]].shown = false;
    chosen = without(std::move(chosen), place);
  }
}

Ladder::Fit Ladder::fit_of(const std::vector<std::size_t>& kinds) const {
  const std::size_t p = kinds.size();
  std::vector<double> products(p * p, 0.0);
  std::vector<double> with_y(p, 0.0);
  for (std::size_t rung = 0; rung < rungs_.size(); ++rung) {
    const double y = std::log(rungs_[rung].ratio) - mean_;
    for (std::size_t i = 0; i < p; ++i) {
      with_y[i] += centred(rung, kinds[i]) * y;
      for (std::size_t j = 0; j < p; ++j) products[i * p + j] += centred(rung, kinds[i]) * centred(rung, kinds[j]);
    }
  }
  Fit fit{kinds, std::vector<double>(p, 0.0), inverse_of(std::move(products), p), 0, 1};
  for (std::size_t i = 0; i < p; ++i) {
    for (std::size_t j = 0; j < p; ++j) fit.slopes[i] += fit.inverse[i * p + j] * with_y[j];
  }
  double squares = 0;
  for (std::size_t rung = 0; rung < rungs_.size(); ++rung) {
    double rest = std::log(rungs_[rung].ratio) - mean_;
    for (std::size_t i = 0; i < p; ++i) rest -= fit.slopes[i] * centred(rung, kinds[i]);
    squares += rest * rest;
  }
  fit.freedom = static_cast<std::int64_t>(rungs_.size() - p) - 1;
  fit.variance = std::max(squares / static_cast<double>(fit.freedom), seed_variance_);
  return fit;
}

bool Ladder::shows_trend() const {
  return std::ranges::any_of(slopes_, [](const Slope& slope) { return slope.shown; });
}

double Ladder::spread() const { return std::sqrt(shown_.variance); }

LadderPrediction Ladder::at(const std::vector<double>& size, double level) const {
  if (size.size() != centre_.size()) throw std::invalid_argument("the size and the rungs have different kinds of size");
  double y = mean_;
  std::vector<double> along;  // distance from the centre along the sizes with a significant slope
  for (std::size_t i = 0; i < shown_.kinds.size(); ++i) {
    along.push_back(size[shown_.kinds[i]] - centre_[shown_.kinds[i]]);
    y += shown_.slopes[i] * along.back();
  }
  std::vector<double> left_out(size.size(), 0.0);  // distance from the centre along the other sizes
  LadderPrediction prediction;
  for (std::size_t kind = 0; kind < size.size(); ++kind) {
    if (!slopes_[kind].shown) left_out[kind] = size[kind] - centre_[kind];
    const auto [least, greatest] = std::ranges::minmax(rungs_, {}, [&](const Rung& rung) { return rung.size[kind]; });
    prediction.distance =
        std::max({prediction.distance, least.size[kind] - size[kind], size[kind] - greatest.size[kind]});
  }
  const auto n = static_cast<double>(rungs_.size());
  const double of_line =
      student_t(shown_.freedom, level) * std::sqrt(shown_.variance * (1 + 1 / n + quadratic(shown_.inverse, along)));
  double leaning = 0;  // effect of the slopes that are not significant
  for (std::size_t i = 0; i < whole_.kinds.size(); ++i) leaning += whole_.slopes[i] * left_out[whole_.kinds[i]];
  const double open =
      student_t(whole_.freedom, level) * std::sqrt(whole_.variance * quadratic(whole_.inverse, left_out));
  prediction.ratio = std::exp(y);
  prediction.low = std::exp(y - std::hypot(of_line, std::min(0.0, leaning - open)));
  prediction.high = std::exp(y + std::hypot(of_line, std::max(0.0, leaning + open)));
  return prediction;
}

}  // namespace dadsim::estimate
