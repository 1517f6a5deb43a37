#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "estimate/bands.hpp"
#include "report/document/document.hpp"
#include "spec/specification.hpp"
#include "step/step.hpp"
#include "step/timing.hpp"

namespace dadsim::report {

/// The timed operation: a collective, or messages from one rank to another.
enum class Operation {
  all_reduce,
  all_gather,
  reduce_scatter,
  broadcast,
  reduce,
  gather,
  scatter,
  all_to_all,
  neighbour_exchange,
  send,
};
constexpr auto names_of(Operation) {
  using enum Operation;
  return std::to_array<spec::Name<Operation>>({{all_reduce, "all-reduce"},
                                               {all_gather, "all-gather"},
                                               {reduce_scatter, "reduce-scatter"},
                                               {broadcast, "broadcast"},
                                               {reduce, "reduce"},
                                               {gather, "gather"},
                                               {scatter, "scatter"},
                                               {all_to_all, "all-to-all"},
                                               {neighbour_exchange, "neighbour-exchange"},
                                               {send, "send"}});
}
using spec::to_string;

/// Returns the kind of collective that carries out an operation.
step::CollectiveKind kind_of(Operation operation);

/// Returns whether the operation's vector consists of one block per rank.
bool has_blocks(Operation operation);

/// Returns bus bandwidth ÷ algorithm bandwidth among `ranks`, as nccl-tests define it (NVIDIA/nccl-tests,
/// doc/PERFORMANCE.md and src/*.cu). With the best algorithm, the bus bandwidth is the rate at the busiest rank's link,
/// so it can be compared with the hardware's rate.
double bus_factor(Operation operation, std::size_t ranks);

/// The result for one size.
struct CollectiveRow {
  /// Bytes of the whole vector. As in nccl-tests, all_gather, reduce_scatter, gather, scatter and all_to_all count the
  /// blocks of all ranks together.
  double size_bytes = 0;
  /// Bytes of one rank's block; in all_to_all, the block sent to each rank. Equal to size_bytes for operations without
  /// blocks.
  double block_bytes = 0;
  std::string algorithm;                   ///< algorithm used
  std::optional<Statement> compared = {};  ///< algorithms that "best" was compared with
  std::string protocol = {};               ///< protocol of NCCL and RCCL for all messages: "LL"; may be empty
  std::optional<Statement> quicker = {};   ///< an algorithm of the library that is quicker than the library's choice
  spec::Fidelity fidelity = spec::Fidelity::message;
  double warm_seconds = 0;             ///< seconds on warm connections
  std::optional<double> cold_seconds;  ///< seconds on new connections, if different
  double messages = 0;                 ///< number of messages of the operation
  std::string category = {};           ///< one of estimate::error_categories()
  estimate::Band band = {};            ///< factors on the time, for the interval of nine measurements in ten
  /// A benchmark's measurement.
  struct Measured {
    double seconds = 0;  ///< out of place
    std::optional<double> in_place_seconds = {};
  };
  std::optional<Measured> measured = {};
};

/// The report of a collective over several sizes.
struct CollectiveReport : ReportHead {
  std::string platform_file;
  std::string platform_description;  ///< may be empty
  Operation operation = Operation::all_reduce;
  std::vector<std::string> hosts;          ///< host of each rank
  std::optional<std::size_t> root;         ///< rank of the root, for operations with one
  std::vector<std::pair<int, int>> pairs;  ///< senders and receivers of neighbour_exchange and send
  bool per_rank = false;                   ///< true: sizes were given per rank
  bool cold = false;                       ///< true: times are those of new connections
  bool rendezvous = false;
  std::string choice;  ///< requested algorithm: "auto", "best", or a name
  std::vector<CollectiveRow> rows;
  step::NetworkUse network;
  std::string measured_file = {};  ///< file of a benchmark; empty: none
};

/// Returns the seconds that bandwidths refer to: on new connections if `cold`, else on warm ones.
double seconds_of(const CollectiveReport& report, const CollectiveRow& row);
/// Returns size ÷ seconds, byte/s.
double algorithm_bandwidth(const CollectiveReport& report, const CollectiveRow& row);
double bus_bandwidth(const CollectiveReport& report, const CollectiveRow& row);
/// Returns the mean bus bandwidth, byte/s, over the rows with a bus bandwidth, as nccl-tests do; NaN if there are none.
double average_bus_bandwidth(const CollectiveReport& report);
/// Predicted ÷ measured times, over the measured rows.
struct Agreement {
  std::size_t rows = 0;
  double mean = 1;  ///< geometric mean
  double least = 1, greatest = 1;
  double mean_error = 0;  ///< mean of |predicted ÷ measured − 1|
};
Agreement agreement_of(const CollectiveReport& report);
/// Returns the number of 4-byte elements that each rank passes to NCCL, rounded down. For operations with blocks, the
/// elements of a block.
double count_of(const CollectiveRow& row);

/// Returns a document with a row per size, the columns of nccl-tests, and the sources of the numbers.
/// docs/output-collective.md documents every member and column.
Document document_of(const CollectiveReport& report);

}  // namespace dadsim::report
