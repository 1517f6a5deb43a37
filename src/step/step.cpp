#include "step/step.hpp"

#include <stdexcept>

namespace dadsim::step {

bool is_matrix_product(Phase phase) {
  switch (phase) {
    case Phase::forward:
    case Phase::backpropagate:
    case Phase::weight_gradient:
    case Phase::factorise:
    case Phase::merge:
      return true;
    case Phase::loss:
    case Phase::add:
    case Phase::update:
    case Phase::encode:
    case Phase::decode:
      return false;
  }
  throw std::logic_error("unknown phase");
}

const char* to_string(Phase phase) {
  switch (phase) {
    case Phase::forward:
      return "forward";
    case Phase::loss:
      return "loss";
    case Phase::backpropagate:
      return "propagate";
    case Phase::weight_gradient:
      return "weight gradient";
    case Phase::factorise:
      return "factorise";
    case Phase::merge:
      return "merge";
    case Phase::add:
      return "add";
    case Phase::update:
      return "update";
    case Phase::encode:
      return "encode";
    case Phase::decode:
      return "decode";
  }
  throw std::logic_error("unknown phase");
}

bool CollectiveOp::operator==(const CollectiveOp& other) const {
  return kind == other.kind && payload == other.payload && same_graph(neighbours, other.neighbours);
}

const char* to_string(CollectiveKind kind) {
  switch (kind) {
    case CollectiveKind::gather:
      return "gather";
    case CollectiveKind::reduce:
      return "reduce";
    case CollectiveKind::broadcast:
      return "broadcast";
    case CollectiveKind::all_reduce:
      return "all-reduce";
    case CollectiveKind::all_gather:
      return "all-gather";
    case CollectiveKind::reduce_scatter:
      return "reduce-scatter";
    case CollectiveKind::scatter:
      return "scatter";
    case CollectiveKind::all_to_all:
      return "all-to-all";
    case CollectiveKind::stage_send:
      return "stage send";
    case CollectiveKind::neighbour_exchange:
      return "neighbour-exchange";
  }
  throw std::logic_error("unknown collective");
}

}  // namespace dadsim::step
