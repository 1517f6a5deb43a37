// Light, dark and print themes; colours, dashes and markers that distinguish runs even without colour. The palette is
// that of Okabe and Ito, "Color Universal Design" (2008), without its yellow, which is too faint on white.

const kPalette = {
  light: {
    ink: "#1b2430",
    soft: "#566170",
    grid: "#e3e7ec",
    paper: "#ffffff",
    runs: ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9"],
    alone: ["#1b2430", "#7a8594"],
  },
  dark: {
    ink: "#e6eaef",
    soft: "#a3aebb",
    grid: "#2b333d",
    paper: "#14181d",
    runs: ["#4aa8e0", "#f08040", "#2cc295", "#e09ac2", "#e8b030", "#8fd0f5"],
    alone: ["#e6eaef", "#8a95a3"],
  },
};
const kDashes = [[], [8, 4], [2, 3], [10, 3, 2, 3], [5, 3], [1, 2]];
const kMarkers = ["circle", "rect", "triangle", "rectRot", "cross", "crossRot"];

const systemIsDark = window.matchMedia("(prefers-color-scheme: dark)");
let printing = false;

const isDark = () => (document.documentElement.dataset.theme ?? (systemIsDark.matches ? "dark" : "light")) === "dark";

/** The colours in use now. */
const palette = () => kPalette[isDark() && !printing ? "dark" : "light"];

/**
 * How runs are drawn, by whether each of them shares anything: those that do not in ink and grey, the others in
 * colours; dashes and markers differ.
 */
function marks(sharing) {
  const counts = { runs: 0, alone: 0 };
  return sharing.map((shares) => {
    const kind = shares ? "runs" : "alone";
    const index = counts[kind]++;
    const round = Math.floor(index / kPalette.light[kind].length);
    const shape = kind === "alone" ? index + 1 : index;
    return {
      kind,
      index: index % kPalette.light[kind].length,
      dash: kDashes[(shape + round) % kDashes.length],
      marker: kMarkers[(shape + round) % kMarkers.length],
    };
  });
}

const colourOf = (mark) => palette()[mark.kind][mark.index];

/** So much of a colour on the ground of the page; not transparent, so that many on top of each other stay faint. */
function shaded(colour, share) {
  const mixed = [1, 3, 5].map((at) => {
    const [own, ground] = [colour, palette().paper].map((hex) => parseInt(hex.slice(at, at + 2), 16));
    return Math.round(share * own + (1 - share) * ground)
      .toString(16)
      .padStart(2, "0");
  });
  return `#${mixed.join("")}`;
}
const faded = (colour) => shaded(colour, 0.28);

/** What is drawn again when the colours change. */
const drawings = [];
function redrawAll() {
  for (const draw of drawings) draw();
}
/** Draws now, and again with other colours. */
function drawn(draw) {
  drawings.push(draw);
  draw();
}

/** A small canvas of width × height pixels, painted by `paint(context)` on any kind of screen. */
function swatch(width, height, paint) {
  const canvas = element("canvas", {
    class: "swatch",
    "aria-hidden": "true",
    style: `width:${width}px;height:${height}px`,
  });
  const scale = Math.max(2, window.devicePixelRatio || 1);
  canvas.width = width * scale;
  canvas.height = height * scale;
  drawn(() => {
    const context = canvas.getContext("2d");
    context.setTransform(scale, 0, 0, scale, 0, 0);
    context.clearRect(0, 0, width, height);
    paint(context);
  });
  return canvas;
}

/** The line and the marker of a run. */
function markSwatch(mark) {
  return swatch(32, 14, (context) => {
    context.strokeStyle = context.fillStyle = colourOf(mark);
    context.lineWidth = 2;
    context.setLineDash(mark.dash);
    context.beginPath();
    context.moveTo(0, 7);
    context.lineTo(32, 7);
    context.stroke();
    context.setLineDash([]);
    Chart.helpers.drawPoint(context, { pointStyle: mark.marker, radius: 4, borderWidth: 2 }, 16, 7);
  });
}

/** A name with its mark. */
const marked = (mark, name) => element("span", { class: "named" }, markSwatch(mark), element("span", {}, name));

/** Parts of a bar: colour by its place in the palette, and a filling. */
const kParts = {
  compute: { colour: 0, filling: "plain" },
  compression: { colour: 2, filling: "dots" },
  communication: { colour: 4, filling: "hatch" },
  waiting: { colour: 5, filling: "rows" },
  bandwidth: { colour: 1, filling: "hatch" },
  latency: { colour: 3, filling: "dots" },
  queueing: { colour: 5, filling: "back" },
  up: { colour: 0, filling: "plain" },
  down: { colour: 4, filling: "hatch" },
};
/** Parts that have no place of their own, in turn. */
const kFillings = ["plain", "hatch", "dots", "rows", "back", "grid"];
const partInTurn = (index) => ({ colour: index % 6, filling: kFillings[index % kFillings.length] });

/** Lines of a filling over a tile of 8 × 8, [x1, y1, x2, y2]; dots are a circle in its middle. */
const kFillingLines = {
  plain: [],
  hatch: [-8, 0, 8].map((x) => [x, 8, x + 8, 0]),
  back: [-8, 0, 8].map((x) => [x, 0, x + 8, 8]),
  rows: [[0, 4, 8, 4]],
  grid: [
    [0, 4, 8, 4],
    [4, 0, 4, 8],
  ],
  dots: [],
};
const kDotRadius = 1.6;
const kLineWidth = 1.4;

/** What a part is filled with: its colour, and lines or dots over it that tell it from others without colour. */
function filling(context, part) {
  const colour = palette().runs[part.colour];
  if (part.filling === "plain") return colour;
  const tile = document.createElement("canvas");
  const size = (tile.width = tile.height = 8);
  const pen = tile.getContext("2d");
  pen.fillStyle = colour;
  pen.fillRect(0, 0, size, size);
  pen.strokeStyle = pen.fillStyle = palette().paper;
  pen.globalAlpha = 0.65;
  pen.lineWidth = kLineWidth;
  for (const [x1, y1, x2, y2] of kFillingLines[part.filling]) {
    pen.beginPath();
    pen.moveTo(x1, y1);
    pen.lineTo(x2, y2);
    pen.stroke();
  }
  if (part.filling === "dots") {
    pen.beginPath();
    pen.arc(4, 4, kDotRadius, 0, 2 * Math.PI);
    pen.fill();
  }
  return context.createPattern(tile, "repeat");
}

/** A rectangle filled with `style(context)`. */
const sample = (height, style) =>
  swatch(24, height, (context) => {
    context.fillStyle = style(context);
    context.fillRect(0, 0, 24, height);
  });

/** What the fillings mean: parts [{label, part}]. */
function key(parts) {
  const entry = ({ label, part }) =>
    element("li", { class: "named" }, sample(12, (context) => filling(context, part)), label);
  return element("ul", { class: "key" }, ...parts.map(entry));
}

/** The button that switches, the system's wish until it is pressed, and light colours on paper. */
function followTheme(button) {
  const show = () => {
    button.setAttribute("aria-pressed", String(isDark()));
    redrawAll();
  };
  button.addEventListener("click", () => {
    document.documentElement.dataset.theme = isDark() ? "light" : "dark";
    show();
  });
  systemIsDark.addEventListener("change", show);
  const forPaper = (on) => () => {
    printing = on;
    redrawAll();
  };
  window.addEventListener("beforeprint", forPaper(true));
  window.addEventListener("afterprint", forPaper(false));
  button.setAttribute("aria-pressed", String(isDark()));
}
