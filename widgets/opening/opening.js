function drawOpening(model, root) {
  const line = el("p", { role: "status" });
  const reason = el("p", { class: "wb-opening-reason", role: "alert" });
  const again = el("button", { type: "button", class: "wb-primary", onclick: () => act(model, "start") }, "Try again");
  root.append(el("strong", {}, "Research Workbench"), line, reason, again);
  act(model, "greet");
  return watch(model, ["busy", "error"], () => {
    const failed = !model.get("busy") && model.get("error");
    line.textContent = failed ? "The library could not be opened." : "Opening the library…";
    reason.textContent = failed ? model.get("error") : "";
    reason.hidden = again.hidden = !failed;
  });
}
export default panel("wb-opening", drawOpening);
