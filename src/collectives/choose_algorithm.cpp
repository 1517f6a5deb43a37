// Chooses the algorithm for `auto`, as the library of the ranks' devices does. docs/collectives.md has the rules.
#include <optional>
#include <stdexcept>
#include <utility>

#include "collectives/libraries.hpp"
#include "collectives/request.hpp"

namespace dadsim::collectives {
namespace {

const CollectiveChoice& least(const std::vector<CollectiveChoice>& choices) {
  // Choices are in order of preference: a later choice must be faster by more than rounding errors.
  const CollectiveChoice* best = &choices.front();
  for (const CollectiveChoice& choice : choices) {
    if (choice.seconds < best->seconds * (1 - 1e-9)) best = &choice;
  }
  return *best;
}

}  // namespace

std::vector<CollectiveChoice> library_choices(const CollectiveRequest& request, const RankLayout& layout) {
  if (std::optional<Fault> fault = fault_in(request, layout.ranks()))
    throw RefusedCollective(request.kind, *std::move(fault));
  switch (layout.library) {
    case spec::CollectiveLibrary::nccl:
      return nccl_choices(request, layout);
    case spec::CollectiveLibrary::rccl:
      return rccl_choices(request, layout);
    case spec::CollectiveLibrary::mpi:
      return mpi_choices(request, layout);
    case spec::CollectiveLibrary::xla:
      return xla_choices(request, layout);
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
