#pragma once

#include <string>

#include "spec/workload.hpp"

// How the layers of a kind of network follow from its sizes, each in the file of its name. `title` becomes the name of
// the model. All of them throw std::invalid_argument, with words, for sizes that make no network.

namespace dadsim::spec {

/// A size that a row of workloads.csv may leave out.
inline std::int64_t size_or(const Sizes& sizes, const std::string& name, std::int64_t otherwise) {
  const auto found = sizes.find(name);
  return found == sizes.end() ? otherwise : found->second;
}

/// Stages of residual blocks, `stage1` … `stage4` of them, of two 3×3 or, with `bottleneck`, of 1×1, 3×3, 1×1 (He et
/// al., table 1; the stride sits in the 3×3). `pooled`: a first 7×7 with a stride of two and a pooling, for images of
/// `image` pixels along a side; otherwise, for small images, a first 3×3 without either.
ModelShape resnet_shape(const std::string& title, const Sizes& sizes);
/// `stage1` … `stage5` convolutions of 3×3, a pooling after each stage (Simonyan, Zisserman, table 1).
ModelShape vgg_shape(const std::string& title, const Sizes& sizes);
/// Without dropout, as the implementations whose throughput is published train it. `feed-forward`: 4 × hidden where it
/// is left out; `gated`: an MLP with a gate; `layer-scale`: a number per feature behind each half of a block, and a
/// token that stands for masked patches (Oquab et al., DINOv2, arXiv:2304.07193); without `classes` there is no
/// classifier.
ModelShape vit_shape(const std::string& title, const Sizes& sizes);
/// In pre-training (appendix A.2), both heads, or with `masked` 0 none: then there is a pooler with `pooler` alone.
/// `relative`: positions are relative, rows of a table that all blocks share (He et al., DeBERTa, arXiv:2006.03654);
/// `positions`: the longest sequence of the table, which grows with longer
/// ones.
ModelShape bert_shape(const std::string& title, const Sizes& sizes);
/// The layers of GPT-2. `positions` as of BERT; `dropout` (0 or 1) is behind the scores of attention and both halves of
/// a block.
ModelShape gpt_shape(const std::string& title, const Sizes& sizes);
/// A causal transformer as LLaMA has it: norms by the root mean square before each half of a block, no biases, queries,
/// keys and values by three matrices, a gated MLP, a decoder with a table of its own. Sizes say what differs:
/// - `kv-heads` share keys and values among heads (grouped-query attention, Ainslie et al., EMNLP 2023,
///   arXiv:2305.13245); `head-size`: of a head, hidden ÷ heads where it is 0; `latent`, `query-latent`, `rope-size`,
///   `value-size`: multi-head latent attention instead (DeepSeek-V2, arXiv:2405.04434, section 2.1);
/// - `window`: a position sees so many, itself among them (Beltagy et al., 2020, arXiv:2004.05150), or `chunk`: those
/// of
///   its own chunk; every `full-every`-th block sees all; `sinks`: one number per head that takes part in softmax;
/// - `experts` MLPs of `expert-feed-forward`, of which a token goes through `experts-per-token` (Shazeer et al., ICLR
///   2017, arXiv:1701.06538), beside a shared one of `shared-feed-forward`, in blocks behind the first `dense-layers`,
///   in every `experts-every`-th of them;
/// - `tied`: the table of words is the decoder's too; `mlp`: 0 gated, 1 plain; `biases`: 0 none, 1 of queries, keys and
///   values, 2 of all matrices; `norm`: 0 by the mean square, 1 of the layer, 2 without weights; `norms` of a block: 1
///   (both halves behind one), 2, or 4; `qk-norm`: 0 none, 1 of each head, 2 of all heads together; `positions`: rows
///   of a table of them, which grows with longer sequences; `router-bias`, `shared-gate`, `embedding-norm`: 0 or 1.
ModelShape decoder_shape(const std::string& title, const Sizes& sizes);
/// A transformer of two stacks, as T5 has it (Raffel et al., 2020, arXiv:1910.10683) and Whisper (Radford et al., 2022,
/// arXiv:2212.04356): `layers` blocks over `sequence` positions, `decoder-layers` over `target-length` of them, each
/// with attention to what comes out of the first stack. `mels`: what goes in is sound in so many bands, through two
/// convolutions, twice as long; 0: words. `buckets`: of relative positions, a number for each and each head, per stack.
/// `tied`, `mlp`, `norm` as of a decoder; `biases` 1: of all matrices but those of keys.
ModelShape encoder_decoder_shape(const std::string& title, const Sizes& sizes);
/// Blocks of one kind each behind one norm: `mamba-layers` of Mamba-2 (Dao, Gu, ICML 2024, arXiv:2405.21060),
/// `mlp-layers` (or of experts, as a decoder has them) and `attention-layers`, dealt out evenly. Mamba: `mamba-heads`
/// of `mamba-head-size`, `groups` of `state` numbers, a convolution over `kernel` positions, chunks of `chunk`
/// positions. No biases, an MLP without a gate, a decoder of its own.
ModelShape hybrid_shape(const std::string& title, const Sizes& sizes);
/// Two towers (Radford et al., CLIP, ICML 2021, arXiv:2103.00020): a ViT over an image, with a norm before its first
/// block, and a causal transformer of `text-layers`, `text-hidden` and `text-heads` over `sequence` words, each into a
/// space of `joint` numbers. A sample is an image with its text; the similarities of a batch are not counted.
ModelShape clip_shape(const std::string& title, const Sizes& sizes);
/// The encoder of wav2vec 2.0 (Baevski et al., NeurIPS 2020, arXiv:2006.11477) and HuBERT over `sequence` frames of 20
/// ms: seven convolutions over sound of 16 kHz, a convolution for positions, blocks. `normed-convolutions`: each has a
/// norm and a bias. Without quantiser and heads.
ModelShape wav2vec2_shape(const std::string& title, const Sizes& sizes);
/// Gulati et al., Interspeech 2020, arXiv:2005.08100, over `sequence` frames of 40 ms, with an output for each of
/// `vocabulary` pieces and the blank (CTC); `kernel`: positions of the depthwise convolution.
ModelShape conformer_shape(const std::string& title, const Sizes& sizes);
/// The U-Net of latent diffusion (Rombach et al., CVPR 2022, arXiv:2112.10752): `levels` with `times1` … times
/// `channels`, two residual blocks each (three on the way back), each with `depth1` … transformers behind it that
/// attend to `text-length` words of `text-hidden`; `depth-middle` at the lowest. `beside-text`: what is told beside the
/// time (Podell et al., SDXL, arXiv:2307.01952). An image of `image` pixels has latents of an eighth of that.
ModelShape unet_shape(const std::string& title, const Sizes& sizes);
/// The transformer of FLUX.1 (Black Forest Labs, 2024, github.com/black-forest-labs/flux): `double-layers` in which
/// image and text have matrices of their own and attend together, `single-layers` in which they are one sequence;
/// `guidance`: it is told how strong; `summary`: numbers that sum up the text.
ModelShape flux_shape(const std::string& title, const Sizes& sizes);
/// Naumov et al., arXiv:1906.00091, with crossed features of low rank (Wang et al., DCN V2, WWW 2021,
/// arXiv:2008.13535): `tables` with `entries` in all, of which a sample looks up `lookups`, `layers` crosses of `rank`.
ModelShape dlrm_shape(const std::string& title, const Sizes& sizes);
/// Tan, Le, ICML 2019, arXiv:1905.11946: its B0 with `width-tenths` ÷ 10 of the channels and `depth-tenths` ÷ 10 of the
/// blocks.
ModelShape efficientnet_shape(const std::string& title, const Sizes& sizes);
/// A word language model as in PyTorch's examples: an embedding, LSTM layers, a decoder, whose matrix is the
/// embedding's where it is `tied` (0 or 1).
ModelShape lstm_shape(const std::string& title, const Sizes& sizes);

}  // namespace dadsim::spec
