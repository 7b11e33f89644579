// The saved state: reads back whole, and no damage to it is taken for one.
#include "persist/persist.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "cluster.h"
#include "engine/fingerprint.h"
#include "persist/msgpack.h"
#include "state/check.h"

namespace kueue {
namespace {

using namespace testing_cluster;

// Two queues in a cohort; some workloads run, one was preempted, one waits.
Engine Busy() {
  Engine engine = Cluster({QueueSpec("a", "team", 4000), QueueSpec("b", "team", 4000)});
  engine.Submit(Job("a-first", "a", "3"));
  engine.Submit(Job("a-borrows", "a", "3"));
  RunAll(engine);
  engine.SetNow(5 * kSecond);
  engine.Submit(Job("b-reclaims", "b", "4", 7));
  engine.Submit(Job("b-waits", "b", "1500m"));
  RunAll(engine);
  return engine;
}

TEST(Persist, AStateReadsBackAsItself) {
  const Engine engine = Busy();
  const std::string text = SaveState(engine.state());
  const absl::StatusOr<State> loaded = LoadState(text);
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  EXPECT_EQ(SaveState(*loaded), text);
  EXPECT_EQ(Fingerprint(*loaded), Fingerprint(engine.state()));
  EXPECT_EQ(Check(*loaded), std::vector<std::string>());
}

TEST(Persist, WhatGoesOnIsWhatWouldHaveGoneOn) {
  Engine original = Busy(), restored{Config(), RequestsConfig()};
  restored.state() = LoadState(SaveState(original.state())).value();
  for (Engine* engine : {&original, &restored}) {
    engine->Finish(engine->state().FindWorkload("default/b-reclaims"));
    engine->Submit(Job("later", "a", "2", 3));
    RunAll(*engine);
  }
  EXPECT_EQ(SaveState(original.state()), SaveState(restored.state()));
}

TEST(Persist, NoPartOfATextIsTakenForIt) {
  const std::string text = SaveState(Busy().state());
  for (size_t size = 0; size < text.size(); ++size) {
    EXPECT_FALSE(LoadState(absl::string_view(text).substr(0, size)).ok()) << size;
  }
  EXPECT_FALSE(LoadState(text + '\xc0').ok());
}

// A changed byte may still make a state; then it is one whose numbers refer to one another.
TEST(Persist, AnyByteMayBeDamaged) {
  const std::string text = SaveState(Busy().state());
  size_t refused = 0, tried = 0;
  for (size_t at = 0; at < text.size(); ++at) {
    for (const int change : {0x01, 0x80, 0xff}) {
      std::string damaged = text;
      damaged[at] = static_cast<char>(damaged[at] ^ change);
      const absl::StatusOr<State> loaded = LoadState(damaged);
      ++tried;
      if (!loaded.ok()) {
        ++refused;
        EXPECT_FALSE(loaded.status().message().empty());
      } else {
        EXPECT_EQ(BrokenReference(*loaded), "");
      }
    }
  }
  EXPECT_GT(refused, tried / 3);
}

TEST(Persist, OtherVersionsAreToldApartFromDamage) {
  MsgpackWriter later;
  later.Array(5);
  later.Text("kueuepy-state");
  later.Int(99);
  EXPECT_EQ(LoadState(later.text()).status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(LoadState("").status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(LoadState("apiVersion: v1").status().code(), absl::StatusCode::kInvalidArgument);
}

TEST(Persist, AnUnknownFieldIsNamed) {
  std::string text = SaveState(Busy().state());
  const size_t at = text.find("nominal, borrowing");
  ASSERT_NE(at, std::string::npos);
  text.replace(at, 7, "numinal");
  const absl::Status status = LoadState(text).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_NE(status.message().find("Quota.numinal"), absl::string_view::npos) << status;
}

}  // namespace
}  // namespace kueue
