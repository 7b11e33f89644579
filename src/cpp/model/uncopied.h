// A value that copies of its owner do not take over.
#ifndef KUEUE_MODEL_UNCOPIED_H_
#define KUEUE_MODEL_UNCOPIED_H_

namespace kueue {

// A copy contains an empty value, so the owner of a cache needs no copy operations of its own: states are
// copied often, few copies are used for long, and recomputing the values that are needed is cheaper than
// copying all of them.
template <typename T>
class Uncopied {
 public:
  Uncopied() = default;
  Uncopied(const Uncopied&) {}
  Uncopied(Uncopied&&) = default;
  Uncopied& operator=(const Uncopied&) {
    value_ = T();
    return *this;
  }
  Uncopied& operator=(Uncopied&&) = default;

  T& operator*() { return value_; }
  const T& operator*() const { return value_; }
  T* operator->() { return &value_; }
  const T* operator->() const { return &value_; }

 private:
  T value_;
};

}  // namespace kueue

#endif  // KUEUE_MODEL_UNCOPIED_H_
