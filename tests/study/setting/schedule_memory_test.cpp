#include "study/setting/schedule_memory.hpp"

#include <gtest/gtest.h>

#include <fstream>

#include "scenario/document/load.hpp"
#include "study/learning/learned.hpp"
#include "study/one_line.hpp"
#include "study/setting/catalog.hpp"
#include "support/temporary_folder.hpp"

namespace dadsim::study {
namespace {

class ScheduleMemories : public testing::Test {
 protected:
  ScheduleMemories() {
    const std::string path = folder_.path("scenario.xml");
    std::ofstream(path) << test::one_line::scenario();
    scenario_ = load_scenario(path, {}, make_catalog());
    learned_ = learn_scenario(scenario_, nullptr, false);
    timed_ = timed_as_of(scenario_, run().shape);
  }
  const LearnedRun& run() const { return *learned_.runs.front(); }
  ScheduleMemory::Pointer ask(const spec::RunSpec& spec, const TimedAs& timed) {
    return memory_.of(spec, {learned_.runs.front(), &run().trajectory}, run().shape, timed);
  }

  test::TemporaryFolder folder_;
  scenario::Scenario scenario_;
  Learned learned_;
  TimedAs timed_;
  ScheduleMemory memory_;
};

TEST_F(ScheduleMemories, HoldTheSchedulesOfEveryDistinctStep) {
  const auto schedules = ask(scenario_.runs[0], timed_);
  const step::Trajectory& trajectory = run().trajectory;
  ASSERT_EQ(schedules->schedules.size(), trajectory.distinct_steps.size());
  for (std::size_t i = 0; i < trajectory.distinct_steps.size(); ++i) {
    EXPECT_EQ(schedules->schedules[i],
              schedule_of(scenario_.runs[0], trajectory, trajectory.distinct_steps[i], run().shape, timed_));
  }
  EXPECT_EQ(schedules->kinds.of().size(), schedules->schedules.size());
}

TEST_F(ScheduleMemories, MakeThemOnceForWhatIsTheSame) {
  const auto first = ask(scenario_.runs[0], timed_);
  EXPECT_EQ(ask(scenario_.runs[0], timed_), first);
  spec::RunSpec ring = scenario_.runs[0];
  ring.all_reduce = "ring";
  spec::RunSpec buckets = scenario_.runs[0];
  buckets.bucket_bytes = 1e6;
  TimedAs larger = timed_;
  larger.sample_scale = 2;
  TimedAs half = timed_;
  half.precision = spec::Precision::fp16;
  TimedAs other = timed_;
  other.shape.layers.front().name = "another";
  EXPECT_NE(ask(ring, timed_), first);
  EXPECT_NE(ask(buckets, timed_), first);
  EXPECT_NE(ask(scenario_.runs[0], larger), first);
  EXPECT_NE(ask(scenario_.runs[0], half), first);
  EXPECT_NE(ask(scenario_.runs[0], other), first);
  const auto another = std::make_shared<const step::Trajectory>(run().trajectory);
  EXPECT_NE(memory_.of(scenario_.runs[0], another, run().shape, timed_), first);
  EXPECT_EQ(ask(scenario_.runs[0], timed_), first);
}

// Adam moves 7 floats of 4 bytes per parameter. Checking gradients for infinities reads 2 bytes more, which is 1/14.
TEST_F(ScheduleMemories, SearchForInfinitiesPassesOverGradients) {
  TimedAs searched = timed_;
  searched.update_share = 1 + 1.0 / 14;
  const auto plain = ask(scenario_.runs[0], timed_);
  const auto other = ask(scenario_.runs[0], searched);
  ASSERT_NE(plain, other);
  const std::vector<schedule::Task>& tasks = plain->schedules[0].tasks;
  std::size_t updates = 0;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    const auto* before = std::get_if<schedule::ComputeTask>(&tasks[i].what);
    if (before == nullptr) continue;
    const auto& after = std::get<schedule::ComputeTask>(other->schedules[0].tasks[i].what);
    const bool update = before->phase == step::Phase::update;
    updates += update ? 1 : 0;
    EXPECT_DOUBLE_EQ(after.bytes_moved[0], before->bytes_moved[0] * (update ? 15.0 / 14 : 1.0));
  }
  EXPECT_GT(updates, 0);
}

}  // namespace
}  // namespace dadsim::study
