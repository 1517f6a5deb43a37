// Learned on the small network, timed as a large one.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "cli/process.hpp"
#include "plan/workload.hpp"

namespace dadsim {
namespace {

nlohmann::json result_of(const std::vector<std::string>& more) {
  std::vector<std::string> arguments =
      test::small({"scenarios/hospitals.xml", "--json", "-", "--set", "data.split.alpha=1000"});
  arguments.insert(arguments.end(), more.begin(), more.end());
  const test::Outcome outcome = test::run_dadsim(arguments);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  return nlohmann::json::parse(outcome.out);
}

TEST(TimedAs, LearnsTheSameAndTimesTheOther) {
  const nlohmann::json plain = result_of({});
  for (const Workload& workload : workload_registry()) {
    const nlohmann::json timed = result_of({"--set", "timed-as.workload=" + workload.name});
    EXPECT_NE(timed["timed_as"].get<std::string>().find(workload.name), std::string::npos);
    EXPECT_EQ(timed["learned_on"], plain["learned_on"]);
    for (std::size_t run = 0; run < plain["runs"].size(); ++run) {
      EXPECT_EQ(timed["runs"][run]["accuracy"], plain["runs"][run]["accuracy"]);
      EXPECT_GT(timed["runs"][run]["per_step"]["seconds"], plain["runs"][run]["per_step"]["seconds"]);
    }
    // Gradient sharing sends every parameter of the workload up in every step.
    const auto parameters = static_cast<double>(workload.shape().parameters());
    EXPECT_NEAR(timed["runs"][2]["per_step"]["bytes_up_per_worker"].get<double>(), 4 * parameters, 1);
    EXPECT_NEAR(timed["runs"][2]["per_step"]["bytes_down_per_worker"].get<double>(), 4 * parameters, 1);
  }
}

}  // namespace
}  // namespace dadsim
