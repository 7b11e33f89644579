// The widget: questions and answers are traits of its model. Each view identifies its own questions by their id.
export default {
  render({model, el}) {
    const me = Math.random().toString(36).slice(2);
    let number = 0, done = null;
    const answered = () => {
      const found = model.get("answer");
      if (done && found.id === `${me} ${number}`) done(found);
    };
    const ask = question => new Promise(resolve => {
      done = resolve;
      number += 1;
      model.set("question", {...question, id: `${me} ${number}`});
      model.save_changes();
    });
    model.on("change:answer", answered);
    const view = playground(el, structuredClone(model.get("knobs")), ask);
    const moved = () => view.set(model.get("given").values || {});
    model.on("change:given", moved);
    return () => {
      model.off("change:answer", answered);
      model.off("change:given", moved);
    };
  },
};
