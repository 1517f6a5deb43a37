#include "schedule/divide.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "schedule/model_chunk.hpp"
#include "schedule/pipeline_order.hpp"
#include "spec/stages.hpp"

namespace dadsim::schedule {
namespace {

/// Puts the tasks of all stages into one list, in an order in which each comes behind what it waits for.
class Division {
 public:
  Division(const Undivided& step, const spec::ParallelismSpec& how, std::size_t replicas)
      : how_(how),
        micro_batches_(how.micro_batch == 0 ? 1 : std::max<std::int64_t>(1, step.batch / how.micro_batch)),
        last_(how.pipeline * how.interleave - 1) {
    for (const spec::LayerRange& layers : spec::pieces_of(step.whole, static_cast<std::size_t>(last_) + 1))
      pieces_.emplace_back(step, how, replicas, micro_batches_, layers);
    sent_[0].assign(pieces_.size() * static_cast<std::size_t>(micro_batches_), kNotYet);
    sent_[1] = sent_[0];
    result_ = Schedule{replicas * static_cast<std::size_t>(how.devices()),
                       false,
                       {},
                       pieces_[0].precision(),
                       how.tensor,
                       how.pipeline,
                       how.context,
                       how.sharding_group,
                       how.experts,
                       how.expert_tensor};
  }

  Schedule run() {
    const auto orders = pipeline_order(how_.order, how_.pipeline, how_.interleave, micro_batches_);
    std::vector<std::size_t> next(orders.size(), 0);
    std::size_t left = 0;
    for (const std::vector<Pass>& order : orders) left += order.size();
    while (left > 0) {
      const std::size_t before = left;
      for (std::size_t stage = 0; stage < orders.size(); ++stage) {
        if (next[stage] == orders[stage].size() || !is_ready(orders[stage][next[stage]])) continue;
        carry_out(orders[stage][next[stage]++], static_cast<std::int32_t>(stage));
        --left;
      }
      if (left == before) throw std::logic_error("stages of a pipeline that wait for one another");
    }
    share_tied_tables();
    for (std::int32_t c = last_; c >= 0; --c) {
      pieces_[static_cast<std::size_t>(c)].finish(result_, stage_of(c));
    }
    return std::move(result_);
  }

 private:
  static constexpr std::int32_t kNotYet = -1;  ///< the pass before has not been simulated
  static constexpr std::int32_t kHere = -2;    ///< it was, on the same stage

  std::int32_t stage_of(std::int32_t piece) const { return how_.stage_of(piece); }

  /// What piece `piece` has sent in a direction for a micro-batch: a task.
  std::int32_t& sent(bool forward, std::int32_t piece, std::int64_t micro_batch) {
    return sent_[forward ? 0 : 1][static_cast<std::size_t>(piece * micro_batches_ + micro_batch)];
  }

  bool is_ready(const Pass& pass) {
    if (pass.kind == PassKind::weights) return true;  // behind the gradient of its inputs, on the same stage
    const std::int32_t from = pass.piece + (pass.forward() ? -1 : 1);
    if (from >= 0 && from <= last_) return sent(pass.forward(), from, pass.micro_batch) != kNotYet;
    return pass.forward() || sent(true, last_, pass.micro_batch) != kNotYet;
  }

  void carry_out(const Pass& pass, std::int32_t stage) {
    ModelChunk& piece = pieces_[static_cast<std::size_t>(pass.piece)];
    const bool last = pass.micro_batch == micro_batches_ - 1;
    if (pass.kind == PassKind::weights) {
      piece.pass(pass.kind, last, result_, stage);
      return;
    }
    const bool forward = pass.forward();
    const std::int32_t from = pass.piece + (forward ? -1 : 1);
    if (!forward) piece.begin_return(result_, stage);
    if (from >= 0 && from <= last_) {
      const std::int32_t message = sent(forward, from, pass.micro_batch);
      if (message >= 0) {
        result_.tasks.push_back(
            {result_.tasks[static_cast<std::size_t>(message)].layer, WaitTask{step::Role::workers, message}, stage});
        piece.gather_received(forward ? pieces_[static_cast<std::size_t>(from)].sends() : piece.sends(), result_,
                              stage);
      }
    }
    piece.pass(pass.kind, last, result_, stage);
    const std::int32_t to = pass.piece + (forward ? 1 : -1);
    std::int32_t message = kHere;
    if (to >= 0 && to <= last_ && stage_of(to) != stage) {
      CollectiveTask send;
      send.kind = step::CollectiveKind::stage_send;
      send.among = Among::stages;
      send.to_stage = stage_of(to);
      send.algorithm = "direct";
      // The Δ of what came in is as large as it was.
      const ModelChunk& sized = forward ? piece : pieces_[static_cast<std::size_t>(to)];
      send.bytes = PerWorker({sized.sends() / how_.tensor});
      message = static_cast<std::int32_t>(result_.tasks.size());
      result_.tasks.push_back({sized.last_layer(), std::move(send), stage});
    }
    sent(forward, pass.piece, pass.micro_batch) = message;
  }

  /// The first stage looks up the table that the last one scores: each has a copy, and they sum its gradient.
  void share_tied_tables() {
    const double bytes = pieces_.front().tied_table_bytes(pieces_.back());
    const std::int32_t ends[] = {0, stage_of(last_)};
    if (!(bytes > 0) || ends[0] == ends[1]) return;
    const auto first = static_cast<std::int32_t>(result_.tasks.size());
    for (const std::int32_t stage : ends) {
      CollectiveTask send;
      send.kind = step::CollectiveKind::stage_send;
      send.among = Among::stages;
      send.to_stage = ends[0] + ends[1] - stage;
      send.algorithm = "direct";
      send.bytes = PerWorker({bytes});
      result_.tasks.push_back({"tied table", std::move(send), stage});
    }
    for (const std::int32_t stage : ends) {
      result_.tasks.push_back({"tied table", WaitTask{step::Role::workers, first + (stage == 0 ? 1 : 0)}, stage});
    }
  }

  spec::ParallelismSpec how_;
  std::int64_t micro_batches_;
  std::int32_t last_;  ///< piece
  std::vector<ModelChunk> pieces_;
  std::vector<std::int32_t> sent_[2];  ///< forward and backward, per piece and micro-batch
  Schedule result_;
};

}  // namespace

Schedule divide(const Undivided& step, const spec::ParallelismSpec& how, std::size_t replicas) {
  return Division(step, how, replicas).run();
}

}  // namespace dadsim::schedule
