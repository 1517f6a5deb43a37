#include "protocols/asynchronous/ad_psgd.hpp"

#include <algorithm>
#include <boost/random/uniform_int_distribution.hpp>
#include <deque>
#include <set>
#include <utility>

#include "algorithms/gossip/graph.hpp"
#include "protocols/methods.hpp"
#include "spec/islands.hpp"
#include "support/random.hpp"

namespace dadsim::protocols {
namespace {

using Adjacency = std::vector<std::set<std::int32_t>>;

Adjacency both_ways(const step::Neighbours& graph) {
  Adjacency edges(graph.to.size());
  for (std::size_t from = 0; from < graph.to.size(); ++from) {
    for (const std::int32_t to : graph.to[from]) {
      edges[from].insert(to);
      edges[static_cast<std::size_t>(to)].insert(static_cast<std::int32_t>(from));
    }
  }
  return edges;
}

/// Returns each worker's distance in hops from worker 0, or from the lowest-numbered worker of its connected component.
std::vector<std::size_t> distances(const Adjacency& edges) {
  constexpr auto kNone = static_cast<std::size_t>(-1);
  std::vector<std::size_t> distance(edges.size(), kNone);
  for (std::size_t start = 0; start < edges.size(); ++start) {
    if (distance[start] != kNone) continue;
    distance[start] = 0;
    std::deque<std::size_t> open = {start};
    while (!open.empty()) {
      const std::size_t at = open.front();
      open.pop_front();
      for (const std::int32_t next : edges[at]) {
        std::size_t& there = distance[static_cast<std::size_t>(next)];
        if (there != kNone) continue;
        there = distance[at] + 1;
        open.push_back(static_cast<std::size_t>(next));
      }
    }
  }
  return distance;
}

ActivePassive with_sides(const Adjacency& edges, std::vector<bool> active) {
  ActivePassive split{.active = std::move(active), .partners = {}};
  split.partners.resize(edges.size());
  std::size_t within = 0;
  for (std::size_t i = 0; i < edges.size(); ++i) {
    for (const std::int32_t j : edges[i]) {
      if (split.active[i] != split.active[static_cast<std::size_t>(j)]) {
        split.partners[i].push_back(j);
      } else {
        ++within;
      }
    }
  }
  split.left_out = within / 2;
  return split;
}

bool hangs_together(const ActivePassive& split) {
  Adjacency edges;
  for (const auto& of_one : split.partners) edges.emplace_back(of_one.begin(), of_one.end());
  const std::vector<std::size_t> distance = distances(edges);
  return std::ranges::count(distance, std::size_t{0}) <= 1;
}

}  // namespace

ActivePassive split_into_active_and_passive(const step::Neighbours& graph) {
  const Adjacency edges = both_ways(graph);
  const std::vector<std::size_t> distance = distances(edges);
  std::vector<bool> even_distance;
  std::vector<bool> even_number;
  for (std::size_t i = 0; i < edges.size(); ++i) {
    even_distance.push_back(distance[i] % 2 == 0);
    even_number.push_back(i % 2 == 0);
  }
  ActivePassive by_distance = with_sides(edges, even_distance);
  if (by_distance.left_out == 0) return by_distance;
  ActivePassive by_number = with_sides(edges, even_number);
  return hangs_together(by_number) ? by_number : by_distance;
}

namespace {

constexpr world::Channel kAsk = "average";     // models to a passive worker, and notices for it
constexpr world::Channel kReply = "averaged";  // the passive worker's model, and notices for the active one
constexpr world::Channel kGo = "go";           // request from an active worker's training coroutine to its averaging
                                               // coroutine
constexpr world::Channel kWent = "went";       // answer to kGo

Node gossiper(std::size_t number) { return static_cast<Node>(number); }

/// Returns ½ (x_own + x_other) for the weights, followed by the own optimizer's state.
Value averaged_with(world::History& history, const Value& own, const Value& other) {
  return history.make("average of two", {own, other}, [](world::History::Inputs in) {
    world::Datum result = *in[0];
    for (std::size_t k = 0; k < in[1]->numbers.size(); ++k) {
      result.numbers[k] = 0.5F * (result.numbers[k] + in[1]->numbers[k]);
    }
    return result;
  });
}

std::vector<spec::ParameterSpec> gossip_parameters() {
  return {
      algorithms::graph_parameter(),
      AdPsgd::kRateFactor,
      AdPsgd::kUpdates,
      spec::kIslands,
  };
}

}  // namespace

AdPsgd::AdPsgd(const Setting& setting)
    : setting_(setting),
      updates_(setting.value(kUpdates)),
      usual_(setting.learning.steps_per_epoch() * static_cast<std::int64_t>(setting.sites)),
      rate_factor_(setting.value(kRateFactor)),
      sides_(split_into_active_and_passive(
          algorithms::graphs().at(setting.value(algorithms::kGraph)).make(setting.sites, setting.seed()))),
      arrivals_(setting.run.weights, setting.learning.problem().partition),
      workers_(setting.sites) {
  for (std::size_t site = 0; site < setting.sites; ++site)
    batches_.push_back(setting.learning.batches(SiteBatches::How::steps, site));
}

void AdPsgd::begin() {
  world::EventLoop& loop = setting_.loop;
  for (GossipWorker& worker : workers_) worker.own = setting_.learning.initial_with_state();
  if (setting_.new_version(mean(), usual_)) return;
  for (std::size_t number = 0; number < setting_.sites; ++number) {
    if (sides_.active[number]) {
      for (const std::int32_t partner : sides_.partners[number]) loop.watch(gossiper(number), partner, kReply);
      loop.join(gossiper(number), "averages", [this, number] { return averages(number); });
    } else {
      loop.join(gossiper(number), "answers", [this, number] { return answers(number); });
    }
    loop.join(gossiper(number), "computes", [this, number] { return computes(number); });
  }
  setting_.log.facts["pairs of neighbours that never average"] = static_cast<double>(sides_.left_out);
}

bool AdPsgd::over() const {
  if (updates_ > 0) return setting_.log.updates >= updates_;
  if (!setting_.budget_spent()) return false;
  for (std::size_t number = 0; number < workers_.size(); ++number) {
    if (workers_[number].at_work && setting_.loop.is_up(gossiper(number))) return false;
  }
  return true;
}

std::vector<Value> AdPsgd::models() const {
  std::vector<Value> models;
  for (const GossipWorker& worker : workers_) {
    models.push_back(setting_.learning.without_state(worker.to_be ? worker.to_be : worker.own));
  }
  return models;
}

Value AdPsgd::mean() const {
  const std::vector<double> weights(workers_.size(), 1.0 / static_cast<double>(workers_.size()));
  return setting_.learning.weighted_sum(models(), weights);
}

// ---- averaging ----

/// Returns a neighbour in the other group that is up, drawn uniformly; −1 if there is none.
std::int32_t AdPsgd::partner_of(std::size_t number) const {
  std::vector<std::int32_t> up;
  for (const std::int32_t partner : sides_.partners[number]) {
    if (setting_.loop.is_up(partner)) up.push_back(partner);
  }
  if (up.empty()) return -1;
  RandomStream random(setting_.seed(), Purpose::participation, static_cast<std::uint32_t>(number),
                      static_cast<std::uint32_t>(workers_[number].asked));
  return up[boost::random::uniform_int_distribution<std::size_t>(0, up.size() - 1)(random)];
}

void AdPsgd::average(std::size_t number, const Value& other) {
  GossipWorker& worker = workers_[number];
  worker.own = averaged_with(setting_.learning.history(), worker.own, other);
  ++worker.averaged;
  ++worker.owes;
}

/// Returns the worker's model as received. The compression error is dropped, because the next message has another
/// model.
Value AdPsgd::on_the_wire(std::size_t number, std::int64_t message) const {
  spec::CompressSpec compress = setting_.run.compress;
  compress.memory = false;
  const Value model = setting_.learning.without_state(workers_[number].own);
  return setting_.learning
      .send(model, {}, compress, static_cast<std::uint32_t>(number), static_cast<std::uint32_t>(message))
      .arrives;
}

/// Runs a passive worker. It answers with its model from before the averaging, so that both workers compute the same
/// mean.
Task<> AdPsgd::answers(std::size_t number) {
  world::EventLoop& loop = setting_.loop;
  const Node me = gossiper(number);
  GossipWorker& own = workers_[number];
  own.later.clear();
  for (;;) {
    Parcel parcel = co_await loop.receive(me, kAsk, own.later.next());
    while (auto due = own.later.take(loop.now())) {
      setting_.send_again(me, due->from, kReply, *due, kAsk);
    }
    if (parcel.from < 0) continue;
    if (parcel.lost) {  // this worker's reply was lost: the active worker still waits
      if (loop.is_up(parcel.from)) own.later.add(loop.now() + kRetrySeconds, std::move(parcel));
      continue;
    }
    Parcel reply{.values = {on_the_wire(number, own.averaged)}, .bytes = setting_.sizing.model_bytes()};
    reply.number = parcel.number;
    average(number, parcel.values.front());
    GossipWorker& other = workers_[static_cast<std::size_t>(parcel.from)];
    other.to_be = averaged_with(setting_.learning.history(), other.own, reply.values.front());
    loop.send(me, parcel.from, kReply, std::move(reply), kAsk);
  }
}

/// Averages once per gradient, for an active worker. The worker keeps its model unchanged between its request and the
/// answer.
Task<> AdPsgd::averages(std::size_t number) {
  world::EventLoop& loop = setting_.loop;
  const Node me = gossiper(number);
  GossipWorker& own = workers_[number];
  own.to_be = {};
  for (;;) {
    co_await loop.receive(me, kGo);
    const std::int32_t partner = partner_of(number);
    const std::int64_t ticket = own.asked++;
    if (partner >= 0) {
      const double sent_at = loop.now();
      Parcel question{.values = {on_the_wire(number, ticket)}, .bytes = setting_.sizing.model_bytes()};
      question.number = ticket;
      loop.send(me, partner, kAsk, std::move(question), kReply);
      for (;;) {
        const Parcel parcel = co_await loop.receive(me, kReply);
        // Ignores a notice from before the request, which reports an earlier failure of the partner.
        if (parcel.gone && parcel.from == partner && parcel.arrived_at >= sent_at) break;
        if (parcel.gone || parcel.back || parcel.number != ticket) continue;
        if (!parcel.lost) average(number, parcel.values.front());
        break;
      }
    }
    own.to_be = {};
    loop.hand(me, kWent, {});
  }
}

// ---- computing ----

Task<> AdPsgd::computes(std::size_t number) {
  world::EventLoop& loop = setting_.loop;
  ProtocolLog& log = setting_.log;
  const Node me = gossiper(number);
  const bool active = sides_.active[number];
  GossipWorker& own = workers_[number];
  if (std::exchange(own.at_work, false)) ++log.failed;  // the worker failed during its last gradient
  while (updates_ > 0 || !setting_.budget_spent()) {
    while (batches_[number].size(own.batches) == 0) ++own.batches;
    const std::int64_t batch = own.batches++;
    const std::int64_t samples = batches_[number].size(batch);
    log.samples += static_cast<double>(samples);
    ++log.asked;
    own.at_work = true;
    const std::int64_t averaged_before = own.averaged;
    const Value read = own.own;
    if (active) loop.hand(me, kGo, {});
    Work work = setting_.sizing.gradient(samples, batch);
    // Each averaging sums two models. With a compressor it also encodes one model and decodes one.
    if (const auto owed = static_cast<double>(std::exchange(own.owes, 0)); owed > 0) {
      Work sum = setting_.sizing.sum(step::Role::workers, 2);
      for (Work::Piece& piece : sum.pieces) piece.times *= owed;
      work = std::move(work) + sum + setting_.sizing.encode(step::Role::workers, owed) +
             setting_.sizing.decode(step::Role::workers, owed);
    }
    co_await loop.compute(me, std::move(work));
    if (active) co_await loop.receive(me, kWent);
    co_await loop.compute(me, setting_.sizing.update(step::Role::workers));
    const Value gradient = setting_.learning.gradient_with_statistics(read, number, SiteBatches::How::steps, batch);
    const double rate = rate_factor_ * arrivals_.take(number) *
                        setting_.learning.rate(log.updates / static_cast<std::int64_t>(setting_.sites));
    own.own = setting_.learning.apply(own.own, gradient, rate);
    own.at_work = false;
    ++log.updates;
    log.count_used(number);
    ++log.staleness[own.averaged - averaged_before];
    if (setting_.new_version(mean(), usual_, over())) co_return;
  }
  // The last worker that is still at work ends the simulation, unless it fails.
  while (!over()) co_await loop.sleep(me, kRetrySeconds);
  setting_.new_version(mean(), usual_, true);
}

EventDrivenMethod ad_psgd_method() {
  return {{.name = "ad-psgd",
           .family = "asynchronous",
           .parameters = gossip_parameters(),
           .sharing = Sharing::event_driven,
           .needs_server = false,
           .follows_drift = false,
           .check = [](const RunFacts& facts) -> RunFaults {
             if (algorithms::kGraph.of(facts.run.parameters) != "ring" || facts.sites % 2 == 0 || facts.sites == 1)
               return {};
             return {Fault{"a ring needs an even number of workers, active and passive in turn",
                           "use an even number, or another graph"}};
           },
           .objective = methods::Objective::arrivals,
           .state =
               [](const spec::ParameterValues&) {
                 return estimate::AlgorithmState{step::extent::parameters()};  // the model read by a gradient
               },
           .models_held = [](const spec::ParameterValues&, double sites, bool) { return sites; }},
          [](const Setting& setting) { return std::make_unique<AdPsgd>(setting); }};
}

}  // namespace dadsim::protocols
