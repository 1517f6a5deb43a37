#pragma once

#include <boost/program_options.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "report/collective/collective_report.hpp"
#include "spec/specification.hpp"

namespace dadsim::cli {

/// Reads a list of sizes in the notation of nccl-tests, and returns the sizes in bytes. Single sizes: "8", "4KB",
/// "1.5M", "1GiB" (units are powers of 1024, in upper or lower case). Ranges: "1KB:1GB" doubles the size, "1KB:1GB:4"
/// multiplies it by four. Lists: "1MB,4MB". Throws UsageError.
std::vector<double> parse_byte_sizes(const std::string& text);

/// Returns one size in bytes. Throws UsageError with `option` and the expected `form`.
double parse_byte_size(const char* option, std::string_view text, const char* form);

inline constexpr std::size_t kMostSizes = 1000;
inline constexpr double kLargestSize = 1125899906842624.0;  ///< bytes: 1 PiB

/// Options of `dadsim collective`, checked as far as this is possible without the platform.
struct CollectiveOptions {
  std::string platform;
  report::Operation operation = report::Operation::all_reduce;
  std::string algorithm = "auto";
  std::vector<double> sizes;  ///< sizes in bytes, in the order given
  std::optional<std::size_t> ranks;
  std::string hosts = {};  ///< list of hosts (scenario/elements/host_list.hpp); empty: all hosts of the platform
                           ///< without hubs, or the first `ranks` of them
  std::optional<std::size_t> root;
  std::vector<std::pair<int, int>> pairs;  ///< pairs of ranks, from → to
  bool per_rank = false;
  bool cold = false;
  bool rendezvous = false;
  spec::Fidelity fidelity = spec::Fidelity::automatic;
  std::optional<spec::Transport> transport;
  std::string measured;       ///< path of a benchmark's log; empty: none
  bool sizes_of_log = false;  ///< true: no sizes were given, so those of the log are used
};

/// Reads the options. Throws UsageError.
CollectiveOptions collective_options_of(const boost::program_options::variables_map& values);

}  // namespace dadsim::cli
