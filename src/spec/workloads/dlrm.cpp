#include <fmt/format.h>

#include <string>

#include "spec/workloads/architectures.hpp"
#include "spec/workloads/layers.hpp"

namespace dadsim::spec {

ModelShape dlrm_shape(const std::string& title, const Sizes& sizes) {
  ModelShape model{title, {}};
  const std::int64_t width = sizes.at("hidden");
  const std::int64_t tables = sizes.at("tables");
  const std::int64_t crossed = width * (tables + 1);
  const std::int64_t rank = sizes.at("rank");
  LayerShape table = embedding_shape("tables", sizes.at("lookups"), sizes.at("entries"), width);
  table.kept_beside_per_sample =
      static_cast<double>((tables - sizes.at("lookups")) * width);  // rows of each table are summed
  model.layers.push_back(table);
  const auto add_mlp = [&](const std::string& name, std::initializer_list<std::int64_t> widths) {
    std::int64_t in = 0;
    int layer = 0;
    for (const std::int64_t out : widths) {
      if (in > 0) model.layers.push_back(dense_shape(fmt::format("{}{}", name, ++layer), in, out, true));
      in = out;
    }
  };
  add_mlp("bottom", {sizes.at("features"), 512, 256, width});
  for (std::int64_t i = 1; i <= sizes.at("layers"); ++i) {
    model.layers.push_back(dense_shape(fmt::format("block{}.narrow", i), crossed, rank, false));
    model.layers.push_back(dense_shape(fmt::format("block{}.wide", i), rank, crossed, true));
  }
  add_mlp("top", {crossed, 1024, 1024, 512, 256, 1});
  return model;
}

}  // namespace dadsim::spec
