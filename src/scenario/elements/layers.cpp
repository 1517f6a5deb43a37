#include "scenario/elements/layers.hpp"

namespace dadsim::scenario {

const Table<spec::DenseSpec>& dense_table() {
  using Spec = spec::DenseSpec;
  static const Table<Spec> kTable =
      Table<Spec>(
          "dense", "A fully connected layer.",
          {attribute("units", &Spec::units, integer(1, 1'000'000), "Outputs; of the last layer, the number of classes.")
               .must(),
           attribute("activation", &Spec::activation, "`identity`, `relu`, `tanh`, `sigmoid`, `gelu`.")
               .without_default()
               .if_left_out("`relu`; of the last layer `identity`"),
           attribute("bias", &Spec::bias, "Whether each output has a bias."),
           attribute("positions", &Spec::each_position, one_of({"together", "each"}),
                     "`together`: all values of a sample are one input; `each`: the same weights at every position.")
               .if_left_out("`together`"),
           attribute("initial", &Spec::initial_limit, real({.minimum = 0, .maximum = 1e3, .open_minimum = true}),
                     "Initial weights are uniform up to this, either way.")
               .if_left_out("√(6/inputs) before ReLU and GELU (He et al.), otherwise √(6/(inputs + units)) (Glorot and "
                            "Bengio)")})
          .repeats();
  return kTable;
}

const Table<spec::ConvolutionSpec>& convolution_table() {
  using Spec = spec::ConvolutionSpec;
  static const Table<Spec> kTable =
      Table<Spec>(
          "convolution", "A convolution of an image with square kernels.",
          {attribute("filters", &Spec::filters, integer(1, 1'000'000), "Output channels.").must(),
           attribute("kernel", &Spec::kernel, integer(1, 100), "Pixels along a side of the kernel."),
           attribute("stride", &Spec::stride, integer(1, 100), "Pixels between two places of the kernel."),
           attribute("padding", &Spec::padding, integer(0, 100), "Pixels of zeros around the image."),
           attribute("activation", &Spec::activation, "What each value goes through."),
           attribute("bias", &Spec::bias, "Whether each filter has a bias."),
           attribute("initial", &Spec::initial_limit, real({.minimum = 0, .maximum = 1e3, .open_minimum = true}),
                     "Initial weights are uniform up to this, either way.")
               .if_left_out("√(6/(kernel² · channels)) before ReLU and GELU (He et al.), otherwise √(6/(kernel² · "
                            "(channels + filters))) (Glorot and Bengio)")})
          .repeats();
  return kTable;
}

const Table<spec::PoolSpec>& max_pool_table() {
  using Spec = spec::PoolSpec;
  static const Table<Spec> kTable =
      Table<Spec>("max-pool", "The largest value of square windows of an image, channel by channel.",
                  {attribute("size", &Spec::size, integer(1, 100), "Pixels along a side of the window."),
                   attribute("stride", &Spec::stride, integer(1, 100), "Pixels between two windows.")
                       .without_default()
                       .if_left_out("the size")},
                  {.kind = Spec::Kind::maximum})
          .repeats();
  return kTable;
}

const Table<spec::PoolSpec>& mean_pool_table() {
  using Spec = spec::PoolSpec;
  static const Table<Spec> kTable =
      Table<Spec>("mean-pool", "The mean of square windows of an image, channel by channel.",
                  {attribute("size", &Spec::size, integer(1, 100), "Pixels along a side of the window."),
                   attribute("stride", &Spec::stride, integer(1, 100), "Pixels between two windows.")
                       .without_default()
                       .if_left_out("the size")},
                  {.kind = Spec::Kind::mean})
          .repeats();
  return kTable;
}

const Table<spec::MeanSpec>& mean_table() {
  using Spec = spec::MeanSpec;
  static const Table<Spec> kTable =
      Table<Spec>("mean", "The mean over all positions, channel by channel.", {}).repeats();
  return kTable;
}

const Table<spec::SelectSpec>& select_table() {
  using Spec = spec::SelectSpec;
  static const Table<Spec> kTable =
      Table<Spec>("select", "One position alone.",
                  {attribute("position", &Spec::last, one_of({"first", "last"}), "`first` or `last` alone.")
                       .if_left_out("`first`")})
          .repeats();
  return kTable;
}

const Table<spec::RecurrentSpec>& gru_table() {
  using Spec = spec::RecurrentSpec;
  static const Table<Spec> kTable =
      Table<Spec>("gru", "A gated recurrent unit over the positions; gives its state at each.",
                  {attribute("units", &Spec::units, integer(1, 1'000'000), "Values of its state.").must(),
                   attribute("bias", &Spec::bias, "Whether its gates have biases, one pair each.")},
                  {.cell = Spec::Cell::gru})
          .repeats();
  return kTable;
}

const Table<spec::RecurrentSpec>& lstm_table() {
  using Spec = spec::RecurrentSpec;
  static const Table<Spec> kTable =
      Table<Spec>("lstm", "A long short-term memory over the positions; gives its output at each.",
                  {attribute("units", &Spec::units, integer(1, 1'000'000), "Values of its output.").must(),
                   attribute("bias", &Spec::bias, "Whether its gates have biases, one pair each.")},
                  {.cell = Spec::Cell::lstm})
          .repeats();
  return kTable;
}

const Table<spec::AttentionSpec>& attention_table() {
  using Spec = spec::AttentionSpec;
  static const Table<Spec> kTable =
      Table<Spec>(
          "attention", "Multi-head self-attention over the positions, with its projections.",
          {attribute("heads", &Spec::heads, integer(1, 1'000'000), "Into so many parts the channels are dealt."),
           attribute("causal", &Spec::causal, "Whether a position sees itself and those before it alone."),
           attribute("bias", &Spec::bias, "Whether the projections have biases.")})
          .repeats();
  return kTable;
}

const Table<spec::LayerNormSpec>& layer_norm_table() {
  using Spec = spec::LayerNormSpec;
  static const Table<Spec> kTable =
      Table<Spec>("layer-norm",
                  "Mean 0 and variance 1 over the channels of each position, then a learned gain and shift.",
                  {attribute("epsilon", &Spec::epsilon, real(kPositiveShare), "Added to the variance.")})
          .repeats();
  return kTable;
}

const Table<spec::BatchNormSpec>& batch_norm_table() {
  using Spec = spec::BatchNormSpec;
  static const Table<Spec> kTable =
      Table<Spec>(
          "batch-norm",
          "Mean 0 and variance 1 of each channel over the samples and positions of a worker, then a learned gain and "
          "shift.",
          {attribute("epsilon", &Spec::epsilon, real(kPositiveShare), "Added to the variance."),
           attribute("momentum", &Spec::momentum, real(kPositiveShare),
                     "Weight of the newest step in the running statistics that evaluation uses."),
           attribute("activation", &Spec::activation, "What each value goes through.").if_left_out("`identity`")})
          .repeats();
  return kTable;
}

const Table<spec::EmbeddingSpec>& embedding_table() {
  using Spec = spec::EmbeddingSpec;
  static const Table<Spec> kTable =
      Table<Spec>("embedding", "A learned vector for each symbol: the first layer where the data are symbols.",
                  {attribute("units", &Spec::units, integer(1, 1'000'000),
                             "Values of the vector of each symbol; the first layer where data are symbols.")
                       .must()})
          .repeats();
  return kTable;
}

const Table<spec::PositionsSpec>& positions_table() {
  using Spec = spec::PositionsSpec;
  static const Table<Spec> kTable = Table<Spec>("positions", "Adds a learned vector at each position.", {}).repeats();
  return kTable;
}

const Table<spec::ClassTokenSpec>& class_token_table() {
  using Spec = spec::ClassTokenSpec;
  static const Table<Spec> kTable =
      Table<Spec>("class-token", "Puts a learned position before the others.", {}).repeats();
  return kTable;
}

const Table<spec::DropoutSpec>& dropout_table() {
  using Spec = spec::DropoutSpec;
  static const Table<Spec> kTable =
      Table<Spec>("dropout", "Sets values to zero at random in training, and scales the others.",
                  {attribute("rate", &Spec::rate, real(kDecay), "Share of the values set to zero in training.")})
          .repeats();
  return kTable;
}

const Table<spec::ResidualSpec>& residual_table() {
  using Spec = spec::ResidualSpec;
  static const Table<Spec> kTable =
      Table<Spec>(
          "residual",
          "The sum of what its layers give and of its shortcut: the input itself unless it holds a shortcut element.",
          {attribute("activation", &Spec::activation,
                     "Of the sum of what its layers give and its input, or its `<shortcut>`.")
               .if_left_out("`identity`")})
          .holds(kLayers)
          .holds({"shortcut"})
          .repeats();
  return kTable;
}

namespace {

const Table<spec::DenseSpec>& table_of(const spec::DenseSpec&) { return dense_table(); }
const Table<spec::ConvolutionSpec>& table_of(const spec::ConvolutionSpec&) { return convolution_table(); }
const Table<spec::PoolSpec>& table_of(const spec::PoolSpec& pool) {
  return pool.kind == spec::PoolSpec::Kind::maximum ? max_pool_table() : mean_pool_table();
}
const Table<spec::MeanSpec>& table_of(const spec::MeanSpec&) { return mean_table(); }
const Table<spec::SelectSpec>& table_of(const spec::SelectSpec&) { return select_table(); }
const Table<spec::RecurrentSpec>& table_of(const spec::RecurrentSpec& layer) {
  return layer.cell == spec::RecurrentSpec::Cell::gru ? gru_table() : lstm_table();
}
const Table<spec::AttentionSpec>& table_of(const spec::AttentionSpec&) { return attention_table(); }
const Table<spec::LayerNormSpec>& table_of(const spec::LayerNormSpec&) { return layer_norm_table(); }
const Table<spec::BatchNormSpec>& table_of(const spec::BatchNormSpec&) { return batch_norm_table(); }
const Table<spec::EmbeddingSpec>& table_of(const spec::EmbeddingSpec&) { return embedding_table(); }
const Table<spec::PositionsSpec>& table_of(const spec::PositionsSpec&) { return positions_table(); }
const Table<spec::ClassTokenSpec>& table_of(const spec::ClassTokenSpec&) { return class_token_table(); }
const Table<spec::DropoutSpec>& table_of(const spec::DropoutSpec&) { return dropout_table(); }

}  // namespace

void write_layers(XmlWriter& xml, const std::vector<spec::LayerSpec>& layers) {
  for (const spec::LayerSpec& layer : layers) {
    const auto* residual = std::get_if<spec::ResidualSpec>(&layer.what);
    if (residual == nullptr) {
      std::visit(
          [&](const auto& what) {
            if constexpr (!std::is_same_v<std::decay_t<decltype(what)>, spec::ResidualSpec>)
              table_of(what).print(xml, what, {});
          },
          layer.what);
      continue;
    }
    XmlWriter::Open element(xml, "residual");
    residual_table().print_attributes(element, *residual, {});
    write_layers(xml, residual->layers);
    if (residual->shortcut.empty()) continue;
    const XmlWriter::Open shortcut(xml, "shortcut");
    write_layers(xml, residual->shortcut);
  }
}

}  // namespace dadsim::scenario
