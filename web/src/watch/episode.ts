// A rollout in an environment. Its pictures are fetched a few at a time, when they are shown.

import { signal } from "@preact/signals";
import type { EpisodeData, Pictures } from "../contract";
import { Away, post, Refusal } from "../server";
import { about } from "../task";
import { Recorded } from "./record";

/** maximum number of chunks of pictures in memory; the least recently shown one is dropped first */
const KEPT = 12;
const BUSY = 500; // milliseconds before a retry if the server is busy or does not answer

/** shape of the last picture, which the next ones most likely have, too */
let lastShape = { height: 2, width: 3 };

export class EpisodeRollout extends Recorded<EpisodeData> {
  /** increases when pictures have arrived, or when fetching them has failed */
  readonly arrived = signal(0);
  readonly problem = signal<string | null>(null);
  /** chunks of pictures by their first step, the most recently shown last */
  private readonly chunks = new Map<number, HTMLImageElement[]>();
  private wanted = 0;
  private asking = false;
  private left = false;
  private shape = lastShape;

  constructor(
    data: EpisodeData,
    private readonly request: object,
    index?: number,
  ) {
    super(data, index);
  }

  get height(): number {
    return this.shape.height;
  }

  get width(): number {
    return this.shape.width;
  }

  /** The picture at a step, or the last one before it in memory; a missing one is fetched. */
  pictureAt(position: number): HTMLImageElement | null {
    this.wanted = Math.min(position, this.data.shown);
    void this.fetch();
    for (let step = this.wanted; step >= 0; step--) {
      const start = this.startOf(step);
      const chunk = this.chunks.get(start);
      const picture = chunk?.[Math.min(step - start, chunk.length - 1)];
      if (chunk && picture) {
        this.chunks.delete(start);
        this.chunks.set(start, chunk);
        return picture;
      }
      step = start; // continue with the chunk before
    }
    return null;
  }

  isHere(position: number): boolean {
    return this.chunks.has(this.startOf(Math.min(position, this.data.shown)));
  }

  /** Stop fetching: the rollout is no longer shown. */
  leave(): void {
    this.left = true;
  }

  private get size(): number {
    return about.value?.limits.pictures ?? 24;
  }

  private startOf(step: number): number {
    return Math.floor(step / this.size) * this.size;
  }

  private missing(): number | null {
    const start = this.startOf(this.wanted);
    if (!this.chunks.has(start)) return start;
    const next = start + this.size; // playback will need it soon
    return next <= this.data.shown && !this.chunks.has(next) ? next : null;
  }

  private async fetch(): Promise<void> {
    if (this.asking) return;
    this.asking = true;
    try {
      for (let first = this.missing(); first !== null && !this.left; first = this.missing()) {
        if (this.problem.value) return;
        await this.fetchFrom(first);
      }
    } finally {
      this.asking = false;
    }
  }

  private async fetchFrom(first: number): Promise<void> {
    try {
      const asked = { ...this.request, first, count: this.size };
      const { pictures } = await post<Pictures>("api/pictures", asked);
      const images = await Promise.all(pictures.map(decoded));
      this.chunks.set(first, images);
      if (this.chunks.size > KEPT) this.chunks.delete(this.chunks.keys().next().value!);
      const one = images[0];
      if (one) this.shape = lastShape = { height: one.naturalHeight, width: one.naturalWidth };
    } catch (error) {
      if (error instanceof Away || (error instanceof Refusal && error.status === 503)) {
        await new Promise((done) => setTimeout(done, BUSY));
        return;
      }
      if (!(error instanceof Refusal)) throw error;
      this.problem.value = error.message;
    }
    this.arrived.value += 1;
  }
}

async function decoded(png: string): Promise<HTMLImageElement> {
  const image = new Image();
  image.src = `data:image/png;base64,${png}`;
  await image.decode();
  return image;
}
