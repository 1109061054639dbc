// Text files that a user chooses or drops.

/** Give `onText` the content and the name of every file that is chosen. */
export function onFileChosen(input, onText) {
  input.addEventListener("change", async () => {
    const [file] = input.files;
    input.value = ""; // so that the same file may be chosen again
    if (file) onText(await file.text(), file.name);
  });
}

/** The same for files dropped on an element. */
export function onFileDropped(element, onText) {
  const mark = (isOver) => element.classList.toggle("over", isOver);
  element.addEventListener("dragover", (event) => {
    event.preventDefault();
    mark(true);
  });
  element.addEventListener("dragleave", () => mark(false));
  element.addEventListener("drop", async (event) => {
    event.preventDefault();
    mark(false);
    const [file] = event.dataTransfer.files;
    if (file) onText(await file.text(), file.name);
  });
}
