#include "spec/program.hpp"

#include <algorithm>
#include <vector>

#include "spec/fact_cells.hpp"
#include "spec/programs.csv.hpp"
#include "support/fact_table.hpp"

namespace dadsim::spec {
namespace {

constexpr double kWide = 4;  ///< bytes of fp32

// Slowdown of kernels that do not stream, as a factor on their bytes. Measured from PyTorch's kernel times in a step of
// GPT-2 small on one H100: 0.85 of the bandwidth ÷ the share of the bandwidth that the kernel reaches.
constexpr double kSumsOverRows = 2.5;  ///< gradients of biases, scales and shifts: shares 0.33 and 0.35
constexpr double kWidening = 1.44;     ///< casts from 16 bit to fp32, with scalar loads: share 0.59
constexpr double kStrided = 3.4;       ///< joining and splitting heads: shares 0.13 to 0.3

/// Bytes per number that passes read and write, with and without casts.
struct ProgramWidths {
  double narrow = kWide;
  bool casts = false;
  double narrowed() const { return casts ? kWide + narrow : 0; }               ///< bytes of a cast from fp32
  double widened() const { return casts ? kWidening * (kWide + narrow) : 0; }  ///< bytes of a cast back
};

struct ProgramCosts {
  double host = 0, between = 0, divided = 0;
};
ProgramCosts costs_of(Program program) {
  constexpr double kMicrosecond = 1e-6;
  static const FactTable kTable(tables::kPrograms, {"program", "host per kernel [us]", "between kernels [us]",
                                                    "host per divided product [us]", "date", "source"});
  for (const FactTable::Row& row : kTable.rows()) {
    if (named_in<Program>(row, "program") == program)
      return {kMicrosecond * row.number("host per kernel [us]"), kMicrosecond * row.number("between kernels [us]"),
              kMicrosecond * row.number("host per divided product [us]")};
  }
  return {};
}

/// Bytes per attention score that memory passes read and write. Softmax, in fp32, finds the maximum, sums and writes;
/// its backward pass reads the row twice. Scores are scaled, and a copy is masked if a position does not see all
/// others.
struct ScorePasses {
  double forward = 0, back = 0;
};
ScorePasses score_passes(Program program, const ProgramWidths& bytes, bool masked, bool dropped) {
  const double read_and_write = 2 * bytes.narrow;
  if (program == Program::compiled) return {read_and_write + bytes.narrow, read_and_write + bytes.narrow};
  const double scale = read_and_write;
  const double mask = masked ? 2 * read_and_write : 0;
  const double drop = dropped ? read_and_write + 1 : 0;
  const double softmax = 4 * kWide;
  return {scale + mask + bytes.widened() + softmax + bytes.narrowed() + drop,
          scale + mask + bytes.widened() + softmax + bytes.narrowed() + drop};
}

/// Adds the passes over class scores: a cast to fp32, log-softmax and the loss. The gradient is first filled with
/// zeros. A compiled program passes over the scores twice in each direction.
void add_classes(Program program, const ProgramWidths& bytes, LayerPasses& passes) {
  if (program == Program::compiled) {
    passes.forward += 2 * bytes.narrow;
    passes.back += 2 * bytes.narrow;
    return;
  }
  const double softmax = 4 * kWide;
  passes.forward += bytes.widened() + softmax;
  passes.back += kWide + softmax + bytes.narrowed();
  passes.kernels_forward += 3;
  passes.kernels_back += 4;
}

/// Returns the number of inputs per row of a dense layer. A decoder with tied weights has no matrix size; the number
/// then follows from the multiply-adds.
double width_of(const LayerShape& layer) {
  return layer.in > 0 ? static_cast<double>(layer.in) : layer.forward_macs_per_sample / layer.outputs_per_sample;
}

/// Adds the kernels before and after a dense layer.
void add_dense(const LayerShape& layer, const ProgramWidths& bytes, LayerPasses& passes) {
  const bool compiled = passes.program == Program::compiled;
  const double outputs = layer.outputs_per_sample;
  const double one = bytes.narrow;
  const double kernel = compiled ? 0 : 1;  // passes of separate kernels; 0 if fused
  if (layer.kept_bytes_per_sample >= kWide * outputs) {
    add_classes(passes.program, bytes, passes);
  } else {
    if (layer.kept_beside_per_sample >= outputs) {  // an activation function follows
      passes.forward += 2 * one;
      passes.back += 3 * one;
      passes.kernels_forward += 1;
      passes.kernels_back += 1;
    }
    if (layer.split == TensorSplit::row) {  // added to the residual in fp32; backward, two gradients are added
      passes.forward += one + 2 * kWide;
      passes.back += compiled ? 0 : 3 * kWide + bytes.narrowed();
      passes.kernels_forward += kernel;
      passes.kernels_back += (bytes.casts ? 2 : 1) * kernel;
    }
    if (layer.kept_bytes_per_sample >= outputs && !compiled) {  // dropout, with a one-byte mask
      passes.forward += 2 * one + 1;
      passes.back += 2 * one + 1;
      passes.kernels_forward += 1;
      passes.kernels_back += 1;
    }
    if (layer.experts > 1 && layer.split == TensorSplit::row) {  // rows are sorted by expert, and back
      passes.forward += 2 * one;
      passes.back += 2 * one;
    }
  }
  // The output of a norm is fp32 and is cast for the product; its gradient is cast back. In a compiled program, the
  // norm itself casts.
  const double width = width_of(layer);
  const double columns = layer.in > 0 ? static_cast<double>(layer.out)
                                      : outputs / static_cast<double>(std::max<std::int64_t>(layer.rows_per_sample, 1));
  if (bytes.casts && !compiled && layer.split != TensorSplit::row) {
    passes.forward += bytes.narrowed() * width / columns;
    passes.back += bytes.widened() * width / columns;
    passes.kernels_forward += 1;
    passes.kernels_back += 1;
  }
}

/// Adds the passes of the product, its weights and its bias.
void add_product(const LayerShape& layer, const ProgramWidths& bytes, LayerPasses& passes) {
  const bool compiled = passes.program == Program::compiled;
  passes.kernels_forward += 1;
  passes.kernels_back += 1;
  passes.kernels_weights += 1;
  if (layer.bias) {
    passes.weights += (compiled ? 1 : kSumsOverRows) * bytes.narrow;
    passes.kernels_weights += 1;
  }
  if (!bytes.casts) return;
  passes.parameter_forward = bytes.narrowed();
  passes.parameter_weights = bytes.widened();
  const double casts = compiled ? 0 : layer.bias ? 2 : 1;
  passes.kernels_forward += casts;
  passes.kernels_weights += casts;
}

/// Adds a layer norm, which reads its input twice. Its gradients of scale and shift read both operands again.
void add_layer_norm(const ProgramWidths& bytes, LayerPasses& passes) {
  const bool compiled = passes.program == Program::compiled;
  // Compiled: one kernel with the residual sum before the norm, which writes the product's input.
  passes.forward = compiled ? kWide + bytes.narrow : 3 * kWide;
  passes.back = compiled ? 2 * bytes.narrow + 3 * kWide + kWide + bytes.narrow : 3 * kWide + kSumsOverRows * 2 * kWide;
  passes.kernels_forward = 1;
  passes.kernels_back = 2;
}

/// Adds a root-mean-square norm composed of operators, six in the forward pass: square, mean, addition of ε, inverse
/// root and two products (as in transformers of Hugging Face).
void add_composed_norm(LayerPasses& passes) {
  const double read_and_write = 2 * kWide;
  passes.forward = 3 * read_and_write + kWide;
  passes.back = 4 * read_and_write + 4 * 3 * kWide + kWide + (kSumsOverRows - 1) * kWide;
  passes.kernels_forward = 6;
  passes.kernels_back = 14;
}

/// Adds the rotary embedding of queries and keys (Su et al., RoFormer, arXiv:2104.09864): two products, an exchange of
/// halves, a sum and a cast, in fp32. The backward pass has the same, and the sum of two gradients.
void add_rotation(const LayerShape& layer, const ProgramWidths& bytes, LayerPasses& passes) {
  const bool compiled = passes.program == Program::compiled;
  const double one = bytes.narrow;
  const double mixed = layer.outputs_per_sample - layer.scores_per_sample;
  const double values = static_cast<double>(layer.keys_and_values * layer.rows_per_sample) / 2;
  const double turned = mixed > 0 ? 1 + values / mixed : 0;  // size of queries and keys ÷ attention output
  const double products = 2 * (one + kWide);
  const double halves = 3 * one;
  passes.forward += turned * (compiled ? 2 * one : products + halves + 3 * kWide + bytes.narrowed());
  passes.back += turned * (compiled ? 2 * one : bytes.widened() + 2 * products + halves + 2 * 3 * kWide);
  passes.kernels_forward += compiled ? 1 : 12;
  passes.kernels_back += compiled ? 1 : 16;
}

/// Adds the passes of attention: gradients of queries, keys and values are concatenated, and the gradient of the output
/// is reordered. `rotates`: adds rotary embeddings too. Written scores have additional passes, counted per score.
void add_attention(const LayerShape& layer, bool rotates, const ProgramWidths& bytes, LayerPasses& passes) {
  const bool compiled = passes.program == Program::compiled;
  const bool fused = layer.scores_per_sample == 0;
  passes.back = (compiled ? 1 : kStrided) * (3 + 1) * 2 * bytes.narrow;
  passes.kernels_forward = 1;
  passes.kernels_back = compiled ? 4 : 6;
  if (rotates) add_rotation(layer, bytes, passes);
  const ScorePasses plain =
      score_passes(passes.program, bytes, layer.causal, !fused && layer.kept_bytes_per_sample > 0);
  if (fused) {
    passes.unfused_forward = plain.forward;
    passes.unfused_back = plain.back;
    return;
  }
  const double mixed_of_score = (layer.outputs_per_sample - layer.scores_per_sample) / layer.scores_per_sample;
  passes.forward = plain.forward + mixed_of_score * passes.forward;
  passes.back = plain.back + mixed_of_score * passes.back;
  passes.kernels_forward += compiled ? 2 : 6;
  passes.kernels_back += compiled ? 2 : 6;
}

/// Adds the batch norm after a convolution, as wide as the convolution, and its ReLU. After a widening 1×1 convolution,
/// also adds the residual sum. The norm on the shortcut has neither ReLU nor sum.
void add_batch_norm(const LayerShape& convolution, bool on_shortcut, const ProgramWidths& bytes, LayerPasses& passes) {
  const bool compiled = passes.program == Program::compiled;
  const double one = bytes.narrow;
  const bool summed = !on_shortcut && convolution.out > convolution.in && convolution.overlap() == 1;
  passes.forward = 3 * one + (summed ? (compiled ? 1 : 3) * one : 0) + (on_shortcut || compiled ? 0 : 2 * one);
  passes.back = 5 * one + (summed ? (compiled ? 1 : 3) * one : 0) + (on_shortcut || compiled ? 0 : 3 * one);
  const double relu = on_shortcut || compiled ? 0 : 1;
  const double sum = summed && !compiled ? 1 : 0;
  passes.kernels_forward = (compiled ? 1 : 2) + relu + sum;  // includes the kernel that counts batches
  passes.kernels_back = 1 + relu + sum;
}

/// Returns whether the network has root-mean-square norms. It then has rotary embeddings like LLaMA.
bool has_rms_norms(const ModelShape& model) {
  for (std::size_t i = 0; i < model.layers.size(); ++i) {
    if (is_rms_norm(model, i)) return true;
  }
  return false;
}

LayerPasses passes_of(const ModelShape& model, std::size_t position, Program program, const ProgramWidths& bytes) {
  const LayerShape& layer = model.layers[position];
  const LayerShape* before = position > 0 ? &model.layers[position - 1] : nullptr;
  LayerPasses passes;
  passes.program = program;
  switch (layer.kind) {
    case LayerKind::dense:
      add_product(layer, bytes, passes);
      add_dense(layer, bytes, passes);
      break;
    case LayerKind::convolution: {
      add_product(layer, bytes, passes);
      const bool normalised =
          position + 1 < model.layers.size() && model.layers[position + 1].kind == LayerKind::normalisation;
      if (!normalised && program != Program::compiled) {  // ReLU is its own kernel
        passes.forward += 2 * bytes.narrow;
        passes.back += 3 * bytes.narrow;
        passes.kernels_forward += 1;
        passes.kernels_back += 1;
      }
      break;
    }
    case LayerKind::attention:
      add_attention(layer, has_rms_norms(model), bytes, passes);
      break;
    case LayerKind::normalisation:
      if (before != nullptr && before->kind == LayerKind::convolution) {
        add_batch_norm(*before, layer.kept_beside_per_sample < 0, bytes, passes);
      } else {
        is_rms_norm(model, position) && program != Program::compiled ? add_composed_norm(passes)
                                                                     : add_layer_norm(bytes, passes);
      }
      break;
    case LayerKind::embedding:
    case LayerKind::recurrence:
    case LayerKind::element_wise:
      passes.kernels_forward = 2;
      passes.kernels_back = 2;
      break;
  }
  return passes;
}

}  // namespace

bool is_rms_norm(const ModelShape& model, std::size_t position) {
  const LayerShape& norm = model.layers[position];
  const auto next =
      std::find_if(model.layers.begin() + static_cast<std::ptrdiff_t>(position), model.layers.end(),
                   [](const LayerShape& layer) { return layer.kind == LayerKind::dense && layer.in > 0; });
  return norm.kind == LayerKind::normalisation && next != model.layers.end() && norm.parameters == next->in;
}

ModelShape with_program(ModelShape model, Program program, Precision precision, double operator_seconds) {
  if (program == Program::typical) return model;
  const ProgramWidths bytes{bytes_per_element(precision), has_master_copies(precision) && casts_weights(program)};
  ProgramCosts costs = costs_of(program);
  if (operator_seconds > 0) costs.host = operator_seconds;
  std::vector<LayerPasses> all;
  const Program fused = program == Program::tuned ? Program::compiled : program;
  for (std::size_t i = 0; i < model.layers.size(); ++i) all.push_back(passes_of(model, i, fused, bytes));
  for (std::size_t i = 0; i < model.layers.size(); ++i) {
    LayerPasses& passes = model.layers[i].passes = all[i];
    passes.program = program;
    passes.host = costs.host;
    passes.between = costs.between;
  }
  return model;
}

ModelShape with_divided_program(ModelShape model, Precision precision, std::int32_t tensor) {
  const double copied = 2 * bytes_per_element(precision);  // bytes per copied number: read and written
  bool gathered = false;                                   // true: the previous column layer gathered the same input
  for (LayerShape& layer : model.layers) {
    LayerPasses& passes = layer.passes;
    const bool divided = layer.kind == LayerKind::dense && layer.experts == 1 && layer.expert_group == 1 &&
                         layer.split != TensorSplit::whole && layer.split != TensorSplit::heads;
    if (tensor <= 1 || !divided || !casts_weights(passes.program)) {
      gathered = false;
      continue;
    }
    passes.divided = costs_of(passes.program).divided;
    const bool row = layer.split == TensorSplit::row;
    if (row || !gathered) {
      const double outputs =
          layer.outputs_per_sample / static_cast<double>(std::max<std::int64_t>(1, layer.rows_per_sample));
      const double numbers = row ? 1 : tensor * width_of(layer) / outputs;  // numbers copied per output number
      passes.forward += copied * numbers;
      passes.back += copied * numbers;
      passes.kernels_forward += 1;
      passes.kernels_back += 1;
    }
    gathered = !row;
  }
  return model;
}

}  // namespace dadsim::spec
