// Tests sweeps that are killed, interrupted, or run out of disk space. Runs the dadsim program.
#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <random>
#include <thread>

#include "cli/exit_code.hpp"
#include "cli/process.hpp"
#include "study/sweep/results.hpp"
#include "study/sweep/tiny_sweep.hpp"

namespace dadsim::study {
namespace {

using namespace std::chrono_literals;
using test::Outcome;
using test::run_dadsim;

constexpr const char* kKilledSweep = R"(<sweep>
    <vary path="platform.federation.sites.up" from="1" to="1000" steps="10" scale="log" unit="Mbps"/>
    <vary path="platform.federation.sites.latency" from="0.1" to="100" steps="{}" scale="log" unit="ms"/>
    <vary path="training.batch" values="8 16"/>
  </sweep>)";
constexpr std::int64_t kFew = 3, kMany = 6;  // number of latencies: 60 points, or 120 if kills must hit certain moments
constexpr std::int64_t kLearned = 6;         // three algorithms × two batch sizes

/// A running dadsim program whose output is discarded.
class Running {
 public:
  Running(const std::vector<std::string>& arguments, const std::filesystem::path& folder) {
    pid_ = ::fork();
    if (pid_ != 0) return;
    const int null = ::open("/dev/null", O_RDWR);
    for (const int descriptor : {0, 1, 2}) ::dup2(null, descriptor);
    if (::chdir(folder.c_str()) != 0) ::_exit(127);
    std::vector<std::string> copies = arguments;
    std::string binary = DADSIM_BINARY;
    std::vector<char*> argv{binary.data()};
    for (std::string& copy : copies) argv.push_back(copy.data());
    argv.push_back(nullptr);
    ::execv(binary.c_str(), argv.data());
    ::_exit(127);
  }
  pid_t pid() const { return pid_; }
  /// Kills the process; returns true if it was still running.
  bool kill() const {
    ::kill(pid_, SIGKILL);
    int status = 0;
    ::waitpid(pid_, &status, 0);
    return WIFSIGNALED(status);
  }
  int wait() const {
    int status = 0;
    ::waitpid(pid_, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

 private:
  pid_t pid_ = 0;
};

/// A file system in memory with 200 kB.
class SmallDisk {
 public:
  explicit SmallDisk(const std::string& folder) : folder_(folder) {
    std::filesystem::create_directory(folder);
    mounted_ = ::mount("none", folder.c_str(), "tmpfs", 0, "size=200k") == 0;
  }
  ~SmallDisk() {
    if (mounted_) ::umount(folder_.c_str());
  }
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;
  bool mounted() const { return mounted_; }
  void grow() const { EXPECT_EQ(::mount("none", folder_.c_str(), "tmpfs", MS_REMOUNT, "size=10m"), 0); }

 private:
  std::string folder_;
  bool mounted_ = false;
};

class KilledSweep : public testing::Test {
 protected:
  void SetUp() override { write(kFew); }

  void write(std::int64_t latencies) {
    points_ = 20 * latencies;
    folder_.write("tiny.xml", test::tiny_scenario(fmt::format(kKilledSweep, latencies)));
  }

  /// Returns the CSV of a sweep without interruptions.
  std::string undisturbed() {
    const auto start = std::chrono::steady_clock::now();
    const Outcome outcome = run_dadsim({"sweep", "tiny.xml", "--out", "u.sqlite", "--csv", "u.csv"}, folder_.path());
    EXPECT_EQ(outcome.exit_code, cli::kSuccess) << outcome.err;
    undisturbed_time_ = std::chrono::steady_clock::now() - start;
    return test::read_file(folder_.path("u.csv"));
  }
  std::int64_t count(const std::string& file, const std::string& table) const {
    // A killed process leaves its log next to the file. Only a connection with write access recovers the log.
    Database database(folder_.path(file), Database::Access::write);
    return has_tables(database) ? database.number("SELECT COUNT(*) FROM " + table).value_or(-1) : 0;
  }

  test::TemporaryFolder folder_;
  std::int64_t points_ = 0;
  std::chrono::duration<double> undisturbed_time_{};
};

TEST_F(KilledSweep, TwentyTimesItEndsAsIfNothingHadHappened) {
  write(kMany);
  const std::string expected = undisturbed();
  std::mt19937 random(7);  // draws the times of the kills
  std::set<std::int64_t> seen;
  int kills = 0;
  double pace = 1;
  const auto begin_anew = [&](double change) {
    kills = 0;
    seen.clear();
    pace *= change;
    for (const char* suffix : {"", "-wal", "-shm"})
      std::filesystem::remove(folder_.path(std::string("k.sqlite") + suffix));
  };
  for (int i = 0; i < 200 && kills < 20; ++i) {
    const Running running({"sweep", "tiny.xml", "--out", "k.sqlite", "--threads", "1"}, folder_.path());
    // Kills come later and later on average, so that some hit checking, learning and timing on any machine.
    std::uniform_real_distribution<double> share(0, 0.05 + 0.0125 * kills);
    std::this_thread::sleep_for(undisturbed_time_ * (pace * (0.005 + share(random))));
    if (!running.kill()) {
      begin_anew(0.7);  // the kill came after the end of the sweep
      continue;
    }
    ++kills;
    seen.insert(count("k.sqlite", "trial"));
    // If all kills came early, other work may have slowed the machine since the undisturbed run: tries again with later
    // kills.
    if (kills == 20 && seen.size() < 3) begin_anew(1.5);
  }
  EXPECT_EQ(kills, 20);
  EXPECT_GE(seen.size(), 3U) << "killed before, while and after results came";
  const Outcome last = run_dadsim({"sweep", "tiny.xml", "--out", "k.sqlite", "--csv", "k.csv"}, folder_.path());
  EXPECT_EQ(last.exit_code, cli::kSuccess) << last.err;
  EXPECT_EQ(test::read_file(folder_.path("k.csv")), expected);
  EXPECT_EQ(count("k.sqlite", "trial"), points_);
  EXPECT_EQ(count("k.sqlite", "run"), 3 * points_);
  EXPECT_EQ(count("k.sqlite", "records"), kLearned);
  EXPECT_FALSE(std::filesystem::exists(folder_.path("k.sqlite-wal"))) << "one file is left";
}

TEST_F(KilledSweep, AnInterruptLeavesAllThatIsFinishedAndSaysHowToGoOn) {
  write(kMany);
  const std::string expected = undisturbed();
  // All points are checked before the first is timed, which may take long on a busy machine.
  Outcome outcome;
  for (const auto pause : {400ms, 600ms, 900ms, 1600ms, 3200ms}) {
    std::filesystem::remove(folder_.path("i.sqlite"));
    outcome = run_dadsim({"sweep", "tiny.xml", "--out", "i.sqlite", "--threads", "1"}, folder_.path(), pause);
    if (outcome.err.find("nothing was written") == std::string::npos) break;
  }
  ASSERT_EQ(outcome.exit_code, cli::kInterrupted) << outcome.err;
  EXPECT_NE(outcome.err.find("dadsim: interrupted; "), std::string::npos) << outcome.err;
  EXPECT_NE(outcome.err.find("in 'i.sqlite'; run the same command to continue"), std::string::npos) << outcome.err;
  EXPECT_LT(count("i.sqlite", "trial"), points_);
  const Outcome last = run_dadsim({"sweep", "tiny.xml", "--out", "i.sqlite", "--csv", "-"}, folder_.path());
  EXPECT_EQ(last.out, expected);
}

TEST_F(KilledSweep, ASimulationThatIsKilledIsNoResultAndTheSameCommandGoesOn) {
  const Running running({"sweep", "tiny.xml", "--out", "s.sqlite", "--threads", "1"}, folder_.path());
  bool killed = false;
  for (int i = 0; i < 200000 && !killed && ::kill(running.pid(), 0) == 0; ++i) {
    std::error_code error;
    for (const auto& task :
         std::filesystem::directory_iterator("/proc/" + std::to_string(running.pid()) + "/task", error)) {
      pid_t child = 0;
      std::ifstream(task.path() / "children") >> child;
      // Early children examine the platform. Children simulate once the results file exists.
      if (child <= 0 || killed || !std::filesystem::exists(folder_.path("s.sqlite"))) continue;
      killed = ::kill(child, SIGKILL) == 0;
    }
  }
  ASSERT_TRUE(killed);
  const int code = running.wait();  // the child may have ended its work before it was killed
  EXPECT_TRUE(code == cli::kSimulationFailed || code == cli::kSuccess) << code;
  EXPECT_EQ(count("s.sqlite", "trial WHERE status = 'failed'"), 0);
  const Outcome again = run_dadsim({"sweep", "tiny.xml", "--out", "s.sqlite", "--csv", "-"}, folder_.path());
  EXPECT_EQ(again.exit_code, cli::kSuccess) << again.err;
  EXPECT_EQ(again.out, undisturbed());
}

/// Copies a sweep's file and its journal in the middle of a write, in the state that a crash leaves.
void copy_amid_a_change(const std::string& from, const std::string& to) {
  Database database(from, Database::Access::scratch);
  database.execute("PRAGMA journal_mode=DELETE; PRAGMA synchronous=FULL; PRAGMA cache_size=1");
  database.execute("BEGIN; CREATE TABLE other AS SELECT * FROM trial; DELETE FROM trial; DELETE FROM run");
  for (const char* suffix : {"", "-journal"}) std::filesystem::copy_file(from + suffix, to + suffix);
  database.execute("ROLLBACK");
}

TEST_F(KilledSweep, AChangeThatWasCutShortIsUndone) {
  const std::string expected = undisturbed();
  copy_amid_a_change(folder_.path("u.sqlite"), folder_.path("c.sqlite"));
  const Outcome merged = run_dadsim({"merge", "m.sqlite", "c.sqlite", "--csv", "-"}, folder_.path());
  EXPECT_EQ(merged.exit_code, cli::kSuccess) << merged.err;
  EXPECT_EQ(merged.out, expected);
  copy_amid_a_change(folder_.path("u.sqlite"), folder_.path("d.sqlite"));
  const Outcome again = run_dadsim({"sweep", "tiny.xml", "--out", "d.sqlite", "--csv", "-"}, folder_.path());
  EXPECT_EQ(again.exit_code, cli::kSuccess) << again.err;
  EXPECT_EQ(again.out, expected);
}

// A limit on file size takes the place of a full disk, which would need root.
TEST_F(KilledSweep, AFullDiskIsSaidAndNothingIsLost) {
  const std::string expected = undisturbed();
  const Outcome full = [&] {
    rlimit before{};
    ::getrlimit(RLIMIT_FSIZE, &before);
    const rlimit tight{120'000, before.rlim_max};  // bytes
    const auto handler = std::signal(SIGXFSZ, SIG_IGN);
    ::setrlimit(RLIMIT_FSIZE, &tight);
    Outcome outcome = run_dadsim({"sweep", "tiny.xml", "--out", "f.sqlite"}, folder_.path());
    ::setrlimit(RLIMIT_FSIZE, &before);
    std::signal(SIGXFSZ, handler);
    return outcome;
  }();
  EXPECT_EQ(full.exit_code, cli::kOutputFailed) << full.err;
  EXPECT_NE(full.err.find("dadsim: cannot write 'f.sqlite': "), std::string::npos) << full.err;
  EXPECT_GT(count("f.sqlite", "trial"), 0);
  EXPECT_LT(count("f.sqlite", "trial"), points_);
  const Outcome last = run_dadsim({"sweep", "tiny.xml", "--out", "f.sqlite", "--csv", "-"}, folder_.path());
  EXPECT_EQ(last.exit_code, cli::kSuccess) << last.err;
  EXPECT_EQ(last.out, expected);
}

TEST_F(KilledSweep, ADiskThatIsReallyFullToo) {
  const SmallDisk disk(folder_.path("small"));
  if (!disk.mounted()) GTEST_SKIP() << "only root can mount";
  const Outcome full = run_dadsim({"sweep", "tiny.xml", "--out", "small/f.sqlite"}, folder_.path());
  EXPECT_EQ(full.exit_code, cli::kOutputFailed) << full.err;
  EXPECT_NE(full.err.find("'small/f.sqlite': the disk is full"), std::string::npos) << full.err;
  // With more room on the disk, the sweep continues.
  disk.grow();
  const Outcome last = run_dadsim({"sweep", "tiny.xml", "--out", "small/f.sqlite", "--csv", "-"}, folder_.path());
  EXPECT_EQ(last.exit_code, cli::kSuccess) << last.err;
  EXPECT_EQ(last.out, undisturbed());
}

TEST_F(KilledSweep, AFolderThatCannotBeWrittenIsSaidBeforeAnythingRuns) {
  for (const char* out : {"no/folder/x.sqlite", "/proc/x.sqlite"}) {
    const Outcome outcome = run_dadsim({"sweep", "tiny.xml", "--out", out}, folder_.path());
    EXPECT_EQ(outcome.exit_code, cli::kOutputFailed) << outcome.err;
    EXPECT_NE(outcome.err.find(std::string("cannot write '") + out + "'"), std::string::npos) << outcome.err;
  }
}

}  // namespace
}  // namespace dadsim::study
