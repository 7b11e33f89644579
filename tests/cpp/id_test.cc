// An id of the wrong kind does not compile.
#include "model/id.h"

#include <gtest/gtest.h>

#include <type_traits>
#include <utility>
#include <vector>

#include "model/ids.h"
#include "state/state.h"

namespace kueue {
namespace {

template <typename Container, typename Index, typename = void>
constexpr bool kIndexes = false;
template <typename Container, typename Index>
constexpr bool
    kIndexes<Container, Index, std::void_t<decltype(std::declval<Container&>()[std::declval<Index>()])>> =
        true;

template <typename A, typename B, typename = void>
constexpr bool kCompares = false;
template <typename A, typename B>
constexpr bool kCompares<A, B, std::void_t<decltype(std::declval<A>() == std::declval<B>())>> = true;

static_assert(!std::is_convertible_v<NodeId, WorkloadId>);
static_assert(!std::is_constructible_v<NodeId, WorkloadId>);
static_assert(!std::is_assignable_v<NodeId&, WorkloadId>);
static_assert(!std::is_convertible_v<int, NodeId>);
static_assert(!std::is_convertible_v<NodeId, int>);
static_assert(!std::is_constructible_v<int, NodeId>);
static_assert(!kCompares<FlavorId, ResourceId> && !kCompares<FlavorId, int>);
static_assert(kCompares<FlavorId, FlavorId> && kCompares<FlavorId, NoId>);

static_assert(kIndexes<IdVector<FlavorId, int>, FlavorId>);
static_assert(!kIndexes<IdVector<FlavorId, int>, ResourceId> && !kIndexes<IdVector<FlavorId, int>, size_t>);
static_assert(kIndexes<decltype(State::queues), NodeId>);
static_assert(!kIndexes<decltype(State::queues), WorkloadId> && !kIndexes<decltype(State::queues), size_t>);
static_assert(!std::is_invocable_v<decltype(&State::Class), State, FlavorId>);
static_assert(!std::is_invocable_v<decltype(&Quota::Usage), Quota, FlavorResourceId, NodeId>);

// An id is passed and stored like the number.
static_assert(sizeof(NodeId) == sizeof(int32_t) && std::is_trivially_copyable_v<NodeId>);

TEST(Id, WithoutAValueItRefersToNothing) {
  EXPECT_EQ(NodeId(), kNoId);
  EXPECT_NE(NodeId(0), kNoId);
  EXPECT_FALSE((IdVector<NodeId, int>(3).Contains(kNoId)));
}

TEST(IdVector, GrowsToAnId) {
  IdVector<NodeId, int> values(1, 7);
  values.GrowTo(NodeId(2), 5);
  values.GrowTo(NodeId(0), 9);
  std::vector<std::pair<int32_t, int>> found;
  for (NodeId node : values.Ids()) found.emplace_back(node.value(), values[node]);
  EXPECT_EQ(found, (std::vector<std::pair<int32_t, int>>{{0, 7}, {1, 5}, {2, 5}}));
  EXPECT_EQ(values.NextId(), NodeId(3));
}

}  // namespace
}  // namespace kueue
