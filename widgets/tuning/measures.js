/** Labelled questions, a measurement on them, and its figures. */
function measureView(model) {
  const empty = el("div", { class: "wb-blank" }, el("h2", {}, "No labelled questions here yet"),
    el("p", {}, "Under “Past questions”, press ✓ at a passage whose page answers the question. Or bring a file of labelled questions with “workbench questions import”. Then measure here how often the numbers find those pages."));
  const labels = labelledList(model);
  const work = measureForm(model);
  const result = figureView(model);
  const shown = el("div", {}, labels.box, work.box, result.box);
  const box = el("div", { class: "wb-measures" }, shown, empty);
  const stop = watch(model, ["labelled", "loaded", "measured", "job"], () => {
    const any = model.get("labelled").length > 0 || model.get("measured").length > 0 || Boolean(model.get("job").of);
    shown.hidden = !any;
    empty.hidden = any || !model.get("loaded");
  });
  return { box, stop: () => [stop, labels.stop, work.stop, result.stop].forEach((each) => each()) };
}

/** How many labelled questions there are, and on demand which. */
function labelledList(model) {
  const count = el("summary");
  const list = el("ul");
  const box = el("details", { class: "wb-labelled" }, count, list);
  const stop = watch(model, ["labelled"], betweenMenus(list, () => {
    const questions = model.get("labelled");
    count.textContent = counted(questions.length, "labelled question");
    list.replaceChildren(...questions.map((question) => el("li", {}, el("span", {}, question.text, el("small", {}, question.pages.join(" · ") || "no paper answers it: counts for answers, not for searches")),
      ...moreMenu(question.text, [{ label: "Delete…", danger: true, yes: "Delete", confirm: "The question and its marks are deleted. Answers and papers stay as they are.",
        run: () => act(model, "unlabel", { id: question.id, project: question.project }) }]))));
  }));
  return { box, stop };
}

/** What to try, the button that measures, and the work under way with a way to stop it. */
function measureForm(model) {
  const vary = el("select", { "aria-label": "What to try" }, el("option", { value: "" }, "the numbers set here against those in force"),
    ...model.get("controls").map((control) => el("option", { value: control.name }, `several values of “${control.label}”`)));
  const go = el("button", { type: "submit", class: "wb-primary" }, "Measure");
  const form = el("form", { class: "wb-measure", onsubmit: (event) => { event.preventDefault(); act(model, "measure", { vary: vary.value }); } },
    el("label", {}, "Try ", el("span", { class: "wb-select" }, vary, icon("down"))), go);
  const bar = el("i");
  const progress = el("div", { class: "wb-bar", role: "progressbar", "aria-label": "Measuring", "aria-valuemin": "0" }, bar);
  const doing = el("span", { role: "status" });
  const cancel = el("button", { type: "button", class: "wb-plain", onclick: () => act(model, "cancel_measuring") }, "Cancel");
  const work = el("div", { class: "wb-measuring" }, el("div", {}, doing, progress), cancel);
  const stop = watch(model, ["job", "labelled"], () => {
    const job = model.get("job"), busy = Boolean(job.of);
    form.hidden = busy;
    work.hidden = !busy;
    go.disabled = !model.get("labelled").length;
    if (!busy) return;
    doing.textContent = job.stopping ? "Stopping after this question…" : `Measuring in ${job.where}: question ${Math.min(job.done + 1, job.of)} of ${job.of}`;
    bar.style.width = `${(100 * job.done) / job.of}%`;
    progress.setAttribute("aria-valuemax", String(job.of));
    progress.setAttribute("aria-valuenow", String(job.done));
    cancel.disabled = job.stopping;
  });
  return { box: el("div", {}, el("p", { class: "wb-hint" }, "Each question is searched once and chosen from with every value. No chat model is asked. The figures are kept."), form, work), stop };
}

/** The figures: in words, as plots, as a table; and the way to earlier ones. */
function figureView(model) {
  const earlier = el("select", { "aria-label": "Earlier measurement", onchange: () => act(model, "show_measured", { id: Number(earlier.value) }) });
  const words = el("ul", { class: "wb-words" });
  const plots = el("div", { class: "wb-plots" });
  const key = el("p", { class: "wb-hint wb-key" });
  const table = el("details", { class: "wb-figures" });
  const notes = el("div", { class: "wb-notes" });
  const box = el("section", { class: "wb-result", "aria-label": "Figures" },
    el("div", { class: "wb-result-head" }, el("h2", { class: "wb-heading" }, "Figures"), el("span", { class: "wb-select" }, earlier, icon("down"))), notes, words, plots, key, table);
  const draw = () => {
    const figures = model.get("figures"), any = Boolean(figures.metrics);
    box.hidden = !any;
    if (!any) return;
    const current = model.get("numbers")[figures.vary];
    notes.replaceChildren(...figures.warnings.map((line) => el("div", {}, line)));
    words.replaceChildren(...figures.words.map((line) => el("li", {}, line)));
    plots.replaceChildren(...figures.metrics.map((metric) => metricPlot(metric, figures, current)));
    key.textContent = figures.vary ? `Across: ${figures.label.toLowerCase()}. The band is where the figure lies with 95 % confidence, the dashed line the numbers in force.`
      : "The bars are where each figure lies with 95 % confidence.";
    key.hidden = table.hidden = !figures.metrics.length;
    table.replaceChildren(el("summary", {}, "As a table"), figureTable(figures));
  };
  const stops = [watch(model, ["figures", "placed"], draw), watch(model, ["measured", "figures"], () => {
    const measured = model.get("measured");
    earlier.replaceChildren(...measured.map((entry) => el("option", { value: String(entry.id) }, `${timeText(entry.when)}, ${counted(entry.questions, "question")}`)));
    earlier.value = String(model.get("figures").id);
    earlier.parentElement.hidden = measured.length < 2;
  })];
  return { box, stop: () => stops.forEach((stop) => stop()) };
}
