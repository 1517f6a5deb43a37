#include "scenario/elements/recorded_step.hpp"

#include <fmt/format.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "scenario/elements/elements.hpp"
#include "scenario/xml/white_space.hpp"
#include "schedule/schedule.hpp"
#include "schedule/schedule_check.hpp"
#include "spec/payload_specification.hpp"
#include "spec/precision.hpp"

namespace dadsim::scenario {
namespace {

constexpr std::int64_t kMostRecordedWorkers = 100'000;
constexpr std::size_t kMostRecordedTasks = 1'000'000;

/// The collectives that a recorded step may have.
enum class RecordedKind : std::uint8_t { all_reduce, all_gather, reduce_scatter, all_to_all, send };
constexpr auto names_of(RecordedKind) {
  using enum RecordedKind;
  return std::to_array<spec::Name<RecordedKind>>({{all_reduce, "all-reduce"},
                                                  {all_gather, "all-gather"},
                                                  {reduce_scatter, "reduce-scatter"},
                                                  {all_to_all, "all-to-all"},
                                                  {send, "send"}});
}

step::CollectiveKind kind_of(RecordedKind kind) {
  switch (kind) {
    case RecordedKind::all_reduce:
      return step::CollectiveKind::all_reduce;
    case RecordedKind::all_gather:
      return step::CollectiveKind::all_gather;
    case RecordedKind::reduce_scatter:
      return step::CollectiveKind::reduce_scatter;
    case RecordedKind::all_to_all:
      return step::CollectiveKind::all_to_all;
    case RecordedKind::send:
      return step::CollectiveKind::stage_send;
  }
  throw std::logic_error("unknown kind of a recorded collective");
}

/// Among whom it is.
enum class RecordedGroup : std::uint8_t { replicas, tensor };
constexpr auto names_of(RecordedGroup) {
  using enum RecordedGroup;
  return std::to_array<spec::Name<RecordedGroup>>({{replicas, "replicas"}, {tensor, "tensor"}});
}

struct RecordedHead {
  std::string name;
  std::int64_t workers = 1, tensor = 1, pipeline = 1;
  std::optional<spec::Precision> precision;
};

struct RecordedCompute {
  std::string name, seconds;
  std::optional<std::int64_t> stage;
};

struct RecordedCollective {
  std::string name, bytes;
  RecordedKind kind = RecordedKind::all_reduce;
  RecordedGroup among = RecordedGroup::replicas;
  std::optional<std::int64_t> stage, to;
};

struct RecordedWait {
  std::int64_t number = 1;
  std::optional<std::int64_t> stage;
};

constexpr const char* kOfStage = "Of a pipeline: the stage whose workers do it, from 0.";

const Table<RecordedHead>& recorded_step_table() {
  using Spec = RecordedHead;
  static const Table<Spec> kTable =
      Table<Spec>(
          kRecordedStep, "The root of a file with a step that was recorded; `dadsim import` writes it.",
          {attribute("name", &Spec::name, text("what the answer calls it"), "What the answer calls it.").must(),
           attribute("workers", &Spec::workers, integer(1, kMostRecordedWorkers), "Devices that took part.").must(),
           attribute("tensor", &Spec::tensor, integer(1, kMostRecordedWorkers),
                     "Workers that follow one another and exchange among themselves."),
           attribute("pipeline", &Spec::pipeline, integer(1, kMostRecordedWorkers),
                     "Stages, of as many workers each, that follow one another."),
           attribute("precision", &Spec::precision, one_of<spec::Precision>(),
                     "Seconds are of computing with nothing beside it, as in steps that dadsim exports: devices slow "
                     "down while they communicate, as in this precision.")
               .if_left_out("seconds as measured, with what went on beside")})
          .holds({"compute", "collective", "wait"});
  return kTable;
}

const Table<RecordedCompute>& recorded_compute_table() {
  using Spec = RecordedCompute;
  static const Table<Spec> kTable =
      Table<Spec>(
          "compute", "A computation.",
          {attribute("name", &Spec::name, any_text(), "What it is for.").if_given(),
           attribute("seconds", &Spec::seconds, text("a number, or one for each"),
                     "What it took: of all workers, or one number for each (each of `workers` ÷ `tensor` ÷ "
                     "`pipeline`).")
               .must(),
           attribute("stage", &Spec::stage, integer(0, kMostRecordedWorkers), kOfStage).if_left_out("all workers")})
          .repeats();
  return kTable;
}

const Table<RecordedCollective>& recorded_collective_table() {
  using Spec = RecordedCollective;
  static const Table<Spec> kTable =
      Table<Spec>(
          "collective", "A collective, which goes on beside computations; those of a worker follow one another.",
          {attribute("name", &Spec::name, any_text(), "What it is for.").if_given(),
           attribute("kind", &Spec::kind, "What is done; send: from one stage to another."),
           attribute("bytes", &Spec::bytes, text("a number, or one for each"),
                     "That a worker hands over: of all, or one number for each, as of seconds.")
               .must(),
           attribute("among", &Spec::among,
                     "Among all workers in the same place of every group of `tensor`, or within these groups.")
               .only([](const Spec& spec) { return spec.kind != RecordedKind::send; }, "means nothing of a send",
                     "remove it"),
           attribute("stage", &Spec::stage, integer(0, kMostRecordedWorkers), kOfStage).if_left_out("all workers"),
           attribute("to", &Spec::to, integer(0, kMostRecordedWorkers), "Of a send: the stage that it goes to.")
               .only([](const Spec& spec) { return spec.kind == RecordedKind::send; }, "is of a send", "kind=\"send\"")
               .needed()})
          .repeats();
  return kTable;
}

const Table<RecordedWait>& recorded_wait_table() {
  using Spec = RecordedWait;
  static const Table<Spec> kTable =
      Table<Spec>(
          "wait", "Computations after it begin once a collective is through.",
          {attribute("for", &Spec::number, integer(1, static_cast<std::int64_t>(kMostRecordedTasks)),
                     "Which collective before it, counted from 1.")
               .must(),
           attribute("stage", &Spec::stage, integer(0, kMostRecordedWorkers), kOfStage).if_left_out("all workers")})
          .repeats();
  return kTable;
}

/// One number for all, or one for each of `count`.
schedule::PerWorker amounts(const Node& node, const char* attribute, const std::string& said, std::size_t count) {
  const std::vector<std::string> words = split_words(said);
  std::vector<double> values;
  for (const std::string& word : words) {
    const std::optional<double> value = parse_real(word);
    if (value && *value >= 0 && *value <= 1e18) values.push_back(*value);
  }
  if (values.size() == words.size() && (values.size() == 1 || values.size() == count))
    return schedule::PerWorker(values);
  if (node.has(attribute))
    node.fail_at(
        attribute, "is no list of amounts",
        count == 1 ? std::string("one number from 0 on") : fmt::format("one number from 0 on for all, or {}", count));
  return schedule::PerWorker(std::vector<double>(count, 0.0));
}

std::int32_t stage_of(const std::optional<std::int64_t>& said) {
  return said ? static_cast<std::int32_t>(*said) : schedule::kEveryStage;
}

class RecordedStepReader {
 public:
  RecordedStepReader(const RecordedHead& head, const ReadContext& context) : context_(context) {
    schedule_.workers = static_cast<std::size_t>(head.workers);
    schedule_.tensor = static_cast<std::int32_t>(head.tensor);
    schedule_.pipeline = static_cast<std::int32_t>(head.pipeline);
    schedule_.precision = head.precision.value_or(spec::Precision::fp32);
    replicas_ = schedule_.replicas();
  }

  void read(const Element& element) {
    const Node node(element, context_.findings);
    if (element.name == "compute") {
      add_compute(node);
    } else if (element.name == "collective") {
      add_collective(node);
    } else if (element.name == "wait") {
      add_wait(node);
    }
  }

  std::shared_ptr<const schedule::Schedule> take(const Origin& origin) {
    if (!context_.findings.empty()) return nullptr;
    if (schedule_.tasks.empty()) context_.findings.add(origin, "nothing is in the step", "<compute> or <collective>");
    if (const std::string fault = schedule::fault_of(schedule_, schedule_.workers, false); !fault.empty())
      context_.findings.add(origin, "the step " + fault, "a step that `dadsim import` has written");
    return std::make_shared<const schedule::Schedule>(std::move(schedule_));
  }

 private:
  void add_compute(const Node& node) {
    const RecordedCompute one = recorded_compute_table().read(node, context_);
    schedule::ComputeTask task;
    task.kind = spec::LayerKind::element_wise;
    task.seconds = amounts(node, "seconds", one.seconds, replicas_);
    task.recorded = true;
    schedule_.tasks.push_back({one.name, std::move(task), stage_of(one.stage)});
  }

  void add_collective(const Node& node) {
    const RecordedCollective one = recorded_collective_table().read(node, context_);
    schedule::CollectiveTask task;
    task.kind = kind_of(one.kind);
    task.bytes = amounts(node, "bytes", one.bytes, replicas_);
    task.among = one.kind == RecordedKind::send       ? schedule::Among::stages
                 : one.among == RecordedGroup::tensor ? schedule::Among::tensor
                                                      : schedule::Among::replicas;
    if (one.to) task.to_stage = static_cast<std::int32_t>(*one.to);
    collectives_.push_back(static_cast<std::int32_t>(schedule_.tasks.size()));
    schedule_.tasks.push_back({one.name, std::move(task), stage_of(one.stage)});
  }

  void add_wait(const Node& node) {
    const RecordedWait one = recorded_wait_table().read(node, context_);
    const auto number = static_cast<std::size_t>(one.number);
    if (number > collectives_.size()) {
      node.fail_at("for", "is no collective before it", fmt::format("there are {}", collectives_.size()));
      return;
    }
    schedule_.tasks.push_back({"", schedule::WaitTask{.collective = collectives_[number - 1]}, stage_of(one.stage)});
  }

  const ReadContext& context_;
  schedule::Schedule schedule_;
  std::size_t replicas_ = 1;
  std::vector<std::int32_t> collectives_;  ///< their tasks
};

}  // namespace

OwnWorkload read_recorded_step(const Element& root, Findings& findings) {
  constexpr double kNothing = 4;  // bytes: what a network needs is not known, and nothing goes by it
  OwnWorkload workload;
  const Node node(root, findings);
  static const Catalog kNone;  // a recorded step refers to nothing
  const ReadContext context{root.name, kNone, findings};
  const RecordedHead head = recorded_step_table().read(node, context);
  workload.shape = spec::payload_shape(kNothing);
  workload.shape.name = head.name;
  if (head.workers % (head.tensor * head.pipeline) != 0) {
    node.fail_at("workers", "are no whole number of groups", "a multiple of tensor × pipeline");
    return workload;
  }
  if (root.children.size() > kMostRecordedTasks) {
    node.fail(fmt::format("more than {} elements", kMostRecordedTasks), "a step with fewer");
    return workload;
  }
  RecordedStepReader reader(head, context);
  for (const Element& child : root.children) reader.read(child);
  workload.recorded = reader.take(root.origin);
  return workload;
}

std::vector<ElementRule> recorded_step_rules() {
  return {recorded_step_table().rule(), recorded_compute_table().rule(), recorded_collective_table().rule(),
          recorded_wait_table().rule()};
}

}  // namespace dadsim::scenario
