// Tests of the readers of API objects, on values in C++.
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <variant>

#include "objects/fields.h"
#include "objects/pod_template.h"
#include "objects/queues.h"
#include "objects/value.h"

namespace kueue {
namespace {

struct TestNode;
using Ref = std::shared_ptr<const TestNode>;
using List = std::vector<Ref>;
using Map = std::map<std::string, Ref>;
struct TestNode {
  std::variant<std::monostate, int64_t, std::string, List, Map> value;
};

template <typename T>
Ref Of(T value) {
  return std::make_shared<const TestNode>(TestNode{std::move(value)});
}
Ref Of(const char* text) { return Of(std::string(text)); }
Ref Of(int number) { return Of(int64_t{number}); }

int references = 0;

// The values live as long as a test, so that only the number of references is counted.
class NodeAccess : public ValueAccess {
 public:
  static Value Make(const Ref& node);

  void AddReference(void*) const override { ++references; }
  void RemoveReference(void*) const override { --references; }
  ValueKind KindOf(void* value) const override {
    static constexpr ValueKind kKinds[] = {ValueKind::kNull, ValueKind::kInteger, ValueKind::kText,
                                           ValueKind::kList, ValueKind::kMap};
    return kKinds[At(value).value.index()];
  }
  std::string TypeName(void*) const override { return "Node"; }
  Value Field(void* record, const char* name) const override { return Get(record, name); }
  Value Get(void* map, const char* key) const override {
    const Map& items = std::get<Map>(At(map).value);
    const auto found = items.find(key);
    return found == items.end() ? Value(this, nullptr) : Make(found->second);
  }
  std::vector<Value> Items(void* list) const override {
    std::vector<Value> items;
    if (list == nullptr) return items;
    for (const Ref& item : std::get<List>(At(list).value)) items.push_back(Make(item));
    return items;
  }
  std::vector<std::pair<Value, Value>> Entries(void* map) const override {
    static std::map<std::string, Ref> keys;
    std::vector<std::pair<Value, Value>> entries;
    for (const auto& [key, value] : std::get<Map>(At(map).value)) {
      entries.emplace_back(Make(keys.emplace(key, Of(key)).first->second), Make(value));
    }
    return entries;
  }
  std::string Text(void* text) const override { return std::get<std::string>(At(text).value); }
  std::string Printed(void* value) const override {
    const TestNode& node = At(value);
    const auto* const number = std::get_if<int64_t>(&node.value);
    return number != nullptr ? std::to_string(*number) : std::get<std::string>(node.value);
  }
  std::string Json(void*) const override { return "[]"; }
  int64_t Integer(void* value) const override { return std::get<int64_t>(At(value).value); }
  double Number(void* value) const override { return static_cast<double>(Integer(value)); }
  bool Bool(void* value) const override { return Integer(value) != 0; }
  const Quantity* AsQuantity(void*) const override { return nullptr; }

 private:
  static const TestNode& At(void* value) { return *static_cast<const TestNode*>(value); }
};

const NodeAccess kAccess;

Value NodeAccess::Make(const Ref& node) {
  if (std::holds_alternative<std::monostate>(node->value)) return Value(&kAccess, nullptr);
  ++references;
  return Value(&kAccess, const_cast<TestNode*>(node.get()));
}

Ref Pod(Map container) {
  return Of(Map{{"spec", Of(Map{{"containers", Of(List{Of(std::move(container))})}})}});
}
Ref Requesting(Map requests) { return Pod({{"resources", Of(Map{{"requests", Of(std::move(requests))}})}}); }
std::string ErrorOf(const Ref& pod) {
  try {
    ReadPodTemplate(NodeAccess::Make(pod), "template");
  } catch (const StatusError& error) {
    EXPECT_EQ(error.code(), absl::StatusCode::kInvalidArgument);
    return error.what();
  }
  return "none";
}

TEST(Objects, APodTemplateHasItsRequests) {
  const Ref pod = Requesting({{"cpu", Of("500m")}, {"nvidia.com/gpu", Of(2)}});
  const PodTemplate read = ReadPodTemplate(NodeAccess::Make(pod), "template");
  ASSERT_EQ(read.containers.size(), 1U);
  EXPECT_EQ(read.containers[0].requests.at("cpu").ToText(), "500m");
  EXPECT_EQ(read.containers[0].requests.at("nvidia.com/gpu").ToText(), "2");
}

TEST(Objects, EveryReferenceIsReturned) {
  const int before = references;
  ErrorOf(Requesting({{"cpu", Of("1")}, {"memory", Of("wrong")}}));
  ReadPodTemplate(NodeAccess::Make(Requesting({{"cpu", Of("1")}})), "template");
  EXPECT_EQ(references, before);
}

TEST(Objects, AnErrorHasThePathOfTheValue) {
  EXPECT_EQ(ErrorOf(Of("text")), "template: it must be an object");
  EXPECT_EQ(ErrorOf(Pod({{"resources", Of(3)}})),
            "template.spec.containers[0].resources: it must be an object");
  EXPECT_EQ(
      ErrorOf(Requesting({{"cpu", Of(List{})}})),
      "template.spec.containers[0].resources.requests.cpu: it must be a quantity: a string or an integer");
}

TEST(Objects, APortHasTheDefaultProtocolUnlessItNamesOne) {
  const auto shape = [](Map port) {
    const Ref pod = Pod({{"ports", Of(List{Of(std::move(port))})}});
    return ReadPodTemplate(NodeAccess::Make(pod), "template").shape;
  };
  EXPECT_EQ(shape({{"containerPort", Of(80)}}), shape({{"containerPort", Of(80)}, {"protocol", Of("TCP")}}));
  EXPECT_NE(shape({{"containerPort", Of(80)}}), shape({{"containerPort", Of(80)}, {"protocol", Of("UDP")}}));
}

TEST(Objects, TheCanonicalFormDistinguishesTextsFromNumbersAndIgnoresEmptyFields) {
  const auto form = [](const Ref& node) { return CanonicalForm(NodeAccess::Make(node)); };
  EXPECT_NE(form(Of("1")), form(Of(1)));
  const Ref bare = Of(Map{{"a", Of(1)}});
  EXPECT_EQ(form(bare), form(Of(Map{{"a", Of(1)}, {"b", Of("")}, {"c", Of(List{})}})));
  EXPECT_NE(form(bare), form(Of(Map{{"a", Of(1)}, {"b", Of(0)}})));
}

TEST(Objects, AnIntegerOf32BitsIsInRange) {
  EXPECT_EQ(Integer32(NodeAccess::Make(Of(7)), "weight"), 7);
  EXPECT_THROW(Integer32(NodeAccess::Make(Of(int64_t{1} << 31)), "weight"), StatusError);
}

}  // namespace
}  // namespace kueue
