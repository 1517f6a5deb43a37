#include <algorithm>
#include <cmath>

#include "compress/compressors.hpp"
#include "compress/sidco_fit.hpp"
#include "compress/sparse.hpp"

namespace dadsim::compress {
namespace {

// Constants of the authors' public code.
constexpr int kAverageOver = 5;      // messages averaged over
constexpr double kTolerance = 0.2;   // tolerance of k̂/k
constexpr int kStagesAsCharged = 3;  // stages charged if adaptive: none of the tested distributions settles at more

enum class Adapting : std::uint8_t {
  search,  ///< the direction reverses after k̂/k has become worse
  rule,    ///< fewer stages if too many are kept, more if too few are
  none,
};

/// Number of stages, adapted to the numbers kept by the last messages.
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
      // Only one direction remains, and there is no estimate for another number of stages.
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
  int fewer_ = 1;  ///< −1: more stages if too many are kept
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

  /// Covers one pass for the moments; the pass that finds numbers above a stage's threshold keeps them with their
  /// places for the next stage, which processes only those.
  step::Work encode_work(const Amount& numbers) const override {
    int stages = options_.adapting == Adapting::none ? options_.stages : kStagesAsCharged;
    if (sidco_stage_share(options_.fraction, stages, 1) == options_.fraction) stages = 1;  // it does all
    double later = 0;  // numbers that later stages process, as a share of all
    double share = 1;
    for (int stage = 1; stage < stages; ++stage) {
      share *= sidco_stage_share(options_.fraction, stages, stage);
      later += share;
    }
    // |x|, and its sum (and squares).
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
      "the law of magnitudes: SIDCo-E, SIDCo-P and SIDCo-GP");
  static constexpr spec::IntegerParameter kStages{
      "stages", 1, 20, "1",
      "M: fits one after the other, each to what exceeds the threshold before; where they "
      "adapt, to begin with"};
  static constexpr auto kAdapt = spec::choice<Adapting>(
      "adapt", {{"search", Adapting::search}, {"rule", Adapting::rule}, {"none", Adapting::none}},
      "every five messages that kept over 1.2 or under 0.8 of what they were to, a stage fewer or "
      "more: search: whichever way brings it nearer; rule: fewer where it was too much, more "
      "where too little; none: as many as given");
  static constexpr auto kQuantile =
      spec::choice<bool>("quantile", {{"exact", false}, {"asymptotic", true}},
                         "of the gamma distribution: by the inverse of its distribution function, or −β (ln δ + ln "
                         "Γ(α))");
  return {.name = "sidco",
          .description =
              "Numbers above a threshold that a distribution fitted to their magnitudes has are sent, each with "
              "its place.",
          .source =
              "Abdelmoniem, Elzanaty, Alouini, Canini, SIDCo, MLSys 2021, arXiv 2101.10761; constants and the search "
              "for a number of stages as in the authors' public code",
          .size = "8k̂ + 4, k̂ ≈ fraction · n",
          .adapts = true,
          .forwards = true,
          .biased = true,
          .leaves_biases = true,
          .family = "sparsification",
          .formula =
              "C(v) = v where |v| > τ, 0 elsewhere\n"
              "M = 1: τ = F⁻¹(1 − δ), F fitted to |v|\n"
              "M > 1: τ₁ = F⁻¹(1 − ¼); τₘ = t + Fₘ⁻¹(1 − (4δ)^(1/(M−1))), Fₘ fitted to |v| − t over |v| > τₘ₋₁, t the "
              "least of them\n"
              "exponential: F⁻¹(1 − δ) = −μ ln δ\n"
              "pareto: F⁻¹(1 − δ) = a (1 − δᵏ)/k, k = (μ²/σ² − 1)/2, a = μ (μ²/σ² + 1)/2\n"
              "gamma: F⁻¹(1 − δ) = β P⁻¹(α, 1 − δ), s = ln μ − mean ln |v|, α = (3 − s + √((s − 3)² + 24 s))/(12 s), "
              "β = μ/α",
          .checks =
              "k̂/k of 10⁶ numbers, δ = 0.001, in 1, 2, 3, 4 stages: exponential of Laplace 0.99, 0.99, 1.00, 1.03; of "
              "generalised Pareto (ξ = 0.3) 10.2, 3.7, 1.15, 0.67; pareto of the same 1.03, 1.03, 1.02, 1.01\n"
              "the quantiles of Laplace and of generalised Pareto in place of samples: exponential within 3 %, pareto "
              "within 5 %, in any number of stages\n"
              "stages that adapt: within 20 % of k for Laplace, gamma, Pareto and Student's t with each fit\n"
              "what was sent and what is held: the sum of the gradients, to 10⁻⁶",
          .parameters = {spec::RealParameter{kFraction.name, kFraction.minimum, kFraction.maximum, "0.001",
                                             "δ: share of the numbers that is to be sent"},
                         kFit, kStages, kAdapt, kQuantile},
          .make = [](const spec::ParameterValues& values) {
            return std::make_unique<Sidco>(Sidco::Options{kFraction.of(values),
                                                          {kFit.of(values), kQuantile.of(values)},
                                                          static_cast<int>(kStages.of(values)),
                                                          kAdapt.of(values)});
          }};
}

}  // namespace dadsim::compress
