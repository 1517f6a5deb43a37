#include "step/step.hpp"

#include <algorithm>
#include <cstddef>
#include <unordered_map>

namespace dadsim::step {

bool CollectiveOp::operator==(const CollectiveOp& other) const {
  return kind == other.kind && payload == other.payload && same_graph(neighbours, other.neighbours);
}

void Expression::collect(Numbers& numbers) const {
  for (const Term& term : terms_) {
    for (const Factor& factor : term.factors) {
      if (factor.symbol == Symbol::slot) numbers.slots.insert(factor.slot);
      if (factor.symbol == Symbol::earlier_rows) numbers.earlier.insert(factor.slot);
      if (factor.call == nullptr) continue;
      for (const Expression& argument : factor.call->arguments) argument.collect(numbers);
    }
  }
}

WorkerClasses worker_classes(const StepSizes& sizes, const Numbers& numbers) {
  WorkerClasses classes;
  const std::size_t workers = sizes.samples.size();
  if (workers == 0) return classes;
  std::vector<const std::vector<std::int32_t>*> differing;
  const auto note = [&](const std::vector<std::int32_t>& values) {
    if (std::ranges::adjacent_find(values, std::not_equal_to()) != values.end()) differing.push_back(&values);
  };
  note(sizes.samples);
  for (const std::int32_t slot : numbers.slots) note(sizes.slots.at(static_cast<std::size_t>(slot)));
  for (const std::int32_t number : numbers.earlier) note(sizes.earlier.at(static_cast<std::size_t>(number)));
  classes.first = {0};
  if (differing.empty()) return classes;
  classes.class_of.assign(workers, 0);
  for (const std::vector<std::int32_t>* values : differing) {
    std::unordered_map<std::uint64_t, std::int32_t> number_of;  // new class, by previous class and value
    classes.first.clear();
    for (std::size_t worker = 0; worker < workers; ++worker) {
      std::int32_t& own = classes.class_of[worker];
      const std::uint64_t key =
          std::uint64_t{static_cast<std::uint32_t>(own)} << 32U | static_cast<std::uint32_t>(values->at(worker));
      const auto [place, added] = number_of.try_emplace(key, static_cast<std::int32_t>(number_of.size()));
      if (added) classes.first.push_back(static_cast<std::int32_t>(worker));
      own = place->second;
    }
  }
  return classes;
}

}  // namespace dadsim::step
