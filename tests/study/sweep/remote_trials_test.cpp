#include "study/sweep/remote_trials.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "study/learning/learned.hpp"
#include "study/learning/learned_bytes.hpp"
#include "study/remote/remote_learning.hpp"
#include "study/store/records.hpp"
#include "study/sweep/merge.hpp"
#include "study/sweep/open_sweep.hpp"
#include "study/sweep/read_results.hpp"
#include "study/sweep/run.hpp"
#include "study/sweep/sweep_document.hpp"
#include "study/sweep/tiny_sweep.hpp"
#include "support/diagnostics.hpp"
#include "support/temporary_folder.hpp"

namespace dadsim::study {
namespace {

using test::sweep_of;
using test::tiny_scenario;

constexpr const char* kPieceSweep = R"(<sweep seeds="2">
    <vary path="platform.federation.sites.up" values="1Mbps 3Mbps 100Mbps"/>
    <vary path="run[rank-dad].cap" values="2 8"/>
  </sweep>)";

std::string content_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

class Pieces : public testing::Test {
 protected:
  /// Runs every trial as its own piece, last trial first, into this file.
  void do_in_pieces(const SweepPoints& sweep, const std::string& file, bool learn_first) {
    const auto database = open_sweep(folder_.path(file), sweep, {});
    const SweepIdentity identity = identity_of(sweep, {});
    std::vector<SweepBatch> batches = open_batches(sweep, *database, {});
    for (auto batch = batches.rbegin(); batch != batches.rend(); ++batch) {
      std::string learned;
      if (learn_first) {
        learned = learn(sweep, batch->points.front(), batch->seed);
        Records records(*database);
        for (const auto& [key, run] : learned_runs_from(learned))
          records.keep(Records::kLearned, record_key(key), 0, [&] { return to_bytes(*run); });
      }
      for (auto point = batch->points.rbegin(); point != batch->points.rend(); ++point)
        take_results(*database, identity, do_one(sweep, identity, batch->seed, {*point}, learned), "worker 2");
    }
    database->close();
    put_in_order(folder_.path(file));
  }
  /// Runs the sweep in one process, into this file.
  void do_at_once(const SweepPoints& sweep, const std::string& file) {
    const auto database = open_sweep(folder_.path("one-" + file), sweep, {});
    run_sweep(sweep, *database, {}, {.threads = 2});
    database->close();
    merge_sweeps(folder_.path(file), {folder_.path("one-" + file)});
  }

  /// Does all tasks of the queue in the role of another process; returns the first result.
  static std::string do_all(TaskQueue& queue, const std::string& path) {
    const TaskQueue::Piece piece = queue.next(100, 0);
    queue.take(piece.id, do_tasks(path, piece.bytes, {}), "worker");
    return queue.wait().front().result;
  }
  static std::string do_one(const SweepPoints& sweep, const SweepIdentity& identity, std::int64_t seed,
                            const std::vector<std::size_t>& points, const std::string& learned) {
    TaskQueue queue;
    const auto context = context_of_trials(sweep, identity);
    std::vector<NamedState> states;
    if (!learned.empty()) states.push_back({"learned", [&] { return learned; }});
    for (const std::size_t point : points)
      queue.post(context, task_of_trial(sweep, {static_cast<std::int64_t>(point) + 1, seed}), states);
    return do_all(queue, sweep.base().file);
  }
  static std::string learn(const SweepPoints& sweep, std::size_t point, std::int64_t seed) {
    TaskQueue queue;
    post_learning(queue, {sweep.overrides(point, seed), sweep.scenario(point, seed).hash});
    return do_all(queue, sweep.base().file);
  }

  test::TemporaryFolder folder_;
};

TEST_F(Pieces, TogetherAreTheFileOfOneProcessToTheByte) {
  const SweepPoints sweep = sweep_of(folder_.write("tiny.xml", tiny_scenario(kPieceSweep)));
  do_at_once(sweep, "whole.sqlite");
  for (const bool learn_first : {true, false}) {
    do_in_pieces(sweep, "pieces.sqlite", learn_first);
    EXPECT_EQ(content_of(folder_.path("pieces.sqlite")), content_of(folder_.path("whole.sqlite")))
        << "learned first: " << learn_first;
    std::filesystem::remove(folder_.path("pieces.sqlite"));
  }
}

TEST_F(Pieces, OfEventDrivenRunsAreTheFileOfOneProcessToTheByte) {
  const SweepPoints sweep = sweep_of(
      folder_.write("tiny.xml", tiny_scenario(R"(<sweep><vary path="run[fedavg].local-steps" values="1 2 5"/></sweep>)",
                                              R"(<run algorithm="fedavg" local-steps="2"/>)")));
  do_at_once(sweep, "whole.sqlite");
  do_in_pieces(sweep, "pieces.sqlite", false);
  EXPECT_EQ(content_of(folder_.path("pieces.sqlite")), content_of(folder_.path("whole.sqlite")));
  // This process now holds values in memory that the results file may lack; pieces must still be complete.
  do_in_pieces(sweep, "again.sqlite", false);
  EXPECT_EQ(content_of(folder_.path("again.sqlite")), content_of(folder_.path("whole.sqlite")));
}

TEST_F(Pieces, AreTheSameBytesInWhateverOrderTheirFilesAreMerged) {
  const SweepPoints sweep = sweep_of(folder_.write("tiny.xml", tiny_scenario(kPieceSweep)));
  std::vector<std::string> files;
  for (std::int64_t number = 1; number <= 3; ++number) {
    const Shard shard{.number = number, .count = 3};
    files.push_back(folder_.path(std::to_string(number) + ".sqlite"));
    run_sweep(sweep, *open_sweep(files.back(), sweep, shard), shard, {.threads = 1});
  }
  do_at_once(sweep, "whole.sqlite");
  merge_sweeps(folder_.path("up.sqlite"), files);
  merge_sweeps(folder_.path("down.sqlite"), {files.rbegin(), files.rend()});
  EXPECT_EQ(content_of(folder_.path("up.sqlite")), content_of(folder_.path("whole.sqlite")));
  EXPECT_EQ(content_of(folder_.path("down.sqlite")), content_of(folder_.path("whole.sqlite")));
}

TEST_F(Pieces, LearnOnceWhatAnotherHasLearned) {
  const SweepPoints sweep = sweep_of(folder_.write("tiny.xml", tiny_scenario(kPieceSweep)));
  const SweepIdentity identity = identity_of(sweep, {});
  const std::string learned = learn(sweep, 0, 0);
  const auto rows = [](const std::string& bytes) {
    return Database("bytes", bytes).number("SELECT COUNT(*) FROM records WHERE kind = 'learned'").value_or(-1);
  };
  EXPECT_EQ(learned_runs_from(learned).size(), 3U) << "one for each run";
  EXPECT_EQ(rows(do_one(sweep, identity, 0, {0}, learned)), 0);
  EXPECT_EQ(rows(do_one(sweep, identity, 0, {0}, {})), 3);
}

TEST_F(Pieces, AreTakenOnceAndComparedWhereTheyComeTwice) {
  const SweepPoints sweep = sweep_of(folder_.write("tiny.xml", tiny_scenario(kPieceSweep)));
  const auto database = open_sweep(folder_.path("file.sqlite"), sweep, {});
  const SweepIdentity identity = identity_of(sweep, {});
  const std::string result = do_one(sweep, identity, 1, {3}, {});
  take_results(*database, identity, result, "worker 1");
  take_results(*database, identity, result, "worker 2");
  EXPECT_EQ(database->number("SELECT COUNT(*) FROM trial"), 1);
  // A changed checksum stands for a processor that rounds differently.
  database->execute("UPDATE trial SET checksum = checksum + 1");
  EXPECT_THROW(take_results(*database, identity, result, "worker 3"), InputError);
}

TEST_F(Pieces, AreRefusedWhereTheyAreOfAnotherSweepBuildOrScenario) {
  const SweepPoints sweep = sweep_of(folder_.write("tiny.xml", tiny_scenario(kPieceSweep)));
  const SweepPoints other = sweep_of(folder_.path("tiny.xml"), {"training.batch=8"});
  const SweepIdentity identity = identity_of(sweep, {});
  const std::string result = do_one(sweep, identity, 0, {0}, {});
  const auto database = open_sweep(folder_.path("file.sqlite"), other, {});
  EXPECT_THROW(take_results(*database, identity_of(other, {}), result, "worker"), InputError);
  SweepIdentity another_build = identity;
  another_build.build += "-other";
  EXPECT_THROW(take_results(*database, another_build, result, "worker"), InputError);
  EXPECT_THROW(take_results(*database, identity, result.substr(0, result.size() / 2), "worker"), InputError);
  EXPECT_THROW(take_results(*database, identity, "no database at all", "worker"), InputError);
  // The worker's machine has an older version of the scenario file.
  const std::string elsewhere = folder_.write("elsewhere.xml", tiny_scenario(kPieceSweep, R"(<run algorithm="dad"/>
      <run algorithm="rank-dad" cap="4"/>)"));
  TaskQueue queue;
  queue.post(context_of_trials(sweep, identity), task_of_trial(sweep, {1, 0}));
  const std::string bytes = queue.next(1, 0).bytes;
  EXPECT_THROW(do_tasks(elsewhere, bytes, {}), InputError);
  EXPECT_THROW(do_tasks(sweep.base().file, std::string_view(bytes).substr(0, bytes.size() / 2), {}), InputError);
}

}  // namespace
}  // namespace dadsim::study
