// A rollout that can be shown at any step: Karel's is drawn by the page, an environment's has pictures from the
// server.

import type { EpisodeData, WorldData } from "../contract";
import { EpisodeRollout } from "./episode";
import { WorldRollout } from "./world";

export type Rollout = WorldRollout | EpisodeRollout;

/** request: the request to the server, with the number of the world or episode. */
export function rolloutOf(data: WorldData | EpisodeData, request: object, index?: number): Rollout {
  return "world" in data ? new WorldRollout(data, index) : new EpisodeRollout(data, request, index);
}
