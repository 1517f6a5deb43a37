#include "protocols/flare.hpp"

#include "protocols/flare_play.hpp"

namespace dadsim::protocols {

EventDrivenMethod flare_method() {
  return {
      {.name = "flare",
       .description = "Workers are sensors that infer with the aggregator's model; it sends them a new one when its "
                      "training has settled, and they upload samples when their confidences have changed "
                      "(in the spirit of FLARE).",
       .source = "FLARE, DCOSS-IoT 2023, arXiv 2305.08504 (abstract; details are assumptions, see docs/drift.md)",
       .payload =
           "d, some quantiles and their number of samples down when training has settled; raw samples up when drift is "
           "suspected",
       .family = "federated",
       .on_failure = "a sensor that comes back is sent the last model; an upload that is lost is not sent again",
       .parameters =
           {spec::choice_parameter("schedule", {"dual", "fixed"},
                                   "dual: as training and confidences ask for; fixed: at intervals"),
            spec::real_parameter("duration", 1, 1e9, "3600", "seconds that are played"),
            spec::real_parameter("interval", 1e-6, 1e6, "0.1", "seconds between two samples of a sensor"),
            spec::integer_parameter("samples", 10, 100000, "100", "of a window of confidences, and of an upload (m)"),
            spec::integer_parameter("quantiles", 10, 100000, "100", "of confidences that are sent with a model (K)"),
            spec::real_parameter("level", 1e-9, 0.5, "0.05", "of the Kolmogorov-Smirnov test of confidences"),
            spec::real_parameter("phi", 0, 1, "0",
                                 "distance of confidences from which samples are uploaded; 0: that of the test"),
            spec::real_parameter("held", 0.01, 0.95, "0.5",
                                 "share of its samples that a sensor's client has from the beginning"),
            spec::real_parameter("validation", 0.05, 0.9, "0.3", "share of the client's samples that it holds back"),
            spec::integer_parameter("local-steps", 1, 1e6, "5",
                                    "batches of the client between two looks at its training"),
            spec::integer_parameter("window", 2, 10000, "10", "looks over which the spread is taken (w)"),
            spec::real_parameter("alpha", 0.01, 1, "0.25",
                                 "stable: a spread of at most this share of the largest since it rested"),
            spec::real_parameter("beta", 1, 1000, "1.5",
                                 "unstable: a spread of more than so many times that of the last deployment"),
            spec::real_parameter("tolerance", 0, 1, "0.02",
                                 "stable: share by which the training loss may fall within a window"),
            spec::integer_parameter("patience", 1, 1e6, "200",
                                    "looks after which training counts as settled, or as not moved"),
            spec::real_parameter("upload-every", 1e-3, 1e9, "600", "fixed: seconds between uploads of a sensor"),
            spec::real_parameter("deploy-every", 1e-3, 1e9, "600", "fixed: seconds between deployments"),
            spec::real_parameter("sample-bytes", 0, 1e12, "0", "of a raw sample on the wire; 0: four per value")},
       .sharing = Sharing::event_driven,
       .compresses = false},
      [](const Setting& setting) { return std::make_unique<FlareProtocol>(setting); }};
}

}  // namespace dadsim::protocols
