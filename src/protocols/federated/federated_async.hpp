#pragma once

#include <cstdint>
#include <vector>

#include "protocols/arrival_weights.hpp"
#include "protocols/federated/federation.hpp"

namespace dadsim::protocols {

/// Federated learning without rounds. A number of clients work at any time, each on the model that was current when it
/// was asked. The server makes a new model of every `buffer` updates, from any clients. Each client that has answered
/// is replaced by a free one, drawn uniformly. Updates that arrive at the same time are all processed before another
/// client is asked.
///
/// A client that fails is replaced at once. A server that comes back after an outage continues from its last model,
/// with an empty buffer.
class FederatedAsync : public Federation {
 public:
  static constexpr spec::IntegerParameter kConcurrency{"concurrency", 0, 1e9, "0",
                                                       "clients that train concurrently; 0: all"};
  static constexpr spec::IntegerParameter kUpdates{
      "updates", 0, 1e9, "0", "new models in the run; 0: until clients have trained for the epochs of <training>"};

  /// `buffer`: updates per new model. `usual`: default number of new models between two evaluations.
  FederatedAsync(const Setting& setting, std::size_t buffer, std::int64_t usual);
  void begin() override;

  /// Returns the parameters concurrency and updates, and those of local training.
  static std::vector<spec::ParameterSpec> common_parameters();
  /// Returns MethodInfo::models_held. `buffer`: updates per new model.
  static double models_held(const spec::ParameterValues& values, double sites, double buffer);

 protected:
  struct ClientUpdate {
    world::Value difference;  ///< the model sent to the client − its trained model, as received
    world::Value sent;        ///< model that the client was sent
    std::size_t client = 0;
    std::int64_t staleness = 0;  ///< number of new models since the client was sent its model
    RequestPool::ClientEvent event = {};
  };
  virtual world::Value combine(const world::Value& model, const std::vector<ClientUpdate>& updates) = 0;
  virtual world::Work combine_work(std::size_t updates) const = 0;
  /// Weights of client updates in combine(), if the run weighs clients.
  ArrivalWeights& arrivals() { return arrivals_; }

 private:
  struct AskedClient {
    world::Value model;
    std::int64_t version = 0;
  };
  world::Task<> server();
  void ask_some();
  void take_in(RequestPool::ClientEvent event);
  std::vector<ClientUpdate> take_buffer();

  RequestPool pool_;
  ArrivalWeights arrivals_;
  std::vector<AskedClient> asked_;  ///< per client, the last model that it was sent, and the number of that version
  std::vector<ClientUpdate> buffer_;
  world::Value model_;
  world::Work work_;
  std::size_t capacity_ = 1, concurrency_ = 1;
  std::int64_t usual_ = 1;
  std::size_t at_work_ = 0;
  std::int64_t requests_ = 0;
};

}  // namespace dadsim::protocols
