#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "plan/parameter.hpp"
#include "plan/specification.hpp"
#include "support/diagnostics.hpp"

namespace dadsim {

/// What a scenario may refer to, told by the folders that own it: the reader itself knows no algorithm, device or
/// workload.
struct Catalog {
  struct Algorithm {
    std::string name;
    std::vector<ParameterSpec> parameters;
    bool communicates = true;  ///< false: a topology means nothing to it
  };
  std::vector<Algorithm> algorithms;
  std::vector<std::string> devices;
  std::vector<std::string> workloads;
  std::vector<LinkSpec> links;                        ///< the catalogue of links
  std::vector<std::string> all_reduces, all_gathers;  ///< algorithms of these collectives, "auto" among them
  /// Regions of the public table, and what lies between two of them (nullopt where nobody measured it).
  std::vector<std::string> regions;
  std::function<std::optional<WanSpec::Pair>(const std::string& from, const std::string& to)> region_pair;

  enum class Unit { seconds, bytes, bytes_per_second, flops };
  /// "100Mbps" → 1.25e7; nullopt if the text is not a number with a unit of that kind (SimGrid's own parsers).
  std::function<std::optional<double>(Unit, const std::string&)> parse_unit;

  /// Everything wrong with a platform file and with the use of it: hosts that are missing (with did-you-mean), more
  /// workers on a host than it has cores, pairs of hosts without a route. `pairs` are indices into `hosts` that will
  /// communicate.
  struct PlatformQuestion {
    PlatformSpec platform;
    std::vector<std::string> hosts;  ///< one per worker, then the aggregator
    std::vector<std::pair<std::size_t, std::size_t>> pairs;
  };
  struct PlatformAnswer {
    std::vector<Diagnostic> file_errors;    ///< of the platform file itself, with its file and line
    std::vector<std::string> host_errors;   ///< per entry of `hosts`: empty, or "what; remedy"
    std::vector<std::string> route_errors;  ///< "what; remedy"
  };
  std::function<PlatformAnswer(const PlatformQuestion&)> check_platform;

  /// What an IDX pair holds, or what is wrong with it.
  struct DataFacts {
    std::vector<Diagnostic> errors;
    std::int64_t samples = 0;
    std::int64_t features = 0;
    std::int64_t classes = 0;
  };
  std::function<DataFacts(const std::string& images, const std::string& labels)> inspect_idx;

  std::int64_t digit_classes = 10;
  std::int64_t digit_features = 784;  ///< pixels of one digit
  std::int64_t max_digits = 200000;   ///< largest train + test of the embedded set
};

}  // namespace dadsim
