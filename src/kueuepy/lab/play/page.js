// The served page: the server of the page answers the questions.
playground(document.getElementById("play"), JSON.parse(document.getElementById("knobs").textContent), async question =>
  (await fetch("answer", {method: "POST", body: JSON.stringify(question)})).json(), {address: true});
