#pragma once

#include "scenario/elements/elements.hpp"

namespace dadsim::scenario {

// The layers of <model> as tables.
const Table<spec::DenseSpec>& dense_table();
const Table<spec::ConvolutionSpec>& convolution_table();
const Table<spec::PoolSpec>& max_pool_table();
const Table<spec::PoolSpec>& mean_pool_table();
const Table<spec::MeanSpec>& mean_table();
const Table<spec::SelectSpec>& select_table();
const Table<spec::RecurrentSpec>& gru_table();
const Table<spec::RecurrentSpec>& lstm_table();
const Table<spec::AttentionSpec>& attention_table();
const Table<spec::LayerNormSpec>& layer_norm_table();
const Table<spec::BatchNormSpec>& batch_norm_table();
const Table<spec::EmbeddingSpec>& embedding_table();
const Table<spec::PositionsSpec>& positions_table();
const Table<spec::ClassTokenSpec>& class_token_table();
const Table<spec::DropoutSpec>& dropout_table();
const Table<spec::ResidualSpec>& residual_table();

void write_layers(XmlWriter& xml, const std::vector<spec::LayerSpec>& layers);

}  // namespace dadsim::scenario
