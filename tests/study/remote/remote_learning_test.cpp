#include "study/remote/remote_learning.hpp"

#include <gtest/gtest.h>

#include <thread>

#include "report/run/result_document.hpp"
#include "scenario/document/load.hpp"
#include "study/learning/shared_cache.hpp"
#include "study/run/experiment.hpp"
#include "study/setting/catalog.hpp"
#include "study/sweep/remote_trials.hpp"
#include "support/diagnostics.hpp"
#include "support/environment_error.hpp"
#include "support/temporary_folder.hpp"

namespace dadsim::study {
namespace {

/// Sites are unequal, and the runs together use every kind of operation.
constexpr const char* kScenario = R"(<?xml version="1.0" encoding="UTF-8"?>
<scenario name="Federation" seed="3">
  <platform><federation><sites name="site" count="5" up="10Mbps" down="20Mbps" latency="5ms"/></federation></platform>
  <workers><worker hosts="site-[1-5]" device="rtx-3090"/><aggregator host="hub" device="xeon-8380"/></workers>
  <data><digits train="180" test="60"/><split by="dirichlet" alpha="0.7"/></data>
  <model><dense units="12"/><batch-norm/><dense units="10"/></model>
  <training batch="8" epochs="1" target-accuracy="0.9"><sgd learning-rate="0.1" momentum="0"/></training>
  <run algorithm="fedavg" rounds="3" fraction="0.6"/>
  <run algorithm="fedprox" rounds="2" mu="0.1" label="prox"/>
  <run algorithm="scaffold" rounds="2"/>
  <run algorithm="async-sgd"/>
</scenario>
)";

/// Threads that process a queue, each in the role of a separate process.
class Workers {
 public:
  Workers(TaskQueue& queue, std::string path, std::size_t most) : queue_(queue), path_(std::move(path)), most_(most) {
    thread_ = std::thread([this] { work(); });
  }
  ~Workers() {
    queue_.close();
    thread_.join();
  }
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;
  std::size_t pieces = 0, tasks = 0, states = 0;

 private:
  void work() {
    while (!queue_.closed()) {
      const TaskQueue::Piece piece = queue_.next(most_, 0.05);
      if (piece.id == 0) continue;
      if (pieces++ == 0) {  // this worker is lost together with its piece
        queue_.put_back(piece.id);
        continue;
      }
      std::map<std::string, std::string> states_of_piece;
      for (const std::string& name : piece.states) states_of_piece[name] = queue_.state(name);
      tasks += piece.tasks;
      states += piece.states.size();
      try {
        const std::string results = do_tasks(path_, piece.bytes, states_of_piece);
        queue_.take(piece.id, results, "a worker");
        queue_.take(piece.id, results, "a worker that was thought to be lost");
      } catch (const InputError& error) {
        queue_.fail(error.what(), true);
      }
    }
  }

  TaskQueue& queue_;
  std::string path_;
  std::size_t most_;
  std::thread thread_;
};

class RemoteLearningTest : public testing::Test {
 protected:
  test::TemporaryFolder folder_;
  std::string path_ = folder_.write("scenario.xml", kScenario);
  scenario::Scenario scenario_ = scenario::load_scenario(path_, {}, make_catalog());

  std::string result(RemoteLearning* remote) {
    LearningStore store;
    if (remote != nullptr)
      store.shared_cache()->set_remote(std::shared_ptr<RemoteLearning>(std::shared_ptr<void>(), remote));
    report::Result result =
        time_scenario(scenario_, learn_scenario(scenario_, &store, false), cluster_of(scenario_), false);
    result.learning_wall_seconds = result.timing_wall_seconds = 0;
    return to_json(document_of(result));
  }
};

TEST_F(RemoteLearningTest, GivesTheResultOfOneProcess) {
  const std::string alone = result(nullptr);
  for (const std::size_t most : {1, 7}) {
    TaskQueue queue;
    RemoteLearning remote(queue, scenario_, {});
    Workers workers(queue, path_, most);
    EXPECT_EQ(result(&remote), alone);
    EXPECT_GT(workers.tasks, 50U);
    EXPECT_LE(workers.pieces, most > 1 ? workers.tasks / 2 : workers.tasks + 1);
    EXPECT_GT(workers.states, 0U) << "the model of a round has a name, and does not travel with each client";
  }
}

TEST_F(RemoteLearningTest, IsRefusedWhereTheScenarioIsAnother) {
  const std::string other =
      std::string(kScenario).replace(std::string(kScenario).find("units=\"12\""), 10, "units=\"13\"");
  TaskQueue queue;
  RemoteLearning remote(queue, scenario_, {});
  Workers workers(queue, folder_.write("other.xml", other), 5);
  try {
    result(&remote);
    FAIL() << "it was learned";
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("differs from the scenario"), std::string::npos) << error.what();
  }
}

TEST(TaskQueue, PutsBackInHalvesAndComparesWhatComesTwice) {
  TaskQueue queue;
  const auto context = std::make_shared<const TaskContext>();
  std::vector<TaskQueue::TaskId> tasks;
  for (const char* text : {"a", "b", "c", "d", "e"}) tasks.push_back(queue.post(context, text));
  const TaskQueue::Piece all = queue.next(100, 0);
  EXPECT_EQ(all.tasks, 5U);
  queue.put_back(all.id);
  const TaskQueue::Piece half = queue.next(100, 0);
  EXPECT_EQ(half.tasks, 2U);
  EXPECT_EQ(half.open, 3U);
  TaskStates states;
  EXPECT_EQ(task_piece_from_bytes(half.bytes, states).items[1].task, "b");
  const TaskQueue::Piece rest = queue.next(2, 0);
  const TaskQueue::Piece last = queue.next(2, 0);
  queue.take(last.id, results_to_bytes({"E"}), "worker 1");
  queue.take(half.id, results_to_bytes({"A", "B"}), "worker 2");
  queue.take(half.id, results_to_bytes({"A", "B"}), "worker 3");
  EXPECT_THROW(queue.take(half.id, results_to_bytes({"A", "x"}), "worker 3"), InputError);
  EXPECT_THROW(queue.take(rest.id, results_to_bytes({"C"}), "worker 3"), InputError);
  EXPECT_THROW(queue.take(rest.id, "\x01", "worker 3"), InputError);
  queue.take(rest.id, results_to_bytes({"C", "D"}), "worker 1");
  EXPECT_EQ(queue.wait_for(tasks), (std::vector<std::string>{"A", "B", "C", "D", "E"}));
  EXPECT_EQ(queue.next(1, 0).id, 0U);
  queue.post(context, "f");
  EXPECT_EQ(queue.next(0, 0).id, 0U);
}

TEST(TaskQueue, NumbersThatSeveralTasksNeedHaveANameUntilTheLastIsDone) {
  TaskQueue queue;
  const auto context = std::make_shared<const TaskContext>();
  const NamedState model = named_state({1, 2}, std::make_shared<const world::Datum>(world::Datum{{1, 2, 3}, {}}));
  const NamedState own = named_state({3, 4}, std::make_shared<const world::Datum>(world::Datum{{4}, {}}));
  queue.post(context, "a", {model});
  queue.post(context, "b", {model, own});
  const TaskQueue::Piece first = queue.next(1, 0);
  const TaskQueue::Piece second = queue.next(1, 0);
  ASSERT_EQ(first.states.size(), 1U);
  EXPECT_EQ(first.states, second.states);
  TaskStates states;
  EXPECT_EQ(task_piece_from_bytes(second.bytes, states).inline_states.size(), 1U);
  EXPECT_EQ(states.size(), 1U);
  queue.take(first.id, results_to_bytes({""}), "a worker");
  EXPECT_FALSE(queue.state(first.states[0]).empty());
  queue.take(second.id, results_to_bytes({""}), "a worker");
  EXPECT_TRUE(queue.state(first.states[0]).empty());
  EXPECT_TRUE(queue.state("no name").empty());
}

// A sweep goes on without a point whose workers all die, but learning needs each of its tasks.
TEST(TaskQueue, ATaskThatNobodyCanDoIsToldOrEndsTheStudy) {
  for (const bool each_counts : {true, false}) {
    TaskQueue queue;
    const auto context = std::make_shared<const TaskContext>();
    const TaskQueue::TaskId task = queue.post(context, "a");
    if (each_counts) queue.let_each_count();
    queue.give_up(queue.next(1, 0).id, "no room");
    if (!each_counts) {
      EXPECT_THROW(queue.wait(), EnvironmentError);
      continue;
    }
    const std::vector<TaskQueue::Done> done = queue.wait();
    ASSERT_EQ(done.size(), 1U);
    EXPECT_EQ(done[0].task, task);
    EXPECT_EQ(done[0].fault, "no room");
    queue.give_up(0, "the scheduler is gone");
    EXPECT_THROW(queue.wait(), EnvironmentError);
  }
}

TEST(TaskQueue, PiecesThatAreDamagedAreRefused) {
  TaskStates states;
  EXPECT_THROW(task_piece_from_bytes("\x07", states), InputError);
  EXPECT_THROW(do_tasks("nowhere.xml", "", {}), InputError);
}

}  // namespace
}  // namespace dadsim::study
