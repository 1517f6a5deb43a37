#pragma once

#include <string>

#include "scenario/language/catalog.hpp"
#include "scenario/language/node.hpp"
#include "scenario/scenario.hpp"
#include "scenario/xml/element.hpp"
#include "scenario/xml/findings.hpp"
#include "spec/sample_shape.hpp"

namespace dadsim::scenario {

/// The data of a scenario that is being read. Classes and the shape's channels are 0 if an error left them unknown.
struct DataFindings {
  spec::DataSpec spec;
  std::int64_t train = 0;
  std::int64_t classes = 0;
  spec::SampleShape shape;
  std::int64_t labels_per_sample = 1;
  std::vector<std::string> sites{};  ///< sites named by the samples; empty: none, or unknown
};

inline constexpr std::size_t kMaxDevices = 1000;
inline constexpr std::int64_t kMaxSamples = 1'000'000'000;

// One function per element, in the order of the files. Each fills in defaults and continues after errors.
/// `fallback`: kind of the source if the element gives none.
spec::SplitSpec read_split(const Element& element, std::size_t workers, const DataFindings& data,
                           spec::SplitSpec::Kind fallback, const ReadContext& context);
DataFindings read_data(const Element& element, std::size_t workers, const ReadContext& context);
/// Reads the drifts of <data> in the order of their times. The caller must have read workers and runs first.
std::vector<spec::DriftSpec> read_drifts(const Element& data_element, const std::vector<spec::Placement>& workers,
                                         const DataFindings& data, const std::vector<spec::RunSpec>& runs,
                                         const ReadContext& context);
spec::ModelSpec read_model(const Element& element, const DataFindings& data, const ReadContext& context);
spec::TrainingSpec read_training(const Element& element, std::size_t workers, std::int64_t samples,
                                 const ReadContext& context);
std::vector<spec::DeviceSpec> read_devices(const Node& scenario, const ReadContext& context);
/// Checks that the devices of the workers support the scenario's precision. `timed_as` may be nullptr; `origins`:
/// origin of each worker.
void check_precision(const Scenario& scenario, const std::vector<spec::Placement>& workers,
                     const std::vector<Origin>& origins, const Element* timed_as, const ReadContext& context);
/// Reads <timed-as> for `devices` devices of all workers together. A recorded step from its file is returned in
/// `recorded`.
spec::TimedAsSpec read_timed_as(const Element& element, std::int64_t batch, std::size_t devices,
                                const ReadContext& context, std::shared_ptr<const schedule::Schedule>& recorded);
/// The network that is trained.
struct LearningNetwork {
  const spec::ModelSpec* model;     ///< null if the network has a fault
  const spec::SampleShape& sample;  ///< shape of a sample; 0 if an error left it unknown
  bool equal_batches = false;       ///< true: all sites have batches of one size
};
/// Hosts of the workers and of the aggregator, and their platform.
struct PlacedHosts {
  std::vector<std::string> hosts;
  const spec::PlatformSpec& platform;
};
/// Reads <failures> and every <availability> of a scenario. Patterns of hosts must match a host of `placed`; patterns
/// of nodes must match the node of such a host.
spec::FailureSpec read_failures(const Node& scenario, const PlacedHosts& placed, const ReadContext& context);
std::vector<spec::RunSpec> read_runs(const Node& scenario, bool has_aggregator, std::size_t workers,
                                     const spec::TrainingSpec& training, const std::optional<spec::TimedAsSpec>& timed,
                                     const LearningNetwork& network, const PlacedHosts& placed,
                                     const ReadContext& context);
/// Reads how a run encodes its matrices as bytes.
spec::CompressSpec read_compress(const Node& run, const Catalog::Algorithm& algorithm, const ReadContext& context);
/// Reads the rules by which a run shares its layers.
void read_share(const Node& run, const Catalog::Algorithm& algorithm, spec::RunSpec& into, const ReadContext& context);
/// Returns why an algorithm cannot be combined with a compressor; nothing if it can. `parameters`: the algorithm's.
std::optional<Fault> refuse_compressor(const Catalog::Algorithm& algorithm, const spec::ParameterValues& parameters,
                                       const Catalog::Compressor& compressor);
/// Reports the method's faults of a run. The caller must have read everything else of the run first.
void check_run(const Node& run, const Catalog::Algorithm& algorithm, const spec::RunSpec& read, std::size_t workers,
               const LearningNetwork& network, const ReadContext& context);
/// Reads <evaluation>. The caller must have completed the runs first.
spec::EvaluationSpec read_evaluation(const Element& element, const DataFindings& data,
                                     const std::vector<spec::RunSpec>& runs, const ReadContext& context);
/// Reads <framework>, with the numbers of the framework table as defaults.
spec::FrameworkSpec read_framework(const Element& element, const ReadContext& context);
/// Checks that the framework has an effect on the runs.
void check_framework(const Element& element, const spec::FrameworkSpec& framework,
                     const std::vector<spec::RunSpec>& runs, const ReadContext& context);
spec::CostSpec read_costs(const Element& element, const std::vector<spec::DeviceSpec>& own_devices,
                          const ReadContext& context);
/// Checks that a corruption of pictures is applied to pictures.
void check_picture(const Node& node, spec::Corruption corruption, const DataFindings& data);
/// Returns the devices that a scenario may name: those that it defines, and the catalogue's.
std::vector<std::string> device_names(const std::vector<spec::DeviceSpec>& own_devices, const ReadContext& context);
/// Reads <goal>; `scenario` must be complete except for hosts and data.
spec::GoalSpec read_goal(const Element& element, const Scenario& scenario, const ReadContext& context);
spec::SweepSpec read_sweep(const Element& element, const ReadContext& context);
/// Returns the path of the scale study file; empty after an error. The caller must have read <timed-as> into `scenario`
/// first.
std::string read_ladder(const Element& element, const Scenario& scenario, const ReadContext& context);
spec::ScaleStudySpec read_scale_study(const Element& element, const Scenario& scenario, const ReadContext& context);

/// Checks and completes the tree of a <scenario>. Without findings the result is complete except for its hash.
Scenario read_scenario(const Element& root, const ReadContext& context);

}  // namespace dadsim::scenario
