#include "protocols/federated/federated_async.hpp"

#include <algorithm>
#include <boost/random/uniform_int_distribution.hpp>
#include <utility>

#include "support/random.hpp"

namespace dadsim::protocols {

double FederatedAsync::models_held(const spec::ParameterValues& values, double sites, double buffer) {
  const double at_work = static_cast<double>(kConcurrency.of(values));
  const double clients = at_work > 0 ? std::min(at_work, sites) : sites;
  const double updates = static_cast<double>(kUpdates.of(values)) * buffer;
  return updates > 0 ? std::min(clients, updates) : clients;
}

std::vector<spec::ParameterSpec> FederatedAsync::common_parameters() {
  return joined<spec::ParameterSpec>({{kConcurrency, kUpdates}, local_parameters()});
}

FederatedAsync::FederatedAsync(const Setting& setting, std::size_t buffer, std::int64_t usual)
    : Federation(setting),
      pool_(setting,
            {.asker = setting.server, .orders = kModel, .answers = kUpdate, .retries = setting.value(kRetries)}),
      arrivals_(setting.run.weights, setting.learning.problem().partition),
      asked_(setting.sites),
      capacity_(buffer),
      usual_(std::max<std::int64_t>(1, usual)) {
  const auto concurrency = static_cast<std::size_t>(setting.value(kConcurrency));
  concurrency_ = concurrency == 0 ? setting.sites : std::min(concurrency, setting.sites);
}

void FederatedAsync::begin() {
  model_ = learning().initial();
  work_ = setting().sizing.decode(step::Role::aggregator, static_cast<double>(capacity_)) + combine_work(capacity_);
  setting().loop.join(setting().server, "server", [this] { return server(); });
  pool_.watch();
  for (std::size_t number = 0; number < setting().sites; ++number) {
    setting().loop.join(node_of(number), "client", [this, number] { return client(number, &pool_, number); });
  }
}

/// Asks free clients, drawn at random, until `concurrency` clients work. The draw depends on the seed, the number of
/// earlier requests, and the free clients.
void FederatedAsync::ask_some() {
  while (at_work_ < concurrency_ && pool_.free() > 0) {
    RandomStream random(setting().seed(), Purpose::participation, 1, static_cast<std::uint32_t>(++requests_));
    const std::size_t one =
        pool_.nth_free(boost::random::uniform_int_distribution<std::size_t>(0, pool_.free() - 1)(random));
    asked_[one] = {model_, setting().log.updates};
    ask(pool_, one, one, requests_, model_);
    ++at_work_;
  }
}

void FederatedAsync::take_in(RequestPool::ClientEvent event) {
  using What = RequestPool::ClientEvent::What;
  if (event.what != What::answer && event.what != What::failed) return;
  --at_work_;
  pool_.tell(event, event.what == What::answer ? ProtocolLog::Part::End::used : ProtocolLog::Part::End::failed);
  if (event.what == What::failed) return;
  AskedClient& asked = asked_[event.other];
  buffer_.push_back({.difference = event.parcel.values.front(),
                     .sent = std::move(asked.model),
                     .client = event.other,
                     .staleness = asked.version,
                     .event = {}});
  buffer_.back().event = std::move(event);
}

/// Removes the oldest `capacity_` updates from the buffer, for one new model.
std::vector<FederatedAsync::ClientUpdate> FederatedAsync::take_buffer() {
  const auto end = buffer_.begin() + static_cast<std::ptrdiff_t>(capacity_);
  std::vector<ClientUpdate> updates(std::make_move_iterator(buffer_.begin()), std::make_move_iterator(end));
  buffer_.erase(buffer_.begin(), end);
  for (ClientUpdate& update : updates) {
    update.staleness = setting().log.updates - update.staleness;
    ++setting().log.staleness[update.staleness];
    count_used(update.client);
  }
  // Sorts by client, not by arrival, so that buffers with the same updates are equal.
  std::ranges::stable_sort(updates, {}, &ClientUpdate::client);
  return updates;
}

world::Task<> FederatedAsync::server() {
  world::EventLoop& loop = setting().loop;
  const world::Node me = setting().server;
  const std::int64_t most = setting().value(kUpdates);
  for (const ClientUpdate& update : buffer_) pool_.waste(update.event.parcel);
  buffer_.clear();
  at_work_ = 0;
  pool_.begin();
  if (setting().log.versions.empty() && setting().new_version(model_, usual_)) co_return;
  for (;;) {
    ask_some();
    setting().log.set_at_work(loop.now(), at_work_);
    RequestPool::ClientEvent event = co_await pool_.next();
    take_in(std::move(event));
    co_await loop.sleep(me, 0);  // continues after all messages of this date have arrived
    while (pool_.has_news()) {
      RequestPool::ClientEvent more = co_await pool_.next(loop.now());
      take_in(std::move(more));
    }
    while (buffer_.size() >= capacity_) {
      world::Work work = work_;
      co_await loop.compute(me, std::move(work));
      const std::vector<ClientUpdate> updates = take_buffer();
      model_ = combine(model_, updates);
      ++setting().log.updates;
      const bool last = most > 0 ? setting().log.updates >= most : setting().budget_spent();
      if (setting().new_version(model_, usual_, last)) co_return;
    }
  }
}

}  // namespace dadsim::protocols
