#include "spec/workload.hpp"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <stdexcept>
#include <utility>

#include "spec/workloads/families.hpp"

namespace dadsim::spec {
namespace {

std::int64_t size_in(const std::string& text, const std::string& name) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value < 1)
    throw std::invalid_argument("'" + name + "' is no size: '" + text + "'");
  return value;
}

}  // namespace

ModelShape Workload::shape(const ParameterValues& sizes) const {
  Sizes all;
  for (const ParameterSpec& parameter : parameters)
    all[parameter.name] = size_in(parameter.default_value, parameter.name);
  for (const auto& [size, value] : sizes) {
    if (!all.contains(size)) throw std::invalid_argument("'" + name + "' has no size '" + size + "'");
    all[size] = size_in(value, size);
  }
  return make(all);
}

Registry<Workload>& workload_registry() {
  static Registry<Workload> registry = [] {
    std::vector<Workload> all;
    for (const auto& family : {resnet_workloads, vgg_workloads, vit_workloads, bert_workloads, gpt_workloads,
                               mpt_workloads, megatron_workloads, llama_workloads, lstm_workloads}) {
      std::ranges::move(family(), std::back_inserter(all));
    }
    return Registry<Workload>("workload", std::move(all));
  }();
  return registry;
}

}  // namespace dadsim::spec
