#include "world/history.hpp"

#include <tbb/parallel_for_each.h>

#include <algorithm>
#include <mutex>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "support/fingerprint.hpp"
#include "support/interrupt.hpp"
#include "support/parallel.hpp"
#include "world/remote_operations.hpp"

namespace dadsim::world {

struct Value::Node {
  ValueKey key{};
  History::Function operation;                ///< operation; empty once carried out
  std::vector<std::shared_ptr<Node>> inputs;  ///< inputs; empty once the operation is carried out
  DatumPtr datum;
  std::string description;  ///< operation as data for other processes; empty: only this process carries it out
  bool keep = false;
  bool counts = true;

  Node() = default;
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;
  /// Frees inputs without recursion, because a chain of values may be a hundred thousand long.
  ~Node() {
    std::vector<std::shared_ptr<Node>> left = std::move(inputs);
    while (!left.empty()) {
      const std::shared_ptr<Node> one = std::move(left.back());
      left.pop_back();
      if (one.use_count() != 1) continue;
      for (std::shared_ptr<Node>& input : one->inputs) left.push_back(std::move(input));
      one->inputs.clear();
    }
  }
};

namespace {

std::uint64_t hash_of(std::string_view name, const std::vector<Value>& inputs, std::uint64_t start) {
  std::uint64_t hash = fingerprint(name, start);
  for (const Value& input : inputs) {
    hash =
        fingerprint({reinterpret_cast<const char*>(input.key().data()), sizeof(ValueKey)}, hash ^ 0x9e3779b97f4a7c15U);
  }
  return hash;
}

}  // namespace

const ValueKey& Value::key() const {
  if (!node_) throw std::logic_error("an empty value has no key");
  return node_->key;
}

Value History::make(std::string_view name, std::vector<Value> inputs, Function operation, bool keep,
                    std::string description) {
  // Combines two hashes with different seeds, because 64 bits would collide among billions of values.
  const ValueKey key = {hash_of(name, inputs, problem_), hash_of(name, inputs, ~problem_ * 0xff51afd7ed558ccdU)};
  std::weak_ptr<Value::Node>& known = known_[key];
  if (NodePtr node = known.lock()) return Value(std::move(node));
  auto node = std::make_shared<Value::Node>();
  node->key = key;
  node->keep = keep;
  if (learns_) {
    node->operation = std::move(operation);
    node->description = std::move(description);
    for (Value& input : inputs) node->inputs.push_back(std::move(input.node_));
  }
  known = node;
  ++counts_.made;
  if (known_.size() >= sweep_at_) {
    std::erase_if(known_, [](const auto& entry) { return entry.second.expired(); });
    sweep_at_ = std::max<std::size_t>(1024, 2 * known_.size());
  }
  return Value(std::move(node));
}

Value History::make_beside(std::string_view name, std::vector<Value> inputs, Function operation) {
  const std::int64_t before = counts_.made;
  Value value = make(name, std::move(inputs), std::move(operation), true);
  if (counts_.made > before) {
    value.node_->counts = false;
    beside_.push_back(value.node_);
  }
  counts_.made = before;
  return value;
}

void History::set_remote(RemoteOperations& remote) {
  if (remote.problem() == problem_) remote_ = &remote;
}

DatumPtr History::datum_of(const Value& value) {
  if (!value.node_ || !value.node_->datum) throw std::logic_error("the numbers of the value are not computed");
  return value.node_->datum;
}

/// Returns the operations to carry out, inputs before their users. Values in the store are read from there.
std::vector<History::NodePtr> History::needed(std::span<const Value> values) {
  std::vector<NodePtr> order;
  std::unordered_set<const Value::Node*> seen;  // nodes visited
  std::vector<std::pair<NodePtr, std::size_t>> open;
  const auto look_at = [&](const NodePtr& node) {
    if (node->datum || !seen.insert(node.get()).second) return;
    if (node->keep && store_ != nullptr) {
      if (DatumPtr datum = store_->find(node->key)) {
        if (node->counts) ++counts_.found;
        node->datum = std::move(datum);
        node->operation = nullptr;
        node->inputs.clear();
        return;
      }
    }
    open.emplace_back(node, 0);
  };
  for (const Value& value : values) {
    look_at(value.node_);
    while (!open.empty()) {
      auto& [node, next] = open.back();
      if (next < node->inputs.size()) {
        const NodePtr input = node->inputs[next++];
        look_at(input);
      } else {
        order.push_back(node);
        open.pop_back();
      }
    }
  }
  return order;
}

void History::work_out(std::span<const Value> values, const std::function<void(std::int64_t, std::int64_t)>& progress,
                       const std::atomic<bool>* cancelled) {
  if (!learns_) throw DryRunError("a dry run has no numbers");
  carry_out(values, progress, cancelled);
  carry_out(beside_that_can_be_read(), {}, cancelled);
}

std::vector<Value> History::beside_that_can_be_read() {
  std::vector<Value> ready;
  std::erase_if(beside_, [&](const std::weak_ptr<Value::Node>& one) {
    const NodePtr node = one.lock();
    if (!node || node->datum) return true;
    if (!std::ranges::all_of(node->inputs, [](const NodePtr& input) { return input->datum != nullptr; })) return false;
    ready.push_back(Value(node));
    return true;
  });
  return ready;
}

/// One pass over operations, each carried out as soon as its inputs exist, by threads of this process and by other
/// processes.
class History::CarryingOut {
 public:
  CarryingOut(History& history, std::vector<NodePtr> order, const Progress& progress,
              const std::atomic<bool>* cancelled)
      : history_(history), progress_(progress), cancelled_(cancelled), pending_(order.size()) {
    std::unordered_map<const Value::Node*, PendingValue*> place;
    for (std::size_t i = 0; i < order.size(); ++i) {
      pending_[i].node = std::move(order[i]);
      place[pending_[i].node.get()] = &pending_[i];
    }
    for (PendingValue& one : pending_) {
      for (const NodePtr& input : one.node->inputs) {
        const auto found = place.find(input.get());
        if (found == place.end()) continue;
        ++one.waits_for;
        found->second->wanted_by.push_back(&one);
      }
      if (one.waits_for == 0) ready_.push_back(&one);
    }
  }
  ~CarryingOut() {
    if (!handed_.empty()) history_.remote_->forget();
  }
  CarryingOut(const CarryingOut&) = delete;
  CarryingOut& operator=(const CarryingOut&) = delete;

  void run() {
    for (;;) {
      if (!ready_.empty()) {
        whole_or_cancelled([&](tbb::task_group_context& context) {
          tbb::parallel_for_each(
              ready_.begin(), ready_.end(),
              [this](PendingValue* one, tbb::feeder<PendingValue*>& feeder) {
                start(*one, [&feeder](PendingValue* next) { feeder.add(next); });
              },
              context);
        });
        ready_.clear();
      }
      if (handed_.empty()) return;
      throw_if_cancelled();
      for (auto& [key, datum] : history_.remote_->wait()) take(key, std::move(datum));
    }
  }

 private:
  struct PendingValue {
    NodePtr node;
    std::atomic<std::size_t> waits_for{0};
    std::vector<PendingValue*> wanted_by;
  };

  void throw_if_cancelled() const {
    if (cancelled_ != nullptr && cancelled_->load(std::memory_order_relaxed)) throw Cancelled();
  }

  /// Carries out an operation here, or sends it to another process. Calls `then` with the operations that become ready.
  void start(PendingValue& one, const auto& then) {
    throw_if_cancelled();
    Value::Node& node = *one.node;
    std::vector<DatumPtr> inputs;
    inputs.reserve(node.inputs.size());
    for (const NodePtr& input : node.inputs) inputs.push_back(input->datum);
    const bool kept = node.keep && history_.store_ != nullptr;
    const bool goes_elsewhere = history_.remote_ != nullptr && !node.description.empty();
    if (goes_elsewhere) {
      // Does not wait for an operation that another process has taken; two simulations may therefore both carry it out.
      if (kept) node.datum = history_.store_->find(node.key);
      if (node.datum == nullptr) return hand_over(one, std::move(inputs));
      return finish(one, false, then);
    }
    if (kept) node.datum = history_.store_->claim(node.key);  // another simulation may have stored the value since
    const bool learned = node.datum == nullptr;
    if (learned) {
      try {
        node.datum = std::make_shared<const Datum>(node.operation(inputs));
      } catch (...) {
        if (kept) history_.store_->release(node.key);
        throw;
      }
      if (kept) history_.store_->keep(node.key, node.datum);
    }
    inputs.clear();
    finish(one, learned, then);
  }

  void hand_over(PendingValue& one, std::vector<DatumPtr> inputs) {
    RemoteOperations::Operation operation{one.node->key, one.node->description, {}, std::move(inputs)};
    for (const NodePtr& input : one.node->inputs) operation.input_keys.push_back(input->key);
    const std::lock_guard lock(mutex_);
    handed_[one.node->key] = &one;
    history_.remote_->hand(std::move(operation));
  }

  void take(const ValueKey& key, DatumPtr datum) {
    const auto found = handed_.find(key);
    if (found == handed_.end()) throw std::logic_error("the result belongs to no pending operation");
    PendingValue& one = *found->second;
    handed_.erase(found);
    if (one.node->keep && history_.store_ != nullptr) history_.store_->keep(key, datum);
    one.node->datum = std::move(datum);
    finish(one, true, [this](PendingValue* next) { ready_.push_back(next); });
  }

  void finish(PendingValue& one, bool learned, const auto& then) {
    Value::Node& node = *one.node;
    node.operation = nullptr;
    node.description = {};
    node.inputs.clear();  // frees inputs that are not referenced elsewhere
    {
      const std::lock_guard lock(mutex_);
      ++done_;
      if (learned && node.counts) ++history_.counts_.worked_out;
      if (node.keep && node.counts) ++(learned ? history_.counts_.learned : history_.counts_.found);
      if (progress_) progress_(done_, static_cast<std::int64_t>(pending_.size()));
    }
    for (PendingValue* next : one.wanted_by) {
      if (--next->waits_for == 0) then(next);
    }
    one.node.reset();
  }

  History& history_;
  const Progress& progress_;
  const std::atomic<bool>* cancelled_;
  std::vector<PendingValue> pending_;
  std::vector<PendingValue*> ready_;
  std::mutex mutex_;
  std::int64_t done_ = 0;
  std::map<ValueKey, PendingValue*> handed_;  ///< operations sent to other processes, by key
};

void History::carry_out(std::span<const Value> values, const Progress& progress, const std::atomic<bool>* cancelled) {
  if (std::vector<NodePtr> order = needed(values); !order.empty())
    CarryingOut(*this, std::move(order), progress, cancelled).run();
}

}  // namespace dadsim::world
