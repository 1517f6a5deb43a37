#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace dadsim::world {

/// Result of an operation: weights, a gradient, a quality. Immutable.
struct Datum {
  std::vector<float> numbers;
  std::vector<double> scalars;
  std::size_t bytes() const { return sizeof(Datum) + numbers.size() * sizeof(float) + scalars.size() * sizeof(double); }
};
using DatumPtr = std::shared_ptr<const Datum>;

/// Name of a value: 128-bit hash of its operation and inputs.
using ValueKey = std::array<std::uint64_t, 2>;

/// Store of values between runs. Thread-safe.
class HistoryStore {
 public:
  virtual ~HistoryStore() = default;
  virtual DatumPtr find(const ValueKey& key) = 0;  ///< returns null if the store lacks the value
  virtual void keep(const ValueKey& key, const DatumPtr& datum) = 0;
  /// Returns the value, or null. After null, the caller computes the value and calls keep(), or release() if that
  /// fails. Other callers wait meanwhile, so two simulations compute nothing twice. The default does not wait.
  virtual DatumPtr claim(const ValueKey& key) { return find(key); }
  virtual void release(const ValueKey& /*key*/) {}
  virtual void flush() {}  ///< writes the values not yet written, if the store writes any
};

class History;
class RemoteOperations;

/// Thrown if a number is requested in a run that learns nothing.
class DryRunError : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

/// A handle of a learned datum (a number, a model), which may not have been computed yet. A datum is forgotten once no
/// handle and no pending operation refers to it.
class Value {
 public:
  Value() = default;
  explicit operator bool() const { return node_ != nullptr; }
  const ValueKey& key() const;

 private:
  friend class History;
  struct Node;
  explicit Value(std::shared_ptr<Node> node) : node_(std::move(node)) {}
  std::shared_ptr<Node> node_;
};

/// Graph of values, which records what was trained from which version. Each value is named by its operation and its
/// inputs. A protocol makes values while it simulates. They are computed when a number is needed or at the end, many at
/// a time, each once, and not at all if `store` has them.
///
/// *Requires* that an operation is a function of its inputs and of its name alone, and that operations of different
/// parameters have different names. *Ensures* the same bits for any number of threads and any order of requests.
class History {
 public:
  using Inputs = std::span<const DatumPtr>;
  using Function = std::function<Datum(Inputs)>;

  /// `problem`: hash of everything that operations depend on, except names and inputs. `store` may be null.
  History(std::uint64_t problem, HistoryStore* store) : problem_(problem), store_(store) {}

  /// Makes a value by applying `operation` to the inputs. `name` gives the operation and its parameters, e.g. "train 3
  /// 0.1 7". A value of the same name and inputs is made once. `keep`: the value takes long to compute and is worth
  /// storing. `description`: the operation for other processes, if there are any (is_shared()); empty: this process
  /// carries it out.
  Value make(std::string_view name, std::vector<Value> inputs, Function operation, bool keep = false,
             std::string description = {});
  /// Makes a value that is kept but does not belong to learning: counts() ignores it. It is computed as soon as all
  /// inputs are, so that it does not hold them for long.
  Value make_beside(std::string_view name, std::vector<Value> inputs, Function operation);

  /// Computes the value now, with all that it needs.
  DatumPtr get(const Value& value) {
    work_out(std::span(&value, 1));
    return datum_of(value);
  }
  /// Computes all values, in parallel where they do not depend on each other. `progress` gets the numbers of operations
  /// done and of all; `cancelled` is read after each. Throws Cancelled, and exceptions of operations.
  void work_out(std::span<const Value> values,
                const std::function<void(std::int64_t done, std::int64_t all)>& progress = {},
                const std::atomic<bool>* cancelled = nullptr);
  /// Returns the datum of a value that has been computed and is still held.
  static DatumPtr datum_of(const Value& value);

  /// Hands operations with a description to `remote` from now on, unless `remote` has another problem. `remote` must
  /// outlive this object.
  void set_remote(RemoteOperations& remote);
  bool is_shared() const { return remote_ != nullptr; }

  /// Ends all computing: get() and work_out() throw DryRunError from now on. Values are names alone.
  void set_dry_run() { learns_ = false; }

  struct Counts {
    std::int64_t made = 0;        ///< values made by protocols, each counted once
    std::int64_t worked_out = 0;  ///< operations that were carried out
    /// Operations worth keeping (local training, evaluations): carried out, and found in the store.
    std::int64_t learned = 0, found = 0;
  };
  const Counts& counts() const { return counts_; }

 private:
  using NodePtr = std::shared_ptr<Value::Node>;
  using Progress = std::function<void(std::int64_t done, std::int64_t all)>;
  class CarryingOut;
  void carry_out(std::span<const Value> values, const Progress& progress, const std::atomic<bool>* cancelled);
  std::vector<Value> beside_that_can_be_read();
  std::vector<NodePtr> needed(std::span<const Value> values);

  std::uint64_t problem_;
  HistoryStore* store_;
  RemoteOperations* remote_ = nullptr;
  bool learns_ = true;
  std::map<ValueKey, std::weak_ptr<Value::Node>> known_;
  std::vector<std::weak_ptr<Value::Node>> beside_;  ///< values of make_beside() not yet computed
  std::size_t sweep_at_ = 1024;                     ///< number of names at which names of forgotten values are removed
  Counts counts_;
};

}  // namespace dadsim::world
