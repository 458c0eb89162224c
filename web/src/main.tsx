import { effect } from "@preact/signals";
import { render } from "preact";
import { App } from "./App";
import type { About } from "./contract";
import { keepMemory, openFirst } from "./memory";
import { keepScoring } from "./score/scoring";
import { Away, get, returned, takeTokenFromAddress } from "./server";
import { keepMap } from "./space/map";
import { keepWalking } from "./space/walking";
import { keepStudy } from "./study/study";
import { about } from "./task";
import { Banner } from "./ui/Banner";
import { keepTheme } from "./ui/theme";
import { keepKeys } from "./watch/keys";
import { keepTime } from "./watch/player";
import { keepRolling } from "./watch/worlds";

const root = document.getElementById("app")!;

async function open(): Promise<void> {
  try {
    about.value = await get<About>("api/about");
  } catch (error) {
    if (!(error instanceof Away)) throw error;
    render(<Banner />, root);
    const before = returned.value;
    const stop = effect(() => {
      if (returned.value > before) queueMicrotask(() => (stop(), void open()));
    });
    return;
  }
  openFirst();
  keepStudy();
  keepMemory();
  keepScoring();
  keepRolling();
  keepMap();
  keepWalking();
  keepTime();
  keepKeys();
  root.textContent = "";
  render(<App />, root);
}

takeTokenFromAddress();
keepTheme();
void open();
