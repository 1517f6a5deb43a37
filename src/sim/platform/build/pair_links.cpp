#include "sim/platform/build/pair_links.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

namespace dadsim::sim {
namespace {

std::size_t index_of(const std::vector<std::string>& places, const std::string& name) {
  const auto place = std::ranges::find(places, name);
  if (place == places.end()) {
    throw std::runtime_error(fmt::format("a pair names '{}'; use {}", name, fmt::join(places, ", ")));
  }
  return static_cast<std::size_t>(place - places.begin());
}

}  // namespace

PairLinks::PairLinks(simgrid::s4u::NetZone* zone, const std::string& prefix, const std::vector<std::string>& places,
                     const std::vector<spec::WanSpec::Pair>& pairs)
    : places_(places.size()), links_(places.size() * places.size(), nullptr) {
  for (std::size_t i = 0; i < places.size(); ++i) {
    if (std::ranges::count(places, places[i]) > 1) {
      throw std::runtime_error(fmt::format("two clusters are named '{}'; names must differ", places[i]));
    }
  }
  std::vector<bool> joined(links_.size());
  for (const spec::WanSpec::Pair& pair : pairs) {
    const std::size_t from = index_of(places, pair.from);
    const std::size_t to = index_of(places, pair.to);
    if (from == to) throw std::runtime_error(fmt::format("a pair joins '{}' to itself", pair.from));
    if (joined[from * places_ + to]) {
      throw std::runtime_error(fmt::format("the pair from '{}' to '{}' occurs twice; remove one", pair.from, pair.to));
    }
    joined[from * places_ + to] = true;
    links_[from * places_ + to] = make_link(zone, name_in(prefix, fmt::format("{} -> {}", pair.from, pair.to)), pair);
  }
  for (std::size_t from = 0; from < places_; ++from) {
    for (std::size_t to = 0; to < places_; ++to) {
      if (from == to || joined[from * places_ + to]) continue;
      throw std::runtime_error(fmt::format("no link joins '{}' to '{}'; add a pair", places[from], places[to]));
    }
  }
}

}  // namespace dadsim::sim
