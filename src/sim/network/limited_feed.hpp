#pragma once

#include <fmt/format.h>

#include <simgrid/Exception.hpp>

#include "sim/network/connection.hpp"

namespace dadsim::sim {

/// Transfers with a rate of their own, one at a time. SimGrid 3.32 takes a rate from whoever puts something into a
/// mailbox alone: an actor at the sending end does.
class LimitedFeed {
 public:
  explicit LimitedFeed(simgrid::s4u::Host* from) : from_(from) {}
  LimitedFeed(const LimitedFeed&) = delete;
  LimitedFeed& operator=(const LimitedFeed&) = delete;

  /// In an actor at the receiving end, always the same: returns once so many bytes of the wire are there, which come at
  /// `rate` byte/s at most.
  void move(double wire_bytes, double rate) {
    if (feeder_ == nullptr) begin();
    bytes_ = wire_bytes;
    rate_ = rate;
    feeds_->release();
    char* token = nullptr;
    try {
      mailbox_->get_init()->set_dst_data(reinterpret_cast<void**>(&token), sizeof token)->wait();
    } catch (const simgrid::NetworkFailureException&) {
      if (!stopped_) throw;
      feeds_->acquire();  // whoever has stopped it ends this actor next
    }
  }
  void stop() {
    if (feeder_ == nullptr) return;
    stopped_ = true;
    feeder_->kill();  // others may act before this returns
  }

 private:
  void begin() {
    mailbox_ = simgrid::s4u::Mailbox::by_name(fmt::format("feed {}", simgrid::s4u::this_actor::get_pid()));
    feeder_ = compat::add_actor("feeder", from_, [this] {
      guarded([this] {
        for (;;) {
          feeds_->acquire();
          const simgrid::s4u::CommPtr flow = mailbox_->put_init(&token_, 0);
          flow->set_remaining(bytes_);
          flow->set_rate(rate_);
          compat::start(flow);
          flow->wait();
        }
      });
    });
    feeder_->daemonize();
  }

  simgrid::s4u::Host* from_;
  simgrid::s4u::ActorPtr feeder_ = nullptr;
  simgrid::s4u::Mailbox* mailbox_ = nullptr;
  simgrid::s4u::SemaphorePtr feeds_ = simgrid::s4u::Semaphore::create(0);
  double bytes_ = 0, rate_ = 0;  ///< of what it sends next
  bool stopped_ = false;
  char token_ = 0;
};

}  // namespace dadsim::sim
