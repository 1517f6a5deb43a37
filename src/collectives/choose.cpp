// What `auto` stands for: what the library of the ranks' devices has, and takes. docs/collectives.md has the rules.
#include <algorithm>
#include <stdexcept>

#include "collectives/blocks.hpp"
#include "collectives/layouts.hpp"
#include "collectives/libraries.hpp"

namespace dadsim::collectives {
namespace {

const CollectiveChoice& least(const std::vector<CollectiveChoice>& choices) {
  // Choices stand in order of preference: a later one has to be quicker by more than rounding.
  const CollectiveChoice* best = &choices.front();
  for (const CollectiveChoice& choice : choices) {
    if (choice.seconds < best->seconds * (1 - 1e-9)) best = &choice;
  }
  return *best;
}

}  // namespace

double counted_bytes(const CollectiveRequest& request, Rank ranks) {
  switch (request.kind) {
    case step::CollectiveKind::all_reduce:
    case step::CollectiveKind::reduce_scatter:
    case step::CollectiveKind::broadcast:
    case step::CollectiveKind::reduce:
      return request.bytes.front();
    default:
      return one_block_per_rank(request, ranks).total();
  }
}

const char* messages_at_once(step::CollectiveKind kind) {
  switch (kind) {
    case step::CollectiveKind::gather:
    case step::CollectiveKind::scatter:
      return "flat";
    case step::CollectiveKind::all_to_all:
    case step::CollectiveKind::neighbour_exchange:
    case step::CollectiveKind::stage_send:
      return "direct";
    default:
      return nullptr;
  }
}

std::vector<CollectiveChoice> library_choices(const CollectiveRequest& request, const RankLayout& layout) {
  check_request(request, layout.ranks());
  switch (layout.library) {
    case spec::CollectiveLibrary::nccl:
      return nccl_choices(request, layout);
    case spec::CollectiveLibrary::rccl:
      return rccl_choices(request, layout);
    case spec::CollectiveLibrary::mpi:
      return mpi_choices(request, layout);
  }
  throw std::logic_error("unknown library");
}

std::string choose_collective(const CollectiveRequest& request, const RankLayout& layout) {
  return least(library_choices(request, layout)).algorithm;
}

Protocol choose_protocol(const CollectiveRequest& request, std::string_view algorithm, const RankLayout& layout) {
  std::vector<CollectiveChoice> own = library_choices(request, layout);
  std::erase_if(own, [&](const CollectiveChoice& choice) { return choice.algorithm != algorithm; });
  return own.empty() ? Protocol::by_message : least(own).protocol;
}

}  // namespace dadsim::collectives
