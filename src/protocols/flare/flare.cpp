
#include "methods/idle_parameters.hpp"
#include "protocols/flare/flare_protocol.hpp"
#include "protocols/methods.hpp"
#include "protocols/protocol.hpp"

namespace dadsim::protocols {
/// In the spirit of FLARE (arXiv 2305.08504), of which only the abstract was available. A client trains and sensors
/// infer. Models go down when training has settled, and samples come up when confidences have changed, instead of at
/// fixed intervals. FlareProtocol lists the assumptions beyond the abstract.
EventDrivenMethod flare_method() {
  return {{.name = "flare",
           .family = "federated",
           .parameters = {FlareProtocol::kSchedule, FlareProtocol::kDuration, FlareProtocol::kInterval,
                          FlareProtocol::kSamples, FlareProtocol::kQuantiles, FlareProtocol::kLevel,
                          FlareProtocol::kPhi, FlareProtocol::kHeld, FlareProtocol::kValidation,
                          FlareProtocol::kLocalSteps, FlareProtocol::kWindow, FlareProtocol::kAlpha,
                          FlareProtocol::kBeta, FlareProtocol::kTolerance, FlareProtocol::kPatience,
                          FlareProtocol::kUploadEvery, FlareProtocol::kDeployEvery, FlareProtocol::kSampleBytes},
           .sharing = Sharing::event_driven,
           .compresses = false,
           .draws_samples = true,
           .decides_by = "losses and confidences to decide when to send",
           .check =
               [](const RunFacts& facts) {
                 using Of = FlareProtocol;
                 return methods::faults_of_idle_parameters(
                     facts.run.parameters, {{Of::kUploadEvery, Of::kSchedule, {"fixed"}},
                                            {Of::kDeployEvery, Of::kSchedule, {"fixed"}},
                                            {Of::kLevel, Of::kSchedule, {"dual"}},
                                            {Of::kPhi, Of::kSchedule, {"dual"}},
                                            {.parameter = Of::kLevel, .other = Of::kPhi, .without = true}});
               },
           .one_objective = "the aggregator trains, with the samples that have been uploaded to it"},
          [](const Setting& setting) { return std::make_unique<FlareProtocol>(setting); }};
}

}  // namespace dadsim::protocols
