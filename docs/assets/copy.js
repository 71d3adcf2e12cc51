// A button on each block of code that copies it; where a browser cannot copy, there is none.
for (const block of navigator.clipboard ? document.querySelectorAll(".codehilite:not(.printed)") : []) {
  const button = document.createElement("button");
  button.className = "copy";
  button.type = "button";
  button.textContent = "Copy";
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(block.querySelector("code").innerText);
    button.textContent = "Copied";
    setTimeout(() => { button.textContent = "Copy"; }, 2000);
  });
  block.append(button);
}
