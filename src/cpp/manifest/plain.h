// Rules for the scalars of YAML and JSON.
#ifndef KUEUE_MANIFEST_PLAIN_H_
#define KUEUE_MANIFEST_PLAIN_H_

#include <cstddef>
#include <string>

#include "absl/strings/string_view.h"

namespace kueue {

// Meaning of a plain YAML scalar that is not a string (kueuepy/manifest/text/scalars.py:WORDS).
enum class PlainWord { kNone, kTrue, kFalse, kNull };
PlainWord WordOf(absl::string_view text);  // The text must not be empty.

bool StartsNumber(char c);
// Returns whether a text that starts like a number may be a number in any notation.
bool MayBeNumber(absl::string_view text);
// Returns true if the text is a decimal integer that fits in int64 and has no leading zeros; a minus sign is
// allowed.
bool IsSimpleInteger(absl::string_view text);

bool IsAscii(absl::string_view text);
// Returns whether the text contains characters that break lines in YAML or are not allowed in it: U+0080 to
// U+009F, U+2028, U+2029, U+FEFF, U+FFFE, U+FFFF.
bool HasUnsupportedCharacters(absl::string_view text);

// Returns whether a plain scalar cannot start with this character, or the exact parser must be used.
bool BeginsNoText(char c);
// Removes trailing blanks, but keeps the first `kept` characters.
void DropBlanks(std::string* text, size_t kept);
// Returns whether a line that starts with this character may be `---` or `...`. Such a line ends a document
// even within quotes.
bool MayBeMark(char first);
// Appends the folded form of a number of line breaks.
void AppendBreaks(std::string* text, size_t breaks);
// Appends a code point of at most 16 bits.
void AppendUtf8(std::string* text, unsigned code);

}  // namespace kueue

#endif  // KUEUE_MANIFEST_PLAIN_H_
