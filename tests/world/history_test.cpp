#include "world/history.hpp"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace dadsim::world {
namespace {

class Store final : public HistoryStore {
 public:
  DatumPtr find(const ValueKey& key) override {
    const auto found = kept.find(key);
    return found == kept.end() ? nullptr : found->second;
  }
  void keep(const ValueKey& key, const DatumPtr& datum) override {
    const std::lock_guard lock(mutex);
    kept[key] = datum;
  }
  std::mutex mutex;
  std::map<ValueKey, DatumPtr> kept;
};

Value number(History& history, double value) {
  return history.make("number " + std::to_string(value), {}, [value](History::Inputs) { return Datum{{}, {value}}; });
}
Value sum(History& history, std::vector<Value> of, bool keep = false) {
  return history.make(
      "sum", std::move(of),
      [](History::Inputs in) {
        double all = 0;
        for (const DatumPtr& one : in) all += one->scalars[0];
        return Datum{{}, {all}};
      },
      keep);
}

TEST(History, WorksOutWhatIsAskedForAndEachOnce) {
  History history(1, nullptr);
  const Value a = number(history, 2);
  const Value b = sum(history, {a, a, number(history, 3)});
  EXPECT_EQ(b.key(), sum(history, {a, a, number(history, 3)}).key());
  EXPECT_NE(b.key(), sum(history, {a, number(history, 3), a}).key());
  EXPECT_EQ(history.counts().worked_out, 0);
  EXPECT_EQ(history.get(sum(history, {b, b}))->scalars[0], 14);
  EXPECT_EQ(history.get(b)->scalars[0], 7);
  EXPECT_EQ(history.counts().worked_out, 4);
}

TEST(History, WhatIsReadBesideHoldsNothingThatHasBeenRead) {
  History history(1, nullptr);
  std::vector<Value> readings;
  std::vector<std::weak_ptr<const Datum>> read;
  Value model = number(history, 1);
  for (int round = 0; round < 3; ++round) {
    const Value before = std::exchange(model, sum(history, {model, model}));
    history.get(before);
    read.push_back(History::datum_of(before));
    readings.push_back(history.make_beside("reading", {before, model}, [](History::Inputs in) {
      return Datum{{}, {in[0]->scalars[0] + 100 * in[1]->scalars[0]}};
    }));
  }
  EXPECT_EQ(History::datum_of(readings[0])->scalars[0], 201);
  EXPECT_EQ(History::datum_of(readings[1])->scalars[0], 402);
  EXPECT_TRUE(read[0].expired() && read[1].expired());
  EXPECT_FALSE(read[2].expired()) << "what follows on it has not been asked for";
  EXPECT_THROW(History::datum_of(readings[2]), std::logic_error);
  history.work_out(readings);
  EXPECT_EQ(History::datum_of(readings[2])->scalars[0], 804);
  EXPECT_TRUE(read[2].expired());
  EXPECT_EQ(history.counts().made, 4);
  EXPECT_EQ(history.counts().worked_out, 4) << "readings are no part of what is learned";
}

TEST(History, ALongChainIsNoDeepRecursion) {
  History history(1, nullptr);
  Value last = number(history, 0);
  for (int i = 0; i < 200'000; ++i) last = sum(history, {last, number(history, 1)});
  EXPECT_EQ(history.get(last)->scalars[0], 200'000);
  Value unused = number(history, 5);
  for (int i = 0; i < 200'000; ++i) unused = sum(history, {unused, unused});
}

TEST(History, WhatSomebodyElseHasGotMeanwhileIsNotWorkedOut) {
  // A store whose `find` has no value, but whose `claim` returns it.
  struct Late final : HistoryStore {
    DatumPtr find(const ValueKey&) override { return nullptr; }
    void keep(const ValueKey&, const DatumPtr&) override { ++kept; }
    DatumPtr claim(const ValueKey&) override { return there; }
    void release(const ValueKey&) override { ++released; }
    DatumPtr there = std::make_shared<const Datum>(Datum{{}, {42}});
    int kept = 0, released = 0;
  } store;
  History history(1, &store);
  EXPECT_EQ(history.get(sum(history, {number(history, 2)}, true))->scalars[0], 42);
  EXPECT_EQ(history.counts().found, 1);
  EXPECT_EQ(history.counts().learned, 0);
  EXPECT_EQ(store.kept, 0);
  store.there = nullptr;
  EXPECT_THROW(history.get(history.make(
                   "fails", {}, [](History::Inputs) -> Datum { throw std::runtime_error("no"); }, true)),
               std::runtime_error);
  EXPECT_EQ(store.released, 1);
}

TEST(History, ThatLearnsNothingHasNamesAlone) {
  History learns(1, nullptr);
  History names(1, nullptr);
  names.set_dry_run();
  const Value a = sum(names, {number(names, 2), number(names, 3)});
  EXPECT_EQ(a.key(), sum(learns, {number(learns, 2), number(learns, 3)}).key());
  EXPECT_THROW(names.get(a), DryRunError);
  EXPECT_THROW(names.work_out(std::vector{a}), DryRunError);
  EXPECT_EQ(names.counts().worked_out, 0);
}

TEST(History, WhatTheStoreHasIsNotWorkedOutAgain) {
  Store store;
  double first = 0;
  for (int loop = 0; loop < 2; ++loop) {
    History history(7, &store);
    const Value trained = sum(history, {number(history, 1), number(history, 2)}, true);
    const Value quality = sum(history, {trained, trained}, true);
    const double value = history.get(quality)->scalars[0];
    if (loop == 0) first = value;
    EXPECT_EQ(value, first);
    EXPECT_EQ(history.counts().learned, loop == 0 ? 2 : 0);
    EXPECT_EQ(history.counts().found, loop == 0 ? 0 : 1);
  }
  History other(8, &store);  // another problem number
  other.get(sum(other, {number(other, 1), number(other, 2)}, true));
  EXPECT_EQ(other.counts().learned, 1);
}

TEST(History, WhatAnOperationThrowsArrives) {
  History history(1, nullptr);
  const Value bad = history.make("bad", {}, [](History::Inputs) -> Datum { throw std::runtime_error("no"); });
  EXPECT_THROW(history.get(sum(history, {bad, number(history, 1)})), std::runtime_error);
}

}  // namespace
}  // namespace dadsim::world
