// The whole page: the program (left), its rollouts (middle), its return (right).

import { useSignal } from "@preact/signals";
import { type Mode, mode, modes, task, unit, units } from "./document";
import { Draw, takeWatchedWorld } from "./draw/Draw";
import { Editor } from "./editor/Editor";
import { Score } from "./score/Score";
import { SearchBest, SearchMode } from "./search/SearchMode";
import { Space, SpaceReader } from "./space/Space";
import { resume } from "./study/study";
import { StudyPanel } from "./study/StudyPanel";
import { Banner } from "./ui/Banner";
import { Button } from "./ui/Button";
import { notice } from "./ui/notice";
import { ShareDialog } from "./ui/ShareDialog";
import { switchTheme, theme } from "./ui/theme";
import { SmallWatch, Watch } from "./watch/Watch";
import { Why } from "./watch/Why";

function choose(next: Mode): void {
  if (mode.value === next) return;
  mode.value = next;
  if (next === "study") resume();
}

export function App() {
  const sharing = useSignal(false);
  const now = mode.value;
  return (
    <>
      <a class="skip" href="#watch-region">
        Skip to the {units.value}
      </a>
      <header class="top">
        <h1>
          <Mark /> LEAPS <span>Studio</span>
        </h1>
        <nav aria-label="Modes">
          {modes.value.map(({ mode: item, title, hint }) => (
            <button
              key={item}
              type="button"
              class="tab"
              title={hint}
              aria-current={item === now ? "page" : undefined}
              data-testid={`mode-${item}`}
              onClick={() => choose(item)}
            >
              {title}
            </button>
          ))}
        </nav>
        <div class="row tight">
          <Button
            testid="share"
            icon="share"
            onClick={() => {
              sharing.value = true;
            }}
          >
            Share
          </Button>
          <Button
            quiet
            testid="theme"
            icon="theme"
            label={theme.value === "dark" ? "Light colours" : "Dark colours"}
            onClick={switchTheme}
          />
        </div>
      </header>
      <Banner />
      <main class={`columns mode-${now}`} data-testid="main" data-mode={now}>
        <div class="column left">
          <Editor />
          {now === "search" || now === "space" ? <SmallWatch /> : <Why />}
        </div>
        <div class="column middle" id="watch-region" tabIndex={-1}>
          {(now === "program" || now === "study") && <Watch />}
          {now === "search" && <SearchMode />}
          {now === "space" && <Space />}
          {now === "draw" && <Draw />}
        </div>
        {now !== "draw" && (
          <div class="column right">
            {now === "program" && <Score />}
            {now === "program" && <Hints />}
            {now === "study" && <StudyPanel />}
            {now === "search" && <SearchBest />}
            {now === "space" && <SpaceReader />}
          </div>
        )}
      </main>
      {notice.value && (
        <p class="notice" role="status" data-testid="notice">
          {notice.value}
        </p>
      )}
      {sharing.value && (
        <ShareDialog
          onClose={() => {
            sharing.value = false;
          }}
        />
      )}
    </>
  );
}

function Mark() {
  return (
    <svg viewBox="0 0 32 32" width="26" height="26" aria-hidden="true" class="mark">
      <rect width="32" height="32" rx="7" />
      <path d="M7 7 27 16 7 25 11.500 16Z" />
    </svg>
  );
}

/** The page in five lines, for first-time visitors. */
function Hints() {
  const info = task.value;
  return (
    <section class="panel notes" aria-labelledby="hints-title">
      <header class="panel-head">
        <h2 id="hints-title">What to try</h2>
      </header>
      <ul>
        <li>Edit the program: it runs again immediately, and New shows its return.</li>
        <li>Pause and step: the editor marks the current action and the conditions tested before it.</li>
        <li>Watch the worst {unit.value} to see what goes wrong.</li>
        {info?.resizable && <li>Make the worlds larger: does the program still work?</li>}
        {(info?.variants.length ?? 0) > 0 && <li>Choose a variant: does the program still work?</li>}
        {!info?.drawn && <li>Find a program with Search; you can stop it at any time.</li>}
      </ul>
      {info?.drawn && (
        <div class="row">
          <Button
            testid="draw-this"
            title="Take the selected world to the drawing board"
            onClick={() => {
              takeWatchedWorld();
              mode.value = "draw";
            }}
          >
            Change this world by hand
          </Button>
        </div>
      )}
      <p class="faint keys">
        <kbd>Space</kbd> plays, <kbd>←</kbd> <kbd>→</kbd> step, <kbd>Ctrl</kbd> <kbd>Space</kbd> completes in
        the editor.
      </p>
    </section>
  );
}
