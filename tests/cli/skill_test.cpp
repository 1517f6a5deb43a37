// Runs the tasks of skills/dadsim/SKILL.md: a command in an indented block, then lines "`/json/pointer` = value" or
// "exit code N". Numbers are printed with three digits, so they must agree to 0.5 %.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/process.hpp"
#include "support/parse_whole.hpp"
#include "support/split.hpp"

namespace dadsim::cli {
namespace {

using test::Outcome;
using test::run_dadsim;

struct SkillTask {
  std::string command;
  std::vector<std::pair<std::string, std::string>> values;  ///< JSON pointer and value
  int exit_code = 0;
};

std::vector<SkillTask> tasks_of_skill() {
  std::ifstream file(DADSIM_SOURCE_DIR "/skills/dadsim/SKILL.md");
  std::vector<SkillTask> tasks;
  for (std::string line; std::getline(file, line);) {
    constexpr std::string_view kCommand = "    dadsim ";
    constexpr std::string_view kExitCode = "exit code ";
    if (line.starts_with(kCommand)) {
      tasks.push_back({.command = line.substr(kCommand.size()), .values = {}});
    } else if (line.starts_with("`/")) {
      const std::size_t end = line.find("` = ");
      tasks.back().values.emplace_back(line.substr(1, end - 1), line.substr(end + 4));
    } else if (line.starts_with(kExitCode)) {
      tasks.back().exit_code = std::stoi(line.substr(kExitCode.size()));
    }
  }
  return tasks;
}

TEST(Skill, ItsTenTasksHaveTheirAnswers) {
  const std::vector<SkillTask> tasks = tasks_of_skill();
  ASSERT_EQ(tasks.size(), 10U);
  for (const SkillTask& task : tasks) {
    SCOPED_TRACE(task.command);
    std::vector<std::string> arguments;
    for (const std::string_view word : split_at(task.command, ' ')) arguments.emplace_back(word);
    const Outcome outcome = run_dadsim(arguments, DADSIM_SOURCE_DIR);
    ASSERT_EQ(outcome.exit_code, task.exit_code) << outcome.err;
    EXPECT_TRUE(task.exit_code != 0 || !task.values.empty());
    if (task.values.empty()) continue;
    const nlohmann::json result = nlohmann::json::parse(outcome.out);
    for (const auto& [pointer, value] : task.values) {
      const nlohmann::json& found = result.at(nlohmann::json::json_pointer(pointer));
      if (found.is_number()) {
        const auto number = parse_whole<double>(value);
        ASSERT_TRUE(number) << pointer << ": " << found;
        EXPECT_NEAR(found.get<double>(), *number, 0.005 * std::abs(*number)) << pointer;
      } else {
        EXPECT_EQ(found.is_string() ? found.get<std::string>() : found.dump(), value) << pointer;
      }
    }
  }
}

}  // namespace
}  // namespace dadsim::cli
