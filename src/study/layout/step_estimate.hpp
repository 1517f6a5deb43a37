#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "report/layout/layout_report.hpp"
#include "spec/device_specification.hpp"
#include "spec/specification.hpp"
#include "study/layout/group_times.hpp"
#include "study/setting/plain_step.hpp"
#include "study/setting/timed_as.hpp"

namespace dadsim::study {

/// Estimates a step of a layout in closed form, to choose the layouts to simulate. With M micro-batches and P stages of
/// v pieces, the slowest stage takes f and b seconds per micro-batch forward and backward, with the sums among the
/// devices of a layer:
///     computing and sums   M (f + b)
///     bubble               (P − 1)/v · (f + b)                      (Narayanan et al., arXiv:2104.04473, section 2.2);
///                          (P − 1)(f + b − 2w) if gradients of weights, w of b, wait (ZB-H1: Qi et al.,
///                          arXiv:2401.10241, table 1), and as much with DualPipeV
///     exchange             the sum of gradients, except what the backward pass of the last micro-batch hides; with
///                          ZeRO-1 and 2 also the parameters; with ZeRO-3 all that f and b do not hide
///                          (Rajbhandari et al., arXiv:1910.02054, section 7)
/// Sums include messages inside a pass: keys and values, except what attention hides, and the rows of divided experts,
/// in both directions. Computing follows the roofline (sim::seconds_on), layer by layer; sums come from GroupTimes.
class StepEstimate {
 public:
  /// The arguments must outlive the estimate.
  StepEstimate(const TimedAs& timed, const spec::RunSpec& run, const spec::DeviceSpec& device, GroupTimes& groups)
      : timed_(timed), run_(run), device_(device), groups_(groups) {}

  report::StepParts of(const report::Layout& layout);

 private:
  /// Times of each layer on one of the devices that divide it.
  struct Layers {
    std::vector<double> forward, backward, update;
    std::vector<double> weights;                      ///< seconds for gradients of weights; part of `backward`
    std::vector<double> sums_forward, sums_backward;  ///< seconds of messages among a layer's devices
    std::vector<double> gradient_bytes;
    std::vector<double> expert_bytes;  ///< gradient bytes of experts, summed only among replicas of the same experts
  };
  struct EstimatedStage {
    double forward = 0, backward = 0, weights = 0, update = 0, sums = 0, gradient_bytes = 0, expert_bytes = 0;
    double seconds() const { return forward + backward + sums; }
  };
  /// Key: tensor, context and expert parallelism.
  using Division = std::tuple<std::int32_t, std::int32_t, std::int32_t>;
  const spec::ModelShape& parts_of(const report::Layout& layout);
  const Layers& layers_of(const report::Layout& layout, std::int64_t micro_batch);
  void add_handed_over(const report::Layout& layout, std::int64_t micro_batch, Layers& layers);
  const std::vector<spec::LayerRange>& pieces_of(const report::Layout& layout, std::size_t pieces);
  const EstimatedStage& slowest_stage(const report::Layout& layout);
  double exchange_of(const report::Layout& layout, const EstimatedStage& stage, double micro_batches);

  const TimedAs& timed_;
  const spec::RunSpec& run_;
  const spec::DeviceSpec& device_;
  GroupTimes& groups_;
  PlainSteps plain_;
  std::map<Division, spec::ModelShape> parts_;  ///< shapes before layers are divided
  std::map<std::pair<Division, std::int64_t>, Layers> layers_;
  std::map<std::pair<Division, std::size_t>, std::vector<spec::LayerRange>> pieces_;
  using StageKey =
      std::tuple<Division, std::int32_t, std::int32_t, std::int64_t, spec::Recomputation, spec::BlockParts, bool, bool>;
  std::map<StageKey, EstimatedStage> stages_;
};

}  // namespace dadsim::study
