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

/// A network as another program describes it.
struct ImportedModel {
  std::string type;             ///< what that calls it: "llama"
  std::string workload;         ///< that has the same layers; empty: none has, only a file with its layers
  spec::ParameterValues sizes;  ///< of that workload, as <timed-as> takes them
  spec::ModelShape shape;       ///< its layers
  std::vector<formats::ModelRemark> remarks;
  std::string quantised = {};  ///< how its weights are stored in fewer bits; empty: they are not
  std::optional<formats::AdapterConfig> adapter = {};  ///< learned beside it
};

/// A config.json of Hugging Face's transformers, of sequences of so many tokens; 0: as many as is usual. The workload
/// is one of the catalogue where the layers are the same. `file` is named in errors. Throws InputError.
ImportedModel import_model(const std::string& file, const std::string& text, std::int64_t sequence);

/// An adapter of PEFT. Its model is that of the config.json `base`, or else the workload that is called as the
/// adapter's base is. Throws InputError.
ImportedModel import_adapter(const std::string& file, const formats::AdapterConfig& adapter,
                             std::optional<ImportedModel> base, std::int64_t sequence);

/// Name and value of an attribute.
using AttributeText = std::pair<const char*, const char*>;

/// Writes the <timed-as> element of it: its workload with fused attention, or the layers in `layers`. A batch of each
/// worker, a precision by its name, and more attributes.
std::string timed_as_element(const ImportedModel& model, const std::string& layers, std::int64_t batch,
                             const std::string& precision, std::span<const AttributeText> more = {});

/// A file of layers, which <timed-as file="…"/> takes (docs/workloads.md). Throws InputError where layers have experts,
/// of which such a file knows nothing.
std::string file_of_layers(const std::string& file, const spec::ModelShape& shape);

/// The <timed-as> element of a recorded step in `file`.
std::string timed_as_step(const std::string& file, const std::string& batch);

/// Throws InputError with `file`, which was imported, where dadsim refuses what was made of it: a scenario, or a file
/// of layers or of a step.
void check_scenario_made_of(const std::string& file, const std::string& scenario);
void check_workload_made_of(const std::string& file, const std::string& workload);

/// A whole scenario that times a recorded step of so many devices, on nodes of eight H100 where these go even.
std::string scenario_of_step(const std::string& name, const std::string& timed_as, std::int64_t devices);

/// Writes a whole scenario that times it, data parallel on a node of eight H100. Where memory does not suffice, workers
/// divide parameters, then blocks are computed again, then devices of a node divide experts, then there are more nodes.
/// Adds a remark to the model where it does not fit the memory of 1,024 nodes.
std::string scenario_of(ImportedModel& model, const std::string& layers, std::int64_t batch,
                        const std::string& precision);

}  // namespace dadsim::study
