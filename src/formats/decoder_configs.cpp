#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>
#include <vector>

#include "formats/config_types.hpp"

namespace dadsim::formats {
namespace {

enum class AttentionWindows { none, if_asked, unless_refused };

/// A size that a type of decoder fixes, always or if a flag in its file is set.
struct FixedSize {
  const char* size;
  std::int64_t value;
  const char* flag = nullptr;
  bool otherwise = true;  ///< default of the flag
};

/// Keys and defaults of one type of decoder, in addition to those that nearly all types share.
struct DecoderTraits {
  bool tied = false;  ///< default of tying the output matrix to the word table
  std::vector<FixedSize> sizes = {};
  const char *experts = nullptr, *expert_width = nullptr;  ///< keys of the experts; null: the type has no experts
  AttentionWindows windows = AttentionWindows::none;
  std::int64_t full_every = 0;                                        ///< default period of blocks with full attention
  void (*add)(const ConfigKeys& keys, ModelConfig& model) = nullptr;  ///< adds the parts that only this type has
  /// Reads a file with entirely different keys.
  void (*read_all)(const ConfigKeys& keys, ModelConfig& model) = nullptr;
};

struct DecoderType {
  const char* name;
  DecoderTraits traits;
};

/// Adds attention windows, and the period of blocks with full attention.
void add_windows(const ConfigKeys& keys, AttentionWindows windows, ModelConfig& model) {
  if (windows == AttentionWindows::none) return;
  const bool used = keys.flag("use_sliding_window", windows == AttentionWindows::unless_refused);
  const std::int64_t window = used ? keys.size_or("sliding_window", 0) : 0;
  if (window == 0) return;
  std::int64_t full_every = keys.size_or("sliding_window_pattern", 0);
  if (keys.is_list("layer_types")) {
    // Supports only periodic lists: block i has full attention if i + 1 is a multiple of the period.
    const std::size_t blocks = keys.count("layer_types");
    std::vector<std::size_t> full;
    for (std::size_t i = 0; i < blocks; ++i) {
      if (keys.text_at("layer_types", i) == "full_attention") full.push_back(i + 1);
    }
    if (full.size() == blocks) return;
    full_every = full.empty() ? 0 : static_cast<std::int64_t>(full.front());
    const auto repeats = [&](std::size_t at) { return full[at] == (at + 1) * full.front(); };
    for (std::size_t i = 0; i < full.size(); ++i) {
      if (repeats(i) && full.size() == blocks / full.front()) continue;
      model.remarks.push_back(ModelRemark::irregular_windows);
      return;
    }
  }
  model.sizes["window"] = window;
  if (full_every > 0) model.sizes["full-every"] = full_every;
}

/// Reads the sizes by their most common keys.
void add_decoder(const ConfigKeys& keys, bool tied, ModelConfig& model) {
  model.architecture = "decoder";
  auto& sizes = model.sizes;
  read_usual_sizes(keys, sizes);
  read_sizes(keys,
             {{"vocabulary", "vocab_size"},
              {"kv-heads", "num_key_value_heads", sizes["heads"]},
              {"feed-forward", "intermediate_size", 4 * sizes["hidden"], 0}},
             sizes);
  sizes["tied"] = keys.flag("tie_word_embeddings", tied) ? 1 : 0;
  if (const std::int64_t head = keys.size_or("head_dim", 0); head > 0 && head * sizes["heads"] != sizes["hidden"])
    sizes["head-size"] = head;
  model.longest = keys.size_or("max_position_embeddings", 0);
}

void add_experts(const ConfigKeys& keys, const char* number, const char* width, ModelConfig& model) {
  model.sizes["experts"] = keys.size(number);
  model.sizes["experts-per-token"] = keys.size("num_experts_per_tok");
  model.sizes["expert-feed-forward"] = keys.size(width);
}

void add_llama_biases(const ConfigKeys& keys, ModelConfig& model) {
  const bool attention = keys.flag("attention_bias", false);
  if (attention && keys.flag("mlp_bias", false)) {
    model.sizes["biases"] = 2;
  } else if (attention) {
    model.sizes["biases"] = 1;
    model.remarks.push_back(ModelRemark::projection_bias);
  }
}

/// Adds the parts of Llama 4. Blocks with experts have a shared expert of the same width. Blocks without position
/// embeddings have full attention, all others attend within a chunk.
void add_llama4(const ConfigKeys& keys, ModelConfig& model) {
  constexpr std::int64_t kWhole = 4;  // period of blocks with full attention
  add_llama_biases(keys, model);
  auto& sizes = model.sizes;
  sizes["shared-feed-forward"] = sizes["expert-feed-forward"];
  sizes["feed-forward"] = keys.size("intermediate_size_mlp");
  if (const std::int64_t every = keys.size("interleave_moe_layer_step"); every > 1) sizes["experts-every"] = every;
  sizes["chunk"] = keys.size("attention_chunk_size");
  sizes["full-every"] = kWhole;
}

void add_qwen2_moe(const ConfigKeys& keys, ModelConfig& model) {
  model.sizes["shared-feed-forward"] = keys.size("shared_expert_intermediate_size");
  model.sizes["shared-gate"] = 1;
}

void add_qwen3_moe(const ConfigKeys& keys, ModelConfig& model) {
  if (const std::int64_t every = keys.size_or("decoder_sparse_step", 1); every > 1)
    model.sizes["experts-every"] = every;
}

/// Adds latent attention: keys and values from a latent vector (DeepSeek-V2, arXiv:2405.04434, section 2.1).
void add_deepseek(const ConfigKeys& keys, ModelConfig& model) {
  auto& sizes = model.sizes;
  sizes["kv-heads"] = sizes["heads"];
  read_sizes(keys,
             {{"latent", "kv_lora_rank"},
              {"query-latent", "q_lora_rank", 0, 0},
              {"head-size", "qk_nope_head_dim"},
              {"rope-size", "qk_rope_head_dim"},
              {"value-size", "v_head_dim"},
              {"dense-layers", "first_k_dense_replace", 0, 0}},
             sizes);
  sizes["shared-feed-forward"] = keys.size_or("n_shared_experts", 0) * keys.size("moe_intermediate_size");
  if (model.type != "deepseek_v2") sizes["router-bias"] = 1;
}

void add_glm4_moe(const ConfigKeys& keys, ModelConfig& model) {
  auto& sizes = model.sizes;
  sizes["shared-feed-forward"] = keys.size_or("n_shared_experts", 1) * keys.size("moe_intermediate_size");
  sizes["dense-layers"] = keys.size_or("first_k_dense_replace", 1);
}

/// Reads the keys of GPT-2's first code, which several types use.
void add_older_names(const ConfigKeys& keys, ModelConfig& model) {
  auto& sizes = model.sizes;
  model.architecture = "decoder";
  const auto either = [&](const char* a, const char* b) { return keys.has(a) ? keys.size(a) : keys.size(b); };
  sizes["layers"] = either("n_layer", "num_hidden_layers");
  sizes["heads"] = either("n_head", "num_attention_heads");
  sizes["hidden"] = keys.has("n_embd") ? keys.size("n_embd") : either("hidden_size", "n_embed");
  sizes["kv-heads"] = sizes["heads"];
  sizes["feed-forward"] = keys.size_or("n_inner", 4 * sizes["hidden"]);
  sizes["vocabulary"] = keys.size("vocab_size");
  sizes["tied"] = keys.flag("tie_word_embeddings", true) ? 1 : 0;
  sizes["mlp"] = 1;
  sizes["biases"] = 2;
  sizes["norm"] = 1;
}

void of_gpt2(const ConfigKeys& keys, ModelConfig& model) {
  constexpr std::int64_t kPositions = 1024;
  add_older_names(keys, model);
  model.longest = keys.size_or("n_positions", kPositions);
  model.sizes["positions"] = model.longest;
  if (keys.number("resid_pdrop", 0.1) > 0) model.remarks.push_back(ModelRemark::dropout);
}

/// Reads GPT-J, whose blocks have one norm before both halves.
void of_gptj(const ConfigKeys& keys, ModelConfig& model) {
  add_older_names(keys, model);
  model.sizes["tied"] = keys.flag("tie_word_embeddings", false) ? 1 : 0;
  model.sizes["biases"] = 0;
  model.sizes["norms"] = 1;
  model.longest = keys.size_or("n_positions", 0);
  model.remarks.push_back(ModelRemark::feed_forward_bias);
}

void add_phi(const ConfigKeys&, ModelConfig& model) { model.remarks.push_back(ModelRemark::decoder_bias); }

void of_bloom(const ConfigKeys& keys, ModelConfig& model) {
  add_older_names(keys, model);
  model.sizes["embedding-norm"] = 1;
  model.longest = keys.size_or("seq_length", 0);
}

void of_falcon(const ConfigKeys& keys, ModelConfig& model) {
  add_older_names(keys, model);
  auto& sizes = model.sizes;
  const bool newer = keys.flag("new_decoder_architecture", false);
  if (newer) {
    sizes["kv-heads"] = keys.size("num_kv_heads");
  } else if (keys.flag("multi_query", true)) {
    sizes["kv-heads"] = 1;
  }
  sizes["feed-forward"] = keys.size_or("ffn_hidden_size", 4 * sizes["hidden"]);
  sizes["biases"] = keys.flag("bias", false) ? 2 : 0;
  // Both halves of a block follow one norm, unless attention and MLP have one each.
  if (keys.flag("parallel_attn", true) && !(newer && keys.size_or("num_ln_in_parallel_attn", 2) > 1))
    sizes["norms"] = 1;
  model.longest = keys.size_or("max_position_embeddings", 2048);
}

void add_opt(const ConfigKeys& keys, ModelConfig& model) {
  constexpr std::int64_t kOffset = 2;  // rows of the position table reserved for padding
  auto& sizes = model.sizes;
  sizes["feed-forward"] = keys.size("ffn_dim");
  model.longest = keys.size_or("max_position_embeddings", 2048);
  sizes["positions"] = model.longest + kOffset;
  if (keys.size_or("word_embed_proj_dim", sizes["hidden"]) != sizes["hidden"])
    throw std::runtime_error("has a 'word_embed_proj_dim' other than 'hidden_size', which no workload supports");
}

void of_mpt(const ConfigKeys& keys, ModelConfig& model) {
  model.architecture = "decoder";
  auto& sizes = model.sizes;
  read_sizes(keys, {{"layers", "n_layers"}, {"hidden", "d_model"}, {"heads", "n_heads"}, {"vocabulary", "vocab_size"}},
             sizes);
  sizes["kv-heads"] = keys.within("attn_config").size_or("kv_n_heads", sizes["heads"], 1);
  sizes["feed-forward"] =
      static_cast<std::int64_t>(std::llround(keys.number("expansion_ratio", 4) * static_cast<double>(sizes["hidden"])));
  sizes["tied"] = 1;
  sizes["mlp"] = 1;
  if (!keys.flag("no_bias", true)) {
    sizes["biases"] = 2;
    sizes["norm"] = 1;
  }
  model.longest = keys.size_or("max_seq_len", 2048);
  if (!keys.within("attn_config").flag("alibi", true)) sizes["positions"] = model.longest;
}

const std::vector<DecoderType>& decoders() {
  using enum AttentionWindows;
  static const DecoderTraits kDeepseek{
      .experts = "n_routed_experts", .expert_width = "moe_intermediate_size", .add = add_deepseek};
  static const DecoderTraits kQwen2{.sizes = {{"biases", 1}}, .windows = if_asked};
  static const DecoderTraits kQwen3{.sizes = {{"biases", 1, "attention_bias", false}, {"qk-norm", 1}},
                                    .windows = if_asked};
  static const std::vector<DecoderType> kAll{
      {"bloom", {.read_all = of_bloom}},
      // Both halves of a block share one norm, without a shift.
      {"cohere", {.tied = true, .sizes = {{"norms", 1}, {"qk-norm", 1, "use_qk_norm", false}}}},
      {"deepseek_v2", kDeepseek},
      {"deepseek_v3", kDeepseek},
      {"falcon", {.read_all = of_falcon}},
      {"gemma", {.tied = true}},
      {"gemma2", {.tied = true, .sizes = {{"norms", 4}}, .windows = unless_refused, .full_every = 2}},
      {"gemma3_text",
       {.tied = true, .sizes = {{"norms", 4}, {"qk-norm", 1}}, .windows = unless_refused, .full_every = 6}},
      {"glm4_moe",
       {.sizes = {{"biases", 1, "attention_bias", false}, {"qk-norm", 1, "use_qk_norm", false}, {"router-bias", 1}},
        .experts = "n_routed_experts",
        .expert_width = "moe_intermediate_size",
        .add = add_glm4_moe}},
      {"gpt2", {.read_all = of_gpt2}},
      {"gpt_neox", {.sizes = {{"mlp", 1}, {"biases", 2}, {"norm", 1}}}},
      {"gpt_oss",
       {.sizes = {{"biases", 2}, {"router-bias", 1}, {"sinks", 1}},
        .experts = "num_local_experts",
        .expert_width = "intermediate_size",
        .windows = unless_refused,
        .full_every = 2}},
      {"gptj", {.read_all = of_gptj}},
      {"granite", {.add = add_llama_biases}},
      {"granitemoe", {.experts = "num_local_experts", .expert_width = "intermediate_size", .add = add_llama_biases}},
      {"kimi_k2", kDeepseek},
      {"llama", {.add = add_llama_biases}},
      {"llama4_text", {.experts = "num_local_experts", .expert_width = "intermediate_size", .add = add_llama4}},
      {"minimax_m2",
       {.sizes = {{"qk-norm", 2}, {"router-bias", 1}},
        .experts = "num_local_experts",
        .expert_width = "intermediate_size"}},
      {"mistral", {.windows = unless_refused}},
      {"mixtral", {.experts = "num_local_experts", .expert_width = "intermediate_size", .windows = unless_refused}},
      {"mpt", {.read_all = of_mpt}},
      {"nemotron", {.sizes = {{"mlp", 1}, {"norm", 1}}}},
      {"olmo", {.sizes = {{"norm", 2}}}},
      {"olmo2", {.sizes = {{"qk-norm", 2}}}},
      {"olmo3", {.sizes = {{"qk-norm", 2}}, .windows = unless_refused, .full_every = 4}},
      {"opt", {.tied = true, .sizes = {{"mlp", 1}, {"biases", 2}, {"norm", 1}}, .add = add_opt}},
      // Both halves of a block share one norm.
      {"phi", {.sizes = {{"norms", 1}, {"norm", 1}, {"mlp", 1}, {"biases", 2}}, .add = add_phi}},
      {"phi3", {.windows = unless_refused}},
      {"qwen2", kQwen2},
      {"qwen2_5_vl_text", kQwen2},
      {"qwen2_moe",
       {.sizes = {{"biases", 1}},
        .experts = "num_experts",
        .expert_width = "moe_intermediate_size",
        .windows = if_asked,
        .add = add_qwen2_moe}},
      {"qwen2_vl_text", kQwen2},
      {"qwen3", kQwen3},
      {"qwen3_moe",
       {.sizes = {{"biases", 1, "attention_bias", false}, {"qk-norm", 1}},
        .experts = "num_experts",
        .expert_width = "moe_intermediate_size",
        .windows = if_asked,
        .add = add_qwen3_moe}},
      {"qwen3_vl_text", kQwen3},
      {"seed_oss", {.sizes = {{"biases", 1, "attention_bias"}}}},
      {"smollm3", {.tied = true}},
      {"stablelm",
       {.sizes = {{"norm", 1}, {"biases", 1, "use_qkv_bias", false}, {"norms", 1, "use_parallel_residual", false}}}},
      {"starcoder2",
       {.tied = true, .sizes = {{"mlp", 1}, {"norm", 1}, {"biases", 2, "use_bias"}}, .windows = unless_refused}}};
  return kAll;
}

}  // namespace

std::vector<std::string> decoder_types() {
  std::vector<std::string> names;
  for (const DecoderType& one : decoders()) names.emplace_back(one.name);
  return names;
}

bool read_decoder(const std::string& type, const ConfigKeys& keys, ModelConfig& model) {
  const auto found = std::ranges::find(decoders(), type, &DecoderType::name);
  if (found == decoders().end()) return false;
  const DecoderTraits& traits = found->traits;
  if (traits.read_all != nullptr) {
    traits.read_all(keys, model);
    return true;
  }
  add_decoder(keys, traits.tied, model);
  for (const FixedSize& one : traits.sizes) {
    if (one.flag == nullptr || keys.flag(one.flag, one.otherwise)) model.sizes[one.size] = one.value;
  }
  if (traits.experts != nullptr) add_experts(keys, traits.experts, traits.expert_width, model);
  add_windows(keys, traits.windows, model);
  if (traits.full_every > 0 && model.sizes.contains("window")) model.sizes.emplace("full-every", traits.full_every);
  if (traits.add != nullptr) traits.add(keys, model);
  return true;
}

}  // namespace dadsim::formats
