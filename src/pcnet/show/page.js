// What is more convenient with JavaScript; the page says all it has to say without.
for (const command of document.querySelectorAll('#next pre')) {
  const button = document.createElement('button');
  button.type = 'button';
  button.textContent = 'Copy';
  button.onclick = async () => {
    getSelection().selectAllChildren(command.querySelector('code'));
    try {
      await navigator.clipboard.writeText(command.querySelector('code').textContent);
      button.textContent = 'Copied';
    } catch {
      button.textContent = document.execCommand('copy') ? 'Copied' : 'Selected';
    }
    setTimeout(() => { button.textContent = 'Copy'; }, 2000);
  };
  command.append(button);
}

for (const table of document.querySelectorAll('table.sortable')) {
  const body = table.tBodies[0], rows = [...body.rows], heads = [...table.tHead.rows[0].cells];
  const text = (row, place) => row.cells[place].textContent.trim();
  heads.forEach((head, place) => {
    const words = head.classList.contains('word'), button = document.createElement('button');
    button.type = 'button';
    button.append(...head.childNodes);
    head.append(button);
    const compare = words
      ? (a, b) => text(a, place).localeCompare(text(b, place), undefined, { numeric: true })
      : (a, b) => parseFloat(text(a, place).replaceAll(',', '')) - parseFloat(text(b, place).replaceAll(',', ''));
    button.onclick = () => {
      // Words begin with A, numbers with the largest; a second click turns them round.
      const before = head.getAttribute('aria-sort');
      const up = before ? before === 'descending' : words;
      heads.forEach(other => other.removeAttribute('aria-sort'));
      head.setAttribute('aria-sort', up ? 'ascending' : 'descending');
      body.append(...rows.sort((a, b) => up ? compare(a, b) : compare(b, a)));
    };
  });

  heads[table.dataset.sorted].setAttribute('aria-sort', 'descending');
  const controls = document.getElementById(table.dataset.controls);
  const [typed, chosen, count] = ['input', 'select', 'output'].map(name => controls.querySelector(name));
  const filter = () => {
    const wanted = typed.value.toLowerCase();
    for (const row of rows) {
      const ofClass = !chosen.value || [1, 2].some(place => text(row, place) === chosen.value);
      row.hidden = !ofClass || !row.textContent.toLowerCase().includes(wanted);
    }
    count.textContent = `${rows.filter(row => !row.hidden).length} of ${rows.length} shown`;
  };
  typed.oninput = chosen.onchange = filter;
  controls.hidden = false;
  filter();
}
