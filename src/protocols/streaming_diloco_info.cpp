#include "protocols/streaming_diloco.hpp"

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
       .compresses = [](const spec::ParameterValues& values) { return values.at("outer-gradients") == "compress"; },
       .check = [](const RunFacts& facts) -> RunFaults {
         const long long period = std::stoll(facts.run.parameters.at("period"));
         if (std::stoll(facts.run.parameters.at("delay")) >= period) {
           return {Fault{
               "the delay is as long as the period, or longer: a fragment would be sent again before it has been taken "
               "in",
               "a delay below the period"}};
         }
         if (std::stoll(facts.run.parameters.at("fragments")) > period)
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
  info.parameters.push_back(
      spec::integer_parameter("fragments", 1, 1e6, "3", "parts of the model (P); as many as it has matrices at most"));
  info.parameters.push_back(
      spec::integer_parameter("delay", 0, 1e9, "1",
                              "inner steps from sending a fragment to taking in what has become of it "
                              "(tau); 0: workers wait for it"));
  info.parameters.push_back(
      spec::real_parameter("alpha", 0, 1, "0.5", "share of the worker's own weights when it takes in a fragment"));
  info.parameters.push_back(spec::choice_parameter(
      "outer-gradients", {"e3m0", "compress"}, "e3m0: in four bits a number; compress: as <compress> of the run says"));
  return info;
}

}  // namespace dadsim::protocols
