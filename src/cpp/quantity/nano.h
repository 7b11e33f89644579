// Amounts in units of 10^-9.
#ifndef KUEUE_QUANTITY_NANO_H_
#define KUEUE_QUANTITY_NANO_H_

#include <string>

#include "quantity/amount.h"
#include "quantity/quantity.h"

namespace kueue {

// Converts to units of 10^-9, saturating at the range of Int128.
Int128 NanoOf(const Quantity& quantity);
// Formats an amount in units of 10^-9 as a decimal number with nine decimal places.
std::string NanoDecimalText(Int128 nano);
// Formats an amount in units of 10^-9 as a quantity.
std::string NanoQuantityText(Int128 nano);

}  // namespace kueue

#endif  // KUEUE_QUANTITY_NANO_H_
