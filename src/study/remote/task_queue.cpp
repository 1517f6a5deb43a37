#include "study/remote/task_queue.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <stdexcept>
#include <utility>

#include "support/diagnostics.hpp"
#include "support/environment_error.hpp"
#include "support/fingerprint.hpp"
#include "support/interrupt.hpp"
#include "support/wire.hpp"

namespace dadsim::study {

constexpr TaskContext::Kind last_of(TaskContext::Kind /*type*/) { return TaskContext::Kind::trials; }
void fields(auto& bytes, of<TaskContext> auto& context) {
  bytes(context.kind, context.overrides, context.hash, context.about);
}
void fields(auto& bytes, of<TaskPiece::Item> auto& item) { bytes(item.task, item.states); }
void fields(auto& bytes, of<TaskPiece> auto& piece) {
  bytes(piece.context, piece.items, piece.inline_names, piece.inline_states);
}

namespace {

constexpr std::chrono::milliseconds kMoment{50};

[[noreturn]] void refuse_results(const std::string& from, const std::string& what, const char* remedy) {
  throw InputError(Diagnostic{from, 0, what, remedy});
}

}  // namespace

// ---- the study's side ----

TaskQueue::TaskId TaskQueue::post(const std::shared_ptr<const TaskContext>& context, std::string task,
                                  std::vector<NamedState> states) {
  const std::lock_guard lock(mutex_);
  Task& posted = open_.emplace_back(Task{++last_, context, std::move(task), {}});
  for (NamedState& one : states) {
    State& state = states_[one.name];
    state.bytes = std::move(one.bytes);
    posted.states.push_back(std::move(one.name));
    state.is_shared = ++state.users > 1 || state.is_shared;
  }
  posted_.notify_one();
  return posted.id;
}

std::vector<TaskQueue::Done> TaskQueue::wait() {
  const auto pause = [&] {
    std::unique_lock lock(mutex_);
    finished_.wait_for(lock, kMoment, [&] { return failed_ != nullptr || !done_.empty(); });
  };
  if (aside_) {
    aside_(pause);
  } else {
    pause();
  }
  const std::lock_guard lock(mutex_);
  if (failed_) std::rethrow_exception(failed_);
  return std::exchange(done_, {});
}

std::vector<std::string> TaskQueue::wait_for(const std::vector<TaskId>& tasks) {
  std::map<TaskId, std::string> results;
  while (results.size() < tasks.size()) {
    if (interrupted().load()) throw Cancelled();
    for (Done& one : wait()) results[one.task] = std::move(one.result);
  }
  std::vector<std::string> in_order;
  in_order.reserve(tasks.size());
  for (const TaskId task : tasks) in_order.push_back(std::move(results.at(task)));
  return in_order;
}

void TaskQueue::let_each_count() {
  const std::lock_guard lock(mutex_);
  each_counts_ = true;
}

std::size_t TaskQueue::open() const {
  const std::lock_guard lock(mutex_);
  return open_.size();
}

void TaskQueue::forget() {
  const std::lock_guard lock(mutex_);
  open_.clear();
  handed_.clear();
  states_.clear();
  done_.clear();
}

void TaskQueue::close() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  posted_.notify_all();
}

// ---- the distributor's side ----

TaskQueue::Piece TaskQueue::next(std::size_t most, double seconds) {
  std::unique_lock lock(mutex_);
  posted_.wait_for(lock, std::chrono::duration<double>(seconds), [&] { return closed_ || !open_.empty(); });
  Piece piece;
  if (open_.empty() || most == 0) return piece;
  std::vector<Task> tasks;
  const std::shared_ptr<const TaskContext> context = open_.front().context;
  while (!open_.empty() && tasks.size() < most && open_.front().context == context) {
    most = std::min(most, open_.front().at_most);
    tasks.push_back(std::move(open_.front()));
    open_.pop_front();
  }
  piece.id = ++last_piece_;
  piece.tasks = tasks.size();
  piece.open = open_.size();
  piece.bytes = bytes_of(tasks, piece.states);
  handed_[piece.id] = std::move(tasks);
  return piece;
}

std::string TaskQueue::bytes_of(const std::vector<Task>& tasks, std::vector<std::string>& names) const {
  TaskPiece piece{.context = *tasks.front().context, .items = {}, .inline_names = {}, .inline_states = {}};
  for (const Task& task : tasks) {
    TaskPiece::Item& item = piece.items.emplace_back();
    item.task = task.text;
    for (const std::string& name : item.states = task.states) {
      const State& state = states_.at(name);
      if (!state.is_shared) {
        piece.inline_names.push_back(name);
        piece.inline_states.push_back(state.bytes());
      } else if (std::ranges::find(names, name) == names.end()) {
        names.push_back(name);
      }
    }
  }
  WireWriter wire;
  wire << piece;
  return wire.bytes();
}

bool TaskQueue::closed() const {
  const std::lock_guard lock(mutex_);
  return closed_;
}

std::string TaskQueue::state(const std::string& name) const {
  std::function<std::string()> bytes;
  {
    const std::lock_guard lock(mutex_);
    const auto found = states_.find(name);
    if (found == states_.end()) return {};
    bytes = found->second.bytes;
  }
  return bytes();
}

void TaskQueue::take(std::uint64_t piece, std::string_view results, const std::string& from) {
  const std::uint64_t print = fingerprint(results);
  const std::lock_guard lock(mutex_);
  if (const auto before = was_taken_.find(piece); before != was_taken_.end() && before->second != print) {
    refuse_results(from, "differs from the results of another machine for the same work",
                   "set DADSIM_KERNELS=portable on all machines; all then round equally");
  }
  const auto found = handed_.find(piece);
  if (found == handed_.end()) return;
  std::vector<std::string> parts;
  try {
    WireReader wire(results);
    wire >> parts;
    if (parts.size() != found->second.size()) throw std::out_of_range("the number of results differs from the request");
  } catch (const std::out_of_range& error) {
    refuse_results(from, fmt::format("gave damaged results, or runs another build: {}", error.what()),
                   "use the same build of dadsim on all machines");
  }
  was_taken_[piece] = print;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    let_go(found->second[i]);
    done_.push_back({found->second[i].id, std::move(parts[i]), from});
  }
  handed_.erase(found);
  finished_.notify_all();
}

void TaskQueue::let_go(const Task& task) {
  for (const std::string& name : task.states) {
    const auto state = states_.find(name);
    if (state != states_.end() && --state->second.users == 0) states_.erase(state);
  }
}

void TaskQueue::put_back(std::uint64_t piece) {
  const std::lock_guard lock(mutex_);
  const auto found = handed_.find(piece);
  if (found == handed_.end()) return;
  const std::size_t half = std::max<std::size_t>(1, found->second.size() / 2);
  for (Task& task : found->second) task.at_most = half;
  open_.insert(open_.begin(), std::make_move_iterator(found->second.begin()),
               std::make_move_iterator(found->second.end()));
  handed_.erase(found);
  posted_.notify_all();
}

void TaskQueue::give_up(std::uint64_t piece, const std::string& why) {
  const std::lock_guard lock(mutex_);
  const auto found = handed_.find(piece);
  if (each_counts_ && found != handed_.end()) {
    for (const Task& task : found->second) {
      let_go(task);
      done_.push_back({task.id, "", "", why});
    }
    handed_.erase(found);
    return finished_.notify_all();
  }
  end_with(std::make_exception_ptr(
      EnvironmentError(each_counts_ ? why
                       : piece == 0 ? why + "; the learned results of this call are lost"
                                    : fmt::format("no worker could do an operation of learning: {}", why))));
}

void TaskQueue::fail(const std::string& why, bool is_input) {
  const std::lock_guard lock(mutex_);
  end_with(is_input ? std::make_exception_ptr(InputError(Diagnostic{"", 0, why, ""}))
                    : std::make_exception_ptr(EnvironmentError(why)));
}

void TaskQueue::end_with(std::exception_ptr failed) {
  if (!failed_) failed_ = std::move(failed);
  finished_.notify_all();
}

TaskPiece task_piece_from_bytes(std::string_view bytes, TaskStates& states) {
  try {
    auto piece = WireReader(bytes).read<TaskPiece>();
    for (std::size_t i = 0; i < piece.inline_names.size(); ++i)
      states[piece.inline_names[i]] = piece.inline_states.at(i);
    return piece;
  } catch (const std::out_of_range& error) {
    refuse_results("a piece of work", fmt::format("is damaged, or comes from another build: {}", error.what()),
                   "use the same build of dadsim on all machines");
  }
}

std::string results_to_bytes(const std::vector<std::string>& results) {
  WireWriter wire;
  wire << results;
  return wire.bytes();
}

}  // namespace dadsim::study
