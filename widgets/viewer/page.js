const LETTER = /[\p{L}\p{N}]/u;

/** The page as an image with its text over it and the marks between, or its text alone with the mark in it. */
function pageArea(model) {
  const image = el("img", { draggable: false, alt: "" });
  const boxes = el("div", { class: "wb-boxes" });
  const layer = el("div", { class: "wb-layer" });
  const sheet = el("div", { class: "wb-sheet" }, image, boxes, layer);
  const prose = el("div", { class: "wb-prose" });
  const trouble = el("div", { class: "wb-trouble", role: "alert" });
  const scroller = el("div", { class: "wb-pages", tabIndex: 0, role: "region", "aria-label": "Page" }, sheet, prose, trouble);
  let address = "";
  let place = ""; // the page and citation in sight: one that is only drawn sharper keeps its scrolling
  let turn = 0; // counts what was asked to be drawn

  /** Bring the mark into sight by moving this column only, never the page around it. */
  const reveal = () => {
    const mark = (sheet.hidden ? prose : boxes).querySelector(".wb-mark");
    const area = scroller.getBoundingClientRect();
    const at = mark?.getBoundingClientRect();
    scroller.scrollTop = at ? scroller.scrollTop + at.top - area.top - area.height * 0.32 : 0;
    scroller.scrollLeft = at ? Math.max(0, scroller.scrollLeft + at.left - area.left - 40) : 0;
  };
  const showImage = async (png, moved, mine) => {
    const next = URL.createObjectURL(new Blob([png], { type: "image/png" }));
    const loaded = new Image();
    loaded.src = next;
    await loaded.decode().catch(() => {}); // the old page stays until the new one can be painted at once
    if (mine !== turn) return URL.revokeObjectURL(next);
    if (address) URL.revokeObjectURL(address);
    address = image.src = next;
    image.alt = `Page ${model.get("page")} of ${model.get("title")}`;
    sheet.style.aspectRatio = `1 / ${model.get("shape") || 1}`;
    boxes.replaceChildren(...model.get("boxes").map((box) => placed("div", "wb-mark", box)));
    show(sheet);
    drawRuns(layer, model.get("runs"));
    image.dataset.drawn = String(model.get("drawn"));
    if (moved) reveal();
  };
  const show = (shown) => { for (const part of [sheet, prose, trouble]) part.hidden = part !== shown; };
  const showText = (moved) => {
    const text = [...model.get("text")]; // Python counts code points
    let done = 0;
    prose.replaceChildren();
    for (const [start, end] of model.get("spans")) {
      prose.append(text.slice(done, start).join(""), el("mark", { class: "wb-mark" }, text.slice(start, end).join("")));
      done = end;
    }
    prose.append(text.slice(done).join("") || (done ? "" : "This page has no text."));
    show(prose);
    if (moved) reveal();
  };
  const draw = () => {
    turn += 1;
    const here = JSON.stringify([model.get("paper"), model.get("page"), model.get("citation"), model.get("citations"), model.get("marked")]);
    const moved = here !== place;
    place = here;
    const png = model.get("image");
    trouble.textContent = model.get("trouble");
    if (model.get("trouble")) show(trouble);
    else if (png && png.byteLength > 0) showImage(png, moved, turn);
    else showText(moved);
  };
  const zoomed = () => {
    const before = sheet.offsetHeight || 1, middle = scroller.scrollTop + scroller.clientHeight / 2;
    const across = (scroller.scrollLeft + scroller.clientWidth / 2) / (scroller.scrollWidth || 1);
    sheet.style.width = `${model.get("zoom") * 100}%`;
    prose.style.fontSize = `${14 * Math.sqrt(model.get("zoom"))}px`;
    scroller.scrollTop = middle * ((sheet.offsetHeight || 1) / before) - scroller.clientHeight / 2;
    scroller.scrollLeft = across * scroller.scrollWidth - scroller.clientWidth / 2;
  };
  const selected = () => {
    const selection = document.getSelection();
    if (!selection || selection.isCollapsed || !scroller.contains(selection.anchorNode)) return "";
    return asStored(selectedWords(selection.getRangeAt(0)), model.get("text"));
  };
  scroller.addEventListener("copy", (event) => {
    const words = selected();
    if (!words) return;
    event.clipboardData.setData("text/plain", words);
    event.preventDefault();
  });
  const stops = [
    watch(model, ["drawn"], draw),
    watch(model, ["zoom"], zoomed),
    watch(model, ["loading"], () => scroller.classList.toggle("wb-loading", model.get("loading"))),
    () => { turn += 1; if (address) URL.revokeObjectURL(address); },
  ];
  return { scroller, selected, stop: () => stops.forEach((stop) => stop()) };
}

/** An element over a part of the sheet, given as fractions of it. */
function placed(tag, name, [x0, y0, x1, y1]) {
  const box = el(tag, { class: name });
  Object.assign(box.style, { left: `${x0 * 100}%`, top: `${y0 * 100}%`, width: `${(x1 - x0) * 100}%`, height: `${(y1 - y0) * 100}%` });
  return box;
}

/** The page's words where they stand, unseen: what the pointer selects. Each is stretched to the room it has on the page. */
function drawRuns(layer, runs) {
  const pen = document.createElement("canvas").getContext("2d");
  pen.font = "100px sans-serif";
  const shape = layer.clientHeight / (layer.clientWidth || 1);
  layer.replaceChildren(...runs.flatMap(([text, x0, y0, x1, y1, turn, glued]) => {
    const aside = turn % 180 !== 0;
    const long = aside ? (y1 - y0) * shape : x1 - x0, high = aside ? x1 - x0 : (y1 - y0) * shape; // in widths of the sheet
    const natural = (pen.measureText(text).width / 100) * high;
    const run = el("span", { class: "wb-run" }, text);
    if (glued) run.dataset.glued = "";
    const [left, top] = { 0: [x0, y0], 90: [x1, y0], 180: [x1, y1], 270: [x0, y1] }[turn] ?? [x0, y0];
    Object.assign(run.style, { left: `${left * 100}%`, top: `${top * 100}%`, fontSize: `${high * 100}cqw`,
      transform: `rotate(${turn}deg) scaleX(${natural > 0 ? (long / natural).toFixed(4) : 1})` });
    return [run, el("br")];
  }));
}

/** The words of a selection, lines joined; a word that a line's end broke is one again. */
function selectedWords(range) {
  const runs = [...range.cloneContents().querySelectorAll(".wb-run")];
  if (!runs.length) return range.toString();
  return runs.map((run) => run.textContent + ("glued" in run.dataset ? "" : " ")).join("").trim();
}

/** The same words as the library has them (hyphens, ligatures and reading order repaired), where they stand there once. */
function asStored(words, text) {
  const needle = letters(words).join("");
  if (needle.length < 4) return words;
  const chars = [...text], kept = [], from = [];
  chars.forEach((char, index) => { for (const letter of letters(char)) { kept.push(letter); from.push(index); } });
  const stored = kept.join("");
  const at = stored.indexOf(needle);
  if (at < 0 || stored.indexOf(needle, at + 1) >= 0) return words;
  const units = [...stored.slice(0, at)].length; // letters beyond the first plane are two units
  const end = from[units + [...needle].length - 1] + 1;
  const behind = words.match(/[^\p{L}\p{N}\s]+$/u)?.[0] ?? ""; // the full stop at the end
  const rest = chars.slice(end, end + behind.length).join("");
  return chars.slice(from[units], end).join("") + (rest === behind ? behind : "");
}

function letters(text) {
  return [...text.normalize("NFKD").toLowerCase()].filter((char) => LETTER.test(char));
}
