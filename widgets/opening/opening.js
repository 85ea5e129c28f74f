function render({ model, el: root }) {
  root.classList.add("wb", "wb-opening");
  const line = el("p", { role: "status" });
  const reason = el("p", { class: "wb-opening-reason", role: "alert" });
  const again = el("button", { type: "button", class: "wb-primary", onclick: () => act(model, "start") }, "Try again");
  root.append(el("strong", {}, "Research Workbench"), line, reason, again);
  return watch(model, ["busy", "error"], () => {
    const failed = !model.get("busy") && model.get("error");
    line.textContent = failed ? "The library could not be opened." : "Opening the library…";
    reason.textContent = failed ? model.get("error") : "";
    reason.hidden = again.hidden = !failed;
  });
}
export default { render };
