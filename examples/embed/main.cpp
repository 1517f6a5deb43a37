// Learns a scenario once, times it on slower and faster lines, and prints the first run. docs/library.md explains it.
#include <cmath>
#include <cstdio>
#include <dadsim/dadsim.hpp>

namespace {

/// Returns the run that reaches the target first; nullptr if none does.
const dadsim::api::Run* first_of(const dadsim::api::Result& result) {
  const dadsim::api::Run* first = nullptr;
  for (const dadsim::api::Run& run : result.runs()) {
    const double seconds = run.figure("target_seconds");  // NaN if the target is not reached
    if (std::isfinite(seconds) && (first == nullptr || seconds < first->figure("target_seconds"))) first = &run;
  }
  return first;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "embed scenario.xml\n");
    return 2;
  }
  try {
    dadsim::api::Options options;
    options.threads = 2;
    dadsim::api::Learned learned;
    for (const char* up : {"5Mbps", "20Mbps", "1Gbps"}) {
      const dadsim::api::Scenario scenario =
          dadsim::api::Scenario::load(argv[1], {{"platform.federation.sites.up", up}});
      dadsim::api::learn(scenario, options, learned);  // learns only the first time: lines do not change learning
      const dadsim::api::Result result = dadsim::api::time(scenario, learned, options);
      if (const dadsim::api::Run* first = first_of(result)) {
        std::printf("%s up: %s first, in %.3g s\n", up, first->label().c_str(), first->figure("target_seconds"));
      } else {
        std::printf("%s up: nobody reaches the target\n", up);
      }
    }
    std::printf("%zu runs learned\n", learned.size());
  } catch (const dadsim::api::InputError& error) {
    for (const dadsim::api::Diagnostic& one : error.diagnostics()) {
      std::fprintf(stderr, "line %d of %s: %s\n", one.line, one.file.c_str(), one.what.c_str());
    }
    return 3;
  } catch (const dadsim::api::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  return 0;
}
