#include "study/import/import_model.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <new>
#include <stdexcept>

#include "algorithms/registry.hpp"
#include "scenario/document/load.hpp"
#include "scenario/elements/read_workload.hpp"
#include "scenario/xml/files.hpp"
#include "scenario/xml/xml_writer.hpp"
#include "spec/near_names.hpp"
#include "spec/workload.hpp"
#include "spec/workloads/architectures.hpp"
#include "study/setting/catalog.hpp"
#include "study/setting/memory_check.hpp"
#include "support/diagnostics.hpp"

namespace dadsim::study {
namespace {

using Open = scenario::XmlWriter::Open;

/// Checks that sizes are below limits larger than every network trained today, so that products of sizes do not
/// overflow.
void check_sizes(const spec::Sizes& sizes) {
  constexpr std::int64_t kMostOfOthers = 10'000'000;
  constexpr double kMostParameters = 1e15;
  for (const auto& [name, value] : sizes) {
    const auto known = std::ranges::find(spec::workload_sizes(), name, &spec::ParameterSpec::name);
    const double most = known == spec::workload_sizes().end() || known->type == spec::ParameterSpec::Type::choice
                            ? kMostOfOthers
                            : known->maximum;
    if (static_cast<double>(value) > most)
      throw std::runtime_error(fmt::format("has {} {}, but workloads have at most {:.0f}", name, value, most));
  }
  const auto size = [&](const char* name) { return static_cast<double>(spec::size_or(sizes, name, 0)); };
  const double between = std::max(size("feed-forward"), size("expert-feed-forward")) + 4 * size("hidden");
  if (size("layers") * (size("experts") + 1) * size("hidden") * between > kMostParameters ||
      size("vocabulary") * size("hidden") > kMostParameters) {
    throw std::runtime_error("has more than 10¹⁵ parameters");
  }
}

spec::ModelShape shape_of(const formats::ModelConfig& config) {
  const auto make = config.architecture == "decoder" ? spec::decoder_shape
                    : config.architecture == "bert"  ? spec::bert_shape
                    : config.architecture == "vit"   ? spec::vit_shape
                    : config.architecture == "clip"  ? spec::clip_shape
                                                     : spec::encoder_decoder_shape;
  return make(config.type, config.sizes);
}

/// Returns the sizes for `workload` that differ from its own.
spec::ParameterValues asked_of(const spec::Workload& workload, const spec::Sizes& sizes) {
  spec::ParameterValues asked;
  for (const spec::ParameterSpec& size : workload.parameters) {
    const auto found = sizes.find(size.name);
    // A size missing in a config stays missing, because the family's minimum may differ from the config's value.
    const bool choice = size.type == spec::ParameterSpec::Type::choice;
    if (found == sizes.end() && !choice && size.minimum > 0) continue;
    const std::string text = size_text(size, found == sizes.end() ? 0 : found->second);
    if (text != size.default_value || size.name == "sequence") asked[size.name] = text;
  }
  return asked;
}

/// Returns whether the workload, with these sizes, has the layers of `shape`.
bool is_same(const spec::Workload& workload, const spec::ParameterValues& sizes, const spec::ModelShape& shape) {
  try {
    return workload.shape(sizes).layers == shape.layers;
  } catch (const std::invalid_argument&) {
    return false;
  }
}

/// Returns the sides of the matrix that a layer multiplies by. A layer without weights of its own may use another
/// layer's matrix, for example an output projection tied to the embedding.
std::pair<std::int64_t, std::int64_t> sides_of(const spec::LayerShape& layer) {
  if (layer.in > 0 || layer.kind != spec::LayerKind::dense) return {layer.in, layer.out};
  const double outputs = layer.outputs_per_sample / static_cast<double>(layer.rows_per_sample);
  const double inputs = layer.forward_macs_per_sample / layer.outputs_per_sample;
  return {static_cast<std::int64_t>(std::llround(inputs)), static_cast<std::int64_t>(std::llround(outputs))};
}

bool is_family(const spec::Workload& workload) {
  return std::ranges::find(workload.parameters, std::string("layers"), &spec::ParameterSpec::name) !=
         workload.parameters.end();
}

/// Finds a workload with the same layers: a named one, else a size of a family.
void find_workload(const spec::Sizes& sizes, ImportedModel& model) {
  for (const bool family : {false, true}) {
    for (const spec::Workload& workload : spec::workload_registry().all()) {
      if (is_family(workload) != family) continue;
      const spec::ParameterValues asked = asked_of(workload, sizes);
      if (!is_same(workload, asked, model.shape)) continue;
      model.workload = workload.name;
      model.sizes = asked;
      return;
    }
  }
}

}  // namespace

ImportedModel import_model(const std::string& file, const std::string& text, std::int64_t sequence) {
  const auto refuse = [&](const std::string& what, const std::string& remedy) -> InputError {
    return InputError(Diagnostic{file, 0, what, remedy});
  };
  try {
    const std::optional<formats::ModelConfig> config = formats::model_config_of(text, sequence);
    if (!config)
      throw refuse("is not the config.json of a model", "give a JSON object with 'model_type', as of Hugging Face");
    check_sizes(config->sizes);
    ImportedModel model;
    model.type = config->type;
    model.remarks = config->remarks;
    model.quantised = config->quantised;
    model.shape = shape_of(*config);
    find_workload(config->sizes, model);
    return model;
  } catch (const InputError&) {
    throw;
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& fault) {
    throw refuse(
        fault.what(),
        fmt::format("use a config.json of one of these types: {}; or write <timed-as> by hand (docs/workloads.md)",
                    fmt::join(formats::known_model_types(), ", ")));
  }
}

namespace {

/// Returns the XML element without the document's declaration.
std::string finish_element(scenario::XmlWriter& xml) {
  const std::string text = xml.finish();
  return text.substr(text.find('\n') + 1);
}

/// Checks that dadsim accepts an imported file. Lack of device memory is no error, but a result to report.
void check_made_of(const std::string& file, const std::function<void()>& read) {
  try {
    read();
  } catch (const InputError& error) {
    const Diagnostic& first = error.diagnostics().front();
    if (!error.is_infeasible()) throw InputError({file, 0, "gives a refused scenario: " + first.what, first.remedy});
  }
}

}  // namespace

ImportedModel import_adapter(const std::string& file, const formats::AdapterConfig& adapter,
                             std::optional<ImportedModel> base, std::int64_t sequence) {
  if (!base) {
    const spec::NameMeant meant =
        spec::name_meant(spec::NameKind::workload, adapter.base, spec::workload_registry().names());
    if (!meant.same)
      throw InputError(Diagnostic{
          file, 0, fmt::format("is an adapter_config.json of PEFT, and its base '{}' is not a workload", adapter.base),
          "give the config.json of the base as a second file"});
    const spec::Workload* workload = spec::workload_registry().find(meant.name);
    base.emplace();
    base->type = base->workload = workload->name;
    if (sequence > 0) base->sizes["sequence"] = fmt::format("{}", sequence);
    base->shape = workload->shape(base->sizes);
  } else if (base->workload.empty()) {
    throw InputError(Diagnostic{file, 0, "is an adapter of a model that no workload describes",
                                "use a base that `dadsim workloads` lists"});
  }
  base->adapter = adapter;
  return *std::move(base);
}

std::string timed_as_step(const std::string& file, const std::string& batch) {
  scenario::XmlWriter xml;
  { Open(xml, "timed-as").set("file", file).set("batch", batch); }
  return finish_element(xml);
}

void check_scenario_made_of(const std::string& file, const std::string& scenario) {
  check_made_of(file, [&] {
    static_cast<void>(scenario::ScenarioSource(file, scenario).load({}, make_catalog_without_learning()));
  });
}

void check_workload_made_of(const std::string& file, const std::string& workload) {
  check_made_of(file, [&] {
    scenario::Findings findings(file);
    if (workload.size() > scenario::kMaxDocumentBytes)
      findings.add({}, fmt::format("{} MB", workload.size() >> 20U),
                   fmt::format("use at most {} MB", scenario::kMaxDocumentBytes >> 20U));
    if (findings.empty()) scenario::read_workload(workload, file, findings);
    findings.throw_if_any();
  });
}

std::string timed_as_element(const ImportedModel& model, const std::string& layers, std::int64_t batch,
                             const std::string& precision, std::span<const AttributeText> more) {
  scenario::XmlWriter xml;
  {
    Open element(xml, "timed-as");
    if (model.workload.empty()) {
      element.set("file", layers);
    } else {
      element.set("workload", model.workload);
    }
    for (const auto& [name, value] : model.sizes) element.set(name.c_str(), value);
    element.set("batch", batch).set("precision", precision);
    // Today's frameworks use fused attention by default. A file of layers states its own attention.
    if (!model.workload.empty()) element.set("attention", "flash");
    if (model.adapter) element.set("adapters", model.adapter->rank);
    if (model.adapter && model.adapter->attention_alone) element.set("adapted", "attention");
    for (const auto& [name, value] : more) element.set(name, value);
  }
  return finish_element(xml);
}

std::string file_of_layers(const std::string& file, const spec::ModelShape& shape) {
  scenario::XmlWriter xml;
  {
    Open root(xml, "workload");
    root.set("name", shape.name);
    for (const spec::LayerShape& layer : shape.layers) {
      if (layer.experts > 1)
        throw InputError(Diagnostic{file, 0,
                                    "has experts that no workload has, and a file of layers cannot describe them",
                                    "use a similar workload: `dadsim workloads` lists them"});
      Open element(xml, "layer");
      element.set("name", layer.name).set("kind", to_string(layer.kind));
      if (const auto [in, out] = sides_of(layer); in > 0) element.set("in", in).set("out", out);
      element.set("rows-per-sample", layer.rows_per_sample)
          .set("parameters", layer.parameters)
          .set("forward-macs-per-sample", layer.forward_macs_per_sample)
          .set("outputs-per-sample", layer.outputs_per_sample);
      if (layer.sequential > 1) element.set("sequential", layer.sequential);
    }
  }
  return xml.finish();
}

namespace {

/// Returns the XML text of a scenario. `run`: attributes of its run.
std::string scenario_on(const std::string& name, const std::string& timed_as, std::int64_t nodes, std::int64_t gpus,
                        const std::string& run) {
  scenario::XmlWriter head;
  { Open(head, "scenario").set("name", name).set("seed", 1).content("\n"); }
  const std::string text = head.finish();
  const std::string open = text.substr(0, text.rfind("</scenario>"));
  return open.substr(0, open.find_last_not_of('\n') + 1) +
         "\n"
         "  <!-- `dadsim links` lists what inside and nic may be, `dadsim devices` the devices. -->\n"
         "  <platform>\n" +
         fmt::format("    <gpu-cluster nodes=\"{}\" gpus=\"{}\" inside=\"nvlink-4\" rails=\"{}\" nic=\"ib-ndr\"/>\n",
                     nodes, gpus, gpus) +
         "  </platform>\n"
         "  <workers>\n"
         "    <worker hosts=\"gpu-*\" device=\"h100-sxm5\"/>\n"
         "  </workers>\n"
         "  <timing-only/>\n"
         "  " +
         timed_as + "  <run algorithm=\"" + algorithms::baseline().name + "\" exchange=\"peer\"" + run +
         "/>\n"
         "</scenario>\n";
}

}  // namespace

std::string scenario_of_step(const std::string& name, const std::string& timed_as, std::int64_t devices) {
  constexpr std::int64_t kOfNode = 8;
  const bool even = devices % kOfNode == 0;
  return scenario_on(name, timed_as,
                     even                 ? devices / kOfNode
                     : devices <= kOfNode ? 1
                                          : devices,
                     even                 ? kOfNode
                     : devices <= kOfNode ? devices
                                          : 1,
                     "");
}

std::string scenario_of(ImportedModel& model, const std::string& layers, std::int64_t batch,
                        const std::string& precision) {
  constexpr std::array<AttributeText, 3> kSaving{
      {{"sharding", "parameters"}, {"recompute", "full"}, {"expert-parallel", "8"}}};
  constexpr std::int64_t kMostNodes = 1024;
  constexpr std::int64_t kGpus = 8;
  constexpr double kReserve = 0.1;
  const bool experts = std::ranges::any_of(model.shape.layers, [](const spec::LayerShape& layer) {
    return layer.experts > 1 && layer.experts % kGpus == 0;
  });
  const std::size_t most = kSaving.size() - (experts ? 0 : 1);
  std::string text;
  for (std::int64_t nodes = 1; nodes <= kMostNodes; nodes *= 2) {
    for (std::size_t saved = nodes > 1 ? most : 0; saved <= most; ++saved) {
      const std::string element = timed_as_element(model, layers, batch, precision, std::span(kSaving).first(saved));
      text = scenario_on(model.type, element, nodes, kGpus, "");
      if (model.workload.empty()) return text;
      const scenario::Scenario scenario = scenario::ScenarioSource("imported.xml", text)
                                              .load({"workers.memory=ignore"}, make_catalog_without_learning());
      const RunMemory memory = memory_of_runs(scenario, timed_as_of(scenario, {})).front();
      if ((1 + kReserve) * memory.use.total() <= memory.available) return text;
    }
  }
  model.remarks.push_back(formats::ModelRemark::no_room);
  return text;
}

}  // namespace dadsim::study
