#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "methods/method.hpp"
#include "scenario/language/rule.hpp"
#include "spec/data_specification.hpp"
#include "spec/parameter.hpp"
#include "spec/sample_shape.hpp"
#include "spec/specification.hpp"
#include "support/diagnostics.hpp"

namespace dadsim::scenario {

struct Scenario;

/// What a scenario may refer to, told by the folders that own it: the reader itself knows no algorithm, device or
/// workload.
struct Catalog {
  using Algorithm = methods::MethodInfo;
  std::vector<Algorithm> algorithms;
  struct Compressor {
    std::string name;
    std::vector<spec::ParameterSpec> parameters;
    bool lossless = false;  ///< nothing is lost, so that there is nothing to keep
    bool adapts = false;    ///< sizes are known once numbers are there
    /// Whether it remembers by default with these parameters.
    std::function<bool(const spec::ParameterValues&)> biased = [](const spec::ParameterValues&) { return false; };
    bool has_momentum = false;  ///< the optimizer must not have one
  };
  std::vector<Compressor> compressors;
  std::vector<std::string> devices;
  /// Why the file of that name tells no relative steps; none: it does. May be none.
  std::function<std::optional<Fault>(const std::string& path)> check_ladder;
  std::vector<spec::LinkSpec> links;                                   ///< the catalogue of links
  std::vector<std::string> all_reduces, all_gathers, reduce_scatters;  ///< algorithms of these, "auto" among them
  /// Regions of the public table, and what lies between two of them (nullopt where nobody measured it).
  std::vector<std::string> regions;
  std::function<std::optional<spec::WanSpec::Pair>(const std::string& from, const std::string& to)> region_pair;

  /// Everything wrong with a platform file and with the use of it: hosts that are missing (with did-you-mean), more
  /// workers on a host than it has cores, pairs of hosts without a route. `pairs` are indices into `hosts` that will
  /// communicate.
  struct PlatformQuestion {
    spec::PlatformSpec platform;
    std::vector<std::string> hosts;  ///< one per worker, then the aggregator
    std::vector<std::pair<std::size_t, std::size_t>> pairs;
  };
  struct PlatformAnswer {
    std::vector<Diagnostic> file_errors;    ///< of the platform file itself, with its file and line
    std::vector<std::string> host_errors;   ///< per entry of `hosts`: empty, or "what; remedy"
    std::vector<std::string> route_errors;  ///< "what; remedy"
  };
  std::function<PlatformAnswer(const PlatformQuestion&)> check_platform;
  /// The hosts of a platform in their order; none where it cannot be loaded. May be none.
  std::function<std::vector<std::string>(const spec::PlatformSpec&)> hosts_of_platform;
  struct NamedLink {
    std::string name, link_class;  ///< a link of no class of the catalogue has none
    bool is_goodput = false;       ///< its bandwidth is what transfers were measured to get
  };
  /// The links of a platform. May be none: they are not checked.
  std::function<std::vector<NamedLink>(const spec::PlatformSpec&)> links_of_platform;
  /// The paths of the files that a platform file names, in its order. May be none: there are no such files.
  std::function<std::vector<std::string>(const spec::PlatformSpec&)> files_of_platform;

  /// Checks of a scenario that has been read, in the order in which they are asked for.
  enum class Check {
    memory,       ///< whether this machine can learn it; without runs: one network of it
    collectives,  ///< whether algorithms of collectives that runs name fit the workers as they stand
    split,        ///< whether each worker gets a sample; loads the data
    runs          ///< all else that keeps runs from being carried out
  };
  struct ScenarioFault {
    std::string element;      ///< "model", "split" or "run"
    std::size_t run = 0;      ///< its index
    std::string attribute{};  ///< empty: none of them
    Fault fault{};
  };
  /// May be none: nothing is wrong.
  std::function<std::vector<ScenarioFault>(Check, const Scenario&, const spec::SampleShape&)> check;

  /// What a source of data holds, or everything that is wrong with its files.
  struct DataAnswer {
    std::vector<Diagnostic> errors;
    spec::DataFacts facts;
  };
  std::function<DataAnswer(const spec::DataSource&)> inspect_data;

  std::vector<spec::DeviceSpec> device_specs;  ///< of the names in `devices`
};

}  // namespace dadsim::scenario
