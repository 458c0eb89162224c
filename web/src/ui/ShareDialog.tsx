// Links, files and films.

import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { mode, taskName, unit, units } from "../document";
import { openLink, sharedNow } from "../memory";
import { postForBlob } from "../server";
import { download, downloadJson, fromFile, toHash } from "../share";
import { selectedRequest } from "../watch/worlds";
import { Button } from "./Button";
import { notify } from "./notice";

const MOST_BYTES = 100_000;

export function ShareDialog({ onClose }: { onClose: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const field = useRef<HTMLInputElement>(null);
  const file = useRef<HTMLInputElement>(null);
  const filming = useSignal(false);
  useEffect(() => dialog.current!.showModal(), []);

  const link = `${location.origin}${location.pathname}${toHash(sharedNow())}`;

  async function copy(): Promise<void> {
    field.current!.select();
    try {
      await navigator.clipboard.writeText(link);
      notify("Copied.");
    } catch {
      notify("The link is selected: copy it with your keyboard.");
    }
  }

  async function take(input: HTMLInputElement): Promise<void> {
    const chosen = input.files?.[0];
    if (!chosen) return;
    if (chosen.size > MOST_BYTES) {
      notify("The file is too large for a program.");
      return;
    }
    openLink(fromFile(await chosen.text()));
    onClose();
  }

  async function film(): Promise<void> {
    const asked = selectedRequest();
    if (!asked) return;
    filming.value = true;
    try {
      download(`${taskName.value}.gif`, await postForBlob("api/gif", asked));
    } catch (error) {
      notify((error as Error).message);
    } finally {
      filming.value = false;
    }
  }

  return (
    <dialog
      ref={dialog}
      class="dialog"
      aria-labelledby="share-title"
      data-testid="share-dialog"
      onClose={onClose}
    >
      <header class="panel-head">
        <h2 id="share-title">Share</h2>
        <Button
          quiet
          testid="share-close"
          icon="close"
          label="Close"
          onClick={() => dialog.current!.close()}
        />
      </header>
      <p>
        A link contains the program, the task and the seed{mode.value === "draw" ? ", and your world" : ""}.
        Everyone who opens it sees the same {units.value}.
      </p>
      <div class="row">
        <input
          ref={field}
          class="grow"
          type="text"
          readOnly
          aria-label="Link"
          data-testid="share-link"
          value={link}
          onFocus={(event) => event.currentTarget.select()}
        />
        <Button main testid="share-copy" onClick={() => void copy()}>
          Copy
        </Button>
      </div>
      <h3>As a file</h3>
      <div class="row">
        <Button testid="file-save" onClick={() => downloadJson(`${taskName.value}.json`, sharedNow())}>
          Save file
        </Button>
        <Button testid="file-open" onClick={() => file.current!.click()}>
          Open file
        </Button>
        <Button testid="gif" disabled={filming.value} onClick={() => void film()}>
          {filming.value ? "Making the GIF…" : "Download GIF"}
        </Button>
        <input
          ref={file}
          type="file"
          hidden
          aria-label="File to open"
          accept=".json,.karel,.txt,application/json,text/plain"
          data-testid="file-input"
          onChange={(event) => void take(event.currentTarget)}
        />
      </div>
      <p class="faint">The GIF shows the selected {unit.value}. You can also open a file with only a program.</p>
    </dialog>
  );
}
