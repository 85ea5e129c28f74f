/** "Why these passages": what the answer could use, what was left out and for which reason, and why a paper gave nothing. */
function whyPanel(model, index) {
  const box = el("div", { class: "wb-passages", hidden: true });
  let turn = {};
  const open = (among, k) => act(model, "cite", { turn: index, k, among });

  const passageRow = (passage, k) => {
    const used = k < turn.passages.length - (turn.left_out?.unread ?? 0);
    return el("button", { type: "button", class: "wb-passage", onclick: () => open("passages", k) },
      el("b", {}, el("span", { class: "wb-passage-n" }, `[${passage.n}]`), ` ${passage.title}`),
      el("small", {}, dotted(passage.byline, pageText(passage), `relevance ${passage.score.toFixed(2)}`, passage.ranks)),
      !used && el("small", { class: "wb-why-unread" }, "not read: the chat model's window had no room for it"),
      el("q", {}, passage.quote.slice(0, 260)));
  };
  const nearRow = (row, k) => el("li", {}, el("button", { type: "button", onclick: () => open("nearest", k) },
    el("span", { class: "wb-why-title" }, row.title), el("small", {}, dotted(pageText(row), `relevance ${row.score.toFixed(2)}`, row.ranks)),
    el("small", { class: "wb-why-reason" }, row.reason)));
  const silentRow = (row, k) => el("li", {}, el("button", { type: "button", onclick: () => open("silent", k) },
    el("span", { class: "wb-why-title" }, row.title), el("small", { class: "wb-why-reason" }, row.reason)));
  const heading = (text, more) => el("h4", {}, text, more && el("small", {}, more));

  const fill = () => {
    const { reasons = [], nearest = [], silent = [], more_silent: more = 0 } = turn.left_out ?? {};
    const left = reasons.reduce((sum, { count }) => sum + count, 0);
    box.replaceChildren(...[
      turn.passages.map(passageRow),
      left > 0 && heading("Left out", counted(left, "passage")),
      left > 0 && el("ul", { class: "wb-why-reasons" }, reasons.map(({ reason, count }) => el("li", {}, el("b", {}, String(count)), ` ${reason}`))),
      nearest.length > 0 && el("details", {}, el("summary", {}, `The nearest ${nearest.length} of them`), el("ul", { class: "wb-why-list" }, nearest.map(nearRow))),
      silent.length > 0 && heading("Papers without a passage", String(silent.length + more)),
      silent.length > 0 && silentList(silent, silentRow, more),
    ].flat().filter(Boolean));
  };
  const button = () => el("button", {
    type: "button", class: "wb-link", "aria-expanded": String(!box.hidden),
    onclick: (event) => {
      box.hidden = !box.hidden;
      event.currentTarget.setAttribute("aria-expanded", String(!box.hidden));
      if (box.hidden) return;
      fill();
      box.closest(".wb-thread").scrollBy({ top: Math.min(box.offsetHeight, 240), behavior: "smooth" });
    },
  }, "Why these passages");
  const draw = (now) => {
    turn = now;
    const anything = now.passages?.length > 0 || now.left_out?.silent?.length > 0;
    if (!anything) box.hidden = true;
    if (!box.hidden) fill();
    return anything && button();
  };
  return { box, draw };
}

/** Papers and their reasons; where there are many, a field that finds one by its title. */
function silentList(silent, row, more) {
  const rows = silent.map(row);
  const list = el("ul", { class: "wb-why-list" }, rows, more > 0 && el("li", { class: "wb-why-more" }, `and ${counted(more, "paper")} more`));
  if (silent.length < 8) return list;
  const find = el("input", { type: "search", placeholder: "Find a paper by its title…", "aria-label": "Find a paper without a passage", oninput: () => {
    const wanted = find.value.trim().toLowerCase();
    rows.forEach((each, k) => { each.hidden = !silent[k].title.toLowerCase().includes(wanted); });
  } });
  find.addEventListener("keydown", (event) => { if (event.key !== "Escape") event.stopPropagation(); });
  return el("div", {}, find, list);
}
