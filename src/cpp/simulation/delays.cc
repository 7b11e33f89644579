#include "simulation/delays.h"

namespace kueue {

size_t Draws::Place(int32_t row, int32_t run) const {
  uint64_t mixed = static_cast<uint64_t>(static_cast<uint32_t>(row)) << 32 | static_cast<uint32_t>(run);
  mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9;
  mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111eb;
  mixed ^= mixed >> 31;
  return static_cast<size_t>(mixed % values_.size());
}

}  // namespace kueue
