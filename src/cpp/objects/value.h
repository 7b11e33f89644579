// Values of the language that calls the core: records with named fields, and the maps, lists, texts and
// numbers of a parsed JSON or YAML text.
#ifndef KUEUE_OBJECTS_VALUE_H_
#define KUEUE_OBJECTS_VALUE_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "quantity/quantity.h"

namespace kueue {

class Value;

enum class ValueKind { kNull, kInteger, kText, kList, kMap, kOther };

// Access to the values of a language that counts the references to each value. The language's null value is
// represented by nullptr. A conversion throws an exception if the value has another type. Names and keys must
// be string literals, because an implementation may identify them by their address.
class ValueAccess {
 public:
  virtual ~ValueAccess() = default;
  virtual void AddReference(void* value) const = 0;
  virtual void RemoveReference(void* value) const = 0;
  virtual ValueKind KindOf(void* value) const = 0;
  virtual std::string TypeName(void* value) const = 0;
  virtual Value Field(void* record, const char* name) const = 0;
  virtual Value Get(void* map, const char* key) const = 0;
  virtual std::vector<Value> Items(void* list) const = 0;
  virtual std::vector<std::pair<Value, Value>> Entries(void* map) const = 0;
  virtual std::string Text(void* text) const = 0;
  virtual std::string Printed(void* value) const = 0;
  virtual std::string Json(void* value) const = 0;
  virtual int64_t Integer(void* value) const = 0;
  virtual double Number(void* value) const = 0;
  virtual bool Bool(void* value) const = 0;
  virtual const Quantity* AsQuantity(void* value) const = 0;
};

// A reference to a value. A Value is false if it is null. A default-constructed Value is null and supports no
// other operation.
class Value {
 public:
  Value() = default;
  // Takes over one reference to `value`.
  Value(const ValueAccess* access, void* value) : access_(access), value_(value) {}
  Value(const Value& other) : Value(other.access_, other.value_) {
    if (value_ != nullptr) access_->AddReference(value_);
  }
  Value(Value&& other) noexcept : Value(other.access_, std::exchange(other.value_, nullptr)) {}
  Value& operator=(Value other) noexcept {
    std::swap(access_, other.access_);
    std::swap(value_, other.value_);
    return *this;
  }
  ~Value() {
    if (value_ != nullptr) access_->RemoveReference(value_);
  }

  explicit operator bool() const { return value_ != nullptr; }
  ValueKind kind() const { return value_ == nullptr ? ValueKind::kNull : access_->KindOf(value_); }
  std::string TypeName() const { return access_->TypeName(value_); }
  // Returns a field of a record, which must exist.
  Value Field(const char* name) const { return access_->Field(value_, name); }
  // Returns the value of a key of a map; null if the key is absent.
  Value Get(const char* key) const { return access_->Get(value_, key); }
  std::vector<Value> Items() const { return access_->Items(value_); }
  std::vector<std::pair<Value, Value>> Entries() const { return access_->Entries(value_); }
  // Returns a text, or an empty string for null.
  std::string Text() const { return value_ == nullptr ? std::string() : access_->Text(value_); }
  // Returns the text form of any value.
  std::string Printed() const { return access_->Printed(value_); }
  std::string Json() const { return access_->Json(value_); }
  int64_t Integer() const { return access_->Integer(value_); }
  double Number() const { return access_->Number(value_); }
  bool Bool() const { return access_->Bool(value_); }
  // Returns null if the value is not a Quantity.
  const Quantity* AsQuantity() const { return access_->AsQuantity(value_); }

 private:
  const ValueAccess* access_ = nullptr;
  void* value_ = nullptr;
};

}  // namespace kueue

#endif  // KUEUE_OBJECTS_VALUE_H_
