// Fixed sentences of Kueue's conditions, word for word. Sentences that refer to flavors, queues or domains of
// a state are in text/text.h.
#ifndef KUEUE_TEXT_SENTENCES_H_
#define KUEUE_TEXT_SENTENCES_H_

#include <string>

#include "model/message.h"
#include "model/workload.h"

namespace kueue {

std::string Render(const Said& said);
// Returns the message of an admission check that an eviction reset to Pending.
std::string ResetCheckText(CheckState before);

}  // namespace kueue

#endif  // KUEUE_TEXT_SENTENCES_H_
