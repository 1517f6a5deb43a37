#include "sim/step/replay.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sim/step/collective_run.hpp"

namespace dadsim::sim {

class StepReplayer::ReplayStreams : public std::enable_shared_from_this<StepReplayer::ReplayStreams> {
 public:
  ReplayStreams(const Nodes& nodes, Interconnect& network, Connections& connections)
      : nodes_(nodes), network_(network), connections_(connections), actors_(nodes.hosts.size()) {}

  void play(StepRun& steps) {
    steps.begin();
    steps_ = &steps;
    running_ = steps.parts().nodes();
    for (std::size_t node = 0; node < steps.parts().nodes(); ++node) {
      const std::size_t host = steps.parts().host_index(node);
      Actor& actor = actors_[host];
      actor.node = node;
      if (!actor.go) make(actor, host);
      actor.go->release();
    }
    all_ended_->acquire();
    steps.end();
  }

  const Nodes& nodes() const { return nodes_; }
  Interconnect& network() { return network_; }
  Connections& connections() { return connections_; }

 private:
  struct Actor {
    std::size_t node = 0;  ///< node of the steps for which the actor computes
    sg4::SemaphorePtr go;  ///< semaphore that starts the actor; null until it is needed
  };

  void make(Actor& actor, std::size_t host) {
    actor.go = sg4::Semaphore::create(0);
    // Captures the owner, to keep alive the objects that the closure uses.
    const auto code = [this, self = shared_from_this(), &actor] {
      guarded([&] {
        for (;;) {
          actor.go->acquire();
          steps_->compute_in_order(actor.node);
          if (--running_ == 0) all_ended_->release();
        }
      });
    };
    compat::add_actor(fmt::format("compute stream {}", host), nodes_.hosts[host], code)->daemonize();
  }

  const Nodes& nodes_;
  Interconnect& network_;
  Connections& connections_;
  std::vector<Actor> actors_;  ///< actor of each host of the cluster
  StepRun* steps_ = nullptr;
  std::size_t running_ = 0;  ///< number of unfinished streams
  sg4::SemaphorePtr all_ended_ = sg4::Semaphore::create(0);
};

StepReplayer::StepReplayer(const Nodes& nodes, Interconnect& network, Connections& connections)
    : streams_(std::make_shared<ReplayStreams>(nodes, network, connections)) {}

std::unique_ptr<StepRun> StepReplayer::replay(const collectives::RankLayout& layout, std::span<const ReplayStep> steps,
                                              TimelineRecorder* recorder) {
  auto run = std::make_unique<StepRun>(streams_->nodes(), layout, steps, streams_->network(), streams_->connections(),
                                       recorder);
  streams_->play(*run);
  return run;
}

step::StepTiming StepReplayer::replay(const collectives::RankLayout& layout, const schedule::Schedule& schedule,
                                      const std::vector<double>& slowdown, TimelineRecorder* recorder) {
  const ReplayStep step{&schedule, slowdown};
  return replay(layout, std::span(&step, 1), recorder)->timing(0, 1);
}

double replay(const Nodes& nodes, const collectives::Rounds& rounds, Connections& connections) {
  const double begin = sg4::Engine::get_clock();
  double end = begin;
  EventGraph graph(begin);
  connections.number_aggregator(rounds.ranks(), rounds.ranks());
  CollectiveRun run(0, rounds, connections, graph,
                    [&end](collectives::Rank, double date, EventGraph::Id, Outbox&) { end = std::max(end, date); });
  connections.on_arrival([&run](const Message& message, double date, const Holdup& holdup, Outbox& outbox) {
    run.arrived(message, date, holdup, outbox);
  });
  std::vector<sg4::ActorPtr> actors;
  actors.reserve(static_cast<std::size_t>(rounds.ranks()));
  for (collectives::Rank rank = 0; rank < rounds.ranks(); ++rank) {
    actors.push_back(
        compat::add_actor(fmt::format("rank {}", rank), nodes.hosts[static_cast<std::size_t>(rank)], [&, rank] {
          guarded([&, rank] {
            Outbox outbox;
            run.begin(rank, begin, EventGraph::kStart, outbox);
            outbox.drain();
          });
        }));
  }
  for (const sg4::ActorPtr& actor : actors) actor->join();
  connections.wait_until_idle();
  return end - begin;
}

}  // namespace dadsim::sim
