// Scans of the text of a manifest.
#include "manifest/marks.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace kueue {
namespace {

using Found = std::pair<std::vector<size_t>, std::optional<size_t>>;

TEST(HasControls, FindsAControlCharacterAtEachPlace) {
  const std::string plain((1 << 16) + 2, 'a');
  EXPECT_FALSE(HasControls(""));
  EXPECT_FALSE(HasControls(plain + "\t\r\n"));
  for (size_t place : {size_t{0}, size_t{1 << 16} - 1, size_t{1 << 16}, plain.size() - 1}) {
    for (char control : {'\0', '\x1f', '\x7f'}) {
      std::string text = plain;
      text[place] = control;
      EXPECT_TRUE(HasControls(text)) << place;
    }
  }
}

TEST(Marks, AreLinesOfSeparatorsAndTheFirstDirective) {
  EXPECT_EQ(Marks(""), Found());
  EXPECT_EQ(Marks("a: 1\n--- # b\n---c\n ---\n...\n--"), (Found{{5, 23}, std::nullopt}));
  EXPECT_EQ(Marks("---\n%YAML 1.2\n%TAG\n---"), (Found{{0, 19}, 4}));
}

}  // namespace
}  // namespace kueue
