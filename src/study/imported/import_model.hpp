#pragma once

#include <cstdint>
#include <string>
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
};

/// A config.json of Hugging Face's transformers, of sequences of so many tokens; 0: as many as is usual. The workload
/// is one of the catalogue where the layers are the same. `file` is named in errors. Throws InputError.
ImportedModel import_model(const std::string& file, const std::string& text, std::int64_t sequence);

/// The <timed-as> element of it: its workload, or the layers in `layers`. A batch of each worker, and a precision by
/// its name.
std::string timed_as_element(const ImportedModel& model, const std::string& layers, std::int64_t batch,
                             const std::string& precision);

/// A file of layers, which <timed-as file="…"/> takes (docs/workloads.md). Throws InputError where layers have experts,
/// of which such a file knows nothing.
std::string file_of_layers(const std::string& file, const spec::ModelShape& shape);

/// A whole scenario that times a recorded step of so many devices, on nodes of eight H100 where these go even.
std::string scenario_of_step(const std::string& name, const std::string& timed_as, std::int64_t devices);

/// A whole scenario that times it: data parallel on a node of eight H100, to be changed.
std::string scenario_of(const std::string& name, const std::string& timed_as);

}  // namespace dadsim::study
