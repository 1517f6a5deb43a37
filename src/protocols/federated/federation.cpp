#include "protocols/federated/federation.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "methods/idle_parameters.hpp"
#include "spec/islands.hpp"

namespace dadsim::protocols {

namespace {
constexpr double kRest = 1;  ///< seconds for which a client that could not be reached is not asked
}  // namespace

void IndexSet::set(std::size_t index, bool in) {
  if (in_[index] == in) return;
  in_[index] = in;
  count_ += in ? 1 : static_cast<std::size_t>(-1);
  for (std::size_t i = index + 1; i < sums_.size(); i += i & (~i + 1)) sums_[i] += in ? 1 : -1;
}

std::size_t IndexSet::nth(std::size_t k) const {
  std::size_t at = 0;
  std::size_t stride = 1;
  while (2 * stride < sums_.size()) stride *= 2;
  for (auto left = static_cast<std::int32_t>(k + 1); stride > 0; stride /= 2) {
    if (at + stride >= sums_.size() || sums_[at + stride] >= left) continue;
    at += stride;
    left -= sums_[at];
  }
  return at;
}

RequestPool::RequestPool(const Setting& setting, Options options)
    : setting_(setting), options_(std::move(options)), free_(0) {
  const bool all = options_.others.empty();
  for (std::size_t i = 0; all && i < setting.sites; ++i) options_.others.push_back(static_cast<world::Node>(i));
  requests_.resize(options_.others.size());
  free_ = IndexSet(requests_.size());
  for (std::size_t i = 0; i < options_.others.size(); ++i) indices_[options_.others[i]] = i;
}

void RequestPool::watch() {
  for (const world::Node other : options_.others) setting_.loop.watch(options_.asker, other, options_.answers);
}

void RequestPool::begin() {
  for (std::size_t i = 0; i < requests_.size(); ++i) {
    if (requests_[i].open) {
      if (options_.stops) setting_.loop.cancel_computing(node(i));
      tell(failed(i), ProtocolLog::Part::End::failed);
    }
    requests_[i].up = setting_.loop.is_up(node(i));
    requests_[i].rests = false;
    update_free(i);
  }
  rest_.clear();
  again_.clear();
  broken_.clear();
}

void RequestPool::close(std::size_t other) {
  if (std::exchange(requests_[other].open, false)) --open_;
  requests_[other].parcel = {};
  update_free(other);
}

void RequestPool::send(std::size_t other, Parcel parcel) {
  setting_.loop.send(options_.asker, node(other), options_.orders, std::move(parcel), options_.answers);
}

void RequestPool::ask(std::size_t other, Parcel parcel, bool in_place) {
  ClientRequest& request = requests_[other];
  request.open = true;
  ++open_;
  request.number = parcel.number;
  request.attempts = 0;
  request.asked_at = setting_.loop.now();
  update_free(other);
  if (options_.tells) ++setting_.log.asked;
  if (in_place) {
    parcel.bytes = 0;
    setting_.loop.hand(node(other), options_.orders, std::move(parcel));
    return;
  }
  if (options_.retries > 0) request.parcel = parcel;
  send(other, std::move(parcel));
}

void RequestPool::send_again() {
  while (!again_.empty() && again_.begin()->first <= setting_.loop.now()) {
    const auto [other, number] = again_.begin()->second;
    again_.erase(again_.begin());
    if (!requests_[other].open || requests_[other].number != number) continue;
    ++setting_.log.retried;
    Parcel parcel = requests_[other].parcel;
    send(other, std::move(parcel));
  }
}

RequestPool::ClientEvent RequestPool::failed(std::size_t other) {
  ClientEvent event{.what = ClientEvent::What::failed, .other = other, .number = requests_[other].number};
  close(other);
  return event;
}

void RequestPool::answer_lost(std::size_t other, std::int64_t number) {
  if (!setting_.loop.is_up(options_.asker)) return;
  broken_.emplace_back(other, number);
  setting_.loop.hand(options_.asker, options_.answers, {.lost = true});
}

RequestPool::ClientEvent RequestPool::unreached(std::size_t other) {
  ClientEvent event = failed(other);
  requests_[other].rests = true;
  rest_.emplace(setting_.loop.now() + kRest, other);
  update_free(other);
  return event;
}

/// Frees the nodes that have rested long enough. Returns whether there are any.
bool RequestPool::wake() {
  bool any = false;
  while (!rest_.empty() && rest_.begin()->first <= setting_.loop.now()) {
    requests_[rest_.begin()->second].rests = false;
    update_free(rest_.begin()->second);
    rest_.erase(rest_.begin());
    any = true;
  }
  return any;
}

bool RequestPool::has_news() {
  wake();
  return setting_.loop.waiting(options_.asker, options_.answers) > 0;
}

world::Task<RequestPool::ClientEvent> RequestPool::next(double until) {
  for (;;) {
    send_again();
    double patience = until;
    if (!again_.empty()) patience = std::min(patience, again_.begin()->first);
    if (!rest_.empty()) patience = std::min(patience, rest_.begin()->first);
    Parcel parcel = co_await setting_.loop.receive(options_.asker, options_.answers, patience);
    if (wake() && parcel.from < 0 && setting_.loop.now() < until)
      co_return ClientEvent{.what = ClientEvent::What::news};
    if (parcel.from < 0) {
      if (setting_.loop.now() >= until) co_return ClientEvent{};
      continue;
    }
    if (parcel.from == options_.asker && parcel.lost) {  // a connection broke while an answer was on its way
      if (broken_.empty()) continue;
      const auto [other, number] = broken_.front();
      broken_.erase(broken_.begin());
      if (!requests_[other].open || requests_[other].number != number) continue;
      co_return unreached(other);
    }
    const std::size_t other = index_of(parcel.from);
    ClientRequest& request = requests_[other];
    if (parcel.gone || parcel.back) {
      request.up = parcel.back;
      update_free(other);
      if (parcel.gone && request.open) co_return failed(other);
      co_return ClientEvent{.what = ClientEvent::What::news, .other = other};
    }
    const bool open = request.open && request.number == parcel.number;
    if (parcel.lost) {
      if (!open) continue;
      if (request.attempts >= options_.retries) co_return unreached(other);
      again_.emplace(setting_.loop.now() + std::ldexp(1.0, static_cast<int>(request.attempts++)),
                     std::pair(other, request.number));
      continue;
    }
    if (!open) {  // the request was given up
      waste(parcel);
      continue;
    }
    if (parcel.values.empty()) {
      waste(parcel);
      co_return failed(other);
    }
    ClientEvent event{.what = ClientEvent::What::answer, .other = other, .number = parcel.number};
    event.parcel = std::move(parcel);
    close(other);
    co_return event;
  }
}

void RequestPool::waste(const Parcel& parcel) {
  setting_.log.wasted_bytes += parcel.bytes;
  setting_.log.wasted_seconds += parcel.work;
}

void RequestPool::tell(const ClientEvent& event, ProtocolLog::Part::End end) {
  if (!options_.tells) return;
  ProtocolLog& log = setting_.log;
  if (end == ProtocolLog::Part::End::failed) ++log.failed;
  if (end == ProtocolLog::Part::End::late) {
    ++log.late;
    waste(event.parcel);
  }
  log.note({event.number, node(event.other), requests_[event.other].asked_at, setting_.loop.now(), end});
}

std::vector<spec::ParameterSpec> Federation::local_parameters() {
  return {
      kLocalEpochs,
      kLocalSteps,
      kRetries,
      spec::kIslands,
  };
}

RunFaults Federation::faults_of_parameters(const spec::ParameterValues& values) {
  return methods::faults_of_idle_parameters(values,
                                            {{.parameter = kLocalEpochs, .other = kLocalSteps, .without = true}});
}

std::vector<spec::ParameterSpec> Federation::with_default(std::vector<spec::ParameterSpec> parameters,
                                                          const std::string& name, const std::string& value) {
  std::ranges::find(parameters, name, &spec::ParameterSpec::name)->default_value = value;
  return parameters;
}

Federation::Federation(const Setting& setting)
    : setting_(setting),
      clients_(setting.sites),
      local_steps_(setting.value(kLocalSteps)),
      retries_(setting.value(kRetries)),
      local_epochs_(setting.value(kLocalEpochs)),
      encode_(setting.sizing.encode(step::Role::workers)) {
  for (std::size_t i = 0; i < setting.sites; ++i) samples_ += samples_of(i);
  const spec::ScheduleSpec& schedule = setting.training().schedule;
  constant_rate_ = schedule.kind == spec::ScheduleSpec::Kind::constant && schedule.warm_up_epochs == 0;
}

void Federation::add_proximal_term(double mu) {
  mu_ = mu;
  // Work of the proximal term: adds μ (w − w_t) to the gradient. Reads w, w_t and the gradient, and writes the
  // gradient.
  if (mu > 0) proximal_work_ = setting_.sizing.per_parameter(step::Role::workers, 3, 4);
}

// ---- what algorithms change ----

Value Federation::train(const ClientOrder& order) {
  return learning().train(order.model, {.site = order.client,
                                        .first = order.first,
                                        .steps = order.steps,
                                        .schedule_step = order.schedule_step,
                                        .proximal = mu_,
                                        .data_version = order.data_version});
}

std::vector<Value> Federation::beside(const ClientOrder& /*order*/, const Value& /*trained*/) { return {}; }

// ---- how much clients train ----

std::int64_t Federation::passes() const {
  return local_steps_ > 0 ? 0 : std::max<std::int64_t>(1, static_cast<std::int64_t>(local_epochs_));
}

std::int64_t Federation::steps_of(std::size_t client) const {
  if (local_steps_ > 0) return local_steps_;
  const SiteBatches batches = learning().batches(SiteBatches::How::passes, client);
  const double steps = local_epochs_ * static_cast<double>(batches.per_pass());
  return std::max<std::int64_t>(1, std::llround(steps));
}

std::vector<std::int64_t> Federation::batch_sizes(const ClientOrder& order) const {
  const SiteBatches batches = learning().batches(SiteBatches::How::passes, order.client);
  std::vector<std::int64_t> sizes;
  for (std::int64_t i = 0; i < order.steps; ++i) sizes.push_back(batches.size(order.first + i));
  return sizes;
}

void Federation::limit(std::size_t client, std::int64_t steps, bool drops_out) {
  clients_[client].limit = steps;
  clients_[client].drops_out = drops_out;
}

void Federation::count_used(std::size_t client) {
  used_samples_ += clients_[client].trained;
  setting_.log.count_used(client);
}

/// Returns the step of synchronous training that corresponds to the samples used so far. One such step uses a batch of
/// every site.
std::int64_t Federation::schedule_step() const {
  // With a constant rate, returns 0, so that equal training in different rounds is one operation of the History.
  if (constant_rate_) return 0;
  return static_cast<std::int64_t>(used_samples_ / samples_ * static_cast<double>(learning().steps_per_epoch()) + 1e-6);
}

// ---- who is asked ----

void Federation::ask(RequestPool& pool, std::size_t other, std::size_t client, std::int64_t number, const Value& model,
                     std::vector<Value> more, bool in_place) {
  clients_[client].schedule_step = schedule_step();
  Parcel parcel{.values = {model}, .bytes = bytes_down(), .number = number};
  for (Value& value : more) parcel.values.push_back(std::move(value));
  pool.ask(other, std::move(parcel), in_place);
}

// ---- clients ----

/// Sends the answer, or hands it over if the asker runs on the same node.
void Federation::answer(std::size_t number, RequestPool& pool, Parcel parcel) {
  const Node me = node_of(number);
  if (me == pool.asker()) {
    parcel.bytes = 0;
    setting_.loop.hand(me, pool.options().answers, std::move(parcel));
  } else {
    setting_.loop.send(me, pool.asker(), pool.options().answers, std::move(parcel), pool.options().orders);
  }
}

Task<> Federation::answer_again(std::size_t number, RequestPool& pool, std::size_t other, Parcel lost) {
  Client& own = clients_[number];
  if (own.attempts >= retries_) {
    pool.waste({.work = lost.work});
    pool.answer_lost(other, lost.number);
    co_return;
  }
  co_await setting_.loop.sleep(node_of(number), std::ldexp(1.0, static_cast<int>(own.attempts++)));
  ++setting_.log.retried;
  lost.lost = false;
  answer(number, pool, std::move(lost));
}

Task<> Federation::client(std::size_t number, RequestPool* pool, std::size_t other) {
  world::EventLoop& loop = setting_.loop;
  const Node me = node_of(number);
  for (;;) {
    Parcel parcel = co_await loop.receive(me, pool->options().orders);
    if (parcel.lost) {
      co_await answer_again(number, *pool, other, std::move(parcel));
      continue;
    }
    Client& own = clients_[number];
    ClientOrder order{.number = parcel.number, .client = number, .model = parcel.values.front()};
    order.more.assign(parcel.values.begin() + 1, parcel.values.end());
    order.steps = own.limit > 0 ? own.limit : steps_of(number);
    order.first = own.batches;
    order.schedule_step = own.schedule_step;
    order.data_version = learning().data_version(number, loop.now());
    own.batches += order.steps;
    own.attempts = 0;
    const bool drops_out = own.drops_out;
    const std::vector<std::int64_t> sizes = batch_sizes(order);
    const double begin = loop.now();
    Work work = setting_.sizing.training(sizes, order.first) +
                repeated(work_per_step(), static_cast<double>(order.steps)) + work_per_order() + encode_;
    const bool done = co_await loop.compute(me, std::move(work));
    if (!done) continue;
    own.trained = 0;
    for (const std::int64_t size : sizes) own.trained += static_cast<double>(size);
    setting_.log.samples += own.trained;
    Parcel reply{.number = order.number};
    reply.work = loop.now() - begin;
    if (!drops_out) {
      const Value trained = train(order);
      const Value difference = released(order, learning().difference(order.model, trained));
      Learning::SentValue sent = learning().send(difference, own.memory, setting_.run.compress,
                                                 static_cast<std::uint32_t>(number), own.answers++);
      own.memory = sent.memory;
      reply.values.push_back(std::move(sent.arrives));
      reply.bytes = bytes_up();
      for (Value& more : beside(order, trained)) reply.values.push_back(std::move(more));
    }
    answer(number, *pool, std::move(reply));
  }
}

}  // namespace dadsim::protocols
