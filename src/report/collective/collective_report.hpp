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

/// What is timed: a collective, or messages from one rank to another.
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

/// The kind of collective that an operation is laid out as.
step::CollectiveKind kind_of(Operation operation);

/// Whether its vector is made of one block per rank.
bool has_blocks(Operation operation);

/// Bus bandwidth ÷ algorithm bandwidth among so many ranks, as nccl-tests define it (NVIDIA/nccl-tests,
/// doc/PERFORMANCE.md and src/*.cu): the bus bandwidth is that of the busiest rank's link with the best algorithm, and
/// can be held against the hardware's.
double bus_factor(Operation operation, std::size_t ranks);

/// One size.
struct CollectiveRow {
  /// The whole vector: of all_gather, reduce_scatter, gather, scatter and all_to_all the blocks of all ranks together,
  /// as nccl-tests count it.
  double size_bytes = 0;
  /// The block of one rank where the operation has blocks (what all_to_all sends to each rank), else the same as
  /// size_bytes.
  double block_bytes = 0;
  std::string algorithm;                   ///< what "auto" or "best" stood for
  std::optional<Statement> compared = {};  ///< with what "best" was compared
  std::string protocol = {};               ///< of NCCL and RCCL, for all messages: "LL"; may be empty
  std::optional<Statement> quicker = {};   ///< an algorithm of the library that is quicker than what it takes
  spec::Fidelity fidelity = spec::Fidelity::message;
  double warm_seconds = 0;             ///< on connections that are warm
  std::optional<double> cold_seconds;  ///< on new ones, where that makes a difference
  double messages = 0;                 ///< that the operation takes
  std::string category = {};           ///< of estimate::error_categories()
  estimate::Band band = {};            ///< factors on its time between which nine measurements of ten are expected
  /// What a benchmark measured.
  struct Measured {
    double seconds = 0;  ///< out of place
    std::optional<double> in_place_seconds = {};
  };
  std::optional<Measured> measured = {};
};

/// A sweep over sizes.
struct CollectiveReport : ReportHead {
  std::string platform_file;
  std::string platform_description;  ///< may be empty
  Operation operation = Operation::all_reduce;
  std::vector<std::string> hosts;          ///< per rank
  std::optional<std::size_t> root;         ///< where it has one
  std::vector<std::pair<int, int>> pairs;  ///< of ranks, from → to: neighbour_exchange, send
  bool per_rank = false;                   ///< sizes were given per rank
  bool cold = false;                       ///< the times are those of new connections
  bool rendezvous = false;
  std::string choice;  ///< "auto", "best", or the name of an algorithm
  std::vector<CollectiveRow> rows;
  step::NetworkUse network;
  std::string measured_file = {};  ///< of a benchmark; empty: none
};

/// Seconds that the bandwidths are of: cold or warm.
double seconds_of(const CollectiveReport& report, const CollectiveRow& row);
/// byte/s: size ÷ seconds
double algorithm_bandwidth(const CollectiveReport& report, const CollectiveRow& row);
double bus_bandwidth(const CollectiveReport& report, const CollectiveRow& row);
/// byte/s: mean over the rows that have one, as nccl-tests give it; not a number if none has.
double average_bus_bandwidth(const CollectiveReport& report);
/// Predicted ÷ measured, over the rows that have been measured.
struct Agreement {
  std::size_t rows = 0;
  double mean = 1;  ///< geometric
  double least = 1, greatest = 1;
  double mean_error = 0;  ///< mean of |predicted ÷ measured − 1|
};
Agreement agreement_of(const CollectiveReport& report);
/// Elements of 4 bytes that each rank names in its call of NCCL, rounded down: of the block where there are blocks.
double count_of(const CollectiveRow& row);

/// A row per size with the columns of nccl-tests, and what lies behind the numbers. Every member and column is
/// documented in docs/output-collective.md.
Document document_of(const CollectiveReport& report);

}  // namespace dadsim::report
