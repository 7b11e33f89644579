// Mirrors pkg/dra/claims.go:compileCELSelectors,evaluateSelectorsOnDevice (kueue ff69552e79).
#include "devices/selectors.h"

#include <pthread.h>

#include <atomic>
#include <mutex>
#include <stdexcept>

namespace kueue {

namespace {

// Limits memory if templates with new expressions are created continuously.
constexpr size_t kMostExpressions = 4096;

std::atomic<SelectorLanguage*> selector_language{nullptr};

SelectorLanguage& Language() {
  SelectorLanguage* const language = selector_language.load();
  if (language == nullptr) throw std::logic_error("no evaluator of CEL expressions is set");
  return *language;
}

// Guards the caches of all devices. A fork of the process locks it, so that no cache is incomplete, and the
// mutex is unlocked, in the child process.
std::mutex& MemoMutex() {
  static std::mutex* const mutex = [] {
    pthread_atfork([] { MemoMutex().lock(); }, [] { MemoMutex().unlock(); }, [] { MemoMutex().unlock(); });
    return new std::mutex;
  }();
  return *mutex;
}

SelectorAnswer Answer(const std::string& expression, const Device& device) {
  SelectorMemo& memo = *device.known.memo;
  {
    const std::lock_guard<std::mutex> lock(MemoMutex());
    const auto known = memo.answers.find(expression);
    if (known != memo.answers.end()) return known->second;
  }
  SelectorAnswer answer = Language().Evaluate(expression, device.subject);
  const std::lock_guard<std::mutex> lock(MemoMutex());
  if (memo.answers.size() >= kMostExpressions) memo.answers.clear();
  return memo.answers.try_emplace(expression, std::move(answer)).first->second;
}

}  // namespace

void SetSelectorLanguage(SelectorLanguage* language) {
  MemoMutex();  // Creates the mutex before there are other threads.
  selector_language.store(language);
}

std::string CompileError(const std::string& expression) { return Language().Compile(expression); }

SelectorAnswer Match(const std::vector<std::string>& expressions, const Device& device) {
  for (const std::string& expression : expressions) {
    SelectorAnswer answer = Answer(expression, device);
    if (!answer.error.empty() || !answer.matches) return answer;
  }
  return {true, ""};
}

}  // namespace kueue
