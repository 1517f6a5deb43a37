#include "study/sweep/piece.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "study/sweep/merge.hpp"
#include "study/sweep/open_sweep.hpp"
#include "study/sweep/read_results.hpp"
#include "study/sweep/run.hpp"
#include "study/sweep/sweep_csv.hpp"
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
  /// Every trial a piece of its own, the last first, into a file of that name.
  void do_in_pieces(const SweepPoints& sweep, const std::string& file, bool learn_first) {
    const auto database = open_sweep(folder_.path(file), sweep, {});
    const SweepIdentity identity = identity_of(sweep, {});
    std::vector<SweepBatch> batches = open_batches(sweep, *database, {});
    for (auto batch = batches.rbegin(); batch != batches.rend(); ++batch) {
      std::string learned;
      if (learn_first) {
        learned = do_one(sweep, identity, batch->seed, {batch->points.front()}, true, {});
        take_piece(*database, identity, learned, "worker 1");
      }
      for (auto point = batch->points.rbegin(); point != batch->points.rend(); ++point) {
        last_ = do_one(sweep, identity, batch->seed, {*point}, false, learned);
        take_piece(*database, identity, last_, "worker 2");
      }
    }
    database->close();
    put_in_order(folder_.path(file));
  }
  /// As one process does it.
  void do_at_once(const SweepPoints& sweep, const std::string& file) {
    const auto database = open_sweep(folder_.path("one-" + file), sweep, {});
    run_sweep(sweep, *database, {}, {.threads = 2});
    database->close();
    merge_sweeps(folder_.path(file), {folder_.path("one-" + file)});
  }

  static std::string do_one(const SweepPoints& sweep, const SweepIdentity& identity, std::int64_t seed,
                            const std::vector<std::size_t>& points, bool learn_only, const std::string& learned) {
    // As another process gets it.
    std::vector<SweepTrial> trials;
    for (const std::size_t point : points) trials.push_back({static_cast<std::int64_t>(point) + 1, seed});
    const Piece piece = piece_from_bytes(to_bytes(piece_of(sweep, identity, trials, learn_only)));
    return do_piece(sweep.base().file, piece, learned, 1);
  }

  test::TemporaryFolder folder_;
  std::string last_;
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
  // What this process has in memory now came into results that may be lost.
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
  const std::string learned = do_one(sweep, identity, 0, {0}, true, {});
  const auto rows = [](const std::string& bytes) {
    return Database("bytes", bytes).number("SELECT COUNT(*) FROM records WHERE kind = 'learned'").value_or(-1);
  };
  EXPECT_EQ(rows(learned), 3) << "one for each run";
  EXPECT_EQ(rows(do_one(sweep, identity, 0, {0}, false, learned)), 0);
  EXPECT_EQ(rows(do_one(sweep, identity, 0, {0}, false, {})), 3);
}

TEST_F(Pieces, AreTakenOnceAndComparedWhereTheyComeTwice) {
  const SweepPoints sweep = sweep_of(folder_.write("tiny.xml", tiny_scenario(kPieceSweep)));
  const auto database = open_sweep(folder_.path("file.sqlite"), sweep, {});
  const SweepIdentity identity = identity_of(sweep, {});
  const std::string result = do_one(sweep, identity, 1, {3}, false, {});
  take_piece(*database, identity, result, "worker 1");
  take_piece(*database, identity, result, "worker 2");
  EXPECT_EQ(database->number("SELECT COUNT(*) FROM trial"), 1);
  // A processor that rounds otherwise.
  database->execute("UPDATE trial SET checksum = checksum + 1");
  EXPECT_THROW(take_piece(*database, identity, result, "worker 3"), InputError);
}

TEST_F(Pieces, AreRefusedWhereTheyAreOfAnotherSweepBuildOrScenario) {
  const SweepPoints sweep = sweep_of(folder_.write("tiny.xml", tiny_scenario(kPieceSweep)));
  const SweepPoints other = sweep_of(folder_.path("tiny.xml"), {"training.batch=8"});
  const SweepIdentity identity = identity_of(sweep, {});
  const std::string result = do_one(sweep, identity, 0, {0}, false, {});
  const auto database = open_sweep(folder_.path("file.sqlite"), other, {});
  EXPECT_THROW(take_piece(*database, identity_of(other, {}), result, "worker"), InputError);
  SweepIdentity another_build = identity;
  another_build.build += "-other";
  EXPECT_THROW(take_piece(*database, another_build, result, "worker"), InputError);
  EXPECT_THROW(take_piece(*database, identity, result.substr(0, result.size() / 2), "worker"), InputError);
  EXPECT_THROW(take_piece(*database, identity, "no database at all", "worker"), InputError);
  // The file on the worker's machine is an older one.
  const Piece piece = piece_of(sweep, identity, std::vector<SweepTrial>{{1, 0}}, false);
  const std::string elsewhere = folder_.write("elsewhere.xml", tiny_scenario(kPieceSweep, R"(<run algorithm="dad"/>
      <run algorithm="rank-dad" cap="4"/>)"));
  EXPECT_THROW(do_piece(elsewhere, piece, {}, 1), InputError);
  const std::string bytes = to_bytes(piece);
  EXPECT_THROW(piece_from_bytes(std::string_view(bytes).substr(0, bytes.size() / 2)), InputError);
}

}  // namespace
}  // namespace dadsim::study
