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
#include "scenario/xml/findings.hpp"
#include "spec/data_specification.hpp"
#include "spec/parameter.hpp"
#include "spec/sample_shape.hpp"
#include "spec/specification.hpp"
#include "support/diagnostics.hpp"

namespace dadsim::scenario {

struct Scenario;

/// Names that a scenario may refer to, provided by the modules that own them: the reader itself knows no algorithm,
/// device or workload.
struct Catalog {
  using Algorithm = methods::MethodInfo;
  std::vector<Algorithm> algorithms;
  struct Compressor {
    std::string name;
    std::vector<spec::ParameterSpec> parameters;
    bool lossless = false;  ///< true: lossless, so that an error memory has no effect
    bool adapts = false;    ///< true: sizes of messages are known only after encoding
    /// Returns whether a compressor with these parameters keeps errors by default.
    std::function<bool(const spec::ParameterValues&)> biased = [](const spec::ParameterValues&) { return false; };
    bool has_momentum = false;  ///< true: the compressor has momentum, so the optimizer must have none
  };
  std::vector<Compressor> compressors;
  std::vector<std::string> devices;
  /// Returns why the file with this path has no relative steps; nothing if it has. The function may be empty.
  std::function<std::optional<Fault>(const std::string& path)> check_ladder;
  std::vector<spec::LinkSpec> links;                                   ///< links of the catalogue
  std::vector<std::string> all_reduces, all_gathers, reduce_scatters;  ///< names of algorithms, including "auto"
  /// Regions of the public table, and the measurements between two regions (nullopt: not measured).
  std::vector<std::string> regions;
  std::function<std::optional<spec::WanSpec::Pair>(const std::string& from, const std::string& to)> region_pair;

  /// Question about a platform and its use by a scenario. `pairs`: indices into `hosts` of pairs that will communicate.
  /// Errors in the answer are missing hosts (with suggestions), more workers on a host than it has cores, and pairs of
  /// hosts without a route.
  struct PlatformQuestion {
    spec::PlatformSpec platform;
    std::vector<std::string> hosts;  ///< host of each worker, then of the aggregator
    std::vector<std::pair<std::size_t, std::size_t>> pairs;
  };
  struct PlatformAnswer {
    std::vector<Diagnostic> file_errors;    ///< errors of the platform file itself, with its file and line
    std::vector<std::string> host_errors;   ///< error of each entry of `hosts`: empty, or "what; remedy"
    std::vector<std::string> route_errors;  ///< errors of routes: "what; remedy"
  };
  std::function<PlatformAnswer(const PlatformQuestion&)> check_platform;
  /// Returns the hosts of a platform in their order; none if it cannot be loaded. The function may be empty.
  std::function<std::vector<std::string>(const spec::PlatformSpec&)> hosts_of_platform;
  struct NamedLink {
    std::string name, link_class;  ///< class in the catalogue; empty: none
    bool is_goodput = false;       ///< true: the bandwidth is a measured rate of transfers (goodput)
  };
  /// Returns the links of a platform. The function may be empty: names of links are then not checked.
  std::function<std::vector<NamedLink>(const spec::PlatformSpec&)> links_of_platform;
  /// Returns the paths of files that a platform file names, in its order. The function may be empty, and then there are
  /// none.
  std::function<std::vector<std::string>(const spec::PlatformSpec&)> files_of_platform;

  /// Checks of a complete scenario, in the order in which they run.
  enum class Check {
    memory,       ///< memory of this machine for learning; without runs, for the network alone
    collectives,  ///< fit of the runs' collective algorithms to the workers' placement
    split,        ///< at least one sample per worker; loads the data
    runs          ///< all other conditions for running the scenario
  };
  struct ScenarioFault {
    std::string element;      ///< name of the element: "model", "split" or "run"
    std::size_t run = 0;      ///< index of the run
    std::string attribute{};  ///< name of the attribute; empty: the fault concerns no single attribute
    Fault fault{};
  };
  /// Returns the faults that a check finds. The function may be empty, and then there are none.
  std::function<std::vector<ScenarioFault>(Check, const Scenario&, const spec::SampleShape&)> check;

  /// Facts about a data source, or all errors of its files.
  struct DataAnswer {
    std::vector<Diagnostic> errors;
    spec::DataFacts facts;
  };
  std::function<DataAnswer(const spec::DataSource&)> inspect_data;

  std::vector<spec::DeviceSpec> device_specs;  ///< specifications of the names in `devices`
};

/// State that all parts of the reader share.
struct ReadContext {
  const std::string& path;  ///< path of the file being read
  const Catalog& catalog;
  Findings& findings;
};

/// Maps the path of a file to its printed form.
using PathText = std::function<std::string(const std::string&)>;

}  // namespace dadsim::scenario
