#include <array>
#include <cmath>
#include <stdexcept>
#include <vector>

#include "formats/config_types.hpp"

namespace dadsim::formats {
namespace {

/// Windows, and which blocks have none.
void add_windows(const ConfigKeys& keys, bool used, ModelConfig& model) {
  const std::int64_t window = keys.flag("use_sliding_window", used) ? keys.size_or("sliding_window", 0) : 0;
  if (window == 0) return;
  std::int64_t full_every = keys.size_or("sliding_window_pattern", 0);
  if (keys.is_list("layer_types")) {
    // Of a list only one that repeats itself: block i sees all where i is a multiple.
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

/// What most decoders call their sizes.
void add_decoder(const ConfigKeys& keys, bool tied, ModelConfig& model) {
  model.architecture = "decoder";
  auto& sizes = model.sizes;
  read_sizes(keys,
             {{"layers", "num_hidden_layers"},
              {"hidden", "hidden_size"},
              {"heads", "num_attention_heads"},
              {"vocabulary", "vocab_size"}},
             sizes);
  read_sizes(keys,
             {{"kv-heads", "num_key_value_heads", sizes["heads"]},
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

void of_llama(const ConfigKeys& keys, ModelConfig& model) {
  add_decoder(keys, false, model);
  const bool attention = keys.flag("attention_bias", false);
  if (attention && keys.flag("mlp_bias", false)) {
    model.sizes["biases"] = 2;
  } else if (attention) {
    model.sizes["biases"] = 1;
    model.remarks.push_back(ModelRemark::projection_bias);
  }
}

void of_granitemoe(const ConfigKeys& keys, ModelConfig& model) {
  of_llama(keys, model);
  add_experts(keys, "num_local_experts", "intermediate_size", model);
}

/// Blocks with experts have a shared one as wide. Blocks without positions see all, others a chunk.
void of_llama4(const ConfigKeys& keys, ModelConfig& model) {
  constexpr std::int64_t kWhole = 4;  // every so many-th block
  of_llama(keys, model);
  add_experts(keys, "num_local_experts", "intermediate_size", model);
  auto& sizes = model.sizes;
  sizes["shared-feed-forward"] = sizes["expert-feed-forward"];
  sizes["feed-forward"] = keys.size("intermediate_size_mlp");
  if (const std::int64_t every = keys.size("interleave_moe_layer_step"); every > 1) sizes["experts-every"] = every;
  sizes["chunk"] = keys.size("attention_chunk_size");
  sizes["full-every"] = kWhole;
}

void of_minimax_m2(const ConfigKeys& keys, ModelConfig& model) {
  add_decoder(keys, false, model);
  add_experts(keys, "num_local_experts", "intermediate_size", model);
  model.sizes["qk-norm"] = 2;
  model.sizes["router-bias"] = 1;
}

void of_seed_oss(const ConfigKeys& keys, ModelConfig& model) {
  add_decoder(keys, false, model);
  if (keys.flag("attention_bias", true)) model.sizes["biases"] = 1;
}

void of_mistral(const ConfigKeys& keys, ModelConfig& model) {
  add_decoder(keys, false, model);
  add_windows(keys, true, model);
}

void of_mixtral(const ConfigKeys& keys, ModelConfig& model) {
  of_mistral(keys, model);
  add_experts(keys, "num_local_experts", "intermediate_size", model);
}

void of_qwen2(const ConfigKeys& keys, ModelConfig& model) {
  add_decoder(keys, false, model);
  model.sizes["biases"] = 1;
  add_windows(keys, false, model);
}

void of_qwen2_moe(const ConfigKeys& keys, ModelConfig& model) {
  of_qwen2(keys, model);
  add_experts(keys, "num_experts", "moe_intermediate_size", model);
  model.sizes["shared-feed-forward"] = keys.size("shared_expert_intermediate_size");
  model.sizes["shared-gate"] = 1;
}

void of_qwen3(const ConfigKeys& keys, ModelConfig& model) {
  add_decoder(keys, false, model);
  if (keys.flag("attention_bias", false)) model.sizes["biases"] = 1;
  model.sizes["qk-norm"] = 1;
  add_windows(keys, false, model);
}

void of_qwen3_moe(const ConfigKeys& keys, ModelConfig& model) {
  of_qwen3(keys, model);
  add_experts(keys, "num_experts", "moe_intermediate_size", model);
  if (const std::int64_t every = keys.size_or("decoder_sparse_step", 1); every > 1)
    model.sizes["experts-every"] = every;
}

void of_gemma(const ConfigKeys& keys, ModelConfig& model) { add_decoder(keys, true, model); }

void of_gemma2(const ConfigKeys& keys, ModelConfig& model) {
  of_gemma(keys, model);
  model.sizes["norms"] = 4;
  add_windows(keys, true, model);
  if (model.sizes.contains("window")) model.sizes.emplace("full-every", 2);
}

void of_gemma3(const ConfigKeys& keys, ModelConfig& model) {
  constexpr std::int64_t kEvery = 6;
  of_gemma(keys, model);
  model.sizes["norms"] = 4;
  model.sizes["qk-norm"] = 1;
  add_windows(keys, true, model);
  if (model.sizes.contains("window")) model.sizes.emplace("full-every", kEvery);
}

void of_phi3(const ConfigKeys& keys, ModelConfig& model) {
  add_decoder(keys, false, model);
  add_windows(keys, true, model);
}

void of_gpt_neox(const ConfigKeys& keys, ModelConfig& model) {
  add_decoder(keys, false, model);
  model.sizes["mlp"] = 1;
  model.sizes["biases"] = 2;
  model.sizes["norm"] = 1;
}

void of_starcoder2(const ConfigKeys& keys, ModelConfig& model) {
  add_decoder(keys, true, model);
  model.sizes["mlp"] = 1;
  model.sizes["norm"] = 1;
  if (keys.flag("use_bias", true)) model.sizes["biases"] = 2;
  add_windows(keys, true, model);
}

void of_olmo(const ConfigKeys& keys, ModelConfig& model) {
  add_decoder(keys, false, model);
  model.sizes["norm"] = 2;
}

void of_olmo2(const ConfigKeys& keys, ModelConfig& model) {
  add_decoder(keys, false, model);
  model.sizes["qk-norm"] = 2;
}

void of_olmo3(const ConfigKeys& keys, ModelConfig& model) {
  of_olmo2(keys, model);
  add_windows(keys, true, model);
  if (model.sizes.contains("window")) model.sizes.emplace("full-every", 4);
}

void of_stablelm(const ConfigKeys& keys, ModelConfig& model) {
  add_decoder(keys, false, model);
  model.sizes["norm"] = 1;
  if (keys.flag("use_qkv_bias", false)) model.sizes["biases"] = 1;
  if (keys.flag("use_parallel_residual", false)) model.sizes["norms"] = 1;
}

/// Both halves of a block stand behind one norm, which has no shift.
void of_cohere(const ConfigKeys& keys, ModelConfig& model) {
  add_decoder(keys, true, model);
  model.sizes["norms"] = 1;
  if (keys.flag("use_qk_norm", false)) model.sizes["qk-norm"] = 1;
}

void of_nemotron(const ConfigKeys& keys, ModelConfig& model) {
  add_decoder(keys, false, model);
  model.sizes["mlp"] = 1;
  model.sizes["norm"] = 1;
}

void of_smollm3(const ConfigKeys& keys, ModelConfig& model) { add_decoder(keys, true, model); }

/// Keys and values out of a latent vector (DeepSeek-V2, arXiv:2405.04434, section 2.1).
void of_deepseek(const ConfigKeys& keys, ModelConfig& model) {
  add_decoder(keys, false, model);
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
  add_experts(keys, "n_routed_experts", "moe_intermediate_size", model);
  sizes["shared-feed-forward"] = keys.size_or("n_shared_experts", 0) * keys.size("moe_intermediate_size");
  if (model.type != "deepseek_v2") sizes["router-bias"] = 1;
}

void of_glm4_moe(const ConfigKeys& keys, ModelConfig& model) {
  add_decoder(keys, false, model);
  auto& sizes = model.sizes;
  if (keys.flag("attention_bias", false)) sizes["biases"] = 1;
  if (keys.flag("use_qk_norm", false)) sizes["qk-norm"] = 1;
  add_experts(keys, "n_routed_experts", "moe_intermediate_size", model);
  sizes["shared-feed-forward"] = keys.size_or("n_shared_experts", 1) * keys.size("moe_intermediate_size");
  sizes["dense-layers"] = keys.size_or("first_k_dense_replace", 1);
  sizes["router-bias"] = 1;
}

void of_gpt_oss(const ConfigKeys& keys, ModelConfig& model) {
  add_decoder(keys, false, model);
  add_experts(keys, "num_local_experts", "intermediate_size", model);
  model.sizes["biases"] = 2;
  model.sizes["router-bias"] = 1;
  model.sizes["sinks"] = 1;
  add_windows(keys, true, model);
  if (model.sizes.contains("window")) model.sizes.emplace("full-every", 2);
}

/// Names of GPT-2's first code, which several took over.
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

/// Both halves of a block stand behind one norm.
void of_gptj(const ConfigKeys& keys, ModelConfig& model) {
  add_older_names(keys, model);
  model.sizes["tied"] = keys.flag("tie_word_embeddings", false) ? 1 : 0;
  model.sizes["biases"] = 0;
  model.sizes["norms"] = 1;
  model.longest = keys.size_or("n_positions", 0);
  model.remarks.push_back(ModelRemark::feed_forward_bias);
}

void of_phi(const ConfigKeys& keys, ModelConfig& model) {
  add_decoder(keys, false, model);
  auto& sizes = model.sizes;
  sizes["norms"] = sizes["norm"] = sizes["mlp"] = 1;
  sizes["biases"] = 2;
  model.remarks.push_back(ModelRemark::decoder_bias);
}

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
  // Both halves of a block stand behind one norm, unless attention and MLP have one each.
  if (keys.flag("parallel_attn", true) && !(newer && keys.size_or("num_ln_in_parallel_attn", 2) > 1))
    sizes["norms"] = 1;
  model.longest = keys.size_or("max_position_embeddings", 2048);
}

void of_opt(const ConfigKeys& keys, ModelConfig& model) {
  constexpr std::int64_t kOffset = 2;  // rows of the table of positions that padding has
  add_decoder(keys, true, model);
  auto& sizes = model.sizes;
  sizes["feed-forward"] = keys.size("ffn_dim");
  sizes["mlp"] = 1;
  sizes["biases"] = 2;
  sizes["norm"] = 1;
  model.longest = keys.size_or("max_position_embeddings", 2048);
  sizes["positions"] = model.longest + kOffset;
  if (keys.size_or("word_embed_proj_dim", sizes["hidden"]) != sizes["hidden"])
    throw std::runtime_error("has words of another width than blocks ('word_embed_proj_dim'), which no workload has");
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

constexpr std::array<ConfigType, 40> kDecoders{{{"bloom", of_bloom},
                                                {"cohere", of_cohere},
                                                {"deepseek_v2", of_deepseek},
                                                {"deepseek_v3", of_deepseek},
                                                {"falcon", of_falcon},
                                                {"gemma", of_gemma},
                                                {"gemma2", of_gemma2},
                                                {"gemma3_text", of_gemma3},
                                                {"glm4_moe", of_glm4_moe},
                                                {"gpt2", of_gpt2},
                                                {"gpt_neox", of_gpt_neox},
                                                {"gpt_oss", of_gpt_oss},
                                                {"gptj", of_gptj},
                                                {"granite", of_llama},
                                                {"granitemoe", of_granitemoe},
                                                {"kimi_k2", of_deepseek},
                                                {"llama", of_llama},
                                                {"llama4_text", of_llama4},
                                                {"minimax_m2", of_minimax_m2},
                                                {"mistral", of_mistral},
                                                {"mixtral", of_mixtral},
                                                {"mpt", of_mpt},
                                                {"nemotron", of_nemotron},
                                                {"olmo", of_olmo},
                                                {"olmo2", of_olmo2},
                                                {"olmo3", of_olmo3},
                                                {"opt", of_opt},
                                                {"phi", of_phi},
                                                {"phi3", of_phi3},
                                                {"qwen2", of_qwen2},
                                                {"qwen2_5_vl_text", of_qwen2},
                                                {"qwen2_moe", of_qwen2_moe},
                                                {"qwen2_vl_text", of_qwen2},
                                                {"qwen3", of_qwen3},
                                                {"qwen3_moe", of_qwen3_moe},
                                                {"qwen3_vl_text", of_qwen3},
                                                {"seed_oss", of_seed_oss},
                                                {"smollm3", of_smollm3},
                                                {"stablelm", of_stablelm},
                                                {"starcoder2", of_starcoder2}}};

}  // namespace

std::span<const ConfigType> decoder_configs() { return kDecoders; }

}  // namespace dadsim::formats
