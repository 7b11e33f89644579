// The page: the cohort tree, the workloads, the racks, and the time slider of a simulation or a recording.
"use strict";

function clusterPage(root, first) {
  const {number, duration, precise, count, counted} = kqNumbers;
  let data = first, moments = clusterMoments(data), strips = [], tag = "";
  const view = {t: data.end, pair: 0, node: -1, words: "", folded: new Set(), focus: 0, playing: false};
  const ui = {};

  const isPeriod = () => data.end > 0;
  const amount = value => number(value / (data.cells[view.pair] || {per: 1}).per);
  const pairName = pair => `${pair.flavor}: ${pair.resource}`;
  const key = node => `${node.kind}/${node.name}`;

  // A time in words: the time since the beginning, and the date if the source has one.
  function timeText(t) {
    if (data.zero === null) return `${precise(t)} after the first submission`;
    const date = new Date(Math.round((data.zero + t) * 1000)).toISOString().replace("T", " ").slice(0, 19) + " UTC";
    return isPeriod() ? `${date}, ${precise(t)} after the beginning` : date;
  }

  // --- the tree

  function quotaText(facts, unit) {
    const parts = [`uses ${amount(facts.used)} of ${amount(facts.nominal)} ${unit}`];
    if (facts.borrowed > 0) parts.push(`borrows ${amount(facts.borrowed)}`);
    if (facts.lent > 0) parts.push(`lends ${amount(facts.lent)}`);
    return parts.join(", ");
  }

  // What a queue lends, with a sign if several may be the lenders.
  function lentText(row, lent, quota) {
    if (!(lent > 0)) return "—";
    return `${quota.shared.has(row) ? "≈ " : ""}${amount(lent)}`;
  }

  function depthOf(row) {
    let depth = 0;
    for (let at = data.nodes[row].parent; at >= 0; at = data.nodes[at].parent) depth++;
    return depth;
  }

  function isHidden(row) {
    for (let at = data.nodes[row].parent; at >= 0; at = data.nodes[at].parent) if (view.folded.has(key(data.nodes[at]))) return true;
    return false;
  }

  // The row of a node, whose amounts `show` changes.
  function treeRow(row) {
    const node = data.nodes[row], depth = depthOf(row), texts = [];
    const name = make("td", {className: "name", role: "gridcell"}), label = make("span", {className: "label"});
    label.style.paddingLeft = `${Math.min(depth, 8) * 1.1}rem`;
    if (moments.hasBelow[row]) {
      const fold = make("span", {className: "fold", "aria-hidden": "true", text: view.folded.has(key(node)) ? "▸" : "▾"});
      fold.addEventListener("click", event => { event.stopPropagation(); toggle(row); });
      label.append(fold);
    } else label.append(make("span", {className: `kq-key ${node.look}`, "aria-hidden": "true"}));
    label.append(make("bdi", {text: node.name}));
    if (node.kind === "Cohort") label.append(make("small", {className: "kq-quiet", text: " Cohort"}));
    name.append(label);
    if (node.note) name.append(make("small", {className: "kq-bad note", text: `inactive: ${node.note}`}));
    const bar = quotaBar(node.kind === "Cohort" ? "cohort" : node.look);
    const line = make("tr", {role: "row", "aria-level": depth + 1}, name, make("td", {className: "quota", role: "gridcell"}, bar));
    for (const title of ["Used", "Nominal", "Borrowed", "Lent", "Pending", "Running"]) {
      const box = make("td", {className: "kq-n", role: "gridcell"});
      box.dataset.label = title;
      texts.push(box);
      line.append(box);
    }
    if (moments.hasBelow[row]) line.setAttribute("aria-expanded", String(!view.folded.has(key(node))));
    line.dataset.row = row;
    line.addEventListener("click", () => { view.focus = row; choose(view.node === row ? -1 : row); });
    const show = (quota, now) => {
      const facts = {nominal: quota.nominal[row], used: quota.used[row], borrowed: quota.borrowed[row], lent: quota.lent[row]};
      bar.show(facts, quotaText(facts, (data.cells[view.pair] || {unit: ""}).unit));
      const shown = [amount(facts.used), amount(facts.nominal), facts.borrowed > 0 ? amount(facts.borrowed) : "—",
        lentText(row, facts.lent, quota), count(now.pending[row]), count(now.running[row])];
      shown.forEach((text, place) => setText(texts[place], text));
      line.tabIndex = row === view.focus ? 0 : -1;
      line.setAttribute("aria-selected", String(view.node === row));
    };
    return {line, show};
  }

  // The rows of the tree: Cohorts before ClusterQueues, and ClusterQueues in the order of their colours, as in reports.
  function orderOf() {
    const below = new Map(), found = [];
    data.nodes.forEach((node, row) => below.set(node.parent, [...(below.get(node.parent) || []), row]));
    const place = row => [data.nodes[row].kind === "Cohort" ? 0 : 1, Number(data.nodes[row].look.slice(3)) || Infinity, row];
    const visit = parent => {
      const rows = (below.get(parent) || []).map(row => [place(row), row]);
      rows.sort(([a], [b]) => a[0] - b[0] || (a[1] < b[1] ? -1 : a[1] > b[1] ? 1 : a[2] - b[2]));
      for (const [, row] of rows) { found.push(row); visit(row); }
    };
    visit(-1);
    return found;
  }

  const tree = {rows: [], shown: ""};
  function drawTree(now) {
    if (tree.orderOf !== data) Object.assign(tree, {orderOf: data, order: orderOf()});
    const rows = tree.order.filter(row => !isHidden(row)), shape = rows.join();
    if (!rows.includes(view.focus)) view.focus = rows[0] || 0;
    if (tree.data !== data || tree.shape !== shape) {
      const had = ui.tree.contains(document.activeElement);
      Object.assign(tree, {data, shape, rows: rows.map(treeRow)});
      ui.tree.replaceChildren(...tree.rows.map(one => one.line));
      if (had) focusRow(view.focus);
    }
    const quota = quotaOf(view.pair);
    for (const one of tree.rows) one.show(quota, now);
  }

  function focusRow(row) {
    view.focus = row;
    for (const line of ui.tree.rows) line.tabIndex = +line.dataset.row === row ? 0 : -1;
    const line = [...ui.tree.rows].find(one => +one.dataset.row === row);
    if (line) line.focus();
  }

  function toggle(row) {
    const name = key(data.nodes[row]);
    if (!view.folded.delete(name)) view.folded.add(name);
    draw();
  }

  function treeKeys(event) {
    const rows = [...ui.tree.rows].map(line => +line.dataset.row), at = rows.indexOf(view.focus), row = view.focus;
    const node = data.nodes[row];
    if (!node) return;
    const folded = view.folded.has(key(node));
    if (event.key === "ArrowDown" && at + 1 < rows.length) focusRow(rows[at + 1]);
    else if (event.key === "ArrowUp" && at > 0) focusRow(rows[at - 1]);
    else if (event.key === "Home") focusRow(rows[0]);
    else if (event.key === "End") focusRow(rows[rows.length - 1]);
    else if (event.key === "ArrowLeft" && moments.hasBelow[row] && !folded) toggle(row);
    else if (event.key === "ArrowLeft" && node.parent >= 0) focusRow(node.parent);
    else if (event.key === "ArrowRight" && moments.hasBelow[row] && folded) toggle(row);
    else if (event.key === "ArrowRight" && moments.hasBelow[row]) focusRow(rows[at + 1]);
    else if (event.key === "Enter" || event.key === " ") choose(view.node === row ? -1 : row);
    else if (event.key.startsWith("Arrow")) { /* nothing in this direction */ }
    else return;
    event.preventDefault();
  }

  function choose(node) {
    view.node = node;
    ui.pending.first();
    ui.running.first();
    draw();
  }

  // --- the workloads

  // The duration of the state of a workload; files without times have none.
  function sinceText(i, now) {
    return data.kind === "state" && data.zero === null && since(i, now) === 0 ? "—" : duration(Math.round(since(i, now)));
  }

  function since(i, now) {
    const t = data.events.t[now.row[i]];
    if (now.state[i] !== PENDING) return Math.max(0, view.t - t);
    return Math.max(0, view.t - Math.min(data.workloads.created[i], t));
  }

  function drawWorkloads(now) {
    const {workloads} = data, words = view.words.toLowerCase(), pending = [], running = [];
    let longest = -1;
    const isTree = view.node < 0 || data.nodes[view.node].kind === "Cohort";
    for (const i of !data.ordered ? moments.byPriority : isTree ? moments.byTime : moments.all) {
      const state = now.state[i];
      if (!state || state === GONE) continue;
      if (state === PENDING && (longest < 0 || since(i, now) > since(longest, now))) longest = i;
      if (view.node >= 0 && !moments.isBelow(workloads.queue[i], view.node)) continue;
      if (words && !matches(i, now, words)) continue;
      (state === PENDING ? pending : running).push(i);
    }
    showProblem(now, longest);
    running.sort((a, b) => data.events.t[now.row[b]] - data.events.t[now.row[a]] || a - b);
    const where = view.node < 0 ? "" : ` in ${data.nodes[view.node].kind} ${data.nodes[view.node].name}`;
    const filtered = words ? ` that match “${view.words}”` : "";
    const title = (list, what) => `${counted(list.length, `${what} workload`)}${where}${filtered}`;
    ui.pending.show(pending.map(i => ({i, now})), title(pending, "pending"), "No workload is pending.");
    ui.running.show(running.map(i => ({i, now})), title(running, "running"), "No workload is running.");
    ui.clear.hidden = view.node < 0 && !words;
  }

  // The queue with the most pending workloads, the workload that is pending longest, and what to do next.
  function showProblem(now, longest) {
    if (longest < 0) { setText(ui.problem, "No workload is pending."); return; }
    const queues = tree.order.filter(row => data.nodes[row].kind === "ClusterQueue" && now.pending[row]);
    const most = queues.reduce((best, row) => best < 0 || now.pending[row] > now.pending[best] ? row : best, -1);
    const wait = sinceText(longest, now), long = wait === "—" ? "" : `, for ${wait}`;
    const parts = ["Largest problem: "];
    if (most >= 0) parts.push(isolated(data.nodes[most].name), ` has ${counted(now.pending[most], "pending workload")}; `);
    parts.push(isolated(data.workloads.name[longest]), ` has been pending longest${long}. Next step: select it in the list below to read why.`);
    const text = parts.map(part => part.textContent || part).join("");
    if (ui.problem.textContent !== text) ui.problem.replaceChildren(...parts);
  }

  function matches(i, now, words) {
    const {workloads} = data, queue = data.nodes[workloads.queue[i]];
    return [workloads.name[i], queue ? queue.name : "", data.texts[workloads.local[i]], data.texts[data.events.note[now.row[i]]]]
      .some(text => text.toLowerCase().includes(words));
  }

  const explanationOf = i => (view.t === data.end && data.explained[i]) || null; // explanations apply to the end only

  function reasonOf(i, now) {
    const note = data.texts[data.events.note[now.row[i]]];
    const about = explanationOf(i);
    return note || (about && (about.message || (data.causes[about.causes[0]] || [about.headline])[0])) || derived(i);
  }

  // What the data says about a workload whose reason was not recorded.
  function derived(i) {
    const node = data.workloads.queue[i];
    if (node < 0) return "Its LocalQueue names no ClusterQueue that exists.";
    const asked = data.shapes[data.workloads.shape[i]].amounts, parts = [];
    for (const [resource, amount] of Object.entries(asked)) {
      let nominal = 0, used = 0, unit = null;
      data.cells.forEach((pair, place) => {
        if (pair.resource !== resource) return;
        const quota = quotaOf(place);
        unit = pair;
        nominal += quota.nominal[node];
        used += quota.used[node];
      });
      if (unit) parts.push(`${number(amount / unit.per)} ${unit.unit} (${data.nodes[node].name} uses ${number(used / unit.per)} of ${number(nominal / unit.per)})`);
    }
    return parts.length ? `Requests ${parts.join(", ")}` : "No reason is recorded.";
  }

  const quotas = {t: null, of: new Map()};
  function quotaOf(pair) { // of the selected time, once for all rows
    if (quotas.t !== view.t || quotas.data !== data) Object.assign(quotas, {t: view.t, data, of: new Map()});
    if (!quotas.of.has(pair)) quotas.of.set(pair, moments.quota(pair, view.t));
    return quotas.of.get(pair);
  }

  const isolated = text => make("bdi", {text});
  const shared = [
    ["Workload", "wide", ({i}) => data.workloads.name[i]],
    ["ClusterQueue", "", ({i}) => data.workloads.queue[i] < 0 ? "—" : data.nodes[data.workloads.queue[i]].name],
    ["Priority", "kq-n small", ({i}) => String(data.workloads.priority[i])],
  ];
  const requests = ["Requests", "", ({i}) => data.shapes[data.workloads.shape[i]].text];

  function stateText(state) {
    return {[PENDING]: "pending", [RESERVED]: "quota reserved, waits for admission checks", [ADMITTED]: "admitted", [EVICTED]: "evicted, still holds quota"}[state];
  }

  // --- the dialog with the explanation of a workload

  function explain(i, now) {
    const {workloads} = data, state = now.state[i], note = data.texts[data.events.note[now.row[i]]];
    const facts = [
      ["State", stateText(state)],
      [state === PENDING ? "Time since submission" : "In this state for", sinceText(i, now)],
      ["ClusterQueue", workloads.queue[i] < 0 ? "none" : data.nodes[workloads.queue[i]].name],
      ["LocalQueue", data.texts[workloads.local[i]]],
      ["Priority", String(workloads.priority[i])],
      ["Requests", data.shapes[workloads.shape[i]].text],
    ];
    if (state !== PENDING && note) facts.push(["Flavors", note]);
    ui.about.replaceChildren(
      make("h2", {id: "about", tabIndex: -1}, isolated(workloads.name[i])),
      make("dl", {}, ...facts.flatMap(([name, text]) => [make("dt", {text: name}), make("dd", {}, isolated(text))])),
      ui.why = make("div", {role: "status"}),
    );
    why(i, now, state);
    if (!ui.dialog.open) ui.dialog.showModal();
    document.getElementById("about").focus();
  }

  async function why(i, now, state) {
    const place = ui.why, name = data.workloads.name[i], about = state === PENDING ? explanationOf(i) : null;
    const render = (headline, message, causes, indices) => place.replaceChildren(
      make("h3", {text: headline}), ...(message ? [make("p", {text: message})] : []), causeList(causes, indices));
    if (about) {
      render(about.headline, about.message, data.causes, about.causes);
      return undefined;
    }
    if (state === PENDING) place.append(make("h3", {text: "Reason"}), make("p", {text: reasonOf(i, now)}));
    if (data.asks) {
      const waiting = make("p", {className: "kq-quiet", text: "Asking for the explanation…"});
      place.append(waiting);
      try {
        const answer = await fetch(`explain?${new URLSearchParams({name, t: view.t})}`);
        const found = await answer.json();
        if (ui.why !== place) return undefined;
        if (found.error) waiting.textContent = found.error; else render(found.headline, found.message, found.texts, found.causes);
      } catch { waiting.textContent = "kueuepy serve has stopped or cannot be reached."; }
      return undefined;
    }
    const command = data.command && view.t === data.end ? data.command.replace("{name}", () => name) : "";
    const missing = data.kind === "result"
      ? "The page contains explanations for the end of the simulation. In Python, result.at(time).explain(name) explains any other time."
      : data.kind === "recording" && view.t !== data.end
        ? "The reason is the one that the cluster had written at that time. kueuepy serve explains every time of a recording."
        : command ? "The page contains the whole explanation of the first pending workloads of each queue. This command explains this one:" : "";
    if (missing) place.append(make("p", {className: "kq-quiet", text: missing}));
    if (command && data.kind !== "result") place.append(make("pre", {}, make("code", {text: command})));
    return undefined;
  }

  // --- the time

  function seek(t) {
    view.t = Math.min(data.end, Math.max(0, t));
    draw();
  }

  function play(on) {
    view.playing = on;
    ui.play.textContent = on ? "Pause" : "Play";
    ui.when.setAttribute("aria-live", on ? "off" : "polite");
    if (!on) return;
    if (view.t >= data.end) view.t = 0;
    let before = performance.now();
    const slow = matchMedia("(prefers-reduced-motion: reduce)").matches ? 1000 : 0;
    const frame = time => {
      if (!view.playing) return;
      if (time - before >= slow) {
        const next = view.t + (time - before) / 1000 * data.end / +ui.speed.value;
        before = time;
        seek(next);
        if (next >= data.end) { play(false); return; }
      }
      requestAnimationFrame(frame);
    };
    requestAnimationFrame(frame);
  }

  function step(by) {
    const at = lastAt(moments.times, view.t), exact = moments.times[at] === view.t;
    const next = by > 0 ? at + 1 : exact ? at - 1 : at;
    if (moments.times[next] !== undefined) seek(moments.times[next]);
  }

  function drawStrips() {
    const steps = 400;
    if (!isPeriod()) { ui.strips.replaceChildren(); strips = []; return; }
    const all = moments.overview(view.pair, steps), pair = data.cells[view.pair];
    const text = value => `${amount(value)} ${pair ? pair.unit : ""}`;
    strips = [
      strip(`Usage of ${pair ? pairName(pair) : "quota"}; the line is the nominal quota of all queues`, all.at, all.used, all.nominal, text),
      strip("Pending workloads", all.at, all.pending, null, count),
    ];
    ui.strips.replaceChildren(...strips.map(one => one.node), timeAxis(data.end));
  }

  function drawTime() {
    ui.time.hidden = !isPeriod();
    if (!isPeriod()) return;
    ui.slider.max = data.end;
    ui.slider.step = data.end / 1000;
    ui.slider.value = view.t;
    ui.slider.setAttribute("aria-valuetext", timeText(view.t));
    ui.when.textContent = timeText(view.t);
    for (const one of strips) one.move(view.t / data.end);
  }

  // --- the racks

  function drawRacks() {
    ui.racks.hidden = !data.racks.length;
    const atEnd = view.t === data.end, state = `${atEnd}`;
    if (ui.racks.dataset.drawn === state && ui.racks.drawnOf === data) return;
    ui.racks.dataset.drawn = state;
    ui.racks.drawnOf = data;
    const heading = make("h2", {text: "Topology"});
    if (!atEnd) {
      ui.racks.replaceChildren(heading, make("p", {className: "kq-quiet", text: "The racks are known at the end of the period only; move the time slider to the end."}));
      return;
    }
    ui.racks.replaceChildren(heading, ...data.racks.map(rack => {
      const title = `${rack.topology}, ResourceFlavor ${rack.flavor}: ${counted(rack.domains.length, "domain")}, ${rack.unit}`;
      const made = make("details", {open: rack.domains.length <= 200}, make("summary", {text: title}));
      const fill = () => { if (made.open && made.children.length === 1) made.append(rackList(rack)); };
      made.addEventListener("toggle", fill);
      fill();
      return made;
    }));
  }

  // --- the whole

  // The number of workloads in each state, in the words of `kueuepy import`.
  function sums(now) {
    const totals = new Map([[PENDING, 0], [RESERVED, 0], [ADMITTED, 0], [EVICTED, 0]]);
    for (const state of now.state) if (totals.has(state)) totals.set(state, totals.get(state) + 1);
    const shown = [...totals].filter(([state, total]) => total || state === PENDING || state === ADMITTED);
    return `Workloads: ${shown.map(([state, total]) => `${count(total)} ${stateText(state).split(",")[0]}`).join(", ")}`;
  }

  function draw() {
    const begin = performance.now(), now = moments.states(view.t);
    drawTime();
    drawTree(now);
    drawWorkloads(now);
    drawRacks();
    ui.sums.textContent = sums(now);
    root.dataset.ms = (performance.now() - begin).toFixed(1);
    remember();
  }

  // The address has the time, the queue and the resource, so that a link opens the same view.
  function remember() {
    const state = new URLSearchParams();
    if (view.t !== data.end) state.set("t", view.t.toFixed(3));
    if (view.node >= 0) state.set("node", key(data.nodes[view.node]));
    if (view.pair !== data.limiting) state.set("pair", pairName(data.cells[view.pair]));
    clearTimeout(ui.later); // browsers limit the number of changes of the address
    ui.later = setTimeout(() => {
      try { history.replaceState(null, "", `#${state}`); } catch { /* a frame without an address */ }
    }, 200);
  }

  function recall() {
    const state = new URLSearchParams(location.hash.slice(1)), t = Number(state.get("t") || NaN);
    if (t >= 0 && t <= data.end) view.t = t;
    view.node = data.nodes.findIndex(node => key(node) === state.get("node"));
    const pair = data.cells.findIndex(one => pairName(one) === state.get("pair"));
    view.pair = pair < 0 ? data.limiting : pair;
    if (view.node >= 0) view.focus = view.node;
  }

  function describe() {
    document.title = data.title;
    ui.title.textContent = data.title;
    ui.source.textContent = [data.policy ? `Policy: ${data.policy} (kueuepy compare shows whether another policy is better)` : "", data.source, isPeriod() ? "" : data.zero === null ? "" : timeText(0)].filter(Boolean).join(", ");
    ui.pair.replaceChildren(...data.cells.map((pair, row) => make("option", {value: row, text: pairName(pair)})));
    ui.pair.value = view.pair;
    ui.unit.textContent = data.cells.length ? `Amounts in ${data.cells[view.pair].unit}` : "No quota is defined.";
    ui.notes.hidden = !data.notes.length;
    ui.notes.replaceChildren(make("summary", {text: counted(data.notes.length, "note")}), make("ul", {}, ...data.notes.map(text => make("li", {text}))));
    ui.made.textContent = data.made;
  }

  function build() {
    const field = (text, control) => make("label", {}, make("span", {text}), control);
    const button = (text, label, act) => {
      const made = make("button", {type: "button", text, "aria-label": label});
      made.addEventListener("click", act);
      return made;
    };
    ui.title = make("h1");
    ui.source = make("p", {className: "kq-quiet"});
    ui.sums = make("p", {className: "sums"});
    ui.problem = make("p", {className: "problem"});
    ui.fault = make("p", {className: "kq-warning", role: "alert", hidden: true});
    ui.notes = make("details", {className: "notes"});
    ui.pair = make("select");
    ui.search = make("input", {type: "search", placeholder: "name, queue or reason"});
    ui.clear = button("Show all workloads", "Show all workloads", () => { ui.search.value = view.words = ""; choose(-1); });
    ui.unit = make("p", {className: "kq-quiet"});
    ui.slider = make("input", {type: "range", min: 0, "aria-label": "Time"});
    ui.when = make("output", {"aria-live": "polite"});
    ui.play = make("button", {type: "button", text: "Play"});
    ui.speed = make("select", {}, make("option", {value: 120, text: "2 min"}), make("option", {value: 60, text: "1 min"}), make("option", {value: 20, text: "20 s"}));
    ui.speed.value = 60;
    ui.strips = make("div", {className: "strips"});
    ui.time = make("section", {className: "time", "aria-label": "Time"}, ui.strips, ui.slider,
      make("div", {className: "controls"}, button("Previous change", "Previous change", () => step(-1)), ui.play,
        button("Next change", "Next change", () => step(1)), field("Play the whole period in", ui.speed), ui.when));
    ui.tree = make("tbody", {role: "rowgroup"});
    const heads = [["Cohort or ClusterQueue", "name"], ["Quota", ""], ["Used", "kq-n"], ["Nominal", "kq-n"], ["Borrowed", "kq-n"], ["Lent", "kq-n"], ["Pending", "kq-n"], ["Running", "kq-n"]];
    const table = make("table", {className: "tree", role: "treegrid", "aria-label": "Cohorts and ClusterQueues; press Enter to show the workloads of one"},
      make("thead", {role: "rowgroup"}, make("tr", {role: "row"}, ...heads.map(([text, kind]) => make("th", {text, className: kind, scope: "col", role: "columnheader"})))), ui.tree);
    ui.tree.addEventListener("keydown", treeKeys);
    const signs = [["own", "used"], ["over", "borrowed"], ["lent", "lent"], ["free", "free"]];
    const legend = make("div", {className: "kq-quiet"},
      make("p", {className: "signs"}, ...signs.map(([kind, text]) => make("span", {}, make("i", {className: `sign ${kind} cohort`, "aria-hidden": "true"}), text))),
      make("p", {text: "A whole bar is the nominal quota, or the usage if it is larger. Kueue does not record whose quota is borrowed; borrowed quota is divided among the lenders in proportion to their unused quota, and marked with ≈."}));
    const open = ({i, now}) => explain(i, now);
    ui.pending = listing("Pending workloads", [...shared, ["Since submission", "kq-n", ({i, now}) => sinceText(i, now)], requests,
      ["Reason", "reason", ({i, now}) => reasonOf(i, now)]], open);
    ui.running = listing("Running workloads", [...shared, ["Running", "kq-n", ({i, now}) => sinceText(i, now)], requests,
      ["Flavors", "", ({i, now}) => data.texts[data.events.note[now.row[i]]]], ["State", "", ({i, now}) => stateText(now.state[i])]], open);
    ui.racks = make("section", {className: "topology", "aria-label": "Topology"});
    ui.about = make("div");
    ui.dialog = make("dialog", {"aria-labelledby": "about"}, make("form", {method: "dialog"}, make("button", {text: "Close"})), ui.about);
    ui.made = make("p", {className: "kq-quiet"});
    root.append(
      make("header", {}, ui.title, ui.source, ui.sums, ui.problem, ui.fault, ui.notes),
      ui.time,
      make("main", {},
        make("section", {"aria-label": "Quota"}, make("div", {className: "controls"}, field("Flavor and resource", ui.pair), ui.unit), make("div", {className: "kq-scroll"}, table), legend),
        make("section", {"aria-label": "Workloads"}, make("div", {className: "controls"}, field("Find workloads", ui.search), ui.clear), ...ui.pending.parts,
          make("p", {className: "kq-quiet", text: "A reason is the message of Kueue at the last scheduling attempt of the workload; quota may have changed since. InCohortReclamation: a ClusterQueue takes back quota that others of its cohort borrowed."}), ...ui.running.parts),
        ui.racks),
      make("footer", {}, ui.made), ui.dialog);
    ui.slider.addEventListener("input", () => { play(false); seek(+ui.slider.value >= data.end - data.end / 2000 ? data.end : +ui.slider.value); });
    ui.play.addEventListener("click", () => play(!view.playing));
    ui.pair.addEventListener("change", () => { view.pair = +ui.pair.value; describe(); drawStrips(); draw(); });
    ui.search.addEventListener("input", () => { view.words = ui.search.value.trim(); ui.pending.first(); ui.running.first(); draw(); });
    ui.dialog.addEventListener("click", event => { if (event.target === ui.dialog) ui.dialog.close(); });
    ui.dialog.querySelector("form").addEventListener("submit", event => { event.preventDefault(); ui.dialog.close(); });
  }

  // Replaces the data and keeps the view: the selected node and resource, and the end of the period if it was shown.
  function replace(next) {
    const atEnd = view.t === data.end, node = view.node < 0 ? "" : key(data.nodes[view.node]), pair = data.cells[view.pair];
    const focus = data.nodes[view.focus] ? key(data.nodes[view.focus]) : "";
    data = next;
    moments = clusterMoments(data);
    view.t = atEnd ? data.end : Math.min(view.t, data.end);
    view.node = data.nodes.findIndex(one => key(one) === node);
    view.focus = Math.max(0, data.nodes.findIndex(one => key(one) === focus));
    view.pair = Math.max(0, data.cells.findIndex(one => pair && pairName(one) === pairName(pair)));
    show();
  }

  async function follow() {
    try {
      const answer = await fetch("data", {headers: tag ? {"If-None-Match": tag} : {}});
      if (answer.status === 200) {
        const known = tag;
        tag = answer.headers.get("ETag") || "";
        const next = await answer.json();
        if (next.error) throw new Error(next.error);
        if (known) replace(next);
      }
      ui.fault.hidden = true;
    } catch (fault) {
      ui.fault.textContent = `The page is not up to date: ${fault instanceof TypeError ? "kueuepy serve has stopped or cannot be reached" : fault.message}`;
      ui.fault.hidden = false;
    }
    setTimeout(follow, 1000 * (data.every || 5));
  }

  function show() {
    describe();
    drawStrips();
    draw();
  }

  build();
  recall();
  show();
  if (data.asks) follow();
  return {seek, draw, replace, get ms() { return +root.dataset.ms; }};
}

const cluster = clusterPage(document.getElementById("page"), JSON.parse(document.getElementById("data").textContent));
