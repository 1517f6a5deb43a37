#pragma once

#include <string>

#include "spec/workload.hpp"

// Builders of network shapes from sizes, each in the file with its name. `title` becomes the model's name. All throw
// std::invalid_argument, with a message for the user, if the sizes give no valid network.

namespace dadsim::spec {

/// Returns a size that a row of workloads.csv may omit.
inline std::int64_t size_or(const Sizes& sizes, const std::string& name, std::int64_t otherwise) {
  const auto found = sizes.find(name);
  return found == sizes.end() ? otherwise : found->second;
}

/// Returns a ResNet with `stage1` … `stage4` residual blocks per stage: of two 3×3 convolutions or, with `bottleneck`,
/// of 1×1, 3×3, 1×1 (He et al., table 1; the stride is in the 3×3). `pooled`: begins with a 7×7 convolution of stride
/// two and a pooling, for images of `image` pixels a side; otherwise, for small images, with a 3×3 of stride one
/// without pooling.
ModelShape resnet_shape(const std::string& title, const Sizes& sizes);
/// Returns a VGG with `stage1` … `stage5` 3×3 convolutions per stage, and a pooling after each stage (Simonyan,
/// Zisserman, table 1).
ModelShape vgg_shape(const std::string& title, const Sizes& sizes);
/// Returns a ViT without dropout, as in the implementations with published throughput. `feed-forward`: 4 × hidden if
/// omitted; `gated`: an MLP with a gate; `layer-scale`: a number per feature after each half of a block, and a token
/// for masked patches (Oquab et al., DINOv2, arXiv:2304.07193); without `classes` there is no classifier.
ModelShape vit_shape(const std::string& title, const Sizes& sizes);
/// Returns BERT in pre-training (appendix A.2), with both heads. With `masked` 0 it has no head, but a pooler if
/// `pooler` is set. `relative`: relative positions, rows of a table that all blocks share (He et al., DeBERTa,
/// arXiv:2006.03654); `positions`: longest sequence of the position table, which grows for longer ones.
ModelShape bert_shape(const std::string& title, const Sizes& sizes);
/// Returns the layers of GPT-2. `positions` as in BERT. `dropout` (0 or 1) follows the scores of attention and both
/// halves of a block.
ModelShape gpt_shape(const std::string& title, const Sizes& sizes);
/// Returns a causal transformer like LLaMA: root-mean-square norms before each half of a block, no biases, queries,
/// keys and values by three matrices, a gated MLP, a decoder with a table of its own. Sizes give deviations:
/// - `kv-heads` share keys and values among heads (grouped-query attention, Ainslie et al., EMNLP 2023,
///   arXiv:2305.13245); `head-size`: per head, 0: hidden ÷ heads; `latent`, `query-latent`, `rope-size`, `value-size`:
///   multi-head latent attention instead (DeepSeek-V2, arXiv:2405.04434, section 2.1);
/// - `window`: positions that one sees, including itself (Beltagy et al., 2020, arXiv:2004.05150), or `chunk`: those of
///   its own chunk; every `full-every`-th block sees all; `sinks`: one number per head that takes part in softmax;
/// - `experts` MLPs of `expert-feed-forward`, of which a token uses `experts-per-token` (Shazeer et al., ICLR 2017,
///   arXiv:1701.06538), next to a shared one of `shared-feed-forward`, in every `experts-every`-th block after the
///   first `dense-layers`;
/// - `tied`: the word table is also the decoder's; `mlp`: 0 gated, 1 plain; `biases`: 0 none, 1 for queries, keys and
///   values, 2 for all matrices; `norm`: 0 root mean square, 1 layer norm, 2 without weights; `norms` per block: 1
///   (both halves after one), 2, or 4; `qk-norm`: 0 none, 1 per head, 2 over all heads; `positions`: rows of a position
///   table, which grows for longer sequences; `router-bias`, `shared-gate`, `embedding-norm`: 0 or 1.
ModelShape decoder_shape(const std::string& title, const Sizes& sizes);
/// Returns a transformer of two stacks, like T5 (Raffel et al., 2020, arXiv:1910.10683) and Whisper (Radford et al.,
/// 2022, arXiv:2212.04356): `layers` blocks over `sequence` positions, `decoder-layers` over `target-length` positions,
/// each with attention to the first stack's output. `mels`: the input is sound in that many bands, twice as long,
/// through two convolutions; 0: words. `buckets`: relative positions, a number per bucket and head, per stack. `tied`,
/// `mlp`, `norm` as in a decoder; `biases` 1: for all matrices except keys.
ModelShape encoder_decoder_shape(const std::string& title, const Sizes& sizes);
/// Returns blocks of one kind each, each after one norm: `mamba-layers` of Mamba-2 (Dao, Gu, ICML 2024,
/// arXiv:2405.21060), `mlp-layers` (or experts, as in a decoder) and `attention-layers`, distributed evenly. Mamba has
/// `mamba-heads` of `mamba-head-size`, `groups` of `state` numbers, a convolution over `kernel` positions, and chunks
/// of `chunk` positions. No biases, an MLP without a gate, an untied decoder.
ModelShape hybrid_shape(const std::string& title, const Sizes& sizes);
/// Returns two towers (Radford et al., CLIP, ICML 2021, arXiv:2103.00020): a ViT over an image, with a norm before its
/// first block, and a causal transformer of `text-layers`, `text-hidden` and `text-heads` over `sequence` words, each
/// with a projection to `joint` numbers. A sample is an image with its text; the similarities of a batch are not
/// counted.
ModelShape clip_shape(const std::string& title, const Sizes& sizes);
/// Returns the encoder of wav2vec 2.0 (Baevski et al., NeurIPS 2020, arXiv:2006.11477) and HuBERT over `sequence`
/// frames of 20 ms: seven convolutions over sound of 16 kHz, a convolution for positions, and blocks.
/// `normed-convolutions`: each convolution has a norm and a bias. Without quantiser and heads.
ModelShape wav2vec2_shape(const std::string& title, const Sizes& sizes);
/// Returns a Conformer (Gulati et al., Interspeech 2020, arXiv:2005.08100) over `sequence` frames of 40 ms, with an
/// output for each of `vocabulary` pieces and the blank (CTC); `kernel`: positions of the depthwise convolution.
ModelShape conformer_shape(const std::string& title, const Sizes& sizes);
/// Returns the U-Net of latent diffusion (Rombach et al., CVPR 2022, arXiv:2112.10752): `levels` with `times1` … times
/// `channels`, two residual blocks each (three on the way up), each followed by `depth1` … transformers that attend to
/// `text-length` words of `text-hidden`; `depth-middle` at the lowest level. `beside-text`: conditioning in addition to
/// time (Podell et al., SDXL, arXiv:2307.01952). An image of `image` pixels has latents of an eighth of that.
ModelShape unet_shape(const std::string& title, const Sizes& sizes);
/// Returns the transformer of FLUX.1 (Black Forest Labs, 2024, github.com/black-forest-labs/flux): `double-layers` in
/// which image and text have separate matrices and attend together, `single-layers` in which they are one sequence;
/// `guidance`: an input for guidance strength; `summary`: numbers that summarise the text.
ModelShape flux_shape(const std::string& title, const Sizes& sizes);
/// Returns DLRM (Naumov et al., arXiv:1906.00091) with low-rank feature crosses (Wang et al., DCN V2, WWW 2021,
/// arXiv:2008.13535): `tables` with `entries` in total, `lookups` per sample, and `layers` crosses of `rank`.
ModelShape dlrm_shape(const std::string& title, const Sizes& sizes);
/// Returns EfficientNet (Tan, Le, ICML 2019, arXiv:1905.11946): B0 with channels × `width-tenths` ÷ 10, and blocks ×
/// `depth-tenths` ÷ 10.
ModelShape efficientnet_shape(const std::string& title, const Sizes& sizes);
/// Returns a word language model as in PyTorch's examples: an embedding, LSTM layers, and a decoder. With `tied` (0 or
/// 1), the decoder uses the embedding's matrix.
ModelShape lstm_shape(const std::string& title, const Sizes& sizes);

}  // namespace dadsim::spec
