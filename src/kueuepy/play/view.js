// The view of a playground, for the page and the widget. `ask` accepts a question, that is the values of the sliders
// and the number of the part, and returns a promise of the answer.
"use strict";

function playground(root, knobs, ask) {
  const now = {}, parts = {};
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
  function part(name, tag, options) { return parts[name] = element(tag, undefined, {className: name, ...options}); }
  function table(name, heads) {
    const head = element("thead"), line = element("tr");
    line.append(...heads.map(([text, side]) => element("th", text, {className: side})));
    head.append(line);
    const made = part(name, "table");
    made.append(head, parts[name + "_rows"] = element("tbody"));
    return made;
  }
  function valueText(knob, value) { return value === null ? "" : +value.toFixed(2) + knob.suffix; }

  function slider(knob) {
    const row = element("div", undefined, {className: "knob"});
    const range = element("input", undefined, {type: "range", min: 0, max: knob.most, step: knob.step});
    const label = {nominalQuota: "nominal quota", borrowingLimit: "borrowing limit", lendingLimit: "lending limit", weight: "weight"}[knob.what];
    range.setAttribute("aria-label", `${knob.owner} ${knob.cell} ${label}`);
    range.dataset.path = knob.path;
    const shown = element("output");
    const unlimited = element("input", undefined, {type: "checkbox"}), choice = element("label", undefined, {className: "choice"});
    unlimited.setAttribute("aria-label", `${knob.owner} ${knob.cell} ${label}: no limit`);
    choice.append(unlimited, "no limit");
    choice.hidden = knob.what === "nominalQuota" || knob.what === "weight";
    const show = value => {
      shown.textContent = valueText(knob, value);
      row.classList.toggle("changed", value !== knob.value);
      row.classList.toggle("unlimited", value === null);
    };
    const set = value => {
      now[knob.path] = value;
      show(value);
      change();
    };
    range.addEventListener("input", () => { unlimited.checked = false; set(+range.value); });
    unlimited.addEventListener("change", () => set(unlimited.checked ? null : +range.value));
    knob.set = value => {
      range.value = value === null ? 0 : value;
      unlimited.checked = value === null;
      if (value === knob.value) delete now[knob.path]; else now[knob.path] = value;
      show(value);
    };
    knob.set(knob.value);
    row.append(element("span", label), range, shown, choice);
    return row;
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
        for (let part = 0, more = true; more && !again; part++) {
          const found = await ask({values: {...now}, part});
          more = !!found.more;
          take(found, performance.now() - begin);
        }
      } catch (fault) { parts.error.textContent = "kueuepy play has stopped or cannot be reached"; }
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
    const cells = [...new Set(last.series.rows.map(row => row.cell))];
    if (parts.cell.options.length !== cells.length) parts.cell.replaceChildren(...cells.map(name => element("option", name)));
    const cell = parts.cell.value || cells[0];
    const rows = last.series.rows.filter(row => row.cell === cell);
    const known = Object.fromEntries(last.tree.filter(node => node.kind === "ClusterQueue").map(node => [node.name, node.colour]));
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
      const layer = drawn("polygon", {points: up + down, fill: colour(row.queue), "fill-opacity": 0.8});
      layer.append(Object.assign(drawn("title", {}), {textContent: row.queue}));
      made.push(layer);
    }
    let line = "";
    for (let i = 0; i < points; i++) line += `${x(i)},${y(nominal[i])} ${x(i + 1)},${y(nominal[i])} `;
    made.push(drawn("polyline", {points: line, fill: "none", stroke: "currentColor", "stroke-dasharray": "4 3"}));
    for (const share of [0, 0.5, 1]) {
      const value = top / 1.05 * share;
      const tick = drawn("text", {x: 54, y: +y(value) + 4, "text-anchor": "end"});
      tick.textContent = amount(value);
      const hour = drawn("text", {x: x(all * share), y: 228, "text-anchor": share === 1 ? "end" : "middle"});
      hour.textContent = span(last.series.step * all * share);
      made.push(tick, hour);
    }
    const at = +parts.time.value;
    if (at >= 0) made.push(drawn("line", {x1: x(at + 0.5), x2: x(at + 0.5), y1: 10, y2: 10 + high, stroke: "currentColor"}));
    parts.usage.replaceChildren(...made);
    const key = (kind, style, text) => {
      const item = element("span"), sign = element("i", undefined, {className: kind});
      Object.assign(sign.style, style);
      item.append(sign, text);
      return item;
    };
    parts.legend.replaceChildren(
      ...rows.map(row => key("colour", {backgroundColor: colour(row.queue)}, row.queue)),
      key("dashes", {}, "total nominal quota"),
    );
  }

  function amount(value) {
    const resource = (parts.cell.value || "").split("/").slice(1).join("/");
    if (resource === "cpu") return +(value / 1000).toPrecision(4) + "";
    if (value >= 2 ** 20) return +(value / 2 ** 30).toPrecision(4) + "Gi";
    return +value.toPrecision(4) + "";
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
    parts.tree_rows.replaceChildren(...all.map(([node, f]) => {
      const line = element("tr");
      const name = element("td", "\u2003".repeat(node.depth));
      if (node.kind === "ClusterQueue") {
        const sign = element("i", undefined, {className: "colour"});
        sign.style.backgroundColor = node.colour;
        name.append(sign);
      }
      name.append(node.name);
      const bar = drawn("svg", {class: "bar", viewBox: "0 0 260 14"});
      let left = 0;
      for (const row of f.mine) {
        const wide = 258 * value(row, "used") / most;
        bar.append(drawn("rect", {x: left, y: 2, width: Math.max(0, wide), height: 10, fill: colour(row.queue)}));
        left += wide;
      }
      const mark = 258 * f.nominal / most;
      bar.append(drawn("line", {x1: mark, x2: mark, y1: 0, y2: 14, stroke: "currentColor", "stroke-width": 2}));
      const held = element("td");
      held.append(bar);
      line.append(name, ...[amount(f.used), amount(f.nominal), (+f.waiting.toPrecision(3)) + ""].map(text => element("td", text, {className: "n"})), held);
      return line;
    }));
  }

  function figures() {
    parts.figures.classList.toggle("going", !!last.more);
    if (last.more) return;
    const before = Object.fromEntries(first.figures.map(figure => [figure.name, figure.text]));
    parts.figures_rows.replaceChildren(...last.figures.map(figure => {
      const line = element("tr");
      line.append(element("td", figure.name), element("td", figure.text, {className: "n"}), element("td", before[figure.name] || "", {className: "n"}));
      if (before[figure.name] !== figure.text) line.classList.add("changed");
      return line;
    }));
    parts.warnings.replaceChildren(...last.warnings.map(text => element("div", text)));
  }

  const left = element("div", undefined, {className: "left"}), right = element("main", undefined, {className: "right"});
  left.append(element("h1", "Quotas, limits and weights"), part("reset", "button", {textContent: "Reset"}));
  let owner = null, cellName = null;
  for (const knob of knobs) {
    if (knob.owner !== owner) { left.append(element("h2", knob.owner)); owner = knob.owner; cellName = null; }
    if (knob.cell !== cellName && knob.cell) { left.append(element("h3", knob.cell)); cellName = knob.cell; }
    left.append(slider(knob));
  }
  const of = element("label", "Resource: "), at = element("label", "Time: "), moment = element("div");
  of.append(part("cell", "select"));
  at.append(part("time", "input", {type: "range", min: -1, value: -1, step: 1}));
  moment.append(at, " ", part("when", "span"));
  parts.usage = drawn("svg", {class: "usage", viewBox: "0 0 760 240", role: "img", "aria-label": "Usage of each ClusterQueue over time, stacked"});
  part("error", "div").setAttribute("role", "alert");
  part("took", "span").setAttribute("role", "status");
  parts.time.setAttribute("aria-label", "time");
  right.append(
    parts.error, of, " ", parts.took, parts.usage, part("legend", "div"), moment,
    table("tree", [["Cohort or ClusterQueue", ""], ["Usage", "n"], ["Nominal quota of queues", "n"], ["Waiting jobs", "n"], ["Usage; the mark is the nominal quota", ""]]),
    table("figures", [["Metric", ""], ["Current", "n"], ["Original", "n"]]),
    part("warnings", "div"),
  );
  const panes = element("div", undefined, {className: "panes"});
  panes.append(left, right);
  root.classList.add("kueuepy-play");
  root.replaceChildren(panes);
  parts.reset.addEventListener("click", () => { for (const knob of knobs) knob.set(knob.value); change(); });
  parts.cell.addEventListener("change", redraw);
  parts.time.addEventListener("input", redraw);
  change();
  return {
    // Sets the sliders from code.
    set(values) {
      for (const knob of knobs) knob.set(knob.path in values ? values[knob.path] : knob.value);
      change();
    },
  };
}
