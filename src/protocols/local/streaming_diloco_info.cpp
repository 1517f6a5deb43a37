#include "protocols/local/streaming_diloco.hpp"

namespace dadsim::protocols {

EventDrivenMethod streaming_diloco_method() {
  EventDrivenMethod info{
      {.name = "streaming-diloco",
       .description = "DiLoCo a part of the model at a time, in four bits a number, while training goes on: smaller "
                      "bursts, and nobody waits for them.",
       .source = "in the spirit of Streaming DiLoCo: Douillard et al., arXiv 2501.18512",
       .payload = "d / 8 and a scale per matrix up, d down, per worker and period, in as many parts as there are "
                  "fragments",
       .family = "local-steps",
       .on_failure = "a worker that goes down is not waited for; when it is back it gets the server's weights and goes "
                     "on at the step of the others, its optimizer begun anew; what is lost on the way is sent again "
                     "after 5 s",
       .parameters = LocalSteps::parameters("30"),
       .sharing = Sharing::event_driven,
       .compresses = [](const spec::ParameterValues& values) { return StreamingDiLoCo::kOuterGradients.of(values); },
       .check = [](const RunFacts& facts) -> RunFaults {
         const std::int64_t period = LocalSteps::kPeriod.of(facts.run.parameters);
         if (StreamingDiLoCo::kDelay.of(facts.run.parameters) >= period) {
           return {Fault{
               "the delay is as long as the period, or longer: a fragment would be sent again before it has been taken "
               "in",
               "a delay below the period"}};
         }
         if (StreamingDiLoCo::kFragments.of(facts.run.parameters) > period)
           return {Fault{"there are more fragments than steps in a period", "at most one per step"}};
         return {};
       },
       .state =
           [](const spec::ParameterValues&) {
             return estimate::AlgorithmState{step::extent::parameters()};  // the fragments that it has got last
           },
       .models_held = LocalSteps::models_held},
      [](const Setting& setting) { return std::make_unique<StreamingDiLoCo>(setting); }};
  for (spec::ParameterSpec& parameter : LocalSteps::outer_parameters("0.4")) {
    info.parameters.push_back(std::move(parameter));
  }
  info.parameters.push_back(StreamingDiLoCo::kFragments);
  info.parameters.push_back(StreamingDiLoCo::kDelay);
  info.parameters.push_back(StreamingDiLoCo::kAlpha);
  info.parameters.push_back(StreamingDiLoCo::kOuterGradients);
  return info;
}

}  // namespace dadsim::protocols
