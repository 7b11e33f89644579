// Quota and usage on the forest: what bubbles up, what is lent, what a trial leaves behind.
#include "quota/quota.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace kueue {
namespace {

constexpr FlavorResourceId kFlavorResource(0);

// top (5) over left (0) and right (0); two queues below left, one below right.
class QuotaTest : public testing::Test {
 protected:
  QuotaTest() {
    top_ = Cohort("top", kNoId);
    left_ = Cohort("left", top_);
    right_ = Cohort("right", top_);
    lender_ = Queue("lender", left_);
    borrower_ = Queue("borrower", left_);
    far_ = Queue("far", right_);
    quota_.Resize(1);
    quota_.SetQuota(top_, kFlavorResource, Amount(5), Amount::Unlimited(), Amount::Unlimited());
    quota_.SetQuota(lender_, kFlavorResource, Amount(10), Amount::Unlimited(), Amount(4));
    quota_.SetQuota(borrower_, kFlavorResource, Amount(2), Amount(3), Amount::Unlimited());
    quota_.SetQuota(far_, kFlavorResource, Amount(1), Amount::Unlimited(), Amount::Unlimited());
    Rebuild();
  }
  NodeId Cohort(const char* name, NodeId parent) {
    return Declare(quota_.forest().InternCohort(name), parent);
  }
  NodeId Queue(const char* name, NodeId parent) {
    return Declare(quota_.forest().InternClusterQueue(name), parent);
  }
  NodeId Declare(NodeId node, NodeId parent) {
    quota_.forest().SetDeclared(node, true);
    quota_.forest().SetActive(node, true);
    quota_.forest().SetParent(node, parent);
    return node;
  }
  void Rebuild() {
    quota_.forest().Rebuild();
    quota_.forest().RebuildHeights();
    quota_.Rebuild(quota_.forest().NodesOf({}));
  }
  int64_t Used(NodeId node) const { return quota_.Usage(node, kFlavorResource).value(); }
  int64_t Free(NodeId node) const { return quota_.Available(node, kFlavorResource).value(); }
  std::vector<int64_t> AllUsed() const {
    std::vector<int64_t> used;
    for (NodeId node : quota_.forest().Nodes()) used.push_back(Used(node));
    return used;
  }

  Quota quota_;
  NodeId top_, left_, right_, lender_, borrower_, far_;
};

TEST_F(QuotaTest, SubtreesSumLentQuota) {
  EXPECT_EQ(quota_.limits().local(lender_, kFlavorResource), Amount(6));
  EXPECT_EQ(quota_.limits().subtree(left_, kFlavorResource), Amount(4 + 2));
  EXPECT_EQ(quota_.limits().subtree(top_, kFlavorResource), Amount(5 + 6 + 1));
  EXPECT_EQ(quota_.limits().potential(lender_, kFlavorResource), Amount(6 + 12));
  EXPECT_EQ(quota_.limits().potential(borrower_, kFlavorResource), Amount(2 + 3));
  EXPECT_TRUE(quota_.limits().defined(top_, kFlavorResource));
}

TEST_F(QuotaTest, UsageBubblesUpBeyondTheLocalQuota) {
  quota_.Add(lender_, kFlavorResource, Amount(6));
  EXPECT_EQ(Used(left_), 0);
  quota_.Add(lender_, kFlavorResource, Amount(3));
  EXPECT_EQ(Used(left_), 3);
  EXPECT_EQ(Used(top_), 3);
  quota_.Remove(lender_, kFlavorResource, Amount(8));
  EXPECT_EQ(Used(lender_), 1);
  EXPECT_EQ(Used(left_), 0);
  EXPECT_EQ(Used(top_), 0);
}

TEST_F(QuotaTest, AvailableIsBoundByTheBorrowingLimitAndByOthers) {
  EXPECT_EQ(Free(borrower_), 5);
  quota_.Add(far_, kFlavorResource, Amount(10));
  EXPECT_EQ(Free(borrower_), 2);
  EXPECT_EQ(Free(lender_), 6 + 2);
  quota_.Add(far_, kFlavorResource, Amount(7));  // over-admitted
  EXPECT_EQ(quota_.RawAvailable(far_, kFlavorResource), Amount(-5));
  EXPECT_EQ(Free(far_), 0);
  EXPECT_EQ(Free(lender_), 6 - 5);  // the debt counts against everyone below the root
}

TEST_F(QuotaTest, AddedAndRemovedUsageLeavesNoTrace) {
  const std::vector<NodeId> queues = {lender_, borrower_, far_};
  const std::vector<int64_t> empty = AllUsed();
  for (const int64_t first : {0, 1, 5, 6, 7, 40}) {
    for (const int64_t second : {1, 4, 9}) {
      for (const NodeId a : queues) {
        for (const NodeId b : queues) {
          quota_.Add(a, kFlavorResource, Amount(first));
          const std::vector<int64_t> between = AllUsed();
          quota_.Add(b, kFlavorResource, Amount(second));
          quota_.Remove(b, kFlavorResource, Amount(second));
          EXPECT_EQ(AllUsed(), between);
          quota_.Remove(a, kFlavorResource, Amount(first));
          EXPECT_EQ(AllUsed(), empty);
        }
      }
    }
  }
}

TEST_F(QuotaTest, ARebuildFindsTheSameUsage) {
  quota_.Add(lender_, kFlavorResource, Amount(9));
  quota_.Add(borrower_, kFlavorResource, Amount(4));
  quota_.Add(far_, kFlavorResource, Amount(2));
  const std::vector<int64_t> bubbled = AllUsed();
  quota_.Rebuild(quota_.forest().NodesOf({}));
  EXPECT_EQ(AllUsed(), bubbled);
}

TEST_F(QuotaTest, TrialsNestAndAreUndone) {
  quota_.Add(borrower_, kFlavorResource, Amount(1));
  const std::vector<int64_t> before = AllUsed();
  const size_t outer = quota_.Mark(top_);
  quota_.Remove(borrower_, kFlavorResource, Amount(1));
  const std::vector<int64_t> within = AllUsed();
  const size_t inner = quota_.Mark(top_);
  quota_.Add(far_, kFlavorResource, Amount(100));
  quota_.Add(lender_, kFlavorResource, Amount(7));
  EXPECT_NE(AllUsed(), within);
  quota_.Rollback(inner, top_);
  EXPECT_EQ(AllUsed(), within);
  quota_.Rollback(outer, top_);
  EXPECT_EQ(AllUsed(), before);
  quota_.Add(borrower_, kFlavorResource, Amount(3));  // outside of a trial: stays
  EXPECT_EQ(Used(top_), 4);
}

TEST_F(QuotaTest, TheBorrowingLevelIsTheLowestSubtreeThatFits) {
  const auto height = [this](NodeId queue, int64_t amount) {
    return LowestSubtreeThatFits(quota_, queue, kFlavorResource, Amount(amount));
  };
  EXPECT_EQ(height(borrower_, 2).height, 0);
  EXPECT_EQ(height(borrower_, 5).height, 1);
  EXPECT_TRUE(height(borrower_, 5).smaller_than_tree);
  EXPECT_EQ(height(far_, 10).height, 2);
  EXPECT_FALSE(height(far_, 10).smaller_than_tree);
}

TEST_F(QuotaTest, UnlimitedQuotaNeverRunsOut) {
  quota_.SetQuota(top_, kFlavorResource, Amount::Unlimited(), Amount::Unlimited(), Amount::Unlimited());
  Rebuild();
  quota_.Add(far_, kFlavorResource, Amount(9'000'000'000'000'000'000));
  EXPECT_TRUE(quota_.Available(far_, kFlavorResource).IsUnlimited());
  EXPECT_EQ(Free(borrower_), 5);  // its borrowing limit holds all the same
}

TEST_F(QuotaTest, NothingBubblesThroughACycle) {
  quota_.forest().SetParent(top_, left_);
  Rebuild();
  quota_.Add(lender_, kFlavorResource, Amount(50));
  EXPECT_EQ(Used(lender_), 50);
  EXPECT_EQ(Used(left_), 0);
  quota_.Remove(lender_, kFlavorResource, Amount(50));
  EXPECT_EQ(Used(lender_), 0);
}

}  // namespace
}  // namespace kueue
