// Copy-on-write containers: copies share their contents until one copy is changed.
#ifndef KUEUE_MODEL_PAGED_H_
#define KUEUE_MODEL_PAGED_H_

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <new>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/base/attributes.h"
#include "absl/base/optimization.h"
#include "model/id.h"

namespace kueue {

// A copy-on-write value: copies of the object share the value until one copy changes it. Different threads
// may use different copies, but only one thread at a time may use the same copy.
template <typename T>
class Shared {
 public:
  Shared() : block_(new Block) {}
  explicit Shared(T value) : block_(new Block{std::move(value)}) {}
  Shared(const Shared& other) : block_(other.block_) {
    block_->users.fetch_add(1, std::memory_order_relaxed);
  }
  Shared(Shared&& other) noexcept : block_(std::exchange(other.block_, nullptr)) {}
  Shared& operator=(Shared other) noexcept {
    std::swap(block_, other.block_);
    return *this;
  }
  ~Shared() { Leave(block_); }

  const T& operator*() const { return block_->value; }
  const T* operator->() const { return &block_->value; }
  bool IsEmpty() const { return block_ == nullptr; }  // Moved from.

  // Returns the value for changes; first copies the value if another copy of this object shares it.
  // References obtained before the call may refer to the old value afterwards.
  T& Edit() {
    if (block_->users.load(std::memory_order_acquire) > 1) {
      auto* own = new Block{block_->value};
      Leave(std::exchange(block_, own));
    }
    return block_->value;
  }

 private:
  struct Block {
    T value{};
    std::atomic<int32_t> users{1};
  };
  static void Leave(Block* block) {
    if (block != nullptr && block->users.fetch_sub(1, std::memory_order_acq_rel) == 1) delete block;
  }
  Block* block_;
};

// A sequence like std::vector that stores its elements in pages of `kPerPage` elements. Copies of a sequence
// share their pages. Non-const access to an element first copies the page of the element if another sequence
// shares the page. When a page is copied, references that were obtained from a const sequence may still refer
// to the old page. A reference stays valid when the sequence grows. With `kDirect`, the sequence stores the
// address of each element, so that access needs no arithmetic. `Index` is the type of the indexes: size_t or
// an id (model/ids.h).
template <typename T, size_t kPerPage, bool kDirect = true, typename Index = size_t>
class Paged {
  static_assert((kPerPage & (kPerPage - 1)) == 0, "must be a power of two");

 public:
  using value_type = T;

  Paged() = default;
  explicit Paged(size_t size) { resize(size); }
  Paged(const Paged& other) : pages_(other.pages_), size_(other.size_), may_share_(!other.pages_.empty()) {
    if (kDirect) items_.reserve(other.items_.size() + kPerPage);
    items_ = other.items_;
    if (!pages_.empty()) other.may_share_.store(true, std::memory_order_relaxed);
    for (Page* page : pages_) page->users.fetch_add(1, std::memory_order_relaxed);
  }
  Paged(Paged&& other) noexcept { swap(other); }
  Paged& operator=(const Paged& other) {
    Paged copy(other);
    swap(copy);
    return *this;
  }
  Paged& operator=(Paged&& other) noexcept {
    Paged taken(std::move(other));
    swap(taken);
    return *this;
  }
  ~Paged() { clear(); }
  void swap(Paged& other) noexcept {
    items_.swap(other.items_);
    pages_.swap(other.pages_);
    std::swap(size_, other.size_);
    std::swap(checks_, other.checks_);
    const bool may_share = may_share_.load(std::memory_order_relaxed);
    may_share_.store(other.may_share_.load(std::memory_order_relaxed), std::memory_order_relaxed);
    other.may_share_.store(may_share, std::memory_order_relaxed);
  }

  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  // Returns whether another sequence may share pages with this one.
  bool MayShare() const { return may_share_.load(std::memory_order_relaxed); }
  IdRange<Index> Ids() const { return IdRange<Index>(size_); }
  Index NextId() const { return Index(size_); }
  bool Contains(Index index) const { return IndexOf(index) < size_; }
  const T& operator[](Index index) const { return *Address(IndexOf(index)); }
  ABSL_ATTRIBUTE_ALWAYS_INLINE T& operator[](Index index) { return Item(IndexOf(index)); }
  const T& back() const { return *Address(size_ - 1); }
  T& back() { return Item(size_ - 1); }

  void reserve(size_t size) {
    if (kDirect) items_.reserve(size);
  }
  T& emplace_back() {
    Grow(size_ + 1);
    return back();
  }
  void push_back(T value) { emplace_back() = std::move(value); }
  void pop_back() {
    T& last = back();
    last.~T();
    new (&last) T();
    --size_;
    if (kDirect) items_.pop_back();
    if (pages_.size() * kPerPage >= size_ + 2 * kPerPage) Drop();  // Keeps one page.
  }
  // New elements have their default value.
  void resize(size_t size) {
    while (size_ > size) pop_back();
    while (size_ < size) Grow(std::min(size, size_ + kPerPage));
  }
  // Grows the sequence, if needed, until it has an element for the index.
  void GrowTo(Index index) {
    if (!Contains(index)) resize(IndexOf(index) + 1);
  }
  void clear() {
    while (!pages_.empty()) Drop();
    items_.clear();
    size_ = 0;
  }

  template <typename Sequence, typename Element>
  class Iterator {
   public:
    using iterator_category = std::forward_iterator_tag;
    using value_type = T;
    using difference_type = std::ptrdiff_t;
    using pointer = Element*;
    using reference = Element&;

    Iterator(Sequence* sequence, size_t index) : sequence_(sequence), index_(index) {}
    Element& operator*() const { return sequence_->Item(index_); }
    Element* operator->() const { return &sequence_->Item(index_); }
    Iterator& operator++() {
      ++index_;
      return *this;
    }
    bool operator==(const Iterator& other) const { return index_ == other.index_; }
    bool operator!=(const Iterator& other) const { return index_ != other.index_; }

   private:
    Sequence* sequence_;
    size_t index_;
  };
  using const_iterator = Iterator<const Paged, const T>;
  using iterator = Iterator<Paged, T>;
  const_iterator begin() const { return {this, 0}; }
  const_iterator end() const { return {this, size()}; }
  iterator begin() { return {this, 0}; }
  iterator end() { return {this, size()}; }

 private:
  struct Page {
    Page() = default;
    explicit Page(const std::array<T, kPerPage>& copied) : items(copied) {}
    std::atomic<int32_t> users{1};
    std::array<T, kPerPage> items{};
  };
  static void Leave(Page* page) {
    if (page->users.fetch_sub(1, std::memory_order_acq_rel) == 1) delete page;
  }
  void Drop() {
    Leave(pages_.back());
    pages_.pop_back();
  }
  const T& Item(size_t place) const { return *Address(place); }
  ABSL_ATTRIBUTE_ALWAYS_INLINE T& Item(size_t place) {
    if (ABSL_PREDICT_FALSE(may_share_.load(std::memory_order_relaxed))) Own(place);
    return *Address(place);
  }
  T* InPage(size_t index) const { return &pages_[index / kPerPage]->items[index % kPerPage]; }
  T* Address(size_t index) const {
    if constexpr (kDirect) {
      return items_[index];
    } else {
      return InPage(index);
    }
  }
  // Adds at most `kPerPage` elements.
  void Grow(size_t size) {
    if (size > pages_.size() * kPerPage) pages_.push_back(new Page);
    for (size_t index = size_; kDirect && index < size; ++index) items_.push_back(InPage(index));
    size_ = size;
  }
  // Copies the page of an element if another sequence shares the page. After many calls, Own() copies all
  // shared pages, so that later accesses need no check.
  ABSL_ATTRIBUTE_NOINLINE ABSL_ATTRIBUTE_COLD void Own(size_t index) {
    if (ABSL_PREDICT_TRUE(++checks_ < kManyChecks * size_)) {
      if (IsShared(index / kPerPage)) CopyPage(index / kPerPage);
      return;
    }
    checks_ = 0;
    for (size_t place = 0; place < pages_.size(); ++place) {
      if (IsShared(place)) CopyPage(place);
    }
    may_share_.store(false, std::memory_order_relaxed);
  }
  bool IsShared(size_t place) const { return pages_[place]->users.load(std::memory_order_acquire) != 1; }
  ABSL_ATTRIBUTE_NOINLINE void CopyPage(size_t place) {
    Page*& page = pages_[place];
    auto* own = new Page(page->items);
    Leave(std::exchange(page, own));
    if (!kDirect) return;
    const size_t first = place * kPerPage, end = std::min(first + kPerPage, size_);
    for (size_t at = first; at < end; ++at) items_[at] = &own->items[at - first];
  }

  std::vector<T*> items_;  // With `kDirect`: the address of each element.
  std::vector<Page*> pages_;
  size_t size_ = 0;
  static constexpr size_t kManyChecks = 16;  // For each element.
  size_t checks_ = 0;
  // Whether a copy of the sequence exists or existed, so that pages might be shared with the copy. Threads
  // that copy the sequence set this flag; apart from that, copying only reads the sequence.
  mutable std::atomic<bool> may_share_{false};
};

}  // namespace kueue

#endif  // KUEUE_MODEL_PAGED_H_
