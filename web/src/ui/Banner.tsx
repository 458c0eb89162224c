// Messages when the server does not answer or needs a token.

import { useSignal } from "@preact/signals";
import { connection, setToken } from "../server";
import { Button } from "./Button";

export function Banner() {
  const typed = useSignal("");
  if (connection.value === "fine") return null;
  if (connection.value === "gone") {
    return (
      <div class="banner" role="status" data-testid="banner">
        The server does not answer. Nothing is lost: your program is stored in this browser. The page reconnects
        when the server is back.
      </div>
    );
  }
  return (
    <form
      class="banner"
      data-testid="token-form"
      onSubmit={(event) => {
        event.preventDefault();
        setToken(typed.value.trim());
      }}
    >
      <label for="token">
        The server needs its token. It is at the end of the address that the studio printed.
      </label>
      <input
        id="token"
        type="password"
        autocomplete="off"
        data-testid="token"
        value={typed.value}
        onInput={(event) => {
          typed.value = event.currentTarget.value;
        }}
      />
      <Button main testid="token-send" onClick={() => setToken(typed.value.trim())}>
        Enter
      </Button>
    </form>
  );
}
