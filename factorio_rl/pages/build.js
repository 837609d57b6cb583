// Plays the build steps, shows entities in the plan, copies blueprint strings.
(() => {
  const STEP_MS = 500;
  const get = (id) => document.getElementById(id);
  const steps = JSON.parse(get("steps").textContent);
  const pieces = [...document.querySelectorAll(".plan [data-from]")];
  const items = [...document.querySelectorAll(".steps li")];
  const list = document.querySelector(".steps");
  const slider = get("slider");
  let now = steps.length;
  let timer = null;

  function point(place) {
    const here = get("here");
    here.setAttribute("display", place ? "" : "none");
    if (!place) return;
    const units = 100, gap = 4;
    here.setAttribute("x", place.x * units - gap);
    here.setAttribute("y", place.y * units - gap);
    here.setAttribute("width", place.size * units + 2 * gap);
    here.setAttribute("height", place.size * units + 2 * gap);
  }
  function show(step) {
    now = Math.max(0, Math.min(steps.length, step));
    for (const piece of pieces) {
      const seen = piece.dataset.from <= now && now <= piece.dataset.to;
      piece.style.display = seen ? "" : "none";
    }
    items.forEach((item, number) => {
      item.classList.toggle("here", number + 1 === now);
      item.classList.toggle("todo", number + 1 > now);
    });
    const item = items[now - 1];
    if (item) list.scrollTop = item.offsetTop - list.offsetTop - list.clientHeight / 2;
    else list.scrollTop = 0;
    slider.value = now;
    const text = now ? `Step ${now} of ${steps.length}: ${steps[now - 1].text}` : "Only the ports stand.";
    get("now").textContent = text;
    point(steps[now - 1]);
  }
  function stop() {
    clearInterval(timer);
    timer = null;
    get("play").textContent = "Play";
  }
  function play() {
    if (timer) return stop();
    if (now === steps.length) show(0);
    get("play").textContent = "Pause";
    timer = setInterval(() => {
      show(now + 1);
      if (now === steps.length) stop();
    }, STEP_MS);
  }
  get("play").addEventListener("click", play);
  get("back").addEventListener("click", () => { stop(); show(now - 1); });
  get("next").addEventListener("click", () => { stop(); show(now + 1); });
  slider.addEventListener("input", () => { stop(); show(Number(slider.value)); });
  for (const item of items) {
    item.addEventListener("click", () => { stop(); show(Number(item.dataset.step)); });
  }
  for (const row of document.querySelectorAll("tr[data-x]")) {
    const place = { x: Number(row.dataset.x), y: Number(row.dataset.y), size: Number(row.dataset.size) };
    row.addEventListener("click", () => {
      stop();
      show(steps.length);
      point(place);
      document.querySelector(".plan").scrollIntoView({ behavior: "smooth", block: "center" });
    });
  }
  for (const button of document.querySelectorAll("[data-copy]")) {
    button.addEventListener("click", async () => {
      const box = get(button.dataset.copy);
      let done = true;
      try {
        await navigator.clipboard.writeText(box.value);
      } catch {
        box.select();
        done = document.execCommand("copy");
      }
      button.textContent = done ? "Copied" : "Select all and copy";
      setTimeout(() => { button.textContent = "Copy"; }, 2000);
    });
  }
})();
