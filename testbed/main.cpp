// Measures transfers over the kernel's TCP between network namespaces, through lines shaped by this program
// (docs/testbed.md). Reads the hosts, lines and jobs from standard input:
//
//   hosts N
//   line BYTES_PER_SECOND DELAY_SECONDS QUEUE_BYTES            numbered from 0 in order
//   way FROM TO LINE...
//   job LABEL CONGESTION_CONTROL warm|cold|idle WARM_UPS REPETITIONS GAP_SECONDS LIMIT_SECONDS
//   round RANK [~SECONDS] [>PEER:BYTES | <PEER:BYTES]...       computing, sends and receives of the rank's next round
//   go
//   program RANK WORDS...                                      a command of a shell, in the rank's namespace
//   run                                                        all programs at once, until the last has ended
//
// For a program, writes its rank and the last line of its output. For a job, writes a line per repetition with label,
// repetition, and seconds from the common start to the last rank's end (or "late"). The line continues with the numbers
// of dropped frames and retransmitted segments, and with window and threshold, in segments, of the rank that sent most.
// Its last number is the largest delay of a frame by the shaper itself, in microseconds.
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <ctime>
#include <iostream>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "agent.hpp"
#include "namespaces.hpp"
#include "shaper.hpp"

namespace testbed {
namespace {

constexpr int kShaperPriority = 60;
constexpr int kAgentPriority = 50;
constexpr int kMasterPriority = 55;
constexpr double kStart = 10e-3;  // seconds within which all hosts receive the start time
constexpr std::size_t kMessage = 1 << 16;

void sleep_for(double seconds) {
  const timespec time{static_cast<time_t>(seconds),
                      static_cast<long>((seconds - static_cast<double>(static_cast<time_t>(seconds))) * 1e9)};
  clock_nanosleep(CLOCK_MONOTONIC, 0, &time, nullptr);
}

void say(int socket, const std::string& text) {
  if (send(socket, text.data(), text.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(text.size())) {
    throw std::runtime_error("a host of the testbed is gone");
  }
}

/// Receives a message; returns "" if the other end has closed.
std::string hear(int socket) {
  std::string text(kMessage, '\0');
  const ssize_t count = recv(socket, text.data(), text.size(), 0);
  text.resize(count > 0 ? static_cast<std::size_t>(count) : 0);
  return text;
}

Round parse_round(std::istream& in) {
  Round round;
  for (std::string word; in >> word;) {
    if (word[0] == '~') {
      round.computing = std::stod(word.substr(1));
      continue;
    }
    const std::size_t colon = word.find(':');
    if (word.size() < 4 || colon == std::string::npos) throw std::runtime_error("'" + word + "' is no part of a round");
    const Round::Part part{std::stoi(word.substr(1)), std::stoll(word.substr(colon + 1))};
    (word[0] == '>' ? round.sends : round.receives).push_back(part);
  }
  return round;
}

/// Runs a command and returns the last line of its output.
std::string last_line_of(const std::string& command) {
  std::FILE* program = popen(command.c_str(), "r");
  if (program == nullptr) throw std::runtime_error("no process for a program");
  std::string last, line;
  for (int c; (c = std::fgetc(program)) != EOF;) {
    if (c != '\n') {
      line += static_cast<char>(c);
    } else if (!line.empty()) {
      last = std::exchange(line, {});
    }
  }
  if (pclose(program) != 0) throw std::runtime_error("'" + command + "' did not end well");
  return last;
}

/// Executes orders of the master as a host, until the master ends.
void obey(int master, std::int32_t rank, std::int32_t ranks) {
  become_real_time(kAgentPriority);
  Agent agent(rank, ranks);
  std::vector<Round> rounds;
  for (std::string text; !(text = hear(master)).empty();) {
    std::istringstream in(text);
    std::string command, answer = "ok";
    in >> command;
    try {
      if (command == "listen" || command == "connect" || command == "accept") {
        std::string congestion_control;
        in >> congestion_control;
        std::vector<std::int32_t> peers;
        for (std::int32_t peer; in >> peer;) peers.push_back(peer);
        if (command == "listen") agent.listen_with(congestion_control);
        if (command == "connect") agent.connect_to(peers, congestion_control);
        if (command == "accept") agent.accept_from(peers);
      } else if (command == "program") {
        std::string words;
        std::getline(in, words);
        answer = "ok " + last_line_of(words);
      } else if (command == "close") {
        agent.close_all();
      } else if (command == "rounds") {
        rounds.clear();
      } else if (command == "round") {
        rounds.push_back(parse_round(in));
      } else if (command == "run") {
        double start = 0, deadline = 0;
        in >> start >> deadline;
        const Outcome outcome = agent.carry_out(rounds, start, deadline);
        char line[200];
        std::snprintf(line, sizeof line, "ok %.9f %d %d %d", outcome.end, outcome.retransmitted, outcome.window,
                      outcome.threshold);
        answer = line;
      }
    } catch (const std::exception& error) {
      answer = error.what();
    }
    say(master, answer);
  }
}

struct Job {
  std::string label, congestion_control, mode;
  int warm_ups = 0, repetitions = 0;
  double gap = 0, limit = 0;
  std::vector<std::vector<Round>> rounds;  ///< rounds of each rank
};

class Master {
 public:
  explicit Master(std::int32_t hosts) {
    for (std::int32_t host = 0; host < hosts; ++host) {
      devices_.push_back(enter_namespace(host));
      int ends[2];
      if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends) != 0) throw std::runtime_error("no socket pair");
      const pid_t child = fork();
      if (child < 0) throw std::runtime_error("no process for a host");
      if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        for (const int device : devices_) close(device);
        for (const int other : hosts_) close(other);
        close(ends[0]);
        int status = 0;
        try {
          obey(ends[1], host, hosts);
        } catch (const std::exception& error) {
          std::fprintf(stderr, "testbed, host %d: %s\n", host, error.what());
          status = 1;
        }
        _exit(status);
      }
      close(ends[1]);
      hosts_.push_back(ends[0]);
    }
  }

  ~Master() {
    if (shaper_) shaper_->stop();
    if (thread_.joinable()) thread_.join();
    for (const int host : hosts_) close(host);
    while (wait(nullptr) > 0) {
    }
  }
  Master(const Master&) = delete;
  Master& operator=(const Master&) = delete;

  void shape(std::vector<Line> lines, std::vector<std::vector<int>> ways) {
    shaper_ = std::make_unique<Shaper>(devices_, std::move(lines), std::move(ways));
    thread_ = std::thread([this] {
      if (!become_real_time(kShaperPriority))
        std::fprintf(stderr, "testbed: no real-time priority: times are not exact\n");
      shaper_->run();
    });
    become_real_time(kMasterPriority);
  }

  /// Runs the programs of all hosts at once, and prints the last line of each. `programs`: one per host; "": none.
  void carry_out(const std::vector<std::string>& programs) {
    const auto answers =
        tell_all([&](std::size_t host) { return programs[host].empty() ? "" : "program " + programs[host]; });
    for (std::size_t host = 0; host < answers.size(); ++host) {
      if (!answers[host].empty()) std::printf("%zu%s\n", host, answers[host].substr(2).c_str());
    }
    std::fflush(stdout);
  }

  void carry_out(const Job& job) {
    tell_all([](std::size_t) { return std::string("rounds"); });
    std::size_t most = 0;
    for (const auto& rounds : job.rounds) most = std::max(most, rounds.size());
    for (std::size_t round = 0; round < most; ++round) {
      tell_all(
          [&](std::size_t host) { return round < job.rounds[host].size() ? text_of(job.rounds[host][round]) : ""; });
    }
    const bool cold = job.mode == "cold";
    if (!cold) open(job);
    bool late = false;
    for (int i = cold ? 0 : -job.warm_ups; i < job.repetitions && !late; ++i) {
      if (cold) open(job);
      sleep_for(i >= 0 || cold ? job.gap : std::min(job.gap, 0.25));
      late = !run(job, i);
      if (cold) close_all();
    }
    if (!cold) close_all();
  }

 private:
  static std::string text_of(const Round& round) {
    std::string text = "round";
    if (round.computing > 0) text += " ~" + std::to_string(round.computing);
    for (const Round::Part& part : round.sends)
      text += " >" + std::to_string(part.peer) + ":" + std::to_string(part.bytes);
    for (const Round::Part& part : round.receives) {
      text += " <" + std::to_string(part.peer) + ":" + std::to_string(part.bytes);
    }
    return text;
  }

  template <typename Text>
  std::vector<std::string> tell_all(const Text& text) {
    std::vector<bool> told(hosts_.size());
    for (std::size_t i = 0; i < hosts_.size(); ++i) {
      const std::string words = text(i);
      told[i] = !words.empty();
      if (told[i]) say(hosts_[i], words);
    }
    std::vector<std::string> answers(hosts_.size());
    for (std::size_t i = 0; i < hosts_.size(); ++i) {
      if (!told[i]) continue;
      answers[i] = hear(hosts_[i]);
      if (!answers[i].starts_with("ok")) throw std::runtime_error("host " + std::to_string(i) + ": " + answers[i]);
    }
    return answers;
  }

  void open(const Job& job) {
    std::vector<std::set<std::int32_t>> peers(hosts_.size());
    for (std::size_t rank = 0; rank < job.rounds.size(); ++rank) {
      for (const Round& round : job.rounds[rank]) {
        for (const auto& parts : {round.sends, round.receives}) {
          for (const Round::Part& part : parts) {
            peers[rank].insert(part.peer);
            peers[static_cast<std::size_t>(part.peer)].insert(static_cast<std::int32_t>(rank));
          }
        }
      }
    }
    for (const char* command : {"listen ", "connect ", "accept "}) {
      tell_all([&](std::size_t host) {
        std::string text = command + job.congestion_control;
        for (const std::int32_t peer : peers[host]) text += " " + std::to_string(peer);
        return text;
      });
    }
  }

  void close_all() {
    tell_all([](std::size_t) { return std::string("close"); });
  }

  bool run(const Job& job, int repetition) {
    shaper_->reset_most_late();
    const std::int64_t dropped = shaper_->dropped();
    const double start = now() + kStart;
    char text[100];
    std::snprintf(text, sizeof text, "run %.9f %.9f", start, start + job.limit);
    const auto answers = tell_all([&](std::size_t host) { return job.rounds[host].empty() ? "" : std::string(text); });
    double end = start;
    int retransmitted = 0, window = 0, threshold = 0;
    bool late = false;
    for (const std::string& answer : answers) {
      if (answer.empty()) continue;
      std::istringstream in(answer.substr(2));
      double its_end = 0;
      int again = 0, its_window = 0, its_threshold = 0;
      in >> its_end >> again >> its_window >> its_threshold;
      late = late || its_end < 0;
      end = std::max(end, its_end);
      retransmitted += again;
      if (window == 0) {
        window = its_window;
        threshold = its_threshold;
      }
    }
    if (late) {
      std::printf("%s %d late\n", job.label.c_str(), repetition);
    } else {
      std::printf("%s %d %.6f %lld %d %d %d %.0f\n", job.label.c_str(), repetition, end - start,
                  static_cast<long long>(shaper_->dropped() - dropped), retransmitted, window, threshold,
                  shaper_->most_late() * 1e6);
    }
    std::fflush(stdout);
    return !late;
  }

  std::vector<int> devices_, hosts_;
  std::unique_ptr<Shaper> shaper_;
  std::thread thread_;
};

int run() {
  std::unique_ptr<Master> master;
  std::vector<Line> lines;
  std::vector<std::vector<int>> ways;
  std::size_t hosts = 0;
  Job job;
  std::vector<std::string> programs;
  bool shaped = false;
  for (std::string text; std::getline(std::cin, text);) {
    std::istringstream in(text);
    std::string word;
    in >> word;
    if (word == "hosts") {
      in >> hosts;
      if (hosts < 2 || hosts > 200) throw std::runtime_error("2 to 200 hosts");
      ways.resize(hosts * hosts);
      master = std::make_unique<Master>(static_cast<std::int32_t>(hosts));
    } else if (word == "line") {
      Line line;
      in >> line.bytes_per_second >> line.delay >> line.queue;
      if (!in || !(line.bytes_per_second > 0)) throw std::runtime_error("'" + text + "': a rate, a delay and a queue");
      lines.push_back(line);
    } else if (word == "way") {
      std::size_t from = 0, to = 0;
      in >> from >> to;
      if (!in || from >= hosts || to >= hosts) throw std::runtime_error("'" + text + "': two hosts and lines");
      for (int line = 0; in >> line;) {
        if (line < 0 || line >= static_cast<int>(lines.size()))
          throw std::runtime_error("'" + text + "': no such line");
        ways[from * hosts + to].push_back(line);
      }
    } else if (word == "job") {
      job = Job{};
      job.rounds.resize(hosts);
      in >> job.label >> job.congestion_control >> job.mode >> job.warm_ups >> job.repetitions >> job.gap >> job.limit;
      if (!in) throw std::runtime_error("'" + text + "': label, control, mode, warm-ups, repetitions, gap, limit");
    } else if (word == "round") {
      std::size_t rank = 0;
      in >> rank;
      if (!in || rank >= hosts) throw std::runtime_error("'" + text + "': no such rank");
      job.rounds[rank].push_back(parse_round(in));
    } else if (word == "program") {
      std::size_t rank = 0;
      in >> rank;
      if (!in || rank >= hosts) throw std::runtime_error("'" + text + "': no such rank");
      programs.resize(hosts);
      std::getline(in, programs[rank]);
    } else if (word == "go" || word == "run") {
      if (!master) throw std::runtime_error("no hosts");
      if (!shaped) master->shape(lines, ways);
      shaped = true;
      if (word == "go") {
        master->carry_out(job);
      } else {
        programs.resize(hosts);
        master->carry_out(std::exchange(programs, {}));
      }
    } else if (!word.empty()) {
      throw std::runtime_error("'" + word + "' is no command");
    }
  }
  return 0;
}

}  // namespace
}  // namespace testbed

int main() {
  prctl(PR_SET_PDEATHSIG, SIGKILL);  // ends with its parent, and so do hosts and namespaces
  try {
    return testbed::run();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "testbed: %s\n", error.what());
    return 1;
  }
}
