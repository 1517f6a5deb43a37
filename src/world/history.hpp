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
  /// Returns the value, or null. After null, the caller must compute the value and call keep(), or release() on
  /// failure. Other callers wait until then, so that no value is computed twice. The default does not wait.
  virtual DatumPtr claim(const ValueKey& key) { return find(key); }
  virtual void release(const ValueKey& /*key*/) {}
  virtual void flush() {}  ///< writes the values that have not been written yet
};

class History;
class RemoteOperations;

/// Thrown if a number is requested in a run without learning.
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

/// Graph of learned values and of the operations that made them. Each value is identified by its operation and its
/// inputs. A protocol makes values while it simulates. They are computed when a number is needed, or at the end: many
/// in parallel, each once, and not at all if `store` has them.
///
/// *Requires* that an operation depends on its inputs and its name alone, and that operations with different parameters
/// have different names. *Ensures* the same bits for any number of threads and any order of requests.
class History {
 public:
  using Inputs = std::span<const DatumPtr>;
  using Function = std::function<Datum(Inputs)>;

  /// `problem`: hash of everything that operations depend on, except names and inputs. `store` may be null.
  History(std::uint64_t problem, HistoryStore* store) : problem_(problem), store_(store) {}

  /// Makes a value by applying `operation` to the inputs. `name`: the operation and its parameters, e.g. "train 3 0.1
  /// 7". Values with the same name and inputs are one value. `keep`: the value takes long to compute, and is worth
  /// storing. `description`: the operation as data for other processes, if there are any (is_shared()); empty: this
  /// process carries it out.
  Value make(std::string_view name, std::vector<Value> inputs, Function operation, bool keep = false,
             std::string description = {});
  /// Makes a stored value that is not part of learning: counts() ignores it. It is computed as soon as its inputs are,
  /// so that these are released early.
  Value make_beside(std::string_view name, std::vector<Value> inputs, Function operation);

  /// Returns the value's datum; computes it and its inputs first if needed.
  DatumPtr get(const Value& value) {
    work_out(std::span(&value, 1));
    return datum_of(value);
  }
  /// Computes all values; independent ones in parallel. `progress`: called with the numbers of completed and of all
  /// operations; `cancelled`: read before each operation. Throws Cancelled, and exceptions of operations.
  void work_out(std::span<const Value> values,
                const std::function<void(std::int64_t done, std::int64_t all)>& progress = {},
                const std::atomic<bool>* cancelled = nullptr);
  /// Returns the datum of a value that has been computed and not been released.
  static DatumPtr datum_of(const Value& value);

  /// From now on, sends operations with a description to `remote`, unless `remote` has another problem. `remote` must
  /// outlive this object.
  void set_remote(RemoteOperations& remote);
  bool is_shared() const { return remote_ != nullptr; }

  /// Disables computing: get() and work_out() throw DryRunError from now on. Values are then names only.
  void set_dry_run() { learns_ = false; }

  struct Counts {
    std::int64_t made = 0;        ///< distinct values made by protocols
    std::int64_t worked_out = 0;  ///< operations that were carried out
    /// Operations worth storing (local training, evaluations): number carried out, and number found in the store.
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
  std::vector<std::weak_ptr<Value::Node>> beside_;  ///< values of make_beside() that have not been computed
  std::size_t sweep_at_ = 1024;                     ///< number of keys at which keys of released values are removed
  Counts counts_;
};

}  // namespace dadsim::world
