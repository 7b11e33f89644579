// The cached answers of device selectors, across threads and forks.
#include "devices/selectors.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <string>
#include <thread>
#include <vector>

namespace kueue {
namespace {

// Accepts every device, and counts the evaluations.
class Accepting : public SelectorLanguage {
 public:
  std::string Compile(const std::string&) override { return ""; }
  SelectorAnswer Evaluate(const std::string&, const std::string&) override {
    ++evaluations;
    return {true, ""};
  }
  std::atomic<int> evaluations{0};
};

class SelectorsTest : public testing::Test {
 protected:
  SelectorsTest() { SetSelectorLanguage(&language_); }
  ~SelectorsTest() override { SetSelectorLanguage(nullptr); }

  Accepting language_;
  const std::vector<std::string> expressions_ = {"true"};
};

TEST_F(SelectorsTest, CopiesOfADeviceShareAnswers) {
  const Device device, copy = device, other;
  EXPECT_TRUE(Match(expressions_, device).matches);
  EXPECT_TRUE(Match(expressions_, copy).matches);
  EXPECT_EQ(language_.evaluations, 1);
  EXPECT_TRUE(Match(expressions_, other).matches);
  EXPECT_EQ(language_.evaluations, 2);
}

// Returns whether a child process ended normally within 10 seconds.
bool Ends(pid_t child) {
  for (int wait = 0; wait < 10000; ++wait) {
    int status = 0;
    if (waitpid(child, &status, WNOHANG) == child) return WIFEXITED(status) && WEXITSTATUS(status) == 0;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  return false;
}

TEST_F(SelectorsTest, AForkedProcessReadsAnswersThatAnotherThreadWasReading) {
  const Device device;
  ASSERT_TRUE(Match(expressions_, device).matches);
  std::atomic<bool> ends{false};
  std::thread other([&] {
    while (!ends) Match(expressions_, device);
  });
  bool all_end = true;
  for (int i = 0; i < 200 && all_end; ++i) {
    const pid_t child = fork();
    if (child == 0) _exit(Match(expressions_, device).matches ? 0 : 1);
    all_end = child > 0 && Ends(child);
  }
  ends = true;
  other.join();
  EXPECT_TRUE(all_end);
}

}  // namespace
}  // namespace kueue
