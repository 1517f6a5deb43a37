#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "protocols/protocol.hpp"

namespace dadsim::protocols {

/// Set of numbers from 0 … n − 1; adding, removing and finding the k-th take O(log n) (Fenwick, "A new data structure
/// for cumulative frequency tables", 1994).
class IndexSet {
 public:
  explicit IndexSet(std::size_t size) : in_(size, false), sums_(size + 1, 0) {}
  bool contains(std::size_t index) const { return in_[index]; }
  void set(std::size_t index, bool in);
  std::size_t count() const { return count_; }
  std::size_t nth(std::size_t k) const;  ///< the k-th number of the set, in rising order, from 0

 private:
  std::vector<bool> in_;
  std::vector<std::int32_t> sums_;
  std::size_t count_ = 0;
};

/// Requests of one node to others, and their outcomes: answers, or notices that no answer will come. Each node has at
/// most one open request. A node is free if it is up and has none.
///
/// Both ends notice a broken connection: a lost request comes back to the asker, and a lost answer closes its request
/// (answer_lost). Events of closed requests are ignored. After a failure to reach a client, it is not free for a
/// second, which limits attempts over a failed link.
class RequestPool {
 public:
  struct Options {
    world::Node asker = -1;
    std::vector<world::Node> others = {};  ///< nodes that are asked; empty: all sites
    world::Channel orders;  ///< channel on which these nodes receive requests; the asker alone receives on `answers`
    world::Channel answers;
    std::int64_t retries = 0;  ///< largest number of attempts to send a lost request again, after 1, 2, 4 … seconds
    bool tells = true;         ///< logs the outcome of requests
    bool stops = true;         ///< an asker that is back stops the work for its open requests
  };
  RequestPool(const Setting& setting, Options options);

  /// Must be called once, before the simulation.
  void watch();
  /// Starts the asker, or restarts it after an outage: its connections are gone, and with `stops` the nodes that work
  /// for it stop.
  void begin();

  std::size_t size() const { return options_.others.size(); }
  std::size_t free() const { return free_.count(); }
  std::size_t open() const { return open_; }  ///< number of open requests
  std::size_t nth_free(std::size_t k) const { return free_.nth(k); }
  bool is_free(std::size_t other) const { return free_.contains(other); }
  /// Returns true if the node is up and was reachable lately; it may be busy.
  bool is_reachable(std::size_t other) const { return requests_[other].up && !requests_[other].rests; }
  world::Node asker() const { return options_.asker; }
  world::Node node(std::size_t other) const { return options_.others[other]; }
  const Options& options() const { return options_; }

  /// Sends a request to a free node. `in_place`: the node already has the contents, so no message is sent. The parcel's
  /// number identifies the answer.
  void ask(std::size_t other, world::Parcel request, bool in_place = false);

  struct ClientEvent {
    enum class What : std::uint8_t {
      nothing,  ///< no event: the time is up
      news,     ///< a node has become free, or has gone down
      answer,   ///< `parcel` answers the node's open request
      failed,   ///< the node's open request will get no answer
    };
    What what = What::nothing;
    std::size_t other = 0;
    std::int64_t number = 0;  ///< number of the request
    world::Parcel parcel = {};
  };
  /// Waits for the next event, at most until the date `until`, in seconds.
  world::Task<ClientEvent> next(double until = world::kNever);
  /// Returns true if there are events that next() has not returned yet.
  bool has_news();

  /// Logs the outcome of a request.
  void tell(const ClientEvent& event, ProtocolLog::Part::End end);
  /// Counts the seconds of work and the bytes of an answer as wasted.
  void waste(const world::Parcel& parcel);

  /// Records that the answer to this request was lost.
  void answer_lost(std::size_t other, std::int64_t number);

 private:
  struct ClientRequest {
    bool open = false;
    bool up = true;
    bool rests = false;  ///< true: could not be reached lately, so it is not asked for a while
    std::int64_t number = 0;
    std::int64_t attempts = 0;
    double asked_at = 0;
    world::Parcel parcel;  ///< the request, if it may have to be sent again
  };
  std::size_t index_of(world::Node node) const { return indices_.at(node); }
  void close(std::size_t other);
  void update_free(std::size_t other) {
    free_.set(other, requests_[other].up && !requests_[other].open && !requests_[other].rests);
  }
  void send(std::size_t other, world::Parcel parcel);
  void send_again();
  ClientEvent failed(std::size_t other);
  ClientEvent unreached(std::size_t other);
  bool wake();

  Setting setting_;
  Options options_;
  std::map<world::Node, std::size_t> indices_;
  std::vector<ClientRequest> requests_;
  IndexSet free_;
  std::size_t open_ = 0;
  std::multimap<double, std::pair<std::size_t, std::int64_t>> again_;  ///< requests to send again, by date
  std::multimap<double, std::size_t> rest_;                            ///< nodes that rest, by the end of their rest
  std::vector<std::pair<std::size_t, std::int64_t>> broken_;           ///< requests whose answers were lost
};

/// Base of federated learning, with or without rounds. Clients receive a model, train it on their own samples, and send
/// back the difference. Algorithms override the training of clients, and additional values that are sent.
///
/// A client that goes down forgets its order, and does nothing until it is asked again. A lost answer is sent again
/// `retries` times, and then given up.
class Federation : public Protocol {
 public:
  static constexpr spec::RealParameter kLocalEpochs{"local-epochs", 0.001, 1000, "1",
                                                    "passes of a client over its own samples per request (E)"};
  static constexpr spec::IntegerParameter kLocalSteps{
      "local-steps", 0, 1e9, "0", "batches of a client per request, instead of passes; 0: local-epochs"};
  static constexpr spec::IntegerParameter kRetries{"retries", 0, 20, "0",
                                                   "repeats of a lost message, after 1, 2, 4 ... seconds"};

  explicit Federation(const Setting& setting);

  /// Returns the parameters of local training (local-epochs, local-steps) and of lost messages (retries).
  static std::vector<spec::ParameterSpec> local_parameters();
  /// Returns faults of parameters that have no effect with the values of the others.
  static RunFaults faults_of_parameters(const spec::ParameterValues& values);
  /// Returns `parameters`, with `value` as the default of the parameter `name`.
  static std::vector<spec::ParameterSpec> with_default(std::vector<spec::ParameterSpec> parameters,
                                                       const std::string& name, const std::string& value);

 protected:
  static constexpr world::Channel kModel = "model";
  static constexpr world::Channel kUpdate = "update";

  /// The work that a client is asked for.
  struct ClientOrder {
    std::int64_t number = 0;  ///< number of the round; without rounds, of the request
    std::size_t client = 0;
    world::Value model;
    std::vector<world::Value> more = {};  ///< values sent in addition to the model
    std::int64_t steps = 1;               ///< steps of local training
    std::int64_t first = 0;               ///< number of the first batch
    std::int64_t schedule_step = 0;       ///< schedule step of the first batch, for the learning rate
    std::int64_t data_version = 0;        ///< version of the client's data when it begins
  };

  /// Adds a proximal term to local training from now on: μ (x − x₀) is added to every gradient, x₀ the first weights.
  void add_proximal_term(double mu);

  // ---- what an algorithm says ----

  /// Returns the result of the client's local training. Default: the scenario's optimizer, restarted.
  virtual world::Value train(const ClientOrder& order);
  /// Returns the part of the difference that a client sends, before encoding. Default: all of it.
  virtual world::Value released(const ClientOrder& /*order*/, const world::Value& difference) { return difference; }
  /// Returns the values that a client sends in addition to the difference. Default: none.
  virtual std::vector<world::Value> beside(const ClientOrder& order, const world::Value& trained);
  /// Returns the size of the additional values to a client, and from it, in numbers per parameter.
  virtual double extra_down() const { return 0; }
  virtual double extra_up() const { return 0; }
  /// Returns a client's work beyond plain local training: per step, and once per order.
  virtual world::Work work_per_step() const { return proximal_work_; }
  virtual world::Work work_per_order() const { return {}; }
  /// Returns the bytes of the message to a client, and of its answer.
  virtual double bytes_down() const {
    return setting_.sizing.plain_bytes() + extra_down() * setting_.sizing.numbers_bytes();
  }
  virtual double bytes_up() const {
    return setting_.sizing.model_bytes() + extra_up() * setting_.sizing.numbers_bytes();
  }

  // ---- what the servers need ----

  /// Limits the client to `steps` steps per request, from its next request on; 0: all steps. `drops_out`: it then gives
  /// up without an answer.
  void limit(std::size_t client, std::int64_t steps, bool drops_out);
  /// Asks client `client`, node `other` of the pool, to train the model. For `in_place`, see RequestPool::ask().
  void ask(RequestPool& pool, std::size_t other, std::size_t client, std::int64_t number, const world::Value& model,
           std::vector<world::Value> more = {}, bool in_place = false);
  /// Runs client `number`, which answers the requests to node `other` of the pool.
  world::Task<> client(std::size_t number, RequestPool* pool, std::size_t other);

  std::int64_t steps_of(std::size_t client) const;
  /// Returns the number of whole passes of local training, at least 1; 0 if the run sets a number of steps.
  std::int64_t passes() const;
  double samples_of(std::size_t client) const { return static_cast<double>(learning().samples(client)); }
  double samples() const { return samples_; }  ///< samples of all clients
  /// Returns a client's weight in a mean: its samples, or 1 for all clients with uniform weights.
  double weight_of(std::size_t client) const {
    return setting_.run.weights == spec::SiteWeights::uniform ? 1 : samples_of(client);
  }
  /// Returns the sum of all clients' weights.
  double all_weights() const {
    return setting_.run.weights == spec::SiteWeights::uniform ? static_cast<double>(setting_.sites) : samples_;
  }
  /// Counts the client's answer as used for a model, with the samples that the client trained with for it. The learning
  /// rate's schedule follows the sum of these samples.
  void count_used(std::size_t client);
  std::int64_t schedule_step() const;

  const Setting& setting() const { return setting_; }
  Learning& learning() const { return setting_.learning; }
  world::Node node_of(std::size_t client) const { return static_cast<world::Node>(client); }

 private:
  struct Client {
    std::int64_t batches = 0;        ///< batches of local training begun so far
    world::Value memory;             ///< its compressor's memory
    std::int64_t limit = 0;          ///< steps of the present order, at most; 0: all
    bool drops_out = false;          ///< gives up after `limit` steps
    std::int64_t schedule_step = 0;  ///< schedule step of the present order
    double trained = 0;              ///< samples trained with for the present order
    std::int64_t attempts = 0;       ///< attempts to send its present answer
    std::uint32_t answers = 0;       ///< number of answers so far
  };
  world::Task<> answer_again(std::size_t number, RequestPool& pool, std::size_t other, world::Parcel lost);
  void answer(std::size_t number, RequestPool& pool, world::Parcel parcel);
  std::vector<std::int64_t> batch_sizes(const ClientOrder& order) const;

  Setting setting_;
  std::vector<Client> clients_;
  std::int64_t local_steps_ = 0, retries_ = 0;
  double local_epochs_ = 1;
  double samples_ = 0;
  double used_samples_ = 0;
  bool constant_rate_ = true;
  world::Work encode_;
  double mu_ = 0;
  world::Work proximal_work_;  ///< work per step of the proximal term
};

}  // namespace dadsim::protocols
