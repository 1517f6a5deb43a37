#pragma once

#include <string>

#include "spec/workload.hpp"

// How the layers of a kind of network follow from its sizes, each in the file of its name. `title` becomes the name of
// the model. All of them throw std::invalid_argument, with words, for sizes that make no network.

namespace dadsim::spec {

/// Stages of residual blocks, `stage1` … `stage4` of them, of two 3×3 or, with `bottleneck`, of 1×1, 3×3, 1×1 (He et
/// al., table 1; the stride sits in the 3×3). `pooled`: a first 7×7 with a stride of two and a pooling, for images of
/// `image` pixels along a side; otherwise, for small images, a first 3×3 without either.
ModelShape resnet_shape(const std::string& title, const Sizes& sizes);
/// `stage1` … `stage5` convolutions of 3×3, a pooling after each stage (Simonyan, Zisserman, table 1).
ModelShape vgg_shape(const std::string& title, const Sizes& sizes);
/// Without dropout, as the implementations whose throughput is published train it.
ModelShape vit_shape(const std::string& title, const Sizes& sizes);
/// In pre-training (appendix A.2), both heads; `positions`: the longest sequence of the table, which grows with longer
/// ones.
ModelShape bert_shape(const std::string& title, const Sizes& sizes);
/// The layers of GPT-2. `positions` as of BERT; `dropout` (0 or 1) is behind the scores of attention and both halves of
/// a block.
ModelShape gpt_shape(const std::string& title, const Sizes& sizes);
/// `kv-heads` share keys and values among heads (grouped-query attention, Ainslie et al., EMNLP 2023,
/// arXiv:2305.13245).
ModelShape llama_shape(const std::string& title, const Sizes& sizes);
/// A word language model as in PyTorch's examples: an embedding, LSTM layers, a decoder, whose matrix is the
/// embedding's where it is `tied` (0 or 1).
ModelShape lstm_shape(const std::string& title, const Sizes& sizes);

}  // namespace dadsim::spec
