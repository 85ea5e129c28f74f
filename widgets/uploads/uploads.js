const KINDS = ".pdf,.docx,.epub,.html,.htm,.md,.txt,.csv,.json,.log,.ipynb,.xml,.bib,.ris";
const WAIT = 60_000; // ms for the kernel to answer one slice

function drawUploads(model, root) {
  const input = el("input", { type: "file", multiple: true, accept: KINDS, class: "wb-visually-hidden", tabIndex: -1,
    "aria-hidden": "true", onchange: () => { send([...input.files]); input.value = ""; } });
  const choose = el("button", { type: "button", class: "wb-drop", onclick: () => input.click() },
    icon("upload"), el("span", {}, "Drop papers or ", el("u", {}, "choose files")));
  const label = el("span", { class: "wb-sending-name" });
  const bar = el("i");
  const progress = el("div", { class: "wb-bar", role: "progressbar", "aria-label": "Upload", "aria-valuemin": "0", "aria-valuemax": "100" }, bar);
  const stop = el("button", { type: "button", class: "wb-icon", "aria-label": "Cancel upload", title: "Cancel upload" }, icon("close"));
  const sending = el("div", { class: "wb-sending", hidden: true }, el("div", {}, label, stop), progress);
  const problem = errorLine(model);
  root.append(choose, input, sending, problem.line);

  let cancelled = false;
  let busy = false;
  stop.addEventListener("click", () => { cancelled = true; });

  /** The kernel's answer for this file: its bytes so far, or -1 when it was refused. */
  const answer = (key, bytes) => new Promise((resolve) => {
    const finish = (value) => { clearTimeout(timer); model.off("change:accepted", look); resolve(value); };
    const look = () => {
      const { key: of, bytes: got } = model.get("accepted");
      if (of === key && (got === bytes || got < 0)) finish(got);
    };
    const timer = setTimeout(() => finish(-1), WAIT);
    model.on("change:accepted", look);
  });

  async function sendFile(file, key, shown) {
    const begun = answer(key, 0);
    act(model, "begin", { key, name: file.name, size: file.size });
    if (await begun < 0) return;
    let offset = 0;
    do {
      if (cancelled) { act(model, "cancel", { key }); return; }
      const data = await file.slice(offset, offset + model.get("slice_bytes")).arrayBuffer();
      const taken = answer(key, offset + data.byteLength);
      act(model, "receive", { key, offset }, data);
      if (await taken < 0) return;
      offset += data.byteLength;
      shown(offset);
    } while (offset < file.size);
  }

  async function send(files) {
    if (busy || !files.length) return;
    act(model, "dismiss_error");
    busy = true; cancelled = false; sending.hidden = false; choose.disabled = true;
    const total = Math.max(1, files.reduce((sum, file) => sum + file.size, 0));
    let before = 0;
    try {
      for (const [index, file] of files.entries()) {
        if (cancelled) break;
        label.textContent = files.length > 1 ? `Uploading ${index + 1} of ${files.length}: ${file.name}` : `Uploading ${file.name}`;
        const show = (bytes) => {
          const percent = Math.round(100 * (before + bytes) / total);
          bar.style.width = `${percent}%`;
          progress.setAttribute("aria-valuenow", String(percent));
        };
        show(0);
        await sendFile(file, `${Date.now()}-${Math.random()}`, show);
        before += file.size;
      }
    } finally {
      act(model, "finish");
      busy = false; sending.hidden = true; choose.disabled = false;
    }
  }

  let depth = 0; // dragenter and dragleave fire for every child
  const dragging = (on) => root.classList.toggle("wb-over", on);
  const zone = root;
  zone.addEventListener("dragenter", (event) => { event.preventDefault(); depth += 1; dragging(true); });
  zone.addEventListener("dragover", (event) => event.preventDefault());
  zone.addEventListener("dragleave", () => { depth -= 1; if (depth <= 0) dragging(false); });
  zone.addEventListener("drop", (event) => {
    event.preventDefault(); depth = 0; dragging(false);
    send([...event.dataTransfer.files]);
  });
  return () => problem.stop();
}
export default panel("wb-uploads", drawUploads);
