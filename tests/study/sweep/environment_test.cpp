// Tests that failures of the system are never stored as results of a sweep. Runs the dadsim program.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <functional>
#include <thread>

#include "cli/exit_code.hpp"
#include "cli/process.hpp"
#include "study/store/database.hpp"
#include "study/sweep/tiny_sweep.hpp"
#include "support/environment_error.hpp"

namespace dadsim::study {
namespace {

constexpr uid_t kNobody = 65534;

class SweepInItsEnvironment : public testing::Test {
 protected:
  void SetUp() override {
    folder_.write("tiny.xml", test::tiny_scenario(R"(<sweep>
      <vary path="platform.federation.sites.up" from="1" to="1000" steps="30" scale="log" unit="Mbps"/></sweep>)"));
    std::filesystem::permissions(folder_.path(), std::filesystem::perms::all);
  }

  /// Starts the program, after calling `prepare` in its process; its output goes to `err`.
  pid_t start(const std::vector<std::string>& arguments, const std::function<void()>& prepare) const {
    const pid_t child = ::fork();
    if (child != 0) return child;
    const int err = ::open(folder_.path("err").c_str(), O_CREAT | O_WRONLY | O_TRUNC, 0666);
    ::dup2(err, 1);
    ::dup2(err, 2);
    if (::chdir(folder_.path().c_str()) != 0) ::_exit(127);
    prepare();
    std::string binary = DADSIM_BINARY;
    std::vector<std::string> copies = arguments;
    std::vector<char*> argv{binary.data()};
    for (std::string& copy : copies) argv.push_back(copy.data());
    argv.push_back(nullptr);
    ::execv(binary.c_str(), argv.data());
    ::_exit(127);
  }
  static int wait(pid_t child) {
    int status = 0;
    ::waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }
  /// Waits until the sweep's file exists.
  void wait_for_file() const {
    for (int i = 0; i < 3000 && !std::filesystem::exists(folder_.path("a.sqlite-wal")); ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  std::int64_t count(const std::string& table) const {
    Database database(folder_.path("a.sqlite"), Database::Access::read);
    return database.number("SELECT COUNT(*) FROM " + table).value_or(-1);
  }
  std::string err() const { return test::read_file(folder_.path("err")); }

  const std::vector<std::string> sweep_{"sweep", "tiny.xml", "--out", "a.sqlite", "--threads", "1"};
  test::TemporaryFolder folder_;
};

// Without a free descriptor, an existing file was once reported as not being a sweep.
TEST_F(SweepInItsEnvironment, AFileThatNoDescriptorIsLeftForIsNotRefused) {
  const std::string path = folder_.path("b.sqlite");
  Database(path, Database::Access::write).execute("CREATE TABLE a (b)");
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const int free = ::dup(0);
  ASSERT_GE(free, 0);
  ::close(free);
  const rlimit tight{static_cast<rlim_t>(free), before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &tight), 0);
  EXPECT_THROW(Database(path, Database::Access::read), EnvironmentError);
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  EXPECT_NO_THROW(Database(path, Database::Access::read));
}

// When the parent ignored SIGCHLD, 60 of 60 points were once recorded as failed.
TEST_F(SweepInItsEnvironment, AParentThatIgnoresTheEndOfChildrenChangesNothing) {
  const int code = wait(start(sweep_, [] { std::signal(SIGCHLD, SIG_IGN); }));
  EXPECT_EQ(code, cli::kSuccess) << err();
  EXPECT_EQ(count("trial WHERE status = 'done'"), 30);
}

// A user's limit on processes does not apply to root, so the program runs as another user.
TEST_F(SweepInItsEnvironment, WhereThereIsNoProcessToBeHadNothingIsRecorded) {
  const auto as_nobody = [] {
    if (::geteuid() == 0 && (::setgid(kNobody) != 0 || ::setuid(kNobody) != 0)) ::_exit(126);
    ::umask(0);
  };
  const auto alone = [&] {
    as_nobody();
    const rlimit one{1, 1};
    ::setrlimit(RLIMIT_NPROC, &one);
  };
  const int code = wait(start(sweep_, alone));
  if (code >= 126) GTEST_SKIP() << "the program cannot be run by another user";
  EXPECT_EQ(code, cli::kSimulationFailed) << err();
  EXPECT_NE(err().find("could not be started"), std::string::npos) << err();
  EXPECT_NE(err().find("run the same command"), std::string::npos) << err();
  EXPECT_EQ(err().find("<route>"), std::string::npos) << err();

  // The limit can also be reached during the sweep, when other processes of the user take the remaining places.
  const auto with_few = [&] {
    as_nobody();
    const rlimit few{8, 8};
    ::setrlimit(RLIMIT_NPROC, &few);
  };
  const pid_t running = start(sweep_, with_few);
  wait_for_file();
  std::vector<pid_t> others;
  for (int i = 0; i < 10; ++i) {
    others.push_back(::fork());
    if (others.back() != 0) continue;
    as_nobody();
    ::pause();
    ::_exit(0);
  }
  const int stopped = wait(running);
  for (const pid_t other : others) {
    ::kill(other, SIGKILL);
    ::waitpid(other, nullptr, 0);
  }
  // The sweep may have ended before. If the test does not run as root, the user's other processes count from the start.
  EXPECT_TRUE(stopped == cli::kSimulationFailed || stopped == cli::kSuccess) << stopped << ": " << err();
  EXPECT_EQ(count("trial WHERE status = 'failed'"), 0);
  EXPECT_EQ(wait(start(sweep_, as_nobody)), cli::kSuccess) << err();
  EXPECT_EQ(count("trial WHERE status = 'done'"), 30);
}

// The limit on file size once ended the process with SIGXFSZ.
TEST_F(SweepInItsEnvironment, AFileThatMayNotGrowIsAResultThatCannotBeWritten) {
  const auto small_files = [] {
    const rlimit tight{60'000, 60'000};  // bytes
    ::setrlimit(RLIMIT_FSIZE, &tight);
  };
  EXPECT_EQ(wait(start(sweep_, small_files)), cli::kOutputFailed) << err();
  EXPECT_EQ(wait(start(sweep_, [] {})), cli::kSuccess) << err();
  EXPECT_EQ(count("trial WHERE status = 'done'"), 30);
}

TEST_F(SweepInItsEnvironment, AReaderThatHasGoneIsAResultThatCannotBeWritten) {
  const auto no_reader = [] {
    int ends[2];
    if (::pipe(ends) != 0) ::_exit(127);
    ::dup2(ends[1], 1);
    ::close(ends[0]);
    ::close(ends[1]);
  };
  EXPECT_EQ(wait(start({"algorithms"}, no_reader)), cli::kOutputFailed) << err();
}

TEST_F(SweepInItsEnvironment, AHangUpIsAnInterruptUnlessItIsIgnored) {
  const pid_t running = start(sweep_, [] {});
  wait_for_file();
  ::kill(running, SIGHUP);
  const int code = wait(running);
  EXPECT_TRUE(code == cli::kInterrupted || code == cli::kSuccess) << code << ": " << err();
  EXPECT_FALSE(std::filesystem::exists(folder_.path("a.sqlite-wal"))) << "one file is left";
  const pid_t without_terminal = start(sweep_, [] { std::signal(SIGHUP, SIG_IGN); });  // nohup does this
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  ::kill(without_terminal, SIGHUP);  // at any time, even very early
  EXPECT_EQ(wait(without_terminal), cli::kSuccess) << err();
}

// The program once ignored SIGTERM while its child examined the platform.
TEST_F(SweepInItsEnvironment, LookingAtALargePlatformIsInterruptedAtOnce) {
  folder_.write("large.xml", R"(<cluster-platform>
    <gpu-cluster nodes="12500" gpus="8" inside="nvlink-3" rails="8" nic="ib-hdr"><one-switch/></gpu-cluster>
  </cluster-platform>)");
  const pid_t running = start({"platform", "large.xml"}, [] {});
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  const double before = test::cpu_seconds_of_children();
  ::kill(running, SIGTERM);
  EXPECT_EQ(wait(running), cli::kInterrupted) << err();
  EXPECT_LT(test::cpu_seconds_of_children() - before, 2) << "of the processor, which others may have too";
}

}  // namespace
}  // namespace dadsim::study
