// Numbers, time spans and amounts as text, as `kueuepy.look.numbers` writes them.
"use strict";

const kqNumbers = (() => {
  const spans = [["d", 86400], ["h", 3600], ["min", 60], ["s", 1]];

  // Given numbers, such as quotas and usage, as `exact` writes them: at most three significant digits.
  function number(value) {
    if (value === null || value === undefined || Number.isNaN(value)) return "—";
    if (!Number.isFinite(value)) return value > 0 ? "∞" : "-∞";
    const size = Math.abs(value);
    if (size && (size < 1e-3 || size >= 1e9)) return value.toPrecision(3).replace(/\.?0+(?=e|$)/, "");
    return value.toLocaleString("en-US", {maximumSignificantDigits: 3});
  }

  // The two largest units: 1 h 30 min.
  const duration = seconds => span(seconds, 2);
  // All units: 2 d 1 h 30 min 5 s.
  const precise = seconds => span(seconds, spans.length);

  function span(seconds, most) {
    if (seconds === null || seconds === undefined || Number.isNaN(seconds)) return "—";
    if (seconds < 0) return "-" + span(-seconds, most);
    if (!Number.isFinite(seconds)) return "∞";
    if (seconds < 60) return `${+seconds.toPrecision(3)} s`;
    const parts = [];
    let rest = Math.round(seconds);
    for (const [name, size] of spans) {
      const amount = Math.floor(rest / size);
      rest -= amount * size;
      if (amount) parts.push(`${amount} ${name}`);
    }
    return parts.slice(0, most).join(" ");
  }

  const count = value => value.toLocaleString("en-US");
  const counted = (value, noun) => `${count(value)} ${noun}${value === 1 ? "" : "s"}`;
  return {number, duration, precise, count, counted};
})();
