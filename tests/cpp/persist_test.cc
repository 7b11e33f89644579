// The saved state: reads back whole, and no damage to it is taken for one.
#include "persist/persist.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "cluster.h"
#include "engine/fingerprint.h"
#include "persist/archive.h"
#include "persist/codecs.h"
#include "persist/compact.h"
#include "persist/msgpack.h"
#include "state/check.h"
#include "state/names.h"
#include "text/text.h"

namespace kueue {
namespace {

using namespace testing_cluster;

// Two queues in a cohort; some workloads run, one was preempted, one waits.
Engine Busy() {
  Engine engine = Cluster({QueueSpec("a", "team", 4000), QueueSpec("b", "team", 4000)});
  engine.Submit(Submitted("a-first", "a", "3"));
  engine.Submit(Submitted("a-borrows", "a", "3"));
  RunAll(engine);
  engine.SetNow(5 * kSecond);
  engine.Submit(Submitted("b-reclaims", "b", "4", 7));
  engine.Submit(Submitted("b-waits", "b", "1500m"));
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

TEST(Persist, AStateWithoutAnIndexOfKeysIsSavedWithOne) {
  Engine engine = Busy();
  const std::string text = SaveState(engine.state());
  DropKeys(engine.state());
  EXPECT_EQ(SaveState(engine.state()), text);
  Compact(engine.state());
  EXPECT_EQ(Check(engine.state()), std::vector<std::string>());
  EXPECT_NE(FindByKey(engine.state(), "default/a-first"), kNoId);
}

TEST(Persist, ARestoredStateContinuesLikeTheOriginal) {
  Engine original = Busy(), restored{Config(), RequestsConfig()};
  restored.state() = LoadState(SaveState(original.state())).value();
  for (Engine* engine : {&original, &restored}) {
    engine->Finish(FindByKey(engine->state(), "default/b-reclaims"));
    engine->Submit(Submitted("later", "a", "2", 3));
    RunAll(*engine);
  }
  EXPECT_EQ(SaveState(original.state()), SaveState(restored.state()));
}

TEST(Persist, ATruncatedOrExtendedTextIsRejected) {
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

TEST(Persist, OtherVersionsAreDistinguishedFromDamage) {
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

// Writes each value of an enumeration and reads it back; the number after the last value is refused.
template <typename Enumeration>
void ReadBackEachValue() {
  SCOPED_TRACE(__PRETTY_FUNCTION__);
  const auto read = [](int64_t number) {
    MsgpackWriter written;
    written.Int(number);
    ArchiveReader<FieldLists> reader(written.text(), {}, {});
    const auto value = reader.Take<Enumeration>();
    return std::pair(value, reader.in().ok());
  };
  constexpr auto kCount = static_cast<int64_t>(CountOf<Enumeration>());
  EXPECT_GE(kCount, 2);
  for (int64_t number = 0; number < kCount; ++number) {
    EXPECT_EQ(read(number), std::pair(static_cast<Enumeration>(number), true));
  }
  EXPECT_FALSE(read(kCount).second);
  EXPECT_FALSE(read(-1).second);
}

template <typename... Enumerations>
void ReadBackAll() {
  (ReadBackEachValue<Enumerations>(), ...);
}

// tests/test_house_cpp.py holds this list to the enumerations of the rooms whose records are saved.
TEST(Persist, EachValueOfEachEnumerationReadsBack) {
  ReadBackAll<CheckState, ConditionType, DelayedTopology, EventKind, FairSharingStrategy, FungibilityPolicy,
              FungibilityPreference, InactivityKind, JobPlace, NodeReadiness, PlacementFailure::Exclusion,
              PlacementFailure::Kind, PreemptionPolicy, PreemptionReason, QuantityFormat, QueuePlace,
              QueueingStrategy, RefusalKind, Sentence, StopPolicy>();
}

// Returns the detail that belongs to a kind.
RefusalDetail DetailOf(RefusalKind kind) {
  switch (kind) {
    case RefusalKind::kExceedsCapacity:
      return CapacityExcess{Amount(1), Amount(2), Amount(3)};
    case RefusalKind::kShortOfQuota:
      return QuotaShortage{Amount(4), Amount(5), Amount(6)};
    case RefusalKind::kUntoleratedTaint:
      return std::make_shared<const Taint>(Taint{"gpu", "true", "NoSchedule"});
    case RefusalKind::kReplacedSliceFlavor:
    case RefusalKind::kManyTopologyFlavors:
      return std::string("spot, on-demand");
    case RefusalKind::kPlacement: {
      PlacementFailure failure;
      failure.kind = PlacementFailure::Kind::kNoLevel;
      return std::make_shared<const PlacementFailure>(failure);
    }
    default:
      return {};
  }
}

// Gives the workload `b-waits` a condition with these refusals.
void Refuse(State& state, Refusals refusals) {
  const WorkloadId id = FindByKey(state, "default/b-waits");
  Refused refused{state.At(id).cls, {}, 0};
  refused.pod_sets.push_back({0, std::move(refusals)});
  state.At(id).conditions.front().message = std::make_shared<const MessageBody>(refused);
}

TEST(Persist, EachKindOfRefusalReadsBack) {
  for (size_t number = 0; number < kRefusalKinds; ++number) {
    SCOPED_TRACE(number);
    const auto kind = static_cast<RefusalKind>(number);
    Engine engine = Busy();
    Refuse(engine.state(), {Refusal{kind, FlavorId(0), engine.state().cpu, DetailOf(kind)}});
    const std::string text = SaveState(engine.state());
    const absl::StatusOr<State> loaded = LoadState(text);
    ASSERT_TRUE(loaded.ok()) << loaded.status();
    EXPECT_EQ(SaveState(*loaded), text);
    const auto message = [](const State& state) {
      return state.At(FindByKey(state, "default/b-waits")).conditions.front().message;
    };
    // Classes are renumbered.
    EXPECT_EQ(std::get<Refused>(*message(*loaded)).pod_sets,
              std::get<Refused>(*message(engine.state())).pod_sets);
    EXPECT_EQ(Render(*loaded, message(*loaded)), Render(engine.state(), message(engine.state())));
  }
}

TEST(Persist, ARefusalWithTheDetailOfAnotherKindIsRejected) {
  for (size_t number = 0; number < kRefusalKinds; ++number) {
    for (size_t other = 0; other < kRefusalKinds; ++other) {
      const RefusalDetail detail = DetailOf(static_cast<RefusalKind>(other));
      if (detail.index() == DetailOf(static_cast<RefusalKind>(number)).index()) continue;
      Engine engine = Busy();
      Refuse(engine.state(), {Refusal{static_cast<RefusalKind>(number), FlavorId(0), kNoId, detail}});
      EXPECT_FALSE(LoadState(SaveState(engine.state())).ok()) << number << " " << other;
    }
  }
}

TEST(Persist, AStateWithEventsOfEachKindReadsBack) {
  Engine engine = Busy();
  State& state = engine.state();
  state.record_events = true;
  const WorkloadId workload = FindByKey(state, "default/b-waits");
  for (size_t kind = 0; kind < CountOf<EventKind>(); ++kind)
    state.Record(static_cast<EventKind>(kind), workload);
  const std::string text = SaveState(state);
  const absl::StatusOr<State> loaded = LoadState(text);
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  EXPECT_EQ(loaded->events.size(), CountOf<EventKind>());
  EXPECT_EQ(SaveState(*loaded), text);
}

}  // namespace
}  // namespace kueue
