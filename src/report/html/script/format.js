// Formats numbers for people, with the same texts as src/support/human.cpp. Missing numbers (null in JSON) read "–".

const kNone = "–";

const isNumber = (value) => typeof value === "number" && Number.isFinite(value);

/** Three significant digits without an exponent, for values that round to less than 1000. */
function threeDigits(value) {
  if (value < 9.995) return value.toFixed(2);
  if (value < 99.95) return value.toFixed(1);
  return value.toFixed(0);
}

function humanSeconds(seconds) {
  if (!isNumber(seconds)) return kNone;
  if (seconds < 0) return "-" + humanSeconds(-seconds);
  if (seconds === 0) return "0 s";
  if (seconds < 999.5e-9) return threeDigits(seconds * 1e9) + " ns";
  if (seconds < 999.5e-6) return threeDigits(seconds * 1e6) + " µs";
  if (seconds < 999.5e-3) return threeDigits(seconds * 1e3) + " ms";
  if (seconds < 59.95) return threeDigits(seconds) + " s";
  if (seconds < 3599.5) {
    const whole = Math.round(seconds);
    return `${Math.floor(whole / 60)} min ${whole % 60} s`;
  }
  if (seconds < 47.95 * 3600) return threeDigits(seconds / 3600) + " h";
  const days = seconds / 86400;
  if (days < 999.5) return threeDigits(days) + " days";
  return (days < 1e9 ? humanCount(Number(days.toPrecision(3))) : withDigits(days)) + " days";
}

/** The value in the largest of `units`, each 1000 of the one before, that it has one of. */
function inThousands(value, units, text) {
  if (!isNumber(value)) return kNone;
  let unit = 0;
  for (; value >= 999.5 && unit + 1 < units.length; ++unit) value /= 1000;
  return `${text(value, unit)} ${units[unit]}`;
}

function humanBytes(bytes) {
  if (bytes < 0) return "-" + humanBytes(-bytes);
  return inThousands(bytes, ["B", "kB", "MB", "GB", "TB", "PB"], (value, unit) =>
    unit === 0 && Number.isInteger(value) ? value.toFixed(0) : threeDigits(value),
  );
}

/** "50 Mbit/s" */
const humanBitRate = (bits) =>
  inThousands(bits, ["bit/s", "kbit/s", "Mbit/s", "Gbit/s", "Tbit/s"], (value) => withDigits(value));

function humanEnergy(joules) {
  if (joules === 0) return "0 J";
  if (isNumber(joules) && joules < 3600) return threeDigits(joules) + " J";
  return inThousands(isNumber(joules) ? joules / 3600 : null, ["Wh", "kWh", "MWh", "GWh"], threeDigits);
}

const humanPercent = (share) => (isNumber(share) ? `${(share * 100).toFixed(1)} %` : kNone);

const humanCount = (count) => (isNumber(count) ? Math.round(count).toLocaleString("en-US") : kNone);

/** As C's %.3g, but without its leading zeros in the exponent: 1.31, 0.0123, 1.2e+6. */
function withDigits(value, digits = 3) {
  if (!isNumber(value)) return kNone;
  return String(Number(value.toPrecision(digits)));
}

/** Keeps numbers and their units on one line: "95 %", "1 min 1 s". */
const kept = (text) => text.replace(/(\d) (?=\S)/g, "$1\u00a0").replace(/(\d\u00a0min) (?=\d)/g, "$1\u00a0");

/** A share of a step: "34 %", "under 1 %". */
function shareText(share) {
  if (!isNumber(share)) return kNone;
  return share > 0 && share < 0.005 ? "under 1 %" : `${(share * 100).toFixed(0)} %`;
}

/** The target as the scenario has it: "95 %", "97.25 %". */
const targetText = (accuracy) => `${withDigits(accuracy * 100, 6)} %`;

/** "1.31 (1.20 … 1.43)" of an estimate {value, low, high}. */
function withInterval(estimate, text) {
  if (!estimate || !isNumber(estimate.value)) return kNone;
  const both = isNumber(estimate.low) && isNumber(estimate.high);
  return text(estimate.value) + (both ? ` (${text(estimate.low)} … ${text(estimate.high)})` : "");
}

/** Three digits of small sums, cents of others. */
const moneyText = (value, currency) =>
  isNumber(value) ? `${value < 1 ? withDigits(value) : value.toFixed(2)} ${currency}` : kNone;

/** "× 1.31" */
const factorText = (factor) =>
  `× ${factor < 1.1 ? factor.toFixed(3) : factor < 10 ? factor.toFixed(2) : factor.toFixed(0)}`;

/** "a", "a and b", "a, b and c" */
const listText = (names) =>
  names.length < 2 ? names.join("") : `${names.slice(0, -1).join(", ")} and ${names[names.length - 1]}`;
