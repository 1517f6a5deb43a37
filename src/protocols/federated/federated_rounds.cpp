#include "protocols/federated/federated_rounds.hpp"

#include <algorithm>
#include <boost/random/uniform_int_distribution.hpp>
#include <cmath>
#include <utility>

#include "methods/idle_parameters.hpp"
#include "protocols/federated/secure_aggregation.csv.hpp"
#include "support/fact_table.hpp"
#include "support/random.hpp"

namespace dadsim::protocols {
namespace {

struct ThreadSeconds {
  double mask = 0;       ///< seconds per number and mask
  double secret = 0;     ///< seconds per client
  double share = 0;      ///< seconds per pair of clients, in both orders
  double agreement = 0;  ///< seconds per pair of a missing client and another one
};

const ThreadSeconds& thread_seconds() {
  static const auto kSeconds =
      read_constants<ThreadSeconds>(tables::kSecureAggregation, {{"mask", &ThreadSeconds::mask},
                                                                 {"secret", &ThreadSeconds::secret},
                                                                 {"share", &ThreadSeconds::share},
                                                                 {"agreement", &ThreadSeconds::agreement}});
  return kSeconds;
}

}  // namespace

std::vector<spec::ParameterSpec> SecureAggregation::parameters() { return {kSecure, kSecureBits}; }

SecureAggregation::SecureAggregation(const Setting& setting) {
  if (!setting.parameters().contains(kSecure.name)) return;
  in_use_ = setting.value(kSecure);
  bits_ = static_cast<double>(setting.value(kSecureBits));
}

double SecureAggregation::masked(double numbers) const {
  return std::ceil(numbers * (bits_ + std::ceil(std::log2(clients_))) / 8);
}

double SecureAggregation::left_down() const { return std::ceil(clients_ / 8); }

double SecureAggregation::client_seconds(double numbers) const { return clients_ * numbers * thread_seconds().mask; }

double SecureAggregation::server_seconds(double numbers, std::size_t updates) const {
  const ThreadSeconds& thread = thread_seconds();
  const auto left = static_cast<double>(updates);
  const double pairs = (clients_ - left) * left;
  return (left + pairs) * numbers * thread.mask + clients_ * thread.secret + clients_ * clients_ * thread.share +
         pairs * thread.agreement;
}

using world::Channel;
using End = ProtocolLog::Part::End;
using What = RequestPool::ClientEvent::What;

namespace {

constexpr Channel kSecretOrder = "secure aggregation";
constexpr Channel kSecretAnswer = "keys and shares";
constexpr Channel kEvaluate = "evaluation";
constexpr Channel kMetrics = "metrics";
constexpr double kMetricsBytes = 100;  // a loss and an accuracy with their names

world::ParticipationClock::Rules rules_of(const Setting& setting, bool waits_for_all) {
  world::ParticipationClock::Rules rules{
      .sites = setting.sites,
      .seed = setting.seed(),
      .fraction = setting.value(FederatedRounds::kFraction),
      .deadline = world::ParticipationClock::deadline_of(setting.value(FederatedRounds::kDeadline))};
  if (waits_for_all) return rules;
  rules.over_selection = setting.value(FederatedRounds::kOverSelection);
  rules.enough = world::ParticipationClock(rules).needed();
  return rules;
}

}  // namespace

std::vector<spec::ParameterSpec> FederatedRounds::common_parameters() {
  return joined<spec::ParameterSpec>(
      {{kFraction, kMinimum, kRounds, kDeadline, kOverSelection, kInitial}, local_parameters()});
}

std::vector<spec::ParameterSpec> FederatedRounds::straggler_parameters(bool keep) {
  return {kStragglers, kPartial.with_default(keep ? 0 : 1)};
}

RunFaults FederatedRounds::faults_of_parameters(const spec::ParameterValues& values, bool keep) {
  return joined({methods::faults_of_idle_parameters(
                     values, {{kOverSelection, kFraction},  // if fraction is 1, all are asked anyway
                              {kPartial.with_default(keep ? 0 : 1), kStragglers},
                              {SecureAggregation::kSecureBits, SecureAggregation::kSecure, {"yes"}}}),
                 Federation::faults_of_parameters(values)});
}

std::function<double(const spec::ParameterValues&, double, bool)> FederatedRounds::models_held(double per_client) {
  return [per_client](const spec::ParameterValues& values, double sites, bool fails) -> double {
    if (kDeadline.of(values) > 0) return 1;  // the round continues with the sites that are left
    const double wanted = std::max(1.0, std::round(kFraction.of(values) * sites));
    return per_client * (fails ? std::max(1.0, wanted * kMinimum.of(values)) : wanted);
  };
}

FederatedRounds::FederatedRounds(const Setting& setting, bool waits_for_all)
    : Federation(setting),
      pool_(setting,
            {.asker = setting.server, .orders = kModel, .answers = kUpdate, .retries = setting.value(kRetries)}),
      secrets_(setting, {.asker = setting.server,
                         .orders = kSecretOrder,
                         .answers = kSecretAnswer,
                         .retries = setting.value(kRetries),
                         .tells = false}),
      evaluations_(setting, {.asker = setting.server,
                             .orders = kEvaluate,
                             .answers = kMetrics,
                             .retries = setting.value(kRetries),
                             .tells = false,
                             .stops = false}),
      secure_(setting),
      clock_(rules_of(setting, waits_for_all)),
      has_stragglers_(setting.parameters().contains("stragglers")) {
  const double least = std::ceil(setting.value(kMinimum) * static_cast<double>(clock_.needed()) - 1e-9);
  at_least_ = std::max<std::size_t>(1, static_cast<std::size_t>(least));
}

void FederatedRounds::begin() {
  model_ = learning().initial();
  setting().loop.join(setting().server, "server", [this] { return server(); });
  pool_.watch();
  if (secure_.in_use()) secrets_.watch();
  if (setting().clients_evaluate) evaluations_.watch();
  for (std::size_t number = 0; number < setting().sites; ++number) {
    setting().loop.join(node_of(number), "client", [this, number] { return client(number, &pool_, number); });
    if (setting().clients_evaluate) {
      setting().loop.join(node_of(number), "evaluation", [this, number] { return evaluating_client(number); });
    }
    if (!secure_.in_use()) continue;
    setting().loop.join(node_of(number), "masks", [this, number] { return masks(number); });
  }
}

// ---- what algorithms change ----

Value FederatedRounds::mean(const std::vector<Update>& updates, std::size_t which, double all) const {
  std::vector<Value> values;
  std::vector<double> weights;
  if (all == 0) {
    for (const Update& update : updates) all += update.weight;
  }
  for (const Update& update : updates) {
    values.push_back(update.values[which]);
    weights.push_back(update.weight / all);
  }
  return learning().weighted_sum(values, weights);
}

Value FederatedRounds::aggregate(const Value& model, const std::vector<Update>& updates) {
  return learning().difference(model, mean(updates, 0));
}

Work FederatedRounds::aggregation_work(std::size_t updates) const {
  return setting().sizing.sum(step::Role::aggregator, updates);
}

double FederatedRounds::bytes_up() const {
  if (!secure_.in_use()) return Federation::bytes_up();
  return secure_.masked(setting().sizing.parameters()) * (1 + extra_up());
}

double FederatedRounds::bytes_down() const {
  return Federation::bytes_down() + (secure_.in_use() ? secure_.shares_down() : 0);
}

Work FederatedRounds::work_per_order() const {
  if (!secure_.in_use()) return {};
  return {.pieces = {}, .seconds = secure_.client_seconds(setting().sizing.parameters())};
}

// ---- who is asked ----

std::vector<std::size_t> FederatedRounds::choose(std::int64_t round) {
  std::vector<std::size_t> free;
  for (std::size_t k = 0; k < pool_.free(); ++k) free.push_back(pool_.nth_free(k));
  return clock_.draw(round, std::move(free));
}

/// Limits the work of a round's stragglers to x passes, or batches, of E, with x uniform in 1 … E (Li et al., arXiv
/// 1812.06127, §5.2).
void FederatedRounds::draw_stragglers(std::int64_t round, const std::vector<std::size_t>& chosen) {
  if (!has_stragglers_) return;
  for (const std::size_t one : chosen) limit(one, 0, false);
  const double share = setting().value(kStragglers);
  if (share == 0) return;
  const bool drop = !setting().value(kPartial);
  std::vector<std::size_t> them = chosen;
  RandomStream random(setting().seed(), Purpose::stragglers, 0, static_cast<std::uint32_t>(round));
  const auto count = static_cast<std::size_t>(std::llround(share * static_cast<double>(them.size())));
  using Uniform = boost::random::uniform_int_distribution<std::int64_t>;
  for (std::size_t i = 0; i < count; ++i) {
    std::swap(them[i], them[static_cast<std::size_t>(
                           Uniform(static_cast<std::int64_t>(i), static_cast<std::int64_t>(them.size()) - 1)(random))]);
    const std::int64_t all = steps_of(them[i]);
    if (passes() == 0) {
      limit(them[i], Uniform(1, all)(random), drop);
    } else {
      limit(them[i], std::max<std::int64_t>(1, all * Uniform(1, passes())(random) / passes()), drop);
    }
  }
}

/// Handles an answer or a failure that belongs to an earlier round.
void FederatedRounds::take_in_late(const RequestPool::ClientEvent& event, std::int64_t round) {
  if (event.number == round) return;
  if (event.what == What::failed) pool_.tell(event, End::failed);
  if (event.what == What::answer) pool_.tell(event, End::late);
}

/// Waits until enough clients are free. Handles all pending events before any client is asked, so that no event
/// concerns a later request.
Task<> FederatedRounds::wait_for_clients() {
  while (pool_.has_news() || pool_.free() < at_least_) {
    const RequestPool::ClientEvent event = co_await pool_.next();
    take_in_late(event, 0);
  }
}

bool FederatedRounds::is_last(std::int64_t round) const {
  const std::int64_t rounds = setting().value(kRounds);
  return rounds > 0 ? round >= rounds : setting().budget_spent();
}

// ---- the server ----

Task<> FederatedRounds::collect(std::int64_t round, std::size_t open) {
  while (!clock_.is_complete(updates_.size(), open)) {
    RequestPool::ClientEvent event = co_await pool_.next(clock_.date(updates_.size()));
    if (event.what == What::nothing) break;  // the deadline has passed
    take_in_late(event, round);
    if (event.what == What::news || event.number != round) continue;
    --open;
    if (event.what == What::failed) {
      pool_.tell(event, End::failed);
      continue;
    }
    pool_.tell(event, End::used);
    Update update{.values = event.parcel.values, .client = event.other, .weight = weight_of(event.other)};
    update.event = std::move(event);
    updates_.push_back(std::move(update));
  }
}

Task<> FederatedRounds::server() {
  world::EventLoop& loop = setting().loop;
  ProtocolLog& log = setting().log;
  const Sizing& sizing = setting().sizing;
  const Node me = setting().server;
  for (const Update& update : updates_) pool_.waste(update.event.parcel);  // lost with the server's memory
  pool_.begin();
  secrets_.begin();
  if (setting().clients_evaluate) evaluations_.begin();
  if (log.versions.empty() && setting().new_version(model_, 1)) co_return;
  for (;;) {
    updates_.clear();
    co_await wait_for_clients();
    const std::int64_t round = ++round_;
    std::vector<std::size_t> chosen = choose(round);
    draw_stragglers(round, chosen);
    clock_.begin(loop.now());
    if (secure_.in_use()) co_await exchange_keys(round, chosen);
    about_to_ask(round, chosen);
    const bool in_place = round == 1 && setting().value(kInitial);
    const std::vector<Value> more = with_model();
    for (const std::size_t one : chosen) ask(pool_, one, one, round, model_, more, in_place);
    log.set_at_work(loop.now(), pool_.open());
    co_await collect(round, chosen.size());
    const bool sufficient = suffices(round, updates_);
    if (secure_.in_use() && sufficient && !updates_.empty()) co_await unmask(round, updates_);
    if (sufficient) {
      Work work = sizing.decode(step::Role::aggregator, static_cast<double>(updates_.size())) +
                  aggregation_work(updates_.size());
      co_await loop.compute(me, std::move(work));
      // Sorts by client, not by arrival, so that rounds with the same clients are equal.
      std::ranges::sort(updates_, {}, &Update::client);
      model_ = aggregate(model_, updates_);
      for (const Update& update : updates_) count_used(update.client);
      ++log.updates;
      if (setting().clients_evaluate) co_await evaluate(round, chosen);
    } else {
      for (const Update& update : updates_) pool_.waste(update.event.parcel);
      log.facts["rounds without an update"] += 1;
    }
    const bool last = is_last(round);
    if (sufficient || last) {
      if (setting().new_version(model_, 1, last)) co_return;
    }
  }
}

// ---- evaluation by clients ----

/// Sends the new model to those clients of the round that are up; each answers in a few bytes. The clients' time for
/// evaluation is not counted, because their number of held-back samples is unknown.
Task<> FederatedRounds::evaluate(std::int64_t round, std::vector<std::size_t> chosen) {
  std::erase_if(chosen, [&](std::size_t one) { return !setting().loop.is_up(node_of(one)); });
  for (const std::size_t one : chosen) {
    evaluations_.ask(one, {.values = {model_}, .bytes = setting().sizing.plain_bytes(), .number = round});
  }
  for (std::size_t open = chosen.size(); open > 0;) {
    const RequestPool::ClientEvent event = co_await evaluations_.next();
    if (event.number == round && (event.what == What::answer || event.what == What::failed)) --open;
  }
}

Task<> FederatedRounds::evaluating_client(std::size_t number) {
  for (;;) {
    const Parcel order = co_await setting().loop.receive(node_of(number), kEvaluate);
    if (order.lost) {
      evaluations_.answer_lost(number, order.number);
      continue;
    }
    Parcel answer{.values = {order.values.front()}, .bytes = kMetricsBytes, .number = order.number};
    setting().loop.send(node_of(number), setting().server, kMetrics, std::move(answer), kEvaluate);
  }
}

// ---- secure aggregation ----

/// Simulates the two exchanges before the model is sent: public keys, then shares of secrets. Clients receive their
/// shares together with the model.
Task<> FederatedRounds::exchange_keys(std::int64_t round, std::vector<std::size_t>& chosen) {
  for (const Secret what : {Secret::keys, Secret::shares}) {
    secure_.set_clients(chosen.size());
    const std::int64_t number = round * kSecrets + static_cast<std::int64_t>(what);
    for (const std::size_t one : chosen) {
      secrets_.ask(one, {.bytes = what == Secret::keys ? 0 : secure_.keys_down(), .number = number});
    }
    std::vector<std::size_t> there;
    for (std::size_t open = chosen.size(); open > 0;) {
      const RequestPool::ClientEvent event = co_await secrets_.next(clock_.date(there.size()));
      if (event.what == What::nothing) break;
      if (event.number != number) continue;
      --open;
      if (event.what == What::answer) there.push_back(event.other);
    }
    std::ranges::sort(there);
    chosen = std::move(there);
  }
  secure_.set_clients(chosen.size());
}

/// Simulates the exchange after the updates: the server collects the shares that remove the masks from the sum.
Task<> FederatedRounds::unmask(std::int64_t round, const std::vector<Update>& updates) {
  const std::int64_t number = round * kSecrets + static_cast<std::int64_t>(Secret::unmask);
  for (const Update& update : updates) {
    secrets_.ask(update.client, {.bytes = secure_.left_down(), .number = number});
  }
  for (std::size_t open = updates.size(); open > 0;) {
    const RequestPool::ClientEvent event = co_await secrets_.next();
    if (event.number == number) --open;
  }
  Work work{.pieces = {}, .seconds = secure_.server_seconds(setting().sizing.parameters(), updates.size())};
  co_await setting().loop.compute(setting().server, std::move(work));
}

/// The client's side of secure aggregation.
Task<> FederatedRounds::masks(std::size_t number) {
  world::EventLoop& loop = setting().loop;
  const Node me = node_of(number);
  for (;;) {
    const Parcel order = co_await loop.receive(me, kSecretOrder);
    if (order.lost) {
      secrets_.answer_lost(number, order.number);
      continue;
    }
    Parcel answer{.values = {model_}, .number = order.number};  // a placeholder: only the size of the message counts
    switch (static_cast<Secret>(order.number % kSecrets)) {
      case Secret::keys:
        answer.bytes = secure_.keys_up();
        break;
      case Secret::shares:
        answer.bytes = secure_.shares_up();
        break;
      case Secret::unmask:
        answer.bytes = secure_.unmask_up();
        break;
    }
    loop.send(me, setting().server, kSecretAnswer, std::move(answer), kSecretOrder);
  }
}

}  // namespace dadsim::protocols
