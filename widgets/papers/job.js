/** The paper at work: its name, what is done to it, a bar, and a way to stop. */
function jobRow(model) {
  const name = el("span", { class: "wb-paper-title" });
  const doing = el("span", { class: "wb-chip wb-busy" });
  const left = el("span");
  const bar = el("i");
  const progress = el("div", { class: "wb-bar", role: "progressbar", "aria-label": "Work on papers", "aria-valuemin": "0", "aria-valuemax": "100" }, bar);
  const cancel = el("button", { type: "button", class: "wb-icon", "aria-label": "Cancel this work", title: "Cancel. What is complete stays.", onclick: () => act(model, "cancel") }, icon("close"));
  const row = el("div", { class: "wb-job", hidden: true }, el("div", { class: "wb-job-head" }, name, cancel),
    el("span", { class: "wb-paper-facts" }, left, doing), progress);
  const stop = watch(model, ["job"], () => {
    const job = model.get("job");
    row.hidden = !job.file;
    if (!job.file) return;
    name.textContent = job.file;
    doing.textContent = job.stopping ? "stopping" : job.doing;
    left.textContent = job.files > 1 ? `${job.nth} of ${job.files}` : "";
    bar.style.width = `${job.percent}%`;
    progress.setAttribute("aria-valuenow", String(job.percent));
    cancel.disabled = job.stopping;
  });
  return { row, stop };
}
