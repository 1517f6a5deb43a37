#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "algorithms/algorithm.hpp"
#include "algorithms/exact/dad.hpp"
#include "algorithms/exact/edad.hpp"
#include "algorithms/low_rank/rank_dad.hpp"
#include "models/network_fwd.hpp"
#include "spec/specification.hpp"

namespace dadsim::algorithms {

/// The statistic of a layer that sites share.
enum class Statistic : std::uint8_t { gradient, dad, edad, rank_dad, none };
const char* to_string(Statistic statistic);
Statistic statistic_of(const std::string& name);
bool is_exact(Statistic statistic);

/// Decides how a layer is shared.
enum class Policy : std::uint8_t { rules, bytes, time };

struct FlexibleParameters {
  static constexpr auto kPolicy =
      spec::choice<Policy>("policy", {{"rules", Policy::rules}, {"bytes", Policy::bytes}, {"time", Policy::time}},
                           "rules: as set by <share> and default; bytes: each layer uses the statistic with the fewest "
                           "bytes; time: the statistics with the shortest step on the cluster");
  static constexpr auto kDefault = spec::choice<Statistic>("default",
                                                           {{"gradient", Statistic::gradient},
                                                            {Dad::kName, Statistic::dad},
                                                            {Edad::kName, Statistic::edad},
                                                            {RankDad::kName, Statistic::rank_dad}},
                                                           "statistic of layers that no <share> names");
  static constexpr auto kLossy =
      spec::choice<bool>("lossy", {{"false", false}, {"true", true}},
                         "true: the policies \"bytes\" and \"time\" may also choose rank-dad");
  static constexpr spec::IntegerParameter kCap{
      "cap", 1, 65536, "8", "rank-dad: maximum number of components that a site sends per layer and step"};
  static constexpr spec::IntegerParameter kIterations{"iterations", 1, 1000, "1",
                                                      "rank-dad: power iterations per component"};
  static constexpr spec::RealParameter kTolerance{
      "tolerance", 0, 1, "0.01", "rank-dad: drop components whose singular value is at most this share of the largest"};
};

/// Sharing of one layer.
struct LayerPlan {
  Statistic statistic = Statistic::gradient;
  std::int64_t every = 1;    ///< steps whose rows, or gradients, accumulate before they are shared
  std::ptrdiff_t rule = -1;  ///< index into RunSpec::share; −1: the default
};

/// Returns the names of the layers with a gradient Δᵀ A, in the order of the forward pass. Rules apply to these layers.
std::vector<std::string> shared_layer_names(const models::Network& network);

/// Returns the sharing of each layer in shared_layer_names(): the first rule that matches its name, or the default.
std::vector<LayerPlan> plan_of(const spec::RunSpec& run, const models::Network& network);

/// Returns the layer whose Δ are averaged over sites, as an index into shared_layer_names(); none: no average.
std::optional<std::size_t> averaged_layer(const spec::RunSpec& run, const models::Network& network);

/// Returns all faults of a run's rules on this network: rules without effect, edAD for layers whose Δ cannot be
/// recomputed, and an average of Δ below the top of the sites' own layers.
RunFaults faults_of_share(const spec::RunSpec& run, const models::Network& network);

}  // namespace dadsim::algorithms
