#include "study/sweep/run.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <set>
#include <type_traits>

#include "scenario/document/print.hpp"
#include "study/run/experiment.hpp"
#include "study/sweep/merge.hpp"
#include "study/sweep/read_results.hpp"
#include "study/sweep/results.hpp"
#include "study/sweep/sweep_document.hpp"
#include "study/sweep/tiny_sweep.hpp"
#include "support/build.hpp"
#include "support/diagnostics.hpp"
#include "support/environment_error.hpp"
#include "support/output_error.hpp"
#include "support/temporary_folder.hpp"

namespace dadsim::study {
namespace {

using test::sweep_of;
using test::tiny_scenario;

constexpr const char* kRunSweep = R"(<sweep>
    <vary path="platform.federation.sites.up" values="1Mbps 100Mbps"/>
    <vary path="run[rank-dad].cap" values="2 4 8"/>
  </sweep>)";

class SweepRuns : public testing::Test {
 protected:
  std::string scenario(const std::string& sweep, const std::string& name = "tiny.xml") const {
    return folder_.write(name, tiny_scenario(sweep));
  }
  /// Runs the sweep into this file, and returns the file's content.
  SweepResults run(const SweepPoints& sweep, const std::string& file, const SweepOptions& options = {.threads = 2},
                   const Shard& shard = {}) {
    const auto database = open_sweep(folder_.path(file), sweep, shard);
    numbers_ = run_sweep(sweep, *database, shard, options);
    return read_results(*database);
  }
  /// Writes a complete sweep file with these results.
  void write_file(const std::string& file, const SweepResults& results) const {
    std::filesystem::remove(folder_.path(file));
    Database database(folder_.path(file), Database::Access::scratch);
    create_tables(database);
    write_identity(database, results.identity, results.columns);
    PointWriter points(database);
    for (const SweepResults::Point& point : results.points) points.write(point);
    std::map<SweepTrial, std::vector<SweepRun>> trials;
    for (const SweepRun& one : results.runs) trials[one.trial].push_back(one);
    for (const auto& [trial, runs] : trials) write_trial(database, trial, runs, {});
  }
  void rewrite_identity(const std::string& file, const std::function<void(SweepIdentity&)>& change) const {
    Database database(folder_.path(file), Database::Access::write);
    SweepResults results = read_results(database);
    change(results.identity);
    write_identity(database, results.identity, results.columns);
  }
  std::int64_t count(const std::string& file, const std::string& table) const {
    Database database(folder_.path(file), Database::Access::read);
    return database.number("SELECT COUNT(*) FROM " + table).value_or(-1);
  }

  test::TemporaryFolder folder_;
  SweepProgressNumbers numbers_;
};

/// Expects that two numbers are equal to the last bit, or both NaN.
void expect_same(double a, double b, const char* what) {
  EXPECT_TRUE(a == b || (std::isnan(a) && std::isnan(b))) << what << ": " << a << " and " << b;
}

TEST_F(SweepRuns, EveryPointEqualsARunOfItsOwn) {
  const std::string path = scenario(kRunSweep);
  const SweepPoints sweep = sweep_of(path);
  const SweepResults results = run(sweep, "a.sqlite");
  ASSERT_EQ(results.points.size(), 6U);
  ASSERT_EQ(results.runs.size(), 18U);
  EXPECT_EQ(results.points[4].values, (std::vector<std::string>{"100Mbps", "4"}));
  for (std::size_t point = 0; point < 6; ++point) {
    const scenario::Scenario alone = load_scenario(path, sweep.overrides(point, 0), make_catalog());
    EXPECT_EQ(results.points[point].hash, fmt::format("{:016x}", alone.hash));
    const report::Result result = run_experiment(alone, false);
    for (std::size_t i = 0; i < 3; ++i) {
      const SweepRun& kept = results.runs.at(3 * point + i);
      const report::RunResult& run = result.runs[i];
      EXPECT_EQ(kept.label(), run.spec.label);
      EXPECT_EQ(kept.figures.is("target_reached"), run.target_reached);
      EXPECT_EQ(kept.figures["steps"], run.steps);
      expect_same(kept.figures["final_accuracy"], run.final_accuracy, "accuracy");
      expect_same(kept.figures["step_seconds"], run.step_seconds, "step");
      expect_same(kept.figures["total_seconds"], run.total_seconds, "total");
      expect_same(kept.figures["total_bytes"], run.total_bytes, "bytes");
      expect_same(kept.figures["compute_seconds"], run.compute_seconds, "compute");
      expect_same(kept.figures["exposed_seconds"], run.exposed_seconds, "exposed");
      if (run.target_reached) expect_same(kept.figures["target_seconds"], run.target_seconds, "target");
      EXPECT_EQ(kept.figures.text("bound_by"), name_of(run.bounds.front()));
    }
  }
}

TEST_F(SweepRuns, ASampleOfTheStepsIsThatOfARunOfItsOwn) {
  std::string xml =
      tiny_scenario(R"(<sweep><vary path="platform.federation.sites.up" values="1Mbps 10Mbps 100Mbps"/></sweep>)",
                    R"(<run algorithm="dad"/><run algorithm="rank-dad" cap="16"/>)");
  xml.replace(xml.find("<workers"), 0, R"(<network timed-steps="8"/>)");
  xml.replace(xml.find("train=\"300\""), 11, "train=\"2400\"");
  const std::string path = folder_.write("sampled.xml", xml);
  const SweepPoints sweep = sweep_of(path);
  const SweepResults results = run(sweep, "a.sqlite");
  double worst = 0;
  for (std::size_t point = 0; point < 3; ++point) {
    const report::Result result = run_experiment(load_scenario(path, sweep.overrides(point, 0), make_catalog()), false);
    for (std::size_t i = 0; i < 2; ++i) {
      const SweepRun& kept = results.runs.at(2 * point + i);
      const report::RunResult& run = result.runs[i];
      expect_same(kept.figures["step_seconds"], run.step_seconds, "step");
      expect_same(kept.figures["exposed_seconds"], run.exposed_seconds, "exposed");
      expect_same(kept.figures["total_bytes"], run.total_bytes, "bytes");
      const bool sampled = run.spec.algorithm == "rank-dad";
      ASSERT_EQ(run.network.sampling.has_value(), sampled) << run.spec.label;
      EXPECT_EQ(!std::isnan(kept.figures["sampling_error"]), sampled);
      if (sampled) {
        expect_same(kept.figures["sampling_error"], run.network.sampling->mean_error, "error");
        worst = std::max(worst, kept.figures["sampling_error"]);
      }
    }
  }
  EXPECT_GT(worst, 0);
  EXPECT_EQ(worst_sampling_error(results), worst);
  EXPECT_NE(to_table(document_of(results)).find("a sample of the differing steps was simulated"), std::string::npos);
  EXPECT_EQ(to_table(document_of(run(sweep_of(scenario(kRunSweep)), "b.sqlite"))).find("a sample"), std::string::npos);
}

TEST_F(SweepRuns, WhatPointsShareIsLearnedOnce) {
  const SweepPoints sweep = sweep_of(scenario(kRunSweep));
  run(sweep, "a.sqlite");
  // Two runs that the sweep does not change, and one run with three caps.
  EXPECT_EQ(sweep.distinct_runs(), 5U);
  EXPECT_EQ(sweep.problems(), 3U);
  EXPECT_EQ(numbers_.learned, 5);
  EXPECT_EQ(count("a.sqlite", "records"), 5);
}

TEST_F(SweepRuns, StartedAgainItFindsEverythingThere) {
  const SweepPoints sweep = sweep_of(scenario(kRunSweep));
  const std::string first = sweep_csv(run(sweep, "a.sqlite"));
  EXPECT_EQ(numbers_.finished, 6);
  EXPECT_EQ(sweep_csv(run(sweep, "a.sqlite")), first);
  EXPECT_EQ(numbers_.before, 6);
  EXPECT_EQ(numbers_.finished, 0);
  EXPECT_EQ(numbers_.learned, 0);
}

TEST_F(SweepRuns, WhatIsMissingIsDoneWithoutLearningAgain) {
  const SweepPoints sweep = sweep_of(scenario(kRunSweep));
  const std::string first = sweep_csv(run(sweep, "a.sqlite"));
  {
    Database database(folder_.path("a.sqlite"), Database::Access::write);
    database.execute("DELETE FROM run WHERE point IN (2, 5); DELETE FROM trial WHERE point IN (2, 5)");
  }
  EXPECT_EQ(sweep_csv(run(sweep, "a.sqlite")), first);
  EXPECT_EQ(numbers_.finished, 2);
  EXPECT_EQ(numbers_.learned, 0);
}

TEST_F(SweepRuns, ThreadsDoNotChangeResults) {
  const SweepPoints sweep = sweep_of(scenario(kRunSweep));
  EXPECT_EQ(sweep_csv(run(sweep, "a.sqlite", {.threads = 1})), sweep_csv(run(sweep, "b.sqlite", {.threads = 4})));
}

TEST_F(SweepRuns, SeedsAreThoseOfTheScenarioAndTheNext) {
  const std::string path = scenario(R"(<sweep seeds="3"><vary path="training.batch" values="8 16"/></sweep>)");
  const SweepPoints sweep = sweep_of(path);
  const SweepResults results = run(sweep, "a.sqlite");
  ASSERT_EQ(results.runs.size(), 18U);
  EXPECT_EQ(numbers_.learned, 18);
  for (const SweepRun& run : results.runs) {
    if (run.number != 1) continue;
    const std::string batch = run.trial.point == 1 ? "8" : "16";
    const report::Result alone = run_experiment(
        load_scenario(path, {"training.batch=" + batch, fmt::format("seed={}", 1 + run.trial.seed)}, make_catalog()),
        false);
    expect_same(run.figures["final_accuracy"], alone.runs[0].final_accuracy, "accuracy");
    expect_same(run.figures["total_seconds"], alone.runs[0].total_seconds, "seconds");
  }
}

TEST_F(SweepRuns, AnotherSweepIsRefused) {
  run(sweep_of(scenario(kRunSweep)), "a.sqlite");
  const auto refusal = [&](const SweepPoints& sweep, const Shard& shard = {}) -> std::string {
    try {
      open_sweep(folder_.path("a.sqlite"), sweep, shard);
    } catch (const InputError& error) {
      return error.what();
    }
    return "none";
  };
  const std::string other = R"(<sweep><vary path="training.batch" values="8 16"/></sweep>)";
  EXPECT_NE(refusal(sweep_of(scenario(other, "other.xml"))).find("belongs to another sweep"), std::string::npos);
  EXPECT_NE(refusal(sweep_of(scenario(kRunSweep), {"training.epochs=1"})).find("belongs to another sweep"),
            std::string::npos);
  EXPECT_NE(refusal(sweep_of(scenario(kRunSweep)), {1, 2}).find("holds shard 1/1, not 1/2"), std::string::npos);
  EXPECT_EQ(refusal(sweep_of(scenario(kRunSweep, "moved.xml"))), "none") << "the same wherever its file lies";
  rewrite_identity("a.sqlite", [](SweepIdentity& identity) { identity.version = "0.0.1"; });
  EXPECT_NE(refusal(sweep_of(scenario(kRunSweep))).find("was made by dadsim 0.0.1, not by"), std::string::npos);
}

// Two builds may answer the same scenario differently.
TEST_F(SweepRuns, AnotherBuildIsRefusedUnlessThatIsAllowedAndThenBothAreSaid) {
  const SweepPoints sweep = sweep_of(scenario(kRunSweep));
  const std::string csv = sweep_csv(run(sweep, "a.sqlite"));
  std::filesystem::copy_file(folder_.path("a.sqlite"), folder_.path("b.sqlite"));
  rewrite_identity("b.sqlite", [](SweepIdentity& identity) { identity.build = "0123456789ab"; });
  try {
    open_sweep(folder_.path("b.sqlite"), sweep, {});
    FAIL() << "no error";
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("was made by build 0123456789ab of dadsim, not by "), std::string::npos)
        << error.what();
    EXPECT_NE(std::string(error.what()).find("--any-build"), std::string::npos) << error.what();
  }
  EXPECT_THROW(run(sweep, "c.sqlite", {.threads = 1, .learned = folder_.path("b.sqlite")}), InputError);
  EXPECT_THROW(merge_sweeps(folder_.path("m.sqlite"), {folder_.path("a.sqlite"), folder_.path("b.sqlite")}),
               InputError);
  // Builds are listed alphabetically, and the order depends on the commit of this test.
  const auto [first, second] = std::minmax<std::string>({"0123456789ab", build()});
  const std::string both = first + " " + second;
  EXPECT_EQ(
      merge_sweeps(folder_.path("m.sqlite"), {folder_.path("a.sqlite"), folder_.path("b.sqlite")}, {.any_build = true})
          .identity.build,
      both);
  const auto database = open_sweep(folder_.path("b.sqlite"), sweep, {}, true);
  const SweepResults results = read_results(*database);
  EXPECT_EQ(results.identity.build, both);
  EXPECT_EQ(sweep_csv(results), csv);
}

// After a profile was edited, a resumed sweep once mixed points of two different scenarios.
TEST_F(SweepRuns, AFileThatThePlatformNamesIsPartOfTheQuestion) {
  const std::string profile = folder_.write("profile.txt", "0 1000000\n5 2000000\nLOOPAFTER 5\n");
  std::string platform = R"(<?xml version="1.0"?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1"><zone id="all" routing="Full">
)";
  for (const char* name : {"site-1", "site-2", "site-3", "hub"})
    platform += fmt::format("<host id=\"{}\" speed=\"1Gf\" core=\"4\"/>\n", name);
  platform += "<link id=\"line\" bandwidth=\"1MBps\" latency=\"1ms\" bandwidth_file=\"profile.txt\"/>\n";
  for (const auto& [from, to] : {std::pair{"site-1", "site-2"},
                                 {"site-1", "site-3"},
                                 {"site-2", "site-3"},
                                 {"site-1", "hub"},
                                 {"site-2", "hub"},
                                 {"site-3", "hub"}})
    platform += fmt::format("<route src=\"{}\" dst=\"{}\"><link_ctn id=\"line\"/></route>\n", from, to);
  folder_.write("platform.xml", platform + "</zone></platform>\n");
  std::string text = tiny_scenario(R"(<sweep><vary path="training.batch" values="16 32"/></sweep>)");
  const std::size_t begin = text.find("<platform>");
  const std::size_t end = text.find("</platform>") + std::string("</platform>").size();
  text.replace(begin, end - begin, "<platform file=\"platform.xml\"/>");
  const std::string path = folder_.write("tiny.xml", text);
  const std::uint64_t before = load_scenario(path, {}, make_catalog()).hash;
  const SweepPoints sweep = sweep_of(path);
  open_sweep(folder_.path("a.sqlite"), sweep, {});

  folder_.write("profile.txt", "0 1000000\n5 3000000\nLOOPAFTER 5\n");
  EXPECT_NE(load_scenario(path, {}, make_catalog()).hash, before);
  EXPECT_THROW(open_sweep(folder_.path("a.sqlite"), sweep_of(path), {}), InputError) << "another question";
  // With the edited profile, the existing sweep does not continue and records nothing.
  const auto database = open_sweep(folder_.path("a.sqlite"), sweep, {});
  EXPECT_THROW(run_sweep(sweep, *database, {}, {.threads = 1}), EnvironmentError);
  EXPECT_EQ(database->number("SELECT COUNT(*) FROM trial"), 0);
  folder_.write("profile.txt", "0 1000000\n5 2000000\nLOOPAFTER 5\n");
  EXPECT_EQ(load_scenario(path, {}, make_catalog()).hash, before) << "the same content is the same question";
}

// SQLite would take such files for its own journal of the new file, and remove them.
TEST_F(SweepRuns, FilesBesideANewOneAreKept) {
  const SweepPoints sweep = sweep_of(scenario(kRunSweep));
  for (const char* beside : {"new.sqlite-wal", "new.sqlite-journal", "new.sqlite-shm"}) {
    const std::string theirs = folder_.write(beside, "mine");
    try {
      open_sweep(folder_.path("new.sqlite"), sweep, {});
      ADD_FAILURE() << beside;
    } catch (const InputError& error) {
      EXPECT_EQ(error.what(), theirs + ": exists without '" + folder_.path("new.sqlite") +
                                  "'; move it, or name another file with --out");
    }
    EXPECT_EQ(std::filesystem::file_size(theirs), 4U);
    EXPECT_FALSE(std::filesystem::exists(folder_.path("new.sqlite")));
    std::filesystem::rename(theirs, theirs + ".moved");
  }
  open_sweep(folder_.path("new.sqlite"), sweep, {});
  // The -shm file of a killed reader is removed together with its log.
  folder_.write("new.sqlite-shm", "");
  open_sweep(folder_.path("new.sqlite"), sweep, {});
  EXPECT_FALSE(std::filesystem::exists(folder_.path("new.sqlite-shm")));
}

TEST_F(SweepRuns, AFileThatIsNoDatabaseIsRefused) {
  const SweepPoints sweep = sweep_of(scenario(kRunSweep));
  const std::string path = folder_.write("a.sqlite", std::string(5000, 'x'));
  EXPECT_THROW(open_sweep(path, sweep, {}), InputError);
  {
    Database other(folder_.path("b.sqlite"), Database::Access::write);
    other.execute("CREATE TABLE mine(x)");
  }
  EXPECT_THROW(open_sweep(folder_.path("b.sqlite"), sweep, {}), InputError);
  EXPECT_THROW(open_sweep(folder_.path("no/such/folder.sqlite"), sweep, {}), OutputError);
}

TEST_F(SweepRuns, ASecondProcessIsToldThatTheFileIsInUse) {
  const SweepPoints sweep = sweep_of(scenario(kRunSweep));
  const auto held = open_sweep(folder_.path("a.sqlite"), sweep, {});
  try {
    open_sweep(folder_.path("a.sqlite"), sweep, {});
    FAIL() << "no error";
  } catch (const OutputError& error) {
    EXPECT_NE(std::string(error.what()).find("another program is using it"), std::string::npos) << error.what();
  }
}

// kill_test.cpp tests a simulation that fails while others go on.
TEST_F(SweepRuns, APointThatFailedIsToldAndTriedAgainIfThatIsAsked) {
  const SweepPoints sweep =
      sweep_of(scenario(R"(<sweep><vary path="platform.federation.sites.up" values="1Mbps 100Mbps"/></sweep>)"));
  write_trial(*open_sweep(folder_.path("a.sqlite"), sweep, {}), {2, 0}, {}, "it did not want to");
  const SweepResults results = run(sweep, "a.sqlite");
  ASSERT_EQ(results.failed.size(), 1U);
  EXPECT_EQ(results.failed[0].trial.point, 2);
  EXPECT_EQ(results.runs.size(), 3U);
  EXPECT_EQ(numbers_.failed, 1);
  EXPECT_NE(sweep_csv(results).find("it did not want to"), std::string::npos);
  EXPECT_NE(to_table(document_of(results)).find("(failed)"), std::string::npos);

  // A second run skips the failed point, unless `retry_failed` is set.
  run(sweep, "a.sqlite");
  EXPECT_EQ(numbers_.failed, 1);
  EXPECT_EQ(run(sweep, "a.sqlite", {.threads = 2, .retry_failed = true}).failed.size(), 0U);
  EXPECT_EQ(numbers_.finished, 1);
}

// Points whose files were missing were once recorded as permanently failed.
TEST_F(SweepRuns, AFileThatIsGoneIsNoResult) {
  std::filesystem::copy_file(std::string(DADSIM_SOURCE_DIR) + "/platforms/hospitals.xml", folder_.path("good.xml"));
  std::filesystem::copy_file(folder_.path("good.xml"), folder_.path("gone.xml"));
  std::string text = tiny_scenario(R"(<sweep><vary path="platform.file" values="good.xml gone.xml"/></sweep>)");
  const std::size_t begin = text.find("<platform>");
  const std::size_t end = text.find("</platform>") + std::string("</platform>").size();
  text.replace(begin, end - begin, "<platform file=\"good.xml\"/>");
  text.replace(text.find("site-[1-3]"), 10, "hospital-[1-3]");
  const SweepPoints sweep = sweep_of(folder_.write("tiny.xml", text));
  std::filesystem::remove(folder_.path("gone.xml"));
  EXPECT_THROW(run(sweep, "a.sqlite", {.threads = 1}), EnvironmentError);
  EXPECT_EQ(count("a.sqlite", "trial WHERE status = 'failed'"), 0);
  std::filesystem::copy_file(folder_.path("good.xml"), folder_.path("gone.xml"));
  EXPECT_EQ(run(sweep, "a.sqlite").runs.size(), 6U) << "the same command goes on";
}

TEST_F(SweepRuns, ShardsPutTogetherAreTheWholeSweep) {
  const SweepPoints sweep = sweep_of(scenario(kRunSweep));
  const std::string whole = sweep_csv(run(sweep, "whole.sqlite"));
  std::vector<std::string> files;
  for (std::int64_t i = 1; i <= 4; ++i) {
    const std::string name = fmt::format("{}.sqlite", i);
    const SweepResults part = run(sweep, name, {.threads = 2, .learned = folder_.path("whole.sqlite")}, {i, 4});
    EXPECT_EQ(part.points.size(), i <= 2 ? 2U : 1U);
    EXPECT_EQ(numbers_.learned, 0) << "it is all in the other file";
    files.push_back(folder_.path(name));
  }
  const MergedSweep merged = merge_sweeps(folder_.path("merged.sqlite"), files);
  EXPECT_EQ(merged.points, 6);
  EXPECT_TRUE(merged.missing.empty());
  Database database(folder_.path("merged.sqlite"), Database::Access::read);
  EXPECT_EQ(sweep_csv(read_results(database)), whole);
}

TEST_F(SweepRuns, AMergeSaysWhatIsMissingAndTheSweepGoesOnWithIt) {
  const SweepPoints sweep = sweep_of(scenario(kRunSweep));
  const std::string whole = sweep_csv(run(sweep, "whole.sqlite"));
  run(sweep, "1.sqlite", {.threads = 2}, {1, 3});
  run(sweep, "3.sqlite", {.threads = 2}, {3, 3});
  const MergedSweep merged =
      merge_sweeps(folder_.path("merged.sqlite"), {folder_.path("1.sqlite"), folder_.path("3.sqlite")});
  EXPECT_EQ(merged.points, 4);
  EXPECT_EQ(merged.missing, (std::vector<std::int64_t>{2, 5}));
  EXPECT_EQ(sweep_csv(run(sweep, "merged.sqlite")), whole);
  EXPECT_EQ(numbers_.finished, 2);
}

// Until version 10, learned runs and records of event-driven runs were in separate tables.
TEST_F(SweepRuns, AFileOfTheVersionBeforeIsRefusedWithTheCommandThatConvertsIt) {
  const SweepPoints sweep = sweep_of(scenario(kRunSweep));
  const std::string csv = sweep_csv(run(sweep, "a.sqlite"));
  {
    Database database(folder_.path("a.sqlite"), Database::Access::write);
    database.execute(
        "CREATE TABLE learning(key TEXT PRIMARY KEY, run BLOB NOT NULL, checksum INTEGER NOT NULL);"
        "INSERT INTO learning SELECT key, CAST(SUBSTR(value, 17) AS BLOB), 0 FROM records;"
        "CREATE TABLE history(key BLOB PRIMARY KEY, small INTEGER NOT NULL, datum BLOB NOT NULL, checksum INTEGER NOT "
        "NULL); DROP TABLE records; DELETE FROM run WHERE point = 2; DELETE FROM trial WHERE point = 2;"
        "PRAGMA user_version = 10");
  }
  try {
    run(sweep, "a.sqlite");
    FAIL() << "no error";
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what())
                  .find("has tables of version 10, but this dadsim writes version 11; convert the file with dadsim "
                        "merge NEW.sqlite " +
                        folder_.path("a.sqlite")),
              std::string::npos)
        << error.what();
  }
  EXPECT_EQ(merge_sweeps(folder_.path("b.sqlite"), {folder_.path("a.sqlite")}).missing, std::vector<std::int64_t>{2});
  EXPECT_EQ(sweep_csv(run(sweep, "b.sqlite")), csv);
  EXPECT_EQ(numbers_.finished, 1);
  EXPECT_EQ(numbers_.learned, 0) << "what was learned came along";
}

TEST_F(SweepRuns, AMergeRefusesWhatDoesNotBelongTogether) {
  run(sweep_of(scenario(kRunSweep)), "1.sqlite", {.threads = 2}, {1, 2});
  run(sweep_of(scenario(kRunSweep)), "2.sqlite", {.threads = 2}, {2, 2});
  run(sweep_of(scenario(R"(<sweep><vary path="training.batch" values="8 16"/></sweep>)", "other.xml")), "other.sqlite");
  const auto merge = [&](const std::string& out, const std::string& a, const std::string& b) -> std::string {
    try {
      merge_sweeps(folder_.path(out), {folder_.path(a), folder_.path(b)});
    } catch (const std::runtime_error& error) {
      return error.what();
    }
    return "none";
  };
  EXPECT_NE(merge("m.sqlite", "1.sqlite", "other.sqlite").find("belongs to another sweep"), std::string::npos);
  EXPECT_NE(merge("m.sqlite", "1.sqlite", "tiny.xml").find("is not a file of a sweep"), std::string::npos);
  EXPECT_NE(merge("m.sqlite", "1.sqlite", "none.sqlite").find("cannot be read"), std::string::npos);
  EXPECT_NE(merge("1.sqlite", "1.sqlite", "2.sqlite").find("exists; name a new file"), std::string::npos);
}

// Every figure of a run is compared.
TEST_F(SweepRuns, AMergeNamesTheColumnInWhichFilesDisagree) {
  run(sweep_of(scenario(kRunSweep)), "1.sqlite", {.threads = 2}, {1, 3});
  const std::string one = folder_.path("1.sqlite");
  const SweepResults results = [&] {
    Database database(one, Database::Access::read);
    return read_results(database);
  }();
  ASSERT_EQ(results.runs.front().trial.point, 1);
  const std::size_t before = folder_.files();
  for (std::size_t i = 0; i < report::figures().size(); ++i) {
    const report::Figure& figure = report::figures()[i];
    SweepResults other = results;
    report::FigureValues& changed = other.runs.front().figures;
    if (figure.kind == report::Figure::Kind::text) {
      changed.set(i, changed.text(i) + "x");
    } else if (figure.kind == report::Figure::Kind::truth) {
      changed.set(i, changed.number(i) == 1 ? 0 : 1);
    } else {
      changed.set(i, std::isnan(changed.number(i)) ? 1 : changed.number(i) + 1);
    }
    write_file("other.sqlite", other);
    try {
      merge_sweeps(folder_.path("m.sqlite"), {one, folder_.path("other.sqlite")});
      FAIL() << figure.name;
    } catch (const InputError& error) {
      const std::string words = error.what();
      EXPECT_NE(words.find("differs from"), std::string::npos) << words;
      EXPECT_NE(words.find(fmt::format("at point 1: {} is not the same", figure.name)), std::string::npos) << words;
    }
  }
  using Change = std::function<void(SweepResults&)>;
  const std::vector<std::pair<const char*, Change>> others{
      {"points", [](SweepResults& all) { ++all.identity.points; }},
      {"seeds", [](SweepResults& all) { ++all.identity.seeds; }},
      {"target_accuracy", [](SweepResults& all) { all.identity.target_accuracy = 0.5; }},
      {"currency", [](SweepResults& all) { all.identity.currency = "EUR"; }},
      {"axes", [](SweepResults& all) { all.columns.front().path = "seed"; }},
      {"hash", [](SweepResults& all) { all.points.front().hash = "0123456789abcdef"; }},
      {"value", [](SweepResults& all) { all.points.front().values.front() = "7Mbps"; }},
  };
  for (const auto& [name, change] : others) {
    SweepResults other = results;
    change(other);
    write_file("other.sqlite", other);
    try {
      merge_sweeps(folder_.path("m.sqlite"), {one, folder_.path("other.sqlite")});
      FAIL() << name;
    } catch (const InputError& error) {
      EXPECT_NE(std::string(error.what()).find(name), std::string::npos) << name << " in " << error.what();
    }
  }
  EXPECT_EQ(folder_.files(), before + 1) << "nothing half merged is left";
}

TEST_F(SweepRuns, WrongPointsAreReportedAtTheirLinesBeforeAnythingRuns) {
  const std::string path = scenario(R"(<sweep>
    <vary path="platform.federation.sites.up" values="1Mbps fast"/>
    <vary path="training.batch" values="16 200"/>
    <vary path="training.epoch" values="1 2 3"/>
  </sweep>)");
  try {
    sweep_of(path);
    FAIL() << "no error";
  } catch (const InputError& error) {
    const std::string words = error.what();
    for (const char* part :
         {"tiny.xml:25: platform.federation.sites.up=fast: ", "tiny.xml:26: training.batch=200: ",
          "tiny.xml:27: training.epoch=1 and 2 more values: unknown attribute 'epoch' of <training>; did you mean "
          "'epochs'?"}) {
      EXPECT_NE(words.find(part), std::string::npos) << part << " in\n" << words;
    }
    EXPECT_EQ(error.diagnostics().size(), 3U) << words;
  }
}

TEST_F(SweepRuns, AMistakeThatNoValueAloneMakesNamesItsPoints) {
  const std::string path = scenario(R"(<sweep><vary path="data.digits.train" values="300 40"/>
    <vary path="training.epochs" values="1 2 3"/></sweep>)");
  try {
    sweep_of(path);
    FAIL() << "no error";
  } catch (const InputError& error) {
    const std::string words = error.what();
    EXPECT_NE(words.find("tiny.xml:24: point 4 (data.digits.train=40, training.epochs=1) and 2 more points: "),
              std::string::npos)
        << words;
    EXPECT_NE(words.find("tiny.xml:19: batch=\"16\" of <training> for 3 workers is more than the 40 training samples"),
              std::string::npos)
        << words;
    EXPECT_EQ(error.diagnostics().size(), 1U) << words;
  }
}

}  // namespace
}  // namespace dadsim::study
