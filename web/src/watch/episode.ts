// A rollout in an environment. Its pictures are fetched a few at a time, where they are looked at.

import { signal } from "@preact/signals";
import type { EpisodeData, Pictures } from "../contract";
import { Away, post, Refusal } from "../server";
import { about } from "../task";
import { Recorded } from "./record";

/** requests' worth of pictures that are kept; those that were looked at longest ago go first */
const KEPT = 12;
const BUSY = 500; // milliseconds until a server that is busy, or away, is asked again

/** of the last picture that came: that of the next ones, most likely */
let lastShape = { height: 2, width: 3 };

export class EpisodeRollout extends Recorded<EpisodeData> {
  /** counts up when pictures have come, or when it is known that none will */
  readonly arrived = signal(0);
  readonly problem = signal<string | null>(null);
  /** by their first step, those looked at last at the end */
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

  /** The picture after so many steps, or the last before it that is here; what is missing is fetched. */
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
      step = start; // then the ones before
    }
    return null;
  }

  isHere(position: number): boolean {
    return this.chunks.has(this.startOf(Math.min(position, this.data.shown)));
  }

  /** Nobody looks any more: fetch nothing more. */
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
    const next = start + this.size; // playing on will need it soon
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
