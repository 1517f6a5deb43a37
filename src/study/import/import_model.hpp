#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "formats/model_config.hpp"
#include "spec/layer_shape.hpp"
#include "spec/parameter.hpp"

namespace dadsim::study {

/// A network from another program's description.
struct ImportedModel {
  std::string type;             ///< type in that program: "llama"
  std::string workload;         ///< workload with the same layers; empty: none, so that a file lists the layers
  spec::ParameterValues sizes;  ///< sizes of that workload, as attributes of <timed-as>
  spec::ModelShape shape;       ///< its layers
  std::vector<formats::ModelRemark> remarks;
  std::string quantised = {};                          ///< format of quantised weights; empty: not quantised
  std::optional<formats::AdapterConfig> adapter = {};  ///< adapter (LoRA) trained on this model
};

/// Imports a config.json of Hugging Face's transformers, with sequences of `sequence` tokens (0: the usual number).
/// Uses a workload of the catalogue if its layers are equal. `file` is named in errors. Throws InputError.
ImportedModel import_model(const std::string& file, const std::string& text, std::int64_t sequence);

/// Imports an adapter of PEFT. Its model comes from the config.json `base`, or else from the workload named after the
/// adapter's base. Throws InputError.
ImportedModel import_adapter(const std::string& file, const formats::AdapterConfig& adapter,
                             std::optional<ImportedModel> base, std::int64_t sequence);

/// Name and value of an attribute.
using AttributeText = std::pair<const char*, const char*>;

/// Returns the model's <timed-as> element, with its workload and fused attention, or with the file `layers`. Adds the
/// batch per worker, the precision, and `more` attributes.
std::string timed_as_element(const ImportedModel& model, const std::string& layers, std::int64_t batch,
                             const std::string& precision, std::span<const AttributeText> more = {});

/// Returns a file of layers for <timed-as file="…"/> (docs/workloads.md). Throws InputError for layers with experts,
/// which this format cannot describe.
std::string file_of_layers(const std::string& file, const spec::ModelShape& shape);

/// Returns the <timed-as> element of a recorded step in `file`.
std::string timed_as_step(const std::string& file, const std::string& batch);

/// Throws InputError naming `file`, the imported file, if dadsim refuses the resulting scenario, file of layers or file
/// of a step.
void check_scenario_made_of(const std::string& file, const std::string& scenario);
void check_workload_made_of(const std::string& file, const std::string& workload);

/// Returns a complete scenario that times a recorded step of `devices` devices. Nodes have eight H100 if `devices` is a
/// multiple of eight. Other numbers up to eight are one node; larger ones are nodes of one device.
std::string scenario_of_step(const std::string& name, const std::string& timed_as, std::int64_t devices);

/// Returns a complete scenario that times the model, data parallel on a node of eight H100. If memory is short, the
/// scenario in turn shards parameters among workers, recomputes blocks, divides experts among the devices of a node,
/// and adds nodes. Adds a remark to the model if the memory of 1,024 nodes is too small.
std::string scenario_of(ImportedModel& model, const std::string& layers, std::int64_t batch,
                        const std::string& precision);

}  // namespace dadsim::study
