// The view of a playground, for the page and the widget. `ask` accepts a question, that is the values of the sliders
// and the number of the part, and returns a promise of the answer.
"use strict";

// With `address`, the fragment of the page's address has the changed values, so that a link opens the same view.
function playground(root, knobs, ask, {address = false} = {}) {
  const now = {}, parts = {}, past = [], future = [], labels = {
    nominalQuota: "nominal quota", borrowingLimit: "borrowing limit", lendingLimit: "lending limit", weight: "weight",
  };
  let saved = "{}";
  let first = null, last = null, busy = false, again = false;

  function element(tag, text, options = {}) {
    const made = document.createElement(tag);
    if (text !== undefined) made.textContent = text;
    return Object.assign(made, options);
  }
  function drawn(tag, facts) {
    const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [name, value] of Object.entries(facts)) made.setAttribute(name, value);
    return made;
  }
  // An element whose text may be broken after each slash.
  function breakable(tag, text) {
    const made = element(tag);
    for (const piece of text.split(/(?<=\/)/)) made.append(piece, element("wbr"));
    return made;
  }
  function listed(texts) { return texts.length < 2 ? texts.join("") : `${texts.slice(0, -1).join(", ")} or ${texts[texts.length - 1]}`; }
  function part(name, tag, options) { return parts[name] = element(tag, undefined, {className: name, ...options}); }
  function table(name, heads) {
    const head = element("thead"), line = element("tr");
    line.append(...heads.map(([text, side]) => element("th", text, {className: side})));
    head.append(line);
    const made = part(name, "table");
    made.append(head, parts[name + "_rows"] = element("tbody"));
    return made;
  }
  // Three significant digits; whole numbers have no fraction.
  function digits(value) { return Number.isInteger(value) || Math.abs(value) >= 1000 ? +value.toPrecision(3) + "" : value.toPrecision(3); }
  function valueText(knob, value) { return value === null ? "no limit" : +value.toFixed(2) + knob.suffix; }

  function slider(knob) {
    const row = element("div", undefined, {className: "knob"});
    const range = element("input", undefined, {type: "range", min: 0, max: knob.most, step: knob.step});
    const label = labels[knob.what], name = `${knob.owner} ${knob.pair} ${label}`;
    range.setAttribute("aria-label", name);
    range.dataset.path = knob.path;
    const shown = element("output");
    const limited = element("input", undefined, {type: "checkbox"}), choice = element("label", undefined, {className: "choice"});
    limited.setAttribute("aria-label", `${name}: limited`);
    choice.append(limited, "limited");
    choice.hidden = knob.what === "nominalQuota" || knob.what === "weight";
    const show = value => {
      shown.textContent = valueText(knob, value);
      range.setAttribute("aria-valuetext", valueText(knob, value));
      row.classList.toggle("changed", value !== knob.value);
      row.classList.toggle("unlimited", value === null);
    };
    const set = value => {
      if (value === knob.value) delete now[knob.path]; else now[knob.path] = value;
      show(value);
      change();
    };
    range.addEventListener("input", () => { limited.checked = true; set(+range.value); });
    range.addEventListener("change", commit);
    limited.addEventListener("change", () => { set(limited.checked ? +range.value : null); commit(); });
    knob.set = value => {
      range.value = value === null ? knob.most : value; // no limit is more than the largest limit
      limited.checked = value !== null;
      if (value === knob.value) delete now[knob.path]; else now[knob.path] = value;
      show(value);
    };
    knob.set(knob.value);
    row.append(element("span", label), range, shown, choice);
    return row;
  }

  // --- what was changed, and how to take it back

  function commit() {
    const state = JSON.stringify(now);
    if (state === saved) return;
    past.push(saved);
    future.length = 0;
    saved = state;
    changed();
  }
  function move(from, to) {
    if (!from.length) return;
    to.push(saved);
    saved = from.pop();
    apply(JSON.parse(saved));
  }
  function apply(values) {
    for (const knob of knobs) knob.set(knob.path in values ? values[knob.path] : knob.value);
    changed();
    change();
  }
  function sentence(knob, value) {
    const what = `${knob.owner}: ${labels[knob.what]}${knob.pair ? ` of ${knob.pair}` : ""}`;
    if (value === null) return `${what} removed; it was ${valueText(knob, knob.value)}`;
    if (knob.value === null) return `${what} set to ${valueText(knob, value)}; there was no limit`;
    return `${what} ${value > knob.value ? "raised" : "lowered"} from ${valueText(knob, knob.value)} to ${valueText(knob, value)}`;
  }
  // Shows the changes in words, each with a button that takes it back.
  function changed() {
    const list = knobs.filter(knob => knob.path in now);
    parts.changes.replaceChildren(...list.map(knob => {
      const item = element("li"), text = sentence(knob, now[knob.path]);
      const back = element("button", "Take back", {type: "button"});
      back.setAttribute("aria-label", `Take back: ${text}`);
      back.addEventListener("click", () => { knob.set(knob.value); commit(); changed(); change(); parts.reset.focus(); });
      item.append(text, " ", back);
      return item;
    }));
    parts.none.hidden = list.length > 0;
    parts.undo.disabled = !past.length;
    parts.redo.disabled = !future.length;
    parts.reset.disabled = parts.patch.disabled = !list.length;
    if (address) {
      const state = new URLSearchParams(list.map(knob => [knob.path, now[knob.path] === null ? "none" : String(now[knob.path])]));
      history.replaceState(null, "", list.length ? `#${state}` : location.pathname);
    }
  }
  // Reads the values of the address; a path without a slider and a value out of its range are left out.
  function linked() {
    const found = {}, given = new URLSearchParams(location.hash.slice(1));
    for (const knob of knobs) {
      const text = given.get(knob.path), limit = knob.what === "borrowingLimit" || knob.what === "lendingLimit";
      if (text === "none" && limit) found[knob.path] = null;
      else if (text && +text >= 0 && +text <= knob.most) found[knob.path] = +text;
    }
    return found;
  }
  async function copy(text, status) {
    try {
      await navigator.clipboard.writeText(text);
      parts.status.textContent = status;
    } catch {
      parts.status.textContent = "The browser does not allow copying; select the text:";
      parts.text.hidden = false;
      parts.text.value = text;
      parts.text.select();
    }
  }
  async function copyPatch() {
    const found = await ask({values: {...now}, patch: true});
    if (found.error) { parts.error.textContent = found.error; return; }
    parts.text.hidden = false;
    parts.text.value = found.patch;
    await copy(found.patch, "The patch is copied; kueuepy whatif --edit FILE and kubectl patch --type merge accept it.");
  }

  // Asks for the result of the current values. A change during a question is asked after its answer. The answer of a
  // long simulation comes in parts, so that the page updates early.
  async function change() {
    if (busy) { again = true; return; }
    busy = true;
    do {
      again = false;
      const begin = performance.now();
      try {
        if (!first && Object.keys(now).length) { // a link has changed values; the original ones are asked first
          for (let part = 0, more = true; more; part++) {
            const found = await ask({values: {}, part});
            more = !!found.more;
            if (!more && !found.error) first = found;
          }
          if (first) orderSliders();
        }
        for (let part = 0, more = true; more && !again; part++) {
          const found = await ask({values: {...now}, part});
          more = !!found.more;
          take(found, performance.now() - begin);
        }
      } catch (fault) { parts.error.textContent = "kueuepy has stopped or cannot be reached"; }
    } while (again);
    busy = false;
  }

  function take(found, took) {
    parts.error.textContent = found.error || "";
    if (found.error) return;
    if (!found.more) first = first || found;
    last = found;
    redraw();
    parts.took.textContent = found.more
      ? `simulated ${span(found.seconds)}, still running`
      : `${Math.round(took)} ms in total, ${Math.round(found.ms)} ms of simulation`;
  }

  function redraw() {
    if (!last) return;
    const cells = [...new Set(last.series.rows.map(row => row.pair))];
    if (parts.pair.options.length !== cells.length) parts.pair.replaceChildren(...cells.map(name => element("option", name)));
    const pair = parts.pair.value || cells[0];
    const rows = last.series.rows.filter(row => row.pair === pair);
    const known = Object.fromEntries(last.tree.filter(node => node.kind === "ClusterQueue").map(node => [node.name, node.look]));
    const colour = name => known[name];
    parts.time.max = last.series.all - 1;
    stack(rows, colour);
    tree(rows, colour);
    figures();
  }

  function stack(rows, colour) {
    const points = last.series.points, all = last.series.all, wide = 690, high = 200;
    const sum = new Array(points).fill(0), nominal = new Array(points).fill(0);
    for (const row of rows) for (let i = 0; i < points; i++) { sum[i] += row.used[i] || 0; nominal[i] += row.nominal[i] || 0; }
    const top = Math.max(1, ...sum, ...nominal) * 1.05;
    const x = i => (60 + wide * i / all).toFixed(1), y = v => (10 + high * (1 - v / top)).toFixed(1);
    const made = [], below = new Array(points).fill(0);
    for (const row of rows) {
      let up = "", down = "";
      for (let i = 0; i < points; i++) {
        const from = below[i], to = from + (row.used[i] || 0);
        up += `${x(i)},${y(to)} ${x(i + 1)},${y(to)} `;
        down = `${x(i + 1)},${y(from)} ${x(i)},${y(from)} ` + down;
        below[i] = to;
      }
      const layer = drawn("polygon", {points: up + down, class: colour(row.queue)});
      layer.append(Object.assign(drawn("title", {}), {textContent: row.queue}));
      made.push(layer);
    }
    let line = "";
    for (let i = 0; i < points; i++) line += `${x(i)},${y(nominal[i])} ${x(i + 1)},${y(nominal[i])} `;
    const side = drawn("text", {"text-anchor": "middle"}), ticks = [];
    side.textContent = `Usage (${amountUnit()})`;
    made.push(Object.assign(drawn("title", {}), {textContent: `Usage (${amountUnit()}) of each ClusterQueue over time`}), side);
    made.push(drawn("polyline", {points: line, fill: "none", stroke: "currentColor", "stroke-dasharray": "4 3"}));
    for (const share of [0, 0.5, 1]) {
      const value = top / 1.05 * share;
      const tick = drawn("text", {x: 54, y: +y(value) + 4, "text-anchor": "end"});
      tick.textContent = amount(value);
      ticks.push(tick);
    }
    const length = last.series.step * all, gap = roundSpan(length / 6);
    for (let at = 0; at <= length; at += gap) {
      const place = 60 + wide * at / length, isLast = place > 720;
      made.push(drawn("path", {d: `M${place.toFixed(1)} ${10 + high}v4`, stroke: "currentColor"}));
      const hour = drawn("text", {x: place.toFixed(1), y: 228, "text-anchor": isLast ? "end" : "middle"});
      hour.textContent = spanIn(at, gap);
      made.push(hour);
    }
    const at = +parts.time.value;
    if (at >= 0) made.push(drawn("line", {x1: x(at + 0.5), x2: x(at + 0.5), y1: 10, y2: 10 + high, stroke: "currentColor"}));
    parts.usage.replaceChildren(...made, ...ticks);
    placeBeside(ticks, side);
    const key = (kind, text) => {
      const item = element("span"), sign = element("i", undefined, {className: kind});
      item.append(sign, text);
      return item;
    };
    parts.legend.replaceChildren(
      ...rows.map(row => key(`colour ${colour(row.queue)}`, row.queue)),
      key("dashes", "total nominal quota"),
    );
  }

  // The size of the text depends on the width of the screen, so the label of the axis is placed by the drawn ticks.
  function placeBeside(ticks, side) {
    const left = Math.min(54, ...ticks.map(tick => tick.getBBox()).filter(box => box.width).map(box => box.x));
    const tall = side.getBBox().height, base = left - 0.4 * tall, edge = Math.min(0, Math.floor(base - tall));
    side.setAttribute("transform", `translate(${base.toFixed(1)} 110) rotate(-90)`);
    parts.usage.setAttribute("viewBox", `${edge} 0 ${760 - edge} 240`);
  }

  function amountUnit() {
    const resource = (parts.pair.value || "").split("/").slice(1).join("/");
    return resource === "cpu" ? "cores" : resource.endsWith("/gpu") ? "GPUs" : resource;
  }
  function amount(value) {
    const resource = (parts.pair.value || "").split("/").slice(1).join("/");
    if (resource === "cpu") return digits(value / 1000);
    if (value >= 2 ** 20) return +(value / 2 ** 30).toPrecision(3) + "Gi";
    return digits(value);
  }
  function roundSpan(seconds) {
    const steps = [1, 10, 60, 300, 600, 1800, 3600, 7200, 21600, 43200, 86400, 172800, 604800];
    return steps.find(step => step >= seconds) || Math.ceil(seconds / 604800) * 604800;
  }
  // A time of an axis, in the unit of the distance between its ticks.
  function spanIn(seconds, gap) {
    const [unit, size] = [["d", 86400], ["h", 3600], ["min", 60], ["s", 1]].find(([, one]) => one <= gap);
    return `${+(seconds / size).toFixed(1)} ${unit}`;
  }
  function span(seconds) {
    return seconds >= 2 * 86400 ? +(seconds / 86400).toFixed(1) + " d" : seconds >= 7200 ? +(seconds / 3600).toFixed(1) + " h" : Math.round(seconds / 60) + " min";
  }

  function tree(rows, colour) {
    const at = +parts.time.value;
    parts.when.textContent = at < 0 ? "mean over the whole run" : "after " + span(last.series.step * at);
    const value = (row, fact) => at < 0 ? row[fact].reduce((a, b) => a + b, 0) / row[fact].length : row[fact][at] || 0;
    const facts = node => {
      const mine = rows.filter(row => node.queues.includes(row.queue));
      const sum = fact => mine.reduce((all, row) => all + value(row, fact), 0);
      return {mine, used: sum("used"), nominal: sum("nominal"), waiting: sum("waiting")};
    };
    const all = last.tree.map(node => [node, facts(node)]);
    const most = Math.max(1, ...all.map(([, f]) => Math.max(f.used, f.nominal)));
    parts.tree.tHead.rows[0].cells[1].textContent = `Usage (${amountUnit()})`;
    parts.tree.tHead.rows[0].cells[2].textContent = `Nominal quota (${amountUnit()})`;
    parts.tree_rows.replaceChildren(...all.map(([node, f]) => {
      const line = element("tr");
      const name = element("td", "\u2003".repeat(node.depth));
      if (node.kind === "ClusterQueue") {
        name.append(element("i", undefined, {className: `colour ${node.look}`}));
      }
      name.append(node.name);
      const bar = drawn("svg", {class: "bar", viewBox: "0 0 260 14", preserveAspectRatio: "none", "aria-hidden": "true"});
      let left = 0;
      for (const row of f.mine) {
        const wide = 258 * value(row, "used") / most;
        bar.append(drawn("rect", {x: left, y: 2, width: Math.max(0, wide), height: 10, class: colour(row.queue)}));
        left += wide;
      }
      const mark = 258 * f.nominal / most;
      bar.append(drawn("line", {x1: mark, x2: mark, y1: 0, y2: 14, stroke: "currentColor", "stroke-width": 2}));
      const held = element("td");
      held.append(bar);
      line.append(name, ...[amount(f.used), amount(f.nominal), digits(f.waiting)].map(text => element("td", text, {className: "n"})), held);
      return line;
    }));
  }

  // What the changes do, in words: metrics that differ from those of the original values.
  function effects() {
    const before = Object.fromEntries(first.figures.map(figure => [figure.name, figure]));
    const found = last.figures.filter(figure => before[figure.name] && before[figure.name].text !== figure.text);
    parts.effects.replaceChildren(...found.map(figure => {
      const was = before[figure.name], up = figure.value > was.value;
      const good = figure.better && figure.value !== null && was.value !== null ? (up ? "more" : "less") === figure.better : null;
      const item = element("li", `${figure.label}: ${was.text} → ${figure.text}${good === null ? "" : good ? " (better)" : " (worse)"}`);
      return item;
    }));
    parts.same.hidden = found.length > 0;
    parts.sure.hidden = !found.length;
    parts.same.textContent = Object.keys(now).length ? "The changes have no effect on these metrics." : "Move a slider to see its effect on the same jobs.";
  }

  // Sliders in the order of the tree, which is known with the first answer.
  function orderSliders() {
    const order = new Map(first.tree.map((node, place) => [node.name, place]));
    const groups = [...left.children].sort((a, b) => order.get(a.dataset.owner) - order.get(b.dataset.owner));
    if (groups.every((group, place) => group === left.children[place])) return;
    // The group with the focus is not moved: an element that is moved loses the focus.
    const held = Math.max(0, groups.findIndex(group => group.contains(root.getRootNode().activeElement)));
    groups[held].before(...groups.slice(0, held));
    groups[held].after(...groups.slice(held + 1));
  }

  function figures() {
    parts.figures.classList.toggle("going", !!last.more);
    if (last.more) return;
    if (last === first) orderSliders();
    effects();
    parts.policy.textContent = last.policy ? `Original policy: ${last.policy}` : "";
    parts.problem.textContent = last.problem.join(" ").replace(/^Largest problem: /, "");
    const before = Object.fromEntries(first.figures.map(figure => [figure.name, figure.text]));
    parts.figures_rows.replaceChildren(...last.figures.map(figure => {
      const line = element("tr");
      line.append(breakable("td", figure.label), element("td", figure.text, {className: "n"}), element("td", before[figure.name] || "", {className: "n"}));
      if (before[figure.name] !== figure.text) line.classList.add("changed");
      return line;
    }));
    parts.warnings.replaceChildren(...last.warnings.map(text => element("div", text)));
  }

  const left = element("div", undefined, {className: "left"}), right = element("main", undefined, {className: "right"});
  const button = (name, text, act) => {
    part(name, "button", {type: "button", textContent: text}).addEventListener("click", act);
    return parts[name];
  };
  const bar = element("div", undefined, {className: "bar-of-buttons"}), summary = element("section", undefined, {className: "summary"});
  bar.append(button("undo", "Undo", () => move(past, future)), button("redo", "Redo", () => move(future, past)),
    button("reset", "Reset", () => { for (const knob of knobs) knob.set(knob.value); commit(); changed(); change(); }),
    button("patch", "Copy as YAML patch", copyPatch));
  if (address) bar.append(button("link", "Copy link", () => copy(location.href, "The link is copied. It opens these values while this kueuepy serve runs.")));
  part("status", "p").setAttribute("role", "status");
  part("text", "textarea", {readOnly: true, hidden: true, rows: 8}).setAttribute("aria-label", "Text to copy");
  summary.setAttribute("aria-label", "Changes and their effect");
  summary.append(element("h1", "Playground: what would other quotas change?"),
    part("policy", "p", {className: "kq-quiet"}),
    element("p", `Simulation of the same jobs for each change. Use the form to change ${listed([...new Set(knobs.map(knob => labels[knob.what]))].map(text => `a ${text}`))}.`, {className: "kq-quiet"}),
    bar, element("h2", "Changes"), part("none", "p", {textContent: "No value is changed."}),
    part("changes", "ul"), element("h2", "Effect"), part("same", "p"), part("effects", "ul"),
    part("sure", "p", {className: "kq-quiet", hidden: true, textContent: "Each change is one simulation of the same jobs. For confidence intervals, copy the patch and use kueuepy compare."}),
    element("h2", "Largest problem with the current values"), part("problem", "p"), parts.status, parts.text);
  parts.effects.setAttribute("role", "status");
  let owner = null, pairName = null, group = null;
  for (const knob of knobs) {
    if (knob.owner !== owner) {
      group = element("details", undefined, {open: owner === null || knobs.length <= 60});
      group.dataset.owner = knob.owner;
      group.append(element("summary", knob.owner));
      left.append(group);
      owner = knob.owner;
      pairName = null;
    }
    if (knob.pair !== pairName && knob.pair) { group.append(element("p", knob.pair, {className: "pair"})); pairName = knob.pair; }
    group.append(slider(knob));
  }
  const of = element("label", "Resource: "), at = element("label", "Time: "), when = element("div");
  of.append(part("pair", "select"));
  at.append(part("time", "input", {type: "range", min: -1, value: -1, step: 1}));
  when.append(at, " ", part("when", "span"));
  parts.usage = drawn("svg", {class: "usage", viewBox: "0 0 760 240", role: "img", "aria-label": "Usage of each ClusterQueue over time, stacked"});
  part("error", "div").setAttribute("role", "alert");
  part("took", "span").setAttribute("role", "status");
  parts.time.setAttribute("aria-label", "time");
  right.append(
    summary, parts.error, of, " ", parts.took, parts.usage, part("legend", "div"), when,
    element("p", "Means over time, or the amounts at the selected time. On each bar, the mark is the nominal quota of the queues.", {className: "kq-quiet"}), table("tree", [["Cohort or ClusterQueue", ""], ["Usage", "n"], ["Nominal quota", "n"], ["Waiting jobs", "n"], ["Usage and quota", ""]]),
    table("figures", [["Metric", ""], ["Current", "n"], ["Original", "n"]]),
    part("warnings", "div"),
  );
  const panes = element("div", undefined, {className: "panes"});
  panes.append(left, right);
  root.classList.add("kueuepy-play");
  root.replaceChildren(panes);
  root.addEventListener("keydown", event => {
    if (!(event.ctrlKey || event.metaKey) || event.key.toLowerCase() !== "z") return;
    if (event.shiftKey) move(future, past); else move(past, future);
    event.preventDefault();
  });
  parts.pair.addEventListener("change", redraw);
  parts.time.addEventListener("input", redraw);
  if (address) {
    addEventListener("hashchange", () => { apply(linked()); commit(); });
    const given = linked();
    if (Object.keys(given).length) {
      for (const knob of knobs) if (knob.path in given) knob.set(given[knob.path]);
      saved = JSON.stringify(now);
    }
  }
  changed();
  change();
  return {
    // Sets the sliders from code.
    set(values) {
      apply(values);
      commit();
    },
  };
}
