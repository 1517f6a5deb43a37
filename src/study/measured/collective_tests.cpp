#include "study/measured/collective_tests.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <iterator>

namespace dadsim::study {
namespace {

using report::Operation;

/// A name without what benchmarks put around it, in small letters: that of "osu_iallreduce" is "iallreduce".
std::string plain(std::string_view name) {
  name.remove_prefix(std::min(name.find_last_of("/#") + 1, name.size()));
  std::string letters;
  for (const char c : name) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0)
      letters += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  for (const std::string_view head : {"osu", "device"}) {
    if (letters.starts_with(head)) letters.erase(0, head.size());
  }
  for (const std::string_view tail : {"mpi", "perf", "onstream", "device", "latency"}) {
    if (letters.ends_with(tail)) letters.resize(letters.size() - tail.size());
  }
  return letters;
}

constexpr std::array<std::pair<std::string_view, Operation>, 12> kOtherNames{{
    {"reduction", Operation::all_reduce},  // of NVSHMEM, as the next one
    {"fcollect", Operation::all_gather},
    {"bcast", Operation::broadcast},
    {"sendrecv", Operation::neighbour_exchange},
    {"allgatherv", Operation::all_gather},  // OSU's have equal parts
    {"gatherv", Operation::gather},
    {"scatterv", Operation::scatter},
    {"iallreduce", Operation::all_reduce},
    {"iallgather", Operation::all_gather},
    {"ialltoall", Operation::all_to_all},
    {"ibcast", Operation::broadcast},
    {"ireduce", Operation::reduce},
}};

}  // namespace

std::optional<Operation> operation_of_test(std::string_view name) {
  if (name == kLatencyTest) return Operation::send;
  const std::string word = plain(name);
  for (const auto& [operation, own] : names_of(Operation{})) {
    if (plain(own) == word) return operation;
  }
  const auto other = std::ranges::find(kOtherNames, word, [](const auto& one) { return one.first; });
  if (other == kOtherNames.end()) return std::nullopt;
  return other->second;
}

std::string test_of(Operation operation) {
  if (operation == Operation::all_to_all) return "alltoall_perf";
  if (operation == Operation::neighbour_exchange || operation == Operation::send) return std::string(kSendTest);
  std::string name = to_string(operation);
  std::ranges::replace(name, '-', '_');
  return name + "_perf";
}

std::vector<std::string> names_of_tests() {
  std::vector<std::string> names;
  for (const auto& [operation, own] : names_of(Operation{})) {
    if (operation != Operation::send) names.push_back(test_of(operation));
  }
  return names;
}

collectives::CollectiveRequest request_of(Operation operation, double bytes, std::size_t ranks,
                                          std::span<const std::pair<int, int>> pairs) {
  collectives::CollectiveRequest request;
  request.kind = kind_of(operation);
  const bool of_block = has_blocks(operation) && operation != Operation::reduce_scatter;
  request.bytes = {of_block ? bytes / static_cast<double>(ranks) : bytes};
  if (request.kind != step::CollectiveKind::neighbour_exchange) return request;
  request.neighbours.resize(ranks);
  for (const auto& [from, to] : pairs) request.neighbours[static_cast<std::size_t>(from)].push_back(to);
  const std::size_t senders = operation == Operation::send ? 1 : ranks;
  for (std::size_t rank = 0; rank < senders && pairs.empty() && ranks > 1; ++rank)
    request.neighbours[rank].push_back(static_cast<collectives::Rank>((rank + 1) % ranks));
  return request;
}

}  // namespace dadsim::study
