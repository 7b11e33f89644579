// Typed ids, and vectors that they index. As in OR-tools' StrongInt and StrongVector, the kind of an id is a
// template argument, so that an id of another kind does not compile.
#ifndef KUEUE_MODEL_ID_H_
#define KUEUE_MODEL_ID_H_

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <type_traits>
#include <utility>
#include <vector>

namespace kueue {

// Refers to no object. Converts into an id of any kind, and into a plain index, which is then -1.
struct NoId {
  constexpr operator int32_t() const { return -1; }  // NOLINT(google-explicit-constructor)
};
inline constexpr NoId kNoId;

// An id of one kind of object: the index of the object in the tables of its kind. Ids of different kinds do
// not convert into each other, and an id does not convert into a number. A default-constructed id is kNoId.
template <typename Tag>
class Id {
 public:
  constexpr Id() = default;
  constexpr Id(NoId) {}  // NOLINT(google-explicit-constructor)
  template <typename Number, std::enable_if_t<std::is_integral_v<Number>, int> = 0>
  constexpr explicit Id(Number value) : value_(static_cast<int32_t>(value)) {}

  constexpr int32_t value() const { return value_; }
  constexpr size_t index() const { return static_cast<size_t>(value_); }

  friend constexpr bool operator==(Id a, Id b) { return a.value_ == b.value_; }
  friend constexpr bool operator!=(Id a, Id b) { return a.value_ != b.value_; }
  friend constexpr bool operator<(Id a, Id b) { return a.value_ < b.value_; }
  template <typename Hash>
  friend Hash AbslHashValue(Hash hash, Id id) {
    return Hash::combine(std::move(hash), id.value_);
  }

 private:
  int32_t value_ = -1;
};

// Returns the index that an id stands for. The reasons of conditions, an enumeration to which a state adds
// values, are ids, too.
template <typename IdT>
constexpr size_t IndexOf(IdT id) {
  if constexpr (std::is_class_v<IdT>) {
    return id.index();
  } else {
    return static_cast<size_t>(id);
  }
}

// Consecutive ids of a kind: those less than `end`, or those from `begin` on and less than `end`.
template <typename IdT>
class IdRange {
 public:
  class Iterator {
   public:
    explicit Iterator(int32_t value) : value_(value) {}
    IdT operator*() const { return IdT(value_); }
    Iterator& operator++() {
      ++value_;
      return *this;
    }
    bool operator!=(Iterator other) const { return value_ != other.value_; }

   private:
    int32_t value_;
  };
  explicit IdRange(size_t end) : IdRange(0, end) {}
  IdRange(size_t begin, size_t end) : begin_(static_cast<int32_t>(begin)), end_(static_cast<int32_t>(end)) {}
  Iterator begin() const { return begin_; }
  Iterator end() const { return end_; }

 private:
  Iterator begin_, end_;
};

// A vector that is indexed by the ids of one kind.
template <typename IdT, typename T>
class IdVector : private std::vector<T> {
  using Base = std::vector<T>;

 public:
  using Base::assign, Base::back, Base::begin, Base::clear, Base::emplace_back, Base::empty, Base::end,
      Base::pop_back, Base::push_back, Base::reserve, Base::resize, Base::size;
  using typename Base::value_type;
  IdVector() = default;
  explicit IdVector(size_t count, const T& value = T()) : Base(count, value) {}
  IdVector(std::initializer_list<T> values) : Base(values) {}
  void swap(IdVector& other) noexcept { Base::swap(other); }

  decltype(auto) operator[](IdT id) { return Base::operator[](IndexOf(id)); }
  decltype(auto) operator[](IdT id) const { return Base::operator[](IndexOf(id)); }
  // Returns whether the vector has an element for the id. kNoId has no element.
  bool Contains(IdT id) const { return IndexOf(id) < size(); }
  // Grows the vector, if needed, until it has an element for the id. New elements are copies of `value`.
  void GrowTo(IdT id, const T& value) {
    if (!Contains(id)) resize(IndexOf(id) + 1, value);
  }
  void GrowTo(IdT id) {
    if (!Contains(id)) resize(IndexOf(id) + 1);
  }
  IdRange<IdT> Ids() const { return IdRange<IdT>(size()); }
  // Returns the id of the element that is added next.
  IdT NextId() const { return IdT(size()); }

  Base& items() { return *this; }
  const Base& items() const { return *this; }
};

}  // namespace kueue

#endif  // KUEUE_MODEL_ID_H_
