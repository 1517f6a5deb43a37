#pragma once

#include "protocols/protocol.hpp"

namespace dadsim::protocols {

/// In the spirit of FLARE (arXiv 2305.08504), of which the abstract alone was there to be read: between a client that
/// trains and sensors that only infer, models go down when training has settled and samples come up when confidences
/// have changed, in place of fixed intervals. What is assumed beyond that stands with FlareProtocol.
EventDrivenMethod flare_method();

}  // namespace dadsim::protocols
