#include "sim/process/child_process.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <simgrid/s4u.hpp>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "support/environment_error.hpp"
#include "support/interrupt.hpp"

namespace dadsim::sim {
namespace {

using End = ChildOutcome::ChildEnd;

const auto ignore = [](std::string_view) {};

bool runs(pid_t pid) { return ::kill(pid, 0) == 0; }

TEST(ChildProcess, MessagesArriveWholeAndInOrder) {
  std::vector<std::string> received;
  const ChildOutcome outcome = run_in_child(
      [](const MessageSink& sink) {
        sink.send("first");
        sink.send("");
        sink.send(std::string(1000000, 'x') + '\0' + "y");
        sink.post("short");
        sink.send(std::string(300000, 'a'));
        sink.post(std::string(200000, 'b'));
        sink.send("last");
      },
      [&](std::string_view message) { received.emplace_back(message); });
  EXPECT_TRUE(outcome.complete());
  EXPECT_EQ(outcome.description(), "");
  ASSERT_EQ(received.size(), 7U);
  EXPECT_EQ(received[0], "first");
  EXPECT_EQ(received[1], "");
  EXPECT_EQ(received[2].size(), 1000002U);
  EXPECT_EQ(received[2].back(), 'y');
  EXPECT_EQ(received[3], "short");
  EXPECT_EQ(received[4], std::string(300000, 'a'));
  EXPECT_EQ(received[5], std::string(200000, 'b'));
  EXPECT_EQ(received[6], "last");
}

TEST(ChildProcess, ASignalIsNamed) {
  const ChildOutcome outcome = run_in_child([](const MessageSink&) { ::raise(SIGTERM); }, ignore);
  EXPECT_EQ(outcome.end, End::killed);
  EXPECT_EQ(outcome.description(), "was killed by signal 15 (Terminated)");
}

// The system sends SIGKILL when memory is short; dadsim itself does not.
TEST(ChildProcess, AKillFromOutsideIsNoFindingOfTheChilds) {
  EXPECT_THROW(run_in_child([](const MessageSink&) { ::raise(SIGKILL); }, ignore), EnvironmentError);
}

// A sweep used to record "std::bad_alloc" as the failure of a point.
TEST(ChildProcess, MemoryThatIsDeniedIsNoFindingOfTheChilds) {
  const auto swallows = [](const MessageSink& sink) {
    try {
      const std::vector<char> much(std::size_t{1} << 62);
      sink.send(std::string_view(much.data(), 1));
    } catch (const std::exception& error) {
      sink.send(error.what());
    }
  };
  EXPECT_THROW(run_in_child(swallows, ignore), EnvironmentError);
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // a sanitizer itself needs more memory than the
                                                                     // limit below
// A sweep once recorded a stack that could not be allocated as a failed point, and `explain` left a line out.
TEST(ChildProcess, AnActorThatGetsNoStackIsNoFindingOfTheChilds) {
  const auto without_stack = [](const MessageSink&) {
    std::string name = "test";
    std::string stack = "--cfg=contexts/stack-size:2000000";  // KiB
    std::array<char*, 3> arguments{name.data(), stack.data(), nullptr};
    int count = 2;
    const simgrid::s4u::Engine engine(&count, arguments.data());
    simgrid::s4u::NetZone* zone = simgrid::s4u::create_full_zone("zone");
    simgrid::s4u::Host* host = zone->create_host("host", 1e9);
    zone->seal();
    const rlimit little{1U << 30, 1U << 30};
    ::setrlimit(RLIMIT_AS, &little);
    simgrid::s4u::Actor::create("actor", host, [] {});
    engine.run();
  };
  EXPECT_THROW(run_in_child(without_stack, ignore), EnvironmentError);
}
#endif

// When a child's write failed, `explain` once left a line out and exited with 0.
TEST(ChildProcess, WordsThatDoNotComeThroughAreNoFindingOfTheChilds) {
  const auto cut_off = [](const MessageSink& sink) {
    ::close(3);  // the message pipe, whose descriptor is 3 in be_child()
    sink.send("lost");
  };
  EXPECT_THROW(run_in_child(cut_off, ignore), EnvironmentError);
}

// When a process ran out of memory, its own child once ran on for a moment.
TEST(ChildProcess, ThatFindsNoMemoryTakesItsOwnChildWithIt) {
  pid_t own = 0;
  const auto without_memory = [](const MessageSink& sink) {
    ChildProcess second([](const MessageSink& up, const MessageSource& down) {
      const pid_t pid = ::getpid();
      up.send({reinterpret_cast<const char*>(&pid), sizeof pid});
      down.next();  // waits for ever
    });
    sink.send(*second.next());
    std::get_new_handler()();
  };
  const auto note = [&own](std::string_view message) { std::memcpy(&own, message.data(), sizeof own); };
  EXPECT_THROW(run_in_child(without_memory, note), EnvironmentError);
  ASSERT_GT(own, 0);
  EXPECT_FALSE(runs(own));
}

TEST(ChildProcess, AnAbortIsNamedAndItsWordsKept) {
  const ChildOutcome outcome = run_in_child(
      [](const MessageSink&) {
        std::fputs("last words\n", stderr);
        std::abort();
      },
      ignore);
  EXPECT_EQ(outcome.end, End::killed);
  EXPECT_EQ(outcome.code, SIGABRT);
  EXPECT_EQ(outcome.output, "last words\n");
  EXPECT_FALSE(outcome.crashed());  // SimGrid aborts in this way if a platform is invalid, so an abort is no crash
}

#ifndef __SANITIZE_THREAD__  // the thread sanitizer does not detect a double free
// A double free makes the C library abort, and a sanitizer exit.
TEST(ChildProcess, MisusedMemoryIsACrash) {
  const auto twice = [](const MessageSink&) {
    void* volatile memory = std::malloc(64);
    for (int i = 0; i < 2; ++i) std::free(memory);  // NOLINT(clang-analyzer-unix.Malloc): the test needs a double free
  };
  EXPECT_TRUE(run_in_child(twice, ignore).crashed());
}
#endif

TEST(ChildProcess, AnExitIsNotTheEnd) {
  const ChildOutcome outcome = run_in_child([](const MessageSink&) { ::_exit(3); }, ignore);
  EXPECT_EQ(outcome.end, End::exited);
  EXPECT_EQ(outcome.description(), "ended with exit status 3");
}

TEST(ChildProcess, AnExceptionIsWritten) {
  const ChildOutcome outcome =
      run_in_child([](const MessageSink&) { throw std::runtime_error("no such thing"); }, ignore);
  EXPECT_EQ(outcome.end, End::exited);
  EXPECT_EQ(outcome.output, "no such thing\n");
}

TEST(ChildProcess, AHangEndsWithTheTimeLimit) {
  pid_t child = 0;
  const ChildOutcome outcome = run_in_child(
      [](const MessageSink& sink) {
        sink.send(std::to_string(::getpid()));
        for (;;) ::pause();
      },
      [&](std::string_view message) { child = std::stoi(std::string(message)); }, 1);
  EXPECT_EQ(outcome.end, End::timed_out);
  EXPECT_EQ(outcome.description(), "did not end within 1 seconds");
  EXPECT_FALSE(runs(child));
}

TEST(ChildProcess, MoreOutputThanIsKeptDoesNotBlock) {
  const ChildOutcome outcome = run_in_child(
      [](const MessageSink&) {
        const std::string line(1023, '.');
        for (int i = 0; i < 4096; ++i) std::puts(line.c_str());
      },
      ignore);
  EXPECT_TRUE(outcome.complete());
  EXPECT_EQ(outcome.output.size(), 65536U);
}

TEST(ChildProcess, WhatTheListenerThrowsEndsTheChild) {
  pid_t child = 0;
  EXPECT_THROW(run_in_child(
                   [](const MessageSink& sink) {
                     sink.send(std::to_string(::getpid()));
                     for (;;) ::pause();
                   },
                   [&](std::string_view message) {
                     child = std::stoi(std::string(message));
                     throw std::runtime_error("enough");
                   }),
               std::runtime_error);
  ASSERT_GT(child, 0);
  EXPECT_FALSE(runs(child));
}

TEST(ChildProcess, TheChildDoesNotOutliveItsParent) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const pid_t parent = ::fork();
  ASSERT_GE(parent, 0);
  if (parent == 0) {
    run_in_child(
        [](const MessageSink& sink) {
          sink.send(std::to_string(::getpid()));
          for (;;) ::pause();
        },
        [&](std::string_view message) {
          const pid_t child = std::stoi(std::string(message));
          if (::write(ends[1], &child, sizeof child) != static_cast<ssize_t>(sizeof child)) ::_exit(1);
        });
    ::_exit(1);
  }
  pid_t child = 0;
  ASSERT_EQ(::read(ends[0], &child, sizeof child), static_cast<ssize_t>(sizeof child));
  EXPECT_TRUE(runs(child));
  ASSERT_EQ(::kill(parent, SIGINT), 0);  // Ctrl-C
  int status = 0;
  ASSERT_EQ(::waitpid(parent, &status, 0), parent);
  // An orphaned child may stay a zombie until it is waited for, but it must not run any more.
  char state = '?';
  for (int i = 0; i < 500; ++i) {
    state = 'X';
    const std::string path = "/proc/" + std::to_string(child) + "/stat";
    if (std::FILE* file = std::fopen(path.c_str(), "r"); file != nullptr) {
      if (std::fscanf(file, "%*d %*s %c", &state) != 1) state = 'X';
      std::fclose(file);
    }
    if (state == 'X' || state == 'Z') break;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  EXPECT_TRUE(state == 'X' || state == 'Z') << state;
  ::close(ends[0]);
  ::close(ends[1]);
}

// A process that the system refused to start once counted as a result: a failed point, or a missing route.
TEST(ChildProcess, WhatTheSystemDeniesIsNoOutcome) {
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit tight{static_cast<rlim_t>(::dup(0)), before.rlim_max};  // every further descriptor exceeds the limit
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &tight), 0);
  EXPECT_THROW(run_in_child([](const MessageSink&) {}, ignore), EnvironmentError);
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  ::close(static_cast<int>(tight.rlim_cur));
  EXPECT_TRUE(run_in_child([](const MessageSink&) {}, ignore).complete());
}

TEST(ChildProcess, ANestedChildThatIsDeniedIsNoOutcomeEither) {
  const auto nested = [](const MessageSink&) {
    const rlimit none{0, 0};
    ::setrlimit(RLIMIT_NOFILE, &none);
    run_in_child([](const MessageSink&) {}, ignore);
  };
  EXPECT_THROW(run_in_child(nested, ignore), EnvironmentError);
}

TEST(ChildProcess, AnEndOfWhichNobodyIsToldIsNoOutcome) {
  const auto handler = std::signal(SIGCHLD, SIG_IGN);
  EXPECT_THROW(run_in_child([](const MessageSink&) {}, ignore), EnvironmentError);
  std::signal(SIGCHLD, handler);
}

TEST(ChildProcess, AnInterruptEndsTheWaitAndTheChild) {
  const pid_t parent = ::fork();  // a fork, since the flag of interrupted() stays set
  ASSERT_GE(parent, 0);
  if (parent == 0) {
    catch_interrupts();
    pid_t child = 0;
    const auto keep = [&](std::string_view message) {
      child = std::stoi(std::string(message));
      ::kill(::getpid(), SIGTERM);
    };
    try {
      run_in_child(
          [](const MessageSink& sink) {
            sink.send(std::to_string(::getpid()));
            for (;;) ::pause();
          },
          keep);
    } catch (const Cancelled&) {
      ::_exit(child > 0 && !runs(child) ? 0 : 1);
    }
    ::_exit(2);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(parent, &status, 0), parent);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
}

TEST(ChildProcess, BufferedOutputIsNotWrittenTwice) {
  ::testing::internal::CaptureStdout();
  std::fputs("once", stdout);
  EXPECT_TRUE(run_in_child([](const MessageSink&) {}, ignore).complete());
  EXPECT_EQ(::testing::internal::GetCapturedStdout(), "once");
}

TEST(ChildProcess, ManyThreadsMayForkAtOnce) {
  std::vector<std::thread> threads;
  std::vector<int> complete(8, 0);
  for (std::size_t i = 0; i < complete.size(); ++i) {
    threads.emplace_back([&complete, i] {
      for (int round = 0; round < 20; ++round) {
        std::string echoed;
        const ChildOutcome outcome = run_in_child([i](const MessageSink& sink) { sink.send(std::to_string(i)); },
                                                  [&](std::string_view message) { echoed = message; });
        if (outcome.complete() && echoed == std::to_string(i)) ++complete[i];
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(complete, std::vector<int>(8, 20));
}

}  // namespace
}  // namespace dadsim::sim
