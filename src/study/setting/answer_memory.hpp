#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "support/fingerprint.hpp"

namespace dadsim::study {

/// Answers to questions that are asked again and again, by a text that says all that an answer depends on. For several
/// threads; two that ask the same at once may both find out.
template <class Answer>
class AnswerMemory {
 public:
  template <class Ask>
  Answer answer(const std::string& text, const Ask& ask) {
    const Question question{fingerprint(text), text.size()};  // the text itself may list 100,000 hosts
    {
      const std::lock_guard lock(mutex_);
      if (const auto found = known_.find(question); found != known_.end()) return found->second;
    }
    Answer answer = ask();
    const std::lock_guard lock(mutex_);
    if (known_.size() >= kMost) known_.clear();
    known_.emplace(question, answer);
    return answer;
  }

 private:
  using Question = std::pair<std::uint64_t, std::size_t>;
  static constexpr std::size_t kMost = 1000;
  std::mutex mutex_;
  std::map<Question, Answer> known_;
};

}  // namespace dadsim::study
