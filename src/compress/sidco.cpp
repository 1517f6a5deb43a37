#include <algorithm>
#include <boost/math/special_functions/gamma.hpp>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "compress/compressors.hpp"
#include "compress/sparse.hpp"

namespace dadsim::compress {
namespace {

/// Thresholds of SIDCo (Abdelmoniem, Elzanaty, Alouini, Canini, MLSys 2021, arXiv 2101.10761): a distribution is fitted
/// to the magnitudes of the numbers; its quantile is the magnitude exceeded by a fraction of them.
struct SidcoFit {
  enum class Law : std::uint8_t {
    exponential,  ///< SIDCo-E: numbers are double exponential (Laplace)
    pareto,       ///< SIDCo-P: double generalised Pareto, fitted by its moments
    gamma,        ///< SIDCo-GP: double gamma by approximate maximum likelihood, its tails generalised Pareto
  };
  Law law = Law::exponential;
  bool asymptotic = false;  ///< uses a closed approximation of the gamma quantile for far tails
};

/// Statistics for a fit, of magnitudes or of their excess over a threshold.
struct SidcoMoments {
  double mean = 0;
  double variance = 0;
  double mean_log = 0;  ///< mean logarithm of the positive values
  double positive = 0;  ///< share of positive values
};

constexpr double kFirstShare = 0.25;

/// Policy that returns NaN without an error, because diverged numbers have no quantiles.
using Quietly =
    boost::math::policies::policy<boost::math::policies::domain_error<boost::math::policies::ignore_error>,
                                  boost::math::policies::overflow_error<boost::math::policies::ignore_error>,
                                  boost::math::policies::evaluation_error<boost::math::policies::ignore_error>>;

double exponential_quantile(const SidcoMoments& moments, double share) { return -moments.mean * std::log(share); }

double pareto_quantile(const SidcoMoments& moments, double share) {
  // All numbers are equal: none is above the mean.
  if (moments.variance <= 0) return moments.mean;
  const double ratio = moments.mean * moments.mean / moments.variance;
  const double shape = 0.5 * (ratio - 1.0);
  const double scale = 0.5 * moments.mean * (ratio + 1.0);
  constexpr double kNoShape = 1e-9;  // below this shape the exponential distribution is used, its limit
  if (std::abs(shape) < kNoShape) return -scale * std::log(share);
  return -scale * std::expm1(shape * std::log(share)) / shape;
}

double gamma_quantile(const SidcoMoments& moments, double share, bool asymptotic) {
  const double share_of_positive = share / moments.positive;
  if (share_of_positive >= 1) return 0;
  const double mean = moments.mean / moments.positive;
  const double s = std::log(mean) - moments.mean_log;
  // All numbers are equal: none is above the mean.
  if (s <= 0) return mean;
  const double alpha = (3.0 - s + std::sqrt((s - 3.0) * (s - 3.0) + 24.0 * s)) / (12.0 * s);
  const double beta = mean / alpha;
  if (asymptotic) return std::max(0.0, -beta * (std::log(share_of_positive) + std::lgamma(alpha)));
  return beta * boost::math::gamma_q_inv(alpha, share_of_positive, Quietly());
}

/// Returns the moments of x − `from` over magnitudes x.
SidcoMoments moments_of(std::span<const float> magnitudes, float from, bool logs) {
  SidcoMoments moments;
  double squares = 0;
  for (const float x : magnitudes) {
    const double above = static_cast<double>(x) - from;
    moments.mean += above;
    squares += above * above;
    if (logs && !(above <= 0)) {
      moments.mean_log += std::log(above);
      moments.positive += 1;
    }
  }
  const auto count = static_cast<double>(magnitudes.size());
  moments.mean /= count;
  moments.variance = squares / count - moments.mean * moments.mean;
  if (logs && moments.positive > 0) moments.mean_log /= moments.positive;
  moments.positive /= count;
  return moments;
}

/// Returns the numbers above a threshold.
std::vector<float> exceedances(std::span<const float> magnitudes, double threshold) {
  std::vector<float> above;
  std::ranges::copy_if(magnitudes, std::back_inserter(above), [&](float x) { return x > threshold; });
  return above;
}

/// Returns τ with P(X > τ) = `share`: E −μ ln δ; P a (1 − δᵏ)/k with k = (μ²/s² − 1)/2, a = μ (μ²/s² + 1)/2; GP β
/// P⁻¹(α, 1 − δ) with s = ln μ − mean ln x, α = (3 − s + √((s − 3)² + 24 s))/(12 s), β = μ/α, or −β (ln δ + ln Γ(α)). A
/// gamma distribution excludes zeros, so that a correspondingly larger share of the rest is above τ. `tail`:
/// exceedances, which SIDCo-GP treats as generalised Pareto.
double sidco_quantile(const SidcoFit& fit, bool tail, const SidcoMoments& moments, double share) {
  if (moments.mean == 0) return 0;
  switch (fit.law) {
    case SidcoFit::Law::exponential:
      return exponential_quantile(moments, share);
    case SidcoFit::Law::pareto:
      return pareto_quantile(moments, share);
    case SidcoFit::Law::gamma:
      return tail ? pareto_quantile(moments, share) : gamma_quantile(moments, share, fit.asymptotic);
  }
  return std::numeric_limits<double>::quiet_NaN();
}

/// Returns δ₁, …: the share that a stage keeps of the previous stage's numbers.
double sidco_stage_share(double fraction, int stages, int stage) {
  if (stages == 1 || fraction >= kFirstShare) return stage == 1 ? fraction : 1.0;
  if (stage == 1) return kFirstShare;
  return std::pow(fraction / kFirstShare, 1.0 / (stages - 1));
}

/// Returns the threshold exceeded by about `fraction` of the numbers, in `stages`. The first stage takes a quarter of
/// the numbers, or the whole fraction if that is more or if there is no other stage. Each later stage is fitted to the
/// previous stage's exceedances, minus the smallest of them.
double sidco_threshold(std::span<const float> numbers, double fraction, int stages, const SidcoFit& fit) {
  if (numbers.empty()) return 0;
  std::vector<float> magnitudes(numbers.size());
  std::ranges::transform(numbers, magnitudes.begin(), [](float x) { return std::abs(x); });
  const bool logs = fit.law == SidcoFit::Law::gamma;
  double threshold =
      sidco_quantile(fit, false, moments_of(magnitudes, 0.0F, logs), sidco_stage_share(fraction, stages, 1));
  if (fraction >= kFirstShare) return threshold;
  for (int stage = 2; stage <= stages; ++stage) {
    magnitudes = exceedances(magnitudes, threshold);
    if (magnitudes.empty()) return threshold;
    const float least = *std::ranges::min_element(magnitudes);
    const SidcoMoments tail = moments_of(magnitudes, least, false);
    threshold = least + sidco_quantile(fit, true, tail, sidco_stage_share(fraction, stages, stage));
  }
  return threshold;
}

// Constants of the authors' public code.
constexpr int kAverageOver = 5;      // messages in a mean of k̂/k
constexpr double kTolerance = 0.2;   // tolerance of mean k̂/k
constexpr int kStagesAsCharged = 3;  // stages charged if adaptive; the tested distributions settle at three or fewer

enum class Adapting : std::uint8_t {
  search,  ///< reverses the direction after k̂/k has become worse
  rule,    ///< removes a stage if too many numbers are kept, adds one if too few
  none,
};

/// Adapts the number of stages to the counts kept in the last messages.
class SidcoStages final : public CompressorState {
 public:
  explicit SidcoStages(int first) : stages_(first) {}
  int stages() const { return stages_; }

  void learn(double kept_of_wanted, int most, Adapting adapting) {
    sum_ += kept_of_wanted;
    if (++count_ < kAverageOver) return;
    const double mean = sum_ / count_;
    if (adapting == Adapting::search && last_ > 0 && std::abs(mean - 1.0) > std::abs(last_ - 1.0)) fewer_ = -fewer_;
    const int before = stages_;
    if (mean > 1.0 + kTolerance) stages_ -= fewer_;
    if (mean < 1.0 - kTolerance) stages_ += fewer_;
    last_ = mean;
    if (stages_ < 1 || stages_ > most) {
      stages_ = std::clamp(stages_, 1, most);
      // Reverses the search at either end of the range; k̂/k is unknown for other numbers of stages.
      if (adapting == Adapting::search && stages_ == before) {
        fewer_ = -fewer_;
        last_ = 0;
      }
    }
    sum_ = 0;
    count_ = 0;
  }

 private:
  int stages_;
  int fewer_ = 1;  ///< stages removed if too many numbers are kept; −1: one is added
  double sum_ = 0;
  int count_ = 0;
  double last_ = 0;  ///< previous mean k̂/k; 0: none
};

/// Sends all numbers above a fitted threshold, each a value and an index.
class Sidco final : public SparseList {
 public:
  struct Options {
    double fraction = 0.001;
    SidcoFit fit;
    int stages = 1;
    Adapting adapting = Adapting::search;
  };
  explicit Sidco(const Options& options) : options_(options) {}

  std::unique_ptr<CompressorState> make_state() const override {
    return options_.adapting == Adapting::none ? nullptr : std::make_unique<SidcoStages>(options_.stages);
  }

  /// Counts one pass for the moments. The pass that finds numbers above a stage's threshold stores them with their
  /// places for the next stage, which processes only those.
  step::Work encode_work(const Amount& numbers) const override {
    int stages = options_.adapting == Adapting::none ? options_.stages : kStagesAsCharged;
    if (sidco_stage_share(options_.fraction, stages, 1) == options_.fraction) stages = 1;  // one stage finds all
    double later = 0;  // numbers that later stages process, as a share of all
    double share = 1;
    for (int stage = 1; stage < stages; ++stage) {
      share *= sidco_stage_share(options_.fraction, stages, stage);
      later += share;
    }
    // flops per number: |x| and its sum; for other laws also the sum of squares
    const double per_number = options_.fit.law == SidcoFit::Law::exponential ? 2.0 : 3.0;
    const double logarithms = options_.fit.law == SidcoFit::Law::gamma ? 8.0 : 0.0;
    return {.flops = (per_number + logarithms + 1.0 + (per_number + 1.0) * later) * numbers.elements,
            .bytes_moved = kFloatBytes * ((2.0 + 4.0 * later) * numbers.elements + 2.0 * numbers.kept),
            .launches = 2.0 * stages};
  }

 private:
  std::vector<std::int32_t> choose(std::span<const float> numbers, const EncodeContext& context) const override {
    auto* adapted = dynamic_cast<SidcoStages*>(context.state);
    const int stages = adapted != nullptr ? adapted->stages() : options_.stages;
    std::vector<std::int32_t> chosen =
        indices_from(numbers, least_above(sidco_threshold(numbers, options_.fraction, stages, options_.fit)));
    if (adapted != nullptr && !numbers.empty()) {
      const double wanted = std::max(1.0, options_.fraction * static_cast<double>(numbers.size()));
      const int most = std::max(1, static_cast<int>(std::ceil(std::log(options_.fraction) / std::log(0.5))));
      // At least one number is sent.
      adapted->learn(std::max(1.0, static_cast<double>(chosen.size())) / wanted, most, options_.adapting);
    }
    return chosen;
  }

  Options options_;
};

}  // namespace

CompressorInfo sidco_info() {
  static constexpr auto kFit = spec::choice<SidcoFit::Law>(
      "fit",
      {{"exponential", SidcoFit::Law::exponential}, {"pareto", SidcoFit::Law::pareto}, {"gamma", SidcoFit::Law::gamma}},
      "assumed distribution of magnitudes: SIDCo-E, SIDCo-P and SIDCo-GP");
  static constexpr spec::IntegerParameter kStages{
      "stages", 1, 20, "1",
      "M: successive fits, each to the numbers above the last threshold; with adapt, the number at the start"};
  static constexpr auto kAdapt = spec::choice<Adapting>(
      "adapt", {{"search", Adapting::search}, {"rule", Adapting::rule}, {"none", Adapting::none}},
      "adapts stages every five messages if more than 1.2 or less than 0.8 of the target was kept; search: the number "
      "of stages that comes nearer; rule: fewer stages if too much was kept, more if too little; none: fixed");
  static constexpr auto kQuantile =
      spec::choice<bool>("quantile", {{"exact", false}, {"asymptotic", true}},
                         "quantile of the gamma distribution; exact: the inverse of its distribution function; "
                         "asymptotic: −β (ln δ + ln Γ(α))");
  return {.name = "sidco",
          .adapts = true,
          .forwards = true,
          .biased = true,
          .leaves_biases = true,
          .family = "sparsification",
          .parameters = {spec::RealParameter{kFraction.name, kFraction.minimum, kFraction.maximum, "0.001",
                                             "δ: target share of the numbers sent"},
                         kFit, kStages, kAdapt, kQuantile},
          .make = [](const spec::ParameterValues& values) {
            return std::make_unique<Sidco>(Sidco::Options{kFraction.of(values),
                                                          {kFit.of(values), kQuantile.of(values)},
                                                          static_cast<int>(kStages.of(values)),
                                                          kAdapt.of(values)});
          }};
}

}  // namespace dadsim::compress
