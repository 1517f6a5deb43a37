#include "scenario/elements/compress_rules.hpp"

#include <fmt/format.h>

namespace dadsim::scenario {

std::optional<Fault> refuse_compressor(const Catalog::Algorithm& algorithm, const spec::ParameterValues& parameters,
                                       const Catalog::Compressor& compressor) {
  if (!algorithm.communicates()) {
    return Fault{fmt::format("<compress> means nothing to '{}'", algorithm.name), "remove it: nothing is exchanged"};
  }
  if (!algorithm.compresses(parameters)) {
    return Fault{fmt::format("<compress> means nothing to '{}' with these parameters", algorithm.name),
                 "remove it, or a parameter that lets it be used"};
  }
  if (compressor.adapts && algorithm.event_driven()) {
    return not_built(fmt::format("'{}' finds by looking at the numbers how many it sends, and '{}' is simulated "
                                 "before there are numbers",
                                 compressor.name, algorithm.name),
                     "one whose sizes are known, e.g. top-k");
  }
  if (compressor.has_momentum && !algorithm.sends_gradients) {
    return Fault{
        fmt::format("'{}' has the momentum of gradients in it, and '{}' sends others", compressor.name, algorithm.name),
        "gradient-sharing, or a method without momentum, e.g. top-k"};
  }
  return std::nullopt;
}

}  // namespace dadsim::scenario
