function drawTuning(model, root) {
  const numbers = numberControls(model);
  const presets = presetList(model);
  const replay = passageReplay(model);
  const measures = measureView(model);
  const problem = errorLine(model);
  const told = el("div", { class: "wb-told", role: "status" });
  const tabs = subTabs([["Past questions", replay.box], ["Labelled questions", measures.box]]);
  root.append(el("div", { class: "wb-tune-all" }, el("div", { class: "wb-tune-side" }, numbers.box, presets.box),
    el("div", { class: "wb-tune-work" }, el("div", { class: "wb-tune-head" }, tabs.list, told), problem.line, el("div", { class: "wb-tune-scroll" }, replay.box, measures.box))));
  const stops = [numbers.stop, presets.stop, replay.stop, measures.stop, problem.stop,
    watch(model, ["told"], () => { told.textContent = told.title = model.get("told"); })];
  return () => stops.forEach((stop) => stop());
}

/** A row of tabs over boxes of which one is shown; arrow keys go along the row. */
function subTabs(entries) {
  const buttons = entries.map(([name], index) => el("button", { type: "button", role: "tab", onclick: () => choose(index) }, name));
  const list = el("div", { class: "wb-subtabs", role: "tablist", "aria-label": "What to look at", onkeydown: (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    const next = (buttons.indexOf(document.activeElement) + step + buttons.length) % buttons.length;
    choose(next);
    buttons[next].focus();
  } }, ...buttons);
  const choose = (shown) => entries.forEach(([name, box], index) => {
    box.hidden = index !== shown;
    box.setAttribute("role", "tabpanel");
    box.setAttribute("aria-label", name);
    buttons[index].setAttribute("aria-selected", String(index === shown));
    buttons[index].tabIndex = index === shown ? 0 : -1;
    if (box.parentElement) box.parentElement.scrollTop = 0;
  });
  choose(0);
  return { list };
}
export default panel("wb-tuning", drawTuning);
