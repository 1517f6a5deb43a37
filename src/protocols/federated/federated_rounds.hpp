#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "protocols/federated/federation.hpp"
#include "protocols/protocol.hpp"

namespace dadsim::protocols {

/// Cost of secure aggregation, by which a server learns only the sum of its clients' updates (Bonawitz et al.,
/// Practical Secure Aggregation for Privacy-Preserving Machine Learning, CCS 2017, the honest-but-curious protocol).
/// Learning is unchanged: numbers are neither quantised nor masked here.
///
/// From the paper: the messages of each round, 2 n a_K + (5 n − 4) a_S + m ⌈log₂ R⌉ bits per client (§7.1) with keys
/// and shares of 256 bits, n clients and m numbers; R = n · 2^bits, so that the sum fits; the masks that each client
/// expands; and the time of one thread for masks, keys and secrets (secure_aggregation.csv), on any device.
/// Assumptions: the list of remaining clients has one bit per client, and enough clients remain to reconstruct the
/// secrets.
class SecureAggregation {
 public:
  static constexpr auto kSecure = spec::choice<bool>(
      "secure", {{"no", false}, {"yes", true}}, "yes: adds the computing time and the messages of secure aggregation");
  static constexpr spec::IntegerParameter kSecureBits{
      "secure-bits", 1, 64, "32", "bits per number of an update; the sum needs ceil(log2(clients)) bits more"};

  static constexpr double kKeyBytes = 32;    ///< a_K, bytes of a key
  static constexpr double kShareBytes = 32;  ///< a_S, bytes of a share

  /// Returns the parameters secure and secure-bits.
  static std::vector<spec::ParameterSpec> parameters();
  /// Reads the run's parameters. Without them, secure aggregation is off.
  explicit SecureAggregation(const Setting& setting);
  explicit SecureAggregation(double bits) : bits_(bits) {}

  bool in_use() const { return in_use_; }
  /// Sets the number of clients of a round.
  void set_clients(std::size_t n) { clients_ = static_cast<double>(n); }

  // Bytes, per client.
  double keys_up() const { return 2 * kKeyBytes; }  ///< AdvertiseKeys: two public keys
  double keys_down() const { return 2 * kKeyBytes * (clients_ - 1); }
  double shares_up() const { return 2 * kShareBytes * (clients_ - 1); }  ///< ShareKeys: shares of key and own mask
  double shares_down() const { return shares_up(); }
  double masked(double numbers) const;                         ///< MaskedInputCollection: the masked update
  double left_down() const;                                    ///< Unmasking: list of the remaining clients
  double unmask_up() const { return kShareBytes * clients_; }  ///< Unmasking: a share of each client's key or mask

  // Seconds of a thread.
  /// Returns a client's seconds to expand its masks over `numbers` numbers: its own mask, and one with each other
  /// client. Keys and shares are included.
  double client_seconds(double numbers) const;
  /// Returns the server's seconds to remove masks: each answering client's own mask, and each missing client's masks
  /// with the answering ones. Both need secrets that are reconstructed first; masks of missing clients also need key
  /// agreements.
  double server_seconds(double numbers, std::size_t updates) const;

 private:
  bool in_use_ = false;
  double bits_ = 32;
  double clients_ = 1;
};

/// Federated learning in rounds. A server asks some clients, sends them the model, waits for updates until enough have
/// arrived or time is up, and makes a new model of them.
///
/// Clients are drawn uniformly from the free ones (McMahan et al., arXiv 1602.05629), by seed and round alone. A client
/// that fails is dropped from the round. Late updates are ignored. A client that is down or busy with an earlier round
/// is not asked. A server that comes back after an outage starts a new round from its last model.
class FederatedRounds : public Federation {
 public:
  static constexpr spec::RealParameter kStragglers{
      "stragglers", 0, 1, "0", "share of a round's clients that finish only a part of their local work"};
  static constexpr auto kPartial = spec::choice<bool>("partial", {{"keep", true}, {"drop", false}},
                                                      "keep: use the partial work of a straggler; drop: ignore it");

  static constexpr spec::RealParameter kFraction{"fraction", 1e-6, 1, "1",
                                                 "share of all clients whose updates make a round (C)"};
  static constexpr spec::RealParameter kMinimum{
      "minimum", 0, 1, "0.5", "share of a round's clients that must be available before the round begins"};
  static constexpr spec::IntegerParameter kRounds{
      "rounds", 0, 1e9, "0", "rounds to simulate; 0: until clients have trained for the epochs of <training>"};
  static constexpr spec::RealParameter kDeadline{
      "deadline", 0, 1e9, "0", "seconds after which a round continues with the updates received; 0: none"};
  static constexpr spec::RealParameter kOverSelection{
      "over-selection", 1, 100, "1", "clients asked ÷ updates needed; updates that arrive later are ignored"};
  static constexpr auto kInitial =
      spec::choice<bool>("initial", {{"sent", false}, {"in-place", true}},
                         "sent: the server sends the first model; in-place: clients already have the first model");

  /// `waits_for_all`: a round waits for all its clients until the deadline, not only for the fraction that it needs.
  explicit FederatedRounds(const Setting& setting, bool waits_for_all = false);
  void begin() override;

  /// Returns the parameters of rounds, and those of local training.
  static std::vector<spec::ParameterSpec> common_parameters();
  /// Returns the parameters of stragglers. `keep`: the default keeps their partial work.
  static std::vector<spec::ParameterSpec> straggler_parameters(bool keep);
  /// Returns faults of parameters that have no effect with the values of the others.
  static RunFaults faults_of_parameters(const spec::ParameterValues& values, bool keep = false);
  /// Returns a function for MethodInfo::models_held: `per_client` models for each client of a round, or for the share
  /// `minimum` of these clients if clients fail. With a deadline, 1 model.
  static std::function<double(const spec::ParameterValues&, double, bool)> models_held(double per_client = 2);

 protected:
  /// A client's answer.
  struct Update {
    std::vector<world::Value> values;  ///< first the server's model − the client's model, as received; then additional
                                       ///< values
    std::size_t client = 0;
    double weight = 0;  ///< result of weight_of() for the client
    RequestPool::ClientEvent event = {};
  };

  // ---- what an algorithm says ----

  /// Returns the clients asked in a round, in rising order. Default: drawn uniformly from the free clients; their
  /// number is the share `fraction` of all clients, times the over-selection, or that of the free clients if there are
  /// fewer.
  virtual std::vector<std::size_t> choose(std::int64_t round);
  /// Called with the clients that will be asked for updates; with secure aggregation, those that have exchanged keys.
  virtual void about_to_ask(std::int64_t /*round*/, const std::vector<std::size_t>& /*chosen*/) {}
  /// Returns true if these updates suffice for a new model. Default: one or more. Otherwise the updates are wasted.
  virtual bool suffices(std::int64_t /*round*/, const std::vector<Update>& updates) { return !updates.empty(); }
  /// Returns true if this round is the run's last. Default: the round `rounds`, or the one in which clients use up the
  /// budget.
  virtual bool is_last(std::int64_t round) const;

  /// Returns the values that the server sends in addition to the model. Default: none.
  virtual std::vector<world::Value> with_model() { return {}; }
  /// Returns the new model. Default: x − Σ p_k Δ_k, with weights p_k of the updates that add up to 1.
  virtual world::Value aggregate(const world::Value& model, const std::vector<Update>& updates);
  virtual world::Work aggregation_work(std::size_t updates) const;
  double bytes_up() const override;
  double bytes_down() const override;
  world::Work work_per_order() const override;

  /// Returns Σ p_k value `which` of the updates, p_k = weight ÷ `all` (0: the sum of the weights).
  world::Value mean(const std::vector<Update>& updates, std::size_t which, double all = 0) const;
  const RequestPool& pool() const { return pool_; }
  bool is_secure() const { return secure_.in_use(); }

 private:
  /// Requests of secure aggregation in a round, numbered.
  enum class Secret : std::uint8_t { keys, shares, unmask };
  static constexpr std::int64_t kSecrets = 3;

  world::Task<> server();
  world::Task<> masks(std::size_t number);
  world::Task<> exchange_keys(std::int64_t round, std::vector<std::size_t>& chosen);
  world::Task<> unmask(std::int64_t round, const std::vector<Update>& updates);
  world::Task<> evaluate(std::int64_t round, std::vector<std::size_t> chosen);
  world::Task<> evaluating_client(std::size_t number);
  world::Task<> wait_for_clients();
  world::Task<> collect(std::int64_t round, std::size_t open);
  void take_in_late(const RequestPool::ClientEvent& event, std::int64_t round);
  void draw_stragglers(std::int64_t round, const std::vector<std::size_t>& chosen);

  RequestPool pool_;
  RequestPool secrets_;      ///< requests of secure aggregation, separate from those of the model
  RequestPool evaluations_;  ///< requests to evaluate the new model, for frameworks that send it to clients for this
  SecureAggregation secure_;
  world::ParticipationClock clock_;
  bool has_stragglers_ = false;
  world::Value model_;
  std::vector<Update> updates_;  ///< updates of the present round
  std::size_t at_least_ = 1;
  std::int64_t round_ = 0;
};

}  // namespace dadsim::protocols
