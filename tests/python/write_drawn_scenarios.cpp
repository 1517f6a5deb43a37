// Writes drawn scenarios with their results for the test of Python: FOLDER/1.xml, 1.json, 2.xml …, optionally only
// every n-th.
#include <cstdlib>
#include <fstream>
#include <string>

#include "api/dadsim.hpp"
#include "api/drawn_scenario.hpp"

int main(int count, char** arguments) {
  if (count != 4) return EXIT_FAILURE;
  const std::string folder = arguments[1];
  const int scenarios = std::stoi(arguments[2]), every = std::stoi(arguments[3]);
  for (int seed = 1; seed <= scenarios; seed += every) {
    const std::string stem = folder + '/' + std::to_string(seed);
    dadsim::test::DrawnScenario draw(static_cast<unsigned>(seed));
    std::ofstream(stem + ".xml") << draw.with("");
    std::ofstream(stem + "-swept.xml")
        << dadsim::test::DrawnScenario(static_cast<unsigned>(seed)).with_itself_as_sweep();
    const dadsim::api::Result result =
        dadsim::api::run(dadsim::api::Scenario::load(stem + ".xml"), {.threads = 1, .progress = {}});
    std::ofstream(stem + ".json") << result.json();
  }
}
