#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "protocols/federated/request_pool.hpp"
#include "protocols/protocol.hpp"

namespace dadsim::protocols {

/// What federated learning has in common, in rounds or not: clients that are sent a model, train it on their own
/// samples for a while and send back how far they have come. What exactly they train and what goes beside the model is
/// the algorithm's, which overrides what it does differently.
///
/// A client that goes down forgets what it was asked, and does nothing until it is asked again. An answer that is lost
/// is sent again `retries` times, and given up then.
class Federation : public Protocol {
 public:
  static constexpr spec::RealParameter kLocalEpochs{
      "local-epochs", 0.001, 1000, "1", "passes of a client over its own samples each time that it is asked (E)"};
  static constexpr spec::IntegerParameter kLocalSteps{
      "local-steps", 0, 1e9, "0", "batches of a client each time that it is asked, instead of passes; 0: local-epochs"};
  static constexpr spec::IntegerParameter kRetries{
      "retries", 0, 20, "0", "times that a message that was lost is sent again, after 1, 2, 4 ... seconds"};

  explicit Federation(const Setting& setting);

  /// How much clients train: local-epochs, local-steps; and how often what is lost is sent again: retries.
  static std::vector<spec::ParameterSpec> local_parameters();
  /// Of those that would change nothing beside the others.
  static RunFaults faults_of_parameters(const spec::ParameterValues& values);
  /// Defaults that differ from the usual ones, by parameter.
  static std::vector<spec::ParameterSpec> with_default(std::vector<spec::ParameterSpec> parameters,
                                                       const std::string& name, const std::string& value);

 protected:
  static constexpr world::Channel kModel = "model";
  static constexpr world::Channel kUpdate = "update";

  /// The work that a client is asked for.
  struct Order {
    std::int64_t number = 0;  ///< of the round, or of the version of the model
    std::size_t client = 0;
    world::Value model;
    std::vector<world::Value> more = {};  ///< what the server sends with the model
    std::int64_t steps = 1;               ///< of local training
    std::int64_t first = 0;               ///< number of its first batch
    std::int64_t schedule_step = 0;       ///< of the first, as the schedule of the learning rate counts
    std::int64_t data_version = 0;        ///< of the client's data when it begins
  };

  /// From now on local training is held to the model that it began with: μ (x − x₀) is added to every gradient.
  void add_proximal_term(double mu);

  // ---- what an algorithm says ----

  /// What the client's local training gives. By default: the scenario's optimizer, begun anew.
  virtual world::Value train(const Order& order);
  /// What a client sends of how far its training has come from the model, before that is encoded. By default all of it.
  virtual world::Value released(const Order& /*order*/, const world::Value& difference) { return difference; }
  /// What a client sends in addition to the difference. By default nothing.
  virtual std::vector<world::Value> beside(const Order& order, const world::Value& trained);
  /// Messages as large as the model that travel beside it, each way.
  virtual double extra_down() const { return 0; }
  virtual double extra_up() const { return 0; }
  /// What a client computes beside plain local training: per step of that, and once per order.
  virtual world::Work work_per_step() const { return proximal_work_; }
  virtual world::Work work_per_order() const { return {}; }
  /// Bytes of what a client is sent, and of its answer.
  virtual double bytes_down() const {
    return setting_.sizing.plain_bytes() + extra_down() * setting_.sizing.numbers_bytes();
  }
  virtual double bytes_up() const {
    return setting_.sizing.model_bytes() + extra_up() * setting_.sizing.numbers_bytes();
  }

  // ---- what the servers need ----

  /// Lets a client do this many steps (`drops_out`: and give up then) when it is asked next; 0 steps: all of them.
  void limit(std::size_t client, std::int64_t steps, bool drops_out);
  /// The model to a client.
  void ask(RequestPool& pool, std::size_t other, std::size_t client, std::int64_t number, const world::Value& model,
           std::vector<world::Value> more = {}, bool in_place = false);
  /// A client that works for the node that collects.
  world::Task<> client(std::size_t number, RequestPool* pool, std::size_t other);

  std::int64_t steps_of(std::size_t client) const;
  /// Whole passes that it makes in steps_of() steps, 1 at least; 0 where steps are asked for and not passes.
  std::int64_t passes() const;
  double samples_of(std::size_t client) const { return static_cast<double>(learning().samples(client)); }
  double samples() const { return samples_; }  ///< of all clients
  /// What a client's part of a mean counts, in units of its own: its samples, or all alike where the run says so.
  double weight_of(std::size_t client) const {
    return setting_.run.weights == spec::SiteWeights::uniform ? 1 : samples_of(client);
  }
  /// Of all clients together.
  double all_weights() const {
    return setting_.run.weights == spec::SiteWeights::uniform ? static_cast<double>(setting_.sites) : samples_;
  }
  /// Whether clients have trained with the epochs of <training>.
  bool budget_spent() const;
  /// What clients have trained with for models that there are, so that the schedule of the learning rate goes on.
  void count_used(std::size_t client);
  std::int64_t schedule_step() const;

  const Setting& setting() const { return setting_; }
  Learning& learning() const { return setting_.learning; }
  world::Node node_of(std::size_t client) const { return static_cast<world::Node>(client); }

 private:
  struct Client {
    std::int64_t batches = 0;        ///< of local training that were begun so far
    world::Value memory;             ///< what its compressor has lost
    std::int64_t limit = 0;          ///< steps of the present order, at most; 0: all
    bool drops_out = false;          ///< after them
    std::int64_t schedule_step = 0;  ///< of the present order
    double trained = 0;              ///< samples, for its present order
    std::int64_t attempts = 0;       ///< of sending its present answer
    std::uint32_t answers = 0;       ///< so far
  };
  world::Task<> answer_again(std::size_t number, RequestPool& pool, std::size_t other, world::Parcel lost);
  void answer(std::size_t number, RequestPool& pool, world::Parcel parcel);
  std::vector<std::int64_t> batch_sizes(const Order& order) const;

  Setting setting_;
  std::vector<Client> clients_;
  std::int64_t local_steps_ = 0, retries_ = 0;
  double local_epochs_ = 1;
  double samples_ = 0;
  double used_samples_ = 0;
  bool constant_rate_ = true;
  world::Work encode_;
  double mu_ = 0;
  world::Work proximal_work_;  ///< per step
};

}  // namespace dadsim::protocols
