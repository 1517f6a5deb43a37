#include <fmt/format.h>

#include <stdexcept>
#include <vector>

#include "sim/platform/build/fabric.hpp"

namespace dadsim::sim {
namespace {

/// A torus: a router per node and, along each axis, a ring of lines. Routes go axis by axis, in the shorter direction
/// of the ring; if both are equal, upwards. (Dimension-order routing; W. J. Dally, B. Towles, Principles and Practices
/// of Interconnection Networks, 2004, ch. 8.) The first axis varies fastest over the nodes' numbers. Routes to other
/// clusters lead through the router of node 0.
class Torus : public Fabric {
 public:
  Torus(sg4::NetZone* zone, const spec::GpuClusterSpec& spec) : sizes_(spec.fabric.dimensions), node_of_(spec) {
    std::int64_t nodes = 1;
    for (const std::int64_t size : sizes_) {
      if (size < 1) throw std::runtime_error(fmt::format("a torus has {} nodes along an axis; use at least 1", size));
      nodes *= size;
    }
    if (sizes_.empty() || nodes != all_nodes(spec)) {
      throw std::runtime_error(
          fmt::format("a torus of {} has {} nodes, not {}", fmt::join(sizes_, " x "), nodes, all_nodes(spec)));
    }
    lines_.resize(sizes_.size());
    for (std::size_t axis = 0; axis < sizes_.size(); ++axis) {
      lines_[axis].resize(static_cast<std::size_t>(nodes));
      for (std::int64_t node = 0; node < nodes; ++node) {
        const std::int64_t next = step(node, axis, 1);
        // Two nodes along an axis have one line between them, not two; a single node has none.
        if (next == node || (sizes_[axis] == 2 && next < node)) continue;
        lines_[axis][static_cast<std::size_t>(node)] =
            make_duplex_link(zone, name_in(spec.name, fmt::format("node-{} to node-{}", node, next)), spec.fabric.link);
      }
    }
  }

  void route(std::int64_t from, std::int64_t to, Links& links) const override {
    walk(node_of_(from), node_of_(to), links);
  }
  void leave(std::int64_t from, Links& links) const override { walk(node_of_(from), 0, links); }
  void enter(std::int64_t to, Links& links) const override { walk(0, node_of_(to), links); }

 private:
  /// Returns the difference between the numbers of neighbouring nodes along the axis.
  std::int64_t stride(std::size_t axis) const {
    std::int64_t product = 1;
    for (std::size_t a = 0; a < axis; ++a) product *= sizes_[a];
    return product;
  }
  std::int64_t position(std::int64_t node, std::size_t axis) const { return node / stride(axis) % sizes_[axis]; }
  std::int64_t step(std::int64_t node, std::size_t axis, std::int64_t by) const {
    const std::int64_t here = position(node, axis);
    return node + ((here + by + sizes_[axis]) % sizes_[axis] - here) * stride(axis);
  }

  void walk(std::int64_t here, std::int64_t to, Links& links) const {
    for (std::size_t axis = 0; axis < sizes_.size(); ++axis) {
      const std::int64_t size = sizes_[axis];
      const std::int64_t up = (position(to, axis) - position(here, axis) + size) % size;
      const bool upwards = 2 * up <= size;
      for (std::int64_t left = upwards ? up : size - up; left > 0; --left) {
        const std::int64_t next = step(here, axis, upwards ? 1 : -1);
        // Names a line and its UP direction after the lower node; with two nodes along the axis, after the first.
        const bool own = size == 2 ? here < next : upwards;
        const DuplexLink& line = lines_[axis][static_cast<std::size_t>(own ? here : next)];
        links.push_back(own ? line.up : line.down);
        here = next;
      }
    }
  }

  std::vector<std::int64_t> sizes_;  ///< nodes along each axis
  NodeOfAdapter node_of_;
  std::vector<std::vector<DuplexLink>> lines_;  ///< line to the next node along the axis, [axis][node]
};

}  // namespace

std::unique_ptr<Fabric> make_torus(sg4::NetZone* zone, const spec::GpuClusterSpec& spec) {
  return std::make_unique<Torus>(zone, spec);
}

}  // namespace dadsim::sim
