#include "report/export/goal.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

namespace dadsim::report {
namespace {

using step::StepOperations;

std::int64_t whole_bytes(double bytes) { return std::max<std::int64_t>(1, std::llround(bytes)); }

}  // namespace

std::string to_goal(const StepOperations& operations) {
  std::string text = fmt::format("num_ranks {}\n", operations.nodes.size());
  const auto out = std::back_inserter(text);
  for (std::size_t rank = 0; rank < operations.nodes.size(); ++rank) {
    fmt::format_to(out, "\nrank {} {{\n", rank);
    const std::vector<StepOperations::Operation>& all = operations.nodes[rank].operations;
    for (std::size_t i = 0; i < all.size(); ++i) {
      const StepOperations::Operation& one = all[i];
      switch (one.kind) {
        case StepOperations::Kind::compute:
          fmt::format_to(out, "l{}: calc {} cpu 0\n", i, std::llround(one.seconds * 1e9));
          break;
        case StepOperations::Kind::meet:
          fmt::format_to(out, "l{}: calc 0 cpu {}\n", i,
                         operations.tasks[static_cast<std::size_t>(one.task)].collective ? 1 : 0);
          break;
        case StepOperations::Kind::send:
          fmt::format_to(out, "l{}: send {}b to {} tag {} cpu 1\n", i, whole_bytes(one.bytes), one.peer, one.tag);
          break;
        case StepOperations::Kind::receive:
          fmt::format_to(out, "l{}: recv {}b from {} tag {} cpu 1\n", i, whole_bytes(one.bytes), one.peer, one.tag);
          break;
      }
      for (const std::int32_t before : one.after) fmt::format_to(out, "l{} requires l{}\n", i, before);
    }
    text += "}\n";
  }
  return text;
}

}  // namespace dadsim::report
