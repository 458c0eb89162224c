// A rollout that can be looked at in any step: of Karel, whose world is drawn here, or of an environment, whose
// pictures the server takes.

import type { EpisodeData, WorldData } from "../contract";
import { EpisodeRollout } from "./episode";
import { WorldRollout } from "./world";

export type Rollout = WorldRollout | EpisodeRollout;

/** request: what the server was asked for, with the number of the world or episode. */
export function rolloutOf(data: WorldData | EpisodeData, request: object, index?: number): Rollout {
  return "world" in data ? new WorldRollout(data, index) : new EpisodeRollout(data, request, index);
}
