#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "protocols/protocol.hpp"

namespace dadsim::protocols {

/// Numbers 0 … n − 1 of which some are in it; adding, removing and finding the k-th take O(log n) (Fenwick, "A new data
/// structure for cumulative frequency tables", 1994).
class IndexSet {
 public:
  explicit IndexSet(std::size_t size) : in_(size, false), sums_(size + 1, 0) {}
  bool contains(std::size_t index) const { return in_[index]; }
  void set(std::size_t index, bool in);
  std::size_t count() const { return count_; }
  std::size_t nth(std::size_t k) const;  ///< in rising order, from 0

 private:
  std::vector<bool> in_;
  std::vector<std::int32_t> sums_;
  std::size_t count_ = 0;
};

/// One node asks others for something and takes in what comes of it: answers, and the news that there will be none. At
/// most one request to each is open; who has none open and is up is free.
///
/// A connection that breaks is noticed at both ends: a request that is lost comes back to the asker, and one whose
/// answer is lost is known to be open no longer (answer_lost). News of requests that are no longer open means nothing.
/// A client that cannot be reached is not free for a second, so that a line that is down is not tried all the time.
class RequestPool {
 public:
  struct Options {
    world::Node asker = -1;
    std::vector<world::Node> others = {};
    world::Channel orders;  ///< where the others receive; `answers`: where the asker does, and it alone
    world::Channel answers;
    std::int64_t retries = 0;  ///< times that a lost request is sent again, after 1, 2, 4 … seconds
    bool tells = true;         ///< the outcome of requests goes into the log
    bool stops = true;         ///< those who work for an asker that has gone down stop
  };
  RequestPool(const Setting& setting, Options options);

  /// Once, before the simulation.
  void watch();
  /// The asker begins, or begins anew after it was down: its connections are gone, and workers that worked for it stop.
  void begin();

  std::size_t size() const { return options_.others.size(); }
  std::size_t free() const { return free_.count(); }
  std::size_t open() const { return open_; }  ///< requests
  std::size_t nth_free(std::size_t k) const { return free_.nth(k); }
  bool is_free(std::size_t other) const { return free_.contains(other); }
  /// Whether it is up, and could be reached lately; it may be busy.
  bool is_reachable(std::size_t other) const { return requests_[other].up && !requests_[other].rests; }
  world::Node asker() const { return options_.asker; }
  world::Node node(std::size_t other) const { return options_.others[other]; }
  const Options& options() const { return options_; }

  /// Sends a request to one that is free. `in_place`: it has it already, without a message. The parcel's number tells
  /// its answer from others.
  void ask(std::size_t other, world::Parcel request, bool in_place = false);

  struct Event {
    enum class What : std::uint8_t {
      nothing,  ///< time was up
      news,     ///< someone is free, or down
      answer,   ///< `parcel`, to the request that was open
      failed,   ///< the open request will get no answer
    };
    What what = What::nothing;
    std::size_t other = 0;
    std::int64_t number = 0;  ///< of the request
    world::Parcel parcel = {};
  };
  /// The next event. An answer without values says that no answer will come.
  world::Task<Event> next(double until = world::kNever);
  /// Whether something has come that was not taken in yet.
  bool has_news();

  /// What became of an answer: for the log.
  void tell(const Event& event, ProtocolLog::Part::End end);
  /// An answer, or what it has cost, is worth nothing.
  void waste(const world::Parcel& parcel);

  /// The other end says that the answer to this request was lost.
  void answer_lost(std::size_t other, std::int64_t number);

 private:
  struct Request {
    bool open = false;
    bool up = true;
    bool rests = false;  ///< could not be reached
    std::int64_t number = 0;
    std::int64_t attempts = 0;
    double asked_at = 0;
    world::Parcel parcel;  ///< kept where it may be sent again
  };
  std::size_t index_of(world::Node node) const { return indices_.at(node); }
  void close(std::size_t other);
  void update_free(std::size_t other) {
    free_.set(other, requests_[other].up && !requests_[other].open && !requests_[other].rests);
  }
  void send(std::size_t other, world::Parcel parcel);
  void send_again();
  Event failed(std::size_t other);
  Event unreached(std::size_t other);
  bool wake();

  Setting setting_;
  Options options_;
  std::map<world::Node, std::size_t> indices_;
  std::vector<Request> requests_;
  IndexSet free_;
  std::size_t open_ = 0;
  std::multimap<double, std::pair<std::size_t, std::int64_t>> again_;  ///< when each request is sent again
  std::multimap<double, std::size_t> rest_;                            ///< until when who rests
  std::vector<std::pair<std::size_t, std::int64_t>> broken_;           ///< requests whose answers were lost
};

}  // namespace dadsim::protocols
