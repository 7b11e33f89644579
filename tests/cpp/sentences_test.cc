#include "text/sentences.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "text/text.h"

namespace kueue {
namespace {

TEST(Sentences, EachMessageHasADistinctText) {
  std::set<std::string> words;
  for (size_t i = 0; i < kSentences; ++i) words.insert(Render(Said{static_cast<Sentence>(i), {"a", "b"}}));
  EXPECT_EQ(words.size(), kSentences);
  EXPECT_EQ(words.count(""), 0u);
}

TEST(Sentences, NamesAreAtKueuesPositions) {
  EXPECT_EQ(Render(Said{Sentence::kLocalQueueMissing, {"team"}}), "LocalQueue team doesn't exist");
  EXPECT_EQ(Render(Said{Sentence::kReplacedBySlice, {"u", "j"}}),
            "Replaced to accommodate a workload (UID: u, JobUID: j) due to workload slice aggregation");
  EXPECT_EQ(Render(Said{Sentence::kManyNodesFailed, {"n1", "n2"}}),
            "Workload eviction triggered due to multiple TAS assigned node failures, including: n1, n2");
  EXPECT_EQ(Render(Said{Sentence::kChecksRejected, {"a", "", "b", "no quota"}}),
            "AdmissionChecks in Rejected state: \"a\"; \"b\" (no quota)");
}

TEST(Sentences, AnExternalTextCanEqualAMessage) {
  EXPECT_TRUE(SameMessage(State(), Quote("The workload is admitted"), Say(Sentence::kAdmitted)));
  EXPECT_TRUE(SameMessage(State(), Say(Sentence::kGated, {"x"}), Quote("Admission is gated by: x")));
  EXPECT_FALSE(SameMessage(State(), Say(Sentence::kGated, {"x"}), Quote("Admission is gated by: y")));
  EXPECT_FALSE(SameMessage(State(), Say(Sentence::kGated, {"x"}), Say(Sentence::kGated, {"y"})));
  EXPECT_FALSE(SameMessage(State(), Say(Sentence::kAdmitted), Say(Sentence::kJobFailed)));
}

}  // namespace
}  // namespace kueue
