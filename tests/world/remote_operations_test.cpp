#include "world/remote_operations.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <string>
#include <utility>

#include "support/interrupt.hpp"

namespace dadsim::world {
namespace {

/// Executes operations only when one is awaited, a few at a time, the last one first.
class Backwards final : public RemoteOperations {
 public:
  explicit Backwards(std::uint64_t problem) : problem_(problem) {}
  std::uint64_t problem() const override { return problem_; }
  void hand(Operation operation) override {
    const std::lock_guard lock(mutex_);
    open_.push_back(std::move(operation));
    most_open = std::max(most_open, open_.size());
  }
  std::vector<Result> wait() override {
    if (on_wait) on_wait();
    std::vector<Result> results;
    for (int i = 0; i < 2 && !open_.empty(); ++i) {
      const Operation operation = std::move(open_.back());
      open_.pop_back();
      ++carried_out[operation.description];
      double product = std::stod(operation.description);
      for (const DatumPtr& input : operation.inputs) product *= input->scalars[0];
      results.push_back({operation.key, std::make_shared<const Datum>(Datum{{}, {product}})});
    }
    return results;
  }
  void forget() override {
    open_.clear();
    ++forgotten;
  }

  std::map<std::string, int> carried_out;
  std::size_t most_open = 0;
  int forgotten = 0;
  std::function<void()> on_wait;

 private:
  std::uint64_t problem_;
  std::mutex mutex_;
  std::vector<Operation> open_;
};

/// Returns the product of the inputs and `factor`; remote workers can compute it.
Value times(History& history, double factor, std::vector<Value> of) {
  return history.make(
      "times " + std::to_string(factor), std::move(of),
      [factor](History::Inputs in) {
        double product = factor;
        for (const DatumPtr& one : in) product *= one->scalars[0];
        return Datum{{}, {product}};
      },
      true, std::to_string(factor));
}
/// Returns the sum of the inputs, computed locally.
Value sum_here(History& history, std::vector<Value> of) {
  return history.make("sum", std::move(of), [](History::Inputs in) {
    double all = 0;
    for (const DatumPtr& one : in) all += one->scalars[0];
    return Datum{{}, {all}};
  });
}

/// Returns the model after several rounds, in which each of five clients starts from the previous round's model.
Value rounds(History& history) {
  Value model = sum_here(history, {history.make("one", {}, [](History::Inputs) { return Datum{{}, {1}}; })});
  for (int round = 0; round < 3; ++round) {
    std::vector<Value> updates;
    for (int client = 1; client <= 5; ++client) updates.push_back(times(history, client, {model}));
    model = sum_here(history, updates);
  }
  return model;
}

TEST(RemoteOperations, GiveWhatThisProcessGives) {
  History alone(7, nullptr);
  const double expected = alone.get(rounds(alone))->scalars[0];
  EXPECT_EQ(expected, 3375);
  Backwards others(7);
  History history(7, nullptr);
  history.set_remote(others);
  EXPECT_EQ(history.get(rounds(history))->scalars[0], expected);
  EXPECT_EQ(others.most_open, 5U) << "a round is handed over together";
  ASSERT_EQ(others.carried_out.size(), 5U);
  for (const auto& [description, count] : others.carried_out) EXPECT_EQ(count, 3) << description;
  EXPECT_EQ(history.counts().worked_out, alone.counts().worked_out);
  EXPECT_EQ(history.counts().learned, alone.counts().learned);
  EXPECT_EQ(others.forgotten, 0);
}

TEST(RemoteOperations, OfAnotherProblemAreAskedNothing) {
  Backwards others(8);
  History history(7, nullptr);
  history.set_remote(others);
  EXPECT_FALSE(history.is_shared());
  EXPECT_EQ(history.get(rounds(history))->scalars[0], 3375);
  EXPECT_TRUE(others.carried_out.empty());
}

TEST(RemoteOperations, AreForgottenWhereNobodyWaitsAnyMore) {
  Backwards others(7);
  History history(7, nullptr);
  history.set_remote(others);
  const Value wanted = rounds(history);
  std::atomic<bool> cancelled{false};
  others.on_wait = [&] { cancelled = true; };
  EXPECT_THROW(history.work_out(std::span(&wanted, 1), {}, &cancelled), Cancelled);
  EXPECT_EQ(others.forgotten, 1);
  // Values computed before the cancellation remain, and all others can be requested again.
  others.on_wait = {};
  EXPECT_EQ(history.get(wanted)->scalars[0], 3375);
}

}  // namespace
}  // namespace dadsim::world
