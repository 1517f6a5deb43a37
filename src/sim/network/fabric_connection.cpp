#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "sim/network/connection.hpp"
#include "sim/network/fifo.hpp"
#include "sim/process/clock.hpp"

namespace dadsim::sim {
namespace {

/// Queues transfers in a mailbox; an actor at the receiving end takes them one at a time.
class FabricConnection : public Connection {
 public:
  FabricConnection(Connections& all, std::int32_t from, std::int32_t to)
      : all_(all),
        path_(all.network().path(all.host(from), all.host(to))),
        mailbox_(sg4::Mailbox::by_name(fmt::format("{}>{} {}", from, to, all.ever_opened()))) {
    carrier_ = compat::add_actor(mailbox_->get_name(), all.host(to), [this] { guarded([this] { carry(); }); });
    carrier_->daemonize();
  }

  void send(const Message& message, Outbox& outbox) override {
    PathUse::Cost cost = all_.network()[path_].use.cost(message.bytes, message.protocol, message.post);
    // Distinguishes channels by a last digit of the size, because connections of one pair recognise their transfers by
    // size (see begin).
    cost.wire_bytes *= 1 + message.channel * std::numeric_limits<double>::epsilon();
    queue_.push_back({message, cost.wire_bytes, cost.overhead});
    sg4::CommPtr transfer = mailbox_->put_init(&token_, 0);
    transfer->set_remaining(cost.wire_bytes);  // exact size; put_init would round to whole bytes
    if (message.share < 1) {
      const PathUse& use = all_.network()[path_].use;
      transfer->set_rate(message.share * use.payload_rate / use.efficiency);
    }
    const std::int64_t serial = put_++;
    compat::start(transfer);
    outbox.add(std::move(transfer), &ended_, serial);
  }

  bool begin(double wire_bytes, double& delay) override {
    if (started_ != ended_ || queue_.empty() || queue_.front().wire_bytes != wire_bytes) return false;
    ++started_;
    double date = std::max(now(), queue_.front().message.ready);
    if (all_.rendezvous()) date = std::max(date, posted_.front() + latency());
    delay = date - now();
    begin_ = date;
    if (delay > 0) all_.begins_at(date, path_);
    all_.network().enter(path_, wire_bytes, load_);
    return true;
  }

  void post(double date) override {
    posted_.push_back(date);
    if (waits_for_post_) {
      waits_for_post_ = false;
      post_->release();
    }
  }

  void close() override {}

  bool idle() override { return queue_.empty() && posted_.empty(); }

  void abandon() override {
    if (started_ > ended_) all_.network().leave(path_, load_, begin_, 0);
    ended_ = Outbox::kCutOff;
    carrier_->kill();    // also ends the transfer that the actor was receiving
    carrier_ = nullptr;  // frees the actor's stack, because a process has room for some thousands only
  }

  std::int32_t path() const override { return path_; }

 private:
  struct FabricEntry {
    Message message;
    double wire_bytes;
    double overhead;  ///< seconds in addition to the path's latency
  };

  double latency() { return all_.network().latency_now(path_) + queue_.front().overhead; }

  void carry() {
    for (;;) {
      if (all_.rendezvous() && posted_.empty()) {
        waits_for_post_ = true;
        post_->acquire();
      }
      char* token = nullptr;  // avoids get(), which calls SimGrid twice, to begin and to wait
      mailbox_->get_init()->set_dst_data(reinterpret_cast<void**>(&token), sizeof token)->wait();
      if (ended_ == Outbox::kCutOff) return;  // the connection is abandoned, but this actor ends only at its next wait
      ++ended_;
      if (all_.rendezvous()) posted_.pop_front();
      const std::int32_t bottleneck = all_.network().leave(path_, load_, begin_, queue_.front().message.bytes);
      last_ = std::max(last_, now() + latency());  // messages arrive in order
      const Message message = queue_.front().message;
      queue_.pop_front();
      all_.deliver(message, last_, {.bottleneck = bottleneck}, outbox_);
    }
  }

  Connections& all_;
  std::int32_t path_;
  sg4::Mailbox* mailbox_;
  Fifo<FabricEntry> queue_;  ///< messages sent, not yet transferred
  std::int64_t put_ = 0, started_ = 0, ended_ = 0;
  std::vector<std::int32_t> load_;
  Outbox outbox_;     ///< outbox of the receiving end
  double last_ = 0;   ///< seconds, date of the last delivery
  double begin_ = 0;  ///< seconds, beginning of the current or last transfer
  Fifo<double> posted_;
  sg4::ActorPtr carrier_;  ///< actor at the receiving end
  bool waits_for_post_ = false;
  sg4::SemaphorePtr post_ = sg4::Semaphore::create(0);
  char token_ = 0;  ///< dummy content of transfers; only their size counts
};

}  // namespace

std::unique_ptr<Connection> make_fabric_connection(Connections& all, std::int32_t from, std::int32_t to) {
  return std::make_unique<FabricConnection>(all, from, to);
}

}  // namespace dadsim::sim
