// The sentences that Kueue writes into conditions, word for word; those that name flavors, queues or places
// of a state are in text/text.h.
#ifndef KUEUE_TEXT_SENTENCES_H_
#define KUEUE_TEXT_SENTENCES_H_

#include <string>

#include "model/message.h"
#include "model/workload.h"

namespace kueue {

std::string Render(const Said& said);
// What a check says that an eviction has set back to Pending.
std::string ResetCheckText(CheckState before);

}  // namespace kueue

#endif  // KUEUE_TEXT_SENTENCES_H_
